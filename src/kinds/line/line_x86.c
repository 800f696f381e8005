/* line_x86.c - the operations of line_bits.h for x86-64 with POPCNT, BMI2 and AVX2
 *
 * Where an entry is, all six operations find the same way:
 *
 *      same     places whose planes are those of the fingerprint: four planes at a time, each in a lane
 *      before   the number of homes below this one that have entries; 'here' tells whether it has some
 *      first    the start number 'before', and 'next' the one after it, both by one PDEP
 *      run      next - first, if the home is here: the places of its entries
 *
 * If there is no next one, the home is above all that are here.  So a question has one branch, on that,
 * which is rare, and loops over what the shape says.
 *
 * An entry is added or dropped by moving the whole line, in two registers, with masks from tables
 * (line_tables.h).  The bits of its home and its start are put into memory afterwards: both are in the
 * lower half, which was stored as a whole, so that the processor need not wait for it.
 *
 * What a shape has is read from its tables.  Only what would cost a branch or more in each call is known
 * when an operation is compiled: 'how', a sum of the constants below.
 *
 * Bits that nobody has checked, or that change meanwhile, may give places that make no sense, but none that
 * the tables do not have, and a move stays within the two registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"
#include "kinds/line/line_tables.h"
#include "kinds/line/line_word.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/x86/target.h"

#include <immintrin.h>

#define FAST TAMIS_I_TARGET_ALL

enum {
    WIDE = 1, /* homes are in two words, or perhaps, if SLOW; if not, in one */
    MANY = 2, /* room for a fingerprint of more than 8 bits; if not, it has no more */
    SIX = 4,  /* an entry has at most 6 bits; if not, it has more */
    SLOW = 8  /* without PDEP and PEXT */
};

/* ---- looking ---- */

typedef struct line_view {
    uint64_t in;   /* the word that has the home */
    uint64_t here; /* all ones if it has entries, or zero */
    uint64_t starts, first, next;
} line_view;

FAST TAMIS_INLINE uint64_t line_ones_of(uint64_t word) {
    return (uint64_t)_mm_popcnt_u64(word);
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

/* The starts that are stored. */
FAST TAMIS_INLINE uint64_t line_starts(const tamis_i_line_tables *t, const uint64_t *line,
                                       unsigned how) {
    const uint64_t word = line_load(line, t->starts_at);
    if ((how & SLOW) != 0)
        return _bzhi_u64(word >> t->starts_from % 64, t->capacity);
    return _pext_u64(word, t->starts);
}

/* The k-th one of the starts, from 0, and the next. */
FAST TAMIS_INLINE uint64_t line_two(uint64_t starts, uint64_t k, unsigned how) {
    if ((how & SLOW) == 0)
        return _pdep_u64((uint64_t)3 << k % 64, starts);
    const unsigned at = tamis_i_line_select(starts, tamis_i_line_byte_sums(starts), k % 64);
    const uint64_t from = at < 64 ? starts >> at << at : 0;
    return _blsi_u64(from) | _blsi_u64(_blsr_u64(from));
}

FAST TAMIS_INLINE line_view line_see(const tamis_i_line_tables *t, const uint64_t *line,
                                     uint64_t home, unsigned how) {
    const bool wide = (how & WIDE) != 0;
    const uint64_t in = wide ? home / 64 : 0,
                   up_to = line[in] << ~home % 64; /* its own bit is the highest */
    line_view v = {.in = in, .here = (uint64_t)((int64_t)up_to >> 63)};
    uint64_t before = line_ones_of(up_to) + v.here;
    if (wide)
        before += line_ones_of(line[0]) & (0 - in);
    v.starts = 2 * line_starts(t, line, how) + 1;
    const uint64_t two = line_two(v.starts, before, how);
    v.next = _blsr_u64(two);
    v.first = two ^ v.next;
    return v;
}

/* The places of its entries, unless the home is above all. */
FAST TAMIS_INLINE uint64_t line_run(line_view v) {
    return (v.next - v.first) & v.here;
}

FAST TAMIS_INLINE bool line_is_away(const tamis_i_line_tables *t, const uint64_t *line) {
    return (((const unsigned char *)line)[t->away_at] & t->away) != 0;
}

/* Where four planes are the same as those of a fingerprint, which is in all lanes. */
FAST TAMIS_INLINE __m256i line_same_four(const tamis_i_line_tables *t, const uint64_t *line,
                                         unsigned i, __m256i print) {
    const tamis_i_line_four *const four = &t->fours[i];
    const unsigned char *const bytes = (const unsigned char *)line;
    const __m128i low = _mm_loadu_si128((const __m128i *)(bytes + t->at[i][0])),
                  high = _mm_loadu_si128((const __m128i *)(bytes + t->at[i][1]));
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1),
                  lanes =
                      _mm256_shuffle_epi8(both, _mm256_load_si256((const __m256i *)four->bytes)),
                  planes = _mm256_srlv_epi64(lanes, _mm256_load_si256((const __m256i *)four->down)),
                  bits = _mm256_and_si256(print, _mm256_load_si256((const __m256i *)four->bits));
    return _mm256_xor_si256(planes, _mm256_cmpeq_epi64(bits, _mm256_setzero_si256()));
}

