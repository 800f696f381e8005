/* inline.h - one key at a time, without a call
 *
 * A call of tamis.h costs little more than the work; but where each key is asked for on its own and the
 * answer decides what comes next, that little is worth having.  A tamis_lens looks into a filter of the
 * kinds line, line-set, blocked-bloom and rank.  It is taken once; then these functions are compiled into
 * the caller:
 *
 *     tamis_lens lens;
 *     if (tamis_lens_write(filter, TAMIS_LENS_VERSION, &lens) == TAMIS_OK) {
 *         if (tamis_lens_insert_u64(&lens, 42, NULL) == TAMIS_OK && tamis_lens_contains_u64(&lens, 42))
 *             puts("42: present");
 *     }
 *
 *  - Answers, counts and files are those of tamis.h, bit for bit.  Calls of both kinds may be mixed.
 *  - It is compiled for the processor that the compiler is told: with -march=x86-64-v3 -maes, or with
 *    -march=native on such a machine, the common case is inlined; the program then needs that processor.
 *    With AVX-512 as of -march=icelake-client or znver4, lines and blocks in lanes are vectors.
 *    Without these, and on all others, each function here is one call of the library, which finds out by
 *    itself what the processor can do.
 *  - Whatever is rare (a key in the stash, a long chain, no room) is a call of the library.
 *  - A lens holds as long as its filter: through inserts, removals, merges, refreshing and clearing, and also
 *    when the filter grows.  Growing filters answer by calls.  It must not be used after tamis_filter_free.
 *  - It may be copied.  Threads: as for the filter.  Functions with a const lens read, the others change.
 *  - A lens holds the keys of the filter's hash: who reads it knows the seed.
 *
 * What is frozen.  TAMIS_LENS_VERSION is the number of struct tamis_lens below and of what these functions do
 * with a table.  Programs carry the number that they were compiled with, and pass it when they take a lens.
 * A library that no longer keeps to that number refuses with TAMIS_E_VERSION, and so does an older library
 * that does not know it yet; the caller goes on with tamis.h.  A form of a known kind that a lens cannot
 * look into is none of the caller's business: its lens calls the library for everything.  So a newer library
 * with new forms serves an old program.
 *
 * The header is not split: callers include it as a whole, and the library compiles the same text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_INLINE_H
#define TAMIS_INLINE_H

#include <tamis/tamis.h>

/* Is the common case inlined?  The library compiles it (TAMIS_LENS_KERNELS) for processors that it finds
 * when it runs; TAMIS_LENS_OFF is for callers who want calls. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TAMIS_LENS_OFF)
#if defined(__AVX2__) && defined(__BMI__) && defined(__BMI2__) && defined(__LZCNT__) &&            \
    defined(__POPCNT__)
#define TAMIS_LENS_X86 1
#ifdef __AES__
#define TAMIS_LENS_X86_AES 1
#endif
#endif
#if defined(TAMIS_LENS_X86) && defined(__AVX512F__) && defined(__AVX512BW__) &&                    \
    defined(__AVX512CD__) && defined(__AVX512DQ__) && defined(__AVX512VL__) &&                     \
    defined(__AVX512IFMA__) && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) &&              \
    defined(__AVX512VPOPCNTDQ__) && !defined(TAMIS_LENS_KERNELS)
#define TAMIS_LENS_AVX512 1
#endif
#if defined(TAMIS_LENS_X86) || defined(TAMIS_LENS_KERNELS)
#define TAMIS_LENS_ANY_X86 1
#include <immintrin.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TAMIS_LENS_VERSION 1u

/* What a lens looks into.  All other numbers: only the library knows. */
#define TAMIS_LENS_CALLS    0u
#define TAMIS_LENS_LINE     1u   /* line: 64 homes, and seldom more than 62 entries */
#define TAMIS_LENS_LINE_SET 2u   /* line-set: the same, and without a limit */
#define TAMIS_LENS_BLOCK    3u   /* blocked-bloom */
#define TAMIS_LENS_RANK     4u   /* rank: slots of at most 57 bits */
#define TAMIS_LENS_LANES    5u   /* blocked-bloom: a bit in each of eight lanes */
#define TAMIS_LENS_XXH3     256u /* of integers only: they are hashed by XXH3, and then as digests */

/* Indices of value[], by form. */
#define TAMIS_LENS_LINE_CAP     0 /* bits of a fingerprint at most, times 256, and 1 */
#define TAMIS_LENS_BLOCK_HASHES 0
#define TAMIS_LENS_RANK_HOMES   0
#define TAMIS_LENS_RANK_STRIDE  1 /* bits of a bucket, and where its parts begin */
#define TAMIS_LENS_RANK_HIGHER  2
#define TAMIS_LENS_RANK_SLOTS   3
#define TAMIS_LENS_RANK_NEAR    4 /* slots of a bucket, at most 64 */
#define TAMIS_LENS_RANK_WIDTH   5 /* bits of a slot */
#define TAMIS_LENS_RANK_BITS    6 /* of these, the fingerprint's */
#define TAMIS_LENS_RANK_ALL     7 /* slots of a bucket, or 0 if there are more than 64 */

/* Do not touch the members: they are for the functions below. */
typedef struct tamis_lens {
    uint32_t version, form;
    uint32_t word_form; /* the form if integers are hashed by AES, XXH3 if by it, or CALLS */
    uint32_t reserved;
    uint64_t *table;
    uint64_t *state;             /* [0] keys, [1] of these in the stash */
    const uint64_t *grown;       /* not 0: the filter is a series */
    const uint64_t *const *away; /* not 0: it is one, or keys are in the stash */
    uint64_t n;                  /* lines, blocks or buckets */
    uint64_t value[8];
    const uint32_t *inverse; /* tables of the library, by form */
    const uint16_t *splits;  /* of this filter */
    const uint64_t
        *repeat; /* by length: ones that far apart, from the top; at 64, the bits before them */
    const uint64_t *below;
    const uint32_t *factors;
    const uint32_t *used;
    const tamis_filter *filter;
    tamis_filter *written; /* NULL: by this lens it is only read */
    bool (*contains)(const tamis_filter *filter, tamis_digest digest);
    tamis_status (*insert)(tamis_filter *filter, tamis_digest digest, bool *added);
    tamis_status (*remove)(tamis_filter *filter, tamis_digest digest);
    uint64_t keys[11][2]; /* of AES: by round, the first for eight bytes; of XXH3: [0][0] */
} tamis_lens;

/* Take a lens to read a filter, or to read and change it.  'version' is TAMIS_LENS_VERSION.
 * TAMIS_E_VERSION: the library does not know it.  TAMIS_E_UNSUPPORTED: there is no lens for this kind, or the
 * filter is a series: it has grown, or may grow (tamis_filter_allow_growth).  TAMIS_E_READONLY: to change a
 * filter that is a view.  TAMIS_E_ARGUMENT.  After a failure the lens is untouched. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_lens_read(const tamis_filter *filter,
                                                        uint32_t version, tamis_lens *lens);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_lens_write(tamis_filter *filter, uint32_t version,
                                                         tamis_lens *lens);

/* -------------------------------------------------------------------------------------------------
 * x86-64 with POPCNT, LZCNT, BMI1, BMI2 and AVX2: the common case
 *
 * A table is read as the bytes of 64-bit words, which on this machine are in the order of bits.  Every
 * function leaves to the library what is not the common case.  The library's own calls for one key are
 * compiled from the same lines.  What is here has no contract of its own: use the functions at the end.
 * 'grown' is whether the filter is a series by now, 'away' whether it is one or has keys in its stash.
 */
#ifdef TAMIS_LENS_ANY_X86

#define TAMIS_LENS_FAST                                                                            \
    __attribute__((target("popcnt,bmi,bmi2,lzcnt,avx2"), always_inline)) static inline
#define TAMIS_LENS_AES                                                                             \
    __attribute__((target("popcnt,bmi,bmi2,lzcnt,avx2,aes"), always_inline)) static inline

/* A function by itself: what is long, and done for some of the keys. */
#define TAMIS_LENS_APART                                                                           \
    __attribute__((target("popcnt,bmi,bmi2,lzcnt,avx2"), noinline, unused)) static

#define TAMIS_LENS_RARE(condition) __builtin_expect(!!(condition), 0)

__extension__ typedef unsigned __int128 tamis_lens_u128;

/* The answer of a lookup that is left to the library; the others are 0 and 1. */
#define TAMIS_LENS_ASK 2u

/* ---- digests of integers ---- */

/* As TAMIS_HASH_AES has it for keys of eight bytes (docs/format.md): key 0 with what belongs to the length,
 * then ten rounds. */
