/* line_group.c - the work on the lines of sixteen keys, for x86-64 with POPCNT, LZCNT, BMI2 and AVX2
 *
 * The work on one key is a chain of some fifty cycles, in which each step waits for the last one, and a
 * processor looks ahead over two or three keys.  So the work is done in stages, each for all keys.
 * First the runs are found by counting, one key after the other.  The rest is arithmetic on small
 * numbers, eight keys in a vector, and comparisons, four keys.
 *
 * Lines that are too full and runs that are too long are handled by line.c.
 *
 * SPDX-License-Identifier: MIT
 */

#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/draw.h"
#include "bits/x86/line_view.h"

/* ---- where keys are ---- */

FAST void tamis_i_line_locate_x86(const tamis_i_line *line, uint64_t *table, uint64_t lines,
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
        tamis_i_put_four(keys->fingerprint + i, d.other);
    }
}

/* ---- looking ---- */

#define GROUP   TAMIS_I_GROUP
#define COMPARE 4u /* fingerprints of a run that are compared */

/* The counts.  'lengths' is B with the seven bits below it.  For a set it is the split, with the one
 * for one more entry from bit 16 on, and 'longs' has the long entries. */
typedef struct counts {
    uint32_t n[GROUP], start[GROUP];
    uint32_t last[GROUP]; /* 63 less the end */
    uint32_t hit[GROUP];  /* the lowest bit: is there a run? */
    uint32_t lengths[GROUP], longs[GROUP];
} counts;

/* Count; returns the first ends. */
FAST TAMIS_INLINE tamis_i_u128 line_count(const tamis_i_line *line, const uint64_t *words,
                                          unsigned homes, bool wide, bool set, unsigned home,
                                          counts *c, size_t i) {
    const outline o = line_outline_of(words, homes, wide, home);
    c->n[i] = o.n;
    c->start[i] = o.start;
    c->last[i] = 63 - o.end;
    c->hit[i] = (uint32_t)o.from_home;
    if (set) {
        const unsigned split = line_split_of(homes, o.n, line_cap_of(line));
        c->lengths[i] = split;
        c->longs[i] = line_longs_of(o.ends, split, wide);
    } else {
        uint16_t last;
        memcpy(&last, (const unsigned char *)words + TAMIS_LINE_BYTES - sizeof last, sizeof last);
        c->lengths[i] = last;
    }
    return o.ends;
}

/* Like sight, for eight keys.  'strange' and 'hit' are masks. */
typedef struct sights {
    __m256i n, start, in_run, hit, strange;
    __m256i r, longs, is_long, bits;
    __m256i length, end;
} sights;

FAST TAMIS_INLINE __m256i line_lanes_of(const uint32_t *member) {
    return _mm256_loadu_si256((const __m256i *)(const void *)member);
}

FAST TAMIS_INLINE __m256i line_all_lanes(unsigned value) {
    return _mm256_set1_epi32((int)value);
}

/* Products below 2^16, of numbers of 16 bits. */
FAST TAMIS_INLINE __m256i line_times(__m256i a, __m256i b) {
    return _mm256_mullo_epi16(a, b);
}

FAST TAMIS_INLINE sights line_see_eight(const counts *c, size_t at, bool wide, bool set,
                                        unsigned top) {
    sights s;
    s.n = line_lanes_of(c->n + at);
    s.start = line_lanes_of(c->start + at);
    s.hit = _mm256_srai_epi32(_mm256_slli_epi32(line_lanes_of(c->hit + at), 31), 31);
    const __m256i end = _mm256_sub_epi32(line_all_lanes(63), line_lanes_of(c->last + at));
    s.in_run = _mm256_and_si256(_mm256_sub_epi32(end, s.start), s.hit);
    /* n - 1, unsigned, is at least 62: like line_is_strange(), and also for lines without entries. */
    const __m256i less = _mm256_sub_epi32(s.n, line_all_lanes(1));
    s.strange = _mm256_cmpeq_epi32(_mm256_max_epu32(less, line_all_lanes(wide ? 126 : 62)), less);
    if (set) {
        s.r = _mm256_srli_epi32(_mm256_slli_epi32(line_lanes_of(c->lengths + at), 16), 24);
        s.longs = line_lanes_of(c->longs + at);
        s.bits = _mm256_add_epi32(line_times(s.r, s.n), s.longs);
    } else {
        s.bits = _mm256_srli_epi32(line_lanes_of(c->lengths + at), 16 - TAMIS_I_LINE_B);
        /* Exact: a quotient of such small numbers is either whole or far from the next whole one. */
        s.r =
            _mm256_cvttps_epi32(_mm256_div_ps(_mm256_cvtepi32_ps(s.bits), _mm256_cvtepi32_ps(s.n)));
        s.longs = _mm256_sub_epi32(s.bits, line_times(s.r, s.n));
    }
    s.is_long = _mm256_cmpgt_epi32(s.longs, s.start);
    s.length = _mm256_sub_epi32(s.r, s.is_long);
    s.end = _mm256_sub_epi32(_mm256_sub_epi32(line_all_lanes(top), line_times(s.start, s.length)),
                             _mm256_andnot_si256(s.is_long, s.longs));
    return s;
}

