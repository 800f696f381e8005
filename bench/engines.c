/* engines.c - the subjects that can be measured, and names
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <stdio.h>

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

size_t bench_subjects(bench_subject subjects[BENCH_SUBJECTS_MAX]) {
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
    for (unsigned kind = 1; kind < 256 && n < BENCH_SUBJECTS_MAX; kind++)
        if (tamis_kind_name((tamis_kind)kind) != NULL)
            subjects[n++] = (bench_subject){.engine = &bench_engine_tamis,
                                            .name = tamis_kind_name((tamis_kind)kind),
                                            .variant = kind};
    /* And with the hash for trusted keys, beside the default one in the same run. */
    static char names[BENCH_SUBJECTS_MAX][32];
    for (unsigned kind = 1; kind < 256 && n < BENCH_SUBJECTS_MAX; kind++)
        if (tamis_kind_name((tamis_kind)kind) != NULL) {
            (void)snprintf(names[n], sizeof names[n], "%s/xxh3", tamis_kind_name((tamis_kind)kind));
            subjects[n] = (bench_subject){.engine = &bench_engine_tamis,
                                          .name = names[n],
                                          .variant = kind,
                                          .hash = TAMIS_HASH_XXH3,
                                          .on_demand = true};
            n++;
        }
    for (size_t i = 0; peers[i].name != NULL && n < BENCH_SUBJECTS_MAX; i++)
        subjects[n++] = (bench_subject){.engine = peers[i].engine, .name = peers[i].name};
    return n;
}
