/* header.c - the header of a file, and the codec of whole files in memory
 *
 * Nothing in a header is believed.  The parameters go through the same check as those of a caller,
 * must come out of it unchanged, and the size of the body is computed from them and compared.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/shards.h"

#include "hash/hash.h"

#define VERSION_MAX 4u /* docs/format.md, section 8, has what is new in which */

static const unsigned char magic[8] = {0x89, 'T', 'A', 'M', 'I', 'S', '\r', '\n'};

/* The version that the fields of a header need, but for the size of the body. */
static uint32_t header_fields_need(const unsigned char *bytes) {
    if (tamis_i_get_u64(bytes + TAMIS_I_AT_PROMISE) != 0)
        return 4;
    return tamis_i_get_u32(bytes + TAMIS_I_AT_KEY_FORM) == TAMIS_KEYS_UNKNOWN &&
                   tamis_i_get_u32(bytes + TAMIS_I_AT_HASH) == TAMIS_HASH_XXH3
               ? 1
               : 2;
}

/* Is it the header of one filter whose body is kept in parts? */
static bool header_in_parts(const unsigned char *bytes) {
    return tamis_i_get_u32(bytes + TAMIS_I_AT_KIND) < TAMIS_I_KIND_SERIES &&
           tamis_i_has_parts(tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_WORDS));
}

/* The version that is written. */
static uint32_t header_version(const unsigned char *bytes) {
    const uint32_t fields = header_fields_need(bytes);
    return fields < 3 && header_in_parts(bytes) ? 3 : fields;
}

void tamis_i_header_hash(unsigned char *bytes, const tamis_params *params) {
    tamis_i_put_u32(bytes + TAMIS_I_AT_HASH, (uint32_t)params->hash);
    tamis_i_put_u64(bytes + TAMIS_I_AT_SEED, params->seed);
    tamis_i_put_u64(bytes + TAMIS_I_AT_SEED_HIGH, params->seed_high);
}

void tamis_i_header_seal(unsigned char *bytes, uint32_t kind) {
    memcpy(bytes, magic, sizeof magic);
    tamis_i_put_u32(bytes + TAMIS_I_AT_KIND, kind);
    tamis_i_put_u32(bytes + TAMIS_I_AT_VERSION, header_version(bytes));
    tamis_i_put_u32(bytes + TAMIS_I_AT_HEADER_SIZE, TAMIS_I_HEADER_BYTES);
    tamis_i_put_u64(bytes + TAMIS_I_AT_HEADER_CHECKSUM,
                    tamis_i_checksum(bytes, TAMIS_I_AT_HEADER_CHECKSUM));
}

uint32_t tamis_i_header_kind(const unsigned char *bytes) {
    return memcmp(bytes, magic, sizeof magic) == 0 ? tamis_i_get_u32(bytes + TAMIS_I_AT_KIND) : 0;
}

static uint64_t header_part_sum(const tamis_filter *filter, unsigned shift, uint64_t i) {
    const tamis_i_part_span span = tamis_i_part_at(filter->n_body, shift, i);
    return tamis_i_checksum_words(filter->state + span.from, (size_t)span.n);
}

void tamis_i_sums_encode(const tamis_filter *filter, uint64_t from, uint64_t end,
                         unsigned char *bytes) {
    const unsigned shift = tamis_i_part_shift(filter->n_body);
    for (uint64_t i = from; i < end; i++, bytes += 8)
        tamis_i_put_u64(bytes, header_part_sum(filter, shift, i));
}

/* What a header has: the checksum of the body, or that of the checksums of its parts. */
static uint64_t header_body_checksum(const tamis_filter *filter) {
    if (!tamis_i_has_parts(filter->n_body))
        return tamis_i_checksum_words(filter->state, (size_t)filter->n_body);
    const uint64_t n = tamis_i_sums_words(filter->n_body);
    tamis_i_checksum_flow flow;
    tamis_i_checksum_begin(&flow);
    for (uint64_t i = 0; i < n; i++) {
        unsigned char sum[8];
        tamis_i_sums_encode(filter, i, i + 1, sum);
        tamis_i_checksum_add(&flow, sum, sizeof sum);
    }
    return tamis_i_checksum_end(&flow);
}