FAST TAMIS_INLINE unsigned line_bits_of(__m256i mask) {
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

/* Repeat the lowest field of each lane: COMPARE times, or as often as it fits. */
FAST TAMIS_INLINE __m256i line_repeat_field(__m256i field, __m256i one, __m256i two) {
    field = _mm256_or_si256(field, _mm256_sllv_epi64(field, one));
    return _mm256_or_si256(field, _mm256_sllv_epi64(field, two));
}

/* line_matches() for four keys; the windows lie before 'bytes' of their lines. */
FAST TAMIS_INLINE __m256i line_match_four(const tamis_i_line_keys *keys, size_t at,
                                          const uint32_t *bytes, __m256i shift, __m256i length,
                                          __m256i bits) {
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i two = _mm256_add_epi64(length, length);
    long long windows[4];
    for (unsigned i = 0; i < 4; i++)
        memcpy(&windows[i], (const unsigned char *)keys->at[at + i] + bytes[i] - 8, 8);
    const __m256i window =
        _mm256_srlv_epi64(_mm256_set_epi64x(windows[3], windows[2], windows[1], windows[0]), shift);
    const __m256i fingerprint = _mm256_srlv_epi64(
        _mm256_loadu_si256((const __m256i *)(const void *)(keys->fingerprint + at)),
        _mm256_sub_epi64(_mm256_set1_epi64x(64), length));
    const __m256i ones = line_repeat_field(one, length, two);
    const __m256i x = _mm256_xor_si256(window, line_repeat_field(fingerprint, length, two));
    const __m256i high = _mm256_sllv_epi64(ones, _mm256_sub_epi64(length, one));
    const __m256i mask = _mm256_sub_epi64(_mm256_sllv_epi64(one, bits), one);
    return _mm256_and_si256(_mm256_andnot_si256(x, _mm256_sub_epi64(x, ones)),
                            _mm256_and_si256(high, mask));
}

FAST TAMIS_INLINE __m256i line_low_lanes(__m256i v) {
    return _mm256_cvtepu32_epi64(_mm256_castsi256_si128(v));
}

FAST TAMIS_INLINE __m256i line_high_lanes(__m256i v) {
    return _mm256_cvtepu32_epi64(_mm256_extracti128_si256(v, 1));
}

/* The matches of eight keys, and the bit of the line where each lane begins.  The result has a bit for
 * each key that must be handled alone. */
FAST TAMIS_INLINE unsigned line_match_eight(const tamis_i_line_keys *keys, size_t i,
                                            const sights *s, __m256i matches[2], __m256i *at) {
    const __m256i bits = line_times(s->in_run, s->length);
    const __m256i byte = _mm256_srli_epi32(_mm256_add_epi32(s->end, line_all_lanes(7)), 3);
    *at = _mm256_sub_epi32(s->end, bits);
    const __m256i shift =
        _mm256_and_si256(_mm256_sub_epi32(*at, _mm256_slli_epi32(byte, 3)), line_all_lanes(63));
    const __m256i much = _mm256_or_si256(_mm256_cmpgt_epi32(bits, line_all_lanes(WINDOW)),
                                         _mm256_cmpgt_epi32(s->in_run, line_all_lanes(COMPARE)));
    uint32_t bytes[8];
    _mm256_storeu_si256((__m256i *)(void *)bytes,
                        _mm256_blendv_epi8(byte, line_all_lanes(8), s->strange));
    matches[0] = line_match_four(keys, i, bytes, line_low_lanes(shift), line_low_lanes(s->length),
                                 line_low_lanes(bits));
    matches[1] = line_match_four(keys, i + 4, bytes + 4, line_high_lanes(shift),
                                 line_high_lanes(s->length), line_high_lanes(bits));
    return line_bits_of(_mm256_or_si256(much, _mm256_and_si256(s->strange, s->hit)));
}

/* Which of eight lanes are not 0, as bits. */
FAST TAMIS_INLINE unsigned line_which(const __m256i v[2]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_cmpeq_epi64(v[0], zero), high = _mm256_cmpeq_epi64(v[1], zero);
    return (unsigned)(_mm256_movemask_pd(_mm256_castsi256_pd(low)) |
                      _mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4) ^
           255;
}

typedef bool find_function(const tamis_i_line *line, const uint64_t *words, unsigned home,
                           uint64_t fingerprint);

FAST TAMIS_INLINE void line_find_group(const tamis_i_line *line, const tamis_i_line_keys *keys,
                                       unsigned homes, bool wide, bool set,
                                       const tamis_i_line_keys *next, bool *found,
                                       find_function *alone) {
    counts c;
#pragma GCC unroll 2
    for (size_t i = 0; i < GROUP; i++) {
        TAMIS_PREFETCH(next->at[i]);
        (void)line_count(line, keys->at[i], homes, wide, set, (unsigned)keys->home[i], &c, i);
    }
    for (size_t i = 0; i < GROUP; i += 8) {
        const sights s = line_see_eight(&c, i, wide, set, line_top_of(set));
        __m256i matches[2], at;
        unsigned others = line_match_eight(keys, i, &s, matches, &at);
        const uint64_t answers = _pdep_u64(line_which(matches), 0x0101010101010101u);
        memcpy(found + i, &answers, sizeof answers);
        for (; TAMIS_UNLIKELY(others != 0); others &= others - 1) {
            const size_t k = i + line_place_of(others);
            found[k] = alone(line, keys->at[k], (unsigned)keys->home[k], keys->fingerprint[k]);
        }
    }
}

FAST TAMIS_INLINE unsigned line_answer_of(const tamis_i_line *line, const uint64_t *words,
                                          unsigned homes, unsigned found) {
    const unsigned full = line_is_full(line, words, homes) & (found ^ 1);
    return found * TAMIS_I_LINE_FOUND + full * TAMIS_I_LINE_FULL;
}

/* ---- changing ---- */

/* Numbers of four lines, truncated to 32 bits. */
FAST TAMIS_INLINE __m256i line_numbers_of(uint64_t *const *at) {
    return _mm256_srli_epi64(_mm256_loadu_si256((const __m256i *)(const void *)at), 6);
}

FAST TAMIS_INLINE __m256i line_eight_numbers(uint64_t *const *at) {
    const __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(line_numbers_of(at)),
                                          _mm256_castsi256_ps(line_numbers_of(at + 4)), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8);
}

