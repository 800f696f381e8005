/* chain_template.h - the work on one bucket of chain.h, compiled once per instruction set
 *
 * The including file defines CHAIN_TARGET, attributes of all functions, and CHAIN_ONES(word), the number
 * of ones of a word, and names the table of functions with CHAIN_OPS.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/chain.h"

/* The 64 bits from bit 'at' on.  The table has a word more than its last bit needs. */
CHAIN_TARGET static inline uint64_t window(const uint64_t *table, uint64_t at) {
    const uint64_t *const w = table + at / 64;
    const unsigned shift = (unsigned)(at % 64);
    return w[0] >> shift | w[1] << 1 << (63 - shift);
}

/* Ones among the n bits from 'at' on. */
CHAIN_TARGET static inline unsigned ones(const uint64_t *table, uint64_t at, unsigned n) {
    unsigned sum = 0;
    for (; n >= 64; n -= 64, at += 64)
        sum += CHAIN_ONES(window(table, at));
    return sum + CHAIN_ONES(window(table, at) & tamis_i_low_mask(n));
}

/* The pieces of a bucket, and its base index. */
CHAIN_TARGET static inline uint64_t open_bucket(const tamis_i_chain *c, const uint64_t *table,
                                                uint64_t bucket, tamis_i_chain_view *v) {
    v->number[0] = bucket;
    v->at[0] = tamis_i_chain_piece(c, 0, bucket);
    v->pieces = 1;
    while (v->pieces < TAMIS_I_PIECES) {
        const unsigned p = v->pieces;
        const uint64_t link = tamis_i_chain_link(c, table, p - 1, v->number[p - 1]);
        if (link == 0 || link > c->n[p])
            break;
        v->number[p] = link - 1;
        v->at[p] = tamis_i_chain_piece(c, p, link - 1);
        v->pieces++;
    }
    const uint64_t base = window(table, v->at[0]) & tamis_i_low_mask((unsigned)c->homes);
    v->chains = CHAIN_ONES(base);
    return base;
}

/* Ones in the higher index before bit s. */
CHAIN_TARGET static unsigned higher_before(const tamis_i_chain *c, const uint64_t *table,
                                           const tamis_i_chain_view *v, unsigned s) {
    unsigned sum = 0;
    for (unsigned p = 0; p < v->pieces && s > c->first[p]; p++) {
        const uint64_t n = s - c->first[p];
        sum +=
            ones(table, v->at[p] + c->higher_at[p], (unsigned)(n < c->slots[p] ? n : c->slots[p]));
    }
    return sum;
}

/* The slot after slot s, or a number past all slots at the end. */
CHAIN_TARGET static unsigned next_slot(const tamis_i_chain *c, const uint64_t *table,
                                       const tamis_i_chain_view *v, unsigned s) {
    if (!tamis_i_bit_get(table, tamis_i_chain_higher_at(c, v, s)))
        return UINT32_MAX;
    const unsigned next = v->chains + higher_before(c, table, v, s);
    return next > s ? next : UINT32_MAX;
}

/* The rest of find, from slot s on, where a chain leaves the bucket. */
CHAIN_TARGET static bool find_beyond(const tamis_i_chain *c, const uint64_t *table, uint64_t bucket,
                                     unsigned s, uint64_t print) {
    tamis_i_chain_view v;
    (void)open_bucket(c, table, bucket, &v);
    const uint64_t mask = tamis_i_low_mask((unsigned)c->print_bits), end = c->first[v.pieces];
    for (; s < end; s = next_slot(c, table, &v, s))
        if ((window(table, tamis_i_chain_slot_at(c, &v, s)) & mask) == print)
            return true;
    return false;
}

/* Most queries end after the first slot, and whether it matches cannot be foretold: the only branch that is
 * taken at random is whether the chain goes on. */
CHAIN_TARGET static bool find(const tamis_i_chain *c, const uint64_t *table, uint64_t bucket,
                              unsigned home, uint64_t print) {
    const uint64_t at = c->stride[0] * bucket, mask = tamis_i_low_mask((unsigned)c->print_bits);
    const uint64_t base = window(table, at) & tamis_i_low_mask((unsigned)c->homes);
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0];
    unsigned s = CHAIN_ONES(base & tamis_i_low_mask(home));
    if (TAMIS_UNLIKELY(s >= c->first[1]))
        return (base >> home & 1) != 0 && find_beyond(c, table, bucket, s, print);
    uint64_t is = base >> home & 1;
    bool found = false;
    for (;;) {
        found |= is & (((window(table, slots + s * c->slot_bits) ^ print) & mask) == 0);
        is &= table[(higher + s) / 64] >> (higher + s) % 64;
        if (!is)
            return found;
        const unsigned next = CHAIN_ONES(base) + ones(table, higher, s);
        if (next <= s)
            return found;
        if (TAMIS_UNLIKELY(next >= c->first[1]))
            return found || find_beyond(c, table, bucket, next, print);
        s = next;
    }
}

