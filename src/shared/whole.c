/* whole.c - shared sets as a whole: making, freeing, copies, growth
 *
 * Calls that need all shards at one moment lock them in their order, so that two of these never wait for each
 * other in a circle; calls for keys hold one lock at a time, or some in the same order.
 *
 * A snapshot locks all shards for reading and lets each go as soon as it is copied.  The moment of the copy
 * is when it has all of them: what was done before is in it, and whoever changes a shard later has to wait
 * for that shard alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "shared/lines.h"
#include "tamis/window.h"

#include <errno.h>
#include <math.h>

/* ---- making and freeing ---- */

tamis_status tamis_shared_of(tamis_filter *filter, tamis_shared **shared) {
    if (filter == NULL || shared == NULL)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    unsigned shift = 0;
    const bool lines = tamis_i_lines_can(filter);
    const unsigned n = lines ? tamis_i_lines_regions(filter, &shift) : tamis_i_n_parts(filter);
    const tamis_allocator allocator = filter->allocator;
    tamis_shared *const own = tamis_i_alloc(&allocator, sizeof *own);
    if (own == NULL)
        return TAMIS_E_NOMEM;
    *own = (tamis_shared){
        .n = n, .hasher = &filter->hasher, .set = filter, .allocator = allocator, .shift = shift};
    own->block_size = (n + TAMIS_I_CALM_LINES + 1) * sizeof(tamis_i_gate);
    own->block = tamis_i_alloc_zeroed(&allocator, own->block_size);
    if (own->block == NULL) {
        tamis_i_free(&allocator, own, sizeof *own);
        return TAMIS_E_NOMEM;
    }
    const uintptr_t at = (uintptr_t)own->block;
    const size_t skip =
        (TAMIS_I_SEQUENCE_STRIDE - at % TAMIS_I_SEQUENCE_STRIDE) % TAMIS_I_SEQUENCE_STRIDE;
    own->gates = (tamis_i_gate *)(void *)((unsigned char *)own->block + skip);
    own->calm = (tamis_i_calm_line *)(void *)(own->gates + n);
    for (unsigned i = 0; i < TAMIS_I_CALM_LINES; i++) {
        atomic_init(&own->calm[i].is.word, 0);
        atomic_init(&own->calm[i].is.sum, 0);
    }
    for (unsigned i = 0; i < n; i++) {
        atomic_init(&own->gates[i].is.lock.word, 0);
        atomic_init(&own->gates[i].is.sequence, 0);
        own->gates[i].is.filter = lines ? NULL : tamis_i_part(filter, i);
    }
    if (lines && tamis_i_lines_begin(own) != TAMIS_OK) {
        tamis_i_free(&allocator, own->block, own->block_size);
        tamis_i_free(&allocator, own, sizeof *own);
        return TAMIS_E_NOMEM;
    }
    *shared = own;
    return TAMIS_OK;
}

/* Share a filter that nobody else has, and free it if that fails. */
static tamis_status shared_take(tamis_status status, tamis_filter *filter, tamis_shared **shared) {
    if (status != TAMIS_OK)
        return status;
    status = tamis_shared_of(filter, shared);
    if (status != TAMIS_OK)
        tamis_filter_free(filter);
    return status;
}

