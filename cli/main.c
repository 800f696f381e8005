/* main.c - tamis(1): the table of subcommands
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"plan", "say what a set will cost and promise, before it is built", cmd_plan},
    {"build", "make a set from keys, one per line", cmd_build},
    {"query", "print the keys that are (probably) in a set", cmd_query},
    {"add", "add keys to a set", cmd_add},
    {"remove", "remove keys from a set", cmd_remove},
    {"uniq", "print the keys that have not come before", cmd_uniq},
    {"info", "show what a set is and how full", cmd_info},
    {"verify", "check that a file is a good set", cmd_verify},
    {"merge", "unite sets", cmd_merge},
    {"table", "exact tables of keys and values, in files", cmd_table},
    {"server", "put a set into a Redis or Valkey server, or get one from there", cmd_server},
    {"bench", "measure speed", cmd_bench},
    {"reproduce", "recompute the figures of the papers", cmd_reproduce},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    }
    return NULL;
}

static void print_help(FILE *out) {
    fputs("usage: tamis COMMAND [OPTION...] [FILE...]\n"
          "Compact sets that change: a few bits per key, never wrong for a key that is there,\n"
          "wrong for an absent key with a probability that was promised.\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "  tamis help COMMAND   its options\n"
          "  tamis --version      the version\n\n"
          "Exit code: 0 yes, 1 no, 2 trouble.  Manual: man tamis.\n",
          out);
}

/* How many single edits lead from a to b; at most 'limit', which is also the answer for long names. */
static unsigned edits(const char *a, const char *b, unsigned limit) {
    enum { MOST = 32 };
    unsigned row[MOST + 1];
    const size_t n_a = strlen(a);
    const size_t n_b = strlen(b);

    if (n_a > MOST || n_b > MOST)
        return limit;
    for (size_t j = 0; j <= n_b; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned best = corner + (a[i - 1] != b[j - 1] ? 1 : 0);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
        }
    }
    return row[n_b] < limit ? row[n_b] : limit;
}

static int unknown_command(const char *name) {
    const char *nearest = NULL;
    unsigned distance = 3; /* beyond this it is not a typing error */

    for (size_t i = 0; i < N_COMMANDS; i++) {
        const unsigned d = edits(name, commands[i].name, distance);
        if (d < distance) {
            distance = d;
            nearest = commands[i].name;
        }
    }
    if (nearest != NULL)
        return complain("", "there is no command '%s'; did you mean '%s'?", name, nearest);
    return complain("", "there is no command '%s' (see 'tamis --help')", name);
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return EXIT_TROUBLE;
    }
    const char *const name = argv[1];
    const bool help = strcmp(name, "help") == 0;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("tamis %s\n", tamis_version());
        return EXIT_YES;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return EXIT_YES;
    }
    const command *const found = find_command(help ? argv[2] : name);
    if (found == NULL)
        return unknown_command(help ? argv[2] : name);
    if (help) {
        char option[] = "--help";
        char *arguments[] = {argv[2], option, NULL};
        return found->run(2, arguments);
    }
    return found->run(argc - 1, argv + 1);
}

/* If a standard stream is closed, the next file opened would take its place, and be read or written by
 * mistake.  Fill the gap with something that refuses. */
static void fill_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv) {
    static char output[1 << 16];

    fill_standard_streams();
    /* Reaching a file size limit must be an error of write(), not the end of the process. */
    signal(SIGXFSZ, SIG_IGN);
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, output, _IOFBF, sizeof output);
    const int code = run(argc, argv);
    const char *const name = argc >= 2 && find_command(argv[1]) != NULL ? argv[1] : "";
    return output_flush(name) ? code : EXIT_TROUBLE;
}
