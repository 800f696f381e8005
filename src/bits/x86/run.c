/* run.c - the work on one bucket of bits/run.h, for x86-64 with POPCNT and BMI2, and with AVX2
 *
 * Without AVX2 it is the template.  With it, what most keys need takes no branch that depends on the key:
 * which word of the index the zero of a home is in, where its run begins, whether one of its slots
 * matches.  A run that does not fit in one word of slots, and a fingerprint that is there already, take the
 * template's way.
 *
 * How slots come and go is in run_move.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/run.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/native.h"
#include "bits/x86/draw.h"

#define RUN_TARGET          TAMIS_I_TARGET_COUNT
#define RUN_ONES(word)      ((unsigned)__builtin_popcountll(word))
#define RUN_SELECT(word, r) ((unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << (r), word)))
#define RUN_OPS             static const tamis_i_run_ops ops
#include "bits/run_template.h"
#include "bits/x86/run_move.h"

/* ---- looking ---- */

/* What is known of a home: as in a view, but of a home that is away 'end' is not in the index, and the rest
 * means nothing. */
typedef struct run_sight {
    uint64_t end, length, first;
    uint64_t ones; /* of the words of the index before the last */
} run_sight;

#define BACK 56u /* slots of a run that is known from 64 bits */

/* Ones that come without a gap before bit 'end', from the 64 bits before it: more than BACK at least, if
 * there are so many. */
TAMIS_I_TARGET_ALL TAMIS_APART uint64_t run_back(const uint64_t *bucket, uint64_t end) {
    const uint64_t up = (end + 7) & ~(uint64_t)7, top = up < 64 ? 64 : up;
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)bucket + top / 8 - 8, sizeof bits);
    const uint64_t ones = _lzcnt_u64(~(bits << (top - end) % 64));
    return ones < end ? ones : end;
}

/* Before the zero of home h there are h zeros.  'left' is how many of them come after the words so far.  It
 * gets less from word to word, and below 0 with the word of the zero.  The least that is not below 0, which
 * as an unsigned number is the least of all, is the zero's number in its word.  If no word before the last
 * has it, the last one is looked at, where what is behind the index needs no mask: a zero there is past the
 * index, and so is what is not there.  So no branch depends on the key, but the one for the first zero of a
 * word. */
FAST TAMIS_INLINE run_sight run_see_words(const uint64_t *bucket, uint64_t home, uint64_t words) {
    uint64_t left = home, rank = home, i = words - 1;
    for (uint64_t k = 0; k + 1 < words; k++) {
        left += RUN_ONES(bucket[k]) - (uint64_t)64;
        rank = left < rank ? left : rank;
        i -= left >> 63;
    }
    const uint64_t zeros = ~bucket[i];
    const uint64_t bit = _pdep_u64(rank < 64 ? (uint64_t)1 << rank : 0, zeros);
    const uint64_t end = 64 * i + _tzcnt_u64(bit), below = zeros & (bit - 1);
    const uint64_t length =
        TAMIS_LIKELY(below != 0) ? _lzcnt_u64(below) - _lzcnt_u64(bit) - 1 : run_back(bucket, end);
    return (run_sight){.end = end,
                       .length = length,
                       .first = end - home - length,
                       .ones = left - home + 64 * (words - 1)};
}

FAST TAMIS_INLINE run_sight run_see(const tamis_i_run *run, const uint64_t *bucket, uint64_t home) {
    switch (run->index_words) {
    case 1:
        return run_see_words(bucket, home, 2);
    case 2:
        return run_see_words(bucket, home, 3);
    case 3:
        return run_see_words(bucket, home, 4);
    case 4:
        return run_see_words(bucket, home, 5);
    default:
        return run_see_words(bucket, home, run->index_words + 1);
    }
}

/* Bits from 'at' on; bytes behind the bucket are not read. */
FAST TAMIS_INLINE uint64_t run_bits(const tamis_i_run *run, const uint64_t *bucket, uint64_t at) {
    const uint64_t last = 8 * run->words - 8, byte = at / 8 < last ? at / 8 : last;
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)bucket + byte, sizeof bits);
    return bits >> (at - 8 * byte) % 64;
}

/* The highest bits of slots with this fingerprint, among those in 'bits'; the lowest of the result is right,
 * others may be wrong. */
