/* web.c - the library as a WebAssembly module
 *
 * The module imports nothing: it has no clock, no file and no random numbers, so seeds come from the
 * caller.  What crosses the border is numbers and places in memory.  Structs do not: a need goes in, and
 * plans and information come out, as doubles in one array, whose places are named below and in tamis.js.
 * Sizes and counts are below 2^53 and stay exact; seeds have 64 bits and are arguments.
 *
 * A call that can fail returns minus its tamis_status, and 0 or more if it succeeds.
 *
 * SPDX-License-Identifier: MIT
 */
#include <tamis/plan.h>
#include <tamis/shared.h>
#include <tamis/tamis.h>

#include <stdlib.h>

#ifdef __wasm__
#define WEB_EXPORT(name) __attribute__((export_name(#name)))
#else
#define WEB_EXPORT(name) /* the tests compile this file for their own machine, too */
#endif

/* Places of a need. */
enum {
    NEED_N,
    NEED_FPR,
    NEED_KIND,
    NEED_DELETES,
    NEED_OFFLINE,
    NEED_GROWS,
    NEED_COPIES,
    NEED_VALUE_BITS,
    NEED_ORDER,
    NEED_BYTES,
    NEED_OVERSHOOT,
    NEED_LINES_MAX,
    NEED_FAILURE_MAX,
    NEED_LINE_BITS,
    NEED_REPLACEMENTS,
    NEED_MERGES,
    NEED_HASH,
    NEED_TICKS
};

/* Places of parameters, with which a plan and the information about a set begin. */
enum {
    PARAMS_KIND,
    PARAMS_HASH,
    PARAMS_CAPACITY,
    PARAMS_STASH,
    PARAMS_FPR,    /* that was promised */
    PARAMS_VALUES, /* TAMIS_PARAMS_MAX of them */
    PARAMS_END = PARAMS_VALUES + TAMIS_PARAMS_MAX
};

/* Places of a plan. */
enum {
    PLAN_N = PARAMS_END,
    PLAN_BYTES,
    PLAN_BITS_PER_KEY,
    PLAN_BOUND,
    PLAN_FPR,
    PLAN_FPR_HALF,
    PLAN_OVERFLOW,
    PLAN_LINES_PER_QUERY,
    PLAN_LINES_PER_INSERT,
    PLAN_REPLACEMENTS,
    PLAN_SHARDS,
    PLAN_FILE_BYTES,
    PLAN_NS_INSERT,
    PLAN_NS_LOOKUP,
    PLAN_NS_REMOVE,
    PLAN_NS_INSERT_CACHED,
    PLAN_NS_LOOKUP_CACHED,
    PLAN_NS_REMOVE_CACHED,
    PLAN_END
};

/* Places of what is known about a set. */
enum {
    INFO_COUNT = PARAMS_END,
    INFO_BYTES,
    INFO_FPR,
    INFO_CAPACITY,
    INFO_PROMISED,
    INFO_LINKS,
    INFO_SHARDS,
    INFO_KEY_FORM,
    INFO_FILE_BYTES
};

#define PLANS_MAX 32

static double numbers[PLANS_MAX * PLAN_END];
static const char *reason;

/* Where a need is written before a call, and results stand after it. */
WEB_EXPORT(numbers)
double *web_numbers(void) {
    return numbers;
}

/* Why the last call that was to plan or make a set did not, if there is more to say than its status; or
 * NULL. */
WEB_EXPORT(reason)
const char *web_reason(void) {
    return reason;
}

WEB_EXPORT(version)
const char *web_version(void) {
    return tamis_version();
}

WEB_EXPORT(status_text)
const char *web_status_text(int status) {
    return tamis_status_text((tamis_status)status);
}

WEB_EXPORT(kind_name)
const char *web_kind_name(int kind) {
    return tamis_kind_name((tamis_kind)kind);
}

WEB_EXPORT(kind_abilities)
unsigned web_kind_abilities(int kind) {
    return tamis_kind_abilities((tamis_kind)kind);
}

WEB_EXPORT(param_name)
const char *web_param_name(int kind, unsigned index) {
    return tamis_param_name((tamis_kind)kind, index);
}

