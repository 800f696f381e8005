/* balanced_bloom.c - Bloom filters in blocks of memory that are kept equally full
 *
 * A blocked Bloom filter reads one block per key, and pays with errors for the blocks that happen to get
 * more keys than others.  Here each block counts its keys, and one that is full sends a key on to its
 * next choice; what finds no place goes to the stash, the paper's overflow list.
 *
 *      block    [ load ][ bits of a small Bloom filter ]        bits/counted_block.h
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
#include "bits/counted_block.h"
#include "filter/guard.h"
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
#define MERGED (TAMIS_I_STATE_OWN + 2u) /* 1: keys of another filter were added */

/* geometry; FIRST and BLOCKS are arrays by choice, OPS are the operations of the engine */
enum {
    CHOICES,
    WORDS,
    COUNTER_BITS,
    LIMIT,
    BUDGET,
    FIRST,
    BLOCKS = FIRST + CHOICES_MAX,
    OPS = BLOCKS + CHOICES_MAX
};

static inline const tamis_i_counted_block_ops *balanced_ops_of(const tamis_filter *filter) {
    return (const tamis_i_counted_block_ops *)(const void *)(filter->geometry + OPS);
}

static unsigned balanced_bits_of(uint64_t value) {
    unsigned bits = 0;
    for (; value != 0; value >>= 1)
        bits++;
    return bits;
}

/* What a block holds if nobody says: the mean load and one key more, or, where a key has no second
 * choice, two and a half deviations more. */
static uint64_t balanced_default_load_max(uint64_t scheme, uint64_t capacity, uint64_t blocks) {
    const double mean = (double)capacity / (double)blocks;
    const double load = ceil(scheme == SINGLE ? mean + 2.5 * sqrt(mean) : mean) + 1;
    return load < LOAD_MAX_MAX ? (uint64_t)load : LOAD_MAX_MAX;
}

static bool balanced_in(uint64_t value, uint64_t least, uint64_t most) {
    return value >= least && value <= most;
}

/* Scheme and size of the table; false if they are out of range. */
static bool balanced_shape_table(uint64_t *v, uint64_t capacity) {
    if (v[TAMIS_BALANCED_BLOOM_SCHEME] == 0)
        v[TAMIS_BALANCED_BLOOM_SCHEME] = MHT;
    const uint64_t scheme = v[TAMIS_BALANCED_BLOOM_SCHEME];
    uint64_t *const choices = &v[TAMIS_BALANCED_BLOOM_CHOICES], *const blocks =
                                                                    &v[TAMIS_BALANCED_BLOOM_BLOCKS];
    uint64_t *const bits = &v[TAMIS_BALANCED_BLOOM_BLOCK_BITS];
    if (*choices == 0)
        *choices = scheme == SINGLE ? 1 : 3;
    if (*bits == 0)
        *bits = 64 * TAMIS_I_COUNTED_BLOCK_WORDS;
    const uint64_t least = scheme == MHT ? *choices : 1;
    if (*blocks == 0) {
        const uint64_t wanted = capacity * 12 / *bits + 1;
        *blocks = wanted < least ? least : wanted;
    }
    return balanced_in(scheme, SINGLE, MHT) &&
           balanced_in(*choices, 1, scheme == SINGLE ? 1 : CHOICES_MAX) &&
           balanced_in(*bits, 64, 64 * TAMIS_I_COUNTED_BLOCK_WORDS) && *bits % 64 == 0 &&
           balanced_in(*blocks, least, BLOCKS_MAX);
}

