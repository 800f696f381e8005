/* balanced_bloom.c - Bloom filters in blocks of memory that are kept equally full
 *
 * A blocked Bloom filter reads one block per key, and pays with errors for the blocks that happen to get
 * more keys than others.  Here each block counts its keys, and one that is full sends a key on to its
 * next choice; what finds no place goes to the stash, the paper's overflow list.
 *
 *      block    [ load ][ bits of a small Bloom filter ]        bits/block.h
 *
 *      SINGLE       one choice
 *      SEQUENTIAL   each choice among all blocks
 *      MHT          choice i among the blocks of sub-table i; each sub-table is 'ratio' times the
 *                   one before
 *
 * A block takes a key while its load is below h = load_max - 1.  At load h it takes those whose coin says
 * so, and one of them fills it.  The coin of a key at a choice is drawn from the word that also draws the
 * block: it is a function of key and choice, and the same calls give the same bytes.  One coin for all
 * choices of a key would send keys that were refused once to be refused again.
 *
 * A query follows the insert: it goes on to the next choice exactly if the block would refuse the key,
 * coin included, and to the stash after the last.  That is right because loads only grow:
 *
 *   B1  what refused a key once refuses it for ever, so that the way of a key to its place never gets
 *       shorter.
 *
 * The budget, if there is one, is the number of blocks that all inserts together may look at.  Once it is
 * spent, new keys go to the stash without a look, past blocks that would have taken them; from then on
 * every query that finds nothing in the blocks asks the stash too.
 *
 * When the stash is full a key is *forced* into its first choice, which every query visits: the filter is
 * never full, and beyond its capacity it fills up as a blocked Bloom filter does.  Forced keys do not
 * count in the loads.
 *
 * Merging adds bits and loads, those past load_max becoming forced keys.  By B1 nothing is lost; but the
 * loads of two filters add up as they fall, and the union has a higher error rate than one
 * filter that got all the keys.
 *
 * Invariants, tested by check():
 *   B2  loads, stash and forced keys add up to the count;
 *   B3  a block with keys has bits set, and without forced keys at most 'hashes' per key;
 *   B4  no load is above load_max, and what is past the last block is zero;
 *   B5  there were no more looks than keys times choices.
 *
 * After Kanizo, Hay and Keslassy, "Access-Efficient Balanced Bloom Filters", 2011 (technical report
 * TR11-07, Comnet, Technion).
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"
#include "filter/filter.h"
#include "filter/probe.h"

#include <math.h>

#define CHOICES_MAX  8u
#define BLOCKS_MAX   ((uint64_t)1 << 38)
#define LOAD_MAX_MAX 4095u
#define ONE          ((uint64_t)1 << 32) /* in fractions of 2^32 */
#define GROUP        TAMIS_I_GROUP

enum { SINGLE = 1, SEQUENTIAL = 2, MHT = 3 };

/* words of the state */
#define LOOKS  TAMIS_I_STATE_OWN        /* blocks that inserts have looked at to place their keys */
#define FORCED (TAMIS_I_STATE_OWN + 1u) /* keys placed against the rule */

/* geometry; FIRST and BLOCKS are arrays by choice */
enum { CHOICES, WORDS, COUNTER_BITS, LIMIT, BUDGET, FIRST, BLOCKS = FIRST + CHOICES_MAX };

static unsigned bits_of(uint64_t value) {
    unsigned bits = 0;
    for (; value != 0; value >>= 1)
        bits++;
    return bits;
}

/* What a block holds if nobody says: the mean load and one key more, or, where a key has no second
 * choice, two and a half deviations more. */
static uint64_t default_load_max(uint64_t scheme, uint64_t capacity, uint64_t blocks) {
    const double mean = (double)capacity / (double)blocks;
    const double load = ceil(scheme == SINGLE ? mean + 2.5 * sqrt(mean) : mean) + 1;
    return load < LOAD_MAX_MAX ? (uint64_t)load : LOAD_MAX_MAX;
}

static bool in(uint64_t value, uint64_t least, uint64_t most) {
    return value >= least && value <= most;
}

