/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_read.c: texts to the objects they hold, in order, lists taken apart: whatever has an array
 * `items` is a list, as kubectl sees it. What cannot be an object at a server (no kind, no
 * apiVersion, no name) is refused here, before anything is sent.
 */
#include "client/apply_internal.h"

#include "kc/kinds.h"
#include "kc/yaml.h"

void kc__apply_items_done(kc__apply_items *items)
{
    kc_vec_each (items, item)
        kc_object_unref(item->object);
    kc_vec_done(items);
}

int kc__apply_where(kc_error *err, const char *source, size_t document)
{
    if (document)
        kc_error_wrap(err, "document %zu", document);
    return source ? kc_error_wrap(err, "%s", source) : -1;
}

typedef struct reader {
    kc__apply_items *items;
    const char *source;
    size_t document;
    kc_error *err;
} reader;

static bool is_kind(kc_gvk gvk, const kc_kind *kind)
{
    return kc_str_is(gvk.group, kind->group ? kind->group : "") && kc_str_is(gvk.kind, kind->kind);
}

static kc__apply_turn turn_of(kc_gvk gvk)
{
    return is_kind(gvk, &kc_kind_custom_resource_definition) ? KC__APPLY_DEFINITIONS
           : is_kind(gvk, &kc_kind_namespace)                ? KC__APPLY_NAMESPACES
                                                             : KC__APPLY_OTHERS;
}

static int check_object(const kc_object *object, kc_error *err)
{
    const char *missing = !kc_object_api_version(object).n ? "apiVersion"
                          : !kc_object_kind(object).n      ? "kind"
                          : !kc_object_name(object).n      ? "metadata.name"
                                                           : NULL;
    return missing ? kc_error_set(err, KC_BAD_REQUEST, "the object has no %s", missing) : 0;
}

static int add_object(const reader *r, const kc_value *value)
{
    kc_scoped(kc_buf) json = {0};
    kc_json_write(&json, value);
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&json), NULL, r->err);
    if (!object || check_object(object, r->err) < 0)
        return -1;
    if (r->items->n >= KC_APPLY_MAX_OBJECTS)
        return kc_error_set(r->err, KC_TOO_LARGE, "there are more than %u objects",
                            KC_APPLY_MAX_OBJECTS);
    const kc__apply_turn turn = turn_of(kc_object_gvk(object));
    kc_vec_push(r->items, (kc__apply_item){kc_take(object), r->source, r->document, turn});
    return 0;
}

/* Lists may hold lists; how deep is limited by the depth of JSON. */
static int add_value(const reader *r, const kc_value *value)
{
    if (kc_type_of(value) != KC_OBJECT)
        return kc_error_set(r->err, KC_BAD_REQUEST, "not an object but of the type %s",
                            kc_type_name(kc_type_of(value)));
    const kc_value *items = kc_get(value, "items");
    if (kc_type_of(items) != KC_ARRAY)
        return add_object(r, value);
    kc_items (items, item)
        if (add_value(r, item) < 0)
            return -1;
    return 0;
}

static int add_document(kc_view *document, void *user)
{
    reader *r = user;
    kc_auto(kc_view) *view = document;
    r->document++;
    return add_value(r, kc_view_root(view)) < 0 ? kc__apply_where(r->err, NULL, r->document) : 0;
}

int kc__apply_read(kc__apply_items *items, const kc_apply_source *source, kc_error *err)
{
    reader r = {.items = items, .source = source->name, .err = err};
    if (source->text.n > KC_APPLY_MAX_TEXT)
        kc_error_set(err, KC_TOO_LARGE, "more than %zu bytes", KC_APPLY_MAX_TEXT);
    else if (kc_yaml_each(source->text, NULL, add_document, &r, err) >= 0)
        return 0;
    return kc__apply_where(err, source->name, 0);
}
