/* fuzz_ops.c - any sequence of calls, against an exact multiset
 *
 * The input names a kind and its parameters, then calls on two filters of the same parameters, each with
 * a model that counts 64 keys exactly.  After every step: no key of the model is missed; what a failed call
 * left is what was there before; a batch gives the answers and the bytes of its single calls, also for keys
 * that were never inserted; a value that was changed is told; bytes written and read again are the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"

enum { N_KEYS = 64, BATCH_MAX = 40, STEPS_MAX = 400 };

/* ---- the input as a source of numbers ---- */

typedef struct input {
    const uint8_t *data;
    size_t left;
} input;

static unsigned take(input *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->data++;
}

static unsigned take_two(input *in) {
    const unsigned low = take(in);
    return low | take(in) << 8;
}

/* ---- a filter and its model ---- */

typedef struct pair {
    tamis_filter *filter;
    uint32_t copies[N_KEYS];
    uint64_t inserts; /* an upper limit of what any counter has seen */
    bool grown;       /* it has several links: a removal may be ambiguous */
} pair;

static bool is_multiset(const tamis_params *params) {
    return (tamis_params_abilities(params) & TAMIS_CAN_COUNT) != 0;
}

static tamis_filter *clone(const tamis_filter *filter) {
    tamis_filter *copy;
    must(tamis_filter_clone(filter, NULL, &copy) == TAMIS_OK);
    return copy;
}

/* Keys of all lengths from 0 on; number 0 is the empty one. */
static tamis_bytes key_of(unsigned i) {
    static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";
    return (tamis_bytes){.data = text + (i % 3 == 0 ? 0 : 64 - i), .size = i};
}

static void check(const pair *p, const tamis_params *params) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < N_KEYS; i++) {
        const tamis_bytes key = key_of(i);
        sum += p->copies[i];
        if (p->copies[i] == 0)
            continue;
        must(tamis_filter_contains(p->filter, key.data, key.size));
        const uint64_t copies = tamis_filter_copies(p->filter, key.data, key.size);
        must(copies >= 1);
        if (is_multiset(params) && p->inserts < 15)
            must(copies >= p->copies[i]);
    }
    if (is_multiset(params))
        must(tamis_filter_count(p->filter) == sum);
    else
        must((tamis_filter_count(p->filter) == 0) == (sum == 0));
}

static void note_insert(pair *p, const tamis_params *params, unsigned key) {
    p->copies[key] = is_multiset(params) ? p->copies[key] + 1 : 1;
    p->inserts++;
}

static void insert_one(pair *p, const tamis_params *params, unsigned key) {
    tamis_filter *const before = clone(p->filter);
    const tamis_bytes bytes = key_of(key);
    const bool was = tamis_filter_contains(p->filter, bytes.data, bytes.size);
    bool added = was;
    const tamis_status status = tamis_filter_insert(p->filter, bytes.data, bytes.size, &added);
    if (status == TAMIS_OK) {
        must(added == !was);
        note_insert(p, params, key);
    } else {
        must((status == TAMIS_E_FULL || p->grown) && added == was && same(before, p->filter));
    }
    tamis_filter_free(before);
}

static void insert_batch(pair *p, const tamis_params *params, input *in) {
    tamis_filter *const single = clone(p->filter);
    const size_t n = take(in) % BATCH_MAX;
    unsigned numbers[BATCH_MAX];
    tamis_bytes keys[BATCH_MAX];
    bool added[BATCH_MAX], added_single = false;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = take(in) % N_KEYS;
        keys[i] = key_of(numbers[i]);
    }
    size_t done = 0, done_single = 0;
    const tamis_status status = tamis_filter_insert_many(p->filter, keys, n, added, &done);
    tamis_status status_single = TAMIS_OK;
    for (; done_single < n; done_single++) {
        const tamis_bytes key = keys[done_single];
        status_single = tamis_filter_insert(single, key.data, key.size, &added_single);
        if (status_single != TAMIS_OK)
            break;
        must(done_single < done && added[done_single] == added_single);
        note_insert(p, params, numbers[done_single]);
    }
    must(status == status_single && done == done_single && same(single, p->filter));
    tamis_filter_free(single);
}

static void query_batch(const pair *p, input *in) {
    const size_t n = take(in) % BATCH_MAX;
    tamis_bytes keys[BATCH_MAX];
    bool present[BATCH_MAX];
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(take(in) % N_KEYS);
    const size_t found = tamis_filter_contains_many(p->filter, keys, n, present);
    for (size_t i = 0; i < n; i++) {
        must(present[i] == tamis_filter_contains(p->filter, keys[i].data, keys[i].size));
        sum += present[i];
    }
    must(found == sum);
    uint64_t others[256];
    bool other_present[256];
    for (size_t i = 0; i < 256; i++)
        others[i] = i * 0x9e3779b97f4a7c15u + n;
    (void)tamis_filter_contains_many_u64(p->filter, others, 256, other_present);
    for (size_t i = 0; i < 256; i++)
        must(other_present[i] == tamis_filter_contains_u64(p->filter, others[i]));
}