/* How blocks are filled; the table has its shape. */
static bool balanced_shape_filling(uint64_t *v, uint64_t capacity) {
    const bool mht = v[TAMIS_BALANCED_BLOOM_SCHEME] == MHT;
    const uint64_t blocks = v[TAMIS_BALANCED_BLOOM_BLOCKS], budget = v[TAMIS_BALANCED_BLOOM_BUDGET];
    uint64_t *const hashes = &v[TAMIS_BALANCED_BLOOM_HASHES], *const ratio =
                                                                  &v[TAMIS_BALANCED_BLOOM_RATIO];
    uint64_t *const load_max = &v[TAMIS_BALANCED_BLOOM_LOAD_MAX], *const coin =
                                                                      &v[TAMIS_BALANCED_BLOOM_COIN];
    if (*hashes == 0) {
        *hashes =
            tamis_i_probe_default_hashes(blocks * v[TAMIS_BALANCED_BLOOM_BLOCK_BITS], capacity);
        if (*hashes > TAMIS_I_COUNTED_BLOCK_PLACES)
            *hashes = TAMIS_I_COUNTED_BLOCK_PLACES;
    }
    if (*load_max == 0)
        *load_max = balanced_default_load_max(v[TAMIS_BALANCED_BLOOM_SCHEME], capacity, blocks);
    if (*coin == 0)
        *coin = ONE;
    if (*ratio == 0 && mht)
        *ratio = 733668002; /* q with 1 + q + q^2 = 1.2 */
    return balanced_in(*hashes, 1, TAMIS_I_COUNTED_BLOCK_PLACES) &&
           balanced_in(*load_max, 1, LOAD_MAX_MAX) && balanced_in(*coin, 1, ONE) &&
           (mht ? balanced_in(*ratio, 1, ONE) : *ratio == 0) &&
           (budget == 0 || balanced_in(budget, 1000, 8000));
}

static tamis_status balanced_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const v = params->value;
    if (!balanced_shape_table(v, params->capacity) || !balanced_shape_filling(v, params->capacity))
        return TAMIS_E_ARGUMENT;
    if (params->stash == 0)
        params->stash = 16 + params->capacity / 128;
    const uint64_t words =
        v[TAMIS_BALANCED_BLOOM_BLOCKS] * (v[TAMIS_BALANCED_BLOOM_BLOCK_BITS] / 64);
    *n_table = (words + TAMIS_LINE_WORDS - 1) / TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

/* The sub-tables of MHT get one block each, and share the others in the ratio of their weights. */
static void balanced_attach_subtables(uint64_t *g, uint64_t blocks, uint64_t ratio) {
    const uint64_t choices = g[CHOICES], spare = blocks - choices;
    uint64_t weight[CHOICES_MAX] = {ONE}, sum = ONE, before = 0;
    for (uint64_t i = 1; i < choices; i++) {
        weight[i] = weight[i - 1] * ratio >> 32;
        sum += weight[i];
    }
    for (uint64_t i = 0, at = 0; i < choices; i++) {
        before += weight[i];
        const uint64_t end = i + 1 + tamis_i_share(spare, before, sum);
        g[FIRST + i] = at;
        g[BLOCKS + i] = end - at;
        at = end;
    }
}

static void balanced_attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    uint64_t *const g = filter->geometry;
    memcpy(g + OPS, tamis_i_counted_block_ops_for(filter->features),
           sizeof(tamis_i_counted_block_ops));
    g[CHOICES] = v[TAMIS_BALANCED_BLOOM_CHOICES];
    g[WORDS] = v[TAMIS_BALANCED_BLOOM_BLOCK_BITS] / 64;
    g[COUNTER_BITS] = balanced_bits_of(v[TAMIS_BALANCED_BLOOM_LOAD_MAX]);
    g[LIMIT] = ((v[TAMIS_BALANCED_BLOOM_LOAD_MAX] - 1) << 32) + v[TAMIS_BALANCED_BLOOM_COIN];
    g[BUDGET] = v[TAMIS_BALANCED_BLOOM_BUDGET] == 0
                    ? UINT64_MAX
                    : filter->params.capacity * v[TAMIS_BALANCED_BLOOM_BUDGET] / 1000;
    for (unsigned i = 0; i < g[CHOICES]; i++) {
        g[FIRST + i] = 0;
        g[BLOCKS + i] = v[TAMIS_BALANCED_BLOOM_BLOCKS];
    }
    if (v[TAMIS_BALANCED_BLOOM_SCHEME] == MHT)
        balanced_attach_subtables(g, v[TAMIS_BALANCED_BLOOM_BLOCKS], v[TAMIS_BALANCED_BLOOM_RATIO]);
}

