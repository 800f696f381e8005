/* progress.c - how far a long piece of work is
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <time.h>
#include <unistd.h>

#define FIRST_AFTER 1.0 /* seconds; shorter work shows nothing */
#define THEN_EVERY  0.2
#define BAR_WIDTH   30

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_start(progress *p, const char *command, uint64_t total) {
    *p = (progress){.command = command, .enabled = isatty(STDERR_FILENO) == 1, .total = total};
    if (p->enabled)
        p->started = seconds();
}

static void draw(const progress *p, double now, uint64_t done, uint64_t keys) {
    char count[TEXT_NUMBER];
    char rate[TEXT_NUMBER];
    char bar[BAR_WIDTH + 1] = "";
    char part[16] = "";

    if (p->total > 0) {
        const double share = done < p->total ? (double)done / (double)p->total : 1.0;
        for (int i = 0; i < BAR_WIDTH; i++)
            bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
        snprintf(part, sizeof part, " %3d %% ", (int)(share * 100));
    }
    fprintf(stderr, "\r\033[Ktamis %s: %s%s%s keys, %s/s", p->command, bar, part,
            text_count(keys, count),
            text_count((uint64_t)((double)keys / (now - p->started)), rate));
    fflush(stderr);
}

void progress_step(progress *p, uint64_t done, uint64_t keys) {
    if (!p->enabled)
        return;
    const double now = seconds();
    if (now - p->started < FIRST_AFTER || now - p->drawn < THEN_EVERY)
        return;
    draw(p, now, done, keys);
    p->drawn = now;
    p->shown = true;
}

void progress_end(progress *p) {
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->shown = false;
    p->enabled = false;
}
