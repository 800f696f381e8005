/* line.c - the work on one line of line.h, for 64-bit ARM with NEON
 *
 * As on x86-64, a run is found without a loop and without a branch that depends on the key.  With a one put
 * before the ends, the run of a home with k homes before it begins at one number k and ends at the next:
 *
 *      ends     0 1 1 0 0 1 1      4 runs: entries 0 1 | 2 | 3 4 5 | 6
 *      ones   1 0 1 1 0 0 1 1      run 2 begins at one number 2, place 3, and ends at the next, place 6
 *
 * There is no PDEP.  CNT counts the ones of all bytes at once and a multiplication adds them up.  The
 * sums give the byte of a one by its number, and a table gives its place there.  The sums are computed
 * once for the two ones that a key asks for: where its run begins, and where the last run ends.
 *
 * Fingerprints are compared in one window of 57 bits, which one load gets from anywhere in the line.
 * Longer runs and fuller lines are left to bits/line.c.  So is adding: most of its work is to shorten
 * entries, and there is no instruction for that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#ifdef TAMIS_I_NATIVE_ARM

#include "bits/line.h"
#include "bits/search.h"

#include <arm_neon.h>

#define LINE_WINDOW 57u /* bits that one load gets from any place */
#define LINE_BYTES  0x0101010101010101u

/* ---- ones by their number ---- */

/* The places of the ones of a byte, half a byte for each, that of the first lowest. */
#define LINE_PLACE(b, i, above) ((above) << 4 * ((b) >> (i)&1) | (i) * ((b) >> (i)&1))
#define LINE_PLACES(b)                                                                             \
    LINE_PLACE(b, 0u, LINE_PLACE(b, 1u, LINE_PLACE(b, 2u, LINE_PLACE(b, 3u, LINE_PLACES_ABOVE(b)))))
#define LINE_PLACES_ABOVE(b)                                                                       \
    LINE_PLACE(b, 4u, LINE_PLACE(b, 5u, LINE_PLACE(b, 6u, LINE_PLACE(b, 7u, 0u))))
#define LINE_PLACES_4(b)                                                                           \
    LINE_PLACES((b) + 0u), LINE_PLACES((b) + 1u), LINE_PLACES((b) + 2u), LINE_PLACES((b) + 3u)
#define LINE_PLACES_16(b)                                                                          \
    LINE_PLACES_4(b), LINE_PLACES_4((b) + 4u), LINE_PLACES_4((b) + 8u), LINE_PLACES_4((b) + 12u)
#define LINE_PLACES_64(b)                                                                          \
    LINE_PLACES_16(b), LINE_PLACES_16((b) + 16u), LINE_PLACES_16((b) + 32u),                       \
        LINE_PLACES_16((b) + 48u)

static const uint32_t line_places[256] = {LINE_PLACES_64(0u), LINE_PLACES_64(64u),
                                          LINE_PLACES_64(128u), LINE_PLACES_64(192u)};

TAMIS_INLINE unsigned line_ones_of(uint64_t word) {
    return vaddv_u8(vcnt_u8(vcreate_u8(word)));
}

/* A word, and in byte i the ones of its bytes 0 to i. */
typedef struct line_sums {
    uint64_t word, sums;
} line_sums;

TAMIS_INLINE line_sums line_sums_of(uint64_t word) {
    const uint8x8_t counts = vcnt_u8(vcreate_u8(word));
    return (line_sums){word, vget_lane_u64(vreinterpret_u64_u8(counts), 0) * LINE_BYTES};
}

/* The place of one number k, at most 127; 64 or more if there are fewer ones. */
TAMIS_INLINE unsigned line_select(line_sums w, unsigned k) {
    const uint64_t highs = LINE_BYTES << 7;
    const uint64_t before =
        ((k * LINE_BYTES | highs) - w.sums) & highs; /* bytes that end before it */
    const unsigned shift = (unsigned)((before >> 7) * LINE_BYTES >> 53) & 0x78;
    const unsigned left = k - (unsigned)(w.sums << 8 >> shift % 64 & 0xff);
    return shift + (line_places[w.word >> shift % 64 & 0xff] >> 4 * left % 32 & 7);
}

TAMIS_INLINE unsigned line_place_of(uint64_t bit) {
    return (unsigned)__builtin_ctzll(bit);
}

TAMIS_INLINE unsigned line_last_of(uint64_t word) {
    return 63 - (unsigned)__builtin_clzll(word);
}

/* The lowest 'width' bits; width < 64. */
TAMIS_INLINE uint64_t line_low(uint64_t word, unsigned width) {
    return word & (((uint64_t)1 << width % 64) - 1);
}

/* ---- looking ---- */

/* The run of a home: a one and then the ends; 'hit' is 1 if the home has a run. */
typedef struct line_outline {
    uint64_t ones[2], hit;
    unsigned n, start, end;
} line_outline;

