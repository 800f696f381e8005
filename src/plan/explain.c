/* explain.c - why a need or parameters are refused, as a sentence
 *
 * What is out of its range, and what a kind cannot do, stands in the tables by which the planner refuses
 * (wishes.c).  For all else the cause is found by experiment: one member is set back to its default, and if
 * the rest is possible then, it was that one.  So no sentence can disagree with what the planner and the
 * kinds do.
 *
 * Numbers are written here and not by the C library, which has a decimal comma in some languages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/wishes.h"

/* ---- the sentence ---- */

typedef struct sentence {
    char *at; /* the zero at its end */
    size_t left;
} sentence;

static sentence explain_begin(char *text, size_t size) {
    if (text == NULL || size == 0)
        return (sentence){NULL, 0};
    *text = '\0';
    return (sentence){text, size - 1};
}

static void explain_char(sentence *s, char c) {
    if (s->left == 0)
        return;
    *s->at++ = c;
    *s->at = '\0';
    s->left--;
}

static void explain_text(sentence *s, const char *text) {
    for (; *text != '\0'; text++)
        explain_char(s, *text);
}

static void explain_integer(sentence *s, uint64_t value) {
    char digits[20];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (n > 0)
        explain_char(s, digits[--n]);
}

#define DIGITS 9

/* 'n' digits of 'digits' from the one at 'from' on, zeros beyond them. */
static void explain_digits(sentence *s, const char *digits, int from, int n) {
    for (int i = from; i < from + n; i++)
        explain_char(s, i >= 0 && i < DIGITS ? digits[i] : '0');
}

static void explain_real(sentence *s, double x) {
    if (x != x) {
        explain_text(s, "not a number");
        return;
    }
    if (x < 0) {
        explain_char(s, '-');
        x = -x;
    }
    if (x > 1.7e308) {
        explain_text(s, "infinite");
        return;
    }
    if (x < 1e15 && x == (double)(uint64_t)x) {
        explain_integer(s, (uint64_t)x);
        return;
    }
    int exponent = 0;
    for (; x >= 10; x /= 10)
        exponent++;
    for (; x < 1; x *= 10)
        exponent--;
    char digits[DIGITS];
    uint64_t all = (uint64_t)(x * 1e8 + 0.5); /* DIGITS of them */
    if (all >= 1000000000) {
        all /= 10;
        exponent++;
    }
    for (int i = DIGITS; i > 0; all /= 10)
        digits[--i] = (char)('0' + all % 10);
    int n = DIGITS;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    const bool plain = exponent >= -4 && exponent < DIGITS;
    const int before = !plain ? 1 : exponent < 0 ? 0 : exponent + 1;
    explain_digits(s, digits, 0, before);
    if (before == 0)
        explain_char(s, '0');
    if (n > before) {
        explain_char(s, '.');
        const int from = plain && exponent < 0 ? exponent + 1 : before;
        explain_digits(s, digits, from, n - from);
    }
    if (!plain) {
        explain_text(s, exponent < 0 ? "e-" : "e");
        explain_integer(s, (uint64_t)(exponent < 0 ? -exponent : exponent));
    }
}

/* Between the parts of a list: of what is number 'i' of n. */
static void explain_between(sentence *s, unsigned i, unsigned n, const char *last) {
    if (i > 0)
        explain_text(s, i + 1 < n ? ", " : last);
}

/* ---- members of a need ---- */

static void explain_member(sentence *s, const tamis_i_limit *range, const tamis_need *need,
                           const char *is) {
    explain_text(s, range->member);
    explain_text(s, is);
    if (range->type == TAMIS_I_REAL)
        explain_real(s, tamis_i_limit_value(range, need));
    else
        explain_integer(s, tamis_i_limit_integer(range, need));
}

static void explain_name(sentence *s, const tamis_need *need, const char *member, const char *is) {
    for (size_t i = 0; i < tamis_i_n_limits; i++) {
        if (strcmp(tamis_i_limits[i].member, member) == 0) {
            explain_member(s, &tamis_i_limits[i], need, is);
            return;
        }
    }
    explain_text(s, member); /* a yes or no */
}

