/* index.c - the items of the stash by digest
 *
 * The stash is in slow memory, and mostly empty.  Each of its items has an entry here with the digest.
 * So only a key that is in the stash (or shares the digest of one that is) costs a read.
 *
 * Open addressing with linear probing, with twice as many entries as the stash has slots.  Removal
 * closes the gap by moving up later entries that may move, so a search ends at the first free entry.
 *
 * At most RUN_MAX entries in use lie side by side, the last and the first of all being neighbours.  That
 * bounds the time of every call, and of opening a file, whoever has chosen the keys: what would break it is
 * refused.  Which entries are in use does not depend on the order in which they came, so a file that calls
 * have written is not refused.  Other keys do not come to it: with half of the entries in use, which is the
 * most, a run of k begins at a given one with odds of about e^-(k (a - 1 - ln a)), a = 1/2, Chernoff's bound
 * for k arrivals where k a are expected; for k = 512 that is 1e-43, and there are at most 2^31 entries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

#define RUN_MAX 512u

uint64_t tamis_i_index_room(uint64_t stash) {
    return 2 * stash;
}

uint64_t tamis_i_index_start(const tamis_i_index *index, tamis_digest digest) {
    return tamis_i_range(digest.hi, index->room);
}

static uint64_t index_after(const tamis_i_index *index, uint64_t at) {
    return at + 1 == index->room ? 0 : at + 1;
}

static uint64_t index_before(const tamis_i_index *index, uint64_t at) {
    return at == 0 ? index->room - 1 : at - 1;
}

/* Would the run around a free entry, if that were in use, be short enough? */
static bool index_run_fits(const tamis_i_index *index, uint64_t at) {
    unsigned run = 1;
    for (uint64_t i = index_after(index, at); run <= RUN_MAX && index->entries[i].slot != 0;
         i = index_after(index, i))
        run++;
    for (uint64_t i = index_before(index, at); run <= RUN_MAX && index->entries[i].slot != 0;
         i = index_before(index, i))
        run++;
    return run <= RUN_MAX;
}

bool tamis_i_index_insert(tamis_i_index *index, tamis_digest digest, uint64_t slot) {
    TAMIS_ASSERT(2 * index->used < index->room);
    uint64_t at = tamis_i_index_start(index, digest);
    while (index->entries[at].slot != 0)
        at = index_after(index, at);
    if (!index_run_fits(index, at))
        return false;
    index->entries[at] = (tamis_i_index_entry){.digest = digest, .slot = slot + 1};
    index->used++;
    return true;
}

uint64_t tamis_i_index_next(const tamis_i_index *index, tamis_digest digest, uint64_t *at) {
    for (;;) {
        const tamis_i_index_entry *const entry = index->entries + *at;
        if (entry->slot == 0)
            return TAMIS_I_NO_SLOT;
        *at = index_after(index, *at);
        if (entry->digest.lo == digest.lo && entry->digest.hi == digest.hi)
            return entry->slot - 1;
    }
}

/* An entry may move up to the gap unless its search begins after the gap. */
void tamis_i_index_remove(tamis_i_index *index, tamis_digest digest, uint64_t slot) {
    uint64_t gap = tamis_i_index_start(index, digest);
    while (index->entries[gap].slot != slot + 1) {
        TAMIS_ASSERT(index->entries[gap].slot != 0);
        gap = index_after(index, gap);
    }
    for (uint64_t at = index_after(index, gap); index->entries[at].slot != 0;
         at = index_after(index, at)) {
        const uint64_t start = tamis_i_index_start(index, index->entries[at].digest);
        const bool between = gap < at ? gap < start && start <= at : gap < start || start <= at;
        if (!between) {
            index->entries[gap] = index->entries[at];
            gap = at;
        }
    }
    memset(index->entries + gap, 0, sizeof *index->entries);
    index->used--;
}
