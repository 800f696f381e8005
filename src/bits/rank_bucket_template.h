/* rank_bucket_template.h - the work on one bucket of rank_bucket.h, compiled once per processor family
 *
 * The including file defines RANK_TARGET, attributes of all functions, and RANK_ONES(word), the number
 * of ones of a word.  It names the table of functions with RANK_OPS and its locate with RANK_LOCATE.
 * RANK_INDEX(table, at, tight) gives 64 bits from bit 'at' on, or at least 57 if 'tight'.
 * RANK_SLOT(table, at, width) gives at least 'width' of them, up to 57; it may read bytes before them,
 * but none behind them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/rank_bucket.h"

/* The 64 bits from bit 'at' on.  The table has a word more than its last bit needs. */
RANK_TARGET static inline uint64_t rank_bucket_window(const uint64_t *table, uint64_t at) {
    const uint64_t *const w = table + at / 64;
    const unsigned shift = (unsigned)(at % 64);
    return w[0] >> shift | w[1] << 1 << (63 - shift);
}

/* Ones among the n bits from 'at' on. */
RANK_TARGET static inline unsigned rank_bucket_ones(const uint64_t *table, uint64_t at,
                                                    unsigned n) {
    unsigned sum = 0;
    for (; n >= 64; n -= 64, at += 64)
        sum += RANK_ONES(rank_bucket_window(table, at));
    return sum + RANK_ONES(rank_bucket_window(table, at) & tamis_i_low_mask(n));
}

/* The pieces of a bucket, and its base index. */
RANK_TARGET static inline uint64_t rank_bucket_open_bucket(const tamis_i_rank_bucket *c,
                                                           const uint64_t *table, uint64_t bucket,
                                                           tamis_i_rank_view *v) {
    v->number[0] = bucket;
    v->at[0] = tamis_i_rank_piece(c, 0, bucket);
    v->pieces = 1;
    while (v->pieces < TAMIS_I_RANK_PIECES) {
        const unsigned p = v->pieces;
        const uint64_t link = tamis_i_rank_link(c, table, p - 1, v->number[p - 1]);
        if (link == 0 || link > c->n[p])
            break;
        v->number[p] = link - 1;
        v->at[p] = tamis_i_rank_piece(c, p, link - 1);
        v->pieces++;
    }
    const uint64_t base =
        rank_bucket_window(table, v->at[0]) & tamis_i_low_mask((unsigned)c->homes);
    v->chains = RANK_ONES(base);
    return base;
}

/* Ones in the higher index before bit s. */
RANK_TARGET static unsigned rank_bucket_higher_before(const tamis_i_rank_bucket *c,
                                                      const uint64_t *table,
                                                      const tamis_i_rank_view *v, unsigned s) {
    unsigned sum = 0;
    for (unsigned p = 0; p < v->pieces && s > c->first[p]; p++) {
        const uint64_t n = s - c->first[p];
        sum += rank_bucket_ones(table, v->at[p] + c->higher_at[p],
                                (unsigned)(n < c->slots[p] ? n : c->slots[p]));
    }
    return sum;
}

/* The slot after slot s; at the end of a chain, a number past all slots. */
RANK_TARGET static unsigned rank_bucket_next_slot(const tamis_i_rank_bucket *c,
                                                  const uint64_t *table, const tamis_i_rank_view *v,
                                                  unsigned s) {
    if (!tamis_i_bit_get(table, tamis_i_rank_higher_at(c, v, s)))
        return UINT32_MAX;
    const unsigned next = v->chains + rank_bucket_higher_before(c, table, v, s);
    return next > s ? next : UINT32_MAX;
}

/* The rest of find, from slot s on, where a chain leaves the bucket. */
RANK_TARGET static bool rank_bucket_find_beyond(const tamis_i_rank_bucket *c, const uint64_t *table,
                                                uint64_t bucket, unsigned s, uint64_t fingerprint) {
    tamis_i_rank_view v;
    (void)rank_bucket_open_bucket(c, table, bucket, &v);
    const uint64_t mask = tamis_i_low_mask((unsigned)c->fingerprint_bits), end = c->first[v.pieces];
    for (; s < end; s = rank_bucket_next_slot(c, table, &v, s))
        if ((rank_bucket_window(table, tamis_i_rank_slot_at(c, &v, s)) & mask) == fingerprint)
            return true;
    return false;
}

