/* fuzz_map.c - words of a sound file are changed, and it is asked while it is verified part by part
 *
 *      byte 0     the kind of the set
 *      byte 1     bit 0: the checksums are made right; bit 1: the file is trusted; bit 2: it is of version 1;
 *                 bit 3: some bytes are missing at its end
 *      byte 2     how many
 *      12 bytes   each: where a word is, and what is changed in it by exclusive or
 *
 * A set of more than 64 KiB, which has parts, is made once for each kind.  After accidents no key may be
 * absent that was there.  After attacks, whose checksums match, all calls must be safe.  In the end
 * 'verify' must say what the loader says.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/file.h"
#include "fuzz.h"
#include "hash/hash.h"

#define HEADER TAMIS_I_HEADER_BYTES

enum { CAPACITY = 60000, IN = 3000, ASKED = 300 };
enum { RIGHT = 1, TRUSTED = 2, OLD = 4, CUT = 8 };

typedef struct sample {
    unsigned char *bytes;
    size_t size;
    uint64_t n_body;
} sample;

/* The set of a kind: integers 0 to IN - 1. */
static const sample *sample_of(unsigned number) {
    static sample samples[64];
    sample *const s = &samples[number];
    if (s->bytes != NULL)
        return s;
    tamis_params params;
    tamis_filter *filter;
    tamis_params_init(&params);
    params.kind = tamis_i_kinds[number]->id;
    params.capacity = CAPACITY;
    params.hash = TAMIS_HASH_XXH3;
    params.seed = 1;
    must(tamis_filter_create(&params, NULL, &filter) == TAMIS_OK);
    must(tamis_i_has_parts(filter->n_body));
    for (uint64_t key = 0; key < IN; key++)
        must(tamis_filter_insert_u64(filter, key, NULL) == TAMIS_OK);
    s->n_body = filter->n_body;
    s->bytes = encode(filter, &s->size);
    tamis_filter_free(filter);
    return s;
}

/* ---- the input ---- */

static void repair_header(unsigned char *bytes) {
    tamis_i_put_u64(bytes + TAMIS_I_AT_HEADER_CHECKSUM,
                    tamis_i_checksum(bytes, TAMIS_I_AT_HEADER_CHECKSUM));
}

static void repair(unsigned char *bytes, uint64_t n_body) {
    unsigned char *const body = bytes + HEADER, *const sums = body + 8 * n_body;
    const uint64_t n = tamis_i_sums_words(n_body);
    for (uint64_t i = 0; i < n; i++) {
        const tamis_i_part_span part = tamis_i_part_at(n_body, tamis_i_part_shift(n_body), i);
        tamis_i_put_u64(sums + 8 * i, tamis_i_checksum(body + 8 * part.from, (size_t)part.n * 8));
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(sums, (size_t)n * 8));
    repair_header(bytes);
}

/* The file as it was before there were parts; its length. */
static size_t make_old(unsigned char *bytes, uint64_t n_body) {
    const size_t body = 8 * (size_t)n_body;
    tamis_i_put_u32(bytes + TAMIS_I_AT_VERSION, 1);
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(bytes + HEADER, body));
    repair_header(bytes);
    return HEADER + body;
}

static void change(unsigned char *bytes, size_t size, const uint8_t *data, size_t n) {
    for (; n >= 12; data += 12, n -= 12) {
        unsigned char *const word = bytes + tamis_i_get_u32(data) % (size / 8) * 8;
        tamis_i_put_u64(word, tamis_i_get_u64(word) ^ tamis_i_get_u64(data + 4));
    }
}

/* ---- use ---- */

/* True if no key is missing. */
static bool ask(const tamis_filter *view) {
    uint64_t keys[ASKED];
    bool present[ASKED], all = true;
    for (uint64_t i = 0; i < ASKED; i++)
        keys[i] = i * 7;
    const size_t found = tamis_filter_contains_many_u64(view, keys, ASKED, present);
    size_t sum = 0;
    for (size_t i = 0; i < ASKED; i++) {
        const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(view), keys[i]);
        all = tamis_filter_contains_digest(view, digest) && present[i] && all;
        (void)tamis_filter_copies_digest(view, digest);
        sum += present[i];
    }
    must(found == sum);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 3)
        return 0;
    const sample *const s = sample_of(data[0] % (unsigned)tamis_i_n_kinds);
    const unsigned how = data[1];
    size_t size = s->size;
    unsigned char *const whole = malloc(size);
    must(whole != NULL);
    memcpy(whole, s->bytes, size);
    if (how & OLD)
        size = make_old(whole, s->n_body);
    change(whole, size, data + 3, n - 3);
    if (how & RIGHT && how & OLD)
        size = make_old(whole, s->n_body);
    else if (how & RIGHT)
        repair(whole, s->n_body);
    if (how & CUT)
        size -= data[2];
    unsigned char *const bytes = malloc(size); /* which ends where it ends */
    must(bytes != NULL);
    memcpy(bytes, whole, size);
    free(whole);

    budget b = {.most = size + 4096};
    const tamis_allocator allocator = {budget_alloc, budget_free, &b, NULL};
    tamis_filter *view = NULL, *filter = NULL;
    const char *reason = NULL;
    const tamis_status status = tamis_i_file_view(
        bytes, size, &allocator, how & TRUSTED ? TAMIS_I_OPEN_TRUSTED : TAMIS_I_OPEN_PARTS, &view,
        &reason);
    const tamis_status loaded = tamis_filter_decode(bytes, size, &allocator, &filter, NULL);
    must(status == TAMIS_OK || (loaded != TAMIS_OK && view == NULL && reason != NULL));
    if (status == TAMIS_OK) {
        const clock_t from = clock();
        const bool all = ask(view);
        must(all || how & (RIGHT | TRUSTED));
        const tamis_status verified = tamis_filter_verify(view, &reason);
        must((verified == TAMIS_OK) == (loaded == TAMIS_OK));
        must((tamis_filter_damage(view) != 0) == (verified != TAMIS_OK));
        must(ask(view) || how & (RIGHT | TRUSTED));
        must_be_quick(from, size);
        if (loaded == TAMIS_OK)
            must(same(view, filter));
        tamis_filter_free(view);
    }
    tamis_filter_free(filter);
    must(b.live == 0);
    free(bytes);
    return 0;
}
