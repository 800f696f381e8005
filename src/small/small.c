/* small.c - sets of a few keys in a few bytes
 *
 * A key is a number below 'cells', drawn from its digest; the set is the sorted list of the numbers, in the
 * code of Elias and Fano.  The lowest 'low_bits' of each number are stored as they are.  The rest, its row,
 * is stored by a one for each number and a zero at the end of each row:
 *
 *      byte 0           check: a number below 240 that follows from n and the size
 *      byte 1, 2        n
 *      directory        for every 256th row but the first: numbers in the rows before it, 2 bytes each
 *      rows             n + n_rows bits: for each row a one per number, then a zero
 *      lows             n * low_bits bits, in the order of the numbers
 *      padding          zeros, to the end of the last byte and up to two bytes more
 *
 * Fields are little-endian, bit i of a part is bit i mod 8 of its byte i / 8.  To find a number: go to the
 * last entry of the directory before its row, from there to the start of the row by counting zeros, and
 * compare the lows of its ones.  As all before the row are known by their number, nothing else is counted:
 * the ones before a bit are its position less the zeros.
 *
 * Which shape.  With b bits per key and r low bits there remain b - 1 - r rows per key, and the numbers are
 * below n (b - 1 - r) 2^r.  That is most when between one and two rows per key remain: r = floor(b) - 2.  So
 * low_bits and n_rows follow from n and the size and are not stored, and any number of bytes is put to use.
 * An absent key errs if its number is one of those stored: with probability n / cells, 2^-8 for 10 bits.  A
 * Bloom filter of 10 bits per key errs twice as often or more (docs/small.md).
 *
 * A number that is there twice is stored once.  Then there are more zeros at the end of the rows, and of the
 * lows.
 *
 * Why bytes from anywhere are safe: the shape is checked against the size first, every read is within the
 * size, and every loop ends at the end of the rows.  Where such a walk leaves its part, the answer is
 * "present".
 *
 * After Elias, "Efficient Storage and Retrieval by Content and Address of Static Files", JACM 1974, and Fano,
 * "On the Number of Bits Required to Implement an Associative Memory", MIT 1971.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/small.h"

#include "bits/search.h"
#include "bits/words.h"
#include "hash/hash.h"

#include <math.h>

#define HEADER        3u
#define CHECKS        240u /* first bytes from here on belong to later versions */
#define BLOCK         256u /* rows per entry of the directory */
#define BLOCK_ENTRY   16u  /* bits of an entry */
#define BITS_AT_ONCE  56u  /* that a read gives, at any address */
#define SORT_BITS     10
#define SORT_BUCKETS  (1u << SORT_BITS)
#define SORT_FEW      24u
#define SORT_PATIENCE 64u

/* ---- shape ---- */

typedef struct shape {
    uint32_t n;
    uint32_t n_rows;
    uint32_t n_entries; /* of the directory */
    unsigned low_bits;
    uint32_t rows, lows; /* where they begin, in bits */
    uint64_t cells;
} shape;

static size_t small_bytes(size_t n, double bits) {
    return HEADER + (size_t)ceil((double)n * bits / 8);
}

static inline bool small_shape(size_t n, size_t size, shape *s) {
    if (n > TAMIS_SMALL_KEYS_MAX || size < HEADER ||
        size - HEADER < (n * TAMIS_SMALL_BITS_MIN + 7) / 8 ||
        size - HEADER > (n * TAMIS_SMALL_BITS_MAX + 7) / 8)
        return false;
    if (n == 0) {
        *s = (shape){.rows = 8 * HEADER, .lows = 8 * HEADER};
        return true;
    }
    s->n = (uint32_t)n;
    const uint32_t bits = 8 * (uint32_t)(size - HEADER);
    s->low_bits = bits / s->n - 2;
    /* A block and its entry are 272 bits; the first has no entry. */
    const uint32_t room = bits - s->n * (s->low_bits + 1);
    const uint32_t rest = (room - 1) % (BLOCK + BLOCK_ENTRY) + 1;
    s->n_entries = (room - 1) / (BLOCK + BLOCK_ENTRY);
    s->n_rows = BLOCK * s->n_entries + (rest < BLOCK ? rest : BLOCK);
    s->rows = 8 * HEADER + BLOCK_ENTRY * s->n_entries;
    s->lows = s->rows + s->n + s->n_rows;
    s->cells = (uint64_t)s->n_rows << s->low_bits;
    return true;
}

/* The first byte: another size, or another n, has the same one once in 240 times. */
static unsigned char small_first(size_t n, size_t size) {
    return (unsigned char)tamis_i_range(tamis_i_mix((uint64_t)n << 32 | size), CHECKS);
}

