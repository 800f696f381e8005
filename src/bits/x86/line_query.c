/* line_query.c - one query from the key to the answer, for x86-64 with POPCNT, LZCNT, BMI2, AVX2 and AES
 *
 * For lines that a lens (lens.c) cannot look into.  The digest of an integer takes twelve instructions, the
 * place of a key some eight, and half of the keys that are not there end at their home.  The branch there is
 * not foreseen, but the way ahead to the next query gets shorter by it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/x86/line_view.h"
#include "hash/x86/aes_word.h"

/* Of a home that has a run.  A function of its own, which saves registers that half of the queries for
 * absent keys do not need. */
#define RUN(name, homes, wide, set)                                                                \
    FAST TAMIS_APART bool line_##name##_in_run(const tamis_i_line *line, const uint64_t *words,    \
                                               unsigned home, uint64_t fingerprint) {              \
        return line_find_one(line, words, homes, wide, set, home, true, fingerprint);              \
    }
TAMIS_I_LINE_OTHER_MULTISETS(RUN)
TAMIS_I_LINE_OTHER_SETS(RUN)

/* The rest of the query for a digest, as tamis_i_line_locate has it. */
#define IN_LINE(name, homes, digest)                                                               \
    const tamis_i_line *const line = &table->line;                                                 \
    const tamis_i_u128 product = (tamis_i_u128)(digest).lo * table->lines;                         \
    const uint64_t *const words = table->words + TAMIS_LINE_WORDS * (uint64_t)(product >> 64);     \
    const unsigned home = (unsigned)((tamis_i_u128)(uint64_t)product * (unsigned)(homes) >> 64);   \
    const uint64_t all = words[(homes) > 64 ? home / 64 : 0];                                      \
    return (all >> home % 64 & 1) != 0 && line_##name##_in_run(line, words, home, (digest).hi)

#define QUERY(name, homes, wide, set)                                                              \
    FAST bool tamis_i_line_##name##_has_digest(const tamis_i_line_table *table,                    \
                                               tamis_digest digest) {                              \
        IN_LINE(name, homes, digest);                                                              \
    }                                                                                              \
    TAMIS_I_TARGET_ALL_AES bool tamis_i_line_##name##_has_word(const tamis_i_line_table *table,    \
                                                               uint64_t key) {                     \
        const tamis_digest digest = tamis_i_aes_word(table->keys, key);                            \
        IN_LINE(name, homes, digest);                                                              \
    }
TAMIS_I_LINE_OTHER_MULTISETS(QUERY)
TAMIS_I_LINE_OTHER_SETS(QUERY)

#endif