/* Scheme and size of the table; false if they are out of range. */
static bool shape_table(uint64_t *v, uint64_t capacity) {
    if (v[TAMIS_BALANCED_SCHEME] == 0)
        v[TAMIS_BALANCED_SCHEME] = MHT;
    const uint64_t scheme = v[TAMIS_BALANCED_SCHEME];
    uint64_t *const choices = &v[TAMIS_BALANCED_CHOICES], *const blocks = &v[TAMIS_BALANCED_BLOCKS];
    uint64_t *const bits = &v[TAMIS_BALANCED_BLOCK_BITS];
    if (*choices == 0)
        *choices = scheme == SINGLE ? 1 : 3;
    if (*bits == 0)
        *bits = 64 * TAMIS_I_BLOCK_WORDS_MAX;
    const uint64_t least = scheme == MHT ? *choices : 1;
    if (*blocks == 0) {
        const uint64_t wanted = capacity * 12 / *bits + 1;
        *blocks = wanted < least ? least : wanted;
    }
    return in(scheme, SINGLE, MHT) && in(*choices, 1, scheme == SINGLE ? 1 : CHOICES_MAX) &&
           in(*bits, 64, 64 * TAMIS_I_BLOCK_WORDS_MAX) && *bits % 64 == 0 &&
           in(*blocks, least, BLOCKS_MAX);
}

/* How blocks are filled; the table has its shape. */
static bool shape_filling(uint64_t *v, uint64_t capacity) {
    const bool mht = v[TAMIS_BALANCED_SCHEME] == MHT;
    const uint64_t blocks = v[TAMIS_BALANCED_BLOCKS], budget = v[TAMIS_BALANCED_BUDGET];
    uint64_t *const hashes = &v[TAMIS_BALANCED_HASHES], *const ratio = &v[TAMIS_BALANCED_RATIO];
    uint64_t *const load_max = &v[TAMIS_BALANCED_LOAD_MAX], *const coin = &v[TAMIS_BALANCED_COIN];
    if (*hashes == 0) {
        *hashes = tamis_i_probe_default_hashes(blocks * v[TAMIS_BALANCED_BLOCK_BITS], capacity);
        if (*hashes > TAMIS_I_BLOCK_PLACES_MAX)
            *hashes = TAMIS_I_BLOCK_PLACES_MAX;
    }
    if (*load_max == 0)
        *load_max = default_load_max(v[TAMIS_BALANCED_SCHEME], capacity, blocks);
    if (*coin == 0)
        *coin = ONE;
    if (*ratio == 0 && mht)
        *ratio = 733668002; /* q with 1 + q + q^2 = 1.2 */
    return in(*hashes, 1, TAMIS_I_BLOCK_PLACES_MAX) && in(*load_max, 1, LOAD_MAX_MAX) &&
           in(*coin, 1, ONE) && (mht ? in(*ratio, 1, ONE) : *ratio == 0) &&
           (budget == 0 || in(budget, 1000, 8000));
}

static tamis_status shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const v = params->value;
    if (!shape_table(v, params->capacity) || !shape_filling(v, params->capacity))
        return TAMIS_E_ARGUMENT;
    if (params->stash == 0)
        params->stash = 16 + params->capacity / 128;
    const uint64_t words = v[TAMIS_BALANCED_BLOCKS] * (v[TAMIS_BALANCED_BLOCK_BITS] / 64);
    *n_table = (words + TAMIS_LINE_WORDS - 1) / TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

/* The sub-tables of MHT get one block each, and share the others in the ratio of their weights. */
static void attach_subtables(uint64_t *g, uint64_t blocks, uint64_t ratio) {
    const uint64_t choices = g[CHOICES], spare = blocks - choices;
    uint64_t weight[CHOICES_MAX] = {ONE}, sum = ONE, before = 0;
    for (uint64_t i = 1; i < choices; i++) {
        weight[i] = weight[i - 1] * ratio >> 32;
        sum += weight[i];
    }
    for (uint64_t i = 0, at = 0; i < choices; i++) {
        before += weight[i];
        const uint64_t end = i + 1 + (uint64_t)((tamis_i_u128)spare * before / sum);
        g[FIRST + i] = at;
        g[BLOCKS + i] = end - at;
        at = end;
    }
}

