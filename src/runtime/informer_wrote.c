/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_wrote.c: a client of this program has written an object of the informer's kind.
 *
 * What the server answered is made into what the informer would keep of it (transformed; metadata
 * alone) and laid over the store (own_writes.h). An object that the informer's selectors leave out
 * is hidden instead: it will leave the store when the watch gets there. A deletion that finalizers
 * put off is a change like any other: the client tells it as one. The transform and the functions
 * of indexes run on the thread of the writer here, before the lock is taken.
 */
#include "runtime/informer_internal.h"

/* The same object as the server would give it to who asks for metadata alone. */
static kc_object *metadata_of(const kc_object *object)
{
    kc_scoped(kc_buf) text = {0};
    kc_str metadata = kc_object_metadata_json(object);
    kc_buf_puts(&text, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                       "\"metadata\":");
    kc_buf_append(&text, metadata.n ? metadata : KC_STR("{}"));
    kc_buf_putc(&text, '}');
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

static kc_object *as_kept(const kc_informer *i, const kc_object *object)
{
    kc_object *kept = i->opts.metadata_only ? metadata_of(object) : kc_object_ref(object);
    return kept ? i->opts.transform(kept, i->opts.transform_user) : NULL;
}

static void wrote_object(kc_informer *i, kc__origin *origin, const kc_object *object)
{
    const int64_t now = kc_clock_now(i->opts.clock);
    kc__own_write_args write = {.key = kc_object_key(object),
                                .revision = kc_object_revision(object)};
    kc_auto(kc_object) *kept = NULL;
    kc__values values = {0};
    if (!write.revision)
        return; /* Not an answer of a server. */
    if (kc__scope_has(&origin->scope, object)) {
        kept = as_kept(i, object);
        kc__store_values(&i->store, kept, &values);
        write.object = kept;
        write.values = &values;
    }
    kc_locked (&i->mutex)
        if (origin->revision < write.revision)
            kc__own_writes_add(&origin->own, &write, now);
    kc__index_values_done(&values);
}

/*
 * The answer to a deletion does not say its revision, so what is hidden is told by its uid: from
 * the answer, or of what is seen here. When neither is known there is nothing to hide, and hiding
 * whatever comes under that name would be wrong for long. The last revision known tells objects of
 * the same name apart that came before and after it.
 */
static void hide(kc__origin *origin, const kc_object *object, const kc_object *seen, int64_t now)
{
    kc__own_write_args write = {.key = kc_object_key(object),
                                .uid = kc_object_uid(object),
                                .last = kc_object_revision(object),
                                .moot = !seen};
    if (seen && !write.uid.n)
        write.uid = kc_object_uid(seen);
    if (seen && kc_str_eq(write.uid, kc_object_uid(seen)))
        write.last = KC_MAX(write.last, kc_object_revision(seen));
    if (write.uid.n)
        kc__own_writes_add(&origin->own, &write, now);
}

static void wrote_deletion(kc_informer *i, kc__origin *origin, const kc_object *object)
{
    const kc_key key = kc_object_key(object);
    const int64_t now = kc_clock_now(i->opts.clock);
    kc_locked (&i->mutex)
        hide(origin, object, kc__own_writes_over(&origin->own, key, kc__store_get(&i->store, key)),
             now);
}

void kc__informer_wrote(kc_informer *i, const kc_object *object, bool deleted)
{
    kc__origin *origin = kc__informer_origin(i, kc_object_namespace(object));
    if (!origin || !kc__informer_started(i))
        return;
    if (deleted)
        wrote_deletion(i, origin, object);
    else
        wrote_object(i, origin, object);
}
