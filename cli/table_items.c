/* table_items.c - tamis table put, get, delete, dump: items in and out
 *
 * An item is a line: the key, a tab, the value.  A key that contains a tab or a newline can be written
 * with --hex, which also applies to the value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_MAX = 4096 };

typedef struct item_options {
    key_format format;
    bool hex;
    bool invert;
    bool count;
    tamis_sync sync;
    const char *path;
    char *const *files;
    int n_files;
} item_options;

typedef struct item {
    unsigned char key[ITEM_MAX + 1];
    size_t key_size;
    unsigned char *value;
    size_t value_size, value_room; /* bytes that the longest value takes, and one more */
} item;

/* Room for the longest value of a table: false after a complaint. */
static bool make_room(const char *command, const tamis_table *table, item *it) {
    tamis_table_state info;
    tamis_table_state_init(&info);
    it->value_room = ITEM_MAX + 1;
    if (tamis_table_info(table, &info) == TAMIS_OK && info.params.value_max > ITEM_MAX)
        it->value_room = (size_t)info.params.value_max + 1;
    it->value = malloc(it->value_room);
    if (it->value == NULL)
        complain(command, "there is no memory for a value of %zu bytes", it->value_room - 1);
    return it->value != NULL;
}

/* The options of a verb; EXIT_YES to go on. */
static int read_options(int argc, char **argv, const char *letters, const struct option *options,
                        item_options *chosen) {
    memset(chosen, 0, sizeof *chosen);
    chosen->format = (key_format)KEY_FORMAT_DEFAULT;
    chosen->format.cr = CR_KEEP;
    chosen->format.no_given = strchr(letters, 'e') == NULL;
    for (int option; (option = option_next(argc, argv, letters, options)) != -1;) {
        switch (option) {
        case '0':
            chosen->format.separator = '\0';
            break;
        case OPT_HEX:
            chosen->hex = true;
            break;
        case 'e':
            if (!key_format_give(argv[0], &chosen->format, optarg))
                return EXIT_TROUBLE;
            break;
        case 'v':
            chosen->invert = true;
            break;
        case 'c':
            chosen->count = true;
            break;
        case OPT_SYNC:
            if (!option_sync(argv[0], optarg, &chosen->sync))
                return EXIT_TROUBLE;
            break;
        default:
            return EXIT_TROUBLE;
        }
    }
    if (optind == argc)
        return complain(argv[0], "which table? (see 'tamis help table')");
    chosen->path = argv[optind];
    chosen->files = argv + optind + 1;
    chosen->n_files = argc - optind - 1;
    return EXIT_YES;
}

static const struct option change_options[] = {{"null", no_argument, NULL, '0'},
                                               {"hex", no_argument, NULL, OPT_HEX},
                                               {"sync", required_argument, NULL, OPT_SYNC},
                                               {NULL, 0, NULL, 0}};
static const struct option find_options[] = {{"null", no_argument, NULL, '0'},
                                             {"hex", no_argument, NULL, OPT_HEX},
                                             {"invert", no_argument, NULL, 'v'},
                                             {"count", no_argument, NULL, 'c'},
                                             {NULL, 0, NULL, 0}};
static const struct option dump_options[] = {
    {"null", no_argument, NULL, '0'}, {"hex", no_argument, NULL, OPT_HEX}, {NULL, 0, NULL, 0}};

/* -------------------------------------------------------------------------------------------------
 * Lines
 */

