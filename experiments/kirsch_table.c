/* kirsch_table.c - real tables and summaries under the experiments of Kirsch and Mitzenmacher
 *
 * Keys are consecutive integers, hashed with the seed of the trial.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kirsch.h"

#include <stdlib.h>

enum { KEY_BYTES = 8 };

/* A tenth of the slots stays free. */
static uint64_t string_slots(const kirsch_setting *s) {
    return s->string_slots != 0 ? s->string_slots : (s->n * 10 + 8) / 9;
}

void kirsch_params(const kirsch_setting *s, tamis_summary summary, tamis_table_params *params) {
    tamis_table_params_init(params);
    params->capacity = s->n;
    params->key_max = KEY_BYTES;
    params->bucket = 1;
    params->summary = summary;
    params->n_levels = s->n_tables;
    for (unsigned i = 0; i < s->n_tables; i++)
        params->buckets[i] = s->buckets[i];
    switch (summary) {
    case TAMIS_SUMMARY_INTERPOLATION:
        params->string_bits = s->string_bits;
        params->cells[0] = string_slots(s);
        break;
    case TAMIS_SUMMARY_SINGLE:
        params->cells[0] = s->cells;
        params->hashes[0] = s->cell_hashes;
        break;
    default:
        for (unsigned i = 0; i < s->n_tables; i++) {
            params->cells[i] = s->bits[i];
            params->hashes[i] = s->bit_hashes[i];
        }
        break;
    }
}

