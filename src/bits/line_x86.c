/* line_x86.c - the work on one line of line.h, for x86-64 with POPCNT, LZCNT, BMI2 and AVX2
 *
 * Most lines hold fewer entries than a word has bits, in dense tables two words.  Then a run is found
 * without a loop and without a branch that depends on the key: with a one put before the ends, the run of
 * a home with k homes before it lies between ones number k and k + 1,
 *
 *      ends     0 1 1 0 0 1 1      4 runs: entries 0 1 | 2 | 3 4 5 | 6
 *      ones   1 0 1 1 0 0 1 1      run 2 begins at one number 2, place 3, and ends at one number 3, place 6
 *
 * and PDEP finds ones by their number.  Its fingerprints are compared in one window of 57 bits, which one
 * load gets from anywhere in the line.  Longer runs, fuller lines and copies go the way of line.c.
 *
 * The functions below are compiled for each case: a number of homes that is known, 'wide' (two words of
 * ends) or not, a set or not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/line.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/draw.h"
#include "bits/search.h"

/* Tuned, because otherwise gcc clears a register before each count, for processors of long ago. */
#define FAST   __attribute__((target("popcnt,bmi,bmi2,lzcnt,avx2,tune=znver2")))
#define WINDOW 57u /* bits that one load gets from any place */

/* ---- words of a line ---- */

/* The 8 bytes that end with or after bit 'end', so that at least 57 bits before it are in them; bit 0 of the
 * result is bit 'at' of the line, not more than 57 before 'end'.  If 'end' is less than 57, they begin
 * before the line: up to 7 bytes of the line before it, or of the state. */
FAST TAMIS_INLINE uint64_t window_before(const uint64_t *words, unsigned end, unsigned at) {
    const unsigned byte = (end + 7) / 8;
    uint64_t window;
    memcpy(&window, (const unsigned char *)words + byte - 8, sizeof window);
    return window >> (at + 64 - 8 * byte) % 64; /* of no bits any do */
}

#define BELOW_ROW(k)                                                                               \
    {                                                                                              \
        ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0,        \
            ~(uint64_t)0, ~(uint64_t)0, ((uint64_t)1 << (k)) - 1, 0, 0, 0, 0, 0, 0, 0              \
    }

/* From byte 64 - m / 8 of row m % 8 on lie m ones and then zeros, 512 bits in all. */
static const uint64_t below[8][16] = {BELOW_ROW(0), BELOW_ROW(1), BELOW_ROW(2), BELOW_ROW(3),
                                      BELOW_ROW(4), BELOW_ROW(5), BELOW_ROW(6), BELOW_ROW(7)};

typedef struct wide_line {
    __m256i low, high;
} wide_line;

FAST TAMIS_INLINE wide_line load_wide(const void *p) {
    return (wide_line){_mm256_loadu_si256((const __m256i *)p),
                       _mm256_loadu_si256((const __m256i *)p + 1)};
}

FAST TAMIS_INLINE wide_line ones_below(unsigned m) {
    const size_t row = m % 8 * sizeof below[0], ones = m / 8;
    return load_wide((const unsigned char *)below + 64 + row - ones);
}

FAST TAMIS_INLINE __m256i or3(__m256i a, __m256i b, __m256i c) {
    return _mm256_or_si256(_mm256_or_si256(a, b), c);
}

FAST TAMIS_INLINE void store_wide(uint64_t *words, wide_line v) {
    _mm256_storeu_si256((__m256i *)words, v.low);
    _mm256_storeu_si256((__m256i *)(words + 4), v.high);
}

/* 'value' at bit 'at', and zeros: shifts by 64 and more give 0, also those by numbers below 0. */
FAST TAMIS_INLINE wide_line place(uint64_t value, unsigned at) {
    const __m256i v = _mm256_set1_epi64x((long long)value), to = _mm256_set1_epi64x(at);
    const __m256i low = _mm256_set_epi64x(192, 128, 64, 0),
                  high = _mm256_set_epi64x(448, 384, 320, 256);
    return (wide_line){_mm256_or_si256(_mm256_sllv_epi64(v, _mm256_sub_epi64(to, low)),
                                       _mm256_srlv_epi64(v, _mm256_sub_epi64(low, to))),
                       _mm256_or_si256(_mm256_sllv_epi64(v, _mm256_sub_epi64(to, high)),
                                       _mm256_srlv_epi64(v, _mm256_sub_epi64(high, to)))};
}

