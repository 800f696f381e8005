/* dynamic_bucket.c - buckets whose elements shrink as they fill, and can be removed
 *
 * An element is a prefix of a fingerprint: the minimal remainder, which is always kept, and as many
 * more bits as there is room for.  Lengths only shrink: dropped bits cannot be recovered.
 *
 * Layout of a bucket, from its first bit up.  It has two groups of elements, a and b:
 *
 *      [ heads ][ counters ][ tails of a ][ tails of b ][ zeros ][ state ]
 *        w each   c each
 *
 *      one length    state = [ n_a ][ n_b ][ len ]                  4, 4 and 5 bits
 *      two lengths   state = [ n_a ][ n_b ][ len_a ][ len_b ]       and 5 more
 *
 * Elements are numbered consecutively, those of group a first.  The head is the first w stored bits of
 * an element, 8 unless the minimal remainder has fewer; the tail is the rest.  Lengths are stored as
 * bits beyond the shortest.  A counter holds one less than the number of keys.
 *
 *   one length   Semi-sorting: group a begins with a 0, group b with a 1, and that first bit is not
 *                stored.  When an element is added, all are cut to what then fits.  The length never
 *                grows again until the bucket is empty.
 *   two lengths  Group a has the longer elements.  After removals new elements take the bits that the
 *                older ones cannot use.  When an element is added, the two lengths are chosen again.  If
 *                all elements have enough bits, they share the room evenly, with lengths that differ by
 *                one.  No other lengths have fewer errors, that is a smaller sum of 2^-length.  Otherwise
 *                the elements of group b keep their length, or lose one bit if that is better, and
 *                those of group a and the new one share the rest.
 *
 * Why the longest match is removed.  Each key in the set stands behind one element that is a prefix of
 * its fingerprint.  Let x be removed, let e be the longest element that is a prefix of x, and e' the
 * one that x stands behind.  If e' is not e, then e belongs to another key y. e' is a prefix of x and
 * no longer than e, hence a prefix of e and of y.  So y may stand behind e' from now on, and e can go.
 * Cutting and moving elements keeps this true.
 *
 * Invariants, tested by tamis_i_dynamic_check():
 *   F1  the elements fit the bucket;
 *   F2  a group without elements has length 0 stored, group a is longer than group b if both exist;
 *   F3  bits between the last tail and the state are zero.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and
 * Dynamic Bit Reassignment", Allerton 2006, section III.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dynamic_bucket.h"

#include "bits/dynamic_key.h"
#include "bits/native.h"

#define MOST   TAMIS_I_DYNAMIC_MAX
#define NUMBER TAMIS_I_DYNAMIC_NUMBER
#define LENGTH TAMIS_I_DYNAMIC_LENGTH

typedef tamis_i_element element;
typedef tamis_i_dynamic_split lengths;

/* Where everything is. */
typedef struct parts {
    unsigned n[2];      /* elements of the groups */
    unsigned length[2]; /* and their lengths */
    unsigned tail[2];   /* bits of their tails */
    unsigned counters;  /* first bit of the counters, from that of the bucket on */
    unsigned first[2];  /* and of the tails */
    unsigned end;
} parts;

static unsigned dynamic_bucket_state_bits(uint64_t sizes) {
    return 2 * NUMBER + LENGTH * (unsigned)sizes;
}

/* Bits of an element that need not be stored. */
static inline unsigned dynamic_bucket_told(const tamis_i_dynamic_bucket *layout) {
    return layout->sizes == 1;
}

static inline unsigned dynamic_bucket_smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static unsigned dynamic_bucket_length_max(const tamis_i_dynamic_bucket *layout) {
    return (unsigned)layout->longest;
}

/* The most bits that all tails of a bucket can have, with heads of 8 bits and no counters. */
static uint64_t dynamic_bucket_tails_most(const tamis_i_dynamic_bucket *layout) {
    uint64_t most = 0;
    for (uint64_t n = 1; n <= layout->most; n++) {
        const uint64_t known = n * (layout->longest - 8), room = layout->state_at - 8 * n;
        const uint64_t tails = known < room ? known : room;
        most = tails > most ? tails : most;
    }
    return most;
}

