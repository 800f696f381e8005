/* line_arm.c - the operations of line_bits.h for 64-bit ARM with NEON
 *
 * As line_x86.c, with the same tables.  There is no PDEP: CNT counts the ones of all bytes at once, and the
 * place of the k-th one comes from their sums (line_word.h); the one after it is found from there.  A line
 * is four registers, and TBL brings planes to lanes, two at a time.
 *
 * Bits that nobody has checked may give places that make no sense, but none above C, and a move stays
 * within the four registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"
#include "hash/hash.h"
#include "kinds/line/line_tables.h"
#include "kinds/line/line_word.h"

#ifdef TAMIS_I_NATIVE_ARM

#include <arm_neon.h>

/* ---- looking ---- */

typedef struct line_view {
    uint64_t here; /* all ones if the home has entries, or zero */
    uint64_t starts, first, next;
} line_view;

TAMIS_INLINE uint64_t line_load(const uint64_t *line, unsigned byte) {
    uint64_t word;
    memcpy(&word, (const unsigned char *)line + byte, sizeof word);
    return word;
}

TAMIS_INLINE unsigned line_ones_of(uint64_t word) {
    return vaddv_u8(vcnt_u8(vcreate_u8(word)));
}

TAMIS_INLINE unsigned line_select_one(uint64_t word, unsigned k) {
    const uint64_t counts = vget_lane_u64(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(word))), 0);
    return tamis_i_line_select(word, counts * TAMIS_I_LINE_EACH, k);
}

TAMIS_INLINE uint64_t line_lowest(uint64_t word) {
    return word & (0 - word);
}

TAMIS_INLINE line_view line_see(const tamis_i_line_tables *t, const uint64_t *line, unsigned home) {
    const unsigned in = home / 64;
    const uint64_t up_to = line[in] << (63 - home % 64); /* its own bit is the highest */
    line_view v = {.here = 0 - (up_to >> 63)};
    /* The first word is all homes if there is a second. */
    const unsigned before = line_ones_of(up_to << 1) + (line_ones_of(line[0]) & (0 - in));
    const uint64_t stored = line_load(line, t->starts_at) >> t->starts_from;
    v.starts = (stored & (t->full - 1)) << 1 | 1;
    const unsigned at = line_select_one(v.starts, before);
    const uint64_t from = at < 64 ? v.starts >> at << at : 0;
    v.first = line_lowest(from);
    v.next = line_lowest(from ^ v.first);
    return v;
}

/* The places of its entries, unless the home is above all. */
TAMIS_INLINE uint64_t line_run(line_view v) {
    return (v.next - v.first) & v.here;
}

TAMIS_INLINE bool line_is_away(const tamis_i_line_tables *t, const uint64_t *line) {
    return (((const unsigned char *)line)[t->away_at] & t->away) != 0;
}

/* The places whose planes are the same as those of this fingerprint, the highest bits of 'top'. */
TAMIS_INLINE uint64_t line_same(const tamis_i_line_tables *t, const uint64_t *line, uint64_t top) {
    const uint64x2_t print = vdupq_n_u64(top);
    uint64x2_t differ = vdupq_n_u64(0);
    for (unsigned i = 0; i < t->n_fours; i++)
        for (unsigned half = 0; half < 2; half++) {
            const tamis_i_line_four *const four = &t->fours[i];
            const uint8x16_t loaded = vld1q_u8((const unsigned char *)line + t->at[i][half]),
                             lanes = vqtbl1q_u8(loaded, vld1q_u8(four->bytes + 16 * half));
            const int64x2_t down = vreinterpretq_s64_u64(vld1q_u64(four->down + 2 * half));
            const uint64x2_t planes = vshlq_u64(vreinterpretq_u64_u8(lanes), vnegq_s64(down)),
                             ones = vtstq_u64(print, vld1q_u64(four->bits + 2 * half));
            differ = vorrq_u64(differ, veorq_u64(planes, ones));
        }
    return ~(vgetq_lane_u64(differ, 0) | vgetq_lane_u64(differ, 1));
}

/* ---- moving ---- */

