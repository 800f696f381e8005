/* test_dynamic_bucket.c - buckets whose elements shrink, against a plain list of elements
 *
 * The list is read back from the bucket after each call.  What a call may do to it is told here in plain
 * words: which elements there are, how long they may be, and that no bit of the line outside of the bucket
 * changes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "bits/x86/dynamic_test.h"
#include "support.h"

enum { WORDS = 8, STEPS = 120, MOST = TAMIS_I_DYNAMIC_MAX };

typedef struct bucket {
    tamis_i_dynamic_bucket layout;
    uint64_t line[WORDS], around[WORDS]; /* around: all but the bucket, which is zero there */
    unsigned at;
    tamis_i_element list[MOST];
    unsigned n;
    bool quick, narrow; /* native operations can look into it, and change it */
} bucket;

static uint64_t first_bits(uint64_t fingerprint, unsigned length) {
    return fingerprint >> (64 - length);
}

static bool is_prefix(const tamis_i_element *e, uint64_t fingerprint) {
    return first_bits(e->fingerprint, e->length) == first_bits(fingerprint, e->length);
}

/* Bits that the elements may take, if there are n. */
static unsigned room_for(const tamis_i_dynamic_bucket *layout, unsigned n) {
    return (unsigned)layout->bits - (layout->sizes == 1 ? 13 : 18) -
           n * (unsigned)layout->counter_bits;
}

static unsigned stored(const tamis_i_dynamic_bucket *layout, const tamis_i_element *list,
                       unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += list[i].length - (layout->sizes == 1);
    return sum;
}

static void read_back(bucket *b) {
    const char *reason = NULL;
    b->n = tamis_i_dynamic_list(&b->layout, b->line, b->at, b->list);
    assert_true(tamis_i_dynamic_check(&b->layout, b->line, b->at, &reason));
    assert_int_equal(tamis_i_dynamic_load(&b->layout, b->line, b->at), b->n);
    assert_true(stored(&b->layout, b->list, b->n) <= room_for(&b->layout, b->n));
    for (unsigned i = 0; i < b->n; i++)
        assert_true(b->list[i].length >= b->layout.least);
    uint64_t outside[WORDS];
    memcpy(outside, b->line, sizeof outside);
    for (unsigned bit = b->at; bit < b->at + b->layout.bits; bit++)
        outside[bit / 64] &= ~((uint64_t)1 << bit % 64);
    assert_memory_equal(outside, b->around, sizeof outside);
}

static void assert_element(const tamis_i_element *a, const tamis_i_element *b) {
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->count, b->count);
    assert_true(a->fingerprint == b->fingerprint);
}

/* ---- the native work on a bucket ---- */

#if defined(__x86_64__) && defined(__GNUC__)

static unsigned char *bytes_of(bucket *b) {
    return (unsigned char *)b->line + b->at / 8;
}

static void quick_add(bucket *b, uint64_t fingerprint) {
    tamis_i_dynamic_test_add(&b->layout, bytes_of(b), b->n, fingerprint);
}

static void quick_add_any(bucket *b, uint64_t fingerprint) {
    tamis_i_dynamic_test_add_any(&b->layout, bytes_of(b), fingerprint);
}

static void quick_drop(bucket *b, unsigned i) {
    tamis_i_dynamic_test_drop(&b->layout, bytes_of(b), i);
}

static bool quick_holds(bucket *b, unsigned i, uint64_t fingerprint, bool least) {
    return tamis_i_dynamic_test_holds(&b->layout, bytes_of(b), i, fingerprint, least);
}

#else

static void quick_add(bucket *b, uint64_t fingerprint) {
    (void)tamis_i_dynamic_add(&b->layout, b->line, b->at, fingerprint, 64, 1);
}

static void quick_add_any(bucket *b, uint64_t fingerprint) {
    quick_add(b, fingerprint);
}

static void quick_drop(bucket *b, unsigned i) {
    tamis_i_dynamic_drop(&b->layout, b->line, b->at, i);
}

static bool quick_holds(bucket *b, unsigned i, uint64_t fingerprint, bool least) {
    return least ? tamis_i_dynamic_akin(&b->layout, b->line, b->at, fingerprint, 1u << i) != 0
                 : tamis_i_dynamic_holds(&b->layout, b->line, b->at, i, fingerprint);
}

#endif

/* ---- calls ---- */