/* Most queries end after the first slot, and whether it matches cannot be predicted.  The only random
 * branch is whether the chain goes on. */
RANK_TARGET static bool rank_bucket_find(const tamis_i_rank_bucket *c, const uint64_t *table,
                                         uint64_t bucket, unsigned home, uint64_t fingerprint) {
    const uint64_t at = c->stride[0] * bucket,
                   mask = tamis_i_low_mask((unsigned)c->fingerprint_bits);
    const uint64_t base = rank_bucket_window(table, at) & tamis_i_low_mask((unsigned)c->homes);
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0];
    unsigned s = RANK_ONES(base & tamis_i_low_mask(home));
    if (TAMIS_UNLIKELY(s >= c->first[1]))
        return (base >> home & 1) != 0 && rank_bucket_find_beyond(c, table, bucket, s, fingerprint);
    uint64_t is = base >> home & 1;
    bool found = false;
    for (;;) {
        found |=
            is &
            (((rank_bucket_window(table, slots + s * c->slot_bits) ^ fingerprint) & mask) == 0);
        is &= table[(higher + s) / 64] >> (higher + s) % 64;
        if (!is)
            return found;
        const unsigned next = RANK_ONES(base) + rank_bucket_ones(table, higher, s);
        if (next <= s)
            return found;
        if (TAMIS_UNLIKELY(next >= c->first[1]))
            return found || rank_bucket_find_beyond(c, table, bucket, next, fingerprint);
        s = next;
    }
}

/* ---- groups of queries ----
 *
 * A group is fetched, prepared one call later and answered one call after that.  In most tables a
 * bucket has one to three lines.  A short bucket is fetched whole.  For a long one the indexes are
 * fetched first; they tell what else is needed.  Chains that leave their bucket have time to fetch its
 * extension between the last two calls.
 *
 * Where a chain ends cannot be predicted, and a random branch costs more than the rest of a query.  So
 * the first two slots are examined without a branch, whether they exist or not.  One query in ten goes
 * on from there.
 */

/* Start fetching the indexes of a bucket, and the rest if it fits in a line's length.  The number of
 * lines depends on where the bucket begins.  Fetching a line twice costs less than finding out. */
RANK_TARGET static inline void rank_bucket_fetch_bucket(const tamis_i_rank_bucket *c,
                                                        const uint64_t *table, uint64_t at) {
    TAMIS_PREFETCH(table + at / 64);
    TAMIS_PREFETCH(table + (at + c->head) / 64);
}

/* Start fetching the second piece of a bucket, if it has one. */
RANK_TARGET TAMIS_INLINE void rank_bucket_fetch_extension(const tamis_i_rank_bucket *c,
                                                          const uint64_t *table, uint64_t at) {
    const uint64_t link =
        rank_bucket_window(table, at + c->link_at[0]) & tamis_i_low_mask((unsigned)c->link_bits[0]);
    const uint64_t to = link - 1 < c->n[1] ? tamis_i_rank_piece(c, 1, link - 1) : at;
    TAMIS_PREFETCH(table + to / 64);
    TAMIS_PREFETCH(table + (to + c->stride[1] - 1) / 64);
}

/* Follow the chain of query i within its bucket. 1: the fingerprint is there; 0: it is not in the
 * chain; otherwise 'last' is the number of the chain's first slot behind the bucket. */
