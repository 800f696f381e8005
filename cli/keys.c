/* keys.c - keys from files and pipes
 *
 * The input is a sequence of records, each ended by the separator.  A last record without one counts
 * too, and an empty record is the empty key.  Records are split where they lie in the buffer and hashed
 * there.  No byte is copied, except those of a record that is cut by the end of the buffer.
 *
 *      buffer   | given out | complete records | cut record | free        |
 *               0           start              scanned      end           room
 *
 * The buffer grows only for a record that is longer than all of it.  Behind it lies half as much room
 * again, for the bytes of a key that was written in hexadecimal.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_ROOM ((size_t)256 << 10)

/* -------------------------------------------------------------------------------------------------
 * The format
 */

bool key_format_give(const char *command, key_format *format, char *key) {
    char **const longer = realloc(format->given, (format->n_given + 1) * sizeof *format->given);
    if (longer == NULL) {
        complain(command, "not enough memory");
        return false;
    }
    format->given = longer;
    format->given[format->n_given++] = key;
    return true;
}

void key_format_free(key_format *format) {
    free(format->given);
    format->given = NULL;
    format->n_given = 0;
}

static bool option_delimiter(const char *command, const char *text, char *delimiter) {
    if (strcmp(text, "\\t") == 0)
        *delimiter = '\t';
    else if (strlen(text) == 1)
        *delimiter = text[0];
    else {
        complain(command, "--delimiter: '%s' is not one character (write , or \\t)", text);
        return false;
    }
    return true;
}

int key_format_option(const char *command, key_format *format, int option) {
    switch (option) {
    case '0':
        format->separator = '\0';
        return 1;
    case 'e':
        return key_format_give(command, format, optarg);
    case 'f':
        return option_count(command, "--field", optarg, UINT32_MAX, &format->field);
    case 'd':
        return option_delimiter(command, optarg, &format->delimiter);
    case OPT_CRLF:
        format->cr = CR_DROP;
        return 1;
    case OPT_U64:
        format->form = KEY_U64;
        return 1;
    case OPT_HEX:
        format->form = KEY_HEX;
        return 1;
    default:
        return -1;
    }
}

static bool is_stdin(const char *name) {
    return strcmp(name, "-") == 0;
}

bool keys_from_standard(const key_format *format, char *const *files, int n_files) {
    bool standard = n_files == 0 && format->n_given == 0;
    for (int i = 0; i < n_files; i++)
        standard = standard || is_stdin(files[i]);
    return standard;
}

/* -------------------------------------------------------------------------------------------------
 * Files
 */

key_reader *keys_open(const char *command, const key_format *format, char *const *files,
                      int n_files) {
    static char *const standard_input[] = {(char *)"-"};
    size_t room = FIRST_ROOM;
    uint64_t total = 0;
    bool known = true;

    if (format->delimiter != '\0' && format->field == 0 && format->times.field == 0) {
        complain(command, "--delimiter is for --field, which is not given");
        return NULL;
    }
    for (size_t i = 0; i < format->n_given; i++)
        room = strlen(format->given[i]) > room ? strlen(format->given[i]) : room;
    if (n_files == 0 && format->n_given == 0) {
        files = standard_input;
        n_files = 1;
    }
    for (int i = 0; i < n_files; i++) {
        if (!input_check(command, format, files[i], &total, &known))
            return NULL;
    }
    key_reader *const reader = calloc(1, sizeof *reader);
    unsigned char *const buffer = malloc(room + room / 2);
    if (reader == NULL || buffer == NULL) {
        complain(command, "not enough memory");
        free(reader);
        free(buffer);
        return NULL;
    }
    reader->command = command;
    tamis_params_init(&reader->hash);
    reader->hash.seed = 1; /* any, until keys_hash says which: a table hashes its keys itself */
    (void)!tamis_hasher_init(&reader->hasher, &reader->hash);
    reader->format = *format;
    if (reader->format.delimiter == '\0')
        reader->format.delimiter = '\t';
    /* Where no other field is used, blanks of any number separate the time from the rest. */
    if (format->field != 0 || format->delimiter != '\0')
        reader->format.times.delimiter = reader->format.delimiter;
    reader->files = files;
    reader->n_files = n_files;
    reader->fd = -1;
    reader->buffer = buffer;
    reader->room = room;
    progress_start(&reader->progress, command, known ? total : 0);
    return reader;
}

static size_t fail(key_reader *reader, const char *problem) {
    if (!reader->is_crewed)
        progress_end(&reader->progress);
    complain(reader->command, "%s: %s", reader->name, problem);
    reader->failed = true;
    return 0;
}

