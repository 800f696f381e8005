/* choices_template.h - one key, and groups, from the work on a key whose buckets are known
 *
 * A template.  Each engine whose keys have several buckets compiles it, once per processor family.  The
 * including file defines
 *
 *      CHOICES_TARGET          attributes of all functions
 *      CHOICES_FIND            finds the matching heads, as tamis_i_heads_find
 *      CHOICES_LAYOUT          the type of the engine's layout, whose first member is the choices
 *      CHOICES_OPS             the table of operations: a declaration
 *
 * and inline functions of the layout l: choices_heads(l), choices_locate(l, d, table, digest, probe),
 * choices_holds(l, probe, hits), choices_add(l, d, probe, hits) and choices_drop(l, probe, hits), where
 * 'hits' are the matching heads.
 *
 * Work on the keys of a group alternates with fetching those of the next, one or two keys at a time:
 * keys located in the previous turn are fetched, and as many more are located.  Measured to be better
 * than many fetches at once, and than fetching addresses that are still being computed.  Presumably the
 * work after a fetch has to wait until its address is known and translated.
 *
 * SPDX-License-Identifier: MIT
 */

TAMIS_INLINE const CHOICES_LAYOUT *choices_layout(const tamis_i_choices *choices) {
    return (const CHOICES_LAYOUT *)(const void *)choices;
}

/* ---- one key ---- */

CHOICES_TARGET static bool choices_contains_one(const tamis_i_choices *layout, uint64_t *table,
                                                tamis_digest digest) {
    const CHOICES_LAYOUT *const l = choices_layout(layout);
    const unsigned d = (unsigned)layout->subtables;
    tamis_i_probe probe;
    choices_locate(l, d, table, digest, &probe);
    return choices_holds(l, &probe, CHOICES_FIND(choices_heads(l), &probe, d));
}

CHOICES_TARGET static bool choices_add_one(const tamis_i_choices *layout, uint64_t *table,
                                           tamis_digest digest) {
    const CHOICES_LAYOUT *const l = choices_layout(layout);
    const unsigned d = (unsigned)layout->subtables;
    tamis_i_probe probe;
    choices_locate(l, d, table, digest, &probe);
    return choices_add(l, d, &probe, CHOICES_FIND(choices_heads(l), &probe, d));
}

CHOICES_TARGET static bool choices_drop_one(const tamis_i_choices *layout, uint64_t *table,
                                            tamis_digest digest) {
    const CHOICES_LAYOUT *const l = choices_layout(layout);
    const unsigned d = (unsigned)layout->subtables;
    tamis_i_probe probe;
    choices_locate(l, d, table, digest, &probe);
    return choices_drop(l, &probe, CHOICES_FIND(choices_heads(l), &probe, d));
}

/* ---- groups ---- */

/* Keys of a turn. */
#define QUERIES 1u
#define CHANGES 2u

TAMIS_INLINE void choices_locate_some(const CHOICES_LAYOUT *l, unsigned d,
                                      const tamis_i_choices_turn *turn, size_t i, size_t n) {
    for (size_t j = i; j < i + n; j++)
        choices_locate(l, d, turn->table, turn->next[j], &turn->next_probes[j]);
}

/* Fetch keys i to i + n - 1 of a full group, and locate the n after them. */
TAMIS_INLINE void choices_fetch_some(const CHOICES_LAYOUT *l, unsigned d,
                                     const tamis_i_choices_turn *turn, size_t i, size_t n,
                                     bool write) {
    for (size_t j = i; j < i + n; j++)
        tamis_i_choices_fetch(d, &turn->next_probes[j], write);
    if (i + n < TAMIS_I_GROUP)
        choices_locate_some(l, d, turn, i + n, n);
}

/* Are both groups full?  Then they are worked on in turns. */
TAMIS_INLINE bool choices_in_turns(const tamis_i_choices_turn *turn) {
    return turn->n_now == TAMIS_I_GROUP && turn->n_next == TAMIS_I_GROUP;
}

/* Begin the work on a group.  If it is not done in turns, which happens at the ends of a batch, fetch
 * the next group now. */