static void attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    uint64_t *const g = filter->geometry;
    g[CHOICES] = v[TAMIS_BALANCED_CHOICES];
    g[WORDS] = v[TAMIS_BALANCED_BLOCK_BITS] / 64;
    g[COUNTER_BITS] = bits_of(v[TAMIS_BALANCED_LOAD_MAX]);
    g[LIMIT] = ((v[TAMIS_BALANCED_LOAD_MAX] - 1) << 32) + v[TAMIS_BALANCED_COIN];
    g[BUDGET] = v[TAMIS_BALANCED_BUDGET] == 0
                    ? UINT64_MAX
                    : filter->params.capacity * v[TAMIS_BALANCED_BUDGET] / 1000;
    for (unsigned i = 0; i < g[CHOICES]; i++) {
        g[FIRST + i] = 0;
        g[BLOCKS + i] = v[TAMIS_BALANCED_BLOCKS];
    }
    if (v[TAMIS_BALANCED_SCHEME] == MHT)
        attach_subtables(g, v[TAMIS_BALANCED_BLOCKS], v[TAMIS_BALANCED_RATIO]);
}

static inline tamis_i_block layout_of(const tamis_filter *filter) {
    const uint64_t *const g = filter->geometry;
    return (tamis_i_block){.words = (unsigned)g[WORDS],
                           .first = (unsigned)g[COUNTER_BITS],
                           .bits = (unsigned)(64 * g[WORDS] - g[COUNTER_BITS]),
                           .hashes = (unsigned)filter->params.value[TAMIS_BALANCED_HASHES]};
}

/* ---- one key ---- */

/* A block that a key may go to, and its coin there: the high bits of what the choice of the block
 * has left of its word, as a fraction of 2^32. */
typedef struct choice {
    uint64_t *block;
    uint64_t coin;
} choice;

/* The words of the digest's stream: 0 and from 2 on for the choices; 1 for the bits in the block. */
static inline choice choice_of(const tamis_filter *filter, tamis_digest digest, unsigned i) {
    const uint64_t *const g = filter->geometry;
    uint64_t word = tamis_i_word(digest, i == 0 ? 0 : i + 1);
    const uint64_t block = g[FIRST + i] + tamis_i_take(&word, g[BLOCKS + i]);
    return (choice){.block = filter->table + block * g[WORDS], .coin = word >> 32};
}

/* Would the block take this key?  If not, it never will (B1).  Load and coin are compared as one number
 * with threshold and probability: a load below the threshold has room, at the threshold the coin
 * decides, and above it nothing helps, the coin being below 2^32. */
static inline bool takes(const tamis_filter *filter, choice c) {
    const uint64_t *const g = filter->geometry;
    const uint64_t load = c.block[0] & (((uint64_t)1 << g[COUNTER_BITS]) - 1);
    return (load << 32 | c.coin) < g[LIMIT];
}

static inline bool holds(const tamis_filter *filter, choice c, tamis_digest digest) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t *const block = c.block;
    bool present;
    filter->kernels.local_test(&layout, &block, &digest.hi, 1, &present);
    return present;
}

static inline bool set(tamis_filter *filter, choice c, tamis_digest digest) {
    const tamis_i_block layout = layout_of(filter);
    return filter->kernels.local_set(&layout, c.block, digest.hi);
}

static inline bool budget_spent(const tamis_filter *filter) {
    return filter->state[LOOKS] >= filter->geometry[BUDGET];
}

static bool contains(const tamis_filter *filter, tamis_digest digest) {
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    for (unsigned i = 0; i < choices; i++) {
        const choice c = choice_of(filter, digest, i);
        if (holds(filter, c, digest))
            return true;
        if (takes(filter, c)) {
            if (!budget_spent(filter))
                return false;
            break;
        }
    }
    return tamis_i_stash_copies(&filter->stash, digest) != 0;
}

/* For a key that no block has taken, and that is in none of those that a query visits. */
static bool insert_aside(tamis_filter *filter, tamis_digest digest) {
    if (tamis_i_stash_copies(&filter->stash, digest) != 0)
        return false;
    if (tamis_i_stash_insert(&filter->stash, digest) != TAMIS_OK) {
        (void)set(filter, choice_of(filter, digest, 0), digest);
        filter->state[FORCED]++;
    }
    return true;
}

