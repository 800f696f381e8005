/* native.h - calls for one key that are compiled for a processor family, from the key to the answer
 *
 * The processor looks ahead over only so many instructions: the fewer a call has, the more of them
 * wait for memory at the same time.  So on some families the hash of an integer is inlined before
 * the call for its digest, and kinds whose work on a digest is short have all of it in one
 * function.  Results are those of the kind's own functions, to which everything that is not the
 * common case is left.
 *
 * The functions replace what they have better in filter->calls, and nothing if the processor lacks a feature.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_NATIVE_H
#define TAMIS_FILTER_NATIVE_H

#include "filter/filter.h"

#if defined(__x86_64__) && defined(__GNUC__)
void tamis_i_call_words_x86(tamis_filter *filter);
void tamis_i_call_blocks_x86(tamis_filter *filter);
void tamis_i_call_rank_x86(tamis_filter *filter);
#define TAMIS_I_NATIVE_WORDS  tamis_i_call_words_x86
#define TAMIS_I_NATIVE_BLOCKS tamis_i_call_blocks_x86
#define TAMIS_I_NATIVE_RANK   tamis_i_call_rank_x86
#else
#define TAMIS_I_NATIVE_WORDS(filter)  ((void)(filter))
#define TAMIS_I_NATIVE_BLOCKS(filter) ((void)(filter))
#define TAMIS_I_NATIVE_RANK(filter)   ((void)(filter))
#endif

#endif
