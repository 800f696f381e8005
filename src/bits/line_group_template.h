/* line_group_template.h - the work on the lines of sixteen keys at once; a part of line_x86.c
 *
 * What one key has to do is a chain of some fifty cycles, in which each step waits for the last one, and a
 * processor looks ahead over two keys or three.  So the work is done in stages, each for all keys.  First
 * the runs are found by counting, one key after the other; what follows from them is arithmetic of small
 * numbers, eight keys in a vector, and comparisons, four.
 *
 * Lines that are too full and runs that are too long get an answer in the way of line.c.
 *
 * SPDX-License-Identifier: MIT
 */

#define GROUP   TAMIS_I_GROUP
#define COMPARE 8u /* fingerprints of a run that are compared */

/* What is counted.  'lengths' is B with the seven bits below it, or the split of a set, whose long
 * entries are in 'longs'. */
typedef struct counts {
    uint32_t n[GROUP], start[GROUP], end[GROUP], hit[GROUP];
    uint32_t lengths[GROUP], longs[GROUP];
} counts;

FAST TAMIS_INLINE void count(const tamis_i_line *line, const uint64_t *words, unsigned homes,
                             bool wide, bool set, unsigned home, counts *c, size_t i) {
    const outline o = outline_of(words, homes, wide, home);
    c->n[i] = o.n;
    c->start[i] = o.start;
    c->end[i] = o.end;
    c->hit[i] = (uint32_t)o.hit;
    if (set) {
        const unsigned split = split_of(homes, o.n, cap_of(line));
        c->lengths[i] = split;
        c->longs[i] = longs_of(o.ends, split, wide);
    } else {
        uint16_t last;
        memcpy(&last, (const unsigned char *)words + TAMIS_LINE_BYTES - sizeof last, sizeof last);
        c->lengths[i] = last;
    }
}

/* Like sight, of eight keys.  'strange' and 'hit' are masks. */
typedef struct sights {
    __m256i n, start, in_run, hit, strange;
    __m256i r, longs, is_long, bits;
    __m256i length, end;
} sights;

FAST TAMIS_INLINE __m256i lanes_of(const uint32_t *member) {
    return _mm256_loadu_si256((const __m256i *)(const void *)member);
}

FAST TAMIS_INLINE __m256i all_lanes(unsigned value) {
    return _mm256_set1_epi32((int)value);
}

/* Products below 2^16, of numbers of 16 bits. */
FAST TAMIS_INLINE __m256i times(__m256i a, __m256i b) {
    return _mm256_mullo_epi16(a, b);
}

FAST TAMIS_INLINE sights see_eight(const counts *c, size_t at, bool wide, bool set, unsigned top) {
    sights s;
    s.n = lanes_of(c->n + at);
    s.start = lanes_of(c->start + at);
    s.hit = _mm256_sub_epi32(_mm256_setzero_si256(), lanes_of(c->hit + at));
    s.in_run = _mm256_and_si256(_mm256_sub_epi32(lanes_of(c->end + at), s.start), s.hit);
    /* n - 1, without a sign, is at least 62: as is_strange(), and lines without entries. */
    const __m256i less = _mm256_sub_epi32(s.n, all_lanes(1));
    s.strange = _mm256_cmpeq_epi32(_mm256_max_epu32(less, all_lanes(wide ? 126 : 62)), less);
    if (set) {
        s.r = _mm256_srli_epi32(lanes_of(c->lengths + at), 8);
        s.longs = lanes_of(c->longs + at);
        s.bits = _mm256_add_epi32(times(s.r, s.n), s.longs);
    } else {
        s.bits = _mm256_srli_epi32(lanes_of(c->lengths + at), 16 - TAMIS_I_LINE_B);
        /* Exact: a quotient of so small numbers is either whole or far from the next whole one. */
        s.r =
            _mm256_cvttps_epi32(_mm256_div_ps(_mm256_cvtepi32_ps(s.bits), _mm256_cvtepi32_ps(s.n)));
        s.longs = _mm256_sub_epi32(s.bits, times(s.r, s.n));
    }
    s.is_long = _mm256_cmpgt_epi32(s.longs, s.start);
    s.length = _mm256_sub_epi32(s.r, s.is_long);
    s.end = _mm256_sub_epi32(_mm256_sub_epi32(all_lanes(top), times(s.start, s.length)),
                             _mm256_andnot_si256(s.is_long, s.longs));
    return s;
}

