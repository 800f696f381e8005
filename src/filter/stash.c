/* stash.c - the exact set of digests that found no room in a table
 *
 * A hash table with linear probing.  An entry is a whole digest, so that a key in the stash is never
 * confused with another, and can later be moved back into the table.
 *
 *      words     [ lo hi ][ lo hi ] ...        one pair per slot
 *                [ 8 counts of 8 bits ] ...    copies of the entry in each slot; 0: the slot is empty
 *
 * A key has at most 255 copies in one slot; further ones open the next slot for the same digest, as
 * if it were another key, so that counts never stop.
 *
 * The slot where probing begins comes from a mix of the whole digest: the keys that arrive here share
 * their bucket, and must not share their slot as well.
 *
 * Invariants, tested by tamis_i_stash_check():
 *   S1  the number of slots in use is *used, and at most the capacity; one slot is always empty;
 *   S2  from the first slot of an entry to the entry itself no slot is empty;
 *   S3  an empty slot is zero, and so are counts past the last slot.
 * And, not tested, since nothing may rely on it for a stash read from a file:
 *   S4  of several slots with one digest, all but the last in probing order hold 255 copies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/stash.h"

#include "hash/hash.h"

#define COPIES_MAX 255u

static uint64_t slots_for(uint64_t capacity) {
    return capacity == 0 ? 0 : capacity + capacity / 4 + 1;
}

uint64_t tamis_i_stash_words(uint64_t capacity) {
    const uint64_t slots = slots_for(capacity);
    const uint64_t words = 2 * slots + (slots + 7) / 8;
    return (words + TAMIS_LINE_WORDS - 1) / TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
}

void tamis_i_stash_attach(tamis_i_stash *stash, uint64_t *words, uint64_t *used,
                          uint64_t capacity) {
    *stash = (tamis_i_stash){
        .words = words, .used = used, .capacity = capacity, .slots = slots_for(capacity)};
}

static uint64_t first_slot(const tamis_i_stash *stash, tamis_digest d) {
    return tamis_i_range(tamis_i_mix(d.lo ^ (d.hi << 32 | d.hi >> 32)), stash->slots);
}

static uint64_t next_slot(const tamis_i_stash *stash, uint64_t slot) {
    return slot + 1 == stash->slots ? 0 : slot + 1;
}

static unsigned count_at(const tamis_i_stash *stash, uint64_t slot) {
    return (unsigned)(stash->words[2 * stash->slots + slot / 8] >> 8 * (slot % 8) & 0xff);
}

static void set_count(tamis_i_stash *stash, uint64_t slot, unsigned count) {
    uint64_t *const word = stash->words + 2 * stash->slots + slot / 8;
    const unsigned shift = 8 * (unsigned)(slot % 8);
    *word = (*word & ~((uint64_t)0xff << shift)) | (uint64_t)count << shift;
}

static tamis_digest digest_at(const tamis_i_stash *stash, uint64_t slot) {
    return (tamis_digest){.lo = stash->words[2 * slot], .hi = stash->words[2 * slot + 1]};
}

static void set_digest(tamis_i_stash *stash, uint64_t slot, tamis_digest d) {
    stash->words[2 * slot] = d.lo;
    stash->words[2 * slot + 1] = d.hi;
}

static bool same(tamis_digest a, tamis_digest b) {
    return a.lo == b.lo && a.hi == b.hi;
}

uint64_t tamis_i_stash_copies(const tamis_i_stash *stash, tamis_digest digest) {
    if (*stash->used == 0)
        return 0;
    uint64_t copies = 0;
    uint64_t slot = first_slot(stash, digest);
    for (unsigned count; (count = count_at(stash, slot)) != 0; slot = next_slot(stash, slot))
        if (same(digest_at(stash, slot), digest))
            copies += count;
    return copies;
}

void tamis_i_stash_prefetch(const tamis_i_stash *stash, tamis_digest digest) {
    if (*stash->used == 0)
        return;
    const uint64_t slot = first_slot(stash, digest);
    TAMIS_PREFETCH(stash->words + 2 * slot);
    TAMIS_PREFETCH(stash->words + 2 * stash->slots + slot / 8);
}

/* Add one copy, in a new entry only if there are fewer than 'most'. */
static tamis_status stash_insert(tamis_i_stash *stash, tamis_digest digest, uint64_t most) {
    if (stash->capacity == 0)
        return TAMIS_E_FULL;
    uint64_t slot = first_slot(stash, digest);
    for (unsigned count; (count = count_at(stash, slot)) != 0; slot = next_slot(stash, slot)) {
        if (same(digest_at(stash, slot), digest) && count < COPIES_MAX) {
            set_count(stash, slot, count + 1);
            return TAMIS_OK;
        }
    }
    if (*stash->used >= most)
        return TAMIS_E_FULL;
    set_digest(stash, slot, digest);
    set_count(stash, slot, 1);
    ++*stash->used;
    return TAMIS_OK;
}

tamis_status tamis_i_stash_insert(tamis_i_stash *stash, tamis_digest digest) {
    return stash_insert(stash, digest, stash->capacity);
}

tamis_status tamis_i_stash_insert_spare(tamis_i_stash *stash, tamis_digest digest) {
    return stash_insert(stash, digest, stash->capacity - tamis_i_stash_kept(stash->capacity));
}

/* Empty a slot and close the gap: each later entry of the run moves to the gap unless its first slot
 * lies between the gap and itself (S2). */
