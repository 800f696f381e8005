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
 *    Without these, and on all others, each function here is one call of the library, which finds out by
 *    itself what the processor can do.
 *  - Whatever is not the common case (a key in the stash, a line that must be cut) is a call of the library.
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
#define TAMIS_LENS_LINE     1u /* line: 64 homes, and seldom more than 62 entries */
#define TAMIS_LENS_LINE_SET 2u /* line-set: the same, and without a limit */
#define TAMIS_LENS_BLOCK    3u /* blocked-bloom */
#define TAMIS_LENS_RANK     4u /* rank: slots of at most 57 bits */

/* Indices of value[], by form. */
#define TAMIS_LENS_LINE_CAP     0 /* bits of a fingerprint at most, times 256, and 1 */
#define TAMIS_LENS_LINE_MOST    1 /* entries of a line at most */
#define TAMIS_LENS_BLOCK_HASHES 0
#define TAMIS_LENS_RANK_HOMES   0
#define TAMIS_LENS_RANK_STRIDE  1 /* bits of a bucket, and where its parts begin */
#define TAMIS_LENS_RANK_HIGHER  2
#define TAMIS_LENS_RANK_SLOTS   3
#define TAMIS_LENS_RANK_NEAR    4 /* slots of a bucket, at most 64 */
#define TAMIS_LENS_RANK_WIDTH   5 /* bits of a slot */
#define TAMIS_LENS_RANK_BITS    6 /* of these, the fingerprint's */

/* Do not touch the members: they are for the functions below. */
typedef struct tamis_lens {
    uint32_t version, form;
    uint32_t word_form,
        reserved; /* the form, if integers are hashed by AES, or else TAMIS_LENS_CALLS */
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
    uint64_t keys[11][2]; /* of the rounds of AES; the first with what belongs to eight bytes */
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
    unsigned home;
} tamis_lens_place;

TAMIS_LENS_FAST tamis_lens_place tamis_lens_line_of(const tamis_lens *lens, uint64_t lo) {
    const tamis_lens_u128 product = (tamis_lens_u128)lo * lens->n;
    tamis_lens_place place;
    place.words = lens->table + 8 * (uint64_t)(product >> 64);
    place.home = (unsigned)((uint64_t)product >> 58);
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

/* No branch is in here: which way it goes would be known only when the line has come from memory. */
TAMIS_LENS_FAST tamis_lens_run tamis_lens_line_see(const tamis_lens *lens, const uint64_t *words,
                                                   unsigned home, bool set) {
    const uint64_t homes = words[0], ones = words[1] << 1 | 1;
    const uint64_t both = _pdep_u64((uint64_t)3 << _mm_popcnt_u64(_bzhi_u64(homes, home)), ones);
    const uint64_t runs = (uint64_t)_mm_popcnt_u64(homes);
    tamis_lens_run run;
    run.ones = ones;
    run.start = _tzcnt_u64(both);
    run.entries = ((63 ^ _lzcnt_u64(both)) - run.start) * (homes >> home & 1);
    run.n = _tzcnt_u64(_pdep_u64((uint64_t)1 << (runs & 63), ones));
    if (set) {
        const uint64_t split = tamis_lens_line_split(lens, run.n);
        run.r = split >> 8;
        run.longs = tamis_lens_line_longs(ones, split);
        run.bits = 0;
    } else {
        run.bits = words[7] >> 55;
        run.r = run.bits * lens->inverse[run.n] >> 20;
        run.longs = run.bits - run.r * run.n;
    }
    const uint64_t is_long = 0 - (uint64_t)(run.start < run.longs);
    run.length = run.r - is_long;
    run.down = run.start * run.length + (run.longs & ~is_long) + (set ? 0 : 9);
    return run;
}

/* The highest bit of the lowest fingerprint that matches, and perhaps of others above it; bit 63 is the
 * highest of the run, which has 'bits' <= 57 bits.  What follows the run matches nothing. */
TAMIS_LENS_FAST uint64_t tamis_lens_line_hits(const tamis_lens *lens, const uint64_t *words,
                                              const tamis_lens_run *run, uint64_t bits,
                                              uint64_t fingerprint) {
    const uint64_t ones = lens->repeat[run->length];
    uint64_t window; /* the eight bytes that end with the run's first entry, or after it */
    memcpy(&window, (const unsigned char *)words + 56 - run->down / 8, sizeof window);
    const uint64_t x =
        (window << run->down % 8 ^ (fingerprint >> ((0 - run->length) & 63)) * ones) |
        ~(uint64_t)0 >> bits;
    return (x - ones) & ~x & lens->repeat[64 + run->length];
}

/* A line of 1 to 62 entries, of 2 bits or more. */
TAMIS_LENS_FAST bool tamis_lens_line_ok(const tamis_lens *lens, const tamis_lens_run *run) {
    return lens->repeat[run->length] != 0;
}

TAMIS_LENS_FAST unsigned tamis_lens_line_has(const tamis_lens *lens, uint64_t lo, uint64_t hi,
                                             bool set, bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, lo);
    if (TAMIS_LENS_RARE(away))
        return TAMIS_LENS_ASK;
    const tamis_lens_run run = tamis_lens_line_see(lens, place.words, place.home, set);
    const uint64_t bits = run.entries * run.length;
    if (TAMIS_LENS_RARE(!tamis_lens_line_ok(lens, &run)) ||
        TAMIS_LENS_RARE(bits > TAMIS_LENS_WINDOW))
        return TAMIS_LENS_ASK;
    return tamis_lens_line_hits(lens, place.words, &run, bits, hi) != 0;
}

