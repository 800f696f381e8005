/* cells.c - buckets of cells, each a remainder and a counter
 *
 * Layout of a bucket, from its first bit up, which may be any bit of a line:
 *
 *      [ heads of cells 0, 1, .. n-1 ][ counters ][ tails ]
 *
 *      head      the lowest 8 bits of the remainder, or all r if it has fewer
 *      counter   c bits, those of all cells 64 at most
 *      tail      the other bits of the remainder
 *
 * A cell is empty if its counter is 0, so that every value of a remainder can be stored.  Counters lie
 * together for that reason: one word tells the load.  So do heads: all of them are compared at once, as
 * bytes, and a bucket that does not hold the remainder is seldom looked at any further.
 *
 * Invariants, tested by tamis_i_cells_check():
 *   C1  the cells in use are the first ones: no counter after a zero is nonzero;
 *   C2  the remainder of an empty cell is zero, and so are the bits that fill up the last byte, so
 *   that one
 *       history of calls gives one byte image.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/cells.h"

bool tamis_i_cells_ok(uint64_t n, uint64_t counter_bits, uint64_t remainder_bits) {
    return n >= 1 && n <= TAMIS_I_CELLS_MAX && counter_bits >= 1 && counter_bits <= 8 &&
           n * counter_bits <= 64 && remainder_bits >= 1 && remainder_bits <= 32;
}

void tamis_i_cells_init(tamis_i_cells *cells, uint64_t n, uint64_t counter_bits,
                        uint64_t remainder_bits) {
    const uint64_t bits = tamis_i_cells_bits(n, counter_bits, remainder_bits);
    *cells = (tamis_i_cells){.n = n,
                             .counter_bits = counter_bits,
                             .remainder_bits = remainder_bits,
                             .counter_part = (65536 + counter_bits - 1) / counter_bits,
                             .heads = tamis_i_heads_of(n, remainder_bits, bits)};
    cells->counters_at = n * cells->heads.bits;
    cells->tails_at = cells->counters_at + n * counter_bits;
}

static uint64_t tail_of(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                        unsigned cell) {
    const unsigned bits = (unsigned)(cells->remainder_bits - cells->heads.bits);
    return bits == 0 ? 0
                     : tamis_i_field_get(words, at + cells->tails_at + (uint64_t)cell * bits, bits);
}

uint64_t tamis_i_cells_confirm(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                               unsigned cell, uint64_t remainder) {
    const unsigned bits = (unsigned)cells->counter_bits;
    const uint64_t count = tamis_i_field_get(words, at + cells->counters_at + cell * bits, bits);
    return tail_of(cells, words, at, cell) == remainder >> cells->heads.bits ? count : 0;
}

unsigned tamis_i_cells_match(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                             uint64_t remainder) {
    const uint64_t head = tamis_i_cells_head(cells, remainder);
    unsigned left = tamis_i_heads_match(&cells->heads, words, at, head), hits = 0;
    for (; left != 0; left &= left - 1) {
        const unsigned cell = (unsigned)__builtin_ctz(left);
        if (tamis_i_cells_confirm(cells, words, at, cell, remainder) != 0)
            hits |= 1u << cell;
    }
    return hits;
}

uint64_t tamis_i_cells_remainder(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                                 unsigned cell) {
    const unsigned bits = (unsigned)cells->heads.bits;
    return tail_of(cells, words, at, cell) << bits |
           tamis_i_field_get(words, at + cell * bits, bits);
}

void tamis_i_cells_count(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned cell,
                         uint64_t count) {
    const unsigned bits = (unsigned)cells->counter_bits;
    tamis_i_field_put(words, at + cells->counters_at + cell * bits, bits, count);
}

static void set(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned cell,
                uint64_t remainder, uint64_t count) {
    const unsigned head = (unsigned)cells->heads.bits;
    const unsigned tail = (unsigned)cells->remainder_bits - head;
    tamis_i_field_put(words, at + cell * head, head, remainder);
    if (tail != 0)
        tamis_i_field_put(words, at + cells->tails_at + (uint64_t)cell * tail, tail,
                          remainder >> head);
    tamis_i_cells_count(cells, words, at, cell, count);
}

void tamis_i_cells_add(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned load,
                       uint64_t remainder, uint64_t count) {
    TAMIS_ASSERT(load < cells->n && count >= 1 && count <= tamis_i_cells_counter_max(cells));
    set(cells, words, at, load, remainder, count);
}

void tamis_i_cells_drop(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned load,
                        unsigned cell) {
    const unsigned last = load - 1;
    TAMIS_ASSERT(cell < load);
    const uint64_t counters = tamis_i_cells_counters(cells, words, at);
    set(cells, words, at, cell, tamis_i_cells_remainder(cells, words, at, last),
        tamis_i_cells_counter(cells, counters, last));
    set(cells, words, at, last, 0, 0);
}

bool tamis_i_cells_check(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                         const char **reason) {
    const uint64_t counters = tamis_i_cells_counters(cells, words, at);
    const unsigned load = tamis_i_cells_load(cells, counters);
    for (unsigned i = 0; i < cells->n; i++) {
        if (i < load && tamis_i_cells_counter(cells, counters, i) == 0) {
            *reason = "a bucket has an empty cell before one in use";
            return false;
        }
        if (i >= load && tamis_i_cells_remainder(cells, words, at, i) != 0) {
            *reason = "a bucket has data in an empty cell";
            return false;
        }
    }
    const unsigned used = (unsigned)(cells->n * (cells->counter_bits + cells->remainder_bits));
    if (used % 8 != 0 && tamis_i_field_get(words, at + used, 8 - used % 8) != 0) {
        *reason = "a bucket has data past its cells";
        return false;
    }
    return true;
}