#define STATE_MAX ((1u << TAMIS_I_DYNAMIC_STATE_2) - 1)

/* The steps of dynamic_view.h. */
static void dynamic_bucket_plan_steps(tamis_i_dynamic_bucket *layout) {
    const unsigned longest = dynamic_bucket_length_max(layout);
    lengths now = {.n_a = 0};
    for (unsigned n = 0; n < layout->most; n++) {
        tamis_i_dynamic_step *const step = &layout->steps[n];
        const lengths next =
            tamis_i_dynamic_lengths(layout, (unsigned)layout->state_at, now.n_a, now.longer,
                                    longest, n - now.n_a, n == 0 ? longest : now.shorter);
        unsigned first = 0;
        for (unsigned i = 0; i < n; i++) {
            const unsigned j = i + (i >= now.n_a);
            const unsigned old = (i < now.n_a ? now.longer : now.shorter) - 8;
            const unsigned kept = (j < next.n_a ? next.longer : next.shorter) - 8;
            for (unsigned bit = first + old - kept; bit < first + old; bit++)
                tamis_i_bit_set(step->keep, bit);
            first += old;
        }
        const unsigned before = now.n_a < next.n_a ? now.n_a : next.n_a;
        const unsigned at = before * (next.longer - 8) + (now.n_a - before) * (next.shorter - 8);
        step->from = tamis_i_dynamic_state(layout, n, now) & STATE_MAX;
        step->to = tamis_i_dynamic_state(layout, n + 1, next) & STATE_MAX;
        step->place = now.n_a & 15;
        step->at = at & 255;
        step->tail = ((now.n_a < next.n_a ? next.longer : next.shorter) - 8) & 63;
        now = next;
    }
}

bool tamis_i_dynamic_init(tamis_i_dynamic_bucket *layout, uint64_t bits, uint64_t least,
                          uint64_t counter_bits, uint64_t sizes) {
    if (sizes < 1 || sizes > 2 || least < 2 || least > 32 || counter_bits > 8 || bits > 512)
        return false;
    const uint64_t state = dynamic_bucket_state_bits(sizes), stored = least - (sizes == 1);
    const uint64_t cost = stored + counter_bits;
    if (bits < state + 2 * cost)
        return false;
    const uint64_t most = (bits - state) / cost < MOST ? (bits - state) / cost : MOST;
    *layout = (tamis_i_dynamic_bucket){
        .bits = bits,
        .least = least,
        .counter_bits = counter_bits,
        .sizes = sizes,
        .state_at = bits - state,
        .state_mask = tamis_i_low_mask((unsigned)state),
        .last_mask = tamis_i_low_mask((unsigned)(bits - 1) % 64 + 1),
        .most = most,
        .longest = least + TAMIS_I_DYNAMIC_MORE < 56 ? least + TAMIS_I_DYNAMIC_MORE : 56,
        .heads = tamis_i_heads_of(most, stored, bits)};
    layout->quick = sizes == 2 && counter_bits == 0 && layout->heads.vectors && least > 8;
    layout->narrow = layout->quick && bits < 192 && dynamic_bucket_tails_most(layout) <= 128;
    if (layout->narrow)
        dynamic_bucket_plan_steps(layout);
    return true;
}

/* No more elements are believed than fit, so that heads and counters are in the bucket, and lists have room
 * (TAMIS_I_DYNAMIC_LINE has why). */
