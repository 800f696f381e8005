/* dleft_bucket.h - an engine: buckets whose fingerprints shrink as they fill
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_DLEFT_BUCKET_H
#define TAMIS_BITS_DLEFT_BUCKET_H

#include "bits/group.h"

#define TAMIS_I_DLEFT_LOADS 12u /* loads from 0 to 11 at most */
#define TAMIS_I_DLEFT_GROUP 4u
#define TAMIS_I_DLEFT_WORDS 8u /* words of the largest group */

/* One of the eight layouts: buckets of 64 or 128 bits, alone or in groups of four that share their
 * bits, semi-sorted or plain.  A group (of one or of four) is read and written as a unit. */
typedef struct tamis_i_dleft_bucket tamis_i_dleft_bucket;

/* The layout for buckets of 'bucket_bits' (64 or 128) in groups of 'group' (1 or 4); NULL for others. */
const tamis_i_dleft_bucket *tamis_i_dleft_bucket_layout(uint64_t bucket_bits, uint64_t group,
                                                        bool plain);

/* Words of a group, and the largest load of a bucket. */
unsigned tamis_i_dleft_bucket_words(const tamis_i_dleft_bucket *layout);
unsigned tamis_i_dleft_bucket_load_max(const tamis_i_dleft_bucket *layout);

/* How many fingerprints bucket number 'bucket' of a group holds. */
unsigned tamis_i_dleft_bucket_load(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                   unsigned bucket);

/* How many leading bits of its fingerprints a bucket alone tells when it holds 'load' of them, from 1
 * to the largest load. */
unsigned tamis_i_dleft_bucket_bits_alone(const tamis_i_dleft_bucket *layout, unsigned load);

/* The same for a bucket of a group in its present state. */
unsigned tamis_i_dleft_bucket_bits(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                   unsigned bucket);

typedef struct tamis_i_dleft_bucket_ops {
    /* Does bucket number 'bucket' of a group hold a fingerprint that agrees with 'fingerprint' in all bits
     * that the bucket tells? */
    bool (*find)(const uint64_t *group, unsigned bucket, uint64_t fingerprint);
    /* The same for n keys at once, each with d <= TAMIS_I_PROBE_CHOICES buckets: found[i] tells whether
     * one of the buckets of key i holds it. at[j] is the group of its bucket number word[1 + j],
     * word[0] is its fingerprint.  Meanwhile fetches the groups of next[0 .. n-1]. */
    void (*search)(const tamis_i_probe *probes, size_t n, unsigned d, const tamis_i_probe *next,
                   bool *found);
} tamis_i_dleft_bucket_ops;

/* The best operations for a layout and these features (base/cpu.h); 0 gives the portable ones. */
const tamis_i_dleft_bucket_ops *tamis_i_dleft_bucket_ops_for(const tamis_i_dleft_bucket *layout,
                                                             unsigned features);

/* The native ones of layout number 'number', for bits/native.h; NULL if the features are missing. */
const tamis_i_dleft_bucket_ops *tamis_i_dleft_bucket_ops_x86(unsigned number, unsigned features);

/* Add a fingerprint of 64 bits.  As many leading bits are kept as there is room for, and other
 * fingerprints of the group may lose trailing bits.  Returns false and changes nothing if the bucket
 * has its largest load. */
bool tamis_i_dleft_bucket_insert(const tamis_i_dleft_bucket *layout, uint64_t *group,
                                 unsigned bucket, uint64_t fingerprint);

/* Could inserts have made the group?  False, and why. */
bool tamis_i_dleft_bucket_check(const tamis_i_dleft_bucket *layout, const uint64_t *group,
                                const char **reason);

#endif
