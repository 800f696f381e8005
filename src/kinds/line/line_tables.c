/* line_tables.c - the tables of a shape: making them, and who has them
 *
 * A process keeps one copy of the tables of a shape as long as someone has them, in one of a few slots.  A
 * slot is a word, which says whose tables are there and how many have them,
 *
 *      values 6 | prints 6 | homes 7 | users 13
 *
 * and a pointer.  No users, but a shape: someone is making the tables, or freeing them, and nobody else
 * looks at the pointer.  Each step is one exchange of the word, so nobody waits for anybody, a process that
 * was forked in between included: whoever finds no slot, or one in work, gets a copy of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kinds/line/line_tables.h"

#include "bits/native.h"

#include <stdatomic.h>

/* ---- making ---- */

static void line_mask_set(tamis_i_line_mask *mask, unsigned from, unsigned end) {
    for (unsigned bit = from; bit < end; bit++)
        mask->word[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void line_make_place(const tamis_i_line_shape *shape, unsigned p, tamis_i_line_move *place) {
    const unsigned n = shape->capacity;
    tamis_i_line_mask gone = {{0}};
    place->moves = gone;
    line_mask_set(&place->moves, shape->starts + p, shape->starts + n);
    for (unsigned j = 0; j < shape->planes; j++) {
        line_mask_set(&place->moves, shape->plane[j] + p, shape->plane[j] + n);
        line_mask_set(&gone, shape->plane[j] + p, shape->plane[j] + p + (p < n));
    }
    if (p == 0)
        line_mask_set(&gone, shape->starts, shape->starts + 1);
    for (unsigned w = 0; w < TAMIS_LINE_WORDS; w++)
        place->keeps.word[w] = ~gone.word[w];
}

/* The masks for one part of an entry, of which 'bits' planes are left, so that the last is a small one. */
static unsigned line_make_six(const tamis_i_line_shape *shape, unsigned first,
                              tamis_i_line_mask *six) {
    const unsigned left = shape->planes - first,
                   bits = left < TAMIS_I_LINE_SIX ? left : TAMIS_I_LINE_SIX;
    for (unsigned value = 0; six != NULL && value < 1u << bits; value++) {
        six[value] = (tamis_i_line_mask){{0}};
        for (unsigned i = 0; i < bits; i++) {
            const unsigned from = shape->plane[first + i];
            if ((value >> i & 1) != 0)
                line_mask_set(&six[value], from, from + shape->capacity);
        }
    }
    return 1u << bits;
}

/* The plane in a lane: where there is none, the last one of an even number, and its neighbour. */
static unsigned line_plane_of(const tamis_i_line_shape *shape, unsigned lane) {
    const unsigned pair = lane / 2 * 2, last = (shape->prints - 1) / 2 * 2;
    const unsigned j = (pair < last ? pair : last) + lane % 2;
    return j < shape->prints ? j : j - 1;
}

static void line_make_fours(const tamis_i_line_shape *shape, tamis_i_line_tables *t) {
    for (unsigned lane = 0; lane < 4 * TAMIS_I_LINE_FOURS; lane++) {
        tamis_i_line_four *const four = &t->fours[lane / 4];
        uint32_t *const at = &t->at[lane / 4][lane / 2 % 2];
        const unsigned j = line_plane_of(shape, lane), byte = shape->plane[j] / 8,
                       last = TAMIS_LINE_BYTES - 16;
        if (lane % 2 == 0)
            *at = byte < last ? byte : last;
        for (unsigned b = 0; b < 8; b++) {
            const unsigned from = byte - *at + b;
            four->bytes[lane % 4 * 8 + b] = (uint8_t)(from < 16 ? from : 128);
        }
        four->down[lane % 4] = shape->plane[j] % 8;
        four->bits[lane % 4] = UINT64_C(1) << (64 - shape->prints + j);
    }
}

static size_t line_tables_size(const tamis_i_line_shape *shape) {
    size_t masks = 0;
    for (unsigned first = 0; first < shape->planes; first += TAMIS_I_LINE_SIX)
        masks += line_make_six(shape, first, NULL);
    return sizeof(tamis_i_line_tables) + masks * sizeof(tamis_i_line_mask);
}

static tamis_i_line_tables *line_tables_make(const tamis_i_line_shape *shape, unsigned slot) {
    const size_t size = line_tables_size(shape);
    tamis_i_line_tables *const t = tamis_i_alloc(NULL, size);
    if (t == NULL)
        return NULL;
    tamis_i_line_mask *const sixes = (tamis_i_line_mask *)(t + 1);
    *t = (tamis_i_line_tables){
        .homes = shape->homes,
        .starts = ((UINT64_C(1) << shape->capacity) - 1) << shape->starts % 8,
        .full = UINT64_C(1) << shape->capacity,
        .sixes = sixes,
        .n_sixes = (shape->planes + TAMIS_I_LINE_SIX - 1) / TAMIS_I_LINE_SIX,
        .n_fours = (shape->prints + 3) / 4,
        .planes = shape->planes,
        .capacity = shape->capacity,
        .print_from = 64 - shape->prints,
        .offset_from = 64 - shape->prints - TAMIS_I_LINE_SIX,
        .starts_at = shape->starts / 8,
        .starts_from = shape->starts % 8,
        .away_at = shape->homes / 8,
        .away = 1u << shape->homes % 8,
        .slot = slot,
        .size = size,
    };
    line_make_fours(shape, t);
    for (unsigned p = 0; p < TAMIS_I_LINE_PLACES; p++)
        line_make_place(shape, p, &t->places[p]);
    for (unsigned first = 0, at = 0; first < shape->planes; first += TAMIS_I_LINE_SIX)
        at += line_make_six(shape, first, sixes + at);
    return t;
}

/* ---- who has them ---- */

#define SLOTS 32u
#define USER  1u
#define USERS 0x1fffu
#define FREE  0u
#define OWN   SLOTS /* 'slot' of tables that are in none */

typedef struct line_slot {
    atomic_uint word;
    tamis_i_line_tables *tables;
} line_slot;

static line_slot line_slots[SLOTS];

static unsigned line_slot_name(const tamis_i_line_shape *shape) {
    return shape->values << 26 | shape->prints << 20 | shape->homes << 13;
}

/* One more has the tables of this slot, if they are those of 'name' and there. */
static bool line_slot_join(line_slot *slot, unsigned name) {
    unsigned word = atomic_load_explicit(&slot->word, memory_order_relaxed);
    while ((word & ~USERS) == name && (word & USERS) != 0 && (word & USERS) != USERS)
        if (atomic_compare_exchange_weak_explicit(&slot->word, &word, word + USER,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/* Take a free slot for tables to be made. */
static bool line_slot_begin(line_slot *slot, unsigned name) {
    unsigned word = FREE;
    return atomic_compare_exchange_strong_explicit(&slot->word, &word, name, memory_order_acquire,
                                                   memory_order_relaxed);
}

const void *tamis_i_line_bits_tables_take(const tamis_i_line_shape *shape, unsigned features) {
    if (TAMIS_I_LINE_BITS_NATIVE(shape, features) == NULL)
        return NULL;
    const unsigned name = line_slot_name(shape);
    for (unsigned i = 0; i < SLOTS; i++)
        if (line_slot_join(&line_slots[i], name))
            return line_slots[i].tables;
    for (unsigned i = 0; i < SLOTS; i++) {
        line_slot *const slot = &line_slots[i];
        if (!line_slot_begin(slot, name))
            continue;
        slot->tables = line_tables_make(shape, i);
        const bool made = slot->tables != NULL;
        const void *const tables = slot->tables;
        atomic_store_explicit(&slot->word, made ? name + USER : FREE, memory_order_release);
        return tables;
    }
    return line_tables_make(shape, OWN);
}

void tamis_i_line_bits_tables_give(const void *tables) {
    if (tables == NULL)
        return;
    tamis_i_line_tables *const t = (tamis_i_line_tables *)(uintptr_t)tables;
    line_slot *const slot = &line_slots[t->slot % SLOTS];
    const bool own = t->slot == OWN;
    if (!own &&
        (atomic_fetch_sub_explicit(&slot->word, USER, memory_order_acq_rel) & USERS) != USER)
        return;
    tamis_i_free(NULL, t, (size_t)t->size);
    if (!own)
        atomic_store_explicit(&slot->word, FREE, memory_order_release);
}
