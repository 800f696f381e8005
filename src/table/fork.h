/* fork.h - does a table belong to this process?
 *
 * After fork the child has a copy of a table's memory, but the file and its locks are one and the same for
 * both: two histories would go to one log, and a reader that moves on would give away the other's lock.  So
 * a table in a file notes how many forks led to the process that opened it.  The child is one further, and is
 * refused.  Asking costs a load and no call of the system.
 *
 * A child that was made without the handlers of pthread_atfork (vfork, clone) is not seen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_FORK_H
#define TAMIS_TABLE_FORK_H

#include "base/base.h"

#include <stdatomic.h>

/* One, and one more for each fork that led to this process since the first table in a file was opened.  Only
 * the handler in a child, which has one thread, changes it. */
extern _Atomic unsigned tamis_i_forks;

/* See to it that forks are counted.  False: no memory. */
bool tamis_i_fork_watch(void);

static inline unsigned tamis_i_fork_count(void) {
    return atomic_load_explicit(&tamis_i_forks, memory_order_relaxed);
}

/* Was this noted before a fork?  0 is what a table in memory has, which the child may use. */
static inline bool tamis_i_fork_since(unsigned forks) {
    return forks != 0 && forks != tamis_i_fork_count();
}

#endif
