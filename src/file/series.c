/* series.c - filters of several links as bytes
 *
 * A series is a header like that of a filter, with a kind of its own, and the files of its links, the oldest
 * first:
 *
 *      [ header, 256 bytes ][ header of link 0 ][ body ][ header of link 1 ][ body ] ...
 *
 * with the checksums of its parts behind each body that has some.
 *
 * Each link has its own checksums; that of the series is over the headers of the links, so that no link can
 * be exchanged for one of another file.  All headers and lengths are checked before anything is
 * allocated.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/shards.h"

#include "hash/hash.h"

enum { LINKS = 0, PROMISE = 1, N_VALUES = 2 }; /* the values of a series */

bool tamis_i_series_is(const unsigned char *head) {
    return tamis_i_header_kind(head) == TAMIS_I_KIND_SERIES;
}

uint64_t tamis_i_series_bytes(const unsigned char *head) {
    const uint64_t words = tamis_i_get_u64(head + TAMIS_I_AT_BODY_WORDS);
    return words > (SIZE_MAX - TAMIS_I_HEADER_BYTES) / 8 ? SIZE_MAX
                                                         : TAMIS_I_HEADER_BYTES + 8 * words;
}

/* ---- writing ---- */

/* Bytes of one filter or series. */
static uint64_t file_series_size(const tamis_filter *filter) {
    uint64_t size = filter->links == NULL ? 0 : TAMIS_I_HEADER_BYTES;
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++)
        size += tamis_i_file_bytes(tamis_i_link(filter, i)->n_body);
    return size;
}

uint64_t tamis_i_file_size(const tamis_filter *filter) {
    uint64_t size = tamis_i_is_sharded(filter) ? TAMIS_I_HEADER_BYTES : 0;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++)
        size += file_series_size(tamis_i_part(filter, i));
    return size;
}

void tamis_i_series_encode(const tamis_filter *filter, unsigned char *head, unsigned char *heads) {
    uint64_t capacity = 0;
    const unsigned n = tamis_i_n_links(filter);
    for (unsigned i = 0; i < n; i++) {
        tamis_i_header_encode(tamis_i_link(filter, i), heads + (size_t)i * TAMIS_I_HEADER_BYTES);
        capacity += tamis_i_link(filter, i)->params.capacity;
    }
    memset(head, 0, TAMIS_I_HEADER_BYTES);
    tamis_i_put_u64(head + TAMIS_I_AT_CAPACITY, capacity);
    tamis_i_header_hash(head, &filter->params);
    tamis_i_put_u64(head + TAMIS_I_AT_BODY_WORDS,
                    file_series_size(filter) / 8 - TAMIS_I_HEADER_BYTES / 8);
    tamis_i_put_u64(head + TAMIS_I_AT_VALUES + 8 * LINKS, n);
    tamis_i_put_u64(head + TAMIS_I_AT_VALUES + 8 * PROMISE, filter->links->promise);
    tamis_i_put_u32(head + TAMIS_I_AT_KEY_FORM, filter->key_form);
    tamis_i_put_u64(head + TAMIS_I_AT_BODY_CHECKSUM,
                    tamis_i_checksum(heads, (size_t)n * TAMIS_I_HEADER_BYTES));
    tamis_i_header_seal(head, TAMIS_I_KIND_SERIES);
}

/* ---- reading ---- */

/* What the headers of a series say. */
typedef struct series {
    unsigned n;
    uint64_t promise;
    tamis_params params; /* hash and seed */
    tamis_i_header header[TAMIS_I_LINKS_MAX];
    size_t body[TAMIS_I_LINKS_MAX]; /* where they begin */
} series;