static void empty_slot(tamis_i_stash *stash, uint64_t gap) {
    for (uint64_t slot = next_slot(stash, gap); count_at(stash, slot) != 0;
         slot = next_slot(stash, slot)) {
        const uint64_t home = first_slot(stash, digest_at(stash, slot));
        const bool stays = gap <= slot ? gap < home && home <= slot : gap < home || home <= slot;
        if (stays)
            continue;
        set_digest(stash, gap, digest_at(stash, slot));
        set_count(stash, gap, count_at(stash, slot));
        gap = slot;
    }
    set_digest(stash, gap, (tamis_digest){0, 0});
    set_count(stash, gap, 0);
    --*stash->used;
}

bool tamis_i_stash_remove(tamis_i_stash *stash, tamis_digest digest) {
    if (*stash->used == 0)
        return false;
    /* The last of the slots with this digest is the one that is not full (S4); if it is not, the order
     * in which copies go does not matter. */
    uint64_t found = stash->slots;
    uint64_t slot = first_slot(stash, digest);
    for (; count_at(stash, slot) != 0; slot = next_slot(stash, slot))
        if (same(digest_at(stash, slot), digest))
            found = slot;
    if (found == stash->slots)
        return false;
    const unsigned count = count_at(stash, found);
    if (count > 1)
        set_count(stash, found, count - 1);
    else
        empty_slot(stash, found);
    return true;
}

bool tamis_i_stash_next(const tamis_i_stash *stash, uint64_t *at, tamis_digest *digest,
                        uint64_t *copies) {
    for (; *at < stash->slots; ++*at) {
        const unsigned count = count_at(stash, *at);
        if (count != 0) {
            *digest = digest_at(stash, *at);
            *copies = count;
            ++*at;
            return true;
        }
    }
    return false;
}

/* The first slot, in probing order, of a digest that is there. */
static uint64_t first_entry(const tamis_i_stash *stash, tamis_digest digest) {
    uint64_t slot = first_slot(stash, digest);
    while (!same(digest_at(stash, slot), digest) || count_at(stash, slot) == 0)
        slot = next_slot(stash, slot);
    return slot;
}

/* A digest with c copies here has room for at least as many more in its slots as c is short of a multiple
 * of 255.  What the source has beyond that needs an entry for each 255 or part of it.  All copies of a
 * digest are taken together, at its first slot: a file may have spread them in any way (S4). */
bool tamis_i_stash_can_merge(const tamis_i_stash *stash, const tamis_i_stash *source) {
    uint64_t entries = *stash->used;
    uint64_t at = 0, copies;
    tamis_digest digest;
    while (tamis_i_stash_next(source, &at, &digest, &copies)) {
        if (first_entry(source, digest) != at - 1)
            continue;
        const uint64_t more = tamis_i_stash_copies(source, digest);
        const uint64_t over = tamis_i_stash_copies(stash, digest) % COPIES_MAX;
        const uint64_t room = over == 0 ? 0 : COPIES_MAX - over;
        if (more > room)
            entries += (more - room + COPIES_MAX - 1) / COPIES_MAX;
    }
    return entries <= stash->capacity;
}

void tamis_i_stash_merge(tamis_i_stash *stash, const tamis_i_stash *source) {
    uint64_t at = 0, copies;
    tamis_digest digest;
    while (tamis_i_stash_next(source, &at, &digest, &copies)) {
        for (uint64_t i = 0; i < copies; i++) {
            const tamis_status status = tamis_i_stash_insert(stash, digest);
            TAMIS_ASSERT(status == TAMIS_OK);
            (void)status;
        }
    }
}

bool tamis_i_stash_check(const tamis_i_stash *stash, const char **reason) {
    const uint64_t slots = stash->slots;
    uint64_t used = 0;
    for (uint64_t slot = 0; slot < slots; slot++) {
        const tamis_digest d = digest_at(stash, slot);
        if (count_at(stash, slot) != 0) {
            used++;
        } else if (d.lo != 0 || d.hi != 0) {
            *reason = "the stash has data in an empty slot";
            return false;
        }
    }
    if (used != *stash->used || used > stash->capacity) {
        *reason = "the stash does not hold as many keys as it claims";
        return false;
    }
    const uint64_t words = tamis_i_stash_words(stash->capacity);
    for (uint64_t i = 2 * slots + slots / 8; i < words; i++) {
        const uint64_t past = i == 2 * slots + slots / 8 ? 8 * (slots % 8) : 0;
        if (stash->words[i] >> past != 0) {
            *reason = "the stash has data past its end";
            return false;
        }
    }
    if (used == 0)
        return true;
    /* An empty slot exists, since used <= capacity < slots.  Walk once around from the one after it;
     * the first slot of each entry must lie in the run of entries that it belongs to (S2). */
    uint64_t start = 0;
    while (count_at(stash, start) != 0)
        start++;
    uint64_t run = 0; /* where the present run begins, as a distance from 'start' */
    for (uint64_t step = 0; step < slots; step++) {
        const uint64_t slot = start + step < slots ? start + step : start + step - slots;
        if (count_at(stash, slot) == 0) {
            run = step + 1;
            continue;
        }
        const uint64_t home = first_slot(stash, digest_at(stash, slot));
        const uint64_t distance = home >= start ? home - start : home + slots - start;
        if (distance < run || distance > step) {
            *reason = "the stash has a key that cannot be found";
            return false;
        }
    }
    return true;
}
