/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay.c: the read-your-writes overlay.
 *
 * A controller that has just written reads again long before its watch delivers the change. Given
 * the old state it would act on it: create twice, count wrong. The server's response to a write is
 * therefore laid over the cache store, for its key, until the watch has passed its revision: then
 * the store contains this write or something newer, and the entry is dropped. There are three kinds
 * of entry:
 *
 *   an object           replaces anything older;
 *   gone at a revision  the write changed the object so that the informer's selectors exclude it:
 *                       the watch will report that, at that revision at the latest;
 *   gone, sometime      a deletion, whose response has no revision. It hides that object (by uid)
 *                       until the object itself shows the deletion: with finalizers it remains,
 *                       with a deletionTimestamp, and must be visible. The entry is dropped when
 *                       the watch delivers the deletion, or another object of that name.
 *
 * Usually there are no entries or a few. They are ordered by revision, and a watch event drops
 * those at the front without examining the others. If the watch never reaches an entry, the entry
 * must not stay forever: it expires, after more time than it takes to detect and restart a stalled
 * watch; and there are at most KC__OVERLAY_MAX entries, of which the oldest is dropped first.
 */
#include "runtime/cache/overlay.h"

#include "kc/meta.h"

#include <assert.h>

void kc__overlay_init(kc__overlay *own, int64_t age)
{
    *own = (kc__overlay){.age = age, .next_expiry = KC_FOREVER};
    kc_dlist_init(&own->ordered);
}

static kc_str overlay_text_of(const kc__overlay_entry *write)
{
    /* The namespace, a slash unless the namespace is empty, and the name are contiguous. */
    return write->key.ns.n ? kc_str_of(write->key.ns.p, write->key.ns.n + 1 + write->key.name.n)
                           : write->key.name;
}

static void write_free(kc__overlay_entry *write)
{
    kc_object_unref(write->object);
    kc__index_values_done(&write->values);
    free(write->uid);
    free(write);
}

static void overlay_forget(kc__overlay *own, kc__overlay_entry *write)
{
    kc_dlist_remove(&write->link);
    kc_map_remove(&own->by_key, overlay_text_of(write));
    write_free(write);
}

void kc__overlay_done(kc__overlay *own)
{
    kc_dlist_each (&own->ordered, kc__overlay_entry, link, write)
        overlay_forget(own, write);
    kc_map_done(&own->by_key);
}

static kc__overlay_entry *overlay_find(const kc__overlay *own, kc_key key)
{
    if (kc__overlay_empty(own))
        return NULL;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key);
    return kc_map_get(&own->by_key, kc_buf_str(&text));
}

/* ---- add ---- */

static kc__overlay_entry *write_new(const kc__overlay_entry_args *args, int64_t expires)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, args->key);
    kc__overlay_entry *write = kc_calloc(1, sizeof(*write) + text.n);
    char *key = (char *)(write + 1);
    memcpy(key, text.p, text.n);
    const size_t name_at = text.n - args->key.name.n;
    write->key =
        (kc_key){kc_str_of(key, args->key.ns.n), kc_str_of(key + name_at, args->key.name.n)};
    write->object = kc_object_ref(args->object);
    write->uid = args->uid.n ? kc_str_dup(args->uid) : NULL;
    write->revision = args->revision;
    write->last = args->last;
    write->expires = expires;
    write->without_effect = args->without_effect;
    if (args->values) {
        write->values = *args->values;
        *args->values = (kc__index_values){0};
    }
    return write;
}

/* Inserts before entries of a later revision. Writes arrive almost in order, so search from the
 * end. */
static void insert(kc__overlay *own, kc__overlay_entry *write)
{
    kc_dlist_link *after = own->ordered.head.prev;
    for (; write->revision && after != &own->ordered.head; after = after->prev) {
        const kc__overlay_entry *other = kc_container_of(after, kc__overlay_entry, link);
        if (other->revision && other->revision <= write->revision)
            break;
    }
    kc__dlist_insert_between(after, &write->link, after->next);
    kc_map_put(&own->by_key, overlay_text_of(write), write);
}