/* Keys whose line is also that of an earlier key, which may change it: a bit for each.  First all pairs
 * are compared, and mostly none is equal: number i with i + 1 to i + 8, wrapping around the group. */
FAST TAMIS_INLINE unsigned line_seconds_of(const tamis_i_line_keys *keys) {
    uint32_t numbers[GROUP + 8];
    const __m256i low = line_eight_numbers(keys->at), high = line_eight_numbers(keys->at + 8);
    __m256i *const v = (__m256i *)(void *)numbers;
    _mm256_storeu_si256(v, low);
    _mm256_storeu_si256(v + 1, high);
    _mm256_storeu_si256(v + 2, low);
    __m256i equal = _mm256_cmpeq_epi32(low, high);
    for (unsigned k = 1; k < 8; k++) {
        const __m256i to_low = _mm256_cmpeq_epi32(low, line_lanes_of(numbers + k)),
                      to_high = _mm256_cmpeq_epi32(high, line_lanes_of(numbers + 8 + k));
        equal = line_or3(equal, to_low, to_high);
    }
    unsigned seconds = 0;
    if (TAMIS_UNLIKELY(line_bits_of(equal) != 0))
        for (unsigned i = 1; i < GROUP; i++)
            for (unsigned k = 0; k < i; k++)
                seconds |= (unsigned)(numbers[i] == numbers[k]) << i;
    return seconds;
}

/* ---- adding ---- */

/* What an addition does to the line of each key, if no fingerprint becomes shorter: masks as offsets in
 * 'below', the length of the new one and 64 minus it, and where it goes. */
