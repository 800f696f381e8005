/* sets.c - memory, values and the set that a query asks again and again
 *
 * The set of a query is most often the same for all rows.  It is decoded at the first one and kept beside the
 * function (fn_extra), with what is needed to see that the next row has the same one:
 *
 *      in the toast table    the pointer to it, which names the value
 *      elsewhere             its length and its header, which has the checksum of all that follows
 *
 * so that a row costs a comparison of a few bytes, and nothing is detoasted again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <access/detoast.h>
#include <access/parallel.h>
#include <utils/guc.h>
#include <utils/memutils.h>
#include <utils/uuid.h>

#include <inttypes.h>

#define HEADER 256 /* bytes of a file before its table */

/* ---- keys ---- */

set_key set_key_of_bytes(FunctionCallInfo fcinfo, int argument) {
    const struct varlena *const value = PG_DETOAST_DATUM_PACKED(fcinfo->args[argument].value);
    const set_key key = {TAMIS_KEYS_BYTES, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), 0};
    return key;
}

set_key set_key_of_integer(FunctionCallInfo fcinfo, int argument) {
    const set_key key = {TAMIS_KEYS_U64, NULL, 0,
                         (uint64_t)DatumGetInt64(fcinfo->args[argument].value)};
    return key;
}

set_key set_key_of_uuid(FunctionCallInfo fcinfo, int argument) {
    const set_key key = {TAMIS_KEYS_BYTES, DatumGetUUIDP(fcinfo->args[argument].value), UUID_LEN,
                         0};
    return key;
}

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
    MarkGUCPrefixReserved("tamis");
    if (ParallelWorkerNumber >= 0 || seeded.seed != 0 || seeded.seed_high != 0)
        return;
    uint64_t seed[2];
    if (!pg_strong_random(seed, sizeof seed))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("no random seed for sets")));
    char text[36];
    snprintf(text, sizeof text, "0x%016" PRIx64 "%016" PRIx64, seed[1], seed[0] | 1);
    SetConfigOption("tamis.seed", text, PGC_USERSET, PGC_S_DYNAMIC_DEFAULT);
}

/* ---- making, decoding, encoding ---- */

tamis_plan set_plan(int64 n, double p) {
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
    need.merges = true;
    tamis_plan plan;
    tamis_plan_init(&plan);
    const tamis_status status = tamis_plan_make(&need, &plan);
    char why[512] = "";
    if (status != TAMIS_OK)
        (void)tamis_plan_explain(&need, why, sizeof why);
    set_expect(status, "this set cannot be planned", why[0] != '\0' ? why : NULL);
    if (plan.bytes > MaxAllocSize - VARHDRSZ - HEADER)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a value has at most 1 GB, and this set " UINT64_FORMAT " bytes",
                               (uint64)plan.bytes)));
    return plan;
}

tamis_filter *set_make(const tamis_plan *plan, tamis_key_form form, MemoryContext context) {
    tamis_params params = plan->params;
    params.seed = seeded.seed;
    params.seed_high = seeded.seed_high;
    const tamis_allocator allocator = set_allocator(context);
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
    if (size > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a value has at most 1 GB, and this set " UINT64_FORMAT " bytes",
                               (uint64)size)));
    struct varlena *const value = palloc((Size)size + VARHDRSZ);
    SET_VARSIZE(value, (Size)size + VARHDRSZ);
    set_expect(tamis_filter_encode(filter, VARDATA(value), (size_t)size), "a set", NULL);
    return value;
}

/* ---- the set of a query ---- */

typedef struct set_kept {
    MemoryContext context; /* of the filter */
    tamis_filter *filter;
    bool toasted;
    Size size; /* of the value, if it is not toasted */
    Size head_size;
    char head[HEADER];
} set_kept;

/* What tells one set from another. */
typedef struct set_identity {
    bool toasted;
    Size size;
    const char *head;
    Size head_size;
} set_identity;

static set_identity set_identify(const struct varlena *value) {
    if (VARATT_IS_EXTERNAL_ONDISK(value)) {
        const set_identity toast = {true, 0, (const char *)value, VARSIZE_EXTERNAL(value)};
        return toast;
    }
    const Size size = VARSIZE_ANY_EXHDR(value);
    const set_identity plain = {false, size, VARDATA_ANY(value), Min(size, HEADER)};
    return plain;
}

static void set_keep(set_kept *kept, struct varlena *value, const set_identity *who) {
    MemoryContextReset(kept->context);
    kept->head_size = 0; /* nothing is kept if what follows fails */
    MemoryContext before = MemoryContextSwitchTo(kept->context);
    struct varlena *const plain = (struct varlena *)detoast_attr(value);
    kept->filter = set_decode(plain, kept->context);
    if (plain != value)
        pfree(plain);
    MemoryContextSwitchTo(before);
    kept->toasted = who->toasted;
    kept->size = who->size;
    memcpy(kept->head, who->head, who->head_size);
    kept->head_size = who->head_size;
}

static const tamis_filter *set_of_call(FunctionCallInfo fcinfo) {
    set_kept *kept = fcinfo->flinfo->fn_extra;
    if (kept == NULL) {
        kept = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *kept);
        kept->context =
            AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "tamis set", ALLOCSET_SMALL_SIZES);
        fcinfo->flinfo->fn_extra = kept;
    }
    struct varlena *value = (struct varlena *)DatumGetPointer(fcinfo->args[0].value);
    if (!VARATT_IS_EXTERNAL_ONDISK(value) &&
        (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value)))
        value = (struct varlena *)detoast_attr(value);
    const set_identity who = set_identify(value);
    if (kept->head_size == 0 || kept->head_size != who.head_size || kept->toasted != who.toasted ||
        kept->size != who.size || memcmp(kept->head, who.head, who.head_size) != 0)
        set_keep(kept, value, &who);
    return kept->filter;
}

bool set_contains(FunctionCallInfo fcinfo, const set_key *key) {
    const tamis_filter *const filter = set_of_call(fcinfo);
    const tamis_key_form form = tamis_filter_key_form(filter);
    if (form != key->form && form != TAMIS_KEYS_UNKNOWN)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("the keys of this set are %s",
                               form == TAMIS_KEYS_U64 ? "integers" : "texts or other bytes")));
    return key->form == TAMIS_KEYS_U64 ? tamis_filter_contains_u64(filter, key->number)
                                       : tamis_filter_contains(filter, key->data, key->size);
}
