/* rank_bucket.c - rank-indexed buckets: layout, the portable functions, the check
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/rank_bucket.h"
#include "bits/native.h"
#include "bits/words.h"
#include "hash/hash.h"

void tamis_i_rank_locate(const tamis_i_rank_bucket *rank, const tamis_digest *digests, size_t n,
                         tamis_i_rank_keys *keys) {
    for (size_t i = 0; i < n; i++) {
        uint64_t draw = digests[i].lo;
        keys->at[i] = tamis_i_take(&draw, rank->n[0]) * rank->stride[0];
        keys->home[i] = tamis_i_take(&draw, rank->homes);
        keys->fingerprint[i] = digests[i].hi & rank->fingerprint_mask;
    }
}

#define RANK_TARGET
#define RANK_ONES(word)              tamis_i_ones_of(word)
#define RANK_INDEX(table, at, tight) rank_bucket_window(table, at)
#define RANK_SLOT(table, at, width)  rank_bucket_window(table, at)
#define RANK_LOCATE                  tamis_i_rank_locate
#define RANK_OPS                     static const tamis_i_rank_ops portable
#include "bits/rank_bucket_template.h"

const tamis_i_rank_ops *tamis_i_rank_bucket_ops_for(unsigned features) {
    const tamis_i_rank_ops *const native = TAMIS_I_RANK_BUCKET_NATIVE(features);
    return native != NULL ? native : &portable;
}

static unsigned rank_bucket_bit_width(uint64_t most) {
    unsigned width = 0;
    for (; most != 0; most >>= 1)
        width++;
    return width;
}

bool tamis_i_rank_init(tamis_i_rank_bucket *c) {
    if (c->homes < 1 || c->homes > 64 || c->fingerprint_bits < 1 || c->fingerprint_bits > 56 ||
        c->slot_bits > 64 || c->fingerprint_bits + c->count_bits > c->slot_bits || c->n[0] < 1 ||
        c->slots[0] < 1)
        return false;
    for (unsigned p = 0; p < TAMIS_I_RANK_PIECES; p++) {
        if (c->slots[p] > TAMIS_I_RANK_SLOTS || (c->slots[p] == 0) != (c->n[p] == 0) ||
            (p > 0 && c->n[p] > c->n[p - 1]))
            return false;
    }
    c->first[0] = 0;
    c->bits = 0;
    for (unsigned p = 0; p < TAMIS_I_RANK_PIECES; p++) {
        const uint64_t free_bits = p == 0 ? 0 : 1 + rank_bucket_bit_width(c->n[p]);
        c->link_at[p] = p == 0 ? c->homes : 1;
        c->link_bits[p] = p + 1 < TAMIS_I_RANK_PIECES ? rank_bucket_bit_width(c->n[p + 1]) : 0;
        c->higher_at[p] = c->link_at[p] + c->link_bits[p];
        c->slots_at[p] = c->higher_at[p] + c->slots[p];
        c->stride[p] = c->slots_at[p] + c->slots[p] * c->slot_bits;
        if (c->stride[p] < free_bits) /* a free extension must hold the link to the next */
            c->stride[p] = free_bits;
        c->first[p + 1] = c->first[p] + c->slots[p];
        c->start[p] = c->bits;
        c->bits += c->n[p] * c->stride[p];
    }
    c->head = (c->stride[0] <= 64 * TAMIS_LINE_WORDS ? c->stride[0] : c->slots_at[0]) - 1;
    c->middle = c->stride[0] <= 64 * TAMIS_LINE_WORDS ? 0 : 64 * TAMIS_LINE_WORDS;
    c->home_mask = tamis_i_low_mask((unsigned)c->homes);
    c->fingerprint_mask = tamis_i_low_mask((unsigned)c->fingerprint_bits);
    return true;
}

void tamis_i_rank_parents(const tamis_i_rank_bucket *rank, const uint64_t *table,
                          const tamis_i_rank_view *v, uint16_t *parents) {
    unsigned next = v->chains;
    for (unsigned s = 0; s < v->load; s++)
        parents[s] = UINT16_MAX;
    for (unsigned s = 0; s < next && next < v->load; s++)
        if (tamis_i_bit_get(table, tamis_i_rank_higher_at(rank, v, s)))
            parents[next++] = (uint16_t)s;
}

unsigned tamis_i_rank_longest(const uint16_t *parents, unsigned load) {
    uint16_t length[TAMIS_I_RANK_PIECES * TAMIS_I_RANK_SLOTS];
    unsigned longest = 0;
    for (unsigned s = 0; s < load; s++) {
        length[s] = parents[s] == UINT16_MAX ? 1 : (uint16_t)(length[parents[s]] + 1);
        longest = length[s] > longest ? length[s] : longest;
    }
    return longest;
}

bool tamis_i_rank_is_zero(const uint64_t *table, uint64_t from, uint64_t to) {
    for (; to - from >= 64; from += 64)
        if (tamis_i_field_get(table, from, 64) != 0)
            return false;
    return from == to || tamis_i_field_get(table, from, (unsigned)(to - from)) == 0;
}

/* Ones of the higher index in slots 'from' up to 'to'. */
static unsigned rank_bucket_count_higher(const tamis_i_rank_bucket *c, const uint64_t *table,
                                         const tamis_i_rank_view *v, unsigned from, unsigned to) {
    return rank_bucket_higher_before(c, table, v, to) -
           rank_bucket_higher_before(c, table, v, from);
}

bool tamis_i_rank_check(const tamis_i_rank_bucket *rank, const uint64_t *table,
                        const tamis_i_rank_view *v, const char **reason) {
    const unsigned end = (unsigned)rank->first[v->pieces];
    const unsigned load = v->chains + rank_bucket_count_higher(rank, table, v, 0, end);
    unsigned level = 0, reached = v->chains;
    while (level < reached && reached <= end) { /* the slots of one level lead to the next */
        const unsigned more = rank_bucket_count_higher(rank, table, v, level, reached);
        level = reached;
        reached += more;
    }
    if (reached != load || load > end) {
        *reason = "a bucket has a fingerprint that no chain leads to";
        return false;
    }
    if (load <= rank->first[v->pieces - 1] && v->pieces > 1) {
        *reason = "a bucket has an extension that it does not need";
        return false;
    }
    for (unsigned p = 0; p < v->pieces; p++) {
        const uint64_t used = load < rank->first[p + 1] ? load - rank->first[p] : rank->slots[p];
        if (!tamis_i_rank_is_zero(table, v->at[p] + rank->higher_at[p] + used,
                                  v->at[p] + rank->slots_at[p]) ||
            !tamis_i_rank_is_zero(table, v->at[p] + rank->slots_at[p] + used * rank->slot_bits,
                                  v->at[p] + rank->stride[p])) {
            *reason = "a bucket has data past its last fingerprint";
            return false;
        }
    }
    return true;
}
