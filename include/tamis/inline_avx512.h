/* inline_avx512.h - a part of tamis/inline.h: lines and blocks as vectors of 512 bits
 *
 * For callers that are compiled for AVX-512 with CD, DQ, BW, VL, IFMA, VBMI, VBMI2 and VPOPCNTDQ:
 * -march=icelake-client, znver4 and later, or -march=native there.  Answers and bytes are those of the other
 * functions.
 *
 * What waits for the line of a key sits in the scheduler of the processor, and keeps the next call from
 * beginning.  Integer instructions share some hundred places there, of which a lookup takes fifty; vectors
 * have places of their own, on some processors twice as many.  So all that depends on the line is done in
 * vectors here, in fewer instructions, with one branch on it: for what is rare.
 *
 * Four lanes of 64 bits are four entries of the run, and all other numbers are in each of them.  They are at
 * most 512, in the lowest 16 bits; what is above is zero.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_INLINE_H
#include <tamis/inline.h> /* which includes this one where it belongs */
#elif defined(TAMIS_LENS_AVX512) && !defined(TAMIS_INLINE_AVX512_H)
#define TAMIS_INLINE_AVX512_H

/* As C++, the vectors without a value that gcc's own header makes are warned of (its bug 105593). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define TAMIS_LENS_WIDE __attribute__((always_inline)) static inline

/* Constants, read from memory: compilers would make each of them by two instructions. */
typedef struct tamis_lens_wide {
    uint8_t places[64];   /* of ends: 1 to 63, and 0 */
    uint16_t inverse[64]; /* of n: 65536 / n, rounded up; of 0, 1 and 63: 0 */
    uint64_t all[8];      /* lanes in which all homes count */
    uint64_t before[8];   /* a byte less; the others of its lane come from the last place */
    uint64_t base[8];     /* bits above each word of a line */
    uint64_t number[4];   /* of the lane */
    uint64_t up_to[4];    /* as many ones */
    uint64_t nine[4];
    uint64_t threes[4];    /* by bytes */
    uint64_t last_word[4]; /* bytes 56 to 63 of a line */
    uint64_t seven[4], byte[4], sixty_four[4], sixty_five[4], room[4], two[4];
} tamis_lens_wide;

#define TAMIS_LENS_WIDE_INVERSE(n) (uint16_t)((65536 + (n)-1) / (n))
#define TAMIS_LENS_WIDE_EIGHT(n)                                                                   \
    TAMIS_LENS_WIDE_INVERSE(n), TAMIS_LENS_WIDE_INVERSE((n) + 1),                                  \
        TAMIS_LENS_WIDE_INVERSE((n) + 2), TAMIS_LENS_WIDE_INVERSE((n) + 3),                        \
        TAMIS_LENS_WIDE_INVERSE((n) + 4), TAMIS_LENS_WIDE_INVERSE((n) + 5),                        \
        TAMIS_LENS_WIDE_INVERSE((n) + 6), TAMIS_LENS_WIDE_INVERSE((n) + 7)

/* With less than 512 bits and n from 2 to 62 the error of bits * inverse / 65536 is below 1 / n, so that its
 * floor is right. */
TAMIS_LENS_WIDE const tamis_lens_wide *tamis_lens_wide_constants(void) {
    static const tamis_lens_wide wide __attribute__((aligned(64))) = {
        {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
         23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
         45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 0},
        {0, 0, TAMIS_LENS_WIDE_INVERSE(2), TAMIS_LENS_WIDE_INVERSE(3), TAMIS_LENS_WIDE_INVERSE(4),
         TAMIS_LENS_WIDE_INVERSE(5), TAMIS_LENS_WIDE_INVERSE(6), TAMIS_LENS_WIDE_EIGHT(7),
         TAMIS_LENS_WIDE_EIGHT(15), TAMIS_LENS_WIDE_EIGHT(23), TAMIS_LENS_WIDE_EIGHT(31),
         TAMIS_LENS_WIDE_EIGHT(39), TAMIS_LENS_WIDE_EIGHT(47), TAMIS_LENS_WIDE_EIGHT(55), 0},
        {~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, 0, 0, 0, 0},
        {0x3f3f3f3f3f3f3fff, 0x3f3f3f3f3f3f3fff, 0x3f3f3f3f3f3f3fff, 0x3f3f3f3f3f3f3fff,
         0x3f3f3f3f3f3f3fff, 0x3f3f3f3f3f3f3fff, 0x3f3f3f3f3f3f3fff, 0x3f3f3f3f3f3f3fff},
        {448, 384, 320, 256, 192, 128, 64, 0},
        {0, 1, 2, 3},
        {0, 1, 3, 7},
        {9, 9, 9, 9},
        {0x0303030303030303, 0x0303030303030303, 0x0303030303030303, 0x0303030303030303},
        {0x3f3e3d3c3b3a3938, 0x3f3e3d3c3b3a3938, 0x3f3e3d3c3b3a3938, 0x3f3e3d3c3b3a3938},
        {7, 7, 7, 7},
        {255, 255, 255, 255},
        {64, 64, 64, 64},
        {65, 65, 65, 65},
        {438, 438, 438, 438},
        {2, 2, 2, 2}};
    const tamis_lens_wide *constants = &wide;
    __asm__("" : "+r"(constants));
    return constants;
}

