/* resp.c - a connection to a Redis or Valkey server
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/resp.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE 300 /* seconds: a server checks a set of many gigabytes before it answers */

/* ---- the connection ---- */

static int resp_connect_local(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name.sun_path, path, strlen(path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&name, sizeof name) != 0) {
        const int saved = errno;
        (void)close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* HOST:PORT in two texts; the host may stand in brackets.  false if it is not that. */
static bool resp_split(const char *address, char *host, size_t room, const char **port) {
    const char *const colon = strrchr(address, ':');
    if (colon == NULL || colon == address || colon[1] == '\0')
        return false;
    size_t n = (size_t)(colon - address);
    if (address[0] == '[' && address[n - 1] == ']' && n > 2) {
        address++;
        n -= 2;
    }
    if (n >= room)
        return false;
    memcpy(host, address, n);
    host[n] = '\0';
    *port = colon + 1;
    return true;
}

static int resp_connect_host(const char *host, const char *port, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *all = NULL;
    const int code = getaddrinfo(host, port, &hints, &all);
    if (code != 0) {
        *why = gai_strerror(code);
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *one = all; one != NULL && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
            *why = strerror(errno);
            (void)close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(all);
    return fd;
}

bool resp_open(resp *r, const char *command, const char *address) {
    char host[256];
    const char *port, *why = "it is neither HOST:PORT nor the path of a socket";
    r->command = command;
    r->address = address;
    r->fd = -1;
    r->from = r->end = 0;
    if (strchr(address, '/') != NULL) {
        r->fd = resp_connect_local(address);
        why = strerror(errno);
    } else if (resp_split(address, host, sizeof host, &port)) {
        r->fd = resp_connect_host(host, port, &why);
    }
    if (r->fd < 0) {
        complain(command, "cannot connect to %s: %s", address, why);
        return false;
    }
    const struct timeval patience = {.tv_sec = PATIENCE};
    (void)setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(r->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return true;
}

void resp_close(resp *r) {
    if (r->fd >= 0)
        (void)close(r->fd);
    r->fd = -1;
}

/* ---- out ---- */

static bool resp_write(resp *r, const void *data, size_t size) {
    const char *from = data;
    while (size > 0) {
        const ssize_t n = send(r->fd, from, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            complain(r->command, "cannot write to %s: %s", r->address, strerror(errno));
            return false;
        }
        from += n;
        size -= (size_t)n;
    }
    return true;
}

/* Short words are gathered: a network sends many small packets slowly. */
bool resp_send(resp *r, const tamis_bytes *words, size_t n) {
    enum { SHORT = 512 };
    char out[4 * SHORT];
    size_t size = (size_t)snprintf(out, sizeof out, "*%zu\r\n", n);
    for (size_t i = 0; i < n; i++) {
        const tamis_bytes word = words[i];
        if (size > sizeof out - 2 * SHORT) {
            if (!resp_write(r, out, size))
                return false;
            size = 0;
        }
        size += (size_t)snprintf(out + size, sizeof out - size, "$%zu\r\n", word.size);
        if (word.size <= SHORT) {
            memcpy(out + size, word.data, word.size);
            size += word.size;
        } else if (resp_write(r, out, size) && resp_write(r, word.data, word.size)) {
            size = 0;
        } else {
            return false;
        }
        out[size++] = '\r';
        out[size++] = '\n';
    }
    return resp_write(r, out, size);
}

/* ---- in ---- */

/* Have at least one byte in the buffer. */
static bool resp_fill(resp *r) {
    while (r->from == r->end) {
        const ssize_t n = recv(r->fd, r->buffer, sizeof r->buffer, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            const char *const why = n == 0 ? "it ends the connection"
                                    : errno == EAGAIN || errno == EWOULDBLOCK ? "it does not answer"
                                                                              : strerror(errno);
            complain(r->command, "cannot read from %s: %s", r->address, why);
            return false;
        }
        r->from = 0;
        r->end = (size_t)n;
    }
    return true;
}

static bool resp_complain(const resp *r) {
    complain(r->command, "%s does not answer as a server with the tamis module does", r->address);
    return false;
}

/* A line without its end; the first character is its form. */
static bool resp_read_any(resp *r, char *line) {
    size_t n = 0;
    do {
        if (!resp_fill(r))
            return false;
        if (n == RESP_LINE)
            return resp_complain(r);
        line[n++] = (char)r->buffer[r->from++];
    } while (line[n - 1] != '\n');
    if (n < 3 || line[n - 2] != '\r')
        return resp_complain(r);
    line[n - 2] = '\0';
    return true;
}

bool resp_read_line(resp *r, char form, char *line) {
    if (!resp_read_any(r, line))
        return false;
    if (line[0] == '-') {
        for (char *c = line; *c != '\0'; c++) /* it may repeat what it was sent */
            *c = (char)((unsigned char)*c < 0x80 ? *c : '?');
        complain(r->command, "%s answers: %s", r->address, line + 1);
        return false;
    }
    return line[0] == form || resp_complain(r);
}

/* A line of this form and a number, up to 2^63 - 1. */
static bool resp_read_header(resp *r, char form, uint64_t *number) {
    char line[RESP_LINE];
    if (!resp_read_line(r, form, line))
        return false;
    return (parse_u64(line + 1, strlen(line + 1), number) && *number <= INT64_MAX) ||
           resp_complain(r);
}

bool resp_read_array(resp *r, uint64_t n) {
    uint64_t number;
    return resp_read_header(r, '*', &number) && (number == n || resp_complain(r));
}

bool resp_read_number(resp *r, uint64_t *number) {
    return resp_read_header(r, ':', number);
}

bool resp_read_bytes(resp *r, void *data, size_t room, size_t *size) {
    uint64_t n;
    if (!resp_read_header(r, '$', &n))
        return false;
    if (n > room)
        return resp_complain(r);
    unsigned char *to = data;
    for (size_t left = (size_t)n; left > 0;) {
        if (!resp_fill(r))
            return false;
        const size_t here = r->end - r->from < left ? r->end - r->from : left;
        memcpy(to, r->buffer + r->from, here);
        r->from += here;
        to += here;
        left -= here;
    }
    *size = (size_t)n;
    for (unsigned i = 0; i < 2; i++)
        if (!resp_fill(r) || r->buffer[r->from++] != (unsigned char)"\r\n"[i])
            return resp_complain(r);
    return true;
}
