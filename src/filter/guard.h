/* guard.h - views on files that are verified in parts, each when it is first touched
 *
 * A large body is a number of parts, each with a checksum of its own (docs/format.md, section 1.1):
 *
 *      body    [ part 0: state, 8 words ][ part 1 ][ part 2 ] ...   64 KiB each, the last one the rest
 *
 * Parts are larger if there would be more than 65,536: doubled as often as it takes.  They end where cache
 * lines end, and the table begins with one.
 *
 * The view of a mapped file has a guard, which knows of each part whether it is good, damaged or not known
 * yet.  Before a key is looked for, what its query will read is touched (tamis_i_kind has how), which
 * verifies the parts that are not known.  If one of them is damaged the answer is "present", and the guard
 * remembers it.  Whoever reads all of a table has all of it verified first.  Once all parts are good, queries
 * go straight to the structure; to get there, those that no key has touched are verified along with others,
 * when these are the most.
 *
 * What is good is what its writer meant to write, and no more: a file that somebody made on purpose has
 * checksums that match.  So queries must be safe on any bytes that pass; a kind whose operations are safe on
 * sound lines only has 'check_lines', by which the lines of a part are checked along with its checksum.  The
 * stash is walked over here, and never farther than a stash can reach.
 *
 * A trusted view has a guard too, by which its checksums are not looked at unless the caller asks.
 *
 * All threads may use one view.  What is known of a part is two bits, set once; two threads that meet the
 * same unknown part both verify it, and find the same.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_GUARD_H
#define TAMIS_FILTER_GUARD_H

#include "filter/filter.h"

/* ---- the parts of a body ---- */

#define TAMIS_I_PART_WORDS     ((uint64_t)8192)
#define TAMIS_I_BODY_PARTS_MAX ((uint64_t)65536)

/* Is a body of so many words kept in parts? */
static inline bool tamis_i_has_parts(uint64_t n_body) {
    return n_body > TAMIS_I_PART_WORDS;
}

/* Parts of a body, of 2^shift words each, and the state, which is the first. */
static inline uint64_t tamis_i_n_body_parts(uint64_t n_body, unsigned shift) {
    return 1 + ((n_body - TAMIS_I_STATE_WORDS - 1) >> shift) + 1;
}

/* Their size: 2^shift words. */
static inline unsigned tamis_i_part_shift(uint64_t n_body) {
    unsigned shift = 13;
    while (tamis_i_n_body_parts(n_body, shift) > TAMIS_I_BODY_PARTS_MAX)
        shift++;
    return shift;
}

/* Words of the table of checksums behind a body; 0 if it is not kept in parts. */
static inline uint64_t tamis_i_sums_words(uint64_t n_body) {
    return tamis_i_has_parts(n_body) ? tamis_i_n_body_parts(n_body, tamis_i_part_shift(n_body)) : 0;
}

/* Part number i: its first word, and how many it has. */
typedef struct tamis_i_part_span {
    uint64_t from, n;
} tamis_i_part_span;

static inline tamis_i_part_span tamis_i_part_at(uint64_t n_body, unsigned shift, uint64_t i) {
    if (i == 0)
        return (tamis_i_part_span){0, TAMIS_I_STATE_WORDS};
    const uint64_t from = TAMIS_I_STATE_WORDS + ((i - 1) << shift), left = n_body - from;
    return (tamis_i_part_span){from, left >> shift == 0 ? left : (uint64_t)1 << shift};
}

/* Bytes before the body in a file, and of a file of one filter: both, and the checksums behind it. */
#define TAMIS_I_HEADER_BYTES 256u

static inline uint64_t tamis_i_file_bytes(uint64_t n_body) {
    return TAMIS_I_HEADER_BYTES + 8 * (n_body + tamis_i_sums_words(n_body));
}

/* ---- the guard of a view ---- */

typedef struct tamis_i_guard tamis_i_guard;

/* What a file says about the body that a view is on. */
typedef struct tamis_i_guarded {
    const unsigned char *sums; /* of its parts, 8 bytes each; NULL: of an older version */
    uint64_t whole;            /* of an older version: the checksum of all */
    bool trusted;
} tamis_i_guarded;

/* Give a view a guard.  Its state has been verified and checked, or is trusted.  TAMIS_E_NOMEM. */
tamis_status tamis_i_guard_begin(tamis_filter *filter, const tamis_i_guarded *what);

/* Give it back; NULL is allowed. */
void tamis_i_guard_end(tamis_filter *filter);

/* May queries go straight to the structure? */
bool tamis_i_guard_is_open(const tamis_i_guard *guard);

/* Touch what a query for a key reads.  False: some of it is damaged. */
bool tamis_i_guard_touch(const tamis_filter *filter, tamis_digest digest);

/* For a kind's 'touch': these words of the table.  False: they are damaged. */
bool tamis_i_guard_words(const tamis_filter *filter, const uint64_t *from, uint64_t n);

/* contains, with a guard. */
bool tamis_i_guard_contains(const tamis_filter *filter, tamis_digest digest);

/* Verify all of one filter, without its further links, unless that was done; one without a guard is good.
 * False, and why. */
bool tamis_i_guard_verify(const tamis_filter *filter, const char **reason);

/* Parts that were found to be damaged; at least 1 if anything was. */
uint64_t tamis_i_guard_damage(const tamis_filter *filter);

/* contains of a filter that is no series, with or without a guard. */
static inline bool tamis_i_filter_contains(const tamis_filter *filter, tamis_digest digest) {
    return TAMIS_LIKELY(filter->guard == NULL) ? filter->kind->contains(filter, digest)
                                               : tamis_i_guard_contains(filter, digest);
}

/* May what a query for a key reads be read by the structure? */
static inline bool tamis_i_filter_may_read(const tamis_filter *filter, tamis_digest digest) {
    return TAMIS_LIKELY(filter->guard == NULL) || tamis_i_guard_is_open(filter->guard) ||
           tamis_i_guard_touch(filter, digest);
}

#endif
