/* song.c - the scheme of Song and others, simulated
 *
 * One table of buckets with a small counter each; the counters are the summary.  An item is hashed to d
 * buckets and adds one to their counters; a full counter stays full.  When all are in, an item belongs
 * in the bucket with the smallest counter.  An absent item is mistaken for a present one if none of its
 * counters is zero.  An item all of whose buckets are also hit by others has no bucket to itself, and
 * may have to share.  Without such items there is no crisis.
 *
 * As reviewed in section IV of Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices".
 * Most values are those of real tables with this summary.  The counters are implemented here once more, to
 * see what there is before the heuristic that moves items apart.
 *
 * SPDX-License-Identifier: MIT
 */
#include "song.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"
#include "tamis/table.h"

enum { BUCKET_BITS = 17, PER_WORD = 3, FULL = (1 << SONG_BITS) - 1 };

typedef struct counters {
    unsigned char *bytes;
} counters;

/* Three bits may straddle two bytes; the array has one more byte, which stays zero. */
static unsigned counter_get(const counters *c, unsigned i) {
    const size_t at = (size_t)i * SONG_BITS / 8;
    const unsigned both = (unsigned)c->bytes[at] | (unsigned)c->bytes[at + 1] << 8;
    return both >> i * SONG_BITS % 8 & FULL;
}

static void counter_put(counters *c, unsigned i, unsigned value) {
    const size_t at = (size_t)i * SONG_BITS / 8;
    const unsigned shift = i * SONG_BITS % 8;
    unsigned both = (unsigned)c->bytes[at] | (unsigned)c->bytes[at + 1] << 8;
    both = (both & ~((unsigned)FULL << shift)) | value << shift;
    c->bytes[at] = (unsigned char)both;
    c->bytes[at + 1] = (unsigned char)(both >> 8);
}

/* The buckets of an item: pieces of two digests. */
static void buckets_of(const tamis_hasher *hasher, uint64_t item, unsigned *buckets) {
    const tamis_digest a = tamis_hash_u64(hasher, 2 * item),
                       b = tamis_hash_u64(hasher, 2 * item + 1);
    const uint64_t words[4] = {a.lo, a.hi, b.lo, b.hi};
    for (unsigned i = 0; i < SONG_HASHES; i++)
        buckets[i] =
            (unsigned)(words[i / PER_WORD] >> i % PER_WORD * BUCKET_BITS) & (SONG_BUCKETS - 1);
}

static void insert(counters *c, const tamis_hasher *hasher, uint64_t item) {
    unsigned buckets[SONG_HASHES];
    buckets_of(hasher, item, buckets);
    for (unsigned i = 0; i < SONG_HASHES; i++) {
        const unsigned value = counter_get(c, buckets[i]);
        if (value < FULL)
            counter_put(c, buckets[i], value + 1);
    }
}

/* Is each of its buckets hit more often than by the item itself? */
static bool covered(const counters *c, const tamis_hasher *hasher, uint64_t item) {
    unsigned buckets[SONG_HASHES];
    buckets_of(hasher, item, buckets);
    for (unsigned i = 0; i < SONG_HASHES; i++) {
        unsigned own = 0;
        for (unsigned j = 0; j < SONG_HASHES; j++)
            own += buckets[j] == buckets[i];
        if (counter_get(c, buckets[i]) <= own)
            return false;
    }
    return true;
}

tamis_status song_simulate_covered(unsigned trials, measured *value) {
    const size_t size = (size_t)SONG_BUCKETS * SONG_BITS / 8;
    counters c = {.bytes = malloc(size + 1)};
    if (c.bytes == NULL)
        return TAMIS_E_NOMEM;
    series without = {0, 0, 0};
    tamis_status status = TAMIS_OK;
    for (uint64_t seed = 1; status == TAMIS_OK && seed <= trials; seed++) {
        tamis_params params;
        tamis_hasher hasher;
        tamis_params_init(&params);
        params.hash = TAMIS_HASH_XXH3;
        params.seed = seed;
        status = tamis_hasher_init(&hasher, &params);
        if (status != TAMIS_OK)
            break;
        memset(c.bytes, 0, size + 1);
        uint64_t items = 0;
        for (uint64_t i = 0; i < SONG_ITEMS; i++)
            insert(&c, &hasher, i);
        for (uint64_t i = 0; i < SONG_ITEMS; i++)
            items += covered(&c, &hasher, i);
        series_add(&without, (double)items);
    }
    free(c.bytes);
    *value = series_result(&without, trials);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Real tables
 */

/* Fill a table, and look for all keys and for 'queries' others. */
static tamis_status play(tamis_table *table, unsigned queries, tamis_table_counts *stats) {
    tamis_status status = TAMIS_OK;
    for (uint64_t i = 0; i < SONG_ITEMS && status == TAMIS_OK; i++)
        status = tamis_table_put(table, &i, sizeof i, NULL, 0, NULL);
    for (uint64_t i = 0; i < SONG_ITEMS + queries && status == TAMIS_OK; i++) {
        status = tamis_table_get(table, &i, sizeof i, NULL, 0, NULL);
        if (i >= SONG_ITEMS)
            status = status == TAMIS_E_NOT_FOUND ? TAMIS_OK
                     : status == TAMIS_OK        ? TAMIS_E_FORMAT
                                                 : status;
    }
    tamis_table_counts_init(stats);
    return status == TAMIS_OK ? tamis_table_stats(table, stats) : status;
}

tamis_status song_simulate(unsigned trials, unsigned queries, measured *values) {
    series rate = {0, 0, 0}, moves = {0, 0, 0};
    double crises = 0, reads = 0;
    tamis_table_plan plan;
    tamis_table_state info;
    tamis_table_plan_init(&plan);
    tamis_table_state_init(&info);
    tamis_status status = tamis_table_plan_paper(SONG_ITEMS, TAMIS_SUMMARY_SONG, &plan);
    plan.params.key_max = sizeof(uint64_t);
    plan.params.hash = TAMIS_HASH_XXH3;
    for (uint64_t seed = 1; status == TAMIS_OK && seed <= trials; seed++) {
        tamis_table *table;
        tamis_table_counts stats;
        plan.params.seed = seed;
        status = tamis_table_create(&plan.params, NULL, &table);
        if (status != TAMIS_OK)
            return status;
        status = play(table, queries, &stats);
        if (status == TAMIS_OK)
            status = tamis_table_info(table, &info);
        const tamis_status closed = tamis_table_close(table);
        status = status == TAMIS_OK ? closed : status;
        if (status != TAMIS_OK)
            return status;
        series_add(&rate, (double)stats.false_positives / queries);
        crises += (double)stats.crises;
        series_add(&moves, (double)stats.moves / SONG_ITEMS);
        reads += (double)stats.hit_reads / SONG_ITEMS;
    }
    values[SONG_FPR] = series_result(&rate, (double)trials * queries);
    values[SONG_BYTES] = exactly((double)info.summary_bytes, NAN);
    values[SONG_PLACED] = exactly(SONG_ITEMS - crises / trials, SONG_ITEMS);
    values[SONG_MOVES] = series_result(&moves, 0);
    values[SONG_READS] = exactly(reads / trials, 1);
    return status;
}