static inline parts dynamic_bucket_parts_of(const tamis_i_dynamic_bucket *layout,
                                            const uint64_t *line, unsigned at) {
    const unsigned w = (unsigned)layout->heads.bits + dynamic_bucket_told(layout);
    const uint64_t state = tamis_i_lined_get(line, at + layout->state_at, layout->state_mask);
    const unsigned most = (unsigned)layout->most;
    parts p = {.n = {dynamic_bucket_smaller((unsigned)(state & 15), most)}};
    p.n[1] = dynamic_bucket_smaller((unsigned)(state >> NUMBER & 15), most - p.n[0]);
    p.length[0] = (unsigned)(layout->least + (state >> 2 * NUMBER & 31));
    p.length[1] = layout->sizes == 1
                      ? p.length[0]
                      : (unsigned)(layout->least + (state >> (2 * NUMBER + LENGTH) & 31));
    p.tail[0] = p.length[0] - w;
    p.tail[1] = p.length[1] - w;
    p.counters = (p.n[0] + p.n[1]) * (unsigned)layout->heads.bits;
    p.first[0] = p.counters + (p.n[0] + p.n[1]) * (unsigned)layout->counter_bits;
    p.first[1] = p.first[0] + p.n[0] * p.tail[0];
    p.end = p.first[1] + p.n[1] * p.tail[1];
    return p;
}

/* The first 'bits' bits of the tail of a fingerprint. */
static inline uint64_t dynamic_bucket_tail_of(const tamis_i_dynamic_bucket *layout,
                                              uint64_t fingerprint, unsigned bits) {
    return fingerprint << (layout->heads.bits + dynamic_bucket_told(layout)) >> 1 >> (63 - bits);
}

/* The tail of element i of a bucket. */
static inline uint64_t dynamic_bucket_tail_at(const parts *p, const uint64_t *line, unsigned at,
                                              unsigned i) {
    const unsigned g = i >= p->n[0], bits = p->tail[g];
    const unsigned first = g ? p->first[1] + (i - p->n[0]) * bits : p->first[0] + i * bits;
    return tamis_i_lined_get(line, (at + first) % TAMIS_I_DYNAMIC_LINE, tamis_i_low_mask(bits));
}

/* ---- tables ---- */

const uint32_t tamis_i_dynamic_parts[16] = {0,    65536, 32768, 21846, 16384, 13108, 10923, 9363,
                                            8192, 7282,  6554,  5958,  5462,  5042,  4682,  4370};

/* ---- queries ---- */

/* The candidates whose tails agree in their first bits: in all of them, or in those that belong to the
 * minimal remainder. */
static unsigned dynamic_bucket_agreeing(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                                        unsigned at, uint64_t fingerprint, unsigned candidates,
                                        bool least) {
    if (candidates == 0)
        return 0;
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    const unsigned kept =
        (unsigned)(layout->least - layout->heads.bits) - dynamic_bucket_told(layout);
    unsigned found = 0;
    for (candidates &= (1u << (p.n[0] + p.n[1])) - 1; candidates != 0;
         candidates &= candidates - 1) {
        const unsigned i = (unsigned)__builtin_ctz(candidates), g = i >= p.n[0];
        const unsigned bits = least ? kept : p.tail[g];
        const bool same = dynamic_bucket_tail_at(&p, line, at, i) >> (p.tail[g] - bits) ==
                          dynamic_bucket_tail_of(layout, fingerprint, bits);
        /* With one length the first bit tells the group. */
        if (same && (layout->sizes == 2 || fingerprint >> 63 == g))
            found |= 1u << i;
    }
    return found;
}

unsigned tamis_i_dynamic_match(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                               unsigned at, uint64_t fingerprint, unsigned candidates) {
    return dynamic_bucket_agreeing(layout, line, at, fingerprint, candidates, false);
}

unsigned tamis_i_dynamic_akin(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                              unsigned at, uint64_t fingerprint, unsigned candidates) {
    return dynamic_bucket_agreeing(layout, line, at, fingerprint, candidates, true);
}

static unsigned dynamic_bucket_count_at(const tamis_i_dynamic_bucket *layout, const parts *p,
                                        const uint64_t *line, unsigned at, unsigned i) {
    const unsigned c = (unsigned)layout->counter_bits;
    return 1 + (c == 0 ? 0 : (unsigned)tamis_i_field_get(line, at + p->counters + i * c, c));
}

static void dynamic_bucket_set_count(const tamis_i_dynamic_bucket *layout, const parts *p,
                                     uint64_t *line, unsigned at, unsigned i, unsigned count) {
    const unsigned c = (unsigned)layout->counter_bits;
    tamis_i_field_put(line, at + p->counters + i * c, c, count - 1);
}

