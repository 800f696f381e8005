/* rank.c - calls for one digest of a 'rank' in one piece, for x86-64 with POPCNT, BMI2 and AVX2
 *
 * The common case: nothing is in the stash, slots have at most 57 bits, and the chain of the key's
 * home has at most two of them, among the first 64 of the bucket itself.  All else is left to the
 * kind's own functions.  Lookups have one branch that depends on what memory brings, whether the
 * home holds anything, and others for rare cases only: each wrong guess is found out only when the
 * line has come.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "filter/rank.h"
#include "hash/x86/target.h"

#include <immintrin.h>

#define FAST      TAMIS_I_TARGET_ALL TAMIS_INLINE
#define SLOT_BITS 57u /* what one load gets from any place */

__extension__ typedef unsigned __int128 product;

/* At least 57 bits from bit 'at' on. */
FAST uint64_t rank_bits(const uint64_t *table, uint64_t at) {
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)table + at / 8, sizeof bits);
    return bits >> at % 8;
}

/* 64 bits from bit 'at' on. */
FAST uint64_t rank_word(const uint64_t *table, uint64_t at) {
    const uint64_t *const w = table + at / 64;
    return w[0] >> at % 64 | w[1] << 1 << (63 - at % 64);
}

/* Is the fingerprint of slot s the key's? */
FAST bool rank_in(const tamis_filter *filter, uint64_t slots, uint64_t s, uint64_t hi) {
    const tamis_i_rank_bucket *const r = &tamis_i_rank_layout_of(filter)->rank;
    return _bzhi_u64(rank_bits(filter->table, slots + s * r->slot_bits) ^ hi,
                     (unsigned)r->fingerprint_bits) == 0;
}

/* A key in its bucket. */
typedef struct seat {
    uint64_t at; /* bits before the bucket */
    uint64_t home;
} seat;

FAST seat rank_seat(const tamis_filter *filter, uint64_t lo) {
    const tamis_i_rank_bucket *const r = &tamis_i_rank_layout_of(filter)->rank;
    const product draw = (product)lo * r->n[0];
    return (seat){.at = (uint64_t)(draw >> 64) * r->stride[0],
                  .home = (uint64_t)((product)(uint64_t)draw * (unsigned)r->homes >> 64)};
}

/* Does a home have a chain?  From the one byte that tells. */
FAST uint64_t rank_hit(const tamis_filter *filter, seat k) {
    const uint64_t bit = k.at + k.home;
    return (uint64_t)((const unsigned char *)filter->table)[bit / 8] >> bit % 8 & 1;
}

/* A bucket and the first two slots of a chain, as far as it has them.  Numbers are words, so that none has
 * to be extended to be an index. */
typedef struct chain {
    uint64_t base, higher;
    uint64_t hit, goes_on; /* 1: there is a first slot, a second one */
    uint64_t one, two;     /* their numbers; of a chain of one slot, that one again */
} chain;

/* 'known': the home has a chain. */
FAST chain rank_see(const tamis_filter *filter, seat k, bool known) {
    const tamis_i_rank_bucket *const r = &tamis_i_rank_layout_of(filter)->rank;
    chain c;
    c.base = _bzhi_u64(rank_word(filter->table, k.at), (unsigned)r->homes);
    c.higher = rank_word(filter->table, k.at + r->higher_at[0]);
    c.hit = known ? 1 : c.base >> k.home & 1;
    c.one = (uint64_t)_mm_popcnt_u64(_bzhi_u64(c.base, (unsigned)k.home));
    c.goes_on = c.higher >> c.one & c.hit;
    const uint64_t next =
        (uint64_t)(_mm_popcnt_u64(c.base) + _mm_popcnt_u64(_bzhi_u64(c.higher, (unsigned)c.one)));
    c.two = c.one + (next - c.one) * c.goes_on;
    return c;
}

/* Does one of the two have the key's fingerprint? */
FAST uint64_t rank_found(const tamis_filter *filter, uint64_t at, const chain *c, uint64_t hi) {
    const uint64_t slots = at + tamis_i_rank_layout_of(filter)->rank.slots_at[0];
    return (c->hit & rank_in(filter, slots, c->one, hi)) |
           (c->goes_on & rank_in(filter, slots, c->two, hi));
}

/* The kind is asked about a slot that is not among the first 64 of the bucket itself, and about a
 * chain of more than two slots, if the key was not found. */
TAMIS_I_TARGET_ALL static bool rank_contains(const tamis_filter *filter, tamis_digest digest) {
    const seat k = rank_seat(filter, digest.lo);
    if (TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0))
        return filter->kind->contains(filter, digest);
    if (rank_hit(filter, k) == 0)
        return false;
    const chain c = rank_see(filter, k, true);
    if (TAMIS_UNLIKELY(c.two >= tamis_i_rank_layout_of(filter)->near))
        return filter->kind->contains(filter, digest);
    const uint64_t found = rank_found(filter, k.at, &c, digest.hi);
    if (TAMIS_UNLIKELY((c.higher >> c.two & c.goes_on) > found))
        return filter->kind->contains(filter, digest);
    return found != 0;
}

