/* slots.h - where the slots of a table are, and what a slot contains
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_SLOTS_H
#define TAMIS_TABLE_SLOTS_H

#include "base/base.h"
#include "table/summary.h"
#include "tamis/table.h"

#define TAMIS_I_PAGE      4096u
#define TAMIS_I_SECTOR    512u
#define TAMIS_I_SLOT_HEAD 8u
#define TAMIS_I_NO_SLOT   UINT64_MAX

/* No table has more bytes of slots than this. */
#define TAMIS_I_TABLE_BYTES_MAX ((uint64_t)1 << 46)

/* The sub-tables, and the stash as one more after them. */
#define TAMIS_I_PARTS_MAX (TAMIS_TABLE_LEVELS_MAX + 1u)

/* Everything that follows from the parameters. */
typedef struct tamis_i_slots {
    unsigned n_levels; /* sub-tables; part number n_levels is the stash */
    unsigned bucket;   /* slots of a bucket */
    size_t key_max;
    size_t value_max;
    size_t slot_size;
    size_t unit;       /* bytes in which slots do not straddle: a sector or a page */
    uint64_t per_unit; /* slots in that, a multiple of the bucket */
    uint64_t buckets[TAMIS_I_PARTS_MAX];
    uint64_t first[TAMIS_I_PARTS_MAX + 1];  /* number of a part's first slot */
    uint64_t offset[TAMIS_I_PARTS_MAX + 1]; /* its place in bytes, a multiple of a page */
    uint64_t salt;                          /* of the slots' checksums */
} tamis_i_slots;

/* A slot that is in use, decoded. */
typedef struct tamis_i_item {
    const unsigned char *key;
    size_t key_size;
    const unsigned char *value;
    size_t value_size;
} tamis_i_item;

/* Lay out the slots for complete and checked parameters.  TAMIS_E_ARGUMENT if a bucket does not fit in
 * a page, TAMIS_E_TOO_LARGE. */
tamis_status tamis_i_slots_shape(const tamis_table_params *params, tamis_i_slots *slots);

static inline uint64_t tamis_i_slots_count(const tamis_i_slots *slots) {
    return slots->first[slots->n_levels + 1];
}

/* Bytes of all parts. */
static inline uint64_t tamis_i_slots_bytes(const tamis_i_slots *slots) {
    return slots->offset[slots->n_levels + 1];
}

/* The part of slot number 'slot'; the number is less than tamis_i_slots_count. */
static inline unsigned tamis_i_slots_part(const tamis_i_slots *slots, uint64_t slot) {
    unsigned part = 0;
    while (slot >= slots->first[part + 1])
        part++;
    return part;
}

/* Place in bytes of slot number 'slot', which is in 'part'. */
static inline uint64_t tamis_i_slots_place(const tamis_i_slots *slots, unsigned part,
                                           uint64_t slot) {
    const uint64_t index = slot - slots->first[part];
    return slots->offset[part] + index / slots->per_unit * slots->unit +
           index % slots->per_unit * slots->slot_size;
}

/* The first slot of the bucket of a digest in a sub-table. */
static inline uint64_t tamis_i_slots_bucket(const tamis_i_slots *slots, tamis_digest digest,
                                            unsigned level) {
    return slots->first[level] +
           tamis_i_table_bucket(digest, level, slots->buckets[level]) * slots->bucket;
}

/* Write an item as the image of slot number 'slot'. */
void tamis_i_slot_encode(const tamis_i_slots *slots, uint64_t slot, const tamis_i_item *item,
                         unsigned char *image);

/* Is the slot free: all zero? */
bool tamis_i_slot_is_free(const tamis_i_slots *slots, const unsigned char *image);

/* Read the image of slot number 'slot', which may hold anything.  False if no item was written there. */
bool tamis_i_slot_decode(const tamis_i_slots *slots, uint64_t slot, const unsigned char *image,
                         tamis_i_item *item);

#endif