unsigned tamis_i_dynamic_copies(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                                unsigned at, unsigned elements) {
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    unsigned copies = 0;
    for (; elements != 0; elements &= elements - 1)
        copies += dynamic_bucket_count_at(layout, &p, line, at, (unsigned)__builtin_ctz(elements));
    return copies;
}

unsigned tamis_i_dynamic_list(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                              unsigned at, element elements[MOST]) {
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    const unsigned w = (unsigned)layout->heads.bits;
    for (unsigned i = 0; i < p.n[0] + p.n[1]; i++) {
        const unsigned g = i >= p.n[0];
        uint64_t bits = tamis_i_field_get(line, at + i * w, w) << p.tail[g] |
                        dynamic_bucket_tail_at(&p, line, at, i);
        if (dynamic_bucket_told(layout))
            bits |= (uint64_t)g << (w + p.tail[g]);
        elements[i] = (element){.fingerprint = bits << (64 - p.length[g]),
                                .length = p.length[g],
                                .count = dynamic_bucket_count_at(layout, &p, line, at, i)};
    }
    return p.n[0] + p.n[1];
}

/* ---- rewriting a bucket ---- */

#define IMAGE 10u /* words: a bucket, and what reading and writing two at a time may touch */

typedef struct image {
    uint64_t words[IMAGE];
} image;

/* Words of an image. */
static inline unsigned dynamic_bucket_image_words(const tamis_i_dynamic_bucket *layout) {
    return (unsigned)(layout->bits + 63) / 64;
}

TAMIS_INLINE void dynamic_bucket_image_load(const tamis_i_dynamic_bucket *layout, unsigned n,
                                            const uint64_t *line, unsigned at, image *in) {
    const unsigned first = at / 64, shift = at % 64;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t mask = i + 1 == n ? layout->last_mask : ~(uint64_t)0;
        in->words[i] =
            (line[first + i] >> shift | line[(first + i + 1) % 8] << 1 << (63 - shift)) & mask;
    }
    in->words[n] = in->words[n + 1] = 0;
}

/* Turn the bucket, which was 'in', into 'out'. */
TAMIS_INLINE void dynamic_bucket_image_store(unsigned n, uint64_t *line, unsigned at,
                                             const image *in, const image *out) {
    const unsigned first = at / 64, shift = at % 64;
    uint64_t carry = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t change = in->words[i] ^ out->words[i];
        line[first + i] ^= change << shift | carry;
        carry = change >> 1 >> (63 - shift);
    }
    line[(first + n) % 8] ^= carry; /* 0 if the bucket ends before */
}

static inline uint64_t dynamic_bucket_image_get(const image *in, unsigned at, unsigned width) {
    const unsigned shift = at % 64;
    const uint64_t *const w = in->words + at / 64;
    return (w[0] >> shift | w[1] << 1 << (63 - shift)) & tamis_i_low_mask(width);
}

/* Write a value.  The field must be zero, and the value no wider than the field. */
static inline void dynamic_bucket_image_put(image *out, unsigned at, uint64_t value) {
    const unsigned shift = at % 64;
    uint64_t *const w = out->words + at / 64;
    w[0] |= value << shift;
    w[1] |= value >> 1 >> (63 - shift);
}

/* The bits of word number i that are below bit 'at' of the image. */
static inline uint64_t dynamic_bucket_mask_below(unsigned at, unsigned i) {
    const uint64_t part = ((uint64_t)1 << at % 64) - 1;
    return i < at / 64 ? ~(uint64_t)0 : i == at / 64 ? part : 0;
}

/* Bits from 'at' on become zero. */
TAMIS_INLINE void dynamic_bucket_image_cut(image *out, unsigned n, unsigned at) {
    for (unsigned i = 0; i < n; i++)
        out->words[i] &= dynamic_bucket_mask_below(at, i);
}

