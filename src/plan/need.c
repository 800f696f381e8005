/* need.c - plans over all structures
 *
 * Each structure has a planner that answers one question: the smallest parameters for n keys at an
 * error rate.  Here the other questions are reduced to that one.  Size grows nearly in proportion to
 * the number of keys and to log2(1/rate).  So a few steps find the largest number of keys, or the
 * lowest rate, whose plan fits the given bytes.  Only a plan that was made and fits is ever returned.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"
#include "plan/wishes.h"

#include "filter/guard.h"

#include <errno.h>
#include <math.h>

#define KINDS_MAX 32 /* more than there are structures */

/* ---- the need ---- */

/* The question, which follows from what is given. */
typedef enum question { FEWEST_BYTES, LEAST_RATE, MOST_KEYS } question;

static question plan_question_of(const tamis_need *need) {
    return need->n == 0 ? MOST_KEYS : need->fpr == 0 ? LEAST_RATE : FEWEST_BYTES;
}

static void plan_set_default(double *value, double is) {
    *value = *value == 0 ? is : *value;
}

/* Keys including the overshoot. */
static double plan_keys_in_all(const tamis_need *need, uint64_t n) {
    return tamis_i_need_keys(need, n);
}

/* Read a caller's need and fill in its defaults. */
static tamis_status need_in(tamis_need *own, const tamis_need *need) {
    if (need == NULL || !tamis_i_struct_in(own, sizeof *own, need) ||
        tamis_i_limit_missed(own) != NULL || tamis_i_need_misfit(own) != TAMIS_I_FITS)
        return TAMIS_E_ARGUMENT;
    if (own->n == 0 || own->bytes == 0)
        plan_set_default(&own->fpr, 0.01);
    plan_set_default(&own->lines_max, INFINITY);
    plan_set_default(&own->failure_max, 1e-6);
    plan_set_default(&own->line_bits, 1);
    own->copies = own->copies == 0 ? 1 : own->copies;
    own->deletes = own->deletes || own->replacements > 0;
    return TAMIS_OK;
}

/* A set that forgets is one that is asked for. */
static bool plan_forgets_as_asked(const tamis_i_kind *kind, const tamis_need *need) {
    return (kind->abilities & TAMIS_CAN_FORGET) == 0 || need->ticks != 0 || need->kind == kind->id;
}

static bool plan_can_do(const tamis_i_kind *kind, const tamis_need *need) {
    return plan_forgets_as_asked(kind, need) && tamis_i_wishes_missed(kind, need) == 0;
}

/* A caller that neither removes nor counts keys wants a set: inserting a key again changes nothing, and
 * more keys than planned cost errors, not failures.  A multiset is not chosen for that unless it is
 * asked for. */
static bool plan_wants_set(const tamis_need *need) {
    return need->kind == TAMIS_KIND_ANY && !need->deletes && need->copies <= 1 &&
           need->value_bits == 0;
}

/* Plans are for this machine.  A build that plans for others, as that for browsers does for servers, knows
 * no limit of addresses. */
#ifdef TAMIS_PLAN_ANY_MACHINE
#define plan_shape tamis_i_filter_measure
#else
#define plan_shape tamis_i_filter_shape
#endif

/* Of a file; a set that may grow has one more header, as a series of one link. */
static uint64_t plan_file_bytes(const tamis_need *need, uint64_t n_body) {
    return tamis_i_file_bytes(n_body) + (need->grows ? TAMIS_I_HEADER_BYTES : 0);
}

/* ---- one structure ---- */