/* Is the new list the old one, no element longer, and at 'place' the first bits of the fingerprint? */
static bool grown_at(const bucket *old, const bucket *now, unsigned place, uint64_t fingerprint,
                     unsigned length, unsigned count) {
    const tamis_i_element *const added = &now->list[place];
    if (added->length > length || added->count != count || !is_prefix(added, fingerprint))
        return false;
    for (unsigned i = 0; i < old->n; i++) {
        const tamis_i_element *const e = &now->list[i + (i >= place)];
        if (e->length > old->list[i].length || e->count != old->list[i].count ||
            !is_prefix(e, old->list[i].fingerprint))
            return false;
    }
    return true;
}

/* The lengths after an element came; 'least' bits at least were known of each. */
static void assert_lengths(const bucket *now, unsigned known) {
    const unsigned n = now->n, even = room_for(&now->layout, n) / n;
    unsigned longer = 0;
    double errors = 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned length = now->list[i].length;
        errors += 1.0 / (double)((uint64_t)1 << length);
        longer += length > even;
        /* Two lengths at most, the longer ones first. */
        assert_true(i == 0 || length <= now->list[i - 1].length);
        assert_true(length == now->list[0].length || length == now->list[n - 1].length);
    }
    const unsigned common = known < even ? known : even;
    assert_true(errors <= (double)n / (double)((uint64_t)1 << common));
    if (known > even) { /* shared out evenly, to the last bit */
        assert_int_equal(longer, room_for(&now->layout, n) - n * even);
        assert_int_equal(stored(&now->layout, now->list, n), room_for(&now->layout, n));
    }
}

static void add(bucket *b, uint64_t fingerprint, unsigned length, unsigned count) {
    const bucket old = *b;
    const unsigned longest = (unsigned)b->layout.least + TAMIS_I_DYNAMIC_MORE;
    unsigned known = length < longest ? length : longest;
    known = known < 56 ? known : 56;
    const bool done = tamis_i_dynamic_add(&b->layout, b->line, b->at, fingerprint, length, count);
    assert_int_equal(done, old.n < b->layout.most);
    if (b->narrow && done && length == 64) {
        bucket other = old, any = old;
        quick_add(&other, fingerprint);
        assert_memory_equal(other.line, b->line, sizeof b->line);
        quick_add_any(&any, fingerprint);
        assert_memory_equal(any.line, b->line, sizeof b->line);
    }
    read_back(b);
    assert_int_equal(b->n, old.n + done);
    if (!done || b->n == 0) {
        assert_memory_equal(b->line, old.line, sizeof b->line);
        return;
    }
    bool found = false;
    for (unsigned place = 0; place < b->n; place++)
        found |= grown_at(&old, b, place, fingerprint, length, count);
    assert_true(found);
    for (unsigned i = 0; i < old.n; i++)
        known = old.list[i].length < known ? old.list[i].length : known;
    if (b->layout.sizes == 2) {
        assert_lengths(b, known);
    } else { /* all as long as is known of all and fits */
        const unsigned fits = room_for(&b->layout, b->n) / b->n + 1;
        for (unsigned i = 0; i < b->n; i++)
            assert_int_equal(b->list[i].length, known < fits ? known : fits);
    }
}

/* The list without element i. */
static void assert_dropped(const bucket *old, const bucket *now, unsigned i) {
    assert_int_equal(now->n, old->n - 1);
    for (unsigned j = 0; j < now->n; j++)
        assert_element(&now->list[j], &old->list[j + (j >= i)]);
}

/* The longest of the elements loses a key; of equally long ones, one with the fewest. */
static void remove_one(bucket *b, unsigned elements) {
    const bucket old = *b;
    unsigned best = MOST;
    for (unsigned i = 0; i < b->n; i++)
        if ((elements >> i & 1) != 0 &&
            (best == MOST || old.list[i].length > old.list[best].length ||
             (old.list[i].length == old.list[best].length &&
              old.list[i].count < old.list[best].count)))
            best = i;
    tamis_i_dynamic_remove(&b->layout, b->line, b->at, elements);
    read_back(b);
    if (b->narrow) {
        bucket other = old;
        quick_drop(&other, best);
        assert_memory_equal(other.line, b->line, sizeof b->line);
    }
    if (old.list[best].count == 1) {
        assert_dropped(&old, b, best);
        return;
    }
    assert_int_equal(b->n, old.n);
    for (unsigned i = 0; i < b->n; i++) {
        tamis_i_element expected = old.list[i];
        expected.count -= i == best;
        assert_element(&b->list[i], &expected);
    }
}