TAMIS_LENS_AES __m128i tamis_lens_aes(const tamis_lens *lens, uint64_t key) {
    const __m128i *const k = (const __m128i *)(const void *)lens->keys;
    __m128i state = _mm_xor_si128(_mm_cvtsi64_si128((long long)key), _mm_loadu_si128(k));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 1));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 2));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 3));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 4));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 5));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 6));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 7));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 8));
    state = _mm_aesenc_si128(state, _mm_loadu_si128(k + 9));
    return _mm_aesenclast_si128(state, _mm_loadu_si128(k + 10));
}

TAMIS_LENS_AES tamis_digest tamis_lens_aes_digest(const tamis_lens *lens, uint64_t key) {
    const __m128i state = tamis_lens_aes(lens, key);
    tamis_digest digest;
    digest.lo = (uint64_t)_mm_cvtsi128_si64(state);
    digest.hi = (uint64_t)_mm_extract_epi64(state, 1);
    return digest;
}

/* As TAMIS_HASH_XXH3 has it for keys of eight bytes. */
TAMIS_LENS_FAST tamis_digest tamis_lens_xxh3(const tamis_lens *lens, uint64_t key) {
    const tamis_lens_u128 product = (tamis_lens_u128)(key ^ lens->keys[0][0]) * 0x9e3779b185ebcaa7u;
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64) + 2 * low;
    tamis_digest digest;
    low ^= high >> 3;
    low = (low ^ low >> 35) * 0x9fb21c651e98df25u;
    high = (high ^ high >> 37) * 0x165667919e3779f9u;
    digest.lo = low ^ low >> 28;
    digest.hi = high ^ high >> 32;
    return digest;
}

/* A digest in a register. */
TAMIS_LENS_FAST __m128i tamis_lens_hash_of(tamis_digest digest) {
    return _mm_set_epi64x((long long)digest.hi, (long long)digest.lo);
}

/* ---- line and line-set: a line of 64 homes and at most 62 entries ----
 *
 * Word 0 has the homes, word 1 the ends and, in a full line, the lowest fingerprints.  With a one put before
 * the ends, the run of a home with k homes before it lies between ones number k and k + 1, which PDEP finds:
 *
 *      ends     0 1 1 0 0 1 1      4 runs: entries 0 1 | 2 | 3 4 5 | 6
 *      ones   1 0 1 1 0 0 1 1      run 2 begins at one number 2, place 3, and ends at one number 3, place 6
 *
 * The fingerprints of a run are compared in one load of 57 bits; docs/format.md has their lengths. */

#define TAMIS_LENS_WINDOW 57u

/* A key in its line. */
typedef struct tamis_lens_place {
    uint64_t *words;
    uint64_t home;
} tamis_lens_place;

TAMIS_LENS_FAST tamis_lens_place tamis_lens_line_of(const tamis_lens *lens, uint64_t lo) {
    const tamis_lens_u128 product = (tamis_lens_u128)lo * lens->n;
    tamis_lens_place place;
    place.words = lens->table + 8 * (uint64_t)(product >> 64);
    place.home = (uint64_t)product >> 58;
    return place;
}

/* A line as one home sees it.  Numbers are words, so that none has to be extended to be an index. */
typedef struct tamis_lens_run {
    uint64_t ones;     /* the ends, after a one */
    uint64_t n;        /* entries; 0 or more than 62: not known, and the length is 0 or 1 */
    uint64_t start;    /* of the run, or where it would be */
    uint64_t entries;  /* of the run; 0 if the home has none */
    uint64_t r, longs; /* bits of an entry; the first 'longs' have one more */
    uint64_t bits;     /* of all; of a set not filled in */
    uint64_t length;   /* bits of an entry of the run */
    uint64_t down;     /* bits from the top of the line to the run */
} tamis_lens_run;

/* How a set's n entries share its room: the bits of each, and below that one more than those left. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_split(const tamis_lens *lens, uint64_t n) {
    return lens->splits[n];
}

/* The last end before entry 'split' % 256: where long entries stop. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_longs(uint64_t ones, uint64_t split) {
    return 63 ^ _lzcnt_u64(_bzhi_u64(ones, (unsigned)split));
}

/* Bits from the top of the line down to entry 'start'. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_down(uint64_t start, uint64_t r, uint64_t longs,
                                              bool set) {
    return start * r + (start < longs ? start : longs) + (set ? 0 : 9);
}

/* Does a home have a run? */
TAMIS_LENS_FAST uint64_t tamis_lens_line_hit(const uint64_t *words, uint64_t home) {
    return words[0] >> home & 1;
}

/* The entries of a line. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_count(uint64_t homes, uint64_t ones) {
    const uint64_t runs = (uint64_t)_mm_popcnt_u64(homes);
    return _tzcnt_u64(_pdep_u64((uint64_t)1 << (runs & 63), ones));
}

/* The members from 'r' on, from those before them. */
TAMIS_LENS_FAST void tamis_lens_line_share(const tamis_lens *lens, const uint64_t *words,
                                           tamis_lens_run *run, bool set) {
    if (set) {
        const uint64_t split = tamis_lens_line_split(lens, run->n);
        run->r = split >> 8;
        run->longs = tamis_lens_line_longs(run->ones, split);
        run->bits = 0;
    } else {
        run->bits = words[7] >> 55;
        run->r = run->bits * lens->inverse[run->n] >> 20;
        run->longs = run->bits - run->r * run->n;
    }
    run->length = run->r + (run->start < run->longs);
    run->down = tamis_lens_line_down(run->start, run->r, run->longs, set);
}

/* 'hit' is whether the home has a run. */
TAMIS_LENS_FAST tamis_lens_run tamis_lens_line_see(const tamis_lens *lens, const uint64_t *words,
                                                   uint64_t home, uint64_t hit, bool set) {
    const uint64_t homes = words[0], ones = words[1] << 1 | 1;
    /* The one where the run begins and the next; without a run, only the place where it would be. */
    const uint64_t both =
        _pdep_u64((2 * hit + 1) << _mm_popcnt_u64(_bzhi_u64(homes, (unsigned)home)), ones);
    tamis_lens_run run;
    run.ones = ones;
    run.start = _tzcnt_u64(both);
    run.entries = (63 ^ _lzcnt_u64(both)) - run.start;
    run.n = tamis_lens_line_count(homes, ones);
    tamis_lens_line_share(lens, words, &run, set);
    return run;
}

/* The eight bytes that end with the bit 'down' bits below the top of the line, or after it. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_window(const uint64_t *words, uint64_t down) {
    uint64_t window;
    memcpy(&window, (const unsigned char *)words + 56 - down / 8, sizeof window);
    return window;
}

/* The highest bit of the lowest fingerprint that matches, and perhaps of others above it; bit 63 is the
 * highest of the run, which has 'bits' <= 57 bits.  What follows the run matches nothing. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_hits(const tamis_lens *lens, uint64_t window,
                                              const tamis_lens_run *run, uint64_t bits,
                                              uint64_t fingerprint) {
    const uint64_t ones = lens->repeat[run->length];
    const uint64_t x =
        (window << run->down % 8 ^ (fingerprint >> ((0 - run->length) & 63)) * ones) |
        ~(uint64_t)0 >> bits;
    return (x - ones) & ~x & lens->repeat[64 + run->length];
}

/* Not a line of 1 to 62 entries, of 2 bits or more, or not a run of at most 57 bits. */
TAMIS_LENS_FAST bool tamis_lens_line_is_strange(const tamis_lens *lens, const tamis_lens_run *run,
                                                uint64_t bits) {
    return (int64_t)bits > (int64_t)lens->repeat[128 + run->length];
}

TAMIS_LENS_FAST unsigned tamis_lens_line_has(const tamis_lens *lens, uint64_t lo, uint64_t hi,
                                             bool set, bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, lo);
    if (TAMIS_LENS_RARE(away))
        return TAMIS_LENS_ASK;
    /* The only branch that waits for memory.  Half of the absent keys end here, and the call is so short then
     * that the next ones begin before its line has come; where the guess was wrong, they have begun too. */
    if (tamis_lens_line_hit(place.words, place.home) == 0)
        return 0;
    const tamis_lens_run run = tamis_lens_line_see(lens, place.words, place.home, 1, set);
    const uint64_t bits = run.entries * run.length;
    if (TAMIS_LENS_RARE(tamis_lens_line_is_strange(lens, &run, bits)))
        return TAMIS_LENS_ASK;
    return tamis_lens_line_hits(lens, tamis_lens_line_window(place.words, run.down), &run, bits,
                                hi) != 0;
}

/* A line as two vectors, of the lower words and the higher ones. */
typedef struct tamis_lens_halves {
    __m256i low, high;
} tamis_lens_halves;

TAMIS_LENS_FAST __m256i tamis_lens_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

TAMIS_LENS_FAST tamis_lens_halves tamis_lens_load_halves(const void *p) {
    tamis_lens_halves v;
    v.low = tamis_lens_load(p);
    v.high = tamis_lens_load((const unsigned char *)p + 32);
    return v;
}

