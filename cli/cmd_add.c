/* cmd_add.c - tamis add: more keys for a set
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

static const char help[] =
    "usage: tamis add [-o OTHER] [--grow] SET [FILE...]\n"
    "Add keys, one per line, of the files or of standard input to a set.  The file is replaced "
    "when\n"
    "all keys are in, and untouched if something fails.\n\n"
    "  -o OTHER        write the result there and leave SET as it is; - is standard output\n"
    "      --grow      let the set grow when it has the keys that it was made for: a further, "
    "larger\n"
    "                  part is added.  A set that was built with --grow, or has grown, does so "
    "anyway\n"
    "  -p P            --grow, with this error rate for the whole set; the default is the one it "
    "was\n"
    "                  built for, if it was built with --grow, else twice the one it has\n"
    "      --verbose   say what the set is then\n" KEY_HELP;

static int add(key_reader *reader, tamis_filter *filter) {
    return set_insert(reader, 1, &filter, NULL) ? EXIT_YES : EXIT_TROUBLE;
}

int cmd_add(int argc, char **argv) {
    return set_change(argc, argv, help, 0, true, add);
}
