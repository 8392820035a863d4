/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c: reads and writes metadata, in bytes and in trees. In bytes the members are in the
 * order of the Go struct, because equal objects must have equal bytes: this is how a write that
 * changes nothing is recognised. In a tree the order does not matter: freezing a draft type-checks
 * it and orders its members.
 */
#include "apiserver/call/metadata.h"

#include "kc/edit.h"
#include "kc/json.h"
#include "kc/number.h"
#include "object/json/json_cursor.h"

/* "{}" and "[]" are omitted, as by Go. */
static kc_str unless_empty(kc_str json)
{
    return json.n > 2 ? json : (kc_str){0};
}

/* Reads the members that an object does not index. */
static void read_rare_members(kc__json_cursor at, kc_arena *arena, kc__rest_metadata *ret)
{
    kc_str name, value;
    while (kc__json_cursor_member(&at, &name, &value)) {
        if (kc_str_is(name, "generateName"))
            ret->generate_name = kc__json_unescape(arena, kc__json_raw_inside(value));
        else if (kc_str_is(name, "creationTimestamp"))
            ret->created = kc__json_raw_inside(value);
        else if (kc_str_is(name, "deletionGracePeriodSeconds"))
            ret->has_grace = kc_str_to_i64(value, &ret->grace_seconds);
    }
}

/* Reads the members around managedFields, which may be long, in one pass over the text. */
static void read_around_managed_fields(kc_str metadata, kc_str managed, kc_arena *arena,
                                       kc__rest_metadata *ret)
{
    kc__json_cursor all = kc__json_cursor_of(metadata), before = all;
    if (managed.n) {
        const char *name = managed.p - strlen("\"managedFields\":"), *end = managed.p + managed.n;
        before.end = name;
        read_rare_members((kc__json_cursor){KC_MIN(end + 1, all.end), all.end}, arena, ret);
    }
    read_rare_members(before, arena, ret);
}

void kc__rest_metadata_of(const kc_object *object, kc_arena *arena, kc__rest_metadata *ret)
{
    const kc_str managed = kc_object_managed_fields_json(object);
    *ret = (kc__rest_metadata){
        .name = kc_object_name(object),
        .ns = kc_object_namespace(object),
        .uid = kc_object_uid(object),
        .resource_version = kc_object_resource_version(object),
        .generation = kc_object_generation(object),
        .deleted = kc_object_deletion_timestamp(object),
        .labels = unless_empty(kc_object_labels_json(object)),
        .annotations = unless_empty(kc_object_annotations_json(object)),
        .owners = unless_empty(kc_object_owners_json(object)),
        .finalizers = unless_empty(kc_object_finalizers_json(object)),
        .managed_fields = unless_empty(managed),
    };
    read_around_managed_fields(kc_object_metadata_json(object), managed, arena, ret);
}

static void name_member(kc_buf *out, const char *name)
{
    if (out->p[out->n - 1] != '{')
        kc_buf_putc(out, ',');
    kc_buf_putc(out, '"');
    kc_buf_puts(out, name);
    kc_buf_puts(out, "\":");
}

static void append_metadata_text(kc_buf *out, const char *name, kc_str text)
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
    kc_i64_write(out, number);
}

/* Without managedFields. */
static void write_metadata(kc_buf *out, const kc__rest_metadata *m)
{
    kc_buf_putc(out, '{');
    append_metadata_text(out, "name", m->name);
    append_metadata_text(out, "generateName", m->generate_name);
    append_metadata_text(out, "namespace", m->ns);
    append_metadata_text(out, "uid", m->uid);
    append_metadata_text(out, "resourceVersion", m->resource_version);
    number_member(out, "generation", m->generation != 0, m->generation);
    append_metadata_text(out, "creationTimestamp", m->created);
    append_metadata_text(out, "deletionTimestamp", m->deleted);
    number_member(out, "deletionGracePeriodSeconds", m->has_grace, m->grace_seconds);
    json_member(out, "labels", m->labels);
    json_member(out, "annotations", m->annotations);
    json_member(out, "ownerReferences", m->owners);
    json_member(out, "finalizers", m->finalizers);
    kc_buf_putc(out, '}');
}

/* Adds empty metadata to an object that has none. */
static int ensure_metadata(kc__draft *draft, kc_error *err)
{
    if (!kc_str_empty(kc_object_metadata_json(draft->object)))
        return 0;
    kc_auto(kc_edit) *edit = kc_edit_of(draft->object);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"), kc_node_object(edit));
    kc_object *with = kc_edit_freeze(edit, err);
    if (!with)
        return kc_error_result(err);
    kc__draft_give(draft, with);
    return 0;
}