/* Close a gap: bits 'bottom' up to 'end' go down by 'width' bits, at most 63, and 'value' is put in the
 * bits before 'end' that become free.  What falls off at one end comes back at the other, where it is not
 * used. */
FAST TAMIS_INLINE wide_line move_down(wide_line from, unsigned bottom, unsigned end, unsigned width,
                                      uint64_t value) {
    const __m256i turned_low = _mm256_permute4x64_epi64(from.low, 0x39),
                  next_high = _mm256_permute4x64_epi64(from.high, 0x39),
                  next_low = _mm256_blend_epi32(turned_low, next_high, 0xc0);
    const __m128i right = _mm_cvtsi32_si128((int)width), left = _mm_cvtsi32_si128(64 - (int)width);
    const wide_line stay = ones_below(bottom - width), gap = ones_below(end - width),
                    over = ones_below(end), put = place(value, end - width);
    const __m256i moved_low =
        _mm256_or_si256(_mm256_srl_epi64(from.low, right), _mm256_sll_epi64(next_low, left));
    const __m256i moved_high =
        _mm256_or_si256(_mm256_srl_epi64(from.high, right), _mm256_sll_epi64(next_high, left));
    return (wide_line){
        or3(_mm256_andnot_si256(_mm256_xor_si256(stay.low, over.low), from.low),
            _mm256_and_si256(moved_low, _mm256_andnot_si256(stay.low, gap.low)), put.low),
        or3(_mm256_andnot_si256(_mm256_xor_si256(stay.high, over.high), from.high),
            _mm256_and_si256(moved_high, _mm256_andnot_si256(stay.high, gap.high)), put.high)};
}

/* Open a gap: bits 'bottom' up to 'from_end' go up by 'width', at most 63, and leave zeros behind; bits
 * up to 'end' become zeros as well. */
FAST TAMIS_INLINE wide_line move_up(wide_line from, unsigned bottom, unsigned from_end,
                                    unsigned end, unsigned width) {
    const __m256i last_low = _mm256_permute4x64_epi64(from.low, 0x93),
                  turned_high = _mm256_permute4x64_epi64(from.high, 0x93),
                  last_high = _mm256_blend_epi32(turned_high, last_low, 0x03);
    const __m128i left = _mm_cvtsi32_si128((int)width), right = _mm_cvtsi32_si128(64 - (int)width);
    const wide_line stay = ones_below(bottom), gap = ones_below(bottom + width),
                    moved_end = ones_below(from_end + width), over = ones_below(end);
    const __m256i moved_low =
        _mm256_or_si256(_mm256_sll_epi64(from.low, left), _mm256_srl_epi64(last_low, right));
    const __m256i moved_high =
        _mm256_or_si256(_mm256_sll_epi64(from.high, left), _mm256_srl_epi64(last_high, right));
    return (wide_line){
        _mm256_or_si256(_mm256_andnot_si256(_mm256_xor_si256(stay.low, over.low), from.low),
                        _mm256_and_si256(moved_low, _mm256_andnot_si256(gap.low, moved_end.low))),
        _mm256_or_si256(
            _mm256_andnot_si256(_mm256_xor_si256(stay.high, over.high), from.high),
            _mm256_and_si256(moved_high, _mm256_andnot_si256(gap.high, moved_end.high)))};
}

/* ---- looking ---- */

/* How n entries of a set share its room: the bits r that each gets and, below, one more than the bits that
 * are left.  Nothing that bits_max would allow if r is larger than a fingerprint can be. */
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