TAMIS_LENS_FAST void tamis_lens_store_halves(uint64_t *words, tamis_lens_halves v) {
    _mm256_storeu_si256((__m256i *)(void *)words, v.low);
    _mm256_storeu_si256((__m256i *)(void *)(words + 4), v.high);
}

/* The bits of a line below bit m: row m % 8 of a table has m ones and then zeros from byte 64 - m / 8 on. */
TAMIS_LENS_FAST tamis_lens_halves tamis_lens_line_below(const tamis_lens *lens, uint64_t m) {
    return tamis_lens_load_halves((const unsigned char *)(lens->below + 8) + m % 8 * 128 - m / 8);
}

/* All bits go up by 0 to 63.  Those of the fourth word come round to the first, which is not used. */
TAMIS_LENS_FAST tamis_lens_halves tamis_lens_line_up(tamis_lens_halves v, uint64_t width) {
    const __m256i turned_low = _mm256_permute4x64_epi64(v.low, 0x93),
                  turned_high = _mm256_permute4x64_epi64(v.high, 0x93);
    const __m128i left = _mm_cvtsi32_si128((int)width), right = _mm_cvtsi32_si128(64 - (int)width);
    tamis_lens_halves moved;
    moved.low = _mm256_or_si256(_mm256_sll_epi64(v.low, left), _mm256_srl_epi64(turned_low, right));
    moved.high =
        _mm256_or_si256(_mm256_sll_epi64(v.high, left),
                        _mm256_srl_epi64(_mm256_blend_epi32(turned_high, turned_low, 0x03), right));
    return moved;
}

/* Without homes and ends, of n entries. */
TAMIS_LENS_FAST tamis_lens_halves tamis_lens_line_prints(const uint64_t *words, uint64_t n) {
    tamis_lens_halves v = tamis_lens_load_halves(words);
    const __m128i first = _mm_slli_si128(_mm_cvtsi64_si128((long long)(words[1] >> n << n)), 8);
    v.low = _mm256_blend_epi32(v.low, _mm256_castsi128_si256(first), 0x0f);
    return v;
}

/* ---- adding ----
 *
 * Three cases: there is room; the last long entries lose a bit; no long ones are left, all lose one, or all
 * but the first of the level below.  The last two make room first, and then there is room.  bits/line.h of
 * the library says which entries lose a bit. */

/* The lengths of the entries of a line: the first 'longs' have r + 1 bits, the others r. */
typedef struct tamis_lens_lengths {
    uint64_t r, longs;
} tamis_lens_lengths;

/* Write 'entries' of this length without their last bits.  Those before them have 'from' bits and the top of
 * the line has 'from' less those bits that were lost, 'to'.  As many at a time as fit in a window. */
TAMIS_LENS_FAST tamis_lens_halves tamis_lens_line_cut_some(const tamis_lens *lens,
                                                           const uint64_t *words,
                                                           tamis_lens_halves v, uint64_t entries,
                                                           uint64_t length, uint64_t from,
                                                           uint64_t to) {
    const uint64_t ones = lens->repeat[length],
                   fit = (uint64_t)TAMIS_LENS_WINDOW * lens->inverse[length] >> 20,
                   step = fit * length, keep = ~(ones | ~(uint64_t)0 >> step);
    const __m256i shorter = _mm256_set1_epi64x((long long)(step - fit)),
                  at = _mm256_set1_epi64x((long long)(512 - to - (step - fit)));
    /* Shifts by 64 and more give 0, and so do negative ones. */
    __m256i up_low = _mm256_sub_epi64(at, _mm256_set_epi64x(192, 128, 64, 0)),
            up_high = _mm256_sub_epi64(at, _mm256_set_epi64x(448, 384, 320, 256)),
            down_low = _mm256_sub_epi64(_mm256_set_epi64x(192, 128, 64, 0), at),
            down_high = _mm256_sub_epi64(_mm256_set_epi64x(448, 384, 320, 256), at);
    for (int64_t bits = (int64_t)(entries * length); bits > 0; bits -= (int64_t)step) {
        uint64_t window = tamis_lens_line_window(words, from) << from % 8;
        if (bits < (int64_t)step)
            window &= ~(~(uint64_t)0 >> bits);
        const __m256i kept = _mm256_set1_epi64x((long long)_pext_u64(window, keep));
        v.low = _mm256_or_si256(v.low, _mm256_or_si256(_mm256_sllv_epi64(kept, up_low),
                                                       _mm256_srlv_epi64(kept, down_low)));
        v.high = _mm256_or_si256(v.high, _mm256_or_si256(_mm256_sllv_epi64(kept, up_high),
                                                         _mm256_srlv_epi64(kept, down_high)));
        from += step;
        up_low = _mm256_sub_epi64(up_low, shorter);
        up_high = _mm256_sub_epi64(up_high, shorter);
        down_low = _mm256_add_epi64(down_low, shorter);
        down_high = _mm256_add_epi64(down_high, shorter);
    }
    return v;
}

/* Make the n entries shorter.  Homes and ends are lost, and the number of bits stays what it was.
 *
 *      0 .. longs .. before.longs .. n      of r + 1 bits to before.longs, then to longs
 *      0 .. before.longs .. longs .. n      of r, with r + 1 to before.longs, then of r to longs, and r - 1
 *
 * Entries that lose bits are written in pieces.  Of the others, the part before them stays where it is, and
 * the part after them moves up as a whole. */
TAMIS_LENS_FAST void tamis_lens_line_cut(const tamis_lens *lens, uint64_t *words, uint64_t n,
                                         tamis_lens_lengths before, tamis_lens_lengths now,
                                         uint64_t top) {
    const tamis_lens_halves v = tamis_lens_line_prints(words, n);
    const uint64_t r = before.r, long_bits = before.longs * (r + 1);
    const tamis_lens_halves rest = tamis_lens_line_below(lens, top - long_bits);
    tamis_lens_halves cut, moved;
    if (now.r == r) {
        const uint64_t lost = before.longs - now.longs, end = top - now.longs * (r + 1);
        const tamis_lens_halves over = tamis_lens_line_below(lens, end);
        moved.low = _mm256_and_si256(rest.low, v.low);
        moved.high = _mm256_and_si256(rest.high, v.high);
        moved = tamis_lens_line_up(moved, lost);
        cut.low = _mm256_or_si256(moved.low, _mm256_andnot_si256(over.low, v.low));
        cut.high = _mm256_or_si256(moved.high, _mm256_andnot_si256(over.high, v.high));
        cut = tamis_lens_line_cut_some(lens, words, cut, lost, r + 1, 512 - end, 512 - end);
    } else {
        const uint64_t end = top - now.longs * r - before.longs;
        const tamis_lens_halves over = tamis_lens_line_below(lens, end);
        moved.low = _mm256_and_si256(_mm256_andnot_si256(over.low, rest.low), v.low);
        moved.high = _mm256_and_si256(_mm256_andnot_si256(over.high, rest.high), v.high);
        cut = tamis_lens_line_up(moved, before.longs);
        if (top != 512) /* the number of bits */
            cut.high = _mm256_or_si256(
                cut.high,
                _mm256_and_si256(v.high, _mm256_set_epi64x(-((long long)1 << 55), 0, 0, 0)));
        cut = tamis_lens_line_cut_some(lens, words, cut, n - now.longs, r, 512 - end,
                                       512 - end - before.longs);
        cut = tamis_lens_line_cut_some(lens, words, cut, before.longs, r + 1, 512 - top, 512 - top);
    }
    tamis_lens_store_halves(words, cut);
}

/* A new entry and its line. */
typedef struct tamis_lens_entry {
    uint64_t ends, n; /* with the entry; what follows the ends is not known */
    __m128i length;
    uint64_t down; /* bits from the top of the line to the entry */
    uint64_t
        more; /* bits of all that there will be more: 'length', or less if others have become shorter */
    uint64_t fingerprint;
} tamis_lens_entry;

/* Put it in; there is room, and the homes are written already.
 *
 * The fingerprints below its place go down by its length, and so do the ends, which are written again: what
 * comes from them is below the entry after the last.  Bytes above the place stay as they are; the eight bytes
 * that end with it are written by themselves.  So nothing else is left of the last word. */
