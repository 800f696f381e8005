/* line_digest.h - a digest whose entry in a set of lines is this one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_LINE_DIGEST_H
#define TAMIS_TESTS_LINE_DIGEST_H

#include "tamis/tamis.h"

/* The low word is the least whose digits these are, and some more; 'high' is the other. */
static inline tamis_digest line_digest_of(const tamis_params *params, uint64_t line, unsigned home,
                                          uint64_t print, uint64_t high) {
    const uint64_t *const v = params->value;
    const long double unit = 18446744073709551616.0L, lines = (long double)v[TAMIS_LINE_LINES],
                      homes = (long double)v[TAMIS_LINE_HOMES],
                      prints = (long double)(UINT64_C(1) << v[TAMIS_LINE_FINGERPRINT_BITS]);
    const long double least =
        ((long double)line + ((long double)home + (long double)print / prints) / homes) / lines;
    const long double part =
        (1 + (long double)(high % 100) / 100) * 0.3L / (lines * homes * prints);
    return (tamis_digest){.lo = (uint64_t)((least + part) * unit), .hi = high};
}

#endif
