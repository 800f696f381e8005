/* cmd_reproduce.c - tamis reproduce: the figures of the papers, computed and simulated
 *
 * A figure agrees with its paper if the computed value rounds to the printed one in the last digit
 * that the paper prints.  The paper's text says how to read it:
 *
 *     0.34  -3.00e-5  80000     a rounded number
 *     0.0008937...              digits cut off, not rounded
 *     0.49 %                    hundredths
 *     <= 1e-10  at most 1e-10   a bound from above; so are < and under
 *     > 100  over 100           a bound from below; so are >= and at least
 *     40 to 100                 a range
 *
 * Where a figure has a slack, because rounding alone would be too strict, a relative difference up to
 * it agrees as well.  No number is ever changed to fit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/experiments.h"
#include "experiments/plot_data.h"

static const char help[] =
    "usage: tamis reproduce [--full] [--json] [ID...]\n"
    "       tamis reproduce --plot-data DIR\n"
    "Recompute the figures that the papers print, and simulate them on the real structures.\n\n"
    "An ID selects one figure (dleft.t1.load4) or, if it ends in '.' or '*', all that begin so\n"
    "(dleft. or 'dleft.t1*').  Without one, all figures are shown.\n\n"
    "      --full           simulate as often as the papers did: hours, not a minute\n"
    "      --json           as a JSON array of objects\n"
    "      --plot-data DIR  write the data of the plots in docs/models.md to files in DIR\n\n"
    "Verdicts: agrees (within the rounding of the paper), typo (the paper slips; the note says "
    "how),\n"
    "differs, and '-' for a figure that nothing here can be compared with yet.\n"
    "Exit code: 0 if no figure shown differs, 1 if one does, 2 trouble.\n";

enum { OPT_FULL = 1000, OPT_PLOT_DATA };

static const figure_list *const papers[] = {&figures_dleft, &figures_dlcbf, &figures_multilevel,
                                            &figures_rank, &figures_balance};
enum { N_PAPERS = sizeof papers / sizeof papers[0] };

/* -------------------------------------------------------------------------------------------------
 * What a paper prints
 */

typedef enum form { READ_NOTHING, READ_NUMBER, READ_AT_MOST, READ_AT_LEAST, READ_RANGE } form;

typedef struct reading {
    form form;
    double value;
    double high; /* of a range */
    double unit; /* worth of the last digit */
    bool cut;    /* digits are cut off, not rounded */
} reading;

/* Read a number and the worth of its last digit; returns the end, or NULL if there is none. */
static const char *read_number(const char *text, double *value, double *unit) {
    char *end;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value))
        return NULL;
    int exponent = 0;
    bool point = false;
    for (const char *p = text; p < end; p++) {
        if (*p == 'e' || *p == 'E') {
            exponent += (int)strtol(p + 1, NULL, 10);
            break;
        }
        if (*p == '.')
            point = true;
        else if (point)
            exponent--;
    }
    *unit = pow(10, exponent);
    return end;
}

static const char *skip_blanks(const char *text) {
    while (*text == ' ')
        text++;
    return text;
}

static reading read_printed(const char *text) {
    static const struct {
        const char *word;
        form form;
    } words[] = {{"<=", READ_AT_MOST},        {"<", READ_AT_MOST},    {"at most", READ_AT_MOST},
                 {"under", READ_AT_MOST},     {">=", READ_AT_LEAST},  {">", READ_AT_LEAST},
                 {"at least", READ_AT_LEAST}, {"over", READ_AT_LEAST}};
    reading r = {.form = READ_NOTHING};
    form found = READ_NUMBER;

    if (text == NULL)
        return r;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t length = strlen(words[i].word);
        if (strncmp(text, words[i].word, length) == 0) {
            found = words[i].form;
            text += length;
            break;
        }
    }
    const char *end = read_number(skip_blanks(text), &r.value, &r.unit);
    if (end == NULL)
        return r;
    if (strncmp(end, "...", 3) == 0) {
        r.cut = true;
        end += 3;
    }
    end = skip_blanks(end);
    if (strncmp(end, "to ", 3) == 0) {
        double unit;
        end = read_number(skip_blanks(end + 3), &r.high, &unit);
        found = READ_RANGE;
    } else if (*end == '%') {
        r.value /= 100;
        r.unit /= 100;
        end = skip_blanks(end + 1);
    }
    if (end != NULL && *end == '\0')
        r.form = found;
    return r;
}