/* Ones among the first n bits from 'at' on, which are part of 64 x words: the same steps for any n. */
CHAIN_TARGET static inline unsigned ones_within(const uint64_t *table, uint64_t at, unsigned n,
                                                unsigned words) {
    unsigned sum = 0;
    for (unsigned i = 0; i < words; i++, at += 64) {
        const unsigned here = n < 64 ? n : 64;
        sum += CHAIN_ONES(here == 0 ? 0 : window(table, at) << (64 - here));
        n -= here;
    }
    return sum;
}

/* Where a chain goes on cannot be foretold, and a branch that is taken at random costs more than the rest
 * of the query.  So all queries go one step together, without branches; those that go on are listed. */
CHAIN_TARGET static void find_many(const tamis_i_chain *c, const uint64_t *table,
                                   const tamis_i_chain_query *queries, size_t n, bool *found) {
    const uint64_t homes = tamis_i_low_mask((unsigned)c->homes);
    const uint64_t mask = tamis_i_low_mask((unsigned)c->print_bits);
    const uint64_t width = c->slot_bits, end = c->first[1];
    const unsigned words = (unsigned)(c->slots[0] + 63) / 64;
    uint64_t slots[TAMIS_I_CHAIN_GROUP], higher[TAMIS_I_CHAIN_GROUP];
    unsigned at[TAMIS_I_CHAIN_GROUP], chains[TAMIS_I_CHAIN_GROUP], todo[TAMIS_I_CHAIN_GROUP];
    unsigned n_todo = 0;
    for (unsigned i = 0; i < n; i++) {
        const tamis_i_chain_query *const q = &queries[i];
        const uint64_t first = c->stride[0] * q->bucket;
        const uint64_t base = window(table, first) & homes;
        const uint64_t is = base >> q->home & 1;
        const unsigned s = CHAIN_ONES(base & (((uint64_t)1 << q->home) - 1));
        slots[i] = first + c->slots_at[0];
        higher[i] = first + c->higher_at[0];
        chains[i] = CHAIN_ONES(base);
        at[i] = s;
        found[i] = false;
        if (TAMIS_UNLIKELY(s >= end)) {
            found[i] = is != 0 && find_beyond(c, table, q->bucket, s, q->print);
            continue;
        }
        found[i] = is & (((window(table, slots[i] + s * width) ^ q->print) & mask) == 0);
        const uint64_t bit = higher[i] + s;
        todo[n_todo] = i;
        n_todo += (unsigned)(is & (table[bit / 64] >> bit % 64) & !found[i]);
    }
    while (n_todo != 0) {
        unsigned n_next = 0;
        for (unsigned j = 0; j < n_todo; j++) {
            const unsigned i = todo[j];
            const unsigned s = chains[i] + ones_within(table, higher[i], at[i], words);
            if (TAMIS_UNLIKELY(s >= end || s <= at[i])) {
                if (s > at[i])
                    found[i] = find_beyond(c, table, queries[i].bucket, s, queries[i].print);
                continue;
            }
            at[i] = s;
            found[i] = ((window(table, slots[i] + s * width) ^ queries[i].print) & mask) == 0;
            const uint64_t bit = higher[i] + s;
            todo[n_next] = i;
            n_next += (unsigned)(table[bit / 64] >> bit % 64 & !found[i]);
        }
        n_todo = n_next;
    }
}

CHAIN_TARGET static void look(const tamis_i_chain *c, const uint64_t *table, uint64_t bucket,
                              unsigned home, uint64_t print, tamis_i_chain_view *v) {
    const uint64_t base = open_bucket(c, table, bucket, v);
    const uint64_t mask = tamis_i_low_mask((unsigned)c->print_bits), end = c->first[v->pieces];
    const unsigned shift = (unsigned)(c->slot_bits - c->count_bits);
    const uint64_t most = tamis_i_low_mask((unsigned)c->count_bits);
    const unsigned load = v->chains + higher_before(c, table, v, (unsigned)end);
    v->load = load < end ? load : (unsigned)end;
    v->home = home;
    v->length = v->last = v->before = 0;
    v->copies = 0;
    if ((base >> home & 1) == 0)
        return;
    for (unsigned s = CHAIN_ONES(base & tamis_i_low_mask(home)); s < end;
         s = next_slot(c, table, v, s)) {
        v->before = v->last;
        v->last = s;
        v->length++;
        const uint64_t slot = window(table, tamis_i_chain_slot_at(c, v, s)) &
                              tamis_i_low_mask((unsigned)c->slot_bits);
        if (((slot ^ print) & mask) != 0)
            continue;
        const uint64_t more = most == 0 ? 0 : slot >> shift;
        if (v->copies == 0 || more < most) {
            v->match = s;
            v->slot = slot;
        }
        v->copies += 1 + more;
    }
}