/* The planes whose bit of an entry is one, of one register of a line. */
TAMIS_INLINE uint64x2_t line_ones(const tamis_i_line_tables *t, uint64_t entry, unsigned word) {
    const tamis_i_line_mask *masks = t->sixes;
    uint64x2_t ones = vld1q_u64(masks[entry & 63].word + word);
    for (unsigned i = 1; i < t->n_sixes; i++) {
        masks += 64;
        entry >>= TAMIS_I_LINE_SIX;
        ones = vorrq_u64(ones, vld1q_u64(masks[entry & 63].word + word));
    }
    return ones;
}

/* Open a place for an entry. */
TAMIS_INLINE void line_open(const tamis_i_line_tables *t, uint64_t *line, unsigned p,
                            uint64_t entry) {
    const tamis_i_line_move *const place = &t->places[p];
    uint64x2_t over = vdupq_n_u64(0); /* what leaves a word at the top */
    for (unsigned word = 0; word < TAMIS_LINE_WORDS; word += 2) {
        const uint64x2_t all = vld1q_u64(line + word),
                         moves = vandq_u64(all, vld1q_u64(place->moves.word + word)),
                         tops = vshrq_n_u64(moves, 63),
                         moved = vorrq_u64(vaddq_u64(all, moves), vextq_u64(over, tops, 1)),
                         ones = line_ones(t, entry, word);
        over = tops;
        vst1q_u64(line + word,
                  vorrq_u64(moved, vbicq_u64(ones, vld1q_u64(place->keeps.word + word))));
    }
}

/* Close a place. */
TAMIS_INLINE void line_close(const tamis_i_line_tables *t, uint64_t *line, unsigned p) {
    const tamis_i_line_move *const place = &t->places[p];
    uint64x2_t over = vdupq_n_u64(0); /* what leaves a word at the bottom */
    for (unsigned word = TAMIS_LINE_WORDS; word > 0;) {
        word -= 2;
        const uint64x2_t all = vld1q_u64(line + word),
                         above = vandq_u64(all, vld1q_u64(place->moves.word + word)),
                         moves = vandq_u64(above, vld1q_u64(place->keeps.word + word)),
                         bottoms = vshlq_n_u64(moves, 63),
                         moved = vorrq_u64(vshrq_n_u64(moves, 1), vextq_u64(bottoms, over, 1));
        over = bottoms;
        vst1q_u64(line + word, vorrq_u64(veorq_u64(all, above), moved));
    }
}

/* ---- the operations ---- */

TAMIS_INLINE unsigned line_has_key(const tamis_i_line_tables *t, const uint64_t *line,
                                   unsigned home, uint64_t top) {
    const uint64_t same = line_same(t, line, top);
    const line_view v = line_see(t, line, home);
    if (TAMIS_UNLIKELY(v.next == 0))
        return line_is_away(t, line) ? TAMIS_I_LINE_AWAY : 0;
    return (line_run(v) & same) != 0 ? TAMIS_I_LINE_FOUND : 0;
}

TAMIS_INLINE unsigned line_add_key(const tamis_i_line_tables *t, uint64_t *line, unsigned home,
                                   uint64_t top, uint64_t entry, unsigned most) {
    const uint64_t same = line_same(t, line, top);
    const line_view v = line_see(t, line, home);
    if (TAMIS_UNLIKELY(v.next == 0) && line_is_away(t, line))
        return TAMIS_I_LINE_AWAY;
    const uint64_t equal = line_run(v) & same;
    const unsigned found = equal != 0 ? TAMIS_I_LINE_FOUND : 0;
    if (TAMIS_UNLIKELY(line_ones_of(equal) >= most))
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    if (TAMIS_UNLIKELY(v.starts >= t->full))
        return found | TAMIS_I_LINE_FULL;
    /* Starts that nobody has checked may be too few. */
    line_open(t, line, (unsigned)__builtin_ctzll(v.first | t->full), entry);
    line[home / 64] |= (uint64_t)1 << home % 64;
    const uint64_t start = line_load(line, t->starts_at) | (v.first & ~v.here) << t->starts_from;
    memcpy((unsigned char *)line + t->starts_at, &start, sizeof start);
    return found | TAMIS_I_LINE_DONE;
}

