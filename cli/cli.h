/* cli.h - what the subcommands share
 *
 * One file per subcommand: cmd_<name>.c defines cmd_<name>().  Each returns the exit code: 0 yes,
 * 1 no, 2 trouble.  Data goes to stdout, messages to stderr.  argv[0] is the subcommand's name;
 * functions that may complain take it as 'command' and print one line, "tamis <command>: ...".
 * Each reads its options by option_next() and answers --help, which is what 'tamis help <name>' calls it
 * with, by its help on stdout: "usage: tamis <name> ...", then options in lines that begin with blanks and
 * '-'.  Completion and the test of the manual read that.
 * "false (or NULL, or 0) after a complaint" below means that this line has been printed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_H
#define TAMIS_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tamis/plan.h>
#include <tamis/tamis.h>

#include "cli/stamp.h"

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_TROUBLE = 2 };

int cmd_plan(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_uniq(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_table(int argc, char **argv);
int cmd_server(int argc, char **argv);

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* -------------------------------------------------------------------------------------------------
 * Messages (message.c)
 */

/* One line on stderr, "tamis <command>: <message>", whatever bytes the message contains: control
 * characters (of a file name, say) become '?'.  Returns EXIT_TROUBLE. */
int complain(const char *command, const char *format, ...) CLI_PRINTF(2, 3);

/* Flush stdout and find out whether everything printed has arrived. false after a complaint, which is
 * made only once. main() does this when a subcommand is done.  A subcommand that prints much checks
 * ferror(stdout) now and then and returns early. */
bool output_flush(const char *command);

/* Write many bytes at once, which may bypass the buffer: false after a complaint. */
bool output_write(const char *command, const void *bytes, size_t size);

/* A number for people to read: 1234567 as "1,234,567", 17930000 bytes as "17.1 MiB".  The result is
 * in 'text', of TEXT_NUMBER bytes, and returned. */
#define TEXT_NUMBER 32
const char *text_count(uint64_t value, char *text);
const char *text_bytes(uint64_t value, char *text);

/* -------------------------------------------------------------------------------------------------
 * Options (options.c)
 */

/* Values that getopt_long returns for long options without a letter. */
enum {
    OPT_HELP = 256,
    OPT_JSON,
    OPT_U64,
    OPT_HEX,
    OPT_KIND,
    OPT_DELETES,
    OPT_ALL,
    OPT_SEED,
    OPT_HASH,
    OPT_COMPACT,
    OPT_LIKE,
    OPT_VERBOSE,
    OPT_BYTES,
    OPT_COPIES,
    OPT_VALUES,
    OPT_OVERSHOOT,
    OPT_LINES,
    OPT_FAILURE,
    OPT_SORT,
    OPT_LINE_BITS,
    OPT_OFFLINE,
    OPT_SEARCH,
    OPT_GROW,
    OPT_CHECK,
    OPT_CHANGES,
    OPT_OVERFULL,
    OPT_CRLF,
    OPT_REPLACEMENTS,
    OPT_MERGES,
    OPT_THREADS,
    OPT_TICKS,
    OPT_USER,
    OPT_BEYOND,
    OPT_TIME_FIELD,
    OPT_TIME_FORMAT,
    OPT_UNSTAMPED,
    OPT_DB
};

/* getopt_long with our messages: '?' after a complaint, -1 at the end of the options. */
int option_next(int argc, char **argv, const char *letters, const struct option *options);

/* What a subcommand takes: letters and options as getopt_long wants them, the text of --help, and
 * the function that notes an option in what was 'chosen': false after a complaint. */
typedef struct command_line {
    const char *letters;
    const struct option *options;
    const char *help;
    bool (*take)(const char *command, int option, void *chosen);
} command_line;

/* Read all options.  Returns GO_ON if the subcommand is to do its work, on the arguments from 'optind' on;
 * otherwise the code it is to return, after a complaint or after --help. */
enum { GO_ON = -1 };
int options_read(int argc, char **argv, const command_line *line, void *chosen);

/* Note that an option without a value was given.  Returns true. */
bool option_flag(bool *flag);

/* The command line of a subcommand that takes one set and --json.  '*path' is the set, or NULL if
 * the subcommand is to return at once with the code returned here. */
int one_set_options(int argc, char **argv, const char *help, bool *as_json, const char **path);