static const uint16_t splits_64[129] = {SPLITS(TAMIS_I_LINE_BITS - 64)};
static const uint16_t splits_96[129] = {SPLITS(TAMIS_I_LINE_BITS - 96)};

/* The same where bits_max counts: 'cap' is bits_max << 8 | 1. */
FAST TAMIS_INLINE unsigned split_of(unsigned homes, unsigned n, unsigned cap) {
    if (__builtin_constant_p(homes) && (homes == 64 || homes == 96)) {
        const unsigned split = (homes == 64 ? splits_64 : splits_96)[n];
        return split < cap ? split : cap;
    }
    const unsigned room = TAMIS_I_LINE_BITS - homes - n, most = (cap >> 8) * n;
    const unsigned bits = room < most ? room : most;
    const unsigned r = (unsigned)(bits * tamis_i_line_inverse[n] >> 20);
    return r << 8 | (bits - r * n + 1);
}

FAST TAMIS_INLINE unsigned cap_of(const tamis_i_line *line) {
    return (unsigned)line->bits_max << 8 | 1;
}

/* The run of a home in a line; 'ends' has its first bits, 'hit' is 1 if the home has a run.  The other
 * members hold only for at most 62 entries, or 126 if 'wide': see is_strange(). */
typedef struct outline {
    tamis_i_u128 ends;
    uint64_t hit, from_home; /* that bit, and the others above it */
    unsigned n, start, end;
} outline;

/* Where the fingerprints end: known for a set. */
FAST TAMIS_INLINE unsigned top_of(const tamis_i_line *line, bool set) {
    return set ? TAMIS_I_LINE_BITS : (unsigned)line->top;
}

FAST TAMIS_INLINE unsigned ones_of(uint64_t word) {
    return (unsigned)__builtin_popcountll(word);
}

/* The place of one number k, and whether there is one. */
FAST TAMIS_INLINE uint64_t bit_number(uint64_t word, unsigned k) {
    return _pdep_u64((uint64_t)1 << k % 64, word);
}

FAST TAMIS_INLINE unsigned place_of(uint64_t bit) {
    return (unsigned)_tzcnt_u64(bit);
}

/* The last end at or before entry 'at', at most 126, and 0 if there is none: where a run begins. */
FAST TAMIS_INLINE unsigned start_before(tamis_i_u128 ends, unsigned at, bool wide) {
    if (!wide)
        return 63 - (unsigned)_lzcnt_u64(_bzhi_u64((uint64_t)ends << 1 | 1, at + 1));
    const tamis_i_u128 ones = ends << 1 | 1;
    const uint64_t low = _bzhi_u64((uint64_t)ones, at < 64 ? at + 1 : 64);
    const uint64_t high = at < 64 ? 0 : _bzhi_u64((uint64_t)(ones >> 64), at - 63);
    return high != 0 ? 127 - (unsigned)_lzcnt_u64(high) : 63 - (unsigned)_lzcnt_u64(low);
}

/* The long entries of a set with this split. */
FAST TAMIS_INLINE unsigned longs_of(tamis_i_u128 ends, unsigned split, bool wide) {
    if (!wide) /* BZHI looks at the lowest byte only */
        return 63 - (unsigned)_lzcnt_u64(_bzhi_u64((uint64_t)ends << 1 | 1, split));
    return start_before(ends, split % 256 - 1, wide);
}