static inline tamis_i_counted_block balanced_layout_of(const tamis_filter *filter) {
    const uint64_t *const g = filter->geometry;
    return (tamis_i_counted_block){.words = (unsigned)g[WORDS],
                                   .first = (unsigned)g[COUNTER_BITS],
                                   .bits = (unsigned)(64 * g[WORDS] - g[COUNTER_BITS]),
                                   .hashes =
                                       (unsigned)filter->params.value[TAMIS_BALANCED_BLOOM_HASHES],
                                   .limit = g[LIMIT]};
}

/* ---- one key ---- */

/* A block that a key may go to, and its coin there: the high bits of what the choice of the block
 * has left of its word, as a fraction of 2^32. */
typedef struct choice {
    uint64_t *block;
    uint64_t coin;
} choice;

/* The words of the digest's stream: 0 and from 2 on for the choices; 1 for the bits in the block. */
static inline choice balanced_choice_of(const tamis_filter *filter, tamis_digest digest,
                                        unsigned i) {
    const uint64_t *const g = filter->geometry;
    uint64_t word = tamis_i_word(digest, i == 0 ? 0 : i + 1);
    const uint64_t block = g[FIRST + i] + tamis_i_take(&word, g[BLOCKS + i]);
    return (choice){.block = filter->table + block * g[WORDS], .coin = word >> 32};
}

/* Would the block take this key?  If not, it never will (B1). */
static inline bool balanced_takes(const tamis_filter *filter, choice c) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    return tamis_i_counted_block_takes(&layout, c.block, c.coin);
}

static inline bool balanced_holds(const tamis_filter *filter, choice c, tamis_digest digest) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    return balanced_ops_of(filter)->test(&layout, c.block, digest.hi);
}

static inline bool balanced_set(tamis_filter *filter, choice c, tamis_digest digest) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    return balanced_ops_of(filter)->set(&layout, c.block, digest.hi);
}

static inline bool balanced_budget_spent(const tamis_filter *filter) {
    return filter->state[LOOKS] >= filter->geometry[BUDGET];
}

static bool balanced_contains(const tamis_filter *filter, tamis_digest digest) {
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    for (unsigned i = 0; i < choices; i++) {
        const choice c = balanced_choice_of(filter, digest, i);
        if (balanced_holds(filter, c, digest))
            return true;
        if (balanced_takes(filter, c)) {
            if (!balanced_budget_spent(filter))
                return false;
            break;
        }
    }
    return tamis_i_stash_copies(&filter->stash, digest) != 0;
}

/* For a key that no block has taken, and that is in none of those that a query visits. */
static bool balanced_insert_aside(tamis_filter *filter, tamis_digest digest) {
    if (tamis_i_stash_copies(&filter->stash, digest) != 0)
        return false;
    if (tamis_i_stash_insert(&filter->stash, digest) != TAMIS_OK) {
        (void)balanced_set(filter, balanced_choice_of(filter, digest, 0), digest);
        filter->state[FORCED]++;
    }
    return true;
}

/* Insert a key whose first choice is known.  Looks count for keys that are added; the reads that find a key
 * to be there already do not. */
static inline void balanced_insert_from(tamis_filter *filter, tamis_digest digest, choice c,
                                        bool *added) {
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    const uint64_t spent = filter->state[LOOKS], budget = filter->geometry[BUDGET];
    const uint64_t left = spent < budget ? budget - spent : 0;
    unsigned looks = 0;
    *added = false;
    for (unsigned i = 0; i < choices; i++) {
        if (i > 0)
            c = balanced_choice_of(filter, digest, i);
        const bool room = balanced_takes(filter, c);
        looks += i < left;
        if (room && i < left) {
            if (!balanced_set(filter, c, digest))
                return;
            c.block[0]++; /* the load: its field has room for load_max */
            *added = true;
            break;
        }
        if (balanced_holds(filter, c, digest))
            return;
        if (room)
            break;
    }
    if (!*added && !balanced_insert_aside(filter, digest))
        return;
    *added = true;
    filter->state[LOOKS] += looks;
    filter->state[TAMIS_I_COUNT]++;
}

static tamis_status balanced_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    balanced_insert_from(filter, digest, balanced_choice_of(filter, digest, 0), added);
    return TAMIS_OK;
}