/* Memory for keys and files, which the caller gives back. */
WEB_EXPORT(allocate)
void *web_allocate(size_t size) {
    return malloc(size);
}

WEB_EXPORT(release)
void web_release(void *block) {
    free(block);
}

/* ---- planning ---- */

/* What is returned for a need or parameters that were refused; the reason says why. */
static char refusal[512];

static int web_refuse_need(const tamis_need *need, tamis_status status) {
    reason = tamis_plan_explain(need, refusal, sizeof refusal) == status ? refusal : NULL;
    return -(int)status;
}

static int web_refuse_params(const tamis_params *params, tamis_status status) {
    reason = tamis_params_explain(params, refusal, sizeof refusal) == status ? refusal : NULL;
    return -(int)status;
}

/* A number that comes from outside, as an integer of at most 'most'; a conversion without a check could
 * trap. */
static uint64_t web_whole(double number, uint64_t most) {
    if (!(number > 0))
        return 0;
    return number >= (double)most ? most : (uint64_t)number;
}

static unsigned web_small(double number) {
    return (unsigned)web_whole(number, 1u << 30);
}

static tamis_need web_need(void) {
    tamis_need need;
    tamis_need_init(&need);
    need.n = web_whole(numbers[NEED_N], (uint64_t)1 << 62);
    need.fpr = numbers[NEED_FPR];
    need.kind = (tamis_kind)web_small(numbers[NEED_KIND]);
    need.deletes = numbers[NEED_DELETES] != 0;
    need.offline = numbers[NEED_OFFLINE] != 0;
    need.grows = numbers[NEED_GROWS] != 0;
    need.copies = web_small(numbers[NEED_COPIES]);
    need.value_bits = web_small(numbers[NEED_VALUE_BITS]);
    need.order = (tamis_order)web_small(numbers[NEED_ORDER]);
    need.bytes = web_whole(numbers[NEED_BYTES], (uint64_t)1 << 62);
    need.overshoot = numbers[NEED_OVERSHOOT];
    need.lines_max = numbers[NEED_LINES_MAX];
    need.failure_max = numbers[NEED_FAILURE_MAX];
    need.line_bits = numbers[NEED_LINE_BITS];
    need.replacements = web_small(numbers[NEED_REPLACEMENTS]);
    need.merges = numbers[NEED_MERGES] != 0;
    need.hash = (tamis_hash_id)web_small(numbers[NEED_HASH]);
    need.ticks = web_small(numbers[NEED_TICKS]);
    return need;
}

static void web_put_params(double *out, const tamis_params *params) {
    out[PARAMS_KIND] = params->kind;
    out[PARAMS_HASH] = params->hash;
    out[PARAMS_CAPACITY] = (double)params->capacity;
    out[PARAMS_STASH] = (double)params->stash;
    out[PARAMS_FPR] = params->fpr;
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
        out[PARAMS_VALUES + i] = (double)params->value[i];
}

static void web_put_plan(double *out, const tamis_plan *plan) {
    web_put_params(out, &plan->params);
    out[PLAN_N] = (double)plan->n;
    out[PLAN_BYTES] = (double)plan->bytes;
    out[PLAN_BITS_PER_KEY] = plan->bits_per_key;
    out[PLAN_BOUND] = plan->bound_bits_per_key;
    out[PLAN_FPR] = plan->fpr;
    out[PLAN_FPR_HALF] = plan->fpr_half;
    out[PLAN_OVERFLOW] = plan->overflow_probability;
    out[PLAN_LINES_PER_QUERY] = plan->lines_per_query;
    out[PLAN_LINES_PER_INSERT] = plan->lines_per_insert;
    out[PLAN_REPLACEMENTS] = (double)plan->replacements;
    out[PLAN_SHARDS] = 1;
    out[PLAN_FILE_BYTES] = (double)plan->file_bytes;
    out[PLAN_NS_INSERT] = plan->ns_insert;
    out[PLAN_NS_LOOKUP] = plan->ns_lookup;
    out[PLAN_NS_REMOVE] = plan->ns_remove;
    out[PLAN_NS_INSERT_CACHED] = plan->ns_insert_cached;
    out[PLAN_NS_LOOKUP_CACHED] = plan->ns_lookup_cached;
    out[PLAN_NS_REMOVE_CACHED] = plan->ns_remove_cached;
}

