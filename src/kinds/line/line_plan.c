/* line_plan.c - plans for lines of fingerprints that give homes away
 *
 * The rate asks for some number of cells, N L 2^R for N lines of L homes and fingerprints of R
 * bits.  A shape, L and R, leaves only N, and so the load of a line.  All shapes with loads near
 * the capacity of a line are looked at, some fifty, with the normal distribution in place of the
 * model of line_model.c, which costs some ten operations each.  Of those that take nearly the
 * fewest bytes the one with the fewest entries away is taken, and its back follows from the model:
 * once, so that a plan takes some microseconds, for any number of keys.
 *
 * The back.  A larger one has fewer homes per line, and so more room in a line: of the sizes that
 * give its room, the least is taken whose lines have homes for all places that front lines have
 * there.
 *
 * A set whose keys come and go for ever is seen at many moments: it is planned for MOMENTS of them
 * that have nothing to do with each other, which is some thousands of replacements of all keys.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"

#include "kinds/line/line_bits.h"
#include "kinds/line/line_model.h"

#include <math.h>

#define MOMENTS     100.0
#define LINE_BITS   512.0
#define LINES_MAX   0x1p38
#define FPR_LEAST   1e-14 /* of two keys in a line with the most homes and planes */
#define CELLS_MAX   0x1p62
#define HOMES_MAX   TAMIS_I_LINE_HOMES_MAX
#define PLACES_MAX  (HOMES_MAX / 2.0) /* front lines per back line, where each has two places */
#define LOAD_LEAST  0.35 /* of the entries of a line: two lines, if they are one too many for one */
#define LOAD_MOST   1.25
#define SLOT_BITS   170.0 /* of the stash, about */
#define TRIES       256u
#define MANY        1500.0 /* lines, of which one more is no matter */
#define STRIDE      4.0
#define WORSE       1.04 /* times the fewest bits: longer fingerprints will be no better */
#define WORTH       1.02 /* times the fewest bits: those in between are tried too */
#define ROUNDS      8u
#define COMPARED    3u
#define FEWER       0.75        /* homes take room of entries */
#define NEARLY      1.0025      /* as few bytes as the fewest */
#define HOMES_LEAST 4u          /* with fewer, more bits in a fingerprint never pay */
#define MORE        (1 + 1e-12) /* what rounding may take */
#define EXACTLY     0.02        /* the same, of logarithms of odds of very many lines */
#define MORE_LINES  1.5  /* cells that there may be for each that is asked for: lines are whole */
#define LEAN        1.02 /* entries more away than the normal distribution says */

/* What is wanted. */
typedef struct wanted {
    const tamis_need *need;
    double n, cells, odds; /* keys, cells for the rate, log(1/odds) */
    unsigned values;
    bool set;
} wanted;

/* A shape, its lines, and the back that goes with it. */
typedef struct trial {
    unsigned homes, prints, entries, back_homes, back_entries;
    double lines, load, back, bits, away; /* 'away' of the entries, a share */
    double scatter;                       /* variance of the entries of a line that are away */
} trial;

static tamis_i_line_front line_plan_front(const wanted *w, const trial *t) {
    /* A union comes line by line, not key by key: it fills the back no better than keys that come and go. */
    return (tamis_i_line_front){t->homes, t->entries, t->load, !w->set || w->need->merges};
}

/* Entries that a line of the back has with so many homes; 0: there is no such line. */
static unsigned line_plan_back_entries(const wanted *w, const trial *t, unsigned homes) {
    unsigned bits = 0;
    while (1u << bits < t->homes)
        bits++;
    tamis_i_line_shape shape;
    return tamis_i_line_bits_shape(homes, t->prints + bits, w->values, &shape) ? shape.capacity : 0;
}

/* Lines of a back whose lines have that many homes; at least 3.  What is left free of each depends
 * a little on how many there are: after so many rounds it is taken as it is. */
static double line_plan_back_lines(const wanted *w, const trial *t, double need, unsigned homes,
                                   unsigned rounds) {
    const tamis_i_line_front front = line_plan_front(w, t);
    const double entries = line_plan_back_entries(w, t, homes);
    double lines = fmax(ceil(need / fmax(entries, 1)), 3);
    for (unsigned i = 0; i < rounds; i++) {
        const double room =
            entries - tamis_i_line_model_slack(&front, t->scatter, t->lines, lines, entries);
        const double next = ceil(need / room);
        if (room < 1)
            return INFINITY;
        if (next <= lines)
            break;
        lines = next;
    }
    return lines;
}

