/* test_parts_hostile.c - files that are verified in parts, made on purpose
 *
 * Bytes whose checksums match must be safe to ask before all of them were looked at, whatever they are.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "parts.h"

#include <signal.h>

/* ---- lengths ---- */

static void test_parts_other_lengths_are_refused(void **state) {
    SKIP_WITHOUT_VIEWS();
    parts_sample s;
    sample_open(&s, TAMIS_KIND_STEADY);
    loader l;
    loader_open(&l, "length", 2 * s.size);
    const size_t body = HEADER + 8 * (size_t)s.n_body;
    const size_t lengths[] = {HEADER,     HEADER + 63, HEADER + 64, 65536,      body - 1,
                              body,       body + 1,    body + 8,    s.size - 8, s.size - 1,
                              s.size + 1, s.size + 8,  2 * s.size};
    unsigned char *const longer = calloc(2, s.size);
    assert_non_null(longer);
    memcpy(longer, s.bytes, s.size);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
            assert_string_equal(must_refuse(&l, w, longer, lengths[i], TAMIS_E_FORMAT),
                                lengths[i] < s.size ? "the file is cut off within the body"
                                                    : "the file goes on after its end");
    free(longer);
    loader_close(&l);
    sample_close(&s);
}

/* A small set, or a series, has no version 3; a large one may be of either. */
static void test_parts_versions_fit_the_size(void **state) {
    (void)state;
    parts_sample s;
    sample_of(&s, blocks_set(1023));
    tamis_i_put_u32(s.bytes + TAMIS_I_AT_VERSION, 3);
    fix_header(s.bytes);
    loader l;
    loader_open(&l, "version", s.size);
    for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
        assert_string_equal(must_refuse(&l, w, s.bytes, s.size, TAMIS_E_FORMAT),
                            "the header has a higher version than it needs");
    loader_close(&l);
    sample_close(&s);
}

/* ---- attacks: the checksums match ---- */

static uint64_t hostile_word(uint64_t *random, uint64_t old) {
    switch (test_random_below(random, 4)) {
    case 0:
        return test_random(random);
    case 1:
        return old ^ UINT64_C(1) << test_random_below(random, 64);
    case 2:
        return test_some_word(random);
    default:
        return test_random_below(random, 2) ? UINT64_MAX : 0;
    }
}

/* Every way to ask; answers mean nothing, but they must come, and agree. */
static void ask_hostile(const tamis_filter *view, uint64_t *random) {
    enum { N = 600 };
    tamis_digest digests[N];
    bool present[N];
    for (size_t i = 0; i < N; i++) {
        digests[i] = (tamis_digest){test_random(random), test_random(random)};
        if (i % 16 == 0)
            digests[i].lo = i % 32 ? UINT64_MAX : 0;
    }
    size_t found = tamis_filter_contains_many_digest(view, digests, N, present);
    for (size_t i = 0; i < N; i++) {
        const bool single = tamis_filter_contains_digest(view, digests[i]);
        (void)tamis_filter_copies_digest(view, digests[i]);
        /* Engines may differ on buckets that no calls can make, if nothing there is checked. */
        assert_true(present[i] == single || view->kind->check_lines == NULL);
        found -= present[i];
        tamis_filter_prefetch_digest(view, digests[i]);
    }
    assert_int_equal(found, 0);
}

/* A view on bytes whose checksums match: to be asked, and then to be refused or used as a whole. */
static void attack(parts_sample *s, uint64_t *random) {
    fix_checksums(s->bytes, s->size);
    for (unsigned trusted = 0; trusted < 2; trusted++) {
        tamis_filter *view = NULL;
        const tamis_status status =
            view_bytes(s, trusted ? TAMIS_I_OPEN_TRUSTED : TAMIS_I_OPEN_PARTS, &view);
        if (status != TAMIS_OK) {
            assert_true(is_refusal(status));
            continue;
        }
        for (unsigned i = 0; i < 3; i++)
            ask_hostile(view, random);
        (void)!tamis_filter_verify(view, NULL);
        ask_hostile(view, random);
        tamis_filter *copy;
        if (tamis_filter_clone(view, NULL, &copy) == TAMIS_OK) {
            assert_ok(tamis_filter_insert_u64(copy, 1, NULL));
            tamis_filter_free(copy);
        } else {
            assert_true(tamis_filter_damage(view) != 0);
        }
        tamis_filter_free(view);
    }
}

static void test_parts_hostile_tables_are_safe(void **state) {
    SKIP_WITHOUT_VIEWS();
    uint64_t random = test_seed();
    FOR_EACH_KIND(kind) {
        parts_sample s;
        sample_open(&s, kind);
        unsigned char *const sound = malloc(s.size);
        assert_non_null(sound);
        memcpy(sound, s.bytes, s.size);
        const size_t table = HEADER + 8 * (size_t)(s.n_body - s.set->n_table);
        for (unsigned round = 0; round < 8; round++) {
            memcpy(s.bytes, sound, s.size);
            for (uint64_t i = 0; i < s.set->n_table; i++) {
                unsigned char *const word = s.bytes + table + 8 * i;
                if (round < 2)
                    tamis_i_put_u64(word, round == 0 ? test_random(&random) : UINT64_MAX);
                else if (test_random_below(&random, round < 5 ? 4 : 64) == 0)
                    tamis_i_put_u64(word, hostile_word(&random, tamis_i_get_u64(word)));
            }
            attack(&s, &random);
        }
        memcpy(s.bytes, sound, s.size);
        for (unsigned i = 2; i < 8; i++) /* words of the state that the kind has */
            for (unsigned j = 0; j < 3; j++) {
                unsigned char *const word = s.bytes + HEADER + 8 * i;
                const uint64_t old = tamis_i_get_u64(word);
                tamis_i_put_u64(word, j == 0 ? UINT64_MAX : j == 1 ? 1 : test_random(&random));
                attack(&s, &random);
                tamis_i_put_u64(word, old);
            }
        free(sound);
        sample_close(&s);
    }
}

/* A stash without an end, one of chance, and one that claims what it has not. */
static void test_parts_hostile_stashes_are_safe(void **state) {
    SKIP_WITHOUT_VIEWS();
    uint64_t random = test_seed();
    FOR_EACH_KIND(kind) {
        parts_sample s;
        sample_open(&s, kind);
        const uint64_t words = s.n_body - s.set->n_table - 8;
        if (words != 0) {
            for (unsigned round = 0; round < 5; round++) {
                for (uint64_t i = 0; i < words; i++)
                    tamis_i_put_u64(s.bytes + HEADER + 64 + 8 * i, round == 0 ? UINT64_MAX
                                                                   : round == 1
                                                                       ? 0
                                                                       : hostile_word(&random, 0));
                tamis_i_put_u64(s.bytes + HEADER + 8, round == 4   ? s.set->stash.capacity + 1
                                                      : round == 3 ? 1
                                                                   : s.set->stash.capacity);
                attack(&s, &random);
            }
        }
        sample_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_other_lengths_are_refused),
        cmocka_unit_test(test_parts_versions_fit_the_size),
        cmocka_unit_test(test_parts_hostile_tables_are_safe),
        cmocka_unit_test(test_parts_hostile_stashes_are_safe),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* a loader that has seen enough closes its pipe */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