FAST TAMIS_INLINE uint64_t run_hits(const tamis_i_run *run, uint64_t bits, uint64_t width,
                                    uint64_t print) {
    const uint64_t x = (bits ^ print * run->lowest) & run->prints;
    return _bzhi_u64((x - run->lowest) & ~x & run->highest, (unsigned)width);
}

FAST static bool run_quick_look(const tamis_i_run *run, const uint64_t *bucket, uint64_t home,
                                tamis_i_run_view *view) {
    const run_sight sight = run_see(run, bucket, home);
    if (TAMIS_UNLIKELY(sight.end >= run->index_bits))
        return false;
    if (TAMIS_UNLIKELY(sight.length > BACK || sight.end - home > run->slots))
        return run_look(run, bucket, home, view);
    view->end = sight.end;
    view->first = sight.first;
    view->length = sight.length;
    return true;
}

/* In a long bucket, the slots begin to be fetched before the index tells where they are. */
FAST static unsigned run_quick_find(const tamis_i_run *run, const uint64_t *bucket, uint64_t home,
                                    uint64_t print) {
    if (run->words > PAIR)
        TAMIS_PREFETCH(bucket + (run->index_bits + (home * run->pace >> 16)) / 64);
    const run_sight sight = run_see(run, bucket, home);
    if (TAMIS_UNLIKELY(sight.end >= run->index_bits))
        return TAMIS_I_RUN_AWAY;
    if (TAMIS_UNLIKELY(sight.length > run->fit))
        return run_find(run, bucket, home, print);
    const uint64_t bits = run_bits(run, bucket, tamis_i_run_at(run, sight.first));
    return run_hits(run, bits, sight.length * run->slot_bits, print) != 0 ? TAMIS_I_RUN_FOUND : 0;
}

FAST TAMIS_INLINE uint32_t run_look_words(const tamis_i_run *run, tamis_i_run_keys *keys, size_t n,
                                          const tamis_i_run_keys *later, uint64_t words) {
    const uint64_t index_bits = run->index_bits, slot_bits = run->slot_bits;
    uint32_t away = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const bucket = keys->bucket[i];
        tamis_i_run_fetch_index(run, later->bucket[i]);
        const run_sight sight = run_see_words(bucket, keys->home[i], words);
        const bool gone = sight.end >= index_bits;
        const uint64_t width = sight.length * slot_bits & ~run_mask(gone);
        const uint64_t at = index_bits + sight.first * slot_bits;
        keys->at[i] = at;
        keys->width[i] = width;
        away |= (uint32_t)gone << i;
        TAMIS_PREFETCH(bucket + (at / 64 & run_mask(width != 0)));
    }
    return away;
}

FAST static uint32_t run_quick_look_many(const tamis_i_run *run, tamis_i_run_keys *keys, size_t n,
                                         const tamis_i_run_keys *later) {
    switch (run->index_words) {
    case 1:
        return run_look_words(run, keys, n, later, 2);
    case 2:
        return run_look_words(run, keys, n, later, 3);
    case 3:
        return run_look_words(run, keys, n, later, 4);
    case 4:
        return run_look_words(run, keys, n, later, 5);
    default:
        return run_look_words(run, keys, n, later, run->index_words + 1);
    }
}

FAST static uint32_t run_quick_match_many(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                          size_t n) {
    const tamis_i_run r = *run; /* in registers */
    const uint64_t most = r.fit * r.slot_bits;
    uint32_t found = 0, more = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = run_bits(&r, keys->bucket[i], keys->at[i]);
        found |= (uint32_t)(run_hits(&r, bits, keys->width[i], keys->print[i]) != 0) << i;
        more |= (uint32_t)(keys->width[i] > most) << i;
    }
    for (; TAMIS_UNLIKELY(more != 0); more &= more - 1) {
        const unsigned i = (unsigned)_tzcnt_u32(more);
        const bool yes =
            run_find(run, keys->bucket[i], keys->home[i], keys->print[i]) == TAMIS_I_RUN_FOUND;
        found = (found & ~((uint32_t)1 << i)) | (uint32_t)yes << i;
    }
    return found;
}

/* Bits come in from below, so the last key is first.  A home that is away and a run that is too long are both
 * told from a difference below 0, and left to the template. */