/* Insert a key whose first choice is known.  Looks count for keys that are added; the reads that find a key
 * to be there already do not. */
static inline void insert_from(tamis_filter *filter, tamis_digest digest, choice c, bool *added) {
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    const uint64_t spent = filter->state[LOOKS], budget = filter->geometry[BUDGET];
    const uint64_t left = spent < budget ? budget - spent : 0;
    unsigned looks = 0;
    *added = false;
    for (unsigned i = 0; i < choices; i++) {
        if (i > 0)
            c = choice_of(filter, digest, i);
        const bool room = takes(filter, c);
        looks += i < left;
        if (room && i < left) {
            if (!set(filter, c, digest))
                return;
            c.block[0]++; /* the load: its field has room for load_max */
            *added = true;
            break;
        }
        if (holds(filter, c, digest))
            return;
        if (room)
            break;
    }
    if (!*added && !insert_aside(filter, digest))
        return;
    *added = true;
    filter->state[LOOKS] += looks;
    filter->state[TAMIS_I_COUNT]++;
}

static tamis_status insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    insert_from(filter, digest, choice_of(filter, digest, 0), added);
    return TAMIS_OK;
}

/* For single calls; a second choice is fetched when it is needed. */
static void prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    (void)write; /* a line that no other processor holds can be written once it is there */
    TAMIS_PREFETCH(choice_of(filter, digest, 0).block);
}

/* ---- batches ----
 *
 * A group goes through three stages, one per call.  It is fetched: the first choices.  Then those are
 * looked at, and the second choices of the keys that have to go on are fetched; for a query that settles
 * most keys.  Then the others are looked for in their second choice, and, where that refuses them too,
 * in those that follow, which are fetched at the beginning of the call and looked at when the two other
 * groups have had their turn.
 *
 * All that fetches must be inlined: compilers drop calls of functions that do nothing else.
 */

/* Words of a probe, whose at[0] and at[1] are the first two blocks. */
enum { HASH, COIN, COIN_2, STAY };

TAMIS_INLINE void locate(const tamis_filter *filter, tamis_digest digest, bool two,
                         tamis_i_probe *probe) {
    const choice first = choice_of(filter, digest, 0);
    TAMIS_PREFETCH(first.block);
    probe->at[0] = first.block;
    probe->word[HASH] = digest.hi;
    probe->word[COIN] = first.coin;
    if (two) {
        const choice second = choice_of(filter, digest, 1);
        probe->at[1] = second.block;
        probe->word[COIN_2] = second.coin;
    }
}

/* The keys of a group that are still looked for, in the block of their present choice. */
typedef struct search {
    const uint64_t *blocks[GROUP];
    uint64_t hashes[GROUP];
    uint64_t coins[GROUP];
    unsigned number[GROUP]; /* of the key in its group */
    size_t n;
} search;

/* Begin to fetch what comes after choice i of the keys that are left. */
TAMIS_INLINE void search_on(const tamis_filter *filter, const tamis_digest *digests, search *s,
                            unsigned i) {
    if (i + 1 == filter->geometry[CHOICES]) {
        for (size_t j = 0; j < s->n; j++)
            tamis_i_stash_prefetch(&filter->stash, digests[s->number[j]]);
        return;
    }
    for (size_t j = 0; j < s->n; j++) {
        const choice c = choice_of(filter, digests[s->number[j]], i + 1);
        TAMIS_PREFETCH(c.block);
        s->blocks[j] = c.block;
        s->coins[j] = c.coin;
    }
}

/* Test the keys that are left.  Whether a key goes on is a matter of chance that no processor can predict;
 * so every key is put on the list of the next round, where the next takes its place unless it
 * goes on. */