/* Bits from 'at' on move up by 'width' < 64; zeros come in. */
TAMIS_INLINE void dynamic_bucket_image_open(image *out, unsigned n, unsigned at, unsigned width) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t stay = out->words[i] & dynamic_bucket_mask_below(at, i),
                       move = out->words[i] ^ stay;
        out->words[i] = stay | move << width | carry;
        carry = move >> 1 >> (63 - width);
    }
}

/* Drop the 'width' < 64 bits at 'at': the bits above move down. */
TAMIS_INLINE void dynamic_bucket_image_close(image *out, unsigned n, unsigned at, unsigned width) {
    for (unsigned i = 0; i < n; i++) {
        const uint64_t low = dynamic_bucket_mask_below(at, i);
        const uint64_t moved = out->words[i] >> width | out->words[i + 1] << 1 << (63 - width);
        out->words[i] = (out->words[i] & low) | (moved & ~low);
    }
}

static void dynamic_bucket_image_copy(image *out, unsigned to, const image *in, unsigned from,
                                      unsigned n) {
    for (; n > 64; n -= 64, to += 64, from += 64)
        dynamic_bucket_image_put(out, to, dynamic_bucket_image_get(in, from, 64));
    dynamic_bucket_image_put(out, to, dynamic_bucket_image_get(in, from, n));
}

/* Copy tails of elements of one group to one group. */
static unsigned dynamic_bucket_copy_tails(image *out, unsigned to, const image *in, unsigned from,
                                          unsigned n, unsigned old, unsigned now) {
    if (old == now) {
        dynamic_bucket_image_copy(out, to, in, from, n * old);
    } else {
        for (unsigned i = 0; i < n; i++)
            dynamic_bucket_image_put(out, to + i * now,
                                     dynamic_bucket_image_get(in, from + i * old, old) >>
                                         (old - now));
    }
    return to + n * now;
}

/* Move the tails of elements i to end - 1 to where they belong with lengths l; the new numbers are
 * greater by 'more'. */
static unsigned dynamic_bucket_move_tails(const tamis_i_dynamic_bucket *layout, const parts *p,
                                          image *out, unsigned to, const image *in, unsigned i,
                                          unsigned end, unsigned more, lengths l) {
    const unsigned w = (unsigned)layout->heads.bits + dynamic_bucket_told(layout);
    while (i < end) {
        const unsigned old = i >= p->n[0], now = i + more >= l.n_a;
        unsigned stop = old == 0 && p->n[0] < end ? p->n[0] : end;
        if (now == 0 && l.n_a - more < stop)
            stop = l.n_a - more;
        const unsigned from =
            old ? p->first[1] + (i - p->n[0]) * p->tail[1] : p->first[0] + i * p->tail[0];
        to = dynamic_bucket_copy_tails(out, to, in, from, stop - i, p->tail[old],
                                       (now ? l.shorter : l.longer) - w);
        i = stop;
    }
    return to;
}

/* Open a place for an element at number 'place'. */
TAMIS_INLINE void dynamic_bucket_rewrite_with(const tamis_i_dynamic_bucket *layout, unsigned words,
                                              const parts *p, uint64_t *line, unsigned at,
                                              unsigned place, uint64_t fingerprint, unsigned count,
                                              lengths l) {
    const unsigned w = (unsigned)layout->heads.bits, c = (unsigned)layout->counter_bits;
    const unsigned n = p->n[0] + p->n[1];
    image in, out;
    dynamic_bucket_image_load(layout, words, line, at, &in);
    out = in;
    dynamic_bucket_image_cut(&out, words, p->first[0]);
    if (c != 0) {
        dynamic_bucket_image_open(&out, words, p->counters + place * c, c);
        dynamic_bucket_image_put(&out, p->counters + place * c, count - 1);
    }
    dynamic_bucket_image_open(&out, words, place * w, w);
    dynamic_bucket_image_put(&out, place * w, tamis_i_dynamic_head(layout, fingerprint));
    const unsigned tail = (place < l.n_a ? l.longer : l.shorter) - w - dynamic_bucket_told(layout);
    unsigned to = (n + 1) * (w + c);
    to = dynamic_bucket_move_tails(layout, p, &out, to, &in, 0, place, 0, l);
    dynamic_bucket_image_put(&out, to, dynamic_bucket_tail_of(layout, fingerprint, tail));
    to = dynamic_bucket_move_tails(layout, p, &out, to + tail, &in, place, n, 1, l);
    TAMIS_ASSERT(to <= layout->state_at);
    (void)to;
    dynamic_bucket_image_put(&out, (unsigned)layout->state_at,
                             tamis_i_dynamic_state(layout, n + 1, l));
    dynamic_bucket_image_store(words, line, at, &in, &out);
}

