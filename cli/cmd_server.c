/* cmd_server.c - tamis server: sets to and from a Redis or Valkey server with the module
 *
 * A set goes in parts of its file, by TAMIS.LOAD and TAMIS.DUMP.  Both sides check it: here before it is sent
 * and before it is written, there when the last part has come.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/resp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tamis server load [OPTION...] SET ADDRESS KEY   put a set into a server\n"
    "       tamis server save [OPTION...] ADDRESS KEY SET   get one from there\n"
    "ADDRESS is HOST:PORT of a Redis or Valkey server that has the tamis module, or the path of "
    "its socket.\n"
    "KEY must not exist in the server for 'load'.  - is standard input or output.\n\n"
    "      --user NAME     log in as this user; the password is taken from the environment "
    "variable\n"
    "                      TAMIS_SERVER_PASSWORD\n"
    "      --db N          number of the database (0)\n"
    "      --verbose       say what the set is\n";

#define PART     ((size_t)1 << 20)  /* bytes of a set that are sent at once */
#define PART_MAX ((size_t)16 << 20) /* and taken at once */

typedef struct server_options {
    const char *user;
    uint64_t db;
    bool verbose;
} server_options;

static tamis_bytes word_of(const char *text) {
    return (tamis_bytes){text, strlen(text)};
}

/* Send words, of which the answer is a line like +OK. */
static bool server_ask(resp *r, const tamis_bytes *words, size_t n) {
    char line[RESP_LINE];
    return resp_send(r, words, n) && resp_read_line(r, '+', line);
}

/* Log in and choose the database, as far as that is asked for. */
static bool server_greet(resp *r, const server_options *chosen) {
    const char *const password = getenv("TAMIS_SERVER_PASSWORD");
    char number[TEXT_NUMBER];
    snprintf(number, sizeof number, "%" PRIu64, chosen->db);
    if (chosen->user != NULL && password == NULL) {
        complain(r->command, "--user needs a password in TAMIS_SERVER_PASSWORD");
        return false;
    }
    if (password != NULL) {
        const char *const user = chosen->user != NULL ? chosen->user : "default";
        const tamis_bytes words[] = {word_of("AUTH"), word_of(user), word_of(password)};
        if (!server_ask(r, words, 3))
            return false;
    }
    const tamis_bytes words[] = {word_of("SELECT"), word_of(number)};
    return chosen->db == 0 || server_ask(r, words, 2);
}

/* ---- load ---- */

static bool load_parts(resp *r, const char *key, const tamis_filter *filter) {
    static unsigned char part[PART];
    const uint64_t size = tamis_filter_encoded_size(filter);
    char whole[TEXT_NUMBER], offset[TEXT_NUMBER];
    progress p;
    bool good = true;
    snprintf(whole, sizeof whole, "%" PRIu64, size);
    progress_start(&p, r->command, size);
    for (uint64_t at = 0; good && at < size;) {
        const size_t n = size - at < sizeof part ? (size_t)(size - at) : sizeof part;
        uint64_t taken = 0;
        snprintf(offset, sizeof offset, "%" PRIu64, at);
        const tamis_bytes words[] = {
            word_of("TAMIS.LOAD"), word_of(key), word_of(whole), word_of(offset), {part, n}};
        const tamis_status status = tamis_filter_encode_part(filter, at, part, n);
        if (status != TAMIS_OK)
            complain(r->command, "%s", tamis_status_text(status));
        good = status == TAMIS_OK && resp_send(r, words, 5) && resp_read_number(r, &taken);
        if (good && taken != at + n) {
            complain(r->command, "%s has taken %" PRIu64 " bytes of %" PRIu64, r->address, taken,
                     at + n);
            good = false;
        }
        at += n;
        progress_step(&p, at, 0);
    }
    progress_end(&p);
    return good;
}

