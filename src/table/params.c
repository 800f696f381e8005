/* params.c - the parameters of a table: defaults and ranges
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

#define BUCKETS_MAX ((uint64_t)1 << 44)
#define STASH_MAX   ((uint64_t)1 << 30)

void tamis_i_table_summary_params(const tamis_table_params *params, tamis_i_summary_params *own) {
    _Static_assert(TAMIS_TABLE_LEVELS_MAX == TAMIS_I_SUMMARY_TYPES_MAX, "a type is a level");
    memset(own, 0, sizeof *own);
    own->n_types = params->n_levels;
    own->string_bits = params->string_bits;
    for (unsigned i = 0; i < TAMIS_TABLE_LEVELS_MAX; i++) {
        own->cells[i] = params->cells[i];
        own->hashes[i] = params->hashes[i];
        own->counter_bits[i] = params->counter_bits[i];
    }
}

/* Values beyond the last level must be zero, so a table has only one set of parameters. */
static bool params_levels_ok(const tamis_table_params *params) {
    if (params->n_levels < 1 || params->n_levels > TAMIS_TABLE_LEVELS_MAX)
        return false;
    for (unsigned i = 0; i < TAMIS_TABLE_LEVELS_MAX; i++) {
        const uint64_t n = params->buckets[i];
        if (i < params->n_levels ? n < 1 || n > BUCKETS_MAX : n != 0)
            return false;
    }
    return true;
}

/* Of the summary, a page table has the bits per 1000 items and the hashes. */
static tamis_status params_complete_pages(tamis_table_params *params) {
    if (params->summary == TAMIS_SUMMARY_DEFAULT)
        params->summary = TAMIS_SUMMARY_MULTIPLE;
    if (params->key_max == 0)
        params->key_max = TAMIS_TABLE_PAGE_ITEM_MAX;
    if (params->value_max == 0)
        params->value_max = TAMIS_TABLE_PAGE_ITEM_MAX;
    bool good = params->capacity <= TAMIS_CAPACITY_MAX &&
                params->key_max <= TAMIS_TABLE_PAGE_ITEM_MAX &&
                params->value_max <= TAMIS_TABLE_VALUE_MAX && params->stash == 0 &&
                params->rebuild_permille == 0 && params->summary == TAMIS_SUMMARY_MULTIPLE &&
                params->n_levels == 1 && params->string_bits == 0 && params->cells[0] >= 1000 &&
                params->cells[0] <= 100000 && params->hashes[0] >= 1 && params->hashes[0] <= 64;
    for (unsigned i = 0; i < TAMIS_TABLE_LEVELS_MAX; i++)
        good = good && params->buckets[i] == 0 && params->counter_bits[i] == 0 &&
               (i == 0 || (params->cells[i] == 0 && params->hashes[i] == 0));
    return good ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

tamis_status tamis_i_table_complete(tamis_table_params *params) {
    if (params->bucket == TAMIS_TABLE_PAGE)
        return params_complete_pages(params);
    if (params->bucket == 0)
        params->bucket = 1;
    if (params->stash == 0)
        params->stash = 32 + params->capacity / 10000;
    if (params->rebuild_permille == 0)
        params->rebuild_permille = 100;
    if (params->summary == TAMIS_SUMMARY_DEFAULT)
        params->summary = TAMIS_SUMMARY_MULTIPLE;
    if (params->capacity < 1 || params->capacity > TAMIS_CAPACITY_MAX || params->key_max < 1 ||
        params->key_max > TAMIS_I_PAGE - TAMIS_I_SLOT_HEAD ||
        params->value_max > TAMIS_I_PAGE - TAMIS_I_SLOT_HEAD - params->key_max ||
        params->bucket > TAMIS_TABLE_BUCKET_MAX || params->stash > STASH_MAX ||
        params->rebuild_permille > 1000 || !params_levels_ok(params))
        return TAMIS_E_ARGUMENT;

    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)params->summary);
    if (kind == NULL)
        return TAMIS_E_ARGUMENT;
    /* A summary that decides where an item goes has a counter for each bucket. */
    if ((kind->abilities & TAMIS_I_SUMMARY_DECIDES) != 0 &&
        memcmp(params->cells, params->buckets, sizeof params->cells) != 0)
        return TAMIS_E_ARGUMENT;
    tamis_i_summary_params own;
    tamis_i_table_summary_params(params, &own);
    uint64_t n_words;
    tamis_status status = kind->shape(&own, &n_words);
    if (status != TAMIS_OK)
        return status;
    tamis_i_slots slots;
    return tamis_i_slots_shape(params, &slots);
}