/* Open the next file.  false at the end of the list, or after a complaint. */
static bool next_file(key_reader *reader) {
    struct stat about;

    if (reader->next_file == reader->n_files)
        return false;
    const char *const name = reader->files[reader->next_file++];
    reader->name = is_stdin(name) ? "standard input" : name;
    reader->fd = is_stdin(name) ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0 || fstat(reader->fd, &about) != 0) {
        fail(reader, strerror(errno));
        return false;
    }
    reader->regular = S_ISREG(about.st_mode);
    reader->at_end = reader->begun = false;
    reader->line = 0;
    reader->start = reader->scanned = reader->end = 0;
    return true;
}

static void close_file(key_reader *reader) {
    if (reader->fd > STDIN_FILENO)
        close(reader->fd);
    reader->fd = -1;
}

/* Look at the first bytes of a pipe, before a line is handed out.  false after a complaint. */
static bool begin(key_reader *reader) {
    reader->begun = reader->at_end || reader->end >= COMPRESSED_BYTES ||
                    memchr(reader->buffer, '\n', reader->end) != NULL;
    if (!input_has_lines(&reader->format) ||
        !input_compressed(reader->command, reader->name, reader->fd == STDIN_FILENO, reader->buffer,
                          reader->end))
        return true;
    if (!reader->is_crewed)
        progress_end(&reader->progress);
    reader->failed = true;
    return false;
}

/* Read more bytes behind those that are left.  false after a complaint. */
static bool refill(key_reader *reader) {
    const size_t left = reader->end - reader->start;

    if (reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, left);
        reader->scanned -= reader->start;
        reader->start = 0;
        reader->end = left;
    }
    if (left == reader->room) {
        unsigned char *const larger = reader->room > 0 && reader->room <= SIZE_MAX / 3
                                          ? realloc(reader->buffer, 3 * reader->room)
                                          : NULL;
        if (larger == NULL) {
            fail(reader, "not enough memory for a key this long");
            return false;
        }
        reader->buffer = larger;
        reader->room *= 2;
    }
    for (;;) {
        const ssize_t n = read(reader->fd, reader->buffer + left, reader->room - left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fail(reader, strerror(errno));
            return false;
        }
        reader->at_end = n == 0;
        reader->end = left + (size_t)n;
        reader->n_bytes += (uint64_t)n;
        return reader->begun || begin(reader);
    }
}

/* Split off the records that are complete; at the end of the file also one without separator. */
static void split(key_reader *reader) {
    key_batch *const batch = &reader->batch;

    batch->n = 0;
    while (batch->n < KEY_BATCH) {
        unsigned char *const from = reader->buffer + reader->start;
        const unsigned char *const stop =
            reader->scanned < reader->end
                ? memchr(reader->buffer + reader->scanned, (unsigned char)reader->format.separator,
                         reader->end - reader->scanned)
                : NULL;
        if (stop == NULL && !(reader->at_end && reader->start < reader->end)) {
            reader->scanned = reader->end;
            break;
        }
        const size_t size = stop != NULL ? (size_t)(stop - from) : reader->end - reader->start;
        batch->raw[batch->n++] = (tamis_bytes){from, size};
        reader->start += size + (stop != NULL ? 1 : 0);
        reader->scanned = reader->start;
    }
}

/* -------------------------------------------------------------------------------------------------
 * Keys
 */

/* Hand out keys of the command line, if any are left. */
static void take_given(key_reader *reader) {
    key_batch *const batch = &reader->batch;

    batch->n = 0;
    if (reader->failed || reader->next_given == reader->format.n_given)
        return;
    reader->name = "-e";
    reader->line = reader->next_given;
    while (batch->n < KEY_BATCH && reader->next_given < reader->format.n_given) {
        const char *const key = reader->format.given[reader->next_given++];
        batch->raw[batch->n++] = (tamis_bytes){key, strlen(key)};
    }
}

/* Fill the batch.  false at the end, or after a complaint. */
static bool take_records(key_reader *reader) {
    take_given(reader);
    while (reader->batch.n == 0) {
        if (reader->failed || (reader->fd < 0 && !next_file(reader))) {
            progress_end(&reader->progress);
            return false;
        }
        split(reader);
        if (reader->batch.n > 0)
            break;
        if (reader->is_block)
            return false;
        if (reader->at_end)
            close_file(reader);
        else if (!refill(reader))
            return false;
    }
    return true;
}

