/* parts.h - what the tests of files that are verified in parts share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_PARTS_H
#define TAMIS_TESTS_PARTS_H

#include "robust.h"

#include "file/file.h"
#include "filter/guard.h"

#define KEYS   150000u /* of a sample: three parts and more of any kind */
#define ABSENT UINT64_C(0x8000000000000000)

/* A set of keys 0 to KEYS - 1, its file, and a copy of its bytes to be damaged. */
typedef struct parts_sample {
    tamis_filter *set;
    unsigned char *bytes;
    size_t size;
    uint64_t n_body, n_parts;
    unsigned shift;
    guarded memory;
} parts_sample;

static inline void sample_of(parts_sample *s, tamis_filter *set) {
    s->set = set;
    s->bytes = encode(set, &s->size);
    s->n_body = set->n_body;
    s->shift = tamis_i_part_shift(s->n_body);
    s->n_parts = tamis_i_sums_words(s->n_body);
    guarded_open(&s->memory, s->size);
}

static inline void sample_open(parts_sample *s, tamis_kind kind) {
    sample_of(s, make_sample(kind, KEYS));
    assert_true(s->n_parts >= 3);
    assert_int_equal(tamis_i_get_u32(s->bytes + TAMIS_I_AT_VERSION), 3);
}

static inline void sample_close(parts_sample *s) {
    guarded_close(&s->memory);
    free(s->bytes);
    tamis_filter_free(s->set);
}

/* A view on bytes that end where no byte may be read. */
static inline tamis_status view_bytes(parts_sample *s, tamis_i_opening opening,
                                      tamis_filter **view) {
    const char *reason = NULL;
    const tamis_status status = tamis_i_file_view(guarded_put(&s->memory, s->bytes, s->size, 8),
                                                  s->size, NULL, opening, view, &reason);
    if (status != TAMIS_OK)
        assert_true(reason != NULL && strlen(reason) > 8);
    return status;
}

static inline tamis_filter *view_of(parts_sample *s, tamis_i_opening opening) {
    tamis_filter *view = NULL;
    assert_ok(view_bytes(s, opening, &view));
    return view;
}

static inline void flip(parts_sample *s, size_t bit) {
    s->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

#define SKIP_WITHOUT_VIEWS()                                                                       \
    do {                                                                                           \
        (void)state;                                                                               \
        if (!tamis_i_little_endian())                                                              \
            skip();                                                                                \
    } while (0)

static inline tamis_filter *blocks_set(uint64_t blocks) {
    tamis_params params = test_bare_params(TAMIS_KIND_BLOCKED_BLOOM, 1000, SEED);
    params.hash = TAMIS_HASH_XXH3;
    params.value[TAMIS_BLOCKED_BLOOM_BLOCKS] = blocks;
    tamis_filter *set;
    assert_ok(tamis_filter_create(&params, NULL, &set));
    return set;
}

/* Keys, of which every other is in, and the answers of a sound set. */
enum { ASKED = 30000 };

typedef struct asked {
    uint64_t keys[ASKED];
    bool expected[ASKED], present[ASKED];
} asked;

static inline asked *asked_of(const tamis_filter *set) {
    asked *const a = malloc(sizeof *a);
    assert_non_null(a);
    for (uint64_t i = 0; i < ASKED; i++)
        a->keys[i] = i % 2 ? i * 4 : ABSENT + i;
    (void)tamis_filter_contains_many_u64(set, a->keys, ASKED, a->expected);
    return a;
}

/* No answer may be "absent" that was not so without damage, and no other answer may change silently. */
static inline void answers_hold(const tamis_filter *view, asked *a) {
    bool changed = false;
    (void)tamis_filter_contains_many_u64(view, a->keys, ASKED, a->present);
    for (size_t i = 0; i < ASKED; i++) {
        if (a->present[i] == a->expected[i])
            continue;
        assert_true(a->present[i]);
        changed = true;
    }
    assert_true(!changed || tamis_filter_damage(view) != 0);
}

#endif