TAMIS_LENS_WIDE __m512i tamis_lens_wide_all(const void *p) {
    return _mm512_loadu_si512(p);
}

/* A word of a line, in all lanes. */
TAMIS_LENS_WIDE __m512i tamis_lens_wide_word(const uint64_t *word) {
    return _mm512_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(const void *)word));
}

/* ---- line and line-set: lookups ---- */

/* A line as one home sees it: as tamis_lens_run has it, in all lanes but 'down'. */
typedef struct tamis_lens_wide_run {
    __m256i homes, ends; /* the words */
    __m256i start, n, bits, r, longs, length;
    __m256i down; /* of each of four entries from the start on */
    __mmask8 hit; /* the home has a run */
    __mmask8 in;  /* of the four entries, those that are in the run; none if the home has none */
    __mmask8 strange; /* the last of four: r is 0, or n is odd: 0, 1 (but in a set), or above 62 */
} tamis_lens_wide_run;

/* The places of the ends, one after the other, are the starts of all runs but the first, and n.  The result
 * is n in the lower half, and the start in the upper one. */
TAMIS_LENS_WIDE __m512i tamis_lens_wide_starts(const tamis_lens_wide *c, tamis_lens_place place,
                                               tamis_lens_wide_run *run) {
    const uint64_t below = _bzhi_u64(~(uint64_t)0, (unsigned)place.home);
    __mmask64 ends;
    memcpy(&ends, place.words + 1, sizeof ends);
    const __m512i homes = tamis_lens_wide_word(place.words),
                  some = _mm512_or_si512(_mm512_set1_epi64((long long)below),
                                         tamis_lens_wide_all(c->all)),
                  before = _mm512_add_epi8(_mm512_popcnt_epi64(_mm512_and_si512(homes, some)),
                                           tamis_lens_wide_all(c->before)),
                  places = _mm512_maskz_compress_epi8(ends, tamis_lens_wide_all(c->places)),
                  both = _mm512_permutexvar_epi8(before, places);
    run->homes = _mm512_castsi512_si256(homes);
    run->n = _mm512_castsi512_si256(both);
    run->start = _mm512_extracti64x4_epi64(both, 1);
    return both;
}

/* What 'table' has for n: 64 numbers of 16 bits. */
TAMIS_LENS_WIDE __m256i tamis_lens_wide_of(__m512i both, const uint16_t *table) {
    return _mm512_castsi512_si256(_mm512_permutex2var_epi16(tamis_lens_wide_all(table), both,
                                                            tamis_lens_wide_all(table + 32)));
}

/* The members 'bits', 'r' and 'longs', of which a set has no bits. */
TAMIS_LENS_WIDE void tamis_lens_wide_share(const tamis_lens *lens, const tamis_lens_wide *c,
                                           const uint64_t *words, __m512i both,
                                           tamis_lens_wide_run *run, bool set) {
    if (set) {
        /* The last end below a place: see tamis_lens_line_longs.  Without one, it is 0. */
        const __m256i split = tamis_lens_wide_of(both, lens->splits),
                      last = _mm256_and_si256(split, tamis_lens_load(c->byte)),
                      up = _mm256_sub_epi64(tamis_lens_load(c->sixty_five), last),
                      zeros = _mm256_lzcnt_epi64(_mm256_sllv_epi64(run->ends, up));
        run->bits = _mm256_setzero_si256();
        run->r = _mm256_srli_epi64(split, 8);
        run->longs = _mm256_subs_epu16(_mm256_sub_epi64(tamis_lens_load(c->sixty_four), up), zeros);
    } else {
        run->bits = _mm256_srli_epi64(_mm512_castsi512_si256(tamis_lens_wide_word(words + 7)), 55);
        run->r = _mm256_mulhi_epu16(run->bits, tamis_lens_wide_of(both, c->inverse));
        run->longs = _mm256_sub_epi16(run->bits, _mm256_mullo_epi16(run->r, run->n));
    }
}

