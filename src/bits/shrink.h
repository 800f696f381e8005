/* shrink.h - buckets whose fingerprints shrink as they fill
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_SHRINK_H
#define TAMIS_BITS_SHRINK_H

#include "base/base.h"

#define TAMIS_I_SHRINK_LOADS 12u /* loads from 0 to 11 at most */
#define TAMIS_I_SHRINK_GROUP 4u
#define TAMIS_I_SHRINK_WORDS 8u /* words of the largest group */

/* One of the four layouts: buckets of 64 or 128 bits, alone or in groups of four that share their bits.
 * A group (of one or of four) is the unit that is read and written. */
typedef struct tamis_i_shrink tamis_i_shrink;

/* The layout for buckets of 'bucket_bits' (64 or 128) in groups of 'group' (1 or 4); NULL for others. */
const tamis_i_shrink *tamis_i_shrink_layout(uint64_t bucket_bits, uint64_t group);

/* Words of a group, and the largest load of a bucket. */
unsigned tamis_i_shrink_words(const tamis_i_shrink *layout);
unsigned tamis_i_shrink_load_max(const tamis_i_shrink *layout);

/* How many fingerprints bucket number 'bucket' of a group holds. */
unsigned tamis_i_shrink_load(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket);

/* How many leading bits of its fingerprints the bucket tells. */
unsigned tamis_i_shrink_bits(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket);

/* Does the bucket hold a fingerprint that agrees with 'print' in all bits that it tells? */
bool tamis_i_shrink_find(const tamis_i_shrink *layout, const uint64_t *group, unsigned bucket,
                         uint64_t print);

/* Add a fingerprint of 64 bits, of which as many leading ones are kept as there is room for; those of
 * the others in the group may lose some of their last.  False, and nothing changed, if the bucket has
 * its largest load. */
bool tamis_i_shrink_insert(const tamis_i_shrink *layout, uint64_t *group, unsigned bucket,
                           uint64_t print);

/* Could the group have come from inserts?  False, and why. */
bool tamis_i_shrink_check(const tamis_i_shrink *layout, const uint64_t *group, const char **reason);

#endif