RANK_TARGET static unsigned rank_bucket_walk_bucket(const tamis_i_rank_bucket *c,
                                                    const uint64_t *table, tamis_i_rank_keys *keys,
                                                    size_t i) {
    const uint64_t at = keys->at[i], fingerprint = keys->fingerprint[i];
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0], end = c->first[1];
    const uint64_t base = rank_bucket_window(table, at) & c->home_mask;
    const uint64_t ahead = rank_bucket_window(table, higher);
    const unsigned chains = RANK_ONES(base);
    uint64_t s = RANK_ONES(base & (((uint64_t)1 << keys->home[i]) - 1));
    while (s < end) {
        if (((RANK_SLOT(table, slots + s * c->slot_bits, c->slot_bits) ^ fingerprint) &
             c->fingerprint_mask) == 0)
            return 1;
        if (!tamis_i_bit_get(table, higher + s))
            return 0;
        s = chains + (end <= 64 ? RANK_ONES(ahead & (((uint64_t)1 << s) - 1))
                                : rank_bucket_ones(table, higher, (unsigned)s));
    }
    keys->last[i] = s;
    return 2;
}

/* What is the same for all keys. */
typedef struct many_shape {
    uint64_t home_mask, higher_at, slots_at, width, mask, end;
    bool aligned; /* a bucket is a line */
    bool tight;   /* no index has more than 57 bits */
    bool one;     /* the higher index has no more bits than a word */
} many_shape;

RANK_TARGET TAMIS_INLINE many_shape rank_bucket_shape_of(const tamis_i_rank_bucket *c, bool aligned,
                                                         bool tight, bool one) {
    return (many_shape){.home_mask = c->home_mask,
                        .higher_at = c->higher_at[0],
                        .slots_at = c->slots_at[0],
                        .width = c->slot_bits,
                        .mask = c->fingerprint_mask,
                        .end = c->slots[0],
                        .aligned = aligned,
                        .tight = tight,
                        .one = one};
}

/* ---- short buckets ----
 *
 * The whole bucket has arrived when its group is prepared.  The answer of the bucket is computed then
 * and kept; the answer of its extension follows when that has arrived. */

RANK_TARGET TAMIS_INLINE void rank_bucket_fetch_near(const tamis_i_rank_bucket *c,
                                                     const uint64_t *table, uint64_t at,
                                                     bool aligned) {
    TAMIS_PREFETCH(table + at / 64);
    if (!aligned) {
        TAMIS_PREFETCH(table + (at + c->middle) / 64);
        TAMIS_PREFETCH(table + (at + c->stride[0] - 1) / 64);
    }
}

/* Bit 0: found in the first two slots; bit 1: there is more to look at. */
RANK_TARGET TAMIS_INLINE unsigned rank_bucket_ask_near(const many_shape *n, const uint64_t *table,
                                                       const tamis_i_rank_keys *keys, size_t i) {
    const uint64_t fingerprint = keys->fingerprint[i], home = keys->home[i];
    /* Bits are counted from the first word of the line, or of the table. */
    const uint64_t *const words = n->aligned ? table + keys->at[i] / 64 : table;
    const uint64_t at = n->aligned ? 0 : keys->at[i], higher_at = at + n->higher_at;
    const uint64_t base = (n->aligned ? words[0] : RANK_INDEX(words, at, n->tight)) & n->home_mask;
    const uint64_t higher = RANK_INDEX(words, higher_at, n->tight);
    const uint64_t first = RANK_ONES(base & (((uint64_t)1 << home) - 1));
    const uint64_t second = RANK_ONES(base) + RANK_ONES(higher & (((uint64_t)1 << first) - 1));
    const uint64_t is = base >> home, on = higher >> first;
    const uint64_t out = first >= n->end, beyond = second >= n->end;
    const uint64_t p = at + n->slots_at + (first & (out - 1)) * n->width;
    const uint64_t q = at + n->slots_at + (second & (beyond - 1)) * n->width;
    const uint64_t a = ((RANK_SLOT(words, p, n->width) ^ fingerprint) & n->mask) == 0;
    const uint64_t b = ((RANK_SLOT(words, q, n->width) ^ fingerprint) & n->mask) == 0;
    const uint64_t hit = is & ~out & (a | (on & ~beyond & b));
    const uint64_t bit = higher_at + (second & (beyond - 1));
    const uint64_t more = n->one ? higher >> second % 64 : words[bit / 64] >> bit % 64;
    const uint64_t rest = is & (out | (on & (beyond | more))) & ~hit;
    return (unsigned)((hit & 1) | (rest & 1) << 1);
}