/* For single calls; a second choice is fetched when it is needed. */
static void balanced_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    (void)write; /* a line that no other processor holds can be written once it is there */
    TAMIS_PREFETCH(balanced_choice_of(filter, digest, 0).block);
}

/* A query goes on only where the block refuses the key. */
static bool balanced_touch(const tamis_filter *filter, tamis_digest digest) {
    for (unsigned i = 0; i < filter->geometry[CHOICES]; i++) {
        const choice c = balanced_choice_of(filter, digest, i);
        if (!tamis_i_guard_words(filter, c.block, filter->geometry[WORDS]))
            return false;
        if (balanced_takes(filter, c))
            break;
    }
    return true;
}

/* ---- batches ----
 *
 * A group goes through four stages, one per call.  Its first choices are fetched; they are looked at, and
 * the second choices of the keys that go on are fetched; those are looked at, and the third are fetched;
 * those are looked at at the beginning of the last call, and the slots of the stash are fetched, which
 * come last, when the other groups have had their turn.  Where there are more than three choices, the
 * others have no stage of their own; where there is one, it gets the stages of two.
 *
 * All that fetches must be inlined: compilers drop calls of functions that do nothing else.
 */

/* Words of a probe.  Those of the first probe of a group also tell about the group: keys that are still
 * looked for, whose probes are the first ones, and keys that were found, as a mask. */
enum {
    HASH = TAMIS_I_COUNTED_BLOCK_HASH,
    COIN = TAMIS_I_COUNTED_BLOCK_COIN,
    NUMBER = TAMIS_I_COUNTED_BLOCK_OWN, /* of the key in its group */
    LEFT,
    FOUND
};

/* Find the first choices, and fetch them all at once if 'fetch' is true: measured to be better than in turns
 * with much work, presumably because addresses of fetches that lie together are translated together.  With
 * little work, that of one look, turns are better.  Inserts do not need the hashes. */
TAMIS_INLINE void balanced_locate(const tamis_filter *filter, const tamis_i_group *group,
                                  bool fetch, bool hash) {
    const uint64_t blocks = filter->geometry[BLOCKS], words = filter->geometry[WORDS];
    uint64_t *const table = filter->table;
    tamis_i_probe *const probes = tamis_i_group_probes(group);
    for (size_t j = 0; j < group->n; j++) {
        uint64_t word = group->digests[j].lo;
        probes[j].at[0] = table + tamis_i_take(&word, blocks) * words;
        if (fetch)
            TAMIS_PREFETCH(probes[j].at[0]);
        if (hash)
            probes[j].word[HASH] = group->digests[j].hi;
        probes[j].word[COIN] = word >> 32;
    }
    probes[0].word[LEFT] = group->n;
    probes[0].word[FOUND] = 0;
}

/* Look at choice i of the keys of a group that are left, and begin to fetch what comes after it. */
TAMIS_INLINE void balanced_advance(const tamis_filter *filter, const tamis_i_group *group,
                                   unsigned i, const tamis_i_probe *fetch) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    tamis_i_probe *const probes = tamis_i_group_probes(group);
    const size_t n = (size_t)probes[0].word[LEFT];
    const uint64_t seen = balanced_ops_of(filter)->look(&layout, probes, n, fetch);
    const uint32_t here = (uint32_t)seen;
    uint64_t found = probes[0].word[FOUND];
    if (i == 0)
        found = here;
    else
        for (uint32_t left = here; left != 0; left &= left - 1)
            found |= (uint64_t)1 << probes[__builtin_ctz(left)].word[NUMBER];
    size_t m = 0;
    const bool last = i + 1 == filter->geometry[CHOICES];
    for (uint32_t left = (uint32_t)(seen >> 32) & ~here; left != 0; left &= left - 1) {
        const unsigned at = (unsigned)__builtin_ctz(left);
        const uint64_t number = i == 0 ? at : probes[at].word[NUMBER];
        const tamis_digest digest = group->digests[number];
        tamis_i_probe *const p = &probes[m++];
        p->word[NUMBER] = number;
        if (last) {
            tamis_i_stash_prefetch(&filter->stash, digest);
        } else {
            const choice c = balanced_choice_of(filter, digest, i + 1);
            TAMIS_PREFETCH(c.block);
            p->at[0] = c.block;
            p->word[HASH] = digest.hi;
            p->word[COIN] = c.coin;
        }
    }
    probes[0].word[LEFT] = m;
    probes[0].word[FOUND] = found;
}

