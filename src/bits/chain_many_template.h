/* chain_many_template.h - groups of queries for the buckets of chain.h: a part of chain_template.h
 *
 * A group is fetched, prepared one call later and answered after another one.  In most tables a bucket
 * has one to three lines.  Of short ones all is fetched at once; of long ones first the indexes, which tell
 * what else is needed.  Chains that leave their bucket have time to fetch its extension between the last
 * two.
 *
 * Where a chain ends cannot be foretold, and a branch that is taken at random costs more than the rest of a
 * query.  So the first two slots are looked at without a branch, whether they are there or not; one
 * query in ten goes on from there.
 *
 * SPDX-License-Identifier: MIT
 */

/* Begin to fetch the indexes of a bucket, and the rest if it fits into a line's length.  How many lines that
 * are depends on where it begins; a line fetched twice costs less than to find out. */
CHAIN_TARGET static inline void fetch_bucket(const tamis_i_chain *c, const uint64_t *table,
                                             uint64_t at) {
    TAMIS_PREFETCH(table + at / 64);
    TAMIS_PREFETCH(table + (at + c->head) / 64);
}

/* Begin to fetch the second piece of a bucket, if it has one. */
CHAIN_TARGET TAMIS_INLINE void fetch_extension(const tamis_i_chain *c, const uint64_t *table,
                                               uint64_t at) {
    const uint64_t link =
        window(table, at + c->link_at[0]) & tamis_i_low_mask((unsigned)c->link_bits[0]);
    const uint64_t to = link - 1 < c->n[1] ? tamis_i_chain_piece(c, 1, link - 1) : at;
    TAMIS_PREFETCH(table + to / 64);
    TAMIS_PREFETCH(table + (to + c->stride[1] - 1) / 64);
}

/* Follow the chain that query i asks for within its bucket.  1: the fingerprint is there; 0: it is not in
 * the chain; otherwise 'last' is the number of its first slot behind the bucket. */
