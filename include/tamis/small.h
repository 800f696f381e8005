/* small.h - sets of a few keys in a few bytes
 *
 * A storage engine keeps a filter beside every block of some 40 keys.  For those a tamis_filter is too much:
 * its file has a header of 256 bytes.  A small set has three bytes around its bits, is built from digests in
 * one call without any memory of its own, and is asked where it lies, at any address.
 *
 *     tamis_params params;
 *     tamis_params_init(&params);
 *     params.seed = 1;
 *     tamis_hasher hasher;
 *     status = tamis_hasher_init(&hasher, &params);
 *     tamis_digest digests[2] = {tamis_hash(&hasher, "apple", 5), tamis_hash(&hasher, "pear", 4)};
 *     unsigned char bytes[6];
 *     if (status == TAMIS_OK && sizeof bytes == tamis_small_size(2, 10))
 *         status = tamis_small_build(digests, 2, bytes, sizeof bytes);
 *     if (!tamis_small_contains(bytes, sizeof bytes, tamis_hash(&hasher, "pear", 4)))
 *         puts("never printed");
 *
 * Read this first:
 *
 *  - "present" means probably present, "absent" is certain, as for every set of this library.
 *  - The bytes do not tell their size, nor hash and seed of the keys.  Keep the size with them, and one
 *    hasher (tamis_hasher_init) for all of them.  Keys that strangers choose need a seed that they do not
 *    know.
 *  - Bytes that are no set are answered with "present", and no byte outside of them is read, whatever they
 *    contain.  A set of a later version is no set, nor is one that was cut off or has grown, but for one in
 *    240, which looks like one of another size.  Damage inside the bits is not noticed: there is no checksum,
 *    since whoever stores blocks has one for them.
 *  - A set is made once.  To change it, build it again.
 *
 * How it works, what it errs and what it costs: docs/small.md.  The bytes: docs/format.md.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SMALL_H
#define TAMIS_SMALL_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAMIS_SMALL_KEYS_MAX 65535u /* keys of one set */
#define TAMIS_SMALL_BITS_MIN 2      /* per key, without the three bytes */
#define TAMIS_SMALL_BITS_MAX 48

/* Bytes of a set of n keys with 'bits' bits per key and three bytes more.  An absent key is answered
 * "present" about once in 2^(bits - 2) times: 256 for 10.  0 if n or 'bits' is outside of the limits above.
 * n may be 0: a set of three bytes that holds nothing. */
TAMIS_API size_t tamis_small_size(size_t n, double bits);

/* The fewest bytes of a set of n keys whose error rate is at most 'fpr'.  0 if there is no such set: n or
 * 'fpr' is out of range, or it would take more than 48 bits per key. */
TAMIS_API size_t tamis_small_size_for(size_t n, double fpr);

/* The error rate of a set of n keys in 'size' bytes; 0 for n = 0.  1 if there is no such set. */
TAMIS_API double tamis_small_fpr(size_t n, size_t size);

/* Build the set of n digests in the 'size' bytes at 'out', all of which are written.
 *
 * 'size' is what one of the two functions above gave, or any number between tamis_small_size(n, 2) and
 * tamis_small_size(n, 48): more bytes, fewer errors.  A digest that is there several times is stored once,
 * but its room is not used otherwise.  The digests are put in ascending order of their upper halves, for want
 * of other memory; nothing else happens to them.  The same set of digests gives the same bytes.
 *
 * TAMIS_E_TOO_LARGE for more than TAMIS_SMALL_KEYS_MAX digests, TAMIS_E_ARGUMENT if 'size' is outside of
 * its limits or a pointer is NULL ('digests' may be if n is 0); nothing is then written or moved.  Takes some
 * 20 ns per key, and n log n steps for digests that were chosen to be hard to sort. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_small_build(tamis_digest *digests, size_t n,
                                                          void *out, size_t size);

/* Is this key in the set of 'size' bytes at 'bytes'?  True for all that is no set: never "absent" by mistake.
 * Any address will do.  Any number of threads may ask.  Some 50 ns. */
TAMIS_API bool tamis_small_contains(const void *bytes, size_t size, tamis_digest digest);

/* Are these 'size' bytes a set, as tamis_small_build writes it?  All of them are read.
 *
 * '*n' (may be NULL) becomes the number of keys that it was built for, '*fpr' (may be NULL) the error rate
 * that it has.  TAMIS_E_FORMAT if not, TAMIS_E_ARGUMENT; they are then untouched.  Use it on bytes from
 * outside: it finds whatever breaks the form.  Bits that were changed and still have the form of a set it
 * cannot see. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_small_check(const void *bytes, size_t size, size_t *n,
                                                          double *fpr);

#ifdef __cplusplus
}
#endif

#endif