static bool within(const reading *r, double value, double slack) {
    const double touch = 1e-9 * r->unit; /* for the last bit of the arithmetic */

    if (slack > 0 && fabs(value - r->value) <= slack * fabs(r->value))
        return true;
    switch (r->form) {
    case READ_AT_MOST:
        return value <= r->value;
    case READ_AT_LEAST:
        return value >= r->value;
    case READ_RANGE:
        return value >= r->value && value <= r->high;
    default:
        break;
    }
    if (r->cut && r->value >= 0)
        return value >= r->value - touch && value < r->value + r->unit;
    return fabs(value - r->value) <= r->unit / 2 + touch;
}

/* -------------------------------------------------------------------------------------------------
 * One figure
 */

typedef enum verdict { AGREES, DIFFERS, TYPO, OPEN, N_VERDICTS } verdict;
static const char *const verdict_names[N_VERDICTS] = {"agrees", "differs", "typo", NULL};

typedef struct result {
    reading printed;
    double computed;    /* NaN: unknown */
    measured simulated; /* NaN: unknown */
    verdict verdict;
    char note[512];
} result;

/* Simulation and model are said to part only when they are this many standard errors apart. */
static const double part = 4;

static verdict judge(const figure *f, const result *r) {
    const double error = r->simulated.standard_error;

    if (f->typo != NULL)
        return TYPO;
    if (r->printed.form == READ_NOTHING) {
        if (isnan(r->computed) || isnan(r->simulated.mean))
            return OPEN;
        return fabs(r->computed - r->simulated.mean) <= part * error ? AGREES : DIFFERS;
    }
    if (f->compute != NULL)
        return within(&r->printed, r->computed, f->slack) ? AGREES : DIFFERS;
    if (isnan(r->simulated.mean))
        return OPEN;
    return within(&r->printed, r->simulated.mean, f->slack) ||
                   fabs(r->simulated.mean - r->printed.value) <= part * error
               ? AGREES
               : DIFFERS;
}

/* Add a sentence to the note; what does not fit is left out. */
static void add_note(result *r, const char *text) {
    const size_t used = strlen(r->note);
    snprintf(r->note + used, sizeof r->note - used, "%s%s", used > 0 ? "; " : "", text);
}

static void run(const figure *f, bool full, result *r) {
    char text[160];

    *r = (result){.printed = read_printed(f->printed),
                  .computed = NAN,
                  .simulated = {.mean = NAN, .standard_error = NAN}};
    if (f->typo != NULL)
        add_note(r, f->typo);
    if (f->note != NULL)
        add_note(r, f->note);
    if (f->compute != NULL) {
        const tamis_status status = f->compute(f, &r->computed);
        if (status != TAMIS_OK) {
            r->computed = NAN;
            snprintf(text, sizeof text, "cannot be computed: %s", tamis_status_text(status));
            add_note(r, text);
        }
    }
    if (f->simulate != NULL) {
        const tamis_status status = f->simulate(f, full, &r->simulated);
        if (status != TAMIS_OK) {
            r->simulated = (measured){.mean = NAN, .standard_error = NAN};
            snprintf(text, sizeof text, "cannot be simulated: %s", tamis_status_text(status));
            add_note(r, text);
        }
    }
    const double apart = fabs(r->computed - r->simulated.mean) / r->simulated.standard_error;
    if (apart > part && isfinite(apart)) {
        snprintf(text, sizeof text, "simulation and model are %.1f standard errors apart", apart);
        add_note(r, text);
    }
    r->verdict = judge(f, r);
}

/* -------------------------------------------------------------------------------------------------
 * Output
 */

static const char *text_real(double value, const char *format, const char *unknown, char *text) {
    if (isnan(value))
        return unknown;
    snprintf(text, TEXT_NUMBER, format, value);
    return text;
}

static void print_head(int id_width) {
    printf("%-*s  %-13s  %-13s  %-14s  %-8s  %-7s  %s\n", id_width, "id", "printed", "computed",
           "simulated", "stderr", "verdict", "note");
}

static void print_row(int id_width, const figure *f, const result *r) {
    char computed[TEXT_NUMBER], simulated[TEXT_NUMBER], error[TEXT_NUMBER];

    printf("%-*s  %-13s  %-13s  %-14s  %-8s  %-7s  %s\n", id_width, f->id,
           f->printed != NULL ? f->printed : "(plot)",
           text_real(r->computed, "%.7g", "-", computed),
           text_real(r->simulated.mean, "%.6g", f->simulate == NULL ? "not built yet" : "-",
                     simulated),
           text_real(r->simulated.standard_error, "%.1e", "-", error),
           r->verdict != OPEN ? verdict_names[r->verdict] : "-", r->note);
    fflush(stdout);
}

