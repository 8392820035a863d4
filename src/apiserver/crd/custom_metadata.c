/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_metadata.c: metadata of custom objects, and of objects embedded in them
 * (x-kubernetes-embedded-resource).
 *
 * Every other part of a custom object has the type that its schema defines; metadata is always an
 * ObjectMeta. Kubernetes decodes it into that struct and encodes it again, and so does this file,
 * with the decoder of built-in kinds. The decoder reads the metadata of a body where they are in
 * the text of the body, and nearly always finds nothing to change.
 */
#include "apiserver/codec/typed.h"
#include "apiserver/crd/custom_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "kc/ascii.h"
#include "kc/kind.h"
#include "kc/metadata_validation.h"
#include "object/model/canonical.h"

static void add_prefixed(kc_paths *to, const char *prefix, const kc_paths *from)
{
    for (size_t i = 0; i < from->n && to->n < KC__TYPED_MAX_STRICT_ERRORS; i++)
        kc_vec_push(to, kc_asprintf("%s.%s", prefix, from->items[i]));
}

int kc__custom_metadata_text(kc_str metadata, const char *prefix, kc_paths *unknown, kc_buf *out,
                             kc_str *ret, kc_error *err)
{
    kc_scoped(kc_paths) found = {0};
    const int failed = kc__typed_decode_text(kc__crd_object_meta_type, metadata,
                                             unknown ? &found : NULL, out, ret, err);
    if (failed == 0 && unknown)
        add_prefixed(unknown, prefix, &found);
    return failed;
}

kc_object *kc__custom_metadata(const kc_value *metadata, const char *prefix, kc_paths *unknown,
                               kc_error *err)
{
    kc_json_type type = kc_value_type(metadata);
    if (type != KC_JSON_OBJECT && type != KC_JSON_NULL) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
                     type == KC_JSON_INT || type == KC_JSON_FLOAT ? "number"
                     : type == KC_JSON_BOOL                       ? "bool"
                                                                  : kc_json_type_name(type));
        return NULL;
    }
    kc_scoped(kc_buf) text = {0}, out = {0};
    kc_str typed;
    if (type == KC_JSON_NULL)
        kc_buf_puts(&text, "{}");
    else
        kc_json_write(&text, metadata);
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&text), NULL, err);
    if (!object ||
        kc__custom_metadata_text(kc_object_json(object), prefix, unknown, &out, &typed, err) < 0)
        return NULL;
    return typed.p == out.p ? kc__object_of_canonical(typed, err) : kc_take(object);
}

/* ---- embedded resources ---- */

/* A walk over a tree and its schema; `path` is the current position. */
typedef struct coercion {
    kc_edit *edit;
    kc_paths *unknown;
    kc_buf path;
    kc_error *err;
} coercion;

static int coerce(coercion *c, const kc_schema *schema, kc_node *node);

static int coerce_metadata(coercion *c, kc_node *resource)
{
    kc_node *node = kc_node_get(resource, KC_STR("metadata"));
    if (kc_node_type(node) == KC_JSON_ABSENT)
        return 0;
    kc_scoped(kc_buf) text = {0}, prefix = {0};
    kc_node_write(&text, node);
    kc_buf_printf(&prefix, "%s.metadata", kc_buf_cstr(&c->path));
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, c->err);
    kc_auto(kc_object) *typed =
        view ? kc__custom_metadata(kc_view_root(view), kc_buf_cstr(&prefix), c->unknown, c->err)
             : NULL;
    if (!typed)
        return kc_error_wrap(c->err, "%s: Invalid value: %s", kc_buf_cstr(&prefix),
                             kc_buf_cstr(&text));
    kc_auto(kc_view) *now = kc_view_of(typed);
    kc_node_set(c->edit, resource, KC_STR("metadata"),
                kc_node_from_value(c->edit, kc_view_root(now)));
    return 0;
}

