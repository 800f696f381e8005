/* robust.h - what the tests of damaged and hostile input share
 *
 * Samples of every kind, the five ways into the loader, checksums made right again after an attack,
 * and what must hold of a refusal and of a filter that was let in.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_ROBUST_H
#define TAMIS_TESTS_ROBUST_H

#include "file/header.h"
#include "support.h"

#include "filter/guard.h"
#include "hash/hash.h"
#include "tamis/plan.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER TAMIS_I_HEADER_BYTES
#define SEED   0x5eed5eed5eed5eedu

/* Where the body has its parts. */
enum {
    AT_STATE = HEADER,
    AT_TABLE = HEADER + 64 /* without a stash */
};

#define FOR_EACH_KIND(kind)                                                                        \
    for (tamis_kind kind = TAMIS_KIND_ANY; (kind = test_next_kind(kind)) != TAMIS_KIND_ANY;)

/* A filter of this kind, in the form that can do all that it can, with keys 0 to n-1 in it. */
static inline tamis_filter *make_sample(tamis_kind kind, uint64_t n) {
    tamis_params params = test_params(kind, n, 0.01, SEED);
    params.hash = TAMIS_HASH_XXH3; /* the first version of the format; rules.h has the second */
    params.fpr = 0;                /* nor a promise, which is of the fourth */
    tamis_filter *filter;
    assert_ok(tamis_filter_create(&params, NULL, &filter));
    for (uint64_t key = 0; key < n; key++)
        assert_ok(tamis_filter_insert_u64(filter, key, NULL));
    return filter;
}

/* The bytes of a filter, to be freed. */
static inline unsigned char *encode(const tamis_filter *filter, size_t *size) {
    *size = (size_t)tamis_filter_encoded_size(filter);
    unsigned char *const bytes = malloc(*size);
    assert_non_null(bytes);
    assert_ok(tamis_filter_encode(filter, bytes, *size));
    return bytes;
}

/* Would the filter be written as these bytes? */
static inline bool encodes_as(const tamis_filter *filter, const unsigned char *bytes, size_t size) {
    size_t own_size;
    unsigned char *const own = encode(filter, &own_size);
    const bool same = own_size == size && memcmp(own, bytes, size) == 0;
    free(own);
    return same;
}

static inline unsigned char *make_bytes(tamis_kind kind, uint64_t n, size_t *size) {
    tamis_filter *const filter = make_sample(kind, n);
    unsigned char *const bytes = encode(filter, size);
    tamis_filter_free(filter);
    return bytes;
}

/* What an attacker does after the change: both checksums are right again. */
static inline void fix_header(unsigned char *bytes) {
    tamis_i_put_u64(bytes + TAMIS_I_AT_HEADER_CHECKSUM,
                    tamis_i_checksum(bytes, TAMIS_I_AT_HEADER_CHECKSUM));
}

/* Those of the parts of a body that is kept in parts, if the file has them. */
static inline bool fix_parts(unsigned char *bytes, size_t size) {
    const uint64_t n_body = tamis_i_get_u64(bytes + TAMIS_I_AT_BODY_WORDS);
    if (tamis_i_get_u32(bytes + TAMIS_I_AT_VERSION) != 3 || n_body > size / 8 ||
        size != HEADER + 8 * (n_body + tamis_i_sums_words(n_body)))
        return false;
    unsigned char *const body = bytes + HEADER, *const sums = body + 8 * n_body;
    const unsigned shift = tamis_i_part_shift(n_body);
    for (uint64_t i = 0; i < tamis_i_sums_words(n_body); i++) {
        const tamis_i_part_span part = tamis_i_part_at(n_body, shift, i);
        tamis_i_put_u64(sums + 8 * i, tamis_i_checksum(body + 8 * part.from, (size_t)part.n * 8));
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM,
                    tamis_i_checksum(sums, (size_t)tamis_i_sums_words(n_body) * 8));
    return true;
}

static inline void fix_checksums(unsigned char *bytes, size_t size) {
    if (size < HEADER)
        return;
    if (fix_parts(bytes, size)) {
        fix_header(bytes);
        return;
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM,
                    tamis_i_checksum(bytes + HEADER, size - HEADER));
    fix_header(bytes);
}