FAST TAMIS_INLINE uint32_t run_find_words(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                          size_t n, const tamis_i_run_keys *later, uint64_t words,
                                          uint32_t *away) {
    const tamis_i_run r = *run; /* in registers */
    uint32_t found = 0, odd = 0;
    for (size_t i = n; i-- > 0;) {
        const uint64_t *const bucket = keys->bucket[i];
        tamis_i_run_fetch_pair(later->bucket[i]);
        const run_sight sight = run_see_words(bucket, keys->home[i], words);
        const uint64_t bits = run_bits(&r, bucket, r.index_bits + sight.first * r.slot_bits);
        const uint64_t hits = run_hits(&r, bits, sight.length * r.slot_bits, keys->print[i]);
        found = 2 * found + (hits > 0);
        odd = 2 * odd + (uint32_t)(((r.index_bits - 1 - sight.end) | (r.fit - sight.length)) >> 63);
    }
    *away = 0;
    for (; odd != 0; odd &= odd - 1) {
        const unsigned i = (unsigned)_tzcnt_u32(odd);
        const unsigned result = run_find(run, keys->bucket[i], keys->home[i], keys->print[i]);
        found &= ~((uint32_t)1 << i);
        found |= (uint32_t)(result == TAMIS_I_RUN_FOUND) << i;
        *away |= (uint32_t)(result == TAMIS_I_RUN_AWAY) << i;
    }
    return found;
}

FAST static uint32_t run_quick_find_many(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                         size_t n, const tamis_i_run_keys *later, uint32_t *away) {
    switch (run->index_words) {
    case 1:
        return run_find_words(run, keys, n, later, 2, away);
    case 2:
        return run_find_words(run, keys, n, later, 3, away);
    case 3:
        return run_find_words(run, keys, n, later, 4, away);
    case 4:
        return run_find_words(run, keys, n, later, 5, away);
    default:
        return run_find_words(run, keys, n, later, run->index_words + 1, away);
    }
}

FAST TAMIS_INLINE uint32_t run_full_words(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                          size_t n, uint64_t whole) {
    const uint64_t mask = run->index_mask, slots = run->slots;
    uint32_t full = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const bucket = keys->bucket[i];
        uint64_t ones = RUN_ONES(bucket[whole] & mask);
        for (uint64_t k = 0; k < whole; k++)
            ones += RUN_ONES(bucket[k]);
        full |= (uint32_t)(ones >= slots) << i;
    }
    return full;
}

FAST static uint32_t run_quick_full_many(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                         size_t n) {
    switch (run->index_words) {
    case 2:
        return run_full_words(run, keys, n, 2);
    case 3:
        return run_full_words(run, keys, n, 3);
    case 4:
        return run_full_words(run, keys, n, 4);
    default:
        return run_full_words(run, keys, n, run->index_words);
    }
}

FAST static void run_quick_locate_many(const tamis_i_run *run, uint64_t *table, uint64_t buckets,
                                       const tamis_digest *digests, size_t n,
                                       tamis_i_run_keys *keys) {
    if (TAMIS_UNLIKELY(n != TAMIS_I_GROUP || buckets >> 32 != 0)) {
        run_locate_many(run, table, buckets, digests, n, keys);
        return;
    }
    const uint64_t bytes_each = run->words * sizeof(uint64_t);
    const __m256i all_buckets = _mm256_set1_epi64x((long long)buckets),
                  all_homes = _mm256_set1_epi64x((long long)run->homes),
                  all_bytes = _mm256_set1_epi64x((long long)bytes_each),
                  all_mask = _mm256_set1_epi64x((long long)run->print_mask),
                  first = _mm256_set1_epi64x((long long)(uintptr_t)table);
    for (size_t i = 0; i < TAMIS_I_GROUP; i += 4) {
        const tamis_i_drawn d = tamis_i_draw_four(digests + i, all_buckets, all_homes);
        const __m256i bytes = _mm256_mul_epu32(d.first, all_bytes);
        tamis_i_put_four(keys->bucket + i, _mm256_add_epi64(first, bytes));
        tamis_i_put_four(keys->number + i, d.first);
        tamis_i_put_four(keys->home + i, d.second);
        tamis_i_put_four(keys->print + i, _mm256_and_si256(d.other, all_mask));
    }
}

/* ---- slots that come and go ---- */

