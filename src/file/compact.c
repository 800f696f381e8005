/* compact.c - the compact form: encode, decode
 *
 * As little is believed as in header.c.  A filter is larger than its compact form, and is allocated only when
 * the data is as long as the least filter of these parameters, and for no more than BODY_PLAIN bytes and
 * BODY_TIMES for each byte of the form: a small message must not take much memory.  Filters that would
 * need more, which are large and empty or have a huge stash, have no compact form.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/compact.h"

#include "hash/hash.h"

#define VERSION_MAX  3u /* 1 for XXH3 and no form of keys, 3 with a promise */
#define AT_SEED      8u
#define AT_NUMBERS   16u
#define CHECKSUM     8u /* bytes */
#define ENTRY        17u
#define NUMBER_BYTES 10u /* of 64 bits, at most */
#define BODY_PLAIN   ((uint64_t)2 << 20)
#define BODY_TIMES   64u

static const unsigned char magic[8] = {0x89, 'T', 'A', 'M', 'C', 'F', '\r', '\n'};

bool tamis_i_compact_is(const unsigned char *bytes, size_t size) {
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- numbers ---- */

static unsigned char *compact_put_number(unsigned char *p, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        *p++ = (unsigned char)(number | 0x80);
    *p++ = (unsigned char)number;
    return p;
}

/* Bytes that are read: 'left' more at 'p'. */
typedef struct input {
    const unsigned char *p;
    size_t left;
} input;

/* False if the data ends, the number is longer than it need be, or does not fit. */
static bool compact_get_number(input *in, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->left == 0)
            return false;
        const uint64_t byte = *in->p++;
        in->left--;
        if (shift == 63 && byte > 1)
            return false;
        *number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return byte != 0 || shift == 0;
    }
    return false;
}

/* Is a form of this size long enough for a filter with so many words? */
static bool compact_body_ok(uint64_t n_body, uint64_t size) {
    const uint64_t bytes = n_body * sizeof(uint64_t);
    return bytes <= BODY_PLAIN || (bytes - BODY_PLAIN) / BODY_TIMES <= size;
}

bool tamis_i_compact_fits(const tamis_filter *filter) {
    return compact_body_ok(filter->n_body, 0) ||
           compact_body_ok(filter->n_body, tamis_i_compact_size(filter));
}

/* ---- encode ---- */

/* The version that the numbers of a header need. */
static uint64_t compact_version_of(uint64_t key_form, uint64_t hash, double promise) {
    if (promise > 0)
        return 3;
    return key_form == TAMIS_KEYS_UNKNOWN && hash == TAMIS_HASH_XXH3 ? 1 : 2;
}

/* The numbers of the header; returns their end.  'bytes' has room for all there can be. */
static unsigned char *compact_put_numbers(const tamis_filter *filter, unsigned char *bytes) {
    const tamis_params *const params = &filter->params;
    unsigned n_values = TAMIS_PARAMS_MAX;
    while (n_values > 0 && params->value[n_values - 1] == 0)
        n_values--;
    const uint64_t first[] = {params->capacity, params->stash, filter->state[TAMIS_I_COUNT],
                              filter->state[TAMIS_I_STASH_USED], n_values};
    const uint64_t version =
        compact_version_of(filter->key_form, (uint64_t)params->hash, params->fpr);
    bytes = compact_put_number(bytes, version);
    bytes = compact_put_number(bytes, (uint64_t)params->kind);
    bytes = compact_put_number(bytes, (uint64_t)params->hash);
    if (version > 1)
        bytes = compact_put_number(bytes, filter->key_form);
    if (version > 2)
        bytes = compact_put_number(bytes, tamis_i_rate_bits(params->fpr));
    if (params->hash == TAMIS_HASH_AES)
        bytes = compact_put_number(bytes, params->seed_high);
    for (unsigned i = 0; i < sizeof first / sizeof *first; i++)
        bytes = compact_put_number(bytes, first[i]);
    for (unsigned i = 0; i < n_values; i++)
        bytes = compact_put_number(bytes, params->value[i]);
    return bytes;
}