/* ---- memory that ends where no byte may be read ---- */

typedef struct guarded {
    unsigned char *map;
    size_t room;
} guarded;

static inline void guarded_open(guarded *g, size_t room) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    g->room = (room + page - 1) / page * page;
    void *const map =
        mmap(NULL, g->room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    g->map = map;
    assert_int_equal(mprotect(g->map + g->room, page, PROT_NONE), 0);
}

static inline void guarded_close(guarded *g) {
    assert_int_equal(munmap(g->map, g->room + (size_t)sysconf(_SC_PAGESIZE)), 0);
}

/* A copy whose last byte is the last before the guard page; aligned to 'align', it ends up to align-1
 * bytes earlier. */
static inline unsigned char *guarded_put(guarded *g, const void *bytes, size_t size, size_t align) {
    assert_true(size <= g->room);
    unsigned char *const copy = g->map + (g->room - size) / align * align;
    if (size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

/* ---- the ways in ---- */

typedef enum way { FROM_MEMORY, AS_VIEW, FROM_FILE, FROM_PIPE, FROM_READER, FROM_MAP, N_WAYS } way;

typedef struct loader {
    guarded memory;
    char path[512];
    int fd;
} loader;

static inline void loader_open(loader *l, const char *name, size_t room) {
    guarded_open(&l->memory, room);
    snprintf(l->path, sizeof l->path, "%s", test_path(name));
    l->fd = open(l->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(l->fd >= 0);
}

static inline void loader_close(loader *l) {
    guarded_close(&l->memory);
    assert_int_equal(close(l->fd), 0);
    assert_int_equal(unlink(l->path), 0);
}

static inline void write_all(int fd, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t n = write(fd, bytes, size);
        if (n <= 0)
            return; /* the reader has seen enough and closed its end */
        bytes += n;
        size -= (size_t)n;
    }
}

typedef struct feed {
    int fd;
    const unsigned char *bytes;
    size_t size;
} feed;

static inline void *feed_run(void *context) {
    const feed *const f = context;
    write_all(f->fd, f->bytes, f->size);
    (void)close(f->fd);
    return NULL;
}

static inline tamis_status load_pipe(const unsigned char *bytes, size_t size,
                                     const tamis_allocator *allocator, tamis_filter **filter,
                                     const char **reason) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    feed f = {.fd = ends[1], .bytes = bytes, .size = size};
    pthread_t thread;
    const bool direct = size <= 4096; /* fits any pipe */
    if (direct)
        (void)feed_run(&f);
    else
        assert_int_equal(pthread_create(&thread, NULL, feed_run, &f), 0);
    const tamis_status status = tamis_filter_load_fd(ends[0], allocator, filter, reason);
    assert_int_equal(close(ends[0]), 0); /* also ends a writer that is still at it */
    if (!direct)
        assert_int_equal(pthread_join(thread, NULL), 0);
    return status;
}

/* Bytes that are read in order, never past their end. */
typedef struct supply {
    const unsigned char *bytes;
    size_t left;
} supply;

static inline bool supply_read(void *context, void *buffer, size_t size) {
    supply *const s = context;
    assert_true(size > 0 && size <= s->left);
    memcpy(buffer, s->bytes, size);
    s->bytes += size;
    s->left -= size;
    return true;
}

/* Mapped, and all of it verified. */
static inline tamis_status load_map(const char *path, const tamis_allocator *allocator,
                                    tamis_filter **filter, const char **reason) {
    tamis_filter *own;
    tamis_status status = tamis_filter_map(path, allocator, &own, reason);
    if (status != TAMIS_OK)
        return status;
    status = tamis_filter_verify(own, reason);
    if (status != TAMIS_OK)
        tamis_filter_free(own);
    else
        *filter = own;
    return status;
}

static inline tamis_status load_by(loader *l, way w, const unsigned char *bytes, size_t size,
                                   const tamis_allocator *allocator, tamis_filter **filter,
                                   const char **reason) {
    switch (w) {
    case FROM_MEMORY:
        return tamis_filter_decode(guarded_put(&l->memory, bytes, size, 1), size, allocator, filter,
                                   reason);
    case AS_VIEW:
        return tamis_filter_view(guarded_put(&l->memory, bytes, size, 8), size, allocator, filter,
                                 reason);
    case FROM_PIPE:
        return load_pipe(bytes, size, allocator, filter, reason);
    case FROM_READER: {
        supply s = {bytes, size};
        const tamis_reader reader = {supply_read, &s};
        return tamis_filter_decode_from(&reader, size, allocator, filter, reason);
    }
    default:
        assert_true(pwrite(l->fd, bytes, size, 0) == (ssize_t)size);
        assert_int_equal(ftruncate(l->fd, (off_t)size), 0);
        return w == FROM_MAP ? load_map(l->path, allocator, filter, reason)
                             : tamis_filter_load(l->path, allocator, filter, reason);
    }
}

/* Views need a little-endian machine. */
static inline bool way_exists(way w) {
    return (w != AS_VIEW && w != FROM_MAP) || tamis_i_little_endian();
}

/* The next way that exists; begin with FROM_MEMORY, end at N_WAYS. */
static inline way next_way(way w) {
    do
        w++;
    while (w < N_WAYS && !way_exists(w));
    return w;
}

/* From memory and, where it exists, as a view, in turn. */
static inline way way_in_turn(uint64_t i) {
    return i % 2 && way_exists(AS_VIEW) ? AS_VIEW : FROM_MEMORY;
}

/* The largest block that input of this size may cost: the filter itself, none of it for a view; a pipe
 * is collected in a buffer that doubles. */
static inline size_t justified(way w, size_t size) {
    const size_t handle = 4096;
    switch (w) {
    case AS_VIEW:
    case FROM_MAP:
        return handle;
    case FROM_PIPE:
        return size < 32768 ? 65536 : 2 * size + handle;
    default:
        return size + handle;
    }
}

/* A status that speaks of the bytes. */
static inline bool is_refusal(tamis_status status) {
    return status == TAMIS_E_FORMAT || status == TAMIS_E_VERSION || status == TAMIS_E_TOO_LARGE;
}

/* The input must be refused with a reason, at no cost.  Returns the reason. */
static inline const char *must_refuse(loader *l, way w, const unsigned char *bytes, size_t size,
                                      tamis_status expected) {
    test_allocator memory;
    test_allocator_init(&memory, -1);
    tamis_filter *const untouched = (tamis_filter *)(void *)&memory;
    tamis_filter *filter = untouched;
    const char *reason = NULL;
    const tamis_status status = load_by(l, w, bytes, size, &memory.allocator, &filter, &reason);
    if (status == TAMIS_OK)
        fail_msg("damaged input of %zu bytes was loaded", size);
    assert_ptr_equal(filter, untouched);
    assert_non_null(reason);
    assert_true(strlen(reason) > 8);
    assert_true(memory.live == 0 && memory.bytes == 0);
    assert_true(memory.largest <= justified(w, size));
    if (expected != TAMIS_OK) /* OK: any refusal */
        assert_status(status, expected);
    else
        assert_true(is_refusal(status));
    return reason;
}

/* The bytes of a sound filter, a copy to be damaged that may become twice as long, and a loader for
 * either. */
typedef struct sample_file {
    unsigned char *bytes;
    unsigned char *copy;
    size_t size;
    loader loader;
} sample_file;

static inline void sample_file_open(sample_file *s, const char *name, tamis_kind kind, uint64_t n) {
    s->bytes = make_bytes(kind, n, &s->size);
    s->copy = malloc(2 * s->size);
    assert_non_null(s->copy);
    memcpy(s->copy, s->bytes, s->size);
    loader_open(&s->loader, name, 2 * s->size);
}

static inline void sample_file_close(sample_file *s) {
    loader_close(&s->loader);
    free(s->copy);
    free(s->bytes);
}

/* ---- filters that were let in ---- */

static inline void exercise_numbers(const tamis_filter *filter) {
    tamis_params params;
    tamis_params_init(&params);
    assert_ok(tamis_filter_params(filter, &params));
    const tamis_info info = test_info(filter);
    assert_true(info.count == tamis_filter_count(filter) && info.count <= TAMIS_I_COUNT_MAX);
    assert_true(info.fpr >= 0 && info.fpr <= 1 + 1e-9);
    uint64_t sum = 0;
    for (size_t i = 0; i < info.n_loads; i++)
        sum += info.load_histogram[i];
    assert_true(info.n_loads <= TAMIS_LOADS_MAX && sum > 0);
}

static inline void exercise_keys(tamis_filter *filter, bool writable) {
    uint64_t keys[100];
    bool present[100];
    for (uint64_t i = 0; i < 100; i++)
        keys[i] = i * i;
    size_t found = tamis_filter_contains_many_u64(filter, keys, 100, present);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(present[i], tamis_filter_contains_u64(filter, keys[i]));
        assert_int_equal(present[i], tamis_filter_copies_u64(filter, keys[i]) != 0);
        found -= present[i];
    }
    assert_int_equal(found, 0);

    const tamis_digest extremes[] = {{0, 0},          {0, UINT64_MAX}, {UINT64_MAX, 0},
                                     {UINT64_MAX, 1}, {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++)
        (void)tamis_filter_contains_digest(filter, extremes[i]);

    if (!writable) {
        assert_status(tamis_filter_insert_u64(filter, 1, NULL), TAMIS_E_READONLY);
        assert_status(tamis_filter_clear(filter), TAMIS_E_READONLY);
        return;
    }
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++)
        if (tamis_filter_insert_digest(filter, extremes[i], NULL) == TAMIS_OK)
            assert_true(tamis_filter_contains_digest(filter, extremes[i]));
    for (size_t i = 0; i < 100; i++)
        if (tamis_filter_insert_u64(filter, keys[i], NULL) == TAMIS_OK)
            assert_true(tamis_filter_contains_u64(filter, keys[i]));
    for (uint64_t i = 0; i < 200; i++)
        (void)!tamis_filter_remove_u64(filter, i);
}

