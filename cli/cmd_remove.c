/* cmd_remove.c - tamis remove: keys out of a set
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

static const char help[] =
    "usage: tamis remove [-o OTHER] SET [FILE...]\n"
    "Remove keys, one per line, of the files or of standard input from a set.  Remove only keys "
    "that\n"
    "were added: a key that was not is refused if that can be seen (exit code 1, the others are\n"
    "removed), and otherwise takes keys with it that it cannot be told from.\n\n"
    "  -o OTHER        write the result there and leave SET as it is; - is standard output\n"
    "      --verbose   say what the set is then\n" KEY_HELP;

static int remove_keys(key_reader *reader, tamis_filter *filter) {
    uint64_t removed = 0;

    while (keys_read(reader) > 0) {
        size_t n = 0;
        const tamis_status status = tamis_filter_remove_many_digest(filter, reader->batch.digest,
                                                                    reader->batch.n, NULL, &n);
        if (status != TAMIS_OK) {
            progress_end(&reader->progress);
            return complain(reader->command, "%s; nothing was saved", tamis_status_text(status));
        }
        removed += n;
    }
    if (reader->failed)
        return EXIT_TROUBLE;
    if (removed == reader->n_keys)
        return EXIT_YES;
    char absent[TEXT_NUMBER];
    char all[TEXT_NUMBER];
    tamis_info info;
    tamis_info_init(&info);
    const bool series = tamis_filter_info(filter, &info) == TAMIS_OK && info.n_links > 1;
    complain(reader->command, "%s of %s keys were %s", text_count(reader->n_keys - removed, absent),
             text_count(reader->n_keys, all),
             series ? "not removed: not in the set, or claimed by several of its links"
                    : "certainly not in the set");
    return EXIT_NO;
}

int cmd_remove(int argc, char **argv) {
    return set_change(argc, argv, help, TAMIS_CAN_REMOVE, false, remove_keys);
}
