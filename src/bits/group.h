/* group.h - keys that are worked on together
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_GROUP_H
#define TAMIS_BITS_GROUP_H

#include "base/base.h"

/* Keys of a group: the next group is fetched while this one is finished. */
#define TAMIS_I_GROUP 16u

/* Where to look for one key of a group.  Filled in when its memory is fetched, used when the memory has
 * arrived.  The engine defines what the words mean. */
#define TAMIS_I_PROBE_CHOICES 4u
typedef struct tamis_i_probe {
    uint64_t *at[TAMIS_I_PROBE_CHOICES];
    uint64_t word[8];
} tamis_i_probe;

#endif
