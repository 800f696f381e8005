/* guard.c - views on files that are verified in parts
 *
 * Two bits for each part: it is good, it is damaged.  They are set, never cleared, and a part that has both
 * is damaged: a trusted view may learn late.  No byte of the file is written, so that nothing needs an
 * order among threads but the two counters, of which that of damaged parts is raised first: who finds that
 * no part is unknown sees all damage.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"

#include "hash/hash.h"

#include <stdatomic.h>

#define GOOD     1u
#define DAMAGED  2u
#define PER_WORD 16u /* parts */
#define SWEEP    256u

struct tamis_i_guard {
    tamis_i_guarded what;
    unsigned shift; /* a part has 2^shift words */
    uint32_t n_parts;
    /* What the handle would call if there were no guard. */
    bool (*contains_word)(const tamis_filter *filter, uint64_t key);
    bool (*contains_digest)(const tamis_filter *filter, tamis_digest digest);
    size_t size;              /* of this block */
    _Atomic bool open;        /* queries need not ask */
    _Atomic bool sound;       /* all of it was verified and checked */
    _Atomic bool odd;         /* checksums match, but no calls have made this */
    _Atomic bool lost;        /* nothing in it can be believed */
    _Atomic uint32_t unknown; /* parts that were not yet touched */
    _Atomic uint32_t damaged; /* parts */
    _Atomic uint32_t swept;   /* no part before this one is unknown */
    _Atomic uint32_t known[];
};

/* ---- parts ---- */

static const uint64_t *guard_span(const tamis_filter *filter, uint32_t i, uint64_t *n) {
    const tamis_i_part_span span = tamis_i_part_at(filter->n_body, filter->guard->shift, i);
    *n = span.n;
    return filter->state + span.from;
}

static bool guard_sum_fits(const tamis_filter *filter, uint32_t i) {
    uint64_t n;
    const uint64_t *const words = guard_span(filter, i, &n);
    return tamis_i_checksum_words(words, (size_t)n) ==
           tamis_i_get_u64(filter->guard->what.sums + 8 * (size_t)i);
}

/* The lines of the table that are in the part. */
static bool guard_lines_sound(const tamis_filter *filter, uint32_t i) {
    if (filter->kind->check_lines == NULL)
        return true;
    const char *reason;
    uint64_t n;
    const uint64_t *from = guard_span(filter, i, &n);
    const uint64_t *const end = from + n;
    from = from < filter->table ? filter->table : from;
    return from >= end || filter->kind->check_lines(filter, (uint64_t)(from - filter->table),
                                                    (uint64_t)(end - filter->table), &reason);
}

static unsigned guard_known(const tamis_i_guard *guard, uint32_t i) {
    const uint32_t word = atomic_load_explicit(&guard->known[i / PER_WORD], memory_order_relaxed);
    return word >> 2 * (i % PER_WORD) & 3;
}

/* All parts are good, each by itself: what is left is the stash, which may go over several. */
static void guard_all_known(const tamis_filter *filter) {
    tamis_i_guard *const guard = filter->guard;
    const char *reason;
    if (atomic_load(&guard->damaged) != 0 || atomic_load(&guard->lost))
        return;
    if (tamis_i_stash_check(&filter->stash, &reason))
        atomic_store(&guard->open, true);
    else
        atomic_store(&guard->odd, true);
}

/* Remember what was found out about a part. */
static void guard_note(const tamis_filter *filter, uint32_t i, bool good) {
    tamis_i_guard *const guard = filter->guard;
    const unsigned shift = 2 * (i % PER_WORD);
    const uint32_t before =
        atomic_fetch_or(&guard->known[i / PER_WORD], (uint32_t)(good ? GOOD : DAMAGED) << shift) >>
        shift;
    if (!good && (before & DAMAGED) == 0) {
        (void)atomic_fetch_add(&guard->damaged, 1);
        atomic_store(&guard->open, false);
    }
    if ((before & (GOOD | DAMAGED)) == 0 && atomic_fetch_sub(&guard->unknown, 1) == 1)
        guard_all_known(filter);
}

