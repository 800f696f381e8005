/* spilling.c - parameters and loads of kinds with buckets that spill over
 *
 * The kinds have the parameters of the table in the same places; what stands beside a fingerprint is theirs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/spilling.h"

#include "filter/guard.h"

#include <math.h>

#define BUCKETS_MAX ((uint64_t)1 << 38)
#define LINE_BITS   (64u * TAMIS_LINE_WORDS)

bool tamis_i_spilling_layout(const tamis_params *params, unsigned extra, unsigned features,
                             tamis_i_spill *spill) {
    const uint64_t *const v = params->value;
    if (v[TAMIS_STEADY_BUCKETS] == 0 || v[TAMIS_STEADY_BUCKETS] > BUCKETS_MAX ||
        v[TAMIS_STEADY_SPILL_BUCKETS] > BUCKETS_MAX ||
        v[TAMIS_STEADY_BUCKET_BITS] % LINE_BITS != 0 ||
        v[TAMIS_STEADY_SPILL_BITS] % LINE_BITS != 0 ||
        v[TAMIS_STEADY_FINGERPRINT_BITS] > TAMIS_I_RUN_PRINT ||
        (v[TAMIS_STEADY_SPILL_BUCKETS] == 0) != (v[TAMIS_STEADY_SPILL_BITS] == 0) ||
        (v[TAMIS_STEADY_SPILL_BUCKETS] == 0 && v[TAMIS_STEADY_ORIGIN_BITS] != 0))
        return false;
    *spill = (tamis_i_spill){.front = {.words = v[TAMIS_STEADY_BUCKET_BITS] / 64,
                                       .homes = v[TAMIS_STEADY_HOMES],
                                       .print_bits = v[TAMIS_STEADY_FINGERPRINT_BITS],
                                       .slot_bits = v[TAMIS_STEADY_FINGERPRINT_BITS] + extra},
                             .back = {.words = v[TAMIS_STEADY_SPILL_BITS] / 64},
                             .n_front = v[TAMIS_STEADY_BUCKETS],
                             .n_back = v[TAMIS_STEADY_SPILL_BUCKETS],
                             .origin_bits = v[TAMIS_STEADY_ORIGIN_BITS]};
    return tamis_i_spill_init(spill, features);
}

static void spilling_default(uint64_t *value, uint64_t is) {
    *value = *value == 0 ? is : *value;
}

/* 0.92 of the slots of the front are used, of which 2 % spill over; the back has room for three times
 * that, and for a few keys more where there are few buckets. */
static bool spilling_defaults(tamis_params *params, unsigned extra) {
    uint64_t *const v = params->value;
    spilling_default(&v[TAMIS_STEADY_HOMES], v[TAMIS_STEADY_BUCKET_BITS] / 6);
    const uint64_t slot = v[TAMIS_STEADY_FINGERPRINT_BITS] + extra;
    const uint64_t bits = v[TAMIS_STEADY_BUCKET_BITS], homes = v[TAMIS_STEADY_HOMES];
    if (homes >= bits || slot > 64 || bits % LINE_BITS != 0 || bits > 64 * TAMIS_I_RUN_WORDS)
        return false;
    const uint64_t slots = (bits - homes) / (1 + slot);
    if (slots == 0)
        return false;
    const uint64_t buckets = (params->capacity + params->capacity / 11) / slots + 1;
    uint64_t wide = 4 * bits;
    wide = wide < 64 * TAMIS_I_RUN_WORDS ? wide : 64 * TAMIS_I_RUN_WORDS;
    v[TAMIS_STEADY_BUCKETS] = buckets;
    v[TAMIS_STEADY_SPILL_BITS] = wide;
    v[TAMIS_STEADY_ORIGIN_BITS] = buckets < 16 ? 0 : 4;
    v[TAMIS_STEADY_SPILL_BUCKETS] = 1 + buckets * (bits / LINE_BITS) / (16 * (wide / LINE_BITS));
    return true;
}

tamis_status tamis_i_spilling_shape(tamis_params *params, unsigned extra, uint64_t *n_table) {
    uint64_t *const v = params->value;
    tamis_i_spill spill;
    spilling_default(&v[TAMIS_STEADY_BUCKET_BITS], 2 * (uint64_t)LINE_BITS);
    spilling_default(&v[TAMIS_STEADY_FINGERPRINT_BITS], 9);
    spilling_default(&params->stash, 16 + params->capacity / 16384);
    if (v[TAMIS_STEADY_FINGERPRINT_BITS] > TAMIS_I_RUN_PRINT)
        return TAMIS_E_ARGUMENT;
    if (v[TAMIS_STEADY_BUCKETS] == 0) {
        for (unsigned i = TAMIS_STEADY_SPILL_BUCKETS; i <= TAMIS_STEADY_ORIGIN_BITS; i++)
            if (v[i] != 0)
                return TAMIS_E_ARGUMENT;
        if (!spilling_defaults(params, extra))
            return TAMIS_E_ARGUMENT;
    }
    if (!tamis_i_spilling_layout(params, extra, 0, &spill))
        return TAMIS_E_ARGUMENT;
    *n_table = spill.words;
    return TAMIS_OK;
}

uint64_t tamis_i_spilling_load(const tamis_i_spill *s, const uint64_t *table, tamis_i_slice slice) {
    const uint64_t *const back = table + s->n_front * s->front.words;
    const uint64_t end = tamis_i_slice_end(slice, s->n_front);
    const uint64_t back_end = tamis_i_slice_end(slice, s->n_back);
    uint64_t load = 0;
    for (uint64_t i = tamis_i_slice_from(slice, s->n_front); i < end; i++)
        load += s->front_ops->count(&s->front, table + i * s->front.words).load;
    for (uint64_t i = tamis_i_slice_from(slice, s->n_back); i < back_end; i++)
        load += s->back_ops->count(&s->back, back + i * s->back.words).load;
    return load;
}

/* A query for an absent key meets one of the B L 2^r fingerprints at random. */
void tamis_i_spilling_info(const tamis_i_spill *s, const uint64_t *table, tamis_i_slice slice,
                           uint64_t distinct, tamis_info *info) {
    const uint64_t step =
        s->front.slots / TAMIS_LOADS_MAX + 1; /* loads that one entry stands for */
    info->n_loads = (size_t)(s->front.slots / step + 1);
    const uint64_t end = tamis_i_slice_end(slice, s->n_front);
    for (uint64_t i = tamis_i_slice_from(slice, s->n_front); i < end; i++) {
        const uint64_t *const bucket = table + i * s->front.words;
        info->load_histogram[s->front_ops->count(&s->front, bucket).load / step]++;
    }
    const double homes = tamis_i_slice_size(slice, s->n_front) * (double)s->front.homes;
    info->fpr = (double)distinct / ldexp(homes, (int)s->front.print_bits);
}

bool tamis_i_spilling_touch(const tamis_i_spill *s, const tamis_filter *filter,
                            tamis_digest digest) {
    const tamis_i_spill_key key = tamis_i_spill_locate(s, digest);
    const uint64_t *const bucket = filter->table + key.bucket * s->front.words;
    const uint64_t *back[2];
    tamis_i_run_view view;
    if (!tamis_i_guard_words(filter, bucket, s->front.words))
        return false;
    if (s->front_ops->look(&s->front, bucket, key.home, &view))
        return true;
    const unsigned n = tamis_i_spill_back(s, filter->table, key, back);
    for (unsigned i = 0; i < n; i++)
        if (!tamis_i_guard_words(filter, back[i], s->back.words))
            return false;
    return true;
}