/* Everything a caller can do.  Answers of a hostile filter mean nothing, but no call may go wrong, a key
 * just inserted is there, and what is written can be read again. */
static inline void exercise(tamis_filter *filter, bool writable) {
    exercise_numbers(filter);
    exercise_keys(filter, writable);
    tamis_filter *copy, *again;
    assert_ok(tamis_filter_clone(filter, NULL, &copy));
    /* Half of the largest count that can be read is far more than calls can reach. */
    if (tamis_filter_count(filter) > TAMIS_I_COUNT_MAX / 2) {
        tamis_filter_free(copy);
        return;
    }
    if (writable) {
        const tamis_status merged = tamis_filter_merge(filter, copy, TAMIS_MERGE_BEYOND);
        assert_true(merged == TAMIS_OK || merged == TAMIS_E_FULL || merged == TAMIS_E_UNSUPPORTED ||
                    merged == TAMIS_E_TOO_LARGE);
    }
    size_t size;
    unsigned char *const bytes = encode(filter, &size);
    const char *reason = "";
    const tamis_status status = tamis_filter_decode(bytes, size, NULL, &again, &reason);
    if (status != TAMIS_OK)
        fail_msg("what was written cannot be read: %s", reason);
    assert_encoded(again, bytes, size);
    free(bytes);
    tamis_filter_free(again);
    assert_ok(tamis_filter_clear(copy));
    assert_int_equal(tamis_filter_count(copy), 0);
    tamis_filter_free(copy);
}

/* Refused, or let in and safe.  True if it was let in. */
static inline bool refused_or_safe(loader *l, way w, const unsigned char *bytes, size_t size) {
    test_allocator memory;
    test_allocator_init(&memory, -1);
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    const tamis_status status = load_by(l, w, bytes, size, &memory.allocator, &filter, &reason);
    assert_true(memory.largest <= justified(w, size));
    if (status != TAMIS_OK) {
        assert_true(is_refusal(status));
        assert_non_null(reason);
        assert_null(filter);
        assert_int_equal(memory.live, 0);
        return false;
    }
    exercise(filter, w != AS_VIEW && w != FROM_MAP);
    tamis_filter_free(filter);
    assert_int_equal(memory.live, 0);
    return true;
}

#endif