void tamis_i_header_encode(const tamis_filter *filter, unsigned char *bytes) {
    memset(bytes, 0, TAMIS_I_HEADER_BYTES);
    tamis_i_put_u64(bytes + TAMIS_I_AT_CAPACITY, filter->params.capacity);
    tamis_i_header_hash(bytes, &filter->params);
    tamis_i_put_u64(bytes + TAMIS_I_AT_STASH, filter->params.stash);
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_WORDS, filter->n_body);
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
        tamis_i_put_u64(bytes + TAMIS_I_AT_VALUES + 8 * i, filter->params.value[i]);
    tamis_i_put_u32(bytes + TAMIS_I_AT_KEY_FORM, filter->key_form);
    tamis_i_put_u64(bytes + TAMIS_I_AT_PROMISE, tamis_i_rate_bits(filter->params.fpr));
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM, header_body_checksum(filter));
    tamis_i_header_seal(bytes, (uint32_t)filter->params.kind);
}

tamis_status tamis_i_header_check(const unsigned char *bytes, const char **reason) {
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return tamis_i_refuse(reason, "this is not a tamis file");
    const uint32_t version = tamis_i_get_u32(bytes + TAMIS_I_AT_VERSION);
    if (version > VERSION_MAX) {
        *reason = "the file has a newer format than this version of tamis can read";
        return TAMIS_E_VERSION;
    }
    if (tamis_i_checksum(bytes, TAMIS_I_AT_HEADER_CHECKSUM) !=
        tamis_i_get_u64(bytes + TAMIS_I_AT_HEADER_CHECKSUM))
        return tamis_i_refuse(reason, "the header is damaged: its checksum does not match");
    if (version == 0)
        return tamis_i_refuse(reason, "the header has version 0, which does not exist");
    if (tamis_i_get_u32(bytes + TAMIS_I_AT_HEADER_SIZE) != TAMIS_I_HEADER_BYTES)
        return tamis_i_refuse(reason, "the header has the wrong size");
    const uint32_t hash = tamis_i_get_u32(bytes + TAMIS_I_AT_HASH);
    if (hash != TAMIS_HASH_XXH3 && (version == 1 || hash != TAMIS_HASH_AES))
        return tamis_i_refuse(reason, "the header names an unknown hash");
    for (unsigned i = TAMIS_I_AT_KEY_FORM; i < TAMIS_I_AT_BODY_CHECKSUM; i++) {
        const bool used =
            version > 1 &&
            (i < TAMIS_I_AT_KEY_FORM + 4 ||
             (hash == TAMIS_HASH_AES && i >= TAMIS_I_AT_SEED_HIGH && i < TAMIS_I_AT_PROMISE) ||
             (version > 3 && i >= TAMIS_I_AT_PROMISE && i < TAMIS_I_AT_RESERVED));
        if (bytes[i] != 0 && !used)
            return tamis_i_refuse(reason, "a reserved field of the header is not zero");
    }
    if (tamis_i_get_u32(bytes + TAMIS_I_AT_KEY_FORM) > TAMIS_KEYS_U64)
        return tamis_i_refuse(reason, "the header names an unknown form of keys");
    if (version > header_version(bytes))
        return tamis_i_refuse(reason, "the header has a higher version than it needs");
    return TAMIS_OK;
}

tamis_status tamis_i_header_decode(const unsigned char *bytes, tamis_i_header *header,
                                   const char **reason) {
    tamis_status status = tamis_i_header_check(bytes, reason);
    if (status != TAMIS_OK)
        return status;
    const uint32_t number = tamis_i_get_u32(bytes + TAMIS_I_AT_KIND);
    tamis_i_header own = {.kind = number > INT32_MAX ? NULL : tamis_i_kind_of((tamis_kind)number)};
    if (own.kind == NULL)
        return tamis_i_refuse(reason, tamis_i_kind_gone(number) != NULL
                                          ? tamis_i_kind_gone(number)
                                          : "the header names an unknown kind of filter");
    tamis_params_init(&own.params);
    own.params.kind = own.kind->id;
    own.params.capacity = tamis_i_get_u64(bytes + TAMIS_I_AT_CAPACITY);
    own.params.hash = (tamis_hash_id)tamis_i_get_u32(bytes + TAMIS_I_AT_HASH);
    own.params.seed = tamis_i_get_u64(bytes + TAMIS_I_AT_SEED);
    own.params.seed_high = tamis_i_get_u64(bytes + TAMIS_I_AT_SEED_HIGH);
    own.params.stash = tamis_i_get_u64(bytes + TAMIS_I_AT_STASH);
    if (!tamis_i_bits_rate(tamis_i_get_u64(bytes + TAMIS_I_AT_PROMISE), &own.params.fpr))
        return tamis_i_refuse(reason, "the promised error rate is out of range");
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
        own.params.value[i] = tamis_i_get_u64(bytes + TAMIS_I_AT_VALUES + 8 * i);
    own.body_checksum = tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM);
    own.key_form = (unsigned char)tamis_i_get_u32(bytes + TAMIS_I_AT_KEY_FORM);
    if (!tamis_i_hasher_ok(own.params.hash, own.params.seed, own.params.seed_high))
        return tamis_i_refuse(reason, "the header has no seed");
    tamis_params complete = own.params;
    uint64_t n_table;
    status = tamis_i_filter_shape(own.kind, &complete, &own.n_body, &n_table);
    if (status == TAMIS_E_TOO_LARGE) {
        *reason = "the filter is too large for this machine";
        return status;
    }
    if (status != TAMIS_OK || complete.stash != own.params.stash ||
        memcmp(complete.value, own.params.value, sizeof complete.value) != 0)
        return tamis_i_refuse(reason, "a parameter in the header is out of range");
    if (own.n_body != tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_WORDS))
        return tamis_i_refuse(reason, "the size of the body does not follow from the parameters");
    own.n_sums =
        tamis_i_get_u32(bytes + TAMIS_I_AT_VERSION) < 3 ? 0 : tamis_i_sums_words(own.n_body);
    own.size = 8 * (own.n_body + own.n_sums);
    *header = own;
    return TAMIS_OK;
}

