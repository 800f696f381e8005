/* line_view.h - one line of line.h as a processor with POPCNT, LZCNT, BMI2 and AVX2 sees it
 *
 * Most lines hold fewer entries than a word has bits, in dense tables than two words.  Then a run is
 * found without a loop and without a branch that depends on the key.  With a one put before the ends,
 * the run of a home with k homes before it lies between ones number k and k + 1,
 *
 *      ends     0 1 1 0 0 1 1      4 runs: entries 0 1 | 2 | 3 4 5 | 6
 *      ones   1 0 1 1 0 0 1 1      run 2 begins at one number 2, place 3, and ends at one number 3, place 6
 *
 * and PDEP finds ones by their number.  Its fingerprints are compared in one window of 57 bits, which
 * one load gets from anywhere in the line.  Longer runs, fuller lines and copies are left to line.c.
 *
 * The functions below are compiled for each case: a known number of homes, 'wide' (two words of ends)
 * or not, a set or not.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_LINE_VIEW_H
#define TAMIS_BITS_X86_LINE_VIEW_H

#include "bits/line.h"
#include "bits/search.h"
#include "hash/x86/target.h"

#include <immintrin.h>

#define FAST   TAMIS_I_TARGET_ALL
#define WINDOW 57u /* bits that one load gets from any place */

/* ---- words of a line ---- */

/* The 8 bytes that end with or after bit 'end', so they hold at least 57 bits before it.  Bit 0 of the
 * result is bit 'at' of the line, at most 57 before 'end'.  If 'end' is less than 57, they begin before
 * the line: up to 7 bytes of the line before it, or of the state. */
FAST TAMIS_INLINE uint64_t line_window_before(const uint64_t *words, unsigned end, unsigned at) {
    uint64_t window;
    memcpy(&window, (const unsigned char *)words + (end + 7) / 8 - 8, sizeof window);
    return window >> (at - ((end + 7) & ~7u)) % 64; /* for no bits, any shift will do */
}

/* Row m % 8 has m ones and then zeros from byte 64 - m / 8 on, 512 bits in all. */
extern const uint64_t tamis_i_line_below[8][16];

typedef struct wide_line {
    __m256i low, high;
} wide_line;

FAST TAMIS_INLINE wide_line line_load_wide(const void *p) {
    return (wide_line){_mm256_loadu_si256((const __m256i *)p),
                       _mm256_loadu_si256((const __m256i *)p + 1)};
}

FAST TAMIS_INLINE wide_line line_mask_below(unsigned m) {
    const size_t row = m % 8 * sizeof tamis_i_line_below[0], ones = m / 8;
    return line_load_wide((const unsigned char *)tamis_i_line_below + 64 + row - ones);
}

FAST TAMIS_INLINE __m256i line_or3(__m256i a, __m256i b, __m256i c) {
    return _mm256_or_si256(_mm256_or_si256(a, b), c);
}

FAST TAMIS_INLINE void line_store_wide(uint64_t *words, wide_line v) {
    _mm256_storeu_si256((__m256i *)words, v.low);
    _mm256_storeu_si256((__m256i *)(words + 4), v.high);
}

/* 'value' at bit 'at', and zeros elsewhere.  Shifts by 64 and more give 0, and so do negative ones. */
FAST TAMIS_INLINE wide_line line_place(uint64_t value, unsigned at) {
    const __m256i v = _mm256_set1_epi64x((long long)value), to = _mm256_set1_epi64x(at);
    const __m256i low = _mm256_set_epi64x(192, 128, 64, 0),
                  high = _mm256_set_epi64x(448, 384, 320, 256);
    return (wide_line){_mm256_or_si256(_mm256_sllv_epi64(v, _mm256_sub_epi64(to, low)),
                                       _mm256_srlv_epi64(v, _mm256_sub_epi64(low, to))),
                       _mm256_or_si256(_mm256_sllv_epi64(v, _mm256_sub_epi64(to, high)),
                                       _mm256_srlv_epi64(v, _mm256_sub_epi64(high, to)))};
}

/* Shift all bits down by at most 63: by 'right', and 'left' is 64 minus that.  What falls off at one
 * end comes back at the other, where it is masked, unless 'clean'. */
