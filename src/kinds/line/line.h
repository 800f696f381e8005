/* line.h - lines in front, and a back for what they have given away
 *
 * A key has a line of the front, a home in it and a fingerprint: the digits of one number below n L 2^R,
 * which is all that is stored of it, its entry.
 *
 *      table   [ line 0 ][ line 1 ] ...  [ line n - 1 ]      the front: kinds/line/line_bits.h
 *              [ line 0 ] ... [ line m - 1 ]                 the back: the same with longer fingerprints
 *
 * A front line that is full gives its highest home away with all its entries, and notes that ('away').  So
 * one comparison tells where an entry is: in the back if its home is above all that are in the front line
 * and 'away' is set, else in the front.  A home is in one of the two as a whole.  When removals have made
 * room, the lowest home that is away returns; when none is left, 'away' is cleared.
 *
 * In the back a front line has two places, each a home of a back line that no other front line has, and the
 * fingerprint of an entry there begins with its home in the front: nothing is lost of what is known.
 *
 *      front line x:  id = x / m, b = x mod m
 *      first place    back line b, home id
 *      second place   back line (b + step(id)) mod m, home G + id         G = ceil(n / m), 2 G <= L2
 *
 *      entry in the front   [ fingerprint: R ][ value: V ]                 low bits first
 *      entry in the back    [ fingerprint: R ][ home: log2 L ][ value: V ]
 *
 * step(id) is a number from 1 to m - 1 that looks random, so that two front lines seldom have both back lines
 * in common.  With one back line there is one place, with none there is no back.
 *
 * An entry goes to the emptier of its two back lines.  If both are full, an entry of one of them moves to its
 * own other place, for which another one may have to move on; if that fails too, the entry goes to the stash,
 * whole, as (line, home, fingerprint).
 *
 * Invariants, tested by tamis_i_line_table_check:
 *   B1  every line is one of line_bits.h, and no line of the back has 'away';
 *   B2  an entry of the back is of a home that its front line has given away.
 *
 * Not here: counts, the stash, copies of one key (line.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_H
#define TAMIS_KINDS_LINE_H

#include "kinds/line/line_bits.h"

/* The layout of a table; 'lines' of the rows are set by whoever has one. */
typedef struct tamis_i_line_table {
    tamis_i_line_row front, back; /* back.n is 0 if there is none */
    const tamis_i_line_bits_ops *front_ops, *back_ops;
    uint64_t lap;    /* G */
    unsigned places; /* of a front line in the back: 2, 1 or 0 */
} tamis_i_line_table;

/* What is asked for. */
typedef struct tamis_i_line_need {
    uint64_t lines, back_lines;
    uint64_t homes, back_homes, prints, values;
} tamis_i_line_need;

/* Fill in shapes and places, and the portable operations.  False if that makes no table. */
bool tamis_i_line_table_init(const tamis_i_line_need *need, tamis_i_line_table *table);

/* An entry, wherever it is. */
typedef struct tamis_i_line_entry {
    uint64_t line; /* of the front */
    unsigned home;
    uint64_t print;
    unsigned value;
} tamis_i_line_entry;

/* The bits of an entry in the front, and in the back. */
static inline uint64_t tamis_i_line_front_bits(const tamis_i_line_table *t,
                                               const tamis_i_line_entry *e) {
    return e->print | (uint64_t)e->value << t->front.shape.prints;
}

static inline uint64_t tamis_i_line_back_print(const tamis_i_line_table *t, unsigned home,
                                               uint64_t print) {
    return print | (uint64_t)home << t->front.shape.prints;
}

/* The places of a front line in the back, and how full their lines are. */
typedef struct tamis_i_line_places {
    uint64_t *line[2];
    unsigned home[2];
    unsigned load[2];  /* of the whole back line */
    uint64_t least[2]; /* entries of the lowest home that was asked for */
    unsigned n;
} tamis_i_line_places;

/* Find them, and begin to fetch their memory; then count what is there. */
void tamis_i_line_back_find(const tamis_i_line_table *t, uint64_t line, tamis_i_line_places *p);
void tamis_i_line_back_weigh(const tamis_i_line_table *t, tamis_i_line_places *p);

/* Entries for which there is room in both together. */
unsigned tamis_i_line_back_room(const tamis_i_line_table *t, const tamis_i_line_places *p);

/* How many entries have this fingerprint of the back; or is there one? */
unsigned tamis_i_line_back_copies(const tamis_i_line_table *t, const tamis_i_line_places *p,
                                  uint64_t print);
bool tamis_i_line_back_has(const tamis_i_line_table *t, const tamis_i_line_places *p,
                           uint64_t print);

/* Add an entry, for which there is room. */
void tamis_i_line_back_put(const tamis_i_line_table *t, tamis_i_line_places *p,
                           const tamis_i_line_entry *entry);

/* Make room for one more in two lines that are full, by one move or two.  False if no entry can move. */
bool tamis_i_line_back_shift(const tamis_i_line_table *t, tamis_i_line_places *p);

/* Drop one entry with this fingerprint of the back.  False if there is none. */
bool tamis_i_line_back_drop(const tamis_i_line_table *t, tamis_i_line_places *p, uint64_t print);

/* The lowest home of the front line that has entries in the back, and how many; 0 if there is none. */
unsigned tamis_i_line_back_least(const tamis_i_line_table *t, tamis_i_line_places *p,
                                 unsigned *home);

/* Take one of those entries out; home and 'line' are left to the caller.  False if none is left. */
bool tamis_i_line_back_take(const tamis_i_line_table *t, tamis_i_line_places *p,
                            tamis_i_line_entry *entry);

/* The value of an entry with this fingerprint of the back, or give it another one.  False: there is none. */
bool tamis_i_line_back_value(const tamis_i_line_table *t, const tamis_i_line_places *p,
                             uint64_t print, unsigned *value);
bool tamis_i_line_back_set_value(const tamis_i_line_table *t, const tamis_i_line_places *p,
                                 uint64_t print, unsigned value);

/* Entry number 'at' of a line, front or back: what it is an entry of.  False if it belongs to no line, which
 * can be of bytes that nobody has checked. */
bool tamis_i_line_front_entry(const tamis_i_line_table *t, uint64_t line, unsigned at,
                              tamis_i_line_entry *entry);
bool tamis_i_line_back_entry(const tamis_i_line_table *t, uint64_t line, unsigned at,
                             tamis_i_line_entry *entry);

/* Check the invariants of a table that anyone may have written.  How many entries there are goes to
 * '*entries'.  False, and why. */
bool tamis_i_line_table_check(const tamis_i_line_table *t, uint64_t *entries, const char **reason);

#endif
