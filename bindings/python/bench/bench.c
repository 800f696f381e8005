/* bench.c - the calls of the library that the batches of the Python module make, from C
 *
 *     bench KEYS FPR      ns per key: add and contains of integers, the same of text
 *
 * Keys and sets are those of bench.py.  The best of seven.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <tamis/tamis.h>
#include <time.h>

#define REPEATS 7

static double bench_now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void bench_least(double *least, double begin, size_t n) {
    const double time = (bench_now() - begin) / (double)n;
    if (*least == 0 || time < *least)
        *least = time;
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    const double fpr = argc > 2 ? strtod(argv[2], NULL) : 0.001;
    uint64_t *const numbers = malloc(n * sizeof *numbers);
    tamis_bytes *const words = malloc(n * sizeof *words);
    char(*const text)[32] = malloc(n * sizeof *text);
    bool *const answers = malloc(n);
    tamis_filter *filter;
    if (!numbers || !words || !text || !answers || tamis_filter_new(n, fpr, &filter) != TAMIS_OK)
        return 1;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = i * UINT64_C(0x9e3779b97f4a7c15);
        words[i].size = (size_t)snprintf(text[i], sizeof *text, "http://example.org/%zu", i);
        words[i].data = text[i];
    }
    double time[4] = {0};
    size_t done, found = 0;
    for (int i = 0; i < REPEATS; i++) {
        double begin = bench_now();
        tamis_status status = tamis_filter_clear(filter);
        begin = bench_now();
        if (status != TAMIS_OK ||
            tamis_filter_insert_many_u64(filter, numbers, n, answers, &done) != TAMIS_OK)
            return 1;
        bench_least(&time[0], begin, n);
        begin = bench_now();
        found += tamis_filter_contains_many_u64(filter, numbers, n, answers);
        bench_least(&time[1], begin, n);
        status = tamis_filter_clear(filter);
        begin = bench_now();
        if (status != TAMIS_OK ||
            tamis_filter_insert_many(filter, words, n, answers, &done) != TAMIS_OK)
            return 1;
        bench_least(&time[2], begin, n);
        begin = bench_now();
        found += tamis_filter_contains_many(filter, words, n, answers);
        bench_least(&time[3], begin, n);
    }
    printf("%.2f %.2f %.2f %.2f\n", time[0], time[1], time[2], time[3]);
    tamis_filter_free(filter);
    free(numbers);
    free(words);
    free(text);
    free(answers);
    return found == 2 * REPEATS * n ? 0 : 1;
}
