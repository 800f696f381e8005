/* header.h - where the header of a file has its fields
 *
 * The drawing is in file.h, the specification in docs/format.md.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILE_HEADER_H
#define TAMIS_FILE_HEADER_H

enum {
    TAMIS_I_AT_VERSION = 8,
    TAMIS_I_AT_HEADER_SIZE = 12,
    TAMIS_I_AT_KIND = 16,
    TAMIS_I_AT_HASH = 20,
    TAMIS_I_AT_CAPACITY = 24,
    TAMIS_I_AT_SEED = 32,
    TAMIS_I_AT_STASH = 40,
    TAMIS_I_AT_BODY_WORDS = 48,
    TAMIS_I_AT_VALUES = 56,
    TAMIS_I_AT_KEY_FORM = 184,
    TAMIS_I_AT_SEED_HIGH = 192,
    TAMIS_I_AT_PROMISE = 200,
    TAMIS_I_AT_RESERVED = 208,
    TAMIS_I_AT_BODY_CHECKSUM = 240,
    TAMIS_I_AT_HEADER_CHECKSUM = 248
};

#endif
