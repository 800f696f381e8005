/* hash_cost.c - what the hashes cost, beside each other in one run
 *
 *      hash_cost [ROUNDS [PART]]
 *
 * Each row is one way to hash: integers one by one or 16 at a time, as filters have them, and keys of some
 * lengths.  Each column is a hash: XXH3, and AES with all features of this processor, without VAES, and in
 * the portable form.  Digests are summed up, so that keys may overlap in the processor as in a batch.
 *
 * Time: the columns take turns, ROUNDS (41) times; the median of each is printed, in nanoseconds per key.
 * Instructions: a child makes 32 and 96 digests, step by step under ptrace(2), and the difference counts.
 *
 * PART: only rows with this in their name.  It includes the library's own headers, which is why it stands
 * with the tests: scripts/hash-cost.sh.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hash/aes_hash.h"
#include "hash/hash.h"
#include "hash/word.h"

#define KEYS       2048u
#define GROUP      16u
#define SEED       1u
#define LENGTH_MAX 1024u
#define COLUMNS    4u
#define ROUNDS_MAX 1001u

static unsigned char text[KEYS + LENGTH_MAX];
static uint64_t integers[KEYS];
static tamis_i_hash_keys hash_keys;

typedef struct column {
    const char *name;
    const tamis_i_hash_ops *ops;
    bool inlined; /* the digest of an integer without a call */
} column;

typedef enum way { WORD, WORDS, BYTES, MANY } way;

typedef struct row {
    const char *name;
    way way;
    size_t length;
} row;

static const row rows[] = {
    {"integers, one by one", WORD, 8},
    {"integers, 16 at a time", WORDS, 8},
    {"8 bytes", BYTES, 8},
    {"16 bytes", BYTES, 16},
    {"32 bytes", BYTES, 32},
    {"64 bytes", BYTES, 64},
    {"128 bytes", BYTES, 128},
    {"256 bytes", BYTES, 256},
    {"1 KiB", BYTES, 1024},
    {"8 bytes, 16 at a time", MANY, 8},
    {"16 bytes, 16 at a time", MANY, 16},
    {"32 bytes, 16 at a time", MANY, 32},
    {"64 bytes, 16 at a time", MANY, 64},
    {"0 to 16 bytes, mixed", BYTES, 0},
};
#define ROWS (sizeof rows / sizeof rows[0])

/* Lengths that no branch predictor knows. */
static size_t length_of(const row *r, size_t i) {
    return r->length != 0 ? r->length : integers[i] >> 32 & 15;
}

static tamis_digest one(const column *c, uint64_t flip, const row *r, size_t i) {
    if (r->way == WORD)
        return c->inlined ? tamis_i_hash_word(flip, integers[i])
                          : c->ops->word(&hash_keys, integers[i]);
    const size_t length = length_of(r, i);
    return c->ops->bytes(&hash_keys, text + i, length);
}

static uint64_t groups(const column *c, const row *r, size_t n) {
    uint64_t sum = 0;
    tamis_digest digests[GROUP];
    tamis_bytes keys[GROUP];
    for (size_t i = 0; i < n; i += GROUP) {
        if (r->way == WORDS) {
            c->ops->many_words(&hash_keys, integers + i, GROUP, digests);
        } else {
            for (size_t j = 0; j < GROUP; j++)
                keys[j] = (tamis_bytes){text + i + j, length_of(r, i + j)};
            c->ops->many(&hash_keys, keys, GROUP, digests);
        }
        sum += digests[GROUP - 1].lo ^ digests[0].hi;
    }
    return sum;
}

static uint64_t work(const column *c, const row *r, size_t n) {
    if (r->way == WORDS || r->way == MANY)
        return groups(c, r, n);
    uint64_t sum = 0;
    const uint64_t flip = tamis_i_hash_flip(SEED);
    for (size_t i = 0; i < n; i++) {
        const tamis_digest d = one(c, flip, r, i);
        sum += d.lo ^ d.hi;
    }
    return sum;
}

static void fail(const char *what) {
    perror(what);
    exit(2);
}

/* ---- time ---- */

static volatile uint64_t sink;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const column *columns, const row *r, unsigned rounds, double *median) {
    static double ns[COLUMNS][ROUNDS_MAX];
    const unsigned repeat = r->length > 128 ? 4 : 20;
    for (unsigned k = 0; k < rounds; k++) {
        for (unsigned j = 0; j < COLUMNS; j++) {
            sink = work(&columns[j], r, KEYS);
            const double begin = seconds();
            for (unsigned i = 0; i < repeat; i++)
                sink = work(&columns[j], r, KEYS);
            ns[j][k] = (seconds() - begin) * 1e9 / repeat / KEYS;
        }
    }
    for (unsigned j = 0; j < COLUMNS; j++) {
        qsort(ns[j], rounds, sizeof(double), by_value);
        median[j] = ns[j][rounds / 2];
    }
}

/* ---- instructions ---- */

static long stepped(const column *c, const row *r, size_t n) {
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(2);
        raise(SIGSTOP);
        sink = work(c, r, n);
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    long steps = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("ptrace");
    for (;; steps++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0)
            fail("PTRACE_SINGLESTEP");
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            fail("waitpid");
        if (WSTOPSIG(status) == SIGSTOP && steps > 0)
            break;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return steps;
}

static double instructions(const column *c, const row *r) {
    return (double)(stepped(c, r, 96) - stepped(c, r, 32)) / 64;
}

int main(int argc, char **argv) {
    const unsigned features = tamis_i_cpu_features();
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 41;
    const char *const part = argc > 2 ? argv[2] : "";
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    const column columns[COLUMNS] = {
        {"XXH3", tamis_i_xxh3_ops_for(features), true},
        {"AES", tamis_i_aes_ops_for(features), false},
        {"no VAES", tamis_i_aes_ops_for(features & ~TAMIS_I_CPU_VAES), false},
        {"portable", tamis_i_aes_ops_for(0), false}};
    tamis_i_aes_keys_init(&hash_keys, SEED, 0, tamis_i_aes_ops_for(features));
    hash_keys.seed = SEED;
    hash_keys.flip = tamis_i_hash_flip(SEED);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * 0x9e3779b1u >> 24);
    for (size_t i = 0; i < KEYS; i++)
        integers[i] = i * 0x9e3779b97f4a7c15u;

    printf("%-24s", "instructions per key");
    for (unsigned j = 0; j < COLUMNS; j++)
        printf("%10s", columns[j].name);
    printf("   ratios\n");
    for (size_t i = 0; i < ROWS; i++) {
        if (strstr(rows[i].name, part) == NULL)
            continue;
        double count[COLUMNS];
        for (unsigned j = 0; j < COLUMNS; j++)
            count[j] = instructions(&columns[j], &rows[i]);
        printf("%-24s%10.1f%10.1f%10.1f%10.1f", rows[i].name, count[0], count[1], count[2],
               count[3]);
        printf("   %.2f %.2f %.2f\n", count[1] / count[0], count[2] / count[0],
               count[3] / count[0]);
    }
    printf("nanoseconds per key, medians of %u\n", rounds);
    for (size_t i = 0; i < ROWS; i++) {
        if (strstr(rows[i].name, part) == NULL)
            continue;
        double ns[COLUMNS];
        measure(columns, &rows[i], rounds, ns);
        printf("%-24s%10.2f%10.2f%10.2f%10.2f", rows[i].name, ns[0], ns[1], ns[2], ns[3]);
        printf("   %.2f %.2f %.2f\n", ns[1] / ns[0], ns[2] / ns[0], ns[3] / ns[0]);
    }
    return 0;
}