FAST TAMIS_INLINE unsigned run_add_sized(const tamis_i_run *run, uint64_t *bucket, uint64_t home,
                                         uint64_t slot, uint64_t copies, tamis_i_run_spot *spot,
                                         run_size size) {
    const run_sight sight = run_see_words(bucket, home, size.index + 1);
    if (TAMIS_UNLIKELY(sight.end >= run->index_bits))
        return TAMIS_I_RUN_AWAY;
    const uint64_t bits = run_bits(run, bucket, tamis_i_run_at(run, sight.first));
    if (TAMIS_UNLIKELY(sight.length > run->fit || run_hits(run, bits, sight.length * run->slot_bits,
                                                           slot & run->print_mask) != 0))
        return run_add(run, bucket, home, slot, copies, spot);
    uint64_t load = sight.ones + RUN_ONES(bucket[size.index] & run->index_mask);
    if (TAMIS_UNLIKELY(load >= run->slots)) { /* or the bucket is cut */
        spot->view = (tamis_i_run_view){sight.end, sight.first, sight.length};
        spot->load = run_filled(run, bucket, load);
        load = spot->load.load;
        if (load >= run->slots)
            return 0;
    }
    run_open(run, bucket, size, sight.end, sight.end - home, load, slot);
    return TAMIS_I_RUN_DONE;
}

FAST static unsigned run_quick_add(const tamis_i_run *run, uint64_t *bucket, uint64_t home,
                                   uint64_t slot, uint64_t copies, tamis_i_run_spot *spot) {
    RUN_SIZED(run, return run_add_sized(run, bucket, home, slot, copies, spot, size));
}

FAST TAMIS_INLINE unsigned run_drop_sized(const tamis_i_run *run, uint64_t *bucket, uint64_t home,
                                          uint64_t print, run_size size) {
    const run_sight sight = run_see_words(bucket, home, size.index + 1);
    if (TAMIS_UNLIKELY(sight.end >= run->index_bits))
        return TAMIS_I_RUN_AWAY;
    if (TAMIS_UNLIKELY(sight.length > run->fit || sight.end - home > run->slots))
        return run_drop(run, bucket, home, print);
    const uint64_t at = tamis_i_run_at(run, sight.first);
    const uint64_t hits =
        run_hits(run, run_bits(run, bucket, at), sight.length * run->slot_bits, print);
    if (TAMIS_UNLIKELY(hits == 0))
        return 0;
    const uint64_t ones = sight.ones + RUN_ONES(bucket[size.index] & run->index_mask);
    const bool cut = ones > run->slots;
    run_close(run, bucket, size, sight.end, at + _tzcnt_u64(hits) + 1 - run->slot_bits,
              cut ? run->slots : ones, cut);
    return TAMIS_I_RUN_DONE | (cut ? TAMIS_I_RUN_CUT : 0);
}

FAST static unsigned run_quick_drop(const tamis_i_run *run, uint64_t *bucket, uint64_t home,
                                    uint64_t print) {
    RUN_SIZED(run, return run_drop_sized(run, bucket, home, print, size));
}

FAST TAMIS_INLINE tamis_i_run_load run_count_words(const tamis_i_run *run, const uint64_t *bucket,
                                                   uint64_t words) {
    uint64_t ones = RUN_ONES(bucket[words - 1] & run->index_mask);
    for (uint64_t i = 0; i + 1 < words; i++)
        ones += RUN_ONES(bucket[i]);
    return run_filled(run, bucket, ones);
}

FAST static tamis_i_run_load run_quick_count(const tamis_i_run *run, const uint64_t *bucket) {
    switch (run->index_words) {
    case 2:
        return run_count_words(run, bucket, 3);
    case 3:
        return run_count_words(run, bucket, 4);
    case 4:
        return run_count_words(run, bucket, 5);
    default:
        return run_count_words(run, bucket, run->index_words + 1);
    }
}

/* Bits of slots in a word, the highest one of each: those whose bits in 'masks' are those of 'values'. */
FAST TAMIS_INLINE uint64_t run_equal(const tamis_i_run *run, uint64_t bits, uint64_t masks,
                                     uint64_t values) {
    const uint64_t low = (run->slot_mask * run->lowest) & ~run->highest;
    const uint64_t x = (bits ^ values) & masks;
    return ~(((x & low) + low) | x) & run->highest;
}

/* False if the run is too long, or odd. */
FAST TAMIS_INLINE bool run_weigh_words(const tamis_i_run *run, uint64_t home, tamis_i_run_asked *a,
                                       uint64_t most, uint64_t words) {
    const run_sight sight = run_see_words(a->bucket, home, words);
    a->load = sight.ones + RUN_ONES(a->bucket[words - 1] & run->index_mask);
    a->view = (tamis_i_run_view){.end = sight.end, .first = sight.first, .length = sight.length};
    return TAMIS_LIKELY(sight.end < run->index_bits && sight.length <= most &&
                        sight.length <= BACK && a->load <= run->slots);
}