FAST TAMIS_INLINE outline outline_of(const uint64_t *words, unsigned homes, bool wide,
                                     unsigned home) {
    const unsigned word = homes / 64, shift = homes % 64;
    outline o;
    unsigned runs, before;
    if (homes <= 64) {
        const uint64_t all = _bzhi_u64(words[0], homes);
        runs = ones_of(all);
        before = ones_of(_bzhi_u64(all, home));
        o.from_home = all >> home;
    } else {
        const uint64_t all[2] = {words[0], _bzhi_u64(words[1], homes - 64)};
        const unsigned in_first = ones_of(all[0]);
        const uint64_t mine = home < 64 ? all[0] : all[1];
        runs = in_first + ones_of(all[1]);
        before = ones_of(_bzhi_u64(mine, home % 64)) + (home < 64 ? 0 : in_first);
        o.from_home = mine >> home % 64;
    }
    o.hit = o.from_home & 1;
    const uint64_t ends0 =
        shift == 0 ? words[word] : words[word] >> shift | words[word + 1] << 1 << (63 - shift);
    const uint64_t ones0 = ends0 << 1 | 1;
    if (!wide) {
        const uint64_t both = _pdep_u64((uint64_t)3 << before % 64, ones0);
        o.n = place_of(bit_number(ones0, runs));
        if (homes > 64 && runs > 63)
            o.n = 64;
        o.start = place_of(both);
        o.end = 63 - (unsigned)_lzcnt_u64(both);
        o.ends = ends0;
        return o;
    }
    const uint64_t ends1 = shift == 0
                               ? words[word + 1]
                               : words[word + 1] >> shift | words[word + 2] << 1 << (63 - shift);
    const uint64_t ones1 = ends1 << 1 | ends0 >> 63;
    const unsigned in_first = ones_of(ones0);
    const bool last_high = runs >= in_first, start_high = before >= in_first,
               end_high = before + 1 >= in_first;
    const unsigned run = runs - (last_high ? in_first : 0);
    o.n = place_of(bit_number(last_high ? ones1 : ones0, run)) + (last_high ? 64 : 0);
    o.n = run > 63 ? 128 : o.n;
    o.start =
        place_of(bit_number(start_high ? ones1 : ones0, before - (start_high ? in_first : 0))) +
        (start_high ? 64 : 0);
    o.end = place_of(bit_number(end_high ? ones1 : ones0, before + 1 - (end_high ? in_first : 0))) +
            (end_high ? 64 : 0);
    o.ends = (tamis_i_u128)ends1 << 64 | ends0;
    return o;
}

/* Is the line too full for its outline?  No number of entries is right then: with 64 runs it may be 0. */
FAST TAMIS_INLINE bool is_strange(const outline *o, bool wide) {
    return o->n > (wide ? 126 : 62) || (o->n == 0 && o->hit != 0);
}

/* A line as seen from one home. */
typedef struct sight {
    tamis_i_u128 ends;
    uint64_t hit;
    unsigned n, start, in_run;
    unsigned r, longs, bits;
    unsigned length, end; /* of the fingerprints of the run: of one, and where they end as bits */
} sight;

/* False if the line is too full for this.  'hit': it is known that the home has a run. */
FAST TAMIS_INLINE bool see(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                           bool wide, bool set, unsigned home, bool hit, sight *s) {
    outline o = outline_of(words, homes, wide, home);
    if (hit)
        o.hit = 1;
    if (TAMIS_UNLIKELY(is_strange(&o, wide)))
        return false;
    s->ends = o.ends;
    s->hit = o.hit;
    s->n = o.n;
    s->start = o.start;
    s->in_run =
        (o.end - o.start) & (0 - (unsigned)o.hit); /* no branch: half of the homes are empty */
    if (set) {
        const unsigned split = split_of(homes, o.n, cap_of(line));
        s->r = split >> 8;
        s->longs = longs_of(o.ends, split, wide);
        s->bits = s->r * o.n + s->longs;
    } else {
        s->bits = (unsigned)(words[7] >> (64 - TAMIS_I_LINE_B));
        s->r = (unsigned)(s->bits * tamis_i_line_inverse[o.n] >> 20);
        s->longs = s->bits - s->r * o.n;
    }
    const bool is_long = o.start < s->longs;
    s->length = s->r + is_long;
    s->end = top_of(line, set) - o.start * s->length - (is_long ? 0 : s->longs);
    return true;
}

/* Which of the fingerprints of the run match: the highest bit of the lowest that does, if there is one, and
 * perhaps of others above it; bit 0 is bit '*at' of the line.  The run fits in a window. */
