/* line_bits.h - one line: fingerprints as planes, found by counting bits
 *
 * A line is 512 bits, eight words of which bit i of word w is bit 64 w + i:
 *
 *      homes L | away 1 | starts C | nothing | R planes of C bits | V planes of C bits | nothing
 *
 *      homes     bit h: home h has entries here
 *      away      homes above the highest one here are elsewhere (the back of the structure)
 *      starts    bit i - 1: entry i is the first of its home; one more bit, the sentinel, stands after the
 *                last entry
 *      plane j   bit i: bit j of the fingerprint of entry i; from plane R on, bit j - R of its value
 *
 * Fingerprint and value together, the fingerprint in the low bits, are what is called an entry below.
 * Entries stand in the order of their homes.  The first of all is always the first of its home, and an empty
 * line has its sentinel there: the start of place 0 is known to be one, and not stored, so that a line of
 * zeros is an empty one.  Below, 'starts' are C + 1 bits, the lowest of them that one.
 *
 * The entries of home h begin at the k-th one of the starts, where k is the number of homes below h that have
 * some, and end before the next one.  So an example with L = 6, C = 5 and two planes, that holds fingerprints
 * 1 and 2 of home 1 and 3 of home 4:
 *
 *      homes     0 1 0 0 1 0
 *      starts    (1) 0 1 1 0 0    entry 0 begins home 1, entry 2 begins home 4, 3 entries
 *      plane 0   1 0 1 0 0
 *      plane 1   0 1 1 0 0
 *
 * Nothing here depends on the content of the line but for how far a query looks: a question executes no
 * branch on the key.  An entry comes to place p by moving all units (starts and planes) up by one from p
 * on, and goes by moving them down.
 *
 * Invariants, tested by tamis_i_line_bits_check:
 *   L1  as many ones of 'starts' as of 'homes', and the sentinel, which is the highest;
 *   L2  planes are zero from the sentinel on, and so are the bits before and behind the planes.
 *
 * Whatever the words are, no function reads or writes outside of the line, and all end.
 *
 * There is one portable form, line_bits.c, which defines every result, and one per processor family,
 * line_x86.c and line_arm.c, which equal it bit for bit.
 *
 * Not here: how a key becomes line, home and fingerprint, what happens when a line is full.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_BITS_H
#define TAMIS_KINDS_LINE_BITS_H

#include "base/base.h"

#define TAMIS_I_LINE_BITS        512u
#define TAMIS_I_LINE_HOMES_MAX   126u
#define TAMIS_I_LINE_ENTRIES_MAX 63u /* starts, with the first and the sentinel, are a word */
#define TAMIS_I_LINE_PLANES_MAX  40u

/* How a line is divided up.  Everything but the first three follows from them. */
typedef struct tamis_i_line_shape {
    unsigned homes;    /* L */
    unsigned prints;   /* R: planes of the fingerprint, which are compared */
    unsigned values;   /* V: planes of the value, which are not */
    unsigned planes;   /* R + V */
    unsigned capacity; /* C */
    unsigned starts;   /* where those that are stored begin; 'away' is the bit before */
    unsigned plane[TAMIS_I_LINE_PLANES_MAX];
} tamis_i_line_shape;

/* Divide a line into so many homes and planes: as many entries as fit, so that each unit lies within 8
 * bytes from the byte in which it begins (one load, on a machine that has them); for that up to 7 bits are
 * left out before the planes.  False if not two entries fit. */
bool tamis_i_line_bits_shape(unsigned homes, unsigned prints, unsigned values,
                             tamis_i_line_shape *shape);

/* ---- what a set does with a line: the operations that have quick forms ---- */

/* What they found, as a sum. */
#define TAMIS_I_LINE_FOUND 1u /* an entry of this home with this fingerprint is here */
#define TAMIS_I_LINE_AWAY  2u /* the home is above all that are here, and 'away' is set: not here */
#define TAMIS_I_LINE_FULL  4u /* the line has no room: nothing was changed */
#define TAMIS_I_LINE_CROWD 8u /* there are as many equal ones as may be: nothing was changed */
#define TAMIS_I_LINE_DONE  16u /* it was added, or dropped */
#define TAMIS_I_LINE_ROOM  32u /* and 'away' is set, and there is room for two entries or more */