RANK_TARGET TAMIS_INLINE void rank_bucket_find_near(const tamis_i_rank_bucket *c,
                                                    const uint64_t *table,
                                                    const tamis_i_rank_turns *t, bool *found,
                                                    bool aligned, bool tight, bool one) {
    const many_shape n = rank_bucket_shape_of(c, aligned, tight, one);
    uint8_t todo[TAMIS_I_GROUP + 1];
    unsigned n_todo = 0, n_left = 0;
    const bool full = t->n_before == TAMIS_I_GROUP && t->n_next == TAMIS_I_GROUP;
    if (!full)
        for (size_t i = 0; i < t->n_next; i++)
            rank_bucket_fetch_near(c, table, t->next->at[i], aligned);
    if (TAMIS_LIKELY(full)) {
        for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
            rank_bucket_fetch_near(c, table, t->next->at[i], aligned);
            const unsigned answer = rank_bucket_ask_near(&n, table, t->before, i);
            t->before->yes[i] = answer & 1;
            todo[n_todo] = (uint8_t)i;
            n_todo += answer >> 1;
        }
    } else {
        for (size_t i = 0; i < t->n_before; i++) {
            const unsigned answer = rank_bucket_ask_near(&n, table, t->before, i);
            t->before->yes[i] = answer & 1;
            todo[n_todo] = (uint8_t)i;
            n_todo += answer >> 1;
        }
    }
    for (unsigned j = 0; j < n_todo; j++) {
        tamis_i_rank_keys *const k = t->before;
        const uint8_t i = todo[j];
        const unsigned answer = rank_bucket_walk_bucket(c, table, k, i);
        k->yes[i] = answer == 1;
        if (answer > 1) {
            rank_bucket_fetch_extension(c, table, k->at[i]);
            k->left[n_left++] = i;
        }
    }
    if (t->n_before != 0)
        t->before->n_left = n_left;
    if (t->n_now == 0)
        return;
    memcpy(found, t->now->yes, t->n_now);
    for (unsigned j = 0; j < t->now->n_left; j++) {
        const tamis_i_rank_keys *const k = t->now;
        const size_t i = k->left[j];
        found[i] = rank_bucket_find_beyond(c, table, k->at[i] / c->stride[0], (unsigned)k->last[i],
                                           k->fingerprint[i]);
    }
}

/* ---- long buckets: the indexes have arrived, and tell which slots to fetch ---- */

/* Follow a chain to its second slot.  True if there is more of it. */
RANK_TARGET TAMIS_INLINE unsigned rank_bucket_prepare_far(const many_shape *n,
                                                          const uint64_t *table,
                                                          tamis_i_rank_keys *keys, size_t i) {
    const uint64_t at = keys->at[i], home = keys->home[i];
    const uint64_t higher_at = at + n->higher_at, slots = at + n->slots_at;
    const uint64_t base = rank_bucket_window(table, at) & n->home_mask,
                   higher = rank_bucket_window(table, higher_at);
    const uint64_t first = RANK_ONES(base & (((uint64_t)1 << home) - 1));
    const uint64_t second = RANK_ONES(base) + RANK_ONES(higher & (((uint64_t)1 << first) - 1));
    const uint64_t out = first >= n->end, beyond = second >= n->end;
    const uint64_t is = base >> home & 1, on = higher >> first & is;
    const uint64_t s = first & (out - 1), t = second & (beyond - 1);
    const uint64_t two = on & (beyond ^ 1), bit = higher_at + t;
    const uint64_t p = slots + s * n->width, q = slots + (s + ((t - s) & -two)) * n->width;
    const uint64_t rest = (is & out) | (on & (beyond | table[bit / 64] >> bit % 64));
    TAMIS_PREFETCH(table + p / 64);
    TAMIS_PREFETCH(table + (p + n->width - 1) / 64);
    TAMIS_PREFETCH(table + q / 64);
    TAMIS_PREFETCH(table + (q + n->width - 1) / 64);
    keys->first[i] = p;
    keys->second[i] = q;
    keys->state[i] = (is & ~out) | rest << 1;
    return (unsigned)rest;
}

