/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_keys.c: keys that need special treatment in copies between stores.
 *
 * kube-apiserver, and the servers of this project on etcd, keep records below the prefix that are
 * no objects of the API: they are about the servers that run, or are derived from objects. A copy
 * without them is complete.
 */
#include "apiserver/maintenance/object_keys.h"

#include "apiserver/kinds/key_layout.h"
#include "apiserver/storage/stored_key.h"

#define EVENT_TTL INT64_C(3600)

bool kc__maintenance_is_server_record(kc_str key)
{
    return kc__resource_key_is_record(kc__storage_key_prefix(key));
}

bool kc__maintenance_is_object(kc_str key)
{
    const kc_str prefix = kc__storage_key_prefix(key);
    return prefix.n && prefix.n < key.n && !kc__maintenance_is_server_record(key);
}

bool kc__maintenance_is_event(kc_str key)
{
    return kc_str_starts(key, kc__resource_key_builtin_prefix("", "events"));
}

int64_t kc__maintenance_ttl(kc_str key, int64_t event_ttl)
{
    if (!kc__maintenance_is_event(key))
        return 0;
    return event_ttl ? event_ttl : EVENT_TTL;
}
