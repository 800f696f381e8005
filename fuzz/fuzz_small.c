/* fuzz_small.c - any bytes as a small set; digests of any kind through building and asking
 *
 * The first byte says which: if it is odd, the rest are digests, of which a set is built and asked; if it is
 * even, the rest are the bytes of a set.  Bit 1 then makes head and size right, so that what is behind them
 * is reached.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "tamis/small.h"

static void ask(const unsigned char *bytes, size_t size) {
    for (uint64_t i = 0; i < 64; i++)
        (void)tamis_small_contains(bytes, size,
                                   (tamis_digest){.lo = i, .hi = i * 0x0408102040810204u});
    (void)tamis_small_contains(bytes, size, (tamis_digest){.lo = 0, .hi = UINT64_MAX});
}

static void build(const unsigned char *data, size_t n, unsigned more) {
    const size_t keys = n / sizeof(tamis_digest), size = tamis_small_size(keys, 2 + more % 46);
    tamis_digest *const given = malloc(n + 1), *const sorted = malloc(n + 1);
    unsigned char *const bytes = malloc(size);
    must(given != NULL && sorted != NULL && bytes != NULL);
    memcpy(given, data, keys * sizeof *given);
    memcpy(sorted, data, keys * sizeof *given);
    const clock_t from = clock();
    must(tamis_small_build(sorted, keys, bytes, size) == TAMIS_OK);
    must_be_quick(from, n);
    for (size_t i = 0; i < keys; i++)
        must(tamis_small_contains(bytes, size, given[i]));
    size_t told;
    must(tamis_small_check(bytes, size, &told, NULL) == TAMIS_OK && told == keys);
    ask(bytes, size);
    free(given);
    free(sorted);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n == 0)
        return 0;
    unsigned char *const bytes = input_after_first(data, n);
    size_t size = n - 1;
    if (data[0] % 2 == 1) {
        build(bytes, size < 1 << 19 ? size : 1 << 19, data[0] / 2);
    } else {
        if ((data[0] & 2) != 0 && size >= 4) {
            unsigned char head[65536 * 6 + 8];
            size_t keys = (size_t)bytes[1] | (size_t)bytes[2] << 8;
            if (size - 3 < (2 * keys + 7) / 8 || size - 3 > 6 * keys)
                keys = (size - 3) * 4 / (2 + data[0] / 4 % 40) + 1;
            tamis_digest *const none = calloc(keys, sizeof *none);
            must(none != NULL);
            if (tamis_small_build(none, keys, head, size <= sizeof head ? size : 0) == TAMIS_OK)
                memcpy(bytes, head, 3);
            free(none);
        }
        ask(bytes, size);
        size_t keys = 0;
        double fpr = 0;
        if (tamis_small_check(bytes, size, &keys, &fpr) == TAMIS_OK)
            must(keys <= TAMIS_SMALL_KEYS_MAX && fpr >= 0 && fpr <= 1);
    }
    free(bytes);
    return 0;
}
