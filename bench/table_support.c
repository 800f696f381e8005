/* table_support.c - measuring tables: items, files, and what the system has counted
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "bench/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- items ---- */

uint64_t table_mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Words that names of packages are made of. */
static const char *const words[] = {
    "react",  "babel",   "plugin",  "webpack", "loader",  "eslint",    "config", "types",
    "node",   "express", "parser",  "utils",   "core",    "cli",       "server", "client",
    "vue",    "angular", "router",  "redux",   "promise", "async",     "stream", "buffer",
    "crypto", "http",    "fetch",   "json",    "schema",  "validator", "format", "date",
    "color",  "string",  "array",   "object",  "merge",   "deep",      "clone",  "is",
    "to",     "path",    "file",    "fs",      "glob",    "watch",     "test",   "mocha",
    "jest",   "mock",    "log",     "debug",   "error",   "cache",     "queue",  "db",
    "mongo",  "redis",   "graphql", "api",     "native",  "web",       "css",    "style"};
enum { N_WORDS = sizeof words / sizeof words[0] };

/* A name like "@vue/test-utils-3f" or "deep-clone-array-1x2": some words, and the number in base 36. */
static size_t table_name(uint64_t i, unsigned char name[TABLE_NAME_MAX]) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t chance = table_mix(i + 1);
    char text[TABLE_NAME_MAX] = "", *at = text;
    const unsigned n = 1 + (unsigned)(chance >> 62) % 3;
    if (chance % 4 == 0) {
        *at++ = '@';
        at = stpcpy(at, words[chance / 4 % N_WORDS]);
        *at++ = '/';
    }
    chance = table_mix(chance);
    for (unsigned w = 0; w < n; w++, chance /= N_WORDS) {
        at = stpcpy(at, words[chance % N_WORDS]);
        *at++ = '-';
    }
    do
        *at++ = digits[i % 36];
    while ((i /= 36) != 0);
    const size_t size = (size_t)(at - text);
    memcpy(name, text, size);
    return size;
}

void table_make_item(uint64_t i, unsigned version, bool names, table_item *item) {
    const uint64_t seed = table_mix(i + ((uint64_t)1 << 63)) + version;
    if (!names) {
        const uint64_t key[2] = {table_mix(i), i}, value[2] = {seed, ~i};
        memcpy(item->key, key, TABLE_KEY);
        memcpy(item->value, value, TABLE_VALUE);
        item->key_size = TABLE_KEY;
        item->value_size = TABLE_VALUE;
        return;
    }
    item->key_size = table_name(i, item->key);
    item->value_size = TABLE_NAME_VALUE;
    for (unsigned j = 0; j < TABLE_NAME_VALUE; j += 4) {
        const uint64_t word = table_mix(seed + j);
        memcpy(item->value + j, &word, 4);
    }
}

/* ---- what the system has counted ---- */

table_io table_io_now(void) {
    table_io counts = {NAN, NAN};
    char text[1024] = "";
    const int fd = open("/proc/self/io", O_RDONLY);
    if (fd < 0)
        return counts;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *const calls = n > 0 ? strstr(text, "syscr: ") : NULL;
    const char *const bytes = n > 0 ? strstr(text, "\nread_bytes: ") : NULL;
    if (calls != NULL && bytes != NULL) {
        counts.calls = (double)strtoull(calls + strlen("syscr: "), NULL, 10);
        counts.bytes = (double)strtoull(bytes + strlen("\nread_bytes: "), NULL, 10);
    }
    return counts;
}

/* ---- files ---- */

static double drop_file(const char *path) {
    struct stat about = {0};
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NAN;
    (void)fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)fstat(fd, &about);
    close(fd);
    return (double)about.st_blocks * 512;
}

static double remove_file(const char *path) {
    return unlink(path);
}

/* Call a function for a file, or for all files in a folder; the sum of the results. */
static double each_file(const char *path, double (*call)(const char *path)) {
    DIR *const folder = opendir(path);
    if (folder == NULL)
        return call(path);
    double sum = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4600];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        sum += call(name);
    }
    closedir(folder);
    return sum;
}

double table_drop(const char *path) {
    return each_file(path, drop_file);
}

void table_remove(const char *path) {
    (void)each_file(path, remove_file);
    (void)rmdir(path);
}
