/* lock.c - waiting for a lock
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "shared/lock.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#define LOOKS  32u   /* before the processor is given away */
#define YIELDS 1024u /* before the thread sleeps */

void tamis_i_lock_pause(unsigned *turn) {
    const unsigned now = (*turn)++;
    if (now < LOOKS) {
        /* Some time without touching the lock: longer from turn to turn. */
        for (unsigned i = 0; i < 4 + 2 * now; i++)
            atomic_signal_fence(memory_order_seq_cst);
        return;
    }
    const int saved = errno;
    if (now < LOOKS + YIELDS) {
        (void)sched_yield();
    } else {
        const struct timespec nap = {.tv_sec = 0, .tv_nsec = 100000};
        (void)nanosleep(&nap, NULL);
        *turn = LOOKS + YIELDS;
    }
    errno = saved;
}