/* The bits of a line below bit m: row m % 8 of a table has m ones and then zeros from byte 64 - m / 8 on. */
TAMIS_LENS_FAST const __m256i *tamis_lens_line_below(const tamis_lens *lens, unsigned m) {
    return (const __m256i *)(const void *)((const unsigned char *)(lens->below + 8) + m % 8 * 128 -
                                           m / 8);
}

/* Put a new entry in, if no other becomes shorter.  False: nothing was changed.
 *
 * The fingerprints below its place go down by its length.  What comes down to words 0 and 1 from the ends is
 * overwritten: they go down too, below the entry after the last. */
TAMIS_LENS_FAST bool tamis_lens_line_add(const tamis_lens *lens, uint64_t *words, unsigned home,
                                         uint64_t fingerprint, bool set) {
    const tamis_lens_run run = tamis_lens_line_see(lens, words, home, set);
    const uint64_t homes = words[0], hit = homes >> home & 1;
    const unsigned n = (unsigned)run.n + 1, start = (unsigned)run.start;
    const uint64_t run_bits = run.entries * run.length;
    if (TAMIS_LENS_RARE(!tamis_lens_line_ok(lens, &run) ||
                        run.n >= lens->value[TAMIS_LENS_LINE_MOST] ||
                        run_bits > TAMIS_LENS_WINDOW ||
                        tamis_lens_line_hits(lens, words, &run, run_bits, fingerprint) != 0))
        return false;
    const uint64_t old = run.ones >> 1, lower = _bzhi_u64(old, start);
    const uint64_t ends = lower | (old ^ lower) << 1 | (hit ^ 1) << start,
                   mask = _bzhi_u64(~(uint64_t)0, n);
    unsigned is_long;
    if (set) {
        const uint64_t split = tamis_lens_line_split(lens, n),
                       longs = tamis_lens_line_longs(ends << 1 | 1, split);
        is_long = start < longs;
        if (split >> 8 != run.r || longs - is_long != run.longs)
            return false;
    } else {
        const unsigned room = 503u - 64u - n,
                       most = (unsigned)lens->value[TAMIS_LENS_LINE_CAP] >> 8;
        const unsigned more = (unsigned)(run.bits + run.r);
        is_long = (start < run.longs) |
                  ((unsigned)(hit ^ 1) & (start == run.longs) & (run.r < most) & (more < room));
        if (more + is_long > room)
            return false;
    }
    const unsigned length = (unsigned)run.r + is_long, end = 512 - (unsigned)run.down,
                   byte = (end + 7) / 8;
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)words),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(words + 4));
    const __m256i turned_low = _mm256_permute4x64_epi64(low, 0x39),
                  turned_high = _mm256_permute4x64_epi64(high, 0x39);
    const __m128i right = _mm_cvtsi32_si128((int)length),
                  left = _mm_cvtsi32_si128(64 - (int)length);
    const __m256i *const over = tamis_lens_line_below(lens, end), *const gap =
                                                                      tamis_lens_line_below(
                                                                          lens, end - length);
    /* The highest word comes round, but nothing of it is below the gap. */
    const __m256i moved_low =
        _mm256_or_si256(_mm256_srl_epi64(low, right),
                        _mm256_sll_epi64(_mm256_blend_epi32(turned_low, turned_high, 0xc0), left));
    const __m256i moved_high =
        _mm256_or_si256(_mm256_srl_epi64(high, right), _mm256_sll_epi64(turned_high, left));
    _mm256_storeu_si256((__m256i *)(void *)words,
                        _mm256_or_si256(_mm256_andnot_si256(_mm256_loadu_si256(over), low),
                                        _mm256_and_si256(_mm256_loadu_si256(gap), moved_low)));
    _mm256_storeu_si256((__m256i *)(void *)(words + 4),
                        _mm256_or_si256(_mm256_andnot_si256(_mm256_loadu_si256(over + 1), high),
                                        _mm256_and_si256(_mm256_loadu_si256(gap + 1), moved_high)));
    words[0] = homes | (uint64_t)1 << home;
    words[1] = (words[1] & ~mask) | (ends & mask);
    if (!set)
        words[7] += (uint64_t)length << 55;
    unsigned char *const at = (unsigned char *)words + byte - 8;
    uint64_t window;
    memcpy(&window, at, sizeof window);
    window |= fingerprint >> (64 - length) << (end - length + 64 - 8 * byte);
    memcpy(at, &window, sizeof window);
    return true;
}