TAMIS_LENS_FAST void tamis_lens_line_put(const tamis_lens *lens, uint64_t *words,
                                         const tamis_lens_entry *e, bool set) {
    const uint64_t length = (uint64_t)_mm_cvtsi128_si64(e->length), rest = 64 - length,
                   shift = e->down % 8, homes = words[0];
    const unsigned char *const below = (const unsigned char *)lens->below + e->down / 8;
    const __m128i right = e->length, left = _mm_cvtsi64_si128((long long)rest);
    const __m256i low = tamis_lens_load(words + 1), high = tamis_lens_load(words + 3);
    const __m256i down_low = _mm256_or_si256(_mm256_srl_epi64(low, right),
                                             _mm256_sll_epi64(tamis_lens_load(words + 2), left)),
                  down_high = _mm256_or_si256(_mm256_srl_epi64(high, right),
                                              _mm256_sll_epi64(tamis_lens_load(words + 4), left));
    uint64_t window = tamis_lens_line_window(words, e->down);
    _mm256_storeu_si256((__m256i *)(void *)(words + 1),
                        _mm256_blendv_epi8(low, down_low, tamis_lens_load(below + 8)));
    _mm256_storeu_si256((__m256i *)(void *)(words + 3),
                        _mm256_blendv_epi8(high, down_high, tamis_lens_load(below + 24)));
    const uint64_t old = window << shift, now = old >> length | e->fingerprint >> rest << rest;
    window ^= (old ^ now) >> shift;
    memcpy((unsigned char *)words + 56 - e->down / 8, &window, sizeof window);
    words[0] = homes;
    words[1] ^= _bzhi_u64(words[1] ^ e->ends, (unsigned)e->n);
    if (!set) {
        uint16_t bits; /* the highest nine bits are those of all */
        memcpy(&bits, (const unsigned char *)words + 62, sizeof bits);
        bits = (uint16_t)(bits + (e->more << 7));
        memcpy((unsigned char *)words + 62, &bits, sizeof bits);
    }
}

/* The ends with one more entry in a run that begins at the one 'first': a zero after it, or, if the run is
 * new, a one. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_longer(uint64_t ends, uint64_t first, bool is_new) {
    return _pdep_u64(ends, ~first) | (is_new ? first : 0);
}

/* What is not the common case.  The halves are taken from the hash only here: until then they need no
 * registers. */
TAMIS_LENS_FAST tamis_status tamis_lens_line_leave(tamis_lens *lens, __m128i hash, bool *added) {
    tamis_digest digest;
    __asm__("" : "+x"(hash));
    digest.lo = (uint64_t)_mm_cvtsi128_si64(hash);
    digest.hi = (uint64_t)_mm_extract_epi64(hash, 1);
    return lens->insert(lens->written, digest, added);
}

/* One key more. */
TAMIS_LENS_FAST tamis_status tamis_lens_line_done(tamis_lens *lens, bool *added) {
    lens->state[0]++;
    if (added != NULL)
        *added = true;
    return TAMIS_OK;
}

/* The lengths of the other entries of a line, and whether the new one is one of the long ones: 1 or 0. */
typedef struct tamis_lens_shares {
    tamis_lens_lengths now;
    uint64_t is_long;
} tamis_lens_shares;

/* From the lengths of all, of which the long ones end before that of the entry's run, or after it. */
TAMIS_LENS_FAST tamis_lens_shares tamis_lens_line_others(uint64_t r, uint64_t longs,
                                                         uint64_t start) {
    tamis_lens_shares s;
    s.is_long = start < longs;
    s.now.r = r;
    s.now.longs = longs - s.is_long;
    return s;
}

/* Of a set, which has n entries with the new one. */
TAMIS_LENS_FAST tamis_lens_shares tamis_lens_line_set_shares(const tamis_lens *lens, uint64_t n,
                                                             uint64_t ends, uint64_t start) {
    const uint64_t split = tamis_lens_line_split(lens, n);
    return tamis_lens_line_others(split >> 8, tamis_lens_line_longs(ends << 1 | 1, split), start);
}

/* Of a multiset without room for an entry as long as those of its run: the last long runs lose a bit, and if
 * that is not enough, all of them and then the last runs of all.  One bit at most: what needs more is left to
 * the library, for which the lengths are such that it is seen. */
TAMIS_LENS_FAST tamis_lens_shares tamis_lens_line_settle(const tamis_lens_run *run, uint64_t ends) {
    uint64_t r = run->r, longs = run->longs + run->length - r,
             over = run->bits + run->length + run->n - 438;
    if (longs < over) {
        over -= longs;
        longs = run->n + 1;
        r--;
    }
    if (TAMIS_LENS_RARE(longs < over))
        r = 0;
    return tamis_lens_line_others(
        r, 63 ^ _lzcnt_u64(_bzhi_u64(ends << 1 | 1, (unsigned)(longs - over + 1))), run->start);
}

/* Put an entry in for which others become shorter, by one bit at most.  'hash' is the digest. */
TAMIS_LENS_FAST tamis_status tamis_lens_line_shorten(tamis_lens *lens, tamis_lens_place place,
                                                     bool *added, uint64_t start, uint64_t n,
                                                     __m128i hash, bool set) {
    uint64_t *const words = place.words;
    const uint64_t homes = words[0] | (uint64_t)1 << place.home;
    tamis_lens_run run;
    run.ones = words[1] << 1 | 1;
    run.start = start;
    run.n = n;
    tamis_lens_line_share(lens, words, &run, set);
    tamis_lens_entry e;
    e.n = n + 1;
    e.ends = tamis_lens_line_longer(words[1], (uint64_t)1 << start, homes != words[0]);
    const tamis_lens_shares s = set ? tamis_lens_line_set_shares(lens, e.n, e.ends, start)
                                    : tamis_lens_line_settle(&run, e.ends);
    tamis_lens_lengths before;
    before.r = run.r;
    before.longs = run.longs;
    if (TAMIS_LENS_RARE(s.now.r == before.r
                            ? s.now.longs > before.longs
                            : s.now.r + 1 != before.r || s.now.longs < before.longs))
        return tamis_lens_line_leave(lens, hash, added);
    tamis_lens_line_cut(lens, words, n, before, s.now, set ? 512 : 503);
    words[0] = homes;
    const uint64_t length = s.now.r + s.is_long;
    e.length = _mm_cvtsi64_si128((long long)length);
    e.down = tamis_lens_line_down(start, s.now.r, s.now.longs, set);
    e.more = s.now.r * n + s.now.longs + length - run.bits;
    e.fingerprint = (uint64_t)_mm_extract_epi64(hash, 1);
    tamis_lens_line_put(lens, words, &e, set);
    return tamis_lens_line_done(lens, added);
}

/* By itself, for every form once, and it does all that is left: so the common case saves no registers for
 * it.  What can be found out again is not handed over. */
#define TAMIS_LENS_LINE_SHORTER(name, set)                                                         \
    TAMIS_LENS_APART tamis_status name(tamis_lens *lens, uint64_t *words, uint64_t home,           \
                                       bool *added, uint64_t start, uint64_t n, __m128i hash) {    \
        tamis_lens_place place;                                                                    \
        place.words = words;                                                                       \
        place.home = home;                                                                         \
        return tamis_lens_line_shorten(lens, place, added, start, n, hash, set);                   \
    }
TAMIS_LENS_LINE_SHORTER(tamis_lens_line_shorter, false)
TAMIS_LENS_LINE_SHORTER(tamis_lens_line_set_shorter, true)

/* Take the lowest of the entries with this fingerprint away.  False: nothing was changed. */
TAMIS_LENS_FAST bool tamis_lens_line_drop(const tamis_lens *lens, uint64_t *words, uint64_t home,
                                          uint64_t fingerprint) {
    const tamis_lens_run run =
        tamis_lens_line_see(lens, words, home, tamis_lens_line_hit(words, home), false);
    const uint64_t homes = words[0], n = run.n, bits = run.entries * run.length;
    if (TAMIS_LENS_RARE(tamis_lens_line_is_strange(lens, &run, bits)))
        return false;
    const uint64_t hits = tamis_lens_line_hits(lens, tamis_lens_line_window(words, run.down), &run,
                                               bits, fingerprint);
    if (TAMIS_LENS_RARE(hits == 0))
        return false;
    const uint64_t end = 512 - 63 + _tzcnt_u64(hits) - run.down;
    /* One of the run's entries that is not the last of it, or the only one. */
    const uint64_t ends =
        _pext_u64(_bzhi_u64(run.ones >> 1, (unsigned)n), ~((uint64_t)1 << run.start));
    /* What is below the entry goes up. */
    const tamis_lens_halves v = tamis_lens_line_prints(words, n),
                            over = tamis_lens_line_below(lens, end),
                            moved = tamis_lens_line_up(v, run.length);
    tamis_lens_halves all;
    all.low = _mm256_or_si256(_mm256_andnot_si256(over.low, v.low),
                              _mm256_and_si256(over.low, moved.low));
    all.high = _mm256_or_si256(_mm256_andnot_si256(over.high, v.high),
                               _mm256_and_si256(over.high, moved.high));
    tamis_lens_store_halves(words, all);
    words[0] = run.entries == 1 ? homes & ~((uint64_t)1 << home) : homes;
    words[1] |= ends;
    words[7] -= run.length << 55;
    return true;
}