static int coerce_word(coercion *c, const kc_node *resource, const char *member)
{
    const kc_node *node = kc_node_get(resource, kc_cstr(member));
    if (kc_node_type(node) == KC_JSON_ABSENT || kc_node_type(node) == KC_JSON_STRING)
        return 0;
    kc_scoped(kc_buf) text = {0};
    kc_node_write(&text, node);
    return kc_error_set(c->err, KC_BAD_REQUEST, "%s.%s: Invalid value: %s: must be a string",
                        kc_buf_cstr(&c->path), member, kc_buf_cstr(&text));
}

static int coerce_members(coercion *c, const kc_schema *schema, kc_node *object)
{
    kc_node_each_member (object, name, child) {
        const kc_schema *property = kc_schema_property(schema, name);
        const kc_schema *inside = property ? property : kc_schema_additional(schema);
        size_t before = c->path.n;
        if (!inside)
            continue;
        if (property)
            kc_buf_printf(&c->path, "%s%.*s", before ? "." : "", KC_ARG(name));
        else
            kc_buf_printf(&c->path, "[%.*s]", KC_ARG(name));
        int done = coerce(c, inside, child);
        c->path.n = before;
        if (done < 0)
            return done;
    }
    return 0;
}

static int coerce(coercion *c, const kc_schema *schema, kc_node *node)
{
    if (!schema)
        return 0;
    if (kc_node_type(node) == KC_JSON_OBJECT) {
        if (kc_schema_embeds_resource(schema) &&
            (coerce_word(c, node, "apiVersion") < 0 || coerce_word(c, node, "kind") < 0 ||
             coerce_metadata(c, node) < 0))
            return -1;
        return coerce_members(c, schema, node);
    }
    size_t i = 0;
    kc_node_each_item (node, item) {
        size_t before = c->path.n;
        kc_buf_printf(&c->path, "[%zu]", i++);
        int done = coerce(c, kc_schema_items(schema), item);
        c->path.n = before;
        if (done < 0)
            return done;
    }
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int kc__custom_coerce(const kc_schema *schema, kc_edit *edit, kc_paths *unknown, kc_error *err)
{
    coercion c = {.edit = edit, .unknown = unknown, .err = err};
    size_t before = unknown ? unknown->n : 0;
    int done = coerce(&c, schema, kc_edit_root(edit));
    kc_buf_done(&c.path);
    if (unknown && unknown->n > before)
        qsort(unknown->items + before, unknown->n - before, sizeof(*unknown->items), by_text);
    return done;
}

/* Whether a value is an embedded resource with metadata that coercion changes, or contains one. */
bool kc__custom_would_coerce(const kc_schema *schema, const kc_value *value)
{
    if (!schema)
        return false;
    if (kc_value_type(value) == KC_JSON_OBJECT && kc_schema_embeds_resource(schema) &&
        kc__custom_is_coerced(kc_value_get(value, "metadata")))
        return true;
    kc_value_each_member (value, name, child) {
        const kc_schema *property = kc_schema_property(schema, name);
        if (kc__custom_would_coerce(property ? property : kc_schema_additional(schema), child))
            return true;
    }
    kc_value_each_item (value, item)
        if (kc__custom_would_coerce(kc_schema_items(schema), item))
            return true;
    return false;
}

/* ---- validation ---- */

typedef struct embedded {
    kc_buf path;
    kc_field_errors *errors;
} embedded;

static const char *field_of(embedded *e, const char *member)
{
    return kc_arena_printf(&e->errors->arena, "%s%s%s", kc_buf_cstr(&e->path), e->path.n ? "." : "",
                           member);
}

static bool check_word(embedded *e, const kc_value *resource, const char *member)
{
    const kc_value *value = kc_value_get(resource, member);
    const char *field = field_of(e, member);
    if (!value)
        kc_field_errors_add(e->errors, KC_FIELD_REQUIRED, field, (kc_str){0}, NULL);
    else if (kc_value_type(value) != KC_JSON_STRING)
        kc_field_errors_add_value(e->errors, KC_FIELD_INVALID, field, value, "must be a string");
    else if (!kc_value_as_str(value).n)
        kc_field_errors_add_value(e->errors, KC_FIELD_INVALID, field, value, "must not be empty");
    else
        return true;
    return false;
}

static void check_api_version(embedded *e, const kc_value *value)
{
    kc_str text = kc_value_as_str(value);
    ptrdiff_t first = kc_str_find(text, '/');
    if (first >= 0 && kc_str_rfind(text, '/') != first)
        kc_field_errors_add_value(e->errors, KC_FIELD_INVALID, field_of(e, "apiVersion"), value,
                                  "unexpected GroupVersion string: %.*s", KC_ARG(text));
}

static void check_embedded_kind(embedded *e, const kc_value *value)
{
    kc_scoped(kc_buf) lower = {0}, all = {0};
    const char *messages[KC_NAME_MESSAGES];
    kc_str kind = kc_value_as_str(value);
    for (size_t i = 0; i < kind.n; i++)
        kc_buf_putc(&lower, kc_lower(kind.p[i]));
    size_t n = kc_name_check(KC_NAME_DNS_1035_LABEL, kc_buf_str(&lower), messages);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&all, "%s%s", i ? "," : "", messages[i]);
    if (n)
        kc_field_errors_add_value(e->errors, KC_FIELD_INVALID, field_of(e, "kind"), value,
                                  "may have mixed case, but should otherwise match: %s",
                                  kc_buf_cstr(&all));
}

