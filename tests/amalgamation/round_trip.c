/* round_trip.c DIR - a filter of every kind: filled, saved as DIR/<kind>.tamis, loaded, asked
 *
 * The same program is compiled with the library and with the amalgamation; their files must be equal.
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef AMALGAMATION
#include "tamis.h"
#else
#include <tamis/model.h>
#include <tamis/plan.h>
#include <tamis/tamis.h>
#endif

#include <stdio.h>

#define N 3000u

static int round_trip(tamis_kind kind, const char *path) {
    tamis_need need;
    tamis_need_init(&need);
    need.n = N;
    need.fpr = 0.01;
    need.kind = kind;
    need.deletes = (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
    tamis_plan plan;
    tamis_plan_init(&plan);
    if (tamis_plan_make(&need, &plan) != TAMIS_OK)
        return 1;
    plan.params.seed = 20061113;
    tamis_filter *filter;
    if (tamis_filter_create(&plan.params, NULL, &filter) != TAMIS_OK)
        return 2;
    uint64_t keys[N];
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i * i;
    int failed = 0;
    /* one half key by key, the other as a batch: both ways to the kernels */
    for (size_t i = 0; i < N / 2 && !failed; i++)
        failed = tamis_filter_insert_u64(filter, keys[i], NULL) != TAMIS_OK;
    if (!failed &&
        tamis_filter_insert_many_u64(filter, keys + N / 2, N - N / 2, NULL, NULL) != TAMIS_OK)
        failed = 1;
    if (!failed && need.deletes)
        for (size_t i = 0; i < 100 && !failed; i++)
            failed = tamis_filter_remove_u64(filter, keys[i]) != TAMIS_OK;
    if (!failed && tamis_filter_save(filter, path, NULL) != TAMIS_OK)
        failed = 1;
    tamis_filter_free(filter);
    if (failed)
        return 3;

    if (tamis_filter_load(path, NULL, &filter, NULL) != TAMIS_OK)
        return 4;
    if (tamis_filter_contains_many_u64(filter, keys + 100, N - 100, NULL) != N - 100)
        failed = 1;
    size_t wrong = 0;
    for (uint64_t key = 0; key < 10000; key++)
        wrong += tamis_filter_contains_u64(filter, ((uint64_t)1 << 63) + key);
    tamis_filter_free(filter);
    printf("%-16s %zu of 10000 absent keys present\n", tamis_kind_name(kind), wrong);
    /* 100 expected at most; 145 is 4.5 sigma above */
    return failed || wrong > 145 ? 5 : 0;
}

int main(int argc, char **argv) {
    unsigned kinds = 0;
    for (int kind = 1; argc == 2 && kind < 256; kind++) {
        const char *const name = tamis_kind_name((tamis_kind)kind);
        if (name == NULL)
            continue;
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s.tamis", argv[1], name);
        if (length < 0 || (size_t)length >= sizeof path)
            return 2;
        const int step = round_trip((tamis_kind)kind, path);
        if (step != 0) {
            printf("%s failed at step %d\n", name, step);
            return 1;
        }
        kinds++;
    }
    double fpr;
    if (tamis_model_bloom(10000.0, 1000.0, 7, &fpr) != TAMIS_OK)
        return 1;
    return kinds < 9;
}
