/* shards.c - sharded sets as bytes
 *
 * A sharded set is a header like that of a filter, with a kind of its own, and the files of its shards in
 * their order, each a filter or a series:
 *
 *      [ header, 256 bytes ][ file of shard 0 ][ file of shard 1 ] ...
 *
 * Each shard has its own checksums; that of the set is over the checksums of their headers, so that no shard
 * can be exchanged for another.  All headers and lengths are checked before anything is allocated, and the
 * shards are checked where they are in memory before they are copied.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/shards.h"

#include "hash/hash.h"

enum { SHARDS = 0, N_VALUES = 1 }; /* the values of a sharded set */

bool tamis_i_shards_is(const unsigned char *head) {
    return tamis_i_header_kind(head) == TAMIS_I_KIND_SHARDS;
}

/* ---- writing ---- */

void tamis_i_shards_encode(const tamis_filter *filter, const uint64_t *sums, unsigned char *head) {
    const unsigned n = tamis_i_n_parts(filter);
    memset(head, 0, TAMIS_I_HEADER_BYTES);
    tamis_i_put_u64(head + TAMIS_I_AT_CAPACITY, filter->params.capacity * n);
    tamis_i_header_hash(head, &filter->params);
    tamis_i_put_u64(head + TAMIS_I_AT_BODY_WORDS,
                    tamis_i_file_size(filter) / 8 - TAMIS_I_HEADER_BYTES / 8);
    tamis_i_put_u64(head + TAMIS_I_AT_VALUES + 8 * SHARDS, n);
    tamis_i_put_u32(head + TAMIS_I_AT_KEY_FORM, filter->key_form);
    tamis_i_put_u64(head + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum_words(sums, n));
    tamis_i_header_seal(head, TAMIS_I_KIND_SHARDS);
}

/* ---- reading ---- */

/* What the headers of a sharded set say. */
typedef struct shards {
    unsigned n;
    tamis_i_header first;              /* of the first filter of shard 0 */
    size_t at[TAMIS_I_SHARDS_MAX + 1]; /* where the shards begin, and where the last ends */
} shards;

/* Check the set's own header, and that the bytes are as many as it says. */
static tamis_status file_shards_head(const unsigned char *bytes, size_t size, shards *s,
                                     const char **reason) {
    const tamis_status status = tamis_i_header_check(bytes, reason);
    if (status != TAMIS_OK)
        return status;
    const uint64_t n = tamis_i_get_u64(bytes + TAMIS_I_AT_VALUES + 8 * SHARDS);
    bool sound = n >= 1 && n <= TAMIS_I_SHARDS_MAX &&
                 tamis_i_get_u64(bytes + TAMIS_I_AT_STASH) == 0 &&
                 tamis_i_get_u64(bytes + TAMIS_I_AT_PROMISE) == 0;
    for (unsigned i = N_VALUES; i < TAMIS_PARAMS_MAX; i++)
        sound = sound && tamis_i_get_u64(bytes + TAMIS_I_AT_VALUES + 8 * i) == 0;
    if (!sound)
        return tamis_i_refuse(reason, "a parameter in the header is out of range");
    s->n = (unsigned)n;
    const uint64_t words = tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_WORDS);
    const size_t body = size - TAMIS_I_HEADER_BYTES;
    if (body / 8 < words)
        return tamis_i_refuse(reason, "the file is cut off within the body");
    if (body != 8 * words)
        return tamis_i_refuse(reason, "the file goes on after its end");
    return TAMIS_OK;
}

/* The bytes of the shard that begins at 'head', of which 'left' are in the file; and the header of its first
 * filter, which may be false, if it is a series. */
static tamis_status file_shards_measure(const unsigned char *head, size_t left, size_t *bytes,
                                        tamis_i_header *first, const char **reason) {
    static const char not_shards[] = "the size of the set is not that of its shards";
    if (left < TAMIS_I_HEADER_BYTES)
        return tamis_i_refuse(reason, not_shards);
    const bool series = tamis_i_series_is(head);
    if (series && left < 2 * TAMIS_I_HEADER_BYTES)
        return tamis_i_refuse(reason, not_shards);
    const tamis_status status =
        tamis_i_header_decode(series ? head + TAMIS_I_HEADER_BYTES : head, first, reason);
    if (status != TAMIS_OK)
        return status;
    const uint64_t size = series ? tamis_i_series_bytes(head) : TAMIS_I_HEADER_BYTES + first->size;
    if (size > left)
        return tamis_i_refuse(reason, not_shards);
    *bytes = (size_t)size;
    return TAMIS_OK;
}

static bool file_shards_alike(const tamis_i_header *a, const tamis_i_header *b) {
    return a->kind == b->kind && a->params.capacity == b->params.capacity &&
           a->params.stash == b->params.stash && tamis_i_same_hash(&a->params, &b->params) &&
           memcmp(a->params.value, b->params.value, sizeof a->params.value) == 0;
}

