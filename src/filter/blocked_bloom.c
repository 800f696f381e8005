/* blocked_bloom.c - a Bloom filter in which a key touches one cache line
 *
 * One half of the digest chooses a block of 512 bits, the other sets k bits in it (bits/block.h): anywhere,
 * or one in each of eight lanes, which is shorter work at about the same error rate.
 * Blocks that happen to get more keys than others cost error rate; that is the price of the one line.
 *
 * A batch works on groups, whose lines have been fetched when they are tested.
 *
 * After Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/blocked_bloom.h"

#include "filter/guard.h"
#include "filter/native.h"
#include "filter/probe.h"

#include <math.h>

#define BLOCK_BITS TAMIS_I_BLOCK_BITS
#define BLOCKS_MAX ((uint64_t)1 << 39)

static tamis_status blocked_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const blocks = &params->value[TAMIS_BLOCKED_BLOOM_BLOCKS];
    uint64_t *const hashes = &params->value[TAMIS_BLOCKED_BLOOM_HASHES];
    const uint64_t lanes = params->value[TAMIS_BLOCKED_BLOOM_LANES];
    if (*blocks == 0)
        *blocks = params->capacity * 21 / (2 * BLOCK_BITS) + 1;
    if (*blocks > BLOCKS_MAX)
        return TAMIS_E_ARGUMENT;
    if (lanes != 0) {
        if (lanes != TAMIS_I_BLOCK_LANES || (*hashes != 0 && *hashes != lanes))
            return TAMIS_E_ARGUMENT;
        *hashes = lanes;
    }
    if (*hashes == 0) {
        *hashes = tamis_i_probe_default_hashes(*blocks * BLOCK_BITS, params->capacity);
        if (*hashes > TAMIS_I_BLOCK_HASHES_MAX)
            *hashes = TAMIS_I_BLOCK_HASHES_MAX;
    }
    if (*hashes > TAMIS_I_BLOCK_HASHES_MAX || params->stash != 0)
        return TAMIS_E_ARGUMENT;
    *n_table = *blocks * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static inline const tamis_i_block_ops *blocked_ops_of(const tamis_filter *filter) {
    return &tamis_i_blocked_layout_of(filter)->ops;
}

static unsigned blocked_lanes_of(const tamis_filter *filter) {
    return (unsigned)filter->params.value[TAMIS_BLOCKED_BLOOM_LANES];
}

static void blocked_attach(tamis_filter *filter) {
    const unsigned lanes = blocked_lanes_of(filter);
    const tamis_i_blocked_layout l = {.blocks = filter->n_table / TAMIS_LINE_WORDS,
                                      .ops = *tamis_i_block_ops_for(lanes, filter->features)};
    memcpy(filter->geometry, &l, sizeof l);
    TAMIS_I_NATIVE_BLOCKS(filter);
}

static uint64_t *blocked_block_of(const tamis_filter *filter, tamis_digest digest) {
    return tamis_i_blocked_block(filter, digest.lo);
}

static unsigned blocked_hashes_of(const tamis_filter *filter) {
    return (unsigned)filter->params.value[TAMIS_BLOCKED_BLOOM_HASHES];
}

static bool blocked_contains(const tamis_filter *filter, tamis_digest digest) {
    return blocked_ops_of(filter)->test(blocked_block_of(filter, digest), digest.hi,
                                        blocked_hashes_of(filter));
}

static tamis_status blocked_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    tamis_i_probe probe; /* clearing all of it would take longer than the rest */
    probe.at[0] = blocked_block_of(filter, digest);
    probe.word[0] = digest.hi;
    filter->state[TAMIS_I_COUNT] +=
        blocked_ops_of(filter)->set_many(&probe, 1, blocked_hashes_of(filter), added);
    return TAMIS_OK;
}

/* A line that no other processor holds can be written once it is there: no need to tell the two uses
 * apart. */
static void blocked_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    (void)write;
    TAMIS_PREFETCH(blocked_block_of(filter, digest));
}

static bool blocked_touch(const tamis_filter *filter, tamis_digest digest) {
    return tamis_i_guard_words(filter, blocked_block_of(filter, digest), TAMIS_LINE_WORDS);
}

/* The probes of the next group, for the engine to fetch while it works on this one; where there are
 * fewer than it works on, its own have to do. */
static inline const tamis_i_probe *
blocked_locate(const tamis_filter *filter, const tamis_i_group *now, const tamis_i_group *next) {
    const uint64_t n_blocks = filter->n_table / TAMIS_LINE_WORDS;
    uint64_t *const table = filter->table;
    tamis_i_probe *const probes = tamis_i_group_probes(next);
    for (size_t i = 0; i < next->n; i++) {
        probes[i].at[0] = table + TAMIS_LINE_WORDS * tamis_i_range(next->digests[i].lo, n_blocks);
        probes[i].word[0] = next->digests[i].hi;
    }
    if (next->n >= now->n && now->n != 0)
        return probes;
    for (size_t i = 0; i < next->n; i++)
        TAMIS_PREFETCH(probes[i].at[0]);
    return tamis_i_group_probes(now);
}

static void blocked_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                  const tamis_i_group *next, bool *present) {
    const tamis_i_probe *const fetch = blocked_locate(filter, now, next);
    blocked_ops_of(filter)->test_many(tamis_i_group_probes(now), now->n, blocked_hashes_of(filter),
                                      fetch, present);
}