FAST TAMIS_INLINE uint64_t matches(const uint64_t *words, const sight *s, uint64_t print,
                                   unsigned *at) {
    const uint64_t ones = tamis_i_repeat[s->length];
    const unsigned bits = s->in_run * s->length;
    *at = s->end - bits;
    const uint64_t x = window_before(words, s->end, *at) ^ (print >> 1 >> (63 - s->length)) * ones;
    const uint64_t high = _bzhi_u64(ones, bits) << ((s->length - 1) % 64);
    return (x - ones) & ~x & high;
}

FAST TAMIS_INLINE bool find_one(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                                bool wide, bool set, unsigned home, bool hit, uint64_t print) {
    sight s;
    if (TAMIS_UNLIKELY(!see(line, words, homes, wide, set, home, hit, &s) ||
                       s.in_run * s.length > WINDOW))
        return tamis_i_line_find(line, words, home, print);
    unsigned at;
    return matches(words, &s, print, &at) != 0;
}

/* The same for one call per key.  Half of the keys that are not there end at their home.  The branch is not
 * foreseen, but the way ahead to the next call, and its fetch, gets shorter; in a group it would cost more
 * than it saves. */
FAST TAMIS_INLINE bool has_one(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                               bool wide, bool set, unsigned home, uint64_t print) {
    const uint64_t all = words[homes > 64 ? home / 64 : 0];
    return (all >> home % 64 & 1) != 0 &&
           find_one(line, words, homes, wide, set, home, true, print);
}

FAST TAMIS_INLINE bool is_full(const tamis_i_line *line, const uint64_t *words, unsigned homes) {
    const unsigned word = homes / 64, shift = homes % 64, before_last = (unsigned)line->most - 1;
    const unsigned runs = homes <= 64
                              ? ones_of(_bzhi_u64(words[0], homes))
                              : ones_of(words[0]) + ones_of(_bzhi_u64(words[1], homes - 64));
    const uint64_t ends =
        shift == 0 ? words[word] : words[word] >> shift | words[word + 1] << 1 << (63 - shift);
    return ones_of(_bzhi_u64(ends, before_last)) < runs;
}

#include "bits/line_group_template.h"

FAST TAMIS_INLINE unsigned answer_of(const tamis_i_line *line, const uint64_t *words,
                                     unsigned homes, unsigned found) {
    const unsigned full = is_full(line, words, homes) & (found ^ 1);
    return found * TAMIS_I_LINE_FOUND + full * TAMIS_I_LINE_FULL;
}

/* ---- changing ---- */

