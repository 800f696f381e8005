/* sets.c - memory, seeds, and values that are made and read
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <access/parallel.h>
#include <utils/guc.h>
#include <utils/memutils.h>

#include <inttypes.h>

/* ---- memory ---- */

/* A chunk has no more than 8 bytes of alignment: it is made larger, and where it begins is kept before. */
static void *set_alloc(void *context, size_t size, size_t align) {
    if (size > MaxAllocHugeSize - align - sizeof(void *))
        return NULL;
    char *const begin = MemoryContextAllocExtended(
        (MemoryContext)context, size + align + sizeof(void *), MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (begin == NULL)
        return NULL;
    const uintptr_t first = (uintptr_t)begin + sizeof(void *);
    char *const block = begin + sizeof(void *) + (align - first % align) % align;
    memcpy(block - sizeof(void *), &begin, sizeof(void *));
    return block;
}

static void set_free(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    void *begin;
    memcpy(&begin, (char *)block - sizeof(void *), sizeof(void *));
    pfree(begin);
}

tamis_allocator set_allocator(MemoryContext context) {
    const tamis_allocator allocator = {set_alloc, set_free, context, NULL};
    return allocator;
}

/* ---- failures ---- */

static int set_error_code(tamis_status status) {
    switch (status) {
    case TAMIS_E_NOMEM:
        return ERRCODE_OUT_OF_MEMORY;
    case TAMIS_E_FULL:
    case TAMIS_E_TOO_LARGE:
    case TAMIS_E_PROMISE:
        return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case TAMIS_E_FORMAT:
    case TAMIS_E_VERSION:
        return ERRCODE_DATA_CORRUPTED;
    case TAMIS_E_UNSUPPORTED:
        return ERRCODE_FEATURE_NOT_SUPPORTED;
    default:
        return ERRCODE_INVALID_PARAMETER_VALUE;
    }
}

void set_expect(tamis_status status, const char *what, const char *reason) {
    if (status != TAMIS_OK)
        ereport(ERROR,
                (errcode(set_error_code(status)),
                 errmsg("%s: %s", what, reason != NULL ? reason : tamis_status_text(status))));
}

/* ---- seeds ----
 *
 * Sets that are made side by side by the workers of one query are merged, so they need one seed.  It is a
 * setting, since the settings of a session are given to its workers.  A session draws it when the library is
 * loaded, as a default: that survives a rollback, and is given to workers, which a default of the setting's
 * definition is not. */

static char *seed_text;
static tamis_params seeded; /* its seed is that of the session; 0: none yet */

static bool seed_check(char **text, void **extra, GucSource source) {
    (void)source;
    tamis_params *const params = malloc(sizeof *params); /* freed by the server */
    if (params == NULL)
        return false;
    tamis_params_init(params);
    if (**text != '\0' && tamis_seed_parse(*text, params) != TAMIS_OK) {
        free(params);
        GUC_check_errdetail("A seed is a number from 1 to 2^64 - 1, or up to 32 digits after 0x.");
        return false;
    }
    *extra = params;
    return true;
}

static void seed_assign(const char *text, void *extra) {
    (void)text;
    seeded = *(const tamis_params *)extra;
}

void set_define_seed(void) {
    DefineCustomStringVariable(
        "tamis.seed", "Seed of the hash of new sets.",
        "Sets can be merged if their seeds are equal. A session has a random one.", &seed_text, "",
        PGC_USERSET, GUC_NO_SHOW_ALL, seed_check, seed_assign, NULL);
    if (ParallelWorkerNumber >= 0 || seeded.seed != 0 || seeded.seed_high != 0)
        return;
    tamis_params drawn;
    tamis_params_init(&drawn);
    if (tamis_seed_draw(&drawn) != TAMIS_OK)
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("no random seed for sets")));
    char text[36];
    snprintf(text, sizeof text, "0x%016" PRIx64 "%016" PRIx64, drawn.seed_high, drawn.seed);
    SetConfigOption("tamis.seed", text, PGC_USERSET, PGC_S_DYNAMIC_DEFAULT);
}

/* ---- making, decoding, encoding ---- */

/* A dump has values as text: 4 characters for 3 bytes, in a row of at most 1 GB. */
void set_check_size(uint64 bytes) {
    if (bytes > SET_BYTES_MAX)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("a set as a value has at most 750 MB, and this one " UINT64_FORMAT " bytes",
                        bytes),
                 errdetail("A larger one could not be dumped: a row of text has at most 1 GB."),
                 errhint("Split the keys over several sets, or allow a higher error rate.")));
}