/* Change up to 64 bits from bit 'at' on: those that are set in 'which'. */
FAST void rank_flip(uint64_t *table, uint64_t at, uint64_t which) {
    unsigned char *const bytes = (unsigned char *)table + at / 8;
    uint64_t bits;
    memcpy(&bits, bytes, sizeof bits);
    bits ^= which << at % 8;
    memcpy(bytes, &bits, sizeof bits);
    bytes[8] = (unsigned char)(bytes[8] ^ which >> 1 >> (63 - at % 8));
}

/* The bits from 'at' up to 'end' go up by 'width' <= 57, which those before 'end' have room for; 'value' goes
 * into the gap. */
FAST void rank_open(uint64_t *table, uint64_t at, uint64_t end, uint64_t width, uint64_t value) {
    uint64_t *const first = table + at / 64, *w = table + (end - 1) / 64;
    const uint64_t below = _bzhi_u64(~(uint64_t)0, (unsigned)(at % 64)), old = *first,
                   above = ~(uint64_t)1 << (end - 1) % 64;
    uint64_t here = *w, keep = here & above, mask = ~above;
    for (; w > first + 1; w--) {
        const uint64_t down = w[-1];
        *w = ((here << width | down >> (64 - width)) & mask) | keep;
        here = down;
        mask = ~(uint64_t)0;
        keep = 0;
    }
    if (w != first) {
        *w = ((here << width | (old & ~below) >> (64 - width) | value >> 1 >> (63 - at % 64)) &
              mask) |
             keep;
        mask = ~(uint64_t)0;
        keep = 0;
    }
    *first = (old & below) | (((old & ~below) << width | value << at % 64) & mask) | keep;
}

/* A new slot at the end of a chain of at most two, in a bucket of at most 64 slots without an extension that
 * has room, if no slot of the chain has the fingerprint.  False: nothing was changed. */
FAST bool rank_add(tamis_filter *filter, tamis_digest digest) {
    const tamis_i_rank_bucket *const r = &tamis_i_rank_layout_of(filter)->rank;
    const seat k = rank_seat(filter, digest.lo);
    const chain c = rank_see(filter, k, false);
    const uint64_t all = r->slots[0], width = r->slot_bits, homes = r->homes;
    const uint64_t higher = _bzhi_u64(c.higher, (unsigned)all),
                   chains = (uint64_t)_mm_popcnt_u64(c.base),
                   load = chains + (uint64_t)_mm_popcnt_u64(higher);
    const uint64_t link =
        _bzhi_u64(rank_bits(filter->table, k.at + homes), (unsigned)(r->higher_at[0] - homes));
    if (TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0) || TAMIS_UNLIKELY(load >= all) ||
        TAMIS_UNLIKELY(link != 0))
        return false;
    uint64_t next = c.one, linked = higher;
    if (c.hit != 0) {
        if (TAMIS_UNLIKELY(c.two >= all) || TAMIS_UNLIKELY((c.higher >> c.two & c.goes_on) != 0) ||
            TAMIS_UNLIKELY(rank_found(filter, k.at, &c, digest.hi) != 0))
            return false;
        next = chains + (uint64_t)_mm_popcnt_u64(_bzhi_u64(higher, (unsigned)c.two));
        linked |= (uint64_t)1 << c.two;
    }
    const uint64_t low = _bzhi_u64(linked, (unsigned)next);
    const uint64_t bit = k.at + k.home;
    unsigned char *const byte = (unsigned char *)filter->table + bit / 8;
    *byte = (unsigned char)(*byte | (c.hit ^ 1) << bit % 8);
    rank_flip(filter->table, k.at + r->higher_at[0], higher ^ (low | (linked ^ low) << 1));
    const uint64_t slots = k.at + r->slots_at[0];
    rank_open(filter->table, slots + next * width, slots + (load + 1) * width, width,
              _bzhi_u64(digest.hi, (unsigned)r->fingerprint_bits));
    filter->state[TAMIS_I_COUNT]++;
    return true;
}

TAMIS_I_TARGET_ALL static tamis_status rank_insert(tamis_filter *filter, tamis_digest digest,
                                                   bool *added) {
    if (TAMIS_UNLIKELY(!rank_add(filter, digest)))
        return filter->kind->insert(filter, digest, added != NULL ? added : &filter->unread);
    if (added != NULL)
        *added = true;
    return TAMIS_OK;
}

void tamis_i_call_rank_x86(tamis_filter *filter) {
    const tamis_i_rank_bucket *const r = &tamis_i_rank_layout_of(filter)->rank;
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((filter->features & needed) != needed || r->slot_bits > SLOT_BITS)
        return;
    filter->calls.contains = rank_contains;
    if (r->slots[0] <= 64)
        filter->calls.insert = rank_insert;
}

#undef FAST

#endif