/* Write the first n ends, and one home. */
FAST TAMIS_INLINE void put_ends(uint64_t *words, unsigned homes, bool wide, tamis_i_u128 ends,
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

/* As cut() of line.c, of entries of so many bits: so many fields at a time as fit in a window lose their
 * lowest bits.  Fewer than 64 entries. */
FAST TAMIS_INLINE wide_line cut_some(wide_line v, const uint64_t *words, unsigned top,
                                     unsigned bottom, unsigned length, unsigned from, unsigned to) {
    const uint64_t ones = tamis_i_repeat[length];
    const unsigned step = WINDOW - WINDOW % length;
    const unsigned end = top - from * length, all = (to - from) * length;
    v = move_up(v, bottom, end - all, end, to - from);
    unsigned read = end, write = end;
    for (unsigned left = all, now; left > 0; left -= now) {
        now = left < step ? left : step;
        const uint64_t dropped = _bzhi_u64(ones, now),
                       window = window_before(words, read, read - now);
        const uint64_t kept = _pext_u64(window, _bzhi_u64(~dropped, now));
        read -= now;
        write -= now - ones_of(dropped);
        const wide_line put = place(kept, write);
        v.low = _mm256_or_si256(v.low, put.low);
        v.high = _mm256_or_si256(v.high, put.high);
    }
    return v;
}

/* Make entries shorter, from those that s tells to r bits, and r + 1 for the first 'longs'. */
FAST static void shorten(wide_line *v, uint64_t *words, unsigned top, unsigned n, unsigned r,
                         unsigned longs, unsigned to_r, unsigned to_longs) {
    bool stored = true; /* is *v what the words are? */
    while (r > to_r || longs > to_longs) {
        /* All long ones, or the last of them; not too many at a time. */
        const unsigned least = r > to_r ? 0 : to_longs;
        const unsigned from = longs - least > 63 ? longs - 63 : least;
        if (from < longs) {
            if (!stored)
                store_wide(words, *v);
            *v = cut_some(*v, words, top, top - r * n - longs, r + 1, from, longs);
            stored = false;
        }
        longs = from;
        if (longs == 0 && r > to_r) {
            r--;
            longs = n;
        }
    }
}

FAST TAMIS_INLINE unsigned add_one(const tamis_i_line *line, uint64_t *words, unsigned homes,
                                   bool wide, bool set, unsigned home, uint64_t print) {
    const unsigned top = top_of(line, set), bits_max = (unsigned)line->bits_max;
    sight s;
    if (TAMIS_UNLIKELY(!see(line, words, homes, wide, set, home, false, &s) ||
                       s.in_run * s.length > WINDOW || (!set && s.n >= line->most)))
        return tamis_i_line_add(line, words, home, print);
    unsigned at;
    if (TAMIS_UNLIKELY(matches(words, &s, print, &at) != 0))
        return set ? TAMIS_I_LINE_FOUND : tamis_i_line_add(line, words, home, print);
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
    /* The new lengths, as settle() of line.c. */
    const unsigned room = top - homes - n;
    unsigned r, longs;
    bool shorter;
    if (set) {
        const unsigned split = split_of(homes, n, cap_of(line));
        r = split >> 8;
        longs = longs_of(ends, split, wide);
        shorter = s.n != 0 && (r != s.r || longs - (start < longs) != s.longs);
    } else {
        r = s.n == 0 ? bits_max : s.r;
        const bool may_be_long =
            (s.hit == 0) & (start == s.longs) & (r < bits_max) & (s.bits + r + 1 <= room);
        const unsigned is_long = (start < s.longs) | may_be_long;
        const unsigned bits = s.bits + r + is_long;
        longs = s.longs + is_long;
        shorter = bits > room;
        for (unsigned over = shorter ? bits - room : 0; over > 0;) {
            if (longs == 0) {
                r--;
                longs = n;
            }
            const unsigned keep = longs > over ? start_before(ends, longs - over, wide) : 0;
            const unsigned saved = longs - keep;
            over -= over < saved ? over : saved;
            longs = keep;
        }
    }
    const unsigned is_long = start < longs;
    wide_line v = load_wide(words);
    unsigned bits = s.bits;
    if (shorter) {
        shorten(&v, words, top, s.n, s.r, s.longs, r, longs - is_long);
        bits = r * s.n + longs - is_long;
    }
    const unsigned length = r + is_long;
    const unsigned end = top - start * r - (is_long ? start : longs);
    const uint64_t value = print >> (64 - length);
    if (!wide && homes >= HOMES_LEAST) {
        const wide_line over = ones_below(end), gap = ones_below(end - length),
                        stay = ones_below(top - bits - length);
        const unsigned byte = (end + 7) / 8;
        put_added(words, join(v, over, between(shift_down(v, length), gap, stay)), homes, set, home,
                  _bzhi_u64((uint64_t)ends, n), byte, value << (end - length + 64 - 8 * byte),
                  bits + length - s.bits);
        return TAMIS_I_LINE_STORED;
    }
    store_wide(words, move_down(v, top - bits, end, length, value));
    put_ends(words, homes, wide, ends, n, home, true);
    if (!set)
        words[7] = words[7] << TAMIS_I_LINE_B >> TAMIS_I_LINE_B | (uint64_t)(bits + length)
                                                                      << (64 - TAMIS_I_LINE_B);
    return TAMIS_I_LINE_STORED;
}

FAST TAMIS_INLINE bool drop_one(const tamis_i_line *line, uint64_t *words, unsigned homes,
                                bool wide, unsigned home, uint64_t print) {
    sight s;
    if (TAMIS_UNLIKELY(!see(line, words, homes, wide, false, home, false, &s) ||
                       s.in_run * s.length > WINDOW))
        return tamis_i_line_drop(line, words, home, print);
    unsigned at;
    const uint64_t hits = matches(words, &s, print, &at);
    if (TAMIS_UNLIKELY(hits == 0))
        return false;
    const unsigned end = at + place_of(hits) + 1;
    store_wide(words, move_up(load_wide(words), top_of(line, false) - s.bits, end - s.length, end,
                              s.length));
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
    put_ends(words, homes, wide, ends, s.n, home, s.in_run > 1);
    words[7] = words[7] << TAMIS_I_LINE_B >> TAMIS_I_LINE_B | (uint64_t)(s.bits - s.length)
                                                                  << (64 - TAMIS_I_LINE_B);
    return true;
}

/* ---- where keys are ---- */

FAST static void locate(const tamis_i_line *line, uint64_t *table, uint64_t lines,
                        const tamis_digest *digests, size_t n, tamis_i_line_keys *keys) {
    if (TAMIS_UNLIKELY(n != TAMIS_I_GROUP || lines >> 32 != 0)) {
        tamis_i_line_locate_all(line, table, lines, digests, n, keys);
        return;
    }
    const __m256i all_lines = _mm256_set1_epi64x((long long)lines),
                  all_homes = _mm256_set1_epi64x((long long)line->homes),
                  all_table = _mm256_set1_epi64x((long long)(uintptr_t)table);
    for (size_t i = 0; i < TAMIS_I_GROUP; i += 4) {
        const tamis_i_drawn d = tamis_i_draw_four(digests + i, all_lines, all_homes);
        tamis_i_put_four(keys->at + i, _mm256_add_epi64(_mm256_slli_epi64(d.first, 6), all_table));
        tamis_i_put_four(keys->home + i, d.second);
        tamis_i_put_four(keys->print + i, d.other);
    }
}

/* ---- the cases ---- */

#define OPERATIONS(name, homes, wide, set)                                                         \
    FAST static bool name##_has(const tamis_i_line *line, const uint64_t *words, unsigned home,    \
                                uint64_t print) {                                                  \
        return has_one(line, words, homes, wide, set, home, print);                                \
    }                                                                                              \
    FAST static void name##_find(const tamis_i_line *line, const tamis_i_line_keys *keys,          \
                                 size_t n, const tamis_i_line_keys *next, bool *found) {           \
        if (n == TAMIS_I_GROUP) {                                                                  \
            find_group(line, keys, homes, wide, set, next, found, name##_has);                     \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            TAMIS_PREFETCH(next->at[i]);                                                           \
            found[i] = find_one(line, keys->at[i], homes, wide, set, (unsigned)keys->home[i],      \
                                false, keys->print[i]);                                            \
        }                                                                                          \
    }                                                                                              \
    FAST static unsigned name##_add_one(const tamis_i_line *line, uint64_t *words, unsigned home,  \
                                        uint64_t print) {                                          \
        return add_one(line, words, homes, wide, set, home, print);                                \
    }                                                                                              \
    FAST static size_t name##_add(const tamis_i_line *line, const tamis_i_line_keys *keys,         \
                                  size_t from, size_t n, const tamis_i_line_keys *next,            \
                                  uint8_t *results) {                                              \
        if (!(wide) && n - from == TAMIS_I_GROUP && (homes) >= HOMES_LEAST)                        \
            return add_group(line, keys, homes, set, next, results, name##_add_one);               \
        for (size_t i = from; i < n; i++) {                                                        \
            TAMIS_PREFETCH_RW(next->at[i]);                                                        \
            results[i] = (uint8_t)name##_add_one(line, keys->at[i], (unsigned)keys->home[i],       \
                                                 keys->print[i]);                                  \
            if (TAMIS_UNLIKELY(tamis_i_line_refused(line, results[i])))                            \
                return i + 1;                                                                      \
        }                                                                                          \
        return n;                                                                                  \
    }