FAST TAMIS_INLINE wide_line line_shift_down(wide_line v, __m128i right, __m128i left, bool clean) {
    const __m256i turned_low = _mm256_permute4x64_epi64(v.low, 0x39),
                  turned_high = _mm256_permute4x64_epi64(v.high, 0x39),
                  next_low = _mm256_blend_epi32(turned_low, turned_high, 0xc0),
                  next_high = clean ? _mm256_blend_epi32(turned_high, _mm256_setzero_si256(), 0xc0)
                                    : turned_high;
    return (wide_line){
        _mm256_or_si256(_mm256_srl_epi64(v.low, right), _mm256_sll_epi64(next_low, left)),
        _mm256_or_si256(_mm256_srl_epi64(v.high, right), _mm256_sll_epi64(next_high, left))};
}

/* The same upwards, by 'left'. */
FAST TAMIS_INLINE wide_line line_shift_up(wide_line v, __m128i left, __m128i right, bool clean) {
    const __m256i turned_low = _mm256_permute4x64_epi64(v.low, 0x93),
                  turned_high = _mm256_permute4x64_epi64(v.high, 0x93),
                  last_low = clean ? _mm256_blend_epi32(turned_low, _mm256_setzero_si256(), 0x03)
                                   : turned_low,
                  last_high = _mm256_blend_epi32(turned_high, turned_low, 0x03);
    return (wide_line){
        _mm256_or_si256(_mm256_sll_epi64(v.low, left), _mm256_srl_epi64(last_low, right)),
        _mm256_or_si256(_mm256_sll_epi64(v.high, left), _mm256_srl_epi64(last_high, right))};
}

FAST TAMIS_INLINE __m128i line_shift_by(unsigned width) {
    return _mm_cvtsi32_si128((int)width);
}

/* Bits of v up to 'to', without those up to 'from'. */
FAST TAMIS_INLINE wide_line line_between(wide_line v, wide_line to, wide_line from) {
    return (wide_line){_mm256_and_si256(v.low, _mm256_xor_si256(to.low, from.low)),
                       _mm256_and_si256(v.high, _mm256_xor_si256(to.high, from.high))};
}

/* 'other', joined with the bits of v that are not up to 'from'. */
FAST TAMIS_INLINE wide_line line_join(wide_line v, wide_line from, wide_line other) {
    return (wide_line){_mm256_or_si256(_mm256_andnot_si256(from.low, v.low), other.low),
                       _mm256_or_si256(_mm256_andnot_si256(from.high, v.high), other.high)};
}

/* Close a gap: bits 'bottom' up to 'end' go down by 'width' bits, at most 63, and 'value' goes into the
 * bits before 'end' that become free. */
FAST TAMIS_INLINE wide_line line_move_down(wide_line from, unsigned bottom, unsigned end,
                                           unsigned width, uint64_t value) {
    const wide_line stay = line_mask_below(bottom - width), gap = line_mask_below(end - width),
                    over = line_mask_below(end), put = line_place(value, end - width),
                    moved = line_shift_down(from, line_shift_by(width), line_shift_by(64 - width),
                                            false);
    return (wide_line){
        line_or3(_mm256_andnot_si256(_mm256_xor_si256(stay.low, over.low), from.low),
                 _mm256_and_si256(moved.low, _mm256_andnot_si256(stay.low, gap.low)), put.low),
        line_or3(_mm256_andnot_si256(_mm256_xor_si256(stay.high, over.high), from.high),
                 _mm256_and_si256(moved.high, _mm256_andnot_si256(stay.high, gap.high)), put.high)};
}

/* Open a gap: bits 'bottom' up to 'from_end' go up by 'width', at most 63, and leave zeros behind; bits
 * up to 'end' also become zeros. */
