/* sets.c - open sets, keys, failures
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* ---- sets ---- */

void set_release(void *held) {
    set *const released = held;
    if (released == NULL || --released->holders > 0)
        return;
    tamis_filter_free(released->filter);
    free(released->memory);
    sqlite3_free(released->name);
    sqlite3_free(released->source);
    sqlite3_free(released);
}

set *set_new(tamis_filter *filter, const char *name, const char *source) {
    set *const made = sqlite3_malloc64(sizeof *made);
    if (made == NULL) {
        tamis_filter_free(filter);
        return NULL;
    }
    memset(made, 0, sizeof *made);
    made->filter = filter;
    made->holders = 1;
    made->name = name == NULL ? NULL : sqlite3_mprintf("%s", name);
    made->source = source == NULL ? NULL : sqlite3_mprintf("%s", source);
    if ((name != NULL && made->name == NULL) || (source != NULL && made->source == NULL)) {
        set_release(made);
        return NULL;
    }
    return made;
}

set *set_find(const connection *in, const char *name) {
    for (set *at = in->named; at != NULL; at = at->next)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

bool set_drop(connection *in, const char *name) {
    for (set **at = &in->named; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->name, name) == 0) {
            set *const dropped = *at;
            *at = dropped->next;
            set_release(dropped);
            return true;
        }
    return false;
}

void set_add(connection *in, set *added) {
    (void)set_drop(in, added->name);
    added->next = in->named;
    in->named = added;
}

/* ---- failures ---- */

bool set_expect(sqlite3_context *call, tamis_status status, const char *what, const char *reason) {
    if (status == TAMIS_OK)
        return true;
    char *const text =
        sqlite3_mprintf("%s: %s", what, reason != NULL ? reason : tamis_status_text(status));
    if (text == NULL)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_error(call, text, -1);
    sqlite3_free(text);
    return false;
}

void set_too_big(sqlite3_context *call, const char *what, uint64_t bytes) {
    char *const text = sqlite3_mprintf("%s is too big: %llu bytes", what, bytes);
    if (text == NULL)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_error(call, text, -1);
    sqlite3_free(text);
}

/* ---- keys ---- */

bool set_key_of(sqlite3_context *call, sqlite3_value *value, set_key *key) {
    memset(key, 0, sizeof *key);
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        key->form = TAMIS_KEYS_U64;
        key->number = (uint64_t)sqlite3_value_int64(value);
        return true;
    case SQLITE_TEXT:
        key->data = sqlite3_value_text(value);
        break;
    case SQLITE_BLOB:
        key->data = sqlite3_value_blob(value);
        break;
    default:
        sqlite3_result_error(call, "a key is an integer, a text or a blob", -1);
        return false;
    }
    key->form = TAMIS_KEYS_BYTES;
    key->size = (size_t)sqlite3_value_bytes(value);
    if (key->data == NULL && key->size > 0) {
        sqlite3_result_error_nomem(call);
        return false;
    }
    return true;
}

tamis_digest set_digest(const tamis_hasher *hasher, const set_key *key) {
    return key->form == TAMIS_KEYS_U64 ? tamis_hash_u64(hasher, key->number)
                                       : tamis_hash(hasher, key->data, key->size);
}

const char *set_form_name(tamis_key_form form) {
    return form == TAMIS_KEYS_U64 ? "integers" : form == TAMIS_KEYS_BYTES ? "bytes" : "unknown";
}

bool set_answer(sqlite3_context *call, const tamis_filter *filter, sqlite3_value *value) {
    set_key key;
    if (sqlite3_value_type(value) == SQLITE_NULL || !set_key_of(call, value, &key))
        return true; /* null of null */
    const tamis_key_form form = tamis_filter_key_form(filter);
    if (form != key.form && form != TAMIS_KEYS_UNKNOWN) {
        sqlite3_result_error(call,
                             form == TAMIS_KEYS_U64 ? "the keys of this set are integers"
                                                    : "the keys of this set are texts or blobs",
                             -1);
        return true;
    }
    const bool found = key.form == TAMIS_KEYS_U64
                           ? tamis_filter_contains_u64(filter, key.number)
                           : tamis_filter_contains(filter, key.data, key.size);
    if (found && tamis_filter_damage(filter) > 0) /* where there is damage, a key is found */
        return set_expect(call, TAMIS_E_FORMAT, "not a set of tamis", "it is damaged");
    sqlite3_result_int(call, found);
    return true;
}

/* ---- values ---- */

tamis_filter *set_decode(sqlite3_context *call, sqlite3_value *blob) {
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    if (sqlite3_value_type(blob) != SQLITE_BLOB) {
        sqlite3_result_error(call, "a set is a blob", -1);
        return NULL;
    }
    const void *const data = sqlite3_value_blob(blob);
    const tamis_status status = tamis_filter_decode(
        data, data == NULL ? 0 : (size_t)sqlite3_value_bytes(blob), NULL, &filter, &reason);
    return set_expect(call, status, "not a set of tamis", reason) ? filter : NULL;
}

void set_encode(sqlite3_context *call, const tamis_filter *filter) {
    const uint64_t size = tamis_filter_encoded_size(filter);
    sqlite3 *const db = sqlite3_context_db_handle(call);
    void *const bytes =
        size > (uint64_t)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1) ? NULL : sqlite3_malloc64(size);
    if (bytes == NULL) {
        set_too_big(call, "a set", size);
        return;
    }
    if (set_expect(call, tamis_filter_encode(filter, bytes, (size_t)size), "a set", NULL))
        sqlite3_result_blob64(call, bytes, size, sqlite3_free);
    else
        sqlite3_free(bytes);
}