/* Setting bits is more work than testing them, and fetching the next group all at once was measured to be
 * better than in turns.  A group is worked off in order, so that a key that stands twice in it is added
 * once. */
static tamis_status blocked_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                        const tamis_i_group *next, bool *added, size_t *done) {
    (void)blocked_locate(filter, &(const tamis_i_group){.n = 0}, next);
    filter->state[TAMIS_I_COUNT] += blocked_ops_of(filter)->set_many(
        tamis_i_group_probes(now), now->n, blocked_hashes_of(filter), added);
    *done = now->n;
    return TAMIS_OK;
}

static tamis_status blocked_merge(tamis_filter *filter, const tamis_filter *source) {
    for (uint64_t i = 0; i < filter->n_table; i++)
        filter->table[i] |= source->table[i];
    return TAMIS_OK;
}

/* The odds that a query finds a bit in each lane of a block. */
static double blocked_lanes_fpr(const tamis_filter *filter, const uint64_t *block) {
    double odds = 1;
    for (unsigned i = 0; i < TAMIS_I_BLOCK_LANES; i++)
        odds *= (double)filter->words->ones(block + i, 1) / 64;
    return odds;
}

/* Blocks are asked equally often: the error rate is the mean of theirs. */
static void blocked_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const uint64_t blocks = filter->n_table / TAMIS_LINE_WORDS;
    const double n = tamis_i_slice_size(slice, blocks);
    const bool lanes = blocked_lanes_of(filter) != 0;
    uint64_t with[BLOCK_BITS + 1] = {0};
    double in_lanes = 0;
    for (uint64_t i = tamis_i_slice_from(slice, blocks); i < tamis_i_slice_end(slice, blocks);
         i++) {
        const uint64_t *const block = filter->table + i * TAMIS_LINE_WORDS;
        with[filter->words->ones(block, TAMIS_LINE_WORDS)]++;
        if (lanes)
            in_lanes += blocked_lanes_fpr(filter, block);
    }
    info->n_loads = 1 + BLOCK_BITS / 16;
    for (unsigned ones = 0; ones <= BLOCK_BITS; ones++) {
        info->load_histogram[(ones + 15) / 16] += with[ones];
        if (!lanes)
            info->fpr += (double)with[ones] / n *
                         pow((double)ones / BLOCK_BITS, (double)blocked_hashes_of(filter));
    }
    if (lanes)
        info->fpr += in_lanes / n;
}

static bool blocked_fill(const tamis_filter *filter, tamis_i_fill *fill) {
    const uint64_t blocks = filter->n_table / TAMIS_LINE_WORDS;
    const tamis_i_fill_shape shape = {(double)blocks, BLOCK_BITS, (double)blocked_hashes_of(filter),
                                      blocked_lanes_of(filter) != 0};
    tamis_i_fill_of(&shape, (double)filter->params.capacity, fill);
    fill->set = (double)filter->words->ones(filter->table, (size_t)filter->n_table);
    return true;
}

static bool blocked_check(const tamis_filter *filter, const char **reason) {
    const uint64_t ones = filter->words->ones(filter->table, (size_t)filter->n_table);
    return tamis_i_probe_check_count(filter, ones, reason);
}

/* ---- a block by itself, for threads that share the set ---- */

static void blocked_alone_read(const tamis_filter *filter, const uint64_t *line, uint64_t *copy) {
    blocked_ops_of(filter)->read(line, copy);
}

static bool blocked_alone_has(const tamis_filter *filter, tamis_digest digest,
                              const uint64_t *line) {
    return blocked_ops_of(filter)->test_read(line, digest.hi, blocked_hashes_of(filter));
}

static void blocked_alone_insert(tamis_filter *filter, tamis_digest digest, uint64_t *line,
                                 bool *added) {
    tamis_i_probe probe;
    probe.at[0] = line;
    probe.word[0] = digest.hi;
    filter->state[TAMIS_I_COUNT] +=
        blocked_ops_of(filter)->set_many(&probe, 1, blocked_hashes_of(filter), added);
}

static void blocked_alone_places(const tamis_i_group *group, uint64_t **lines, bool put) {
    tamis_i_probe *const probes = tamis_i_group_probes(group);
    for (size_t i = 0; i < group->n; i++) {
        if (put)
            probes[i].at[0] = lines[i];
        else
            lines[i] = probes[i].at[0];
    }
}

static const tamis_i_line_alone blocked_alone = {.read = blocked_alone_read,
                                                 .has = blocked_alone_has,
                                                 .insert = blocked_alone_insert,
                                                 .places = blocked_alone_places};

const tamis_i_kind tamis_i_blocked_bloom = {.id = TAMIS_KIND_BLOCKED_BLOOM,
                                            .name = "blocked-bloom",
                                            .abilities = TAMIS_CAN_MERGE,
                                            .scratch = TAMIS_I_SCRATCH_MAX,
                                            .params = {"blocks", "hashes", "lanes"},
                                            .shape = blocked_shape,
                                            .attach = blocked_attach,
                                            .insert = blocked_insert,
                                            .contains = blocked_contains,
                                            .prefetch = blocked_prefetch,
                                            .touch = blocked_touch,
                                            .contains_many = blocked_contains_many,
                                            .insert_many = blocked_insert_many,
                                            .merge = blocked_merge,
                                            .fill = blocked_fill,
                                            .info = blocked_info,
                                            .check = blocked_check,
                                            .line_alone = &blocked_alone};