/* In a multiset: may a new run have the longer length?  One between the long ones and the others may have
 * either. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_may_be_long(const tamis_lens *lens,
                                                     const tamis_lens_run *run) {
    return (run->start == run->longs) & (run->r < lens->value[TAMIS_LENS_LINE_CAP] >> 8) &
           (run->bits + run->r + run->n < 438);
}

/* Is the fingerprint found in a run, or is the line or the run none that a lens looks into? */
TAMIS_LENS_FAST bool tamis_lens_line_refuses(const tamis_lens *lens, const uint64_t *words,
                                             const tamis_lens_run *run, uint64_t fingerprint) {
    const uint64_t bits = (_tzcnt_u64(words[1] >> (run->start & 63)) + 1) * run->length;
    return tamis_lens_line_is_strange(lens, run, bits) ||
           tamis_lens_line_hits(lens, tamis_lens_line_window(words, run->down), run, bits,
                                fingerprint) != 0;
}

/* 'hash' is the digest. */
TAMIS_LENS_FAST tamis_status tamis_lens_line_insert(tamis_lens *lens, __m128i hash, bool *added,
                                                    bool set, bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, (uint64_t)_mm_cvtsi128_si64(hash));
    uint64_t *const words = place.words;
    if (TAMIS_LENS_RARE(away))
        return tamis_lens_line_leave(lens, hash, added);
    tamis_lens_run run;
    run.ones = words[1] << 1 | 1;
    const uint64_t first = _pdep_u64(
        (uint64_t)1 << _mm_popcnt_u64(_bzhi_u64(words[0], (unsigned)place.home)), run.ones);
    run.start = _tzcnt_u64(first);
    run.n = tamis_lens_line_count(words[0], run.ones);
    tamis_lens_line_share(lens, words, &run, set);
    const bool is_new = tamis_lens_line_hit(words, place.home) == 0;
    uint64_t length = run.length;
    if (is_new) {
        if (TAMIS_LENS_RARE(length < 2))
            return tamis_lens_line_leave(lens, hash, added);
        if (!set && TAMIS_LENS_RARE(run.start == run.longs))
            length += tamis_lens_line_may_be_long(lens, &run);
    } else if (TAMIS_LENS_RARE(tamis_lens_line_refuses(lens, words, &run,
                                                       (uint64_t)_mm_extract_epi64(hash, 1)))) {
        return tamis_lens_line_leave(lens, hash, added);
    }
    const uint64_t ends = tamis_lens_line_longer(words[1], first, is_new), n = run.n + 1;
    if (set) {
        const tamis_lens_shares s = tamis_lens_line_set_shares(lens, n, ends, run.start);
        length = s.now.r + s.is_long;
        if (((s.now.r ^ run.r) | (s.now.longs ^ run.longs)) != 0)
            return tamis_lens_line_set_shorter(lens, words, place.home, added, run.start, run.n,
                                               hash);
    } else if (run.bits + length + run.n > 438) {
        return tamis_lens_line_shorter(lens, words, place.home, added, run.start, run.n, hash);
    }
    words[0] |= (uint64_t)1 << place.home;
    tamis_lens_entry e;
    e.ends = ends;
    e.n = n;
    e.length = _mm_cvtsi64_si128((long long)length);
    e.more = length;
    e.down = run.down;
    e.fingerprint = (uint64_t)_mm_extract_epi64(hash, 1);
    tamis_lens_line_put(lens, words, &e, set);
    return tamis_lens_line_done(lens, added);
}

TAMIS_LENS_FAST bool tamis_lens_line_remove(tamis_lens *lens, tamis_digest digest, bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, digest.lo);
    if (TAMIS_LENS_RARE(away) || !tamis_lens_line_drop(lens, place.words, place.home, digest.hi))
        return false;
    lens->state[0]--;
    return true;
}

/* ---- blocked-bloom ---- */

TAMIS_LENS_FAST uint64_t *tamis_lens_block_of(const tamis_lens *lens, uint64_t lo) {
    return lens->table + 8 * (uint64_t)((tamis_lens_u128)lo * lens->n >> 64);
}

/* Up to eight places of a hash, of which the other half of the digest is the upper half: the top 9 bits of a
 * lane are a place.  Of these the top bit selects the half of the block, the next three the lane in it, and
 * the last five the bit. */
TAMIS_LENS_FAST __m256i tamis_lens_block_places(__m128i hash, const uint32_t *factors) {
    const __m256i both = _mm256_permute4x64_epi64(_mm256_castsi128_si256(hash), 0x55);
    return _mm256_add_epi32(
        _mm256_mullo_epi32(_mm256_shuffle_epi32(both, 0xa0), tamis_lens_load(factors)),
        _mm256_shuffle_epi32(both, 0xf5));
}

/* Their bits, in lanes; 'used' is 1 in those in use. */
TAMIS_LENS_FAST __m256i tamis_lens_block_bits(__m256i where, __m256i used) {
    return _mm256_sllv_epi32(used, _mm256_srli_epi32(_mm256_slli_epi32(where, 4), 27));
}

/* Those that are clear in the block. */
TAMIS_LENS_FAST __m256i tamis_lens_block_lacks(const uint64_t *block, __m256i where, __m256i bits) {
    const __m256i lane = _mm256_srli_epi32(where, 28);
    const __m256i low = _mm256_permutevar8x32_epi32(tamis_lens_load(block), lane),
                  high = _mm256_permutevar8x32_epi32(tamis_lens_load(block + 4), lane);
    const __m256i word = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(low), _mm256_castsi256_ps(high), _mm256_castsi256_ps(where)));
    return _mm256_andnot_si256(word, bits);
}

/* 'more': there may be more than eight places. */
TAMIS_LENS_FAST bool tamis_lens_block_has(const tamis_lens *lens, const uint64_t *block,
                                          __m128i hash, bool more) {
    const __m256i where = tamis_lens_block_places(hash, lens->factors);
    __m256i lacks = tamis_lens_block_lacks(
        block, where, tamis_lens_block_bits(where, tamis_lens_load(lens->used)));
    if (more && TAMIS_LENS_RARE(lens->value[TAMIS_LENS_BLOCK_HASHES] > 8)) {
        const __m256i others = tamis_lens_block_places(hash, lens->factors + 8);
        lacks = _mm256_or_si256(
            lacks,
            tamis_lens_block_lacks(block, others,
                                   tamis_lens_block_bits(others, tamis_lens_load(lens->used + 8))));
    }
    return _mm256_testz_si256(lacks, lacks) != 0;
}

/* The hash stays in its register. */
TAMIS_LENS_AES bool tamis_lens_block_has_u64(const tamis_lens *lens, uint64_t key, bool more) {
    const __m128i hash = tamis_lens_aes(lens, key);
    return tamis_lens_block_has(lens, tamis_lens_block_of(lens, (uint64_t)_mm_cvtsi128_si64(hash)),
                                hash, more);
}

/* Set up to eight bits, one by one; lanes not in use set none.  Were any of them clear? */
TAMIS_LENS_FAST bool tamis_lens_block_add_eight(uint64_t *block, __m256i where, __m256i used) {
    const __m256i all = tamis_lens_block_bits(where, used),
                  lacks = tamis_lens_block_lacks(block, where, all);
    uint32_t lanes[8], bits[8];
    _mm256_storeu_si256((__m256i *)(void *)lanes, _mm256_srli_epi32(where, 28));
    _mm256_storeu_si256((__m256i *)(void *)bits, all);
    for (unsigned i = 0; i < 8; i++) {
        unsigned char *const at = (unsigned char *)block + 4 * (uint64_t)lanes[i];
        uint32_t word;
        memcpy(&word, at, sizeof word);
        word |= bits[i];
        memcpy(at, &word, sizeof word);
    }
    return _mm256_testz_si256(lacks, lacks) == 0;
}

/* Set all bits of a key.  True if it is new. */
TAMIS_LENS_FAST bool tamis_lens_block_insert(tamis_lens *lens, uint64_t lo, __m128i hash,
                                             bool more) {
    uint64_t *const block = tamis_lens_block_of(lens, lo);
    bool fresh = tamis_lens_block_add_eight(block, tamis_lens_block_places(hash, lens->factors),
                                            tamis_lens_load(lens->used));
    if (more && TAMIS_LENS_RARE(lens->value[TAMIS_LENS_BLOCK_HASHES] > 8))
        fresh |= tamis_lens_block_add_eight(block, tamis_lens_block_places(hash, lens->factors + 8),
                                            tamis_lens_load(lens->used + 8));
    lens->state[0] += fresh;
    return fresh;
}

/* ---- blocked-bloom in lanes: one bit in each of the eight words of a block ---- */

/* Of each byte of a hash, which is the other half of the digest, six bits: the place in the word with that
 * number.  All of them, in each word of the vector. */
