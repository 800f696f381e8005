/* distinct.h - how many different keys there are among many
 *
 * Exact up to DISTINCT_EXACT of them, estimated beyond, in memory that does not depend on their number.  The
 * result does not depend on the order of the keys.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_DISTINCT_H
#define TAMIS_CLI_DISTINCT_H

#include <tamis/tamis.h>

#define DISTINCT_EXACT 32768u

typedef struct distinct distinct;

/* NULL if there is not enough memory. */
distinct *distinct_new(void);

void distinct_add(distinct *d, const tamis_digest *digests, size_t n);

typedef struct distinct_count {
    uint64_t keys;  /* exact, or an estimate with a standard error of 0.2 % */
    uint64_t most;  /* there are more than that with odds of 1e-6; 'keys' where that is exact */
    uint64_t least; /* and fewer with the same odds */
    bool exact;     /* but for keys of which half the digest is equal: odds of 3e-11 in all */
} distinct_count;

distinct_count distinct_tell(const distinct *d);

/* NULL is allowed. */
void distinct_free(distinct *d);

#endif
