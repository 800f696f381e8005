/* summary_make.h - summaries of tables by themselves
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_SUMMARY_MAKE_H
#define TAMIS_TESTS_SUMMARY_MAKE_H

#include "support.h"
#include "table/summary.h"

/* An empty summary with a body of its own, to be freed. */
static inline tamis_i_summary summary_make(tamis_i_summary_id id,
                                           const tamis_i_summary_params *params) {
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)id);
    assert_non_null(kind);
    uint64_t n_words = 0;
    assert_ok(kind->shape(params, &n_words));
    uint64_t *const body = calloc((size_t)n_words, sizeof *body);
    assert_non_null(body);
    tamis_i_summary summary;
    tamis_i_summary_attach(&summary, kind, params, body, n_words);
    return summary;
}

#endif