#define TAMIS_LENS_LANES_PLACES 0x3f3f3f3f3f3f3f3f

TAMIS_LENS_FAST __m256i tamis_lens_lanes_places(uint64_t hash) {
    return _mm256_set1_epi64x((long long)(hash & TAMIS_LENS_LANES_PLACES));
}

/* The same, of the upper half of a register. */
TAMIS_LENS_FAST __m256i tamis_lens_lanes_upper(__m128i hash) {
    const __m128i places = _mm_and_si128(hash, _mm_set_epi64x(TAMIS_LENS_LANES_PLACES, -1));
    return _mm256_permute4x64_epi64(_mm256_castsi128_si256(places), 0x55);
}

/* Each in its own word: those of the first four words, and of the others. */
TAMIS_LENS_FAST __m256i tamis_lens_lanes_low(__m256i places) {
    return _mm256_shuffle_epi8(places, _mm256_setr_epi8(0, -1, -1, -1, -1, -1, -1, -1, 1, -1, -1,
                                                        -1, -1, -1, -1, -1, 2, -1, -1, -1, -1, -1,
                                                        -1, -1, 3, -1, -1, -1, -1, -1, -1, -1));
}

TAMIS_LENS_FAST __m256i tamis_lens_lanes_high(__m256i places) {
    return _mm256_shuffle_epi8(places, _mm256_setr_epi8(4, -1, -1, -1, -1, -1, -1, -1, 5, -1, -1,
                                                        -1, -1, -1, -1, -1, 6, -1, -1, -1, -1, -1,
                                                        -1, -1, 7, -1, -1, -1, -1, -1, -1, -1));
}

/* Are all bits set?  Shifted by its place, each is the last of its word. */
TAMIS_LENS_FAST bool tamis_lens_lanes_have(const uint64_t *block, __m256i places) {
    const __m256i low = _mm256_srlv_epi64(tamis_lens_load(block), tamis_lens_lanes_low(places)),
                  high =
                      _mm256_srlv_epi64(tamis_lens_load(block + 4), tamis_lens_lanes_high(places));
    return _mm256_testc_si256(_mm256_and_si256(low, high), _mm256_set1_epi64x(1)) != 0;
}

/* Set them.  Was one of them clear? */
TAMIS_LENS_FAST bool tamis_lens_lanes_add(uint64_t *block, __m256i places) {
    const __m256i one = _mm256_set1_epi64x(1),
                  bits_low = _mm256_sllv_epi64(one, tamis_lens_lanes_low(places)),
                  bits_high = _mm256_sllv_epi64(one, tamis_lens_lanes_high(places)),
                  low = tamis_lens_load(block), high = tamis_lens_load(block + 4),
                  lacks = _mm256_or_si256(_mm256_andnot_si256(low, bits_low),
                                          _mm256_andnot_si256(high, bits_high));
    _mm256_storeu_si256((__m256i *)(void *)block, _mm256_or_si256(low, bits_low));
    _mm256_storeu_si256((__m256i *)(void *)(block + 4), _mm256_or_si256(high, bits_high));
    return _mm256_testz_si256(lacks, lacks) == 0;
}

/* The hash stays in its register. */
TAMIS_LENS_AES bool tamis_lens_lanes_have_u64(const tamis_lens *lens, uint64_t key) {
    const __m128i hash = tamis_lens_aes(lens, key);
    return tamis_lens_lanes_have(tamis_lens_block_of(lens, (uint64_t)_mm_cvtsi128_si64(hash)),
                                 tamis_lens_lanes_upper(hash));
}

/* Set all bits of a key.  True if it is new. */
TAMIS_LENS_FAST bool tamis_lens_lanes_insert(tamis_lens *lens, uint64_t lo, __m256i places) {
    bool fresh = tamis_lens_lanes_add(tamis_lens_block_of(lens, lo), places);
    __asm__("" : "+r"(fresh)); /* to be counted and to be told: not found out twice */
    lens->state[0] += fresh;
    return fresh;
}

/* ---- rank ---- */

/* At least 57 bits from bit 'at' on. */
TAMIS_LENS_FAST uint64_t tamis_lens_bits(const uint64_t *table, uint64_t at) {
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)table + at / 8, sizeof bits);
    return bits >> at % 8;
}

/* 64 bits from bit 'at' on. */
TAMIS_LENS_FAST uint64_t tamis_lens_word(const uint64_t *table, uint64_t at) {
    const uint64_t *const w = table + at / 64;
    return w[0] >> at % 64 | w[1] << 1 << (63 - at % 64);
}

/* A slot, and whether its fingerprint is the key's. */
TAMIS_LENS_FAST bool tamis_lens_rank_in(const tamis_lens *lens, uint64_t slots, uint64_t s,
                                        uint64_t hi) {
    const uint64_t *const v = lens->value;
    return _bzhi_u64(tamis_lens_bits(lens->table, slots + s * v[TAMIS_LENS_RANK_WIDTH]) ^ hi,
                     (unsigned)v[TAMIS_LENS_RANK_BITS]) == 0;
}

/* A key in its bucket. */
typedef struct tamis_lens_seat {
    uint64_t at; /* bits before the bucket */
    uint64_t home;
} tamis_lens_seat;

TAMIS_LENS_FAST tamis_lens_seat tamis_lens_rank_of(const tamis_lens *lens, uint64_t lo) {
    const uint64_t *const v = lens->value;
    const tamis_lens_u128 product = (tamis_lens_u128)lo * lens->n;
    tamis_lens_seat seat;
    seat.at = (uint64_t)(product >> 64) * v[TAMIS_LENS_RANK_STRIDE];
    seat.home =
        (uint64_t)((tamis_lens_u128)(uint64_t)product * (unsigned)v[TAMIS_LENS_RANK_HOMES] >> 64);
    return seat;
}

/* Does a home have a chain?  From the one byte that tells. */
TAMIS_LENS_FAST uint64_t tamis_lens_rank_hit(const tamis_lens *lens, tamis_lens_seat seat) {
    const uint64_t bit = seat.at + seat.home;
    return (uint64_t)((const unsigned char *)lens->table)[bit / 8] >> bit % 8 & 1;
}

/* A bucket and the first two slots of a chain, as far as it has them.  Numbers are words, so that none has
 * to be extended to be an index. */
typedef struct tamis_lens_chain {
    uint64_t base, higher;
    uint64_t hit, goes_on; /* 1: there is a first slot, a second one */
    uint64_t one, two;     /* their numbers; of a chain of one slot, that one again */
} tamis_lens_chain;

/* 'known': the home has a chain. */
TAMIS_LENS_FAST tamis_lens_chain tamis_lens_rank_see(const tamis_lens *lens, tamis_lens_seat seat,
                                                     bool known) {
    const uint64_t *const v = lens->value;
    tamis_lens_chain c;
    c.base = _bzhi_u64(tamis_lens_word(lens->table, seat.at), (unsigned)v[TAMIS_LENS_RANK_HOMES]);
    c.higher = tamis_lens_word(lens->table, seat.at + v[TAMIS_LENS_RANK_HIGHER]);
    c.hit = known ? 1 : c.base >> seat.home & 1;
    c.one = (uint64_t)_mm_popcnt_u64(_bzhi_u64(c.base, (unsigned)seat.home));
    c.goes_on = c.higher >> c.one & c.hit;
    const uint64_t next =
        (uint64_t)(_mm_popcnt_u64(c.base) + _mm_popcnt_u64(_bzhi_u64(c.higher, (unsigned)c.one)));
    c.two = c.one + (next - c.one) * c.goes_on;
    return c;
}

/* Does one of the two have the key's fingerprint? */
TAMIS_LENS_FAST uint64_t tamis_lens_rank_found(const tamis_lens *lens, uint64_t at,
                                               const tamis_lens_chain *c, uint64_t hi) {
    const uint64_t slots = at + lens->value[TAMIS_LENS_RANK_SLOTS];
    return (c->hit & tamis_lens_rank_in(lens, slots, c->one, hi)) |
           (c->goes_on & tamis_lens_rank_in(lens, slots, c->two, hi));
}

/* Left to the library: a slot that is not among the first 64 of the bucket itself, and a chain of more than
 * two slots, if the key was not found. */
TAMIS_LENS_FAST unsigned tamis_lens_rank_has(const tamis_lens *lens, uint64_t lo, uint64_t hi,
                                             bool away) {
    const tamis_lens_seat seat = tamis_lens_rank_of(lens, lo);
    if (TAMIS_LENS_RARE(away))
        return TAMIS_LENS_ASK;
    if (tamis_lens_rank_hit(lens, seat) == 0) /* as for lines, above */
        return 0;
    const tamis_lens_chain c = tamis_lens_rank_see(lens, seat, true);
    if (TAMIS_LENS_RARE(c.two >= lens->value[TAMIS_LENS_RANK_NEAR]))
        return TAMIS_LENS_ASK;
    const uint64_t found = tamis_lens_rank_found(lens, seat.at, &c, hi);
    if (TAMIS_LENS_RARE((c.higher >> c.two & c.goes_on) > found))
        return TAMIS_LENS_ASK;
    return (unsigned)found;
}