CHAIN_TARGET static unsigned walk_bucket(const tamis_i_chain *c, const uint64_t *table,
                                         tamis_i_chain_keys *keys, size_t i) {
    const uint64_t at = keys->at[i], print = keys->print[i];
    const uint64_t higher = at + c->higher_at[0], slots = at + c->slots_at[0], end = c->first[1];
    const uint64_t base = window(table, at) & c->home_mask;
    const uint64_t ahead = window(table, higher);
    const unsigned chains = CHAIN_ONES(base);
    uint64_t s = CHAIN_ONES(base & (((uint64_t)1 << keys->home[i]) - 1));
    while (s < end) {
        if (((CHAIN_SLOT(table, slots + s * c->slot_bits, c->slot_bits) ^ print) & c->print_mask) ==
            0)
            return 1;
        if (!tamis_i_bit_get(table, higher + s))
            return 0;
        s = chains + (end <= 64 ? CHAIN_ONES(ahead & (((uint64_t)1 << s) - 1))
                                : ones(table, higher, (unsigned)s));
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

CHAIN_TARGET TAMIS_INLINE many_shape shape_of(const tamis_i_chain *c, bool aligned, bool tight,
                                              bool one) {
    return (many_shape){.home_mask = c->home_mask,
                        .higher_at = c->higher_at[0],
                        .slots_at = c->slots_at[0],
                        .width = c->slot_bits,
                        .mask = c->print_mask,
                        .end = c->slots[0],
                        .aligned = aligned,
                        .tight = tight,
                        .one = one};
}

/* ---- short buckets ----
 *
 * All of a bucket is there when its group is prepared.  What it can tell is found out then, and kept;
 * what its extension must tell, when that has arrived. */

CHAIN_TARGET TAMIS_INLINE void fetch_near(const tamis_i_chain *c, const uint64_t *table,
                                          uint64_t at, bool aligned) {
    TAMIS_PREFETCH(table + at / 64);
    if (!aligned) {
        TAMIS_PREFETCH(table + (at + c->middle) / 64);
        TAMIS_PREFETCH(table + (at + c->stride[0] - 1) / 64);
    }
}

/* Bit 0: found in the first two slots; bit 1: there is more to look at. */
CHAIN_TARGET TAMIS_INLINE unsigned ask_near(const many_shape *n, const uint64_t *table,
                                            const tamis_i_chain_keys *keys, size_t i) {
    const uint64_t print = keys->print[i], home = keys->home[i];
    /* Bits are counted from the first word of the line, or of the table. */
    const uint64_t *const words = n->aligned ? table + keys->at[i] / 64 : table;
    const uint64_t at = n->aligned ? 0 : keys->at[i], higher_at = at + n->higher_at;
    const uint64_t base = (n->aligned ? words[0] : CHAIN_INDEX(words, at, n->tight)) & n->home_mask;
    const uint64_t higher = CHAIN_INDEX(words, higher_at, n->tight);
    const uint64_t first = CHAIN_ONES(base & (((uint64_t)1 << home) - 1));
    const uint64_t second = CHAIN_ONES(base) + CHAIN_ONES(higher & (((uint64_t)1 << first) - 1));
    const uint64_t is = base >> home, on = higher >> first;
    const uint64_t out = first >= n->end, beyond = second >= n->end;
    const uint64_t p = at + n->slots_at + (first & (out - 1)) * n->width;
    const uint64_t q = at + n->slots_at + (second & (beyond - 1)) * n->width;
    const uint64_t a = ((CHAIN_SLOT(words, p, n->width) ^ print) & n->mask) == 0;
    const uint64_t b = ((CHAIN_SLOT(words, q, n->width) ^ print) & n->mask) == 0;
    const uint64_t hit = is & ~out & (a | (on & ~beyond & b));
    const uint64_t bit = higher_at + (second & (beyond - 1));
    const uint64_t more = n->one ? higher >> second % 64 : words[bit / 64] >> bit % 64;
    const uint64_t rest = is & (out | (on & (beyond | more))) & ~hit;
    return (unsigned)((hit & 1) | (rest & 1) << 1);
}

CHAIN_TARGET TAMIS_INLINE void find_near(const tamis_i_chain *c, const uint64_t *table,
                                         const tamis_i_chain_turns *t, bool *found, bool aligned,
                                         bool tight, bool one) {
    const many_shape n = shape_of(c, aligned, tight, one);
    uint8_t todo[TAMIS_I_GROUP + 1];
    unsigned n_todo = 0, n_left = 0;
    const bool full = t->n_before == TAMIS_I_GROUP && t->n_next == TAMIS_I_GROUP;
    if (!full)
        for (size_t i = 0; i < t->n_next; i++)
            fetch_near(c, table, t->next->at[i], aligned);
    if (TAMIS_LIKELY(full)) {
        for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
            fetch_near(c, table, t->next->at[i], aligned);
            const unsigned answer = ask_near(&n, table, t->before, i);
            t->before->yes[i] = answer & 1;
            todo[n_todo] = (uint8_t)i;
            n_todo += answer >> 1;
        }
    } else {
        for (size_t i = 0; i < t->n_before; i++) {
            const unsigned answer = ask_near(&n, table, t->before, i);
            t->before->yes[i] = answer & 1;
            todo[n_todo] = (uint8_t)i;
            n_todo += answer >> 1;
        }
    }
    for (unsigned j = 0; j < n_todo; j++) {
        tamis_i_chain_keys *const k = t->before;
        const uint8_t i = todo[j];
        const unsigned answer = walk_bucket(c, table, k, i);
        k->yes[i] = answer == 1;
        if (answer > 1) {
            fetch_extension(c, table, k->at[i]);
            k->left[n_left++] = i;
        }
    }
    if (t->n_before != 0)
        t->before->n_left = n_left;
    if (t->n_now == 0)
        return;
    memcpy(found, t->now->yes, t->n_now);
    for (unsigned j = 0; j < t->now->n_left; j++) {
        const tamis_i_chain_keys *const k = t->now;
        const size_t i = k->left[j];
        found[i] =
            find_beyond(c, table, k->at[i] / c->stride[0], (unsigned)k->last[i], k->print[i]);
    }
}

/* ---- long buckets: the indexes are there, and tell which slots to fetch ---- */

/* Follow a chain to its second slot.  True if there is more of it. */
CHAIN_TARGET TAMIS_INLINE unsigned prepare_far(const many_shape *n, const uint64_t *table,
                                               tamis_i_chain_keys *keys, size_t i) {
    const uint64_t at = keys->at[i], home = keys->home[i];
    const uint64_t higher_at = at + n->higher_at, slots = at + n->slots_at;
    const uint64_t base = window(table, at) & n->home_mask, higher = window(table, higher_at);
    const uint64_t first = CHAIN_ONES(base & (((uint64_t)1 << home) - 1));
    const uint64_t second = CHAIN_ONES(base) + CHAIN_ONES(higher & (((uint64_t)1 << first) - 1));
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
CHAIN_TARGET TAMIS_INLINE unsigned ask_far(const many_shape *n, const uint64_t *table,
                                           const tamis_i_chain_keys *keys, size_t i) {
    const uint64_t print = keys->print[i], state = keys->state[i];
    const uint64_t a = (CHAIN_SLOT(table, keys->first[i], n->width) ^ print) & n->mask;
    const uint64_t b = (CHAIN_SLOT(table, keys->second[i], n->width) ^ print) & n->mask;
    const uint64_t hit = state & ((a == 0) | (b == 0));
    return (unsigned)(hit | (state & ~(hit << 1) & 2));
}

CHAIN_TARGET TAMIS_INLINE void find_far(const tamis_i_chain *c, const uint64_t *table,
                                        const tamis_i_chain_turns *t, bool *found) {
    const many_shape n = shape_of(c, false, false, false);
    uint8_t todo[TAMIS_I_GROUP + 1], more[TAMIS_I_GROUP + 1];
    unsigned n_todo = 0, n_more = 0;
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        if (i < t->n_next)
            fetch_bucket(c, table, t->next->at[i]);
        if (i < t->n_before) {
            more[n_more] = (uint8_t)i;
            n_more += prepare_far(&n, table, t->before, i);
        }
        if (i < t->n_now) {
            const unsigned answer = ask_far(&n, table, t->now, i);
            found[i] = answer & 1;
            todo[n_todo] = (uint8_t)i;
            n_todo += answer >> 1;
        }
    }
    for (unsigned j = 0; j < n_more; j++)
        fetch_extension(c, table, t->before->at[more[j]]);
    for (unsigned j = 0; j < n_todo; j++) {
        tamis_i_chain_keys *const k = t->now;
        const size_t i = todo[j];
        const unsigned answer = walk_bucket(c, table, k, i);
        found[i] = answer <= 1 ? answer != 0
                               : find_beyond(c, table, k->at[i] / c->stride[0],
                                             (unsigned)k->last[i], k->print[i]);
    }
}

/* Buckets with hardly any slots or with long ones. */
CHAIN_TARGET static void find_odd(const tamis_i_chain *c, const uint64_t *table,
                                  const tamis_i_chain_turns *t, bool *found) {
    for (size_t i = 0; i < t->n_next; i++)
        fetch_bucket(c, table, t->next->at[i]);
    for (size_t i = 0; i < t->n_now; i++) {
        const tamis_i_chain_keys *const k = t->now;
        found[i] = find(c, table, k->at[i] / c->stride[0], (unsigned)k->home[i], k->print[i]);
    }
}

CHAIN_TARGET static void find_many(const tamis_i_chain *c, const uint64_t *table,
                                   const tamis_i_chain_turns *turns, bool *found) {
    const tamis_i_chain_turns t = *turns;
    const uint64_t line = 64 * TAMIS_LINE_WORDS;
    if (c->slots_at[0] + c->slot_bits < 57 || c->slot_bits > 57)
        find_odd(c, table, &t, found);
    else if (c->stride[0] > 2 * line)
        find_far(c, table, &t, found);
    else if (c->stride[0] == line && c->slots[0] <= 57)
        find_near(c, table, &t, found, true, true, true);
    else if (c->homes <= 57 && c->slots[0] <= 57)
        find_near(c, table, &t, found, false, true, true);
    else if (c->slots[0] <= 64)
        find_near(c, table, &t, found, false, false, true);
    else
        find_near(c, table, &t, found, false, false, false);
}
