/* replay.c - page tables: the records of the log, made again
 *
 * Records are repeated up to the first that is not there.  One that is right but for a single
 * bit is put right: whether it was damaged or torn, it is the next change that was begun.  Is a record
 * missing because the power failed, or was it damaged?  If a later one says that it was durable, it is
 * damage.  Otherwise the table goes on without those after the gap, and tells how many it has seen.
 *
 * A reader copies the log while a writer may be adding to it, so that there may be a gap in the copy, with
 * later records behind it.  Then it copies the log again: what was missing is there now.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/pages.h"

#define RECORD_MAX (TAMIS_I_RECORD_HEAD + TAMIS_I_PAGE_ITEM_MAX + 8u)

static const char damaged_log[] = "the log is damaged";

typedef struct record {
    unsigned char bytes[RECORD_MAX];
    size_t size;
    uint32_t number, synced;
    uint64_t epoch;
    tamis_i_page_item item;
    bool put;
} record;

/* Is there a record of any root in these 'room' bytes? */
static bool replay_parse(const tamis_i_pages *p, record *r, size_t room) {
    if (room < TAMIS_I_RECORD_HEAD)
        return false;
    const uint32_t sizes = tamis_i_get_u32(r->bytes + 24);
    const size_t key_size = sizes & 0xffff, value_size = tamis_i_get_u32(r->bytes + 28);
    if (key_size > TAMIS_I_PAGE_ITEM_MAX || value_size > TAMIS_I_PAGE_ITEM_MAX - key_size ||
        (sizes >> 16 != 1 && sizes >> 16 != 2 && !(p->large && sizes >> 16 == 3)) ||
        (sizes >> 16 == 2 && value_size != 0))
        return false;
    r->size = tamis_i_pages_record_size(key_size, value_size);
    if (r->size > room ||
        tamis_i_get_u64(r->bytes) != tamis_i_pages_record_sum(p, r->bytes, r->size))
        return false;
    r->epoch = tamis_i_get_u64(r->bytes + 8);
    r->number = tamis_i_get_u32(r->bytes + 16);
    r->synced = tamis_i_get_u32(r->bytes + 20);
    r->put = sizes >> 16 != 2;
    r->item = (tamis_i_page_item){.key = r->bytes + TAMIS_I_RECORD_HEAD,
                                  .value = r->bytes + TAMIS_I_RECORD_HEAD + key_size,
                                  .key_size = (uint16_t)key_size,
                                  .value_size = (uint16_t)value_size,
                                  .elsewhere = sizes >> 16 == 3};
    return true;
}

/* Copy what may be a record. */
static size_t replay_copy(const unsigned char *bytes, size_t size, record *r) {
    const size_t room = size < RECORD_MAX ? size : RECORD_MAX;
    memcpy(r->bytes, bytes, room);
    return room;
}

static bool replay_is_next(const tamis_i_pages *p, const record *r) {
    return r->epoch == p->epoch && r->number == p->log_last + 1;
}