/* Change up to 64 bits from bit 'at' on: those that are set in 'which'. */
TAMIS_LENS_FAST void tamis_lens_flip(uint64_t *table, uint64_t at, uint64_t which) {
    unsigned char *const bytes = (unsigned char *)table + at / 8;
    uint64_t bits;
    memcpy(&bits, bytes, sizeof bits);
    bits ^= which << at % 8;
    memcpy(bytes, &bits, sizeof bits);
    bytes[8] = (unsigned char)(bytes[8] ^ which >> 1 >> (63 - at % 8));
}

/* The bits from 'at' up to 'end' go up by 'width' <= 57, which those before 'end' have room for; 'value' goes
 * into the gap. */
TAMIS_LENS_FAST void tamis_lens_open(uint64_t *table, uint64_t at, uint64_t end, uint64_t width,
                                     uint64_t value) {
    uint64_t *const first = table + at / 64, *w = table + (end - 1) / 64;
    const uint64_t below = _bzhi_u64(~(uint64_t)0, (unsigned)(at % 64)), old = *first,
                   above = ~(uint64_t)1 << (end - 1) % 64;
    uint64_t here = *w, keep = here & above, mask = ~above;
    for (; w > first + 1; w--) {
        const uint64_t down = w[-1];
        *w = ((here << width | down >> (64 - width)) & mask) | keep;
        here = down;
        mask = ~(uint64_t)0;
        keep = 0;
    }
    if (w != first) {
        *w = ((here << width | (old & ~below) >> (64 - width) | value >> 1 >> (63 - at % 64)) &
              mask) |
             keep;
        mask = ~(uint64_t)0;
        keep = 0;
    }
    *first = (old & below) | (((old & ~below) << width | value << at % 64) & mask) | keep;
}

/* A new slot at the end of a chain of at most two, in a bucket of at most 64 slots without an extension that
 * has room, if no slot of the chain has the fingerprint.  False: nothing was changed. */
TAMIS_LENS_FAST bool tamis_lens_rank_insert(tamis_lens *lens, uint64_t lo, uint64_t hi, bool away) {
    const uint64_t *const v = lens->value;
    const tamis_lens_seat seat = tamis_lens_rank_of(lens, lo);
    const tamis_lens_chain c = tamis_lens_rank_see(lens, seat, false);
    const uint64_t all = v[TAMIS_LENS_RANK_ALL], width = v[TAMIS_LENS_RANK_WIDTH],
                   homes = v[TAMIS_LENS_RANK_HOMES];
    const uint64_t higher = _bzhi_u64(c.higher, (unsigned)all),
                   chains = (uint64_t)_mm_popcnt_u64(c.base),
                   load = chains + (uint64_t)_mm_popcnt_u64(higher);
    const uint64_t link = _bzhi_u64(tamis_lens_bits(lens->table, seat.at + homes),
                                    (unsigned)(v[TAMIS_LENS_RANK_HIGHER] - homes));
    if (TAMIS_LENS_RARE(away) || TAMIS_LENS_RARE(load >= all) || TAMIS_LENS_RARE(link != 0))
        return false;
    uint64_t next = c.one, linked = higher;
    if (c.hit != 0) {
        if (TAMIS_LENS_RARE(c.two >= all) ||
            TAMIS_LENS_RARE((c.higher >> c.two & c.goes_on) != 0) ||
            TAMIS_LENS_RARE(tamis_lens_rank_found(lens, seat.at, &c, hi) != 0))
            return false;
        next = chains + (uint64_t)_mm_popcnt_u64(_bzhi_u64(higher, (unsigned)c.two));
        linked |= (uint64_t)1 << c.two;
    }
    const uint64_t low = _bzhi_u64(linked, (unsigned)next);
    const uint64_t bit = seat.at + seat.home;
    unsigned char *const byte = (unsigned char *)lens->table + bit / 8;
    *byte = (unsigned char)(*byte | (c.hit ^ 1) << bit % 8);
    tamis_lens_flip(lens->table, seat.at + v[TAMIS_LENS_RANK_HIGHER],
                    higher ^ (low | (linked ^ low) << 1));
    const uint64_t slots = seat.at + v[TAMIS_LENS_RANK_SLOTS];
    tamis_lens_open(lens->table, slots + next * width, slots + (load + 1) * width, width,
                    _bzhi_u64(hi, (unsigned)v[TAMIS_LENS_RANK_BITS]));
    lens->state[0]++;
    return true;
}

/* By themselves: their registers are saved for their keys only, and not for those of other forms. */
TAMIS_LENS_APART bool tamis_lens_rank_contains(const tamis_lens *lens, uint64_t lo, uint64_t hi) {
    const unsigned answer = tamis_lens_rank_has(lens, lo, hi, **lens->away != 0);
    if (TAMIS_LENS_RARE(answer == TAMIS_LENS_ASK)) {
        tamis_digest digest;
        digest.lo = lo;
        digest.hi = hi;
        return lens->contains(lens->filter, digest);
    }
    return answer != 0;
}

TAMIS_LENS_APART tamis_status tamis_lens_rank_add(tamis_lens *lens, uint64_t lo, uint64_t hi,
                                                  bool *added) {
    if (lens->value[TAMIS_LENS_RANK_ALL] == 0 ||
        !tamis_lens_rank_insert(lens, lo, hi, **lens->away != 0)) {
        tamis_digest digest;
        digest.lo = lo;
        digest.hi = hi;
        return lens->insert(lens->written, digest, added);
    }
    if (added != NULL)
        *added = true;
    return TAMIS_OK;
}

#ifdef TAMIS_LENS_AVX512
#include <tamis/inline_avx512.h>

/* What that leaves to the functions above. */
TAMIS_LENS_APART unsigned tamis_lens_line_has_apart(const tamis_lens *lens, uint64_t lo,
                                                    uint64_t hi, bool set) {
    return tamis_lens_line_has(lens, lo, hi, set, **lens->away != 0);
}
#endif

/* ---- of either form ---- */

TAMIS_LENS_FAST unsigned tamis_lens_lines_have(const tamis_lens *lens, uint32_t form, uint64_t lo,
                                               uint64_t hi) {
    const bool away = **lens->away != 0, set = form != TAMIS_LENS_LINE;
#ifdef TAMIS_LENS_AVX512
    const unsigned answer = set ? tamis_lens_wide_line_has(lens, lo, hi, true, away)
                                : tamis_lens_wide_line_has(lens, lo, hi, false, away);
    return TAMIS_LENS_RARE(answer == TAMIS_LENS_ASK) ? tamis_lens_line_has_apart(lens, lo, hi, set)
                                                     : answer;
#else
    return set ? tamis_lens_line_has(lens, lo, hi, true, away)
               : tamis_lens_line_has(lens, lo, hi, false, away);
#endif
}

TAMIS_LENS_FAST tamis_status tamis_lens_lines_insert(tamis_lens *lens, uint32_t form, __m128i hash,
                                                     bool *added) {
    const bool away = **lens->away != 0;
    if (form == TAMIS_LENS_LINE_SET)
        return tamis_lens_line_insert(lens, hash, added, true, away);
#ifdef TAMIS_LENS_AVX512
    const uint64_t lo = (uint64_t)_mm_cvtsi128_si64(hash),
                   hi = (uint64_t)_mm_extract_epi64(hash, 1);
    return tamis_lens_wide_line_insert(lens, lo, hi, added, away);
#else
    return tamis_lens_line_insert(lens, hash, added, false, away);
#endif
}

/* What a key sets in a block of lanes: from the other half of its digest, or from both in a register. */
#ifdef TAMIS_LENS_AVX512
typedef __m512i tamis_lens_marks;

TAMIS_LENS_FAST tamis_lens_marks tamis_lens_marks_of(uint64_t hash) {
    return tamis_lens_wide_lanes(_mm_set_epi64x((long long)hash, 0));
}

TAMIS_LENS_FAST tamis_lens_marks tamis_lens_marks_upper(__m128i hash) {
    return tamis_lens_wide_lanes(hash);
}

TAMIS_LENS_FAST bool tamis_lens_marks_have(const uint64_t *block, tamis_lens_marks marks) {
    return tamis_lens_wide_lanes_have(block, marks);
}

