/* dynamic_test.h - the native work on one bucket, for the tests alone (TAMIS_TESTING)
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_DYNAMIC_TEST_H
#define TAMIS_BITS_X86_DYNAMIC_TEST_H

#include "bits/dynamic_bucket.h"

/* For a bucket that begins with 'bytes': add to n elements, in the common state and in any; drop; is
 * element i a prefix of the fingerprint, or (least) akin? */
void tamis_i_dynamic_test_add(const tamis_i_dynamic_bucket *bucket, unsigned char *bytes,
                              unsigned n, uint64_t fingerprint);
void tamis_i_dynamic_test_add_any(const tamis_i_dynamic_bucket *bucket, unsigned char *bytes,
                                  uint64_t fingerprint);
void tamis_i_dynamic_test_drop(const tamis_i_dynamic_bucket *bucket, unsigned char *bytes,
                               unsigned i);
bool tamis_i_dynamic_test_holds(const tamis_i_dynamic_bucket *bucket, const unsigned char *bytes,
                                unsigned i, uint64_t fingerprint, bool least);
void tamis_i_choices_test_locate_four(const tamis_i_choices *choices, const uint64_t *table,
                                      const tamis_digest *digests, tamis_i_probe *probes);

#endif