/* Members that can be left out, so that more is possible: all zero is then their default. */
#define LEFT_OUT(member) #member, offsetof(tamis_need, member), sizeof((tamis_need *)0)->member
static const struct {
    const char *member;
    size_t offset, size;
    const char *instead; /* NULL: without the member */
} drops[] = {
    {LEFT_OUT(fpr), "with fpr of 0.01"},
    {LEFT_OUT(deletes), NULL},
    {LEFT_OUT(merges), NULL},
    {LEFT_OUT(copies), NULL},
    {LEFT_OUT(value_bits), NULL},
    {LEFT_OUT(ticks), NULL},
    {LEFT_OUT(grows), NULL},
    {LEFT_OUT(offline), NULL},
    {LEFT_OUT(overshoot), NULL},
    {LEFT_OUT(lines_max), NULL},
    {LEFT_OUT(failure_max), NULL},
    {LEFT_OUT(kind), "with another kind"},
};
enum { DROPS = sizeof drops / sizeof drops[0], DROP_DELETES = 1, DROP_KIND = DROPS - 1 };

/* Leave out member 'i'.  False if there is nothing to leave out. */
static bool explain_drop(tamis_need *need, unsigned i) {
    unsigned char *const at = (unsigned char *)need + drops[i].offset;
    bool given = false;
    for (size_t k = 0; k < drops[i].size; k++)
        given = given || at[k] != 0;
    memset(at, 0, drops[i].size);
    if (i == DROP_DELETES) /* they imply it */
        need->replacements = 0;
    return given;
}

/* The name under which the caller asked that keys can be removed. */
static const char *explain_asked(const tamis_need *asked, const char *member) {
    return strcmp(member, "deletes") == 0 && asked->replacements != 0 ? "replacements" : member;
}

static bool explain_possible(const tamis_need *need) {
    tamis_plan plan;
    tamis_plan_init(&plan);
    return tamis_plan_make(need, &plan) == TAMIS_OK;
}

/* "; possible without this or that": what can be dropped, by itself, to make it possible. */
static void explain_drops(sentence *s, const tamis_need *asked, const tamis_need *need) {
    unsigned found[DROPS];
    unsigned n = 0;
    for (unsigned i = 0; i < DROPS; i++) {
        tamis_need less = *need;
        if (explain_drop(&less, i) && explain_possible(&less))
            found[n++] = i;
    }
    for (unsigned i = 0; i < n; i++) {
        explain_text(s, i == 0 ? "; possible " : i + 1 < n ? ", " : " or ");
        const char *const instead = drops[found[i]].instead;
        if (instead == NULL && (i == 0 || drops[found[i - 1]].instead != NULL))
            explain_text(s, "without ");
        explain_text(s, instead != NULL ? instead : explain_asked(asked, drops[found[i]].member));
    }
}

/* ---- a need that is refused ---- */

static void explain_range(sentence *s, const tamis_i_limit *range, const tamis_need *need) {
    explain_member(s, range, need, " is ");
    if (range->says != NULL) {
        explain_text(s, ", but ");
        explain_text(s, range->says);
        return;
    }
    explain_text(s, ", but must be ");
    const bool limited = range->most < 1.7e308;
    explain_text(s, range->least_open ? "above " : limited && !range->most_open ? "" : "at least ");
    explain_real(s, range->least);
    if (limited) {
        explain_text(s, range->most_open ? " and below " : " to ");
        explain_real(s, range->most);
    } else if (range->most_open)
        explain_text(s, " and finite");
}