static inline bool small_shape_of(const unsigned char *bytes, size_t size, shape *s) {
    if (size < HEADER)
        return false;
    const size_t n = (size_t)bytes[1] | (size_t)bytes[2] << 8;
    return small_shape(n, size, s) && bytes[0] == small_first(n, size);
}

/* ---- size and errors ---- */

size_t tamis_small_size(size_t n, double bits) {
    if (n > TAMIS_SMALL_KEYS_MAX || !(bits >= TAMIS_SMALL_BITS_MIN && bits <= TAMIS_SMALL_BITS_MAX))
        return 0;
    return small_bytes(n, bits);
}

/* That at least one of n numbers, drawn at random, is the one asked for. */
static double small_rate(const shape *s) {
    return s->n == 0 ? 0 : -expm1((double)s->n * log1p(-1 / (double)s->cells));
}

double tamis_small_fpr(size_t n, size_t size) {
    shape s;
    return small_shape(n, size, &s) ? small_rate(&s) : 1;
}

size_t tamis_small_size_for(size_t n, double fpr) {
    if (n > TAMIS_SMALL_KEYS_MAX || !(fpr > 0 && fpr <= 1))
        return 0;
    size_t low = small_bytes(n, TAMIS_SMALL_BITS_MIN), high = small_bytes(n, TAMIS_SMALL_BITS_MAX);
    if (tamis_small_fpr(n, high) > fpr)
        return 0;
    while (low < high) { /* more bytes never give fewer cells */
        const size_t middle = low + (high - low) / 2;
        if (tamis_small_fpr(n, middle) <= fpr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- bits at any address ---- */

static uint64_t small_few_bytes(const unsigned char *bytes, size_t size, size_t at) {
    uint64_t bits = 0;
    for (unsigned i = 0; at + i < size; i++)
        bits |= (uint64_t)bytes[at + i] << 8 * i;
    return bits;
}

/* The 64 bits from byte 'at' < size on; zeros beyond the end.  At the end the last 8 bytes are shifted: a
 * branch would be as good as random. */
static inline uint64_t small_bytes_at(const unsigned char *bytes, size_t size, size_t at) {
    TAMIS_ASSERT(at < size);
    if (TAMIS_UNLIKELY(size < 8))
        return small_few_bytes(bytes, size, at);
    const size_t from = at < size - 8 ? at : size - 8;
    return tamis_i_get_u64(bytes + from) >> 8 * (at - from);
}

/* At least BITS_AT_ONCE bits from bit 'at' < 8 size on; zeros beyond the end. */
static inline uint64_t small_bits(const unsigned char *bytes, size_t size, uint32_t at) {
    return small_bytes_at(bytes, size, at / 8) >> at % 8;
}

/* Zeros below the lowest one of 'word', which is not 0. */
static inline unsigned small_lowest(uint64_t word) {
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word);
#else
    return tamis_i_ones_of((word & (0 - word)) - 1);
#endif
}

#define BYTES_1   0x0101010101010101u
#define BYTES_128 0x8080808080808080u

/* In which byte is one number r, counted from 0, if 'prefix' has in byte i the ones of bytes 0 to i?  Bytes
 * are at most 64, so their highest bits are free to take the results of comparisons. */
static inline unsigned small_place(uint64_t prefix, unsigned r) {
    const uint64_t above = ((prefix | BYTES_128) - (r + 1) * BYTES_1) & BYTES_128;
    return small_lowest(above) / 8;
}

static inline uint64_t small_prefix(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * BYTES_1;
}

/* The position of one number r of a word that has so many, given its prefix sums: first the byte, then by the
 * same comparison the bit, spread over eight bytes.  No branch. */
static inline unsigned small_select(uint64_t word, uint64_t prefix, unsigned r) {
    const unsigned byte = small_place(prefix, r);
    r -= (unsigned)(prefix << 8 >> 8 * byte & 0xff);
    uint64_t bits = (word >> 8 * byte & 0xff) * BYTES_1 & 0x8040201008040201u;
    bits = ((bits + 0x7f7f7f7f7f7f7f7fu) | bits) >> 7 & BYTES_1; /* bytes that are not 0 become 1 */
    return 8 * byte + small_place(bits * BYTES_1, r);
}

/* ---- asking ---- */

/* Set '*at' to the first bit of a row; false if it lies beyond the rows. */
static inline bool small_row(const unsigned char *bytes, size_t size, const shape *s, uint32_t row,
                             uint32_t *at) {
    const uint32_t block = row / BLOCK;
    unsigned zeros = row % BLOCK; /* that are still to be passed */
    *at = s->rows + block * BLOCK;
    if (block > 0) {
        const unsigned char *const entry = bytes + HEADER + 2 * (block - 1);
        *at += (uint32_t)entry[0] | (uint32_t)entry[1] << 8;
    }
    if (zeros == 0)
        return *at < s->lows;
    uint64_t skip =
        tamis_i_low_mask(*at % 8); /* bits of the first byte that are before the block */
    for (*at -= *at % 8; *at < s->lows; *at += 64, skip = 0) {
        const uint64_t ends = ~(small_bytes_at(bytes, size, *at / 8) | skip);
        const uint64_t prefix = small_prefix(ends);
        const unsigned here = (unsigned)(prefix >> 56);
        if (here >= zeros) {
            *at += small_select(ends, prefix, zeros - 1) + 1;
            break;
        }
        zeros -= here;
    }
    return *at < s->lows;
}

/* Is 'low' among the 'run' lows from number 'first' on?  As many as fit in a read are compared at once: bits
 * of fields that agree are zeros, and adding all ones but the highest leaves that clear only where all are.
 * */
static inline bool small_find(const unsigned char *bytes, size_t size, const shape *s,
                              uint32_t first, unsigned run, uint64_t low) {
    const unsigned width = s->low_bits;
    if (width == 0)
        return run > 0;
    const uint64_t ones = tamis_i_repeat[width], high = ones << (width - 1);
    const unsigned whole = tamis_i_whole[width],
                   step = whole > BITS_AT_ONCE ? whole - width : whole;
    uint32_t at = s->lows + first * width;
    for (unsigned left = run * width; left > 0;) {
        const unsigned bits = left < step ? left : step;
        const uint64_t x = small_bits(bytes, size, at) ^ low * ones;
        if ((~(((x & (high - ones)) + (high - ones)) | x) & high & tamis_i_low_mask(bits)) != 0)
            return true;
        left -= bits;
        at += bits;
    }
    return false;
}

bool tamis_small_contains(const void *data, size_t size, tamis_digest digest) {
    const unsigned char *const bytes = data;
    shape s;
    uint32_t at;
    if (bytes == NULL || !small_shape_of(bytes, size, &s))
        return true;
    if (s.n == 0)
        return false;
    const uint64_t number = tamis_i_range(digest.hi, s.cells);
    const uint32_t row = (uint32_t)(number >> s.low_bits);
    if (!small_row(bytes, size, &s, row, &at))
        return true;
    for (unsigned run = BITS_AT_ONCE; run == BITS_AT_ONCE; at += run) {
        if (at >= s.lows) /* of a row that never ends */
            return true;
        run = small_lowest(~small_bits(bytes, size, at) | (uint64_t)1 << BITS_AT_ONCE);
        const uint32_t first = at - s.rows - row; /* of its lows */
        if (first + run > s.n ||
            small_find(bytes, size, &s, first, run, number & tamis_i_low_mask(s.low_bits)))
            return true;
    }
    return false;
}

/* ---- sorting ---- */

/* Bring each digest to its bucket, by the upper bits: every swap puts one where it belongs. */
static void small_sort_roughly(tamis_digest *digests, uint32_t n) {
    uint16_t next[SORT_BUCKETS], end[SORT_BUCKETS];
    unsigned shift = 64 - 5;
    while (shift > 64 - SORT_BITS && (uint32_t)1 << (64 - shift) < n)
        shift--;
    const uint32_t n_buckets = (uint32_t)1 << (64 - shift);
    memset(end, 0, n_buckets * sizeof *end);
    for (uint32_t i = 0; i < n; i++)
        end[digests[i].hi >> shift]++;
    uint16_t sum = 0;
    for (uint32_t i = 0; i < n_buckets; i++) {
        next[i] = sum;
        sum = (uint16_t)(sum + end[i]);
        end[i] = sum;
    }
    for (uint32_t i = 0; i < n_buckets; i++)
        while (next[i] < end[i]) {
            tamis_digest moving = digests[next[i]];
            for (uint64_t to = moving.hi >> shift; to != i; to = moving.hi >> shift) {
                const tamis_digest displaced = digests[next[to]];
                digests[next[to]++] = moving;
                moving = displaced;
            }
            digests[next[i]++] = moving;
        }
}

/* By insertion; false, and in no particular order, if that takes more than 'patience' moves. */
static bool small_sort_finely(tamis_digest *digests, uint32_t n, uint64_t patience) {
    for (uint32_t i = 1; i < n; i++) {
        const tamis_digest moving = digests[i];
        uint32_t at = i;
        for (; at > 0 && digests[at - 1].hi > moving.hi; at--)
            digests[at] = digests[at - 1];
        digests[at] = moving;
        if (i - at > patience)
            return false;
        patience -= i - at;
    }
    return true;
}

static void small_sift(tamis_digest *heap, uint32_t at, uint32_t n) {
    const tamis_digest moving = heap[at];
    for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1].hi > heap[child].hi;
        if (heap[child].hi <= moving.hi)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* Never more than n log n steps. */
static void small_sort_surely(tamis_digest *digests, uint32_t n) {
    for (uint32_t i = n / 2; i-- > 0;)
        small_sift(digests, i, n);
    for (uint32_t last = n; last-- > 1;) {
        const tamis_digest largest = digests[0];
        digests[0] = digests[last];
        digests[last] = largest;
        small_sift(digests, 0, last);
    }
}

static void small_sort(tamis_digest *digests, uint32_t n) {
    if (n > SORT_FEW)
        small_sort_roughly(digests, n);
    if (!small_sort_finely(digests, n, (uint64_t)SORT_PATIENCE * n))
        small_sort_surely(digests, n);
}

/* ---- building ---- */

/* Set the entries of the directory before 'row', of which 'ones' numbers are in the rows before it. */
static void small_put_entries(unsigned char *bytes, uint32_t *done, uint32_t until, uint32_t ones) {
    for (; *done < until; ++*done) {
        unsigned char *const entry = bytes + HEADER + 2 * *done;
        entry[0] = (unsigned char)ones;
        entry[1] = (unsigned char)(ones >> 8);
    }
}

/* Or the low 'width' bits of 'value' into the bits at 'at', which are zeros; width + 7 <= 64. */
static void small_put(unsigned char *bytes, uint32_t at, unsigned width, uint64_t value) {
    value <<= at % 8;
    for (unsigned i = at / 8, end = (at + width + 7) / 8; i < end; i++, value >>= 8)
        bytes[i] |= (unsigned char)value;
}

tamis_status tamis_small_build(tamis_digest *digests, size_t n, void *out, size_t size) {
    shape s;
    if (n > TAMIS_SMALL_KEYS_MAX)
        return TAMIS_E_TOO_LARGE;
    if (out == NULL || (digests == NULL && n > 0) || !small_shape(n, size, &s))
        return TAMIS_E_ARGUMENT;
    unsigned char *const bytes = out;
    memset(bytes, 0, size);
    bytes[0] = small_first(n, size);
    bytes[1] = (unsigned char)n;
    bytes[2] = (unsigned char)(n >> 8);
    small_sort(digests, s.n);
    uint32_t n_stored = 0, n_entries = 0;
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < s.n; i++) {
        const uint64_t number = tamis_i_range(digests[i].hi, s.cells);
        if (number == last)
            continue;
        last = number;
        const uint32_t row = (uint32_t)(number >> s.low_bits);
        small_put_entries(bytes, &n_entries, row / BLOCK, n_stored);
        small_put(bytes, s.rows + row + n_stored, 1, 1);
        small_put(bytes, s.lows + n_stored * s.low_bits, s.low_bits,
                  number & tamis_i_low_mask(s.low_bits));
        n_stored++;
    }
    small_put_entries(bytes, &n_entries, s.n_entries, n_stored);
    return TAMIS_OK;
}

/* ---- checking ---- */

/* Walk over all bits.  What a walk by row finds must be in ascending order, the directory must agree with it,
 * and all that remains must be zero. */
static bool small_walk(const unsigned char *bytes, size_t size, const shape *s,
                       uint32_t *n_stored) {
    uint32_t row = 0, n = 0;
    uint64_t last = 0;
    for (uint32_t at = s->rows; at < s->lows; at++) {
        if ((small_bits(bytes, size, at) & 1) == 0) {
            row++;
            if (row % BLOCK == 0 && row / BLOCK <= s->n_entries) {
                const unsigned char *const entry = bytes + HEADER + 2 * (row / BLOCK - 1);
                if (((uint32_t)entry[0] | (uint32_t)entry[1] << 8) != n)
                    return false;
            }
            continue;
        }
        if (row >= s->n_rows || n == s->n)
            return false;
        uint64_t number = (uint64_t)row << s->low_bits;
        if (s->low_bits > 0)
            number |=
                small_bits(bytes, size, s->lows + n * s->low_bits) & tamis_i_low_mask(s->low_bits);
        if (n > 0 && number <= last)
            return false;
        last = number;
        n++;
    }
    for (uint32_t at = s->lows + n * s->low_bits; at < 8 * size; at += BITS_AT_ONCE)
        if ((small_bits(bytes, size, at) & tamis_i_low_mask(BITS_AT_ONCE)) != 0)
            return false;
    *n_stored = n;
    return true;
}

tamis_status tamis_small_check(const void *data, size_t size, size_t *n, double *fpr) {
    const unsigned char *const bytes = data;
    shape s;
    uint32_t n_stored = 0;
    if (bytes == NULL)
        return TAMIS_E_ARGUMENT;
    if (!small_shape_of(bytes, size, &s) || !small_walk(bytes, size, &s, &n_stored))
        return TAMIS_E_FORMAT;
    if (n != NULL)
        *n = s.n;
    if (fpr != NULL)
        *fpr = s.n == 0 ? 0 : (double)n_stored / (double)s.cells;
    return TAMIS_OK;
}