/* Write one filter or series; returns where it ends. */
static unsigned char *header_encode_part(const tamis_filter *filter, unsigned char *bytes) {
    unsigned char head[TAMIS_I_HEADER_BYTES], heads[TAMIS_I_LINKS_MAX * TAMIS_I_HEADER_BYTES];
    if (filter->links == NULL) {
        tamis_i_header_encode(filter, heads);
    } else {
        tamis_i_series_encode(filter, head, heads);
        memcpy(bytes, head, sizeof head);
        bytes += sizeof head;
    }
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++) {
        const tamis_filter *const link = tamis_i_link(filter, i);
        memcpy(bytes, heads + (size_t)i * TAMIS_I_HEADER_BYTES, TAMIS_I_HEADER_BYTES);
        bytes += TAMIS_I_HEADER_BYTES;
        for (uint64_t j = 0; j < link->n_body; j++, bytes += 8)
            tamis_i_put_u64(bytes, link->state[j]);
        const uint64_t n_sums = tamis_i_sums_words(link->n_body);
        tamis_i_sums_encode(link, 0, n_sums, bytes);
        bytes += 8 * n_sums;
    }
    return bytes;
}

void tamis_i_file_encode(const tamis_filter *filter, unsigned char *bytes) {
    if (!tamis_i_is_sharded(filter)) {
        (void)header_encode_part(filter, bytes);
        return;
    }
    uint64_t sums[TAMIS_I_SHARDS_MAX];
    unsigned char *at = bytes + TAMIS_I_HEADER_BYTES;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        unsigned char *const end = header_encode_part(tamis_i_part(filter, i), at);
        sums[i] = tamis_i_get_u64(at + TAMIS_I_AT_HEADER_CHECKSUM);
        at = end;
    }
    tamis_i_shards_encode(filter, sums, bytes);
}

/* Part of an encoded filter that is being written. */
typedef struct header_part {
    uint64_t skip; /* bytes before it that are still to come */
    unsigned char *bytes;
    size_t size; /* that are still wanted */
} header_part;

/* Of the next 'size' bytes of the file, how many does the part take, and from which one on? */
static size_t header_part_takes(header_part *part, uint64_t size, uint64_t *from) {
    if (part->skip >= size) {
        part->skip -= size;
        return 0;
    }
    *from = part->skip;
    part->skip = 0;
    return size - *from < part->size ? (size_t)(size - *from) : part->size;
}

static void header_part_took(header_part *part, size_t taken) {
    part->bytes += taken;
    part->size -= taken;
}

/* Write what the part has of the words of a body, or of the checksums behind it, from byte 'from' on. */
static void header_part_words(const tamis_filter *link, bool sums, uint64_t from,
                              unsigned char *bytes, size_t size) {
    unsigned char word[8];
    for (uint64_t i = from / 8; size > 0; i++, from = 0) {
        const size_t skip = (size_t)(from % 8);
        const size_t n = size < 8 - skip ? size : 8 - skip;
        if (sums)
            tamis_i_sums_encode(link, i, i + 1, word);
        else
            tamis_i_put_u64(word, link->state[i]);
        memcpy(bytes, word + skip, n);
        bytes += n;
        size -= n;
    }
}