/* All runs of the line, and those before 'home'. */
TAMIS_INLINE unsigned line_runs(const uint64_t *words, unsigned homes, unsigned home,
                                unsigned *before, uint64_t *hit) {
    if (homes <= 64) {
        const uint64_t all = homes == 64 ? words[0] : line_low(words[0], homes);
        *before = line_ones_of(line_low(all, home));
        *hit = all >> home & 1;
        return line_ones_of(all);
    }
    const uint64_t low = words[0], high = homes == 128 ? words[1] : line_low(words[1], homes - 64),
                   mine = home < 64 ? low : high;
    const unsigned in_low = line_ones_of(low);
    *before = line_ones_of(line_low(mine, home % 64)) + (home < 64 ? 0 : in_low);
    *hit = mine >> home % 64 & 1;
    return in_low + line_ones_of(high);
}

/* 64 bits from 'homes' + 64 i on. */
TAMIS_INLINE uint64_t line_ends(const uint64_t *words, unsigned homes, unsigned i) {
    const uint64_t *const w = words + homes / 64 + i;
    const unsigned shift = homes % 64;
    return w[0] >> shift | w[1] << 1 << (63 - shift);
}

TAMIS_INLINE unsigned line_select_wide(line_sums low, line_sums high, unsigned k) {
    const unsigned in_low = (unsigned)(low.sums >> 56);
    const bool is_high = k >= in_low;
    const line_sums w = {is_high ? high.word : low.word, is_high ? high.sums : low.sums};
    return line_select(w, k - (is_high ? in_low : 0)) + (is_high ? 64 : 0);
}

/* The next one after place 'start'. */
TAMIS_INLINE unsigned line_next(const uint64_t ones[2], unsigned start, bool wide) {
    const uint64_t top = (uint64_t)1 << 63;
    const uint64_t rest = ones[0] >> start % 64 >> 1;
    if (!wide)
        return start + 1 + line_place_of(rest | top);
    if (start < 64 && rest != 0)
        return start + 1 + line_place_of(rest);
    const unsigned in_high = start < 64 ? 0 : start - 63;
    return 64 + in_high + line_place_of(ones[1] >> in_high % 64 | top);
}

/* False if the line is too full for this: more than 62 entries, or 126 if 'wide'. */
TAMIS_INLINE bool line_outline_of(const uint64_t *words, unsigned homes, bool wide, unsigned home,
                                  line_outline *o) {
    unsigned before;
    const unsigned runs = line_runs(words, homes, home, &before, &o->hit);
    const uint64_t ends = line_ends(words, homes, 0);
    o->ones[0] = ends << 1 | 1;
    o->ones[1] = 0;
    const line_sums low = line_sums_of(o->ones[0]);
    if (wide) {
        o->ones[1] = line_ends(words, homes, 1) << 1 | ends >> 63;
        const line_sums high = line_sums_of(o->ones[1]);
        o->n = line_select_wide(low, high, runs);
        o->start = line_select_wide(low, high, before);
    } else {
        o->n = homes > 64 && runs > 63 ? 64 : line_select(low, runs);
        o->start = line_select(low, before);
    }
    o->end = line_next(o->ones, o->start, wide);
    return o->n <= (wide ? 126u : 62u);
}

/* Where the last run that begins at or before entry 'at' begins; at <= 126. */
TAMIS_INLINE unsigned line_start_before(const uint64_t ones[2], unsigned at, bool wide) {
    const uint64_t up_to = ((uint64_t)2 << at % 64) - 1;
    if (!wide || at < 64)
        return line_last_of(ones[0] & up_to);
    const uint64_t high = ones[1] & up_to;
    return high != 0 ? 64 + line_last_of(high) : line_last_of(ones[0]);
}

/* A line as seen from one home. */
typedef struct line_sight {
    uint64_t hit;
    unsigned n, start, in_run, bits;
    unsigned length, end; /* of one fingerprint of the run, and the bit where they end */
} line_sight;

/* False if the line is too full for this, or the run too long for a window. */
TAMIS_INLINE bool line_see(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                           bool wide, bool set, unsigned home, line_sight *s) {
    line_outline o;
    if (TAMIS_UNLIKELY(!line_outline_of(words, homes, wide, home, &o)))
        return false;
    const unsigned top = set ? TAMIS_I_LINE_BITS : (unsigned)line->top;
    unsigned bits, longs;
    if (set) {
        const unsigned room = TAMIS_I_LINE_BITS - homes - o.n,
                       most = (unsigned)line->bits_max * o.n;
        bits = room < most ? room : most;
    } else {
        bits = (unsigned)(words[7] >> (64 - TAMIS_I_LINE_B));
    }
    const unsigned r = bits * tamis_i_line_inverse[o.n] >> 20;
    longs = bits - r * o.n;
    if (set)
        longs = line_start_before(o.ones, longs, wide);
    const bool is_long = o.start < longs;
    s->hit = o.hit;
    s->n = o.n;
    s->start = o.start;
    s->in_run =
        (o.end - o.start) & (0 - (unsigned)o.hit); /* no branch: half of the homes are empty */
    s->bits = r * o.n + longs;
    s->length = r + is_long;
    s->end = top - o.start * s->length - (is_long ? 0 : longs);
    return TAMIS_LIKELY(s->in_run * s->length <= LINE_WINDOW);
}

