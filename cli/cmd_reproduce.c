/* cmd_reproduce.c - tamis reproduce: the figures of the papers, computed and simulated
 *
 * A figure has up to three values: printed by the paper, computed by the model, simulated on the real
 * structure.  It agrees if all existing values agree, each pair by its own rule.
 *
 * Printed and computed: the computed value rounds to the printed one in the last digit that the paper
 * prints.  The paper's text is read as follows:
 *
 *     0.34  -3.00e-5  80000     a rounded number
 *     0.0008937...              digits cut off, not rounded
 *     0.49 %                    hundredths
 *     <= 1e-10  at most 1e-10   a bound from above; so are < and under
 *     > 100  over 100           a bound from below; so are >= and at least
 *     40 to 100                 a range
 *
 * If a rounded number has a slack, because rounding alone would be too strict, a relative difference up to
 * it also agrees.  Where the paper has a mistake, the corrected value takes the place of the printed one.
 *
 * Simulated and computed: at most four standard errors apart, and four standard errors are at most half
 * of the computed value.  A simulation that could not tell a half from the whole shows nothing, and
 * that counts as a failure too.  A simulation has its own model value, 'expected': the computed one, or
 * that of a weaker structure whose odds can be seen.  Without a model the printed value is expected.  What
 * has neither is data, and not judged: a number of ours to compare it with would only repeat it.
 *
 * From the second rule it follows that a simulation that is wrong by a factor of three fails.
 * tests/cli/test_reproduce_judge.sh makes each figure fail this way.  No number is ever changed to fit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/experiments.h"
#include "experiments/plot_data.h"
#include "experiments/simulate.h"

static const char help[] =
    "usage: tamis reproduce [--full] [--json] [ID...]\n"
    "       tamis reproduce --plot-data DIR\n"
    "Recompute the figures that the papers print, and simulate them on the real structures.\n\n"
    "An ID selects one figure (dleft.t1.load4) or, if it ends in '.' or '*', all that begin so\n"
    "(dleft. or 'dleft.t1*').  Without one, all figures are shown.\n\n"
    "      --full           simulate as often as the papers did: hours, not a minute\n"
    "      --json           as a JSON array of objects\n"
    "      --plot-data DIR  write the data of the plots in docs/models.md to files in DIR\n\n"
    "'expected' is what the model says of that which was simulated: the computed value, or that "
    "of\n"
    "a weaker structure where the odds are too small to be seen.\n\n"
    "Verdicts: agrees (computed within the rounding of the paper, simulated within four standard\n"
    "errors of what is expected), typo (the same, with the slip of the paper corrected; the note\n"
    "says how), differs, data for a simulation without a model, which is not judged, and '-' for\n"
    "a computed value that nothing can be compared with.\n"
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
    double unit; /* value of the last digit */
    bool cut;    /* digits are cut off, not rounded */
} reading;

/* Read a number and the value of its last digit; returns the end, or NULL if there is none. */
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

    if (isnan(value))
        return false;
    if (r->form == READ_NUMBER && fabs(value - r->value) <= slack * fabs(r->value))
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

typedef enum verdict { AGREES, DIFFERS, TYPO, DATA, OPEN, N_VERDICTS } verdict;
static const char *const verdict_names[N_VERDICTS] = {"agrees", "differs", "typo", "data", NULL};

typedef struct result {
    reading printed;
    double computed;    /* NaN: unknown */
    measured simulated; /* NaN: unknown; 'expected' is complete */
    bool failed;        /* it could not be computed or simulated */
    verdict verdict;
    char note[768];
} result;

/* Simulation and model disagree when they are more than this many standard errors apart. */
static const double part = 4;

/* Add a sentence to the note, if it fits. */
static void add_note(result *r, const char *text) {
    const size_t used = strlen(r->note);
    snprintf(r->note + used, sizeof r->note - used, "%s%s", used > 0 ? "; " : "", text);
}