typedef struct additions {
    uint64_t new_ends[GROUP]; /* after the addition */
    uint32_t stay[GROUP], gap[GROUP], over[GROUP];
    uint32_t length[GROUP], rest[GROUP];
    uint32_t byte[GROUP], shift[GROUP];
    uint32_t r[GROUP], longs[GROUP], bits[GROUP]; /* of the present entries */
    unsigned cuts;                                /* a bit for each key whose line has no room */
    unsigned alone;                               /* and for each left to line_add_one() */
} additions;

/* Where line_mask_below(m) lies. */
FAST TAMIS_INLINE __m256i line_offsets_of(__m256i m) {
    const __m256i row = _mm256_slli_epi32(_mm256_and_si256(m, line_all_lanes(7)), 7);
    return _mm256_sub_epi32(_mm256_add_epi32(row, line_all_lanes(64)), _mm256_srli_epi32(m, 3));
}

FAST TAMIS_INLINE void line_put_lanes(uint32_t *member, __m256i v) {
    _mm256_storeu_si256((__m256i *)(void *)member, v);
}

FAST TAMIS_INLINE void line_count_to_add(const tamis_i_line *line, const tamis_i_line_keys *keys,
                                         unsigned homes, bool set, counts *c,
                                         uint32_t new_longs[GROUP], additions *a, size_t i) {
    const uint64_t *const words = keys->at[i];
    const outline o = line_outline_of(words, homes, false, (unsigned)keys->home[i]);
    const uint64_t old = (uint64_t)o.ends;
    const uint64_t ends = 2 * old - _bzhi_u64(old, o.start) + ((o.hit ^ 1) << o.start % 64);
    c->n[i] = o.n;
    c->start[i] = o.start;
    c->last[i] = 63 - o.end;
    c->hit[i] = (uint32_t)o.from_home;
    a->new_ends[i] = _bzhi_u64(ends, o.n + 1);
    if (set) {
        const unsigned cap = line_cap_of(line), split = line_split_of(homes, o.n, cap),
                       next = line_split_of(homes, o.n + 1, cap);
        c->lengths[i] = next << 16 | split;
        c->longs[i] = line_longs_of(old, split, false);
        new_longs[i] = line_longs_of(ends, next, false);
    } else {
        uint16_t last;
        memcpy(&last, (const unsigned char *)words + TAMIS_LINE_BYTES - sizeof last, sizeof last);
        c->lengths[i] = last;
    }
}

/* Like line_add_one(), from the arithmetic on. */
FAST TAMIS_INLINE void line_plan_eight(const tamis_i_line *line, const tamis_i_line_keys *keys,
                                       unsigned homes, bool set, const counts *c,
                                       const uint32_t *new_longs, additions *a, size_t i) {
    const unsigned top = line_top_of(set);
    const sights s = line_see_eight(c, i, false, set, top);
    __m256i matches[2], at, length, end, cut;
    const unsigned alone = line_match_eight(keys, i, &s, matches, &at);
    const __m256i empty = _mm256_cmpeq_epi32(s.n, _mm256_setzero_si256());
    if (set) {
        const __m256i r = _mm256_srli_epi32(line_lanes_of(c->lengths + i), 24),
                      longs = line_lanes_of(new_longs + i);
        const __m256i is_long = _mm256_cmpgt_epi32(longs, s.start);
        const __m256i same =
            _mm256_and_si256(_mm256_cmpeq_epi32(r, s.r),
                             _mm256_cmpeq_epi32(_mm256_add_epi32(longs, is_long), s.longs));
        length = _mm256_sub_epi32(r, is_long);
        end = _mm256_sub_epi32(_mm256_sub_epi32(line_all_lanes(top), line_times(s.start, length)),
                               _mm256_andnot_si256(is_long, longs));
        cut = _mm256_andnot_si256(_mm256_or_si256(same, empty), line_all_lanes(UINT32_MAX));
    } else {
        const __m256i bits_max = line_all_lanes((unsigned)line->bits_max);
        const __m256i r = _mm256_blendv_epi8(s.r, bits_max, empty);
        const __m256i room = _mm256_sub_epi32(line_all_lanes(top - homes - 1), s.n);
        const __m256i may_be_long = _mm256_and_si256(
            _mm256_andnot_si256(s.hit, _mm256_cmpeq_epi32(s.start, s.longs)),
            _mm256_and_si256(_mm256_cmpgt_epi32(bits_max, r),
                             _mm256_cmpgt_epi32(room, _mm256_add_epi32(s.bits, r))));
        const __m256i is_long = _mm256_or_si256(s.is_long, may_be_long);
        length = _mm256_sub_epi32(r, is_long);
        end = _mm256_sub_epi32(_mm256_sub_epi32(line_all_lanes(top), line_times(s.start, length)),
                               _mm256_andnot_si256(is_long, s.longs));
        cut = _mm256_cmpgt_epi32(_mm256_add_epi32(s.bits, length), room);
    }
    const unsigned most = line->most < 63 ? (unsigned)line->most : 63;
    const __m256i full = _mm256_cmpgt_epi32(s.n, line_all_lanes(most - 1));
    a->alone |= (alone | line_which(matches) | line_bits_of(full)) << i;
    a->cuts |= line_bits_of(cut) << i;
    line_put_lanes(a->r + i, s.r);
    line_put_lanes(a->longs + i, s.longs);
    line_put_lanes(a->bits + i, s.bits);
    const __m256i gap = _mm256_sub_epi32(end, length),
                  rest = _mm256_sub_epi32(line_all_lanes(64), length),
                  byte = _mm256_srli_epi32(_mm256_add_epi32(end, line_all_lanes(7)), 3);
    line_put_lanes(a->stay + i, line_offsets_of(_mm256_sub_epi32(
                                    _mm256_sub_epi32(line_all_lanes(top), s.bits), length)));
    line_put_lanes(a->gap + i, line_offsets_of(gap));
    line_put_lanes(a->over + i, line_offsets_of(end));
    line_put_lanes(a->length + i, length);
    line_put_lanes(a->rest + i, rest);
    line_put_lanes(a->byte + i, byte);
    line_put_lanes(a->shift + i, _mm256_add_epi32(_mm256_sub_epi32(gap, _mm256_slli_epi32(byte, 3)),
                                                  line_all_lanes(64)));
}

