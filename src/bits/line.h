/* line.h - one cache line of fingerprints, indexed by counting bits
 *
 * A line is 512 bits.  Its entries are fingerprints of keys, ordered by home; those of one home are a
 * run.  Two bit maps lie at the bottom, the fingerprints at the top, and free space between them:
 *
 *      bit 0                                                                                   511
 *      [ homes: L bits ][ ends: n bits ][ free ][ fingerprints: n-1, n-2 .. 1, 0 ][ B: 9 bits ]
 *
 *      homes   bit j: home j has a run
 *      ends    bit i: entry i is the last of its run
 *      B       the bits of all fingerprints together; not there in a line of a set
 *
 * Nothing else is stored.  The number of entries n is the place after the last end; there are as many
 * ends as runs.  Run number k belongs to the home with k ones before it, and begins after end k - 1.  A
 * fingerprint is a prefix of a key's fingerprint, a word of random bits, and has as many bits as there
 * is room for.  With r = B / n and e = B mod n, the entries of the first runs, e in all, have r + 1
 * bits, the others have r.  So all bits of a line are used, except what the end of a run costs.
 *
 * Adding.  An entry takes the length that its run has, or would have.  If it does not fit, the last
 * runs with r + 1 bits lose one bit, as many runs as needed.  When none of these is left, r goes down
 * by one and all runs are long.  Fingerprints never become longer.
 *
 * Dropping.  One of n entries with B = r n + e bits goes.  If it had r bits, r (n-1) + e are left; if
 * it had r + 1, r (n-1) + (e-1) are left.  Lengths follow from B and n as before.  If e becomes n - 1,
 * all have r + 1 bits, and the division gives just that.
 *
 * A set never drops.  So B can follow from n: it is the available room, min(512 - L - n, bits_max n),
 * and a run is long if its end is at most e.  Runs that get an entry more move towards the end, and e
 * becomes smaller while r stays: no short run becomes long.
 *
 * Passing on.  A line of a set may be limited to fewer entries than fit, 'limit'; later keys are kept
 * elsewhere.  It is full if the last run ends at entry number limit - 1, that is, if there are fewer
 * ends before that entry than homes with a run.  Two counts tell this, whatever follows the ends.
 *
 * Invariants, tested by tamis_i_line_check():
 *   L1  there are as many ends as homes with a run, and the last entry is one;
 *   L2  1 <= r, no fingerprint has more than bits_max bits, entry e is the first of its run;
 *   L3  everything fits in the line; free bits are zero, and so are all bits of a line without entries.
 *
 * The functions are safe only for lines that pass the check.
 *
 * The index without links is from Hua, Zhao, Lin and Xu, "Rank-Indexed Hashing: A Compact Construction
 * of Bloom Filters and Variants", ICNP 2008.  Fingerprints that shrink as a bucket fills are from
 * Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "Bloom Filters via d-Left Hashing and Dynamic
 * Bit Reassignment", Allerton 2006.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_LINE_H
#define TAMIS_BITS_LINE_H

#include "base/cpu.h"
#include "bits/field.h"
#include "bits/group.h"
#include "hash/aes_hash.h"
#include "hash/hash.h"

#define TAMIS_I_LINE_BITS    512u
#define TAMIS_I_LINE_HOMES   128u
#define TAMIS_I_LINE_PRINT   56u  /* bits of a fingerprint, at most */
#define TAMIS_I_LINE_ENTRIES 255u /* of a line, at most */
#define TAMIS_I_LINE_B       9u   /* bits of the field B */
#define TAMIS_I_LINE_LIMIT   64u  /* entries of a line that passes keys on, at most */

/* Loads are spread around the mean like Poisson variables; up to this mean few lines have 63 keys. */
#define TAMIS_I_LINE_NARROW 46u

typedef struct tamis_i_line {
    uint64_t homes;    /* 1 to TAMIS_I_LINE_HOMES */
    uint64_t bits_max; /* of a fingerprint, 1 to TAMIS_I_LINE_PRINT */
    uint64_t top;      /* where fingerprints end: 512 for a set, else 512 - TAMIS_I_LINE_B */
    uint64_t most;     /* entries that fit, of one bit each */
    uint64_t copies;   /* of one fingerprint that add takes.  Not for a set */
    uint64_t load;     /* entries of a mean line, for the choice of operations; 0: unknown */
    bool passes_on;    /* a set: beyond the limit 'most', keys are kept elsewhere */
} tamis_i_line;

/* Fill in a layout; the numbers are in range. */
void tamis_i_line_init(tamis_i_line *line, uint64_t homes, uint64_t bits_max, bool set,
                       uint64_t copies);

/* Let a set take no more than 'limit' entries, 1 to TAMIS_I_LINE_LIMIT, if that many fit. */
static inline void tamis_i_line_limit(tamis_i_line *line, uint64_t limit) {
    line->most = limit < line->most ? limit : line->most;
    line->passes_on = true;
}

