/* batch.c - many keys at a time, in a shared set
 *
 * Up to SORTED keys are hashed and sorted by their shards, by counting.  Then each shard that has some is
 * visited once, under its lock, with a batch of its own.  A shard whose lock is taken is left for later: the
 * others are visited first, and only what is left at the end is waited for.  Threads begin with
 * different shards, each with one that its first key draws.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shared/lines.h"

#define SORTED 2048u /* keys sorted at a time: some 100 KiB on the stack */

/* Keys in the order of their shards, those of one shard in the order of the batch. */
typedef struct sorted {
    size_t n;
    unsigned n_runs;
    unsigned turn;               /* the run to begin with */
    uint16_t shard[SORTED];      /* of run i */
    uint16_t begin[SORTED + 1u]; /* of run i; the last one ends where the next would begin */
    uint16_t from[SORTED];       /* which key of the batch key i was */
    tamis_digest digest[SORTED];
    bool answer[SORTED];
    bool refused[SORTED];
} sorted;

static void batch_hash(const tamis_i_hasher *hasher, tamis_i_keys_form form, const void *array,
                       size_t n, tamis_digest *digests) {
    if (form == TAMIS_I_KEYS_INTEGERS)
        hasher->ops->many_words(&hasher->keys, array, n, digests);
    else if (form == TAMIS_I_KEYS_BYTES)
        hasher->ops->many(&hasher->keys, array, n, digests);
    else
        memcpy(digests, array, n * sizeof *digests);
}

/* Hash and sort the keys from number 'at' on, of n; as many as are sorted at a time. */
static void batch_sort(sorted *s, const tamis_shared *shared, tamis_i_keys_form form,
                       const void *array, size_t at, size_t n) {
    tamis_digest digests[SORTED];
    uint16_t shard[SORTED], next[TAMIS_I_SHARDS_MAX];
    s->n = n - at < SORTED ? n - at : SORTED;
    batch_hash(shared->hasher, form, (const unsigned char *)array + at * tamis_i_keys_size(form),
               s->n, digests);
    memset(next, 0, shared->n * sizeof *next);
    if (shared->alone != NULL)
        for (size_t i = 0; i < s->n; i++)
            next[shard[i] = (uint16_t)tamis_i_lines_region(shared, digests[i])]++;
    else
        for (size_t i = 0; i < s->n; i++)
            next[shard[i] = (uint16_t)tamis_i_digest_shard(digests[i], shared->n)]++;
    unsigned begin = 0, n_runs = 0;
    for (unsigned i = 0; i < shared->n; i++) {
        const unsigned count = next[i];
        next[i] = (uint16_t)begin;
        s->shard[n_runs] = (uint16_t)i;
        s->begin[n_runs] = (uint16_t)begin;
        n_runs += count != 0;
        begin += count;
    }
    s->begin[n_runs] = (uint16_t)begin;
    s->n_runs = n_runs;
    memset(s->answer, 0, s->n);
    memset(s->refused, 0, s->n);
    s->turn = n_runs == 0 ? 0 : (unsigned)tamis_i_range(digests[0].hi, n_runs);
    for (size_t i = 0; i < s->n; i++) {
        const unsigned to = next[shard[i]]++;
        s->from[to] = (uint16_t)i;
        s->digest[to] = digests[i];
    }
}

/* Work on a run, whose lock is held. */
typedef void worker(sorted *s, const tamis_shared *shared, tamis_i_gate *gate, unsigned run,
                    void *context);

static bool batch_enter(const tamis_shared *shared, tamis_i_gate *gate, bool write, bool wait) {
    if (!wait)
        return write ? tamis_i_gate_try_enter(shared, gate)
                     : tamis_i_lock_try_read(&gate->is.lock,
                                             TAMIS_I_LOCK_WRITER | TAMIS_I_LOCK_WAITING);
    if (write)
        tamis_i_gate_enter(shared, gate);
    else
        tamis_i_lock_read(&gate->is.lock);
    return true;
}

static bool batch_visit_run(sorted *s, const tamis_shared *shared, unsigned run, bool write,
                            bool wait, worker *work, void *context) {
    tamis_i_gate *const gate = tamis_i_gate_at(shared, s->shard[run]);
    if (!batch_enter(shared, gate, write, wait))
        return false;
    work(s, shared, gate, run, context);
    if (write)
        tamis_i_gate_leave(gate);
    else
        tamis_i_unlock_read(&gate->is.lock);
    return true;
}

