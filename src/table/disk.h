/* disk.h - the file of a page table, as far as the table knows it: blocks, and a point in time
 *
 * All that a table asks of a disk: what was written before a sync that succeeded is there for good; what
 * was written after it may be there or not, in parts, in any order, if the power fails.  Tests put
 * a disk in its place that fails in every one of these ways.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_DISK_H
#define TAMIS_TABLE_DISK_H

#include "base/base.h"

typedef struct tamis_i_disk_ops {
    bool (*read)(void *self, uint64_t at, void *data, size_t size);
    bool (*write)(void *self, uint64_t at, const void *data, size_t size);
    bool (*sync)(void *self);
    bool (*resize)(void *self, uint64_t size); /* bytes that are added are zero */
    bool (*size)(void *self, uint64_t *size);

    /* Bytes at 'at' without a copy, or NULL.  They are valid until 'cover' is called. */
    const unsigned char *(*view)(const void *self, uint64_t at, size_t size);

    /* A read of one page that counts: past the cache, if the disk was opened so. */
    bool (*fetch)(const void *self, uint64_t at, void *page, size_t size);

    /* Is a page in the system's cache, as far as can be told?  And: it will be read soon.  NULL: neither can
     * be told. */
    bool (*at_hand)(const void *self, uint64_t at, size_t size);
    void (*announce)(const void *self, uint64_t at, size_t size);

    /* The file has grown to 'size': views shall cover it.  False: there is no memory for it. */
    bool (*cover)(void *self, uint64_t size);

    /* Of readers: root number 'epoch' is looked at from now on, or not any more.  False: a repair is under
     * way.  Of the writer: may anyone look at a root up to this number?  NULL: nobody has the disk beside
     * this table. */
    bool (*watch)(void *self, uint64_t epoch);
    void (*unwatch)(void *self, uint64_t epoch);
    bool (*watched)(void *self, uint64_t epoch);

    void (*close)(void *self);
} tamis_i_disk_ops;

typedef struct tamis_i_disk {
    const tamis_i_disk_ops *ops; /* NULL: there is none, the table is in memory */
    void *self;
} tamis_i_disk;

/* A file. */
typedef struct tamis_i_disk_file {
    int fd;
    int direct_fd; /* fetches go here; -1: to fd */
    bool mapped;   /* views are wanted */
    bool shared;   /* there may be a writer and readers at the same time: see lock.c */
    unsigned char *map;
    size_t map_size;
    uint64_t covered; /* bytes that the file was said to have: views end here */
} tamis_i_disk_file;

/* Make a disk of a file, which lives as long as the disk and is closed with it. */
void tamis_i_disk_of_file(tamis_i_disk *disk, tamis_i_disk_file *file);

/* lock.c: locks of bytes in an open file. */

/* Can this system do it?  Not every kind of file can, for all that. */
bool tamis_i_lock_exists(void);
/* Become the writer; 'alone': and keep readers out.  TAMIS_E_LOCKED, TAMIS_E_UNSUPPORTED, TAMIS_E_IO. */
tamis_status tamis_i_lock_writer(int fd, bool alone);
/* Look at a root, or not any more.  As above. */
tamis_status tamis_i_lock_root(int fd, uint64_t epoch);
void tamis_i_lock_leave(int fd, uint64_t epoch);
/* May another open file have a lock on a root up to 'epoch'? */
bool tamis_i_lock_any(int fd, uint64_t epoch);

#endif
