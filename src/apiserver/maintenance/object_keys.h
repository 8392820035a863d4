/* SPDX-License-Identifier: Apache-2.0 */
/* object_keys.h: what the key of a stored value tells about it. */
#ifndef KC_APISERVER_MAINTENANCE_OBJECT_KEYS_H
#define KC_APISERVER_MAINTENANCE_OBJECT_KEYS_H

#include "kc/str.h"

/* Whether the value belongs to the running servers and is no object of the API: the leases of the
 * servers, their allocation maps. Servers create them again. */
bool kc__maintenance_is_server_record(kc_str key);
/* Whether it is an object, by its key: no such record, and no key of `kc store` or of another
 * program. */
bool kc__maintenance_is_object(kc_str key);
/* Whether it is an Event, which expires. */
bool kc__maintenance_is_event(kc_str key);
/* The time to live of a key, in seconds: `event_ttl` (0: an hour) for Events, else 0 for none. */
int64_t kc__maintenance_ttl(kc_str key, int64_t event_ttl);

#endif
