/* line.c - the work on one line of line.h, for x86-64 with POPCNT, LZCNT, BMI2 and AVX2
 *
 * line_view.h tells how a line is read; the work on sixteen keys at once is in line_group.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/line_view.h"

/* ---- tables ---- */

#define BELOW_ROW(k)                                                                               \
    {                                                                                              \
        ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0,        \
            ~(uint64_t)0, ~(uint64_t)0, ((uint64_t)1 << (k)) - 1, 0, 0, 0, 0, 0, 0, 0              \
    }

const uint64_t tamis_i_line_below[8][16] = {BELOW_ROW(0), BELOW_ROW(1), BELOW_ROW(2), BELOW_ROW(3),
                                            BELOW_ROW(4), BELOW_ROW(5), BELOW_ROW(6), BELOW_ROW(7)};

#define SPLIT(room, n)                                                                             \
    (((room) - (n)) / ((n) + !(n)) > TAMIS_I_LINE_PRINT                                            \
         ? UINT16_MAX                                                                              \
         : ((room) - (n)) / ((n) + !(n)) % 256 << 8 | (((room) - (n)) % ((n) + !(n)) + 1))
#define SPLIT_4(room, n)                                                                           \
    SPLIT(room, n), SPLIT(room, (n) + 1), SPLIT(room, (n) + 2), SPLIT(room, (n) + 3)
#define SPLIT_16(room, n)                                                                          \
    SPLIT_4(room, n), SPLIT_4(room, (n) + 4), SPLIT_4(room, (n) + 8), SPLIT_4(room, (n) + 12)
#define SPLIT_64(room, n)                                                                          \
    SPLIT_16(room, n), SPLIT_16(room, (n) + 16), SPLIT_16(room, (n) + 32), SPLIT_16(room, (n) + 48)
#define SPLITS(room) SPLIT_64(room, 0u), SPLIT_64(room, 64u), SPLIT(room, 128u)

const uint16_t tamis_i_line_splits_64[129] = {SPLITS(TAMIS_I_LINE_BITS - 64)};
const uint16_t tamis_i_line_splits_96[129] = {SPLITS(TAMIS_I_LINE_BITS - 96)};

/* ---- looking ---- */

/* The same for one call per key.  Half of the absent keys end at their home.  The branch is not
 * predicted, but the next call and its fetch come sooner.  In a group it would cost more than it saves. */
FAST TAMIS_INLINE bool line_has_one(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                                    bool wide, bool set, unsigned home, uint64_t fingerprint) {
    const uint64_t all = words[homes > 64 ? home / 64 : 0];
    return (all >> home % 64 & 1) != 0 &&
           line_find_one(line, words, homes, wide, set, home, true, fingerprint);
}

/* ---- changing ---- */

/* Write the first n ends, and one home. */
FAST TAMIS_INLINE void line_put_ends(uint64_t *words, unsigned homes, bool wide, tamis_i_u128 ends,
                                     unsigned n, unsigned home, bool hit) {
    const unsigned word = homes / 64, shift = homes % 64;
    const uint64_t mask0 = _bzhi_u64(~(uint64_t)0, n < 64 ? n : 64);
    const uint64_t ends0 = (uint64_t)ends & mask0;
    words[word] = (words[word] & ~(mask0 << shift)) | ends0 << shift;
    if (shift != 0)
        words[word + 1] = (words[word + 1] & ~(mask0 >> (64 - shift))) | ends0 >> (64 - shift);
    if (wide) {
        const uint64_t mask1 = _bzhi_u64(~(uint64_t)0, n < 64 ? 0 : n - 64);
        const uint64_t ends1 = (uint64_t)(ends >> 64) & mask1;
        words[word + 1] = (words[word + 1] & ~(mask1 << shift)) | ends1 << shift;
        if (shift != 0)
            words[word + 2] = (words[word + 2] & ~(mask1 >> (64 - shift))) | ends1 >> (64 - shift);
    }
    const unsigned at = homes <= 64 ? 0 : home / 64;
    words[at] = (words[at] & ~((uint64_t)1 << home % 64)) | (uint64_t)hit << home % 64;
}

