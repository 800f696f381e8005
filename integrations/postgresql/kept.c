/* kept.c - the set that a query asks again and again
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
#include <utils/memutils.h>

#define HEADER 256 /* bytes of a file before its table */

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
