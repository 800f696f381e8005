/* small_run.c - sets of a few keys: bytes, errors and time of several forms
 *
 * All forms get the same keys, integers, and hash them themselves.  The first row of a number of keys is that
 * of LevelDB's filter, if it is there, which says how many bytes the others of that number get: so the errors
 * can be compared.  A last row has what tamis_small_size gives for 10 bits per key.
 *
 *      leveldb   its Bloom filter, 10 bits per key
 *      bloom     a plain Bloom filter of any number of bits, the best number of hashes, one byte around it
 *      small     tamis/small.h in as many bytes
 *      small-10  tamis/small.h with 10 bits per key and three bytes
 *
 * Without LevelDB the others get the bytes that it would have: n * 10 / 8, at least 8, and one more.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/tasks.h"

#include "bench/bench.h"

#include <tamis/small.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 5000, ROOM = 8192, ROUNDS_MAX = 101, KEYS_PER_ROUND = 40000, ASKS = 40000 };

typedef struct set {
    size_t n, size;
    const tamis_hasher *hasher;
    unsigned char bytes[ROOM];
} set;

typedef struct form {
    const char *name;
    bool (*build)(set *s, const uint64_t *keys);
    bool (*contains)(const set *s, const uint64_t *key);
    double (*predict)(size_t n, size_t size);
} form;

/* ---- LevelDB ---- */

#ifdef TAMIS_PEER_LEVELDB
static tamis_bytes leveldb_key(const uint64_t *key) {
    return (tamis_bytes){.data = key, .size = sizeof *key};
}

static bool leveldb_build(set *s, const uint64_t *keys) {
    static tamis_bytes all[KEYS_MAX];
    for (size_t i = 0; i < s->n; i++)
        all[i] = leveldb_key(keys + i);
    return bench_leveldb_build(all, s->n, s->bytes, ROOM) == s->size;
}

static bool leveldb_contains(const set *s, const uint64_t *key) {
    return bench_leveldb_contains(s->bytes, s->size, leveldb_key(key));
}
#endif

/* ---- a plain Bloom filter: the number of hashes in the first byte, then the bits ---- */

static uint64_t bloom_bit(uint64_t word, uint64_t bits) {
    return (word >> 32) * bits >> 32;
}

static bool bloom_build(set *s, const uint64_t *keys) {
    const uint64_t bits = 8 * (s->size - 1);
    const double best = round((double)bits / (double)s->n * log(2));
    s->bytes[0] = (unsigned char)fmax(1, fmin(best, 30));
    memset(s->bytes + 1, 0, s->size - 1);
    for (size_t i = 0; i < s->n; i++) {
        const tamis_digest digest = tamis_hash_u64(s->hasher, keys[i]);
        uint64_t word = digest.hi;
        for (unsigned k = 0; k < s->bytes[0]; k++, word += digest.lo | 1) {
            const uint64_t at = bloom_bit(word, bits);
            s->bytes[1 + at / 8] |= (unsigned char)(1u << at % 8);
        }
    }
    return true;
}

static bool bloom_contains(const set *s, const uint64_t *key) {
    const tamis_digest digest = tamis_hash_u64(s->hasher, *key);
    uint64_t word = digest.hi;
    for (unsigned k = 0; k < s->bytes[0]; k++, word += digest.lo | 1) {
        const uint64_t at = bloom_bit(word, 8 * (s->size - 1));
        if ((s->bytes[1 + at / 8] >> at % 8 & 1) == 0)
            return false;
    }
    return true;
}

/* ---- ours ---- */

static bool small_build(set *s, const uint64_t *keys) {
    static tamis_digest digests[KEYS_MAX];
    for (size_t i = 0; i < s->n; i++)
        digests[i] = tamis_hash_u64(s->hasher, keys[i]);
    return tamis_small_build(digests, s->n, s->bytes, s->size) == TAMIS_OK;
}

static bool small_contains(const set *s, const uint64_t *key) {
    return tamis_small_contains(s->bytes, s->size, tamis_hash_u64(s->hasher, *key));
}

/* ---- measuring ---- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned n) {
    qsort(values, n, sizeof *values, by_size);
    return values[n / 2];
}

/* Each round builds many sets, or few large ones, and asks each of them for keys that are not in. */
static const char *measure(const form *f, set *s, unsigned rounds, bench_small_row *row) {
    static uint64_t keys[KEYS_PER_ROUND], asked[ASKS];
    double build[ROUNDS_MAX], ask[ROUNDS_MAX];
    const size_t n_sets = KEYS_PER_ROUND / s->n < 500 ? KEYS_PER_ROUND / s->n : 500,
                 n_asked = ASKS / n_sets;
    uint64_t number = 0, present = 0, queries = 0;
    for (unsigned r = 0; r < rounds; r++) {
        double build_time = 0, ask_time = 0;
        for (size_t i = 0; i < n_sets * s->n; i++)
            keys[i] = bench_key(number++);
        for (size_t i = 0; i < n_sets * n_asked; i++)
            asked[i] = bench_key(BENCH_ABSENT + queries + i);
        for (size_t k = 0; k < n_sets; k++) {
            const double start = bench_seconds();
            if (!f->build(s, keys + k * s->n))
                return "it cannot be built";
            const double built = bench_seconds();
            for (size_t i = 0; i < n_asked; i++)
                present += f->contains(s, asked + k * n_asked + i);
            build_time += built - start;
            ask_time += bench_seconds() - built;
            for (size_t i = 0; i < s->n; i++)
                if (!f->contains(s, keys + k * s->n + i))
                    return "it has lost a key";
        }
        queries += n_sets * n_asked;
        build[r] = 1e9 * build_time / (double)(n_sets * s->n);
        ask[r] = 1e9 * ask_time / (double)(n_sets * n_asked);
    }
    *row = (bench_small_row){.form = f->name,
                             .n = s->n,
                             .bytes = s->size,
                             .fpr = (double)present / (double)queries,
                             .predicted = f->predict == NULL ? NAN : f->predict(s->n, s->size),
                             .build_ns = median(build, rounds),
                             .ask_ns = median(ask, rounds)};
    return NULL;
}

const char *bench_small_run(unsigned rounds, bench_small_row rows[BENCH_SMALL_ROWS],
                            size_t *n_rows) {
    static const size_t counts[] = {1, 2, 5, 10, 36, 80, 500, KEYS_MAX};
    static const form forms[] = {
#ifdef TAMIS_PEER_LEVELDB
        {"leveldb", leveldb_build, leveldb_contains, NULL},
#endif
        {"bloom", bloom_build, bloom_contains, NULL},
        {"small", small_build, small_contains, tamis_small_fpr},
        {"small-10", small_build, small_contains, tamis_small_fpr},
    };
    static set s;
    static tamis_hasher hasher;
    const unsigned n_rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    s.hasher = &hasher;
    *n_rows = 0;
    if (!bench_hasher(&hasher))
        return "no hash";
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            const size_t theirs = (counts[i] * 10 + 7) / 8, most = tamis_small_size(counts[i], 48);
            s.n = counts[i];
            s.size = (theirs < 8 ? 8 : theirs) + 1;
            if (strcmp(forms[k].name, "small") == 0 && s.size > most)
                s.size = most;
            if (strcmp(forms[k].name, "small-10") == 0)
                s.size = tamis_small_size(counts[i], 10);
            const char *const trouble = measure(&forms[k], &s, n_rounds, &rows[*n_rows]);
            if (trouble != NULL)
                return trouble;
            ++*n_rows;
        }
    return NULL;
}