static int server_load(resp *r, char *const *words, const server_options *chosen) {
    tamis_filter *const filter = set_open(r->command, words[0], SET_READ);
    if (filter == NULL)
        return EXIT_TROUBLE;
    const bool good = resp_open(r, r->command, words[1]) && server_greet(r, chosen) &&
                      load_parts(r, words[2], filter);
    if (good && chosen->verbose)
        set_describe(r->command, filter, words[0]);
    tamis_filter_free(filter);
    return good ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- save ---- */

/* A file that arrives: as much memory as bytes have come, and half as much again. */
typedef struct arrival {
    unsigned char *data;
    uint64_t size, room;
    uint64_t whole; /* as the server says */
    char cursor[64];
} arrival;

/* Have room for one part more. */
static bool save_room(resp *r, arrival *a) {
    if (a->room - a->size >= PART_MAX)
        return true;
    const uint64_t room = a->size + a->size / 2 + PART_MAX;
    unsigned char *const data = room > SIZE_MAX ? NULL : realloc(a->data, (size_t)room);
    if (data == NULL) {
        complain(r->command, "%s", tamis_status_text(TAMIS_E_NOMEM));
        return false;
    }
    a->data = data;
    a->room = room;
    return true;
}

/* Take the answer of TAMIS.DUMP: the next cursor, the size of the whole, a part. */
static bool save_part(resp *r, arrival *a) {
    size_t n;
    uint64_t whole;
    if (!save_room(r, a) || !resp_read_array(r, 3) ||
        !resp_read_bytes(r, a->cursor, sizeof a->cursor - 1, &n))
        return false;
    a->cursor[n] = '\0';
    if (!resp_read_number(r, &whole) || !resp_read_bytes(r, a->data + a->size, PART_MAX, &n))
        return false;
    const bool last = strcmp(a->cursor, "0") == 0;
    a->size += n;
    if (n == 0 || a->size > whole || (a->whole != 0 && whole != a->whole) ||
        last != (a->size == whole)) {
        complain(r->command, "the parts that %s sends are not those of one set", r->address);
        return false;
    }
    a->whole = whole;
    return true;
}

static bool save_parts(resp *r, const char *key, arrival *a) {
    progress p;
    bool good = true;
    progress_start(&p, r->command, 0);
    memcpy(a->cursor, "0", 2);
    do {
        const tamis_bytes words[] = {word_of("TAMIS.DUMP"), word_of(key), word_of(a->cursor)};
        good = resp_send(r, words, 3) && save_part(r, a);
        p.total = a->whole;
        progress_step(&p, a->size, 0);
    } while (good && strcmp(a->cursor, "0") != 0);
    progress_end(&p);
    return good;
}

static int server_save(resp *r, char *const *words, const server_options *chosen) {
    arrival a = {.data = NULL};
    tamis_filter *filter = NULL;
    const char *reason = "";
    if (!output_check(r->command, words[2]))
        return EXIT_TROUBLE;
    bool good = resp_open(r, r->command, words[0]) && server_greet(r, chosen) &&
                save_parts(r, words[1], &a);
    if (good && tamis_filter_decode(a.data, (size_t)a.size, NULL, &filter, &reason) != TAMIS_OK) {
        complain(r->command, "what %s sends is not a set: %s", r->address, reason);
        good = false;
    }
    free(a.data);
    good = good && set_save(r->command, filter, words[2]);
    if (good && chosen->verbose)
        set_describe(r->command, filter, words[2]);
    tamis_filter_free(filter);
    return good ? EXIT_YES : EXIT_TROUBLE;
}

/* ---- the command line ---- */

static bool take_option(const char *command, int option, void *context) {
    server_options *const chosen = context;

    switch (option) {
    case OPT_USER:
        chosen->user = optarg;
        return true;
    case OPT_DB:
        return option_count(command, "--db", optarg, INT32_MAX, &chosen->db);
    default:
        return option == OPT_VERBOSE && option_flag(&chosen->verbose);
    }
}

int cmd_server(int argc, char **argv) {
    static const struct option options[] = {{"user", required_argument, NULL, OPT_USER},
                                            {"db", required_argument, NULL, OPT_DB},
                                            {"verbose", no_argument, NULL, OPT_VERBOSE},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    static resp connection = {.fd = -1};
    const command_line line = {"", options, help, take_option};
    server_options chosen = {0};
    const int code = options_read(argc, argv, &line, &chosen);

    if (code != GO_ON)
        return code;
    const char *const verb = optind < argc ? argv[optind] : "";
    const bool load = strcmp(verb, "load") == 0;
    if (!load && strcmp(verb, "save") != 0)
        return complain(argv[0], "'load' or 'save' is required (see 'tamis help server')");
    if (argc - optind != 4)
        return complain(argv[0], "three arguments are required after '%s': %s", verb,
                        load ? "SET ADDRESS KEY" : "ADDRESS KEY SET");
    connection.command = argv[0];
    const int result = load ? server_load(&connection, argv + optind + 1, &chosen)
                            : server_save(&connection, argv + optind + 1, &chosen);
    resp_close(&connection);
    return result;
}