/* A part that is met for the first time. */
TAMIS_APART bool guard_meet(const tamis_filter *filter, uint32_t i) {
    tamis_i_guard *const guard = filter->guard;
    const bool fits = guard->what.trusted || guard_sum_fits(filter, i),
               good = fits && guard_lines_sound(filter, i);
    if (fits && !good)
        atomic_store(&guard->odd, true);
    guard_note(filter, i, good);
    return good;
}

static inline bool guard_part(const tamis_filter *filter, uint32_t i) {
    const unsigned known = guard_known(filter->guard, i);
    return TAMIS_LIKELY(known == GOOD) || (known == 0 && guard_meet(filter, i));
}

bool tamis_i_guard_words(const tamis_filter *filter, const uint64_t *from, uint64_t n) {
    const unsigned shift = filter->guard->shift;
    const uint64_t at = (uint64_t)(from - filter->state) - TAMIS_I_STATE_WORDS;
    const uint32_t last = (uint32_t)(1 + ((at + n - 1) >> shift));
    bool good = true;
    for (uint32_t i = (uint32_t)(1 + (at >> shift)); i <= last; i++)
        good = guard_part(filter, i) && good;
    return good;
}

/* ---- keys ---- */

/* Parts that keys seldom touch would keep the others from being asked without a guard.  So when most parts
 * are known and good, one of the others is verified along with every SWEEP-th key or so; which keys these
 * are is left to chance, since there is nothing to count them by. */
static bool guard_is_turn(tamis_digest digest) {
    return (digest.lo ^ digest.hi) % SWEEP == 0;
}

TAMIS_APART void guard_sweep(const tamis_filter *filter) {
    tamis_i_guard *const guard = filter->guard;
    if (atomic_load(&guard->unknown) > guard->n_parts / 2 || atomic_load(&guard->damaged) != 0)
        return;
    uint32_t i = atomic_load(&guard->swept);
    while (i < guard->n_parts && guard_known(guard, i) != 0)
        i++;
    atomic_store(&guard->swept, i);
    if (i < guard->n_parts)
        (void)guard_meet(filter, i);
}

bool tamis_i_guard_is_open(const tamis_i_guard *guard) {
    return TAMIS_LIKELY(atomic_load_explicit(&guard->open, memory_order_relaxed));
}

static bool guard_stash_words(const void *filter, const uint64_t *from, uint64_t n) {
    return tamis_i_guard_words(filter, from, n);
}

bool tamis_i_guard_touch(const tamis_filter *filter, tamis_digest digest) {
    tamis_i_guard *const guard = filter->guard;
    if (atomic_load_explicit(&guard->lost, memory_order_relaxed))
        return false;
    if (filter->kind->touch == NULL) { /* only all of it will do */
        const char *reason;
        return tamis_i_guard_verify(filter, &reason);
    }
    if (TAMIS_UNLIKELY(guard_is_turn(digest)))
        guard_sweep(filter);
    if (filter->state[TAMIS_I_STASH_USED] != 0 &&
        !tamis_i_stash_touch(&filter->stash, tamis_i_key_in_stash(filter, digest),
                             guard_stash_words, filter)) {
        atomic_store(&guard->odd, true);
        return false;
    }
    return filter->kind->touch(filter, digest);
}

bool tamis_i_guard_contains(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_guard *const guard = filter->guard;
    return (!tamis_i_guard_is_open(guard) && !tamis_i_guard_touch(filter, digest)) ||
           guard->contains_digest(filter, digest);
}

static bool guard_contains_word(const tamis_filter *filter, uint64_t key) {
    if (tamis_i_guard_is_open(filter->guard))
        return filter->guard->contains_word(filter, key);
    return tamis_i_guard_contains(filter, tamis_i_hasher_word(&filter->hasher, key));
}