static int hex_value(unsigned char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hash_hex(const key_reader *reader, tamis_bytes raw, tamis_digest *digest,
                     size_t *key_size) {
    const unsigned char *const text = raw.data;
    unsigned char *const key = reader->buffer + reader->room;
    size_t size = raw.size;

    if (size > 0 && text[size - 1] == '\r')
        size--;
    if (size % 2 != 0)
        return false;
    for (size_t i = 0; i < size / 2; i++) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (unsigned char)(high * 16 + low);
    }
    *key_size = size / 2;
    *digest = tamis_hash(&reader->hasher, key, *key_size);
    return true;
}

static bool ends_in_cr(tamis_bytes text) {
    return text.size > 0 && ((const char *)text.data)[text.size - 1] == '\r';
}

/* The part of a line that is the key.  false if it has too few fields. */
static bool cut_key(const key_format *format, tamis_bytes *text) {
    if (format->cr == CR_DROP && ends_in_cr(*text))
        text->size--;
    for (uint64_t field = 1; field < format->field; field++) {
        const char *const begin = text->data;
        const char *const stop =
            text->size > 0 ? memchr(begin, (unsigned char)format->delimiter, text->size) : NULL;
        if (stop == NULL)
            return false;
        text->size -= (size_t)(stop + 1 - begin);
        text->data = stop + 1;
    }
    const char *const end = format->field > 0 && text->size > 0
                                ? memchr(text->data, (unsigned char)format->delimiter, text->size)
                                : NULL;
    if (end != NULL)
        text->size = (size_t)(end - (const char *)text->data);
    return true;
}

/* The part of record i that is the key, and its time; or what is wrong with it, else NULL. */
static const char *find_key(key_reader *reader, size_t i, tamis_bytes *text) {
    const key_format *const format = &reader->format;
    key_batch *const batch = &reader->batch;

    *text = batch->raw[i];
    if (reader->fd < 0)
        return NULL;
    if (format->times.field != 0) {
        tamis_bytes rest = *text;
        const char *const wrong =
            stamp_take(&format->times, &reader->times, &rest, &batch->when[i]);
        if (wrong != NULL)
            return wrong;
        *text = format->field == 0 ? rest : *text;
    }
    return cut_key(format, text) ? NULL : "has too few fields";
}

/* Hash the key of record i: NULL, or what is wrong with it. */
static const char *hash_key(key_reader *reader, size_t i) {
    tamis_digest *const digest = &reader->batch.digest[i];
    tamis_bytes text;
    uint64_t integer;
    size_t size;

    const char *const wrong = find_key(reader, i, &text);
    if (wrong != NULL)
        return wrong;
    switch (reader->format.form) {
    case KEY_U64:
        if (!parse_u64(text.data, text.size, &integer))
            return "is not an integer below 2^64";
        *digest = tamis_hash_u64(&reader->hasher, integer);
        return NULL;
    case KEY_HEX:
        if (!hash_hex(reader, text, digest, &size))
            return "is not hexadecimal";
        return reader->integers && size != 8 ? "has not the 8 bytes of an integer" : NULL;
    default:
        *digest = tamis_hash(&reader->hasher, text.data, text.size);
        return NULL;
    }
}

/* Complain about a record that does not have the expected form; show its beginning. */
static size_t fail_form(key_reader *reader, tamis_bytes raw, const char *wrong) {
    char problem[240];
    const int shown = raw.size < 40 ? (int)raw.size : 40;

    snprintf(problem, sizeof problem, "%s %llu %s: '%.*s%s'",
             reader->format.times.field != 0 ? "line" : "key", (unsigned long long)reader->line + 1,
             wrong, shown, (const char *)raw.data, (size_t)shown < raw.size ? "..." : "");
    return fail(reader, problem);
}

/* If the first line of a file ends in CR LF, all of them probably do, and somebody will look for the
 * keys without the CR.  Warn once. */
static void tell_cr(key_reader *reader, tamis_bytes key) {
    if (reader->format.cr != CR_TELL || reader->format.form != KEY_BYTES || reader->told_cr ||
        reader->format.separator != '\n' || reader->fd < 0 || reader->line > 0 ||
        !cut_key(&reader->format, &key) || !ends_in_cr(key))
        return;
    reader->told_cr = true;
    complain(reader->command,
             "warning: %s: lines end in CR LF, and the CR is part of the keys; --crlf drops it",
             reader->name);
}

bool keys_hash(key_reader *reader, const tamis_params *params) {
    reader->hash.hash = params->hash;
    reader->hash.seed = params->seed;
    reader->hash.seed_high = params->seed_high;
    if (tamis_hasher_init(&reader->hasher, &reader->hash) == TAMIS_OK)
        return true;
    complain(reader->command, "the hash xxh3 has a seed of 64 bits, not of 128");
    return false;
}

