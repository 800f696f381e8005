/* halves.c - halves of blocks with one bit set: the tables
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/halves.h"

_Alignas(64) const unsigned char tamis_i_one_bit_low[16][64] = {
    [0] = {[31] = 1 << 0}, [1] = {[31] = 1 << 1}, [2] = {[31] = 1 << 2}, [3] = {[31] = 1 << 3},
    [4] = {[31] = 1 << 4}, [5] = {[31] = 1 << 5}, [6] = {[31] = 1 << 6}, [7] = {[31] = 1 << 7}};
_Alignas(64) const unsigned char tamis_i_one_bit_high[16][64] = {
    [8] = {[31] = 1 << 0},  [9] = {[31] = 1 << 1},  [10] = {[31] = 1 << 2}, [11] = {[31] = 1 << 3},
    [12] = {[31] = 1 << 4}, [13] = {[31] = 1 << 5}, [14] = {[31] = 1 << 6}, [15] = {[31] = 1 << 7}};

#else
typedef int tamis_i_halves_are_for_x86; /* a file must not be empty */
#endif