static int set_in_bytes(kc__draft *draft, const kc__rest_metadata *metadata, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    int failed = ensure_metadata(draft, err);
    if (failed < 0)
        return failed;
    kc_buf_reserve(&text, kc_object_metadata_json(draft->object).n + 256);
    write_metadata(&text, metadata);
    return kc__draft_set_metadata(draft, kc_buf_str(&text), metadata->managed_fields, err);
}

kc_object *kc__rest_metadata_apply(const kc_object *object, const kc__rest_metadata *metadata,
                                   kc_error *err)
{
    kc__draft draft = {0};
    kc__draft_set(&draft, object);
    kc_object *with = set_in_bytes(&draft, metadata, err) < 0 ? NULL : kc_take(draft.object);
    kc__draft_clear(&draft);
    return with;
}

/* ---- in a tree ---- */

static kc_str read_text(const kc_node *metadata, const char *name, kc_arena *arena)
{
    kc_str text = kc_node_as_str(kc_node_get(metadata, kc_cstr(name)));
    return kc_str_empty(text) ? (kc_str){0} : kc_arena_str(arena, text);
}

static kc_str read_json(const kc_node *metadata, const char *name, kc_arena *arena)
{
    const kc_node *node = kc_node_get(metadata, kc_cstr(name));
    if (!kc_node_len(node))
        return (kc_str){0};
    kc_scoped(kc_buf) json = {0};
    kc_node_write(&json, node);
    return kc_arena_str(arena, kc_buf_str(&json));
}

static void read_tree(const kc_node *metadata, kc_arena *arena, kc__rest_metadata *ret)
{
    *ret = (kc__rest_metadata){
        .name = read_text(metadata, "name", arena),
        .generate_name = read_text(metadata, "generateName", arena),
        .ns = read_text(metadata, "namespace", arena),
        .uid = read_text(metadata, "uid", arena),
        .resource_version = read_text(metadata, "resourceVersion", arena),
        .created = read_text(metadata, "creationTimestamp", arena),
        .deleted = read_text(metadata, "deletionTimestamp", arena),
        .owners = read_json(metadata, "ownerReferences", arena),
        .finalizers = read_json(metadata, "finalizers", arena),
    };
    kc_node_as_i64(kc_node_get(metadata, KC_STR("generation")), &ret->generation);
    ret->has_grace = kc_node_as_i64(kc_node_get(metadata, KC_STR("deletionGracePeriodSeconds")),
                                    &ret->grace_seconds);
}

void kc__rest_metadata_of_draft(const kc__draft *draft, kc_arena *arena, kc__rest_metadata *ret)
{
    if (kc__draft_is_open(draft))
        read_tree(kc_node_get(kc_edit_root(draft->edit), KC_STR("metadata")), arena, ret);
    else
        kc__rest_metadata_of(draft->object, arena, ret);
}

static void set_text(kc_edit *edit, kc_node *metadata, const char *name, kc_str text)
{
    const kc_node *now = kc_node_get(metadata, kc_cstr(name));
    if (kc_str_empty(text) && now)
        kc_node_remove(metadata, kc_cstr(name));
    else if (!kc_str_empty(text) && !kc_str_eq(kc_node_as_str(now), text))
        kc_node_set(edit, metadata, kc_cstr(name), kc_node_str(edit, text));
}

static void set_number(kc_edit *edit, kc_node *metadata, const char *name, bool has, int64_t number)
{
    if (has)
        kc_node_set(edit, metadata, kc_cstr(name), kc_node_i64(edit, number));
    else
        kc_node_remove(metadata, kc_cstr(name));
}

static void set_json(kc_edit *edit, kc_node *metadata, const char *name, kc_str json)
{
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    kc_node_set(edit, metadata, kc_cstr(name), kc_node_from_value(edit, kc_view_root(view)));
}

static void write_tree(kc_edit *edit, const kc__rest_metadata *m)
{
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    set_text(edit, metadata, "name", m->name);
    set_text(edit, metadata, "generateName", m->generate_name);
    set_text(edit, metadata, "namespace", m->ns);
    set_text(edit, metadata, "uid", m->uid);
    set_text(edit, metadata, "resourceVersion", m->resource_version);
    set_number(edit, metadata, "generation", m->generation != 0, m->generation);
    set_text(edit, metadata, "creationTimestamp", m->created);
    set_text(edit, metadata, "deletionTimestamp", m->deleted);
    set_number(edit, metadata, "deletionGracePeriodSeconds", m->has_grace, m->grace_seconds);
    kc_node_remove(metadata, KC_STR("selfLink"));
    if (m->owners_changed)
        set_json(edit, metadata, "ownerReferences", m->owners);
}

int kc__rest_metadata_to_draft(kc__draft *draft, const kc__rest_metadata *metadata, kc_error *err)
{
    if (kc__draft_is_open(draft)) {
        write_tree(draft->edit, metadata);
        return 0;
    }
    return set_in_bytes(draft, metadata, err);
}