uint64_t tamis_i_compact_size(const tamis_filter *filter) {
    unsigned char numbers[NUMBER_BYTES * (11 + TAMIS_PARAMS_MAX)];
    return AT_NUMBERS + (uint64_t)(compact_put_numbers(filter, numbers) - numbers) +
           ENTRY * filter->state[TAMIS_I_STASH_USED] +
           (filter->kind->compact_bits(filter) + 7) / 8 + CHECKSUM;
}

/* The entries of the stash in slots 'from' to 'to' - 1. */
static unsigned char *compact_put_entries(const tamis_i_stash *stash, uint64_t from, uint64_t to,
                                          unsigned char *p) {
    uint64_t copies;
    tamis_digest digest;
    for (; tamis_i_stash_next(stash, &from, &digest, &copies) && from <= to; p += ENTRY) {
        tamis_i_put_u64(p, digest.lo);
        tamis_i_put_u64(p + 8, digest.hi);
        p[16] = (unsigned char)copies;
    }
    return p;
}

void tamis_i_compact_encode(const tamis_filter *filter, unsigned char *bytes) {
    memcpy(bytes, magic, sizeof magic);
    tamis_i_put_u64(bytes + AT_SEED, filter->params.seed);
    unsigned char *p = compact_put_numbers(filter, bytes + AT_NUMBERS);
    const uint64_t gap = tamis_i_stash_gap(&filter->stash), slots = filter->stash.slots;
    p = compact_put_entries(&filter->stash, gap, slots, p);
    p = compact_put_entries(&filter->stash, 0, gap, p);
    tamis_i_writer out = {.bytes = p};
    filter->kind->compact_write(filter, &out);
    tamis_i_write_end(&out);
    tamis_i_put_u64(out.bytes, tamis_i_checksum(bytes, (size_t)(out.bytes - bytes)));
}

/* ---- decode ---- */

/* What the numbers of a valid header say. */
typedef struct header {
    const tamis_i_kind *kind;
    tamis_params params;
    uint64_t count, stash_used, key_form, n_body;
} header;

static tamis_status compact_read_header(input *in, uint64_t seed, header *h, const char **reason) {
    uint64_t version, kind, hash, n_values, promise = 0;
    *reason = "the header is cut off, or a number in it is malformed";
    tamis_params_init(&h->params);
    h->params.seed = seed;
    if (!compact_get_number(in, &version) || !compact_get_number(in, &kind) ||
        !compact_get_number(in, &hash) || (version >= 2 && !compact_get_number(in, &h->key_form)) ||
        (version >= 3 && !compact_get_number(in, &promise)) ||
        (hash == TAMIS_HASH_AES && !compact_get_number(in, &h->params.seed_high)) ||
        !compact_get_number(in, &h->params.capacity) || !compact_get_number(in, &h->params.stash) ||
        !compact_get_number(in, &h->count) || !compact_get_number(in, &h->stash_used) ||
        !compact_get_number(in, &n_values))
        return TAMIS_E_FORMAT;
    if (n_values > TAMIS_PARAMS_MAX)
        return tamis_i_refuse(reason, "a parameter in the header is out of range");
    for (unsigned i = 0; i < n_values; i++)
        if (!compact_get_number(in, &h->params.value[i]))
            return TAMIS_E_FORMAT;
    if (version == 0)
        return tamis_i_refuse(reason, "the header has version 0, which does not exist");
    if (h->key_form > TAMIS_KEYS_U64)
        return tamis_i_refuse(reason, "the header names an unknown form of keys");
    if (!tamis_i_bits_rate(promise, &h->params.fpr))
        return tamis_i_refuse(reason, "the promised error rate is out of range");
    if (version > compact_version_of(h->key_form, hash, h->params.fpr))
        return tamis_i_refuse(reason, "the header has a higher version than it needs");
    if (hash != TAMIS_HASH_XXH3 && (version == 1 || hash != TAMIS_HASH_AES))
        return tamis_i_refuse(reason, "the header names an unknown hash");
    h->params.hash = (tamis_hash_id)hash;
    h->kind = kind > INT32_MAX ? NULL : tamis_i_kind_of((tamis_kind)kind);
    if (h->kind == NULL || h->kind->compact_read == NULL)
        return tamis_i_refuse(reason, "the header names a kind of filter that has no compact form");
    if (!tamis_i_hasher_ok(h->params.hash, h->params.seed, h->params.seed_high))
        return tamis_i_refuse(reason, "the header has no seed");
    h->params.kind = h->kind->id;
    tamis_params complete = h->params;
    uint64_t n_table;
    const tamis_status status = tamis_i_filter_shape(h->kind, &complete, &h->n_body, &n_table);
    if (status == TAMIS_E_TOO_LARGE) {
        *reason = "the filter is too large for this machine";
        return status;
    }
    if (status != TAMIS_OK || complete.stash != h->params.stash ||
        (n_values > 0 && h->params.value[n_values - 1] == 0) ||
        memcmp(complete.value, h->params.value, sizeof complete.value) != 0)
        return tamis_i_refuse(reason, "a parameter in the header is out of range");
    return TAMIS_OK;
}