size_t keys_read(key_reader *reader) {
    key_batch *const batch = &reader->batch;

    if (!take_records(reader))
        return 0;
    tell_cr(reader, batch->raw[0]);
    for (size_t i = 0; i < batch->n; i++) {
        const char *const wrong = hash_key(reader, i);
        if (wrong == NULL)
            continue;
        if (i == 0 && reader->is_block) {
            reader->bad = wrong;
            return 0;
        }
        if (i == 0)
            return fail_form(reader, batch->raw[i], wrong);
        /* Hand out the good ones; the bad one is the first of the next batch. */
        if (reader->fd < 0) {
            reader->next_given -= batch->n - i;
        } else {
            reader->start = (size_t)((const unsigned char *)batch->raw[i].data - reader->buffer);
            reader->scanned = reader->start;
        }
        batch->n = i;
    }
    reader->line += batch->n;
    reader->n_keys += batch->n;
    progress_step(&reader->progress, reader->n_bytes, reader->n_keys);
    return batch->n;
}

void keys_free(key_reader *reader) {
    if (reader == NULL)
        return;
    progress_end(&reader->progress);
    if (!reader->is_block)
        close_file(reader);
    stamp_free(&reader->times);
    free(reader->buffer);
    free(reader);
}

/* -------------------------------------------------------------------------------------------------
 * Blocks
 */

#define BLOCK_ROOM ((size_t)1 << 20)

key_reader *keys_block_reader(const key_reader *like) {
    key_reader *const reader = calloc(1, sizeof *reader);
    unsigned char *const buffer = malloc(BLOCK_ROOM + BLOCK_ROOM / 2);
    if (reader == NULL || buffer == NULL) {
        free(reader);
        free(buffer);
        return NULL;
    }
    reader->command = like->command;
    reader->format = like->format;
    reader->hash = like->hash;
    reader->hasher = like->hasher;
    reader->integers = like->integers;
    reader->is_block = reader->told_cr = true;
    reader->fd = -1;
    reader->buffer = buffer;
    reader->room = BLOCK_ROOM;
    return reader;
}

/* The bytes of complete records; at the end of the file all that are left. */
static size_t whole_records(key_reader *reader) {
    size_t end = reader->end;
    while (!reader->at_end && end > reader->scanned &&
           reader->buffer[end - 1] != (unsigned char)reader->format.separator)
        end--;
    if (reader->at_end || end > reader->scanned)
        return end - reader->start;
    reader->scanned = reader->end;
    return 0;
}

/* The readers change buffers, and what comes after the records is moved back. */
static bool hand_over(key_reader *from, key_reader *to, size_t whole) {
    const size_t stop = from->start + whole, rest = from->end - stop;
    unsigned char *const old = from->buffer;
    const size_t room = from->room;

    if (rest > to->room) {
        unsigned char *const larger = realloc(to->buffer, room + room / 2);
        if (larger == NULL) {
            fail(from, "not enough memory for a key this long");
            return false;
        }
        to->buffer = larger;
        to->room = room;
    }
    memcpy(to->buffer, old + stop, rest);
    from->buffer = to->buffer;
    from->room = to->room;
    to->buffer = old;
    to->room = room;
    to->start = to->scanned = from->start;
    to->end = stop;
    from->start = 0;
    from->scanned = from->end = rest;
    return true;
}

bool keys_take(key_reader *from, key_reader *to, bool *begins) {
    size_t whole;

    for (;;) {
        if (from->failed || (from->fd < 0 && !next_file(from)))
            return false;
        whole = whole_records(from);
        if (whole > 0)
            break;
        if (from->at_end)
            close_file(from);
        else if (!refill(from))
            return false;
    }
    if (!hand_over(from, to, whole))
        return false;
    const unsigned char *const first = to->buffer + to->start;
    const unsigned char *const stop = memchr(first, (unsigned char)from->format.separator, whole);
    tell_cr(from, (tamis_bytes){first, stop != NULL ? (size_t)(stop - first) : whole});
    *begins = from->line == 0;
    from->line = 1; /* any number: that of the keys is known when it is the block's turn */
    to->name = from->name;
    to->fd = from->fd;
    to->regular = from->regular;
    to->at_end = true;
    to->bad = NULL;
    to->line = to->n_keys = 0;
    return true;
}

void keys_tell_bad(key_reader *reader, uint64_t line) {
    reader->line = line;
    (void)fail_form(reader, reader->batch.raw[0], reader->bad);
}