static void balanced_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                   const tamis_i_group *next, bool *present) {
    static const tamis_i_group none = {.n = 0};
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    const tamis_i_group *const second = next->before == NULL ? &none : next->before;
    const tamis_i_group *const third = second->before == NULL ? &none : second->before;
    const tamis_i_group *const first = choices == 1 ? third : second;
    if (choices > 2 && now->n != 0)
        balanced_advance(filter, now, 2, tamis_i_group_probes(now));
    const bool turns = choices == 1 && first->n != 0 && next->n >= first->n;
    balanced_locate(filter, next, !turns, true);
    if (first->n != 0)
        balanced_advance(filter, first, 0,
                         turns ? tamis_i_group_probes(next) : tamis_i_group_probes(first));
    if (choices > 1 && third->n != 0)
        balanced_advance(filter, third, 1, tamis_i_group_probes(third));
    if (now->n == 0)
        return;
    for (unsigned i = 3; i < choices; i++)
        balanced_advance(filter, now, i, tamis_i_group_probes(now));
    const uint64_t found = tamis_i_group_probes(now)[0].word[FOUND],
                   left = tamis_i_group_probes(now)[0].word[LEFT];
    uint64_t stashed = 0;
    if (TAMIS_UNLIKELY(balanced_budget_spent(filter)))
        for (size_t j = 0; j < now->n; j++)
            stashed |= (uint64_t)(tamis_i_stash_copies(&filter->stash, now->digests[j]) != 0) << j;
    else
        for (size_t j = 0; j < left; j++) {
            const uint64_t number = tamis_i_group_probes(now)[j].word[NUMBER];
            stashed |= (uint64_t)(tamis_i_stash_copies(&filter->stash, now->digests[number]) != 0)
                       << number;
        }
    tamis_i_group_answer(present, now->n, (uint32_t)(found | stashed));
}

/* Keys whose first choice is full by now, as a mask: their second choice is fetched. */
TAMIS_INLINE void balanced_foresee_second(const tamis_filter *filter, const tamis_i_group *group) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    uint32_t full = 0;
    for (size_t j = group->n; j-- > 0;)
        full =
            2 * full + !tamis_i_counted_block_takes(&layout, tamis_i_group_probes(group)[j].at[0],
                                                    tamis_i_group_probes(group)[j].word[COIN]);
    tamis_i_group_probes(group)[0].word[FOUND] = full;
    for (; full != 0; full &= full - 1)
        TAMIS_PREFETCH(balanced_choice_of(filter, group->digests[__builtin_ctz(full)], 1).block);
}

/* The same for the third. */
TAMIS_INLINE void balanced_foresee_third(const tamis_filter *filter, const tamis_i_group *group) {
    for (uint32_t full = (uint32_t)tamis_i_group_probes(group)[0].word[FOUND]; full != 0;
         full &= full - 1) {
        const tamis_digest digest = group->digests[__builtin_ctz(full)];
        if (!balanced_takes(filter, balanced_choice_of(filter, digest, 1)))
            TAMIS_PREFETCH(balanced_choice_of(filter, digest, 2).block);
    }
}

static unsigned balanced_ones_of(const tamis_filter *filter, uint64_t mask) {
    return (unsigned)filter->words->ones(&mask, 1);
}

/* Insert a group choice by choice.  As good as key by key where the blocks of one choice are never those of
 * another and the stash has room: what a key does at its later choices then changes nothing that another one
 * meets at its first. */