/* The best plan for the need in 'numbers', or with 'all' that of each kind, best first: how many. */
WEB_EXPORT(plan)
int web_plan(int all) {
    static tamis_plan plans[PLANS_MAX];
    const tamis_need need = web_need();
    size_t n = 1;
    for (size_t i = 0; i < PLANS_MAX; i++)
        tamis_plan_init(&plans[i]);
    const tamis_status status =
        all ? tamis_plan_all(&need, plans, PLANS_MAX, &n) : tamis_plan_make(&need, plans);
    if (status != TAMIS_OK)
        return web_refuse_need(&need, status);
    for (size_t i = 0; i < n; i++)
        web_put_plan(numbers + i * PLAN_END, &plans[i]);
    return (int)n;
}

/* The plan of a set that so many threads share. */
WEB_EXPORT(plan_shared)
int web_plan_shared(unsigned threads) {
    const tamis_need need = web_need();
    tamis_shared_plan plan;
    tamis_shared_plan_init(&plan);
    const tamis_status status = tamis_shared_plan_make(&need, threads, &plan);
    if (status != TAMIS_OK)
        return web_refuse_need(&need, status);
    tamis_plan whole;
    tamis_plan_init(&whole);
    whole.params = plan.params;
    whole.n = plan.n;
    whole.bytes = plan.bytes;
    whole.bits_per_key = plan.bits_per_key;
    whole.bound_bits_per_key = plan.bound_bits_per_key;
    whole.fpr = plan.fpr;
    whole.overflow_probability = plan.overflow_probability;
    whole.lines_per_query = plan.lines_per_query;
    whole.lines_per_insert = plan.lines_per_insert;
    web_put_plan(numbers, &whole);
    numbers[PLAN_SHARDS] = plan.shards;
    return 1;
}

/* ---- sets ---- */

static tamis_params web_params(const double *in) {
    tamis_params params;
    tamis_params_init(&params);
    params.kind = (tamis_kind)web_small(in[PARAMS_KIND]);
    params.hash = (tamis_hash_id)web_small(in[PARAMS_HASH]);
    params.capacity = web_whole(in[PARAMS_CAPACITY], (uint64_t)1 << 62);
    params.stash = web_whole(in[PARAMS_STASH], (uint64_t)1 << 62);
    params.fpr = in[PARAMS_FPR];
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
        params.value[i] = web_whole(in[PARAMS_VALUES + i], (uint64_t)1 << 62);
    return params;
}

/* What a set of the plan at this place in 'numbers' can do. */
WEB_EXPORT(plan_abilities)
unsigned web_plan_abilities(unsigned index) {
    const tamis_params params = web_params(numbers + (size_t)(index % PLANS_MAX) * PLAN_END);
    return tamis_params_abilities(&params);
}

/* An empty set with the parameters in 'numbers', written to '*made'.  A seed is required. */
WEB_EXPORT(create)
int web_create(uint64_t seed, uint64_t seed_high, tamis_filter **made) {
    reason = NULL;
    if (seed == 0 && seed_high == 0)
        return -(int)TAMIS_E_ARGUMENT;
    tamis_params params = web_params(numbers);
    params.seed = seed;
    params.seed_high = seed_high;
    const tamis_status status = tamis_filter_create(&params, NULL, made);
    return status == TAMIS_OK ? 0 : web_refuse_params(&params, status);
}

WEB_EXPORT(free_set)
void web_free(tamis_filter *set) {
    tamis_filter_free(set);
}

/* 1 if the key was new. */
WEB_EXPORT(add)
int web_add(tamis_filter *set, const void *key, size_t size) {
    bool added = false;
    const tamis_status status = tamis_filter_insert(set, key, size, &added);
    return status == TAMIS_OK ? (int)added : -(int)status;
}

WEB_EXPORT(has)
int web_has(const tamis_filter *set, const void *key, size_t size) {
    return tamis_filter_contains(set, key, size);
}