#define DROPS(name, homes, wide)                                                                   \
    FAST static bool name##_drop_one(const tamis_i_line *line, uint64_t *words, unsigned home,     \
                                     uint64_t print) {                                             \
        return drop_one(line, words, homes, wide, home, print);                                    \
    }                                                                                              \
    FAST static void name##_drop(const tamis_i_line *line, const tamis_i_line_keys *keys,          \
                                 size_t n, const tamis_i_line_keys *next, bool *dropped) {         \
        if (!(wide) && n == TAMIS_I_GROUP && (homes) >= HOMES_LEAST) {                             \
            drop_group(line, keys, homes, next, dropped, name##_drop_one);                         \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            TAMIS_PREFETCH_RW(next->at[i]);                                                        \
            dropped[i] =                                                                           \
                name##_drop_one(line, keys->at[i], (unsigned)keys->home[i], keys->print[i]);       \
        }                                                                                          \
    }

#define LOOKS(name, homes, wide)                                                                   \
    FAST static bool name##_full(const tamis_i_line *line, const uint64_t *words) {                \
        return is_full(line, words, homes);                                                        \
    }                                                                                              \
    FAST static void name##_look(const tamis_i_line *line, const tamis_i_line_keys *keys,          \
                                 size_t n, const tamis_i_line_keys *next, uint8_t *results) {      \
        bool found[TAMIS_I_GROUP];                                                                 \
        name##_find(line, keys, n, next, found);                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            results[i] = (uint8_t)answer_of(line, keys->at[i], homes, found[i]);                   \
    }

