/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c: parses texts into objects, in order. Lists are expanded: as in kubectl, every object with
 * an array `items` is a list. Objects without a kind, apiVersion or name are rejected here, before
 * any request is sent. Each object keeps the line of its document, for errors; the items of a list
 * have the line of the list.
 */
#include "client/apply/apply_internal.h"

#include "kc/kinds.h"
#include "kc/yaml.h"

void kc__apply_items_done(kc__apply_items *items)
{
    kc_vec_each (items, item)
        kc_object_unref(item->object);
    kc_vec_done(items);
}

int kc__apply_error_add_source(kc_error *err, const char *source, size_t line)
{
    if (line)
        kc_error_wrap(err, "line %zu", line);
    return source ? kc_error_wrap(err, "%s", source) : kc_error_result(err);
}

typedef struct apply_read_reader {
    kc__apply_items *items;
    const char *source;
    size_t document, line;
    kc_error *err;
} apply_read_reader;

static bool apply_read_is_kind(kc_gvk gvk, const kc_kind *kind)
{
    return kc_str_is(gvk.group, kind->group ? kind->group : "") && kc_str_is(gvk.kind, kind->kind);
}

kc__apply_pass kc__apply_pass_of(kc_gvk gvk)
{
    return apply_read_is_kind(gvk, &kc_kind_custom_resource_definition) ? KC__APPLY_DEFINITIONS
           : apply_read_is_kind(gvk, &kc_kind_namespace)                ? KC__APPLY_NAMESPACES
                                                                        : KC__APPLY_OTHERS;
}

static int apply_read_check_object(const kc_object *object, kc_error *err)
{
    const char *missing = !kc_object_api_version(object).n ? "apiVersion"
                          : !kc_object_kind(object).n      ? "kind"
                          : !kc_object_name(object).n      ? "metadata.name"
                                                           : NULL;
    return missing ? kc_error_set(err, KC_BAD_REQUEST, "the object has no %s", missing) : 0;
}

static int add_object(const apply_read_reader *r, const kc_value *value)
{
    kc_scoped(kc_buf) json = {0};
    kc_json_write(&json, value);
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&json), NULL, r->err);
    if (!object || apply_read_check_object(object, r->err) < 0)
        return kc_error_result(r->err);
    if (r->items->n >= KC_APPLY_MAX_OBJECTS)
        return kc_error_set(r->err, KC_TOO_LARGE, "more than %u objects", KC_APPLY_MAX_OBJECTS);
    const kc__apply_pass turn = kc__apply_pass_of(kc_object_gvk(object));
    kc_vec_push(r->items, (kc__apply_item){kc_take(object), r->source, r->document, r->line, turn});
    return 0;
}

/* Lists may contain lists; the JSON depth limit bounds the recursion. */
static int add_value(const apply_read_reader *r, const kc_value *value)
{
    if (kc_value_type(value) != KC_JSON_OBJECT)
        return kc_error_set(r->err, KC_BAD_REQUEST, "expected an object, got %s",
                            kc_json_type_name(kc_value_type(value)));
    const kc_value *items = kc_value_get(value, "items");
    if (kc_value_type(items) != KC_JSON_ARRAY)
        return add_object(r, value);
    kc_value_each_item (items, item)
        if (add_value(r, item) < 0)
            return kc_error_result(r->err);
    return 0;
}

static int add_document(kc_view *document, size_t line, void *user)
{
    apply_read_reader *r = user;
    kc_auto(kc_view) *view = document;
    r->document++;
    r->line = line;
    return add_value(r, kc_view_root(view)) < 0 ? kc__apply_error_add_source(r->err, NULL, line)
                                                : 0;
}

int kc__apply_read(kc__apply_items *items, const kc_apply_source *source, kc_error *err)
{
    apply_read_reader r = {.items = items, .source = source->name, .err = err};
    if (source->text.n > KC_APPLY_MAX_TEXT)
        kc_error_set(err, KC_TOO_LARGE, "more than %zu bytes", KC_APPLY_MAX_TEXT);
    else if (kc_yaml_each_line(source->text, NULL, add_document, &r, err) >= 0)
        return 0;
    return kc__apply_error_add_source(err, source->name, 0);
}
