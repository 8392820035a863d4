/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_writes.c: reading one's own writes.
 *
 * A controller that has just written reads again, long before its watch brings the news. Shown the
 * old state it would act on it: create twice, count wrong. So the server's answer to a write is
 * laid over the store, for the key it is of, until the watch has passed its revision: then the
 * store shows this write or something newer, and the overlay goes. Three kinds:
 *
 *   an object           over whatever is older;
 *   gone at a revision  the object was changed so that the informer's selectors leave it out: the
 *                       watch will say so, at that revision at the latest;
 *   gone, sometime      a deletion, whose answer does not say the revision. It hides that object
 *                       (by its uid) for as long as it does not show signs of deletion itself:
 *                       with finalizers it stays, with a deletionTimestamp, and is to be seen. It
 *                       ends when the watch shows the deletion, or another object by that name.
 *
 * In the usual case there are none or a few, in the order of revisions, and a watch event drops
 * those at the front: no event looks at all of them. If a watch never gets there, an overlay must
 * not lie for ever: it expires, which is longer than a stalled watch takes to be noticed and made
 * anew; and there are at most KC__OWN_WRITES_MAX, of which the oldest goes first.
 */
#include "runtime/own_writes.h"

#include "kc/meta.h"

#include <assert.h>

void kc__own_writes_init(kc__own_writes *own, int64_t age)
{
    *own = (kc__own_writes){.age = age, .next_expiry = KC_FOREVER};
    kc_list_init(&own->ordered);
}

static kc_str text_of(const kc__own_write *write)
{
    /* The namespace, a slash unless it is empty, and the name stand one behind the other. */
    return write->key.ns.n ? kc_str_of(write->key.ns.p, write->key.ns.n + 1 + write->key.name.n)
                           : write->key.name;
}

static void write_free(kc__own_write *write)
{
    kc_object_unref(write->object);
    kc__index_values_done(&write->values);
    free(write->uid);
    free(write);
}

static void forget(kc__own_writes *own, kc__own_write *write)
{
    kc_list_remove(&write->link);
    kc_map_remove(&own->by_key, text_of(write));
    write_free(write);
}

void kc__own_writes_done(kc__own_writes *own)
{
    kc_list_each (&own->ordered, kc__own_write, link, write)
        forget(own, write);
    kc_map_done(&own->by_key);
}

static kc__own_write *find(const kc__own_writes *own, kc_key key)
{
    if (kc__own_writes_empty(own))
        return NULL;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key);
    return kc_map_get(&own->by_key, kc_buf_str(&text));
}

const kc__own_write *kc__own_writes_find(const kc__own_writes *own, kc_key key)
{
    return find(own, key);
}

/* ---- adding ---- */

static kc__own_write *write_new(const kc__own_write_args *args, int64_t expires)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, args->key);
    kc__own_write *write = kc_calloc(1, sizeof(*write) + text.n);
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
    write->moot = args->moot;
    if (args->values) {
        write->values = *args->values;
        *args->values = (kc__values){0};
    }
    return write;
}

/* Before those of a later revision. Writes come almost in order, so from behind. */
static void insert(kc__own_writes *own, kc__own_write *write)
{
    kc_link *after = own->ordered.head.prev;
    for (; write->revision && after != &own->ordered.head; after = after->prev) {
        const kc__own_write *other = kc_container_of(after, kc__own_write, link);
        if (other->revision && other->revision <= write->revision)
            break;
    }
    kc__list_between(after, &write->link, after->next);
    kc_map_put(&own->by_key, text_of(write), write);
}

/* Two threads may have written one after the other and tell us the other way round. */
static bool is_outdated(const kc__own_write *there, const kc__own_write_args *args)
{
    if (args->revision)
        return there->revision > args->revision;
    /* A deletion, of another object than the one that was written since. */
    return there->object && args->uid.n && !kc_str_eq(kc_object_uid(there->object), args->uid);
}

void kc__own_writes_add(kc__own_writes *own, const kc__own_write_args *args, int64_t now)
{
    kc__own_write *there = find(own, args->key);
    if (there && is_outdated(there, args))
        return;
    const int64_t expires = now + (args->moot ? KC_MIN(own->age, KC__OWN_WRITES_MOOT) : own->age);
    kc__own_write *write = write_new(args, expires);
    if (there) /* Only now: what was given may be part of it. */
        forget(own, there);
    insert(own, write);
    own->next_expiry = KC_MIN(own->next_expiry, expires);
}

/* ---- reading ---- */

static bool same_uid(const kc__own_write *write, const kc_object *object)
{
    return !write->uid || kc_str_is(kc_object_uid(object), write->uid);
}

/* It is not what was deleted but came after it. */
static bool is_successor(const kc__own_write *write, const kc_object *object)
{
    return !same_uid(write, object) && kc_object_revision(object) > write->last;
}

/* Whether an object shows that the deletion of unknown revision has come to it. */
static bool shows_deletion(const kc__own_write *write, const kc_object *object)
{
    return is_successor(write, object) ||
           (same_uid(write, object) && kc_object_being_deleted(object));
}

static bool is_newer(const kc__own_write *write, const kc_object *object)
{
    return write->revision ? kc_object_revision(object) >= write->revision
                           : shows_deletion(write, object);
}

const kc_object *kc__own_write_over(const kc__own_write *write, const kc_object *kept)
{
    return kept && is_newer(write, kept) ? kept : write->object;
}

const kc_object *kc__own_writes_over(const kc__own_writes *own, kc_key key, const kc_object *kept)
{
    const kc__own_write *write = find(own, key);
    return write ? kc__own_write_over(write, kept) : kept;
}

/* ---- forgetting ---- */

void kc__own_writes_saw(kc__own_writes *own, const kc_object *object, bool deleted)
{
    kc__own_write *write = find(own, kc_object_key(object));
    if (!write)
        return;
    const bool ended = deleted && !write->revision && same_uid(write, object);
    if (ended || is_newer(write, object))
        forget(own, write);
}

void kc__own_writes_reached(kc__own_writes *own, uint64_t revision)
{
    kc_list_each (&own->ordered, kc__own_write, link, write) {
        if (!write->revision || write->revision > revision)
            break;
        forget(own, write);
    }
}

static void find_next_expiry(kc__own_writes *own)
{
    own->next_expiry = KC_FOREVER;
    kc_list_each (&own->ordered, kc__own_write, link, write)
        own->next_expiry = KC_MIN(own->next_expiry, write->expires);
}

static size_t expire(kc__own_writes *own, kc__own_write *write, kc_buf *ret_key)
{
    const bool matters = !write->moot;
    if (matters && ret_key && !ret_key->n)
        kc_key_write(ret_key, write->key);
    forget(own, write);
    return matters;
}

size_t kc__own_writes_expire(kc__own_writes *own, int64_t now, kc_buf *ret_key)
{
    size_t n = 0;
    while (own->by_key.n > KC__OWN_WRITES_MAX)
        n += expire(own, kc_container_of(kc_list_first(&own->ordered), kc__own_write, link),
                    ret_key);
    if (now < own->next_expiry)
        return n;
    kc_list_each (&own->ordered, kc__own_write, link, write)
        if (write->expires <= now)
            n += expire(own, write, ret_key);
    find_next_expiry(own);
    return n;
}
