/* aes_hash.c - the keys of the hash, and AES-128 in plain C, which defines the digests
 *
 * A round of AES replaces the 16 bytes of the state by those of a table, turns the rows, and multiplies the
 * columns by a matrix.  A column of the result is the sum of four columns, each of which depends on one byte:
 * four tables of 256 columns do all of it, 16 look-ups a round (Daemen and Rijmen, "AES proposal: Rijndael",
 * section 5.2).  The last round has no matrix.
 *
 * How long a look-up takes depends on what is in the cache, so that who measures times closely may learn
 * bytes of the keys; docs/hash.md says what that means.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/aes_hash.h"

#include "hash/aes_block.h"
#include "hash/arm/target.h"

/* The S-box of FIPS 197, in order. */
/* clang-format off */
#define TAMIS_I_AES_BYTES(F)                                        \
    F(0x63) F(0x7c) F(0x77) F(0x7b) F(0xf2) F(0x6b) F(0x6f) F(0xc5) \
    F(0x30) F(0x01) F(0x67) F(0x2b) F(0xfe) F(0xd7) F(0xab) F(0x76) \
    F(0xca) F(0x82) F(0xc9) F(0x7d) F(0xfa) F(0x59) F(0x47) F(0xf0) \
    F(0xad) F(0xd4) F(0xa2) F(0xaf) F(0x9c) F(0xa4) F(0x72) F(0xc0) \
    F(0xb7) F(0xfd) F(0x93) F(0x26) F(0x36) F(0x3f) F(0xf7) F(0xcc) \
    F(0x34) F(0xa5) F(0xe5) F(0xf1) F(0x71) F(0xd8) F(0x31) F(0x15) \
    F(0x04) F(0xc7) F(0x23) F(0xc3) F(0x18) F(0x96) F(0x05) F(0x9a) \
    F(0x07) F(0x12) F(0x80) F(0xe2) F(0xeb) F(0x27) F(0xb2) F(0x75) \
    F(0x09) F(0x83) F(0x2c) F(0x1a) F(0x1b) F(0x6e) F(0x5a) F(0xa0) \
    F(0x52) F(0x3b) F(0xd6) F(0xb3) F(0x29) F(0xe3) F(0x2f) F(0x84) \
    F(0x53) F(0xd1) F(0x00) F(0xed) F(0x20) F(0xfc) F(0xb1) F(0x5b) \
    F(0x6a) F(0xcb) F(0xbe) F(0x39) F(0x4a) F(0x4c) F(0x58) F(0xcf) \
    F(0xd0) F(0xef) F(0xaa) F(0xfb) F(0x43) F(0x4d) F(0x33) F(0x85) \
    F(0x45) F(0xf9) F(0x02) F(0x7f) F(0x50) F(0x3c) F(0x9f) F(0xa8) \
    F(0x51) F(0xa3) F(0x40) F(0x8f) F(0x92) F(0x9d) F(0x38) F(0xf5) \
    F(0xbc) F(0xb6) F(0xda) F(0x21) F(0x10) F(0xff) F(0xf3) F(0xd2) \
    F(0xcd) F(0x0c) F(0x13) F(0xec) F(0x5f) F(0x97) F(0x44) F(0x17) \
    F(0xc4) F(0xa7) F(0x7e) F(0x3d) F(0x64) F(0x5d) F(0x19) F(0x73) \
    F(0x60) F(0x81) F(0x4f) F(0xdc) F(0x22) F(0x2a) F(0x90) F(0x88) \
    F(0x46) F(0xee) F(0xb8) F(0x14) F(0xde) F(0x5e) F(0x0b) F(0xdb) \
    F(0xe0) F(0x32) F(0x3a) F(0x0a) F(0x49) F(0x06) F(0x24) F(0x5c) \
    F(0xc2) F(0xd3) F(0xac) F(0x62) F(0x91) F(0x95) F(0xe4) F(0x79) \
    F(0xe7) F(0xc8) F(0x37) F(0x6d) F(0x8d) F(0xd5) F(0x4e) F(0xa9) \
    F(0x6c) F(0x56) F(0xf4) F(0xea) F(0x65) F(0x7a) F(0xae) F(0x08) \
    F(0xba) F(0x78) F(0x25) F(0x2e) F(0x1c) F(0xa6) F(0xb4) F(0xc6) \
    F(0xe8) F(0xdd) F(0x74) F(0x1f) F(0x4b) F(0xbd) F(0x8b) F(0x8a) \
    F(0x70) F(0x3e) F(0xb5) F(0x66) F(0x48) F(0x03) F(0xf6) F(0x0e) \
    F(0x61) F(0x35) F(0x57) F(0xb9) F(0x86) F(0xc1) F(0x1d) F(0x9e) \
    F(0xe1) F(0xf8) F(0x98) F(0x11) F(0x69) F(0xd9) F(0x8e) F(0x94) \
    F(0x9b) F(0x1e) F(0x87) F(0xe9) F(0xce) F(0x55) F(0x28) F(0xdf) \
    F(0x8c) F(0xa1) F(0x89) F(0x0d) F(0xbf) F(0xe6) F(0x42) F(0x68) \
    F(0x41) F(0x99) F(0x2d) F(0x0f) F(0xb0) F(0x54) F(0xbb) F(0x16)
