/* SPDX-License-Identifier: Apache-2.0 */
/* zone_internal.h: the time zone database. */
#ifndef KC_CEL_ZONE_INTERNAL_H
#define KC_CEL_ZONE_INTERNAL_H

#include "kc/arena.h"

/* A zone that an evaluation has read: expressions use a zone again and again. */
typedef struct kc__cel_zone {
    kc_str name, file; /* An empty file: there is no such zone. */
    struct kc__cel_zone *next;
} kc__cel_zone;

/* Seconds east of UTC at a time, by the name of a zone; "" and "UTC" are UTC. False when there is
 * no such zone. Reads a file of the system once, and adds it to the list in the arena. */
bool kc__cel_zone_offset(kc__cel_zone **zones, kc_arena *arena, kc_str name, int64_t seconds,
                         int64_t *ret);

#endif