static inline bool tamis_i_line_is_set(const tamis_i_line *line) {
    return line->top == TAMIS_I_LINE_BITS;
}

/* Answers of add, as a sum. */
#define TAMIS_I_LINE_FOUND  1u /* the fingerprint was already there */
#define TAMIS_I_LINE_STORED 2u /* an entry was added; otherwise the line is as before */
#define TAMIS_I_LINE_FULL   4u /* only from 'look': not found, and the line takes no more */

/* Is the key that got this answer still without a place? */
static inline bool tamis_i_line_refused(const tamis_i_line *line, unsigned result) {
    return result == 0 || (result == TAMIS_I_LINE_FOUND && !tamis_i_line_is_set(line));
}

/* Is the line full?  For lines that pass on. */
bool tamis_i_line_full(const tamis_i_line *line, const uint64_t *words);

/* Is there an entry of this home with the fingerprint of 'fingerprint'? */
bool tamis_i_line_find(const tamis_i_line *line, const uint64_t *words, unsigned home,
                       uint64_t fingerprint);

/* Add one.  Not added: a fingerprint that a set already has; more than line->copies; one that does not
 * fit. */
unsigned tamis_i_line_add(const tamis_i_line *line, uint64_t *words, unsigned home,
                          uint64_t fingerprint);

/* Drop one; of several equal ones, the last.  False if there is none.  Not for a set. */
bool tamis_i_line_drop(const tamis_i_line *line, uint64_t *words, unsigned home,
                       uint64_t fingerprint);

/* The keys of a group, in columns that can be read as vectors. */
typedef struct tamis_i_line_keys {
    uint64_t *at[TAMIS_I_GROUP]; /* the line */
    uint64_t home[TAMIS_I_GROUP];
    uint64_t fingerprint[TAMIS_I_GROUP];
    /* For lines that pass on: the second line, if the first does not answer, and the first's answer. */
    uint64_t *further[TAMIS_I_GROUP];
    uint8_t answer[TAMIS_I_GROUP];
} tamis_i_line_keys;

/* One product draws the line from one half of the digest, and its low word the home.  The other half is
 * the fingerprint. */
static inline void tamis_i_line_locate(const tamis_i_line *line, uint64_t *table, uint64_t lines,
                                       tamis_digest digest, uint64_t **at, uint64_t *home,
                                       uint64_t *fingerprint) {
    uint64_t word = digest.lo;
    *at = table + TAMIS_LINE_WORDS * tamis_i_take(&word, lines);
    *home = tamis_i_range(word, line->homes);
    *fingerprint = digest.hi;
}

/* A table of lines and the hash of its keys: all that a query needs from beginning to end. */
typedef struct tamis_i_line_table {
    tamis_i_line line;
    uint64_t *words;
    uint64_t lines;
    const tamis_i_hash_keys *keys;
} tamis_i_line_table;

typedef struct tamis_i_line_ops {
    /* Is a key in its line: by its digest, or an integer by the AES hash?  One function from the key to the
     * answer, like those of bits/lens.h, for lines that a lens cannot look into.  NULL: there is none. */
    bool (*has_digest)(const tamis_i_line_table *table, tamis_digest digest);
    bool (*has_word)(const tamis_i_line_table *table, uint64_t key);
    /* tamis_i_line_find, _add, _drop and _full.  The answer is returned in a register, so the processor
     * can run ahead to the next call while this one waits for memory.  With an answer through a pointer
     * it did not. */
    bool (*has)(const tamis_i_line *line, const uint64_t *words, unsigned home,
                uint64_t fingerprint);
    unsigned (*add_one)(const tamis_i_line *line, uint64_t *words, unsigned home,
                        uint64_t fingerprint);
    bool (*drop_one)(const tamis_i_line *line, uint64_t *words, unsigned home,
                     uint64_t fingerprint);
    bool (*full)(const tamis_i_line *line, const uint64_t *words);
    /* tamis_i_line_locate of n digests. */
    void (*locate)(const tamis_i_line *line, uint64_t *table, uint64_t lines,
                   const tamis_digest *digests, size_t n, tamis_i_line_keys *keys);
    /* The same for keys 0 to n - 1, in order.  Meanwhile fetches the lines of as many keys of 'next'.
     * 'look' gives answers like those of add. */
    void (*find)(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t n,
                 const tamis_i_line_keys *next, bool *found);
    void (*drop)(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t n,
                 const tamis_i_line_keys *next, bool *dropped);
    void (*look)(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t n,
                 const tamis_i_line_keys *next, uint8_t *results);
    /* Add keys 'from' to n - 1, up to the first that is refused; returns the number of the next key. */
    size_t (*add)(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t from, size_t n,
                  const tamis_i_line_keys *next, uint8_t *results);
} tamis_i_line_ops;

/* The best operations for a layout and these features (base/cpu.h); 0 gives the portable ones. */
const tamis_i_line_ops *tamis_i_line_ops_for(const tamis_i_line *line, unsigned features);
void tamis_i_line_locate_all(const tamis_i_line *line, uint64_t *table, uint64_t lines,
                             const tamis_digest *digests, size_t n, tamis_i_line_keys *keys);