/* Take the lowest of the entries with this fingerprint away.  False: nothing was changed. */
TAMIS_LENS_FAST bool tamis_lens_line_drop(const tamis_lens *lens, uint64_t *words, unsigned home,
                                          uint64_t fingerprint) {
    const tamis_lens_run run = tamis_lens_line_see(lens, words, home, false);
    const uint64_t homes = words[0];
    const unsigned n = (unsigned)run.n;
    const uint64_t bits = run.entries * run.length;
    if (TAMIS_LENS_RARE(!tamis_lens_line_ok(lens, &run) || bits > TAMIS_LENS_WINDOW))
        return false;
    const uint64_t hits = tamis_lens_line_hits(lens, words, &run, bits, fingerprint);
    if (TAMIS_LENS_RARE(hits == 0))
        return false;
    const unsigned end = 512 - 63 + (unsigned)(_tzcnt_u64(hits) - run.down),
                   length = (unsigned)run.length;
    const uint64_t old = run.ones >> 1, lower = _bzhi_u64(old, (unsigned)run.start);
    const uint64_t ends =
        _bzhi_u64(lower | (old >> 1 & ~_bzhi_u64(~(uint64_t)0, (unsigned)run.start)), n - 1);
    /* Without homes and ends, what is below the entry goes up. */
    const __m256i whole = _mm256_loadu_si256((const __m256i *)(const void *)words),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(words + 4));
    const __m128i first = _mm_slli_si128(_mm_cvtsi64_si128((long long)(words[1] >> n << n)), 8);
    const __m256i low = _mm256_blend_epi32(whole, _mm256_castsi128_si256(first), 0x0f);
    const __m256i turned_low = _mm256_permute4x64_epi64(low, 0x93),
                  turned_high = _mm256_permute4x64_epi64(high, 0x93);
    const __m128i left = _mm_cvtsi32_si128((int)length),
                  right = _mm_cvtsi32_si128(64 - (int)length);
    const __m256i *const over = tamis_lens_line_below(lens, end);
    /* Word 0 is 0, but for what comes round: it is written again. */
    const __m256i moved_low =
        _mm256_or_si256(_mm256_sll_epi64(low, left), _mm256_srl_epi64(turned_low, right));
    const __m256i moved_high =
        _mm256_or_si256(_mm256_sll_epi64(high, left),
                        _mm256_srl_epi64(_mm256_blend_epi32(turned_high, turned_low, 0x03), right));
    const __m256i over_low = _mm256_loadu_si256(over), over_high = _mm256_loadu_si256(over + 1);
    _mm256_storeu_si256(
        (__m256i *)(void *)words,
        _mm256_or_si256(_mm256_andnot_si256(over_low, low), _mm256_and_si256(over_low, moved_low)));
    _mm256_storeu_si256((__m256i *)(void *)(words + 4),
                        _mm256_or_si256(_mm256_andnot_si256(over_high, high),
                                        _mm256_and_si256(over_high, moved_high)));
    words[0] = run.entries == 1 ? homes & ~((uint64_t)1 << home) : homes;
    words[1] |= ends;
    words[7] -= (uint64_t)length << 55;
    return true;
}

