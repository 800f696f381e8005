/* table.h - what the verbs of 'tamis table' share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_TABLE_H
#define TAMIS_CLI_TABLE_H

#include "cli/cli.h"

#include <tamis/table.h>

/* Values of long options, after those of cli.h. */
enum {
    OPT_KEY_MAX = 512,
    OPT_VALUE_MAX,
    OPT_SUMMARY,
    OPT_BUCKET,
    OPT_ODDS,
    OPT_SLOTS,
    OPT_STASH,
    OPT_NO_DELETES,
    OPT_SYNC,
    OPT_REPAIR,
    OPT_PEERS,
    OPT_SAMPLES,
    OPT_DIRECTORY,
    OPT_NAMES,
    OPT_EACH,
    OPT_REPLACE,
    OPT_GROWTH,
    OPT_FORMAT
};

/* The verbs.  argv[0] is "table put" and so on. */
int table_put(int argc, char **argv);
int table_get(int argc, char **argv);
int table_delete(int argc, char **argv);
int table_dump(int argc, char **argv);
int table_import(int argc, char **argv);
int table_export(int argc, char **argv);
int table_bench(int argc, char **argv);

extern const char table_help[];

/* What is wrong with a line that is no item. */
#define TABLE_NO_TAB "has no tab: an item is KEY, tab, VALUE, or KEY, tab if the value is empty"

/* Open a table, or say why not: NULL after a complaint. */
tamis_table *table_open(const char *command, const char *path, const tamis_table_options *options);

/* The parameters of a table of pages, as this tool makes them. */
void table_page_params(tamis_table_params *params);

/* Close it.  false after a complaint. */
bool table_close(const char *command, const char *path, tamis_table *table);

/* The value of an option; false after a complaint. */
bool option_sync(const char *command, const char *text, tamis_sync *sync);
bool option_summary(const char *command, const char *text, tamis_summary *summary);

#endif