TAMIS_INLINE void search_here(const tamis_filter *filter, search *s, bool *present) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t limit = filter->geometry[LIMIT];
    bool here[GROUP];
    const size_t now = s->n;
    filter->kernels.local_test(&layout, s->blocks, s->hashes, now, here);
    s->n = 0;
    for (size_t j = 0; j < now; j++) {
        const uint64_t load = tamis_i_block_counter(&layout, s->blocks[j]);
        present[s->number[j]] = here[j];
        s->number[s->n] = s->number[j];
        s->hashes[s->n] = s->hashes[j];
        s->n += (unsigned)!here[j] & (unsigned)((load << 32 | s->coins[j]) >= limit);
    }
}

/* First choices of a few keys; those that go on fetch their second, if there are two. */
TAMIS_INLINE unsigned settle_first(const tamis_filter *filter, tamis_i_probe *probes, size_t n,
                                   bool two) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t limit = filter->geometry[LIMIT];
    const uint64_t *blocks[GROUP];
    uint64_t hashes[GROUP];
    bool here[GROUP];
    for (size_t j = 0; j < n; j++) {
        blocks[j] = probes[j].at[0];
        hashes[j] = probes[j].word[HASH];
    }
    unsigned any = 0;
    filter->kernels.local_test(&layout, blocks, hashes, n, here);
    for (size_t j = 0; j < n; j++) {
        const uint64_t load = tamis_i_block_counter(&layout, blocks[j]);
        const unsigned on =
            (unsigned)((load << 32 | probes[j].word[COIN]) >= limit) & (unsigned)!here[j];
        if (two)
            TAMIS_PREFETCH(probes[j].at[on]);
        probes[j].word[STAY] = (uint64_t)here[j] << 1 | on;
        any |= on;
    }
    return any;
}

#define PART 4u /* keys fetched before as many are looked at */

/* With one choice there are two stages. */
static void contains_one_choice(const tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *present) {
    for (size_t at = 0; at < GROUP; at += PART) {
        for (size_t j = at; j < at + PART && j < next->n; j++)
            locate(filter, next->digests[j], false, &next->probes[j]);
        const size_t end = now->n < at + PART ? now->n : at + PART;
        const bool any = at < end && settle_first(filter, now->probes + at, end - at, false) != 0;
        for (size_t j = at; j < end; j++)
            present[j] = now->probes[j].word[STAY] >> 1 != 0;
        for (size_t j = at; any && j < end; j++)
            if (now->probes[j].word[STAY] & 1)
                present[j] = tamis_i_stash_copies(&filter->stash, now->digests[j]) != 0;
    }
}

static void contains_choices(const tamis_filter *filter, const tamis_i_group *now,
                             const tamis_i_group *next, bool *present) {
    const size_t n_before = next->before == NULL ? 0 : next->before->n;
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    search s = {.n = 0};
    for (unsigned j = 0; j < now->n; j++) {
        const tamis_i_probe *const p = &now->probes[j];
        present[j] = p->word[STAY] >> 1 != 0;
        s.blocks[s.n] = p->at[1];
        s.hashes[s.n] = p->word[HASH];
        s.coins[s.n] = p->word[COIN_2];
        s.number[s.n] = j;
        s.n += p->word[STAY] & 1;
    }
    if (s.n > 0)
        search_here(filter, &s, present);
    search_on(filter, now->digests, &s, 1);
    for (size_t at = 0; at < GROUP; at += PART) {
        for (size_t j = at; j < at + PART && j < next->n; j++)
            locate(filter, next->digests[j], true, &next->probes[j]);
        if (at < n_before)
            (void)settle_first(filter, next->before->probes + at,
                               n_before - at < PART ? n_before - at : PART, true);
    }
    for (unsigned i = 2; i < choices && s.n > 0; i++) {
        search_here(filter, &s, present);
        search_on(filter, now->digests, &s, i);
    }
    for (size_t j = 0; j < s.n; j++)
        present[s.number[j]] = tamis_i_stash_copies(&filter->stash, now->digests[s.number[j]]) != 0;
}

static void contains_many(const tamis_filter *filter, const tamis_i_group *now,
                          const tamis_i_group *next, bool *present) {
    if (filter->geometry[CHOICES] == 1)
        contains_one_choice(filter, now, next, present);
    else
        contains_choices(filter, now, next, present);
    if (budget_spent(filter))
        for (size_t j = 0; j < now->n; j++)
            present[j] = present[j] || tamis_i_stash_copies(&filter->stash, now->digests[j]) != 0;
}