/* What the part has of one filter or series. */
static void header_part_one(const tamis_filter *filter, header_part *part) {
    unsigned char head[TAMIS_I_HEADER_BYTES], heads[TAMIS_I_LINKS_MAX * TAMIS_I_HEADER_BYTES];
    uint64_t from = 0;
    size_t n = filter->links == NULL ? 0 : header_part_takes(part, sizeof head, &from);
    if (n > 0) { /* it has a checksum over the headers of all links */
        tamis_i_series_encode(filter, head, heads);
        memcpy(part->bytes, head + from, n);
        header_part_took(part, n);
    }
    for (unsigned i = 0; part->size > 0 && i < tamis_i_n_links(filter); i++) {
        const tamis_filter *const link = tamis_i_link(filter, i);
        n = header_part_takes(part, sizeof head, &from);
        if (n > 0) {
            tamis_i_header_encode(link, head);
            memcpy(part->bytes, head + from, n);
            header_part_took(part, n);
        }
        n = part->size == 0 ? 0 : header_part_takes(part, 8 * link->n_body, &from);
        header_part_words(link, false, from, part->bytes, n);
        header_part_took(part, n);
        n = part->size == 0 ? 0
                            : header_part_takes(part, 8 * tamis_i_sums_words(link->n_body), &from);
        header_part_words(link, true, from, part->bytes, n);
        header_part_took(part, n);
    }
}

/* The header of a sharded set, which has a checksum over those of all shards. */
static void header_encode_shards(const tamis_filter *filter, unsigned char *head) {
    unsigned char heads[TAMIS_I_LINKS_MAX * TAMIS_I_HEADER_BYTES];
    uint64_t sums[TAMIS_I_SHARDS_MAX];
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        const tamis_filter *const shard = tamis_i_part(filter, i);
        if (shard->links == NULL)
            tamis_i_header_encode(shard, head);
        else
            tamis_i_series_encode(shard, head, heads);
        sums[i] = tamis_i_get_u64(head + TAMIS_I_AT_HEADER_CHECKSUM);
    }
    tamis_i_shards_encode(filter, sums, head);
}

void tamis_i_file_encode_part(const tamis_filter *filter, uint64_t offset, unsigned char *bytes,
                              size_t size) {
    unsigned char head[TAMIS_I_HEADER_BYTES];
    header_part part = {offset, bytes, size};
    uint64_t from = 0;
    const size_t n = tamis_i_is_sharded(filter) ? header_part_takes(&part, sizeof head, &from) : 0;
    if (n > 0) {
        header_encode_shards(filter, head);
        memcpy(part.bytes, head + from, n);
        header_part_took(&part, n);
    }
    for (unsigned i = 0; part.size > 0 && i < tamis_i_n_parts(filter); i++)
        header_part_one(tamis_i_part(filter, i), &part);
}

/* ---- reading ---- */

static const char header_damaged[] = "the body is damaged: its checksum does not match";

/* The header and the length. */
static tamis_status header_open_bytes(const unsigned char *bytes, size_t size,
                                      tamis_i_header *header, const char **reason) {
    if (size < TAMIS_I_HEADER_BYTES) {
        const size_t seen = size < sizeof magic ? size : sizeof magic;
        return tamis_i_refuse(reason, size == 0 ? "the file is empty"
                                      : memcmp(bytes, magic, seen) != 0
                                          ? "this is not a tamis file"
                                          : "the file is cut off within the header");
    }
    const tamis_status status = tamis_i_header_decode(bytes, header, reason);
    if (status != TAMIS_OK)
        return status;
    const uint64_t body = size - TAMIS_I_HEADER_BYTES;
    if (body < header->size)
        return tamis_i_refuse(reason, "the file is cut off within the body");
    if (body != header->size)
        return tamis_i_refuse(reason, "the file goes on after its end");
    return TAMIS_OK;
}

/* Do the checksums of a body match: that of the header, and of the first 'n' of its parts? */
static bool header_sums_match(const unsigned char *bytes, const tamis_i_header *header,
                              uint64_t n) {
    const size_t body = (size_t)header->n_body * 8;
    if (header->n_sums == 0)
        return tamis_i_checksum(bytes, body) == header->body_checksum;
    const unsigned char *const sums = bytes + body;
    if (tamis_i_checksum(sums, (size_t)header->n_sums * 8) != header->body_checksum)
        return false;
    const unsigned shift = tamis_i_part_shift(header->n_body);
    for (uint64_t i = 0; i < n; i++) {
        const tamis_i_part_span span = tamis_i_part_at(header->n_body, shift, i);
        if (tamis_i_checksum(bytes + 8 * span.from, (size_t)span.n * 8) !=
            tamis_i_get_u64(sums + 8 * i))
            return false;
    }
    return true;
}

