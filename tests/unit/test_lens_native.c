/* test_lens_native.c - test_lens.c, compiled for processors on which a lens needs no calls
 *
 * tests/CMakeLists.txt has the options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test_lens.c"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TAMIS_LENS_X86_AES)
#error "the options for this file are missing"
#endif
