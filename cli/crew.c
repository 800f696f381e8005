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
 * If the set has parts that do not know of each other, the longest turn, to insert, is divided: the keys of a
 * block are sorted by parts, and each part has turns of its own.
 *
 *      member 0   take 0 | look      | part 0 of 0 | part 1 of 0 | take 2 | look      | part 0 of 2 | ...
 *      member 1          | take 1 | look           | part 0 of 1 | part 1 of 1 | take 3 | ...
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
    unsigned parts; /* 0: there are none */
    uint64_t
        done[KEY_JOBS_MAX + 1]; /* blocks of which each part is done, and, the last, the turn */
    bool stopped;
    uint64_t line; /* keys of the file before the block whose turn it is */
};

typedef struct seat {
    struct crew *crew;
    key_member member;
    uint64_t number; /* of the block */
    uint64_t n_bytes;
    size_t begin[KEY_JOBS_MAX + 1]; /* of the keys of each part, and their end */
    bool begins;                    /* the block is the first of its file */
    bool broken;                    /* after a complaint: no memory */
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

/* Make room for n digests, of which there may be some. */
static bool crew_room(const key_member *member, tamis_digest **digests, size_t *room, size_t n) {
    if (n <= *room)
        return true;
    tamis_digest *const larger = realloc(*digests, 2 * n * sizeof *larger);
    if (larger == NULL) {
        complain(member->reader->command, "not enough memory");
        return false;
    }
    *digests = larger;
    *room = 2 * n;
    return true;
}

static bool crew_keep_digests(key_member *member) {
    const key_batch *const batch = &member->reader->batch;
    if (!crew_room(member, &member->kept, &member->room, member->n + batch->n))
        return false;
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
        if (task->part != NULL)
            task->work(task->context, 0, 1, member.digests, member.n);
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

/* Sort the keys of a block by parts; those of a part stay in order. */
static bool crew_sort(seat *s) {
    const struct crew *const c = s->crew;
    key_member *const member = &s->member;
    size_t next[KEY_JOBS_MAX] = {0}, at = 0;
    if (member->n > member->room_parted) {
        unsigned char *const larger = realloc(member->part, 2 * member->n);
        if (larger == NULL) {
            complain(member->reader->command, "not enough memory");
            return false;
        }
        member->part = larger;
        if (!crew_room(member, &member->parted, &member->room_parted, member->n))
            return false;
    }
    for (size_t i = 0; i < member->n; i++) {
        const unsigned part = c->task->part(c->task->context, member->kept[i], c->parts);
        member->part[i] = (unsigned char)part;
        next[part]++;
    }
    for (unsigned part = 0; part < c->parts; part++) {
        const size_t n = next[part];
        s->begin[part] = next[part] = at;
        at += n;
    }
    s->begin[c->parts] = at;
    for (size_t i = 0; i < member->n; i++)
        member->parted[next[member->part[i]]++] = member->kept[i];
    return true;
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

/* Wait for a turn of this block, that of a part or the last one: false if all was stopped. */
static bool crew_wait(seat *s, unsigned turn) {
    struct crew *const c = s->crew;
    (void)pthread_mutex_lock(&c->turns);
    while (c->done[turn] != s->number && !c->stopped)
        (void)pthread_cond_wait(&c->next, &c->turns);
    const bool go_on = !c->stopped;
    (void)pthread_mutex_unlock(&c->turns);
    return go_on;
}

static void crew_pass(seat *s, unsigned turn, bool go_on) {
    struct crew *const c = s->crew;
    (void)pthread_mutex_lock(&c->turns);
    c->done[turn]++;
    c->stopped = c->stopped || !go_on;
    (void)pthread_cond_broadcast(&c->next);
    (void)pthread_mutex_unlock(&c->turns);
}

static void *crew_member(void *argument) {
    seat *const s = argument;
    const struct crew *const c = s->crew;
    while (crew_take(s)) {
        crew_look(s);
        if (c->parts != 0)
            s->broken = s->broken || !crew_sort(s);
        for (unsigned part = 0; part < c->parts; part++) {
            if (crew_wait(s, part) && !s->broken)
                c->task->work(c->task->context, part, c->parts, s->member.parted + s->begin[part],
                              s->begin[part + 1] - s->begin[part]);
            crew_pass(s, part, true);
        }
        crew_pass(s, c->parts, crew_wait(s, c->parts) && crew_turn(s));
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
    c.parts = task->part != NULL ? jobs : 0;
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
        free(seats[i].member.parted);
        free(seats[i].member.part);
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
