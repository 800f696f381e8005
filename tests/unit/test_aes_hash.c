/* test_aes_hash.c - the hash for strangers' keys: the cipher, the vectors, and that all processors agree
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "hash/aes_hash.h"
#include "hash/hash.h"
#include "support.h"

#define TEXT 70000u

static const struct vector {
    uint64_t seed_lo, seed_hi;
    size_t size;
    uint64_t lo, hi;
    bool ones; /* bytes of 0xff, where sums are largest */
} vectors[] = {
#define AES_VECTOR(...) {__VA_ARGS__, false},
#define AES_ONES(...)   {__VA_ARGS__, true},
#include "unit/aes_vectors.h"
};

/* Every set of features that changes the operations; those that this machine lacks drop out. */
static const tamis_i_hash_ops *ops_number(unsigned i) {
    static const unsigned off[] = {0, TAMIS_I_CPU_VAES, TAMIS_I_CPU_VAES | TAMIS_I_CPU_AVX2, ~0u};
    return i < sizeof off / sizeof off[0] ? tamis_i_aes_ops_for(tamis_i_cpu_features() & ~off[i])
                                          : NULL;
}

static unsigned char *text_of(size_t n) {
    unsigned char *const bytes = malloc(n);
    assert_non_null(bytes);
    uint64_t word = 2654435761u;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)(word >> 56);
        word *= 11400714785074694797u;
    }
    return bytes;
}

static void assert_digest(tamis_digest d, uint64_t lo, uint64_t hi) {
    assert_true(d.lo == lo && d.hi == hi);
}

/* FIPS 197, appendix B and C.1; words are bytes with the lowest first. */
static const struct {
    tamis_digest key, plain, cipher;
} fips[] = {
    {{0xa6d2ae2816157e2bu, 0x3c4fcf098815f7abu},
     {0x8d305a88a8f64332u, 0x340737e0a2983131u},
     {0xfb09dc021d842539u, 0x320b6a19978511dcu}},
    {{0x0706050403020100u, 0x0f0e0d0c0b0a0908u},
     {0x7766554433221100u, 0xffeeddccbbaa9988u},
     {0x30047b6ad8e0c469u, 0x5ac5b47080b7cdd8u}},
};

static void test_cipher_is_that_of_fips_197(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof fips / sizeof fips[0]; i++) {
        unsigned char block[16];
        tamis_i_put_u64(block, fips[i].plain.lo);
        tamis_i_put_u64(block + 8, fips[i].plain.hi);
        const tamis_i_hash_ops *ops;
        for (unsigned j = 0; (ops = ops_number(j)) != NULL; j++) {
            tamis_i_hash_keys keys;
            memset(&keys, 0, sizeof keys);
            tamis_i_aes_expand(&keys.schedule, fips[i].key, ops);
            assert_digest(ops->encrypt(&keys.schedule, fips[i].plain), fips[i].cipher.lo,
                          fips[i].cipher.hi);
            /* With W1 = 0 a key of 16 bytes is a block. */
            memcpy(keys.start[16], keys.schedule.round[0], 16);
            assert_digest(ops->bytes(&keys, block, 16), fips[i].cipher.lo, fips[i].cipher.hi);
        }
    }
}

static void test_vectors_of_the_reference_are_met(void **state) {
    (void)state;
    unsigned char *const text = text_of(TEXT), *const ones = malloc(1024);
    assert_non_null(ones);
    memset(ones, 0xff, 1024);
    const tamis_i_hash_ops *ops;
    for (unsigned j = 0; (ops = ops_number(j)) != NULL; j++) {
        for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
            const struct vector *const v = &vectors[i];
            tamis_i_hash_keys keys;
            tamis_i_aes_keys_init(&keys, v->seed_lo, v->seed_hi, ops);
            const tamis_bytes key = {v->ones ? ones : text, v->size};
            tamis_digest many;
            ops->many(&keys, &key, 1, &many);
            assert_digest(many, v->lo, v->hi);
            assert_digest(ops->bytes(&keys, key.data, key.size), v->lo, v->hi);
        }
    }
    free(text);
    free(ones);
}