/* Put the entry in: line_move_down(), with the new words of homes and ends. */
FAST TAMIS_INLINE void line_add_as_planned(uint64_t *words, const tamis_i_line_keys *keys,
                                           unsigned homes, bool set, additions *a, size_t i) {
    const unsigned char *const masks = (const unsigned char *)tamis_i_line_below;
    const wide_line from = line_load_wide(words), stay = line_load_wide(masks + a->stay[i]),
                    gap = line_load_wide(masks + a->gap[i]),
                    over = line_load_wide(masks + a->over[i]);
    const wide_line moved =
        line_shift_down(from, line_shift_by(a->length[i]), line_shift_by(a->rest[i]), false);
    line_put_added(
        words,
        (wide_line){
            _mm256_or_si256(_mm256_andnot_si256(over.low, from.low),
                            _mm256_and_si256(moved.low, _mm256_xor_si256(gap.low, stay.low))),
            _mm256_or_si256(_mm256_andnot_si256(over.high, from.high),
                            _mm256_and_si256(moved.high, _mm256_xor_si256(gap.high, stay.high)))},
        homes, set, (unsigned)keys->home[i], a->new_ends[i], a->byte[i],
        keys->fingerprint[i] >> a->rest[i] << a->shift[i], a->length[i]);
}

/* Bits that fit in a window, in whole fields. */
#define WHOLE(n) (WINDOW - WINDOW % (n))
static const uint8_t whole[WINDOW + 1] = {
    0,         WHOLE(1),  WHOLE(2),  WHOLE(3),  WHOLE(4),  WHOLE(5),  WHOLE(6),  WHOLE(7),
    WHOLE(8),  WHOLE(9),  WHOLE(10), WHOLE(11), WHOLE(12), WHOLE(13), WHOLE(14), WHOLE(15),
    WHOLE(16), WHOLE(17), WHOLE(18), WHOLE(19), WHOLE(20), WHOLE(21), WHOLE(22), WHOLE(23),
    WHOLE(24), WHOLE(25), WHOLE(26), WHOLE(27), WHOLE(28), 29,        30,        31,
    32,        33,        34,        35,        36,        37,        38,        39,
    40,        41,        42,        43,        44,        45,        46,        47,
    48,        49,        50,        51,        52,        53,        54,        55,
    56,        57};

/* What to read and write of entries that lose a bit, from the first on. */
typedef struct cutting {
    uint64_t ones;        /* of their length */
    unsigned step;        /* bits of a window */
    unsigned left;        /* bits of them */
    unsigned read, write; /* they are read and written before these bits */
} cutting;

