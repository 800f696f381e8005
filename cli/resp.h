/* resp.h - a connection to a Redis or Valkey server
 *
 * As much of its protocol (RESP2) as sending commands and reading their answers takes.  What a server answers
 * is bounded: lines, and the bytes of an answer by what the caller has room for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_RESP_H
#define TAMIS_CLI_RESP_H

#include "cli/cli.h"

#define RESP_LINE 1024 /* bytes of a line that a server may send */

typedef struct resp {
    const char *command; /* that complains */
    const char *address;
    int fd;
    size_t from, end; /* bytes of 'buffer' that have not been read */
    unsigned char buffer[1 << 16];
} resp;

/* Connect to HOST:PORT, [HOST]:PORT, or a socket if the address has a '/'.  false after a complaint. */
bool resp_open(resp *r, const char *command, const char *address);
void resp_close(resp *r);

/* Send a command of n words.  false after a complaint. */
bool resp_send(resp *r, const tamis_bytes *words, size_t n);

/* Read an answer of a certain form: a line that begins with '+' or ':' or anything but an error; the header
 * of an array; a number; bytes, up to 'room'.  false after a complaint, which tells the error if the server
 * answered with one. */
bool resp_read_line(resp *r, char form, char *line);
bool resp_read_array(resp *r, uint64_t n);
bool resp_read_number(resp *r, uint64_t *number);
bool resp_read_bytes(resp *r, void *data, size_t room, size_t *size);

#endif