/* A seed of up to 128 bits. */
typedef struct hash_seed {
    uint64_t low, high;
} hash_seed;

#define TEXT_SEED 40 /* room for a seed as text */

/* As 0x and hexadecimal digits, 16 or, if it is longer, 32. */
const char *text_seed(hash_seed seed, char *text);

/* The value of an option; false after a complaint. */
bool option_count(const char *command, const char *option, const char *text, uint64_t max,
                  uint64_t *value);
bool option_rate(const char *command, const char *option, const char *text, double *value);
bool option_seed(const char *command, const char *text, hash_seed *seed);
bool option_small(const char *command, const char *option, const char *text, unsigned most,
                  unsigned *value);
bool option_hash(const char *command, const char *name, tamis_hash_id *hash);
bool option_kind(const char *command, const char *name, tamis_kind *kind);
/* A kind that there was once, and what took its place: these 'size' bytes are its name. */
#define FORMER_KIND "there is no kind 'line-set' any more: use line"
bool is_former_kind(const char *name, size_t size);

/* Read an integer key or seed: decimal or 0x..., up to 2^64 - 1, blanks around it allowed. false,
 * without a complaint, if 'text' is not one. */
bool parse_u64(const char *text, size_t size, uint64_t *value);

/* The kinds that have all of the abilities (a sum of TAMIS_CAN_*), as "a, b, c". */
#define TEXT_KINDS 512
const char *text_kinds(unsigned abilities, char *text);

/* -------------------------------------------------------------------------------------------------
 * Needs (needs.c)
 */

/* A size in bytes as people write it: 64MiB and 64M, 500MB.  false after a complaint. */
bool option_size(const char *command, const char *option, const char *text, uint64_t *value);

/* Options of the subcommands that plan; NEED_LETTERS belongs in the letters. */
#define NEED_LETTERS "n:p:"
#define NEED_OPTIONS                                                                               \
    {"kind", required_argument, NULL, OPT_KIND}, {"deletes", no_argument, NULL, OPT_DELETES},      \
        {"bytes", required_argument, NULL, OPT_BYTES},                                             \
        {"copies", required_argument, NULL, OPT_COPIES},                                           \
        {"overshoot", required_argument, NULL, OPT_OVERSHOOT},                                     \
        {"lines", required_argument, NULL, OPT_LINES},                                             \
        {"failure", required_argument, NULL, OPT_FAILURE},                                         \
        {"replacements", required_argument, NULL, OPT_REPLACEMENTS},                               \
        {"ticks", required_argument, NULL, OPT_TICKS}, {"merges", no_argument, NULL, OPT_MERGES},  \
        {"sort", required_argument, NULL, OPT_SORT}, {                                             \
        "line-bits", required_argument, NULL, OPT_LINE_BITS                                        \
    }
#define NEED_HELP                                                                                  \
    "      --kind K    only this kind\n"                                                           \
    "      --deletes   keys will be removed\n"                                                     \
    "      --replacements R\n"                                                                     \
    "                  the same, and each key is replaced R times, on average\n"                   \
    "      --merges    sets will be merged\n"                                                      \
    "      --ticks T   keys are forgotten after T ticks, up to 126; N counts those of T + 1\n"     \
    "      --bytes SIZE\n"                                                                         \
    "                  memory that it may take: 64MiB, 1G, 500MB\n"                                \
    "      --copies C  each key is there up to C times, and copies are counted; up to 255\n"       \
    "      --overshoot X\n"                                                                        \
    "                  keep the promise for N (1 + X) keys: 0.5 is half as many again\n"           \
    "      --lines L   cache lines that a query may read on average, 1 or more\n"                  \
    "      --failure Q odds that an insert is refused, at most (default 1e-6)\n"                   \
    "      --sort WHAT the best first: balanced (default: the quickest within 12 % of the fewest " \
    "bytes),\n"                                                                                    \
    "                  bytes, speed, lines (cache lines of a query), weighted\n"                   \
    "      --line-bits W\n"                                                                        \
    "                  sort weighted: a line is worth W bits per key (1)\n"

/* Process an option, if it is one of NEED_OPTIONS: 1, or 0 after a complaint; otherwise -1. */
int need_option(const char *command, int option, tamis_need *need);