static void balanced_insert_by_choice(tamis_filter *filter, const tamis_i_group *group,
                                      bool *added) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    tamis_i_probe *const probes = tamis_i_group_probes(group);
    tamis_i_counted_block_places places;
    balanced_ops_of(filter)->prepare(&layout, group->digests, group->n, probes, &places);
    uint64_t seen = balanced_ops_of(filter)->fill(&layout, probes, group->n, false);
    uint32_t in = (uint32_t)seen;
    uint64_t count = balanced_ones_of(filter, in), looks = count;
    for (unsigned i = 1; i < choices && seen >> 32 != 0; i++) {
        size_t m = 0;
        for (uint32_t on = (uint32_t)(seen >> 32); on != 0; on &= on - 1) {
            const unsigned at = (unsigned)__builtin_ctz(on);
            const uint64_t number = i == 1 ? at : probes[at].word[NUMBER];
            const choice c = balanced_choice_of(filter, group->digests[number], i);
            tamis_i_probe *const p = &probes[m++];
            p->at[0] = c.block;
            p->at[1] = probes[at].at[1];
            p->word[HASH] = group->digests[number].hi;
            p->word[COIN] = c.coin;
            p->word[NUMBER] = number;
        }
        seen = balanced_ops_of(filter)->fill(&layout, probes, m, false);
        for (uint32_t here = (uint32_t)seen; here != 0; here &= here - 1) {
            in |= (uint32_t)1 << probes[__builtin_ctz(here)].word[NUMBER];
            count++;
            looks += i + 1;
        }
    }
    for (uint32_t on = (uint32_t)(seen >> 32); on != 0; on &= on - 1) {
        const unsigned at = (unsigned)__builtin_ctz(on);
        const uint64_t number = choices == 1 ? at : probes[at].word[NUMBER];
        if (balanced_insert_aside(filter, group->digests[number])) {
            in |= (uint32_t)1 << number;
            count++;
            looks += choices;
        }
    }
    filter->state[LOOKS] += looks;
    filter->state[TAMIS_I_COUNT] += count;
    tamis_i_group_answer(added, group->n, in);
}

/* The same key by key.  Keys that their first choice takes are left to the kernel; a budget that may run out
 * within the group is left to the others. */
static void balanced_insert_by_key(tamis_filter *filter, const tamis_i_group *group, bool plenty,
                                   bool *added) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const tamis_i_probe *const probes = tamis_i_group_probes(group);
    const size_t n = group->n;
    tamis_i_counted_block_places places;
    uint64_t in = 0;
    if (plenty)
        balanced_ops_of(filter)->prepare(&layout, group->digests, n, tamis_i_group_probes(group),
                                         &places);
    for (size_t j = 0; j < n; j++) {
        if (plenty) {
            const uint64_t seen = balanced_ops_of(filter)->fill(&layout, probes + j, n - j, true);
            const uint64_t first = (uint32_t)seen;
            in |= first << j;
            filter->state[LOOKS] += balanced_ones_of(filter, first);
            filter->state[TAMIS_I_COUNT] += balanced_ones_of(filter, first);
            if (seen >> 32 == 0)
                break;
            j += (unsigned)__builtin_ctz((uint32_t)(seen >> 32));
        }
        bool is_new;
        balanced_insert_from(filter, group->digests[j],
                             (choice){probes[j].at[0], probes[j].word[COIN]}, &is_new);
        in |= (uint64_t)is_new << j;
    }
    tamis_i_group_answer(added, n, (uint32_t)in);
}

/* The stages are as for queries, but what they see is used for fetching only. */
static tamis_status balanced_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                         const tamis_i_group *next, bool *added, size_t *done) {
    static const tamis_i_group none = {.n = 0};
    const tamis_i_group *const second = next->before == NULL ? &none : next->before;
    const tamis_i_group *const third = second->before == NULL ? &none : second->before;
    const unsigned choices = (unsigned)filter->geometry[CHOICES];
    const uint64_t budget = filter->geometry[BUDGET], looks = filter->state[LOOKS];
    const bool plenty = looks < budget && budget - looks >= (uint64_t)GROUP * CHOICES_MAX;
    const bool apart = filter->params.value[TAMIS_BALANCED_BLOOM_SCHEME] != SEQUENTIAL;
    const bool room = filter->stash.capacity - *filter->stash.used >= GROUP;
    const bool twice = looks != filter->state[TAMIS_I_COUNT]; /* until one key had to, none has */
    if (twice && choices > 2 && third->n != 0)
        balanced_foresee_third(filter, third);
    if (twice && choices > 1 && second->n != 0)
        balanced_foresee_second(filter, second);
    balanced_locate(filter, next, true, false);
    *done = now->n;
    if (now->n == 0)
        return TAMIS_OK;
    if (plenty && apart && room)
        balanced_insert_by_choice(filter, now, added);
    else
        balanced_insert_by_key(filter, now, plenty, added);
    return TAMIS_OK;
}

