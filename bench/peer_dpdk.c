/* peer_dpdk.c - the Bloom filter of DPDK's member library (Debian: libdpdk-dev)
 *
 * The type 'vBF', a vector of Bloom filters, here with one set.  The library derives the number of
 * bits, a power of two, from keys and error rate.  We ask for ever lower rates, and take the last table
 * that has no more bits than the others get.  Its hash has 32 bits.  It looks up groups of up to 64
 * keys, and inserts key by key.
 *
 * The library needs DPDK's environment, made once per process: without huge pages of its own, devices
 * and files.  Its other type, a hash table of signatures, takes 32 bits per key and more.
 *
 * SPDX-License-Identifier: MIT
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* its headers need it */
#endif

#include <rte_config.h> /* before all others of DPDK */

#include "bench/bench.h"

#include <math.h>
#include <rte_eal.h>
#include <rte_member.h>
#include <stdio.h>

#include <tamis/model.h>

#define GROUP ((uint32_t)RTE_MEMBER_LOOKUP_BULK_MAX)

/* Memory can only be reserved here: as much as the largest table that will be tried, four times what is
 * wanted, and some more. */
static bool start(double bytes) {
    static bool started;
    char mib[16];
    char name[] = "tamis", huge[] = "--no-huge", pci[] = "--no-pci", files[] = "--no-shconf",
         telemetry[] = "--no-telemetry", level[] = "--log-level=1", memory[] = "-m", core[] = "-l",
         zero[] = "0";
    char *arguments[] = {name, huge, pci, files, telemetry, level, memory, mib, core, zero, NULL};
    (void)snprintf(mib, sizeof mib, "%u", (unsigned)(4 * bytes / 0x1p20) + 64);
    started = started || rte_eal_init(10, arguments) >= 0;
    return started;
}

static const char *create(bench_subject *subject, const bench_setup *setup) {
    const double most = (double)setup->n * setup->bits;
    struct rte_member_setsum *best = NULL;
    if (setup->digests || setup->text)
        return "it takes keys only, no digests";
    if (most > 0x1p31)
        return "its tables have less than 2^31 bits";
    if (!start(most / 8))
        return "DPDK's environment cannot be made";
    for (double x = 1; x < 24; x += 0.25) {
        const struct rte_member_parameters wanted = {.name = "tamis",
                                                     .type = RTE_MEMBER_TYPE_VBF,
                                                     .num_keys = (uint32_t)setup->n,
                                                     .key_len = sizeof(uint64_t),
                                                     .num_set = 1,
                                                     .false_positive_rate = (float)exp2(-x),
                                                     .prim_hash_seed = 1,
                                                     .sec_hash_seed = 2,
                                                     .socket_id = -1};
        if (best != NULL)
            rte_member_free(best); /* the name can be used once */
        best = rte_member_create(&wanted);
        if (best != NULL && best->bits > most) {
            struct rte_member_parameters last = wanted;
            rte_member_free(best);
            last.false_positive_rate = (float)exp2(-(x - 0.25));
            best = rte_member_create(&last);
            break;
        }
    }
    if (best == NULL)
        return "no table of this size can be made";
    if (best->bits > most) {
        rte_member_free(best);
        return "its smallest table is larger";
    }
    double fpr;
    bench_advise(best->table, best->bits / 8, setup->huge);
    subject->self = best;
    subject->bytes = best->bits / 8;
    subject->predicted_fpr =
        tamis_model_bloom(best->bits, (double)setup->n, best->num_hashes, &fpr) == TAMIS_OK ? fpr
                                                                                            : NAN;
    subject->lines = 2; /* it reads a line per hash until a bit is clear */
    return NULL;
}

static void destroy(bench_subject *subject) {
    rte_member_free(subject->self);
    subject->self = NULL;
}

static void clear(const bench_subject *subject) {
    rte_member_reset(subject->self);
}

static size_t insert(const bench_subject *subject, const bench_keys *keys) {
    size_t added = 0;
    for (size_t i = 0; i < keys->n; i++)
        added += rte_member_add(subject->self, &keys->u64[i], 1) >= 0;
    return added;
}

static size_t query_single(const bench_subject *subject, const bench_keys *keys) {
    size_t present = 0;
    member_set_t set;
    for (size_t i = 0; i < keys->n; i++)
        present += rte_member_lookup(subject->self, &keys->u64[i], &set) == 1;
    return present;
}

static size_t query_batch(const bench_subject *subject, const bench_keys *keys) {
    const void *group[GROUP];
    member_set_t sets[GROUP];
    size_t present = 0;
    for (size_t at = 0; at < keys->n; at += GROUP) {
        const uint32_t n = keys->n - at < GROUP ? (uint32_t)(keys->n - at) : GROUP;
        for (uint32_t i = 0; i < n; i++)
            group[i] = &keys->u64[at + i];
        const int found = rte_member_lookup_bulk(subject->self, group, n, sets);
        present += found > 0 ? (size_t)found : 0;
    }
    return present;
}

const bench_engine bench_engine_dpdk = {.create = create,
                                        .destroy = destroy,
                                        .clear = clear,
                                        .insert = {insert},
                                        .query = {query_single, NULL, query_batch}};
