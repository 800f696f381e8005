/* crew.c - keys from files, by several threads
 *
 * The input is taken in blocks of whole records.  A member of the crew takes the next block, which only one
 * can do at a time, and looks at its keys, which all do at once: splits, hashes, asks.  Then it waits for
 * its turn, which comes in the order of the input, for what only one can do at a time:
 *
 *      member 0   take 0 | look      | turn 0 | take 2 | look      | turn 2 | ...
 *      member 1          | take 1 | look      | turn 1 | take 3 ...
 *
 * So the result does not depend on the number of members: sets are the same byte for byte, answers are
 * printed in order, and of several mistakes the first is told.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL ((uint64_t)4 << 20) /* bytes of input that no second thread is started for */

struct crew {
    key_reader *input;
    const key_task *task;
    pthread_mutex_t reading; /* for what is between the two: input, taken, over */
    uint64_t taken;          /* blocks */
    bool over;               /* there are no more */
    pthread_mutex_t turns;   /* done, stopped */
    pthread_cond_t next;
    uint64_t done; /* blocks */
    bool stopped;
    uint64_t line; /* keys of the file before the block whose turn it is */
};

typedef struct seat {
    struct crew *crew;
    key_member member;
    uint64_t number; /* of the block */
    uint64_t n_bytes;
    bool begins; /* the block is the first of its file */
    bool broken; /* after a complaint: no memory */
} seat;

bool key_member_print(key_member *member, const void *bytes, size_t size) {
    if (size == 0) /* the empty key: there may be nothing to print it into yet */
        return true;
    if (size > member->room_out - member->n_out) {
        const size_t room = 2 * (member->n_out + size) + 4096;
        char *const larger = size < SIZE_MAX / 4 ? realloc(member->out, room) : NULL;
        if (larger == NULL) {
            complain(member->reader->command, "not enough memory");
            return false;
        }
        member->out = larger;
        member->room_out = room;
    }
    memcpy(member->out + member->n_out, bytes, size);
    member->n_out += size;
    return true;
}

static bool crew_keep_digests(key_member *member) {
    const key_batch *const batch = &member->reader->batch;
    if (batch->n > member->room - member->n) {
        const size_t room = 2 * (member->n + batch->n);
        tamis_digest *const larger = realloc(member->kept, room * sizeof *larger);
        if (larger == NULL) {
            complain(member->reader->command, "not enough memory");
            return false;
        }
        member->kept = larger;
        member->room = room;
    }
    memcpy(member->kept + member->n, batch->digest, batch->n * sizeof *batch->digest);
    member->n += batch->n;
    member->digests = member->kept;
    return true;
}

/* ---- by one thread ---- */

static void crew_of_one(key_reader *input, const key_task *task) {
    key_member member = {.reader = input};
    bool go_on = true;
    while (go_on && keys_read(input) > 0) {
        member.digests = input->batch.digest;
        member.n = input->batch.n;
        member.n_out = 0;
        member.found = 0;
        go_on = (task->look == NULL || task->look(task->context, &member)) &&
                task->turn(task->context, &member);
    }
    free(member.out);
}

/* ---- by several ---- */

/* Take a block; false if there are no more. */
static bool crew_take(seat *s) {
    struct crew *const c = s->crew;
    (void)pthread_mutex_lock(&c->turns);
    const bool stopped = c->stopped;
    (void)pthread_mutex_unlock(&c->turns);
    (void)pthread_mutex_lock(&c->reading);
    c->over = c->over || stopped || !keys_take(c->input, s->member.reader, &s->begins);
    const bool taken = !c->over;
    s->number = c->taken;
    s->n_bytes = c->input->n_bytes;
    c->taken += taken;
    (void)pthread_mutex_unlock(&c->reading);
    return taken;
}

static void crew_look(seat *s) {
    const key_task *const task = s->crew->task;
    key_member *const member = &s->member;
    member->n = member->n_out = 0;
    member->found = 0;
    while (!s->broken && keys_read(member->reader) > 0)
        s->broken =
            !(task->look != NULL ? task->look(task->context, member) : crew_keep_digests(member));
}

