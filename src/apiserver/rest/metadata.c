/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c: splicing metadata. The members stand in the order of the Go struct, because equal
 * objects must have equal bytes: that is how a write that changes nothing is recognised.
 */
#include "apiserver/rest/metadata.h"

#include "kc/edit.h"
#include "kc/json.h"

/* "{}" and "[]" stand for nothing. */
static kc_str unless_empty(kc_str json)
{
    return json.n > 2 ? json : (kc_str){0};
}

void kc__metadata_of(const kc_object *object, kc_arena *arena, kc__metadata *ret)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_object_metadata_json(object), NULL, NULL);
    const kc_value *root = kc_view_root(view);
    *ret = (kc__metadata){
        .name = kc_object_name(object),
        .generate_name = kc_arena_str(arena, kc_as_str(kc_get(root, "generateName"))),
        .ns = kc_object_namespace(object),
        .uid = kc_object_uid(object),
        .resource_version = kc_object_resource_version(object),
        .generation = kc_object_generation(object),
        .created = kc_object_creation_timestamp(object),
        .deleted = kc_object_deletion_timestamp(object),
        .labels = unless_empty(kc_object_labels_json(object)),
        .annotations = unless_empty(kc_object_annotations_json(object)),
        .owners = unless_empty(kc_object_owners_json(object)),
        .finalizers = unless_empty(kc_object_finalizers_json(object)),
    };
    ret->has_grace = kc_as_i64(kc_get(root, "deletionGracePeriodSeconds"), &ret->grace_seconds);
}

static void name_member(kc_buf *out, const char *name)
{
    if (out->p[out->n - 1] != '{')
        kc_buf_putc(out, ',');
    kc_buf_putc(out, '"');
    kc_buf_puts(out, name);
    kc_buf_puts(out, "\":");
}

static void text_member(kc_buf *out, const char *name, kc_str text)
{
    if (kc_str_empty(text))
        return;
    name_member(out, name);
    kc_json_quote(out, text);
}

static void json_member(kc_buf *out, const char *name, kc_str json)
{
    if (kc_str_empty(json))
        return;
    name_member(out, name);
    kc_buf_append(out, json);
}

static void number_member(kc_buf *out, const char *name, bool has, int64_t number)
{
    if (!has)
        return;
    name_member(out, name);
    kc_buf_printf(out, "%lld", (long long)number);
}

static void write(kc_buf *out, const kc__metadata *m)
{
    kc_buf_putc(out, '{');
    text_member(out, "name", m->name);
    text_member(out, "generateName", m->generate_name);
    text_member(out, "namespace", m->ns);
    text_member(out, "uid", m->uid);
    text_member(out, "resourceVersion", m->resource_version);
    number_member(out, "generation", m->generation != 0, m->generation);
    text_member(out, "creationTimestamp", m->created);
    text_member(out, "deletionTimestamp", m->deleted);
    number_member(out, "deletionGracePeriodSeconds", m->has_grace, m->grace_seconds);
    json_member(out, "labels", m->labels);
    json_member(out, "annotations", m->annotations);
    json_member(out, "ownerReferences", m->owners);
    json_member(out, "finalizers", m->finalizers);
    kc_buf_putc(out, '}');
}

/* Gives an object without metadata an empty one. */
static kc_object *with_some_metadata(const kc_object *object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"), kc_node_object(edit));
    return kc_edit_freeze(edit, err);
}

kc_object *kc__metadata_apply(const kc_object *object, const kc__metadata *metadata, kc_error *err)
{
    kc_auto(kc_object) *base = kc_object_ref(object);
    if (kc_str_empty(kc_object_metadata_json(base))) {
        kc_object_unref(kc_take(base));
        if (!(base = with_some_metadata(object, err)))
            return NULL;
    }
    kc_str all = kc_object_json(base), old = kc_object_metadata_json(base);
    size_t before = (size_t)(old.p - all.p);
    kc_scoped(kc_buf) out = {0};
    kc_buf_reserve(&out, all.n + 256);
    kc_buf_append(&out, kc_str_of(all.p, before));
    write(&out, metadata);
    kc_buf_append(&out, kc_str_sub(all, before + old.n, all.n));
    return kc_object_parse(kc_buf_str(&out), NULL, err);
}