FAST TAMIS_INLINE wide_line line_move_up(wide_line from, unsigned bottom, unsigned from_end,
                                         unsigned end, unsigned width) {
    const wide_line stay = line_mask_below(bottom), gap = line_mask_below(bottom + width),
                    moved_end = line_mask_below(from_end + width), over = line_mask_below(end),
                    moved =
                        line_shift_up(from, line_shift_by(width), line_shift_by(64 - width), false);
    return (wide_line){
        _mm256_or_si256(_mm256_andnot_si256(_mm256_xor_si256(stay.low, over.low), from.low),
                        _mm256_and_si256(moved.low, _mm256_andnot_si256(gap.low, moved_end.low))),
        _mm256_or_si256(
            _mm256_andnot_si256(_mm256_xor_si256(stay.high, over.high), from.high),
            _mm256_and_si256(moved.high, _mm256_andnot_si256(gap.high, moved_end.high)))};
}

/* ---- looking ---- */

/* How n entries of a set share its room, for 64 and for 96 homes: the bits r that each gets and, below,
 * one more than the number of bits left over.  If r is larger than a fingerprint can be: UINT16_MAX,
 * above any bits_max. */
extern const uint16_t tamis_i_line_splits_64[129], tamis_i_line_splits_96[129];

/* The same where bits_max matters: 'cap' is bits_max << 8 | 1. */
FAST TAMIS_INLINE unsigned line_split_of(unsigned homes, unsigned n, unsigned cap) {
    if (__builtin_constant_p(homes) && (homes == 64 || homes == 96)) {
        const unsigned split = (homes == 64 ? tamis_i_line_splits_64 : tamis_i_line_splits_96)[n];
        return split < cap ? split : cap;
    }
    const unsigned room = TAMIS_I_LINE_BITS - homes - n, most = (cap >> 8) * n;
    const unsigned bits = room < most ? room : most;
    const unsigned r = (unsigned)(bits * tamis_i_line_inverse[n] >> 20);
    return r << 8 | (bits - r * n + 1);
}

FAST TAMIS_INLINE unsigned line_cap_of(const tamis_i_line *line) {
    return (unsigned)line->bits_max << 8 | 1;
}

/* The run of a home in a line; 'ends' has its first bits, 'hit' is 1 if the home has a run.  The other
 * members hold only for at most 62 entries, or 126 if 'wide': see line_is_strange(). */
typedef struct outline {
    tamis_i_u128 ends;
    uint64_t hit, from_home; /* that bit, and the others above it */
    unsigned n, start, end;
} outline;

/* Where the fingerprints end. */
TAMIS_INLINE unsigned line_top_of(bool set) {
    return set ? TAMIS_I_LINE_BITS : TAMIS_I_LINE_BITS - TAMIS_I_LINE_B;
}

FAST TAMIS_INLINE unsigned line_ones_of(uint64_t word) {
    return (unsigned)__builtin_popcountll(word);
}

/* The place of one number k, and whether it exists. */
FAST TAMIS_INLINE uint64_t line_bit_number(uint64_t word, unsigned k) {
    return _pdep_u64((uint64_t)1 << k % 64, word);
}

FAST TAMIS_INLINE unsigned line_place_of(uint64_t bit) {
    return (unsigned)_tzcnt_u64(bit);
}

/* The last end at or before entry 'at', at most 126, and 0 if there is none: where a run begins. */
FAST TAMIS_INLINE unsigned line_start_before(tamis_i_u128 ends, unsigned at, bool wide) {
    if (!wide)
        return 63 - (unsigned)_lzcnt_u64(_bzhi_u64((uint64_t)ends << 1 | 1, at + 1));
    const tamis_i_u128 ones = ends << 1 | 1;
    const uint64_t low = _bzhi_u64((uint64_t)ones, at < 64 ? at + 1 : 64);
    const uint64_t high = at < 64 ? 0 : _bzhi_u64((uint64_t)(ones >> 64), at - 63);
    return high != 0 ? 127 - (unsigned)_lzcnt_u64(high) : 63 - (unsigned)_lzcnt_u64(low);
}

/* The long entries of a set with this split. */
FAST TAMIS_INLINE unsigned line_longs_of(tamis_i_u128 ends, unsigned split, bool wide) {
    if (!wide) /* BZHI looks at the lowest byte only */
        return 63 - (unsigned)_lzcnt_u64(_bzhi_u64((uint64_t)ends << 1 | 1, split));
    return line_start_before(ends, split % 256 - 1, wide);
}