/* Check the headers of the shards, and that these fill the body. */
static tamis_status file_shards_walk(const unsigned char *bytes, size_t size, shards *s,
                                     const char **reason) {
    uint64_t sums[TAMIS_I_SHARDS_MAX];
    size_t at = TAMIS_I_HEADER_BYTES;
    for (unsigned i = 0; i < s->n; i++) {
        tamis_i_header header;
        size_t length;
        const tamis_status status =
            file_shards_measure(bytes + at, size - at, &length, &header, reason);
        if (status != TAMIS_OK)
            return status;
        if (i == 0)
            s->first = header;
        if (!file_shards_alike(&header, &s->first))
            return tamis_i_refuse(reason, "the shards of the set differ in kind, size or seed");
        if (header.key_form != tamis_i_get_u32(bytes + TAMIS_I_AT_KEY_FORM))
            return tamis_i_refuse(reason, "the shards of the set differ in the form of keys");
        sums[i] = tamis_i_get_u64(bytes + at + TAMIS_I_AT_HEADER_CHECKSUM);
        s->at[i] = at;
        at += length;
    }
    s->at[s->n] = at;
    if (at != size)
        return tamis_i_refuse(reason, "the size of the set is not that of its shards");
    const tamis_params *const params = &s->first.params;
    if (tamis_i_get_u32(bytes + TAMIS_I_AT_HASH) != (uint32_t)params->hash ||
        tamis_i_get_u64(bytes + TAMIS_I_AT_SEED) != params->seed ||
        tamis_i_get_u64(bytes + TAMIS_I_AT_SEED_HIGH) != params->seed_high)
        return tamis_i_refuse(reason, "the shards of the set differ in kind, size or seed");
    if (params->capacity * s->n != tamis_i_get_u64(bytes + TAMIS_I_AT_CAPACITY))
        return tamis_i_refuse(reason, "the capacity of the set is not that of its shards");
    if (tamis_i_checksum_words(sums, s->n) != tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM))
        return tamis_i_refuse(reason, "the body is damaged: its checksum does not match");
    return TAMIS_OK;
}

/* Open the shards one by one; '*made' of them. */
static tamis_status file_shards_make(const unsigned char *bytes, const shards *s,
                                     const tamis_allocator *allocator, tamis_i_opening opening,
                                     tamis_filter **made, unsigned *n, const char **reason) {
    uint64_t count = 0;
    for (*n = 0; *n < s->n;) {
        const unsigned char *const from = bytes + s->at[*n];
        tamis_filter *shard;
        const tamis_status status =
            tamis_i_file_open(from, s->at[*n + 1] - s->at[*n], allocator, opening, &shard, reason);
        if (status != TAMIS_OK)
            return status;
        made[(*n)++] = shard;
        if (!tamis_i_add(count, tamis_i_series_count(shard), &count) || count > TAMIS_I_COUNT_MAX)
            return tamis_i_refuse(reason, "the number of keys is out of range");
    }
    return TAMIS_OK;
}

/* Make the set of shards that are views, if they can be: a copy of them all takes one block. */
static tamis_status file_shards_join(const unsigned char *bytes, const shards *s,
                                     const tamis_allocator *allocator, tamis_i_opening opening,
                                     tamis_filter **filter, const char **reason) {
    tamis_filter *made[TAMIS_I_SHARDS_MAX];
    unsigned n;
    if (opening == TAMIS_I_OPEN_COPY && tamis_i_little_endian() &&
        (uintptr_t)bytes % sizeof(uint64_t) == 0)
        opening = TAMIS_I_OPEN_VIEW;
    tamis_status status = file_shards_make(bytes, s, allocator, opening, made, &n, reason);
    if (status == TAMIS_OK) {
        status = tamis_i_shards_join(made, n, allocator, filter);
        if (status != TAMIS_OK)
            *reason = tamis_status_text(status);
    }
    while (status != TAMIS_OK && n > 0)
        tamis_filter_free(made[--n]);
    return status;
}

tamis_status tamis_i_shards_open(const unsigned char *bytes, size_t size,
                                 const tamis_allocator *allocator, tamis_i_opening opening,
                                 tamis_filter **filter, const char **reason) {
    shards s;
    tamis_status status = file_shards_head(bytes, size, &s, reason);
    if (status == TAMIS_OK)
        status = file_shards_walk(bytes, size, &s, reason);
    if (status != TAMIS_OK)
        return status;
    tamis_filter *opened;
    status = file_shards_join(bytes, &s, allocator, opening, &opened, reason);
    if (status != TAMIS_OK)
        return status;
    if (opening != TAMIS_I_OPEN_COPY) {
        *filter = opened;
        return TAMIS_OK;
    }
    status = tamis_i_shards_clone(opened, allocator, filter);
    if (status != TAMIS_OK)
        *reason = tamis_status_text(status);
    tamis_filter_free(opened);
    return status;
}