/* Two threads may write one after the other and report their writes in the opposite order. */
static bool is_outdated(const kc__overlay_entry *there, const kc__overlay_entry_args *args)
{
    if (args->revision)
        return there->revision > args->revision;
    /* The deletion of another object than the one that was written since. */
    return there->object && args->uid.n && !kc_str_eq(kc_object_uid(there->object), args->uid);
}

void kc__overlay_add(kc__overlay *own, const kc__overlay_entry_args *args, int64_t now)
{
    kc__overlay_entry *there = overlay_find(own, args->key);
    if (there && is_outdated(there, args))
        return;
    const int64_t expires =
        now + (args->without_effect ? KC_MIN(own->age, KC__OVERLAY_NO_EFFECT_LIFETIME) : own->age);
    kc__overlay_entry *write = write_new(args, expires);
    if (there) /* Only now: the arguments may point into it. */
        overlay_forget(own, there);
    insert(own, write);
    own->next_expiry = KC_MIN(own->next_expiry, expires);
}

/* ---- read ---- */

static bool same_uid(const kc__overlay_entry *write, const kc_object *object)
{
    return !write->uid || kc_str_is(kc_object_uid(object), write->uid);
}

/* The object was created after the deleted one. */
static bool is_successor(const kc__overlay_entry *write, const kc_object *object)
{
    return !same_uid(write, object) && kc_object_revision(object) > write->last;
}

/* Whether an object reflects the deletion of unknown revision. */
static bool shows_deletion(const kc__overlay_entry *write, const kc_object *object)
{
    return is_successor(write, object) ||
           (same_uid(write, object) && kc_object_being_deleted(object));
}

static bool is_newer(const kc__overlay_entry *write, const kc_object *object)
{
    return write->revision ? kc_object_revision(object) >= write->revision
                           : shows_deletion(write, object);
}

const kc_object *kc__overlay_entry_over(const kc__overlay_entry *write, const kc_object *kept)
{
    return kept && is_newer(write, kept) ? kept : write->object;
}

const kc_object *kc__overlay_lookup(const kc__overlay *own, kc_key key, const kc_object *kept)
{
    const kc__overlay_entry *write = overlay_find(own, key);
    return write ? kc__overlay_entry_over(write, kept) : kept;
}

/* ---- drop ---- */

void kc__overlay_observe(kc__overlay *own, const kc_object *object, bool deleted)
{
    kc__overlay_entry *write = overlay_find(own, kc_object_key(object));
    if (!write)
        return;
    const bool ended = deleted && !write->revision && same_uid(write, object);
    if (ended || is_newer(write, object))
        overlay_forget(own, write);
}

void kc__overlay_advance(kc__overlay *own, uint64_t revision)
{
    kc_dlist_each (&own->ordered, kc__overlay_entry, link, write) {
        if (!write->revision || write->revision > revision)
            break;
        overlay_forget(own, write);
    }
}

static void find_next_expiry(kc__overlay *own)
{
    own->next_expiry = KC_FOREVER;
    kc_dlist_each (&own->ordered, kc__overlay_entry, link, write)
        own->next_expiry = KC_MIN(own->next_expiry, write->expires);
}

static size_t expire(kc__overlay *own, kc__overlay_entry *write, kc_buf *ret_key)
{
    const bool matters = !write->without_effect;
    if (matters && ret_key && !ret_key->n)
        kc_key_write(ret_key, write->key);
    overlay_forget(own, write);
    return matters;
}

size_t kc__overlay_expire(kc__overlay *own, int64_t now, kc_buf *ret_key)
{
    size_t n = 0;
    while (own->by_key.n > KC__OVERLAY_MAX)
        n += expire(own, kc_container_of(kc_dlist_first(&own->ordered), kc__overlay_entry, link),
                    ret_key);
    if (now < own->next_expiry)
        return n;
    kc_dlist_each (&own->ordered, kc__overlay_entry, link, write)
        if (write->expires <= now)
            n += expire(own, write, ret_key);
    find_next_expiry(own);
    return n;
}
