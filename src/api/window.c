/* api/window.c - sets that forget
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/window.h"
#include "filter/shards.h"

static tamis_status window_usable(const tamis_filter *window) {
    if (window == NULL)
        return TAMIS_E_ARGUMENT;
    return (window->kind->abilities & TAMIS_CAN_FORGET) != 0 ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

static tamis_status window_changeable(const tamis_filter *window) {
    const tamis_status status = window_usable(window);
    return status == TAMIS_OK && window->read_only ? TAMIS_E_READONLY : status;
}

/* Link number '*i' of all parts and their links, which is then raised; NULL after the last. */
static tamis_filter *window_link(const tamis_filter *window, unsigned *i) {
    unsigned number = (*i)++;
    for (unsigned part = 0; part < tamis_i_n_parts(window); part++) {
        const tamis_filter *const one = tamis_i_part(window, part);
        if (number < tamis_i_n_links(one))
            return tamis_i_link(one, number);
        number -= tamis_i_n_links(one);
    }
    return NULL;
}

tamis_status tamis_window_tick(tamis_filter *window) {
    const tamis_status status = window_changeable(window);
    tamis_filter *link;
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; (link = window_link(window, &i)) != NULL;)
        tamis_i_window_tick(link);
    return TAMIS_OK;
}

/* Buckets that are to be cleared, in all links. */
static uint64_t window_left(const tamis_filter *window) {
    const tamis_filter *link;
    uint64_t left = 0;
    for (unsigned i = 0; (link = window_link(window, &i)) != NULL;)
        left += tamis_i_window_left(link);
    return left;
}

tamis_status tamis_window_step(tamis_filter *window, uint64_t buckets, uint64_t *left) {
    const tamis_status status = window_changeable(window);
    tamis_filter *link;
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; (link = window_link(window, &i)) != NULL;) {
        const uint64_t before = tamis_i_window_left(link);
        buckets -= before - tamis_i_window_clear(link, buckets);
    }
    if (left != NULL)
        *left = window_left(window);
    return TAMIS_OK;
}

/* Links have begun at different times; the first one has seen all ticks. */
tamis_status tamis_window_info(const tamis_filter *window, tamis_window_state *state) {
    tamis_status status = window_usable(window);
    const tamis_filter *link;
    tamis_window_state own;
    if (status != TAMIS_OK || state == NULL)
        return status == TAMIS_OK ? TAMIS_E_ARGUMENT : status;
    status = tamis_i_filter_verify(window, NULL);
    if (status != TAMIS_OK)
        return status;
    tamis_window_state_init(&own);
    own.ticks = (unsigned)window->params.value[TAMIS_WINDOW_TICKS];
    own.left = window_left(window);
    for (unsigned i = 0; (link = window_link(window, &i)) != NULL;) {
        own.now = i == 1 ? tamis_i_window_now(link) : own.now;
        tamis_i_window_census(link, own.ages);
    }
    for (unsigned i = 0; i <= TAMIS_WINDOW_TICKS_MAX; i++)
        own.live += own.ages[i];
    return tamis_i_struct_out(state, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
