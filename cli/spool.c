/* spool.c - a list of digests, stored until their number is known
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IN_MEMORY 65536 /* digests: 1 MiB */

struct spool {
    const char *command;
    const char *folder;
    int fd;           /* -1: all is in memory */
    uint64_t in_file; /* digests there */
    size_t in_buffer; /* digests written but not yet in the file */
    size_t have;      /* while reading: digests in the buffer, */
    size_t at;        /* and those of them that have been read */
    tamis_digest buffer[IN_MEMORY];
};

spool *spool_new(const char *command) {
    spool *const s = malloc(sizeof *s);
    if (s == NULL) {
        complain(command, "not enough memory");
        return NULL;
    }
    memset(s, 0, offsetof(spool, buffer));
    s->command = command;
    s->fd = -1;
    const char *const folder = getenv("TMPDIR");
    s->folder = folder != NULL && folder[0] != '\0' ? folder : "/tmp";
    return s;
}

static bool fail(const spool *s) {
    complain(s->command, "temporary file in %s: %s", s->folder, strerror(errno));
    return false;
}

/* Make the temporary file and remove its name at once. */
static bool open_file(spool *s) {
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/tamis-XXXXXX", s->folder);

    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return fail(s);
    }
    signals_hold();
    s->fd = mkstemp(path);
    const bool unnamed = s->fd >= 0 && unlink(path) == 0;
    signals_release();
    return unnamed ? true : fail(s);
}

static bool write_buffer(spool *s) {
    const char *from = (const char *)s->buffer;
    size_t left = s->in_buffer * sizeof s->buffer[0];

    if (s->fd < 0 && !open_file(s))
        return false;
    while (left > 0) {
        const ssize_t n = write(s->fd, from, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(s);
        from += n;
        left -= (size_t)n;
    }
    s->in_file += s->in_buffer;
    s->in_buffer = 0;
    return true;
}

bool spool_write(spool *s, const tamis_digest *digests, size_t n) {
    while (n > 0) {
        if (s->in_buffer == IN_MEMORY && !write_buffer(s))
            return false;
        const size_t free_places = IN_MEMORY - s->in_buffer;
        const size_t now = n < free_places ? n : free_places;
        memcpy(s->buffer + s->in_buffer, digests, now * sizeof digests[0]);
        s->in_buffer += now;
        digests += now;
        n -= now;
    }
    return true;
}

uint64_t spool_count(const spool *s) {
    return s->in_file + s->in_buffer;
}

/* A short list stays in the buffer.  The rest of a long one goes to the file, and the buffer is used to
 * read it. */
bool spool_rewind(void *context) {
    spool *const s = context;
    if (s->in_file > 0 && s->in_buffer > 0 && !write_buffer(s))
        return false;
    if (s->fd >= 0 && lseek(s->fd, 0, SEEK_SET) != 0)
        return fail(s);
    s->at = 0;
    s->have = s->in_file == 0 ? s->in_buffer : 0;
    return true;
}

static bool fill_buffer(spool *s) {
    size_t got = 0;
    while (got < sizeof s->buffer) {
        const ssize_t now = read(s->fd, (char *)s->buffer + got, sizeof s->buffer - got);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return fail(s);
        if (now == 0)
            break;
        got += (size_t)now;
    }
    s->have = got / sizeof s->buffer[0];
    s->at = 0;
    return true;
}

bool spool_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    spool *const s = context;
    if (s->at == s->have && s->in_file > 0 && !fill_buffer(s))
        return false;
    *n = s->have - s->at < room ? s->have - s->at : room;
    memcpy(digests, s->buffer + s->at, *n * sizeof *digests);
    s->at += *n;
    return true;
}

void spool_free(spool *s) {
    if (s == NULL)
        return;
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}
