/* flex.c - buckets whose elements shrink as they fill, and can be removed
 *
 * An element is a prefix of a print: the minimal remainder, which is always kept, and as many more
 * bits as there is room for.  Lengths only shrink: bits that were dropped cannot be had again.
 *
 * Layout of a bucket, from its first bit up.  It has two groups of elements, a and b:
 *
 *      one length    [ n_a ][ n_b ][ len ]           [ counters ][ group a ][ group b ][ zeros ]
 *      two lengths   [ n_a ][ n_b ][ len_a ][ len_b ][ counters ][ group a ][ group b ][ zeros ]
 *                      4      4      5        5        c each
 *
 * Lengths are told as bits beyond the shortest.  A counter holds one less than the number of keys.
 *
 *   one length   Semi-sorting: group a begins with a 0, group b with a 1, and that first bit is not
 *   stored.
 *                When an element comes, all are cut to what then fits.  The length never grows
 *                again until the bucket is empty.
 *   two lengths  Group a has the longer elements.  After removals new elements take the bits that
 *   the older
 *                ones cannot use.  When an element comes, the two lengths are chosen anew: with k
 *                of the a elements longer, the short ones as long as they are, or the bits allow,
 *                and the others sharing the rest; of all k, the one with the smallest sum of
 *                2^-length, that is the fewest errors.
 *
 * Why the longest match is removed.  Each key that is in stands behind one element that is a prefix
 * of its print.  Let x be removed, e the longest element that is a prefix of x, and e' the one that
 * x stands behind. If e' is not e, then e, being longer, belongs to another key y; e' is a prefix
 * of x, no longer than e, hence a prefix of e and of y.  So y may stand behind e' from now on, and
 * e can go.  Cutting elements and moving them keep this too.
 *
 * Invariants, tested by tamis_i_flex_check():
 *   F1  the elements fit the bucket;
 *   F2  a group without elements has length 0 told, group a is longer than group b if both are there;
 *   F3  bits past the last element are zero.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and
 * Dynamic Bit Reassignment", Allerton 2006, section III.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/flex.h"

#define MOST   TAMIS_I_FLEX_MAX
#define NUMBER 4u /* bits that tell the number of elements of a group */
#define LENGTH 5u /* bits that tell a length */

typedef tamis_i_element element;

/* Where everything is. */
typedef struct parts {
    unsigned n[2];     /* elements of the groups */
    unsigned width[2]; /* bits that are stored of each */
    unsigned length[2];
    unsigned counters; /* first bit of the counters */
    unsigned first[2]; /* and of the groups */
    unsigned end;
} parts;

static unsigned state_bits(const tamis_i_flex *flex) {
    return 2 * NUMBER + LENGTH * (unsigned)flex->sizes;
}

/* Bits for elements and counters. */
static unsigned payload(const tamis_i_flex *flex) {
    return (unsigned)flex->bits - state_bits(flex);
}

/* Bits of an element that need not be stored. */
static unsigned told(const tamis_i_flex *flex) {
    return flex->sizes == 1;
}

/* Bits of an element and its counter, when it has 'length' bits. */
static unsigned cost(const tamis_i_flex *flex, unsigned length) {
    return length - told(flex) + (unsigned)flex->counter_bits;
}

static unsigned length_max(const tamis_i_flex *flex) {
    const unsigned most = (unsigned)flex->least + TAMIS_I_FLEX_MORE;
    return most < 56 ? most : 56;
}

unsigned tamis_i_flex_most(const tamis_i_flex *flex) {
    const unsigned n = payload(flex) / cost(flex, (unsigned)flex->least);
    return n < MOST ? n : MOST;
}

bool tamis_i_flex_ok(const tamis_i_flex *flex) {
    return flex->sizes >= 1 && flex->sizes <= 2 && flex->least >= 2 && flex->least <= 32 &&
           flex->counter_bits <= 8 && flex->bits <= 512 &&
           flex->bits >= state_bits(flex) + 2 * cost(flex, (unsigned)flex->least);
}