static const void *key_of(uint64_t number, unsigned char *bytes) {
    for (unsigned i = 0; i < KEY_BYTES; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return bytes;
}

/* A table with keys 0 to n - 1. */
static tamis_status build(const kirsch_setting *s, tamis_summary summary, uint64_t n,
                          unsigned trial, tamis_table **table) {
    tamis_table_params params;
    kirsch_params(s, summary, &params);
    params.hash = TAMIS_HASH_XXH3;
    params.seed = (uint64_t)trial + 1;
    tamis_table *made;
    tamis_status status = tamis_table_create(&params, NULL, &made);
    if (status != TAMIS_OK)
        return status;
    for (uint64_t i = 0; i < n && status == TAMIS_OK; i++) {
        unsigned char key[KEY_BYTES];
        status = tamis_table_put(made, key_of(i, key), KEY_BYTES, NULL, 0, NULL);
    }
    if (status != TAMIS_OK) {
        const tamis_status closed = tamis_table_close(made);
        (void)closed;
        return status;
    }
    *table = made;
    return TAMIS_OK;
}

tamis_status kirsch_simulate_levels(const kirsch_setting *s, unsigned trials, measured *values) {
    series items[KIRSCH_TABLES_MAX] = {{0, 0, 0}};
    for (unsigned t = 0; t < trials; t++) {
        tamis_table *table;
        tamis_status status = build(s, TAMIS_SUMMARY_SINGLE, s->n, t, &table);
        if (status != TAMIS_OK)
            return status;
        tamis_table_state info;
        tamis_table_state_init(&info);
        status = tamis_table_info(table, &info);
        const tamis_status closed = tamis_table_close(table);
        if (status != TAMIS_OK || closed != TAMIS_OK)
            return status != TAMIS_OK ? status : closed;
        for (unsigned i = 0; i < s->n_tables; i++)
            series_add(&items[i], (double)info.level_count[i]);
    }
    for (unsigned i = 0; i < s->n_tables; i++)
        values[i] = series_result(&items[i], 0);
    return TAMIS_OK;
}

/* The outcome of one table: its crises, and the items that the summary is wrong about. */
static tamis_status outcome(const kirsch_setting *s, tamis_summary summary, unsigned trial,
                            double *crises, double *mistaken) {
    tamis_table *table;
    tamis_status status = build(s, summary, s->n, trial, &table);
    if (status != TAMIS_OK)
        return status;
    uint64_t failures = 0;
    tamis_table_counts stats;
    tamis_table_counts_init(&stats);
    status = tamis_table_verify(table, &failures, NULL);
    if (status == TAMIS_OK)
        status = tamis_table_stats(table, &stats);
    *crises = (double)stats.crises;
    *mistaken = (double)failures;
    const tamis_status closed = tamis_table_close(table);
    return status != TAMIS_OK ? status : closed;
}

/* Over many tables: the fraction that has a crisis, and the items that are mistaken in one. */
static tamis_status simulate_outcomes(const kirsch_setting *s, tamis_summary summary,
                                      unsigned trials, measured *crisis, measured *mistaken) {
    series with = {0, 0, 0}, items = {0, 0, 0};
    for (unsigned t = 0; t < trials; t++) {
        double crises, wrong;
        const tamis_status status = outcome(s, summary, t, &crises, &wrong);
        if (status != TAMIS_OK)
            return status;
        series_add(&with, crises > 0 ? 1 : 0);
        series_add(&items, wrong);
    }
    *crisis = series_result(&with, trials);
    *mistaken = series_result(&items, trials);
    return TAMIS_OK;
}

tamis_status kirsch_simulate_crisis(const kirsch_setting *s, unsigned trials, measured *value) {
    measured mistaken;
    return simulate_outcomes(s, TAMIS_SUMMARY_SINGLE, trials, value, &mistaken);
}

tamis_status kirsch_simulate_mistaken(const kirsch_setting *s, tamis_summary summary,
                                      unsigned trials, measured *value) {
    measured crisis;
    return simulate_outcomes(s, summary, trials, &crisis, value);
}

tamis_status kirsch_simulate_fpr(const kirsch_setting *s, tamis_summary summary, unsigned trials,
                                 unsigned queries, measured *value) {
    series rates = {0, 0, 0};
    for (unsigned t = 0; t < trials; t++) {
        tamis_table *table;
        tamis_status status = build(s, summary, s->n, t, &table);
        if (status != TAMIS_OK)
            return status;
        for (uint64_t i = 0; i < queries && status == TAMIS_OK; i++) {
            unsigned char key[KEY_BYTES];
            status = tamis_table_get(table, key_of(s->n + i, key), KEY_BYTES, NULL, 0, NULL);
            status = status == TAMIS_E_NOT_FOUND ? TAMIS_OK
                     : status == TAMIS_OK        ? TAMIS_E_FORMAT
                                                 : status;
        }
        tamis_table_counts stats;
        tamis_table_counts_init(&stats);
        if (status == TAMIS_OK)
            status = tamis_table_stats(table, &stats);
        const tamis_status closed = tamis_table_close(table);
        if (status != TAMIS_OK || closed != TAMIS_OK)
            return status != TAMIS_OK ? status : closed;
        series_add(&rates, (double)stats.false_positives / (double)stats.misses);
    }
    *value = series_result(&rates, (double)trials * queries);
    return TAMIS_OK;
}

/* The info of an empty table with these parameters. */
static tamis_status info_of(const tamis_table_params *params, tamis_table_state *info) {
    tamis_table *table;
    tamis_status status = tamis_table_create(params, NULL, &table);
    if (status != TAMIS_OK)
        return status;
    tamis_table_state_init(info);
    status = tamis_table_info(table, info);
    const tamis_status closed = tamis_table_close(table);
    return status != TAMIS_OK ? status : closed;
}

static uint64_t in_units(uint64_t bits, uint64_t unit) {
    return (bits + unit - 1) / unit * unit;
}

enum { WORD = 64, LINE = 512 };

/* Bits of a summary.  A string takes 8 bits of distance, a type, and the bits that its slot does not
 * give; there are 255 more slots at the end.  Cells are packed three to a byte if that is smaller.
 * Filters begin at a word. */
static uint64_t summary_bits(const kirsch_setting *s, tamis_summary summary,
                             const unsigned *counter_bits) {
    const uint64_t slots = string_slots(s);
    unsigned slot_bits = 0;
    uint64_t bits = 0;
    switch (summary) {
    case TAMIS_SUMMARY_INTERPOLATION:
        while (slots >> (slot_bits + 1) != 0)
            slot_bits++;
        return (slots + 255) * (8 + 3 + s->string_bits - slot_bits);
    case TAMIS_SUMMARY_SINGLE:
        return s->n_tables <= 5 ? (s->cells + 2) / 3 * 8 : s->cells * 3;
    default:
        for (unsigned i = 0; i < s->n_tables; i++)
            bits += in_units(s->bits[i] * (counter_bits != NULL ? counter_bits[i] : 1), WORD);
        return bits;
    }
}

/* A bit for each slot, including the stash, and a second one if the summary cannot remove: then deleted
 * items stay in their slots until a rebuild. */
tamis_status kirsch_simulate_bytes(const kirsch_setting *s, tamis_summary summary,
                                   measured *value) {
    tamis_table_params params;
    tamis_table_state info;
    kirsch_params(s, summary, &params);
    params.hash = TAMIS_HASH_XXH3;
    params.seed = 1;
    const tamis_status status = info_of(&params, &info);
    if (status != TAMIS_OK)
        return status;
    uint64_t slots = 32 + s->n / 10000;
    for (unsigned i = 0; i < s->n_tables; i++)
        slots += s->buckets[i];
    const uint64_t bits = in_units(summary_bits(s, summary, NULL), LINE) +
                          in_units(slots, WORD) * (summary == TAMIS_SUMMARY_INTERPOLATION ? 1 : 2);
    *value = exactly((double)(info.summary_bytes + info.bit_bytes), (double)bits / 8);
    return TAMIS_OK;
}

tamis_status kirsch_simulate_counting_bytes(const kirsch_setting *s, const unsigned *counter_bits,
                                            measured *value) {
    tamis_table_params params;
    tamis_table_state info;
    kirsch_params(s, TAMIS_SUMMARY_MULTIPLE_COUNTING, &params);
    params.hash = TAMIS_HASH_XXH3;
    params.seed = 1;
    for (unsigned i = 0; i < s->n_tables; i++)
        params.counter_bits[i] = counter_bits[i];
    const tamis_status status = info_of(&params, &info);
    if (status != TAMIS_OK)
        return status;
    const uint64_t bits =
        in_units(summary_bits(s, TAMIS_SUMMARY_MULTIPLE_COUNTING, counter_bits), LINE);
    *value = exactly((double)info.summary_bytes, (double)bits / 8);
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Rebuilding
 */

/* A small generator (splitmix64). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The keys of the first sub-table come first in a walk; the caller checks that. */
static tamis_status walk(const tamis_table *table, uint64_t *keys, uint64_t n) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        unsigned char key[KEY_BYTES];
        size_t key_size, value_size;
        const tamis_status status = tamis_table_next(table, &at, key, &key_size, NULL, &value_size);
        if (status != TAMIS_OK)
            return status;
        keys[i] = 0;
        for (unsigned j = 0; j < KEY_BYTES; j++)
            keys[i] |= (uint64_t)key[j] << 8 * j;
    }
    return TAMIS_OK;
}