/* Two words of slots, whether the run has so many or not. */
FAST TAMIS_INLINE void run_ask_words(const tamis_i_run *run, uint64_t home, uint64_t mask,
                                     tamis_i_run_asked *asked, unsigned n, uint64_t words) {
    const uint64_t slot_bits = run->slot_bits, fit = run->fit, step = fit * slot_bits;
    const uint64_t masks = mask * run->lowest;
    for (unsigned i = 0; i < n; i++) {
        tamis_i_run_asked *const a = &asked[i];
        if (!run_weigh_words(run, home, a, 2 * fit, words)) {
            run_ask_one(run, home, mask, a);
            continue;
        }
        const uint64_t at = tamis_i_run_at(run, a->view.first), values = a->value * run->lowest;
        const uint64_t width = a->view.length * slot_bits, rest = width < step ? 0 : width - step;
        const uint64_t one =
            _bzhi_u64(run_equal(run, run_bits(run, a->bucket, at), masks, values), (unsigned)width);
        const uint64_t two = _bzhi_u64(
            run_equal(run, run_bits(run, a->bucket, at + step), masks, values), (unsigned)rest);
        const uint64_t hit = one != 0 ? one : two;
        a->n = RUN_ONES(one) + RUN_ONES(two);
        a->number = a->view.first + (fit & run_mask(one == 0)) +
                    RUN_ONES(run->highest & (_blsi_u64(hit) - 1));
    }
}

FAST static void run_quick_ask(const tamis_i_run *run, uint64_t home, uint64_t mask,
                               tamis_i_run_asked *asked, unsigned n) {
    switch (run->index_words) {
    case 4:
        run_ask_words(run, home, mask, asked, n, 5);
        return;
    case 5:
        run_ask_words(run, home, mask, asked, n, 6);
        return;
    default:
        run_ask_words(run, home, mask, asked, n, run->index_words + 1);
    }
}

FAST static void run_quick_weigh(const tamis_i_run *run, uint64_t home, tamis_i_run_asked *asked,
                                 unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (!(run->index_words == 5
                  ? run_weigh_words(run, home, &asked[i], BACK, 6)
                  : run_weigh_words(run, home, &asked[i], BACK, run->index_words + 1)))
            run_weigh_one(run, home, &asked[i]);
}

/* The last home with slots ends where the last one of the index is, but for the ones behind all that is
 * held. */
FAST static uint64_t run_quick_spare(const tamis_i_run *run, const uint64_t *bucket,
                                     tamis_i_run_load load, uint64_t own, tamis_i_run_view *view) {
    const uint64_t held = load.held + load.load;
    uint64_t i = held == 0 ? 0 : (held - 1) / 64;
    uint64_t ones = _bzhi_u64(bucket[i], (unsigned)(held - 64 * i));
    while (TAMIS_UNLIKELY(ones == 0) && i > 0)
        ones = bucket[--i];
    const uint64_t end = 64 * i + 64 - _lzcnt_u64(ones), home = end - load.load;
    const uint64_t length = run_back(bucket, end);
    if (TAMIS_UNLIKELY(own > home || length > BACK || length > load.load))
        return run_spare(run, bucket, load, own, view);
    *view = (tamis_i_run_view){.end = end, .first = load.load - length, .length = length};
    return home;
}

FAST static void run_quick_put(const tamis_i_run *run, uint64_t *bucket,
                               const tamis_i_run_view *view, uint64_t slot, uint64_t load) {
    RUN_SIZED(run, run_open(run, bucket, size, view->end, view->first + view->length, load, slot));
}

FAST static void run_quick_take(const tamis_i_run *run, uint64_t *bucket,
                                const tamis_i_run_view *view, uint64_t number, uint64_t load,
                                bool cut) {
    RUN_SIZED(run, run_close(run, bucket, size, view->end, tamis_i_run_at(run, number), load, cut));
}

/* ---- whole buckets ---- */

/* Words that are written one after the other, with fewer than 64 bits pending. */
typedef struct run_pen {
    uint64_t *to;
    uint64_t bits;
    unsigned pending;
} run_pen;

/* Write the low 'width' bits of a value that has no others. */
FAST TAMIS_INLINE void run_write(run_pen *pen, uint64_t value, unsigned width) {
    const unsigned before = pen->pending;
    pen->bits |= value << before;
    if (before + width >= 64) {
        *pen->to++ = pen->bits;
        pen->bits = before == 0 ? 0 : value >> (64 - before);
    }
    pen->pending = (before + width) % 64;
}