/* The stash, the table and the count, into an empty filter. */
static tamis_status compact_read_body(input *in, const header *h, tamis_filter *filter,
                                      const char **reason) {
    for (uint64_t i = 0; i < h->stash_used; i++, in->p += ENTRY, in->left -= ENTRY) {
        const tamis_digest digest = {tamis_i_get_u64(in->p), tamis_i_get_u64(in->p + 8)};
        if (in->p[16] == 0)
            return tamis_i_refuse(reason, "the stash has an entry without copies");
        if (tamis_i_stash_add(&filter->stash, digest, in->p[16]) != TAMIS_OK)
            return tamis_i_refuse(reason, "the stash does not hold as many keys as it claims");
    }
    tamis_i_reader bits = {.bytes = in->p, .left = in->left};
    if (!h->kind->compact_read(filter, &bits, reason))
        return TAMIS_E_FORMAT;
    if (!tamis_i_read_end(&bits))
        return tamis_i_refuse(reason, "the data goes on after its end");
    filter->state[TAMIS_I_COUNT] = h->count;
    if (filter->state[TAMIS_I_STASH_USED] != h->stash_used)
        return tamis_i_refuse(reason, "the stash does not hold as many keys as it claims");
    return tamis_i_filter_check(filter, reason) ? TAMIS_OK : TAMIS_E_FORMAT;
}

tamis_status tamis_i_compact_decode(const unsigned char *bytes, size_t size,
                                    const tamis_allocator *allocator, tamis_filter **filter,
                                    const char **reason) {
    if (!tamis_i_compact_is(bytes, size))
        return tamis_i_refuse(reason, "this is not the compact form of a filter");
    if (size < AT_NUMBERS + 1 + CHECKSUM)
        return tamis_i_refuse(reason, "the data is cut off within the header");
    input in = {.p = bytes + AT_NUMBERS, .left = size - AT_NUMBERS - CHECKSUM};
    input peek = in;
    uint64_t version;
    if (compact_get_number(&peek, &version) && version > VERSION_MAX) {
        *reason = "the data has a newer format than this version of tamis can read";
        return TAMIS_E_VERSION;
    }
    if (tamis_i_checksum(bytes, size - CHECKSUM) != tamis_i_get_u64(bytes + size - CHECKSUM))
        return tamis_i_refuse(reason, "the data is damaged: its checksum does not match");
    header h = {0};
    tamis_status status = compact_read_header(&in, tamis_i_get_u64(bytes + AT_SEED), &h, reason);
    if (status != TAMIS_OK)
        return status;
    if (h.stash_used > in.left / ENTRY ||
        in.left - ENTRY * h.stash_used < (h.kind->compact_least(&h.params) + 7) / 8)
        return tamis_i_refuse(reason, "the data ends within the table");
    if (!compact_body_ok(h.n_body, size))
        return tamis_i_refuse(reason, "the filter is out of all proportion to the data");
    tamis_filter *own;
    status = tamis_i_filter_make(h.kind, &h.params, allocator, NULL, true, &own);
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    own->key_form = (unsigned char)h.key_form;
    status = compact_read_body(&in, &h, own, reason);
    if (status != TAMIS_OK) {
        tamis_filter_free(own);
        return status;
    }
    *filter = own;
    return TAMIS_OK;
}