/* Visit all runs: first those that are free, then those that were not. */
static void batch_visit(sorted *s, const tamis_shared *shared, bool write, worker *work,
                        void *context) {
    uint16_t left[SORTED];
    unsigned n_left = 0;
    for (unsigned i = 0; i < s->n_runs; i++) {
        const unsigned run = s->turn + i < s->n_runs ? s->turn + i : s->turn + i - s->n_runs;
        if (!batch_visit_run(s, shared, run, write, false, work, context))
            left[n_left++] = (uint16_t)run;
    }
    for (unsigned i = 0; i < n_left; i++)
        (void)batch_visit_run(s, shared, left[i], write, true, work, context);
}

/* Hand the answers out, in the order of the batch. */
static void batch_answer(const sorted *s, const bool *from, bool *answers) {
    for (size_t i = 0; answers != NULL && i < s->n; i++)
        answers[s->from[i]] = from[i];
}

/* ---- contains ---- */

static void batch_work_contains(sorted *s, const tamis_shared *shared, tamis_i_gate *gate,
                                unsigned run, void *context) {
    tamis_filter *const filter = gate->is.filter;
    (void)shared;
    const size_t begin = s->begin[run], n = s->begin[run + 1] - begin;
    *(size_t *)context += tamis_i_batch_contains(filter, TAMIS_I_KEYS_DIGESTS, s->digest + begin, n,
                                                 s->answer + begin);
}

static size_t batch_contains(const tamis_shared *shared, tamis_i_keys_form form, const void *array,
                             size_t n, bool *present) {
    if (shared->alone != NULL)
        return tamis_i_lines_contains_many(shared, form, array, n, present);
    sorted s;
    size_t found = 0;
    for (size_t at = 0; at < n; at += s.n) {
        batch_sort(&s, shared, form, array, at, n);
        batch_visit(&s, shared, false, batch_work_contains, &found);
        batch_answer(&s, s.answer, present == NULL ? NULL : present + at);
    }
    return found;
}

size_t tamis_shared_contains_many(const tamis_shared *shared, const tamis_bytes *keys, size_t n,
                                  bool *present) {
    size_t found = 0;
    for (;;) { /* what is no key is in no set; the keys between are asked for as usual */
        const size_t good = tamis_i_keys_first_bad(keys, n);
        found += batch_contains(shared, TAMIS_I_KEYS_BYTES, keys, good, present);
        if (good == n)
            return found;
        if (present != NULL) {
            present[good] = false;
            present += good + 1;
        }
        keys += good + 1;
        n -= good + 1;
    }
}

size_t tamis_shared_contains_many_u64(const tamis_shared *shared, const uint64_t *keys, size_t n,
                                      bool *present) {
    return batch_contains(shared, TAMIS_I_KEYS_INTEGERS, keys, n, present);
}

size_t tamis_shared_contains_many_digest(const tamis_shared *shared, const tamis_digest *digests,
                                         size_t n, bool *present) {
    return batch_contains(shared, TAMIS_I_KEYS_DIGESTS, digests, n, present);
}

/* ---- insert ---- */

typedef struct inserted {
    tamis_status status;
    size_t done;
} inserted;

static void batch_work_insert(sorted *s, const tamis_shared *shared, tamis_i_gate *gate,
                              unsigned run, void *context) {
    inserted *const in = context;
    const size_t begin = s->begin[run], n = s->begin[run + 1] - begin;
    size_t done = 0;
    (void)shared;
    const tamis_status status = tamis_i_batch_insert(
        gate->is.filter, TAMIS_I_KEYS_DIGESTS, s->digest + begin, n, s->answer + begin, &done);
    in->done += done;
    if (in->status == TAMIS_OK)
        in->status = status;
    memset(s->refused + begin + done, 1, n - done);
    memset(s->answer + begin + done, 0, n - done);
}

/* In ascending order of regions, twice: from the run to begin with, and up to it. */
static void batch_insert_lines(sorted *s, const tamis_shared *shared, inserted *in) {
    const unsigned from[2] = {s->turn, 0}, to[2] = {s->n_runs, s->turn};
    for (unsigned i = 0; i < 2; i++) {
        const tamis_i_lines_runs runs = {.digests = s->digest,
                                         .region = s->shard + from[i],
                                         .begin = s->begin + from[i],
                                         .n = to[i] - from[i]};
        if (runs.n != 0)
            tamis_i_lines_insert_many(shared, &runs, s->answer);
    }
    in->done += s->n;
}

