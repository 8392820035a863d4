/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.c: the requests of the collector to the server. Each carries the uid of its object as
 * a precondition, so that a new object with the same name is never touched, and the resourceVersion
 * where a decision depends on the state of the object.
 */
#include "gc/collector.h"

#include "kc/json.h"
#include "kc/view.h"

#include <inttypes.h>
#include <stdio.h>

static kc_key gc_operations_key_of(const kc_kind *kind, const kc__gc_identity *what)
{
    return (kc_key){kind->namespaced ? what->ns : (kc_str){0}, what->name};
}

kc_object *kc__gc_get(kc_context *ctx, const kc_kind *kind, const kc__gc_identity *what,
                      kc_error *err)
{
    return kc_client_get(ctx->client, kind, gc_operations_key_of(kind, what),
                         &(kc_get_opts){.metadata_only = true, .live = true}, err);
}

/* Gets the object from the server; NULL without an error if it is gone or another object has its
 * name. */
static kc_object *get_same(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                           kc_error *err)
{
    kc_object *object = kc__gc_get(ctx, kind, &item->id, err);
    if (!object)
        kc_ignore_not_found(err);
    else if (!kc_str_eq(kc_object_uid(object), item->id.uid))
        object = kc_object_unref(object);
    return object;
}

/* ---- deleting ---- */

static int delete_as(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                     const char *propagation, const char *version, kc_error *err)
{
    const kc_delete_opts opts = {.propagation = propagation,
                                 .uid = item->id.uid.p,
                                 .resource_version = version,
                                 .metadata_only = true};
    if (kc_client_delete(ctx->client, kind, gc_operations_key_of(kind, &item->id), &opts, err) == 0)
        return 0;
    return kc_ignore_not_found(err);
}

static bool is_ref(const kc__gc_ref *ref, const kc_owner *owner)
{
    kc_str version, kind;
    kc__gc_type_parts(ref->type, &version, &kind);
    return kc_str_eq(ref->uid, owner->uid) && kc_str_eq(ref->name, owner->name) &&
           kc_str_eq(version, owner->api_version) && kc_str_eq(kind, owner->kind) &&
           ref->blocks == owner->block_owner_deletion;
}

static bool has_same_owners(const kc_object *object, const kc__gc_item *item)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_owners(object, &arena);
    kc_owner owner;
    size_t n = 0;
    while (kc_meta_next_owner(&at, &owner))
        if (owner.uid.n && (n >= item->n_refs || !is_ref(&item->refs[n++], &owner)))
            return false;
    return n == item->n_refs;
}

/* The object has changed since. The decision was about its owners: if those are unchanged, the
 * delete is repeated without resourceVersion, so that frequent updates cannot prevent it. */
static int delete_changed(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                          const char *propagation, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *now = get_same(ctx, kind, item, &why);
    if (!now)
        return why.reason ? kc_error_move(err, &why) : 0;
    if (!has_same_owners(now, item))
        return kc_error_set(err, KC_CONFLICT, "ownerReferences changed");
    return delete_as(ctx, kind, item, propagation, NULL, err);
}

int kc__gc_delete(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                  const char *propagation, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    char version[24];
    if (!item->revision)
        return delete_changed(ctx, kind, item, propagation, err);
    snprintf(version, sizeof(version), "%" PRIu64, item->revision);
    if (delete_as(ctx, kind, item, propagation, version, &why) == 0)
        return 0;
    if (!kc_is_conflict(&why))
        return kc_error_move(err, &why);
    return delete_changed(ctx, kind, item, propagation, err);
}

/* ---- finalizers ---- */

static void write_finalizers(kc_buf *out, const kc_object *object, kc_str without)
{
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_finalizers(object, &arena);
    kc_str name;
    size_t n = 0;
    kc_buf_puts(out, "{\"metadata\":{\"resourceVersion\":");
    kc_json_quote(out, kc_object_resource_version(object));
    kc_buf_puts(out, ",\"finalizers\":[");
    while (kc_meta_next_text(&at, &name)) {
        if (kc_str_eq(name, without))
            continue;
        kc_buf_puts(out, n++ ? "," : "");
        kc_json_quote(out, name);
    }
    kc_buf_puts(out, "]}}");
}

int kc__gc_remove_finalizer(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                            kc_str finalizer, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *now = get_same(ctx, kind, item, &why);
    if (!now)
        return why.reason ? kc_error_move(err, &why) : 0;
    if (!kc_object_has_finalizer(now, finalizer))
        return 0;
    kc_scoped(kc_buf) patch = {0};
    write_finalizers(&patch, now, finalizer);
    kc_auto(kc_object) *after =
        kc_client_patch(ctx->client, kind, gc_operations_key_of(kind, &item->id), KC_PATCH_MERGE,
                        kc_buf_str(&patch), NULL, err);
    return after ? 0 : kc_ignore_not_found(err);
}

