/* run.c - buckets of runs: layout, the portable functions, homes that come and go, the check
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/run.h"
#include "bits/native.h"
#include "bits/words.h"

#define RUN_TARGET
#define RUN_ONES(word)      tamis_i_ones_of(word)
#define RUN_SELECT(word, r) tamis_i_words_select(word, r)
#define RUN_OPS             static const tamis_i_run_ops portable
#include "bits/run_template.h"

#define FIT_BITS 57u /* that any 8 bytes have, from some bit of the first one on */

const tamis_i_run_ops *tamis_i_run_ops_for(const tamis_i_run *run, unsigned features) {
    const tamis_i_run_ops *const native = TAMIS_I_RUN_NATIVE(run, features);
    return native != NULL ? native : &portable;
}

bool tamis_i_run_init(tamis_i_run *run) {
    const uint64_t bits = 64 * run->words;
    if (run->words == 0 || run->words > TAMIS_I_RUN_WORDS || run->words % TAMIS_LINE_WORDS != 0 ||
        run->homes == 0 || run->homes >= bits || run->print_bits == 0 ||
        run->print_bits > TAMIS_I_RUN_PRINT || run->slot_bits < run->print_bits ||
        run->slot_bits > TAMIS_I_RUN_SLOT)
        return false;
    run->slots = (bits - run->homes) / (1 + run->slot_bits);
    run->index_bits = run->homes + run->slots;
    run->index_words = run->index_bits / 64;
    run->index_mask = tamis_i_low_mask((unsigned)(run->index_bits % 64));
    run->print_mask = tamis_i_low_mask((unsigned)run->print_bits);
    run->slot_mask = tamis_i_low_mask((unsigned)run->slot_bits);
    run->fit = run->slot_bits > FIT_BITS ? 0 : FIT_BITS / run->slot_bits;
    run->fit = run->fit < FIT_BITS ? run->fit : FIT_BITS - 1;
    run->lowest = run->highest = run->prints = 0;
    for (uint64_t i = 0; i < run->fit; i++) {
        run->lowest |= (uint64_t)1 << i * run->slot_bits;
        run->highest |= (uint64_t)1 << (i * run->slot_bits + run->slot_bits - 1);
        run->prints |= run->print_mask << i * run->slot_bits;
    }
    run->pace = (run->slots * run->slot_bits << 16) / run->homes;
    return run->slots > 0;
}

/* The last one before the end of what is held: all other ones come before it, the rest are zeros of homes. */
uint64_t tamis_i_run_last(const tamis_i_run *run, const uint64_t *bucket, tamis_i_run_load load) {
    uint64_t at = load.held + load.load;
    (void)run;
    while (at > load.load && !tamis_i_bit_get(bucket, at - 1))
        at--;
    return at - load.load;
}

void tamis_i_run_fill(uint64_t *bucket, uint64_t from, uint64_t to, bool value) {
    while (from < to) {
        const uint64_t left = 64 - from % 64, width = to - from < left ? to - from : left;
        const uint64_t bits = tamis_i_low_mask((unsigned)width) << from % 64;
        bucket[from / 64] = value ? bucket[from / 64] | bits : bucket[from / 64] & ~bits;
        from += width;
    }
}

void tamis_i_run_cut(const tamis_i_run *run, uint64_t *bucket, tamis_i_run_load load,
                     const tamis_i_run_view *home) {
    tamis_i_run_fill(bucket, tamis_i_run_at(run, home->first), tamis_i_run_at(run, load.load),
                     false);
    tamis_i_run_fill(bucket, home->end - home->length, run->index_bits, true);
}

/* A word without its bits in 'gone'; those above move down. */
static uint64_t run_without(uint64_t word, uint64_t gone) {
    while (gone != 0) {
        const uint64_t below = (gone & -gone) - 1;
        word = (word & below) | (word >> 1 & ~below);
        gone = (gone & (gone - 1)) >> 1;
    }
    return word;
}

/* One pass over the words of the index.  The slots of a word's ones are looked at, and those that stay
 * move down; so do the bits of the index. */
uint64_t tamis_i_run_sweep(const tamis_i_run *run, uint64_t *bucket, uint64_t mask,
                           uint64_t value) {
    const tamis_i_run_load load = run_count(run, bucket);
    const uint64_t end = load.held + load.load;
    uint64_t dropped = 0, number = 0, out = 0, to = 0;
    unsigned fill = 0;
    for (uint64_t i = 0; 64 * i < end; i++) {
        const unsigned all = (unsigned)(end - 64 * i < 64 ? end - 64 * i : 64);
        const uint64_t word = bucket[i] & tamis_i_low_mask(all);
        uint64_t gone = 0;
        unsigned width = all;
        for (uint64_t ones = word; ones != 0 && number < load.load; ones &= ones - 1, number++) {
            const uint64_t slot = tamis_i_run_get(run, bucket, number);
            if ((slot & mask) == value) {
                gone |= ones & -ones;
                dropped++;
                width--;
            } else if (dropped > 0) {
                tamis_i_run_set(run, bucket, number - dropped, slot);
            }
        }
        const uint64_t kept = run_without(word, gone);
        out |= kept << fill;
        if (fill + width >= 64) {
            bucket[to++] = out;
            out = fill == 0 ? 0 : kept >> (64 - fill);
            fill -= 64;
        }
        fill += width;
    }
    if (fill > 0)
        tamis_i_field_put(bucket, 64 * to, fill, out);
    tamis_i_run_fill(bucket, end - dropped, end, load.held < run->homes);
    tamis_i_run_fill(bucket, tamis_i_run_at(run, load.load - dropped),
                     tamis_i_run_at(run, load.load), false);
    return dropped;
}

bool tamis_i_run_is_zero(const uint64_t *words, uint64_t from, uint64_t to) {
    for (; to - from >= 64; from += 64)
        if (tamis_i_field_get(words, from, 64) != 0)
            return false;
    return from == to || tamis_i_field_get(words, from, (unsigned)(to - from)) == 0;
}

bool tamis_i_run_check(const tamis_i_run *run, const uint64_t *bucket, const char **reason) {
    const tamis_i_run_load load = run_count(run, bucket);
    const uint64_t end = load.held == 0 ? 0 : run_zero(run, bucket, load.held - 1) + 1;
    /* Behind the last zero of a bucket that is cut are ones, since it is the last. */
    if (end != load.held + load.load ||
        (load.held == run->homes && !tamis_i_run_is_zero(bucket, end, run->index_bits))) {
        *reason = "the index of a bucket fits no number of slots";
        return false;
    }
    if (!tamis_i_run_is_zero(bucket, tamis_i_run_at(run, load.load), 64 * run->words)) {
        *reason = "a bucket has data past its last slot";
        return false;
    }
    return true;
}
