/* line_tables.h - what the quick forms of line_bits.h keep of a shape, so that one text does for all shapes
 *
 * A line is changed as a whole, as 512 bits, with masks of 512 bits for each place and for each value of
 * six bits of an entry:
 *
 *      open p     u = line & moves(p).  line + u, word by word, is the line with u moved up by one, as
 *                 what is above is zero, but for the top bits of words, which go to the next one.  The
 *                 new bits are sixes(entry) & ~keeps(p).
 *      close p    u = line & moves(p).  line ^ u stays, u & keeps(p) moves down by one.
 *
 * So planes get or lose the place p; starts the place p + 1, where a zero comes in, and from where the bit
 * falls onto that of place p.  For a new entry stands where a start is already, that of its home, or of the
 * next one if its home is new; in that case alone what follows it is a start too, which has to be added.
 * And what comes to stand where an entry was is a start if it was one, or if that entry was: then it is the
 * first now.
 *
 * A question brings planes to lanes of 64 bits, four at a time: each two neighbours lie within 16 bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_TABLES_H
#define TAMIS_KINDS_LINE_TABLES_H

#include "kinds/line/line_bits.h"

/* 512 bits. */
typedef struct tamis_i_line_mask {
    uint64_t word[TAMIS_LINE_WORDS];
} tamis_i_line_mask;

/* For a place p. */
typedef struct tamis_i_line_move {
    tamis_i_line_mask moves; /* from p on: starts as they are stored, and planes */
    tamis_i_line_mask keeps; /* all but bit p of the planes, and bit 0 of the starts if p is 0 */
} tamis_i_line_move;

/* Four planes of the fingerprint; where there are not so many, some of them again. */
typedef struct tamis_i_line_four {
    uint8_t bytes[32]; /* which of the 16 bytes that are loaded go where; 128: none */
    uint64_t down[4];  /* then shift each lane by so much */
    uint64_t bits[4];  /* the plane's bit of a fingerprint that is the upper bits of a word */
} tamis_i_line_four;

#define TAMIS_I_LINE_FOURS (TAMIS_I_LINE_PLANES_MAX / 4)

/* Masks for six bits of an entry: all places of the planes whose bit is one. */
#define TAMIS_I_LINE_SIX 6u

/* One for each place that a word can have, and for none. */
#define TAMIS_I_LINE_PLACES 65u

typedef struct tamis_i_line_tables {
    uint64_t homes;                 /* L */
    uint64_t starts;                /* those that are stored, in 8 bytes from 'starts_at' on */
    uint64_t full;                  /* the sentinel of a full line: bit C of the starts */
    const tamis_i_line_mask *sixes; /* 64 for bits 0 to 5 of an entry, 64 for the next, and so on */
    uint64_t size;                  /* of all this */
    unsigned slot;                  /* for tamis_i_line_bits_tables_give */
    unsigned n_sixes, n_fours;
    unsigned planes, capacity;
    unsigned print_from;  /* 64 - R: the fingerprint's bits of a word are those from here on */
    unsigned offset_from; /* six less: that many times the size of a mask */
    unsigned starts_at, starts_from;    /* a byte, and where they begin in those from there on */
    unsigned away_at, away;             /* a byte, and the bit in it as a mask */
    uint32_t at[TAMIS_I_LINE_FOURS][2]; /* each half of a four is loaded from this byte on */
    _Alignas(32) tamis_i_line_four fours[TAMIS_I_LINE_FOURS];
    _Alignas(TAMIS_LINE_BYTES) tamis_i_line_move places[TAMIS_I_LINE_PLACES];
} tamis_i_line_tables;

#endif