static inline parts parts_of(const tamis_i_flex *flex, const uint64_t *words, unsigned at) {
    const uint64_t state = tamis_i_field_get(words, at, state_bits(flex));
    parts p = {.n = {(unsigned)(state & 15), (unsigned)(state >> NUMBER & 15)}};
    p.length[0] = (unsigned)(flex->least + (state >> 2 * NUMBER & 31));
    p.length[1] = flex->sizes == 1
                      ? p.length[0]
                      : (unsigned)(flex->least + (state >> (2 * NUMBER + LENGTH) & 31));
    p.width[0] = p.length[0] - told(flex);
    p.width[1] = p.length[1] - told(flex);
    p.counters = at + state_bits(flex);
    p.first[0] = p.counters + (p.n[0] + p.n[1]) * (unsigned)flex->counter_bits;
    p.first[1] = p.first[0] + p.n[0] * p.width[0];
    p.end = p.first[1] + p.n[1] * p.width[1];
    return p;
}

/* The stored bits of a print in a group. */
static inline uint64_t stored(const tamis_i_flex *flex, uint64_t print, unsigned width) {
    return print << told(flex) >> (64 - width);
}

/* Can elements of this group match the print?  With one length its first bit tells the group. */
static inline bool may_match(const tamis_i_flex *flex, unsigned group, uint64_t print) {
    return flex->sizes == 2 || print >> 63 == group;
}

bool tamis_i_flex_find(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                       uint64_t print) {
    const parts p = parts_of(flex, words, at);
    for (unsigned g = 0; g < 2; g++) {
        if (p.n[g] == 0 || !may_match(flex, g, print))
            continue;
        const tamis_i_fields fields = tamis_i_fields_of(p.width[g]);
        if (tamis_i_fields_find(&fields, words, p.first[g], p.n[g] * p.width[g],
                                stored(flex, print, p.width[g])))
            return true;
    }
    return false;
}

unsigned tamis_i_flex_list(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                           element elements[MOST]) {
    const parts p = parts_of(flex, words, at);
    const unsigned c = (unsigned)flex->counter_bits;
    for (unsigned g = 0, i = 0; g < 2; g++) {
        for (unsigned j = 0; j < p.n[g]; j++, i++) {
            uint64_t bits = tamis_i_field_get(words, p.first[g] + j * p.width[g], p.width[g]);
            if (told(flex))
                bits |= (uint64_t)g << p.width[g];
            elements[i] = (element){.print = bits << (64 - p.length[g]), .length = p.length[g]};
            elements[i].count =
                1 + (c == 0 ? 0 : (unsigned)tamis_i_field_get(words, p.counters + i * c, c));
        }
    }
    return p.n[0] + p.n[1];
}

static bool is_prefix(const element *e, uint64_t print) {
    return (e->print ^ print) >> (64 - e->length) == 0;
}

unsigned tamis_i_flex_akin(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                           uint64_t print) {
    const parts p = parts_of(flex, words, at);
    unsigned n = 0;
    for (unsigned g = 0; g < 2; g++) {
        if (p.n[g] == 0 || !may_match(flex, g, print))
            continue;
        const unsigned kept = (unsigned)flex->least - told(flex), w = p.width[g];
        n += tamis_i_fields_count_top(words, p.first[g], w, p.n[g], kept, stored(flex, print, w));
    }
    return n;
}

unsigned tamis_i_flex_copies(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                             uint64_t print, unsigned *n_elements) {
    element elements[MOST];
    const unsigned n = tamis_i_flex_list(flex, words, at, elements);
    unsigned copies = 0;
    *n_elements = 0;
    for (unsigned i = 0; i < n; i++) {
        if (is_prefix(&elements[i], print)) {
            copies += elements[i].count;
            ++*n_elements;
        }
    }
    return copies;
}

/* Two lengths for a bucket, and how many elements have the longer one. */
typedef struct lengths {
    unsigned n_long, longer, shorter;
} lengths;

/* Write elements, which are sorted by group, with the lengths that they get. */
static void put(const tamis_i_flex *flex, uint64_t *words, unsigned at, const element *elements,
                unsigned n, lengths l) {
    const unsigned n_a = l.n_long, c = (unsigned)flex->counter_bits, S = state_bits(flex);
    uint64_t image[8] = {0};
    uint64_t state = n_a | (uint64_t)(n - n_a) << NUMBER;
    if (flex->sizes == 1) {
        state |= (uint64_t)(n == 0 ? 0 : l.longer - flex->least) << 2 * NUMBER;
    } else {
        state |= (uint64_t)(n_a == 0 ? 0 : l.longer - flex->least) << 2 * NUMBER;
        state |= (uint64_t)(n == n_a ? 0 : l.shorter - flex->least) << (2 * NUMBER + LENGTH);
    }
    tamis_i_field_put(image, 0, S, state);
    unsigned bit = S + n * c;
    for (unsigned i = 0; i < n; i++) {
        const unsigned width = (i < n_a ? l.longer : l.shorter) - told(flex);
        if (c != 0)
            tamis_i_field_put(image, S + i * c, c, elements[i].count - 1);
        tamis_i_field_put(image, bit, width, stored(flex, elements[i].print, width));
        bit += width;
    }
    TAMIS_ASSERT(bit <= flex->bits);
    for (unsigned done = 0; done < flex->bits; done += 64) {
        const unsigned now = flex->bits - done < 64 ? (unsigned)flex->bits - done : 64;
        tamis_i_field_put(words, at + done, now, image[done / 64]);
    }
}