TAMIS_INLINE bool choices_begin(const CHOICES_LAYOUT *l, unsigned d,
                                const tamis_i_choices_turn *turn, size_t n, bool write) {
    if (choices_in_turns(turn)) {
        choices_locate_some(l, d, turn, 0, n);
        return true;
    }
    choices_locate_some(l, d, turn, 0, turn->n_next);
    for (size_t i = 0; i < turn->n_next; i++)
        tamis_i_choices_fetch(d, &turn->next_probes[i], write);
    return false;
}

CHOICES_TARGET TAMIS_INLINE void choices_contains_group(const CHOICES_LAYOUT *l, unsigned d,
                                                        const tamis_i_choices_turn *turn,
                                                        bool *found) {
    const bool turns = choices_begin(l, d, turn, QUERIES, false);
    for (size_t i = 0; i < turn->n_now; i++) {
        const tamis_i_probe *const probe = &turn->now_probes[i];
        if (turns && i % QUERIES == 0)
            choices_fetch_some(l, d, turn, i, QUERIES, false);
        found[i] = choices_holds(l, probe, CHOICES_FIND(choices_heads(l), probe, d));
    }
}

CHOICES_TARGET TAMIS_INLINE size_t choices_add_group(const CHOICES_LAYOUT *l, unsigned d,
                                                     const tamis_i_choices_turn *turn,
                                                     size_t from) {
    const bool turns =
        from == 0 ? choices_begin(l, d, turn, CHANGES, true) : choices_in_turns(turn);
    for (size_t i = from; i < turn->n_now; i++) {
        const tamis_i_probe *const probe = &turn->now_probes[i];
        if (turns && i % CHANGES == 0)
            choices_fetch_some(l, d, turn, i, CHANGES, true);
        if (TAMIS_UNLIKELY(!choices_add(l, d, probe, CHOICES_FIND(choices_heads(l), probe, d))))
            return i;
    }
    return turn->n_now;
}

CHOICES_TARGET TAMIS_INLINE void choices_drop_group(const CHOICES_LAYOUT *l, unsigned d,
                                                    const tamis_i_choices_turn *turn,
                                                    bool *dropped) {
    const bool turns = choices_begin(l, d, turn, CHANGES, true);
    for (size_t i = 0; i < turn->n_now; i++) {
        const tamis_i_probe *const probe = &turn->now_probes[i];
        if (turns && i % CHANGES == 0)
            choices_fetch_some(l, d, turn, i, CHANGES, true);
        dropped[i] = choices_drop(l, probe, CHOICES_FIND(choices_heads(l), probe, d));
    }
}

/* Compiled for each number of buckets of a key. */
CHOICES_TARGET static void choices_contains_many(const tamis_i_choices *layout,
                                                 const tamis_i_choices_turn *turn, bool *found) {
    const CHOICES_LAYOUT *const l = choices_layout(layout);
    if (layout->subtables == 2)
        choices_contains_group(l, 2, turn, found);
    else if (layout->subtables == 3)
        choices_contains_group(l, 3, turn, found);
    else
        choices_contains_group(l, 4, turn, found);
}

CHOICES_TARGET static size_t choices_add_many(const tamis_i_choices *layout,
                                              const tamis_i_choices_turn *turn, size_t from) {
    const CHOICES_LAYOUT *const l = choices_layout(layout);
    if (layout->subtables == 2)
        return choices_add_group(l, 2, turn, from);
    if (layout->subtables == 3)
        return choices_add_group(l, 3, turn, from);
    return choices_add_group(l, 4, turn, from);
}

CHOICES_TARGET static void choices_drop_many(const tamis_i_choices *layout,
                                             const tamis_i_choices_turn *turn, bool *dropped) {
    const CHOICES_LAYOUT *const l = choices_layout(layout);
    if (layout->subtables == 2)
        choices_drop_group(l, 2, turn, dropped);
    else if (layout->subtables == 3)
        choices_drop_group(l, 3, turn, dropped);
    else
        choices_drop_group(l, 4, turn, dropped);
}

CHOICES_OPS = {.contains = choices_contains_one,
               .add_new = choices_add_one,
               .drop = choices_drop_one,
               .contains_many = choices_contains_many,
               .add_many = choices_add_many,
               .drop_many = choices_drop_many};

#undef QUERIES
#undef CHANGES
