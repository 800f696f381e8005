/* cells.c - buckets of cells, each a remainder and a counter
 *
 * Layout of a bucket, from its first bit up, which may be any bit of a line:
 *
 *      [ counters of cells 0, 1, .. n-1 ][ remainders of cells 0, 1, .. n-1 ]
 *        c bits each, 64 in all at most    r bits each
 *
 * A cell is empty if its counter is 0, so that every value of a remainder can be stored.  The
 * counters lie together for that reason: one word tells the load.
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

/* Lane i takes the four bytes from the one with its first bit on; a remainder of up to 25 bits is
 * in them, whatever that bit.  Groups of 16 bytes that would reach past the bucket begin earlier.
 * Lanes without a cell take zeros, and their hits are dropped with those of empty cells. */
static void find_vectors(tamis_i_cells *cells) {
    tamis_i_vectors *const v = &cells->vectors;
    const unsigned r = (unsigned)cells->remainder_bits, n = (unsigned)cells->n;
    const unsigned bytes = (unsigned)tamis_i_cells_bits(n, cells->counter_bits, r) / 8;
    memset(v, 0, sizeof *v);
    if (bytes < 16 || r > 25)
        return;
    v->n = n <= 8 ? 2 : 4;
    for (unsigned i = 0; i < 4 * v->n; i++) {
        const unsigned bit = (unsigned)(cells->n * cells->counter_bits) + (i < n ? i : n - 1) * r;
        uint64_t *const from = &v->from[i / 4];
        if (i % 4 == 0)
            *from = bit / 8 < bytes - 16 ? bit / 8 : bytes - 16;
        const uint64_t shift = i < n ? bit % 8 : 32; /* 32 shifts everything out */
        v->shift[i / 2] |= shift << 32 * (i % 2);
        for (unsigned j = 0; j < 4; j++) {
            const uint64_t byte = bit / 8 + j - *from;
            v->take[i / 2] |= (byte < 16 ? byte : 0x80) << 8 * (4 * (i % 2) + j);
        }
    }
}

void tamis_i_cells_init(tamis_i_cells *cells, uint64_t n, uint64_t counter_bits,
                        uint64_t remainder_bits) {
    cells->n = n;
    cells->counter_bits = counter_bits;
    cells->remainder_bits = remainder_bits;
    cells->counter_part = (65536 + counter_bits - 1) / counter_bits;
    cells->fields = tamis_i_fields_of((unsigned)remainder_bits);
    find_vectors(cells);
}

static unsigned remainders_at(const tamis_i_cells *cells, unsigned at) {
    return at + (unsigned)(cells->n * cells->counter_bits);
}

bool tamis_i_cells_match(const tamis_i_cells *cells, const tamis_i_spot *spots, size_t n,
                         uint16_t *hits) {
    const unsigned bits = (unsigned)cells->remainder_bits, step = (unsigned)cells->fields.step;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const tamis_i_spot s = spots[i];
        const unsigned load =
            tamis_i_cells_load(cells, tamis_i_cells_counters(cells, s.words, s.at));
        unsigned at = remainders_at(cells, s.at), left = load * bits, first = 0;
        hits[i] = 0;
        for (unsigned now; left != 0; left -= now, at += now, first += step) {
            now = left < step ? left : step;
            uint64_t high = tamis_i_fields_match(&cells->fields, s.words, at, now, s.remainder);
            for (; high != 0; high &= high - 1) {
                hits[i] |= (uint16_t)(1u << (first + (unsigned)__builtin_ctzll(high)) / bits);
                any = true;
            }
        }
    }
    return any;
}

uint64_t tamis_i_cells_remainder(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                                 unsigned cell) {
    const unsigned bits = (unsigned)cells->remainder_bits;
    return tamis_i_field_get(words, remainders_at(cells, at) + cell * bits, bits);
}

void tamis_i_cells_count(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned cell,
                         uint64_t count) {
    const unsigned bits = (unsigned)cells->counter_bits;
    tamis_i_field_put(words, at + cell * bits, bits, count);
}

static void set(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned cell,
                uint64_t remainder, uint64_t count) {
    const unsigned bits = (unsigned)cells->remainder_bits;
    tamis_i_field_put(words, remainders_at(cells, at) + cell * bits, bits, remainder);
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