/* Is the simulation what was expected? */
static bool judge_distance(const figure *f, result *r) {
    const measured *const m = &r->simulated;
    const double apart = fabs(m->mean - m->expected);
    const double touch = 1e-12 * fabs(m->expected); /* for the last bit of the arithmetic */
    char text[160];

    if (apart <= part * m->standard_error + touch)
        return true;
    if (f->compute == NULL && within(&r->printed, m->mean, f->slack))
        return true;
    if (m->standard_error > 0)
        snprintf(text, sizeof text, "simulation and model are %.1f standard errors apart",
                 apart / m->standard_error);
    else
        snprintf(text, sizeof text, "simulation and model are apart, and chance has no part in it");
    add_note(r, text);
    return false;
}

/* Could it have been anything else? */
static bool judge_power(result *r) {
    if (part * r->simulated.standard_error <= fabs(r->simulated.expected) / 2)
        return true;
    add_note(r, "the simulation has no power: its standard error is over an eighth of the value");
    return false;
}

static verdict judge(const figure *f, result *r) {
    const reading corrected = read_printed(f->typo != NULL ? f->typo->corrected : f->printed);
    const bool simulated = !isnan(r->simulated.mean);
    bool agrees = !r->failed;

    if (corrected.form == READ_NOTHING && !simulated)
        return agrees ? OPEN : DIFFERS;
    if (corrected.form == READ_NOTHING && f->compute == NULL && isnan(r->simulated.expected))
        return agrees ? DATA : DIFFERS;
    if (corrected.form != READ_NOTHING && f->compute != NULL)
        agrees = within(&corrected, r->computed, f->slack) && agrees;
    if (simulated)
        agrees = judge_distance(f, r) && judge_power(r) && agrees;
    return !agrees ? DIFFERS : f->typo != NULL ? TYPO : AGREES;
}

/* Compute and simulate, without a verdict. */
static void find(const figure *f, run *shared, result *r) {
    const measured unknown = {.mean = NAN, .standard_error = NAN, .expected = NAN};
    char text[160];

    *r = (result){.printed = read_printed(f->printed), .computed = NAN, .simulated = unknown};
    if (f->typo != NULL) {
        snprintf(text, sizeof text, "should be %s", f->typo->corrected);
        add_note(r, text);
        add_note(r, f->typo->how);
    }
    if (f->note != NULL)
        add_note(r, f->note);
    if (f->compute != NULL) {
        const tamis_status status = f->compute(f, &r->computed);
        if (status != TAMIS_OK) {
            r->computed = NAN;
            r->failed = true;
            snprintf(text, sizeof text, "cannot be computed: %s", tamis_status_text(status));
            add_note(r, text);
        }
    }
    if (f->simulate != NULL) {
        r->simulated.expected = NAN;
        const tamis_status status = f->simulate(f, shared, &r->simulated);
        if (status != TAMIS_OK) {
            r->simulated = unknown;
            r->failed = true;
            snprintf(text, sizeof text, "cannot be simulated: %s", tamis_status_text(status));
            add_note(r, text);
        } else if (isnan(r->simulated.expected)) {
            const double printed = r->printed.form == READ_NOTHING ? NAN : r->printed.value;
            r->simulated.expected = f->compute != NULL ? r->computed : printed;
        }
    }
}

/* -------------------------------------------------------------------------------------------------
 * Testing the judge
 *
 * Builds for tests read two lists of factors, TAMIS_REPRODUCE_SKEW and TAMIS_REPRODUCE_SKEW_COMPUTED, and
 * judge each figure once for each factor, with the simulated or the computed value multiplied by it.
 */

typedef struct skew {
    double simulated, computed;
} skew;

enum { SKEWS_MAX = 8 };

#ifdef TAMIS_TESTING
static size_t read_skews(skew *skews) {
    static const char *const names[2] = {"TAMIS_REPRODUCE_SKEW", "TAMIS_REPRODUCE_SKEW_COMPUTED"};
    size_t n = 0;
    for (unsigned i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        while (text != NULL && *text != '\0' && n < SKEWS_MAX) {
            char *end;
            const double factor = strtod(text, &end);
            if (end == text)
                break;
            skews[n++] = i == 0 ? (skew){factor, 1} : (skew){1, factor};
            text = *end == ',' ? end + 1 : end;
        }
    }
    if (n == 0)
        skews[n++] = (skew){1, 1};
    return n;
}
#else
static size_t read_skews(skew *skews) {
    skews[0] = (skew){1, 1};
    return 1;
}
#endif