/* The usual numbers of words get code of their own. */
static void dynamic_bucket_rewrite(const tamis_i_dynamic_bucket *layout, const parts *p,
                                   uint64_t *line, unsigned at, unsigned place,
                                   uint64_t fingerprint, unsigned count, lengths l) {
    const unsigned words = dynamic_bucket_image_words(layout);
    if (words == 2)
        dynamic_bucket_rewrite_with(layout, 2, p, line, at, place, fingerprint, count, l);
    else if (words == 3)
        dynamic_bucket_rewrite_with(layout, 3, p, line, at, place, fingerprint, count, l);
    else if (words == 4)
        dynamic_bucket_rewrite_with(layout, 4, p, line, at, place, fingerprint, count, l);
    else
        dynamic_bucket_rewrite_with(layout, words, p, line, at, place, fingerprint, count, l);
}

/* ---- lengths ---- */

/* Sum of 2^-length for n elements, in units of 2^-60: lengths are 2 to 56, and the sum is below 4. */
static uint64_t dynamic_bucket_errors(lengths l, unsigned n) {
    return ((uint64_t)l.n_a << (60 - l.longer)) + ((uint64_t)(n - l.n_a) << (60 - l.shorter));
}

/* Make the first n_a of n elements as long as 'limit' and the room allow, the others 'shorter'. */
static lengths dynamic_bucket_share_rest(unsigned room, unsigned n, unsigned n_a, unsigned limit,
                                         unsigned shorter) {
    lengths l = {.n_a = n_a, .shorter = shorter};
    if (n_a != 0)
        l.longer =
            dynamic_bucket_smaller(limit, tamis_i_dynamic_part(room - (n - n_a) * shorter, n_a));
    if (l.longer <= shorter)
        l.n_a = 0;
    return l;
}

tamis_i_dynamic_split tamis_i_dynamic_uneven(const tamis_i_dynamic_bucket *layout, unsigned room,
                                             unsigned n_a, unsigned a, unsigned own, unsigned n_b,
                                             unsigned b) {
    const unsigned n = n_a + 1 + n_b;
    const bool with_a = own > b;
    b = dynamic_bucket_smaller(b, own);
    const unsigned limit = n_a == 0 ? own : with_a ? dynamic_bucket_smaller(a, own) : a;
    const lengths keep = dynamic_bucket_share_rest(room, n, n_a + with_a, limit, b);
    if (b == layout->least)
        return keep;
    const lengths cut = dynamic_bucket_share_rest(room, n, n_a + with_a, limit, b - 1);
    return dynamic_bucket_errors(cut, n) < dynamic_bucket_errors(keep, n) ? cut : keep;
}

/* ---- changes ---- */

bool tamis_i_dynamic_join(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                          unsigned elements) {
    if (layout->counter_bits == 0 || elements == 0)
        return false;
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    for (; elements != 0; elements &= elements - 1) {
        const unsigned i = (unsigned)__builtin_ctz(elements);
        const unsigned count = dynamic_bucket_count_at(layout, &p, line, at, i);
        if (count < 1u << layout->counter_bits) {
            dynamic_bucket_set_count(layout, &p, line, at, i, count + 1);
            return true;
        }
    }
    return false;
}