/* Bit 0: found in the first two slots; bit 1: there is more to look at. */
RANK_TARGET TAMIS_INLINE unsigned rank_bucket_ask_far(const many_shape *n, const uint64_t *table,
                                                      const tamis_i_rank_keys *keys, size_t i) {
    const uint64_t fingerprint = keys->fingerprint[i], state = keys->state[i];
    const uint64_t a = (RANK_SLOT(table, keys->first[i], n->width) ^ fingerprint) & n->mask;
    const uint64_t b = (RANK_SLOT(table, keys->second[i], n->width) ^ fingerprint) & n->mask;
    const uint64_t hit = state & ((a == 0) | (b == 0));
    return (unsigned)(hit | (state & ~(hit << 1) & 2));
}

RANK_TARGET TAMIS_INLINE void rank_bucket_find_far(const tamis_i_rank_bucket *c,
                                                   const uint64_t *table,
                                                   const tamis_i_rank_turns *t, bool *found) {
    const many_shape n = rank_bucket_shape_of(c, false, false, false);
    uint8_t todo[TAMIS_I_GROUP + 1], more[TAMIS_I_GROUP + 1];
    unsigned n_todo = 0, n_more = 0;
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        if (i < t->n_next)
            rank_bucket_fetch_bucket(c, table, t->next->at[i]);
        if (i < t->n_before) {
            more[n_more] = (uint8_t)i;
            n_more += rank_bucket_prepare_far(&n, table, t->before, i);
        }
        if (i < t->n_now) {
            const unsigned answer = rank_bucket_ask_far(&n, table, t->now, i);
            found[i] = answer & 1;
            todo[n_todo] = (uint8_t)i;
            n_todo += answer >> 1;
        }
    }
    for (unsigned j = 0; j < n_more; j++)
        rank_bucket_fetch_extension(c, table, t->before->at[more[j]]);
    for (unsigned j = 0; j < n_todo; j++) {
        tamis_i_rank_keys *const k = t->now;
        const size_t i = todo[j];
        const unsigned answer = rank_bucket_walk_bucket(c, table, k, i);
        found[i] = answer <= 1 ? answer != 0
                               : rank_bucket_find_beyond(c, table, k->at[i] / c->stride[0],
                                                         (unsigned)k->last[i], k->fingerprint[i]);
    }
}

/* Buckets with hardly any slots or with long ones. */
RANK_TARGET static void rank_bucket_find_odd(const tamis_i_rank_bucket *c, const uint64_t *table,
                                             const tamis_i_rank_turns *t, bool *found) {
    for (size_t i = 0; i < t->n_next; i++)
        rank_bucket_fetch_bucket(c, table, t->next->at[i]);
    for (size_t i = 0; i < t->n_now; i++) {
        const tamis_i_rank_keys *const k = t->now;
        found[i] = rank_bucket_find(c, table, k->at[i] / c->stride[0], (unsigned)k->home[i],
                                    k->fingerprint[i]);
    }
}

RANK_TARGET static void rank_bucket_find_many(const tamis_i_rank_bucket *c, const uint64_t *table,
                                              const tamis_i_rank_turns *turns, bool *found) {
    const tamis_i_rank_turns t = *turns;
    const uint64_t line = 64 * TAMIS_LINE_WORDS;
    if (c->slots_at[0] + c->slot_bits < 57 || c->slot_bits > 57)
        rank_bucket_find_odd(c, table, &t, found);
    else if (c->stride[0] > 2 * line)
        rank_bucket_find_far(c, table, &t, found);
    else if (c->stride[0] == line && c->slots[0] <= 57)
        rank_bucket_find_near(c, table, &t, found, true, true, true);
    else if (c->homes <= 57 && c->slots[0] <= 57)
        rank_bucket_find_near(c, table, &t, found, false, true, true);
    else if (c->slots[0] <= 64)
        rank_bucket_find_near(c, table, &t, found, false, false, true);
    else
        rank_bucket_find_near(c, table, &t, found, false, false, false);
}