/* One of the elements stands for one more key, if a counter allows it. */
static void join(bucket *b, unsigned elements) {
    const bucket old = *b;
    const unsigned most = 1u << b->layout.counter_bits;
    bool can = false;
    for (unsigned i = 0; i < b->n; i++)
        can |= (elements >> i & 1) != 0 && old.list[i].count < most;
    assert_int_equal(tamis_i_dynamic_join(&b->layout, b->line, b->at, elements), can);
    read_back(b);
    assert_int_equal(b->n, old.n);
    unsigned raised = 0;
    for (unsigned i = 0; i < b->n; i++) {
        tamis_i_element expected = old.list[i];
        if (b->list[i].count != expected.count) {
            assert_true((elements >> i & 1) != 0);
            expected.count++;
            raised++;
        }
        assert_element(&b->list[i], &expected);
    }
    assert_int_equal(raised, can);
}

/* All ways to look for a fingerprint tell what the list tells. */
static unsigned look_for(bucket *b, uint64_t fingerprint) {
    unsigned same = 0, akin = 0, copies = 0;
    for (unsigned i = 0; i < b->n; i++) {
        const tamis_i_element *const e = &b->list[i];
        const unsigned least = (unsigned)b->layout.least;
        same |= (unsigned)is_prefix(e, fingerprint) << i;
        akin |= (unsigned)(first_bits(e->fingerprint, least) == first_bits(fingerprint, least))
                << i;
        copies += is_prefix(e, fingerprint) ? e->count : 0;
    }
    tamis_i_probe probe = {.at = {b->line, b->line}};
    probe.word[1] = probe.word[2] = b->at;
    probe.word[TAMIS_I_HEAD] = tamis_i_dynamic_head(&b->layout, fingerprint);
    const uint64_t heads = tamis_i_heads_find(&b->layout.heads, &probe, 2);
    const unsigned hits = (uint16_t)heads;
    assert_int_equal(heads, hits | (uint64_t)hits << 16);
    assert_int_equal(same & ~hits, 0);
    assert_int_equal(tamis_i_dynamic_match(&b->layout, b->line, b->at, fingerprint, hits), same);
    assert_int_equal(tamis_i_dynamic_akin(&b->layout, b->line, b->at, fingerprint, hits), akin);
    assert_int_equal(tamis_i_dynamic_copies(&b->layout, b->line, b->at, same), copies);
    for (unsigned i = 0; i < MOST; i++)
        if ((hits >> i & 1) != 0)
            assert_int_equal(tamis_i_dynamic_holds(&b->layout, b->line, b->at, i, fingerprint),
                             same >> i & 1);
    for (unsigned i = 0; i < MOST && b->quick; i++) {
        if ((hits >> i & 1) != 0) {
            assert_int_equal(quick_holds(b, i, fingerprint, false), same >> i & 1);
            assert_int_equal(quick_holds(b, i, fingerprint, true), akin >> i & 1);
        }
    }
    return same;
}

/* ---- runs ---- */

/* Prints are drawn so that some are equal in their first bits, and some in all. */
static uint64_t draw_fingerprint(const bucket *b, uint64_t *random) {
    uint64_t fingerprint = test_random(random);
    if (b->n == 0 || test_random(random) % 3 == 0)
        return fingerprint;
    const tamis_i_element *const e = &b->list[test_random_below(random, b->n)];
    const unsigned keep = (unsigned)(1 + test_random_below(random, e->length));
    return first_bits(e->fingerprint, keep) << (64 - keep) | fingerprint >> keep;
}

static void churn(bucket *b, uint64_t *random) {
    for (unsigned i = 0; i < WORDS; i++)
        b->around[i] = test_random(random);
    for (unsigned bit = b->at; bit < b->at + b->layout.bits; bit++)
        b->around[bit / 64] &= ~((uint64_t)1 << bit % 64);
    memcpy(b->line, b->around, sizeof b->line);
    read_back(b);
    assert_int_equal(b->n, 0);
    for (unsigned step = 0; step < STEPS; step++) {
        const uint64_t fingerprint = draw_fingerprint(b, random);
        const unsigned same = look_for(b, fingerprint), what = (unsigned)(test_random(random) % 8);
        if (what < 4) {
            const unsigned least = (unsigned)b->layout.least;
            const unsigned length =
                what == 0 ? least + (unsigned)test_random_below(random, 65 - least) : 64;
            const unsigned most = 1u << b->layout.counter_bits;
            add(b, fingerprint, length, 1 + (unsigned)test_random_below(random, most));
        } else if (what < 6 && same != 0) {
            remove_one(b, same);
        } else if (what == 6 && same != 0) {
            join(b, same);
        } else if (b->n != 0) {
            const bucket old = *b;
            const unsigned i = (unsigned)test_random_below(random, b->n);
            tamis_i_dynamic_drop(&b->layout, b->line, b->at, i);
            if (b->narrow) {
                bucket other = old;
                quick_drop(&other, i);
                assert_memory_equal(other.line, b->line, sizeof b->line);
            }
            read_back(b);
            assert_dropped(&old, b, i);
        }
    }
    while (b->n != 0)
        remove_one(b, 1);
    assert_memory_equal(b->line, b->around, sizeof b->line);
}

