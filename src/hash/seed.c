/* seed.c - seeds as people write them
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/tamis.h"

#include "base/base.h"

static unsigned seed_digit(char c) {
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* 1 to 32 hexadecimal digits. */
static bool seed_hexadecimal(const char *digits, uint64_t *low, uint64_t *high) {
    unsigned n = 0;
    for (; digits[n] != '\0'; n++) {
        const unsigned digit = seed_digit(digits[n]);
        if (digit > 15 || n == 32)
            return false;
        *high = *high << 4 | *low >> 60;
        *low = *low << 4 | digit;
    }
    return n > 0;
}

static bool seed_decimal(const char *digits, uint64_t *low) {
    const char *p = digits;
    for (; *p != '\0'; p++) {
        const unsigned digit = seed_digit(*p);
        if (digit > 9 || *low > (UINT64_MAX - digit) / 10)
            return false;
        *low = *low * 10 + digit;
    }
    return p != digits;
}

tamis_status tamis_seed_parse(const char *text, tamis_params *params) {
    tamis_params own;
    if (text == NULL || params == NULL || !tamis_i_struct_in(&own, sizeof own, params))
        return TAMIS_E_ARGUMENT;
    uint64_t low = 0, high = 0;
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!(hexadecimal ? seed_hexadecimal(text + 2, &low, &high) : seed_decimal(text, &low)) ||
        (low | high) == 0)
        return TAMIS_E_ARGUMENT;
    own.seed = low;
    own.seed_high = high;
    return tamis_i_struct_out(params, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
