/* keys.c - one key at a time, in a shared set
 *
 * SPDX-License-Identifier: MIT
 */
#include "shared/lines.h"

/* ---- parts ---- */

unsigned tamis_shared_parts(const tamis_shared *shared) {
    return shared->n;
}

unsigned tamis_shared_part(const tamis_shared *shared, tamis_digest digest, unsigned n) {
    return (unsigned)((uint64_t)tamis_i_shared_number(shared, digest) * n / shared->n);
}

/* ---- insert ---- */

tamis_status tamis_shared_insert_digest(tamis_shared *shared, tamis_digest digest, bool *added) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    if (shared->alone != NULL) /* so that the lock is not held for the time that memory takes */
        TAMIS_PREFETCH_RW(tamis_i_lines_at(shared, tamis_i_lines_number(shared, digest)));
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    bool fresh;
    tamis_status status = TAMIS_OK;
    tamis_i_gate_enter(shared, gate);
    if (shared->alone != NULL)
        tamis_i_lines_insert(shared, gate, digest, &fresh);
    else
        status = gate->is.filter->calls.insert(gate->is.filter, digest, &fresh);
    tamis_i_gate_leave(gate);
    if (status == TAMIS_OK && added != NULL)
        *added = fresh;
    return status;
}

tamis_status tamis_shared_insert(tamis_shared *shared, const void *key, size_t size, bool *added) {
    if (shared == NULL || (key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    return tamis_shared_insert_digest(shared, tamis_i_hasher_bytes(shared->hasher, key, size),
                                      added);
}

tamis_status tamis_shared_insert_u64(tamis_shared *shared, uint64_t key, bool *added) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    return tamis_shared_insert_digest(shared, tamis_i_hasher_word(shared->hasher, key), added);
}

/* ---- contains ---- */

bool tamis_shared_contains_digest(const tamis_shared *shared, tamis_digest digest) {
    if (shared->alone != NULL)
        return tamis_i_lines_contains(shared, digest);
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    tamis_i_lock_read(&gate->is.lock);
    const bool present = gate->is.filter->calls.contains(gate->is.filter, digest);
    tamis_i_unlock_read(&gate->is.lock);
    return present;
}

bool tamis_shared_contains(const tamis_shared *shared, const void *key, size_t size) {
    return TAMIS_LIKELY(key != NULL || size == 0) &&
           tamis_shared_contains_digest(shared, tamis_i_hasher_bytes(shared->hasher, key, size));
}

bool tamis_shared_contains_u64(const tamis_shared *shared, uint64_t key) {
    return tamis_shared_contains_digest(shared, tamis_i_hasher_word(shared->hasher, key));
}

/* ---- remove ---- */

tamis_status tamis_shared_remove_digest(tamis_shared *shared, tamis_digest digest) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    if (shared->set->kind->remove == NULL)
        return TAMIS_E_UNSUPPORTED;
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    tamis_i_gate_enter(shared, gate);
    const tamis_status status = gate->is.filter->calls.remove(gate->is.filter, digest);
    tamis_i_gate_leave(gate);
    return status;
}

tamis_status tamis_shared_remove(tamis_shared *shared, const void *key, size_t size) {
    if (shared == NULL || (key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    return tamis_shared_remove_digest(shared, tamis_i_hasher_bytes(shared->hasher, key, size));
}

tamis_status tamis_shared_remove_u64(tamis_shared *shared, uint64_t key) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    return tamis_shared_remove_digest(shared, tamis_i_hasher_word(shared->hasher, key));
}

/* ---- copies ---- */

uint64_t tamis_shared_copies_digest(const tamis_shared *shared, tamis_digest digest) {
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    tamis_i_lock_read(&gate->is.lock);
    const uint64_t copies = tamis_filter_copies_digest(gate->is.filter, digest);
    tamis_i_unlock_read(&gate->is.lock);
    return copies;
}

uint64_t tamis_shared_copies(const tamis_shared *shared, const void *key, size_t size) {
    if (key == NULL && size != 0)
        return 0;
    return tamis_shared_copies_digest(shared, tamis_i_hasher_bytes(shared->hasher, key, size));
}

uint64_t tamis_shared_copies_u64(const tamis_shared *shared, uint64_t key) {
    return tamis_shared_copies_digest(shared, tamis_i_hasher_word(shared->hasher, key));
}

/* ---- values ---- */

unsigned tamis_shared_value_bits(const tamis_shared *shared) {
    return tamis_filter_value_bits(shared->set);
}

tamis_status tamis_shared_insert_value_digest(tamis_shared *shared, tamis_digest digest,
                                              unsigned value, bool *added) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    tamis_i_gate_enter(shared, gate);
    const tamis_status status =
        tamis_filter_insert_value_digest(gate->is.filter, digest, value, added);
    tamis_i_gate_leave(gate);
    return status;
}

tamis_status tamis_shared_lookup_value_digest(const tamis_shared *shared, tamis_digest digest,
                                              unsigned *value) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    tamis_i_lock_read(&gate->is.lock);
    const tamis_status status = tamis_filter_lookup_value_digest(gate->is.filter, digest, value);
    tamis_i_unlock_read(&gate->is.lock);
    return status;
}

tamis_status tamis_shared_update_value_digest(tamis_shared *shared, tamis_digest digest,
                                              unsigned value) {
    if (shared == NULL)
        return TAMIS_E_ARGUMENT;
    tamis_i_gate *const gate = tamis_i_gate_of(shared, digest);
    tamis_i_gate_enter(shared, gate);
    const tamis_status status = tamis_filter_update_value_digest(gate->is.filter, digest, value);
    tamis_i_gate_leave(gate);
    return status;
}