/* ---- the whole ---- */

static tamis_status balanced_merge(tamis_filter *filter, const tamis_filter *source) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const uint64_t load_max = filter->params.value[TAMIS_BALANCED_BLOOM_LOAD_MAX];
    const uint64_t end = filter->params.value[TAMIS_BALANCED_BLOOM_BLOCKS] * layout.words;
    for (uint64_t at = 0; at < end; at += layout.words) {
        uint64_t *const block = filter->table + at;
        const uint64_t *const other = source->table + at;
        const uint64_t sum = tamis_i_counted_block_counter(&layout, block) +
                             tamis_i_counted_block_counter(&layout, other);
        const uint64_t load = sum < load_max ? sum : load_max;
        for (unsigned i = 0; i < layout.words; i++)
            block[i] |= other[i];
        block[0] = block[0] >> layout.first << layout.first | load;
        filter->state[FORCED] += sum - load;
    }
    filter->state[FORCED] += source->state[FORCED];
    filter->state[LOOKS] += source->state[LOOKS];
    if (source->state[TAMIS_I_COUNT] != 0)
        filter->state[MERGED] = 1;
    return TAMIS_OK;
}

/* With one choice each and no key refused, the union has the very bits of one filter with all the keys. */
static bool balanced_uneven(const tamis_filter *filter) {
    const bool all_at_home = filter->params.value[TAMIS_BALANCED_BLOOM_SCHEME] == SINGLE &&
                             filter->state[FORCED] == 0 && filter->state[TAMIS_I_STASH_USED] == 0;
    return filter->state[MERGED] != 0 && !all_at_home;
}

/* Of blocks that are planned to refuse no key: in a union, where one may have refused some, their bits are
 * those of all keys but what is in the stash. */
static bool balanced_fill(const tamis_filter *filter, tamis_i_fill *fill) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const uint64_t blocks = filter->params.value[TAMIS_BALANCED_BLOOM_BLOCKS];
    const tamis_i_fill_shape shape = {(double)blocks, layout.bits, layout.hashes, false};
    if (filter->params.value[TAMIS_BALANCED_BLOOM_SCHEME] != SINGLE || filter->stash.capacity > 1)
        return false;
    uint64_t set = 0;
    for (uint64_t at = 0; at < blocks * layout.words; at += layout.words) {
        const uint64_t load = tamis_i_counted_block_counter(&layout, filter->table + at);
        set +=
            filter->words->ones(filter->table + at, layout.words) - filter->words->ones(&load, 1);
    }
    const double in_stash = (double)filter->state[TAMIS_I_STASH_USED];
    tamis_i_fill_of(&shape, fmax((double)filter->params.capacity - in_stash, 0), fill);
    fill->set = (double)set;
    return true;
}

/* What a query meets at its i-th block, on average over the blocks that it may be. */
typedef struct meeting {
    double error, on, error_and_on; /* a false answer, a refusal, both */
} meeting;

static meeting balanced_meet(const tamis_filter *filter, tamis_i_slice slice, unsigned i,
                             const double *rates) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const uint64_t *const g = filter->geometry;
    const uint64_t threshold = filter->params.value[TAMIS_BALANCED_BLOOM_LOAD_MAX] - 1;
    const double refused =
        1 - (double)filter->params.value[TAMIS_BALANCED_BLOOM_COIN] / (double)ONE;
    meeting sum = {0, 0, 0};
    const uint64_t end = tamis_i_slice_end(slice, g[BLOCKS + i]);
    for (uint64_t j = tamis_i_slice_from(slice, g[BLOCKS + i]); j < end; j++) {
        const uint64_t *const block = filter->table + (g[FIRST + i] + j) * g[WORDS];
        const uint64_t load = tamis_i_counted_block_counter(&layout, block);
        const double error =
            rates[filter->words->ones(block, layout.words) - filter->words->ones(&load, 1)];
        const double on = load < threshold ? 0 : load == threshold ? refused : 1;
        sum.error += error;
        sum.on += on;
        sum.error_and_on += error * on;
    }
    const double blocks = tamis_i_slice_size(slice, g[BLOCKS + i]);
    return (meeting){sum.error / blocks, sum.on / blocks, sum.error_and_on / blocks};
}

