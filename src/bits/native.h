/* native.h - which engines have an implementation for this processor family
 *
 * An engine is the bit work on one bucket, block or line.  It knows no filter, no stash and no kind.
 * It has
 *
 *      bits/<engine>.h         the contract: layout, operations, invariants
 *      bits/<engine>.c         the portable operations, which define the results
 *      bits/x86/<engine>.c     the same, bit for bit, with the instructions of one processor family
 *      bits/arm/<engine>.c
 *
 * The same of a structure with a room of its own is kinds/<kind>/<kind>_bits.h and .c, <kind>_x86.c and
 * _arm.c.
 *
 * and provides tamis_i_<engine>_ops_for(layout, features): the best operations for a layout on a
 * processor with these features (base/cpu.h).  That function asks the native implementation first, if
 * this list has one.  NULL from there means that it has nothing for this layout or these features.
 *
 * To support another processor, extend this list and no other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_NATIVE_H
#define TAMIS_BITS_NATIVE_H

#include "base/base.h"
#include "base/cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define TAMIS_I_WORDS_NATIVE           tamis_i_words_ops_x86
#define TAMIS_I_BLOCK_NATIVE           tamis_i_block_ops_x86
#define TAMIS_I_COUNTED_BLOCK_NATIVE   tamis_i_counted_block_ops_x86
#define TAMIS_I_RANK_BUCKET_NATIVE     tamis_i_rank_bucket_ops_x86
#define TAMIS_I_RUN_NATIVE             tamis_i_run_ops_x86
#define TAMIS_I_COUNTING_BUCKET_NATIVE tamis_i_counting_bucket_ops_x86
#define TAMIS_I_DLEFT_BUCKET_NATIVE    tamis_i_dleft_bucket_ops_x86
#define TAMIS_I_DYNAMIC_BUCKET_NATIVE  tamis_i_dynamic_bucket_ops_x86
#define TAMIS_I_LINE_BITS_NATIVE       tamis_i_line_bits_ops_x86
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__) && defined(__GNUC__)
#define TAMIS_I_NATIVE_ARM       1
#define TAMIS_I_BLOCK_NATIVE     tamis_i_block_ops_arm
#define TAMIS_I_LINE_BITS_NATIVE tamis_i_line_bits_ops_arm
#endif

/* The rest is portable only. */
#ifndef TAMIS_I_WORDS_NATIVE
#define TAMIS_I_WORDS_NATIVE(features) ((void)(features), NULL)
#endif
#ifndef TAMIS_I_BLOCK_NATIVE
#define TAMIS_I_BLOCK_NATIVE(lanes, features) ((void)(lanes), (void)(features), NULL)
#endif
#ifndef TAMIS_I_COUNTED_BLOCK_NATIVE
#define TAMIS_I_COUNTED_BLOCK_NATIVE(features) ((void)(features), NULL)
#endif
#ifndef TAMIS_I_RANK_BUCKET_NATIVE
#define TAMIS_I_RANK_BUCKET_NATIVE(features) ((void)(features), NULL)
#endif
#ifndef TAMIS_I_RUN_NATIVE
#define TAMIS_I_RUN_NATIVE(layout, features) ((void)(layout), (void)(features), NULL)
#endif
#ifndef TAMIS_I_COUNTING_BUCKET_NATIVE
#define TAMIS_I_COUNTING_BUCKET_NATIVE(layout, features) ((void)(layout), (void)(features), NULL)
#endif
#ifndef TAMIS_I_DLEFT_BUCKET_NATIVE
#define TAMIS_I_DLEFT_BUCKET_NATIVE(number, features) ((void)(number), (void)(features), NULL)
#endif
#ifndef TAMIS_I_DYNAMIC_BUCKET_NATIVE
#define TAMIS_I_DYNAMIC_BUCKET_NATIVE(layout, features) ((void)(layout), (void)(features), NULL)
#endif
#ifndef TAMIS_I_LINE_BITS_NATIVE
#define TAMIS_I_LINE_BITS_NATIVE(shape, features) ((void)(shape), (void)(features), NULL)
#endif

#endif
