/* fuzz_compact.c - any bytes as a compact form; what gets in must be a filter like any other
 *
 * The first byte says how the rest is treated before it is decoded:
 *
 *      bit 0   the checksum at the end is made right, so that the checks behind it are reached
 *      bit 1   so are magic and version
 *      bit 2   the rest is the file of a filter: it is loaded and written in it, one byte of that is changed,
 *              the checksum made right, and this is decoded
 *      bit 3   the rest are entries of a stash, and how often each is repeated: a form of up to ten kilobytes
 *              is made of them, long enough for what costs the square of its length to be seen
 *
 * The bytes are decoded from a block of exactly their size, with memory and time for no more than they
 * justify.  What was let in must pass the check of the file format, come back from its own compact form and
 * from its file as it is, and take calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "hash/hash.h"

/* ---- memory ---- */

/* As src/file/compact.c says, and a handle. */
#define TIMES 64u
#define FIXED (((size_t)2 << 20) + 4096)

#define LONG 4096u

/* ---- use ---- */

static unsigned char *compact_form(const tamis_filter *filter, size_t *size) {
    *size = (size_t)tamis_filter_compact_size(filter);
    unsigned char *const bytes = malloc(*size);
    must(bytes != NULL && tamis_filter_compact_encode(filter, bytes, *size) == TAMIS_OK);
    return bytes;
}

enum { N_KEYS = 64 };

static void ask_the_same(const tamis_filter *a, const tamis_filter *b) {
    uint64_t keys[N_KEYS];
    bool in_a[N_KEYS], in_b[N_KEYS];
    for (uint64_t i = 0; i < N_KEYS; i++)
        keys[i] = i * i;
    must(tamis_filter_count(a) == tamis_filter_count(b));
    must(tamis_filter_contains_many_u64(a, keys, N_KEYS, in_a) ==
         tamis_filter_contains_many_u64(b, keys, N_KEYS, in_b));
    for (size_t i = 0; i < N_KEYS; i++) {
        must(in_a[i] == in_b[i] && in_a[i] == tamis_filter_contains_u64(a, keys[i]));
        must(tamis_filter_copies_u64(a, keys[i]) == tamis_filter_copies_u64(b, keys[i]));
    }
}

/* Written and read again, nothing is lost; the form of that is the same to the byte. */
static void go_round(const tamis_filter *filter) {
    size_t size, again_size;
    unsigned char *const bytes = compact_form(filter, &size);
    tamis_filter *again = NULL;
    must(tamis_filter_compact_decode(bytes, size, NULL, &again, NULL) == TAMIS_OK);
    ask_the_same(filter, again);
    unsigned char *const again_bytes = compact_form(again, &again_size);
    must(again_size == size && memcmp(bytes, again_bytes, size) == 0);
    tamis_filter_free(again);
    free(again_bytes);
    free(bytes);
    unsigned char *const file = encode(filter, &size);
    must(tamis_filter_decode(file, size, NULL, &again, NULL) == TAMIS_OK);
    ask_the_same(filter, again);
    tamis_filter_free(again);
    free(file);
}

static void use(tamis_filter *filter) {
    const char *reason = NULL;
    must(tamis_i_filter_check(filter, &reason));
    if (tamis_filter_count(filter) > TAMIS_I_COUNT_MAX / 2)
        return;
    go_round(filter);
    bool in[N_KEYS];
    for (uint64_t i = 0; i < N_KEYS; i++) {
        const tamis_status status = tamis_filter_insert_u64(filter, i, NULL);
        must(status == TAMIS_OK || status == TAMIS_E_FULL);
        in[i] = status == TAMIS_OK;
        must(!in[i] || tamis_filter_contains_u64(filter, i));
    }
    go_round(filter);
    for (uint64_t i = 0; i < N_KEYS; i++)
        must(!in[i] || tamis_filter_remove_u64(filter, i) == TAMIS_OK);
    go_round(filter);
    must(tamis_i_filter_check(filter, &reason));
}

/* ---- the input ---- */