/* The plan for n keys and their overshoot at rate 'fpr', by the search of its kind or without. */
static tamis_status plan_direct(const tamis_i_kind *kind, const tamis_need *need, uint64_t n,
                                double fpr, tamis_plan *plan) {
    tamis_i_planner *const planner =
        need->search ? tamis_i_planner_of(kind->id) : tamis_i_quick_planner_of(kind->id);
    if (planner == NULL)
        return TAMIS_E_UNSUPPORTED;
    tamis_need exact = *need;
    tamis_plan own;
    exact.n = (uint64_t)plan_keys_in_all(need, n);
    if (need->deletes && need->replacements == 0) /* for ever, as far as models go */
        exact.replacements = TAMIS_I_REPLACEMENTS_MAX;
    exact.fpr = need->grows ? fpr / 2 : fpr; /* later links get the other half */
    if (!(exact.fpr > 0))                    /* half of the smallest number */
        return TAMIS_E_UNSUPPORTED;
    tamis_plan_init(&own);
    tamis_params_init(&own.params);
    own.params.capacity = exact.n;
    own.params.hash = need->hash == TAMIS_HASH_DEFAULT ? TAMIS_HASH_AES : need->hash;
    tamis_status status = planner(&exact, &own);
    if (status != TAMIS_OK) /* where no model holds nothing can be promised */
        return status == TAMIS_E_DOMAIN ? TAMIS_E_UNSUPPORTED : status;
    if (!tamis_i_plan_lines_ok(need, own.lines_per_query) ||
        own.overflow_probability > need->failure_max || own.fpr > exact.fpr)
        return TAMIS_E_UNSUPPORTED;
    uint64_t n_body, n_table;
    status = plan_shape(kind, &own.params, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    own.n = n;
    own.params.fpr = exact.fpr;
    own.bytes = n_body * sizeof(uint64_t);
    own.file_bytes = plan_file_bytes(need, n_body);
    own.bits_per_key = 8 * (double)own.bytes / (double)n;
    own.bound_bits_per_key = -log2(fpr);
    if (own.fpr_half == 0)
        own.fpr_half = own.fpr;
    if (own.lines_per_insert == 0)
        own.lines_per_insert = own.lines_per_query;
    tamis_i_plan_cost(&own);
    if (need->bytes != 0 && own.bytes > need->bytes)
        status = TAMIS_E_TOO_LARGE;
    *plan = own; /* even if it is too large: the search learns from its size */
    return status;
}

/* The search: for the largest x whose plan fits, where x is keys or log2(1/rate). */
typedef struct search {
    const tamis_i_kind *kind;
    const tamis_need *need;
    bool keys;                    /* x is a number of keys */
    double low, high;             /* low fits; high does not, or is the end of the domain */
    double low_bytes, high_bytes; /* of their plans; 0: unknown */
    tamis_plan plan;              /* the one at low */
} search;

static double plan_exactness(const search *s) {
    return s->keys ? fmax(1, s->high / 4096) : 1.0 / 256;
}

static tamis_status plan_try_at(search *s, double x) {
    tamis_plan plan = {.bytes = 0};
    const tamis_status status = plan_direct(s->kind, s->need, s->keys ? (uint64_t)x : s->need->n,
                                            s->keys ? s->need->fpr : exp2(-x), &plan);
    if (status == TAMIS_OK) {
        s->low = x;
        s->low_bytes = (double)plan.bytes;
        s->plan = plan;
    } else { /* too large, or more than the kind can do */
        s->high = x;
        s->high_bytes = (double)plan.bytes;
    }
    return status;
}

/* How far to go from 'low', so that the plan is as large as given bytes by the straight line through it and
 * 'least', and a little farther; at least 'step'. */
static double plan_stride(const search *s, double least, double least_bytes, double step) {
    const double slope = (s->low_bytes - least_bytes) / (s->low - least);
    const double stride = ((double)s->need->bytes - s->low_bytes) / slope;
    return slope > 0 ? fmax(step, s->keys ? ceil(1.03 * stride) : 1.03 * stride) : step;
}

/* Is the end that fits near enough to the one that does not, or are the bytes as good as used up? */
static bool plan_search_ends(const search *s) {
    const double left = (double)s->need->bytes - s->low_bytes;
    return s->high - s->low <= plan_exactness(s) || left <= (double)s->need->bytes / 4096;
}

/* First search upwards or downwards from a guess, in growing steps, until the answer is bracketed.
 * Then try in turns the point given by the straight line through both ends, and the middle.  The point is
 * taken a little towards the farther end: if it is as good as it seems, that end comes close, too. */
static tamis_status plan_find_largest(search *s, double guess, double least, double most) {
    s->low = least;
    s->high = most;
    s->low_bytes = s->high_bytes = 0;
    guess = fmin(fmax(guess, least), most);
    if (s->keys)
        guess = floor(guess);
    tamis_status status = plan_try_at(s, least);
    if (status != TAMIS_OK)
        return status;
    const double least_bytes = s->low_bytes;
    double step = s->keys ? fmax(1, floor(guess / 16)) : 0.5;
    if (guess > least)
        status = plan_try_at(s, guess);
    for (; status == TAMIS_OK && s->low < most; step *= 2) {
        const double stride = s->low > least ? plan_stride(s, least, least_bytes, step) : step;
        status = plan_try_at(s, fmin(s->low + stride, most));
    }
    for (; s->low == least && s->high - step > least; step *= 2)
        if (plan_try_at(s, s->high - step) == TAMIS_OK)
            break;
    const double exactness = plan_exactness(s);
    for (bool straight = true; !plan_search_ends(s); straight = !straight) {
        double fraction = 0.5;
        if (straight && s->high_bytes > s->low_bytes)
            fraction = ((double)s->need->bytes - s->low_bytes) / (s->high_bytes - s->low_bytes);
        const double room = s->high - s->low;
        double x = s->low + fmin(fmax(fraction, 0.01), 0.99) * room;
        if (straight && room > 2 * exactness)
            x += x - s->low < room / 2 ? exactness / 2 : -exactness / 2;
        if (s->keys)
            x = fmin(fmax(floor(x), s->low + 1), s->high - 1);
        (void)plan_try_at(s, x);
    }
    return TAMIS_OK;
}

/* log2(1/rate), from which on every table of the quick planners has rows, and up to which. */
#define QUICK_FROM 3.0
#define QUICK_TO   39.86 /* 1e-12 */

/* The least rate that fits.  Without a search, of those for which all quick planners have plans; if none of
 * them fits, of larger ones, for which some have. */
static tamis_status plan_find_rate(search *s) {
    const double bits = 8 * (double)s->need->bytes;
    const double guess = bits / plan_keys_in_all(s->need, s->need->n) / 1.44 - 2;
    if (s->need->search)
        return plan_find_largest(s, guess, 0.5, 64);
    const tamis_status status = plan_find_largest(s, guess, QUICK_FROM, QUICK_TO);
    return status == TAMIS_OK ? status : plan_find_largest(s, guess, 0.5, QUICK_FROM);
}

/* The most keys that fit.  Without a search, of those that many bytes may hold, since a quick planner need
 * not have plans for a few keys. */
static tamis_status plan_find_keys(search *s) {
    const double bits = 8 * (double)s->need->bytes, all = 1 + s->need->overshoot;
    const double guess = bits / (2 - 1.44 * log2(s->need->fpr)) / all;
    const double most = floor((double)TAMIS_CAPACITY_MAX / all), half = floor(guess / 2);
    tamis_status status = TAMIS_E_UNSUPPORTED;
    if (!s->need->search && half > 1 && half < most)
        status = plan_find_largest(s, guess, half, most);
    return status == TAMIS_OK ? status : plan_find_largest(s, guess, 1, most);
}

static tamis_status plan_one(const tamis_i_kind *kind, const tamis_need *need, tamis_plan *plan) {
    if (!plan_can_do(kind, need))
        return TAMIS_E_UNSUPPORTED;
    const question asked = plan_question_of(need);
    if (asked == FEWEST_BYTES)
        return plan_direct(kind, need, need->n, need->fpr, plan);
    search s = {.kind = kind, .need = need, .keys = asked == MOST_KEYS};
    const tamis_status status = s.keys ? plan_find_keys(&s) : plan_find_rate(&s);
    if (status != TAMIS_OK)
        return status;
    *plan = s.plan;
    if (!s.keys)
        plan->bound_bits_per_key = -log2(plan->fpr);
    return TAMIS_OK;
}

/* ---- all of them ---- */

#define NEAR     1.02     /* times the fewest bytes: just as good */
#define BALANCED 1.12     /* times what is best: worth being quicker */
#define MANY     10000000 /* keys, for which the balanced order compares kinds as well */

/* The plan of a kind, and whether it is near enough to the best for what else counts to decide. */
typedef struct candidate {
    tamis_plan plan;
    bool near;
} candidate;

static double plan_weigh(const tamis_need *need, const tamis_plan *plan) {
    return plan->bits_per_key - plan->bound_bits_per_key + need->line_bits * plan->lines_per_query;
}

static unsigned plan_abilities(const tamis_plan *plan) {
    return tamis_params_abilities(&plan->params);
}

static unsigned plan_n_abilities(const tamis_plan *plan) {
    unsigned n = 0;
    for (unsigned left = plan_abilities(plan); left != 0; left &= left - 1)
        n++;
    return n;
}

/* Is it none that a need is given?  A set is no multiset. */
static bool plan_is_other(const tamis_need *need, const tamis_plan *plan) {
    return plan_wants_set(need) && (plan_abilities(plan) & TAMIS_CAN_COUNT) != 0;
}

/* What a plan takes, in proportion, for what was asked for: the less, the better. */
static double plan_takes(const tamis_need *need, const tamis_plan *plan) {
    const question asked = plan_question_of(need);
    return asked == LEAST_RATE  ? 1 / plan->bound_bits_per_key
           : asked == MOST_KEYS ? 1 / (double)plan->n
                                : (double)plan->bytes;
}

static double plan_time(const tamis_need *need, const tamis_plan *plan) {
    return plan->ns_insert + plan->ns_lookup + (need->deletes ? plan->ns_remove : 0);
}

/* Which plan comes first?  The near ones before all others: where the fewest bytes are asked for,
 * those with the fewest lines first, then those with the most abilities; in the balanced order, the
 * quickest. */
static bool plan_better(const tamis_need *need, const candidate *x, const candidate *y) {
    const tamis_plan *const a = &x->plan, *const b = &y->plan;
    const tamis_order order = need->order;
    const question asked = plan_question_of(need);
    const bool near = x->near && y->near;
    const double apart = plan_time(need, a) - plan_time(need, b);
    if (order == TAMIS_ORDER_BALANCED && x->near != y->near)
        return x->near;
    if (apart != 0 && (order == TAMIS_ORDER_SPEED || (order == TAMIS_ORDER_BALANCED && near)))
        return apart < 0;
    if (order == TAMIS_ORDER_WEIGHTED && plan_weigh(need, a) != plan_weigh(need, b))
        return plan_weigh(need, a) < plan_weigh(need, b);
    if (order == TAMIS_ORDER_LINES && a->lines_per_query != b->lines_per_query)
        return a->lines_per_query < b->lines_per_query;
    if (asked == LEAST_RATE && a->fpr != b->fpr)
        return a->fpr < b->fpr;
    if (asked == MOST_KEYS && a->n != b->n)
        return a->n > b->n;
    if (order == TAMIS_ORDER_BYTES && asked == FEWEST_BYTES && near) {
        if (a->lines_per_query != b->lines_per_query)
            return a->lines_per_query < b->lines_per_query;
        if (plan_n_abilities(a) != plan_n_abilities(b))
            return plan_n_abilities(a) > plan_n_abilities(b);
    }
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->lines_per_query < b->lines_per_query;
}

/* Does a plan keep its promise for as long as it is needed?  One that ages, and is not asked for by its kind,
 * does not if that is for ever.  Who asks for the kind gets a plan that says how long. */
static bool plan_lasts(const tamis_need *need, const tamis_plan *plan) {
    return need->kind != TAMIS_KIND_ANY || need->replacements != 0 || plan->replacements == 0;
}

/* The plan of each kind that is asked for, in any order; with 'sets' not of those that are
 * multisets always. */
static tamis_status plan_kinds(const tamis_need *need, bool sets, candidate *own, size_t *n) {
    tamis_status worst = TAMIS_E_UNSUPPORTED;
    *n = 0;
    for (size_t i = 0; i < tamis_i_n_kinds; i++) {
        const tamis_i_kind *const kind = tamis_i_kinds[i];
        if ((need->kind != TAMIS_KIND_ANY && need->kind != kind->id) ||
            (sets && (kind->abilities & TAMIS_CAN_COUNT) != 0 && kind->form == NULL))
            continue;
        const tamis_status status = plan_one(kind, need, &own[*n].plan);
        if (status == TAMIS_OK)
            *n += plan_lasts(need, &own[*n].plan);
        else
            worst = status == TAMIS_E_UNSUPPORTED ? worst : status;
    }
    return *n > 0 ? TAMIS_OK : worst;
}

/* Mark those that take at most so much more than the least. */
static void plan_mark_near(const tamis_need *need, double factor, candidate *own, size_t n) {
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, plan_takes(need, &own[i].plan));
    for (size_t i = 0; i < n; i++)
        own[i].near = plan_takes(need, &own[i].plan) <= factor * least;
}

