/* cmd_uniq.c - tamis uniq: lines whose keys are new
 *
 * One pass: a key that is not in the set is added, and its line printed at once.  The set grows with
 * the keys, unless their number is given.  Either way its error rate, which is the odds that a new key
 * is taken for an old one, stays under the promise.
 *
 * With a window, keys are forgotten after so many lines or so much time.  The window is divided in ticks:
 * after each, the set forgets what is older than all of them (tamis/window.h).  Time is that of this
 * program, or what the lines tell (stamp.h).  Then tick number t has the lines from t to t + 1 ticks after
 * 1970, so that the result depends on nothing but the lines; a line of an earlier tick than the one before
 * it is late, and belongs to the tick of that one, since a set cannot go back.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <tamis/window.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Keys of the first link of a set that grows. */
#define FIRST_KEYS 1000000u

#define TICKS 8u /* of a window */

static const char help[] =
    "usage: tamis uniq [-s SET] [-n N] [-p P] [-w W] [-v] [-c] [FILE...]\n"
    "Print the keys, one per line, of the files or of standard input that have not come before.  "
    "They\n"
    "need not be sorted, come out at once, and take a few bits each.  With the odds of the error "
    "rate\n"
    "a new key is taken for an old one and dropped; an old one is never printed.\n\n"
    "  -s, --set SET   keys of this set have come before, new ones are added to it.  It is saved "
    "when\n"
    "                  all is printed, and made if it is not there\n"
    "  -p P            error rate, 0 < P < 1 (default 1e-6)\n"
    "  -n N            new keys at most, in constant memory; more are trouble.  Without it the set "
    "grows\n"
    "  -w, --window W  forget keys after W lines (1000000, 1e6, 1M) or after a time (30s, 10m, 2h, "
    "7d):\n"
    "                  a key that comes again within W is old, one that comes later is new\n"
    "      --time-field N\n"
    "                  the window follows the time that is field N of each line, and not that of "
    "the\n"
    "                  program.  The key is the line without it, unless -f says which field.  "
    "Fields\n"
    "                  are separated by blanks, or with -f or -d as these say\n"
    "      --time-format F\n"
    "                  how the time is written, as for strptime: %d/%b/%Y:%H:%M:%S.  Without it\n"
    "                  ISO 8601, in UTC if no zone is given, or seconds since 1970\n"
    "      --unstamped lines without a time belong to the one before\n"
    "      --ticks T   forget in T steps (default 8, up to 126), so at the latest after W (1 + "
    "1/T)\n"
    "      --grow      let also a set grow that was not made to\n"
    "      --overfull  go on when a set that does not grow has the keys that it was made for\n"
    "  -v, --invert    print the keys that have come before\n"
    "  -c, --count     print only how many\n" KEY_HELP;

typedef struct uniq_options {
    tamis_need need;
    key_format format;
    const char *set;
    bool grow;
    bool overfull;
    bool invert;
    bool count;
    uint64_t window_lines; /* 0: no such window */
    double window_seconds; /* 0: no such window */
} uniq_options;

/* The set to search and to add keys to. */
typedef struct seen_set {
    tamis_filter *filter;
    tamis_params params;
    bool copies;  /* it would count a key that is added again */
    bool limited; /* it takes params.capacity keys */
    bool forgets; /* it is a window */
    unsigned ticks;
    uint64_t tick_lines; /* of a tick, or 0 */
    uint64_t lines;      /* of this tick so far */
    double tick_seconds; /* of a tick, or 0 */
    double next_tick;    /* when it begins */
    /* If lines tell the time: */
    bool stamped;
    int64_t window;     /* all ticks, in units of stamps */
    bool begun;         /* there was a line */
    int64_t tick;       /* the present one, since 1970 */
    int64_t newest;     /* stamp of a line */
    uint64_t n_lines;   /* so far, and of them: */
    uint64_t late;      /* those of an earlier tick */
    int64_t late_most;  /* behind the newest */
    uint64_t unstamped; /* those without a time */
} seen_set;

