/* test_lens_wide.c - test_lens.c, compiled for processors with AVX-512
 *
 * tests/CMakeLists.txt has the options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test_lens.c"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TAMIS_LENS_AVX512)
#error "the options for this file are missing"
#endif