/* Draw needs of up to 'most' keys, plan, build, measure, and print a row for each (plan_check.c).  With
 * 'threads' not 0: sets that as many threads share.  Returns the exit code: EXIT_YES if every promise was
 * kept. */
int plan_check(const char *command, unsigned rows, uint64_t most, uint64_t seed, unsigned threads,
               bool changes);

/* Why tamis_plan_make refused 'need', as one line that names options.  Returns EXIT_TROUBLE. */
#define TEXT_REASON 512
int complain_plan(const char *command, const tamis_need *need, tamis_status status);

/* -------------------------------------------------------------------------------------------------
 * Progress (progress.c)
 */

/* A progress line on stderr, if stderr is a terminal and only from the second second on.  It disappears
 * when the work is done. */
typedef struct progress {
    const char *command;
    bool enabled;
    bool shown;
    uint64_t total; /* of 'done' below; 0: unknown */
    double started; /* seconds, monotonic */
    double drawn;
} progress;

void progress_start(progress *p, const char *command, uint64_t total);
/* 'done' counts towards the total (bytes or keys), 'keys' is shown. */
void progress_step(progress *p, uint64_t done, uint64_t keys);
void progress_end(progress *p);

/* -------------------------------------------------------------------------------------------------
 * Keys from files (keys.c)
 */

/* How a key is written in the input. */
typedef struct key_format {
    char separator; /* ends each key except perhaps the last: '\n', or NUL for -0 */
    enum { KEY_BYTES, KEY_U64, KEY_HEX } form;
    enum { CR_KEEP, CR_TELL, CR_DROP } cr; /* a carriage return at the end of a line */
    uint64_t field; /* the key is this field of the line, from 1 on; 0: all of it */
    char delimiter; /* of fields; NUL: not given */
    char **given;   /* keys of the command line, before those of the files */
    size_t n_given;
    bool no_given;    /* the command has no -e */
    stamp_form times; /* of lines that tell one: the key is the line without it, or a field */
} key_format;

/* Options of every subcommand that reads keys; KEY_LETTERS belongs in the letters. */
#define KEY_LETTERS "0e:f:d:"
#define KEY_OPTIONS                                                                                \
    {"null", no_argument, NULL, '0'}, {"u64", no_argument, NULL, OPT_U64},                         \
        {"hex", no_argument, NULL, OPT_HEX}, {"crlf", no_argument, NULL, OPT_CRLF},                \
        {"field", required_argument, NULL, 'f'}, {                                                 \
        "delimiter", required_argument, NULL, 'd'                                                  \
    }
#define KEY_HELP                                                                                   \
    "  -e KEY          this key; several times for several.  No file is read then unless named\n"  \
    "  -f, --field N   the key is field N of the line, from 1 on, separated by tabs\n"             \
    "  -d, --delimiter C\n"                                                                        \
    "                  fields are separated by this character\n"                                   \
    "  -0, --null      keys are separated by NUL, not by newline\n"                                \
    "      --crlf      a carriage return at the end of a line does not belong to the key\n"        \
    "      --u64       each line is an integer, decimal or 0x...: the key is its 8 bytes\n"        \
    "      --hex       each line is a key in hexadecimal\n"

#define KEY_FORMAT_DEFAULT                                                                         \
    { .separator = '\n', .cr = CR_TELL }
/* Process an option, if it is one of KEY_OPTIONS: 1, or 0 after a complaint; otherwise -1. */
int key_format_option(const char *command, key_format *format, int option);

/* Add a key of the command line. false after a complaint. */
bool key_format_give(const char *command, key_format *format, char *key);
void key_format_free(key_format *format);

/* Do keys in this format come from standard input, if these files are named? */
bool keys_from_standard(const key_format *format, char *const *files, int n_files);

/* Keys in the order of the input, as written there (without separator) and hashed. */
#define KEY_BATCH 4096
typedef struct key_batch {
    size_t n;
    tamis_bytes raw[KEY_BATCH]; /* valid until the next keys_read */
    tamis_digest digest[KEY_BATCH];
    int64_t when[KEY_BATCH]; /* if lines tell a time (stamp.h) */
    bool answer[KEY_BATCH];  /* for the caller's use */
} key_batch;

