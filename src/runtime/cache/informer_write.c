/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_write.c: records that a client of this program has written an object of the informer's
 * kind.
 *
 * The server's response is turned into what the informer would cache (transformed, or metadata
 * only; with managedFields if the informer shares the objects of a server in this process) and laid
 * over the cache store (overlay.h). An object that the informer's selectors exclude
 * is hidden instead: it will leave the store when the watch reaches its revision. A deletion that
 * finalizers defer is an ordinary change, and the client reports it as one. The transform and the
 * index functions run on the writer's thread here, before the lock is taken.
 */
#include "runtime/cache/informer_internal.h"

/* The same object as the server returns it in a metadata-only request. */
static kc_object *informer_wrote_metadata_of(const kc_object *object)
{
    kc_scoped(kc_buf) text = {0};
    kc_str metadata = kc_object_metadata_json(object);
    kc_buf_puts(&text, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                       "\"metadata\":");
    kc_buf_append(&text, metadata.n ? metadata : KC_STR("{}"));
    kc_buf_putc(&text, '}');
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

/* As kc__reflector_push does. */
static bool keeps_managed_fields(const kc_informer *i)
{
    return i->opts.transform == kc_transform_strip_managed_fields &&
           atomic_load_explicit(&i->shares_objects, memory_order_relaxed);
}

static kc_object *as_kept(const kc_informer *i, const kc_object *object)
{
    kc_object *kept =
        i->opts.metadata_only ? informer_wrote_metadata_of(object) : kc_object_ref(object);
    if (keeps_managed_fields(i))
        return kept;
    return kept ? i->opts.transform(kept, i->opts.transform_user) : NULL;
}

static void wrote_object(kc_informer *i, kc__informer_source *origin, const kc_object *object)
{
    const int64_t now = kc_clock_now(i->opts.clock);
    kc__overlay_entry_args write = {.key = kc_object_key(object),
                                    .revision = kc_object_revision(object)};
    kc_auto(kc_object) *kept = NULL;
    kc__index_values values = {0};
    if (!write.revision)
        return; /* Not a response of a server. */
    if (kc__cache_scope_has(&origin->scope, object)) {
        kept = as_kept(i, object);
        kc__cache_store_values(&i->store, kept, &values);
        write.object = kept;
        write.values = &values;
    }
    kc_locked (&i->mutex)
        if (origin->revision < write.revision)
            kc__overlay_add(&origin->own, &write, now);
    kc__index_values_done(&values);
}

/* The response to a deletion has no revision, so the hidden object is identified by its uid: that
 * of the response, or of the object seen here. If neither is known nothing is hidden: hiding any
 * object of that name would be wrong for a long time. The last known revision distinguishes
 * objects of the same name from before and after the deletion. */
static void hide(kc__informer_source *origin, const kc_object *object, const kc_object *seen,
                 int64_t now)
{
    kc__overlay_entry_args write = {.key = kc_object_key(object),
                                    .uid = kc_object_uid(object),
                                    .last = kc_object_revision(object),
                                    .without_effect = !seen};
    if (seen && !write.uid.n)
        write.uid = kc_object_uid(seen);
    if (seen && kc_str_eq(write.uid, kc_object_uid(seen)))
        write.last = KC_MAX(write.last, kc_object_revision(seen));
    if (write.uid.n)
        kc__overlay_add(&origin->own, &write, now);
}

static void wrote_deletion(kc_informer *i, kc__informer_source *origin, const kc_object *object)
{
    const kc_key key = kc_object_key(object);
    const int64_t now = kc_clock_now(i->opts.clock);
    kc_locked (&i->mutex)
        hide(origin, object,
             kc__overlay_lookup(&origin->own, key, kc__cache_store_get(&i->store, key)), now);
}

void kc__informer_note_write(kc_informer *i, const kc_object *object, bool deleted)
{
    kc__informer_source *origin = kc__informer_reflector_for(i, kc_object_namespace(object));
    if (!origin || !kc__informer_started(i))
        return;
    if (deleted)
        wrote_deletion(i, origin, object);
    else
        wrote_object(i, origin, object);
}
