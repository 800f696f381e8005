/* summary_song.c - the scheme of Song and others: a counter for each bucket of the hash table
 *
 * The baseline that the other summaries improve on.  An item has a bucket in each of d sub-tables and
 * adds one to the counters of all of them.  It is kept in the bucket whose counter is smallest, in the
 * first of them if there are several.  A zero among the counters means that the item is not there.
 *
 * So the summary decides where an item is: the type passed to insert does not matter, and ask tells the
 * place.  There are no failures, but an insert that raises the counter of a bucket can move the item in
 * it to another bucket.  Only items in the d buckets of the new one are affected, and moving them
 * changes no counter.  Several items may be sent to one bucket (a crisis).  The table then raises the
 * counter of that bucket further, so that some of them are sent elsewhere.
 *
 * Insert-only: to lower counters one would have to know all items that hash to a bucket, even those
 * kept elsewhere.  The paper's counters are those of one table with d hashes.  Here each hash has its
 * own sub-table, as in the multilevel table.  This changes no figure of the paper.
 *
 * A counter that has reached its largest value stays there.  The least hit bucket is then not always known,
 * which with three bits and ten hashes is very rare.  The table goes by the counters as they are, so that
 * ask is right about every item in any case (settle.c).
 *
 * After Song, Dharmapurikar, Turner and Lockwood, "Fast Hash Table Lookup Using Extended Bloom Filter",
 * SIGCOMM 2005, as reviewed in section IV of Kirsch and Mitzenmacher, "Simple Summaries for Hashing
 * With Choices", IEEE/ACM Transactions on Networking 16(1), 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "table/summary.h"

/* Geometry: WIDTH, then by type the first counter of its sub-table. */
enum { WIDTH, FIRST };

static tamis_status summary_song_shape(const tamis_i_summary_params *params, uint64_t *n_words) {
    const uint64_t width = params->counter_bits[0];
    if (params->n_types < 1 || params->n_types > TAMIS_I_SUMMARY_TYPES_MAX ||
        params->string_bits != 0 || width < 1 || width > TAMIS_I_SUMMARY_COUNTER_BITS_MAX)
        return TAMIS_E_ARGUMENT;
    uint64_t counters = 0;
    for (unsigned t = 0; t < TAMIS_I_SUMMARY_TYPES_MAX; t++) {
        const uint64_t buckets = params->cells[t];
        if (params->hashes[t] != 0 || (t > 0 && params->counter_bits[t] != 0) ||
            (t < params->n_types) != (buckets != 0))
            return TAMIS_E_ARGUMENT;
        if (buckets > TAMIS_I_SUMMARY_CELLS_MAX)
            return TAMIS_E_TOO_LARGE;
        counters += buckets;
    }
    *n_words = (counters * width + 511) / 512 * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static uint64_t summary_song_bits(const tamis_i_summary_params *params) {
    uint64_t counters = 0;
    for (unsigned t = 0; t < params->n_types; t++)
        counters += params->cells[t];
    return counters * params->counter_bits[0];
}

static void summary_song_attach(tamis_i_summary *summary) {
    uint64_t *const g = summary->geometry;
    g[WIDTH] = summary->params.counter_bits[0];
    for (unsigned t = 1; t < summary->params.n_types; t++)
        g[FIRST + t] = g[FIRST + t - 1] + summary->params.cells[t - 1];
}

/* The counter of the bucket that a key has in sub-table 'type'. */
static uint64_t summary_song_counter_of(const tamis_i_summary *summary, tamis_digest digest,
                                        unsigned type) {
    return summary->geometry[FIRST + type] +
           tamis_i_table_bucket(digest, type, summary->params.cells[type]);
}

bool tamis_i_summary_song_raise(tamis_i_summary *summary, tamis_digest digest, unsigned type) {
    const unsigned width = (unsigned)summary->geometry[WIDTH];
    const uint64_t i = summary_song_counter_of(summary, digest, type);
    const uint64_t count = tamis_i_packed_get(summary->body, width, i);
    if (count == tamis_i_low_mask(width))
        return false;
    tamis_i_packed_put(summary->body, width, i, count + 1);
    return true;
}

void tamis_i_summary_song_lower(tamis_i_summary *summary, tamis_digest digest, unsigned type) {
    const unsigned width = (unsigned)summary->geometry[WIDTH];
    const uint64_t i = summary_song_counter_of(summary, digest, type);
    tamis_i_packed_put(summary->body, width, i, tamis_i_packed_get(summary->body, width, i) - 1);
}

static tamis_status summary_song_insert(tamis_i_summary *summary, tamis_digest digest,
                                        unsigned type) {
    (void)type;
    for (unsigned t = 0; t < summary->params.n_types; t++)
        (void)tamis_i_summary_song_raise(summary, digest, t);
    return TAMIS_OK;
}

static unsigned summary_song_ask(const tamis_i_summary *summary, tamis_digest digest) {
    const unsigned width = (unsigned)summary->geometry[WIDTH];
    uint64_t least = UINT64_MAX;
    unsigned type = 0;
    for (unsigned t = 0; t < summary->params.n_types; t++) {
        const uint64_t count =
            tamis_i_packed_get(summary->body, width, summary_song_counter_of(summary, digest, t));
        if (count == 0)
            return TAMIS_I_SUMMARY_NONE;
        if (count < least) {
            least = count;
            type = t;
        }
    }
    return type;
}

static void summary_song_prefetch(const tamis_i_summary *summary, tamis_digest digest) {
    for (unsigned t = 0; t < summary->params.n_types && t < 4; t++)
        TAMIS_PREFETCH(summary->body +
                       summary_song_counter_of(summary, digest, t) * summary->geometry[WIDTH] / 64);
}

static double summary_song_fpr(const tamis_i_summary *summary) {
    const unsigned width = (unsigned)summary->geometry[WIDTH];
    double rate = 1;
    for (unsigned t = 0; t < summary->params.n_types; t++) {
        uint64_t raised = 0;
        for (uint64_t i = 0; i < summary->params.cells[t]; i++)
            raised +=
                tamis_i_packed_get(summary->body, width, summary->geometry[FIRST + t] + i) != 0;
        rate *= (double)raised / (double)summary->params.cells[t];
    }
    return rate;
}

static bool summary_song_check(const tamis_i_summary *summary, const char **reason) {
    return tamis_i_summary_ends_at(summary, summary_song_bits(&summary->params), reason);
}

const tamis_i_summary_kind tamis_i_summary_song = {.id = TAMIS_I_SUMMARY_SONG,
                                                   .name = "song",
                                                   .abilities = TAMIS_I_SUMMARY_DECIDES,
                                                   .shape = summary_song_shape,
                                                   .bits = summary_song_bits,
                                                   .attach = summary_song_attach,
                                                   .insert = summary_song_insert,
                                                   .ask = summary_song_ask,
                                                   .prefetch = summary_song_prefetch,
                                                   .fpr = summary_song_fpr,
                                                   .check = summary_song_check};