/* clang-format on */

/* A byte times 2 and 3 in the field of AES, and the column that a byte of row 0 to 3 adds; row 0 is low. */
#define TAMIS_I_AES_TWICE(s)  ((uint32_t)(s) << 1 ^ ((s) > 127 ? 0x11bu : 0))
#define TAMIS_I_AES_THRICE(s) (TAMIS_I_AES_TWICE(s) ^ (s))
#define TAMIS_I_AES_SUM(a, b, c, d)                                                                \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24),
#define TAMIS_I_AES_ROW0(s) TAMIS_I_AES_SUM(TAMIS_I_AES_TWICE(s), s, s, TAMIS_I_AES_THRICE(s))
#define TAMIS_I_AES_ROW1(s) TAMIS_I_AES_SUM(TAMIS_I_AES_THRICE(s), TAMIS_I_AES_TWICE(s), s, s)
#define TAMIS_I_AES_ROW2(s) TAMIS_I_AES_SUM(s, TAMIS_I_AES_THRICE(s), TAMIS_I_AES_TWICE(s), s)
#define TAMIS_I_AES_ROW3(s) TAMIS_I_AES_SUM(s, s, TAMIS_I_AES_THRICE(s), TAMIS_I_AES_TWICE(s))
#define TAMIS_I_AES_BYTE(s) s,

static const uint8_t aes_bytes[256] = {TAMIS_I_AES_BYTES(TAMIS_I_AES_BYTE)};
static const _Alignas(64) uint32_t aes_rows[4][256] = {{TAMIS_I_AES_BYTES(TAMIS_I_AES_ROW0)},
                                                       {TAMIS_I_AES_BYTES(TAMIS_I_AES_ROW1)},
                                                       {TAMIS_I_AES_BYTES(TAMIS_I_AES_ROW2)},
                                                       {TAMIS_I_AES_BYTES(TAMIS_I_AES_ROW3)}};

/* ---- the cipher ---- */

/* A column of a state after the bytes, rows and columns of a round, from the four it is mixed of. */
static inline uint32_t aes_column(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return aes_rows[0][(uint8_t)a] ^ aes_rows[1][(uint8_t)(b >> 8)] ^
           aes_rows[2][(uint8_t)(c >> 16)] ^ aes_rows[3][d >> 24];
}

/* The same in the last round. */
static inline uint32_t aes_last_column(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return aes_bytes[(uint8_t)a] | (uint32_t)aes_bytes[(uint8_t)(b >> 8)] << 8 |
           (uint32_t)aes_bytes[(uint8_t)(c >> 16)] << 16 | (uint32_t)aes_bytes[d >> 24] << 24;
}

