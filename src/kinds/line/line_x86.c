/* line_x86.c - the operations of line_bits.h for x86-64 with POPCNT, BMI2 and AVX2
 *
 * One decoded view of a line, a line_view, serves all six:
 *
 *      before   ones of the homes below this one, counted
 *      first    one number 'before' of the starts, by PDEP, and 'next' the one after it
 *      run      next - first, if the home is there: the places of its entries
 *      equal    those where no plane differs from the fingerprint
 *
 * If 'next' is zero, the home lies above all that are here.  So a question has one branch, on that, which
 * is rare, and loops over what the shape says.
 *
 * An entry is added or dropped by moving the whole line, in two registers, with masks from tables
 * (line_tables.h).  The bit of a home and of a start is put into the line afterwards.
 *
 * Bits that nobody has checked may give places that make no sense, but none above C, and a move stays within the two
 * registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/hash.h"
#include "hash/x86/target.h"
#include "kinds/line/line_tables.h"

#include <immintrin.h>

#define FAST TAMIS_I_TARGET_ALL

/* ---- looking ---- */

typedef struct line_view {
    uint64_t *word; /* that has the home */
    uint64_t home;  /* its bit there */
    uint64_t here;  /* 1 if it is set */
    uint64_t starts, first, next, run;
} line_view;

FAST TAMIS_INLINE unsigned line_ones_of(uint64_t word) {
    return (unsigned)__builtin_popcountll(word);
}

FAST TAMIS_INLINE uint64_t line_load(const uint64_t *line, unsigned byte) {
    uint64_t word;
    memcpy(&word, (const unsigned char *)line + byte, sizeof word);
    return word;
}

FAST TAMIS_INLINE void line_set(uint64_t *line, unsigned byte, uint64_t bits) {
    const uint64_t word = line_load(line, byte) | bits;
    memcpy((unsigned char *)line + byte, &word, sizeof word);
}

/* 'wide': homes may be in two words. */
FAST TAMIS_INLINE line_view line_see(const tamis_i_line_tables *t, const uint64_t *line,
                                     unsigned home, bool wide) {
    const unsigned in = wide ? home / 64 : 0;
    const uint64_t mine = line[in], bit = home % 64;
    unsigned before = line_ones_of(_bzhi_u64(mine, (unsigned)bit));
    if (wide)
        before += line_ones_of(line[0]) & (0 - in);
    line_view v;
    v.word = (uint64_t *)(uintptr_t)(line + in);
    v.home = (uint64_t)1 << bit;
    v.here = mine >> bit & 1;
    v.starts = 2 * _pext_u64(line_load(line, t->starts_at), t->starts) + 1;
    v.first = _pdep_u64((uint64_t)1 << before % 64, v.starts);
    v.next = _pdep_u64((uint64_t)2 << before % 64, v.starts);
    v.run = (v.next - v.first) & (0 - v.here);
    return v;
}

FAST TAMIS_INLINE bool line_is_away(const tamis_i_line_tables *t, const uint64_t *line) {
    return (((const unsigned char *)line)[t->away_at] & t->away) != 0;
}

/* Where four planes differ from those of a fingerprint, which is in all lanes. */
FAST TAMIS_INLINE __m256i line_differ_four(const tamis_i_line_tables *t, const uint64_t *line,
                                           unsigned i, __m256i print) {
    const tamis_i_line_four *const four = &t->fours[i];
    const unsigned char *const bytes = (const unsigned char *)line;
    const __m128i low = _mm_loadu_si128((const __m128i *)(bytes + t->at[i][0])),
                  high = _mm_loadu_si128((const __m128i *)(bytes + t->at[i][1]));
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1),
                  lanes =
                      _mm256_shuffle_epi8(both, _mm256_load_si256((const __m256i *)four->bytes)),
                  planes = _mm256_srlv_epi64(lanes, _mm256_load_si256((const __m256i *)four->down)),
                  signs = _mm256_sllv_epi64(print, _mm256_load_si256((const __m256i *)four->up));
    return _mm256_xor_si256(planes, _mm256_cmpgt_epi64(_mm256_setzero_si256(), signs));
}

/* The entries of a run that have this fingerprint. */
FAST TAMIS_INLINE uint64_t line_equal(const tamis_i_line_tables *t, const uint64_t *line,
                                      uint64_t run, uint64_t print) {
    const __m256i prints = _mm256_set1_epi64x((long long)print);
    __m256i differ =
        _mm256_or_si256(line_differ_four(t, line, 0, prints), line_differ_four(t, line, 1, prints));
    for (unsigned i = 2; i < t->n_fours; i++)
        differ = _mm256_or_si256(differ, line_differ_four(t, line, i, prints));
    const __m128i two =
        _mm_or_si128(_mm256_castsi256_si128(differ), _mm256_extracti128_si256(differ, 1));
    const __m128i one = _mm_or_si128(two, _mm_unpackhi_epi64(two, two));
    return run & ~(uint64_t)_mm_cvtsi128_si64(one);
}