/* The least back that takes 'need' entries.  False if there is none. */
static bool line_plan_back(const wanted *w, trial *t, double need, unsigned rounds) {
    const double few = t->lines <= HOMES_MAX ? t->lines : 0;
    t->back = t->back_homes = t->back_entries = 0;
    if (need <= TAMIS_I_LINE_STASH_LEAST)
        return true;
    for (unsigned i = 1; i <= 2 && few != 0; i++) {
        t->back_homes = i == 1 ? (unsigned)few : 2 * (unsigned)ceil(few / 2);
        t->back_entries = line_plan_back_entries(w, t, t->back_homes);
        t->back = i;
        if (i * t->back_entries >= need)
            return true;
    }
    /* more homes, fewer entries, more lines, fewer homes: up to the first that fits */
    double places = fmin(ceil(t->lines / line_plan_back_lines(w, t, need, 2, 1)), PLACES_MAX);
    double lines = line_plan_back_lines(w, t, need, 2 * (unsigned)places, rounds);
    const double fewer = ceil(t->lines / lines);
    if (fewer < places) {
        const double other = line_plan_back_lines(w, t, need, 2 * (unsigned)fewer, rounds);
        if (ceil(t->lines / other) <= fewer) {
            places = fewer;
            lines = other;
        }
    }
    t->back = fmax(lines, ceil(t->lines / places));
    t->back_homes = 2 * (unsigned)places;
    t->back_entries = line_plan_back_entries(w, t, t->back_homes);
    return isfinite(lines);
}

static void line_plan_weigh(trial *t) {
    t->bits = LINE_BITS * (t->lines + t->back) + SLOT_BITS * tamis_i_line_model_stash(t->back);
}

/* ---- a shape, about ---- */

/* What is away: of normal numbers of entries X, X - C and half of what the home at the border
 * leaves free. */
static double line_plan_about(const wanted *w, trial *t, double *spread) {
    const double c = t->entries, m = t->load;
    const double k = (c - m) / sqrt(m), beyond = 0.5 * erfc((k + 0.5 / sqrt(m)) * 0.70710678);
    const double p = 0.39894228 * exp(-k * k / 2), q = 0.5 * erfc(k * 0.70710678);
    const double over = p - k * q, left = c / t->homes / 2;
    const tamis_i_line_front front = line_plan_front(w, t);
    const double away = sqrt(m) * over + beyond * left;
    *spread =
        m * ((1 + k * k) * q - k * p - over * over - q * q) + beyond * (left + left * left / 3);
    t->away = away / m;
    t->scatter = *spread + m * q * q;
    return LEAN * away + tamis_i_line_model_lag(&front, beyond);
}

/* Entries per line.  A set has one per cell that has keys. */
static double line_plan_load(const wanted *w, const trial *t) {
    const double load = w->n / t->lines, cells = ldexp(t->homes, (int)t->prints);
    return w->set ? -cells * expm1(-load / cells) : load;
}

/* Lines with this shape, and a back for them; t->bits is infinite if it is none. */
static void line_plan_try(const wanted *w, unsigned prints, unsigned homes, trial *t) {
    tamis_i_line_shape shape;
    *t = (trial){.homes = homes, .prints = prints, .bits = INFINITY};
    if (!tamis_i_line_bits_shape(homes, prints, w->values, &shape))
        return;
    t->entries = shape.capacity;
    t->lines = ceil(w->cells / ldexp(homes, (int)prints));
    t->load = line_plan_load(w, t);
    if (t->load > LOAD_MOST * t->entries || t->load < LOAD_LEAST * t->entries ||
        t->lines > LINES_MAX || t->lines < 2)
        return;
    double spread;
    const double away = line_plan_about(w, t, &spread);
    if (!tamis_i_plan_lines_ok(w->need, 1 + 2 * away / t->load))
        return;
    const double need = t->lines * away + sqrt(2 * w->odds * t->lines * fmax(spread, 0)) +
                        TAMIS_I_LINE_SKEW * w->odds;
    if (line_plan_back(w, t, need, 1))
        line_plan_weigh(t);
}

