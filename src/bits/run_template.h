/* run_template.h - the work on one bucket of run.h, compiled once per processor family
 *
 * The including file defines RUN_TARGET, attributes of all functions; RUN_ONES(word), the number of ones of
 * a word; RUN_SELECT(word, r), the place of one number r, which is there; RUN_OPS, the name of the table of
 * functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/run.h"

/* The bit of zero number r of the index, or index_bits if it has no such zero. */
RUN_TARGET static inline uint64_t run_zero(const tamis_i_run *run, const uint64_t *bucket,
                                           uint64_t r) {
    for (uint64_t i = 0; i <= run->index_words; i++) {
        const uint64_t zeros = ~bucket[i] & (i < run->index_words ? UINT64_MAX : run->index_mask);
        const unsigned n = RUN_ONES(zeros);
        if (r < n)
            return 64 * i + RUN_SELECT(zeros, (unsigned)r);
        r -= n;
    }
    return run->index_bits;
}

/* Ones without a gap before bit 'end'. */
RUN_TARGET static inline uint64_t run_ones_before(const uint64_t *bucket, uint64_t end) {
    uint64_t n = 0;
    while (n < end && tamis_i_bit_get(bucket, end - 1 - n))
        n++;
    return n;
}

RUN_TARGET static bool run_look(const tamis_i_run *run, const uint64_t *bucket, uint64_t home,
                                tamis_i_run_view *view) {
    const uint64_t end = run_zero(run, bucket, home);
    if (end == run->index_bits)
        return false;
    view->end = end;
    view->length = run_ones_before(bucket, end);
    view->first = end - home - view->length;
    /* Of a bucket that somebody wrote, who did not know how many slots there are. */
    if (TAMIS_UNLIKELY(view->first + view->length > run->slots)) {
        view->first = 0;
        view->length = 0;
    }
    return true;
}

/* How full a bucket is whose index has so many ones. */
RUN_TARGET TAMIS_INLINE tamis_i_run_load run_filled(const tamis_i_run *run, const uint64_t *bucket,
                                                    uint64_t ones) {
    if (TAMIS_LIKELY(ones <= run->slots))
        return (tamis_i_run_load){.load = ones, .held = run->homes};
    const uint64_t held = run->index_bits - ones;
    uint64_t end = run->index_bits;
    for (uint64_t i = run->index_words + 1; held > 0 && i-- > 0;) {
        const uint64_t zeros = ~bucket[i] & (i < run->index_words ? UINT64_MAX : run->index_mask);
        if (zeros != 0) {
            end = 64 * i + RUN_SELECT(zeros, RUN_ONES(zeros) - 1) + 1;
            break;
        }
    }
    const uint64_t load = held == 0 ? 0 : end - held;
    return (tamis_i_run_load){.load = load < run->slots ? load : run->slots, .held = held};
}

RUN_TARGET static tamis_i_run_load run_count(const tamis_i_run *run, const uint64_t *bucket) {
    uint64_t ones = RUN_ONES(bucket[run->index_words] & run->index_mask);
    for (uint64_t i = 0; i < run->index_words; i++)
        ones += RUN_ONES(bucket[i]);
    return run_filled(run, bucket, ones);
}

RUN_TARGET static unsigned run_find(const tamis_i_run *run, const uint64_t *bucket, uint64_t home,
                                    uint64_t print) {
    tamis_i_run_view view;
    if (!run_look(run, bucket, home, &view))
        return TAMIS_I_RUN_AWAY;
    const uint64_t number =
        tamis_i_run_match(run, bucket, &view, view.first, run->print_mask, print);
    return number < view.first + view.length ? TAMIS_I_RUN_FOUND : 0;
}

RUN_TARGET static void run_weigh_one(const tamis_i_run *run, uint64_t home,
                                     tamis_i_run_asked *asked) {
    if (!run_look(run, asked->bucket, home, &asked->view))
        asked->view = (tamis_i_run_view){0, 0, 0};
    asked->load = run_count(run, asked->bucket).load;
}