/* ---- changing ---- */

RANK_TARGET static void rank_bucket_look(const tamis_i_rank_bucket *c, const uint64_t *table,
                                         uint64_t bucket, unsigned home, uint64_t fingerprint,
                                         tamis_i_rank_view *v) {
    const uint64_t base = rank_bucket_open_bucket(c, table, bucket, v);
    const uint64_t mask = tamis_i_low_mask((unsigned)c->fingerprint_bits),
                   end = c->first[v->pieces];
    const unsigned shift = (unsigned)(c->slot_bits - c->count_bits);
    const uint64_t most = tamis_i_low_mask((unsigned)c->count_bits);
    const unsigned load = v->chains + rank_bucket_higher_before(c, table, v, (unsigned)end);
    v->load = load < end ? load : (unsigned)end;
    v->home = home;
    v->length = v->last = v->before = 0;
    v->copies = 0;
    if ((base >> home & 1) == 0)
        return;
    for (unsigned s = RANK_ONES(base & tamis_i_low_mask(home)); s < end;
         s = rank_bucket_next_slot(c, table, v, s)) {
        v->before = v->last;
        v->last = s;
        v->length++;
        const uint64_t slot = rank_bucket_window(table, tamis_i_rank_slot_at(c, v, s)) &
                              tamis_i_low_mask((unsigned)c->slot_bits);
        if (((slot ^ fingerprint) & mask) != 0)
            continue;
        const uint64_t more = most == 0 ? 0 : slot >> shift;
        if (v->copies == 0 || more < most) {
            v->match = s;
            v->slot = slot;
        }
        v->copies += 1 + more;
    }
}

/* Slots from number s on move up by one, and their bits with them; 'slot' goes into the gap.  Works
 * from the last piece to the first: what leaves the end of a piece goes to the beginning of the next. */
RANK_TARGET static void rank_bucket_open_slot(const tamis_i_rank_bucket *c, uint64_t *table,
                                              const tamis_i_rank_view *v, unsigned s,
                                              uint64_t slot) {
    const unsigned width = (unsigned)c->slot_bits;
    for (unsigned p = tamis_i_rank_piece_of(c, v->load);; p--) {
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
        tamis_i_field_put(table, slots, width, tamis_i_rank_slot(c, table, v, carried));
        if (tamis_i_bit_get(table, tamis_i_rank_higher_at(c, v, carried)))
            tamis_i_bit_set(table, higher);
    }
}

/* Slots behind number s move down by one, and their bits with them. */
RANK_TARGET static void rank_bucket_close_slot(const tamis_i_rank_bucket *c, uint64_t *table,
                                               const tamis_i_rank_view *v, unsigned s) {
    const unsigned width = (unsigned)c->slot_bits;
    for (unsigned p = tamis_i_rank_piece_of(c, s);; p++) {
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
                          tamis_i_rank_slot(c, table, v, carried));
        if (tamis_i_bit_get(table, tamis_i_rank_higher_at(c, v, carried)))
            tamis_i_bit_set(table, higher + to - 1);
    }
}

RANK_TARGET static void rank_bucket_add(const tamis_i_rank_bucket *c, uint64_t *table,
                                        const tamis_i_rank_view *v, uint64_t slot) {
    TAMIS_ASSERT(v->load < c->first[v->pieces]);
    unsigned s;
    if (v->length == 0) {
        s = RANK_ONES(rank_bucket_window(table, v->at[0]) & tamis_i_low_mask(v->home));
        tamis_i_bit_set(table, v->at[0] + v->home);
    } else {
        s = v->chains + rank_bucket_higher_before(c, table, v, v->last);
        tamis_i_bit_set(table, tamis_i_rank_higher_at(c, v, v->last));
    }
    rank_bucket_open_slot(c, table, v, s < v->load ? s : v->load, slot);
}

