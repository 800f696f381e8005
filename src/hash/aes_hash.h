/* aes_hash.h - a hash for keys that strangers may choose: a universal hash, then AES-128
 *
 * docs/format.md has the specification, docs/hash.md the proofs and what is promised.  In short, with words
 * that are read from bytes with the lowest first, blocks of 16 bytes, and E the cipher AES-128 in its
 * standard form:
 *
 *      seed       128 bits: the key of E that all other keys come from.  Block number i of the expansion is
 *                 E(seed, i): 0 is the key of the hash's own E, 1 to 4 are W0 to W3, 5 is r, and 6 to 37 are
 *                 k[0] to k[31].  Of r the low 58 bits of each word are used, of k[i] the low 26 bits of each
 *                 32.
 *      n <= 15    digest = E(block ^ W0), where block is the bytes, zeros, and n as the last byte
 *      n = 16     digest = E(block ^ W1)
 *      n <= 128   digest = E(fold(n + sum of w[i] k[i]) ^ W2), with w[i] the words of 32 bits
 *      longer     digest = E(a ^ W3); a = n, then for each 128 bytes a = fold(a r + sum of w[i] k[i])
 *
 * fold(v) = v mod 2^127 + v / 2^127 keeps the remainder of v by the prime 2^127 - 1.  An integer is hashed
 * as its eight bytes.
 *
 * Here are the expanded keys, and the operations for them; aes_block.h has what comes before E.  The portable
 * operations define the digests, those for a processor equal them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_AES_HASH_H
#define TAMIS_HASH_AES_HASH_H

#include "base/base.h"
#include "base/cpu.h"

#define TAMIS_I_AES_ROUNDS 10u /* of AES-128 */
#define TAMIS_I_AES_CHUNK  128u
#define TAMIS_I_AES_WORDS  32u /* of a chunk, 32 bits each */
/* What start[] has beyond keys of 0 to 16 bytes: those of up to a chunk, and longer ones. */
#define TAMIS_I_AES_MIDDLE 17u
#define TAMIS_I_AES_LONG   18u
#define TAMIS_I_AES_STARTS 19u

/* Everything here is aligned like a tamis_hasher: to 16 bytes where vectors are loaded from it.
 *
 * The keys of AES-128, one for each round and one for before the first.  Bytes 0 to 7 of a state are word 0,
 * the lowest first. */
typedef struct tamis_i_aes_schedule {
    _Alignas(long double) uint64_t round[TAMIS_I_AES_ROUNDS + 1][2];
} tamis_i_aes_schedule;

/* All that follows from a seed: 1.5 KiB.  What is combined with a block before the first round stands in
 * start[]: round key 0, the W of keys of this length, and the length in the last byte. */
typedef struct tamis_i_hash_keys {
    tamis_i_aes_schedule schedule;
    _Alignas(long double) uint64_t start[TAMIS_I_AES_STARTS][2];
    /* k[]: part j of the key of word 4 b + i is words[b][j][i], a vector of four for each j. */
    _Alignas(long double) uint64_t words[TAMIS_I_AES_WORDS / 4][4][4];
    uint64_t point[2];   /* r */
    uint64_t seed, flip; /* of XXH3, which needs no others: hash/word.h */
    uint64_t salt; /* for what else a structure draws from the seed: the permutations of choices */
} tamis_i_hash_keys;

/* Ways to make digests.  A key of no bytes may be NULL.  Not a byte outside of a key is read. */
typedef struct tamis_i_hash_ops {
    tamis_digest (*word)(const tamis_i_hash_keys *keys, uint64_t key);
    tamis_digest (*bytes)(const tamis_i_hash_keys *keys, const void *key, size_t size);
    void (*many_words)(const tamis_i_hash_keys *keys, const uint64_t *from, size_t n,
                       tamis_digest *digests);
    void (*many)(const tamis_i_hash_keys *keys, const tamis_bytes *from, size_t n,
                 tamis_digest *digests);
    /* Of AES: the cipher, and its S-box on each byte of a column.  The keys of a seed are made by these, so
     * that where there are instructions for them no table is looked at. */
    tamis_digest (*encrypt)(const tamis_i_aes_schedule *schedule, tamis_digest block);
    uint32_t (*substitute)(uint32_t column);
} tamis_i_hash_ops;

/* The schedule of a key of AES-128. */
void tamis_i_aes_expand(tamis_i_aes_schedule *schedule, tamis_digest key,
                        const tamis_i_hash_ops *ops);

/* The keys of a seed of 128 bits, low word first. */
void tamis_i_aes_keys_init(tamis_i_hash_keys *keys, uint64_t seed_lo, uint64_t seed_hi,
                           const tamis_i_hash_ops *ops);

/* The best for these features; never NULL.  Those of a processor family: NULL if they need others. */
const tamis_i_hash_ops *tamis_i_aes_ops_for(unsigned features);
const tamis_i_hash_ops *tamis_i_aes_ops_x86(unsigned features);
const tamis_i_hash_ops *tamis_i_aes_ops_arm(unsigned features);

#endif
