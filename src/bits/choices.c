/* choices.c - the buckets that a key may go to, and how to make room in them
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/choices.h"

#include "bits/field.h"

#define FINGERPRINTS_MAX ((uint64_t)1 << 62)

tamis_status tamis_i_choices_shape(uint64_t subtables, uint64_t buckets, uint64_t remainder_bits,
                                   uint64_t bucket_bits, uint64_t *n_table) {
    if (subtables < 2 || subtables > TAMIS_I_SUBTABLES_MAX || buckets < 1 ||
        buckets > TAMIS_I_BUCKETS_MAX || remainder_bits < 1 ||
        remainder_bits > TAMIS_I_REMAINDER_MAX || bucket_bits < 1 ||
        bucket_bits > TAMIS_I_LINE_BITS || buckets > FINGERPRINTS_MAX >> remainder_bits)
        return TAMIS_E_ARGUMENT;
    const uint64_t per_line = TAMIS_I_LINE_BITS / bucket_bits;
    *n_table = (subtables * buckets + per_line - 1) / per_line * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

void tamis_i_choices_init(tamis_i_choices *choices, uint64_t seed, uint64_t subtables,
                          uint64_t buckets, uint64_t remainder_bits, uint64_t bucket_bits) {
    memset(choices, 0, sizeof *choices);
    choices->subtables = subtables;
    choices->buckets = buckets;
    choices->remainder_bits = remainder_bits;
    choices->remainder_mask = ((uint64_t)1 << remainder_bits) - 1;
    choices->bucket_bits = bucket_bits;
    choices->per_line = TAMIS_I_LINE_BITS / bucket_bits;
    choices->line_part = (((uint64_t)1 << 63) + choices->per_line - 1) / choices->per_line;
    choices->line_used = choices->per_line * bucket_bits;
    choices->fingerprints = buckets << remainder_bits;
    const tamis_status status = tamis_i_permute_init(&choices->permutations, buckets, seed);
    TAMIS_ASSERT(status == TAMIS_OK);
    (void)status;
}

static unsigned choices_subtable_of(const tamis_i_choices *choices, uint64_t number) {
    unsigned i = 0;
    for (; number >= choices->buckets; number -= choices->buckets)
        i++;
    return i;
}

uint64_t tamis_i_choices_back(const tamis_i_choices *choices, uint64_t number, uint64_t remainder) {
    const unsigned i = choices_subtable_of(choices, number);
    const uint64_t mixed = tamis_i_permute_mix(&choices->permutations, remainder);
    const uint64_t bucket = number - i * choices->buckets;
    return tamis_i_permute_back(&choices->permutations, mixed, i, bucket)
               << choices->remainder_bits |
           remainder;
}

/* A bucket that the search reached: the element of bucket 'parent' with this remainder may go there. */
typedef struct node {
    uint64_t number;
    uint64_t remainder;
    unsigned parent, depth;
} node;

/* Each node costs a line of memory, and a filter that is too full looks at all of them for every key. */
#define NODES 192u
#define NONE  NODES

/* Is the bucket on the path from this node back to the root?  If a path left a bucket twice, the element
 * to be moved the second time could be gone. */
static bool choices_on_way(const node *nodes, unsigned at, uint64_t number) {
    for (; at != NONE; at = nodes[at].parent)
        if (nodes[at].number == number)
            return true;
    return false;
}

/* The path from node 'last' to its root, as moves; the move into 'last' comes first. */
static unsigned choices_way_back(const node *nodes, unsigned last, tamis_i_move *moves) {
    unsigned n = 0;
    for (const node *to = &nodes[last]; to->parent != NONE; to = &nodes[to->parent])
        moves[n++] = (tamis_i_move){
            .from = nodes[to->parent].number, .to = to->number, .remainder = to->remainder};
    return n;
}

/* Breadth first: all ends of one move, then of two, ... */
unsigned tamis_i_choices_search(const tamis_i_search *search, const uint64_t *roots,
                                unsigned n_roots, unsigned depth,
                                tamis_i_move moves[TAMIS_I_MOVES_MAX]) {
    const tamis_i_choices *const choices = search->choices;
    node nodes[NODES];
    unsigned n_nodes = 0;
    TAMIS_ASSERT(depth <= TAMIS_I_MOVES_MAX);
    for (; n_nodes < n_roots; n_nodes++)
        nodes[n_nodes] = (node){.number = roots[n_nodes], .parent = NONE};
    for (unsigned at = 0; at < n_nodes && nodes[at].depth < depth; at++) {
        const node here = nodes[at];
        uint64_t remainders[TAMIS_I_BUCKET_KEYS_MAX];
        const unsigned n = search->list(search->context, here.number, remainders);
        const unsigned own = choices_subtable_of(choices, here.number);
        for (unsigned j = 0; j < n; j++) {
            const uint64_t other = tamis_i_choices_back(choices, here.number, remainders[j]);
            for (unsigned i = 0; i < choices->subtables; i++) {
                node next = {.remainder = remainders[j], .parent = at, .depth = here.depth + 1};
                next.number = tamis_i_choices_of(choices, other, i);
                if (i == own || other == search->stays || choices_on_way(nodes, at, next.number))
                    continue;
                if (n_nodes == NODES)
                    return 0;
                nodes[n_nodes] = next;
                if (search->fits(search->context, here.number, remainders[j], next.number))
                    return choices_way_back(nodes, n_nodes, moves);
                n_nodes++;
            }
        }
    }
    return 0;
}

/* Each line ends in bits that belong to no bucket.  The last line may end in whole unused buckets. */
bool tamis_i_choices_rest_is_zero(const tamis_i_choices *choices, const uint64_t *table,
                                  uint64_t n_table) {
    const uint64_t n_buckets = choices->subtables * choices->buckets;
    for (uint64_t line = 0; line < n_table / TAMIS_LINE_WORDS; line++) {
        const uint64_t left = n_buckets - line * choices->per_line;
        const uint64_t here = left < choices->per_line ? left : choices->per_line;
        const uint64_t used = here * choices->bucket_bits;
        const uint64_t *const words = table + line * TAMIS_LINE_WORDS;
        for (unsigned i = (unsigned)(used / 64); i < TAMIS_LINE_WORDS; i++)
            if ((words[i] & ~tamis_i_low_mask(i == used / 64 ? (unsigned)(used % 64) : 0)) != 0)
                return false;
    }
    return true;
}