typedef struct key_reader {
    const char *command;
    key_format format;
    tamis_params hash; /* which hash and seed; nothing else of it is set */
    tamis_hasher hasher;
    size_t next_given;
    char *const *files;
    int n_files;
    int next_file;
    const char *name; /* of the open file; "-e" for the command line */
    int fd;           /* -1: none is open */
    bool regular;     /* the open file is a regular file, not a pipe or a terminal */
    bool at_end;
    bool begun;      /* the first bytes of the open file have been looked at */
    bool failed;     /* after a complaint */
    bool told_cr;    /* warned that lines end in CR LF */
    bool is_crewed;  /* blocks are taken from it; progress is shown by who has its turn */
    bool is_block;   /* the bytes were taken from another reader; 'fd' is its */
    const char *bad; /* of a block: what is wrong with batch.raw[0], which ends it */
    bool integers;   /* of the set: a key in hexadecimal must have 8 bytes */
    stamp_state times;
    uint64_t line;    /* keys read from the open file */
    uint64_t n_keys;  /* keys read from all files */
    uint64_t n_bytes; /* bytes read from all files */
    unsigned char *buffer;
    size_t room;
    size_t start;   /* the bytes from here to 'end' have not been handed out yet */
    size_t scanned; /* there is no separator before this byte */
    size_t end;
    progress progress;
    key_batch batch;
} key_reader;

/* Make a reader of the keys of the command line and of the files, in order.  "-" means stdin, and so
 * does an empty list without keys of the command line.  Missing files and directories are detected now,
 * before any work is done: NULL after a complaint.  What 'format' points to must stay until keys_free.
 * Call keys_hash before the first read.  The caller frees the reader with keys_free. */
key_reader *keys_open(const char *command, const key_format *format, char *const *files,
                      int n_files);

/* Hash keys as sets with these parameters do.  false after a complaint. */
bool keys_hash(key_reader *reader, const tamis_params *params);

/* Read the next keys into reader->batch.  They are at most KEY_BATCH, and as many as are at hand:
 * a slow pipe is not waited for.  Returns their number; 0 at the end or after a complaint
 * (reader->failed). */
size_t keys_read(key_reader *reader);

/* NULL is allowed. */
void keys_free(key_reader *reader);

/* A reader of blocks that keys_take gives it, with the format and the hash of another; NULL if there is not
 * enough memory. */
key_reader *keys_block_reader(const key_reader *like);

/* Take as many whole records as have been read, and at least one, from one reader for another, which is then
 * at its first key.  '*begins': they are the first of a file.  false at the end or after a complaint
 * (from->failed). */
bool keys_take(key_reader *from, key_reader *to, bool *begins);

/* Complain about the record that ended a block, after 'line' keys of its file. */
void keys_tell_bad(key_reader *reader, uint64_t line);

/* -------------------------------------------------------------------------------------------------
 * Files of keys, before they are read (inputs.c)
 */

/* Can the file be read, as far as can be told by its first bytes?  false after a complaint.  Adds its size to
 * '*total', or makes '*known' false if it has none. */
bool input_check(const char *command, const key_format *format, const char *name, uint64_t *total,
                 bool *known);

/* Is the input lines, which somebody may have compressed?  Where NUL separates, any bytes are keys. */
bool input_has_lines(const key_format *format);

/* As many bytes as tell that input is compressed. */
#define COMPRESSED_BYTES 16

/* Do the first bytes of an input show that it is compressed?  true after a complaint. */
bool input_compressed(const char *command, const char *name, bool standard,
                      const unsigned char *bytes, size_t n);

/* -------------------------------------------------------------------------------------------------
 * Keys by several threads (crew.c)
 */

#define KEY_JOBS_MAX 64
#define JOBS_LETTERS "j:"
#define JOBS_OPTIONS                                                                               \
    { "jobs", required_argument, NULL, 'j' }
#define JOBS_HELP                                                                                  \
    "  -j, --jobs N    threads, 1 to 64 (default: one per processor); the result is the same\n"

/* Process -j: 1, or 0 after a complaint. */
int jobs_option(const char *command, const char *text, unsigned *jobs);