#define ANY ((unsigned)line->homes)

OPERATIONS(narrow, 64, false, false)
OPERATIONS(narrow_set, 64, false, true)
OPERATIONS(wide, 64, true, false)
OPERATIONS(wide_set, 64, true, true)
OPERATIONS(dense, 96, true, false)
OPERATIONS(dense_set, 96, true, true)
OPERATIONS(sparse, ANY, false, false)
OPERATIONS(sparse_set, ANY, false, true)
OPERATIONS(any, ANY, true, false)
OPERATIONS(any_set, ANY, true, true)
DROPS(narrow, 64, false)
DROPS(wide, 64, true)
DROPS(dense, 96, true)
DROPS(sparse, ANY, false)
DROPS(any, ANY, true)
LOOKS(narrow_set, 64, false)
LOOKS(wide_set, 64, true)
LOOKS(dense_set, 96, true)
LOOKS(sparse_set, ANY, false)
LOOKS(any_set, ANY, true)

/* Loads are spread around the mean like those of Poisson; up to this mean few have 63 keys. */
#define NARROW_LOAD 46u

const tamis_i_line_ops *tamis_i_line_x86(const tamis_i_line *line, unsigned features,
                                         uint64_t load) {
#define MULTISET(name)                                                                             \
    {                                                                                              \
        .has = name##_has, .add_one = name##_add_one, .drop_one = name##_drop_one,                 \
        .locate = locate, .find = name##_find, .drop = name##_drop, .add = name##_add              \
    }
#define SET(name)                                                                                  \
    {                                                                                              \
        .has = name##_has, .add_one = name##_add_one, .full = name##_full, .locate = locate,       \
        .find = name##_find, .look = name##_look, .add = name##_add                                \
    }
    static const tamis_i_line_ops all[5][2] = {{MULTISET(narrow), SET(narrow_set)},
                                               {MULTISET(wide), SET(wide_set)},
                                               {MULTISET(dense), SET(dense_set)},
                                               {MULTISET(sparse), SET(sparse_set)},
                                               {MULTISET(any), SET(any_set)}};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((features & needed) != needed)
        return NULL;
    const bool dense = load > NARROW_LOAD;
    const unsigned which = line->homes == 64 ? dense : line->homes == 96 && dense ? 2 : 3 + dense;
    return &all[which][tamis_i_line_is_set(line)];
}

#else

const tamis_i_line_ops *tamis_i_line_x86(const tamis_i_line *line, unsigned features,
                                         uint64_t load) {
    (void)line, (void)features, (void)load;
    return NULL;
}

#endif
