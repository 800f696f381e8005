/* fork.c - forks are counted
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/fork.h"

#include <pthread.h>

_Atomic unsigned tamis_i_forks = 1;

static void fork_count(void) {
    (void)atomic_fetch_add_explicit(&tamis_i_forks, 1, memory_order_relaxed);
}

/* Threads that open their first tables at the same moment may both come to register the handler: then a fork
 * counts twice, which does no harm.  If the second went on before the first was done, it could have a table
 * that a fork is not counted for. */
bool tamis_i_fork_watch(void) {
    static atomic_bool watched;
    if (atomic_load_explicit(&watched, memory_order_acquire))
        return true;
    if (pthread_atfork(NULL, NULL, fork_count) != 0)
        return false;
    atomic_store_explicit(&watched, true, memory_order_release);
    return true;
}