RANK_TARGET static void rank_bucket_drop(const tamis_i_rank_bucket *c, uint64_t *table,
                                         const tamis_i_rank_view *v) {
    if (v->match != v->last)
        tamis_i_rank_set_slot(c, table, v, v->match, tamis_i_rank_slot(c, table, v, v->last));
    const uint64_t bit =
        v->length == 1 ? v->at[0] + v->home : tamis_i_rank_higher_at(c, v, v->before);
    table[bit / 64] &= ~((uint64_t)1 << bit % 64);
    if (v->last < v->load) /* always true, except for bits that no call has made */
        rank_bucket_close_slot(c, table, v, v->last);
}

/* ---- the common case: a bucket without extensions ---- */

/* A chain, followed to its end. */
typedef struct chain_walk {
    unsigned load, length, first, last, before; /* 'first': where a chain of this home begins */
    unsigned matches, match;
    uint64_t next; /* slot for one more */
    uint64_t slot; /* what 'match' holds */
} chain_walk;

/* Ones before bit s of the higher index.  'higher' is its first word; 'one': it has no other. */
RANK_TARGET TAMIS_INLINE unsigned rank_bucket_before_slot(const uint64_t *table, uint64_t at,
                                                          uint64_t higher, unsigned s, bool one) {
    return one ? RANK_ONES(higher & tamis_i_low_mask(s)) : rank_bucket_ones(table, at, s);
}

/* False if the bucket has extensions, or bits that no call has made. */
RANK_TARGET TAMIS_INLINE bool rank_bucket_walk_chain(const tamis_i_rank_bucket *c,
                                                     const uint64_t *table, uint64_t at,
                                                     unsigned home, uint64_t fingerprint, bool one,
                                                     chain_walk *w) {
    const uint64_t end = c->slots[0], at_higher = at + c->higher_at[0];
    const uint64_t base = rank_bucket_window(table, at) & c->home_mask,
                   higher = rank_bucket_window(table, at_higher);
    const unsigned chains = RANK_ONES(base);
    w->load = chains + rank_bucket_before_slot(table, at_higher, higher, (unsigned)end, one);
    if (w->load > end || c->slot_bits == 64 ||
        (rank_bucket_window(table, at + c->link_at[0]) &
         tamis_i_low_mask((unsigned)c->link_bits[0])) != 0)
        return false;
    unsigned s = w->first = RANK_ONES(base & (((uint64_t)1 << home) - 1));
    w->length = w->last = w->before = w->matches = w->match = 0;
    w->slot = 0;
    w->next = s;
    if ((base >> home & 1) == 0)
        return true;
    for (;;) {
        const uint64_t slot = rank_bucket_window(table, at + c->slots_at[0] + s * c->slot_bits);
        const bool hit = ((slot ^ fingerprint) & c->fingerprint_mask) == 0;
        w->before = w->last;
        w->last = s;
        w->length++;
        w->matches += hit;
        w->match = hit ? s : w->match;
        w->slot = hit ? slot & tamis_i_low_mask((unsigned)c->slot_bits) : w->slot;
        w->next = chains + rank_bucket_before_slot(table, at_higher, higher, s, one);
        if (!tamis_i_bit_get(table, at_higher + s))
            return true;
        if (w->next <= s)
            return false;
        s = (unsigned)w->next;
    }
}