static void print_object(json *j, const char *paper, const figure *f, const result *r) {
    json_open(j, NULL, '{', false);
    json_text(j, "id", f->id);
    json_text(j, "paper", paper);
    if (f->printed == NULL)
        json_null(j, "printed");
    else if (r->printed.form == READ_NUMBER)
        json_real(j, "printed", r->printed.value);
    else
        json_text(j, "printed", f->printed);
    json_real(j, "computed", r->computed);
    json_real(j, "simulated", r->simulated.mean);
    json_real(j, "stderr", r->simulated.standard_error);
    if (r->verdict != OPEN)
        json_text(j, "verdict", verdict_names[r->verdict]);
    else
        json_null(j, "verdict");
    json_text(j, "note", r->note);
    json_close(j);
}

/* -------------------------------------------------------------------------------------------------
 * Selection
 */

/* Does the pattern, an ID or a beginning that ends in '.' or '*', select this ID? */
static bool matches(const char *pattern, const char *id) {
    const size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, id, length - 1) == 0;
    if (length > 0 && pattern[length - 1] == '.')
        return strncmp(pattern, id, length) == 0;
    return strcmp(pattern, id) == 0;
}

static bool selected(char **patterns, int n_patterns, const char *id) {
    bool found = n_patterns == 0;
    for (int i = 0; i < n_patterns; i++)
        found = found || matches(patterns[i], id);
    return found;
}

static bool known(const char *pattern) {
    for (size_t p = 0; p < N_PAPERS; p++)
        for (size_t i = 0; i < papers[p]->n_figures; i++)
            if (matches(pattern, papers[p]->figures[i].id))
                return true;
    return false;
}

static int longest_id(void) {
    size_t width = 0;
    for (size_t p = 0; p < N_PAPERS; p++)
        for (size_t i = 0; i < papers[p]->n_figures; i++)
            if (strlen(papers[p]->figures[i].id) > width)
                width = strlen(papers[p]->figures[i].id);
    return (int)width;
}

static int reproduce(char **patterns, int n_patterns, bool full, bool as_json) {
    unsigned counts[N_VERDICTS] = {0};
    const int id_width = longest_id();
    json j;

    json_start(&j, stdout);
    if (as_json)
        json_open(&j, NULL, '[', false);
    else
        print_head(id_width);
    for (size_t p = 0; p < N_PAPERS; p++)
        for (size_t i = 0; i < papers[p]->n_figures && !ferror(stdout); i++) {
            const figure *const f = &papers[p]->figures[i];
            result r;
            if (!selected(patterns, n_patterns, f->id))
                continue;
            run(f, full, &r);
            counts[r.verdict]++;
            if (as_json)
                print_object(&j, papers[p]->paper, f, &r);
            else
                print_row(id_width, f, &r);
        }
    if (as_json) {
        json_close(&j);
        json_end(&j);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return EXIT_TROUBLE; /* main() says why */
    fprintf(stderr, "tamis reproduce: %u agree, %u typo, %u differ, %u not compared\n",
            counts[AGREES], counts[TYPO], counts[DIFFERS], counts[OPEN]);
    return counts[DIFFERS] > 0 ? EXIT_NO : EXIT_YES;
}

int cmd_reproduce(int argc, char **argv) {
    static const struct option options[] = {{"full", no_argument, NULL, OPT_FULL},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {"plot-data", required_argument, NULL, OPT_PLOT_DATA},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    bool full = false;
    bool as_json = false;
    const char *plot_data = NULL;

    for (int option; (option = option_next(argc, argv, "", options)) != -1;) {
        switch (option) {
        case OPT_FULL:
            full = true;
            break;
        case OPT_JSON:
            as_json = true;
            break;
        case OPT_PLOT_DATA:
            plot_data = optarg;
            break;
        case OPT_HELP:
            fputs(help, stdout);
            return EXIT_YES;
        default:
            return EXIT_TROUBLE;
        }
    }
    for (int i = optind; i < argc; i++)
        if (!known(argv[i]))
            return complain(argv[0], "there is no figure '%s'", argv[i]);
    if (plot_data != NULL) {
        if (full || as_json || optind < argc)
            return complain(argv[0], "--plot-data stands alone");
        const char *failed;
        if (!plot_data_write(plot_data, &failed))
            return complain(argv[0], "%s: cannot be written in '%s'", failed, plot_data);
        return EXIT_YES;
    }
    return reproduce(argv + optind, argc - optind, full, as_json);
}