TAMIS_LENS_FAST bool tamis_lens_line_insert(tamis_lens *lens, tamis_digest digest, bool set,
                                            bool away) {
    const tamis_lens_place place = tamis_lens_line_of(lens, digest.lo);
    if (TAMIS_LENS_RARE(away) ||
        !tamis_lens_line_add(lens, place.words, place.home, digest.hi, set))
        return false;
    lens->state[0]++;
    return true;
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

TAMIS_LENS_FAST __m256i tamis_lens_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

/* The bits of up to eight places that are clear in the block; the top 9 bits of a lane are a place.  The top
 * bit selects the half of the block, the next three the lane in it, the last five the bit. */
TAMIS_LENS_FAST __m256i tamis_lens_block_lacks(const uint64_t *block, __m256i where, __m256i used) {
    const __m256i lane = _mm256_srli_epi32(where, 28);
    const __m256i low = _mm256_permutevar8x32_epi32(tamis_lens_load(block), lane),
                  high = _mm256_permutevar8x32_epi32(tamis_lens_load(block + 4), lane);
    const __m256i word = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(low), _mm256_castsi256_ps(high), _mm256_castsi256_ps(where)));
    return _mm256_andnot_si256(
        word, _mm256_sllv_epi32(used, _mm256_srli_epi32(_mm256_slli_epi32(where, 4), 27)));
}

/* 'hash' has the other half of the digest in its upper half. */
TAMIS_LENS_FAST bool tamis_lens_block_has(const tamis_lens *lens, const uint64_t *block,
                                          __m128i hash) {
    const __m256i factor = _mm256_broadcastd_epi32(_mm_shuffle_epi32(hash, 0xaa)),
                  offset = _mm256_broadcastd_epi32(_mm_shuffle_epi32(hash, 0xff));
    __m256i lacks = tamis_lens_block_lacks(
        block, _mm256_add_epi32(_mm256_mullo_epi32(factor, tamis_lens_load(lens->factors)), offset),
        tamis_lens_load(lens->used));
    if (TAMIS_LENS_RARE(lens->value[TAMIS_LENS_BLOCK_HASHES] > 8))
        lacks = _mm256_or_si256(
            lacks, tamis_lens_block_lacks(
                       block,
                       _mm256_add_epi32(
                           _mm256_mullo_epi32(factor, tamis_lens_load(lens->factors + 8)), offset),
                       tamis_lens_load(lens->used + 8)));
    return _mm256_testz_si256(lacks, lacks) != 0;
}