/* The 8 bytes that end with or after bit 'end', so they hold at least 57 bits before it.  Bit 0 of the
 * result is bit 'at' of the line.  If 'end' is less than 57, they begin before the line: up to 7 bytes
 * of the line before it, or of the state. */
TAMIS_INLINE uint64_t line_window(const uint64_t *words, unsigned end, unsigned at) {
    const unsigned byte = (end + 7) / 8;
    uint64_t window;
    memcpy(&window, (const unsigned char *)words + byte - 8, sizeof window);
    return window >> (at + 64 - 8 * byte) % 64; /* for no bits, any shift will do */
}

/* Which of the fingerprints of the run match: the highest bit of the lowest match, if there is one, and
 * perhaps of others above it; bit 0 is bit '*at' of the line. */
TAMIS_INLINE uint64_t line_matches(const uint64_t *words, const line_sight *s, uint64_t fingerprint,
                                   unsigned *at) {
    const uint64_t ones = tamis_i_repeat[s->length];
    const unsigned bits = s->in_run * s->length;
    *at = s->end - bits;
    const uint64_t x =
        line_window(words, s->end, *at) ^ (fingerprint >> 1 >> (63 - s->length)) * ones;
    return (x - ones) & ~x & line_low(ones, bits) << (s->length - 1) % 64;
}

TAMIS_INLINE bool line_find_one(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                                bool wide, bool set, unsigned home, uint64_t fingerprint) {
    line_sight s;
    unsigned at;
    if (TAMIS_UNLIKELY(!line_see(line, words, homes, wide, set, home, &s)))
        return tamis_i_line_find(line, words, home, fingerprint);
    return line_matches(words, &s, fingerprint, &at) != 0;
}

TAMIS_INLINE bool line_is_full(const tamis_i_line *line, const uint64_t *words, unsigned homes) {
    unsigned before;
    uint64_t hit;
    const unsigned runs = line_runs(words, homes, 0, &before, &hit);
    return line_ones_of(line_low(line_ends(words, homes, 0), (unsigned)line->most - 1)) < runs;
}

/* ---- dropping ---- */

TAMIS_INLINE bool line_drop_one(const tamis_i_line *line, uint64_t *words, unsigned homes,
                                bool wide, unsigned home, uint64_t fingerprint) {
    line_sight s;
    unsigned at;
    if (TAMIS_UNLIKELY(!line_see(line, words, homes, wide, false, home, &s)))
        return tamis_i_line_drop(line, words, home, fingerprint);
    const uint64_t hits = line_matches(words, &s, fingerprint, &at);
    if (hits == 0)
        return false;
    const unsigned top = (unsigned)line->top, end = at + line_place_of(hits) + 1;
    tamis_i_field_open(words, top - s.bits, end, s.length);
    tamis_i_field_close(words, homes + s.start, homes + s.n, 1);
    if (s.in_run == 1)
        words[home / 64] &= ~((uint64_t)1 << home % 64);
    words[7] = words[7] << TAMIS_I_LINE_B >> TAMIS_I_LINE_B | (uint64_t)(s.bits - s.length)
                                                                  << (64 - TAMIS_I_LINE_B);
    return true;
}

/* ---- the cases ---- */

/* A name, homes, 'wide' (two words of ends), a set.  ANY homes are those of the line. */
#define LINE_ANY ((unsigned)line->homes)
#define LINE_MULTISET_CASES(CASE)                                                                  \
    CASE(narrow, 64, false, false)                                                                 \
    CASE(sparse, LINE_ANY, false, false)                                                           \
    CASE(any, LINE_ANY, true, false)
#define LINE_SET_CASES(CASE)                                                                       \
    CASE(narrow_set, 64, false, true)                                                              \
    CASE(sparse_set, LINE_ANY, false, true)                                                        \
    CASE(any_set, LINE_ANY, true, true)

/* One call per key: half of the absent keys end at their home.  The branch is not predicted, but the
 * next call comes sooner.  In a group it would cost more than it saves. */