TAMIS_LENS_WIDE tamis_lens_wide_run tamis_lens_wide_see(const tamis_lens *lens,
                                                        const tamis_lens_wide *c,
                                                        tamis_lens_place place, bool set) {
    tamis_lens_wide_run run;
    const __m512i both = tamis_lens_wide_starts(c, place, &run);
    const __m256i home = _mm256_set1_epi64x((long long)((uint64_t)1 << place.home));
    run.ends = _mm512_castsi512_si256(tamis_lens_wide_word(place.words + 1));
    tamis_lens_wide_share(lens, c, place.words, both, &run, set);
    run.length = _mm256_mask_sub_epi64(run.r, _mm256_cmplt_epi64_mask(run.start, run.longs), run.r,
                                       _mm256_set1_epi64x(-1));
    const __m256i first = set ? _mm256_setzero_si256() : tamis_lens_load(c->nine),
                  at = _mm256_madd52lo_epu64(first, run.start, run.r);
    run.down = _mm256_add_epi64(_mm256_min_epu16(run.start, run.longs),
                                _mm256_madd52lo_epu64(at, run.length, tamis_lens_load(c->number)));
    run.hit = _mm256_test_epi64_mask(run.homes, home);
    run.in = _mm256_mask_testn_epi64_mask(run.hit, _mm256_srlv_epi64(run.ends, run.start),
                                          tamis_lens_load(c->up_to));
    run.strange = _mm256_mask_testn_epi64_mask(8, run.r, run.r);
    return run;
}

/* Those of the run's first four entries that have the fingerprint. */
TAMIS_LENS_WIDE __mmask8 tamis_lens_wide_hits(const tamis_lens_wide *c, const uint64_t *words,
                                              const tamis_lens_wide_run *run,
                                              uint64_t fingerprint) {
    /* The eight bytes of the line that end with the one where the entry begins. */
    const __m256i eighth = _mm256_multishift_epi64_epi8(tamis_lens_load(c->threes), run->down),
                  bytes = _mm256_sub_epi8(tamis_lens_load(c->last_word), eighth),
                  windows = _mm512_castsi512_si256(_mm512_permutexvar_epi8(
                      _mm512_castsi256_si512(bytes), tamis_lens_wide_all(words))),
                  up = _mm256_and_si256(run->down, tamis_lens_load(c->seven)),
                  rest = _mm256_srlv_epi64(_mm256_set1_epi64x(-1), run->length);
    /* (entry ^ fingerprint) & ~rest */
    const __m256i differ = _mm256_ternarylogic_epi64(
        _mm256_sllv_epi64(windows, up), _mm256_set1_epi64x((long long)fingerprint), rest, 0x14);
    return _mm256_mask_testn_epi64_mask(run->in, differ, differ);
}

/* What is rare is left to the other functions: an odd line, and a run of four entries or more. */
TAMIS_LENS_WIDE unsigned tamis_lens_wide_line_has(const tamis_lens *lens, uint64_t lo, uint64_t hi,
                                                  bool set, bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, lo);
    if (TAMIS_LENS_RARE(away))
        return TAMIS_LENS_ASK;
    const tamis_lens_wide *const c = tamis_lens_wide_constants();
    const tamis_lens_wide_run run = tamis_lens_wide_see(lens, c, place, set);
    const __mmask8 hits = tamis_lens_wide_hits(c, place.words, &run, hi);
    if (TAMIS_LENS_RARE((_kor_mask8(run.in, run.strange) & 8) != 0))
        return TAMIS_LENS_ASK;
    return _kortestz_mask8_u8(hits, hits) == 0;
}

/* ---- line: an insert for which there is room ---- */

/* The line with an entry of the run's length more, put before the first of the run: its ends are 'ends' below
 * bit n + 1, and its homes 'homes'.
 *
 *      above the place      the line
 *      from there, 'length' the fingerprint, turned so that it begins there
 *      below                the line, all of it down by 'length'
 */
TAMIS_LENS_WIDE void tamis_lens_wide_put(const tamis_lens_wide *c, uint64_t *words,
                                         const tamis_lens_wide_run *run, __m256i length,
                                         __m256i homes, __m256i ends, uint64_t fingerprint) {
    const __m512i line = tamis_lens_wide_all(words), ones = _mm512_set1_epi64(-1),
                  base = tamis_lens_wide_all(c->base);
    const __m512i down = _mm512_broadcastq_epi64(_mm256_castsi256_si128(run->down)),
                  width = _mm512_broadcastq_epi64(_mm256_castsi256_si128(length)),
                  n = _mm512_broadcastq_epi64(_mm256_castsi256_si128(run->n));
    /* Shifts by 64 and more give 0. */
    const __m512i from = _mm512_srlv_epi64(ones, _mm512_subs_epu16(down, base)),
                  below = _mm512_srlv_epi64(ones,
                                            _mm512_subs_epu16(_mm512_add_epi64(down, width), base)),
                  lower = _mm512_shrdv_epi64(
                      line, _mm512_alignr_epi64(_mm512_setzero_si512(), line, 1), width),
                  print = _mm512_rorv_epi64(_mm512_set1_epi64((long long)fingerprint), down);
    /* from ? print : line, and then below ? lower : that */
    __m512i now = _mm512_ternarylogic_epi64(from, print, line, 0xca);
    now = _mm512_ternarylogic_epi64(below, lower, now, 0xca);
    now = _mm512_mask_mov_epi64(now, 1, _mm512_castsi256_si512(homes));
    /* In word 1, ends below bit n + 1: after that, from(n + 1) ? now : ends */
    const __m512i after = _mm512_sllv_epi64(ones, _mm512_sub_epi64(n, ones));
    now = _mm512_mask_ternarylogic_epi64(
        now, 2, after, _mm512_broadcastq_epi64(_mm256_castsi256_si128(ends)), 0xe2);
    now = _mm512_mask_add_epi64(now, 0x80, now, _mm512_slli_epi64(width, 55));
    _mm512_storeu_si512(words, now);
}

