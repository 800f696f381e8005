/* summary.h - summaries: which sub-table a key is in, from fast memory
 *
 * A multilevel table keeps its items in slow memory.  Item x is in one of d sub-tables, and its *type* is
 * the index of that sub-table, from 0.  A summary answers "which type has x?" with a type or with "none".
 * It may be wrong in two ways: an absent key may get a type (false positive), and a present key may get the
 * type of another sub-table (failure).  But a key that was inserted and not removed never gets "none".  So
 * the table is exact if it looks at the other possible places when the named one holds another key.
 *
 * A summary is an array of words, its body, and data derived from the parameters:
 *
 *      tamis_i_summary_params p = {.n_types = 5, .cells = {...}, .hashes = {...}};
 *      kind->shape(&p, &n_words)        checks p, which may come from a hostile file; tells the size
 *      tamis_i_summary_attach(&s, kind, &p, body, n_words)      body: n_words zero words, or a saved body
 *      kind->check(&s, &reason)         for a body that was read
 *
 * Everything that changes is in the body, which may be copied, saved and mapped.  Nothing allocates.
 * Bodies are the same on every machine that reads words.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_SUMMARY_H
#define TAMIS_TABLE_SUMMARY_H

#include "base/base.h"
#include "hash/hash.h"

#define TAMIS_I_SUMMARY_TYPES_MAX        16u
#define TAMIS_I_SUMMARY_HASHES_MAX       64u
#define TAMIS_I_SUMMARY_COUNTER_BITS_MAX 16u
#define TAMIS_I_SUMMARY_CELLS_MAX        ((uint64_t)1 << 44)
#define TAMIS_I_SUMMARY_GEOMETRY         64u

/* The answer "not in the table". */
#define TAMIS_I_SUMMARY_NONE UINT32_MAX

/* The digest of a key is a supply of random words (tamis_i_word in hash/hash.h).  The first belong to
 * the table, one per sub-table; those from TAMIS_I_SUMMARY_WORD on belong to the summaries.  So no hash
 * of a summary is a hash of the table. */
#define TAMIS_I_SUMMARY_WORD 64u

/* The bucket of a key in sub-table 'type' of that many buckets.  The summary 'song' relies on the
 * table using this function. */
static inline uint64_t tamis_i_table_bucket(tamis_digest digest, unsigned type, uint64_t buckets) {
    return tamis_i_range(tamis_i_word(digest, type), buckets);
}

/* Numbers as stored in files. */
typedef enum tamis_i_summary_id {
    TAMIS_I_SUMMARY_INTERPOLATION = 1,
    TAMIS_I_SUMMARY_SINGLE = 2,
    TAMIS_I_SUMMARY_MULTIPLE = 3,
    TAMIS_I_SUMMARY_SONG = 4,
    TAMIS_I_SUMMARY_SINGLE_COUNTING = 5,
    TAMIS_I_SUMMARY_MULTIPLE_COUNTING = 6
} tamis_i_summary_id;

/* Abilities. */
#define TAMIS_I_SUMMARY_CAN_REMOVE 1u
/* The summary, not the table, decides where an item goes: an insert may change the type of items that
 * are in one of the buckets of the new one. */
#define TAMIS_I_SUMMARY_DECIDES 2u

/* Which of the two a kind has says whether a table needs deletion bits: not if the summary forgets, and not
 * if nothing can be deleted, as where the summary decides. */
#define TAMIS_I_SUMMARY_NO_DELETION_BITS (TAMIS_I_SUMMARY_CAN_REMOVE | TAMIS_I_SUMMARY_DECIDES)

/* All parameters are given: there are no defaults.  Parameters that a kind does not use are zero.
 *
 *                      string_bits  cells           hashes          counter_bits
 *   interpolation      of a string  [0] slots       -               -
 *   single             -            [0] cells       [0] of an item  -
 *   single-counting    -            [0] cells       [0] of an item  [i] of type i in each cell
 *   multiple           -            [i] of filter i [i] of filter i -
 *   multiple-counting  -            [i] of filter i [i] of filter i [i] of filter i
 *   song               -            [i] buckets of sub-table i  -   [0] of a bucket
 */