/* ---- moving ---- */

typedef struct line_both {
    __m256i low, high;
} line_both;

FAST TAMIS_INLINE line_both line_load_both(const void *p) {
    return (line_both){_mm256_loadu_si256((const __m256i *)p),
                       _mm256_loadu_si256((const __m256i *)p + 1)};
}

FAST TAMIS_INLINE void line_store_both(uint64_t *line, line_both v) {
    _mm256_storeu_si256((__m256i *)line, v.low);
    _mm256_storeu_si256((__m256i *)(line + 4), v.high);
}

FAST TAMIS_INLINE line_both line_and(line_both a, line_both b) {
    return (line_both){_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}

FAST TAMIS_INLINE line_both line_or(line_both a, line_both b) {
    return (line_both){_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}

/* All planes of a place with those bits of an entry that are one. */
FAST TAMIS_INLINE line_both line_entry(const tamis_i_line_tables *t, const tamis_i_line_move *place,
                                       uint64_t entry) {
    const size_t offsets = sizeof(tamis_i_line_mask) * 63;
    const unsigned char *six = (const unsigned char *)t->sixes;
    uint64_t bits = entry * sizeof(tamis_i_line_mask);
    line_both ones = line_load_both(six + (bits & offsets));
    for (unsigned i = 1; i < t->n_sixes; i++) {
        six += sizeof(tamis_i_line_mask) << TAMIS_I_LINE_SIX;
        bits >>= TAMIS_I_LINE_SIX;
        ones = line_or(ones, line_load_both(six + (bits & offsets)));
    }
    const line_both keeps = line_load_both(&place->keeps);
    return (line_both){_mm256_andnot_si256(keeps.low, ones.low),
                       _mm256_andnot_si256(keeps.high, ones.high)};
}

/* Open a place for an entry. */
FAST TAMIS_INLINE void line_open(const tamis_i_line_tables *t, uint64_t *line, unsigned p,
                                 uint64_t entry) {
    const tamis_i_line_move *const place = &t->places[p];
    const line_both all = line_load_both(line),
                    moves = line_and(all, line_load_both(&place->moves));
    const __m256i over_low = _mm256_permute4x64_epi64(_mm256_srli_epi64(moves.low, 63), 0x93),
                  over_high = _mm256_permute4x64_epi64(_mm256_srli_epi64(moves.high, 63), 0x93);
    const line_both over = {_mm256_blend_epi32(over_low, _mm256_setzero_si256(), 0x03),
                            _mm256_blend_epi32(over_high, over_low, 0x03)};
    const line_both moved = {_mm256_add_epi64(all.low, moves.low),
                             _mm256_add_epi64(all.high, moves.high)};
    line_store_both(line, line_or(line_or(moved, over), line_entry(t, place, entry)));
}

/* Close a place. */
FAST TAMIS_INLINE void line_close(const tamis_i_line_tables *t, uint64_t *line, unsigned p) {
    const tamis_i_line_move *const place = &t->places[p];
    const line_both all = line_load_both(line),
                    above = line_and(all, line_load_both(&place->moves)),
                    moves = line_and(above, line_load_both(&place->keeps));
    const __m256i over_low = _mm256_permute4x64_epi64(_mm256_slli_epi64(moves.low, 63), 0x39),
                  over_high = _mm256_permute4x64_epi64(_mm256_slli_epi64(moves.high, 63), 0x39);
    const line_both over = {_mm256_blend_epi32(over_low, over_high, 0xc0),
                            _mm256_blend_epi32(over_high, _mm256_setzero_si256(), 0xc0)};
    const line_both stays = {_mm256_xor_si256(all.low, above.low),
                             _mm256_xor_si256(all.high, above.high)},
                    moved = {_mm256_srli_epi64(moves.low, 1), _mm256_srli_epi64(moves.high, 1)};
    line_store_both(line, line_or(line_or(stays, moved), over));
}

/* ---- the operations ---- */

FAST TAMIS_INLINE unsigned line_has(const tamis_i_line_tables *t, const uint64_t *line,
                                    unsigned home, uint64_t print, bool wide) {
    const line_view v = line_see(t, line, home, wide);
    if (TAMIS_UNLIKELY(v.next == 0) && line_is_away(t, line))
        return TAMIS_I_LINE_AWAY;
    return line_equal(t, line, v.run, print) != 0 ? TAMIS_I_LINE_FOUND : 0;
}

FAST TAMIS_INLINE unsigned line_add(const tamis_i_line_tables *t, uint64_t *line, unsigned home,
                                    uint64_t entry, unsigned most, bool wide) {
    const line_view v = line_see(t, line, home, wide);
    if (TAMIS_UNLIKELY(v.next == 0) && line_is_away(t, line))
        return TAMIS_I_LINE_AWAY;
    const uint64_t equal = line_equal(t, line, v.run, entry);
    const unsigned found = equal != 0 ? TAMIS_I_LINE_FOUND : 0;
    if (TAMIS_UNLIKELY(line_ones_of(equal) >= most))
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    if (TAMIS_UNLIKELY(v.starts >= t->full))
        return found | TAMIS_I_LINE_FULL;
    /* Starts that nobody has checked may be too few. */
    line_open(t, line, (unsigned)_tzcnt_u64(v.first | t->full), entry);
    *v.word |= v.home;
    line_set(line, t->starts_at, _pdep_u64(v.here != 0 ? 0 : v.first, t->starts));
    return found | TAMIS_I_LINE_DONE;
}

FAST TAMIS_INLINE unsigned line_drop(const tamis_i_line_tables *t, uint64_t *line, unsigned home,
                                     uint64_t print, unsigned most, bool wide) {
    const line_view v = line_see(t, line, home, wide);
    if (TAMIS_UNLIKELY(v.next == 0))
        return line_is_away(t, line) ? TAMIS_I_LINE_AWAY : 0;
    const uint64_t equal = line_equal(t, line, v.run, print);
    if (equal == 0)
        return 0;
    if (TAMIS_UNLIKELY(line_ones_of(equal) >= most))
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    const bool room = line_is_away(t, line) & (v.starts < t->full);
    line_close(t, line, (unsigned)_tzcnt_u64(equal));
    if ((v.run & (v.run - 1)) == 0)
        *v.word ^= v.home;
    return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_DONE | (room ? TAMIS_I_LINE_ROOM : 0);
}

FAST TAMIS_INLINE tamis_i_line_place line_locate(const tamis_i_line_row *row,
                                                 const tamis_i_line_tables *t, uint64_t word) {
    tamis_i_line_place place;
    place.number = tamis_i_take(&word, row->n);
    place.line = row->lines + place.number * TAMIS_LINE_WORDS;
    place.home = (unsigned)tamis_i_take(&word, t->homes);
    place.print = word >> t->print_from % 64;
    return place;
}

/* The cases: a name, 'wide'. */
#define CASES(CASE)                                                                                \
    CASE(narrow, false)                                                                            \
    CASE(wide, true)

#define CASE_OPS(name, wide)                                                                       \
    FAST static unsigned line_x86_has_word_##name(const tamis_i_line_row *row, uint64_t word) {    \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const tamis_i_line_place p = line_locate(row, t, word);                                    \
        return line_has(t, p.line, p.home, p.print, wide);                                         \
    }                                                                                              \
    FAST static unsigned line_x86_has_##name(const tamis_i_line_row *row, const uint64_t *line,    \
                                             unsigned home, uint64_t print) {                      \
        return line_has(row->tables, line, home, print, wide);                                     \
    }                                                                                              \
    FAST static unsigned line_x86_add_word_##name(const tamis_i_line_row *row, uint64_t word,      \
                                                  unsigned most) {                                 \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const tamis_i_line_place p = line_locate(row, t, word);                                    \
        return line_add(t, p.line, p.home, p.print, most, wide);                                   \
    }                                                                                              \
    FAST static unsigned line_x86_add_##name(const tamis_i_line_row *row, uint64_t *line,          \
                                             unsigned home, uint64_t entry, unsigned most) {       \
        const tamis_i_line_tables *const t = row->tables;                                          \
        return line_add(t, line, home, _bzhi_u64(entry, t->planes), most, wide);                   \
    }                                                                                              \
    FAST static unsigned line_x86_drop_word_##name(const tamis_i_line_row *row, uint64_t word,     \
                                                   unsigned most) {                                \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const tamis_i_line_place p = line_locate(row, t, word);                                    \
        return line_drop(t, p.line, p.home, p.print, most, wide);                                  \
    }                                                                                              \
    FAST static unsigned line_x86_drop_##name(const tamis_i_line_row *row, uint64_t *line,         \
                                              unsigned home, uint64_t print, unsigned most) {      \
        return line_drop(row->tables, line, home, print, most, wide);                              \
    }                                                                                              \
    static const tamis_i_line_bits_ops line_x86_ops_##name = {                                     \
        .has_word = line_x86_has_word_##name,                                                      \
        .has = line_x86_has_##name,                                                                \
        .add_word = line_x86_add_word_##name,                                                      \
        .add = line_x86_add_##name,                                                                \
        .drop_word = line_x86_drop_word_##name,                                                    \
        .drop = line_x86_drop_##name,                                                              \
    };

CASES(CASE_OPS)

const tamis_i_line_bits_ops *tamis_i_line_bits_ops_x86(const tamis_i_line_shape *shape,
                                                       unsigned features) {
    const unsigned needed =
        TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_PDEP | TAMIS_I_CPU_AVX2;
    if ((features & needed) != needed)
        return NULL;
    return shape->homes <= 64 ? &line_x86_ops_narrow : &line_x86_ops_wide;
}

#endif