FAST TAMIS_INLINE outline line_outline_of(const uint64_t *words, unsigned homes, bool wide,
                                          unsigned home) {
    const unsigned word = homes / 64, shift = homes % 64;
    outline o;
    unsigned runs, before;
    if (homes <= 64) {
        const uint64_t all = _bzhi_u64(words[0], homes);
        runs = line_ones_of(all);
        before = line_ones_of(_bzhi_u64(all, home));
        o.from_home = all >> home;
    } else {
        const uint64_t all[2] = {words[0], _bzhi_u64(words[1], homes - 64)};
        const unsigned in_first = line_ones_of(all[0]);
        const uint64_t mine = home < 64 ? all[0] : all[1];
        runs = in_first + line_ones_of(all[1]);
        before = line_ones_of(_bzhi_u64(mine, home % 64)) + (home < 64 ? 0 : in_first);
        o.from_home = mine >> home % 64;
    }
    o.hit = o.from_home & 1;
    const uint64_t ends0 =
        shift == 0 ? words[word] : words[word] >> shift | words[word + 1] << 1 << (63 - shift);
    const uint64_t ones0 = ends0 << 1 | 1;
    if (!wide) {
        const uint64_t both = _pdep_u64((uint64_t)3 << before % 64, ones0);
        o.n = line_place_of(line_bit_number(ones0, runs));
        if (homes > 64 && runs > 63)
            o.n = 64;
        o.start = line_place_of(both);
        o.end = 63 - (unsigned)_lzcnt_u64(both);
        o.ends = ends0;
        return o;
    }
    const uint64_t ends1 = shift == 0
                               ? words[word + 1]
                               : words[word + 1] >> shift | words[word + 2] << 1 << (63 - shift);
    const uint64_t ones1 = ends1 << 1 | ends0 >> 63;
    const unsigned in_first = line_ones_of(ones0);
    const bool last_high = runs >= in_first, start_high = before >= in_first,
               end_high = before + 1 >= in_first;
    const unsigned run = runs - (last_high ? in_first : 0);
    o.n = line_place_of(line_bit_number(last_high ? ones1 : ones0, run)) + (last_high ? 64 : 0);
    o.n = run > 63 ? 128 : o.n;
    o.start = line_place_of(line_bit_number(start_high ? ones1 : ones0,
                                            before - (start_high ? in_first : 0))) +
              (start_high ? 64 : 0);
    o.end = line_place_of(
                line_bit_number(end_high ? ones1 : ones0, before + 1 - (end_high ? in_first : 0))) +
            (end_high ? 64 : 0);
    o.ends = (tamis_i_u128)ends1 << 64 | ends0;
    return o;
}

/* Is the line too full for its outline?  Then no number of entries is right: with 64 runs it may be 0. */
FAST TAMIS_INLINE bool line_is_strange(const outline *o, bool wide) {
    return o->n > (wide ? 126 : 62) || (o->n == 0 && o->hit != 0);
}

/* A line as seen from one home. */
typedef struct sight {
    tamis_i_u128 ends;
    uint64_t hit;
    unsigned n, start, in_run;
    unsigned r, longs, bits;
    unsigned length, end; /* of one fingerprint of the run, and the bit where they end */
} sight;

/* False if the line is too full for this.  'hit': the home is known to have a run. */
FAST TAMIS_INLINE bool line_see(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                                bool wide, bool set, unsigned home, bool hit, sight *s) {
    outline o = line_outline_of(words, homes, wide, home);
    if (hit)
        o.hit = 1;
    if (TAMIS_UNLIKELY(line_is_strange(&o, wide)))
        return false;
    s->ends = o.ends;
    s->hit = o.hit;
    s->n = o.n;
    s->start = o.start;
    s->in_run =
        (o.end - o.start) & (0 - (unsigned)o.hit); /* no branch: half of the homes are empty */
    if (set) {
        const unsigned split = line_split_of(homes, o.n, line_cap_of(line));
        s->r = split >> 8;
        s->longs = line_longs_of(o.ends, split, wide);
        s->bits = s->r * o.n + s->longs;
    } else {
        s->bits = (unsigned)(words[7] >> (64 - TAMIS_I_LINE_B));
        s->r = (unsigned)(s->bits * tamis_i_line_inverse[o.n] >> 20);
        s->longs = s->bits - s->r * o.n;
    }
    s->length = s->r + (o.start < s->longs);
    s->end = line_top_of(set) - o.start * s->r - (o.start < s->longs ? o.start : s->longs);
    return true;
}