/* The verdict as if every simulated value had been this many times larger. */
static result skewed(const figure *f, const result *found, const skew *by) {
    result r = *found;
    char text[80];

    r.simulated.mean *= by->simulated;
    r.simulated.standard_error *= by->simulated;
    r.computed *= by->computed;
    if (by->simulated != 1 || by->computed != 1) {
        snprintf(text, sizeof text, "simulated times %g, computed times %g", by->simulated,
                 by->computed);
        add_note(&r, text);
    }
    r.verdict = judge(f, &r);
    return r;
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
    printf("%-*s  %-13s  %-13s  %-13s  %-12s  %-8s  %-7s  %s\n", id_width, "id", "printed",
           "computed", "expected", "simulated", "stderr", "verdict", "note");
}

static void print_row(int id_width, const figure *f, const result *r) {
    char computed[TEXT_NUMBER], expected[TEXT_NUMBER], simulated[TEXT_NUMBER], error[TEXT_NUMBER];

    printf("%-*s  %-13s  %-13s  %-13s  %-12s  %-8s  %-7s  %s\n", id_width, f->id,
           f->printed != NULL ? f->printed : "(plot)",
           text_real(r->computed, "%.7g", "-", computed),
           text_real(r->simulated.expected, "%.7g", "-", expected),
           text_real(r->simulated.mean, "%.6g", "-", simulated),
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
    json_real(j, "expected", r->simulated.expected);
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
    skew skews[SKEWS_MAX];
    const size_t n_skews = read_skews(skews);
    run shared = {.full = full, .memos = NULL};
    json j;

    json_start(&j, stdout);
    if (as_json)
        json_open(&j, NULL, '[', false);
    else
        print_head(id_width);
    for (size_t p = 0; p < N_PAPERS; p++)
        for (size_t i = 0; i < papers[p]->n_figures && !ferror(stdout); i++) {
            const figure *const f = &papers[p]->figures[i];
            result found;
            if (!selected(patterns, n_patterns, f->id))
                continue;
            find(f, &shared, &found);
            for (size_t k = 0; k < n_skews; k++) {
                const result r = skewed(f, &found, &skews[k]);
                counts[r.verdict]++;
                if (as_json)
                    print_object(&j, papers[p]->paper, f, &r);
                else
                    print_row(id_width, f, &r);
            }
        }
    run_end(&shared);
    if (as_json) {
        json_close(&j);
        json_end(&j);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return EXIT_TROUBLE; /* main() says why */
    fprintf(stderr, "tamis reproduce: %u agree, %u typo, %u differ, %u not compared\n",
            counts[AGREES], counts[TYPO], counts[DIFFERS], counts[DATA] + counts[OPEN]);
    return counts[DIFFERS] > 0 ? EXIT_NO : EXIT_YES;
}

typedef struct reproduce_options {
    bool full;
    bool as_json;
    const char *plot_data; /* the folder; NULL: none are asked for */
} reproduce_options;

static bool take_option(const char *command, int option, void *context) {
    reproduce_options *const chosen = context;

    (void)command;
    switch (option) {
    case OPT_FULL:
        return option_flag(&chosen->full);
    case OPT_JSON:
        return option_flag(&chosen->as_json);
    case OPT_PLOT_DATA:
        chosen->plot_data = optarg;
        return true;
    default:
        return false;
    }
}

int cmd_reproduce(int argc, char **argv) {
    static const struct option options[] = {{"full", no_argument, NULL, OPT_FULL},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {"plot-data", required_argument, NULL, OPT_PLOT_DATA},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    const command_line line = {"", options, help, take_option};
    reproduce_options chosen = {0};
    const int code = options_read(argc, argv, &line, &chosen);

    if (code != GO_ON)
        return code;
    for (int i = optind; i < argc; i++)
        if (!known(argv[i]))
            return complain(argv[0], "there is no figure '%s'", argv[i]);
    if (chosen.plot_data != NULL) {
        if (chosen.full || chosen.as_json || optind < argc)
            return complain(argv[0], "--plot-data stands alone");
        const char *failed;
        if (!plot_data_write(chosen.plot_data, &failed))
            return complain(argv[0], "%s: cannot be written in '%s'", failed, chosen.plot_data);
        return EXIT_YES;
    }
    return reproduce(argv + optind, argc - optind, chosen.full, chosen.as_json);
}