RUN_TARGET static void run_ask_one(const tamis_i_run *run, uint64_t home, uint64_t mask,
                                   tamis_i_run_asked *asked) {
    run_weigh_one(run, home, asked);
    asked->n = asked->number = 0;
    for (uint64_t i = asked->view.first + asked->view.length; i-- > asked->view.first;)
        if ((tamis_i_run_get(run, asked->bucket, i) & mask) == asked->value) {
            asked->number = i;
            asked->n++;
        }
}

RUN_TARGET static void run_weigh(const tamis_i_run *run, uint64_t home, tamis_i_run_asked *asked,
                                 unsigned n) {
    for (unsigned i = 0; i < n; i++)
        run_weigh_one(run, home, &asked[i]);
}

RUN_TARGET static void run_ask(const tamis_i_run *run, uint64_t home, uint64_t mask,
                               tamis_i_run_asked *asked, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        run_ask_one(run, home, mask, &asked[i]);
}

RUN_TARGET static uint64_t run_spare(const tamis_i_run *run, const uint64_t *bucket,
                                     tamis_i_run_load load, uint64_t own, tamis_i_run_view *view) {
    const uint64_t last = tamis_i_run_last(run, bucket, load), home = own > last ? own : last;
    if (!run_look(run, bucket, home, view))
        *view = (tamis_i_run_view){0, 0, 0};
    return home;
}

/* In the index a one comes before the zero that ends the run, and the last bit goes: a zero behind all homes,
 * or one of the ones that say that homes are away. */
RUN_TARGET static void run_put(const tamis_i_run *run, uint64_t *bucket,
                               const tamis_i_run_view *view, uint64_t slot, uint64_t load) {
    const uint64_t number = view->first + view->length;
    (void)load;
    tamis_i_field_open(bucket, tamis_i_run_at(run, number), tamis_i_run_at(run, run->slots),
                       (unsigned)run->slot_bits);
    tamis_i_run_set(run, bucket, number, slot);
    tamis_i_field_open(bucket, view->end, run->index_bits, 1);
    tamis_i_bit_set(bucket, view->end);
}

RUN_TARGET static void run_take(const tamis_i_run *run, uint64_t *bucket,
                                const tamis_i_run_view *view, uint64_t number, uint64_t load,
                                bool cut) {
    (void)load;
    tamis_i_field_close(bucket, tamis_i_run_at(run, number), tamis_i_run_at(run, run->slots),
                        (unsigned)run->slot_bits);
    tamis_i_field_close(bucket, view->end - 1, run->index_bits, 1);
    if (cut)
        tamis_i_bit_set(bucket, run->index_bits - 1);
}

RUN_TARGET static unsigned run_add(const tamis_i_run *run, uint64_t *bucket, uint64_t home,
                                   uint64_t slot, uint64_t copies, tamis_i_run_spot *spot) {
    tamis_i_run_view *const view = &spot->view;
    if (!run_look(run, bucket, home, view))
        return TAMIS_I_RUN_AWAY;
    uint64_t equal = 0;
    for (uint64_t i = view->first; i < view->first + view->length; i++)
        equal += ((tamis_i_run_get(run, bucket, i) ^ slot) & run->print_mask) == 0;
    const unsigned found = equal != 0 ? TAMIS_I_RUN_FOUND : 0;
    spot->load = run_count(run, bucket);
    if (equal >= copies || spot->load.load >= run->slots)
        return found;
    run_put(run, bucket, view, slot, spot->load.load);
    return found | TAMIS_I_RUN_DONE;
}

