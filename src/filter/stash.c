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
 *   S3  an empty slot is zero, and so are counts past the last slot;
 *   S4  at most RUN_MAX slots in use lie side by side, the last and the first slot of all being neighbours.
 * And, not tested, since nothing may rely on it for a stash read from a file:
 *   S5  of several slots with one digest, all but the last in probing order hold 255 copies.
 *
 * S4 bounds the time of every call, whoever has written the stash.  What would break it is refused as if the
 * stash were full.  Different keys do not come to it: with 4/5 of the slots in use, which is the most, a run
 * of k slots begins at a given one with odds of about e^-(k (a - 1 - ln a)), a = 4/5, Chernoff's bound for
 * k arrivals where k a are expected; for k = 4096 that is 1e-41, and there are less than 2^37 slots.  One
 * key comes to it with a million copies, if the stash is larger than that.
 *
 * Walks end after a run of the longest length, whatever the counts say: a stash may be in a file that is
 * mapped, and somebody may write to that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/stash.h"

#include "hash/hash.h"

#define COPIES_MAX 255u
#define RUN_MAX    4096u

static uint64_t stash_slots_for(uint64_t capacity) {
    return capacity == 0 ? 0 : capacity + capacity / 4 + 1;
}

uint64_t tamis_i_stash_words(uint64_t capacity) {
    const uint64_t slots = stash_slots_for(capacity);
    const uint64_t words = 2 * slots + (slots + 7) / 8;
    return (words + TAMIS_LINE_WORDS - 1) / TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
}

void tamis_i_stash_attach(tamis_i_stash *stash, uint64_t *words, uint64_t *used,
                          uint64_t capacity) {
    *stash = (tamis_i_stash){
        .words = words, .used = used, .capacity = capacity, .slots = stash_slots_for(capacity)};
}

static uint64_t stash_first_slot(const tamis_i_stash *stash, tamis_digest d) {
    return tamis_i_range(tamis_i_mix(tamis_i_stash_place(d)), stash->slots);
}

static uint64_t stash_next_slot(const tamis_i_stash *stash, uint64_t slot) {
    return slot + 1 == stash->slots ? 0 : slot + 1;
}

static uint64_t stash_slot_before(const tamis_i_stash *stash, uint64_t slot) {
    return slot == 0 ? stash->slots - 1 : slot - 1;
}

static unsigned stash_count_at(const tamis_i_stash *stash, uint64_t slot) {
    return (unsigned)(stash->words[2 * stash->slots + slot / 8] >> 8 * (slot % 8) & 0xff);
}

static void stash_set_count(tamis_i_stash *stash, uint64_t slot, unsigned count) {
    uint64_t *const word = stash->words + 2 * stash->slots + slot / 8;
    const unsigned shift = 8 * (unsigned)(slot % 8);
    *word = (*word & ~((uint64_t)0xff << shift)) | (uint64_t)count << shift;
}

static tamis_digest stash_digest_at(const tamis_i_stash *stash, uint64_t slot) {
    return (tamis_digest){.lo = stash->words[2 * slot], .hi = stash->words[2 * slot + 1]};
}

static void stash_set_digest(tamis_i_stash *stash, uint64_t slot, tamis_digest d) {
    stash->words[2 * slot] = d.lo;
    stash->words[2 * slot + 1] = d.hi;
}

static bool stash_same(tamis_digest a, tamis_digest b) {
    return a.lo == b.lo && a.hi == b.hi;
}

uint64_t tamis_i_stash_copies(const tamis_i_stash *stash, tamis_digest digest) {
    if (*stash->used == 0)
        return 0;
    uint64_t copies = 0;
    uint64_t slot = stash_first_slot(stash, digest);
    for (unsigned run = 0; run < RUN_MAX; run++, slot = stash_next_slot(stash, slot)) {
        const unsigned count = stash_count_at(stash, slot);
        if (count == 0)
            break;
        if (stash_same(stash_digest_at(stash, slot), digest))
            copies += count;
    }
    return copies;
}

bool tamis_i_stash_touch(const tamis_i_stash *stash, tamis_digest digest,
                         bool (*may)(const void *context, const uint64_t *words, uint64_t n),
                         const void *context) {
    uint64_t slot = stash_first_slot(stash, digest);
    for (uint64_t run = 0; run <= RUN_MAX && run < stash->slots; run++) { /* S1, S4 */
        if (!may(context, stash->words + 2 * stash->slots + slot / 8, 1))
            return false;
        if (stash_count_at(stash, slot) == 0)
            return true;
        if (!may(context, stash->words + 2 * slot, 2))
            return false;
        slot = stash_next_slot(stash, slot);
    }
    return false;
}