/* ---- one length ---- */

static void put_one(const tamis_i_flex *flex, uint64_t *words, unsigned at, const element *elements,
                    unsigned n, unsigned length) {
    element sorted[MOST];
    unsigned n_a = 0, n_b = 0;
    for (unsigned i = 0; i < n; i++)
        n_a += elements[i].print >> 63 == 0;
    const lengths l = {.n_long = n_a, .longer = length, .shorter = length};
    n_a = 0;
    for (unsigned i = 0; i < n; i++)
        sorted[elements[i].print >> 63 == 0 ? n_a++ : l.n_long + n_b++] = elements[i];
    put(flex, words, at, sorted, n, l);
}

static unsigned shortest(const element *elements, unsigned n) {
    unsigned least = elements[0].length;
    for (unsigned i = 1; i < n; i++)
        least = elements[i].length < least ? elements[i].length : least;
    return least;
}

/* The length that n elements can have, none being longer than now. */
static unsigned common_length(const tamis_i_flex *flex, const element *elements, unsigned n) {
    const unsigned room = payload(flex) / n - (unsigned)flex->counter_bits + told(flex);
    const unsigned now = shortest(elements, n);
    return room < now ? room : now;
}

/* ---- two lengths ---- */

/* x / n for x < 512 and n < 16, which the search below needs often: 2^16 / n, rounded up. */
static unsigned part_of(unsigned x, unsigned n) {
    static const uint32_t parts_16[16] = {0,    65536, 32768, 21846, 16384, 13108, 10923, 9363,
                                          8192, 7282,  6554,  5958,  5462,  5042,  4682,  4370};
    return x * parts_16[n] >> 16;
}

/* Sum of 2^-length for the elements, in units of 2^-63. */
static uint64_t errors(lengths l, unsigned n) {
    return ((uint64_t)l.n_long << (63 - l.longer)) + ((uint64_t)(n - l.n_long) << (63 - l.shorter));
}

/* Elements come longest first. */
static lengths best_lengths(const tamis_i_flex *flex, const element *elements, unsigned n) {
    const unsigned c = (unsigned)flex->counter_bits, room = payload(flex);
    const unsigned now = elements[n - 1].length;
    lengths best = {.n_long = 0, .longer = 0, .shorter = common_length(flex, elements, n)};
    uint64_t least = errors(best, n);
    for (unsigned k = 1; k < n; k++) {
        /* The longer ones are at least one bit longer; so much is left for the others.  The best is
         * at or just below that. */
        unsigned y = part_of(room - n * c - k, n);
        y = y < now ? y : now;
        for (unsigned tries = 0; tries < 3 && y >= flex->least; tries++, y--) {
            unsigned x = part_of(room - (n - k) * (y + c), k) - c;
            x = x < elements[k - 1].length ? x : elements[k - 1].length;
            const lengths l = {.n_long = k, .longer = x, .shorter = y};
            if (x > y && errors(l, n) < least) {
                best = l;
                least = errors(l, n);
            }
        }
    }
    return best;
}

static void sort_longest_first(element *elements, unsigned n) {
    for (unsigned i = 1; i < n; i++) {
        const element e = elements[i];
        unsigned j = i;
        for (; j > 0 && elements[j - 1].length < e.length; j--)
            elements[j] = elements[j - 1];
        elements[j] = e;
    }
}

static void put_two(const tamis_i_flex *flex, uint64_t *words, unsigned at, const element *elements,
                    unsigned n) {
    put(flex, words, at, elements, n, best_lengths(flex, elements, n));
}