/* It is the turn of this block: false if it is the last. */
static bool crew_turn(seat *s) {
    struct crew *const c = s->crew;
    key_reader *const input = c->input, *const own = s->member.reader;
    if (s->broken || !c->task->turn(c->task->context, &s->member))
        return false;
    c->line = (s->begins ? 0 : c->line) + own->n_keys;
    input->n_keys += own->n_keys;
    progress_step(&input->progress, s->n_bytes, input->n_keys);
    if (own->bad == NULL)
        return true;
    progress_end(&input->progress);
    keys_tell_bad(own, c->line);
    s->broken = true;
    return false;
}

static void *crew_member(void *argument) {
    seat *const s = argument;
    struct crew *const c = s->crew;
    while (crew_take(s)) {
        crew_look(s);
        (void)pthread_mutex_lock(&c->turns);
        while (c->done != s->number && !c->stopped)
            (void)pthread_cond_wait(&c->next, &c->turns);
        const bool stopped = c->stopped;
        (void)pthread_mutex_unlock(&c->turns);
        const bool go_on = !stopped && crew_turn(s);
        (void)pthread_mutex_lock(&c->turns);
        c->done++;
        c->stopped = !go_on;
        (void)pthread_cond_broadcast(&c->next);
        (void)pthread_mutex_unlock(&c->turns);
    }
    return NULL;
}

/* Readers for all; false if there is not enough memory, and then a single thread has to do. */
static bool crew_seats(struct crew *c, seat *seats, unsigned n) {
    bool all = true;
    for (unsigned i = 0; i < n; i++) {
        seats[i] = (seat){.crew = c, .member = {.reader = keys_block_reader(c->input)}};
        all = all && seats[i].member.reader != NULL;
    }
    return all;
}

static void crew_of_many(seat *seats, unsigned n) {
    pthread_t ids[KEY_JOBS_MAX];
    unsigned started = 1; /* this thread is the first */
    while (started < n && pthread_create(&ids[started], NULL, crew_member, &seats[started]) == 0)
        started++;
    (void)crew_member(&seats[0]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(ids[i], NULL);
}

bool keys_each(key_reader *input, unsigned jobs, const key_task *task) {
    struct crew c = {.input = input, .task = task};
    seat seats[KEY_JOBS_MAX];
    if (jobs == 0) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        const bool small = input->progress.total != 0 && input->progress.total < SMALL;
        jobs = small || processors < 1 ? 1 : (unsigned)processors;
    }
    jobs = jobs < KEY_JOBS_MAX ? jobs : KEY_JOBS_MAX;
    if (jobs == 1 || input->format.n_given != 0 || pthread_mutex_init(&c.reading, NULL) != 0) {
        crew_of_one(input, task);
        return !input->failed;
    }
    bool made = pthread_mutex_init(&c.turns, NULL) == 0;
    if (made && pthread_cond_init(&c.next, NULL) != 0) {
        (void)pthread_mutex_destroy(&c.turns);
        made = false;
    }
    const bool all = crew_seats(&c, seats, jobs) && made;
    if (all) {
        input->is_crewed = true;
        crew_of_many(seats, jobs);
    }
    bool broken = false;
    for (unsigned i = 0; i < jobs; i++) {
        broken = broken || seats[i].broken;
        keys_free(seats[i].member.reader);
        free(seats[i].member.kept);
        free(seats[i].member.out);
    }
    if (made) {
        (void)pthread_cond_destroy(&c.next);
        (void)pthread_mutex_destroy(&c.turns);
    }
    (void)pthread_mutex_destroy(&c.reading);
    if (!all)
        crew_of_one(input, task);
    progress_end(&input->progress);
    return !input->failed && !broken;
}

int jobs_option(const char *command, const char *text, unsigned *jobs) {
    uint64_t count;
    if (!option_count(command, "--jobs", text, KEY_JOBS_MAX, &count))
        return 0;
    *jobs = (unsigned)count;
    return 1;
}