void tamis_i_stash_prefetch(const tamis_i_stash *stash, tamis_digest digest) {
    if (*stash->used == 0)
        return;
    const uint64_t slot = stash_first_slot(stash, digest);
    TAMIS_PREFETCH(stash->words + 2 * slot);
    TAMIS_PREFETCH(stash->words + 2 * stash->slots + slot / 8);
}

/* The last slot with this digest in probing order, or 'slots' if there is none; '*end' is the empty slot
 * behind the run, or 'slots' if no stash has such a run. */
static uint64_t stash_last_entry(const tamis_i_stash *stash, tamis_digest digest, uint64_t *end) {
    uint64_t found = stash->slots, slot = stash_first_slot(stash, digest);
    unsigned run = 0;
    for (; run <= RUN_MAX && stash_count_at(stash, slot) != 0; run++) {
        if (stash_same(stash_digest_at(stash, slot), digest))
            found = slot;
        slot = stash_next_slot(stash, slot);
    }
    *end = run <= RUN_MAX ? slot : stash->slots;
    return found;
}

/* Would the run around an empty slot, if that were in use, keep S4? */
static bool stash_run_fits(const tamis_i_stash *stash, uint64_t empty) {
    if (stash->slots <= RUN_MAX)
        return true;
    unsigned run = 1;
    for (uint64_t slot = stash_next_slot(stash, empty);
         run <= RUN_MAX && stash_count_at(stash, slot) != 0; slot = stash_next_slot(stash, slot))
        run++;
    for (uint64_t slot = stash_slot_before(stash, empty);
         run <= RUN_MAX && stash_count_at(stash, slot) != 0; slot = stash_slot_before(stash, slot))
        run++;
    return run <= RUN_MAX;
}

/* The last slot of the digest is filled up, what is left goes to a new one (S5), if there are fewer than
 * 'most'. */
static tamis_status stash_add(tamis_i_stash *stash, tamis_digest digest, unsigned copies,
                              uint64_t most) {
    TAMIS_ASSERT(copies <= COPIES_MAX);
    if (stash->capacity == 0)
        return TAMIS_E_FULL;
    uint64_t end;
    const uint64_t last = stash_last_entry(stash, digest, &end);
    const unsigned count = last == stash->slots ? COPIES_MAX : stash_count_at(stash, last);
    const unsigned room = COPIES_MAX - count;
    if (copies > room) {
        if (*stash->used >= most || end == stash->slots || !stash_run_fits(stash, end))
            return TAMIS_E_FULL;
        stash_set_digest(stash, end, digest);
        stash_set_count(stash, end, copies - room);
        ++*stash->used;
        copies = room;
    }
    if (copies > 0)
        stash_set_count(stash, last, count + copies);
    return TAMIS_OK;
}

tamis_status tamis_i_stash_insert(tamis_i_stash *stash, tamis_digest digest) {
    return stash_add(stash, digest, 1, stash->capacity);
}

tamis_status tamis_i_stash_insert_spare(tamis_i_stash *stash, tamis_digest digest) {
    return stash_add(stash, digest, 1, stash->capacity - tamis_i_stash_kept(stash->capacity));
}

tamis_status tamis_i_stash_add(tamis_i_stash *stash, tamis_digest digest, unsigned copies) {
    return stash_add(stash, digest, copies, stash->capacity);
}

/* Empty a slot and close the gap: each later entry of the run moves to the gap unless its first slot
 * lies between the gap and itself (S2). */
static void stash_empty_slot(tamis_i_stash *stash, uint64_t gap) {
    uint64_t slot = stash_next_slot(stash, gap);
    for (unsigned run = 0; run < RUN_MAX && stash_count_at(stash, slot) != 0;
         run++, slot = stash_next_slot(stash, slot)) {
        const uint64_t home = stash_first_slot(stash, stash_digest_at(stash, slot));
        const bool stays = gap <= slot ? gap < home && home <= slot : gap < home || home <= slot;
        if (stays)
            continue;
        stash_set_digest(stash, gap, stash_digest_at(stash, slot));
        stash_set_count(stash, gap, stash_count_at(stash, slot));
        gap = slot;
    }
    stash_set_digest(stash, gap, (tamis_digest){0, 0});
    stash_set_count(stash, gap, 0);
    --*stash->used;
}

/* Take up to 'copies' away; returns how many were not there.  The last of the slots with this digest is the
 * one that is not full (S5); if it is not, the order in which copies go does not matter. */