/* 1 if it was removed, 0 if it is certainly not there. */
WEB_EXPORT(remove_key)
int web_remove(tamis_filter *set, const void *key, size_t size) {
    const tamis_status status = tamis_filter_remove(set, key, size);
    if (status == TAMIS_E_NOT_FOUND)
        return 0;
    return status == TAMIS_OK ? 1 : -(int)status;
}

WEB_EXPORT(copies)
double web_copies(const tamis_filter *set, const void *key, size_t size) {
    return (double)tamis_filter_copies(set, key, size);
}

WEB_EXPORT(set_key_form)
int web_set_key_form(tamis_filter *set, int form) {
    return -(int)tamis_filter_set_key_form(set, (tamis_key_form)form);
}

/* What the set is, in 'numbers'. */
WEB_EXPORT(info)
int web_info(const tamis_filter *set) {
    tamis_info info;
    tamis_info_init(&info);
    const tamis_status status = tamis_filter_info(set, &info);
    if (status != TAMIS_OK)
        return -(int)status;
    web_put_params(numbers, &info.params);
    numbers[INFO_COUNT] = (double)info.count;
    numbers[INFO_BYTES] = (double)info.bytes;
    numbers[INFO_FPR] = info.fpr;
    numbers[INFO_CAPACITY] = (double)info.capacity;
    numbers[INFO_PROMISED] = info.fpr_promised;
    numbers[INFO_LINKS] = info.n_links;
    numbers[INFO_SHARDS] = info.n_shards;
    numbers[INFO_KEY_FORM] = tamis_filter_key_form(set);
    numbers[INFO_FILE_BYTES] = (double)info.file_bytes;
    return 0;
}

/* ---- files ---- */

WEB_EXPORT(encoded_size)
double web_encoded_size(const tamis_filter *set) {
    return (double)tamis_filter_encoded_size(set);
}

WEB_EXPORT(encode)
int web_encode(const tamis_filter *set, void *buffer, size_t size) {
    return -(int)tamis_filter_encode(set, buffer, size);
}

/* A set from the bytes of a file, of either form. */
WEB_EXPORT(decode)
int web_decode(const unsigned char *data, size_t size, tamis_filter **made) {
    static const char compact[] = "\x89TAMCF\r\n";
    reason = NULL;
    if (size >= sizeof compact - 1 && memcmp(data, compact, sizeof compact - 1) == 0)
        return -(int)tamis_filter_compact_decode(data, size, NULL, made, &reason);
    return -(int)tamis_filter_decode(data, size, NULL, made, &reason);
}

/* ---- sets from lists of keys ----
 *
 * As 'tamis build' makes them, byte for byte: the keys are hashed as they come, and placed when all are
 * known.
 */

typedef struct builder {
    tamis_hasher hasher;
    tamis_params hash; /* hash and seed */
    tamis_digest *digests;
    size_t n, room;
    unsigned char *rest; /* the beginning of a line whose end has not come yet */
    size_t rest_size, rest_room;
} builder;

WEB_EXPORT(builder_free)
void web_builder_free(builder *b) {
    if (b == NULL)
        return;
    free(b->digests);
    free(b->rest);
    free(b);
}

/* NULL if there is no memory, or no such hash or seed. */
WEB_EXPORT(builder_new)
builder *web_builder_new(int hash, uint64_t seed, uint64_t seed_high) {
    builder *const b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    tamis_params_init(&b->hash);
    b->hash.hash = (tamis_hash_id)hash;
    b->hash.seed = seed;
    b->hash.seed_high = seed_high;
    if (tamis_hasher_init(&b->hasher, &b->hash) == TAMIS_OK)
        return b;
    web_builder_free(b);
    return NULL;
}

WEB_EXPORT(builder_count)
double web_builder_count(const builder *b) {
    return (double)b->n;
}

/* Add a key. */
WEB_EXPORT(builder_add)
int web_builder_add(builder *b, const void *key, size_t size) {
    if (b->n == b->room) {
        const size_t room = b->room == 0 ? 1024 : b->room * 2;
        if (room > SIZE_MAX / sizeof *b->digests)
            return -(int)TAMIS_E_NOMEM;
        tamis_digest *const digests = realloc(b->digests, room * sizeof *digests);
        if (digests == NULL)
            return -(int)TAMIS_E_NOMEM;
        b->digests = digests;
        b->room = room;
    }
    b->digests[b->n++] = tamis_hash(&b->hasher, key, size);
    return 0;
}