static void explain_misfit(sentence *s, tamis_i_misfit misfit, const tamis_need *need) {
    if (misfit == TAMIS_I_NO_KIND) {
        explain_text(s, "kind is ");
        explain_integer(s, (unsigned)need->kind);
        explain_text(s, ", but there is no such kind");
    } else if (misfit == TAMIS_I_NO_SIZE)
        explain_text(s, "n and bytes are both 0, but one of them must be given");
    else {
        explain_name(s, need, "n", " is ");
        explain_text(s, ", which with ");
        explain_name(s, need, "overshoot", " of ");
        explain_text(s, " is more than 2^40 keys");
    }
}

static void explain_kinds(sentence *s, const tamis_i_wish *wish) {
    unsigned n = 0;
    explain_text(s, "; these ");
    explain_text(s, wish->these);
    for (size_t i = 0; i < tamis_i_n_kinds; i++) {
        if (!wish->can(tamis_i_kinds[i]))
            continue;
        explain_text(s, n++ == 0 ? ": " : ", ");
        explain_text(s, tamis_i_kinds[i]->name);
    }
}

/* What a kind, which is the only one asked for, cannot do. */
static void explain_lacks(sentence *s, const tamis_i_kind *kind, unsigned missed,
                          const tamis_need *asked) {
    const bool forgets = (kind->abilities & TAMIS_CAN_FORGET) != 0;
    unsigned n = 0, all = 0;
    for (unsigned left = missed; left != 0; left &= left - 1)
        all++;
    explain_char(s, ' ');
    for (unsigned i = 0; i < TAMIS_I_WISHES; i++) {
        if ((missed >> i & 1) == 0)
            continue;
        const tamis_i_wish *const wish = &tamis_i_wishes[i];
        const bool removes = strcmp(wish->member, "deletes") == 0;
        explain_between(s, n++, all, " and ");
        explain_text(s, removes && forgets ? "forgets keys by itself and cannot also remove them"
                                           : wish->lack);
        explain_text(s, " (");
        explain_name(s, asked, explain_asked(asked, wish->member), " is ");
        explain_char(s, ')');
        if (all == 1 && asked->kind != TAMIS_KIND_ANY && !(removes && forgets))
            explain_kinds(s, wish);
    }
}

static bool explain_is_ability(const char *member) {
    for (unsigned i = 0; i < TAMIS_I_WISHES; i++)
        if (strcmp(tamis_i_wishes[i].member, member) == 0)
            return true;
    return false;
}

/* What is asked for, in a row: all of it, or only what kinds are able to do. */
static void explain_all(sentence *s, const tamis_need *asked, bool abilities) {
    const char *found[DROPS + 1];
    unsigned n = 0;
    if (!abilities && asked->n > 1) /* one key is not asked for, but tried */
        found[n++] = "n";
    for (unsigned i = 0; i < DROPS; i++) {
        tamis_need need = *asked;
        if (explain_drop(&need, i) && i != DROP_KIND &&
            (!abilities || explain_is_ability(drops[i].member)))
            found[n++] = explain_asked(asked, drops[i].member);
    }
    for (unsigned i = 0; i < n; i++) {
        explain_between(s, i, n, " and ");
        explain_name(s, asked, found[i], " of ");
    }
}

/* 'need' asks for the fewest bytes, which is possible for some kind or all that can be had. */
static void explain_unsupported(sentence *s, const tamis_need *asked, const tamis_need *need) {
    const tamis_i_kind *const only = tamis_i_kind_of(
        need->ticks != 0 && need->kind == TAMIS_KIND_ANY ? TAMIS_KIND_WINDOW : need->kind);
    const unsigned missed = only == NULL ? 0 : tamis_i_wishes_missed(only, need);
    if (missed != 0) {
        explain_text(s, need->kind == TAMIS_KIND_ANY ? "a window (" : only->name);
        if (need->kind == TAMIS_KIND_ANY) {
            explain_name(s, need, "ticks", " is ");
            explain_char(s, ')');
        }
        explain_lacks(s, only, missed, asked);
        if (need->kind == TAMIS_KIND_ANY)
            explain_drops(s, asked, need);
        return;
    }
    bool able = false;
    for (size_t i = 0; i < tamis_i_n_kinds; i++)
        able = able || tamis_i_wishes_missed(tamis_i_kinds[i], need) == 0;
    explain_text(s, only == NULL ? "no kind can do " : only->name);
    explain_text(s, only == NULL ? "" : " cannot do ");
    explain_all(s, asked, !able);
    explain_text(s, " together");
    explain_drops(s, asked, need);
}