/* Delete 'go' of the first 'among' keys, a random choice. */
static tamis_status delete_some(tamis_table *table, uint64_t *keys, uint64_t among, unsigned go,
                                uint64_t seed) {
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; i < go && i < among && status == TAMIS_OK; i++) {
        const uint64_t j = i + next_random(&seed) % (among - i);
        const uint64_t chosen = keys[j];
        keys[j] = keys[i];
        unsigned char key[KEY_BYTES];
        status = tamis_table_delete(table, key_of(chosen, key), KEY_BYTES);
    }
    return status;
}

static tamis_status count_moves(tamis_table *table, uint64_t *keys, unsigned n, unsigned go,
                                bool first_only, unsigned trial, uint64_t *moves) {
    tamis_table_state info;
    tamis_table_state_init(&info);
    tamis_status status = walk(table, keys, n);
    if (status == TAMIS_OK)
        status = tamis_table_info(table, &info);
    const uint64_t first = info.level_count[0];
    if (status == TAMIS_OK)
        status = delete_some(table, keys, first_only ? first : n, go, trial + UINT64_C(1000000));
    if (status == TAMIS_OK)
        status = tamis_table_info(table, &info);
    if (status == TAMIS_OK && first_only && info.level_count[0] + go != first)
        status = TAMIS_E_FORMAT; /* the walk did not begin with the first sub-table */
    bool done = false;
    while (status == TAMIS_OK && !done)
        status = tamis_table_rebuild(table, 1024, &done);
    tamis_table_counts stats;
    tamis_table_counts_init(&stats);
    if (status == TAMIS_OK)
        status = tamis_table_stats(table, &stats);
    *moves = stats.moves;
    return status;
}

tamis_status kirsch_simulate_moves(const kirsch_setting *s, unsigned stay, unsigned go,
                                   bool first_only, unsigned trials, measured *value) {
    const unsigned n = stay + go;
    uint64_t *const keys = malloc(n * sizeof *keys);
    if (keys == NULL)
        return TAMIS_E_NOMEM;
    series moved = {0, 0, 0};
    tamis_status status = TAMIS_OK;
    for (unsigned t = 0; t < trials && status == TAMIS_OK; t++) {
        tamis_table *table;
        status = build(s, TAMIS_SUMMARY_MULTIPLE, n, t, &table);
        if (status != TAMIS_OK)
            break;
        uint64_t moves;
        status = count_moves(table, keys, n, go, first_only, t, &moves);
        const tamis_status closed = tamis_table_close(table);
        if (status == TAMIS_OK)
            status = closed;
        if (status == TAMIS_OK)
            series_add(&moved, (double)moves);
    }
    free(keys);
    if (status == TAMIS_OK)
        *value = series_result(&moved, 0);
    return status;
}