/* All keys in one line. */
static bool line_plan_alone(const wanted *w, trial *best) {
    for (unsigned prints = 1; prints + w->values <= TAMIS_I_LINE_PLANES_MAX; prints++) {
        const double homes = ceil(w->cells / ldexp(1, (int)prints));
        tamis_i_line_shape shape;
        if (homes > HOMES_MAX ||
            !tamis_i_line_bits_shape((unsigned)homes, prints, w->values, &shape) ||
            shape.capacity < (w->set ? fmin(w->n, ldexp(homes, (int)prints)) : w->n) ||
            shape.capacity <= best->entries)
            continue;
        *best = (trial){
            .homes = (unsigned)homes, .prints = prints, .entries = shape.capacity, .lines = 1};
    }
    return best->entries != 0;
}

/* Add shapes with these homes, every 'stride'th.  The fewest bits of them. */
static double line_plan_row(const wanted *w, unsigned prints, double low, double high,
                            double stride, trial *tried, unsigned *n) {
    double fewest = INFINITY;
    for (double homes = low; homes <= high && *n < TRIES; homes += stride) {
        line_plan_try(w, prints, (unsigned)homes, &tried[*n]);
        fewest = fmin(fewest, tried[*n].bits);
        *n += isfinite(tried[*n].bits) ? 1 : 0;
    }
    return fewest;
}

/* Shapes that may do.  For each length of fingerprints some numbers of homes are tried, and if they
 * are not much worse than others, all those around the best of them. */
static unsigned line_plan_gather(const wanted *w, trial *tried) {
    unsigned n = 0;
    double fewest = INFINITY;
    const double ratio = w->set ? 1 / w->need->fpr : w->cells / w->n; /* cells per entry */
    /* two keys in a line of 126 homes, at least */
    const unsigned least = (unsigned)fmax(floor(log2(ratio * 2 / HOMES_MAX)), 1);
    for (unsigned r = least; r + w->values <= TAMIS_I_LINE_PLANES_MAX; r++) {
        const double size = ldexp(1, (int)r);
        const double c = fmin((LINE_BITS - 1) / (r + w->values + 1), TAMIS_I_LINE_ENTRIES_MAX);
        const double low = fmax(floor(FEWER * LOAD_LEAST * c * ratio / size), 1);
        const double high = fmin(ceil(LOAD_MOST * c * ratio / size), HOMES_MAX);
        const unsigned first = n;
        const double here = line_plan_row(w, r, low, high, STRIDE, tried, &n);
        if (high < HOMES_LEAST || here > WORSE * fewest)
            break;
        fewest = fmin(fewest, here);
        for (unsigned i = first, end = n; i < end; i++) {
            const double homes = tried[i].homes, most = fmin(homes + STRIDE - 1, HOMES_MAX);
            if (tried[i].bits <= WORTH * here)
                (void)line_plan_row(w, r, homes + 1, most, 1, tried, &n);
        }
    }
    return n;
}

/* Of those that take nearly the fewest bytes, the one with the fewest entries away. */
static trial *line_plan_take(trial *tried, unsigned n, double nearly) {
    double fewest = INFINITY;
    for (unsigned i = 0; i < n; i++)
        fewest = fmin(fewest, tried[i].bits);
    trial *best = NULL;
    for (unsigned i = 0; i < n; i++)
        if (tried[i].bits <= nearly * fewest && (best == NULL || tried[i].away < best->away))
            best = &tried[i];
    return best;
}

/* ---- the plan ---- */

static tamis_line_shape line_plan_shape(const wanted *w, const trial *t) {
    tamis_line_shape shape;
    tamis_line_shape_init(&shape);
    shape.lines = (uint64_t)t->lines;
    shape.back_lines = (uint64_t)t->back;
    shape.stash = (uint64_t)tamis_i_line_model_stash(t->back);
    shape.homes = t->homes;
    shape.fp_bits = t->prints;
    shape.entries = t->entries;
    shape.back_entries = t->back_entries;
    shape.set = w->set;
    return shape;
}