/* Lines of one shape side by side. */
typedef struct tamis_i_line_row {
    uint64_t *lines; /* their words */
    uint64_t n;
    tamis_i_line_shape shape;
    const void *tables; /* what a quick form keeps of the shape, or NULL */
    /* What the forms for a word do besides, so that a call for a key is one: they count entries, and go on to
     * these with what the line could not do, or with what was done and has to go on (ROOM). */
    uint64_t *count;
    bool (*elsewhere)(const struct tamis_i_line_row *row, uint64_t word);
    tamis_status (*not_added)(const struct tamis_i_line_row *row, uint64_t word, unsigned result,
                              bool *added);
    tamis_status (*dropped)(const struct tamis_i_line_row *row, uint64_t word, unsigned result);
} tamis_i_line_row;

/* Places from 'from' to 'end' - 1. */
typedef struct tamis_i_line_run {
    unsigned from, end;
} tamis_i_line_run;

/* A line, a home in it and a fingerprint are the digits of one long number, which the upper bits of a word
 * give: the word times n has the number of the line above its 64 bits, what is left times L the home, what
 * is left times 2^R the fingerprint. */
typedef struct tamis_i_line_place {
    uint64_t *line;
    uint64_t number; /* of the line */
    unsigned home;
    uint64_t print;
} tamis_i_line_place;

typedef struct tamis_i_line_bits_ops {
    /* Is there an entry of this home with this fingerprint?  FOUND, AWAY or 0. */
    unsigned (*has)(const tamis_i_line_row *row, const uint64_t *line, unsigned home,
                    uint64_t print);

    /* Add an entry as the first of its home, unless the home is away (AWAY), there are already 'most' >= 1
     * entries with this home and fingerprint (FOUND | CROWD), or else there is no room (FULL, perhaps with
     * FOUND).  DONE, with FOUND if there was an equal one. */
    unsigned (*add)(const tamis_i_line_row *row, uint64_t *line, unsigned home, uint64_t entry,
                    unsigned most);

    /* Drop the first entry with this home and fingerprint, unless the home is away (AWAY), there is none (0),
     * or there are 'most' or more (FOUND | CROWD).  FOUND | DONE, with ROOM if there is some afterwards. */
    unsigned (*drop)(const tamis_i_line_row *row, uint64_t *line, unsigned home, uint64_t print,
                     unsigned most);

    /* The same for a word, the value being 0.  What was AWAY is what row->elsewhere says.  What was added is
     * counted, and '*added', unless 'added' is NULL, is whether there was no equal one; else it is what
     * row->not_added says.  What was dropped is counted; with ROOM, or if nothing was, it is what
     * row->dropped says. */
    bool (*has_word)(const tamis_i_line_row *row, uint64_t word);
    tamis_status (*add_word)(const tamis_i_line_row *row, uint64_t word, unsigned most,
                             bool *added);
    tamis_status (*drop_word)(const tamis_i_line_row *row, uint64_t word, unsigned most);

    /* What homes that go and come need besides: as the functions below of these names, */
    unsigned (*count)(const tamis_i_line_row *row, const uint64_t *line);
    tamis_i_line_run (*run)(const tamis_i_line_row *row, const uint64_t *line, unsigned home);
    uint64_t (*get)(const tamis_i_line_row *row, const uint64_t *line, unsigned at);
    /* as tamis_i_line_bits_drop_highest for the home that is the highest one here, */
    void (*cut)(const tamis_i_line_row *row, uint64_t *line, unsigned home);
    /* and of the entries of a home those whose fingerprints are the lowest without their first 'skip' bits,
     * as a mask of their places; 0 if there is none.  What their fingerprints are without these goes to
     * '*left'. */
    uint64_t (*lowest)(const tamis_i_line_row *row, const uint64_t *line, unsigned home,
                       unsigned skip, unsigned *left);
} tamis_i_line_bits_ops;

/* What the quick form for these features (base/cpu.h) keeps of a shape: 10 to 36 KB, made once per process
 * and shared by all who have taken them and not given them back.  Any thread may call these two, and none
 * ever waits for another.  NULL if there is no quick form or no memory: the portable operations need none. */