/* Like cut() of line.c, for entries of a given length.  As many fields at a time as fit in a window
 * lose their lowest bits.  Fewer than 64 entries. */
FAST TAMIS_INLINE wide_line line_cut_some(wide_line v, const uint64_t *words, unsigned top,
                                          unsigned bottom, unsigned length, unsigned from,
                                          unsigned to) {
    const uint64_t ones = tamis_i_repeat[length];
    const unsigned step = WINDOW - WINDOW % length;
    const unsigned end = top - from * length, all = (to - from) * length;
    v = line_move_up(v, bottom, end - all, end, to - from);
    unsigned read = end, write = end;
    for (unsigned left = all, now; left > 0; left -= now) {
        now = left < step ? left : step;
        const uint64_t dropped = _bzhi_u64(ones, now),
                       window = line_window_before(words, read, read - now);
        const uint64_t kept = _pext_u64(window, _bzhi_u64(~dropped, now));
        read -= now;
        write -= now - line_ones_of(dropped);
        const wide_line put = line_place(kept, write);
        v.low = _mm256_or_si256(v.low, put.low);
        v.high = _mm256_or_si256(v.high, put.high);
    }
    return v;
}

/* Make entries shorter, from the lengths in s to r bits, and r + 1 for the first 'longs'. */
FAST static void line_shorten(wide_line *v, uint64_t *words, unsigned top, unsigned n, unsigned r,
                              unsigned longs, unsigned to_r, unsigned to_longs) {
    bool stored = true; /* do the words equal *v? */
    while (r > to_r || longs > to_longs) {
        /* All long ones, or the last of them; not too many at a time. */
        const unsigned least = r > to_r ? 0 : to_longs;
        const unsigned from = longs - least > 63 ? longs - 63 : least;
        if (from < longs) {
            if (!stored)
                line_store_wide(words, *v);
            *v = line_cut_some(*v, words, top, top - r * n - longs, r + 1, from, longs);
            stored = false;
        }
        longs = from;
        if (longs == 0 && r > to_r) {
            r--;
            longs = n;
        }
    }
}