/* Slots from number s on move up by one, and their bits with them; 'slot' goes to the gap.  From the last
 * piece to the first: what leaves a piece at its end has been put at the beginning of the next. */
CHAIN_TARGET static void open_slot(const tamis_i_chain *c, uint64_t *table,
                                   const tamis_i_chain_view *v, unsigned s, uint64_t slot) {
    const unsigned width = (unsigned)c->slot_bits;
    for (unsigned p = tamis_i_chain_piece_of(c, v->load);; p--) {
        const uint64_t first = c->first[p], end = v->load + 1;
        const uint64_t from = s > first ? s - first : 0;
        const uint64_t to = (end < c->first[p + 1] ? end : c->first[p + 1]) - first;
        const uint64_t higher = v->at[p] + c->higher_at[p], slots = v->at[p] + c->slots_at[p];
        tamis_i_field_open(table, higher + from, higher + to, 1);
        tamis_i_field_open(table, slots + from * width, slots + to * width, width);
        if (s >= first) {
            tamis_i_field_put(table, slots + from * width, width, slot);
            return;
        }
        const unsigned carried = (unsigned)first - 1;
        tamis_i_field_put(table, slots, width, tamis_i_chain_slot(c, table, v, carried));
        if (tamis_i_bit_get(table, tamis_i_chain_higher_at(c, v, carried)))
            tamis_i_bit_set(table, higher);
    }
}

/* Slots behind number s move down by one, and their bits with them. */
CHAIN_TARGET static void close_slot(const tamis_i_chain *c, uint64_t *table,
                                    const tamis_i_chain_view *v, unsigned s) {
    const unsigned width = (unsigned)c->slot_bits;
    for (unsigned p = tamis_i_chain_piece_of(c, s);; p++) {
        const uint64_t first = c->first[p], after = c->first[p + 1];
        const uint64_t from = s > first ? s - first : 0;
        const uint64_t to = (v->load < after ? v->load : after) - first;
        const uint64_t higher = v->at[p] + c->higher_at[p], slots = v->at[p] + c->slots_at[p];
        tamis_i_field_close(table, higher + from, higher + to, 1);
        tamis_i_field_close(table, slots + from * width, slots + to * width, width);
        if (v->load <= after)
            return;
        const unsigned carried = (unsigned)after;
        tamis_i_field_put(table, slots + (to - 1) * width, width,
                          tamis_i_chain_slot(c, table, v, carried));
        if (tamis_i_bit_get(table, tamis_i_chain_higher_at(c, v, carried)))
            tamis_i_bit_set(table, higher + to - 1);
    }
}

CHAIN_TARGET static void add(const tamis_i_chain *c, uint64_t *table, const tamis_i_chain_view *v,
                             uint64_t slot) {
    TAMIS_ASSERT(v->load < c->first[v->pieces]);
    unsigned s;
    if (v->length == 0) {
        s = CHAIN_ONES(window(table, v->at[0]) & tamis_i_low_mask(v->home));
        tamis_i_bit_set(table, v->at[0] + v->home);
    } else {
        s = v->chains + higher_before(c, table, v, v->last);
        tamis_i_bit_set(table, tamis_i_chain_higher_at(c, v, v->last));
    }
    open_slot(c, table, v, s < v->load ? s : v->load, slot);
}

CHAIN_TARGET static void drop(const tamis_i_chain *c, uint64_t *table,
                              const tamis_i_chain_view *v) {
    if (v->match != v->last)
        tamis_i_chain_set_slot(c, table, v, v->match, tamis_i_chain_slot(c, table, v, v->last));
    const uint64_t bit =
        v->length == 1 ? v->at[0] + v->home : tamis_i_chain_higher_at(c, v, v->before);
    table[bit / 64] &= ~((uint64_t)1 << bit % 64);
    if (v->last < v->load) /* which only bits that no calls have made can break */
        close_slot(c, table, v, v->last);
}

CHAIN_OPS = {.find = find, .find_many = find_many, .look = look, .add = add, .drop = drop};