tamis_plan set_plan(int64 n, double p, bool merges) {
    if (n < 1 || (uint64_t)n > TAMIS_CAPACITY_MAX)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a set is for 1 to 2^40 keys, not " INT64_FORMAT, n)));
    if (!(p > 0 && p < 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("an error rate is above 0 and below 1, not %g", p)));
    tamis_need need;
    tamis_need_init(&need);
    need.n = (uint64_t)n;
    need.fpr = p;
    need.merges = merges;
    tamis_plan plan;
    tamis_plan_init(&plan);
    const tamis_status status = tamis_plan_make(&need, &plan);
    char why[512] = "";
    if (status != TAMIS_OK)
        (void)tamis_plan_explain(&need, why, sizeof why);
    set_expect(status, "this set cannot be planned", why[0] != '\0' ? why : NULL);
    set_check_size(plan.file_bytes);
    return plan;
}

set_seed set_session_seed(void) {
    const set_seed seed = {seeded.seed, seeded.seed_high};
    return seed;
}

const tamis_hasher *set_hasher(set_seed seed) {
    static tamis_hasher hasher;
    static set_seed of;
    if (of.low != seed.low || of.high != seed.high || (seed.low == 0 && seed.high == 0)) {
        tamis_params params;
        tamis_params_init(&params);
        params.seed = seed.low;
        params.seed_high = seed.high;
        set_expect(tamis_hasher_init(&hasher, &params), "a seed", NULL);
        of = seed;
    }
    return &hasher;
}

tamis_filter *set_make(const tamis_plan *plan, tamis_key_form form, set_seed seed) {
    tamis_params params = plan->params;
    params.seed = seed.low;
    params.seed_high = seed.high;
    const tamis_allocator allocator = set_allocator(CurrentMemoryContext);
    tamis_filter *filter;
    set_expect(tamis_filter_create(&params, &allocator, &filter), "this set cannot be made", NULL);
    set_expect(tamis_filter_set_key_form(filter, form), "this set cannot be made", NULL);
    return filter;
}

tamis_filter *set_decode(const struct varlena *value, MemoryContext context) {
    const tamis_allocator allocator = set_allocator(context);
    tamis_filter *filter;
    const char *reason = NULL;
    const tamis_status status = tamis_filter_decode(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value),
                                                    &allocator, &filter, &reason);
    set_expect(status, "not a set of tamis", reason);
    return filter;
}

struct varlena *set_encode(const tamis_filter *filter) {
    const uint64_t size = tamis_filter_encoded_size(filter);
    set_check_size(size);
    struct varlena *const value = palloc((Size)size + VARHDRSZ);
    SET_VARSIZE(value, (Size)size + VARHDRSZ);
    set_expect(tamis_filter_encode(filter, VARDATA(value), (size_t)size), "a set", NULL);
    return value;
}

/* ---- merging ---- */

static void set_refuse_merge(tamis_filter *filter, const tamis_filter *source);

void set_merge(tamis_filter *filter, const tamis_filter *source, bool beyond) {
    const tamis_status status = tamis_filter_merge(filter, source, beyond ? TAMIS_MERGE_BEYOND : 0);
    if (status == TAMIS_E_PROMISE)
        set_refuse_merge(filter, source);
    if (status == TAMIS_E_MISMATCH)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("these sets cannot be merged: %s", tamis_status_text(status)),
                 errhint("Make them by tamis_agg(key, n, p) with the same n and p, of keys of "
                         "one form, and with the same setting tamis.seed.")));
    set_expect(status, "these sets cannot be merged",
               status == TAMIS_E_FULL ? "no room for the keys of both" : NULL);
}

/* Nothing uses the set any more: merge it all the same, to tell what the union would be like. */
static void set_refuse_merge(tamis_filter *filter, const tamis_filter *source) {
    const double promise = tamis_filter_promise(filter) > 0 ? tamis_filter_promise(filter)
                                                            : tamis_filter_promise(source);
    tamis_info info;
    tamis_info_init(&info);
    const bool known = tamis_filter_merge(filter, source, TAMIS_MERGE_BEYOND) == TAMIS_OK &&
                       tamis_filter_info(filter, &info) == TAMIS_OK;
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("the union of these sets would break their promise"),
             known ? errdetail("Its error rate would be %.3g instead of %.3g.", info.fpr, promise)
                   : errdetail("Its error rate would be above %.3g.", promise),
             errhint("Make sets for as many keys as the union has, or permit it: "
                     "tamis_merge(a, b, beyond => true), tamis_agg_merge(set, true).")));
}