/* One of the threads, with keys of one block or batch. */
typedef struct key_member {
    key_reader *reader;          /* with a batch, for 'look' */
    const tamis_digest *digests; /* of all keys, if there is no 'look' */
    size_t n;
    uint64_t found; /* for the task's use, 0 at first */
    char *out;      /* what key_member_print was given */
    size_t n_out;
    /* Its own: */
    tamis_digest *kept, *parted;
    unsigned char *part; /* of each that is kept */
    size_t room, room_parted, room_out;
} key_member;

/* What is done with keys.  'look' is called for each batch, by several threads at the same time; 'turn' for
 * each block, in the order of the input, by one.  Either may say false, which ends it; 'look' complains.
 *
 * Where there is no 'look', keys may belong to parts that threads can work on at the same time: 'part' says
 * to which of n.  'work' is then called for the keys of a part of a block, in the order of the input for each
 * part, and 'turn' after all parts of the block. */
typedef struct key_task {
    bool (*look)(void *context, key_member *member); /* or NULL */
    bool (*turn)(void *context, key_member *member);
    void *context;
    unsigned (*part)(void *context, tamis_digest digest, unsigned n); /* or NULL */
    void (*work)(void *context, unsigned part, unsigned n, const tamis_digest *digests,
                 size_t count);
} key_task;

/* Note what 'turn' will print: false after a complaint. */
bool key_member_print(key_member *member, const void *bytes, size_t size);

/* Do it with all keys of the reader, by so many threads; 0: as many as there are processors.  false after a
 * complaint. */
bool keys_each(key_reader *input, unsigned jobs, const key_task *task);

/* -------------------------------------------------------------------------------------------------
 * Digests aside (spool.c)
 */

/* A list of digests of any length: the first ones in memory, the rest in a temporary file without a
 * name.  So nothing is left behind however the program ends. */
typedef struct spool spool;

spool *spool_new(const char *command);                             /* NULL after a complaint */
bool spool_write(spool *s, const tamis_digest *digests, size_t n); /* false after a complaint */
uint64_t spool_count(const spool *s);
/* After the last spool_write: the two functions of a tamis_source, with the spool as their context.
 * false after a complaint. */
bool spool_rewind(void *context);
bool spool_read(void *context, tamis_digest *digests, size_t room, size_t *n);
void spool_free(spool *s);

/* -------------------------------------------------------------------------------------------------
 * Sets (sets.c)
 */

/* Open a set.  A large file is mapped if possible: to be asked, and verified as it is touched, set_damaged
 * tells afterwards; to be read, and verified.  A smaller one, or one to be changed, is loaded, and refused if
 * it is damaged.  "-" is stdin.  NULL after a complaint. */
typedef enum set_use { SET_ASK, SET_READ, SET_CHANGE } set_use;
tamis_filter *set_open(const char *command, const char *path, set_use use);

/* Was damage met while a set was asked?  true after a complaint. */
bool set_damaged(const char *command, const char *path, const tamis_filter *filter);

/* Like set_open with SET_READ, but gives the reason instead of complaining if the bytes are not a
 * valid set: then it returns NULL and sets '*reason'.  After a complaint it returns NULL, and
 * '*reason' is NULL. */
tamis_filter *set_examine(const char *command, const char *path, const char **reason);

/* Can a set be written to 'path' ("-": stdout), as far as can be told in advance?  An existing file
 * that is not a set is not replaced. false after a complaint.  Ask before the work is done. */
bool output_check(const char *command, const char *path);

/* A set must not replace a file that keys are read from, under any name, including standard input if
 * 'keys_standard': false after a complaint. */
bool output_differs(const char *command, const char *path, char *const *files, int n_files,
                    bool keys_standard);

/* Write a set.  A regular file is replaced atomically, and signals wait meanwhile, so no temporary file
 * stays; "-" and devices are written to. false after a complaint. */
bool set_save(const char *command, const tamis_filter *filter, const char *path);

/* Like set_save, but in the compact form, which the kind must have. */
bool set_export(const char *command, const tamis_filter *filter, const char *path);

/* The set and the keys cannot both come from standard input: false after a complaint. */
bool inputs_differ(const char *command, const char *set, bool keys_standard);

/* A readable form of keys, "integers (--u64)"; NULL if it is unknown. */
const char *text_form(tamis_key_form form);

/* The form of keys in this format. */
tamis_key_form key_format_form(const key_format *format);

