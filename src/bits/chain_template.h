/* chain_template.h - the work on one bucket of chain.h, compiled once per instruction set
 *
 * The including file defines CHAIN_TARGET, attributes of all functions, and CHAIN_ONES(word), the number
 * of ones of a word, and names the table of functions with CHAIN_OPS.  CHAIN_INDEX(table, at, tight) are 64
 * bits from bit 'at' on, or at least 57 if 'tight'; CHAIN_SLOT(table, at, width) at least 'width' of them, up
 * to 57, for which no byte behind them is read, but bytes before them may be.
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

#include "bits/chain_many_template.h"

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

/* ---- the common case: a bucket without extensions ---- */

/* A chain, followed to its end. */
typedef struct chain_walk {
    unsigned load, length, first, last, before; /* 'first' is where a chain of this home begins */
    unsigned matches, match;
    uint64_t next; /* slot for one more */
    uint64_t slot; /* what 'match' holds */
} chain_walk;

/* Ones before bit s of the higher index, of which 'higher' is the first word; 'one': it has no other. */
CHAIN_TARGET TAMIS_INLINE unsigned before_slot(const uint64_t *table, uint64_t at, uint64_t higher,
                                               unsigned s, bool one) {
    return one ? CHAIN_ONES(higher & tamis_i_low_mask(s)) : ones(table, at, s);
}

/* False if the bucket has extensions, or bits that no calls have made. */
CHAIN_TARGET TAMIS_INLINE bool walk_chain(const tamis_i_chain *c, const uint64_t *table,
                                          uint64_t at, unsigned home, uint64_t print, bool one,
                                          chain_walk *w) {
    const uint64_t end = c->slots[0], at_higher = at + c->higher_at[0];
    const uint64_t base = window(table, at) & c->home_mask, higher = window(table, at_higher);
    const unsigned chains = CHAIN_ONES(base);
    w->load = chains + before_slot(table, at_higher, higher, (unsigned)end, one);
    if (w->load > end || c->slot_bits == 64 ||
        (window(table, at + c->link_at[0]) & tamis_i_low_mask((unsigned)c->link_bits[0])) != 0)
        return false;
    unsigned s = w->first = CHAIN_ONES(base & (((uint64_t)1 << home) - 1));
    w->length = w->last = w->before = w->matches = w->match = 0;
    w->slot = 0;
    w->next = s;
    if ((base >> home & 1) == 0)
        return true;
    for (;;) {
        const uint64_t slot = window(table, at + c->slots_at[0] + s * c->slot_bits);
        const bool hit = ((slot ^ print) & c->print_mask) == 0;
        w->before = w->last;
        w->last = s;
        w->length++;
        w->matches += hit;
        w->match = hit ? s : w->match;
        w->slot = hit ? slot & tamis_i_low_mask((unsigned)c->slot_bits) : w->slot;
        w->next = chains + before_slot(table, at_higher, higher, s, one);
        if (!tamis_i_bit_get(table, at_higher + s))
            return true;
        if (w->next <= s)
            return false;
        s = (unsigned)w->next;
    }
}

/* tamis_i_field_open, and 'value' into the gap; 1 <= width <= 63. */
CHAIN_TARGET static inline void open_with(uint64_t *table, uint64_t at, uint64_t end,
                                          unsigned width, uint64_t value) {
    uint64_t *const first = table + at / 64;
    uint64_t *w = table + (end - 1) / 64;
    const unsigned shift = (unsigned)(at % 64);
    const uint64_t below = ((uint64_t)1 << shift) - 1;
    const uint64_t within = tamis_i_low_mask((unsigned)((end - 1) % 64) + 1);
    const uint64_t start = *first & ~below, old = *w;
    uint64_t fill = value << shift, mask = within; /* mask: of the word at hand */
    if (w != first) {
        const uint64_t spill = value >> 1 >> (63 - shift);
        uint64_t here = old;
        for (; w > first + 1; w--) {
            const uint64_t down = w[-1];
            *w = ((here << width | down >> (64 - width)) & mask) | (*w & ~mask);
            here = down;
            mask = ~(uint64_t)0;
        }
        *w = ((here << width | start >> (64 - width) | spill) & mask) | (*w & ~mask);
        w--;
        mask = ~(uint64_t)0;
    }
    *w = (*w & below) | ((start << width | fill) & ~below & mask) | (*w & ~mask);
}