static int hex_digit(unsigned char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode a key or value.  If it is too long it becomes as many bytes as there is room for, which no table
 * takes. false if it is not hexadecimal. */
static bool decode(const unsigned char *text, size_t size, bool hex, unsigned char *bytes,
                   size_t room, size_t *n) {
    if (!hex) {
        *n = size < room ? size : room;
        memcpy(bytes, text, *n);
        return true;
    }
    if (size % 2 != 0)
        return false;
    *n = size / 2 < room ? size / 2 : room;
    for (size_t i = 0; i < size / 2; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        if (i < room)
            bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* Split a line at its first tab, if it has a value: NULL, or what is wrong with it. */
static const char *decode_line(tamis_bytes line, const item_options *chosen, bool valued,
                               item *it) {
    const unsigned char *const text = line.data;
    const unsigned char *const tab = valued && line.size > 0 ? memchr(text, '\t', line.size) : NULL;
    const size_t key_size = tab == NULL ? line.size : (size_t)(tab - text);
    it->value_size = 0;
    if (valued && tab == NULL)
        return TABLE_NO_TAB;
    return decode(text, key_size, chosen->hex, it->key, sizeof it->key, &it->key_size) &&
                   (tab == NULL || decode(tab + 1, line.size - key_size - 1, chosen->hex, it->value,
                                          it->value_room, &it->value_size))
               ? NULL
               : "is not hexadecimal";
}

static void print_bytes(const unsigned char *bytes, size_t size, bool hex) {
    if (!hex) {
        fwrite(bytes, 1, size, stdout);
        return;
    }
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
}

static void print_item(const item *it, const item_options *chosen, bool valued) {
    print_bytes(it->key, it->key_size, chosen->hex);
    if (valued) {
        putchar('\t');
        print_bytes(it->value, it->value_size, chosen->hex);
    }
    putchar(chosen->format.separator);
}

/* -------------------------------------------------------------------------------------------------
 * Many lines
 */

/* What a verb does with a line: TAMIS_OK, TAMIS_E_NOT_FOUND, or what went wrong. */
typedef tamis_status line_worker(tamis_table *table, item *it, const item_options *chosen);

/* Explain what went wrong with line number 'line'; 'before' tells what happened to those before it. */
static int complain_line(const char *command, const key_reader *reader, uint64_t line,
                         const tamis_table *table, const item *it, tamis_status status,
                         const char *before) {
    tamis_table_state info;
    tamis_table_state_init(&info);
    if (status == TAMIS_E_ARGUMENT && tamis_table_info(table, &info) == TAMIS_OK) {
        const bool key = it->key_size > info.params.key_max;
        if (!key && it->value_size <= info.params.value_max)
            return complain(
                command, "%s: line %" PRIu64 ": key and value together are longer than %d bytes%s",
                reader->name, line, TAMIS_TABLE_PAGE_ITEM_MAX, before);
        return complain(command, "%s: line %" PRIu64 ": the %s is longer than %" PRIu64 " bytes%s",
                        reader->name, line, key ? "key" : "value",
                        key ? info.params.key_max : info.params.value_max, before);
    }
    if (status == TAMIS_E_FULL)
        return complain(command,
                        "%s: line %" PRIu64 ": the table is full (it holds %" PRIu64 " items)%s",
                        reader->name, line, tamis_table_count(table), before);
    if (status == TAMIS_E_UNSUPPORTED)
        return complain(command, "items of a table with the summary song cannot be deleted");
    return complain(command, "%s: line %" PRIu64 ": %s%s", reader->name, line,
                    status == TAMIS_E_FORMAT ? "a damaged item was met" : tamis_status_text(status),
                    before);
}

/* How the verbs that read lines differ. */
typedef struct verb {
    line_worker *worker;
    bool read_only;
    bool valued;        /* a line has a value */
    const char *before; /* after trouble: what happened to the lines before */
} verb;

typedef struct tally {
    uint64_t found;
    uint64_t all;
} tally;

/* Do all lines.  EXIT_YES, or EXIT_TROUBLE after a complaint. */
static int each_line(const char *command, tamis_table *table, const item_options *chosen,
                     const verb *v, tally *sum) {
    static item it;
    if (!make_room(command, table, &it))
        return EXIT_TROUBLE;
    key_reader *const reader = keys_open(command, &chosen->format, chosen->files, chosen->n_files);
    if (reader == NULL) {
        free(it.value);
        return EXIT_TROUBLE;
    }
    int code = EXIT_YES;
    while (code == EXIT_YES && keys_read(reader) > 0) {
        for (size_t i = 0; i < reader->batch.n && code == EXIT_YES; i++) {
            const uint64_t line = reader->line - reader->batch.n + i + 1;
            const char *const before = sum->all > 0 ? v->before : "";
            const char *const wrong = decode_line(reader->batch.raw[i], chosen, v->valued, &it);
            if (wrong != NULL) {
                progress_end(&reader->progress);
                code = complain(command, "%s: line %" PRIu64 " %s%s", reader->name, line, wrong,
                                before);
                break;
            }
            const tamis_status status = v->worker(table, &it, chosen);
            sum->all++;
            sum->found += status == TAMIS_OK;
            if (status != TAMIS_OK && status != TAMIS_E_NOT_FOUND) {
                progress_end(&reader->progress);
                code = complain_line(command, reader, line, table, &it, status, before);
            }
        }
        if (ferror(stdout))
            break;
    }
    if (reader->failed)
        code = EXIT_TROUBLE;
    keys_free(reader);
    free(it.value);
    return code;
}

static int run(int argc, char **argv, const char *letters, const struct option *options,
               const verb *v, tally *sum, item_options *chosen) {
    tamis_table_options how;
    int code = read_options(argc, argv, letters, options, chosen);
    if (code != EXIT_YES)
        return code;
    tamis_table_options_init(&how);
    how.read_only = v->read_only;
    how.sync = chosen->sync;
    tamis_table *const table = table_open(argv[0], chosen->path, &how);
    if (table == NULL)
        return EXIT_TROUBLE;
    code = each_line(argv[0], table, chosen, v, sum);
    if (code == EXIT_YES && !v->read_only) {
        tamis_table_state info;
        tamis_table_state_init(&info);
        if (tamis_table_info(table, &info) == TAMIS_OK && info.rebuild_due)
            complain(argv[0], "%s has %" PRIu64 " deleted slots: 'tamis table rebuild' is due",
                     chosen->path, info.deleted);
    }
    /* one message is enough */
    const bool closed = code == EXIT_YES ? table_close(argv[0], chosen->path, table)
                                         : tamis_table_close(table) == TAMIS_OK;
    return closed ? code : EXIT_TROUBLE;
}

/* -------------------------------------------------------------------------------------------------
 * The verbs
 */

static tamis_status put_line(tamis_table *table, item *it, const item_options *chosen) {
    (void)chosen;
    return tamis_table_put(table, it->key, it->key_size, it->value, it->value_size, NULL);
}

int table_put(int argc, char **argv) {
    static const verb put = {put_line, false, true, "; the lines before it are stored"};
    item_options chosen;
    tally sum = {0};
    return run(argc, argv, "0", change_options, &put, &sum, &chosen);
}

static tamis_status delete_line(tamis_table *table, item *it, const item_options *chosen) {
    (void)chosen;
    return tamis_table_delete(table, it->key, it->key_size);
}

int table_delete(int argc, char **argv) {
    static const verb delete = {delete_line, false, false, "; the lines before it are deleted"};
    item_options chosen;
    tally sum = {0};
    const int code = run(argc, argv, "0", change_options, &delete, &sum, &chosen);
    if (code != EXIT_YES || sum.found == sum.all)
        return code;
    complain(argv[0], "%" PRIu64 " of %" PRIu64 " keys were not in the table", sum.all - sum.found,
             sum.all);
    return EXIT_NO;
}

static tamis_status get_line(tamis_table *table, item *it, const item_options *chosen) {
    tamis_status status =
        tamis_table_get(table, it->key, it->key_size, it->value, it->value_room, &it->value_size);
    if (status == TAMIS_E_ARGUMENT)
        status = TAMIS_E_NOT_FOUND; /* no key in the table is that long */
    const bool found = status == TAMIS_OK;
    if ((found || status == TAMIS_E_NOT_FOUND) && found != chosen->invert && !chosen->count)
        print_item(it, chosen, found);
    return status;
}

int table_get(int argc, char **argv) {
    static const verb get = {get_line, true, false, ""};
    item_options chosen;
    tally sum = {0};
    const int code = run(argc, argv, "0vce:", find_options, &get, &sum, &chosen);
    key_format_free(&chosen.format);
    if (code != EXIT_YES)
        return code;
    const uint64_t n = chosen.invert ? sum.all - sum.found : sum.found;
    if (chosen.count)
        printf("%" PRIu64 "\n", n);
    return n > 0 ? EXIT_YES : EXIT_NO;
}

int table_dump(int argc, char **argv) {
    static item it;
    item_options chosen;
    int code = read_options(argc, argv, "0", dump_options, &chosen);
    if (code != EXIT_YES)
        return code;
    if (chosen.n_files > 0)
        return complain(argv[0], "one table is required (see 'tamis help table')");
    tamis_table_options how;
    tamis_table_options_init(&how);
    how.read_only = true;
    tamis_table *const table = table_open(argv[0], chosen.path, &how);
    if (table == NULL)
        return EXIT_TROUBLE;
    uint64_t at = 0;
    tamis_status status = make_room(argv[0], table, &it) ? TAMIS_OK : TAMIS_E_NOMEM;
    while (status == TAMIS_OK && !ferror(stdout)) {
        status = tamis_table_next(table, &at, it.key, &it.key_size, it.value, &it.value_size);
        if (status == TAMIS_OK)
            print_item(&it, &chosen, true);
    }
    if (status != TAMIS_OK && status != TAMIS_E_NOT_FOUND)
        code = complain(argv[0], "%s: %s", chosen.path,
                        status == TAMIS_E_FORMAT ? "a damaged item was met"
                                                 : tamis_status_text(status));
    free(it.value);
    return table_close(argv[0], chosen.path, table) ? code : EXIT_TROUBLE;
}