/* Check the series's own header, and that 'body' bytes after it are as many as it says. */
static tamis_status file_series_open_head(const unsigned char *bytes, uint64_t body, series *c,
                                          const char **reason) {
    const tamis_status status = tamis_i_header_check(bytes, reason);
    if (status != TAMIS_OK)
        return status;
    c->params.hash = (tamis_hash_id)tamis_i_get_u32(bytes + TAMIS_I_AT_HASH);
    c->params.seed = tamis_i_get_u64(bytes + TAMIS_I_AT_SEED);
    c->params.seed_high = tamis_i_get_u64(bytes + TAMIS_I_AT_SEED_HIGH);
    if (!tamis_i_hasher_ok(c->params.hash, c->params.seed, c->params.seed_high))
        return tamis_i_refuse(reason, "the header has no seed");
    const uint64_t n = tamis_i_get_u64(bytes + TAMIS_I_AT_VALUES + 8 * LINKS);
    bool sound = n >= 1 && n <= TAMIS_I_LINKS_MAX &&
                 tamis_i_get_u64(bytes + TAMIS_I_AT_STASH) == 0 &&
                 tamis_i_get_u64(bytes + TAMIS_I_AT_PROMISE) == 0;
    c->n = (unsigned)n;
    c->promise = tamis_i_get_u64(bytes + TAMIS_I_AT_VALUES + 8 * PROMISE);
    for (unsigned i = N_VALUES; i < TAMIS_PARAMS_MAX; i++)
        sound = sound && tamis_i_get_u64(bytes + TAMIS_I_AT_VALUES + 8 * i) == 0;
    if (!sound || c->promise == 0)
        return tamis_i_refuse(reason, "a parameter in the header is out of range");
    const uint64_t words = tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_WORDS);
    if (body / 8 < words)
        return tamis_i_refuse(reason, "the file is cut off within the body");
    if (body != 8 * words)
        return tamis_i_refuse(reason, "the file goes on after its end");
    return TAMIS_OK;
}

/* What is seen of the links, one after the other. */
typedef struct links_seen {
    unsigned char heads[TAMIS_I_LINKS_MAX * TAMIS_I_HEADER_BYTES];
    uint64_t capacity;
    uint64_t left; /* bytes of the file after what was seen */
} links_seen;

static const char file_series_not_links[] = "the size of the series is not that of its links";

/* Check the header of link number i, which is the next of seen->heads, and that its body is there.  'head' is
 * that of the series. */
static tamis_status file_series_see_link(const unsigned char *head, series *c, unsigned i,
                                         links_seen *seen, const char **reason) {
    tamis_i_header *const header = &c->header[i];
    const tamis_status status =
        tamis_i_header_decode(seen->heads + (size_t)i * TAMIS_I_HEADER_BYTES, header, reason);
    if (status != TAMIS_OK)
        return status;
    if (seen->left < header->size)
        return tamis_i_refuse(reason, file_series_not_links);
    seen->left -= header->size;
    seen->capacity += header->params.capacity; /* 41 times 2^40 at most */
    if (tamis_i_form_of(header->kind, &header->params) !=
            tamis_i_form_of(c->header[0].kind, &c->header[0].params) ||
        !tamis_i_same_hash(&header->params, &c->params))
        return tamis_i_refuse(reason, "the links of the series differ in kind or seed");
    if (header->key_form != tamis_i_get_u32(head + TAMIS_I_AT_KEY_FORM))
        return tamis_i_refuse(reason, "the links of the series differ in the form of keys");
    return TAMIS_OK;
}

/* Check what all links together must be. */
static tamis_status file_series_see_end(const unsigned char *head, const series *c,
                                        const links_seen *seen, const char **reason) {
    if (seen->left != 0)
        return tamis_i_refuse(reason, file_series_not_links);
    if (seen->capacity != tamis_i_get_u64(head + TAMIS_I_AT_CAPACITY))
        return tamis_i_refuse(reason, "the capacity of the series is not that of its links");
    if (tamis_i_checksum(seen->heads, (size_t)c->n * TAMIS_I_HEADER_BYTES) !=
        tamis_i_get_u64(head + TAMIS_I_AT_BODY_CHECKSUM))
        return tamis_i_refuse(reason, "the body is damaged: its checksum does not match");
    return TAMIS_OK;
}

/* Check the headers of the links, and that these fill the body. */
static tamis_status file_series_open_links(const unsigned char *bytes, size_t size, series *c,
                                           const char **reason) {
    links_seen seen = {.left = size - TAMIS_I_HEADER_BYTES};
    for (unsigned i = 0; i < c->n; i++) {
        if (seen.left < TAMIS_I_HEADER_BYTES)
            return tamis_i_refuse(reason, file_series_not_links);
        memcpy(seen.heads + (size_t)i * TAMIS_I_HEADER_BYTES, bytes + (size - seen.left),
               TAMIS_I_HEADER_BYTES);
        seen.left -= TAMIS_I_HEADER_BYTES;
        c->body[i] = size - (size_t)seen.left;
        const tamis_status status = file_series_see_link(bytes, c, i, &seen, reason);
        if (status != TAMIS_OK)
            return status;
    }
    return file_series_see_end(bytes, c, &seen, reason);
}