/* The choices of an absent key are independent.  It meets an error at one that it reaches, or goes on if
 * it is refused without an error.  The stash knows whole digests and is never wrong. */
static void balanced_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const uint64_t *const g = filter->geometry;
    const uint64_t load_max = filter->params.value[TAMIS_BALANCED_BLOOM_LOAD_MAX];
    const bool mht = filter->params.value[TAMIS_BALANCED_BLOOM_SCHEME] == MHT;
    double rates[64 * TAMIS_I_COUNTED_BLOCK_WORDS + 1];
    for (unsigned ones = 0; ones <= layout.bits; ones++)
        rates[ones] = pow((double)ones / layout.bits, layout.hashes);
    meeting met = {0, 0, 0};
    double reach = 1;
    for (unsigned i = 0; i < g[CHOICES]; i++) {
        if (i == 0 || mht)
            met = balanced_meet(filter, slice, i, rates);
        info->fpr += reach * met.error;
        info->reads_per_query += reach;
        reach *= fmax(0, met.on - met.error_and_on);
    }
    info->fpr = fmin(info->fpr, 1);
    const uint64_t count = filter->state[TAMIS_I_COUNT];
    info->reads_per_insert = count == 0 ? 1 : (double)filter->state[LOOKS] / (double)count;
    info->n_loads = load_max < TAMIS_LOADS_MAX ? (size_t)load_max + 1 : TAMIS_LOADS_MAX;
    const uint64_t blocks = filter->params.value[TAMIS_BALANCED_BLOOM_BLOCKS];
    const uint64_t end = tamis_i_slice_end(slice, blocks);
    for (uint64_t i = tamis_i_slice_from(slice, blocks); i < end; i++) {
        const uint64_t load =
            tamis_i_counted_block_counter(&layout, filter->table + i * layout.words);
        info->load_histogram[load < info->n_loads ? load : info->n_loads - 1]++;
    }
}

static bool balanced_check(const tamis_filter *filter, const char **reason) {
    const tamis_i_counted_block layout = balanced_layout_of(filter);
    const uint64_t load_max = filter->params.value[TAMIS_BALANCED_BLOOM_LOAD_MAX];
    const uint64_t forced = filter->state[FORCED], count = filter->state[TAMIS_I_COUNT];
    const uint64_t end = filter->params.value[TAMIS_BALANCED_BLOOM_BLOCKS] * layout.words;
    uint64_t keys = 0, at = 0, copies;
    tamis_digest digest;
    for (uint64_t i = 0; i < end; i += layout.words) {
        const uint64_t *const block = filter->table + i;
        const uint64_t load = tamis_i_counted_block_counter(&layout, block);
        const uint64_t ones =
            filter->words->ones(block, layout.words) - filter->words->ones(&load, 1);
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
    if (filter->state[MERGED] > 1) {
        *reason = "the mark of merged filters is neither 0 nor 1";
        return false;
    }
    return true;
}

const tamis_i_kind tamis_i_balanced_bloom = {.id = TAMIS_KIND_BALANCED_BLOOM,
                                             .name = "balanced-bloom",
                                             .abilities = TAMIS_CAN_MERGE,
                                             .scratch = TAMIS_I_SCRATCH_MAX,
                                             .n_state = 3,
                                             .ahead = 3,
                                             .params = {"scheme", "choices", "block_bits", "blocks",
                                                        "hashes", "load_max", "coin", "ratio",
                                                        "budget"},
                                             .shape = balanced_shape,
                                             .attach = balanced_attach,
                                             .insert = balanced_insert,
                                             .contains = balanced_contains,
                                             .prefetch = balanced_prefetch,
                                             .touch = balanced_touch,
                                             .contains_many = balanced_contains_many,
                                             .insert_many = balanced_insert_many,
                                             .merge = balanced_merge,
                                             .uneven = balanced_uneven,
                                             .fill = balanced_fill,
                                             .info = balanced_info,
                                             .check = balanced_check};
