/* field.c - moving part of a bit array by some bits
 *
 * Both moves go once over the words that the range touches.  The first and the last word are merged with
 * the bits that must stay.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"

void tamis_i_field_open(uint64_t *words, uint64_t at, uint64_t end, unsigned width) {
    TAMIS_ASSERT(width <= 64 && at + width <= end);
    if (width == 0)
        return;
    const uint64_t first = at / 64, last = (end - 1) / 64;
    const uint64_t keep_low = tamis_i_low_mask((unsigned)(at % 64)); /* of the first word */
    const uint64_t in_last = tamis_i_low_mask((unsigned)((end - 1) % 64) + 1);
    const uint64_t old_first = words[first], old_last = words[last];
    for (uint64_t i = last + 1; i-- > first;) {
        const uint64_t here = i == first ? words[i] & ~keep_low : words[i];
        uint64_t below = 0;
        if (i > first)
            below = i - 1 == first ? old_first & ~keep_low : words[i - 1];
        words[i] = width == 64 ? below : here << width | below >> (64 - width);
    }
    words[last] = (words[last] & in_last) | (old_last & ~in_last);
    words[first] = (words[first] & ~keep_low) | (old_first & keep_low);
}

void tamis_i_field_close(uint64_t *words, uint64_t at, uint64_t end, unsigned width) {
    TAMIS_ASSERT(width <= 64 && at + width <= end);
    if (width == 0)
        return;
    const uint64_t first = at / 64, last = (end - 1) / 64;
    const uint64_t keep_low = tamis_i_low_mask((unsigned)(at % 64));
    const uint64_t in_last = tamis_i_low_mask((unsigned)((end - 1) % 64) + 1);
    const uint64_t old_first = words[first], old_last = words[last];
    for (uint64_t i = first; i <= last; i++) {
        const uint64_t here = i == last ? words[i] & in_last : words[i];
        uint64_t above = 0;
        if (i < last)
            above = i + 1 == last ? old_last & in_last : words[i + 1];
        words[i] = width == 64 ? above : here >> width | above << (64 - width);
    }
    words[first] = (words[first] & ~keep_low) | (old_first & keep_low);
    words[last] = (words[last] & in_last) | (old_last & ~in_last);
}