/* Would the record be right if one of its bits were turned over?  Then it is made so. */
static bool replay_one_bit_off(const tamis_i_pages *p, record *r, size_t room) {
    for (size_t i = 0; i < room * 8; i++) {
        r->bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        if (replay_parse(p, r, room) && i / 8 < r->size && replay_is_next(p, r))
            return true;
        r->bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    return false;
}

/* Look at what comes after the end of the log, or after a gap. */
static tamis_status replay_rest(tamis_i_pages *p, const unsigned char *log, uint64_t at,
                                bool repair, const char **reason) {
    record r;
    for (uint64_t next = at; next + TAMIS_I_RECORD_HEAD <= tamis_i_pages_log_bytes(p); next += 8) {
        const uint64_t epoch = tamis_i_get_u64(log + next + 8);
        if (epoch != p->epoch && epoch != p->epoch + 1)
            continue;
        const size_t room = replay_copy(log + next, tamis_i_pages_log_bytes(p) - (size_t)next, &r);
        if (!replay_parse(p, &r, room))
            continue;
        if (r.epoch == p->epoch + 1)
            return tamis_i_refuse(reason, "the last root is damaged");
        if (r.number <= p->log_last)
            continue;
        if (r.synced > p->log_last && !repair)
            return tamis_i_refuse(reason, damaged_log);
        p->dropped++;
    }
    return TAMIS_OK;
}

static tamis_status replay_repeat(tamis_i_pages *p, const record *r) {
    bool found;
    if (r->put)
        return tamis_i_pages_apply(p, &r->item, &found);
    const tamis_status status = tamis_i_pages_unapply(p, r->item.key, r->item.key_size);
    return status == TAMIS_E_NOT_FOUND ? TAMIS_E_FORMAT : status;
}

/* Is the value of a record there?  Then its blocks are taken.  TAMIS_E_NOT_FOUND: it is not. */
static tamis_status replay_value(tamis_i_pages *p, const record *r) {
    tamis_i_value v;
    if (!r->put || !r->item.elsewhere)
        return TAMIS_OK;
    if (!tamis_i_value_decode(p, &r->item, &v) || !tamis_i_value_claim(p, &v))
        return TAMIS_E_NOT_FOUND;
    const tamis_status status = tamis_i_value_check(p, &v);
    if (status == TAMIS_OK)
        return TAMIS_OK;
    tamis_i_value_release(p, &v);
    return status == TAMIS_E_FORMAT ? TAMIS_E_NOT_FOUND : status;
}

/* Repeat records from these bytes of the log, which begin at p->log_used.  'careful': one bit may be
 * wrong. */
static tamis_status replay_records(tamis_i_pages *p, const unsigned char *bytes, size_t size,
                                   bool careful, bool repair, const char **reason) {
    size_t at = 0;
    record r;
    while (at < size) {
        const size_t room = replay_copy(bytes + at, size - at, &r);
        if (!(replay_parse(p, &r, room) && replay_is_next(p, &r)) &&
            !(careful && replay_one_bit_off(p, &r, room)))
            break;
        tamis_status status = replay_value(p, &r);
        if (status == TAMIS_E_NOT_FOUND)
            break;
        if (status == TAMIS_OK)
            status = replay_repeat(p, &r);
        if (status != TAMIS_OK && !(repair && status == TAMIS_E_FORMAT)) {
            *reason = status == TAMIS_E_FORMAT ? "the log does not fit the pages"
                                               : tamis_status_text(status);
            return status;
        }
        p->log_last = r.number;
        p->replayed++;
        p->log_used += r.size;
        at += r.size;
    }
    return TAMIS_OK;
}

/* Read a part of the log.  '*last': it is that of the last root. */
static tamis_status replay_read(tamis_i_pages *p, uint64_t from, unsigned char *bytes, size_t size,
                                bool *last, const char **reason) {
    uint64_t epoch = 0;
    if (!p->disk.ops->read(p->disk.self, (uint64_t)p->log_at * TAMIS_I_PAGE_BYTES + from, bytes,
                           size)) {
        *reason = "the log cannot be read";
        return TAMIS_E_IO;
    }
    const tamis_status status = tamis_i_pages_last_root(p, &epoch, reason);
    *last = epoch == p->epoch;
    return status;
}

tamis_status tamis_i_pages_replay(tamis_i_pages *p, unsigned char *log, bool repair,
                                  const char **reason) {
    const bool beside = p->read_only && p->disk.ops->watch != NULL;
    for (unsigned copies = 1;; copies++) {
        const uint64_t from = p->log_used;
        p->dropped = 0;
        tamis_status status = replay_records(
            p, log + from, tamis_i_pages_log_bytes(p) - (size_t)from, true, repair, reason);
        if (status != TAMIS_OK)
            return status;
        status = replay_rest(p, log, p->log_used, repair, reason);
        const bool gap = status == TAMIS_OK ? p->dropped > 0 : *reason == damaged_log;
        if (!beside || !gap || (copies > 1 && p->log_used == from))
            return status;
        bool last;
        status = replay_read(p, 0, log, tamis_i_pages_log_bytes(p), &last, reason);
        if (status == TAMIS_OK && last)
            continue;
        p->dropped = 0; /* what came before the gap is a state that the table had */
        return status;
    }
}

tamis_status tamis_i_pages_follow(tamis_i_pages *p, bool *last, bool *changed,
                                  const char **reason) {
    uint64_t epoch = 0;
    tamis_status status = tamis_i_pages_last_root(p, &epoch, reason);
    *last = epoch == p->epoch;
    if (status != TAMIS_OK || !*last || p->log_at == 0)
        return status;
    if (p->pending == NULL)
        p->pending = tamis_i_alloc(p->allocator, TAMIS_I_PAGES_PENDING);
    if (p->pending == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    for (size_t most = RECORD_MAX;; most = TAMIS_I_PAGES_PENDING) {
        const size_t rest = tamis_i_pages_log_bytes(p) - (size_t)p->log_used;
        const size_t size = rest < most ? rest : most;
        const uint32_t before = p->log_last;
        if (size == 0)
            return TAMIS_OK;
        status = replay_read(p, p->log_used, p->pending, size, last, reason);
        if (status != TAMIS_OK || !*last)
            return status;
        status = replay_records(p, p->pending, size, false, false, reason);
        *changed = *changed || p->log_last != before;
        if (status != TAMIS_OK || p->log_last == before)
            return status;
    }
}
