/* summary.c - the list of summaries, and what they share
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/summary.h"

#include "tamis/table.h"

static const tamis_i_summary_kind *const kinds[] = {
    &tamis_i_summary_interpolation,   &tamis_i_summary_single,
    &tamis_i_summary_multiple,        &tamis_i_summary_song,
    &tamis_i_summary_single_counting, &tamis_i_summary_multiple_counting,
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

const tamis_i_summary_kind *tamis_i_summary_by_id(uint64_t id) {
    for (unsigned i = 0; i < N_KINDS; i++)
        if ((uint64_t)kinds[i]->id == id)
            return kinds[i];
    return NULL;
}

const tamis_i_summary_kind *tamis_i_summary_by_name(const char *name) {
    for (unsigned i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

void tamis_i_summary_attach(tamis_i_summary *summary, const tamis_i_summary_kind *kind,
                            const tamis_i_summary_params *params, uint64_t *body,
                            uint64_t n_words) {
    memset(summary, 0, sizeof *summary);
    summary->kind = kind;
    summary->params = *params;
    summary->body = body;
    summary->n_words = n_words;
    kind->attach(summary);
}

void tamis_i_summary_clear(tamis_i_summary *summary) {
    memset(summary->body, 0, (size_t)summary->n_words * sizeof *summary->body);
}

bool tamis_i_summary_ends_at(const tamis_i_summary *summary, uint64_t end, const char **reason) {
    for (uint64_t i = end / 64; i < summary->n_words; i++)
        if (summary->body[i] >> (i == end / 64 ? end % 64 : 0) != 0) {
            *reason = "the summary has bits past its end";
            return false;
        }
    return true;
}

const char *tamis_summary_name(tamis_summary summary) {
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)summary);
    return kind == NULL ? NULL : kind->name;
}

tamis_status tamis_summary_parse(const char *name, tamis_summary *summary) {
    if (name == NULL || summary == NULL)
        return TAMIS_E_ARGUMENT;
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_name(name);
    if (kind == NULL)
        return TAMIS_E_ARGUMENT;
    *summary = (tamis_summary)kind->id;
    return TAMIS_OK;
}
