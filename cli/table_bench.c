/* table_bench.c - tamis table bench: count the reads of slow memory
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/table.h"

int table_bench(int argc, char **argv) {
    (void)argc;
    return complain(argv[0], "not built in");
}