/* The back by the model.  What cannot be filled of it scatters too, and is not known before it is. */
static bool line_plan_settle(const wanted *w, trial *t, double *odds) {
    const tamis_i_line_front front = line_plan_front(w, t);
    tamis_i_line_sums sums;
    tamis_i_line_model_sums(&front, &sums);
    t->scatter = sums.scatter;
    const double s = tamis_i_line_model_best(&sums, t->lines, t->back, w->odds);
    const double log = tamis_i_line_model_log(&front, &sums, t->lines, 0, s);
    double back, more = 0;
    do {
        back = t->back;
        more = back > 2 ? s * s / 2 * TAMIS_I_LINE_UNFILLED * back : 0;
        if (!line_plan_back(w, t, (log + more + w->odds) / s, ROUNDS))
            return false;
    } while (t->back > back);
    line_plan_weigh(t);
    const tamis_line_shape shape = line_plan_shape(w, t);
    *odds = exp(log + more - s * tamis_i_line_model_room(&shape, &front, &sums));
    return true;
}

/* Take shapes with so many lines and such fingerprints off the list. */
static unsigned line_plan_drop(trial *tried, unsigned n, double lines, unsigned prints) {
    unsigned left = 0;
    for (unsigned i = 0; i < n; i++)
        if (tried[i].lines != lines || tried[i].prints != prints)
            tried[left++] = tried[i];
    return left;
}

/* The shape that is taken, with its back.  Of few lines one more counts: then some shapes are
 * compared, by their lines, since of as many lines those with fewer homes are hardly better. */
static bool line_plan_choose(const wanted *w, trial *best, double *odds) {
    trial tried[TRIES];
    unsigned n = line_plan_gather(w, tried);
    const unsigned most = n > 0 && tried[0].lines < MANY ? COMPARED : 1;
    *best = (trial){.bits = INFINITY};
    for (unsigned i = 0; i < most && n > 0; i++) {
        trial t = *line_plan_take(tried, n, most > 1 ? 1 : NEARLY);
        double its = 0;
        n = line_plan_drop(tried, n, t.lines, t.prints);
        if (line_plan_settle(w, &t, &its) && t.bits < best->bits) {
            *best = t;
            *odds = its;
        }
    }
    return isfinite(best->bits);
}

/* What the parameters promise. */
static tamis_status line_plan_promise(const wanted *w, const trial *t, tamis_plan *plan) {
    const tamis_line_shape shape = line_plan_shape(w, t);
    const uint64_t n = w->need->n;
    tamis_status status = tamis_model_line_fpr(&shape, n, &plan->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_line_fpr(&shape, n / 2 + n % 2, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = tamis_model_line_lines(&shape, n, &plan->lines_per_query, &plan->lines_per_insert);
    if (status != TAMIS_OK)
        return status;
    plan->params.kind = TAMIS_KIND_LINE;
    plan->params.stash = shape.stash;
    uint64_t *const value = plan->params.value;
    value[TAMIS_LINE_LINES] = shape.lines;
    value[TAMIS_LINE_HOMES] = t->homes;
    value[TAMIS_LINE_FINGERPRINT_BITS] = t->prints;
    value[TAMIS_LINE_BACK_LINES] = shape.back_lines;
    value[TAMIS_LINE_BACK_HOMES] = t->back_homes;
    value[TAMIS_LINE_VALUE_BITS] = w->values;
    value[TAMIS_LINE_SET] = w->set;
    return plan->fpr <= w->need->fpr ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

tamis_status tamis_i_plan_line(const tamis_need *need, tamis_plan *plan) {
    if (need->copies > 1)
        return TAMIS_E_UNSUPPORTED;
    const double n = (double)need->n, moments = need->deletes ? MOMENTS : 1;
    const wanted w = {.need = need,
                      .n = n,
                      .cells = fmax(-1 / expm1(log1p(-need->fpr) / n), 1) * MORE,
                      .odds = log(moments / need->failure_max) + EXACTLY,
                      .values = need->value_bits,
                      .set = !need->deletes && need->value_bits == 0};
    trial best = {.entries = 0};
    double odds = 0;
    if (need->fpr < FPR_LEAST)
        return TAMIS_E_UNSUPPORTED;
    if (w.cells * MORE_LINES >= CELLS_MAX)
        return TAMIS_E_UNSUPPORTED;
    if (!line_plan_alone(&w, &best) && !line_plan_choose(&w, &best, &odds))
        return TAMIS_E_UNSUPPORTED;
    plan->overflow_probability = fmin(moments * odds, 1);
    return line_plan_promise(&w, &best, plan);
}