/* With few keys, whole lines and room for what scatters say little about kinds: take off the marks of those
 * that take too much for many keys.  Unless nothing would be left that is of use. */
static void plan_mark_many(const tamis_need *need, candidate *own, size_t n) {
    tamis_need many = *need;
    double takes[KINDS_MAX], least = INFINITY;
    bool left = false;
    many.bytes = 0;
    if (plan_question_of(need) != FEWEST_BYTES || need->n >= MANY || n < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        tamis_plan plan;
        const tamis_i_kind *const kind = tamis_i_kind_of(own[i].plan.params.kind);
        takes[i] = plan_direct(kind, &many, MANY, need->fpr, &plan) == TAMIS_OK ? (double)plan.bytes
                                                                                : INFINITY;
        least = fmin(least, takes[i]);
    }
    for (size_t i = 0; i < n; i++)
        left = left ||
               (own[i].near && takes[i] <= BALANCED * least && !plan_is_other(need, &own[i].plan));
    for (size_t i = 0; i < n && left; i++)
        own[i].near = own[i].near && takes[i] <= BALANCED * least;
}

static void plan_sort_plans(const tamis_need *need, candidate *own, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const candidate moved = own[i];
        size_t at = i;
        for (; at > 0 && plan_better(need, &moved, &own[at - 1]); at--)
            own[at] = own[at - 1];
        own[at] = moved;
    }
}