static unsigned file_series_value_bits(const tamis_filter *filter) {
    return filter->kind->value_bits == NULL ? 0 : filter->kind->value_bits(filter);
}

/* Add a link to 'first', whose it is from then on, and its keys to '*count'. */
static tamis_status file_series_add_link(tamis_filter *first, tamis_filter *link, uint64_t *count,
                                         const char **reason) {
    first->links->link[first->links->n++] = link;
    if (file_series_value_bits(link) != file_series_value_bits(first))
        return tamis_i_refuse(reason, "the links of the series differ in the bits of values");
    if (!tamis_i_add(*count, link->state[TAMIS_I_COUNT], count) || *count > TAMIS_I_COUNT_MAX)
        return tamis_i_refuse(reason, "the number of keys is out of range");
    return TAMIS_OK;
}

/* Make the first link a series. */
static tamis_status file_series_begin(tamis_filter *first, const series *c, const char **reason) {
    const tamis_status status = tamis_i_links_begin(first, c->promise);
    if (status != TAMIS_OK)
        *reason = tamis_status_text(status);
    return status;
}

/* Make the further links of 'first', which is the first. */
static tamis_status file_series_make_links(const unsigned char *bytes, const series *c,
                                           const tamis_allocator *allocator,
                                           tamis_i_opening opening, tamis_filter *first,
                                           const char **reason) {
    tamis_status status = file_series_begin(first, c, reason);
    uint64_t count = first->state[TAMIS_I_COUNT];
    for (unsigned i = 1; status == TAMIS_OK && i < c->n; i++) {
        tamis_filter *link;
        status =
            tamis_i_body_open(bytes + c->body[i], &c->header[i], allocator, opening, &link, reason);
        if (status == TAMIS_OK)
            status = file_series_add_link(first, link, &count, reason);
    }
    return status;
}

tamis_status tamis_i_series_open(const unsigned char *bytes, size_t size,
                                 const tamis_allocator *allocator, tamis_i_opening opening,
                                 tamis_filter **filter, const char **reason) {
    series c;
    tamis_status status = file_series_open_head(bytes, size - TAMIS_I_HEADER_BYTES, &c, reason);
    if (status == TAMIS_OK)
        status = file_series_open_links(bytes, size, &c, reason);
    if (status != TAMIS_OK)
        return status;
    tamis_filter *first;
    status = tamis_i_body_open(bytes + c.body[0], &c.header[0], allocator, opening, &first, reason);
    if (status != TAMIS_OK)
        return status;
    status = file_series_make_links(bytes, &c, allocator, opening, first, reason);
    if (status != TAMIS_OK) {
        tamis_filter_free(first);
        return status;
    }
    *filter = first;
    return TAMIS_OK;
}

tamis_status tamis_i_series_read(const tamis_i_input *input, const unsigned char *head,
                                 uint64_t size, const tamis_allocator *allocator,
                                 tamis_filter **filter, const char **reason) {
    series c;
    tamis_status status = file_series_open_head(head, size, &c, reason);
    links_seen seen = {.left = size};
    tamis_filter *first = NULL;
    uint64_t count = 0;
    for (unsigned i = 0; status == TAMIS_OK && i < c.n; i++) {
        if (seen.left < TAMIS_I_HEADER_BYTES) {
            status = tamis_i_refuse(reason, file_series_not_links);
            break;
        }
        seen.left -= TAMIS_I_HEADER_BYTES;
        status = input->read(input->context, seen.heads + (size_t)i * TAMIS_I_HEADER_BYTES,
                             TAMIS_I_HEADER_BYTES, reason);
        if (status == TAMIS_OK)
            status = file_series_see_link(head, &c, i, &seen, reason);
        if (status == TAMIS_OK && i + 1 == c.n)
            status = file_series_see_end(head, &c, &seen, reason);
        tamis_filter *link = NULL;
        if (status == TAMIS_OK)
            status = tamis_i_input_body(input, &c.header[i], allocator, &link, reason);
        if (status != TAMIS_OK)
            break;
        if (i > 0) {
            status = file_series_add_link(first, link, &count, reason);
        } else {
            first = link;
            count = first->state[TAMIS_I_COUNT];
            status = file_series_begin(first, &c, reason);
        }
    }
    if (status == TAMIS_OK)
        *filter = first;
    else
        tamis_filter_free(first);
    return status;
}
