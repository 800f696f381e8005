/* message.c - messages on stderr, the end of stdout, numbers for people
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

int complain(const char *command, const char *format, ...) {
    char line[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    }
    fprintf(stderr, command[0] == '\0' ? "tamis%s: %s\n" : "tamis %s: %s\n", command, line);
    return EXIT_TROUBLE;
}

static bool output_fail(const char *command) {
    complain(command, "cannot write to standard output: %s",
             errno != 0 ? strerror(errno) : "an earlier write failed");
    clearerr(stdout); /* it has been reported */
    return false;
}

bool output_flush(const char *command) {
    errno = 0;
    return (fflush(stdout) == 0 && !ferror(stdout)) || output_fail(command);
}

bool output_write(const char *command, const void *bytes, size_t size) {
    errno = 0;
    return size == 0 || fwrite(bytes, 1, size, stdout) == size || output_fail(command);
}

const char *text_count(uint64_t value, char *text) {
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *text_bytes(uint64_t value, char *text) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double scaled = (double)value;
    unsigned unit = 0;

    while (scaled >= 1023.95) {
        scaled /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(text, TEXT_NUMBER, "%" PRIu64 " B", value);
    else
        snprintf(text, TEXT_NUMBER, scaled < 99.95 ? "%.1f %s" : "%.0f %s", scaled, units[unit]);
    return text;
}