/* In one piece, since the steps share ten numbers, which stay in registers. */
FAST TAMIS_INLINE unsigned line_add_one(const tamis_i_line *line, uint64_t *words, unsigned homes,
                                        bool wide, bool set, unsigned home, uint64_t fingerprint) {
    const unsigned top = line_top_of(set);
    sight s;
    if (TAMIS_UNLIKELY(!line_see(line, words, homes, wide, set, home, false, &s) ||
                       s.in_run * s.length > WINDOW || (!set && s.n >= line->most)))
        return tamis_i_line_add(line, words, home, fingerprint);
    unsigned at;
    if (TAMIS_UNLIKELY(line_matches(words, &s, fingerprint, &at) != 0))
        return set ? TAMIS_I_LINE_FOUND : tamis_i_line_add(line, words, home, fingerprint);
    if (set && TAMIS_UNLIKELY(s.n >= line->most))
        return 0;
    /* The new ends. */
    const unsigned n = s.n + 1, start = s.start;
    tamis_i_u128 ends;
    if (wide) {
        const tamis_i_u128 lower = ((tamis_i_u128)1 << start) - 1;
        ends = (s.ends & lower) | (s.ends & ~lower) << 1 | (tamis_i_u128)(s.hit ^ 1) << start;
    } else {
        const uint64_t old = (uint64_t)s.ends, lower = _bzhi_u64(old, start);
        ends = lower | (old ^ lower) << 1 | (s.hit ^ 1) << start;
    }
    /* The new lengths, like settle() of line.c. */
    unsigned r, longs;
    bool shorter;
    if (set) {
        const unsigned split = line_split_of(homes, n, line_cap_of(line));
        r = split >> 8;
        longs = line_longs_of(ends, split, wide);
        shorter = s.n != 0 && (r != s.r || longs - (start < longs) != s.longs);
    } else {
        const tamis_i_line_lengths before = {.r = s.r, .longs = s.longs, .bits = s.bits};
        tamis_i_line_lengths now =
            tamis_i_line_with_one(line, s.n, start, s.hit == 0, homes, before);
        shorter = now.over != 0;
        while (now.over != 0)
            tamis_i_line_cut_to(&now,
                                line_start_before(ends, tamis_i_line_cut_from(&now, n), wide));
        r = now.r, longs = now.longs;
    }
    const unsigned is_long = start < longs;
    wide_line v = line_load_wide(words);
    unsigned bits = s.bits;
    if (shorter) {
        line_shorten(&v, words, top, s.n, s.r, s.longs, r, longs - is_long);
        bits = r * s.n + longs - is_long;
    }
    const unsigned length = r + is_long;
    const unsigned end = top - start * r - (is_long ? start : longs);
    const uint64_t value = fingerprint >> (64 - length);
    if (!wide && homes >= HOMES_LEAST) {
        const wide_line over = line_mask_below(end), gap = line_mask_below(end - length),
                        stay = line_mask_below(top - bits - length);
        const unsigned byte = (end + 7) / 8;
        line_put_added(words,
                       line_join(v, over,
                                 line_between(line_shift_down(v, line_shift_by(length),
                                                              line_shift_by(64 - length), true),
                                              gap, stay)),
                       homes, set, home, _bzhi_u64((uint64_t)ends, n), byte,
                       value << (end - length + 64 - 8 * byte), bits + length - s.bits);
        return TAMIS_I_LINE_STORED;
    }
    line_store_wide(words, line_move_down(v, top - bits, end, length, value));
    line_put_ends(words, homes, wide, ends, n, home, true);
    if (!set)
        words[7] = words[7] << TAMIS_I_LINE_B >> TAMIS_I_LINE_B | (uint64_t)(bits + length)
                                                                      << (64 - TAMIS_I_LINE_B);
    return TAMIS_I_LINE_STORED;
}

FAST TAMIS_INLINE bool line_drop_one(const tamis_i_line *line, uint64_t *words, unsigned homes,
                                     bool wide, unsigned home, uint64_t fingerprint) {
    sight s;
    if (TAMIS_UNLIKELY(!line_see(line, words, homes, wide, false, home, false, &s) ||
                       s.in_run * s.length > WINDOW))
        return tamis_i_line_drop(line, words, home, fingerprint);
    unsigned at;
    const uint64_t hits = line_matches(words, &s, fingerprint, &at);
    if (TAMIS_UNLIKELY(hits == 0))
        return false;
    const unsigned end = at + line_place_of(hits) + 1;
    line_store_wide(words, line_move_up(line_load_wide(words), line_top_of(false) - s.bits,
                                        end - s.length, end, s.length));
    const tamis_i_u128 lower =
        wide ? ((tamis_i_u128)1 << s.start) - 1 : _bzhi_u64(~(uint64_t)0, s.start);
    tamis_i_u128 ends;
    if (wide) {
        ends = (s.ends & lower) | (s.ends >> 1 & ~lower);
        ends &= ~((tamis_i_u128)1 << (s.n - 1));
    } else {
        const uint64_t old = (uint64_t)s.ends;
        ends = _bzhi_u64((old & (uint64_t)lower) | (old >> 1 & ~(uint64_t)lower), s.n - 1);
    }
    line_put_ends(words, homes, wide, ends, s.n, home, s.in_run > 1);
    words[7] = words[7] << TAMIS_I_LINE_B >> TAMIS_I_LINE_B | (uint64_t)(s.bits - s.length)
                                                                  << (64 - TAMIS_I_LINE_B);
    return true;
}

/* ---- the cases ---- */