/* Which of the fingerprints of the run match: the highest bit of the lowest match, if there is one, and
 * perhaps of others above it; bit 0 is bit '*at' of the line.  The run fits in a window. */
FAST TAMIS_INLINE uint64_t line_matches(const uint64_t *words, const sight *s, uint64_t fingerprint,
                                        unsigned *at) {
    const uint64_t ones = tamis_i_repeat[s->length];
    const unsigned bits = s->in_run * s->length;
    *at = s->end - bits;
    /* Of no entries the length may be 0: then any shift will do. */
    const uint64_t x =
        line_window_before(words, s->end, *at) ^ (fingerprint >> (0 - s->length) % 64) * ones;
    const uint64_t high = _bzhi_u64(ones, bits) << (s->length - 1) % 64;
    return (x - ones) & ~x & high;
}

FAST TAMIS_INLINE bool line_find_one(const tamis_i_line *line, const uint64_t *words,
                                     unsigned homes, bool wide, bool set, unsigned home, bool hit,
                                     uint64_t fingerprint) {
    sight s;
    if (TAMIS_UNLIKELY(!line_see(line, words, homes, wide, set, home, hit, &s) ||
                       s.in_run * s.length > WINDOW))
        return tamis_i_line_find(line, words, home, fingerprint);
    unsigned at;
    return line_matches(words, &s, fingerprint, &at) != 0;
}

FAST TAMIS_INLINE bool line_is_full(const tamis_i_line *line, const uint64_t *words,
                                    unsigned homes) {
    const unsigned word = homes / 64, shift = homes % 64, before_last = (unsigned)line->most - 1;
    const unsigned runs =
        homes <= 64 ? line_ones_of(_bzhi_u64(words[0], homes))
                    : line_ones_of(words[0]) + line_ones_of(_bzhi_u64(words[1], homes - 64));
    const uint64_t ends =
        shift == 0 ? words[word] : words[word] >> shift | words[word + 1] << 1 << (63 - shift);
    return line_ones_of(_bzhi_u64(ends, before_last)) < runs;
}

/* ---- changing ---- */

/* Narrow lines have their homes and ends in the first two or three words.  With at least this many
 * homes, no window of a change begins before the line: in a full line, entries and bits of a
 * fingerprint add up to more than 40. */
#define HOMES_LEAST 16u

/* Write a line: fingerprints in v, then homes, of which one has a run or not, and ends. */
FAST TAMIS_INLINE void line_put_line(uint64_t *words, wide_line v, unsigned homes, unsigned home,
                                     bool hit, uint64_t ends) {
    const uint64_t old[2] = {words[0], words[1]};
    line_store_wide(words, v);
    const uint64_t bit = (uint64_t)1 << home % 64, value = (uint64_t)hit << home % 64;
    if (homes == 64) {
        words[0] = (old[0] & ~bit) | value;
        words[1] |= ends;
    } else if (homes < 64) {
        words[0] |= (_bzhi_u64(old[0], homes) & ~bit) | value | ends << homes;
        words[1] |= ends >> (64 - homes);
    } else {
        const unsigned shift = homes % 64;
        const uint64_t high = home < 64 ? 0 : UINT64_MAX;
        words[0] = (old[0] & ~(bit & ~high)) | (value & ~high);
        words[1] |= (_bzhi_u64(old[1], homes - 64) & ~(bit & high)) | (value & high) |
                    (shift == 0 ? 0 : ends << shift);
        words[2] |= shift == 0 ? ends : ends >> (64 - shift);
    }
}

/* Add to B, or subtract. */
FAST TAMIS_INLINE void line_put_bits(uint64_t *words, unsigned more) {
    uint16_t last;
    unsigned char *const bytes = (unsigned char *)words + TAMIS_LINE_BYTES - sizeof last;
    memcpy(&last, bytes, sizeof last);
    last = (uint16_t)(last + (more << (16 - TAMIS_I_LINE_B)));
    memcpy(bytes, &last, sizeof last);
}

