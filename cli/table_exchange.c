/* table_exchange.c - tamis table import, export: all items, in forms that hold any bytes
 *
 *      tsv     KEY, tab, VALUE; tab, newline, carriage return and backslash are \t, \n, \r and \\
 *      jsonl   {"key": "apple", "value": "red"}, one to a line; what is not UTF-8 is in hexadecimal, as
 *              "key_hex" or "value_hex"
 *
 * What is exported can be imported again, into a table of any layout.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum exchange_form { FORM_TSV, FORM_JSONL } exchange_form;

/* Bytes of an item, as many as there are. */
typedef struct text {
    unsigned char *bytes;
    size_t size, room;
} text;

typedef struct exchange {
    exchange_form form;
    tamis_sync sync;
    const char *path;
    text key, value;
    bool has_key;
    bool no_memory;
} exchange;

static bool exchange_room(exchange *x, text *t, size_t room) {
    if (room <= t->room)
        return true;
    unsigned char *const more = realloc(t->bytes, room + room / 2);
    if (more == NULL) {
        x->no_memory = true;
        return false;
    }
    t->bytes = more;
    t->room = room + room / 2;
    return true;
}

static void exchange_free(exchange *x) {
    free(x->key.bytes);
    free(x->value.bytes);
}

static bool exchange_form_of(const char *command, const char *name, exchange_form *form) {
    static const char *const names[] = {"tsv", "jsonl"};
    for (unsigned i = 0; i < 2; i++) {
        if (strcmp(name, names[i]) == 0) {
            *form = (exchange_form)i;
            return true;
        }
    }
    complain(command, "--format: '%s' is none of tsv, jsonl", name);
    return false;
}

static int exchange_options(int argc, char **argv, bool changes, exchange *x) {
    static const struct option options[] = {{"format", required_argument, NULL, OPT_FORMAT},
                                            {"sync", required_argument, NULL, OPT_SYNC},
                                            {NULL, 0, NULL, 0}};
    static const struct option export_options[] = {{"format", required_argument, NULL, OPT_FORMAT},
                                                   {NULL, 0, NULL, 0}};
    memset(x, 0, sizeof *x);
    for (int option;
         (option = option_next(argc, argv, "", changes ? options : export_options)) != -1;) {
        const bool good = option == OPT_FORMAT
                              ? exchange_form_of(argv[0], optarg, &x->form)
                              : option == OPT_SYNC && option_sync(argv[0], optarg, &x->sync);
        if (!good)
            return EXIT_TROUBLE;
    }
    if (optind == argc)
        return complain(argv[0], "which table? (see 'tamis help table')");
    x->path = argv[optind];
    return EXIT_YES;
}

/* -------------------------------------------------------------------------------------------------
 * From text to bytes: NULL, or what is wrong with the line
 */

static const char *tsv_decode(exchange *x, const unsigned char *from, size_t n, text *to) {
    static const char codes[] = "tnr\\", bytes[] = "\t\n\r\\";
    if (!exchange_room(x, to, n + 1))
        return "there is no memory for it";
    to->size = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = from[i];
        if (c == '\\') {
            const char *const code = ++i < n && from[i] != '\0' ? strchr(codes, from[i]) : NULL;
            if (code == NULL)
                return "after a backslash comes t, n, r or a backslash";
            c = (unsigned char)bytes[code - codes];
        }
        to->bytes[to->size++] = c;
    }
    return NULL;
}

static const char *tsv_line(exchange *x, const unsigned char *line, size_t n) {
    const unsigned char *const tab = n > 0 ? memchr(line, '\t', n) : NULL;
    if (tab == NULL)
        return "it " TABLE_NO_TAB;
    const char *const wrong = tsv_decode(x, line, (size_t)(tab - line), &x->key);
    return wrong != NULL ? wrong : tsv_decode(x, tab + 1, n - (size_t)(tab + 1 - line), &x->value);
}

static void json_blanks(const unsigned char **at, const unsigned char *end) {
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
}

static bool json_expect(const unsigned char **at, const unsigned char *end, char c) {
    json_blanks(at, end);
    if (*at == end || **at != (unsigned char)c)
        return false;
    ++*at;
    return true;
}