/* The hash stays in its register. */
TAMIS_LENS_AES bool tamis_lens_block_has_u64(const tamis_lens *lens, uint64_t key) {
    const __m128i hash = tamis_lens_aes(lens, key);
    return tamis_lens_block_has(lens, tamis_lens_block_of(lens, (uint64_t)_mm_cvtsi128_si64(hash)),
                                hash);
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

/* Two slots of the chain without a branch, for which way it goes would be known only when the bucket has come
 * from memory.  Left to the library: a slot that is not among the first 64 of the bucket itself, and a chain
 * that is longer, if the key was not found. */
TAMIS_LENS_FAST unsigned tamis_lens_rank_has(const tamis_lens *lens, uint64_t lo, uint64_t hi,
                                             bool away) {
    const uint64_t *const v = lens->value;
    const tamis_lens_u128 product = (tamis_lens_u128)lo * lens->n;
    const uint64_t at = (uint64_t)(product >> 64) * v[TAMIS_LENS_RANK_STRIDE];
    const unsigned homes = (unsigned)v[TAMIS_LENS_RANK_HOMES],
                   home = (unsigned)((tamis_lens_u128)(uint64_t)product * homes >> 64);
    if (TAMIS_LENS_RARE(away))
        return TAMIS_LENS_ASK;
    const uint64_t base = _bzhi_u64(tamis_lens_word(lens->table, at), homes),
                   higher = tamis_lens_word(lens->table, at + v[TAMIS_LENS_RANK_HIGHER]),
                   slots = at + v[TAMIS_LENS_RANK_SLOTS];
    const uint64_t hit = base >> home & 1, one = (uint64_t)_mm_popcnt_u64(_bzhi_u64(base, home)),
                   goes_on = higher >> one & hit,
                   next = (uint64_t)(_mm_popcnt_u64(base) +
                                     _mm_popcnt_u64(_bzhi_u64(higher, (unsigned)one))),
                   two = one + (next - one) * goes_on; /* of a chain of one slot, that one again */
    if (TAMIS_LENS_RARE(two >= v[TAMIS_LENS_RANK_NEAR]))
        return TAMIS_LENS_ASK;
    const unsigned found = (unsigned)((hit & tamis_lens_rank_in(lens, slots, one, hi)) |
                                      (goes_on & tamis_lens_rank_in(lens, slots, two, hi)));
    if (TAMIS_LENS_RARE((higher >> two & goes_on) > found))
        return TAMIS_LENS_ASK;
    return found;
}

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
 */

#ifdef TAMIS_LENS_X86
/* The forms in which a key has a place of its own, and perhaps one in the stash. */
TAMIS_LENS_HERE unsigned tamis_lens_has(const tamis_lens *lens, uint32_t form, uint64_t lo,
                                        uint64_t hi) {
    const bool away = **lens->away != 0;
    if (form == TAMIS_LENS_LINE)
        return tamis_lens_line_has(lens, lo, hi, false, away);
    if (form == TAMIS_LENS_LINE_SET)
        return tamis_lens_line_has(lens, lo, hi, true, away);
    return form == TAMIS_LENS_RANK ? tamis_lens_rank_has(lens, lo, hi, away) : TAMIS_LENS_ASK;
}
#endif

TAMIS_LENS_HERE bool tamis_lens_contains_digest(const tamis_lens *lens, tamis_digest digest) {
#ifdef TAMIS_LENS_X86
    if (lens->form == TAMIS_LENS_BLOCK && *lens->grown == 0)
        return tamis_lens_block_has(lens, tamis_lens_block_of(lens, digest.lo),
                                    _mm_set_epi64x((long long)digest.hi, 0));
    const unsigned answer = tamis_lens_has(lens, lens->form, digest.lo, digest.hi);
    if (answer != TAMIS_LENS_ASK)
        return answer != 0;
#endif
    return lens->contains(lens->filter, digest);
}

/* TAMIS_E_READONLY: the lens was taken to read. */
TAMIS_LENS_HERE tamis_status tamis_lens_insert_digest(tamis_lens *lens, tamis_digest digest,
                                                      bool *added) {
    if (lens->written == NULL)
        return TAMIS_E_READONLY;
#ifdef TAMIS_LENS_X86
    if ((lens->form == TAMIS_LENS_LINE &&
         tamis_lens_line_insert(lens, digest, false, **lens->away != 0)) ||
        (lens->form == TAMIS_LENS_LINE_SET &&
         tamis_lens_line_insert(lens, digest, true, **lens->away != 0))) {
        if (added != NULL)
            *added = true;
        return TAMIS_OK;
    }
#endif
    return lens->insert(lens->written, digest, added);
}

/* TAMIS_E_READONLY: the lens was taken to read. */
TAMIS_LENS_HERE tamis_status tamis_lens_remove_digest(tamis_lens *lens, tamis_digest digest) {
    if (lens->written == NULL)
        return TAMIS_E_READONLY;
#ifdef TAMIS_LENS_X86
    if (lens->form == TAMIS_LENS_LINE && tamis_lens_line_remove(lens, digest, **lens->away != 0))
        return TAMIS_OK;
#endif
    return lens->remove(lens->written, digest);
}

/* The digest of an integer, by the hash of the filter. */
TAMIS_LENS_HERE tamis_digest tamis_lens_digest_u64(const tamis_lens *lens, uint64_t key) {
#ifdef TAMIS_LENS_X86_AES
    if (lens->word_form != TAMIS_LENS_CALLS)
        return tamis_lens_aes_digest(lens, key);
#endif
    return tamis_hash_u64(tamis_filter_hasher(lens->filter), key);
}

TAMIS_LENS_HERE bool tamis_lens_contains_u64(const tamis_lens *lens, uint64_t key) {
#ifdef TAMIS_LENS_X86_AES
    const uint32_t form = lens->word_form;
    if (form == TAMIS_LENS_BLOCK && *lens->grown == 0)
        return tamis_lens_block_has_u64(lens, key);
    const __m128i hash = tamis_lens_aes(lens, key);
    const unsigned answer = tamis_lens_has(lens, form, (uint64_t)_mm_cvtsi128_si64(hash),
                                           (uint64_t)_mm_extract_epi64(hash, 1));
    if (answer != TAMIS_LENS_ASK)
        return answer != 0;
#endif
    return tamis_filter_contains_u64(lens->filter, key);
}

TAMIS_LENS_HERE tamis_status tamis_lens_insert_u64(tamis_lens *lens, uint64_t key, bool *added) {
    return tamis_lens_insert_digest(lens, tamis_lens_digest_u64(lens, key), added);
}

TAMIS_LENS_HERE tamis_status tamis_lens_remove_u64(tamis_lens *lens, uint64_t key) {
    return tamis_lens_remove_digest(lens, tamis_lens_digest_u64(lens, key));
}

#ifdef __cplusplus
}
#endif

#endif