/* The native ones, for bits/native.h; NULL if there are none for this layout or these features. */
const tamis_i_line_ops *tamis_i_line_ops_x86(const tamis_i_line *line, unsigned features);
const tamis_i_line_ops *tamis_i_line_ops_arm(const tamis_i_line *line, unsigned features);

/* A line as seen from one home. */
typedef struct tamis_i_line_view {
    unsigned n;     /* entries */
    unsigned start; /* the first of the home's run, or of the next run if it has none */
    unsigned end;   /* of the run; 'start' if there is none */
    unsigned bits;  /* of all fingerprints together */
    unsigned r;     /* of a short one; 0 if n is 0 */
    unsigned longs; /* entries that have r + 1 */
} tamis_i_line_view;

void tamis_i_line_look(const tamis_i_line *line, const uint64_t *words, unsigned home,
                       tamis_i_line_view *view);

/* Bits of the first i fingerprints. */
static inline unsigned tamis_i_line_before(const tamis_i_line_view *view, unsigned i) {
    return i * view->r + (i < view->longs ? i : view->longs);
}

/* How many entries of the home's run have the fingerprint of 'fingerprint'. */
unsigned tamis_i_line_copies(const tamis_i_line *line, const uint64_t *words, unsigned home,
                             uint64_t fingerprint);

/* One entry: its home, and its fingerprint in the highest 'bits' bits of a word. */
typedef struct tamis_i_line_entry {
    uint64_t fingerprint;
    uint8_t home;
    uint8_t bits;
} tamis_i_line_entry;

/* Bits of the longest fingerprint of a set's line, or of the first one if it has none. */
unsigned tamis_i_line_longest(const tamis_i_line *line, const uint64_t *words);

/* All entries of a line, in order; returns how many. */
unsigned tamis_i_line_list(const tamis_i_line *line, const uint64_t *words,
                           tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES]);

/* Does the line find every key that this entry stands for? */
bool tamis_i_line_covers(const tamis_i_line *line, const uint64_t *words,
                         const tamis_i_line_entry *entry);

/* Add all entries of the line 'source' to 'words'; with 'write' false only tell whether they fit.
 * Entries that a set already has are left out.  Returns false and changes nothing if they do not fit.
 * But a line that passes on keeps those of the fuller line, and as many of the other as it takes. */
bool tamis_i_line_merge(const tamis_i_line *line, uint64_t *words, const uint64_t *source,
                        bool write);

/* Check the invariants.  False, and why. */
bool tamis_i_line_check(const tamis_i_line *line, const uint64_t *words, const char **reason);

/* ---- which entries lose a bit ----
 *
 * The format depends on this, so it is stated once, for all implementations. */

/* The lengths of the entries of a line: the first 'longs' have r + 1 bits, the others r; 'bits' in all.
 * 'over' is the number of bits for which there is no room. */
typedef struct tamis_i_line_lengths {
    unsigned r, longs, bits, over;
} tamis_i_line_lengths;

/* The lengths in a multiset's line of n entries, with one more in entry 'start', before any loses a bit. */
TAMIS_INLINE tamis_i_line_lengths tamis_i_line_with_one(const tamis_i_line *line, unsigned n,
                                                        unsigned start, bool is_new_run,
                                                        unsigned homes, tamis_i_line_lengths now) {
    const unsigned room = (unsigned)line->top - homes - (n + 1);
    const unsigned most = (unsigned)line->bits_max, r = n == 0 ? most : now.r;
    /* A run between the long ones and the others may be either. */
    const bool may_be_long =
        is_new_run & (start == now.longs) & (r < most) & (now.bits + r + 1 <= room);
    const unsigned is_long = (start < now.longs) | may_be_long, bits = now.bits + r + is_long;
    return (tamis_i_line_lengths){
        .r = r, .longs = now.longs + is_long, .bits = bits, .over = bits > room ? bits - room : 0};
}

/* While there are too many bits, the last long runs lose one, as many runs as needed.  When no long
 * runs are left, all become long ones with one bit less.  'from' is the entry from whose run on this
 * applies: that run begins at 'keep'. */
TAMIS_INLINE unsigned tamis_i_line_cut_from(tamis_i_line_lengths *now, unsigned n) {
    if (now->longs == 0) {
        now->r--;
        now->longs = n;
    }
    return now->longs > now->over ? now->longs - now->over : 0;
}

TAMIS_INLINE void tamis_i_line_cut_to(tamis_i_line_lengths *now, unsigned keep) {
    const unsigned saved = now->longs - keep;
    now->over -= now->over < saved ? now->over : saved;
    now->longs = keep;
}

/* Reciprocals for divisions by the number of entries: (B * it[n]) >> 20 is B / n for B < 512; 0 for 0. */
extern const uint32_t tamis_i_line_inverse[TAMIS_I_LINE_ENTRIES + 1];

#endif
