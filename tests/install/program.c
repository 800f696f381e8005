/* program.c - a user's program: makes a plan and a filter, checks the answers, tells the version
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <tamis/model.h>
#include <tamis/plan.h>
#include <tamis/tamis.h>

int main(void) {
    tamis_need need;
    tamis_need_init(&need);
    need.n = 1000;
    need.fpr = 0.01;
    tamis_plan plan;
    tamis_plan_init(&plan);
    if (tamis_plan_make(&need, &plan) != TAMIS_OK || !(plan.fpr <= 0.01))
        return 1;

    tamis_filter *filter;
    if (tamis_filter_create(&plan.params, NULL, &filter) != TAMIS_OK)
        return 1;
    for (uint64_t key = 0; key < 1000; key++)
        if (tamis_filter_insert_u64(filter, key, NULL) != TAMIS_OK)
            return 1;
    for (uint64_t key = 0; key < 1000; key++)
        if (!tamis_filter_contains_u64(filter, key))
            return 1;
    size_t wrong = 0;
    for (uint64_t key = 1000; key < 11000; key++)
        wrong += tamis_filter_contains_u64(filter, key);
    tamis_filter_free(filter);

    double fpr;
    if (wrong > 300 || tamis_model_bloom(10000.0, 1000.0, 7, &fpr) != TAMIS_OK)
        return 1;
    printf("tamis %s\n", tamis_version());
    return 0;
}
