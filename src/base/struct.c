/* struct.c - structs that cross the public interface
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

bool tamis_i_struct_in(void *own, size_t own_size, const void *theirs) {
    size_t their_size;
    memcpy(&their_size, theirs, sizeof their_size);
    if (their_size < sizeof their_size || their_size > (size_t)1 << 16)
        return false;
    for (size_t i = own_size; i < their_size; i++)
        if (((const unsigned char *)theirs)[i] != 0)
            return false;
    memset(own, 0, own_size);
    memcpy(own, theirs, their_size < own_size ? their_size : own_size);
    memcpy(own, &own_size, sizeof own_size);
    return true;
}

bool tamis_i_struct_out(void *theirs, const void *own, size_t own_size) {
    size_t their_size;
    memcpy(&their_size, theirs, sizeof their_size);
    if (their_size < sizeof their_size || their_size > (size_t)1 << 16)
        return false;
    const size_t common = their_size < own_size ? their_size : own_size;
    memcpy((unsigned char *)theirs + sizeof their_size,
           (const unsigned char *)own + sizeof their_size, common - sizeof their_size);
    return true;
}