FAST TAMIS_INLINE cutting line_cutting_of(unsigned entries, unsigned length, unsigned read,
                                          unsigned write) {
    return (cutting){.ones = tamis_i_repeat[length],
                     .step = whole[length],
                     .left = entries * length,
                     .read = read,
                     .write = write};
}

/* Cut one window of them, which may be empty. */
FAST TAMIS_INLINE wide_line line_cut_window(wide_line v, const uint64_t *words, cutting *c) {
    const unsigned now = c->left < c->step ? c->left : c->step;
    const uint64_t dropped = _bzhi_u64(c->ones, now);
    const uint64_t window = line_window_before(words, c->read, c->read - now);
    c->left -= now;
    c->read -= now;
    c->write -= now - line_ones_of(dropped);
    const wide_line put = line_place(_pext_u64(window, _bzhi_u64(~dropped, now)), c->write);
    return (wide_line){_mm256_or_si256(v.low, put.low), _mm256_or_si256(v.high, put.high)};
}

/* Add an entry to a line in which others have to lose a bit first.  Returns false and does nothing if
 * some lose more than one.  Entries
 *
 *      0 .. keep .. longs .. n         of r + 1 bits to 'longs', then to 'keep'
 *      0 .. longs .. keep .. n         of r, with r + 1 to 'longs', then of r to 'keep', and r - 1
 *
 * Entries that lose bits are written in pieces.  Of the others, the part before them stays where it is,
 * and the part after them moves up as a whole.  Everything from the new entry on moves down. */
FAST TAMIS_INLINE bool line_add_with_cut(uint64_t *words, const tamis_i_line_keys *keys,
                                         unsigned homes, bool set, const counts *c,
                                         const uint32_t *new_longs, additions *a, size_t i) {
    const unsigned top = line_top_of(set), n = c->n[i], start = c->start[i];
    const unsigned old_r = a->r[i], old_longs = a->longs[i];
    unsigned r, longs;
    if (set) {
        r = c->lengths[i] >> 24;
        longs = new_longs[i];
    } else {
        const unsigned room = top - homes - 1 - n, all = a->bits[i] + a->length[i];
        tamis_i_line_lengths now = {
            .r = old_r, .longs = old_longs + (a->length[i] - old_r), .over = all - room};
        while (now.over != 0)
            tamis_i_line_cut_to(
                &now, line_start_before(a->new_ends[i], tamis_i_line_cut_from(&now, n + 1), false));
        r = now.r, longs = now.longs;
    }
    const unsigned is_long = start < longs, keep = longs - is_long, length = r + is_long;
    const bool all_cut = r != old_r;
    if (TAMIS_UNLIKELY(all_cut ? r + 1 != old_r || keep < old_longs : keep > old_longs))
        return false;
    const unsigned to = all_cut ? n : old_longs, from_length = old_r + !all_cut;
    const unsigned long_end = top - old_longs * (old_r + 1), bottom = top - a->bits[i];
    const unsigned keep_end = top - keep * old_r - (all_cut ? old_longs : keep);
    const wide_line from = line_load_wide(words);
    wide_line v =
        line_between(from, line_mask_below(long_end), line_mask_below(all_cut ? keep_end : bottom));
    const unsigned up = all_cut ? old_longs : old_longs - keep;
    v = line_join(from, line_mask_below(all_cut ? top : keep_end),
                  line_shift_up(v, line_shift_by(up), line_shift_by(64 - up), true));
    cutting c1 = line_cutting_of(to - keep, from_length, keep_end, top - keep * (r + 1));
    v = line_cut_window(v, words, &c1);
    v = line_cut_window(v, words, &c1);
    v = line_cut_window(v, words, &c1);
    while (TAMIS_UNLIKELY(c1.left != 0))
        v = line_cut_window(v, words, &c1);
    if (all_cut && old_longs != 0) {
        cutting c2 = line_cutting_of(old_longs, old_r + 1, top, top);
        do
            v = line_cut_window(v, words, &c2);
        while (c2.left != 0);
    }
    /* The new one, as in line_add_as_planned(). */
    const unsigned end = top - start * r - (start < keep ? start : keep);
    const wide_line after = line_mask_below(end),
                    none = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    v = line_join(v, after,
                  line_shift_down(line_between(v, after, none), line_shift_by(length),
                                  line_shift_by(64 - length), true));
    const unsigned byte = (end + 7) / 8;
    line_put_added(words, v, homes, set, (unsigned)keys->home[i], a->new_ends[i], byte,
                   keys->fingerprint[i] >> (64 - length) << (end - length + 64 - 8 * byte),
                   r * n + keep + length - a->bits[i]);
    return true;
}