/* -------------------------------------------------------------------------------------------------
 * The set
 */

static bool is_window(const uniq_options *chosen) {
    return chosen->window_lines != 0 || chosen->window_seconds != 0;
}

/* A new set; NULL after a complaint. */
static tamis_filter *make_seen(const char *command, const uniq_options *chosen) {
    tamis_need need = chosen->need;
    tamis_filter *filter = NULL;
    tamis_plan plan;

    if (is_window(chosen) && need.ticks == 0)
        need.ticks = TICKS;
    if (chosen->window_lines != 0 && need.n == 0)
        need.n = chosen->window_lines;
    need.grows = need.n == 0 || chosen->grow;
    need.n = need.n == 0 ? FIRST_KEYS : need.n;
    if (need.ticks != 0) /* those of the tick under way are in it too */
        need.n += (need.n + need.ticks - 1) / need.ticks;
    tamis_plan_init(&plan);
    tamis_status status = tamis_plan_make(&need, &plan);
    if (status != TAMIS_OK) {
        complain_plan(command, &need, status);
        return NULL;
    }
    status = tamis_filter_create(&plan.params, NULL, &filter);
    if (status == TAMIS_OK)
        status = tamis_filter_set_key_form(filter, key_format_form(&chosen->format));
    if (status != TAMIS_OK)
        complain(command, "cannot make the set: %s", tamis_status_text(status));
    else if (!need.grows || set_allow_growth(command, filter, need.fpr))
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

/* The set of the file, ready for more keys; NULL after a complaint. */
static tamis_filter *load_seen(const char *command, const uniq_options *chosen) {
    tamis_filter *const filter = set_open(command, chosen->set, SET_CHANGE);
    tamis_info info;

    tamis_info_init(&info);
    if (filter == NULL || tamis_filter_info(filter, &info) != TAMIS_OK ||
        (!chosen->grow && !info.grows) || set_allow_growth(command, filter, 0))
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* How long a tick of the set lasts; false after a complaint. */
static bool open_window(const char *command, const uniq_options *chosen, seen_set *seen) {
    tamis_window_state state;

    tamis_window_state_init(&state);
    seen->forgets = tamis_window_info(seen->filter, &state) == TAMIS_OK;
    if (seen->forgets != is_window(chosen)) {
        complain(command, seen->forgets ? "the set forgets: say after how long (--window)"
                                        : "the set was not made to forget (--window)");
        return false;
    }
    if (!seen->forgets)
        return true;
    if (chosen->need.ticks != 0 && chosen->need.ticks != state.ticks) {
        complain(command, "the set has %u ticks", state.ticks);
        return false;
    }
    seen->ticks = state.ticks;
    seen->tick_lines = (chosen->window_lines + state.ticks - 1) / state.ticks;
    seen->tick_seconds = chosen->window_seconds / state.ticks;
    seen->next_tick = now_seconds() + seen->tick_seconds;
    seen->stamped = chosen->format.times.field != 0;
    seen->window = (int64_t)fmax(1, round(chosen->window_seconds * STAMP_SECOND));
    return true;
}

static bool open_seen(const char *command, const uniq_options *chosen, seen_set *seen) {
    struct stat about;
    tamis_info info;

    const bool there = chosen->set != NULL && stat(chosen->set, &about) == 0;
    seen->filter = (there ? load_seen : make_seen)(command, chosen);
    tamis_params_init(&seen->params);
    tamis_info_init(&info);
    if (seen->filter == NULL)
        return false;
    if (tamis_filter_params(seen->filter, &seen->params) != TAMIS_OK ||
        tamis_filter_info(seen->filter, &info) != TAMIS_OK) {
        complain(command, "the set cannot be used");
        return false;
    }
    seen->copies = (tamis_params_abilities(&seen->params) & TAMIS_CAN_COUNT) != 0;
    seen->limited = !info.grows && !chosen->overfull;
    return open_window(command, chosen, seen);
}

/* -------------------------------------------------------------------------------------------------
 * Keys
 */

/* Is there no room for a new key?  What is forgotten may still have to be cleared. */
static bool is_full(const seen_set *seen) {
    if (!seen->limited || tamis_filter_count(seen->filter) < seen->params.capacity)
        return false;
    return !seen->forgets || tamis_window_step(seen->filter, UINT64_MAX, NULL) != TAMIS_OK ||
           tamis_filter_count(seen->filter) >= seen->params.capacity;
}

/* Add a key if it is new: TAMIS_OK, and whether it was; TAMIS_E_FULL if there is no room for more
 * new keys. */
static tamis_status see_one(const seen_set *seen, tamis_digest digest, bool *fresh) {
    *fresh = false;
    if (!seen->forgets && tamis_filter_contains_digest(seen->filter, digest))
        return TAMIS_OK;
    if (is_full(seen) && !tamis_filter_contains_digest(seen->filter, digest))
        return TAMIS_E_FULL;
    return tamis_filter_insert_digest(seen->filter, digest, fresh);
}

/* Process n digests; answers[] tells which are new.  If the result is not TAMIS_OK, only '*done' of
 * them. */
static tamis_status see_many(const seen_set *seen, const tamis_digest *digests, size_t n,
                             bool *answers, size_t *done) {
    const uint64_t count = tamis_filter_count(seen->filter);

    if (!seen->copies && (!seen->limited || count + n <= seen->params.capacity))
        return tamis_filter_insert_many_digest(seen->filter, digests, n, answers, done);
    for (*done = 0; *done < n; ++*done) {
        const tamis_status status = see_one(seen, digests[*done], &answers[*done]);
        if (status != TAMIS_OK)
            return status;
    }
    return TAMIS_OK;
}

/* Begin the ticks that are due.  After a pause there may be many, of which all but some forget nothing. */
static tamis_status see_ticks(seen_set *seen) {
    tamis_status status = TAMIS_OK;

    if (seen->tick_lines != 0 && seen->lines == seen->tick_lines) {
        seen->lines = 0;
        return tamis_window_tick(seen->filter);
    }
    if (seen->tick_seconds == 0)
        return TAMIS_OK;
    const double late = now_seconds() - seen->next_tick;
    if (late < 0)
        return TAMIS_OK;
    const double due = 1 + floor(late / seen->tick_seconds);
    seen->next_tick += due * seen->tick_seconds;
    for (unsigned i = 0; status == TAMIS_OK && i < due && i <= seen->ticks; i++)
        status = tamis_window_tick(seen->filter);
    return status;
}

/* The tick of a time: floor(when / (window / ticks)), without rounding. */
static int64_t tick_of(const seen_set *seen, int64_t when) {
    const int64_t part = when % seen->window;
    const int64_t rest = part < 0 ? part + seen->window : part;
    return (when - rest) / seen->window * (int64_t)seen->ticks +
           rest * (int64_t)seen->ticks / seen->window;
}

/* Take note of a line's time.  Returns the number of ticks to begin before it. */
static uint64_t see_stamp(seen_set *seen, int64_t when) {
    seen->n_lines++;
    if (when == STAMP_NONE) {
        seen->unstamped++;
        return 0;
    }
    const int64_t tick = tick_of(seen, when);
    if (!seen->begun) {
        seen->begun = true;
        seen->tick = tick;
        seen->newest = when;
    }
    if (tick < seen->tick) {
        seen->late++;
        if (seen->newest - when > seen->late_most)
            seen->late_most = seen->newest - when;
        return 0;
    }
    const uint64_t due = (uint64_t)(tick - seen->tick);
    seen->tick = tick;
    seen->newest = when > seen->newest ? when : seen->newest;
    return due;
}

/* Process all keys of a batch whose lines tell the time: those up to the next tick together. */
static tamis_status see_stamped(seen_set *seen, key_batch *batch, size_t *done) {
    tamis_status status = TAMIS_OK;

    *done = 0;
    for (size_t i = 0; status == TAMIS_OK && i <= batch->n; i++) {
        uint64_t due = i < batch->n ? see_stamp(seen, batch->when[i]) : 0;
        if (i < batch->n && due == 0)
            continue;
        size_t some = 0;
        if (i > *done)
            status = see_many(seen, batch->digest + *done, i - *done, batch->answer + *done, &some);
        *done += some;
        /* After a pause there may be many, of which all but some forget nothing. */
        for (due = due <= seen->ticks ? due : seen->ticks + 1; status == TAMIS_OK && due > 0; due--)
            status = tamis_window_tick(seen->filter);
    }
    return status;
}

/* Process all keys of a batch, as see_many does. */
static tamis_status see_batch(seen_set *seen, key_batch *batch, size_t *done) {
    tamis_status status = TAMIS_OK;

    if (!seen->forgets)
        return see_many(seen, batch->digest, batch->n, batch->answer, done);
    if (seen->stamped)
        return see_stamped(seen, batch, done);
    for (*done = 0; status == TAMIS_OK && *done < batch->n;) {
        status = see_ticks(seen);
        if (status != TAMIS_OK)
            break;
        size_t n = batch->n - *done, some = 0;
        if (seen->tick_lines != 0 && seen->tick_lines - seen->lines < n)
            n = (size_t)(seen->tick_lines - seen->lines);
        status = see_many(seen, batch->digest + *done, n, batch->answer + *done, &some);
        seen->lines += some;
        *done += some;
    }
    return status;
}

/* Print the first 'n' of a batch that were asked for; returns how many. */
static size_t print_batch(const key_batch *batch, size_t n, const uniq_options *chosen) {
    size_t printed = 0;

    for (size_t i = 0; i < n; i++) {
        if (batch->answer[i] == chosen->invert)
            continue;
        printed++;
        if (chosen->count)
            continue;
        fwrite(batch->raw[i].data, 1, batch->raw[i].size, stdout);
        putchar(chosen->format.separator);
    }
    return printed;
}

static int complain_full(key_reader *reader, const seen_set *seen, const uniq_options *chosen) {
    char count[TEXT_NUMBER];

    progress_end(&reader->progress);
    return complain(reader->command,
                    "the set has the %s keys that it was made for, and more are new%s (see -n, "
                    "--grow, --overfull)",
                    text_count(tamis_filter_count(seen->filter), count),
                    chosen->set != NULL ? "; it was not saved" : "");
}

static int see_all(key_reader *reader, seen_set *seen, const uniq_options *chosen) {
    key_batch *const batch = &reader->batch;
    uint64_t n = 0;

    while (keys_read(reader) > 0) {
        size_t done = 0;
        const tamis_status status = see_batch(seen, batch, &done);
        n += print_batch(batch, done, chosen);
        if (status == TAMIS_E_FULL)
            return complain_full(reader, seen, chosen);
        if (status != TAMIS_OK) {
            progress_end(&reader->progress);
            return complain(reader->command, "%s", tamis_status_text(status));
        }
        /* Before waiting for a pipe, show what is known. */
        if (batch->n < KEY_BATCH && !reader->regular && !chosen->count)
            fflush(stdout);
        if (ferror(stdout))
            break;
    }
    if (reader->failed || ferror(stdout))
        return EXIT_TROUBLE;
    if (chosen->count)
        printf("%" PRIu64 "\n", n);
    return EXIT_YES;
}

/* Tell which lines did not have the time that they should have. */
static void tell_stamps(const char *command, const seen_set *seen) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"days", 86400}};
    const double late = (double)seen->late_most / STAMP_SECOND;
    char some[TEXT_NUMBER], all[TEXT_NUMBER];
    unsigned unit = 0;

    while (unit < 3 && late >= 2 * units[unit + 1].seconds)
        unit++;
    text_count(seen->n_lines, all);
    if (seen->late > 0)
        complain(
            command,
            "warning: %s of %s lines were late, by up to %.3g %s, and count as of the time when "
            "they came",
            text_count(seen->late, some), all, late / units[unit].seconds, units[unit].name);
    if (seen->unstamped > 0)
        complain(command, "warning: %s of %s lines had no time, and count as of the line before",
                 text_count(seen->unstamped, some), all);
}