/* The places whose planes are the same as those of this fingerprint, the highest bits of 'top'; and others,
 * from C on. */
FAST TAMIS_INLINE uint64_t line_same(const tamis_i_line_tables *t, const uint64_t *line,
                                     uint64_t top, unsigned how) {
    const __m256i print = _mm256_broadcastq_epi64(_mm_cvtsi64_si128((long long)top));
    __m256i same =
        _mm256_and_si256(line_same_four(t, line, 0, print), line_same_four(t, line, 1, print));
    if ((how & MANY) != 0) {
        same = _mm256_and_si256(same, line_same_four(t, line, 2, print));
        for (unsigned i = 3; i < t->n_fours; i++)
            same = _mm256_and_si256(same, line_same_four(t, line, i, print));
    }
    const __m128i two =
        _mm_and_si128(_mm256_castsi256_si128(same), _mm256_extracti128_si256(same, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_and_si128(two, _mm_unpackhi_epi64(two, two)));
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

FAST TAMIS_INLINE const unsigned char *line_place_of(const tamis_i_line_tables *t, uint64_t p) {
    return (const unsigned char *)t + p * sizeof(tamis_i_line_move);
}

#define MOVES offsetof(tamis_i_line_tables, places)
#define KEEPS (MOVES + offsetof(tamis_i_line_move, keeps))

/* The planes of six bits of an entry that are one; the bits begin at bit 6 of 'offset'. */
FAST TAMIS_INLINE line_both line_six(const tamis_i_line_mask *masks, uint64_t offset) {
    return line_load_both((const unsigned char *)masks + (offset & 63 * sizeof *masks));
}

/* The same of all its bits. */
FAST TAMIS_INLINE line_both line_ones(const tamis_i_line_tables *t, uint64_t offset, unsigned how) {
    const tamis_i_line_mask *masks = t->sixes;
    line_both ones = line_six(masks, offset);
    if ((how & SIX) == 0) {
        ones = line_or(ones, line_six(masks += 64, offset >>= TAMIS_I_LINE_SIX));
        for (unsigned i = 2; i < t->n_sixes; i++)
            ones = line_or(ones, line_six(masks += 64, offset >>= TAMIS_I_LINE_SIX));
    }
    return ones;
}

/* Open a place for an entry. */
FAST TAMIS_INLINE void line_open(const tamis_i_line_tables *t, uint64_t *line, uint64_t p,
                                 uint64_t offset, unsigned how) {
    const unsigned char *const place = line_place_of(t, p);
    const line_both all = line_load_both(line),
                    moves = line_and(all, line_load_both(place + MOVES)),
                    keeps = line_load_both(place + KEEPS), ones = line_ones(t, offset, how);
    const __m256i low = _mm256_srli_epi64(moves.low, 63), high = _mm256_srli_epi64(moves.high, 63);
    /* What leaves a word at the top: words 0 0 1 2 and 3 4 5 6.  Of word 0, if it is all homes, nothing. */
    line_both over = {_mm256_permute4x64_epi64(low, 0x90),
                      _mm256_permute4x64_epi64(_mm256_blend_epi32(high, low, 0xc0), 0x93)};
    if ((how & WIDE) == 0 || (how & SLOW) != 0)
        over.low = _mm256_blend_epi32(over.low, _mm256_setzero_si256(), 0x03);
    const line_both moved = {_mm256_add_epi64(all.low, moves.low),
                             _mm256_add_epi64(all.high, moves.high)},
                    entries = {_mm256_andnot_si256(keeps.low, ones.low),
                               _mm256_andnot_si256(keeps.high, ones.high)};
    line_store_both(line, line_or(line_or(moved, over), entries));
}

/* Close a place. */
FAST TAMIS_INLINE void line_close(const tamis_i_line_tables *t, uint64_t *line, uint64_t p) {
    const unsigned char *const place = line_place_of(t, p);
    const line_both all = line_load_both(line),
                    above = line_and(all, line_load_both(place + MOVES)),
                    moves = line_and(above, line_load_both(place + KEEPS));
    const __m256i low = _mm256_slli_epi64(moves.low, 63), high = _mm256_slli_epi64(moves.high, 63),
                  zero = _mm256_setzero_si256();
    /* What leaves a word at the bottom: words 1 2 3 4 and 5 6 7 -. */
    const line_both over = {_mm256_permute4x64_epi64(_mm256_blend_epi32(low, high, 0x03), 0x39),
                            _mm256_permute4x64_epi64(_mm256_blend_epi32(high, zero, 0x03), 0x39)};
    const line_both stays = {_mm256_xor_si256(all.low, above.low),
                             _mm256_xor_si256(all.high, above.high)},
                    moved = {_mm256_srli_epi64(moves.low, 1), _mm256_srli_epi64(moves.high, 1)};
    line_store_both(line, line_or(line_or(stays, moved), over));
}

/* ---- the operations ---- */

FAST TAMIS_INLINE unsigned line_has(const tamis_i_line_tables *t, const uint64_t *line,
                                    uint64_t home, uint64_t top, unsigned how) {
    const uint64_t same = line_same(t, line, top, how);
    const line_view v = line_see(t, line, home, how);
    if (TAMIS_UNLIKELY(v.next == 0))
        return line_is_away(t, line) ? TAMIS_I_LINE_AWAY : 0;
    return (line_run(v) & same) != 0 ? TAMIS_I_LINE_FOUND : 0;
}

FAST TAMIS_INLINE unsigned line_add(const tamis_i_line_tables *t, uint64_t *line, uint64_t home,
                                    uint64_t top, uint64_t offset, unsigned most, unsigned how) {
    const uint64_t same = line_same(t, line, top, how);
    const line_view v = line_see(t, line, home, how);
    if (TAMIS_UNLIKELY(v.next == 0) && line_is_away(t, line))
        return TAMIS_I_LINE_AWAY;
    const uint64_t equal = line_run(v) & same;
    const unsigned found = equal != 0 ? TAMIS_I_LINE_FOUND : 0;
    if (TAMIS_UNLIKELY(v.starts >= t->full))
        return line_ones_of(equal) >= most ? TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD
                                           : found | TAMIS_I_LINE_FULL;
    if (TAMIS_UNLIKELY(line_ones_of(equal) >= most))
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    line_open(t, line, _tzcnt_u64(v.first), offset, how);
    line[v.in] |= (uint64_t)1 << home % 64;
    const uint64_t start = v.first & ~v.here;
    line_set(line, t->starts_at,
             (how & SLOW) != 0 ? start << t->starts_from % 64 : _pdep_u64(start, t->starts));
    return found | TAMIS_I_LINE_DONE;
}

FAST TAMIS_INLINE unsigned line_drop(const tamis_i_line_tables *t, uint64_t *line, uint64_t home,
                                     uint64_t top, unsigned most, unsigned how) {
    const uint64_t same = line_same(t, line, top, how);
    const line_view v = line_see(t, line, home, how);
    if (TAMIS_UNLIKELY(v.next == 0))
        return line_is_away(t, line) ? TAMIS_I_LINE_AWAY : 0;
    const uint64_t equal = line_run(v) & same;
    if (equal == 0)
        return 0;
    if (TAMIS_UNLIKELY(line_ones_of(equal) >= most))
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    const unsigned room = (0u - (v.starts < t->full)) & line_is_away(t, line);
    line_close(t, line, _tzcnt_u64(equal));
    line[v.in] ^= (uint64_t)(_blsr_u64(line_run(v)) == 0) << home % 64;
    return room * TAMIS_I_LINE_ROOM + (TAMIS_I_LINE_FOUND | TAMIS_I_LINE_DONE);
}

typedef struct line_key {
    uint64_t *line;
    uint64_t home, top;
} line_key;

/* As tamis_i_line_bits_locate, but that the fingerprint stays where it is in the word. */
FAST TAMIS_INLINE line_key line_locate(const tamis_i_line_row *row, const tamis_i_line_tables *t,
                                       uint64_t word) {
    const tamis_i_u128 line = (tamis_i_u128)word * row->n;
    uint64_t number = (uint64_t)(line >> 64), rest = (uint64_t)line;
    __asm__("" : "+r"(number), "+r"(rest)); /* two words from here on, not one of 128 bits */
    const tamis_i_u128 product = (tamis_i_u128)rest * t->homes;
    uint64_t home = (uint64_t)(product >> 64), top = (uint64_t)product;
    __asm__("" : "+r"(home), "+r"(top));
    return (line_key){row->lines + number * TAMIS_LINE_WORDS, home, top};
}

/* ---- what homes that go and come need ---- */

/* What a place has in each word, one word after the other.  Of place 0 the first is a start. */
FAST static uint64_t line_x86_get(const tamis_i_line_row *row, const uint64_t *line, unsigned at) {
    const tamis_i_line_tables *const t = row->tables;
    const uint64_t *const keeps = t->places[at].keeps.word;
    uint64_t entry = 0, n = 0;
    for (unsigned w = 0; w < TAMIS_LINE_WORDS; w++) {
        entry |= _pext_u64(line[w], ~keeps[w]) << n % 64;
        n += line_ones_of(~keeps[w]);
    }
    return at == 0 ? entry >> 1 : entry;
}

FAST TAMIS_INLINE unsigned line_count(const tamis_i_line_row *row, const uint64_t *line,
                                      unsigned how) {
    return 63 - (unsigned)_lzcnt_u64(2 * line_starts(row->tables, line, how) + 1);
}

FAST TAMIS_INLINE tamis_i_line_run line_run_at(const tamis_i_line_row *row, const uint64_t *line,
                                               unsigned home, unsigned how) {
    const tamis_i_line_tables *const t = row->tables;
    const line_view v = line_see(t, line, home, how);
    const unsigned from = (unsigned)_tzcnt_u64(v.first | t->full),
                   end = (unsigned)_tzcnt_u64(v.next | t->full);
    return (tamis_i_line_run){from, v.here != 0 ? end : from};
}

/* Of the starts, those behind that of the home go; it becomes the sentinel. */
FAST TAMIS_INLINE void line_cut(const tamis_i_line_row *row, uint64_t *line, unsigned home,
                                unsigned how) {
    const tamis_i_line_tables *const t = row->tables;
    const line_view v = line_see(t, line, home, how);
    const line_both all = line_load_both(line),
                    gone = line_load_both(&t->places[_tzcnt_u64(v.first | t->full)].moves);
    line_store_both(line, (line_both){_mm256_andnot_si256(gone.low, all.low),
                                      _mm256_andnot_si256(gone.high, all.high)});
    line[v.in] &= ~((uint64_t)1 << home % 64);
}

FAST TAMIS_INLINE uint64_t line_lowest(const tamis_i_line_row *row, const uint64_t *line,
                                       unsigned home, unsigned skip, unsigned *left, unsigned how) {
    const tamis_i_line_tables *const t = row->tables;
    uint64_t places = line_run(line_see(t, line, home, how)) & (t->full - 1);
    *left = 0;
    if (places == 0)
        return 0;
    for (unsigned j = row->shape.prints; j-- > skip;) {
        const unsigned at = row->shape.plane[j], byte = at / 8 < 56 ? at / 8 : 56;
        const uint64_t plane = line_load(line, byte) >> (at - 8 * byte) % 64,
                       clear = _andn_u64(plane, places);
        *left = 2 * *left + (clear == 0);
        places = clear == 0 ? places : clear;
    }
    return places;
}

/* With PDEP and PEXT, and without. */
#define TURN_OPS(turn, how)                                                                        \
    FAST static unsigned line_x86_count_##turn(const tamis_i_line_row *row,                        \
                                               const uint64_t *line) {                             \
        return line_count(row, line, how);                                                         \
    }                                                                                              \
    FAST static tamis_i_line_run line_x86_run_##turn(const tamis_i_line_row *row,                  \
                                                     const uint64_t *line, unsigned home) {        \
        return line_run_at(row, line, home, how);                                                  \
    }                                                                                              \
    FAST static void line_x86_cut_##turn(const tamis_i_line_row *row, uint64_t *line,              \
                                         unsigned home) {                                          \
        line_cut(row, line, home, how);                                                            \
    }                                                                                              \
    FAST static uint64_t line_x86_lowest_##turn(const tamis_i_line_row *row, const uint64_t *line, \
                                                unsigned home, unsigned skip, unsigned *left) {    \
        return line_lowest(row, line, home, skip, left, how);                                      \
    }

