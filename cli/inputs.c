/* inputs.c - files of keys, before they are read
 *
 * Files that are missing are told before any work is done.  So are compressed ones: the lines of a
 * compressed file are not the lines that somebody compressed.  A set of them would look fine and have none
 * of the keys, so such a file is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How files of a form begin, and the program that prints what is in them.  No beginning contains a newline,
 * so all of it is at hand before the first line is complete. */
typedef struct form {
    const char *begin;
    size_t size;
    const char *name;
    const char *printer;
} form;

static const form forms[] = {
    {"\x1F\x8B\x08", 3, "gzip", "zcat"},
    {"\x1F\x9D", 2, "compress", "zcat"},
    {"\x28\xB5\x2F\xFD", 4, "zstd", "zstdcat"},
    {"\xFD"
     "7zXZ\0",
     6, "xz", "xzcat"},
    {"\x04\x22\x4D\x18", 4, "lz4", "lz4cat"},
};

static const form *form_of(const unsigned char *bytes, size_t n) {
    static const form bzip2 = {"BZh", 10, "bzip2", "bzcat"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (n >= forms[i].size && memcmp(bytes, forms[i].begin, forms[i].size) == 0)
            return &forms[i];
    /* "BZh9" may also be a word: what follows it is the number pi, or, if the file is empty, its root. */
    return n >= bzip2.size && memcmp(bytes, bzip2.begin, 3) == 0 && bytes[3] >= '1' &&
                   bytes[3] <= '9' &&
                   (memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
                    memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0)
               ? &bzip2
               : NULL;
}

bool input_compressed(const char *command, const char *name, bool standard,
                      const unsigned char *bytes, size_t n) {
    const form *const found = form_of(bytes, n);
    if (found == NULL)
        return false;
    complain(command,
             "%s: is compressed (%s), and its lines are not the keys: %s %s | tamis %s ...", name,
             found->name, found->printer, standard ? "FILE" : name, command);
    return true;
}

/* Is a regular file compressed, or standard input if it is one?  true after a complaint. */
static bool file_compressed(const char *command, const char *name, bool standard) {
    unsigned char bytes[COMPRESSED_BYTES];
    const int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    const off_t at = standard ? lseek(fd, 0, SEEK_CUR) : 0;
    const ssize_t n = fd >= 0 && at >= 0 ? pread(fd, bytes, sizeof bytes, at) : -1;

    if (fd >= 0 && !standard)
        close(fd);
    /* What cannot be read is told when it is to be read. */
    return n > 0 && input_compressed(command, standard ? "standard input" : name, standard, bytes,
                                     (size_t)n);
}

bool input_has_lines(const key_format *format) {
    return format->separator == '\n';
}

/* Where there is no file, perhaps the name is a key. */
static void tell_missing(const char *command, const key_format *format, const char *name) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_.,@%+=:/-";
    const int error = errno;
    const char *const quote = name[0] != '\0' && strspn(name, plain) == strlen(name) ? "" : "'";

    if (error == ENOENT && !format->no_given)
        complain(command, "%s: %s; keys are read from files, a key itself is given by -e %s%s%s",
                 name, strerror(error), quote, name, quote);
    else
        complain(command, "%s: %s", name, strerror(error));
}

bool input_check(const char *command, const key_format *format, const char *name, uint64_t *total,
                 bool *known) {
    const bool standard = strcmp(name, "-") == 0;
    struct stat about;

    if (standard) {
        if (fstat(STDIN_FILENO, &about) != 0) {
            complain(command, "standard input: %s", strerror(errno));
            return false;
        }
    } else if (stat(name, &about) != 0 || access(name, R_OK) != 0) {
        tell_missing(command, format, name);
        return false;
    }
    if (S_ISDIR(about.st_mode)) {
        complain(command, "%s: %s", standard ? "standard input" : name, strerror(EISDIR));
        return false;
    }
    if (S_ISREG(about.st_mode))
        *total += (uint64_t)about.st_size;
    else
        *known = false;
    return !S_ISREG(about.st_mode) || !input_has_lines(format) ||
           !file_compressed(command, name, standard);
}
