/* line_bits.h - one line: fingerprints as planes, found by counting bits
 *
 * A line is 512 bits, eight words of which bit i of word w is bit 64 w + i:
 *
 *      homes L | away 1 | starts C + 1 | P planes of C bits | nothing
 *
 *      homes     bit h: home h has entries here
 *      away      homes above the highest one here are elsewhere (the back of the structure)
 *      starts    bit i: entry i is the first of its home; one more bit, the sentinel, stands after the last
 *      plane j   bit i: bit j of the fingerprint of entry i
 *
 * Entries stand in the order of their homes.  The entries of home h begin at the k-th one of 'starts',
 * where k is the number of homes below h that have some, and end before the next one.  So an example with L
 * = 6, C = 5 and two planes, that holds fingerprints 1 and 2 of home 1 and 3 of home 4:
 *
 *      homes     0 1 0 0 1 0
 *      starts    1 0 1 1 0 0      entry 0 begins home 1, entry 2 begins home 4, 3 entries
 *      plane 0   1 0 1 0 0
 *      plane 1   0 1 1 0 0
 *
 * Nothing here depends on the content of the line but for how far a query looks: a question executes no
 * branch on the key.  An entry comes to place p by moving all units (starts and planes) up by one from p
 * on, and goes by moving them down.
 *
 * Invariants, tested by tamis_i_line_bits_check:
 *   L1  as many ones of 'starts' as of 'homes', and the sentinel, which is the highest;
 *   L2  the first entry, if there is one, is the first of its home;
 *   L3  planes are zero from the sentinel on, and so are the bits past the last plane.
 *
 * Whatever the words are, no function reads or writes outside of the line, and all end.
 *
 * Not here: which line and home a key has, what happens when a line is full.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_BITS_H
#define TAMIS_KINDS_LINE_BITS_H

#include "base/base.h"

#define TAMIS_I_LINE_BITS        512u
#define TAMIS_I_LINE_HOMES_MAX   126u
#define TAMIS_I_LINE_ENTRIES_MAX 63u /* starts and sentinel are a word */
#define TAMIS_I_LINE_PLANES_MAX  40u

/* How a line is divided up.  Everything but the first two follows from them. */
typedef struct tamis_i_line_shape {
    unsigned homes, planes; /* L, P */
    unsigned capacity;      /* C */
    unsigned starts;        /* where they begin; 'away' is the bit before */
    unsigned plane[TAMIS_I_LINE_PLANES_MAX];
} tamis_i_line_shape;

/* Divide a line into so many homes and planes: as many entries as fit, so that each unit lies within 8
 * bytes from the byte in which it begins (one load, on a machine that has them).  False if not two entries
 * fit. */
bool tamis_i_line_bits_shape(unsigned homes, unsigned planes, tamis_i_line_shape *shape);

/* Make a line empty: all zeros but for the sentinel. */
void tamis_i_line_bits_clear(const tamis_i_line_shape *shape, uint64_t *line);

/* How many entries are here. */
unsigned tamis_i_line_bits_count(const tamis_i_line_shape *shape, const uint64_t *line);

/* Where the entries of a home are, or would be: from 'from' to 'end' - 1. */
typedef struct tamis_i_line_run {
    unsigned from, end;
} tamis_i_line_run;
tamis_i_line_run tamis_i_line_bits_run(const tamis_i_line_shape *shape, const uint64_t *line,
                                       unsigned home);

/* Is home h above all that are here? */
bool tamis_i_line_bits_above(const tamis_i_line_shape *shape, const uint64_t *line, unsigned home);

bool tamis_i_line_bits_away(const tamis_i_line_shape *shape, const uint64_t *line);
void tamis_i_line_bits_set_away(const tamis_i_line_shape *shape, uint64_t *line, bool away);

/* The entries of a home with this fingerprint, as a mask of their places.  'mask' has the planes that are
 * compared: those of the value, if entries have one, are not. */
uint64_t tamis_i_line_bits_look(const tamis_i_line_shape *shape, const uint64_t *line,
                                unsigned home, uint64_t fingerprint, uint64_t mask);

/* Add an entry, as the first of its home.  The line has room. */
void tamis_i_line_bits_add(const tamis_i_line_shape *shape, uint64_t *line, unsigned home,
                           uint64_t fingerprint);

/* Remove the entry at a place, which is one of this home. */
void tamis_i_line_bits_drop(const tamis_i_line_shape *shape, uint64_t *line, unsigned home,
                            unsigned at);

/* The fingerprint of the entry at a place; or give it another one, in the planes of 'mask'. */
uint64_t tamis_i_line_bits_get(const tamis_i_line_shape *shape, const uint64_t *line, unsigned at);
void tamis_i_line_bits_put(const tamis_i_line_shape *shape, uint64_t *line, unsigned at,
                           uint64_t fingerprint, uint64_t mask);

/* The highest home that is here, or -1. */
int tamis_i_line_bits_highest(const tamis_i_line_shape *shape, const uint64_t *line);

/* Remove all entries of the highest home. */
void tamis_i_line_bits_drop_highest(const tamis_i_line_shape *shape, uint64_t *line);

/* The invariants.  False, and why. */
bool tamis_i_line_bits_check(const tamis_i_line_shape *shape, const uint64_t *line,
                             const char **reason);

#endif
