/* fuzz_load.c - any bytes into the loader; what gets in must be safe to use
 *
 * The first byte says how the rest is treated before it is loaded:
 *
 *      bit 0   both checksums are made right, so that the checks behind them are reached
 *      bit 1   so are magic, version, size of the header and identity of the hash
 *      bit 2   so is the number of words in the body
 *
 * In a series the checksums of the links are made right, too.
 *
 * The bytes are loaded from a block of exactly their size, as a copy and as a view, which must agree.
 * What was let in is used in every way; what it writes must be read again and be the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/header.h"
#include "filter/guard.h"
#include "fuzz.h"
#include "hash/hash.h"

#define HEADER TAMIS_I_HEADER_BYTES

/* ---- use ---- */

static void read_again(const tamis_filter *filter) {
    if (tamis_filter_count(filter) > TAMIS_I_COUNT_MAX / 2)
        return;
    size_t size;
    unsigned char *const bytes = encode(filter, &size);
    tamis_filter *again;
    must(tamis_filter_decode(bytes, size, NULL, &again, NULL) == TAMIS_OK);
    must(same(filter, again));
    tamis_filter_free(again);
    free(bytes);
}

enum { N_KEYS = 40 };

static void ask(const tamis_filter *filter) {
    uint64_t keys[N_KEYS];
    bool present[N_KEYS];
    for (uint64_t i = 0; i < N_KEYS; i++)
        keys[i] = i * i;
    const size_t found = tamis_filter_contains_many_u64(filter, keys, N_KEYS, present);
    size_t sum = 0;
    for (size_t i = 0; i < N_KEYS; i++) {
        must(present[i] == tamis_filter_contains_u64(filter, keys[i]));
        must(present[i] == (tamis_filter_copies_u64(filter, keys[i]) != 0));
        sum += present[i];
    }
    must(found == sum);
    tamis_info info;
    tamis_info_init(&info);
    must(tamis_filter_info(filter, &info) == TAMIS_OK);
    must(info.fpr >= 0 && info.fpr <= 1 + 1e-9 && info.n_loads <= TAMIS_LOADS_MAX);
}

/* Keys that are in the stash are inserted once more: the table may have room for them, or not. */
static void insert_stashed(tamis_filter *filter) {
    enum { SOME = 8 };
    tamis_digest digests[SOME];
    uint64_t at = 0, copies;
    size_t n = 0;
    if (filter->kind->key_in_stash != NULL)
        return; /* what is there is no digest: tests/robust/test_line_hostile.c */
    while (n < SOME && tamis_i_stash_next(&filter->stash, &at, &digests[n], &copies))
        n++;
    for (size_t i = 0; i < n; i++) {
        must(tamis_filter_contains_digest(filter, digests[i]));
        bool added = true;
        if (tamis_filter_insert_digest(filter, digests[i], &added) == TAMIS_OK)
            must(!added);
        must(tamis_filter_contains_digest(filter, digests[i]));
        read_again(filter);
    }
}

static void use(tamis_filter *filter) {
    tamis_filter *copy, *batch;
    must(tamis_filter_clone(filter, NULL, &copy) == TAMIS_OK);
    must(tamis_filter_clone(filter, NULL, &batch) == TAMIS_OK);
    must(same(filter, copy));
    uint64_t keys[N_KEYS];
    size_t done = 0, single = 0;
    for (uint64_t i = 0; i < N_KEYS; i++)
        keys[i] = i;
    while (single < N_KEYS && tamis_filter_insert_u64(filter, keys[single], NULL) == TAMIS_OK) {
        must(tamis_filter_contains_u64(filter, keys[single]));
        single++;
    }
    const tamis_status status = tamis_filter_insert_many_u64(batch, keys, N_KEYS, NULL, &done);
    must(done == single && status == (single == N_KEYS ? TAMIS_OK : TAMIS_E_FULL));
    must(same(filter, batch));
    for (uint64_t i = 0; i < 2 * N_KEYS; i++)
        (void)!tamis_filter_remove_u64(filter, i);
    read_again(filter);
    insert_stashed(filter);
    const tamis_status merged = tamis_filter_merge(filter, copy, TAMIS_MERGE_BEYOND);
    must(merged == TAMIS_OK || merged == TAMIS_E_FULL || merged == TAMIS_E_UNSUPPORTED ||
         merged == TAMIS_E_TOO_LARGE); /* more links than a series may have */
    read_again(filter);
    ask(filter);
    must(tamis_filter_clear(filter) == TAMIS_OK && tamis_filter_count(filter) == 0);
    read_again(filter);
    tamis_filter_free(copy);
    tamis_filter_free(batch);
}