static void test_dynamic_bucket_every_shape_equals_the_list(void **state) {
    (void)state;
    static const unsigned sizes_of_buckets[] = {48,  64,  96,  120, 128, 138, 152,
                                                168, 170, 184, 200, 256, 512};
    uint64_t random = test_seed(), shapes = 0, narrow = 0;
    const unsigned features = tamis_i_cpu_features();
    for (size_t s = 0; s < sizeof sizes_of_buckets / sizeof sizes_of_buckets[0]; s++) {
        for (unsigned least = 2; least <= 32; least++) {
            for (unsigned c = 0; c <= 8; c += 1 + least % 3) {
                for (unsigned sizes = 1; sizes <= 2; sizes++) {
                    bucket b = {.n = 0};
                    const unsigned bits = sizes_of_buckets[s];
                    if (!tamis_i_dynamic_init(&b.layout, bits, least, c, sizes))
                        continue;
                    b.at = bits * (unsigned)test_random_below(&random, 512 / bits);
                    b.quick = test_has_vectors(features) && b.layout.quick;
                    b.narrow = test_has_vectors(features) && b.layout.narrow;
                    churn(&b, &random);
                    shapes++;
                    narrow += b.narrow;
                }
            }
        }
    }
    print_message("# %llu shapes, %llu of them also by native operations\n",
                  (unsigned long long)shapes, (unsigned long long)narrow);
    assert_true(shapes > 1000);
    assert_true(narrow > 30 || !test_has_vectors(features));
}

static void test_dynamic_bucket_impossible_shapes_are_refused(void **state) {
    (void)state;
    tamis_i_dynamic_bucket layout;
    assert_false(tamis_i_dynamic_init(&layout, 128, 12, 1, 0));
    assert_false(tamis_i_dynamic_init(&layout, 128, 12, 1, 3));
    assert_false(tamis_i_dynamic_init(&layout, 128, 1, 1, 2));
    assert_false(tamis_i_dynamic_init(&layout, 128, 33, 1, 2));
    assert_false(tamis_i_dynamic_init(&layout, 128, 12, 9, 2));
    assert_false(tamis_i_dynamic_init(&layout, 513, 12, 1, 2));
    assert_false(tamis_i_dynamic_init(&layout, 43, 12, 1, 2)); /* 18 of state, and two of 13 */
    assert_true(tamis_i_dynamic_init(&layout, 44, 12, 1, 2));
    assert_int_equal(layout.most, 2);
}

static void test_dynamic_bucket_damage_is_seen(void **state) {
    (void)state;
    tamis_i_dynamic_bucket layout;
    const char *reason = NULL;
    uint64_t line[WORDS] = {0};
    assert_true(tamis_i_dynamic_init(&layout, 128, 12, 1, 2));
    for (uint64_t i = 1; i <= 3; i++)
        assert_true(tamis_i_dynamic_add(&layout, line, 0, i << 60, 64, 1));
    assert_true(tamis_i_dynamic_check(&layout, line, 0, &reason));
    const uint64_t good = line[1];
    line[1] = good | (uint64_t)15 << (layout.state_at % 64); /* 15 elements of group a */
    assert_false(tamis_i_dynamic_check(&layout, line, 0, &reason));
    assert_string_equal(reason, "a bucket holds more than fits");
    line[1] = good & ~(layout.state_mask << layout.state_at % 64);
    assert_false(tamis_i_dynamic_check(&layout, line, 0, &reason));
    assert_string_equal(reason, "a bucket has data past its elements");
    memset(line, 0, sizeof line);
    line[1] = (uint64_t)1 << (layout.state_at % 64 + 8); /* no elements, but a length */
    assert_false(tamis_i_dynamic_check(&layout, line, 0, &reason));
    assert_string_equal(reason, "a bucket has lengths that do not occur");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dynamic_bucket_every_shape_equals_the_list),
        cmocka_unit_test(test_dynamic_bucket_impossible_shapes_are_refused),
        cmocka_unit_test(test_dynamic_bucket_damage_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