typedef unsigned add_function(const tamis_i_line *line, uint64_t *words, unsigned home,
                              uint64_t fingerprint);

FAST TAMIS_INLINE size_t line_add_group(const tamis_i_line *line, const tamis_i_line_keys *keys,
                                        unsigned homes, bool set, const tamis_i_line_keys *next,
                                        uint8_t *results, add_function *alone) {
    counts c;
    additions a;
    uint32_t new_longs[GROUP];
    for (size_t i = 0; i < GROUP; i++) {
        TAMIS_PREFETCH_RW(next->at[i]);
        line_count_to_add(line, keys, homes, set, &c, new_longs, &a, i);
    }
    a.cuts = 0;
    a.alone = line_seconds_of(keys);
    for (size_t i = 0; i < GROUP; i += 8)
        line_plan_eight(line, keys, homes, set, &c, new_longs, &a, i);
    const unsigned not_alone = ~a.alone, plain = not_alone & ~a.cuts;
    memset(results, TAMIS_I_LINE_STORED, GROUP);
    for (size_t i = 0; i < GROUP; i++) {
        uint64_t *const words = keys->at[i];
        if (TAMIS_LIKELY((plain >> i & 1) != 0)) {
            line_add_as_planned(words, keys, homes, set, &a, i);
            continue;
        }
        if (TAMIS_LIKELY((not_alone >> i & 1) != 0) &&
            line_add_with_cut(words, keys, homes, set, &c, new_longs, &a, i))
            continue;
        results[i] = (uint8_t)alone(line, words, (unsigned)keys->home[i], keys->fingerprint[i]);
        if (TAMIS_UNLIKELY(tamis_i_line_refused(line, results[i])))
            return i + 1;
    }
    return GROUP;
}

/* ---- dropping ---- */

typedef struct drops {
    uint64_t ends[GROUP];
    uint64_t matches[GROUP];
    uint32_t at[GROUP], length[GROUP], rest[GROUP];
    uint32_t stay[GROUP]; /* a mask, as an offset in 'below' */
    unsigned alone;       /* a bit for each key left to line_drop_one() */
} drops;

FAST TAMIS_INLINE void line_match_eight_to_drop(const tamis_i_line_keys *keys, const counts *c,
                                                drops *d, size_t i) {
    const sights s = line_see_eight(c, i, false, false, line_top_of(false));
    __m256i matches[2], at;
    d->alone |= line_match_eight(keys, i, &s, matches, &at) << i;
    _mm256_storeu_si256((__m256i *)(void *)(d->matches + i), matches[0]);
    _mm256_storeu_si256((__m256i *)(void *)(d->matches + i + 4), matches[1]);
    line_put_lanes(d->at + i, at);
    line_put_lanes(d->length + i, s.length);
    line_put_lanes(d->rest + i, _mm256_sub_epi32(line_all_lanes(64), s.length));
    const __m256i bottom = _mm256_sub_epi32(line_all_lanes(line_top_of(false)), s.bits);
    line_put_lanes(d->stay + i, line_offsets_of(_mm256_add_epi32(bottom, s.length)));
}

/* Remove the matching entry, like line_drop_one(): what lies below it moves up. */
FAST TAMIS_INLINE void line_drop_match(uint64_t *words, unsigned homes, unsigned home,
                                       const counts *c, drops *d, size_t i) {
    const wide_line from = line_load_wide(words),
                    stay = line_load_wide((const unsigned char *)tamis_i_line_below + d->stay[i]),
                    over = line_mask_below(d->at[i] + line_place_of(d->matches[i]) + 1);
    const wide_line moved =
        line_shift_up(from, line_shift_by(d->length[i]), line_shift_by(d->rest[i]), false);
    line_put_line(words, line_join(from, over, line_between(moved, over, stay)), homes, home,
                  63 - c->last[i] - c->start[i] > 1,
                  _pext_u64(d->ends[i],
                            _bzhi_u64(~(uint64_t)0, c->n[i]) & ~((uint64_t)1 << c->start[i] % 64)));
    line_put_bits(words, 0 - d->length[i]);
}

typedef bool drop_function(const tamis_i_line *line, uint64_t *words, unsigned home,
                           uint64_t fingerprint);