/* Write a line with a new entry; its fingerprint goes in the window before 'byte'. */
FAST TAMIS_INLINE void line_put_added(uint64_t *words, wide_line v, unsigned homes, bool set,
                                      unsigned home, uint64_t ends, unsigned byte, uint64_t value,
                                      unsigned more) {
    line_put_line(words, v, homes, home, true, ends);
    unsigned char *const bytes = (unsigned char *)words + byte - 8;
    uint64_t window;
    memcpy(&window, bytes, 8);
    window |= value;
    memcpy(bytes, &window, 8);
    if (!set)
        line_put_bits(words, more);
}

/* The cases: a name, homes, 'wide', a set.  ANY homes are those of the line. */
#define ANY ((unsigned)line->homes)
#define TAMIS_I_LINE_MULTISETS(CASE)                                                               \
    CASE(narrow, 64, false, false)                                                                 \
    TAMIS_I_LINE_OTHER_MULTISETS(CASE)
#define TAMIS_I_LINE_SETS(CASE)                                                                    \
    CASE(narrow_set, 64, false, true)                                                              \
    TAMIS_I_LINE_OTHER_SETS(CASE)

/* Those that a lens cannot look into. */
#define TAMIS_I_LINE_OTHER_MULTISETS(CASE)                                                         \
    CASE(wide, 64, true, false)                                                                    \
    CASE(dense, 96, true, false)                                                                   \
    CASE(sparse, ANY, false, false)                                                                \
    CASE(any, ANY, true, false)
#define TAMIS_I_LINE_OTHER_SETS(CASE)                                                              \
    CASE(wide_set, 64, true, true)                                                                 \
    CASE(dense_set, 96, true, true)                                                                \
    CASE(sparse_set, ANY, false, true)                                                             \
    CASE(any_set, ANY, true, true)

/* Their operations on one key (line.c, line_query.c), and on groups (line_group.c).  Multisets drop, sets
 * look. */
#define DECLARE(name, homes, wide, set)                                                            \
    bool tamis_i_line_##name##_has_digest(const tamis_i_line_table *table, tamis_digest digest);   \
    bool tamis_i_line_##name##_has_word(const tamis_i_line_table *table, uint64_t key);            \
    bool tamis_i_line_##name##_has(const tamis_i_line *line, const uint64_t *words, unsigned home, \
                                   uint64_t fingerprint);                                          \
    unsigned tamis_i_line_##name##_add_one(const tamis_i_line *line, uint64_t *words,              \
                                           unsigned home, uint64_t fingerprint);                   \
    bool tamis_i_line_##name##_drop_one(const tamis_i_line *line, uint64_t *words, unsigned home,  \
                                        uint64_t fingerprint);                                     \
    void tamis_i_line_##name##_find(const tamis_i_line *line, const tamis_i_line_keys *keys,       \
                                    size_t n, const tamis_i_line_keys *next, bool *found);         \
    size_t tamis_i_line_##name##_add(const tamis_i_line *line, const tamis_i_line_keys *keys,      \
                                     size_t from, size_t n, const tamis_i_line_keys *next,         \
                                     uint8_t *results);                                            \
    void tamis_i_line_##name##_drop(const tamis_i_line *line, const tamis_i_line_keys *keys,       \
                                    size_t n, const tamis_i_line_keys *next, bool *dropped);       \
    bool tamis_i_line_##name##_full(const tamis_i_line *line, const uint64_t *words);              \
    void tamis_i_line_##name##_look(const tamis_i_line *line, const tamis_i_line_keys *keys,       \
                                    size_t n, const tamis_i_line_keys *next, uint8_t *results);
void tamis_i_line_locate_x86(const tamis_i_line *line, uint64_t *table, uint64_t lines,
                             const tamis_digest *digests, size_t n, tamis_i_line_keys *keys);
TAMIS_I_LINE_MULTISETS(DECLARE)
TAMIS_I_LINE_SETS(DECLARE)
#undef DECLARE

#endif
