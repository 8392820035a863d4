/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.c: what all rings hold together, oldest first, so that they share one limit of bytes and
 * one of age: a busy resource does not shorten what a quiet one remembers more than it must, and no
 * resource has a share that it does not use.
 *
 * The events themselves are in the rings; here stands only whose turn it is, since the oldest event
 * of all is the oldest of its ring. Only the committer uses this.
 */
#include "apiserver/store/store_internal.h"

void kc__recent_done(kc__recent *recent)
{
    free(recent->entries);
}

static void grow(kc__recent *recent)
{
    size_t room = KC_MAX(recent->room * 2, 256);
    kc__recent_entry *entries = kc_reallocarray(NULL, room, sizeof(*entries));
    for (size_t i = 0; i < recent->n; i++)
        entries[i] = recent->entries[(recent->first + i) & (recent->room - 1)];
    free(recent->entries);
    recent->entries = entries;
    recent->first = 0;
    recent->room = room;
}

void kc__recent_add(kc__recent *recent, kc__cache *cache, const kc__event *event, int64_t now)
{
    if (recent->n == recent->room)
        grow(recent);
    kc__recent_entry *entry = &recent->entries[(recent->first + recent->n++) & (recent->room - 1)];
    *entry = (kc__recent_entry){.cache = cache, .since = now};
    recent->bytes += kc__event_weight(event) + sizeof(*entry) + sizeof(kc__event *);
    kc__ring_push(&cache->ring, event);
}

static void drop_oldest(kc__recent *recent)
{
    kc__recent_entry *entry = &recent->entries[recent->first];
    kc_auto(kc__event) *event = kc__ring_drop(&entry->cache->ring);
    recent->bytes -= kc__event_weight(event) + sizeof(*entry) + sizeof(kc__event *);
    recent->first = (recent->first + 1) & (recent->room - 1);
    recent->n--;
}

void kc__recent_trim(kc__recent *recent, int64_t now, int64_t age, size_t bytes)
{
    while (recent->n && (recent->bytes > bytes || now - recent->entries[recent->first].since > age))
        drop_oldest(recent);
}