/* What is not the common case. */
TAMIS_LENS_APART tamis_status tamis_lens_wide_line_leave(tamis_lens *lens, uint64_t lo, uint64_t hi,
                                                         bool *added) {
    tamis_digest digest;
    digest.lo = lo;
    digest.hi = hi;
    return tamis_lens_line_insert(lens, tamis_lens_hash_of(digest), added, false,
                                  **lens->away != 0);
}

/* 438: as for the other functions, what a line has room for. */
TAMIS_LENS_WIDE tamis_status tamis_lens_wide_line_insert(tamis_lens *lens, uint64_t lo, uint64_t hi,
                                                         bool *added, bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, lo);
    if (TAMIS_LENS_RARE(away))
        return tamis_lens_wide_line_leave(lens, lo, hi, added);
    const tamis_lens_wide *const c = tamis_lens_wide_constants();
    const tamis_lens_wide_run run = tamis_lens_wide_see(lens, c, place, false);
    const __mmask8 hits = tamis_lens_wide_hits(c, place.words, &run, hi),
                   fresh = _knot_mask8(run.hit);
    /* A new run after the last long one may have either length. */
    const __mmask8 either = _mm256_mask_cmpeq_epi64_mask(fresh, run.start, run.longs),
                   narrow = _mm256_cmplt_epi64_mask(run.length, tamis_lens_load(c->two)),
                   odd = _kor_mask8(_kor_mask8(hits, either), _kor_mask8(run.strange, narrow));
    if (TAMIS_LENS_RARE((odd | (run.in & 8)) != 0))
        return tamis_lens_wide_line_leave(lens, lo, hi, added);
    const __mmask8 full = _mm256_cmpgt_epi64_mask(
        _mm256_add_epi64(_mm256_add_epi64(run.bits, run.n), run.length), tamis_lens_load(c->room));
    if (full != 0)
        return tamis_lens_line_shorter(
            lens, place.words, place.home, added, (uint64_t)_mm256_extract_epi64(run.start, 0),
            (uint64_t)_mm256_extract_epi64(run.n, 0), _mm_set_epi64x((long long)hi, (long long)lo));
    /* What is from the start on goes up by one, and if the run is new its place, -'up', is an end. */
    const __m256i ones = _mm256_set1_epi64x(-1), up = _mm256_sllv_epi64(ones, run.start),
                  home = _mm256_set1_epi64x((long long)((uint64_t)1 << place.home));
    __m256i ends = _mm256_add_epi64(run.ends, _mm256_and_si256(run.ends, up));
    ends = _mm256_mask_sub_epi64(ends, fresh, ends, up);
    tamis_lens_wide_put(c, place.words, &run, run.length, _mm256_or_si256(run.homes, home), ends,
                        hi);
    return tamis_lens_line_done(lens, added);
}

/* ---- blocked-bloom in lanes ---- */

/* The bit of each word; 'hash' is as for the other functions.  Turned by its place: what is above six bits
 * does not count. */
TAMIS_LENS_WIDE __m512i tamis_lens_wide_lanes(__m128i hash) {
    return _mm512_rolv_epi64(_mm512_set1_epi64(1),
                             _mm512_cvtepu8_epi64(_mm_unpackhi_epi64(hash, hash)));
}

TAMIS_LENS_WIDE bool tamis_lens_wide_lanes_have(const uint64_t *block, __m512i bits) {
    const __mmask8 clear = _mm512_testn_epi64_mask(bits, tamis_lens_wide_all(block));
    return _kortestz_mask8_u8(clear, clear) != 0;
}

/* Set them.  Was one of them clear? */
TAMIS_LENS_WIDE bool tamis_lens_wide_lanes_add(uint64_t *block, __m512i bits) {
    const __m512i old = tamis_lens_wide_all(block);
    const __mmask8 clear = _mm512_testn_epi64_mask(bits, old);
    _mm512_storeu_si512(block, _mm512_or_si512(old, bits));
    return _kortestz_mask8_u8(clear, clear) == 0;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