/* The keys whose first choice is already full fetch their second before the group is worked off in
 * order.  A first choice that takes its key needs no more than this; a budget that may run out within the
 * group is left to the others. */
static tamis_status insert_many(tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *added, size_t *done) {
    const tamis_i_block layout = layout_of(filter);
    const bool two = filter->geometry[CHOICES] > 1;
    const size_t n_before = two && next->before != NULL ? next->before->n : 0;
    const uint64_t limit = filter->geometry[LIMIT], budget = filter->geometry[BUDGET];
    const uint64_t left = budget < filter->state[LOOKS] ? 0 : budget - filter->state[LOOKS];
    const bool plenty = left >= (uint64_t)GROUP * CHOICES_MAX;
    uint64_t n = 0;
    for (size_t j = 0; j < GROUP; j++) {
        if (j < next->n)
            locate(filter, next->digests[j], two, &next->probes[j]);
        if (j < n_before) {
            const tamis_i_probe *const p = &next->before->probes[j];
            const uint64_t load = tamis_i_block_counter(&layout, p->at[0]);
            TAMIS_PREFETCH(p->at[(load << 32 | p->word[COIN]) >= limit]);
        }
        if (j < now->n) {
            const tamis_i_probe *const p = &now->probes[j];
            uint64_t *const block = p->at[0];
            const uint64_t load = tamis_i_block_counter(&layout, block);
            if (plenty && (load << 32 | p->word[COIN]) < limit) {
                added[j] = filter->kernels.local_set(&layout, block, p->word[HASH]);
                block[0] += added[j];
                n += added[j];
            } else {
                insert_from(filter, now->digests[j], (choice){block, p->word[COIN]}, &added[j]);
            }
        }
    }
    filter->state[LOOKS] += n;
    filter->state[TAMIS_I_COUNT] += n;
    *done = now->n;
    return TAMIS_OK;
}

/* ---- the whole ---- */

static tamis_status merge(tamis_filter *filter, const tamis_filter *source) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t load_max = filter->params.value[TAMIS_BALANCED_LOAD_MAX];
    const uint64_t end = filter->params.value[TAMIS_BALANCED_BLOCKS] * layout.words;
    for (uint64_t at = 0; at < end; at += layout.words) {
        uint64_t *const block = filter->table + at;
        const uint64_t *const other = source->table + at;
        const uint64_t sum =
            tamis_i_block_counter(&layout, block) + tamis_i_block_counter(&layout, other);
        const uint64_t load = sum < load_max ? sum : load_max;
        for (unsigned i = 0; i < layout.words; i++)
            block[i] |= other[i];
        block[0] = block[0] >> layout.first << layout.first | load;
        filter->state[FORCED] += sum - load;
    }
    filter->state[FORCED] += source->state[FORCED];
    filter->state[LOOKS] += source->state[LOOKS];
    return TAMIS_OK;
}

/* What a query meets at its i-th block, on average over the blocks that it may be. */
typedef struct meeting {
    double error, on, error_and_on; /* a false answer, a refusal, both */
} meeting;

static meeting meet(const tamis_filter *filter, unsigned i, const double *rates) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t *const g = filter->geometry;
    const uint64_t threshold = filter->params.value[TAMIS_BALANCED_LOAD_MAX] - 1;
    const double refused = 1 - (double)filter->params.value[TAMIS_BALANCED_COIN] / (double)ONE;
    meeting sum = {0, 0, 0};
    for (uint64_t j = 0; j < g[BLOCKS + i]; j++) {
        const uint64_t *const block = filter->table + (g[FIRST + i] + j) * g[WORDS];
        const uint64_t load = tamis_i_block_counter(&layout, block);
        const double error =
            rates[filter->kernels.ones(block, layout.words) - filter->kernels.ones(&load, 1)];
        const double on = load < threshold ? 0 : load == threshold ? refused : 1;
        sum.error += error;
        sum.on += on;
        sum.error_and_on += error * on;
    }
    const double blocks = (double)g[BLOCKS + i];
    return (meeting){sum.error / blocks, sum.on / blocks, sum.error_and_on / blocks};
}