/* A batch with something that is no key. */
static void bad_batch(pair *p, input *in) {
    tamis_filter *const before = clone(p->filter);
    const size_t n = 1 + take(in) % (BATCH_MAX - 1), bad = take(in) % n;
    tamis_bytes keys[BATCH_MAX];
    bool present[BATCH_MAX];
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(take(in) % N_KEYS);
    keys[bad] = (tamis_bytes){NULL, 1 + bad};
    must(tamis_filter_insert_many(p->filter, keys, n, NULL, NULL) == TAMIS_E_ARGUMENT);
    must(tamis_filter_remove_many(p->filter, keys, n, NULL, NULL) == TAMIS_E_ARGUMENT);
    (void)tamis_filter_contains_many(p->filter, keys, n, present);
    for (size_t i = 0; i < n; i++)
        must(present[i] == tamis_filter_contains(p->filter, keys[i].data, keys[i].size));
    must(!present[bad] && same(before, p->filter));
    tamis_filter_free(before);
}

static void change_value(pair *p, unsigned key, input *in) {
    const unsigned bits = tamis_filter_value_bits(p->filter);
    if (bits == 0)
        return;
    tamis_filter *const before = clone(p->filter);
    const tamis_bytes bytes = key_of(key);
    const unsigned value = take(in) & ((1u << bits) - 1);
    const tamis_status status = tamis_filter_update_value(p->filter, bytes.data, bytes.size, value);
    unsigned told = value + 1;
    const tamis_status found = tamis_filter_lookup_value(p->filter, bytes.data, bytes.size, &told);
    must((found == TAMIS_OK) == tamis_filter_contains(p->filter, bytes.data, bytes.size));
    if (status == TAMIS_OK)
        must(found == TAMIS_OK && (told == value || p->grown));
    else
        must((status == TAMIS_E_NOT_FOUND || status == TAMIS_E_FULL || p->grown) &&
             same(before, p->filter));
    tamis_filter_free(before);
}

/* Only what was inserted may be removed; a set cannot tell how often that was. */
static void remove_one(pair *p, const tamis_params *params, unsigned key) {
    const tamis_bytes bytes = key_of(key);
    if ((tamis_params_abilities(params) & TAMIS_CAN_REMOVE) == 0) {
        tamis_filter *const before = clone(p->filter);
        must(tamis_filter_remove(p->filter, bytes.data, bytes.size) == TAMIS_E_UNSUPPORTED);
        must(same(before, p->filter));
        tamis_filter_free(before);
    } else if (is_multiset(params) && p->copies[key] > 0) {
        tamis_filter *const before = clone(p->filter);
        const tamis_status status = tamis_filter_remove(p->filter, bytes.data, bytes.size);
        must(status == TAMIS_OK || (status == TAMIS_E_AMBIGUOUS && p->grown));
        must(status == TAMIS_OK || same(before, p->filter));
        p->copies[key] -= status == TAMIS_OK;
        tamis_filter_free(before);
    } else if (!tamis_filter_contains(p->filter, bytes.data, bytes.size)) {
        tamis_filter *const before = clone(p->filter);
        must(tamis_filter_remove(p->filter, bytes.data, bytes.size) == TAMIS_E_NOT_FOUND);
        must(same(before, p->filter));
        tamis_filter_free(before);
    }
}

static void remove_batch(pair *p, const tamis_params *params, input *in) {
    const size_t n = take(in) % BATCH_MAX;
    unsigned numbers[BATCH_MAX];
    tamis_bytes keys[BATCH_MAX];
    size_t asked = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned key = take(in) % N_KEYS;
        unsigned before = 0;
        for (size_t j = 0; j < asked; j++)
            before += numbers[j] == key;
        if (!is_multiset(params) || p->copies[key] <= before)
            continue;
        numbers[asked] = key;
        keys[asked++] = key_of(key);
    }
    if (asked == 0)
        return;
    tamis_filter *const single = clone(p->filter);
    bool removed[BATCH_MAX];
    must(tamis_filter_remove_many(p->filter, keys, asked, removed, &count) == TAMIS_OK);
    must(count == asked || p->grown);
    for (size_t i = 0; i < asked; i++) {
        must(removed[i] || p->grown);
        must((tamis_filter_remove(single, keys[i].data, keys[i].size) == TAMIS_OK) == removed[i]);
        p->copies[numbers[i]] -= removed[i];
    }
    must(same(single, p->filter));
    tamis_filter_free(single);
}