static void explain_too_large(sentence *s, const tamis_need *need) {
    tamis_need any = *need;
    tamis_plan plan;
    tamis_plan_init(&plan);
    any.bytes = 0;
    any.n = need->n == 0 ? 1 : need->n;
    any.fpr = need->fpr == 0 ? 0.7 : need->fpr;
    if (need->bytes == 0 || tamis_plan_make(&any, &plan) != TAMIS_OK) {
        explain_name(s, need, "n", " is ");
        explain_text(s, ", which makes it larger than this machine or a file can hold");
        return;
    }
    explain_text(s, "bytes is ");
    explain_integer(s, need->bytes);
    explain_text(s, ", but ");
    if (need->n == 0)
        explain_text(s, "a single key");
    else
        explain_name(s, need, "n", " of ");
    if (need->fpr == 0)
        explain_text(s, " at any error rate");
    else {
        explain_text(s, " with ");
        explain_name(s, need, "fpr", " of ");
    }
    explain_text(s, " takes ");
    explain_integer(s, plan.bytes);
    explain_text(s, " bytes");
}

tamis_status tamis_plan_explain(const tamis_need *need, char *text, size_t size) {
    sentence s = explain_begin(text, size);
    tamis_need asked;
    tamis_plan plan;
    tamis_plan_init(&plan);
    const tamis_status status = tamis_plan_make(need, &plan);
    if (status == TAMIS_OK)
        return status;
    if (need == NULL || !tamis_i_struct_in(&asked, sizeof asked, need)) {
        explain_text(&s, need == NULL ? "need is NULL" : "struct_size is not that of a need");
        return status;
    }
    asked.deletes = asked.deletes || asked.replacements != 0;
    asked.copies = asked.copies == 1 ? 0 : asked.copies;
    const tamis_i_limit *const range = tamis_i_limit_missed(&asked);
    const tamis_i_misfit misfit = tamis_i_need_misfit(&asked);
    if (range != NULL)
        explain_range(&s, range, &asked);
    else if (misfit != TAMIS_I_FITS)
        explain_misfit(&s, misfit, &asked);
    else if (status == TAMIS_E_TOO_LARGE)
        explain_too_large(&s, &asked);
    else {
        /* What cannot be planned for given bytes cannot be planned for one key at a high rate either. */
        tamis_need least = asked;
        if (asked.bytes != 0) {
            least.bytes = 0;
            least.n = asked.n == 0 ? 1 : asked.n;
            least.fpr = asked.fpr == 0 ? 0.7 : asked.fpr;
        }
        explain_unsupported(&s, &asked, &least);
    }
    return status;
}

/* ---- parameters that are refused ---- */

static tamis_status explain_shape(const tamis_params *params) {
    tamis_params complete = *params;
    uint64_t n_body, n_table;
    return tamis_i_filter_shape(tamis_i_kind_of(params->kind), &complete, &n_body, &n_table);
}

/* The numbers of parameters, beginning with the stash. */
enum { NUMBERS = TAMIS_PARAMS_MAX + 1 };

static uint64_t *explain_number(tamis_params *params, unsigned i) {
    return i == 0 ? &params->stash : &params->value[i - 1];
}

static void explain_param(sentence *s, const tamis_params *params, unsigned i) {
    tamis_params own = *params;
    const char *const name = i == 0 ? "stash" : tamis_param_name(params->kind, i - 1);
    if (name != NULL)
        explain_text(s, name);
    else {
        explain_text(s, "value[");
        explain_integer(s, i - 1);
        explain_char(s, ']');
    }
    explain_text(s, " is ");
    explain_integer(s, *explain_number(&own, i));
}