/* The choices of an absent key are independent.  It meets an error at one that it reaches, or goes on if
 * it is refused without an error.  The stash knows whole digests and is never wrong. */
static void info(const tamis_filter *filter, tamis_info *info) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t *const g = filter->geometry;
    const uint64_t load_max = filter->params.value[TAMIS_BALANCED_LOAD_MAX];
    const bool mht = filter->params.value[TAMIS_BALANCED_SCHEME] == MHT;
    double rates[64 * TAMIS_I_BLOCK_WORDS_MAX + 1];
    for (unsigned ones = 0; ones <= layout.bits; ones++)
        rates[ones] = pow((double)ones / layout.bits, layout.hashes);
    meeting met = {0, 0, 0};
    double reach = 1;
    for (unsigned i = 0; i < g[CHOICES]; i++) {
        if (i == 0 || mht)
            met = meet(filter, i, rates);
        info->fpr += reach * met.error;
        info->reads_per_query += reach;
        reach *= fmax(0, met.on - met.error_and_on);
    }
    info->fpr = fmin(info->fpr, 1);
    const uint64_t count = filter->state[TAMIS_I_COUNT];
    info->reads_per_insert = count == 0 ? 1 : (double)filter->state[LOOKS] / (double)count;
    info->n_loads = load_max < TAMIS_LOADS_MAX ? (size_t)load_max + 1 : TAMIS_LOADS_MAX;
    for (uint64_t i = 0; i < filter->params.value[TAMIS_BALANCED_BLOCKS]; i++) {
        const uint64_t load = tamis_i_block_counter(&layout, filter->table + i * layout.words);
        info->load_histogram[load < info->n_loads ? load : info->n_loads - 1]++;
    }
}

static bool check(const tamis_filter *filter, const char **reason) {
    const tamis_i_block layout = layout_of(filter);
    const uint64_t load_max = filter->params.value[TAMIS_BALANCED_LOAD_MAX];
    const uint64_t forced = filter->state[FORCED], count = filter->state[TAMIS_I_COUNT];
    const uint64_t end = filter->params.value[TAMIS_BALANCED_BLOCKS] * layout.words;
    uint64_t keys = 0, at = 0, copies;
    tamis_digest digest;
    for (uint64_t i = 0; i < end; i += layout.words) {
        const uint64_t *const block = filter->table + i;
        const uint64_t load = tamis_i_block_counter(&layout, block);
        const uint64_t ones =
            filter->kernels.ones(block, layout.words) - filter->kernels.ones(&load, 1);
        if (load > load_max) {
            *reason = "a block holds more keys than it can";
            return false;
        }
        if ((load > 0 && ones == 0) || (forced == 0 && ones > load * layout.hashes)) {
            *reason = "the bits of a block do not fit its number of keys";
            return false;
        }
        keys += load;
    }
    for (uint64_t i = end; i < filter->n_table; i++) {
        if (filter->table[i] != 0) {
            *reason = "the table has data past its end";
            return false;
        }
    }
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &copies))
        keys += copies;
    if (forced > count || keys != count - forced) {
        *reason = "the blocks do not hold as many keys as the filter claims";
        return false;
    }
    if (filter->state[LOOKS] / filter->geometry[CHOICES] > count) {
        *reason = "the number of looks is out of range";
        return false;
    }
    return true;
}

const tamis_i_kind tamis_i_balanced_bloom = {.id = TAMIS_KIND_BALANCED_BLOOM,
                                             .name = "balanced-bloom",
                                             .abilities = TAMIS_CAN_MERGE,
                                             .n_state = 2,
                                             .params = {"scheme", "choices", "block_bits", "blocks",
                                                        "hashes", "load_max", "coin", "ratio",
                                                        "budget"},
                                             .shape = shape,
                                             .attach = attach,
                                             .insert = insert,
                                             .contains = contains,
                                             .prefetch = prefetch,
                                             .contains_many = contains_many,
                                             .insert_many = insert_many,
                                             .merge = merge,
                                             .info = info,
                                             .check = check};