/* tamis_i_field_open, and 'value' into the gap; 1 <= width <= 63. */
RANK_TARGET static inline void rank_bucket_open_with(uint64_t *table, uint64_t at, uint64_t end,
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
RANK_TARGET static inline void rank_bucket_close_gap(uint64_t *table, uint64_t at, uint64_t end,
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

/* tamis_i_field_put without a branch; it always touches the next word. */
RANK_TARGET static inline void rank_bucket_put_field(uint64_t *table, uint64_t at, unsigned width,
                                                     uint64_t value) {
    uint64_t *const w = table + at / 64;
    const unsigned shift = (unsigned)(at % 64);
    const uint64_t mask = tamis_i_low_mask(width);
    value &= mask;
    w[0] = (w[0] & ~(mask << shift)) | value << shift;
    w[1] = (w[1] & ~(mask >> 1 >> (63 - shift))) | value >> 1 >> (63 - shift);
}

RANK_TARGET TAMIS_INLINE bool rank_bucket_add_here(const tamis_i_rank_bucket *c, uint64_t *table,
                                                   uint64_t at, unsigned home, uint64_t slot,
                                                   bool one) {
    chain_walk w;
    if (!rank_bucket_walk_chain(c, table, at, home, slot & c->fingerprint_mask, one, &w) ||
        w.matches != 0 || w.load >= c->slots[0])
        return false;
    const unsigned width = (unsigned)c->slot_bits, end = (unsigned)c->slots[0];
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0];
    const uint64_t bit = w.length == 0 ? at + home : higher + w.last;
    tamis_i_bit_set(table, bit);
    if (one) {
        const uint64_t bits = rank_bucket_window(table, higher) & tamis_i_low_mask(end);
        const uint64_t low = bits & (((uint64_t)1 << w.next) - 1);
        rank_bucket_put_field(table, higher, end, low | (bits ^ low) << 1);
    } else {
        tamis_i_field_open(table, higher + w.next, higher + w.load + 1, 1);
    }
    rank_bucket_open_with(table, slots + w.next * width, slots + (w.load + (uint64_t)1) * width,
                          width, slot);
    return true;
}

RANK_TARGET TAMIS_INLINE bool rank_bucket_drop_here(const tamis_i_rank_bucket *c, uint64_t *table,
                                                    uint64_t at, unsigned home,
                                                    uint64_t fingerprint, bool one) {
    chain_walk w;
    if (!rank_bucket_walk_chain(c, table, at, home, fingerprint, one, &w) || w.matches != 1 ||
        w.last >= w.load || (c->count_bits != 0 && w.slot >> (c->slot_bits - c->count_bits) != 0))
        return false;
    const unsigned width = (unsigned)c->slot_bits, end = (unsigned)c->slots[0];
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0];
    if (w.match != w.last)
        rank_bucket_put_field(table, slots + w.match * (uint64_t)width, width,
                              rank_bucket_window(table, slots + w.last * (uint64_t)width));
    const uint64_t bit = w.length == 1 ? at + home : higher + w.before;
    table[bit / 64] &= ~((uint64_t)1 << bit % 64);
    if (one) {
        const uint64_t bits = rank_bucket_window(table, higher) & tamis_i_low_mask(end);
        const uint64_t low = bits & (((uint64_t)1 << w.last) - 1);
        rank_bucket_put_field(table, higher, end,
                              low | ((bits ^ low) >> 1 & ~(uint64_t)0 << w.last));
    } else {
        tamis_i_field_close(table, higher + w.last, higher + w.load, 1);
    }
    rank_bucket_close_gap(table, slots + w.last * (uint64_t)width, slots + w.load * (uint64_t)width,
                          width);
    return true;
}

RANK_TARGET static bool rank_bucket_add_new(const tamis_i_rank_bucket *c, uint64_t *table,
                                            uint64_t at, unsigned home, uint64_t slot) {
    return c->slots[0] <= 64 ? rank_bucket_add_here(c, table, at, home, slot, true)
                             : rank_bucket_add_here(c, table, at, home, slot, false);
}

RANK_TARGET static bool rank_bucket_drop_only(const tamis_i_rank_bucket *c, uint64_t *table,
                                              uint64_t at, unsigned home, uint64_t fingerprint) {
    return c->slots[0] <= 64 ? rank_bucket_drop_here(c, table, at, home, fingerprint, true)
                             : rank_bucket_drop_here(c, table, at, home, fingerprint, false);
}

RANK_OPS = {.locate = RANK_LOCATE,
            .find = rank_bucket_find,
            .find_many = rank_bucket_find_many,
            .look = rank_bucket_look,
            .add = rank_bucket_add,
            .drop = rank_bucket_drop,
            .add_new = rank_bucket_add_new,
            .drop_only = rank_bucket_drop_only};