/* Sort all plans, and put the one that is taken first.  For a set that is the best one that is not a
 * multiset; false if there is none.  What multisets take counts for the balanced order, which is of kinds,
 * but not where the fewest bytes are asked for. */
static bool plan_sort_all(const tamis_need *need, candidate *own, size_t n) {
    const bool balanced = need->order == TAMIS_ORDER_BALANCED;
    size_t n_own = 0;
    if (balanced) {
        plan_mark_near(need, BALANCED, own, n);
        plan_mark_many(need, own, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (plan_is_other(need, &own[i].plan))
            continue;
        const candidate moved = own[i];
        own[i] = own[n_own];
        own[n_own++] = moved;
    }
    if (!balanced)
        plan_mark_near(need, NEAR, own, n_own);
    plan_sort_plans(need, own, n_own);
    const size_t first = n_own > 0 ? 1 : 0; /* which is taken, and stays where it is */
    if (!balanced && n_own < n)
        plan_mark_near(need, NEAR, own + first, n - first);
    plan_sort_plans(need, own + first, n - first);
    return n_own > 0;
}

/* Is it a question that needs no search?  It is one for the fewest bytes, or what these give, and the kinds
 * that have the fewest are known. */
static bool plan_is_plain(const tamis_need *need) {
    return !need->search && need->kind == TAMIS_KIND_ANY && need->order <= TAMIS_ORDER_SPEED &&
           !need->offline && isinf(need->lines_max) && need->copies <= 1 && need->value_bits == 0 &&
           need->replacements == 0;
}

/* Is there room for rates that the quick planners do not know? */
static bool plan_ends_early(const tamis_need *need, const candidate *own, size_t n) {
    double least = 1;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, own[i].plan.fpr);
    return plan_question_of(need) == LEAST_RATE && least < 1.02 * exp2(-QUICK_TO);
}