static unsigned stash_take(tamis_i_stash *stash, tamis_digest digest, unsigned copies) {
    while (copies > 0 && *stash->used > 0) {
        uint64_t end;
        const uint64_t last = stash_last_entry(stash, digest, &end);
        if (last == stash->slots)
            break;
        const unsigned count = stash_count_at(stash, last);
        if (count > copies) {
            stash_set_count(stash, last, count - copies);
            return 0;
        }
        stash_empty_slot(stash, last);
        copies -= count;
    }
    return copies;
}

bool tamis_i_stash_remove(tamis_i_stash *stash, tamis_digest digest) {
    return stash_take(stash, digest, 1) == 0;
}

void tamis_i_stash_set(tamis_i_stash *stash, tamis_digest digest, unsigned copies) {
    uint64_t end;
    const uint64_t last = *stash->used == 0 ? stash->slots : stash_last_entry(stash, digest, &end);
    if (last != stash->slots)
        stash_set_count(stash, last, copies);
}

void tamis_i_stash_drop(tamis_i_stash *stash, tamis_digest digest) {
    (void)stash_take(stash, digest, COPIES_MAX);
}

uint64_t tamis_i_stash_gap(const tamis_i_stash *stash) {
    uint64_t slot = 0;
    while (slot < stash->slots && stash_count_at(stash, slot) != 0)
        slot++;
    return slot;
}

bool tamis_i_stash_next(const tamis_i_stash *stash, uint64_t *at, tamis_digest *digest,
                        uint64_t *copies) {
    for (; *at < stash->slots; ++*at) {
        const unsigned count = stash_count_at(stash, *at);
        if (count != 0) {
            *digest = stash_digest_at(stash, *at);
            *copies = count;
            ++*at;
            return true;
        }
    }
    return false;
}

bool tamis_i_stash_along(const tamis_i_stash *stash, uint64_t place, uint64_t *at, uint64_t *what,
                         uint64_t *copies) {
    if (stash->slots == 0)
        return false;
    uint64_t slot = stash_first_slot(stash, tamis_i_stash_key(place, 0)) + *at;
    slot -= slot >= stash->slots ? stash->slots : 0;
    for (; *at < RUN_MAX && *at < stash->slots; slot = stash_next_slot(stash, slot)) {
        const unsigned count = stash_count_at(stash, slot);
        const tamis_digest key = stash_digest_at(stash, slot);
        if (count == 0)
            return false;
        ++*at;
        if (tamis_i_stash_place(key) == place) {
            *what = key.hi;
            *copies = count;
            return true;
        }
    }
    return false;
}

/* Take away what was added from slots 0 to 'end' - 1 of the source, in the opposite order.  Each step finds
 * the stash as the addition left it: the copies were the last of their digest, and nothing moves to a slot
 * that was the last to be used. */
static void stash_unmerge(tamis_i_stash *stash, const tamis_i_stash *source, uint64_t end) {
    for (uint64_t slot = end; slot-- > 0;)
        (void)stash_take(stash, stash_digest_at(source, slot), stash_count_at(source, slot));
}

bool tamis_i_stash_merge(tamis_i_stash *stash, const tamis_i_stash *source) {
    for (uint64_t slot = 0; slot < source->slots; slot++) {
        const unsigned copies = stash_count_at(source, slot);
        if (copies != 0 &&
            tamis_i_stash_add(stash, stash_digest_at(source, slot), copies) != TAMIS_OK) {
            stash_unmerge(stash, source, slot);
            return false;
        }
    }
    return true;
}

void tamis_i_stash_unmerge(tamis_i_stash *stash, const tamis_i_stash *source) {
    stash_unmerge(stash, source, source->slots);
}

bool tamis_i_stash_check(const tamis_i_stash *stash, const char **reason) {
    const uint64_t slots = stash->slots;
    uint64_t used = 0;
    for (uint64_t slot = 0; slot < slots; slot++) {
        const tamis_digest d = stash_digest_at(stash, slot);
        if (stash_count_at(stash, slot) != 0) {
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
    const uint64_t start = tamis_i_stash_gap(stash);
    uint64_t run = 0; /* where the present run begins, as a distance from 'start' */
    uint64_t longest = 0;
    for (uint64_t step = 0; step < slots; step++) {
        const uint64_t slot = start + step < slots ? start + step : start + step - slots;
        if (stash_count_at(stash, slot) == 0) {
            run = step + 1;
            continue;
        }
        const uint64_t home = stash_first_slot(stash, stash_digest_at(stash, slot));
        const uint64_t distance = home >= start ? home - start : home + slots - start;
        if (distance < run || distance > step) {
            *reason = "the stash has a key that cannot be found";
            return false;
        }
        longest = step - run >= longest ? step - run + 1 : longest;
    }
    *reason = "the stash has too many keys in one place";
    return longest <= RUN_MAX;
}