const void *tamis_i_line_bits_tables_take(const tamis_i_line_shape *shape, unsigned features);
void tamis_i_line_bits_tables_give(const void *tables); /* NULL is allowed */

/* The last five in portable C, for processor families that have nothing better. */
unsigned tamis_i_line_bits_row_count(const tamis_i_line_row *row, const uint64_t *line);
tamis_i_line_run tamis_i_line_bits_row_run(const tamis_i_line_row *row, const uint64_t *line,
                                           unsigned home);
uint64_t tamis_i_line_bits_row_get(const tamis_i_line_row *row, const uint64_t *line, unsigned at);
void tamis_i_line_bits_row_cut(const tamis_i_line_row *row, uint64_t *line, unsigned home);
uint64_t tamis_i_line_bits_row_lowest(const tamis_i_line_row *row, const uint64_t *line,
                                      unsigned home, unsigned skip, unsigned *left);

/* The best operations for a row, of which 'tables' is NULL or was taken for its shape and these features.
 * They work on all rows like that. */
const tamis_i_line_bits_ops *tamis_i_line_bits_ops_for(const tamis_i_line_row *row,
                                                       unsigned features);

/* The quick form for a shape, or NULL: bits/native.h. */
const tamis_i_line_bits_ops *tamis_i_line_bits_ops_x86(const tamis_i_line_shape *shape,
                                                       unsigned features);
const tamis_i_line_bits_ops *tamis_i_line_bits_ops_arm(const tamis_i_line_shape *shape,
                                                       unsigned features);

/* ---- everything else, in portable C only ---- */

/* Where the entry of a word is, or would be. */
tamis_i_line_place tamis_i_line_bits_locate(const tamis_i_line_row *row, uint64_t word);

/* How many entries are here. */
unsigned tamis_i_line_bits_count(const tamis_i_line_shape *shape, const uint64_t *line);

/* Where the entries of a home are, or would be. */
tamis_i_line_run tamis_i_line_bits_run(const tamis_i_line_shape *shape, const uint64_t *line,
                                       unsigned home);

/* The home of the entry at a place; as many as there are homes if bits that nobody has checked have none. */
unsigned tamis_i_line_bits_home(const tamis_i_line_shape *shape, const uint64_t *line, unsigned at);

/* Is home h above all that are here? */
bool tamis_i_line_bits_above(const tamis_i_line_shape *shape, const uint64_t *line, unsigned home);

bool tamis_i_line_bits_away(const tamis_i_line_shape *shape, const uint64_t *line);
void tamis_i_line_bits_set_away(const tamis_i_line_shape *shape, uint64_t *line, bool away);

/* The entries of a home that agree with this one in the planes of 'mask', as a mask of their places. */
uint64_t tamis_i_line_bits_look(const tamis_i_line_shape *shape, const uint64_t *line,
                                unsigned home, uint64_t entry, uint64_t mask);

/* Add an entry, as the first of its home.  The line has room. */
void tamis_i_line_bits_add(const tamis_i_line_shape *shape, uint64_t *line, unsigned home,
                           uint64_t entry);

/* Remove the entry at a place, which is one of this home. */
void tamis_i_line_bits_drop(const tamis_i_line_shape *shape, uint64_t *line, unsigned home,
                            unsigned at);

/* The entry at a place; or make it another one, in the planes of 'mask'. */
uint64_t tamis_i_line_bits_get(const tamis_i_line_shape *shape, const uint64_t *line, unsigned at);
void tamis_i_line_bits_put(const tamis_i_line_shape *shape, uint64_t *line, unsigned at,
                           uint64_t entry, uint64_t mask);

/* The highest home that is here, or -1. */
int tamis_i_line_bits_highest(const tamis_i_line_shape *shape, const uint64_t *line);

/* Remove all entries of the highest home. */
void tamis_i_line_bits_drop_highest(const tamis_i_line_shape *shape, uint64_t *line);

/* The invariants.  False, and why. */
bool tamis_i_line_bits_check(const tamis_i_line_shape *shape, const uint64_t *line,
                             const char **reason);

#endif