/* The plan that is taken.  Better a multiset than none, if all kinds were looked at. */
static tamis_status plan_best(const tamis_need *need, candidate *own) {
    const bool sets = plan_wants_set(need) && need->order != TAMIS_ORDER_BALANCED;
    size_t n;
    tamis_status status = plan_kinds(need, sets, own, &n);
    if (status == TAMIS_OK && !need->search && plan_ends_early(need, own, n))
        return TAMIS_E_UNSUPPORTED;
    if (status == TAMIS_OK && plan_sort_all(need, own, n))
        return TAMIS_OK;
    if (!need->search)
        return status == TAMIS_OK ? TAMIS_E_UNSUPPORTED : status;
    if (sets)
        status = plan_kinds(need, false, own, &n);
    if (status == TAMIS_OK)
        (void)plan_sort_all(need, own, n);
    return status;
}

tamis_status tamis_plan_all(const tamis_need *need, tamis_plan *plans, size_t room,
                            size_t *n_plans) {
    tamis_need own_need;
    candidate own[KINDS_MAX];
    size_t n;
    if (plans == NULL || n_plans == NULL || tamis_i_n_kinds > KINDS_MAX)
        return TAMIS_E_ARGUMENT;
    tamis_status status = need_in(&own_need, need);
    if (status != TAMIS_OK)
        return status;
    /* plans[] has the caller's stride.  All of it is checked before any of it is changed. */
    const unsigned char *const first = (const unsigned char *)plans;
    size_t stride = sizeof own[0].plan;
    if (room > 0)
        memcpy(&stride, first, sizeof stride);
    if (stride < sizeof stride || stride > (size_t)1 << 16)
        return TAMIS_E_ARGUMENT;
    const int saved = errno; /* the mathematics may set it where a tail underflows to 0 */
    own_need.search = true;
    status = plan_kinds(&own_need, false, own, &n);
    if (status == TAMIS_OK)
        (void)plan_sort_all(&own_need, own, n);
    errno = saved;
    if (status != TAMIS_OK)
        return status;
    n = n < room ? n : room;
    for (size_t i = 1; i < n; i++)
        if (memcmp(first + i * stride, first, sizeof stride) != 0)
            return TAMIS_E_ARGUMENT;
    for (size_t i = 0; i < n; i++)
        if (!tamis_i_struct_out((unsigned char *)plans + i * stride, &own[i].plan,
                                sizeof own[i].plan))
            return TAMIS_E_ARGUMENT;
    *n_plans = n;
    return TAMIS_OK;
}