TAMIS_INLINE unsigned line_drop_key(const tamis_i_line_tables *t, uint64_t *line, unsigned home,
                                    uint64_t top, unsigned most) {
    const uint64_t same = line_same(t, line, top);
    const line_view v = line_see(t, line, home);
    if (TAMIS_UNLIKELY(v.next == 0))
        return line_is_away(t, line) ? TAMIS_I_LINE_AWAY : 0;
    const uint64_t run = line_run(v), equal = run & same;
    if (equal == 0)
        return 0;
    if (TAMIS_UNLIKELY(line_ones_of(equal) >= most))
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    const unsigned room = (0u - (v.starts < t->full)) & line_is_away(t, line);
    line_close(t, line, (unsigned)__builtin_ctzll(equal));
    line[home / 64] ^= (uint64_t)((run & (run - 1)) == 0) << home % 64;
    return room * TAMIS_I_LINE_ROOM + (TAMIS_I_LINE_FOUND | TAMIS_I_LINE_DONE);
}

/* As tamis_i_line_bits_locate, but that the fingerprint stays where it is in the word. */
TAMIS_INLINE tamis_i_line_place line_locate(const tamis_i_line_row *row, uint64_t word) {
    tamis_i_line_place place = {.number = tamis_i_take(&word, row->n)};
    place.line = row->lines + place.number * TAMIS_LINE_WORDS;
    place.home = (unsigned)tamis_i_take(&word, row->shape.homes);
    place.print = word;
    return place;
}

static bool line_has_word(const tamis_i_line_row *row, uint64_t word) {
    const tamis_i_line_place p = line_locate(row, word);
    const unsigned result = line_has_key(row->tables, p.line, p.home, p.print);
    return TAMIS_UNLIKELY(result == TAMIS_I_LINE_AWAY) ? row->elsewhere(row, word) : result != 0;
}

static unsigned line_has(const tamis_i_line_row *row, const uint64_t *line, unsigned home,
                         uint64_t print) {
    const tamis_i_line_tables *const t = row->tables;
    return line_has_key(t, line, home, print << t->print_from);
}

static tamis_status line_add_word(const tamis_i_line_row *row, uint64_t word, unsigned most,
                                  bool *added) {
    const tamis_i_line_tables *const t = row->tables;
    const tamis_i_line_place p = line_locate(row, word);
    const unsigned result =
        line_add_key(t, p.line, p.home, p.print, p.print >> t->print_from, most);
    if (TAMIS_UNLIKELY((result & TAMIS_I_LINE_DONE) == 0))
        return row->not_added(row, word, result, added);
    ++*row->count;
    if (added != NULL)
        *added = (result & TAMIS_I_LINE_FOUND) == 0;
    return TAMIS_OK;
}

static unsigned line_add(const tamis_i_line_row *row, uint64_t *line, unsigned home, uint64_t entry,
                         unsigned most) {
    const tamis_i_line_tables *const t = row->tables;
    const uint64_t planes = ((uint64_t)1 << t->planes) - 1;
    return line_add_key(t, line, home, entry << t->print_from, entry & planes, most);
}

static tamis_status line_drop_word(const tamis_i_line_row *row, uint64_t word, unsigned most) {
    const tamis_i_line_place p = line_locate(row, word);
    const unsigned result = line_drop_key(row->tables, p.line, p.home, p.print, most);
    *row->count -= (result & TAMIS_I_LINE_DONE) != 0;
    return (result & ~TAMIS_I_LINE_FOUND) == TAMIS_I_LINE_DONE ? TAMIS_OK
                                                               : row->dropped(row, word, result);
}

static unsigned line_drop(const tamis_i_line_row *row, uint64_t *line, unsigned home,
                          uint64_t print, unsigned most) {
    const tamis_i_line_tables *const t = row->tables;
    return line_drop_key(t, line, home, print << t->print_from, most);
}

static const tamis_i_line_bits_ops line_neon = {.has_word = line_has_word,
                                                .has = line_has,
                                                .add_word = line_add_word,
                                                .add = line_add,
                                                .drop_word = line_drop_word,
                                                .drop = line_drop,
                                                .count = tamis_i_line_bits_row_count,
                                                .run = tamis_i_line_bits_row_run,
                                                .get = tamis_i_line_bits_row_get,
                                                .cut = tamis_i_line_bits_row_cut,
                                                .lowest = tamis_i_line_bits_row_lowest};

const tamis_i_line_bits_ops *tamis_i_line_bits_ops_arm(const tamis_i_line_shape *shape,
                                                       unsigned features) {
    (void)shape;
    return (features & TAMIS_I_CPU_NEON) != 0 ? &line_neon : NULL;
}

#endif
