/* counting_bucket.c - buckets of cells, each a remainder and a counter
 *
 * Layout of a bucket, from its first bit up.  It may begin at any bit of a line:
 *
 *      [ heads of cells 0, 1, .. n-1 ][ counters ][ tails ]
 *
 *      head      the lowest 8 bits of the remainder, or all r if it has fewer
 *      counter   c bits, those of all cells 64 at most
 *      tail      the other bits of the remainder
 *
 * A cell is empty if its counter is 0, so every value of a remainder can be stored.  Counters lie
 * together for that reason: one word gives the load.  Heads lie together too: all of them are compared
 * at once, as bytes, and a bucket that does not hold the remainder is seldom examined any further.
 *
 * Invariants, tested by tamis_i_counting_check():
 *   C1  the cells in use are the first ones: no counter after a zero is nonzero;
 *   C2  the remainder of an empty cell is zero, and so are the bits that fill up the last byte, so that one
 *       history of calls gives one byte image.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counting_bucket.h"

#include "bits/counting_key.h"
#include "bits/native.h"

#define CHOICES_TARGET
#define CHOICES_FIND tamis_i_heads_find
#define CHOICES_OPS  static const tamis_i_choices_ops portable
#include "bits/choices_template.h"

bool tamis_i_counting_ok(uint64_t n, uint64_t counter_bits, uint64_t remainder_bits) {
    return n >= 1 && n <= TAMIS_I_COUNTING_MAX && counter_bits >= 1 && counter_bits <= 8 &&
           n * counter_bits <= 64 && remainder_bits >= 1 && remainder_bits <= 32;
}

void tamis_i_counting_init(tamis_i_counting_bucket *cells, uint64_t n, uint64_t counter_bits,
                           uint64_t remainder_bits) {
    const uint64_t bits = tamis_i_counting_bits(n, counter_bits, remainder_bits);
    const tamis_i_heads heads = tamis_i_heads_of(n, remainder_bits, bits);
    const uint64_t tail_bits = remainder_bits - heads.bits;
    *cells =
        (tamis_i_counting_bucket){.n = n,
                                  .counter_bits = counter_bits,
                                  .remainder_bits = remainder_bits,
                                  .tail_bits = tail_bits,
                                  .counters_at = n * heads.bits,
                                  .tails_at = n * (heads.bits + counter_bits),
                                  .counter_part = (65536 + counter_bits - 1) / counter_bits,
                                  .head_mask = tamis_i_low_mask((unsigned)heads.bits),
                                  .tail_mask = tamis_i_low_mask((unsigned)tail_bits),
                                  .counter_mask = tamis_i_low_mask((unsigned)counter_bits),
                                  .counters_mask = tamis_i_low_mask((unsigned)(n * counter_bits)),
                                  .heads = heads};
    for (uint64_t i = 1; i <= n; i++)
        cells->counter_tops |= (uint64_t)1 << (i * counter_bits - 1);
}

unsigned tamis_i_counting_match(const tamis_i_counting_bucket *cells, const uint64_t *line,
                                unsigned at, uint64_t remainder) {
    const uint64_t head = tamis_i_counting_head(cells, remainder);
    unsigned left = tamis_i_heads_match(&cells->heads, line, at, head), hits = 0;
    for (; left != 0; left &= left - 1) {
        const unsigned cell = (unsigned)__builtin_ctz(left);
        if (tamis_i_counting_confirm(cells, line, at, cell, remainder) != 0)
            hits |= 1u << cell;
    }
    return hits;
}

bool tamis_i_counting_check(const tamis_i_counting_bucket *cells, const uint64_t *line, unsigned at,
                            const char **reason) {
    const uint64_t counters = tamis_i_counting_counters(cells, line, at);
    const uint64_t load = tamis_i_counting_load(cells, tamis_i_counting_used(cells, counters));
    if (load < cells->n && counters >> load * cells->counter_bits != 0) {
        *reason = "a bucket has an empty cell before one in use";
        return false;
    }
    for (uint64_t i = load; i < cells->n; i++) {
        if (tamis_i_counting_remainder(cells, line, at, i) != 0) {
            *reason = "a bucket has data in an empty cell";
            return false;
        }
    }
    const unsigned used = (unsigned)(cells->n * (cells->counter_bits + cells->remainder_bits));
    if (used % 8 != 0 && tamis_i_field_get(line, at + used, 8 - used % 8) != 0) {
        *reason = "a bucket has data past its cells";
        return false;
    }
    return true;
}

/* ---- the cells of a key ---- */

const tamis_i_choices_ops *tamis_i_counting_bucket_ops_for(const tamis_i_counting_layout *layout,
                                                           unsigned features) {
    const tamis_i_choices_ops *const native = TAMIS_I_COUNTING_BUCKET_NATIVE(layout, features);
    return native != NULL ? native : &portable;
}

tamis_i_counting_found tamis_i_counting_look(const tamis_i_counting_layout *layout, uint64_t *table,
                                             tamis_digest digest, tamis_i_probe *probe) {
    const unsigned d = (unsigned)layout->choices.subtables;
    choices_locate(layout, d, table, digest, probe);
    return counting_find(layout, probe, tamis_i_heads_find(&layout->cells.heads, probe, d));
}

bool tamis_i_counting_use(const tamis_i_counting_layout *layout, const tamis_i_probe *probe) {
    return counting_use(layout, (unsigned)layout->choices.subtables, probe);
}