TURN_OPS(quick, WIDE)
TURN_OPS(slow, WIDE | SLOW)

/* The cases: a name, 'how', and which of those above. */
#define CASES(CASE)                                                                                \
    CASE(narrow, SIX, quick)                                                                       \
    CASE(narrow_more, 0, quick)                                                                    \
    CASE(narrow_many, MANY, quick)                                                                 \
    CASE(wide, WIDE | SIX, quick)                                                                  \
    CASE(wide_more, WIDE, quick)                                                                   \
    CASE(wide_many, WIDE | MANY, quick)                                                            \
    CASE(slow, SLOW | WIDE | SIX, slow)                                                            \
    CASE(slow_many, SLOW | WIDE | MANY, slow)

#define CASE_OPS(name, how, turn)                                                                  \
    FAST static bool line_x86_has_word_##name(const tamis_i_line_row *row, uint64_t word) {        \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const line_key k = line_locate(row, t, word);                                              \
        const uint64_t same = line_same(t, k.line, k.top, how);                                    \
        const line_view v = line_see(t, k.line, k.home, how);                                      \
        if (TAMIS_UNLIKELY(v.next == 0))                                                           \
            return line_is_away(t, k.line) && row->elsewhere(row, word);                           \
        return (line_run(v) & same) != 0;                                                          \
    }                                                                                              \
    FAST static unsigned line_x86_has_##name(const tamis_i_line_row *row, const uint64_t *line,    \
                                             unsigned home, uint64_t print) {                      \
        const tamis_i_line_tables *const t = row->tables;                                          \
        return line_has(t, line, home, print << t->print_from % 64, how);                          \
    }                                                                                              \
    FAST static tamis_status line_x86_add_word_##name(const tamis_i_line_row *row, uint64_t word,  \
                                                      unsigned most, bool *added) {                \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const line_key k = line_locate(row, t, word);                                              \
        const uint64_t offset = k.top >> t->offset_from % 64;                                      \
        const unsigned result = line_add(t, k.line, k.home, k.top, offset, most, how);             \
        if (TAMIS_UNLIKELY((result & TAMIS_I_LINE_DONE) == 0))                                     \
            return row->not_added(row, word, result, added);                                       \
        ++*row->count;                                                                             \
        if (added != NULL)                                                                         \
            *added = (result & TAMIS_I_LINE_FOUND) == 0;                                           \
        return TAMIS_OK;                                                                           \
    }                                                                                              \
    FAST static unsigned line_x86_add_##name(const tamis_i_line_row *row, uint64_t *line,          \
                                             unsigned home, uint64_t entry, unsigned most) {       \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const uint64_t top = entry << t->print_from % 64,                                          \
                       offset = _bzhi_u64(entry, t->planes) * sizeof(tamis_i_line_mask);           \
        return line_add(t, line, home, top, offset, most, how);                                    \
    }                                                                                              \
    FAST static tamis_status line_x86_drop_word_##name(const tamis_i_line_row *row, uint64_t word, \
                                                       unsigned most) {                            \
        const tamis_i_line_tables *const t = row->tables;                                          \
        const line_key k = line_locate(row, t, word);                                              \
        const unsigned result = line_drop(t, k.line, k.home, k.top, most, how);                    \
        *row->count -= result / TAMIS_I_LINE_DONE % 2;                                             \
        if (TAMIS_UNLIKELY(result != (TAMIS_I_LINE_FOUND | TAMIS_I_LINE_DONE)))                    \
            return row->dropped(row, word, result);                                                \
        return TAMIS_OK;                                                                           \
    }                                                                                              \
    FAST static unsigned line_x86_drop_##name(const tamis_i_line_row *row, uint64_t *line,         \
                                              unsigned home, uint64_t print, unsigned most) {      \
        const tamis_i_line_tables *const t = row->tables;                                          \
        return line_drop(t, line, home, print << t->print_from % 64, most, how);                   \
    }                                                                                              \
    static const tamis_i_line_bits_ops line_x86_ops_##name = {                                     \
        .has_word = line_x86_has_word_##name,                                                      \
        .has = line_x86_has_##name,                                                                \
        .add_word = line_x86_add_word_##name,                                                      \
        .add = line_x86_add_##name,                                                                \
        .drop_word = line_x86_drop_word_##name,                                                    \
        .drop = line_x86_drop_##name,                                                              \
        .count = line_x86_count_##turn,                                                            \
        .run = line_x86_run_##turn,                                                                \
        .get = line_x86_get,                                                                       \
        .cut = line_x86_cut_##turn,                                                                \
        .lowest = line_x86_lowest_##turn,                                                          \
    };

CASES(CASE_OPS)

const tamis_i_line_bits_ops *tamis_i_line_bits_ops_x86(const tamis_i_line_shape *shape,
                                                       unsigned features) {
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    const bool wide = shape->homes > 64, six = shape->planes <= TAMIS_I_LINE_SIX;
    if ((features & needed) != needed)
        return NULL;
    if ((features & TAMIS_I_CPU_PDEP) == 0)
        return six ? &line_x86_ops_slow : &line_x86_ops_slow_many;
    if (six)
        return wide ? &line_x86_ops_wide : &line_x86_ops_narrow;
    if (shape->prints <= 8)
        return wide ? &line_x86_ops_wide_more : &line_x86_ops_narrow_more;
    return wide ? &line_x86_ops_wide_many : &line_x86_ops_narrow_many;
}

#endif