/* ---- the input ---- */

/* The checksums of the links of a series, as far as these are within the bytes. */
static void repair_series(unsigned char *bytes, size_t size) {
    unsigned char heads[41 * HEADER];
    size_t n = 0, at = HEADER;
    while (n < 41 && size - at >= HEADER) {
        unsigned char *const link = bytes + at;
        const uint64_t words = tamis_i_get_u64(link + TAMIS_I_AT_BODY_WORDS);
        at += HEADER;
        if ((size - at) / 8 < words)
            break;
        tamis_i_put_u64(link + TAMIS_I_AT_BODY_CHECKSUM,
                        tamis_i_checksum(bytes + at, (size_t)words * 8));
        tamis_i_put_u64(link + TAMIS_I_AT_HEADER_CHECKSUM,
                        tamis_i_checksum(link, TAMIS_I_AT_HEADER_CHECKSUM));
        memcpy(heads + n++ * HEADER, link, HEADER);
        at += (size_t)words * 8;
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(heads, n * HEADER));
}

static void repair(unsigned char *bytes, size_t size, unsigned how) {
    static const unsigned char magic[8] = {0x89, 'T', 'A', 'M', 'I', 'S', '\r', '\n'};
    if (size < HEADER)
        return;
    if (how & 2) {
        memcpy(bytes, magic, sizeof magic);
        const bool aes = tamis_i_get_u32(bytes + TAMIS_I_AT_HASH) == TAMIS_HASH_AES;
        const bool form = tamis_i_get_u32(bytes + TAMIS_I_AT_KEY_FORM) != 0;
        tamis_i_put_u32(bytes + TAMIS_I_AT_VERSION, aes || form ? 2 : 1);
        tamis_i_put_u32(bytes + TAMIS_I_AT_HEADER_SIZE, HEADER);
        tamis_i_put_u32(bytes + TAMIS_I_AT_HASH, aes ? TAMIS_HASH_AES : TAMIS_HASH_XXH3);
    }
    if (how & 4)
        tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_WORDS, (size - HEADER) / 8);
    if (how & 1) {
        if (tamis_i_get_u32(bytes + TAMIS_I_AT_KIND) == 128)
            repair_series(bytes, size);
        else
            tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM,
                            tamis_i_checksum(bytes + HEADER, size - HEADER));
        tamis_i_put_u64(bytes + TAMIS_I_AT_HEADER_CHECKSUM,
                        tamis_i_checksum(bytes, TAMIS_I_AT_HEADER_CHECKSUM));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n == 0)
        return 0;
    const size_t size = n - 1;
    unsigned char *const bytes = input_after_first(data, n);
    repair(bytes, size, data[0]);

    budget b = {.most = size + 4096};
    const tamis_allocator allocator = {budget_alloc, budget_free, &b, NULL};
    tamis_filter *filter = NULL, *view = NULL;
    const char *reason = NULL, *view_reason = NULL;
    const clock_t from = clock();
    const tamis_status status = tamis_filter_decode(bytes, size, &allocator, &filter, &reason);
    must_be_quick(from, size);
    const tamis_status view_status =
        tamis_filter_view(bytes, size, &allocator, &view, &view_reason);
    must(status == view_status);
    if (status != TAMIS_OK) {
        must(filter == NULL && view == NULL && reason != NULL && b.live == 0);
        must(strcmp(reason, view_reason) == 0);
    } else {
        must(same(filter, view));
        size_t again_size;
        unsigned char *const again = encode(view, &again_size);
        must(again_size == size && memcmp(again, bytes, size) == 0);
        free(again);
        ask(view);
        ask(filter);
        must(tamis_filter_insert_u64(view, 1, NULL) == TAMIS_E_READONLY);
        use(filter);
        tamis_filter_free(filter);
        tamis_filter_free(view);
        must(b.live == 0);
    }
    free(bytes);
    return 0;
}