tamis_status tamis_shared_create(const tamis_params *params, unsigned shards,
                                 const tamis_allocator *allocator, tamis_shared **shared) {
    tamis_params own;
    tamis_filter *filter = NULL;
    if (params == NULL || shared == NULL || shards < 1 || shards > TAMIS_I_SHARDS_MAX ||
        !tamis_i_allocator_ok(allocator) || !tamis_i_struct_in(&own, sizeof own, params))
        return TAMIS_E_ARGUMENT;
    const tamis_i_kind *const kind = tamis_i_kind_of(own.kind);
    if (kind == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_status status = tamis_i_hasher_complete(&own.hash, &own.seed, &own.seed_high);
    if (status != TAMIS_OK)
        return status;
    status = shards == 1 ? tamis_i_filter_make(kind, &own, allocator, NULL, true, &filter)
                         : tamis_i_shards_make(kind, &own, shards, allocator, true, &filter);
    return shared_take(status, filter, shared);
}

tamis_status tamis_shared_new(uint64_t n, double fpr, unsigned threads, tamis_shared **shared) {
    tamis_need need;
    tamis_shared_plan plan;
    tamis_need_init(&need);
    tamis_shared_plan_init(&plan);
    need.n = n;
    need.fpr = fpr;
    if (fpr == 0) /* here 0 is not a default but a mistake */
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_shared_plan_make(&need, threads, &plan);
    return status != TAMIS_OK ? status
                              : tamis_shared_create(&plan.params, plan.shards, NULL, shared);
}

tamis_status tamis_shared_load(const char *path, const tamis_allocator *allocator,
                               tamis_shared **shared, const char **reason) {
    tamis_filter *filter = NULL;
    if (shared == NULL) {
        if (reason != NULL)
            *reason = "an argument is NULL";
        return TAMIS_E_ARGUMENT;
    }
    tamis_status status = tamis_filter_load(path, allocator, &filter, reason);
    if (status != TAMIS_OK)
        return status;
    status = shared_take(TAMIS_OK, filter, shared);
    if (status != TAMIS_OK && reason != NULL)
        *reason = tamis_status_text(status);
    return status;
}

/* All but the set itself. */
static void shared_release(tamis_shared *shared) {
    const tamis_allocator allocator = shared->allocator;
    if (shared->alone != NULL)
        tamis_i_lines_end(shared);
    tamis_i_free(&allocator, shared->block, shared->block_size);
    tamis_i_free(&allocator, shared, sizeof *shared);
}

void tamis_shared_free(tamis_shared *shared) {
    if (shared == NULL)
        return;
    tamis_filter *const set = shared->set;
    shared_release(shared);
    tamis_filter_free(set);
}

/* ---- all shards at one moment ---- */

void tamis_i_shared_lock_all(const tamis_shared *shared, bool write) {
    for (unsigned i = 0; i < shared->n; i++) {
        tamis_i_gate *const gate = tamis_i_gate_at(shared, i);
        if (write)
            tamis_i_gate_enter(shared, gate);
        else
            tamis_i_lock_read(&gate->is.lock);
    }
}

void tamis_i_shared_unlock_all(const tamis_shared *shared, bool write) {
    for (unsigned i = 0; i < shared->n; i++) {
        tamis_i_gate *const gate = tamis_i_gate_at(shared, i);
        if (write)
            tamis_i_gate_leave(gate);
        else
            tamis_i_unlock_read(&gate->is.lock);
    }
}

/* Copy shard by shard, and let each go; all are locked for reading. */
static tamis_status shared_copy_shards(const tamis_shared *shared, tamis_filter *copy) {
    tamis_status status = TAMIS_OK;
    copy->key_form = shared->set->key_form;
    for (unsigned i = 0; i < shared->n; i++) {
        tamis_i_gate *const gate = tamis_i_gate_at(shared, i);
        if (status == TAMIS_OK)
            status = tamis_i_shard_copy(tamis_i_part(copy, i), gate->is.filter);
        tamis_i_unlock_read(&gate->is.lock);
    }
    return status;
}

static tamis_status shared_copy(const tamis_shared *shared, const tamis_allocator *allocator,
                                tamis_filter **filter) {
    const tamis_filter *const set = shared->set;
    const bool one = shared->alone != NULL || shared->n == 1;
    tamis_filter *copy;
    tamis_status status =
        one ? tamis_i_filter_make(set->kind, &set->params, allocator, NULL, false, &copy)
            : tamis_i_shards_make(set->kind, &set->params, shared->n, allocator, false, &copy);
    if (status != TAMIS_OK)
        return status;
    tamis_i_shared_lock_all(shared, false);
    if (shared->alone != NULL) {
        tamis_i_lines_pack(shared, copy);
        tamis_i_shared_unlock_all(shared, false);
    } else {
        status = shared_copy_shards(shared, copy);
    }
    if (status == TAMIS_OK)
        *filter = copy;
    else
        tamis_filter_free(copy);
    return status;
}

tamis_status tamis_shared_snapshot(const tamis_shared *shared, const tamis_allocator *allocator,
                                   tamis_filter **filter) {
    return shared == NULL || filter == NULL || !tamis_i_allocator_ok(allocator)
               ? TAMIS_E_ARGUMENT
               : shared_copy(shared, allocator, filter);
}

tamis_status tamis_shared_end(tamis_shared *shared, tamis_filter **filter) {
    if (shared == NULL || filter == NULL)
        return TAMIS_E_ARGUMENT;
    if (shared->alone != NULL)
        tamis_i_lines_settle(shared);
    *filter = shared->set;
    shared_release(shared);
    return TAMIS_OK;
}

/* ---- files ---- */

static tamis_status shared_save_to(const tamis_shared *shared, const char *path, int fd,
                                   const char **reason) {
    tamis_filter *copy;
    tamis_status status = shared == NULL ? TAMIS_E_ARGUMENT : shared_copy(shared, NULL, &copy);
    if (status != TAMIS_OK) {
        if (reason != NULL)
            *reason = tamis_status_text(status);
        return status;
    }
    status = path != NULL ? tamis_filter_save(copy, path, reason)
                          : tamis_filter_save_fd(copy, fd, reason);
    tamis_filter_free(copy);
    return status;
}

tamis_status tamis_shared_save(const tamis_shared *shared, const char *path, const char **reason) {
    if (path == NULL)
        shared = NULL;
    return shared_save_to(shared, path, -1, reason);
}

tamis_status tamis_shared_save_fd(const tamis_shared *shared, int fd, const char **reason) {
    return shared_save_to(shared, NULL, fd, reason);
}

/* ---- what it is like ---- */

uint64_t tamis_shared_count(const tamis_shared *shared) {
    uint64_t count = 0;
    for (unsigned i = 0; i < shared->n; i++) {
        tamis_i_gate *const gate = tamis_i_gate_at(shared, i);
        tamis_i_lock_read(&gate->is.lock);
        count += tamis_i_series_count(gate->is.filter);
        tamis_i_unlock_read(&gate->is.lock);
    }
    return count;
}

/* All regions at one moment. */
static void shared_info_lines(const tamis_shared *shared, tamis_info *info) {
    _Alignas(TAMIS_LINE_BYTES) uint64_t state[TAMIS_I_STATE_WORDS];
    tamis_filter handle;
    tamis_i_shared_lock_all(shared, false);
    tamis_i_lines_handle(shared, &handle, state);
    tamis_i_filter_info(&handle, 0, info);
    tamis_i_shared_unlock_all(shared, false);
}

tamis_status tamis_shared_info(const tamis_shared *shared, tamis_info *info) {
    if (shared == NULL || info == NULL)
        return TAMIS_E_ARGUMENT;
    const int saved = errno; /* the mathematics may set it where a rate underflows to 0 */
    tamis_info own;
    tamis_info_init(&own);
    own.params = shared->set->params;
    own.n_shards = shared->n;
    own.file_bytes = shared->n > 1 ? TAMIS_I_HEADER_BYTES : 0;
    if (shared->alone != NULL)
        shared_info_lines(shared, &own);
    for (unsigned i = 0; shared->alone == NULL && i < shared->n; i++) {
        tamis_i_gate *const gate = tamis_i_gate_at(shared, i);
        tamis_info one;
        tamis_i_lock_read(&gate->is.lock);
        tamis_i_series_info(gate->is.filter, false, &one);
        tamis_i_unlock_read(&gate->is.lock);
        tamis_i_shards_info_add(&own, &one, shared->n);
    }
    own.bits_per_key = own.count == 0 ? INFINITY : 8 * (double)own.bytes / (double)own.count;
    errno = saved;
    return tamis_i_struct_out(info, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

const tamis_hasher *tamis_shared_hasher(const tamis_shared *shared) {
    return tamis_filter_hasher(shared->set);
}

tamis_status tamis_shared_params(const tamis_shared *shared, tamis_params *params,
                                 unsigned *shards) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_filter_params(shared->set, params);
    if (status == TAMIS_OK && shards != NULL)
        *shards = tamis_i_n_parts(shared->set);
    return status;
}

/* ---- changes of the whole ---- */

tamis_status tamis_shared_set_key_form(tamis_shared *shared, tamis_key_form form) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_shared_lock_all(shared, true);
    /* A set of regions has its keys elsewhere. */
    uint64_t keys = 0;
    for (unsigned i = 0; i < shared->n; i++)
        keys += tamis_i_series_count(tamis_i_gate_at(shared, i)->is.filter);
    const tamis_key_form now = tamis_filter_key_form(shared->set);
    const tamis_status status = now != TAMIS_KEYS_UNKNOWN && now != form && keys != 0
                                    ? TAMIS_E_MISMATCH
                                    : tamis_filter_set_key_form(shared->set, form);
    tamis_i_shared_unlock_all(shared, true);
    return status;
}

tamis_key_form tamis_shared_key_form(const tamis_shared *shared) {
    tamis_i_gate *const gate = tamis_i_gate_at(shared, 0);
    tamis_i_lock_read(&gate->is.lock);
    const tamis_key_form form = tamis_filter_key_form(shared->set);
    tamis_i_unlock_read(&gate->is.lock);
    return form;
}

tamis_status tamis_shared_clear(tamis_shared *shared) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_shared_lock_all(shared, true);
    tamis_status status = TAMIS_OK;
    if (shared->alone != NULL)
        tamis_i_lines_unpack(shared, NULL);
    else
        status = tamis_filter_clear(shared->set);
    tamis_i_shared_unlock_all(shared, true);
    return status;
}

