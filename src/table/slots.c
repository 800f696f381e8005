/* slots.c - where the slots of a table are, and what a slot contains
 *
 * The sub-tables follow each other, the stash comes last, and each begins on a page.  Within a part the
 * slots fill sectors of 512 bytes, or pages if a bucket does not fit in a sector; the rest of a sector
 * stays empty.  So a bucket is never on two pages, and a small slot is never in two sectors, which a
 * disk writes as a whole.
 *
 *      part 0            part 1      ...    stash
 *      |bbb.|bbb.|....   |bbb.|bbb.|....    |sss.|....      . room that no bucket fits in
 *
 * A slot, little-endian:
 *
 *      offset  size
 *           0     4  checksum of the rest, of the number of the slot and of the salt of the table
 *           4     2  size of the key, and 0x8000
 *           6     2  size of the value
 *           8        key, zeros up to the largest key; value, zeros up to the largest value
 *
 * A free slot is all zero, so a new file is one large hole.  The salt and the number detect an item
 * that was written to the wrong place or comes from another table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/slots.h"

#include "hash/hash.h"

#define IN_USE 0x8000u

tamis_status tamis_i_slots_shape(const tamis_table_params *params, tamis_i_slots *slots) {
    memset(slots, 0, sizeof *slots);
    slots->n_levels = (unsigned)params->n_levels;
    slots->bucket = (unsigned)params->bucket;
    slots->key_max = (size_t)params->key_max; /* both are less than a page */
    slots->value_max = (size_t)params->value_max;
    slots->slot_size = TAMIS_I_SLOT_HEAD + slots->key_max + slots->value_max;
    slots->salt = tamis_i_mix(params->seed ^ 0x736c6f7473616c74u);
    const size_t bucket_size = slots->slot_size * slots->bucket;
    if (bucket_size > TAMIS_I_PAGE)
        return TAMIS_E_ARGUMENT;
    slots->unit = bucket_size <= TAMIS_I_SECTOR ? TAMIS_I_SECTOR : TAMIS_I_PAGE;
    slots->per_unit = slots->unit / bucket_size * slots->bucket;

    uint64_t slot = 0, offset = 0;
    for (unsigned part = 0; part <= slots->n_levels; part++) {
        const bool stash = part == slots->n_levels;
        const uint64_t n = stash ? params->stash : params->buckets[part] * slots->bucket;
        slots->buckets[part] = stash ? n : params->buckets[part];
        slots->first[part] = slot;
        slots->offset[part] = offset;
        uint64_t bytes;
        if (!tamis_i_round_up((n + slots->per_unit - 1) / slots->per_unit * slots->unit,
                              TAMIS_I_PAGE, &bytes) ||
            bytes > TAMIS_I_TABLE_BYTES_MAX)
            return TAMIS_E_TOO_LARGE;
        slot += n;
        offset += bytes;
    }
    slots->first[slots->n_levels + 1] = slot;
    slots->offset[slots->n_levels + 1] = offset;
    return offset > TAMIS_I_TABLE_BYTES_MAX ? TAMIS_E_TOO_LARGE : TAMIS_OK;
}

static void slots_put_u16(unsigned char *p, size_t v) {
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

static size_t slots_get_u16(const unsigned char *p) {
    return (size_t)p[0] | (size_t)p[1] << 8;
}

static uint32_t slots_checksum_of(const tamis_i_slots *slots, uint64_t slot,
                                  const unsigned char *image) {
    return (uint32_t)tamis_i_mix(tamis_i_checksum(image + 4, slots->slot_size - 4) ^
                                 tamis_i_mix(slots->salt + slot));
}

void tamis_i_slot_encode(const tamis_i_slots *slots, uint64_t slot, const tamis_i_item *item,
                         unsigned char *image) {
    TAMIS_ASSERT(item->key_size <= slots->key_max && item->value_size <= slots->value_max);
    memset(image, 0, slots->slot_size);
    slots_put_u16(image + 4, item->key_size | IN_USE);
    slots_put_u16(image + 6, item->value_size);
    if (item->key_size != 0)
        memcpy(image + TAMIS_I_SLOT_HEAD, item->key, item->key_size);
    if (item->value_size != 0)
        memcpy(image + TAMIS_I_SLOT_HEAD + slots->key_max, item->value, item->value_size);
    tamis_i_put_u32(image, slots_checksum_of(slots, slot, image));
}

bool tamis_i_slot_is_free(const tamis_i_slots *slots, const unsigned char *image) {
    return image[0] == 0 && memcmp(image, image + 1, slots->slot_size - 1) == 0;
}

/* Padding is not examined: the checksum covers it, and nothing depends on it. */
bool tamis_i_slot_decode(const tamis_i_slots *slots, uint64_t slot, const unsigned char *image,
                         tamis_i_item *item) {
    const size_t head = slots_get_u16(image + 4);
    item->key_size = head & ~(size_t)IN_USE;
    item->value_size = slots_get_u16(image + 6);
    item->key = image + TAMIS_I_SLOT_HEAD;
    item->value = image + TAMIS_I_SLOT_HEAD + slots->key_max;
    return (head & IN_USE) != 0 && item->key_size <= slots->key_max &&
           item->value_size <= slots->value_max &&
           tamis_i_get_u32(image) == slots_checksum_of(slots, slot, image);
}