bool tamis_i_dynamic_add(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                         uint64_t fingerprint, unsigned length, unsigned count) {
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    const unsigned n = p.n[0] + p.n[1];
    TAMIS_ASSERT(count >= 1 && count <= 1u << layout->counter_bits && length >= layout->least);
    if (n >= layout->most)
        return false;
    const unsigned own = dynamic_bucket_smaller(length, dynamic_bucket_length_max(layout));
    const unsigned room = (unsigned)(layout->state_at - (n + 1) * layout->counter_bits);
    if (layout->sizes == 1) {
        const unsigned fits = tamis_i_dynamic_part(room, n + 1) + dynamic_bucket_told(layout),
                       first = (unsigned)(fingerprint >> 63);
        const unsigned now =
            dynamic_bucket_smaller(fits, n == 0 ? own : dynamic_bucket_smaller(own, p.length[0]));
        const lengths l = {.n_a = p.n[0] + 1 - first, .longer = now, .shorter = now};
        dynamic_bucket_rewrite(layout, &p, line, at, first ? n : p.n[0], fingerprint, count, l);
    } else if (n == 0) {
        dynamic_bucket_rewrite(layout, &p, line, at, 0, fingerprint, count,
                               (lengths){.shorter = dynamic_bucket_smaller(own, room)});
    } else if (p.n[1] == 0) { /* the remaining ones have one length */
        const lengths l = tamis_i_dynamic_lengths(layout, room, 0, 0, own, p.n[0], p.length[0]);
        dynamic_bucket_rewrite(layout, &p, line, at, 0, fingerprint, count, l);
    } else {
        const lengths l =
            tamis_i_dynamic_lengths(layout, room, p.n[0], p.length[0], own, p.n[1], p.length[1]);
        dynamic_bucket_rewrite(layout, &p, line, at, p.n[0], fingerprint, count, l);
    }
    return true;
}

TAMIS_INLINE void dynamic_bucket_drop_with(const tamis_i_dynamic_bucket *layout, unsigned words,
                                           uint64_t *line, unsigned at, unsigned i) {
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    const unsigned n = p.n[0] + p.n[1], g = i >= p.n[0];
    const unsigned w = (unsigned)layout->heads.bits, c = (unsigned)layout->counter_bits;
    const unsigned tail = g ? p.first[1] + (i - p.n[0]) * p.tail[1] : p.first[0] + i * p.tail[0];
    image in, out;
    TAMIS_ASSERT(i < n);
    dynamic_bucket_image_load(layout, words, line, at, &in);
    out = in;
    dynamic_bucket_image_cut(&out, words, p.end);
    dynamic_bucket_image_close(&out, words, tail, p.tail[g]);
    if (c != 0)
        dynamic_bucket_image_close(&out, words, p.counters + i * c, c);
    dynamic_bucket_image_close(&out, words, i * w, w);
    const lengths l = {.n_a = p.n[0] - (g == 0), .longer = p.length[0], .shorter = p.length[1]};
    dynamic_bucket_image_put(&out, (unsigned)layout->state_at,
                             tamis_i_dynamic_state(layout, n - 1, l));
    dynamic_bucket_image_store(words, line, at, &in, &out);
}

void tamis_i_dynamic_drop(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                          unsigned i) {
    const unsigned words = dynamic_bucket_image_words(layout);
    if (words == 2)
        dynamic_bucket_drop_with(layout, 2, line, at, i);
    else if (words == 3)
        dynamic_bucket_drop_with(layout, 3, line, at, i);
    else if (words == 4)
        dynamic_bucket_drop_with(layout, 4, line, at, i);
    else
        dynamic_bucket_drop_with(layout, words, line, at, i);
}

/* The first element is among the longest.  Of equally long ones, take the one with the fewest keys,
 * since it is the first that can go. */
void tamis_i_dynamic_remove(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                            unsigned elements) {
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    const unsigned longest = (unsigned)__builtin_ctz(elements);
    unsigned found = longest, least = dynamic_bucket_count_at(layout, &p, line, at, longest);
    for (elements &= elements - 1; elements != 0; elements &= elements - 1) {
        const unsigned i = (unsigned)__builtin_ctz(elements);
        const unsigned count = dynamic_bucket_count_at(layout, &p, line, at, i);
        if (p.length[i >= p.n[0]] == p.length[longest >= p.n[0]] && count < least) {
            found = i;
            least = count;
        }
    }
    if (least > 1)
        dynamic_bucket_set_count(layout, &p, line, at, found, least - 1);
    else
        tamis_i_dynamic_drop(layout, line, at, found);
}