tamis_status tamis_shared_tick(tamis_shared *shared) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_shared_lock_all(shared, true);
    const tamis_status status = tamis_window_tick(shared->set);
    tamis_i_shared_unlock_all(shared, true);
    return status;
}

/* A copy is merged, and its keys are taken over; all regions are locked. */
static tamis_status shared_merge_lines(tamis_shared *shared, const tamis_filter *source,
                                       unsigned flags) {
    tamis_filter *const set = shared->set;
    tamis_filter *copy;
    tamis_status status =
        tamis_i_filter_make(set->kind, &set->params, &shared->allocator, NULL, false, &copy);
    if (status != TAMIS_OK)
        return status;
    tamis_i_lines_pack(shared, copy);
    status = tamis_filter_merge(copy, source, flags);
    if (status == TAMIS_OK) {
        tamis_i_lines_unpack(shared, copy);
        set->key_form = copy->key_form;
    }
    tamis_filter_free(copy);
    return status;
}

tamis_status tamis_shared_merge(tamis_shared *shared, const tamis_filter *source, unsigned flags) {
    tamis_status status;
    if (shared == NULL || source == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_shared_lock_all(shared, true);
    if (shared->alone != NULL) {
        status =
            source->links != NULL ? TAMIS_E_MISMATCH : shared_merge_lines(shared, source, flags);
    } else {
        status = tamis_filter_merge(shared->set, source, flags);
        for (unsigned i = 0; i < shared->n; i++)
            tamis_i_gate_at(shared, i)->is.filter = tamis_i_part(shared->set, i);
    }
    tamis_i_shared_unlock_all(shared, true);
    return status;
}

/* Regions do not grow: what readers copy must stay where it is. */
static tamis_status shared_grow(tamis_shared *shared, const tamis_growth *growth,
                                tamis_status (*grow)(tamis_filter *, const tamis_growth *)) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    if (shared->alone != NULL)
        return TAMIS_E_UNSUPPORTED;
    tamis_i_shared_lock_all(shared, true);
    const tamis_status status = grow(shared->set, growth);
    tamis_i_shared_unlock_all(shared, true);
    return status;
}

tamis_status tamis_shared_grow(tamis_shared *shared, const tamis_growth *growth) {
    return shared_grow(shared, growth, tamis_filter_grow);
}

tamis_status tamis_shared_allow_growth(tamis_shared *shared, const tamis_growth *growth) {
    return shared_grow(shared, growth, tamis_filter_allow_growth);
}
