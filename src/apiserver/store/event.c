/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c: an event, shared by rings and watchers. The committer, or loading the store, creates it
 * once; it is constant afterwards.
 *
 * Weight. An event references the new object and the object it replaced. The new object is in the
 * tree; once it no longer is, a later event references it as `previous`, and events are dropped in
 * order. So the memory freed with an event is the event itself, its `previous` object, and the copy
 * of the object that a DELETED event shows.
 */
#include "apiserver/store/store_internal.h"

kc__store_event *kc__store_event_new(kc__store_event_type type, uint64_t revision, kc_str key,
                                     const kc_object *object, const kc_object *previous)
{
    kc__store_event *event = kc_alloc(offsetof(kc__store_event, key) + key.n + 1);
    kc_ref_init(&event->refs);
    event->type = (uint16_t)type;
    event->revision = revision;
    event->object = kc_object_ref(object);
    event->previous = previous ? kc_object_ref(previous) : NULL;
    assert(key.n <= UINT16_MAX);
    event->key_length = (uint16_t)key.n;
    memcpy(event->key, key.p, key.n);
    event->key[key.n] = '\0';
    return event;
}

kc__store_event *kc__store_event_ref(const kc__store_event *event)
{
    kc__store_event *counted = (kc__store_event *)event;
    kc_ref_add(&counted->refs);
    return counted;
}

kc__store_event *kc__store_event_unref(const kc__store_event *event)
{
    kc__store_event *counted = (kc__store_event *)event;
    if (counted && kc_ref_drop(&counted->refs)) {
        kc_object_unref(counted->object);
        kc_object_unref(counted->previous);
        free(counted);
    }
    return NULL;
}

size_t kc__store_event_weight(const kc__store_event *event)
{
    size_t bytes = sizeof(*event) + event->key_length + 1;
    if (event->previous)
        bytes += kc_object_size(event->previous);
    if (event->type == KC__STORE_DELETED)
        bytes += kc_object_size(event->object);
    return bytes;
}

bool kc__store_key_filter_matches(const kc__store_key_filter *interest, kc_str key)
{
    if (interest->key.n)
        return kc_str_eq(interest->key, key);
    return kc_str_starts(key, interest->prefix);
}