/* Some of the numbers, in a row. */
static void explain_params(sentence *s, const tamis_params *params, const unsigned *numbers,
                           unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        explain_between(s, i, n, " and ");
        explain_param(s, params, numbers[i]);
    }
}

/* Parameters of a kind that is there, which its shape refuses. */
static void explain_refused(sentence *s, const tamis_params *params, tamis_status status) {
    const char *const why = status == TAMIS_E_TOO_LARGE ? ", which makes the set too large"
                                                        : ", which is out of its range";
    unsigned given[NUMBERS], guilty[NUMBERS];
    unsigned n_given = 0, n_guilty = 0;
    for (unsigned i = 0; i < NUMBERS; i++) {
        tamis_params less = *params;
        if (*explain_number(&less, i) == 0)
            continue;
        given[n_given++] = i;
        *explain_number(&less, i) = 0;
        if (explain_shape(&less) == TAMIS_OK)
            guilty[n_guilty++] = i;
    }
    if (n_guilty == 1) {
        explain_params(s, params, guilty, 1);
        const bool nameless =
            guilty[0] > 0 && tamis_param_name(params->kind, guilty[0] - 1) == NULL;
        explain_text(s, nameless ? ", but this kind has no such parameter" : why);
    } else if (n_guilty > 1) {
        explain_params(s, params, guilty, n_guilty);
        explain_text(s, ", which do not go together");
    } else if (n_given > 0) {
        explain_text(s, "these parameters do not go together: ");
        explain_params(s, params, given, n_given);
    } else {
        explain_text(s, "capacity is ");
        explain_integer(s, params->capacity);
        explain_text(s, why);
    }
}

tamis_status tamis_params_explain(const tamis_params *params, char *text, size_t size) {
    sentence s = explain_begin(text, size);
    tamis_params own;
    if (params == NULL || !tamis_i_struct_in(&own, sizeof own, params)) {
        explain_text(&s, params == NULL ? "params is NULL" : "struct_size is not that of params");
        return TAMIS_E_ARGUMENT;
    }
    if (tamis_i_kind_of(own.kind) == NULL) {
        explain_text(&s, "kind is ");
        explain_integer(&s, (unsigned)own.kind);
        explain_text(&s, ", but there is no such kind");
        return TAMIS_E_ARGUMENT;
    }
    if (own.capacity < 1 || own.capacity > TAMIS_CAPACITY_MAX) {
        explain_text(&s, "capacity is ");
        explain_integer(&s, own.capacity);
        explain_text(&s, ", but sets have 1 to 2^40 keys");
        return TAMIS_E_ARGUMENT;
    }
    const tamis_status status = explain_shape(&own);
    if (status != TAMIS_OK) {
        explain_refused(&s, &own, status);
        return status;
    }
    const bool drawn = own.seed == 0 && own.seed_high == 0;
    const tamis_hash_id hash = own.hash == TAMIS_HASH_DEFAULT ? TAMIS_HASH_AES : own.hash;
    if (tamis_hash_name(hash) == NULL) {
        explain_text(&s, "hash is ");
        explain_integer(&s, (unsigned)hash);
        explain_text(&s, ", but there is no such hash");
    } else if (!drawn && !tamis_i_hasher_ok(hash, own.seed, own.seed_high)) {
        explain_text(&s, own.seed == 0 ? "seed is 0, but seed_high is not, and "
                                       : "seed_high is not 0, but ");
        explain_text(&s, tamis_hash_name(hash));
        explain_text(&s, " has seeds of 64 bits");
    } else if (!(own.fpr >= 0 && own.fpr < 1)) {
        explain_text(&s, "fpr is ");
        explain_real(&s, own.fpr);
        explain_text(&s, ", but must be at least 0 and below 1");
    } else
        return TAMIS_OK;
    return TAMIS_E_ARGUMENT;
}