/* -------------------------------------------------------------------------------------------------
 * The command
 */

/* Whole hours of a file are read in a moment, so that its lines would all be of the same time: warn. */
static void warn_replay(const char *command, const uniq_options *chosen, char *const *files,
                        int n_files) {
    struct stat about;

    if (chosen->window_seconds == 0 || chosen->format.times.field != 0)
        return;
    for (int i = 0; i < n_files || i == 0; i++) {
        const bool standard = n_files == 0 || strcmp(files[i], "-") == 0;
        if (n_files == 0 && chosen->format.n_given > 0)
            return;
        if ((standard ? fstat(STDIN_FILENO, &about) : stat(files[i], &about)) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        complain(command,
                 "warning: %s is a file, and --window counts the time while it is read; "
                 "--time-field takes the time of its lines",
                 standard ? "standard input" : files[i]);
        return;
    }
}

/* Do the options of time go together? false after a complaint. */
static bool check_times(const char *command, const uniq_options *chosen) {
    const stamp_form *const times = &chosen->format.times;

    if (chosen->need.ticks != 0 && !is_window(chosen))
        complain(command, "--ticks divides a window: see --window");
    else if (times->field == 0 && (times->format != NULL || times->carry))
        complain(command, "%s is for --time-field, which is not given",
                 times->format != NULL ? "--time-format" : "--unstamped");
    else if (times->field != 0 && chosen->window_seconds == 0)
        complain(command, "--time-field is for a window of time: give one, as --window 1h");
    else if (times->field != 0 && chosen->format.n_given > 0)
        complain(command, "a key of -e has no time, which --time-field asks for");
    else
        return times->format == NULL || stamp_format_check(command, times->format);
    return false;
}

static int uniq_files(const char *command, const uniq_options *chosen, char *const *files,
                      int n_files) {
    seen_set seen = {0};
    int code = EXIT_TROUBLE;

    if (!check_times(command, chosen))
        return EXIT_TROUBLE;
    if (chosen->set != NULL && strcmp(chosen->set, "-") == 0)
        return complain(command, "the set is read and written: it needs a file");
    if (chosen->set != NULL &&
        (!output_differs(command, chosen->set, files, n_files,
                         keys_from_standard(&chosen->format, files, n_files)) ||
         !output_check(command, chosen->set)))
        return EXIT_TROUBLE;
    key_reader *const reader = keys_open(command, &chosen->format, files, n_files);
    if (reader == NULL)
        return EXIT_TROUBLE;
    const int lock = chosen->set != NULL ? set_lock(command, chosen->set, chosen->set) : -1;
    if (open_seen(command, chosen, &seen) &&
        keys_fit(reader, tamis_filter_key_form(seen.filter),
                 chosen->set != NULL ? chosen->set : "-") &&
        keys_hash(reader, &seen.params)) {
        warn_replay(command, chosen, files, n_files);
        code = see_all(reader, &seen, chosen);
    }
    /* Keys whose lines could not be printed do not count as seen. */
    if (code == EXIT_YES && chosen->set != NULL &&
        (!output_flush(command) || !set_save(command, seen.filter, chosen->set)))
        code = EXIT_TROUBLE;
    set_unlock(lock);
    if (code == EXIT_YES)
        tell_stamps(command, &seen);
    if (code == EXIT_YES)
        set_warn_overload(command, seen.filter, chosen->set != NULL ? chosen->set : "-");
    keys_free(reader);
    tamis_filter_free(seen.filter);
    return code;
}

/* A window: a number of lines, or a time; false after a complaint. */
static bool take_window(const char *command, const char *text, uniq_options *chosen) {
    static const struct {
        const char *names; /* each between blanks */
        double seconds;
    } units[] = {{" ms msec msecs millisecond milliseconds ", 1e-3},
                 {" s sec secs second seconds ", 1},
                 {" m min mins minute minutes ", 60},
                 {" h hr hrs hour hours ", 3600},
                 {" d day days ", 86400},
                 {" w week weeks ", 604800}};
    char *end, unit[16];
    const double number = strtod(text, &end);
    const char *const name = end + strspn(end, " ");

    chosen->window_lines = 0;
    chosen->window_seconds = 0;
    snprintf(unit, sizeof unit, " %.12s ", name);
    const bool named = end != text && name[0] != '\0' && strchr(name, ' ') == NULL;
    for (size_t i = 0; named && i < sizeof units / sizeof *units; i++) {
        if (strstr(units[i].names, unit) == NULL)
            continue;
        if (!(number > 0 && number * units[i].seconds <= 1e9)) {
            complain(command, "--window: %s is out of range, a time is up to 1e9 seconds", text);
            return false;
        }
        chosen->window_seconds = number * units[i].seconds;
        return true;
    }
    if (text[0] == '\0' || strspn(text, "ekKMGT0123456789.+") != strlen(text)) {
        complain(command,
                 "--window: '%s' is neither a number of lines (1000000, 1e6, 1M) nor a time in s, "
                 "min, h, days or weeks (30s, 10min, 2h, 7d)",
                 text);
        return false;
    }
    return option_count(command, "--window", text, TAMIS_CAPACITY_MAX / 2, &chosen->window_lines);
}

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    uniq_options *const chosen = context;

    switch (option) {
    case 's':
        chosen->set = optarg;
        return true;
    case 'w':
        return take_window(command, optarg, chosen);
    case 'n':
    case 'p':
    case OPT_TICKS:
        return need_option(command, option, &chosen->need) == 1;
    case OPT_TIME_FIELD:
        return option_count(command, "--time-field", optarg, UINT32_MAX,
                            &chosen->format.times.field);
    case OPT_TIME_FORMAT:
        chosen->format.times.format = optarg;
        return true;
    case OPT_UNSTAMPED:
        return option_flag(&chosen->format.times.carry);
    case OPT_GROW:
        return option_flag(&chosen->grow);
    case OPT_OVERFULL:
        return option_flag(&chosen->overfull);
    case 'v':
        return option_flag(&chosen->invert);
    case 'c':
        return option_flag(&chosen->count);
    default:
        return key_format_option(command, &chosen->format, option) == 1;
    }
}