/* Keep a part of a line for later. */
static bool web_builder_keep(builder *b, const unsigned char *text, size_t size) {
    if (size > SIZE_MAX / 4 - b->rest_size)
        return false;
    if (b->rest_size + size > b->rest_room) {
        const size_t room = (b->rest_size + size) * 2;
        unsigned char *const rest = realloc(b->rest, room);
        if (rest == NULL)
            return false;
        b->rest = rest;
        b->rest_room = room;
    }
    if (size > 0)
        memcpy(b->rest + b->rest_size, text, size);
    b->rest_size += size;
    return true;
}

/* Add the keys of a text, one per line.  Texts that follow each other are one: a line may begin in one of
 * them and end in the next. */
WEB_EXPORT(builder_text)
int web_builder_text(builder *b, const unsigned char *text, size_t size) {
    size_t at = 0;
    while (at < size) {
        const unsigned char *const end = memchr(text + at, '\n', size - at);
        const size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        if (end == NULL || b->rest_size > 0) {
            if (!web_builder_keep(b, text + at, length))
                return -(int)TAMIS_E_NOMEM;
            if (end == NULL)
                return 0;
        }
        const bool joined = b->rest_size > 0;
        const int status = joined ? web_builder_add(b, b->rest, b->rest_size)
                                  : web_builder_add(b, text + at, length);
        if (status != 0)
            return status;
        b->rest_size = 0;
        at += length + 1;
    }
    return 0;
}

/* The set of all keys, for the need in 'numbers', whose n is 0: the number of keys.  'numbers' then has the
 * plan. */
WEB_EXPORT(builder_build)
int web_builder_build(builder *b, int form, tamis_filter **made) {
    reason = NULL;
    if (b->rest_size > 0) { /* a last line without an end */
        const int status = web_builder_add(b, b->rest, b->rest_size);
        if (status != 0)
            return status;
        b->rest_size = 0;
    }
    tamis_need need = web_need();
    if (need.n == 0)
        need.n = b->n > 0 ? b->n : 1;
    need.offline = need.copies <= 1; /* a set that is built has each key once */
    tamis_plan plan;
    tamis_plan_init(&plan);
    tamis_status status = tamis_plan_make(&need, &plan);
    if (status != TAMIS_OK)
        return web_refuse_need(&need, status);
    plan.params.hash = b->hash.hash;
    plan.params.seed = b->hash.seed;
    plan.params.seed_high = b->hash.seed_high;
    tamis_filter *set = NULL;
    status = tamis_filter_build_many(&plan.params, b->digests, b->n, NULL, NULL, &set);
    if (status == TAMIS_OK)
        status = tamis_filter_set_key_form(set, (tamis_key_form)form);
    if (status != TAMIS_OK) {
        tamis_filter_free(set);
        return -(int)status;
    }
    web_put_plan(numbers, &plan);
    *made = set;
    return 0;
}

/* ---- how a set fares while it is filled ---- */

/* Fill an empty set with 'n' keys that nobody chose, in 'steps' equal steps, and write the error rate after
 * each of them to 'rates'.  Returns how many steps were taken before the set was full. */
WEB_EXPORT(fill)
int web_fill(tamis_filter *set, size_t n, unsigned steps, double *rates) {
    tamis_info info;
    uint64_t key = 0;
    for (unsigned step = 0; step < steps; step++) {
        const uint64_t until = (uint64_t)n * (step + 1) / steps;
        for (; key < until; key++) {
            const tamis_status status = tamis_filter_insert_u64(set, key, NULL);
            if (status == TAMIS_E_FULL)
                return (int)step;
            if (status != TAMIS_OK)
                return -(int)status;
        }
        tamis_info_init(&info);
        const tamis_status status = tamis_filter_info(set, &info);
        if (status != TAMIS_OK)
            return -(int)status;
        rates[step] = info.fpr;
    }
    return (int)steps;
}