tamis_status tamis_plan_make(const tamis_need *need, tamis_plan *plan) {
    tamis_need own_need;
    candidate own[KINDS_MAX];
    if (plan == NULL || tamis_i_n_kinds > KINDS_MAX)
        return TAMIS_E_ARGUMENT;
    tamis_status status = need_in(&own_need, need);
    if (status != TAMIS_OK)
        return status;
    const int saved = errno;
    status = plan_is_plain(&own_need) ? plan_best(&own_need, own) : TAMIS_E_UNSUPPORTED;
    own_need.search = true;
    if (status != TAMIS_OK)
        status = plan_best(&own_need, own);
    errno = saved;
    if (status != TAMIS_OK)
        return status;
    return tamis_i_struct_out(plan, &own[0].plan, sizeof own[0].plan) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

/* ---- balanced Bloom filters by their theory ---- */

tamis_status tamis_plan_balanced(const tamis_balanced_need *need, tamis_plan *plan) {
    tamis_balanced_need own_need;
    tamis_plan own;
    if (need == NULL || plan == NULL || !tamis_i_struct_in(&own_need, sizeof own_need, need))
        return TAMIS_E_ARGUMENT;
    tamis_plan_init(&own);
    tamis_params_init(&own.params);
    const int saved = errno; /* the mathematics may set it where a tail underflows to 0 */
    tamis_status status = tamis_i_plan_balanced(&own_need, &own);
    errno = saved;
    uint64_t n_body = 0, n_table;
    if (status == TAMIS_OK)
        status = plan_shape(tamis_i_kind_of(own.params.kind), &own.params, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    own.params.fpr = own.fpr;
    own.bytes = n_body * sizeof(uint64_t);
    own.file_bytes = tamis_i_file_bytes(n_body);
    own.bits_per_key = 8 * (double)own.bytes / (double)own_need.n;
    own.bound_bits_per_key = -log2(own.fpr);
    return tamis_i_struct_out(plan, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