static void merge(pair *p, const pair *other, const tamis_params *params) {
    tamis_filter *const before = clone(p->filter);
    const tamis_status status = tamis_filter_merge(p->filter, other->filter, TAMIS_MERGE_BEYOND);
    if (status == TAMIS_OK) {
        for (unsigned i = 0; i < N_KEYS; i++) {
            p->copies[i] += other->copies[i];
            if (!is_multiset(params) && p->copies[i] > 1)
                p->copies[i] = 1;
        }
        p->inserts += other->inserts;
        p->grown = p->grown || other->grown;
    } else {
        must(status == TAMIS_E_FULL || status == TAMIS_E_UNSUPPORTED ||
             (status == TAMIS_E_TOO_LARGE && p->grown));
        must(same(before, p->filter));
    }
    tamis_filter_free(before);
}

/* From now on the filter that was read goes on in place of the one that was written. */
static void round_trip(pair *p) {
    size_t size;
    unsigned char *const bytes = encode(p->filter, &size);
    tamis_filter *again;
    must(tamis_filter_decode(bytes, size, NULL, &again, NULL) == TAMIS_OK);
    must(same(p->filter, again));
    tamis_filter_free(p->filter);
    p->filter = again;
    free(bytes);
}

/* A further link, small, and with errors enough to meet often. */
static void grow(pair *p, input *in) {
    tamis_filter *const before = clone(p->filter);
    tamis_growth growth;
    tamis_growth_init(&growth);
    growth.fpr = 0.9;
    growth.n = 1 + take(in) % N_KEYS;
    growth.automatic = growth.n % 2 == 0;
    if (tamis_filter_grow(p->filter, &growth) == TAMIS_OK)
        p->grown = true;
    else
        must(same(before, p->filter));
    tamis_filter_free(before);
}

static void clear(pair *p) {
    must(tamis_filter_clear(p->filter) == TAMIS_OK);
    memset(p->copies, 0, sizeof p->copies);
    p->inserts = 0;
}

static void step(pair *pairs, const tamis_params *params, input *in) {
    const unsigned code = take(in);
    pair *const p = &pairs[code >> 7];
    const unsigned key = take(in) % N_KEYS;
    switch (code % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
        insert_one(p, params, key);
        break;
    case 4:
    case 5:
        insert_batch(p, params, in);
        break;
    case 6:
        query_batch(p, in);
        break;
    case 7:
    case 8:
    case 9:
        remove_one(p, params, key);
        break;
    case 10:
        remove_batch(p, params, in);
        break;
    case 11:
        merge(p, &pairs[1 - (code >> 7)], params);
        break;
    case 12:
        round_trip(p);
        break;
    case 13: /* one key very often: counters come to their end */
        for (unsigned i = take(in) % 32; i > 0; i--)
            insert_one(p, params, key);
        break;
    case 14: {
        tamis_info info;
        tamis_info_init(&info);
        must(tamis_filter_info(p->filter, &info) == TAMIS_OK);
        must(info.count == tamis_filter_count(p->filter) && info.fpr >= 0 && info.fpr <= 1 + 1e-9);
        break;
    }
    default:
        if (key == 0)
            clear(p);
        else if (key < 4)
            grow(p, in);
        else if (key < 8)
            bad_batch(p, in);
        else
            change_value(p, key, in);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    input in = {.data = data, .left = n};
    tamis_kind kinds[64];
    unsigned n_kinds = 0;
    for (int i = 1; i < 64; i++)
        if (tamis_kind_name((tamis_kind)i) != NULL)
            kinds[n_kinds++] = (tamis_kind)i;
    tamis_params params;
    tamis_params_init(&params);
    params.kind = kinds[take(&in) % n_kinds];
    params.capacity = 1 + take(&in) % N_KEYS;
    params.seed = 1 + take(&in);
    params.stash = take(&in) % 32;
    const unsigned given =
        take(&in); /* which parameters are given; the others take their defaults */
    for (unsigned i = 0; i < 8 && tamis_param_name(params.kind, i) != NULL; i++)
        if (given >> i & 1)
            params.value[i] = i == 0 ? take_two(&in) % 1024 : take(&in) % 80;
    if (params.kind == TAMIS_KIND_RANK && params.seed % 3 == 0)
        params.value[TAMIS_RANK_VALUE_BITS] = 1 + params.seed % 8;
    if (params.kind == TAMIS_KIND_LINE)
        params.value[TAMIS_LINE_SET] %= 2;
    pair pairs[2];
    memset(pairs, 0, sizeof pairs);
    if (tamis_filter_create(&params, NULL, &pairs[0].filter) != TAMIS_OK)
        return 0;
    if (tamis_filter_encoded_size(pairs[0].filter) > 1 << 16) {
        tamis_filter_free(pairs[0].filter);
        return 0;
    }
    must(tamis_filter_create(&params, NULL, &pairs[1].filter) == TAMIS_OK);
    for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++) {
        step(pairs, &params, &in);
        check(&pairs[0], &params);
        check(&pairs[1], &params);
    }
    tamis_filter_free(pairs[0].filter);
    tamis_filter_free(pairs[1].filter);
    return 0;
}