/* ---- owner references ---- */

/* The change of an object's owner references: removes those in `remove`, or, if that is NULL,
 * clears blockOwnerDeletion in all. */
typedef struct gc_operations_change {
    kc__gc *gc;
    const kc__gc_resource *resource;
    const kc__gc_item *item;
    const kc_map *remove;
} gc_operations_change;

/* The strategic merge key of ownerReferences is uid: each item changes or deletes one reference. */
static void write_strategic(const gc_operations_change *c, kc_buf *out)
{
    const char *comma = "";
    kc_buf_puts(out, "{\"metadata\":{\"uid\":");
    kc_json_quote(out, c->item->id.uid);
    kc_buf_puts(out, ",\"ownerReferences\":[");
    for (size_t i = 0; i < c->item->n_refs; i++) {
        const kc__gc_ref *ref = &c->item->refs[i];
        if (c->remove ? !kc_map_get(c->remove, ref->uid) : !ref->blocks)
            continue;
        kc_buf_printf(out, "%s{%s,\"uid\":", comma,
                      c->remove ? "\"$patch\":\"delete\"" : "\"blockOwnerDeletion\":false");
        kc_json_quote(out, ref->uid);
        kc_buf_putc(out, '}');
        comma = ",";
    }
    kc_buf_puts(out, "]}}");
}

/* The full list of references after the change, from the object's current state. */
static void write_merge(const gc_operations_change *c, const kc_object *now, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_of(now);
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *left = kc_node_array(edit);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "metadata.ownerReferences"), ref) {
        if (c->remove && kc_map_get(c->remove, kc_value_as_str(kc_value_get(ref, "uid"))))
            continue;
        kc_node *kept = kc_node_from_value(edit, ref);
        if (!c->remove && kc_value_as_bool(kc_value_get(ref, "blockOwnerDeletion"), false))
            kc_node_set(edit, kept, KC_STR("blockOwnerDeletion"), kc_node_bool(edit, false));
        kc_node_append(left, kept);
    }
    kc_edit_set_nested(edit, "metadata.resourceVersion",
                       kc_node_str(edit, kc_object_resource_version(now)));
    kc_edit_set_nested(edit, "metadata.ownerReferences",
                       kc_node_len(left) ? left : kc_node_null(edit));
    kc_node_write(out, kc_edit_root(edit));
}

static kc_object *patch_by_merge(kc_context *ctx, const gc_operations_change *c, kc_error *err)
{
    const kc_kind *kind = c->resource->kind;
    kc_auto(kc_object) *now = get_same(ctx, kind, c->item, err);
    if (!now)
        return NULL;
    kc_scoped(kc_buf) patch = {0};
    write_merge(c, now, &patch);
    return kc_client_patch(ctx->client, kind, gc_operations_key_of(kind, &c->item->id),
                           KC_PATCH_MERGE, kc_buf_str(&patch), NULL, err);
}

/* Custom resources refuse strategic merge patches; the first refusal is remembered for the kind.
 * Returns the patched object; NULL without an error if it is gone. */
static kc_object *patch_refs(kc_context *ctx, const gc_operations_change *c, kc_error *err)
{
    const kc_kind *kind = c->resource->kind;
    kc_object *after = NULL;
    if (!c->resource->merges_only) {
        kc_scoped(kc_buf) patch = {0};
        write_strategic(c, &patch);
        after = kc_client_patch(ctx->client, kind, gc_operations_key_of(kind, &c->item->id),
                                KC_PATCH_STRATEGIC, kc_buf_str(&patch), NULL, err);
        if (after || !kc_error_has_reason(err, KC_UNSUPPORTED_MEDIA_TYPE))
            return after;
        kc_error_done(err);
        kc__gc_note_merges_only(c->gc, c->item->id.type);
    }
    return patch_by_merge(ctx, c, err);
}

int kc__gc_remove_refs(kc_context *ctx, const kc__gc_resource *resource, const kc__gc_item *item,
                       const kc_map *uids, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const gc_operations_change c = {ctx->user, resource, item, uids};
    kc_auto(kc_object) *after = patch_refs(ctx, &c, &why);
    return after || !why.reason || kc_ignore_not_found(&why) == 0 ? 0 : kc_error_move(err, &why);
}

int kc__gc_unblock(kc_context *ctx, const kc__gc_resource *resource, kc__gc_item *item,
                   kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const gc_operations_change c = {ctx->user, resource, item, NULL};
    kc_auto(kc_object) *after = patch_refs(ctx, &c, &why);
    if (!after)
        return why.reason && kc_ignore_not_found(&why) < 0 ? kc_error_move(err, &why) : 0;
    item->revision = kc_object_revision(after);
    for (size_t i = 0; i < item->n_refs; i++)
        item->refs[i].blocks = false;
    return 0;
}