typedef struct tamis_i_summary_params {
    uint64_t n_types; /* sub-tables, 1 to TAMIS_I_SUMMARY_TYPES_MAX */
    uint64_t string_bits;
    uint64_t cells[TAMIS_I_SUMMARY_TYPES_MAX];
    uint64_t hashes[TAMIS_I_SUMMARY_TYPES_MAX];
    uint64_t counter_bits[TAMIS_I_SUMMARY_TYPES_MAX];
} tamis_i_summary_params;

typedef struct tamis_i_summary_kind tamis_i_summary_kind;

typedef struct tamis_i_summary {
    const tamis_i_summary_kind *kind;
    tamis_i_summary_params params;
    uint64_t *body;
    uint64_t n_words;
    uint64_t geometry[TAMIS_I_SUMMARY_GEOMETRY]; /* derived from the parameters */
} tamis_i_summary;

struct tamis_i_summary_kind {
    tamis_i_summary_id id;
    const char *name;
    unsigned abilities;

    /* Check all parameters and compute the words of the body, a multiple of TAMIS_LINE_WORDS.
     * TAMIS_E_ARGUMENT, TAMIS_E_TOO_LARGE. */
    tamis_status (*shape)(const tamis_i_summary_params *params, uint64_t *n_words);

    /* Bits of the summary, without the rounding of the body: what the paper counts.  The parameters
     * have passed shape. */
    uint64_t (*bits)(const tamis_i_summary_params *params);

    /* Fill geometry[]. */
    void (*attach)(tamis_i_summary *summary);

    /* Add an item of this type, below n_types.  TAMIS_E_FULL, with nothing changed: 'interpolation'
     * only.  An item that is inserted twice must be removed twice. */
    tamis_status (*insert)(tamis_i_summary *summary, tamis_digest digest, unsigned type);

    /* The type of an item, or TAMIS_I_SUMMARY_NONE. */
    unsigned (*ask)(const tamis_i_summary *summary, tamis_digest digest);

    /* Undo an insert of the same digest and type.  TAMIS_E_NOT_FOUND, with nothing changed, if there
     * was detectably none.  If there was none and this is not detected, other items may be lost.  NULL:
     * the kind cannot remove, and the summary must be cleared and filled again. */
    tamis_status (*remove)(tamis_i_summary *summary, tamis_digest digest, unsigned type);

    /* Start fetching what ask will read first. */
    void (*prefetch)(const tamis_i_summary *summary, tamis_digest digest);

    /* Probability that a key that was never inserted gets a type, from the present state. */
    double (*fpr)(const tamis_i_summary *summary);

    /* Could calls have made the body?  False, and why.  It may hold anything.  After 'true' no call can
     * reach outside of the body. */
    bool (*check)(const tamis_i_summary *summary, const char **reason);
};

extern const tamis_i_summary_kind tamis_i_summary_interpolation;
extern const tamis_i_summary_kind tamis_i_summary_single;
extern const tamis_i_summary_kind tamis_i_summary_single_counting;
extern const tamis_i_summary_kind tamis_i_summary_song;
extern const tamis_i_summary_kind tamis_i_summary_multiple;
extern const tamis_i_summary_kind tamis_i_summary_multiple_counting;

/* The kind with this id or this name, or NULL. */
const tamis_i_summary_kind *tamis_i_summary_by_id(uint64_t id);
const tamis_i_summary_kind *tamis_i_summary_by_name(const char *name);

/* Make a summary on a body of the size that shape computed for these parameters. */
void tamis_i_summary_attach(tamis_i_summary *summary, const tamis_i_summary_kind *kind,
                            const tamis_i_summary_params *params, uint64_t *body, uint64_t n_words);

/* Empty it. */
void tamis_i_summary_clear(tamis_i_summary *summary);

/* song: raise the counter of the bucket that a key has in sub-table 'type' by one.  False if it has its
 * largest value, and stays as it is.  'lower' undoes a raise that returned true; nothing else may use it. */
bool tamis_i_summary_song_raise(tamis_i_summary *summary, tamis_digest digest, unsigned type);
void tamis_i_summary_song_lower(tamis_i_summary *summary, tamis_digest digest, unsigned type);

/* For check: are all bits of the body zero from bit 'end' on?  False, and why. */
bool tamis_i_summary_ends_at(const tamis_i_summary *summary, uint64_t end, const char **reason);

#endif
