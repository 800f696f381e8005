/* sets.c - sets in files
 *
 * The library says why bytes are not a valid set.  Here the operating system is asked first why a file
 * cannot be opened at all, because that is what people want to know about a missing file.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"
#include "cli/distinct.h"

#include <tamis/shared.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

/* -------------------------------------------------------------------------------------------------
 * Reading
 */

/* Files of so many bytes are mapped.  Whoever cuts off a mapped file ends the process that asks it; smaller
 * ones are read in a few hundredths of a second. */
#define MAPPED_LEAST ((off_t)64 << 20)

static off_t mapped_least(void) {
#ifdef TAMIS_TESTING
    const char *const given = getenv("TAMIS_MAPPED_LEAST");
    if (given != NULL)
        return (off_t)strtol(given, NULL, 10);
#endif
    return MAPPED_LEAST;
}

/* 'size' is that of a regular file, or 0. */
static tamis_status load(const char *path, int fd, off_t size, set_use use, tamis_filter **filter,
                         const char **reason) {
    if (size >= mapped_least() && use != SET_CHANGE) {
        tamis_status status = tamis_filter_map(path, NULL, filter, reason);
        if (status == TAMIS_OK && use == SET_READ)
            status = tamis_filter_verify(*filter, reason);
        if (status == TAMIS_E_FORMAT) {
            tamis_filter_free(*filter);
            *filter = NULL;
        }
        if (status != TAMIS_E_UNSUPPORTED)
            return status;
    }
    return tamis_filter_load_fd(fd, NULL, filter, reason);
}

static tamis_filter *open_set(const char *command, const char *path, set_use use,
                              const char **reason) {
    const bool standard = is_standard(path);
    const char *const name = standard ? "standard input" : path;
    struct stat about;

    *reason = NULL;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        complain(command, "%s: %s", name, strerror(errno));
        return NULL;
    }
    tamis_filter *filter = NULL;
    if (S_ISDIR(about.st_mode)) {
        complain(command, "%s: %s", name, strerror(EISDIR));
    } else {
        const off_t size = S_ISREG(about.st_mode) && !standard ? about.st_size : 0;
        const char *why = NULL;
        const tamis_status status = load(path, fd, size, use, &filter, &why);
        if (why == NULL)
            why = tamis_status_text(status);
        if (status == TAMIS_E_FORMAT || status == TAMIS_E_VERSION)
            *reason = why;
        else if (status != TAMIS_OK)
            complain(command, "%s: %s", name, why);
    }
    if (!standard)
        close(fd);
    return filter;
}

tamis_filter *set_examine(const char *command, const char *path, const char **reason) {
    return open_set(command, path, SET_READ, reason);
}

tamis_filter *set_open(const char *command, const char *path, set_use use) {
    const char *reason;
    tamis_filter *const filter = open_set(command, path, use, &reason);
    if (reason != NULL)
        complain(command, "%s: %s", is_standard(path) ? "standard input" : path, reason);
    return filter;
}

bool set_damaged(const char *command, const char *path, const tamis_filter *filter) {
    if (tamis_filter_damage(filter) == 0)
        return false;
    complain(command,
             "%s: the body is damaged: its checksum does not match; keys that might be in what is "
             "damaged were taken to be in the set",
             is_standard(path) ? "standard input" : path);
    return true;
}

bool inputs_differ(const char *command, const char *set, bool keys_standard) {
    if (!is_standard(set) || !keys_standard)
        return true;
    complain(command, "the set and the keys cannot both come from standard input");
    return false;
}

/* -------------------------------------------------------------------------------------------------
 * Writing
 */

static void end_signals(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGQUIT);
    sigaddset(signals, SIGTERM);
}

