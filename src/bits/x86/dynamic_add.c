/* dynamic_add.c - one more element in a bucket of dynamic_bucket.h in any state, for x86-64 with AVX2
 * and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/dynamic_view.h"

/* Ones at all multiples of a number of bits, 1 to 48.  Below 64: as many as there are whole fields in a
 * word (search.c), and one more unless w divides 64.  Above they continue w - 64 mod w bits later. */
#define WHOLE(w)  (~(uint64_t)0 / (~(uint64_t)0 >> (64 - (w))) >> 64 % (w))
#define STARTS(w) (WHOLE(w) | (uint64_t)1 << (64 - 64 % (w)) % 64)
#define TWO(w)    STARTS(w), STARTS(w) << ((w)-64 % (w)) % (w)
#define EIGHT(w)                                                                                   \
    TWO(w), TWO((w) + 1), TWO((w) + 2), TWO((w) + 3), TWO((w) + 4), TWO((w) + 5), TWO((w) + 6),    \
        TWO((w) + 7)

static const uint64_t starts_at[2 * 49] = {0,         0,         EIGHT(1),  EIGHT(9),
                                           EIGHT(17), EIGHT(25), EIGHT(33), EIGHT(41)};

static inline tamis_i_two dynamic_starts_of(uint64_t bits) {
    return (tamis_i_two){{starts_at[2 * bits], starts_at[2 * bits + 1]}};
}

TAMIS_I_TARGET_BOTH void tamis_i_dynamic_add_any_x86(const tamis_i_dynamic_bucket *layout,
                                                     unsigned char *bucket, uint64_t fingerprint) {
    const tamis_i_dynamic_quick q = tamis_i_dynamic_quick_of(layout);
    tamis_i_dynamic_told t = tamis_i_dynamic_quick_told(&q, bucket);
    const uint64_t n = t.n, own = layout->longest;
    /* Elements of one length count as group b.  Without any, group b is as long as the new element. */
    t.tail_b = n == 0 ? own - 8 : t.n_b == 0 ? t.tail_a : t.tail_b;
    t.n_a = t.n_b == 0 ? 0 : t.n_a;
    t.n_b = n - t.n_a;
    const tamis_i_dynamic_split l = tamis_i_dynamic_lengths(
        layout, (unsigned)layout->state_at, (unsigned)t.n_a, (unsigned)t.tail_a + 8, (unsigned)own,
        (unsigned)t.n_b, (unsigned)t.tail_b + 8);
    const uint64_t longer = l.longer - 8, shorter = l.shorter - 8, place = t.n_a;
    /* Old elements that become long ones. */
    const uint64_t n_longer = l.n_a - (l.n_a > place);
    const uint64_t of_a = n_longer < place ? n_longer : place;
    const uint64_t first_b = t.n_a * t.tail_a, end = first_b + t.n_b * t.tail_b;
    const uint64_t end_longer = of_a * t.tail_a + (n_longer - of_a) * t.tail_b;
    const tamis_i_two a = tamis_i_two_below(dynamic_starts_of(t.tail_a), first_b);
    const tamis_i_two b = tamis_i_two_far_up(dynamic_starts_of(t.tail_b), first_b);
    const tamis_i_two kept = tamis_i_two_or(tamis_i_two_up(a, t.tail_a - shorter),
                                            tamis_i_two_up(b, t.tail_b - shorter));
    const tamis_i_two kept_longer = tamis_i_two_below(kept, end_longer);
    const tamis_i_two more =
        tamis_i_two_minus(kept_longer, tamis_i_two_down(kept_longer, longer - shorter));
    const tamis_i_two gone = tamis_i_two_xor(tamis_i_two_minus(kept, tamis_i_two_or(a, b)), more);
    const tamis_i_two keep = tamis_i_two_below((tamis_i_two){{~gone.w[0], ~gone.w[1]}}, end);
    const uint64_t before = place < l.n_a ? place : l.n_a, tail = place < l.n_a ? longer : shorter;
    const uint64_t at = before * longer + (place - before) * shorter;
    tamis_i_dynamic_put_x86(&q, bucket, fingerprint, n, keep, place, at, tail,
                            tamis_i_dynamic_state(layout, (unsigned)n + 1, l));
}

#endif