static int exchange_digit(unsigned char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits. */
static bool json_unit(const unsigned char **at, const unsigned char *end, uint32_t *unit) {
    if (end - *at < 4)
        return false;
    *unit = 0;
    for (unsigned i = 0; i < 4; i++) {
        const int digit = exchange_digit(*(*at)++);
        if (digit < 0)
            return false;
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return true;
}

/* The character after \u, with the second half of a pair if there is one, as UTF-8. */
static bool json_escape_u(const unsigned char **at, const unsigned char *end, text *to) {
    uint32_t c, low;
    if (!json_unit(at, end, &c) || (c >= 0xDC00 && c <= 0xDFFF))
        return false;
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u')
            return false;
        *at += 2;
        if (!json_unit(at, end, &low) || low < 0xDC00 || low > 0xDFFF)
            return false;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    unsigned char *const p = to->bytes + to->size;
    unsigned n = 0;
    if (c < 0x80) {
        p[n++] = (unsigned char)c;
    } else if (c < 0x800) {
        p[n++] = (unsigned char)(0xC0 | c >> 6);
        p[n++] = (unsigned char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        p[n++] = (unsigned char)(0xE0 | c >> 12);
        p[n++] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        p[n++] = (unsigned char)(0x80 | (c & 0x3F));
    } else {
        p[n++] = (unsigned char)(0xF0 | c >> 18);
        p[n++] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
        p[n++] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        p[n++] = (unsigned char)(0x80 | (c & 0x3F));
    }
    to->size += n;
    return true;
}

/* A string, which is never longer than its text. */
static bool json_string(exchange *x, const unsigned char **at, const unsigned char *end, text *to) {
    static const char codes[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (!json_expect(at, end, '"') || !exchange_room(x, to, (size_t)(end - *at) + 4))
        return false;
    to->size = 0;
    while (*at < end && **at != '"') {
        unsigned char c = *(*at)++;
        if (c < 0x20)
            return false;
        if (c == '\\') {
            if (*at == end || **at == '\0')
                return false;
            c = *(*at)++;
            if (c == 'u') {
                if (!json_escape_u(at, end, to))
                    return false;
                continue;
            }
            const char *const code = strchr(codes, c);
            if (code == NULL)
                return false;
            c = (unsigned char)bytes[code - codes];
        }
        to->bytes[to->size++] = c;
    }
    return json_expect(at, end, '"');
}

/* Turn hexadecimal digits into bytes, where they are. */
static bool exchange_unhex(text *t) {
    if (t->size % 2 != 0)
        return false;
    for (size_t i = 0; i < t->size / 2; i++) {
        const int high = exchange_digit(t->bytes[2 * i]), low = exchange_digit(t->bytes[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        t->bytes[i] = (unsigned char)(high * 16 + low);
    }
    t->size /= 2;
    return true;
}

/* A member: its name tells where the string goes. */
static const char *json_member(exchange *x, const unsigned char **at, const unsigned char *end) {
    static const char no_string[] = "it is not an object of strings";
    unsigned char buffer[16];
    size_t n = 0;
    if (!json_expect(at, end, '"'))
        return no_string;
    while (*at < end && **at != '"' && n + 1 < sizeof buffer)
        buffer[n++] = *(*at)++;
    buffer[n] = '\0';
    if (!json_expect(at, end, '"') || !json_expect(at, end, ':'))
        return no_string;
    const char *const name = (const char *)buffer;
    const bool key = strcmp(name, "key") == 0 || strcmp(name, "key_hex") == 0;
    if (!key && strcmp(name, "value") != 0 && strcmp(name, "value_hex") != 0)
        return "a member is none of key, value, key_hex, value_hex";
    text *const to = key ? &x->key : &x->value;
    if (!json_string(x, at, end, to))
        return x->no_memory ? "there is no memory for it" : no_string;
    if (strchr(name, '_') != NULL && !exchange_unhex(to))
        return "a member is not hexadecimal";
    x->has_key = x->has_key || key;
    return NULL;
}

static const char *json_line(exchange *x, const unsigned char *line, size_t n) {
    const unsigned char *at = line, *const end = line + n;
    x->has_key = false;
    x->value.size = 0;
    if (!json_expect(&at, end, '{'))
        return "it is not a JSON object";
    do {
        const char *const wrong = json_member(x, &at, end);
        if (wrong != NULL)
            return wrong;
    } while (json_expect(&at, end, ','));
    const bool closed = json_expect(&at, end, '}');
    json_blanks(&at, end);
    if (!closed || at != end)
        return "it is not a JSON object";
    return x->has_key ? NULL : "there is no key";
}

/* -------------------------------------------------------------------------------------------------
 * import
 */

static int import_lines(const char *command, exchange *x, tamis_table *table, char *const *files,
                        int n_files) {
    key_format format = KEY_FORMAT_DEFAULT;
    format.cr = CR_KEEP;
    format.no_given = true;
    key_reader *const reader = keys_open(command, &format, files, n_files);
    if (reader == NULL)
        return EXIT_TROUBLE;
    int code = EXIT_YES;
    uint64_t stored = 0;
    while (code == EXIT_YES && keys_read(reader) > 0) {
        for (size_t i = 0; i < reader->batch.n && code == EXIT_YES; i++) {
            const tamis_bytes line = reader->batch.raw[i];
            if (line.size == 0 && x->form == FORM_JSONL)
                continue;
            const char *wrong =
                (x->form == FORM_TSV ? tsv_line : json_line)(x, line.data, line.size);
            if (wrong == NULL) {
                const tamis_status status = tamis_table_put(table, x->key.bytes, x->key.size,
                                                            x->value.bytes, x->value.size, NULL);
                if (status == TAMIS_E_ARGUMENT)
                    wrong = "its key or value is longer than the table takes";
                else if (status != TAMIS_OK)
                    wrong = status == TAMIS_E_FORMAT ? "a damaged item was met"
                                                     : tamis_status_text(status);
            }
            if (wrong != NULL) {
                progress_end(&reader->progress);
                code = complain(command, "%s: line %" PRIu64 ": %s%s", reader->name,
                                reader->line - reader->batch.n + i + 1, wrong,
                                stored > 0 ? "; the lines before it are stored" : "");
            }
            stored += code == EXIT_YES;
        }
    }
    if (reader->failed)
        code = EXIT_TROUBLE;
    keys_free(reader);
    return code;
}

/* Open the table, or make one of pages. */
static tamis_table *import_table(const char *command, const exchange *x) {
    struct stat about;
    tamis_table_options how;
    tamis_table_options_init(&how);
    how.sync = x->sync;
    if (stat(x->path, &about) == 0)
        return table_open(command, x->path, &how);
    tamis_table_params params;
    tamis_table *table = NULL;
    const char *reason = "";
    table_page_params(&params);
    if (tamis_table_create_file(x->path, &params, &how, NULL, &table, &reason) != TAMIS_OK)
        complain(command, "cannot make %s: %s", x->path, reason);
    return table;
}

int table_import(int argc, char **argv) {
    exchange x;
    int code = exchange_options(argc, argv, true, &x);
    if (code != EXIT_YES)
        return code;
    tamis_table *const table = import_table(argv[0], &x);
    if (table == NULL)
        return EXIT_TROUBLE;
    code = import_lines(argv[0], &x, table, argv + optind + 1, argc - optind - 1);
    const bool closed = code == EXIT_YES ? table_close(argv[0], x.path, table)
                                         : tamis_table_close(table) == TAMIS_OK;
    exchange_free(&x);
    return closed ? code : EXIT_TROUBLE;
}

/* -------------------------------------------------------------------------------------------------
 * export
 */

static void tsv_print(const text *t) {
    for (size_t i = 0; i < t->size; i++) {
        const unsigned char c = t->bytes[i];
        if (c == '\t' || c == '\n' || c == '\r' || c == '\\') {
            putchar('\\');
            putchar(c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\\');
        } else {
            putchar(c);
        }
    }
}

/* The text ends with a zero, so that a sequence that is cut off is not one. */
static bool json_is_utf8(const text *t) {
    t->bytes[t->size] = '\0';
    for (size_t i = 0; i < t->size;) {
        const unsigned n = utf8_length(t->bytes + i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

static void json_print(const char *name, const text *t) {
    const bool hex = !json_is_utf8(t);
    printf("\"%s%s\": \"", name, hex ? "_hex" : "");
    for (size_t i = 0; i < t->size; i++) {
        const unsigned char c = t->bytes[i];
        if (hex)
            printf("%02x", c);
        else if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void export_item(const exchange *x) {
    if (x->form == FORM_TSV) {
        tsv_print(&x->key);
        putchar('\t');
        tsv_print(&x->value);
    } else {
        putchar('{');
        json_print("key", &x->key);
        fputs(", ", stdout);
        json_print("value", &x->value);
        putchar('}');
    }
    putchar('\n');
}

int table_export(int argc, char **argv) {
    exchange x;
    int code = exchange_options(argc, argv, false, &x);
    if (code != EXIT_YES)
        return code;
    if (argc - optind != 1)
        return complain(argv[0], "one table is required (see 'tamis help table')");
    tamis_table_options how;
    tamis_table_options_init(&how);
    how.read_only = true;
    tamis_table *const table = table_open(argv[0], x.path, &how);
    if (table == NULL)
        return EXIT_TROUBLE;
    tamis_table_state info;
    tamis_table_state_init(&info);
    tamis_status status = tamis_table_info(table, &info);
    if (status == TAMIS_OK && (!exchange_room(&x, &x.key, (size_t)info.params.key_max + 1) ||
                               !exchange_room(&x, &x.value, (size_t)info.params.value_max + 1)))
        status = TAMIS_E_NOMEM;
    uint64_t at = 0;
    while (status == TAMIS_OK && !ferror(stdout)) {
        status =
            tamis_table_next(table, &at, x.key.bytes, &x.key.size, x.value.bytes, &x.value.size);
        if (status == TAMIS_OK)
            export_item(&x);
    }
    if (status != TAMIS_OK && status != TAMIS_E_NOT_FOUND)
        code = complain(argv[0], "%s: %s", x.path,
                        status == TAMIS_E_FORMAT ? "a damaged item was met"
                                                 : tamis_status_text(status));
    exchange_free(&x);
    return table_close(argv[0], x.path, table) ? code : EXIT_TROUBLE;
}
