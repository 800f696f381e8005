/* lens.h - an engine: one key, from the key to the answer, in one function
 *
 * The processor looks ahead over only so many instructions, so that the shorter a call is, the more of them
 * wait for memory at the same time.  What these functions need is in a tamis_lens, decided when the handle
 * is made; their code is that of tamis/inline.h, compiled for the processors of a family.  What is not the
 * common case they leave to the functions that the lens names.  All of them are optional: without, calls of
 * one key go by the pieces that the other engines are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_LENS_H
#define TAMIS_BITS_LENS_H

#include "base/base.h"
#include "base/cpu.h"

#include "tamis/inline.h"

/* As the public functions; an integer is hashed by AES.  NULL: there is none. */
typedef struct tamis_i_lens_ops {
    bool (*has_digest)(const tamis_lens *lens, tamis_digest digest);
    bool (*has_word)(const tamis_lens *lens, uint64_t key);
    tamis_status (*add_word)(tamis_lens *lens, uint64_t key, bool *added);
    tamis_status (*drop_word)(tamis_lens *lens, uint64_t key);
} tamis_i_lens_ops;

/* Entries of a set's line that a lens looks into, and 0. */
#define TAMIS_I_LENS_SPLITS 65u

/* Complete a lens whose form, n and value[] are known: the tables of that form.  One that depends on the
 * filter is written to 'splits', which is all zeros and stays where it is.  Where no processor family has
 * such functions the form becomes TAMIS_LENS_CALLS. */
void tamis_i_lens_attach(tamis_lens *lens, uint16_t splits[TAMIS_I_LENS_SPLITS]);

/* The best operations for a lens that has been completed and these features (base/cpu.h); never NULL, but all
 * of them may be. */
const tamis_i_lens_ops *tamis_i_lens_ops_for(const tamis_lens *lens, unsigned features);

/* The native ones, for bits/native.h; NULL if there are none for this lens or these features. */
const tamis_i_lens_ops *tamis_i_lens_ops_x86(const tamis_lens *lens, unsigned features);
void tamis_i_lens_attach_x86(tamis_lens *lens, uint16_t splits[TAMIS_I_LENS_SPLITS]);

#endif
