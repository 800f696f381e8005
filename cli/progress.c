/* progress.c - how far a long piece of work is
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#define FIRST_AFTER 1.0 /* seconds; shorter work shows nothing */
#define THEN_EVERY  0.2
#define BAR_WIDTH   14

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

/* A time for people to read, rounded up: "12 s", "3 min", "2 h 10 min". */
static void text_time(double time, char *text, size_t size) {
    const double minutes = ceil(time / 60);
    if (time <= 60)
        snprintf(text, size, "%.0f s", ceil(time));
    else if (minutes < 60)
        snprintf(text, size, "%.0f min", minutes);
    else if (minutes < 1e6)
        snprintf(text, size, "%.0f h %.0f min", floor(minutes / 60), fmod(minutes, 60));
    else
        snprintf(text, size, "weeks");
}

static void draw(const progress *p, double now, uint64_t done, uint64_t keys) {
    char count[TEXT_NUMBER];
    char rate[TEXT_NUMBER];
    char bar[BAR_WIDTH + 1] = "";
    char part[16] = "";
    char time[32];
    char left[48] = "";
    char line[80];

    if (p->total > 0) {
        const double share = done < p->total ? (double)done / (double)p->total : 1.0;
        for (int i = 0; i < BAR_WIDTH; i++)
            bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
        snprintf(part, sizeof part, " %3d %% ", (int)(share * 100));
        /* The rest takes as long per part as what is done. */
        if (share > 0) {
            text_time((now - p->started) * (1 - share) / share, time, sizeof time);
            snprintf(left, sizeof left, ", %s left", time);
        }
    }
    /* A line that the terminal wraps would not be erased, so it is cut. */
    snprintf(line, sizeof line, "tamis %s: %s%s%s keys, %s/s%s", p->command, bar, part,
             text_count(keys, count),
             text_count((uint64_t)((double)keys / (now - p->started)), rate), left);
    fprintf(stderr, "\r\033[K%s", line);
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