#define LINE_FIND(name, homes, wide, set)                                                          \
    static bool line_##name##_has(const tamis_i_line *line, const uint64_t *words, unsigned home,  \
                                  uint64_t fingerprint) {                                          \
        return tamis_i_bit_get(words, home) &&                                                     \
               line_find_one(line, words, homes, wide, set, home, fingerprint);                    \
    }                                                                                              \
    static void line_##name##_find(const tamis_i_line *line, const tamis_i_line_keys *keys,        \
                                   size_t n, const tamis_i_line_keys *next, bool *found) {         \
        for (size_t i = 0; i < n; i++) {                                                           \
            TAMIS_PREFETCH(next->at[i]);                                                           \
            found[i] = line_find_one(line, keys->at[i], homes, wide, set, (unsigned)keys->home[i], \
                                     keys->fingerprint[i]);                                        \
        }                                                                                          \
    }

#define LINE_DROP(name, homes, wide, set)                                                          \
    static bool line_##name##_drop_one(const tamis_i_line *line, uint64_t *words, unsigned home,   \
                                       uint64_t fingerprint) {                                     \
        return line_drop_one(line, words, homes, wide, home, fingerprint);                         \
    }                                                                                              \
    static void line_##name##_drop(const tamis_i_line *line, const tamis_i_line_keys *keys,        \
                                   size_t n, const tamis_i_line_keys *next, bool *dropped) {       \
        for (size_t i = 0; i < n; i++) {                                                           \
            TAMIS_PREFETCH_RW(next->at[i]);                                                        \
            dropped[i] = line_##name##_drop_one(line, keys->at[i], (unsigned)keys->home[i],        \
                                                keys->fingerprint[i]);                             \
        }                                                                                          \
    }

#define LINE_LOOK(name, homes, wide, set)                                                          \
    static bool line_##name##_full(const tamis_i_line *line, const uint64_t *words) {              \
        return line_is_full(line, words, homes);                                                   \
    }                                                                                              \
    static void line_##name##_look(const tamis_i_line *line, const tamis_i_line_keys *keys,        \
                                   size_t n, const tamis_i_line_keys *next, uint8_t *results) {    \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint64_t *const words = keys->at[i];                                             \
            TAMIS_PREFETCH(next->at[i]);                                                           \
            const unsigned found = line_find_one(line, words, homes, wide, set,                    \
                                                 (unsigned)keys->home[i], keys->fingerprint[i]);   \
            const unsigned full = line_is_full(line, words, homes) & (found ^ 1);                  \
            results[i] = (uint8_t)(found * TAMIS_I_LINE_FOUND + full * TAMIS_I_LINE_FULL);         \
        }                                                                                          \
    }

LINE_MULTISET_CASES(LINE_FIND)
LINE_MULTISET_CASES(LINE_DROP)
LINE_SET_CASES(LINE_FIND)
LINE_SET_CASES(LINE_LOOK)

static size_t line_add(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t from,
                       size_t n, const tamis_i_line_keys *next, uint8_t *results) {
    for (size_t i = from; i < n; i++) {
        TAMIS_PREFETCH_RW(next->at[i]);
        results[i] = (uint8_t)tamis_i_line_add(line, keys->at[i], (unsigned)keys->home[i],
                                               keys->fingerprint[i]);
        if (tamis_i_line_refused(line, results[i]))
            return i + 1;
    }
    return n;
}

/* Loads are spread around the mean like Poisson variables; up to this mean few lines have 63 keys. */
#define LINE_NARROW_LOAD 46u

const tamis_i_line_ops *tamis_i_line_ops_arm(const tamis_i_line *line, unsigned features) {
#define LINE_MULTISET(name, homes, wide, set)                                                      \
    {.has = line_##name##_has,                                                                     \
     .add_one = tamis_i_line_add,                                                                  \
     .drop_one = line_##name##_drop_one,                                                           \
     .locate = tamis_i_line_locate_all,                                                            \
     .find = line_##name##_find,                                                                   \
     .drop = line_##name##_drop,                                                                   \
     .add = line_add},
#define LINE_SET(name, homes, wide, set)                                                           \
    {.has = line_##name##_has,                                                                     \
     .add_one = tamis_i_line_add,                                                                  \
     .full = line_##name##_full,                                                                   \
     .locate = tamis_i_line_locate_all,                                                            \
     .find = line_##name##_find,                                                                   \
     .look = line_##name##_look,                                                                   \
     .add = line_add},
    static const tamis_i_line_ops all[2][3] = {{LINE_MULTISET_CASES(LINE_MULTISET)},
                                               {LINE_SET_CASES(LINE_SET)}};
    if ((features & TAMIS_I_CPU_NEON) == 0)
        return NULL;
    const unsigned which = line->load > LINE_NARROW_LOAD ? 2 : line->homes == 64 ? 0 : 1;
    return &all[tamis_i_line_is_set(line)][which];
}

#endif
