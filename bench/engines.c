/* engines.c - the subjects that can be measured, and names
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <stdio.h>

#include <tamis/plan.h>

const char *const bench_mode_names[BENCH_MODES] = {"single", "ahead", "batch", "chase"};
const char *const bench_op_names[BENCH_OPS] = {"insert", "remove", "query0", "query50", "query100"};

/* Libraries of others, if they were found when this was built. */
static const struct {
    const char *name;
    const bench_engine *engine;
} peers[] = {
#ifdef TAMIS_PEER_LIBBLOOM
    {"libbloom", &bench_engine_libbloom},
#endif
#ifdef TAMIS_PEER_LEVELDB
    {"leveldb", &bench_engine_leveldb},
#endif
#ifdef TAMIS_PEER_DPDK
    {"dpdk-vbf", &bench_engine_dpdk},
#endif
    {NULL, NULL}};

static const char *const calibrators[BENCH_LINES_MAX] = {"calibrator-1", "calibrator-2",
                                                         "calibrator-3"};

/* What a read costs among this many instructions, which do nothing, or which wait for what is read. */
static const struct {
    const char *name;
    unsigned idle;
    bool waits;
} busy[] = {{"calibrator-1+50", 50, false},   {"calibrator-1+100", 100, false},
            {"calibrator-1+150", 150, false}, {"calibrator-1+200", 200, false},
            {"calibrator-1w25", 25, true},    {"calibrator-1w50", 50, true},
            {"calibrator-1w100", 100, true}};

/* Is a set of this kind one from which nothing can be removed, though the kind can, if no deletes are asked
 * for?  Then both are measured: the kind with deletes, and "kind/set". */
static bool is_two(tamis_kind kind) {
    tamis_need need;
    tamis_plan plan;
    tamis_need_init(&need);
    tamis_plan_init(&plan);
    need.n = 1000;
    need.kind = kind;
    return (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0 &&
           tamis_plan_make(&need, &plan) == TAMIS_OK &&
           (tamis_params_abilities(&plan.params) & TAMIS_CAN_REMOVE) == 0;
}

static bench_subject of_kind(tamis_kind kind, char *name, size_t size, const char *variant) {
    (void)snprintf(name, size, "%s%s", tamis_kind_name(kind), variant);
    return (bench_subject){.engine = &bench_engine_tamis,
                           .name = name,
                           .variant = (unsigned)kind,
                           .deletes = is_two(kind)};
}

size_t bench_subjects(bench_subject subjects[BENCH_SUBJECTS_MAX]) {
    static char names[BENCH_SUBJECTS_MAX][32];
    size_t n = 0;
    for (unsigned lines = 1; lines <= BENCH_LINES_MAX; lines++)
        subjects[n++] = (bench_subject){.engine = &bench_engine_calibrator,
                                        .name = calibrators[lines - 1],
                                        .variant = lines,
                                        .calibrator = true};
    for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++)
        subjects[n++] = (bench_subject){.engine = &bench_engine_calibrator,
                                        .name = busy[i].name,
                                        .variant = 1,
                                        .idle = busy[i].idle,
                                        .waits = busy[i].waits,
                                        .calibrator = true,
                                        .on_demand = true};
    /* The numbers of the kinds fit one byte of a file; not all are in use. */
    for (unsigned kind = 1; kind < 256 && n + 1 < BENCH_SUBJECTS_MAX; kind++)
        if (tamis_kind_name((tamis_kind)kind) != NULL) {
            subjects[n] = of_kind((tamis_kind)kind, names[n], sizeof names[n], "");
            if (subjects[n++].deletes) {
                subjects[n] = of_kind((tamis_kind)kind, names[n], sizeof names[n], "/set");
                subjects[n++].deletes = false;
            }
        }
    /* And with the hash for trusted keys, beside the default one in the same run. */
    for (unsigned kind = 1; kind < 256 && n < BENCH_SUBJECTS_MAX; kind++)
        if (tamis_kind_name((tamis_kind)kind) != NULL) {
            subjects[n] = of_kind((tamis_kind)kind, names[n], sizeof names[n], "/xxh3");
            subjects[n].hash = TAMIS_HASH_XXH3;
            subjects[n++].on_demand = true;
        }
    for (size_t i = 0; peers[i].name != NULL && n < BENCH_SUBJECTS_MAX; i++)
        subjects[n++] = (bench_subject){.engine = peers[i].engine, .name = peers[i].name};
    return n;
}
