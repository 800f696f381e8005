/* words.c - integers that are hashed by AES instructions, and the call for their digest
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/x86/aes_word.h"

#define AES TAMIS_I_TARGET_AES

AES static bool words_contains(const tamis_filter *filter, uint64_t key) {
    return filter->calls.contains(filter, tamis_i_aes_word(&filter->hasher.keys, key));
}

AES static tamis_status words_insert(tamis_filter *filter, uint64_t key, bool *added) {
    return filter->calls.insert(filter, tamis_i_aes_word(&filter->hasher.keys, key), added);
}

AES static tamis_status words_remove(tamis_filter *filter, uint64_t key) {
    return filter->calls.remove(filter, tamis_i_aes_word(&filter->hasher.keys, key));
}

void tamis_i_call_words_x86(tamis_filter *filter) {
    if (filter->params.hash != TAMIS_HASH_AES || (filter->features & TAMIS_I_CPU_AES) == 0)
        return;
    filter->calls.contains_word = words_contains;
    filter->calls.insert_word = words_insert;
    filter->calls.remove_word = words_remove;
}

#undef AES

#endif