RUN_TARGET static unsigned run_drop(const tamis_i_run *run, uint64_t *bucket, uint64_t home,
                                    uint64_t print) {
    tamis_i_run_view view;
    if (!run_look(run, bucket, home, &view))
        return TAMIS_I_RUN_AWAY;
    const uint64_t number =
        tamis_i_run_match(run, bucket, &view, view.first, run->print_mask, print);
    if (number == view.first + view.length)
        return 0;
    const tamis_i_run_load load = run_count(run, bucket);
    const bool cut = load.held < run->homes;
    run_take(run, bucket, &view, number, load.load, cut);
    return TAMIS_I_RUN_DONE | (cut ? TAMIS_I_RUN_CUT : 0);
}

RUN_TARGET static void run_locate_many(const tamis_i_run *run, uint64_t *table, uint64_t buckets,
                                       const tamis_digest *digests, size_t n,
                                       tamis_i_run_keys *keys) {
    for (size_t i = 0; i < n; i++) {
        uint64_t word = digests[i].lo;
        keys->number[i] = tamis_i_take(&word, buckets);
        keys->bucket[i] = table + keys->number[i] * run->words;
        keys->home[i] = tamis_i_take(&word, run->homes);
        keys->print[i] = digests[i].hi & run->print_mask;
    }
}

RUN_TARGET static uint32_t run_look_many(const tamis_i_run *run, tamis_i_run_keys *keys, size_t n,
                                         const tamis_i_run_keys *later) {
    uint32_t away = 0;
    for (size_t i = 0; i < n; i++) {
        tamis_i_run_fetch_index(run, later->bucket[i]);
        tamis_i_run_view view = {0, 0, 0};
        away |= (uint32_t)!run_look(run, keys->bucket[i], keys->home[i], &view) << i;
        keys->at[i] = tamis_i_run_at(run, view.first);
        keys->width[i] = view.length * run->slot_bits;
        TAMIS_PREFETCH(keys->bucket[i] + (view.length == 0 ? 0 : keys->at[i] / 64));
    }
    return away;
}

RUN_TARGET static uint32_t run_match_many(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                          size_t n) {
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t end = keys->at[i] + keys->width[i];
        for (uint64_t at = keys->at[i]; at < end; at += run->slot_bits) {
            const uint64_t print =
                tamis_i_field_get(keys->bucket[i], at, (unsigned)run->print_bits);
            found |= (uint32_t)(print == keys->print[i]) << i;
        }
    }
    return found;
}

RUN_TARGET static uint32_t run_find_many(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                         size_t n, const tamis_i_run_keys *later, uint32_t *away) {
    uint32_t found = 0;
    *away = 0;
    for (size_t i = 0; i < n; i++) {
        tamis_i_run_fetch_pair(later->bucket[i]);
        const unsigned result = run_find(run, keys->bucket[i], keys->home[i], keys->print[i]);
        found |= (uint32_t)(result == TAMIS_I_RUN_FOUND) << i;
        *away |= (uint32_t)(result == TAMIS_I_RUN_AWAY) << i;
    }
    return found;
}

/* A bucket that is cut has more ones than slots. */
RUN_TARGET static uint32_t run_full_many(const tamis_i_run *run, const tamis_i_run_keys *keys,
                                         size_t n) {
    uint32_t full = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const bucket = keys->bucket[i];
        uint64_t ones = RUN_ONES(bucket[run->index_words] & run->index_mask);
        for (uint64_t k = 0; k < run->index_words; k++)
            ones += RUN_ONES(bucket[k]);
        full |= (uint32_t)(ones >= run->slots) << i;
    }
    return full;
}

RUN_OPS = {.find = run_find,
           .look = run_look,
           .count = run_count,
           .add = run_add,
           .drop = run_drop,
           .weigh = run_weigh,
           .ask = run_ask,
           .spare = run_spare,
           .put = run_put,
           .take = run_take,
           .locate_many = run_locate_many,
           .look_many = run_look_many,
           .match_many = run_match_many,
           .find_many = run_find_many,
           .sweep = tamis_i_run_sweep,
           .full_many = run_full_many};
