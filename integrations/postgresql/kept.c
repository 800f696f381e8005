/* kept.c - the last sets of a session
 *
 * A set is decoded once and kept until others need its memory (the setting tamis.cache), since reading
 * and checking one of some megabytes takes as many milliseconds.  What names it is its length and its
 * header, which has the checksum of all that follows: of a value in the toast table the first slice is
 * read for that, and nothing else.  So it does not matter where a value is, nor whether its place was
 * used before.
 *
 * A call within a statement remembers the set of the row before, and the pointer into the toast table that
 * it came from, so that a row costs a comparison of a few bytes.
 *
 *      chains     by hash of the header: the sets that are kept
 *      recent     the same, the last one used first
 *      holders    calls that have a set; it is not freed while there is one
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <access/detoast.h>
#include <common/hashfn.h>
#include <lib/ilist.h>
#include <utils/guc.h>
#include <utils/memutils.h>

#include <limits.h>

#define HEADER 256 /* bytes of a file before its table */
#define CHAINS 1024

/* What tells one set from another. */
typedef struct kept_name {
    Size size; /* of the whole value */
    Size head_size;
    const char *head;
} kept_name;

typedef struct kept_set {
    dlist_node in_chain, in_recent;
    MemoryContext context; /* of all that it has */
    tamis_filter *filter;
    Size memory;
    unsigned holders;
    Size size, head_size;
    char head[HEADER];
} kept_set;

/* What a call remembers. */
typedef struct kept_call {
    MemoryContextCallback at_end;
    kept_set *set;
    Size pointer_size; /* 0: it did not come from the toast table */
    char pointer[TOAST_POINTER_SIZE];
} kept_call;

static dlist_head chains[CHAINS];
static dlist_head recent = DLIST_STATIC_INIT(recent);
static Size memory;
static int memory_max; /* kB, of sets that nobody holds */

void set_define_kept(void) {
    for (int i = 0; i < CHAINS; i++)
        dlist_init(&chains[i]);
    DefineCustomIntVariable("tamis.cache", "Memory for sets that were asked lately.",
                            "A set that is kept need not be read again by the next statement.",
                            &memory_max, 64 * 1024, 0, INT_MAX, PGC_USERSET, GUC_UNIT_KB, NULL,
                            NULL, NULL);
}

/* ---- the sets that are kept ---- */

static dlist_head *chain_of(const kept_name *name) {
    const uint32 hash = hash_bytes((const unsigned char *)name->head, (int)name->head_size);
    return &chains[hash % CHAINS];
}

static bool is_named(const kept_set *set, const kept_name *name) {
    return set->size == name->size && set->head_size == name->head_size &&
           memcmp(set->head, name->head, name->head_size) == 0;
}

/* Free those that were used least lately until the others fit. */
static void make_fit(void) {
    dlist_node *next;
    for (dlist_node *node = dlist_is_empty(&recent) ? NULL : dlist_tail_node(&recent);
         node != NULL && memory > (Size)memory_max * 1024; node = next) {
        next = dlist_has_prev(&recent, node) ? dlist_prev_node(&recent, node) : NULL;
        kept_set *const set = dlist_container(kept_set, in_recent, node);
        if (set->holders > 0)
            continue;
        dlist_delete(&set->in_chain);
        dlist_delete(&set->in_recent);
        memory -= set->memory;
        MemoryContextDelete(set->context);
    }
}

static void release(kept_set *set) {
    if (set != NULL)
        set->holders--;
    make_fit();
}

/* The context is that of the call until nothing can fail any more. */
static kept_set *decode(struct varlena *value, const kept_name *name) {
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "tamis set", ALLOCSET_SMALL_SIZES);
    kept_set *const set = MemoryContextAllocZero(context, sizeof *set);
    set->context = context;
    set->size = name->size;
    set->head_size = name->head_size;
    memcpy(set->head, name->head, name->head_size);
    struct varlena *const plain = (struct varlena *)detoast_attr(value);
    set->filter = set_decode(plain, context);
    if (plain != value)
        pfree(plain);
    set->memory = MemoryContextMemAllocated(context, true);
    return set;
}

