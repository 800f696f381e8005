/* table_file.h - the file of the tests of tables in files
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_TABLE_FILE_H
#define TAMIS_TESTS_TABLE_FILE_H

#include "support.h"
#include "unit/table_model.h"

#include <unistd.h>

/* A folder of this process, and the table in it. */
static char folder[] = "/tmp/tamis-table-XXXXXX";
static char path[sizeof folder + 16];

static inline int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/table", folder);
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

/* The defaults, but without waiting for the disk. */
static inline tamis_table_options quick_options(void) {
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.sync = TAMIS_SYNC_NONE;
    return options;
}

/* A new table in place of the old one. */
static inline tamis_table *create_table(const tamis_table_params *params,
                                        const tamis_table_options *options) {
    const char *reason = "";
    tamis_table *table = NULL;
    (void)unlink(path);
    if (tamis_table_create_file(path, params, options, NULL, &table, &reason) != TAMIS_OK)
        fail_msg("create: %s", reason);
    return table;
}

static inline tamis_table *open_table(const tamis_table_options *options) {
    const char *reason = "";
    tamis_table *table = NULL;
    if (tamis_table_open(path, options, NULL, &table, &reason) != TAMIS_OK)
        fail_msg("open: %s", reason);
    return table;
}

#endif