static void repair(unsigned char *bytes, size_t size, unsigned how) {
    static const unsigned char magic[8] = {0x89, 'T', 'A', 'M', 'C', 'F', '\r', '\n'};
    if (size < 25)
        return;
    if (how & 2) {
        memcpy(bytes, magic, sizeof magic);
        bytes[16] = bytes[16] == 2 ? 2 : 1;
    }
    if (how & 1)
        tamis_i_put_u64(bytes + size - 8, tamis_i_checksum(bytes, size - 8));
}

static void compact_read(const unsigned char *bytes, size_t size) {
    budget b = {.most = TIMES * size + FIXED};
    const tamis_allocator allocator = {budget_alloc, budget_free, &b, NULL};
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    const clock_t from = clock();
    const tamis_status status =
        tamis_filter_compact_decode(bytes, size, &allocator, &filter, &reason);
    must_be_quick(from, size);
    if (status != TAMIS_OK) {
        must(filter == NULL && reason != NULL && b.live == 0);
        return;
    }
    if (size < LONG) /* longer ones take the time of a thousand runs */
        use(filter);
    tamis_filter_free(filter);
    must(b.live == 0);
}

/* The form of a filter that the fuzzer made as a file, with one byte changed: data[0] says which, and
 * data[1] by what. */
static void import_from_file(const unsigned char *data, size_t n) {
    tamis_filter *filter = NULL;
    if (n < 2 || tamis_filter_decode(data + 2, n - 2, NULL, &filter, NULL) != TAMIS_OK)
        return;
    if (tamis_filter_compact_size(filter) != 0) {
        size_t size;
        unsigned char *const bytes = compact_form(filter, &size);
        bytes[data[0] % size] ^= data[1];
        repair(bytes, size, 1);
        compact_read(bytes, size);
        free(bytes);
    }
    tamis_filter_free(filter);
}

/* Records of 19 bytes: a digest, its copies, and how often it comes, up to 600 times; from the second
 * time on with another digest of the same slot of the stash if the number of copies is even. */
enum { RECORD = 19, ENTRY = 17, ENTRIES_MAX = 600 };

static size_t put_record(unsigned char *to, size_t room, const unsigned char *record) {
    const uint64_t lo = tamis_i_get_u64(record), hi = tamis_i_get_u64(record + 8);
    size_t n = record[17] | (size_t)record[18] << 8;
    n = n < room ? n : room;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t other = record[16] % 2 == 0 ? i : 0;
        tamis_i_put_u64(to + i * ENTRY, lo ^ (other << 32 | other >> 32));
        tamis_i_put_u64(to + i * ENTRY + 8, hi ^ other);
        to[i * ENTRY + 16] = record[16];
    }
    return n;
}

static unsigned char *put_number(unsigned char *p, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        *p++ = (unsigned char)(number | 0x80);
    *p++ = (unsigned char)number;
    return p;
}

static void import_entries(const unsigned char *data, size_t n) {
    unsigned char *const entries = malloc((size_t)ENTRIES_MAX * ENTRY);
    must(entries != NULL);
    size_t used = 0;
    uint64_t count = 0;
    for (; n >= RECORD; data += RECORD, n -= RECORD)
        used += put_record(entries + used * ENTRY, ENTRIES_MAX - used, data);
    for (size_t i = 0; i < used; i++)
        count += entries[i * ENTRY + 16];
    unsigned char *const bytes = calloc(1, 256 + used * ENTRY);
    must(bytes != NULL);
    /* version, kind, hash, capacity, stash, count, entries, parameters: a bucket of 20 slots */
    const uint64_t numbers[] = {
        1, TAMIS_KIND_RANK, 1, 100, used + used / 8 + 1, count, used, 4, 1, 64, 8, 20};
    unsigned char *p = bytes + 16;
    tamis_i_put_u64(bytes + 8, 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        p = put_number(p, numbers[i]);
    memcpy(p, entries, used * ENTRY);
    const size_t size = (size_t)(p - bytes) + used * ENTRY + 8 + 8;
    repair(bytes, size, 3);
    compact_read(bytes, size);
    free(bytes);
    free(entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n == 0)
        return 0;
    const size_t size = n - 1;
    unsigned char *const bytes = input_after_first(data, n);
    if (data[0] & 4) {
        import_from_file(bytes, size);
    } else if (data[0] & 8) {
        import_entries(bytes, size);
    } else {
        repair(bytes, size, data[0]);
        compact_read(bytes, size);
    }
    free(bytes);
    return 0;
}