/* A view that is verified as it is touched, or not: what it is judged by at once is its state. */
static tamis_status header_guard(const unsigned char *bytes, const tamis_i_header *header,
                                 bool trusted, tamis_filter *filter, const char **reason) {
    if (!tamis_i_filter_check_state(filter, reason))
        return TAMIS_E_FORMAT;
    if (filter->state[TAMIS_I_STASH_USED] > filter->stash.capacity)
        return tamis_i_refuse(reason, "the stash does not hold as many keys as it claims");
    const tamis_i_guarded what = {.sums = header->n_sums == 0 ? NULL
                                                              : bytes + (size_t)header->n_body * 8,
                                  .whole = header->body_checksum,
                                  .trusted = trusted};
    const tamis_status status = tamis_i_guard_begin(filter, &what);
    if (status != TAMIS_OK)
        *reason = tamis_status_text(status);
    return status;
}

tamis_status tamis_i_body_open(const unsigned char *bytes, const tamis_i_header *header,
                               const tamis_allocator *allocator, tamis_i_opening opening,
                               tamis_filter **filter, const char **reason) {
    const bool trusted = opening == TAMIS_I_OPEN_TRUSTED,
               parts = opening == TAMIS_I_OPEN_PARTS && header->n_sums != 0,
               view = opening != TAMIS_I_OPEN_COPY;
    if (!trusted && !header_sums_match(bytes, header, parts ? 1 : header->n_sums))
        return tamis_i_refuse(reason, header_damaged);
    tamis_filter *own;
    tamis_status status =
        tamis_i_filter_make(header->kind, &header->params, allocator,
                            view ? (const uint64_t *)(const void *)bytes : NULL, false, &own);
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    own->key_form = header->key_form;
    for (uint64_t i = 0; !view && i < header->n_body; i++)
        own->state[i] = tamis_i_get_u64(bytes + 8 * i);
    if (parts || trusted)
        status = header_guard(bytes, header, trusted, own, reason);
    else if (!tamis_i_filter_check(own, reason))
        status = TAMIS_E_FORMAT;
    if (status != TAMIS_OK)
        tamis_filter_free(own);
    else
        *filter = own;
    return status;
}

tamis_status tamis_i_file_open(const unsigned char *bytes, size_t size,
                               const tamis_allocator *allocator, tamis_i_opening opening,
                               tamis_filter **filter, const char **reason) {
    tamis_i_header header;
    if (size >= TAMIS_I_HEADER_BYTES && tamis_i_series_is(bytes))
        return tamis_i_series_open(bytes, size, allocator, opening, filter, reason);
    const tamis_status status = header_open_bytes(bytes, size, &header, reason);
    return status != TAMIS_OK ? status
                              : tamis_i_body_open(bytes + TAMIS_I_HEADER_BYTES, &header, allocator,
                                                  opening, filter, reason);
}

tamis_status tamis_i_file_decode(const unsigned char *bytes, size_t size,
                                 const tamis_allocator *allocator, tamis_filter **filter,
                                 const char **reason) {
    if (size >= TAMIS_I_HEADER_BYTES && tamis_i_shards_is(bytes))
        return tamis_i_shards_open(bytes, size, allocator, TAMIS_I_OPEN_COPY, filter, reason);
    return tamis_i_file_open(bytes, size, allocator, TAMIS_I_OPEN_COPY, filter, reason);
}

tamis_status tamis_i_file_view(const void *data, size_t size, const tamis_allocator *allocator,
                               tamis_i_opening opening, tamis_filter **filter,
                               const char **reason) {
    if (!tamis_i_little_endian()) {
        *reason = "views need a little-endian machine";
        return TAMIS_E_UNSUPPORTED;
    }
    if ((uintptr_t)data % sizeof(uint64_t) != 0) {
        *reason = "the data is not aligned to 8 bytes";
        return TAMIS_E_ARGUMENT;
    }
    if (size >= TAMIS_I_HEADER_BYTES && tamis_i_shards_is(data))
        return tamis_i_shards_open(data, size, allocator, opening, filter, reason);
    return tamis_i_file_open(data, size, allocator, opening, filter, reason);
}
