/* choices_batch.h - one by one, and batches, from the work on a key whose probe is known
 *
 * A template: included by a structure after it has defined layout (with its choices), layout_of, heads_of,
 * find_heads, locate, contains_at, insert_at and remove_at.
 *
 * SPDX-License-Identifier: MIT
 */

static bool contains(const tamis_filter *filter, tamis_digest digest) {
    tamis_i_probe probe;
    const layout *const l = layout_of(filter);
    locate(l, filter, digest, &probe);
    return contains_at(filter, digest, &probe, find_heads(l, filter, &probe));
}

static tamis_status insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    tamis_i_probe probe;
    locate(layout_of(filter), filter, digest, &probe);
    return insert_at(filter, digest, &probe, added);
}

static tamis_status remove_one(tamis_filter *filter, tamis_digest digest) {
    tamis_i_probe probe;
    locate(layout_of(filter), filter, digest, &probe);
    return remove_at(filter, digest, &probe);
}

static void prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const layout *const l = layout_of(filter);
    tamis_i_probe probe;
    locate(l, filter, digest, &probe);
    tamis_i_choices_fetch(&l->choices, &probe, write);
}

/* The heads of all buckets of the group tell which keys need a closer look.  Where the next group has
 * fewer keys, the kernel fetches its own lines once more. */
static void contains_many(const tamis_filter *filter, const tamis_i_group *now,
                          const tamis_i_group *next, bool *present) {
    const layout *const l = layout_of(filter);
    uint64_t hits[TAMIS_I_GROUP];
    const bool whole = next->n >= now->n && now->n != 0;
    for (size_t i = 0; i < next->n; i++) {
        locate(l, filter, next->digests[i], &next->probes[i]);
        if (!whole)
            tamis_i_choices_fetch(&l->choices, &next->probes[i], false);
    }
    filter->kernels.heads_test(heads_of(l), now->probes, now->n, (unsigned)l->choices.subtables,
                               whole ? next->probes : now->probes, hits);
    for (size_t i = 0; i < now->n; i++)
        present[i] = contains_at(filter, now->digests[i], &now->probes[i], hits[i]);
}

static void locate_and_fetch(const tamis_filter *filter, const tamis_i_group *group, size_t i) {
    const layout *const l = layout_of(filter);
    locate(l, filter, group->digests[i], &group->probes[i]);
    tamis_i_choices_fetch(&l->choices, &group->probes[i], true);
}

static tamis_status insert_many(tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *added, size_t *done) {
    *done = 0;
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        if (i < next->n)
            locate_and_fetch(filter, next, i);
        if (i < now->n) {
            const tamis_status status =
                insert_at(filter, now->digests[i], &now->probes[i], &added[i]);
            if (status != TAMIS_OK)
                return status;
            *done = i + 1;
        }
    }
    return TAMIS_OK;
}

static void remove_many(tamis_filter *filter, const tamis_i_group *now, const tamis_i_group *next,
                        bool *removed) {
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        if (i < next->n)
            locate_and_fetch(filter, next, i);
        if (i < now->n)
            removed[i] = remove_at(filter, now->digests[i], &now->probes[i]) == TAMIS_OK;
    }
}