#define SINGLE(name, homes, wide, set)                                                             \
    FAST bool tamis_i_line_##name##_has(const tamis_i_line *line, const uint64_t *words,           \
                                        unsigned home, uint64_t fingerprint) {                     \
        return line_has_one(line, words, homes, wide, set, home, fingerprint);                     \
    }                                                                                              \
    FAST unsigned tamis_i_line_##name##_add_one(const tamis_i_line *line, uint64_t *words,         \
                                                unsigned home, uint64_t fingerprint) {             \
        return line_add_one(line, words, homes, wide, set, home, fingerprint);                     \
    }
#define DROP(name, homes, wide, set)                                                               \
    FAST bool tamis_i_line_##name##_drop_one(const tamis_i_line *line, uint64_t *words,            \
                                             unsigned home, uint64_t fingerprint) {                \
        return line_drop_one(line, words, homes, wide, home, fingerprint);                         \
    }
#define FULL(name, homes, wide, set)                                                               \
    FAST bool tamis_i_line_##name##_full(const tamis_i_line *line, const uint64_t *words) {        \
        return line_is_full(line, words, homes);                                                   \
    }
TAMIS_I_LINE_MULTISETS(SINGLE)
TAMIS_I_LINE_MULTISETS(DROP)
TAMIS_I_LINE_SETS(SINGLE)
TAMIS_I_LINE_SETS(FULL)

#define MULTISET(name, by_digest, by_word)                                                         \
    {.has_digest = (by_digest),                                                                    \
     .has_word = (by_word),                                                                        \
     .has = tamis_i_line_##name##_has,                                                             \
     .add_one = tamis_i_line_##name##_add_one,                                                     \
     .drop_one = tamis_i_line_##name##_drop_one,                                                   \
     .locate = tamis_i_line_locate_x86,                                                            \
     .find = tamis_i_line_##name##_find,                                                           \
     .drop = tamis_i_line_##name##_drop,                                                           \
     .add = tamis_i_line_##name##_add},
#define SET(name, by_digest, by_word)                                                              \
    {.has_digest = (by_digest),                                                                    \
     .has_word = (by_word),                                                                        \
     .has = tamis_i_line_##name##_has,                                                             \
     .add_one = tamis_i_line_##name##_add_one,                                                     \
     .full = tamis_i_line_##name##_full,                                                           \
     .locate = tamis_i_line_locate_x86,                                                            \
     .find = tamis_i_line_##name##_find,                                                           \
     .look = tamis_i_line_##name##_look,                                                           \
     .add = tamis_i_line_##name##_add},
#define MULTISET_OPS(name, homes, wide, set) MULTISET(name, tamis_i_line_##name##_has_digest, NULL)
#define MULTISET_WITH(name, homes, wide, set)                                                      \
    MULTISET(name, tamis_i_line_##name##_has_digest, tamis_i_line_##name##_has_word)
#define SET_OPS(name, homes, wide, set) SET(name, tamis_i_line_##name##_has_digest, NULL)
#define SET_WITH(name, homes, wide, set)                                                           \
    SET(name, tamis_i_line_##name##_has_digest, tamis_i_line_##name##_has_word)
/* Of those for a lens, the pieces. */
#define NARROW     MULTISET(narrow, NULL, NULL)
#define NARROW_SET SET(narrow_set, NULL, NULL)

const tamis_i_line_ops *tamis_i_line_ops_x86(const tamis_i_line *line, unsigned features) {
    static const tamis_i_line_ops all[2][2][5] = {
        {{NARROW TAMIS_I_LINE_OTHER_MULTISETS(MULTISET_OPS)},
         {NARROW_SET TAMIS_I_LINE_OTHER_SETS(SET_OPS)}},
        {{NARROW TAMIS_I_LINE_OTHER_MULTISETS(MULTISET_WITH)},
         {NARROW_SET TAMIS_I_LINE_OTHER_SETS(SET_WITH)}}};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((features & needed) != needed)
        return NULL;
    const bool dense = line->load > TAMIS_I_LINE_NARROW, aes = (features & TAMIS_I_CPU_AES) != 0;
    const unsigned which = line->homes == 64 ? dense : line->homes == 96 && dense ? 2 : 3 + dense;
    return &all[aes][tamis_i_line_is_set(line)][which];
}

#endif