int cmd_uniq(int argc, char **argv) {
    static const struct option options[] = {
        {"set", required_argument, NULL, 's'},
        {"window", required_argument, NULL, 'w'},
        {"ticks", required_argument, NULL, OPT_TICKS},
        {"time-field", required_argument, NULL, OPT_TIME_FIELD},
        {"time-format", required_argument, NULL, OPT_TIME_FORMAT},
        {"unstamped", no_argument, NULL, OPT_UNSTAMPED},
        {"grow", no_argument, NULL, OPT_GROW},
        {"overfull", no_argument, NULL, OPT_OVERFULL},
        {"invert", no_argument, NULL, 'v'},
        {"count", no_argument, NULL, 'c'},
        KEY_OPTIONS,
        {"help", no_argument, NULL, OPT_HELP},
        {NULL, 0, NULL, 0}};
    uniq_options chosen = {.format = KEY_FORMAT_DEFAULT};
    const command_line line = {"s:n:p:w:vc" KEY_LETTERS, options, help, take_option};

    tamis_need_init(&chosen.need);
    chosen.need.fpr = 1e-6;
    int code = options_read(argc, argv, &line, &chosen);
    if (code == GO_ON)
        code = uniq_files(argv[0], &chosen, argv + optind, argc - optind);
    key_format_free(&chosen.format);
    return code;
}