/* Elements as they are, none longer or shorter; used where some have gone. */
static void put_same(const tamis_i_flex *flex, uint64_t *words, unsigned at,
                     const element *elements, unsigned n) {
    if (n == 0 || flex->sizes == 1) {
        put_one(flex, words, at, elements, n, n == 0 ? (unsigned)flex->least : elements[0].length);
        return;
    }
    lengths l = {.longer = elements[0].length, .shorter = elements[n - 1].length};
    while (elements[l.n_long].length > l.shorter)
        l.n_long++;
    put(flex, words, at, elements, n, l);
}

/* ---- changes ---- */

static bool join(const tamis_i_flex *flex, uint64_t *words, unsigned at, element *elements,
                 unsigned n, uint64_t print) {
    const unsigned c = (unsigned)flex->counter_bits;
    for (unsigned i = 0; i < n; i++) {
        if (is_prefix(&elements[i], print) && elements[i].count < 1u << c) {
            tamis_i_field_put(words, at + state_bits(flex) + i * c, c, elements[i].count);
            return true;
        }
    }
    return false;
}

bool tamis_i_flex_add(const tamis_i_flex *flex, uint64_t *words, unsigned at, uint64_t print,
                      unsigned length, unsigned count) {
    element elements[MOST + 1];
    unsigned n = tamis_i_flex_list(flex, words, at, elements);
    TAMIS_ASSERT(count >= 1 && count <= 1u << flex->counter_bits && length >= flex->least);
    if (count == 1 && flex->counter_bits != 0 && length == 64 &&
        join(flex, words, at, elements, n, print))
        return true;
    if (n >= tamis_i_flex_most(flex))
        return false;
    length = length < length_max(flex) ? length : length_max(flex);
    elements[n++] = (element){.print = print, .length = length, .count = count};
    if (flex->sizes == 1) {
        put_one(flex, words, at, elements, n, common_length(flex, elements, n));
    } else {
        sort_longest_first(elements, n);
        put_two(flex, words, at, elements, n);
    }
    return true;
}

void tamis_i_flex_drop(const tamis_i_flex *flex, uint64_t *words, unsigned at, unsigned i) {
    element elements[MOST];
    const unsigned n = tamis_i_flex_list(flex, words, at, elements);
    TAMIS_ASSERT(i < n);
    memmove(elements + i, elements + i + 1, (n - i - 1) * sizeof *elements);
    put_same(flex, words, at, elements, n - 1);
}

bool tamis_i_flex_remove(const tamis_i_flex *flex, uint64_t *words, unsigned at, uint64_t print) {
    element elements[MOST];
    const unsigned n = tamis_i_flex_list(flex, words, at, elements);
    unsigned found = n;
    for (unsigned i = 0; i < n; i++) {
        if (!is_prefix(&elements[i], print))
            continue;
        /* Of equally long ones, the one with fewer keys, so that it can go. */
        if (found == n || elements[i].length > elements[found].length ||
            (elements[i].length == elements[found].length &&
             elements[i].count < elements[found].count))
            found = i;
    }
    if (found == n)
        return false;
    const unsigned c = (unsigned)flex->counter_bits;
    if (elements[found].count > 1) {
        tamis_i_field_put(words, at + state_bits(flex) + found * c, c, elements[found].count - 2);
    } else {
        memmove(elements + found, elements + found + 1, (n - found - 1) * sizeof *elements);
        put_same(flex, words, at, elements, n - 1);
    }
    return true;
}

bool tamis_i_flex_check(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                        const char **reason) {
    const parts p = parts_of(flex, words, at);
    const unsigned end = at + (unsigned)flex->bits, least = (unsigned)flex->least;
    *reason = "a bucket holds more than fits";
    if (p.n[0] + p.n[1] > tamis_i_flex_most(flex) || p.end > end ||
        p.length[0] > length_max(flex) || p.length[1] > length_max(flex))
        return false;
    *reason = "a bucket has lengths that do not occur";
    if (flex->sizes == 1 && p.n[0] + p.n[1] == 0 && p.length[0] != least)
        return false;
    if (flex->sizes == 2) {
        for (unsigned g = 0; g < 2; g++)
            if (p.n[g] == 0 && p.length[g] != least)
                return false;
        if (p.n[0] != 0 && p.n[1] != 0 && p.length[0] <= p.length[1])
            return false;
    }
    *reason = "a bucket has data past its elements";
    for (unsigned bit = p.end, now; bit < end; bit += now) {
        now = end - bit < 64 ? end - bit : 64;
        if (tamis_i_field_get(words, bit, now) != 0)
            return false;
    }
    return true;
}