void signals_hold(void) {
    sigset_t signals;
    end_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

void signals_release(void) {
    sigset_t signals;
    end_signals(&signals);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

/* The folder of 'path' must exist and be writable, because the new file is made beside the old one. */
static bool check_folder(const char *command, const char *path) {
    const char *const slash = strrchr(path, '/');
    char folder[4096] = ".";
    struct stat about;

    if (slash == path) {
        folder[0] = '/';
    } else if (slash != NULL) {
        const size_t size = (size_t)(slash - path);
        if (size >= sizeof folder) {
            complain(command, "%s: %s", path, strerror(ENAMETOOLONG));
            return false;
        }
        memcpy(folder, path, size);
        folder[size] = '\0';
    }
    if (stat(folder, &about) == 0 && !S_ISDIR(about.st_mode))
        errno = ENOTDIR;
    else if (access(folder, W_OK | X_OK) == 0)
        return true;
    complain(command, "cannot write %s: folder %s: %s", path, folder, strerror(errno));
    return false;
}

/* May the regular file at 'path' be replaced?  A file that does not begin like a set is something that
 * somebody wanted to keep.  An empty file is not, and a file that cannot be read cannot be judged. false
 * after a complaint. */
static bool check_old(const char *command, const char *path, const struct stat *about) {
    static const char whole[] = "\x89TAMIS\r\n";
    static const char compact[] = "\x89TAMCF\r\n";
    char head[sizeof whole - 1] = {0};

    const int fd = about->st_size > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return true;
    const ssize_t n = read(fd, head, sizeof head);
    close(fd);
    const size_t seen = n > 0 ? (size_t)n : 0;
    if (n < 0 || memcmp(head, whole, seen) == 0 || memcmp(head, compact, seen) == 0)
        return true;
    complain(command, "cannot write %s: there is a file that is no set; remove it first", path);
    return false;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_differs(const char *command, const char *path, char *const *files, int n_files,
                    bool keys_standard) {
    struct stat output;
    struct stat input;

    if (is_standard(path) || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return true;
    for (int i = 0; i < n_files; i++) {
        if (!is_standard(files[i]) && stat(files[i], &input) == 0 && same_file(&output, &input)) {
            complain(command, "cannot write %s: keys are read from it", path);
            return false;
        }
    }
    if (keys_standard && fstat(STDIN_FILENO, &input) == 0 && same_file(&output, &input)) {
        complain(command, "cannot write %s: it is the standard input", path);
        return false;
    }
    return true;
}

bool output_check(const char *command, const char *path) {
    struct stat about;

    if (is_standard(path)) {
        if (!isatty(STDOUT_FILENO))
            return true;
        complain(command, "a set is not written to a terminal; redirect the output or name a file");
        return false;
    }
    if (path[0] == '\0') {
        complain(command, "-o: the name of the file is empty");
        return false;
    }
    if (stat(path, &about) != 0)
        return check_folder(command, path);
    if (S_ISREG(about.st_mode))
        return check_folder(command, path) && check_old(command, path, &about);
    if (!S_ISDIR(about.st_mode))
        return true;
    complain(command, "cannot write %s: %s", path, strerror(EISDIR));
    return false;
}

static bool fail_save(const char *command, const char *path, const char *reason,
                      tamis_status status) {
    complain(command, "cannot write %s: %s", path,
             reason != NULL ? reason : tamis_status_text(status));
    return false;
}

/* The two forms of a set in a file. */
typedef struct file_form {
    tamis_status (*to_fd)(const tamis_filter *filter, int fd, const char **reason);
    tamis_status (*to_path)(const tamis_filter *filter, const char *path, const char **reason);
} file_form;

static bool save_to_fd(const char *command, const tamis_filter *filter, const file_form *form,
                       int fd, const char *name) {
    const char *reason = NULL;
    const tamis_status status = form->to_fd(filter, fd, &reason);
    return status == TAMIS_OK ? true : fail_save(command, name, reason, status);
}

static bool save(const char *command, const tamis_filter *filter, const file_form *form,
                 const char *path) {
    struct stat about;

    if (is_standard(path))
        return save_to_fd(command, filter, form, STDOUT_FILENO, "standard output");
    /* A device or pipe may block for as long as it takes, so signals are let through. */
    const bool replaced = stat(path, &about) != 0 || S_ISREG(about.st_mode);
    /* Replace the file that a symbolic link leads to, not the link. */
    char *const target = replaced ? realpath(path, NULL) : NULL;
    const char *reason = NULL;
    if (replaced)
        signals_hold();
    const tamis_status status = form->to_path(filter, target != NULL ? target : path, &reason);
    if (replaced)
        signals_release();
    free(target);
    return status == TAMIS_OK ? true : fail_save(command, path, reason, status);
}

bool set_save(const char *command, const tamis_filter *filter, const char *path) {
    const file_form whole = {tamis_filter_save_fd, tamis_filter_save};
    return save(command, filter, &whole, path);
}

bool set_export(const char *command, const tamis_filter *filter, const char *path) {
    const file_form compact = {tamis_filter_compact_save_fd, tamis_filter_compact_save};
    return save(command, filter, &compact, path);
}

/* -------------------------------------------------------------------------------------------------
 * Filling
 */

const char *text_form(tamis_key_form form) {
    switch (form) {
    case TAMIS_KEYS_BYTES:
        return "text or bytes";
    case TAMIS_KEYS_U64:
        return "integers (--u64)";
    default:
        return NULL;
    }
}

tamis_key_form key_format_form(const key_format *format) {
    return format->form == KEY_U64 ? TAMIS_KEYS_U64 : TAMIS_KEYS_BYTES;
}

bool keys_fit(key_reader *reader, tamis_key_form form, const char *path) {
    const tamis_key_form own = key_format_form(&reader->format);

    reader->integers = form == TAMIS_KEYS_U64;
    if (form == TAMIS_KEYS_UNKNOWN || form == own ||
        (reader->integers && reader->format.form == KEY_HEX))
        return true;
    complain(reader->command, "the keys of %s are %s, but %s were given",
             is_standard(path) ? "the set" : path, text_form(form), text_form(own));
    return false;
}

typedef struct set_filling {
    key_reader *reader;
    tamis_filter *filter;
    distinct *different;         /* of the keys; NULL: they are not counted */
    tamis_shared *shared;        /* the same as a set that threads share, while they do */
    _Atomic tamis_status status; /* of parts */
    bool full;                   /* after a complaint */
} set_filling;

static bool set_insert_ok(set_filling *f, tamis_status status) {
    if (status == TAMIS_OK)
        return true;
    char count[TEXT_NUMBER];
    f->full = true;
    progress_end(&f->reader->progress);
    complain(f->reader->command, "%s (it holds %s keys); nothing was saved",
             status == TAMIS_E_FULL ? "the set is full" : tamis_status_text(status),
             text_count(f->shared != NULL ? tamis_shared_count(f->shared)
                                          : tamis_filter_count(f->filter),
                        count));
    return false;
}

static bool set_insert_turn(void *context, key_member *member) {
    set_filling *const f = context;
    if (f->different != NULL)
        distinct_add(f->different, member->digests, member->n);
    return set_insert_ok(
        f, tamis_filter_insert_many_digest(f->filter, member->digests, member->n, NULL, NULL));
}

static unsigned set_part(void *context, tamis_digest digest, unsigned n) {
    const set_filling *const f = context;
    return tamis_shared_part(f->shared, digest, n);
}

static void set_insert_part(void *context, unsigned part, unsigned n, const tamis_digest *digests,
                            size_t count) {
    set_filling *const f = context;
    const tamis_status status = tamis_shared_fill_digest(f->shared, part, n, digests, count);
    if (status != TAMIS_OK)
        f->status = status;
}

static bool set_parts_turn(void *context, key_member *member) {
    set_filling *const f = context;
    if (f->different != NULL)
        distinct_add(f->different, member->digests, member->n);
    return set_insert_ok(f, f->status);
}

/* Make the set one that threads fill side by side, if it has parts that they can. */
static bool set_share(set_filling *f) {
    if (tamis_shared_of(f->filter, &f->shared) != TAMIS_OK)
        return false;
    if (tamis_shared_parts(f->shared) > 1)
        return true;
    /* Of one part nothing is copied, so that it cannot fail. */
    (void)!tamis_shared_end(f->shared, &f->filter);
    f->shared = NULL;
    return false;
}

bool set_insert(key_reader *reader, unsigned jobs, tamis_filter **filter, distinct *different) {
    set_filling filling = {.reader = reader, .filter = *filter, .different = different};
    const key_task task = {.turn = set_insert_turn, .context = &filling};
    const key_task parted = {
        .turn = set_parts_turn, .context = &filling, .part = set_part, .work = set_insert_part};
    const bool shared = jobs != 1 && set_share(&filling);
    bool done = keys_each(reader, jobs, shared ? &parted : &task) && !filling.full;
    if (shared && tamis_shared_end(filling.shared, filter) != TAMIS_OK) {
        complain(reader->command, "not enough memory");
        tamis_shared_free(filling.shared);
        *filter = NULL;
        done = false;
    }
    return done;
}

bool set_allow_growth(const char *command, tamis_filter *filter, double fpr) {
    tamis_growth growth;

    tamis_growth_init(&growth);
    growth.fpr = fpr;
    growth.automatic = true;
    const tamis_status status = tamis_filter_allow_growth(filter, &growth);
    if (status == TAMIS_OK)
        return true;
    tamis_info info;
    tamis_info_init(&info);
    if (status == TAMIS_E_ARGUMENT && fpr == 0)
        complain(command, "an empty set has no error rate to keep; say which with -p");
    else if (status == TAMIS_E_PROMISE && tamis_filter_info(filter, &info) == TAMIS_OK)
        complain(command, "the set has error rate %.3g already, so that %g cannot be promised",
                 info.fpr, fpr);
    else
        complain(command, "the set cannot grow: %s", tamis_status_text(status));
    return false;
}

bool set_overfull(const tamis_filter *filter, tamis_info *info) {
    tamis_params params;

    tamis_params_init(&params);
    tamis_info_init(info);
    /* The count and the parameters are cheap; the rest reads the whole set. */
    return tamis_filter_params(filter, &params) == TAMIS_OK &&
           tamis_filter_count(filter) > params.capacity &&
           tamis_filter_info(filter, info) == TAMIS_OK && info->count > info->capacity &&
           /* or it holds copies of keys, and keeps its promise */
           !(info->fpr_promised > 0 && info->fpr <= info->fpr_promised);
}

void set_warn_overload(const char *command, const tamis_filter *filter, const char *path) {
    tamis_info info;
    char count[TEXT_NUMBER];
    char capacity[TEXT_NUMBER];

    const bool grows = strcmp(command, "build") == 0 || strcmp(command, "add") == 0;
    if (!set_overfull(filter, &info))
        return;
    complain(command, "warning: %s holds %s keys but was made for %s: its error rate is now %.3g%s",
             is_standard(path) ? "the set" : path, text_count(info.count, count),
             text_count(info.capacity, capacity), info.fpr,
             grows && info.n_links == 1 ? " (see --grow)" : "");
}

void set_describe(const char *command, const tamis_filter *filter, const char *path) {
    tamis_info info;
    char count[TEXT_NUMBER];
    char bytes[TEXT_NUMBER];

    tamis_info_init(&info);
    if (tamis_filter_info(filter, &info) != TAMIS_OK)
        return;
    complain(command, "%s: %s, %s keys, %s, %.2f bits per key, error rate %.3g",
             is_standard(path) ? "standard output" : path, tamis_kind_name(info.params.kind),
             text_count(info.count, count), text_bytes(info.bytes, bytes), info.bits_per_key,
             info.fpr);
}