/* A name is not required. */
static void check_embedded_metadata(embedded *e, const kc_value *metadata)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(metadata);
    kc_node *root = kc_edit_root(edit);
    if (!kc_node_as_str(kc_node_get(root, KC_STR("name"))).n)
        kc_node_set(edit, root, KC_STR("name"), kc_node_str(edit, KC_STR("fakename")));
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    if (!view)
        return;
    kc_metadata_rules rules = {.name = KC_NAME_PATH_SEGMENT, .field = field_of(e, "metadata")};
    rules.namespaced = kc_value_as_str(kc_value_get(metadata, "namespace")).n > 0;
    kc_validate_metadata(e->errors, kc_view_root(view), &rules);
}

static void check_embedded_resource(embedded *e, const kc_value *resource)
{
    const kc_value *metadata = kc_value_get(resource, "metadata");
    bool version = check_word(e, resource, "apiVersion"), kind = check_word(e, resource, "kind");
    if (version)
        check_api_version(e, kc_value_get(resource, "apiVersion"));
    if (kind)
        check_embedded_kind(e, kc_value_get(resource, "kind"));
    if (kc_value_type(metadata) == KC_JSON_OBJECT)
        check_embedded_metadata(e, metadata);
}

static void check_inside(embedded *e, const kc_schema *schema, const kc_value *value)
{
    size_t before = e->path.n, i = 0;
    if (!schema || kc_field_errors_is_full(e->errors))
        return;
    if (kc_value_type(value) == KC_JSON_OBJECT && kc_schema_embeds_resource(schema))
        check_embedded_resource(e, value);
    kc_value_each_member (value, name, child) {
        const kc_schema *property = kc_schema_property(schema, name);
        if (property)
            kc_buf_printf(&e->path, "%s%.*s", before ? "." : "", KC_ARG(name));
        else
            kc_buf_printf(&e->path, "[%.*s]", KC_ARG(name));
        check_inside(e, property ? property : kc_schema_additional(schema), child);
        e->path.n = before;
    }
    kc_value_each_item (value, item) {
        kc_buf_printf(&e->path, "[%zu]", i++);
        check_inside(e, kc_schema_items(schema), item);
        e->path.n = before;
    }
}

void kc__custom_check_embedded(const kc_schema *schema, const kc_value *object,
                               kc_field_errors *errors)
{
    embedded e = {.errors = errors};
    check_inside(&e, schema, object);
    kc_buf_done(&e.path);
}