/* Write what is pending; the bits behind stay. */
FAST TAMIS_INLINE void run_write_end(const run_pen *pen) {
    if (pen->pending > 0)
        tamis_i_field_put(pen->to, 0, pen->pending, pen->bits);
}

/* As many slots at a time as fit in a word: those that stay are written behind each other, and which go is
 * noted, a bit each.  Nothing is written over before it was read.  Then the index, a word at a time. */
FAST static uint64_t run_quick_sweep(const tamis_i_run *run, uint64_t *bucket, uint64_t mask,
                                     uint64_t value) {
    const tamis_i_run_load load = run_count(run, bucket);
    const uint64_t end = load.held + load.load, slot_bits = run->slot_bits;
    const uint64_t all = run->slot_mask * run->lowest, low = all & ~run->highest;
    const uint64_t masks = mask * run->lowest, values = value * run->lowest;
    uint64_t gone[TAMIS_I_RUN_WORDS + 1], dropped = 0;
    const uint64_t start = run->index_bits / 64;
    for (uint64_t i = 0; i <= run->index_words; i++) /* one bit for each of the index, at most */
        gone[i] = 0;
    run_pen slots = {.to = bucket + start,
                     .bits = bucket[start] & run->index_mask,
                     .pending = (unsigned)(run->index_bits % 64)};
    run_pen note = {.to = gone};
    for (uint64_t number = 0; number < load.load; number += run->fit) {
        const uint64_t left = load.load - number, n = left < run->fit ? left : run->fit;
        const uint64_t bits = _bzhi_u64(run_bits(run, bucket, tamis_i_run_at(run, number)),
                                        (unsigned)(n * slot_bits));
        const uint64_t x = (bits ^ values) & masks;
        const uint64_t other = (((x & low) + low) | x) & run->highest; /* not the value */
        const uint64_t stay = _bzhi_u64(other, (unsigned)(n * slot_bits));
        const uint64_t kept = (stay >> (slot_bits - 1)) * run->slot_mask;
        run_write(&slots, _pext_u64(bits, kept), RUN_ONES(kept));
        run_write(&note, _bzhi_u64(~_pext_u64(other, run->highest), (unsigned)n), (unsigned)n);
        dropped += n - RUN_ONES(stay);
    }
    run_write_end(&slots);
    run_write_end(&note);
    if (dropped == 0)
        return 0;
    run_pen index = {.to = bucket};
    for (uint64_t i = 0, number = 0; 64 * i < end; i++) {
        const unsigned width = (unsigned)(end - 64 * i < 64 ? end - 64 * i : 64);
        const uint64_t word = _bzhi_u64(bucket[i], width);
        const unsigned n = RUN_ONES(word);
        const uint64_t go = n == 0 ? 0 : tamis_i_field_get(gone, number, n);
        run_write(&index, _pext_u64(word, ~_pdep_u64(go, word) & tamis_i_low_mask(width)),
                  width - RUN_ONES(go));
        number += n;
    }
    run_write_end(&index);
    tamis_i_run_fill(bucket, end - dropped, end, load.held < run->homes);
    tamis_i_run_fill(bucket, tamis_i_run_at(run, load.load - dropped),
                     tamis_i_run_at(run, load.load), false);
    return dropped;
}

const tamis_i_run_ops *tamis_i_run_ops_x86(const tamis_i_run *run, unsigned features) {
    static const tamis_i_run_ops vectors = {.find = run_quick_find,
                                            .look = run_quick_look,
                                            .count = run_quick_count,
                                            .add = run_quick_add,
                                            .drop = run_quick_drop,
                                            .weigh = run_quick_weigh,
                                            .ask = run_quick_ask,
                                            .spare = run_quick_spare,
                                            .put = run_quick_put,
                                            .take = run_quick_take,
                                            .locate_many = run_quick_locate_many,
                                            .look_many = run_quick_look_many,
                                            .match_many = run_quick_match_many,
                                            .find_many = run_quick_find_many,
                                            .sweep = run_quick_sweep,
                                            .full_many = run_quick_full_many};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2;
    if ((features & needed) != needed)
        return NULL;
    return (features & TAMIS_I_CPU_AVX2) != 0 && run->fit != 0 && run->index_words + 2 <= run->words
               ? &vectors
               : &ops;
}

#endif