/* Do the keys have the same form as those of the set at 'path'?  If that form is unknown they may have
 * any, and hexadecimal can also give the bytes of integers. false after a complaint. */
bool keys_fit(key_reader *reader, tamis_key_form form, const char *path);

/* Insert all keys of the reader, which so many threads read (keys_each), and count the different ones, unless
 * that is NULL.  false after a complaint. */
struct distinct;
bool set_insert(key_reader *reader, unsigned jobs, tamis_filter **filter,
                struct distinct *different);

/* Does the set hold more keys than it was made for?  Then 'info' has the details. */
bool set_overfull(const tamis_filter *filter, tamis_info *info);

/* One line on stderr if it does. */
void set_warn_overload(const char *command, const tamis_filter *filter, const char *path);

/* Let the set grow by itself from now on, with error rate 'fpr' promised for all of it. 0: the rate
 * promised before, or else twice the present one. false after a complaint. */
bool set_allow_growth(const char *command, tamis_filter *filter, double fpr);

/* One line on stderr that describes the set. */
void set_describe(const char *command, const tamis_filter *filter, const char *path);

/* The whole of a subcommand that loads a set, changes it by the keys read and saves it (change.c).
 * 'changer' makes the change and returns the exit code.  If it returns EXIT_TROUBLE, it has complained, and
 * nothing is saved.  The set must have the 'abilities'.  'adds': keys are added, and the set may grow. */
typedef int set_changer(key_reader *reader, tamis_filter *filter);
int set_change(int argc, char **argv, const char *help, unsigned abilities, bool adds,
               set_changer *changer);

/* If a change of the set 'input' will be written to the same file, under any name: wait until no other
 * program changes it, and make others wait until set_unlock (lock.c).  Call this before the set is
 * read.  If the file system has no locks, nothing is locked.  Returns the argument for set_unlock. */
int set_lock(const char *command, const char *input, const char *output);
void set_unlock(int lock);

/* Hold back, and release again, the signals that end a program from outside. */
void signals_hold(void);
void signals_release(void);

/* -------------------------------------------------------------------------------------------------
 * JSON (json.c)
 */

/* Writes one JSON document.  'name' is the member's name inside an object and NULL elsewhere.  A
 * compact array or object is on one line. */
#define JSON_DEPTH 8
typedef struct json {
    FILE *out;
    unsigned depth;
    struct {
        char close;
        bool compact;
        bool empty;
    } level[JSON_DEPTH];
} json;

void json_start(json *j, FILE *out);
void json_open(json *j, const char *name, char bracket, bool compact); /* bracket: '{' or '[' */
void json_close(json *j);
void json_text(json *j, const char *name, const char *text); /* invalid UTF-8 becomes U+FFFD */
/* Many readers keep numbers as doubles, and round integers beyond 2^53.  Such integers are written as
 * strings of digits.  A seed is always a string, so its type does not depend on its value. */
void json_u64(json *j, const char *name, uint64_t value);
void json_seed(json *j, hash_seed seed);                 /* member "seed" */
void json_real(json *j, const char *name, double value); /* NaN and infinity: null */
void json_bool(json *j, const char *name, bool value);
void json_null(json *j, const char *name);
void json_params(json *j, const tamis_params *params); /* member "params" */
void json_end(json *j);

/* -------------------------------------------------------------------------------------------------
 * What wishes cost (plan_costs.c)
 */

/* A plan without one of the wishes of a need, which is named as its option is. */
#define PLAN_COSTS_MAX 16
typedef struct plan_cost {
    const char *wish;
    tamis_kind kind;
    uint64_t n, bytes;
    double bits_per_key, fpr;
} plan_cost;

/* Fill 'without' with the plans that are more than some 5 % better than the one with all wishes, of a set
 * that so many threads share, or 0: how many. */
size_t plan_costs(const tamis_need *need, unsigned threads, const plan_cost *with,
                  plan_cost *without);
void print_plan_costs(const tamis_need *need, const plan_cost *with, const plan_cost *without,
                      size_t n);
void json_plan_costs(json *j, const plan_cost *without, size_t n); /* member "without" */

/* Length of the UTF-8 sequence at 's'; 0 if there is none, as for overlong forms and surrogates.  The bytes
 * end with a zero. */
unsigned utf8_length(const unsigned char *s);

#endif