/* All rounds of a state that key 0 was added to. */
static inline tamis_digest aes_rounds(const tamis_i_aes_schedule *schedule, tamis_digest state) {
    uint32_t a = (uint32_t)state.lo, b = (uint32_t)(state.lo >> 32), c = (uint32_t)state.hi,
             d = (uint32_t)(state.hi >> 32);
    for (unsigned i = 1; i < TAMIS_I_AES_ROUNDS; i++) {
        const uint64_t lo = schedule->round[i][0], hi = schedule->round[i][1];
        const uint32_t next_a = aes_column(a, b, c, d) ^ (uint32_t)lo,
                       next_b = aes_column(b, c, d, a) ^ (uint32_t)(lo >> 32),
                       next_c = aes_column(c, d, a, b) ^ (uint32_t)hi,
                       next_d = aes_column(d, a, b, c) ^ (uint32_t)(hi >> 32);
        a = next_a;
        b = next_b;
        c = next_c;
        d = next_d;
    }
    const uint64_t lo = aes_last_column(a, b, c, d) | (uint64_t)aes_last_column(b, c, d, a) << 32,
                   hi = aes_last_column(c, d, a, b) | (uint64_t)aes_last_column(d, a, b, c) << 32;
    return (tamis_digest){.lo = lo ^ schedule->round[TAMIS_I_AES_ROUNDS][0],
                          .hi = hi ^ schedule->round[TAMIS_I_AES_ROUNDS][1]};
}

static tamis_digest aes_encrypt(const tamis_i_aes_schedule *schedule, tamis_digest block) {
    return aes_rounds(schedule, (tamis_digest){.lo = block.lo ^ schedule->round[0][0],
                                               .hi = block.hi ^ schedule->round[0][1]});
}

static uint32_t aes_substitute(uint32_t column) {
    return aes_last_column(column, column, column, column);
}

/* FIPS 197, 5.2: a column is the one before it plus that of the key before, and the first of each key has the
 * bytes of the one before it turned and replaced. */
void tamis_i_aes_expand(tamis_i_aes_schedule *schedule, tamis_digest key,
                        const tamis_i_hash_ops *ops) {
    uint32_t column[4] = {(uint32_t)key.lo, (uint32_t)(key.lo >> 32), (uint32_t)key.hi,
                          (uint32_t)(key.hi >> 32)};
    uint32_t constant = 1;
    for (unsigned i = 0;; i++) {
        schedule->round[i][0] = column[0] | (uint64_t)column[1] << 32;
        schedule->round[i][1] = column[2] | (uint64_t)column[3] << 32;
        if (i == TAMIS_I_AES_ROUNDS)
            return;
        const uint32_t turned = column[3] >> 8 | column[3] << 24;
        column[0] ^= ops->substitute(turned) ^ constant;
        for (unsigned j = 1; j < 4; j++)
            column[j] ^= column[j - 1];
        constant = TAMIS_I_AES_TWICE(constant);
    }
}

/* ---- the keys of a seed ---- */

/* Block number i of the expansion. */
static tamis_digest aes_derived(const tamis_i_hash_ops *ops, const tamis_i_aes_schedule *master,
                                unsigned i) {
    return ops->encrypt(master, (tamis_digest){.lo = i, .hi = 0});
}

void tamis_i_aes_keys_init(tamis_i_hash_keys *keys, uint64_t seed_lo, uint64_t seed_hi,
                           const tamis_i_hash_ops *ops) {
    tamis_i_aes_schedule master;
    tamis_i_aes_expand(&master, (tamis_digest){.lo = seed_lo, .hi = seed_hi}, ops);
    tamis_i_aes_expand(&keys->schedule, aes_derived(ops, &master, 0), ops);
    const uint64_t *const first = keys->schedule.round[0];
    tamis_digest w = {0, 0};
    for (unsigned size = 0; size < TAMIS_I_AES_STARTS; size++) {
        if (size == 0 || size >= 16) /* the lengths below 16 share one */
            w = aes_derived(ops, &master, size < 16 ? 1 : size - 14);
        keys->start[size][0] = first[0] ^ w.lo;
        keys->start[size][1] = first[1] ^ w.hi ^ (size < 16 ? (uint64_t)size << 56 : 0);
    }
    const tamis_digest point = aes_derived(ops, &master, 5);
    keys->point[0] = point.lo & (UINT64_MAX >> 6);
    keys->point[1] = point.hi & (UINT64_MAX >> 6);
    for (unsigned i = 0; i < TAMIS_I_AES_WORDS; i++) {
        const tamis_digest k = aes_derived(ops, &master, 6 + i);
        const uint64_t parts[4] = {k.lo, k.lo >> 32, k.hi, k.hi >> 32};
        for (unsigned j = 0; j < 4; j++)
            keys->words[i / 4][j][i % 4] = parts[j] & (UINT32_MAX >> 6);
    }
    keys->salt = aes_derived(ops, &master, 6 + TAMIS_I_AES_WORDS).lo;
}