FAST TAMIS_INLINE void line_drop_group(const tamis_i_line *line, const tamis_i_line_keys *keys,
                                       unsigned homes, const tamis_i_line_keys *next, bool *dropped,
                                       drop_function *alone) {
    counts c;
    drops d;
    for (size_t i = 0; i < GROUP; i++) {
        const uint64_t *const words = keys->at[i];
        TAMIS_PREFETCH_RW(next->at[i]);
        d.ends[i] =
            (uint64_t)line_count(line, words, homes, false, false, (unsigned)keys->home[i], &c, i);
    }
    d.alone = line_seconds_of(keys);
    for (size_t i = 0; i < GROUP; i += 8)
        line_match_eight_to_drop(keys, &c, &d, i);
    for (size_t i = 0; i < GROUP; i++) {
        uint64_t *const words = keys->at[i];
        const unsigned home = (unsigned)keys->home[i];
        if (TAMIS_UNLIKELY((d.alone >> i & 1) != 0)) {
            dropped[i] = alone(line, words, home, keys->fingerprint[i]);
            continue;
        }
        dropped[i] = d.matches[i] != 0;
        if (TAMIS_LIKELY(dropped[i]))
            line_drop_match(words, homes, home, &c, &d, i);
    }
}

/* ---- the cases ---- */

#define FIND(name, homes, wide, set)                                                               \
    FAST void tamis_i_line_##name##_find(const tamis_i_line *line, const tamis_i_line_keys *keys,  \
                                         size_t n, const tamis_i_line_keys *next, bool *found) {   \
        if (n == GROUP) {                                                                          \
            line_find_group(line, keys, homes, wide, set, next, found, tamis_i_line_##name##_has); \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            TAMIS_PREFETCH(next->at[i]);                                                           \
            found[i] = line_find_one(line, keys->at[i], homes, wide, set, (unsigned)keys->home[i], \
                                     false, keys->fingerprint[i]);                                 \
        }                                                                                          \
    }
#define ADD(name, homes, wide, set)                                                                \
    FAST size_t tamis_i_line_##name##_add(const tamis_i_line *line, const tamis_i_line_keys *keys, \
                                          size_t from, size_t n, const tamis_i_line_keys *next,    \
                                          uint8_t *results) {                                      \
        if (!(wide) && n - from == GROUP && (homes) >= HOMES_LEAST)                                \
            return line_add_group(line, keys, homes, set, next, results,                           \
                                  tamis_i_line_##name##_add_one);                                  \
        for (size_t i = from; i < n; i++) {                                                        \
            TAMIS_PREFETCH_RW(next->at[i]);                                                        \
            results[i] = (uint8_t)tamis_i_line_##name##_add_one(                                   \
                line, keys->at[i], (unsigned)keys->home[i], keys->fingerprint[i]);                 \
            if (TAMIS_UNLIKELY(tamis_i_line_refused(line, results[i])))                            \
                return i + 1;                                                                      \
        }                                                                                          \
        return n;                                                                                  \
    }
#define DROP(name, homes, wide, set)                                                               \
    FAST void tamis_i_line_##name##_drop(const tamis_i_line *line, const tamis_i_line_keys *keys,  \
                                         size_t n, const tamis_i_line_keys *next, bool *dropped) { \
        if (!(wide) && n == GROUP && (homes) >= HOMES_LEAST) {                                     \
            line_drop_group(line, keys, homes, next, dropped, tamis_i_line_##name##_drop_one);     \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            TAMIS_PREFETCH_RW(next->at[i]);                                                        \
            dropped[i] = tamis_i_line_##name##_drop_one(                                           \
                line, keys->at[i], (unsigned)keys->home[i], keys->fingerprint[i]);                 \
        }                                                                                          \
    }
#define LOOK(name, homes, wide, set)                                                               \
    FAST void tamis_i_line_##name##_look(const tamis_i_line *line, const tamis_i_line_keys *keys,  \
                                         size_t n, const tamis_i_line_keys *next,                  \
                                         uint8_t *results) {                                       \
        bool found[GROUP];                                                                         \
        tamis_i_line_##name##_find(line, keys, n, next, found);                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            results[i] = (uint8_t)line_answer_of(line, keys->at[i], homes, found[i]);              \
    }
TAMIS_I_LINE_MULTISETS(FIND)
TAMIS_I_LINE_MULTISETS(ADD)
TAMIS_I_LINE_MULTISETS(DROP)
TAMIS_I_LINE_SETS(FIND)
TAMIS_I_LINE_SETS(ADD)
TAMIS_I_LINE_SETS(LOOK)

#endif
