/* line_bits.c - one line, in portable C: what every other form must equal bit for bit
 *
 * A unit of up to 64 bits is taken from the two words that it may lie in, and put back there.  Selecting
 * the k-th one of a word is done by counting within its bytes: sums of bytes by one multiplication, the
 * byte in which the sum passes k by comparing all of them at once, then the same for the bits of that byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kinds/line/line_bits.h"

#include "bits/native.h"
#include "hash/hash.h"
#include "kinds/line/line_word.h"

/* ---- words ---- */

static uint64_t line_ones_below(unsigned n) {
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static unsigned line_ones(uint64_t x) {
    return (unsigned)(tamis_i_line_byte_sums(x) >> 56);
}

/* The place of the k-th one, from 0; 64 if there are not so many. */
static unsigned line_select(uint64_t x, unsigned k) {
    return tamis_i_line_select(x, tamis_i_line_byte_sums(x), k);
}

/* ---- units ---- */

/* A unit lies within 8 bytes from the one that it begins in; those of the last ones are loaded
 * from byte 56. */
static uint64_t line_unit(const uint64_t *line, unsigned from, unsigned n) {
    if (tamis_i_little_endian()) {
        const unsigned byte = from / 8 < 56 ? from / 8 : 56;
        uint64_t x;
        memcpy(&x, (const unsigned char *)line + byte, sizeof x);
        return x >> (from - 8 * byte) & line_ones_below(n);
    }
    const unsigned word = from / 64, shift = from % 64;
    uint64_t x = line[word] >> shift;
    if (shift + n > 64)
        x |= line[word + 1] << (64 - shift);
    return x & line_ones_below(n);
}

static void line_put_unit(uint64_t *line, unsigned from, unsigned n, uint64_t x) {
    const uint64_t mask = line_ones_below(n);
    if (tamis_i_little_endian()) {
        const unsigned byte = from / 8 < 56 ? from / 8 : 56, shift = from - 8 * byte;
        uint64_t word;
        memcpy(&word, (unsigned char *)line + byte, sizeof word);
        word = (word & ~(mask << shift)) | x << shift;
        memcpy((unsigned char *)line + byte, &word, sizeof word);
        return;
    }
    const unsigned word = from / 64, shift = from % 64;
    line[word] = (line[word] & ~(mask << shift)) | x << shift;
    if (shift + n > 64)
        line[word + 1] = (line[word + 1] & ~(mask >> (64 - shift))) | x >> (64 - shift);
}

static uint64_t line_starts(const tamis_i_line_shape *shape, const uint64_t *line) {
    return line_unit(line, shape->starts, shape->capacity) << 1 | 1;
}

static void line_put_starts(const tamis_i_line_shape *shape, uint64_t *line, uint64_t starts) {
    line_put_unit(line, shape->starts, shape->capacity, starts >> 1);
}

static uint64_t line_plane(const tamis_i_line_shape *shape, const uint64_t *line, unsigned j) {
    return line_unit(line, shape->plane[j], shape->capacity);
}

/* Homes are in two words at most. */
static uint64_t line_homes(const tamis_i_line_shape *shape, const uint64_t *line, unsigned word) {
    const unsigned left = shape->homes > 64 * word ? shape->homes - 64 * word : 0;
    return left == 0 ? 0 : line[word] & line_ones_below(left);
}

static unsigned line_homes_below(const tamis_i_line_shape *shape, const uint64_t *line,
                                 unsigned home) {
    const uint64_t low = line_homes(shape, line, 0), high = line_homes(shape, line, 1);
    return home < 64 ? line_ones(low & line_ones_below(home))
                     : line_ones(low) + line_ones(high & line_ones_below(home - 64));
}

static bool line_has_home(const uint64_t *line, unsigned home) {
    return (line[home / 64] >> home % 64 & 1) != 0;
}

static void line_flip(uint64_t *line, unsigned bit) {
    line[bit / 64] ^= UINT64_C(1) << bit % 64;
}

/* ---- shapes ---- */

/* Does a unit lie within 8 bytes from the byte in which it begins? */
static bool line_unit_fits(unsigned from, unsigned n) {
    return from % 8 + n <= 64;
}

/* With so many entries, and so many bits between starts and planes. */
static bool line_shape_with(unsigned capacity, unsigned gap, tamis_i_line_shape *shape) {
    bool fits = line_unit_fits(shape->starts, capacity);
    unsigned at = shape->starts + capacity + gap;
    shape->capacity = capacity;
    for (unsigned j = 0; j < shape->planes; j++, at += capacity) {
        shape->plane[j] = at;
        fits = fits && line_unit_fits(at, capacity);
    }
    return fits && at <= TAMIS_I_LINE_BITS;
}

bool tamis_i_line_bits_shape(unsigned homes, unsigned prints, unsigned values,
                             tamis_i_line_shape *shape) {
    const unsigned planes = prints + values;
    if (homes < 1 || homes > TAMIS_I_LINE_HOMES_MAX || prints < 1 ||
        prints > TAMIS_I_LINE_PLANES_MAX || values > TAMIS_I_LINE_PLANES_MAX - prints)
        return false;
    *shape = (tamis_i_line_shape){
        .homes = homes, .prints = prints, .values = values, .planes = planes, .starts = homes + 1};
    unsigned capacity = (TAMIS_I_LINE_BITS - homes - 1) / (planes + 1);
    if (capacity > TAMIS_I_LINE_ENTRIES_MAX)
        capacity = TAMIS_I_LINE_ENTRIES_MAX;
    for (; capacity >= 2; capacity--)
        for (unsigned gap = 0; gap < 8; gap++)
            if (line_shape_with(capacity, gap, shape))
                return true;
    return false;
}

/* ---- questions ---- */

/* The place of the highest one; 0 if there is none. */
static unsigned line_highest(uint64_t x) {
    unsigned at = 0;
    for (unsigned step = 32; step > 0; step /= 2)
        if (x >> step != 0) {
            x >>= step;
            at += step;
        }
    return at;
}

unsigned tamis_i_line_bits_count(const tamis_i_line_shape *shape, const uint64_t *line) {
    return line_highest(line_starts(shape, line));
}

tamis_i_line_run tamis_i_line_bits_run(const tamis_i_line_shape *shape, const uint64_t *line,
                                       unsigned home) {
    const uint64_t starts = line_starts(shape, line);
    const unsigned k = line_homes_below(shape, line, home);
    unsigned from = line_select(starts, k), end = from;
    if (line_has_home(line, home))
        end = line_select(starts, k + 1);
    /* Bits that nobody has checked may have fewer starts than homes. */
    from = from < shape->capacity ? from : shape->capacity;
    end = end < shape->capacity ? end : shape->capacity;
    return (tamis_i_line_run){from, end < from ? from : end};
}

unsigned tamis_i_line_bits_home(const tamis_i_line_shape *shape, const uint64_t *line,
                                unsigned at) {
    const uint64_t low = line_homes(shape, line, 0), high = line_homes(shape, line, 1);
    const unsigned k = line_ones(line_starts(shape, line) & line_ones_below(at + 1)) - 1;
    const unsigned lows = line_ones(low);
    const unsigned home = k < lows ? line_select(low, k) : 64 + line_select(high, k - lows);
    return home < shape->homes ? home : shape->homes;
}

bool tamis_i_line_bits_above(const tamis_i_line_shape *shape, const uint64_t *line, unsigned home) {
    const uint64_t low = line_homes(shape, line, 0), high = line_homes(shape, line, 1);
    return home < 64 ? high == 0 && low >> home == 0 : high >> (home - 64) == 0;
}

bool tamis_i_line_bits_away(const tamis_i_line_shape *shape, const uint64_t *line) {
    return line_has_home(line, shape->homes);
}

void tamis_i_line_bits_set_away(const tamis_i_line_shape *shape, uint64_t *line, bool away) {
    if (tamis_i_line_bits_away(shape, line) != away)
        line_flip(line, shape->homes);
}

uint64_t tamis_i_line_bits_look(const tamis_i_line_shape *shape, const uint64_t *line,
                                unsigned home, uint64_t entry, uint64_t mask) {
    const tamis_i_line_run run = tamis_i_line_bits_run(shape, line, home);
    uint64_t differ = 0;
    for (unsigned j = 0; j < shape->planes; j++) {
        const uint64_t ones = 0 - (entry >> j & 1), counts = 0 - (mask >> j & 1);
        differ |= (line_plane(shape, line, j) ^ ones) & counts;
    }
    return line_ones_below(run.end) & ~line_ones_below(run.from) & ~differ;
}

uint64_t tamis_i_line_bits_get(const tamis_i_line_shape *shape, const uint64_t *line, unsigned at) {
    uint64_t entry = 0;
    for (unsigned j = 0; j < shape->planes; j++)
        entry |= (line_plane(shape, line, j) >> at & 1) << j;
    return entry;
}

int tamis_i_line_bits_highest(const tamis_i_line_shape *shape, const uint64_t *line) {
    const uint64_t low = line_homes(shape, line, 0), high = line_homes(shape, line, 1);
    return high != 0 ? 64 + (int)line_highest(high) : low != 0 ? (int)line_highest(low) : -1;
}

/* ---- changes ---- */

/* A unit with a place opened at p, for 'bit'; and with the place p closed. */
static uint64_t line_opened(uint64_t x, unsigned p, uint64_t bit) {
    const uint64_t low = x & line_ones_below(p);
    return (x ^ low) << 1 | low | bit << p;
}

static uint64_t line_closed(uint64_t x, unsigned p) {
    const uint64_t low = x & line_ones_below(p);
    return (x >> 1 & ~line_ones_below(p)) | low;
}

void tamis_i_line_bits_add(const tamis_i_line_shape *shape, uint64_t *line, unsigned home,
                           uint64_t entry) {
    const unsigned p = tamis_i_line_bits_run(shape, line, home).from, n = shape->capacity;
    TAMIS_ASSERT(tamis_i_line_bits_count(shape, line) < n);
    uint64_t starts = line_opened(line_starts(shape, line), p, 1);
    if (line_has_home(line, home)) /* what was the first of its home is the second */
        starts &= ~(UINT64_C(2) << p);
    else
        line_flip(line, home);
    line_put_starts(shape, line, starts);
    for (unsigned j = 0; j < shape->planes; j++) {
        const uint64_t plane = line_opened(line_plane(shape, line, j), p, entry >> j & 1);
        line_put_unit(line, shape->plane[j], n, plane & line_ones_below(n));
    }
}

void tamis_i_line_bits_drop(const tamis_i_line_shape *shape, uint64_t *line, unsigned home,
                            unsigned at) {
    const tamis_i_line_run run = tamis_i_line_bits_run(shape, line, home);
    TAMIS_ASSERT(at >= run.from && at < run.end);
    uint64_t starts = line_closed(line_starts(shape, line), at);
    if (run.end - run.from == 1)
        line_flip(line, home);
    else if (at == run.from) /* the next one is the first now */
        starts |= UINT64_C(1) << at;
    line_put_starts(shape, line, starts);
    for (unsigned j = 0; j < shape->planes; j++)
        line_put_unit(line, shape->plane[j], shape->capacity,
                      line_closed(line_plane(shape, line, j), at));
}

void tamis_i_line_bits_put(const tamis_i_line_shape *shape, uint64_t *line, unsigned at,
                           uint64_t entry, uint64_t mask) {
    const uint64_t change = (tamis_i_line_bits_get(shape, line, at) ^ entry) & mask;
    for (unsigned j = 0; j < shape->planes; j++)
        if ((change >> j & 1) != 0)
            line_flip(line, shape->plane[j] + at);
}

void tamis_i_line_bits_drop_highest(const tamis_i_line_shape *shape, uint64_t *line) {
    const int home = tamis_i_line_bits_highest(shape, line);
    if (home < 0)
        return;
    const unsigned p = tamis_i_line_bits_run(shape, line, (unsigned)home).from;
    const uint64_t starts = line_starts(shape, line) & line_ones_below(p);
    line_put_starts(shape, line, starts | UINT64_C(1) << p);
    for (unsigned j = 0; j < shape->planes; j++)
        line_put_unit(line, shape->plane[j], shape->capacity,
                      line_plane(shape, line, j) & line_ones_below(p));
    line_flip(line, (unsigned)home);
}

/* ---- bytes that anyone may have written ---- */

bool tamis_i_line_bits_check(const tamis_i_line_shape *shape, const uint64_t *line,
                             const char **reason) {
    const uint64_t starts = line_starts(shape, line);
    const unsigned n = tamis_i_line_bits_count(shape, line);
    const unsigned homes =
        line_ones(line_homes(shape, line, 0)) + line_ones(line_homes(shape, line, 1));
    if (line_ones(starts) != homes + 1) {
        *reason = "the entries of a line do not fit its homes";
        return false;
    }
    for (unsigned j = 0; j < shape->planes; j++)
        if (line_plane(shape, line, j) >> n != 0) {
            *reason = "a line has data where it is free";
            return false;
        }
    const unsigned end = shape->plane[shape->planes - 1] + shape->capacity;
    for (unsigned at = shape->starts + shape->capacity; at < TAMIS_I_LINE_BITS; at++) {
        at = at == shape->plane[0] ? end : at;
        if (at < TAMIS_I_LINE_BITS && line_has_home(line, at)) {
            *reason = "a line has data between its parts or past its end";
            return false;
        }
    }
    return true;
}

/* ---- what a set does with a line ---- */

static unsigned line_equal(const tamis_i_line_row *row, const uint64_t *line, unsigned home,
                           uint64_t print, uint64_t *places) {
    const uint64_t mask = line_ones_below(row->shape.prints);
    *places = tamis_i_line_bits_look(&row->shape, line, home, print, mask);
    return line_ones(*places);
}

static bool line_is_away(const tamis_i_line_row *row, const uint64_t *line, unsigned home) {
    return tamis_i_line_bits_above(&row->shape, line, home) &&
           tamis_i_line_bits_away(&row->shape, line);
}

static unsigned line_has(const tamis_i_line_row *row, const uint64_t *line, unsigned home,
                         uint64_t print) {
    uint64_t places;
    if (line_is_away(row, line, home))
        return TAMIS_I_LINE_AWAY;
    return line_equal(row, line, home, print, &places) != 0 ? TAMIS_I_LINE_FOUND : 0;
}

static unsigned line_add(const tamis_i_line_row *row, uint64_t *line, unsigned home, uint64_t entry,
                         unsigned most) {
    uint64_t places;
    if (line_is_away(row, line, home))
        return TAMIS_I_LINE_AWAY;
    const unsigned equal = line_equal(row, line, home, entry, &places);
    const unsigned found = equal != 0 ? TAMIS_I_LINE_FOUND : 0;
    if (equal >= most)
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    if (tamis_i_line_bits_count(&row->shape, line) >= row->shape.capacity)
        return found | TAMIS_I_LINE_FULL;
    tamis_i_line_bits_add(&row->shape, line, home, entry);
    return found | TAMIS_I_LINE_DONE;
}

static unsigned line_drop(const tamis_i_line_row *row, uint64_t *line, unsigned home,
                          uint64_t print, unsigned most) {
    const tamis_i_line_shape *const shape = &row->shape;
    uint64_t places;
    if (line_is_away(row, line, home))
        return TAMIS_I_LINE_AWAY;
    const unsigned equal = line_equal(row, line, home, print, &places);
    if (equal == 0)
        return 0;
    if (equal >= most)
        return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_CROWD;
    tamis_i_line_bits_drop(shape, line, home, line_select(places, 0));
    const bool room = tamis_i_line_bits_away(shape, line) &&
                      tamis_i_line_bits_count(shape, line) + 2 <= shape->capacity;
    return TAMIS_I_LINE_FOUND | TAMIS_I_LINE_DONE | (room ? TAMIS_I_LINE_ROOM : 0);
}

tamis_i_line_place tamis_i_line_bits_locate(const tamis_i_line_row *row, uint64_t word) {
    tamis_i_line_place place;
    place.number = tamis_i_take(&word, row->n);
    place.line = row->lines + place.number * TAMIS_LINE_WORDS;
    place.home = (unsigned)tamis_i_take(&word, row->shape.homes);
    place.print = word >> (64 - row->shape.prints);
    return place;
}

static bool line_has_word(const tamis_i_line_row *row, uint64_t word) {
    const tamis_i_line_place p = tamis_i_line_bits_locate(row, word);
    const unsigned result = line_has(row, p.line, p.home, p.print);
    return result == TAMIS_I_LINE_AWAY ? row->elsewhere(row, word) : result != 0;
}

static tamis_status line_add_word(const tamis_i_line_row *row, uint64_t word, unsigned most,
                                  bool *added) {
    const tamis_i_line_place p = tamis_i_line_bits_locate(row, word);
    const unsigned result = line_add(row, p.line, p.home, p.print, most);
    if ((result & TAMIS_I_LINE_DONE) == 0)
        return row->not_added(row, word, result, added);
    ++*row->count;
    if (added != NULL)
        *added = (result & TAMIS_I_LINE_FOUND) == 0;
    return TAMIS_OK;
}

static tamis_status line_drop_word(const tamis_i_line_row *row, uint64_t word, unsigned most) {
    const tamis_i_line_place p = tamis_i_line_bits_locate(row, word);
    const unsigned result = line_drop(row, p.line, p.home, p.print, most);
    *row->count -= (result & TAMIS_I_LINE_DONE) != 0;
    return (result & ~TAMIS_I_LINE_FOUND) == TAMIS_I_LINE_DONE ? TAMIS_OK
                                                               : row->dropped(row, word, result);
}

/* ---- what homes that go and come need ---- */

unsigned tamis_i_line_bits_row_count(const tamis_i_line_row *row, const uint64_t *line) {
    return tamis_i_line_bits_count(&row->shape, line);
}

tamis_i_line_run tamis_i_line_bits_row_run(const tamis_i_line_row *row, const uint64_t *line,
                                           unsigned home) {
    return tamis_i_line_bits_run(&row->shape, line, home);
}

uint64_t tamis_i_line_bits_row_get(const tamis_i_line_row *row, const uint64_t *line, unsigned at) {
    return tamis_i_line_bits_get(&row->shape, line, at);
}

void tamis_i_line_bits_row_cut(const tamis_i_line_row *row, uint64_t *line, unsigned home) {
    (void)home;
    tamis_i_line_bits_drop_highest(&row->shape, line);
}

/* Plane by plane, from the highest bit down: as long as an entry is left whose bit is clear, those whose bit
 * is set are out. */
uint64_t tamis_i_line_bits_row_lowest(const tamis_i_line_row *row, const uint64_t *line,
                                      unsigned home, unsigned skip, unsigned *left) {
    const tamis_i_line_run run = tamis_i_line_bits_run(&row->shape, line, home);
    uint64_t places = line_ones_below(run.end) & ~line_ones_below(run.from);
    *left = 0;
    if (places == 0)
        return 0;
    for (unsigned j = row->shape.prints; j-- > skip;) {
        const uint64_t clear = places & ~line_plane(&row->shape, line, j);
        *left = 2 * *left + (clear == 0);
        places = clear == 0 ? places : clear;
    }
    return places;
}

static const tamis_i_line_bits_ops line_portable = {.has_word = line_has_word,
                                                    .has = line_has,
                                                    .add_word = line_add_word,
                                                    .add = line_add,
                                                    .drop_word = line_drop_word,
                                                    .drop = line_drop,
                                                    .count = tamis_i_line_bits_row_count,
                                                    .run = tamis_i_line_bits_row_run,
                                                    .get = tamis_i_line_bits_row_get,
                                                    .cut = tamis_i_line_bits_row_cut,
                                                    .lowest = tamis_i_line_bits_row_lowest};

const tamis_i_line_bits_ops *tamis_i_line_bits_ops_for(const tamis_i_line_row *row,
                                                       unsigned features) {
    const tamis_i_line_bits_ops *const quick =
        row->tables == NULL ? NULL : TAMIS_I_LINE_BITS_NATIVE(&row->shape, features);
    return quick != NULL ? quick : &line_portable;
}