/* ---- keys of more than 16 bytes ---- */

/* Four words at p; 'keys' are those of a block. */
static inline void aes_add_block(tamis_i_aes_sums *sums, const unsigned char *p,
                                 const uint64_t (*keys)[4]) {
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t word = tamis_i_get_u32(p + 4 * (size_t)i);
        for (unsigned j = 0; j < 4; j++)
            sums->s[j] += word * keys[j][i];
    }
}

/* 17 to 128 bytes: the last 16 bytes, wherever they begin, have the first keys; the whole blocks before them
 * have the others. */
static tamis_digest aes_middle(const tamis_i_hash_keys *keys, const unsigned char *p, size_t n) {
    tamis_i_aes_sums sums = {{0}};
    aes_add_block(&sums, p + n - 16, keys->words[0]);
    for (size_t i = 0; i < (n - 1) / 16; i++)
        aes_add_block(&sums, p + 16 * i, keys->words[i + 1]);
    return tamis_i_aes_fold(tamis_i_aes_value(sums, n));
}

/* More than 128 bytes: whole chunks, then the last 128 bytes if some are left. */
static tamis_digest aes_long(const tamis_i_hash_keys *keys, const unsigned char *p, size_t n) {
    tamis_digest a = {.lo = n, .hi = 0};
    for (size_t done = 0; done < n; done += TAMIS_I_AES_CHUNK) {
        const size_t at = n - done < TAMIS_I_AES_CHUNK ? n - TAMIS_I_AES_CHUNK : done;
        tamis_i_aes_sums sums = {{0}};
        for (size_t i = 0; i < TAMIS_I_AES_CHUNK / 16; i++)
            aes_add_block(&sums, p + at + 16 * i, keys->words[i]);
        a = tamis_i_aes_fold(tamis_i_aes_advance(tamis_i_aes_value(sums, 0), a, keys->point));
    }
    return a;
}

tamis_digest tamis_i_aes_beyond(const tamis_i_hash_keys *keys, const unsigned char *p, size_t n) {
    if (n <= TAMIS_I_AES_CHUNK) {
        const tamis_digest value = aes_middle(keys, p, n);
        return tamis_i_aes_begin(keys, value.lo, value.hi, TAMIS_I_AES_MIDDLE);
    }
    const tamis_digest value = aes_long(keys, p, n);
    return tamis_i_aes_begin(keys, value.lo, value.hi, TAMIS_I_AES_LONG);
}

/* ---- the operations ---- */

static tamis_digest aes_word(const tamis_i_hash_keys *keys, uint64_t key) {
    return aes_rounds(&keys->schedule, tamis_i_aes_begin(keys, key, 0, 8));
}

static tamis_digest aes_hash(const tamis_i_hash_keys *keys, const void *key, size_t size) {
    const tamis_digest block =
        size <= 16 ? tamis_i_aes_short(keys, key, size) : tamis_i_aes_beyond(keys, key, size);
    return aes_rounds(&keys->schedule, block);
}

static void aes_many_words(const tamis_i_hash_keys *keys, const uint64_t *from, size_t n,
                           tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = aes_word(keys, from[i]);
}

static void aes_many(const tamis_i_hash_keys *keys, const tamis_bytes *from, size_t n,
                     tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = aes_hash(keys, from[i].data, from[i].size);
}

const tamis_i_hash_ops *tamis_i_aes_ops_for(unsigned features) {
    static const tamis_i_hash_ops portable = {aes_word, aes_hash,    aes_many_words,
                                              aes_many, aes_encrypt, aes_substitute};
    const tamis_i_hash_ops *native = NULL;
#if defined(__x86_64__) && defined(__GNUC__)
    native = tamis_i_aes_ops_x86(features);
#elif defined(TAMIS_I_AES_ARM)
    native = tamis_i_aes_ops_arm(features);
#else
    (void)features;
#endif
    return native != NULL ? native : &portable;
}