bool tamis_i_dynamic_check(const tamis_i_dynamic_bucket *layout, const uint64_t *line, unsigned at,
                           const char **reason) {
    const parts p = dynamic_bucket_parts_of(layout, line, at);
    const unsigned end = (unsigned)layout->state_at, least = (unsigned)layout->least;
    *reason = "a bucket holds more than fits";
    if (tamis_i_dynamic_load(layout, line, at) > layout->most || p.end > end ||
        p.length[0] > dynamic_bucket_length_max(layout) ||
        p.length[1] > dynamic_bucket_length_max(layout))
        return false;
    *reason = "a bucket has lengths that do not occur";
    if (layout->sizes == 1 && p.n[0] + p.n[1] == 0 && p.length[0] != least)
        return false;
    if (layout->sizes == 2) {
        for (unsigned g = 0; g < 2; g++)
            if (p.n[g] == 0 && p.length[g] != least)
                return false;
        if (p.n[0] != 0 && p.n[1] != 0 && p.length[0] <= p.length[1])
            return false;
    }
    *reason = "a bucket has data past its elements";
    for (unsigned bit = p.end, now; bit < end; bit += now) {
        now = end - bit < 64 ? end - bit : 64;
        if (tamis_i_field_get(line, at + bit, now) != 0)
            return false;
    }
    return true;
}

/* ---- the elements of a key ---- */

#define CHOICES_TARGET
#define CHOICES_FIND tamis_i_heads_find
#define CHOICES_OPS  static const tamis_i_choices_ops portable
#include "bits/choices_template.h"

const tamis_i_choices_ops *tamis_i_dynamic_bucket_ops_for(const tamis_i_dynamic_layout *layout,
                                                          unsigned features) {
    const tamis_i_choices_ops *const native = TAMIS_I_DYNAMIC_BUCKET_NATIVE(layout, features);
    return native != NULL ? native : &portable;
}

tamis_i_dynamic_found tamis_i_dynamic_look(const tamis_i_dynamic_layout *layout, uint64_t *table,
                                           tamis_digest digest, tamis_i_probe *probe) {
    const unsigned d = (unsigned)layout->choices.subtables;
    choices_locate(layout, d, table, digest, probe);
    const uint64_t hits = tamis_i_heads_find(&layout->bucket.heads, probe, d);
    const unsigned home = dynamic_home(layout, probe, hits);
    return (tamis_i_dynamic_found){
        .home = home,
        .same = home == TAMIS_I_SUBTABLES_MAX ? 0 : dynamic_matches(layout, probe, home, hits)};
}

uint64_t tamis_i_dynamic_count(const tamis_i_dynamic_layout *layout, uint64_t *table,
                               tamis_digest digest) {
    const unsigned d = (unsigned)layout->choices.subtables;
    tamis_i_probe probe;
    choices_locate(layout, d, table, digest, &probe);
    const uint64_t hits = tamis_i_heads_find(&layout->bucket.heads, &probe, d);
    uint64_t all = 0;
    for (unsigned i = 0; i < d; i++)
        all += tamis_i_dynamic_copies(&layout->bucket, probe.at[i], dynamic_bit_of(&probe, i),
                                      dynamic_matches(layout, &probe, i, hits));
    return all;
}

bool tamis_i_dynamic_put(const tamis_i_dynamic_layout *layout, const tamis_i_probe *probe,
                         unsigned i) {
    return tamis_i_dynamic_add(&layout->bucket, probe->at[i], dynamic_bit_of(probe, i),
                               probe->word[0], 64, 1);
}

bool tamis_i_dynamic_put_least(const tamis_i_dynamic_layout *layout, const tamis_i_probe *probe) {
    return dynamic_put_least(layout, (unsigned)layout->choices.subtables, probe);
}