/* tamis_i_field_close; 1 <= width <= 63. */
CHAIN_TARGET static inline void close_gap(uint64_t *table, uint64_t at, uint64_t end,
                                          unsigned width) {
    uint64_t *w = table + at / 64;
    uint64_t *const last = table + (end - 1) / 64;
    const uint64_t within = tamis_i_low_mask((unsigned)((end - 1) % 64) + 1);
    uint64_t keep = ((uint64_t)1 << at % 64) - 1;
    uint64_t here = *w;
    const uint64_t rest = *last & within, beyond = *last & ~within;
    for (; w < last; w++) {
        const uint64_t up = w + 1 == last ? rest : w[1];
        *w = (*w & keep) | ((here >> width | up << (64 - width)) & ~keep);
        here = up;
        keep = 0;
    }
    *w = (*w & keep & within) | ((here & within) >> width & ~keep) | beyond;
}

/* tamis_i_field_put without a branch; it touches the next word in any case. */
CHAIN_TARGET static inline void put_field(uint64_t *table, uint64_t at, unsigned width,
                                          uint64_t value) {
    uint64_t *const w = table + at / 64;
    const unsigned shift = (unsigned)(at % 64);
    const uint64_t mask = tamis_i_low_mask(width);
    value &= mask;
    w[0] = (w[0] & ~(mask << shift)) | value << shift;
    w[1] = (w[1] & ~(mask >> 1 >> (63 - shift))) | value >> 1 >> (63 - shift);
}

CHAIN_TARGET TAMIS_INLINE bool add_here(const tamis_i_chain *c, uint64_t *table, uint64_t at,
                                        unsigned home, uint64_t slot, bool one) {
    chain_walk w;
    if (!walk_chain(c, table, at, home, slot & c->print_mask, one, &w) || w.matches != 0 ||
        w.load >= c->slots[0])
        return false;
    const unsigned width = (unsigned)c->slot_bits, end = (unsigned)c->slots[0];
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0];
    const uint64_t bit = w.length == 0 ? at + home : higher + w.last;
    tamis_i_bit_set(table, bit);
    if (one) {
        const uint64_t bits = window(table, higher) & tamis_i_low_mask(end);
        const uint64_t low = bits & (((uint64_t)1 << w.next) - 1);
        put_field(table, higher, end, low | (bits ^ low) << 1);
    } else {
        tamis_i_field_open(table, higher + w.next, higher + w.load + 1, 1);
    }
    open_with(table, slots + w.next * width, slots + (w.load + (uint64_t)1) * width, width, slot);
    return true;
}

CHAIN_TARGET TAMIS_INLINE bool drop_here(const tamis_i_chain *c, uint64_t *table, uint64_t at,
                                         unsigned home, uint64_t print, bool one) {
    chain_walk w;
    if (!walk_chain(c, table, at, home, print, one, &w) || w.matches != 1 || w.last >= w.load ||
        (c->count_bits != 0 && w.slot >> (c->slot_bits - c->count_bits) != 0))
        return false;
    const unsigned width = (unsigned)c->slot_bits, end = (unsigned)c->slots[0];
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0];
    if (w.match != w.last)
        put_field(table, slots + w.match * (uint64_t)width, width,
                  window(table, slots + w.last * (uint64_t)width));
    const uint64_t bit = w.length == 1 ? at + home : higher + w.before;
    table[bit / 64] &= ~((uint64_t)1 << bit % 64);
    if (one) {
        const uint64_t bits = window(table, higher) & tamis_i_low_mask(end);
        const uint64_t low = bits & (((uint64_t)1 << w.last) - 1);
        put_field(table, higher, end, low | ((bits ^ low) >> 1 & ~(uint64_t)0 << w.last));
    } else {
        tamis_i_field_close(table, higher + w.last, higher + w.load, 1);
    }
    close_gap(table, slots + w.last * (uint64_t)width, slots + w.load * (uint64_t)width, width);
    return true;
}

CHAIN_TARGET static bool add_new(const tamis_i_chain *c, uint64_t *table, uint64_t at,
                                 unsigned home, uint64_t slot) {
    return c->slots[0] <= 64 ? add_here(c, table, at, home, slot, true)
                             : add_here(c, table, at, home, slot, false);
}

CHAIN_TARGET static bool drop_only(const tamis_i_chain *c, uint64_t *table, uint64_t at,
                                   unsigned home, uint64_t print) {
    return c->slots[0] <= 64 ? drop_here(c, table, at, home, print, true)
                             : drop_here(c, table, at, home, print, false);
}

CHAIN_OPS = {.find = find,
             .find_many = find_many,
             .look = look,
             .add = add,
             .drop = drop,
             .add_new = add_new,
             .drop_only = drop_only};