/* Keys that end where their memory ends, so that a sanitizer sees a byte too many; at all alignments. */
static void test_operations_of_processors_equal_the_portable(void **state) {
    (void)state;
    const tamis_i_hash_ops *const portable = tamis_i_aes_ops_for(0);
    uint64_t random = test_seed();
    for (size_t size = 0; size <= 700; size += size < 300 ? 1 : 37) {
        tamis_i_hash_keys keys;
        tamis_i_aes_keys_init(&keys, test_random(&random), test_random(&random),
                              tamis_i_aes_ops_for(tamis_i_cpu_features()));
        for (size_t shift = 0; shift < 9; shift++) {
            unsigned char *const bytes = malloc(size + shift + 1);
            assert_non_null(bytes);
            unsigned char *const key = bytes + shift + 1;
            const uint64_t kind = test_random(&random) % 4;
            for (size_t i = 0; i < size; i++)
                key[i] = (unsigned char)(kind == 0 ? 0xff : kind == 1 ? 0 : test_random(&random));
            const tamis_digest expected = portable->bytes(&keys, key, size);
            const tamis_i_hash_ops *ops;
            for (unsigned j = 0; (ops = ops_number(j)) != NULL; j++) {
                const tamis_bytes two[2] = {{key, size}, {key, size}};
                tamis_digest many[2];
                assert_digest(ops->bytes(&keys, key, size), expected.lo, expected.hi);
                ops->many(&keys, two, 2, many);
                assert_digest(many[1], expected.lo, expected.hi);
            }
            free(bytes);
        }
    }
}

static void test_integers_equal_their_bytes(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    tamis_i_hash_keys keys;
    tamis_i_aes_keys_init(&keys, test_random(&random), test_random(&random),
                          tamis_i_aes_ops_for(tamis_i_cpu_features()));
    const tamis_i_hash_ops *ops;
    for (unsigned j = 0; (ops = ops_number(j)) != NULL; j++) {
        for (size_t n = 0; n < 40; n++) {
            uint64_t from[40];
            tamis_digest digests[41];
            memset(digests, 0x5a, sizeof digests);
            for (size_t i = 0; i < n; i++)
                from[i] = test_some_word(&random);
            ops->many_words(&keys, from, n, digests);
            assert_true(digests[n].lo == 0x5a5a5a5a5a5a5a5au);
            for (size_t i = 0; i < n; i++) {
                unsigned char bytes[8];
                tamis_i_put_u64(bytes, from[i]);
                const tamis_digest d = ops->bytes(&keys, bytes, 8), e = ops->word(&keys, from[i]);
                assert_digest(digests[i], d.lo, d.hi);
                assert_digest(digests[i], e.lo, e.hi);
            }
        }
    }
}

static void test_processor_with_aes_uses_it(void **state) {
    (void)state;
    const unsigned features = tamis_i_cpu_features();
    const bool native = tamis_i_aes_ops_for(features) != tamis_i_aes_ops_for(0);
    printf("# features %u\n", features);
    assert_int_equal(native, (features & TAMIS_I_CPU_AES) != 0);
}

static void test_empty_key_may_be_null(void **state) {
    (void)state;
    tamis_i_hash_keys keys;
    tamis_i_aes_keys_init(&keys, 1, 0, tamis_i_aes_ops_for(tamis_i_cpu_features()));
    const tamis_i_hash_ops *ops;
    for (unsigned j = 0; (ops = ops_number(j)) != NULL; j++) {
        const tamis_digest d = ops->bytes(&keys, NULL, 0), e = ops->bytes(&keys, "x", 0);
        assert_digest(d, e.lo, e.hi);
    }
}

/* All halves of the seed, each bit of it, change the digests of all lengths. */
static void test_every_bit_of_the_seed_counts(void **state) {
    (void)state;
    const size_t sizes[] = {0, 8, 16, 17, 128, 129};
    unsigned char *const text = text_of(200);
    tamis_i_hash_keys keys, other;
    tamis_i_aes_keys_init(&keys, 0, 0, tamis_i_aes_ops_for(tamis_i_cpu_features()));
    const tamis_i_hash_ops *const ops = tamis_i_aes_ops_for(tamis_i_cpu_features());
    for (unsigned bit = 0; bit < 128; bit++) {
        tamis_i_aes_keys_init(&other, bit < 64 ? (uint64_t)1 << bit : 0,
                              bit < 64 ? 0 : (uint64_t)1 << (bit - 64),
                              tamis_i_aes_ops_for(tamis_i_cpu_features()));
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const tamis_digest d = ops->bytes(&keys, text, sizes[i]),
                               e = ops->bytes(&other, text, sizes[i]);
            assert_true(d.lo != e.lo && d.hi != e.hi);
        }
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cipher_is_that_of_fips_197),
        cmocka_unit_test(test_vectors_of_the_reference_are_met),
        cmocka_unit_test(test_operations_of_processors_equal_the_portable),
        cmocka_unit_test(test_integers_equal_their_bytes),
        cmocka_unit_test(test_processor_with_aes_uses_it),
        cmocka_unit_test(test_empty_key_may_be_null),
        cmocka_unit_test(test_every_bit_of_the_seed_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