static tamis_status batch_insert(tamis_shared *shared, tamis_i_keys_form form, const void *array,
                                 size_t n, bool *added, bool *refused, size_t *done) {
    sorted s;
    inserted in = {.status = TAMIS_OK};
    if (shared == NULL || (array == NULL && n != 0) ||
        (form == TAMIS_I_KEYS_BYTES && tamis_i_keys_first_bad(array, n) != n))
        return TAMIS_E_ARGUMENT;
    for (size_t at = 0; at < n; at += s.n) {
        batch_sort(&s, shared, form, array, at, n);
        if (shared->alone != NULL)
            batch_insert_lines(&s, shared, &in);
        else
            batch_visit(&s, shared, true, batch_work_insert, &in);
        batch_answer(&s, s.answer, added == NULL ? NULL : added + at);
        batch_answer(&s, s.refused, refused == NULL ? NULL : refused + at);
    }
    if (done != NULL)
        *done = in.done;
    return in.status;
}

tamis_status tamis_shared_insert_many(tamis_shared *shared, const tamis_bytes *keys, size_t n,
                                      bool *added, bool *refused, size_t *done) {
    return batch_insert(shared, TAMIS_I_KEYS_BYTES, keys, n, added, refused, done);
}

tamis_status tamis_shared_insert_many_u64(tamis_shared *shared, const uint64_t *keys, size_t n,
                                          bool *added, bool *refused, size_t *done) {
    return batch_insert(shared, TAMIS_I_KEYS_INTEGERS, keys, n, added, refused, done);
}

tamis_status tamis_shared_insert_many_digest(tamis_shared *shared, const tamis_digest *digests,
                                             size_t n, bool *added, bool *refused, size_t *done) {
    return batch_insert(shared, TAMIS_I_KEYS_DIGESTS, digests, n, added, refused, done);
}

tamis_status tamis_shared_fill_digest(tamis_shared *shared, unsigned part, unsigned n,
                                      const tamis_digest *digests, size_t n_digests) {
    if (shared == NULL || part >= n || (digests == NULL && n_digests != 0))
        return TAMIS_E_ARGUMENT;
    /* region i belongs to part i * n / regions */
    const uint64_t all = shared->n, first = (part * all + n - 1) / n;
    const uint64_t end = ((part + (uint64_t)1) * all + n - 1) / n;
    if (shared->alone == NULL || first >= end)
        return tamis_shared_insert_many_digest(shared, digests, n_digests, NULL, NULL, NULL);
    tamis_i_lines_fill(shared, (unsigned)first, digests, n_digests);
    return TAMIS_OK;
}

/* ---- remove ---- */

static void batch_work_remove(sorted *s, const tamis_shared *shared, tamis_i_gate *gate,
                              unsigned run, void *context) {
    const size_t begin = s->begin[run], n = s->begin[run + 1] - begin;
    (void)shared;
    *(size_t *)context += tamis_i_batch_remove(gate->is.filter, TAMIS_I_KEYS_DIGESTS,
                                               s->digest + begin, n, s->answer + begin);
}

static tamis_status batch_remove(tamis_shared *shared, tamis_i_keys_form form, const void *array,
                                 size_t n, bool *removed, size_t *count) {
    sorted s;
    size_t all = 0;
    if (shared == NULL || (array == NULL && n != 0) ||
        (form == TAMIS_I_KEYS_BYTES && tamis_i_keys_first_bad(array, n) != n))
        return TAMIS_E_ARGUMENT;
    if (shared->set->kind->remove == NULL)
        return TAMIS_E_UNSUPPORTED;
    for (size_t at = 0; at < n; at += s.n) {
        batch_sort(&s, shared, form, array, at, n);
        batch_visit(&s, shared, true, batch_work_remove, &all);
        batch_answer(&s, s.answer, removed == NULL ? NULL : removed + at);
    }
    if (count != NULL)
        *count = all;
    return TAMIS_OK;
}

tamis_status tamis_shared_remove_many(tamis_shared *shared, const tamis_bytes *keys, size_t n,
                                      bool *removed, size_t *count) {
    return batch_remove(shared, TAMIS_I_KEYS_BYTES, keys, n, removed, count);
}

tamis_status tamis_shared_remove_many_u64(tamis_shared *shared, const uint64_t *keys, size_t n,
                                          bool *removed, size_t *count) {
    return batch_remove(shared, TAMIS_I_KEYS_INTEGERS, keys, n, removed, count);
}

tamis_status tamis_shared_remove_many_digest(tamis_shared *shared, const tamis_digest *digests,
                                             size_t n, bool *removed, size_t *count) {
    return batch_remove(shared, TAMIS_I_KEYS_DIGESTS, digests, n, removed, count);
}