TAMIS_LENS_FAST bool tamis_lens_marks_insert(tamis_lens *lens, uint64_t lo,
                                             tamis_lens_marks marks) {
    const bool fresh = tamis_lens_wide_lanes_add(tamis_lens_block_of(lens, lo), marks);
    lens->state[0] += fresh;
    return fresh;
}
#else
typedef __m256i tamis_lens_marks;
#define tamis_lens_marks_of     tamis_lens_lanes_places
#define tamis_lens_marks_upper  tamis_lens_lanes_upper
#define tamis_lens_marks_have   tamis_lens_lanes_have
#define tamis_lens_marks_insert tamis_lens_lanes_insert
#endif

#endif

/* All of it is compiled into the caller.  A digest that is passed in two registers and read as a vector goes
 * through memory by two writes and one read, which has to wait until the writes are done, and these for
 * everything before them: calls would then no longer overlap. */
#if defined(__GNUC__)
#define TAMIS_LENS_HERE __attribute__((always_inline)) static inline
#else
#define TAMIS_LENS_HERE static inline
#endif

/* -------------------------------------------------------------------------------------------------
 * One key: as the functions of tamis.h with these names.  No lens is NULL.
 *
 * Each call asks which form the lens has.  Who knows it when the program is written, as 'lens.form' tells it
 * of a filter, takes the functions that end in _as, with the form as a constant: only its code is compiled,
 * and a lens of another form is served by calls of the library.
 */

TAMIS_LENS_HERE bool tamis_lens_contains_digest_as(const tamis_lens *lens, uint32_t form,
                                                   tamis_digest digest) {
#ifdef TAMIS_LENS_X86
    if (lens->form != form) {
    } else if (form == TAMIS_LENS_LINE || form == TAMIS_LENS_LINE_SET) {
        const unsigned answer = tamis_lens_lines_have(lens, form, digest.lo, digest.hi);
        if (answer != TAMIS_LENS_ASK)
            return answer != 0;
    } else if (form == TAMIS_LENS_BLOCK && *lens->grown == 0) {
        return tamis_lens_block_has(lens, tamis_lens_block_of(lens, digest.lo),
                                    _mm_set_epi64x((long long)digest.hi, 0), true);
    } else if (form == TAMIS_LENS_LANES && *lens->grown == 0) {
        return tamis_lens_marks_have(tamis_lens_block_of(lens, digest.lo),
                                     tamis_lens_marks_of(digest.hi));
    } else if (form == TAMIS_LENS_RANK) {
        return tamis_lens_rank_contains(lens, digest.lo, digest.hi);
    }
#else
    (void)form;
#endif
    return lens->contains(lens->filter, digest);
}

TAMIS_LENS_HERE bool tamis_lens_contains_digest(const tamis_lens *lens, tamis_digest digest) {
    return tamis_lens_contains_digest_as(lens, lens->form, digest);
}

/* TAMIS_E_READONLY: the lens was taken to read. */
TAMIS_LENS_HERE tamis_status tamis_lens_insert_digest_as(tamis_lens *lens, uint32_t form,
                                                         tamis_digest digest, bool *added) {
    if (lens->written == NULL)
        return TAMIS_E_READONLY;
#ifdef TAMIS_LENS_X86
    const bool lanes = form == TAMIS_LENS_LANES;
    if (lens->form != form) {
    } else if ((lanes || form == TAMIS_LENS_BLOCK) && *lens->grown == 0) {
        const bool fresh =
            lanes ? tamis_lens_marks_insert(lens, digest.lo, tamis_lens_marks_of(digest.hi))
                  : tamis_lens_block_insert(lens, digest.lo,
                                            _mm_set_epi64x((long long)digest.hi, 0), true);
        if (added != NULL)
            *added = fresh;
        return TAMIS_OK;
    } else if (form == TAMIS_LENS_LINE || form == TAMIS_LENS_LINE_SET) {
        return tamis_lens_lines_insert(lens, form, tamis_lens_hash_of(digest), added);
    } else if (form == TAMIS_LENS_RANK) {
        return tamis_lens_rank_add(lens, digest.lo, digest.hi, added);
    }
#else
    (void)form;
#endif
    return lens->insert(lens->written, digest, added);
}

TAMIS_LENS_HERE tamis_status tamis_lens_insert_digest(tamis_lens *lens, tamis_digest digest,
                                                      bool *added) {
    return tamis_lens_insert_digest_as(lens, lens->form, digest, added);
}

/* TAMIS_E_READONLY: the lens was taken to read. */
TAMIS_LENS_HERE tamis_status tamis_lens_remove_digest_as(tamis_lens *lens, uint32_t form,
                                                         tamis_digest digest) {
    if (lens->written == NULL)
        return TAMIS_E_READONLY;
#ifdef TAMIS_LENS_X86
    if (lens->form == form && form == TAMIS_LENS_LINE &&
        tamis_lens_line_remove(lens, digest, **lens->away != 0))
        return TAMIS_OK;
#else
    (void)form;
#endif
    return lens->remove(lens->written, digest);
}

TAMIS_LENS_HERE tamis_status tamis_lens_remove_digest(tamis_lens *lens, tamis_digest digest) {
    return tamis_lens_remove_digest_as(lens, lens->form, digest);
}

/* The digest of an integer, by the hash of the filter. */
TAMIS_LENS_HERE tamis_digest tamis_lens_digest_u64(const tamis_lens *lens, uint64_t key) {
#ifdef TAMIS_LENS_X86
    if (lens->word_form == TAMIS_LENS_XXH3)
        return tamis_lens_xxh3(lens, key);
#endif
#ifdef TAMIS_LENS_X86_AES
    if (lens->word_form != TAMIS_LENS_CALLS)
        return tamis_lens_aes_digest(lens, key);
#endif
    return tamis_hash_u64(tamis_filter_hasher(lens->filter), key);
}

TAMIS_LENS_HERE bool tamis_lens_contains_u64_as(const tamis_lens *lens, uint32_t form,
                                                uint64_t key) {
#ifdef TAMIS_LENS_X86
    if (lens->word_form == TAMIS_LENS_XXH3)
        return tamis_lens_contains_digest_as(lens, form, tamis_lens_xxh3(lens, key));
#endif
#ifdef TAMIS_LENS_X86_AES
    if (lens->word_form != form) {
    } else if (form == TAMIS_LENS_LINE || form == TAMIS_LENS_LINE_SET) {
        const __m128i hash = tamis_lens_aes(lens, key);
        const unsigned answer = tamis_lens_lines_have(lens, form, (uint64_t)_mm_cvtsi128_si64(hash),
                                                      (uint64_t)_mm_extract_epi64(hash, 1));
        if (answer != TAMIS_LENS_ASK)
            return answer != 0;
    } else if (form == TAMIS_LENS_BLOCK && *lens->grown == 0) {
        return tamis_lens_block_has_u64(lens, key, true);
    } else if (form == TAMIS_LENS_LANES && *lens->grown == 0) {
        const __m128i hash = tamis_lens_aes(lens, key);
        return tamis_lens_marks_have(tamis_lens_block_of(lens, (uint64_t)_mm_cvtsi128_si64(hash)),
                                     tamis_lens_marks_upper(hash));
    } else if (form == TAMIS_LENS_RANK) {
        const tamis_digest digest = tamis_lens_aes_digest(lens, key);
        return tamis_lens_rank_contains(lens, digest.lo, digest.hi);
    }
#else
    (void)form;
#endif
    return tamis_filter_contains_u64(lens->filter, key);
}

TAMIS_LENS_HERE bool tamis_lens_contains_u64(const tamis_lens *lens, uint64_t key) {
    return tamis_lens_contains_u64_as(lens, lens->form, key);
}

TAMIS_LENS_HERE tamis_status tamis_lens_insert_u64_as(tamis_lens *lens, uint32_t form, uint64_t key,
                                                      bool *added) {
#ifdef TAMIS_LENS_X86_AES
    /* The digest stays in its register. */
    if (lens->word_form == form && lens->written != NULL &&
        (form == TAMIS_LENS_LINE || form == TAMIS_LENS_LINE_SET)) {
        return tamis_lens_lines_insert(lens, form, tamis_lens_aes(lens, key), added);
    }
#endif
    return tamis_lens_insert_digest_as(lens, form, tamis_lens_digest_u64(lens, key), added);
}

TAMIS_LENS_HERE tamis_status tamis_lens_insert_u64(tamis_lens *lens, uint64_t key, bool *added) {
    return tamis_lens_insert_u64_as(lens, lens->form, key, added);
}

TAMIS_LENS_HERE tamis_status tamis_lens_remove_u64_as(tamis_lens *lens, uint32_t form,
                                                      uint64_t key) {
    return tamis_lens_remove_digest_as(lens, form, tamis_lens_digest_u64(lens, key));
}

TAMIS_LENS_HERE tamis_status tamis_lens_remove_u64(tamis_lens *lens, uint64_t key) {
    return tamis_lens_remove_digest(lens, tamis_lens_digest_u64(lens, key));
}

#ifdef __cplusplus
}
#endif

#endif