/* ---- the whole ---- */

/* A trusted view of an older version has one checksum for all. */
static bool guard_verify_sums(const tamis_filter *filter) {
    tamis_i_guard *const guard = filter->guard;
    const tamis_i_guarded *const what = &guard->what;
    if (what->sums == NULL || (what->trusted && !guard_sum_fits(filter, 0))) {
        const bool fits =
            what->sums == NULL &&
            tamis_i_checksum_words(filter->state, (size_t)filter->n_body) == what->whole;
        atomic_store(&guard->lost, !fits);
        return fits;
    }
    bool good = true;
    for (uint32_t i = 1; i < guard->n_parts; i++) {
        if (what->trusted && !guard_sum_fits(filter, i))
            guard_note(filter, i, false);
        good = guard_part(filter, i) && good;
    }
    return good;
}

bool tamis_i_guard_verify(const tamis_filter *filter, const char **reason) {
    tamis_i_guard *const guard = filter->guard;
    if (guard == NULL || atomic_load(&guard->sound))
        return true;
    *reason = "the body is damaged: its checksum does not match";
    if (!guard_verify_sums(filter)) {
        atomic_store(&guard->open, false);
        if (atomic_load(&guard->odd)) /* there is a better reason */
            (void)tamis_i_filter_check(filter, reason);
        return false;
    }
    if (!tamis_i_filter_check(filter, reason)) {
        atomic_store(&guard->lost, true);
        atomic_store(&guard->open, false);
        return false;
    }
    atomic_store(&guard->sound, true);
    atomic_store(&guard->open, true);
    return true;
}

uint64_t tamis_i_guard_damage(const tamis_filter *filter) {
    const tamis_i_guard *const guard = filter->guard;
    if (guard == NULL)
        return 0;
    const uint32_t parts = atomic_load(&guard->damaged);
    return parts != 0 ? parts : atomic_load(&guard->odd) || atomic_load(&guard->lost);
}

tamis_status tamis_i_guard_begin(tamis_filter *filter, const tamis_i_guarded *what) {
    const unsigned shift = tamis_i_part_shift(filter->n_body);
    const uint32_t n_parts = (uint32_t)tamis_i_n_body_parts(filter->n_body, shift);
    const size_t words = (n_parts + PER_WORD - 1) / PER_WORD;
    const size_t size = sizeof(tamis_i_guard) + words * sizeof(_Atomic uint32_t);
    tamis_i_guard *const guard = tamis_i_alloc(&filter->allocator, size);
    if (guard == NULL)
        return TAMIS_E_NOMEM;
    memset(guard, 0, sizeof *guard);
    guard->what = *what;
    guard->shift = shift;
    guard->n_parts = n_parts;
    guard->contains_word = filter->calls.contains_word;
    guard->contains_digest = filter->calls.contains;
    guard->size = size;
    atomic_init(&guard->open, what->trusted && filter->kind->touch != NULL &&
                                  filter->kind->check_lines == NULL &&
                                  filter->state[TAMIS_I_STASH_USED] == 0);
    atomic_init(&guard->sound, false);
    atomic_init(&guard->odd, false);
    atomic_init(&guard->lost, false);
    atomic_init(&guard->unknown, n_parts - 1);
    atomic_init(&guard->damaged, 0);
    atomic_init(&guard->swept, 0);
    for (size_t i = 0; i < words; i++)
        atomic_init(&guard->known[i], i == 0 ? GOOD : 0);
    filter->guard = guard;
    filter->calls.contains_word = guard_contains_word;
    filter->calls.contains = tamis_i_guard_contains;
    return TAMIS_OK;
}

void tamis_i_guard_end(tamis_filter *filter) {
    if (filter->guard != NULL)
        tamis_i_free(&filter->allocator, filter->guard, filter->guard->size);
    filter->guard = NULL;
}