/* Find or decode a set, and hold it. */
static kept_set *hold(struct varlena *value, const kept_name *name) {
    dlist_head *const chain = chain_of(name);
    dlist_iter at;
    dlist_foreach(at, chain) {
        kept_set *const set = dlist_container(kept_set, in_chain, at.cur);
        if (is_named(set, name)) {
            dlist_move_head(&recent, &set->in_recent);
            set->holders++;
            return set;
        }
    }
    kept_set *const set = decode(value, name);
    MemoryContextSetParent(set->context, TopMemoryContext);
    dlist_push_head(chain, &set->in_chain);
    dlist_push_head(&recent, &set->in_recent);
    memory += set->memory;
    set->holders = 1;
    return set;
}

/* The name of a value, which is in memory then or in the toast table; '*value' may be decompressed. */
static kept_name name_of(struct varlena **value) {
    kept_name name;
    if (VARATT_IS_EXTERNAL_ONDISK(*value)) {
        struct varatt_external pointer;
        VARATT_EXTERNAL_GET_POINTER(pointer, *value);
        const struct varlena *const head =
            (const struct varlena *)detoast_attr_slice(*value, 0, HEADER);
        name.size = (Size)pointer.va_rawsize - VARHDRSZ;
        name.head = VARDATA_ANY(head);
        name.head_size = VARSIZE_ANY_EXHDR(head);
        return name;
    }
    if (VARATT_IS_EXTERNAL(*value) || VARATT_IS_COMPRESSED(*value))
        *value = (struct varlena *)detoast_attr(*value);
    name.size = VARSIZE_ANY_EXHDR(*value);
    name.head = VARDATA_ANY(*value);
    name.head_size = Min(name.size, HEADER);
    return name;
}

/* ---- the set of a call ---- */

static void end_of_call(void *argument) {
    release(((kept_call *)argument)->set);
}

static kept_call *call_of(FmgrInfo *function) {
    kept_call *call = function->fn_extra;
    if (call == NULL) {
        call = MemoryContextAllocZero(function->fn_mcxt, sizeof *call);
        call->at_end.func = end_of_call;
        call->at_end.arg = call;
        MemoryContextRegisterResetCallback(function->fn_mcxt, &call->at_end);
        function->fn_extra = call;
    }
    return call;
}

static const tamis_filter *set_of_call(FunctionCallInfo fcinfo) {
    kept_call *const call = call_of(fcinfo->flinfo);
    struct varlena *value = (struct varlena *)DatumGetPointer(fcinfo->args[0].value);
    const Size pointer_size = VARATT_IS_EXTERNAL_ONDISK(value) ? VARSIZE_EXTERNAL(value) : 0;
    if (pointer_size > 0 && pointer_size == call->pointer_size &&
        memcmp(call->pointer, value, pointer_size) == 0)
        return call->set->filter;
    const kept_name name = name_of(&value);
    if (call->set == NULL || !is_named(call->set, &name)) {
        kept_set *const before = call->set;
        call->set = NULL;
        call->pointer_size = 0;
        release(before);
        call->set = hold(value, &name);
    }
    if (pointer_size > 0)
        memcpy(call->pointer, value, pointer_size);
    call->pointer_size = pointer_size;
    return call->set->filter;
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

void set_glance(Datum datum, double *count, double *fpr) {
    struct varlena *value = (struct varlena *)DatumGetPointer(datum);
    const kept_name name = name_of(&value);
    kept_set *const set = hold(value, &name);
    tamis_info info;
    tamis_info_init(&info);
    const tamis_status status = tamis_filter_glance(set->filter, &info);
    *count = (double)tamis_filter_count(set->filter);
    *fpr = info.fpr;
    release(set);
    set_expect(status, "a set", NULL);
}
