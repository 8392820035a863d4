/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c: a change, as watchers and rings share it. Made once, by the committer or when the store
 * is loaded; constant from then on.
 *
 * Weight. An event refers to the new object and to the one it replaced. The new one is in the tree;
 * when it no longer is, a later event has it as its `previous`, and events leave in order. So the
 * memory that goes with an event is its own, its `previous`, and the copy that a deletion
 * shows.
 */
#include "apiserver/store/store_internal.h"

kc__event *kc__event_new(kc__event_type type, uint64_t revision, kc_str key,
                         const kc_object *object, const kc_object *previous)
{
    kc__event *event = kc_alloc(offsetof(kc__event, key) + key.n + 1);
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

kc__event *kc__event_ref(const kc__event *event)
{
    kc__event *counted = (kc__event *)event;
    kc_ref_add(&counted->refs);
    return counted;
}

kc__event *kc__event_unref(const kc__event *event)
{
    kc__event *counted = (kc__event *)event;
    if (counted && kc_ref_drop(&counted->refs)) {
        kc_object_unref(counted->object);
        kc_object_unref(counted->previous);
        free(counted);
    }
    return NULL;
}

size_t kc__event_weight(const kc__event *event)
{
    size_t bytes = sizeof(*event) + event->key_length + 1;
    if (event->previous)
        bytes += kc_object_size(event->previous);
    if (event->type == KC__DELETED)
        bytes += kc_object_size(event->object);
    return bytes;
}

bool kc__interest_has(const kc__interest *interest, kc_str key)
{
    if (interest->key.n)
        return kc_str_eq(interest->key, key);
    return kc_str_starts(key, interest->prefix);
}