FAST TAMIS_INLINE unsigned bits_of(__m256i mask) {
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

/* Repeat the lowest field of each lane: COMPARE times, or as often as it fits. */
FAST TAMIS_INLINE __m256i repeat_field(__m256i field, __m256i one, __m256i two, __m256i four) {
    field = _mm256_or_si256(field, _mm256_sllv_epi64(field, one));
    field = _mm256_or_si256(field, _mm256_sllv_epi64(field, two));
    return _mm256_or_si256(field, _mm256_sllv_epi64(field, four));
}

/* matches() of four keys; the windows lie before 'bytes' of their lines. */
FAST TAMIS_INLINE __m256i match_four(const tamis_i_probe *probes, const uint32_t *bytes,
                                     __m256i shift, __m256i length, __m256i bits) {
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i two = _mm256_add_epi64(length, length), four = _mm256_add_epi64(two, two);
    long long windows[4], prints[4];
    for (unsigned i = 0; i < 4; i++) {
        memcpy(&windows[i], (const unsigned char *)probes[i].at[0] + bytes[i] - 8, 8);
        prints[i] = (long long)probes[i].word[0];
    }
    const __m256i window =
        _mm256_srlv_epi64(_mm256_set_epi64x(windows[3], windows[2], windows[1], windows[0]), shift);
    const __m256i print =
        _mm256_srlv_epi64(_mm256_set_epi64x(prints[3], prints[2], prints[1], prints[0]),
                          _mm256_sub_epi64(_mm256_set1_epi64x(64), length));
    const __m256i ones = repeat_field(one, length, two, four);
    const __m256i x = _mm256_xor_si256(window, repeat_field(print, length, two, four));
    const __m256i high = _mm256_sllv_epi64(ones, _mm256_sub_epi64(length, one));
    const __m256i mask = _mm256_sub_epi64(_mm256_sllv_epi64(one, bits), one);
    return _mm256_and_si256(_mm256_andnot_si256(x, _mm256_sub_epi64(x, ones)),
                            _mm256_and_si256(high, mask));
}

FAST TAMIS_INLINE __m256i low_lanes(__m256i v) {
    return _mm256_cvtepu32_epi64(_mm256_castsi256_si128(v));
}

FAST TAMIS_INLINE __m256i high_lanes(__m256i v) {
    return _mm256_cvtepu32_epi64(_mm256_extracti128_si256(v, 1));
}

/* The matches of eight keys, and in which bit of the line each lane begins.  The result has a bit for each
 * key that is to be looked at alone. */
FAST TAMIS_INLINE unsigned match_eight(const tamis_i_probe *probes, const sights *s,
                                       __m256i matches[2], __m256i *at) {
    const __m256i bits = times(s->in_run, s->length);
    const __m256i byte = _mm256_srli_epi32(_mm256_add_epi32(s->end, all_lanes(7)), 3);
    *at = _mm256_sub_epi32(s->end, bits);
    const __m256i shift =
        _mm256_and_si256(_mm256_sub_epi32(*at, _mm256_slli_epi32(byte, 3)), all_lanes(63));
    const __m256i much = _mm256_or_si256(_mm256_cmpgt_epi32(bits, all_lanes(WINDOW)),
                                         _mm256_cmpgt_epi32(s->in_run, all_lanes(COMPARE)));
    uint32_t bytes[8];
    _mm256_storeu_si256((__m256i *)(void *)bytes,
                        _mm256_blendv_epi8(byte, all_lanes(8), s->strange));
    matches[0] = match_four(probes, bytes, low_lanes(shift), low_lanes(s->length), low_lanes(bits));
    matches[1] = match_four(probes + 4, bytes + 4, high_lanes(shift), high_lanes(s->length),
                            high_lanes(bits));
    return bits_of(_mm256_or_si256(much, _mm256_and_si256(s->strange, s->hit)));
}

/* Which of eight lanes are not 0, as bits. */
FAST TAMIS_INLINE unsigned which(const __m256i v[2]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_cmpeq_epi64(v[0], zero), high = _mm256_cmpeq_epi64(v[1], zero);
    return (unsigned)(_mm256_movemask_pd(_mm256_castsi256_pd(low)) |
                      _mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4) ^
           255;
}

FAST TAMIS_INLINE void find_group(const tamis_i_line *line, const tamis_i_probe *probes,
                                  unsigned homes, bool wide, bool set, const tamis_i_probe *next,
                                  bool *found) {
    counts c;
    for (size_t i = 0; i < GROUP; i++) {
        TAMIS_PREFETCH(next[i].at[0]);
        count(line, probes[i].at[0], homes, wide, set, (unsigned)probes[i].word[1], &c, i);
    }
    for (size_t i = 0; i < GROUP; i += 8) {
        const sights s = see_eight(&c, i, wide, set, top_of(line, set));
        __m256i matches[2], at;
        unsigned alone = match_eight(probes + i, &s, matches, &at);
        const uint64_t answers = _pdep_u64(which(matches), 0x0101010101010101u);
        memcpy(found + i, &answers, sizeof answers);
        for (; TAMIS_UNLIKELY(alone != 0); alone &= alone - 1) {
            const size_t k = i + place_of(alone);
            found[k] = tamis_i_line_find(line, probes[k].at[0], (unsigned)probes[k].word[1],
                                         probes[k].word[0]);
        }
    }
}

#undef GROUP
#undef COMPARE
