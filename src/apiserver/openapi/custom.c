/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom.c: OpenAPI schemas of custom resources (kc__resource.schema), which the author of the CRD
 * wrote as JSON.
 *
 * A schema is named by its reversed group: com.example.v1.Foo. apiVersion, kind and metadata are
 * added with the published descriptions, to whole objects and to embedded objects; the schema of
 * the list is generated here. OpenAPI v2 has no alternatives and no null, and its clients treat the
 * declared fields as all fields: v2 omits the members that Kubernetes omits, so that a client
 * accepts every object that the server accepts.
 *
 * Validation of the CRD has checked the schema and limited its depth and size. Text that is not
 * JSON counts as no schema.
 */
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/openapi/openapi_internal.h"
#include "kc/json.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
#define CONVENTIONS \
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

/* "com.example.v1.Foo" for the group "example.com". */
static const char *schema_name(kc__openapi_writer *w, const kc__resource *resource)
{
    kc_scoped(kc_buf) name = {0};
    kc_str group = kc_cstr(resource->group);
    while (group.n) {
        ptrdiff_t dot = kc_str_rfind(group, '.');
        kc_str last = kc_str_sub(group, (size_t)(dot + 1), group.n);
        kc_buf_printf(&name, "%.*s.", KC_ARG(last));
        group = kc_str_sub(group, 0, dot < 0 ? 0 : (size_t)dot);
    }
    kc_buf_printf(&name, "%s.%s", resource->version, resource->kind);
    return kc_arena_strndup(w->arena, name.p, name.n);
}

const char *kc__openapi_schema_of(kc__openapi_writer *w, const kc__resource *resource)
{
    if (resource->type)
        return kc__openapi_require_schema(w, resource->type);
    const char *name = schema_name(w, resource);
    if (!kc_map_get(&w->customs, kc_cstr(name)))
        kc_map_put(&w->customs, kc_cstr(name), (void *)resource);
    return name;
}

const char *kc__openapi_list_schema_of(kc__openapi_writer *w, const kc__resource *resource)
{
    if (!resource->type)
        return kc_arena_printf(w->arena, "%sList", kc__openapi_schema_of(w, resource));
    const char *name = kc_arena_printf(w->arena, "%sList", resource->type_name);
    return kc__openapi_require_schema(w, kc__crd_type_find(kc_cstr(name)));
}

/* ---- members of every object ---- */

/* "metadata", a reference to a published definition; its description is that of the message
 * `of`. */
static void write_metadata(kc__openapi_writer *w, const kc__type_message *of,
                           const kc__type_message *meta)
{
    kc__openapi_json_member(w->out, "metadata");
    kc_buf_putc(w->out, '{');
    kc__openapi_json_text_if(
        w->out, "description",
        kc__openapi_describe_field(w->texts, kc__type_message_field(of, KC_STR("metadata"))));
    kc__openapi_write_reference(w, kc__openapi_require_schema(w, meta), NULL);
    kc_buf_putc(w->out, '}');
}

/* Writes apiVersion, kind and metadata, as properties. */
static void write_type_and_meta(kc__openapi_writer *w, bool list)
{
    const kc__type_message *of = kc__type_lookup(list ? KC_STR(META "PartialObjectMetadataList")
                                                      : KC_STR(META "PartialObjectMetadata"));
    kc__openapi_write_field(w, kc__type_message_field(of, KC_STR("apiVersion")));
    kc__openapi_write_field(w, kc__type_message_field(of, KC_STR("kind")));
    write_metadata(w, of,
                   kc__type_lookup(list ? KC_STR(META "ListMeta") : KC_STR(META "ObjectMeta")));
}

static bool is_type_or_meta(kc_str name)
{
    return kc_str_is(name, "apiVersion") || kc_str_is(name, "kind") || kc_str_is(name, "metadata");
}

/* ---- schemas ---- */

static bool is_true(const kc_value *schema, const char *name)
{
    return kc_value_as_bool(kc_value_get(schema, name), false);
}

static bool preserves(const kc_value *schema)
{
    return is_true(schema, "x-kubernetes-preserve-unknown-fields");
}

/* Members that v2 clients do not know, or cannot handle where a value may be anything. */
static bool is_left_out(const kc_value *schema, kc_str name)
{
    static const char *const unknown[] = {"allOf", "oneOf", "anyOf", "not", "nullable"};
    bool nullable = is_true(schema, "nullable"), loose = nullable || preserves(schema);
    for (size_t i = 0; i < KC_COUNT(unknown); i++) {
        if (kc_str_is(name, unknown[i]))
            return true;
    }
    if (kc_str_is(name, "items") || kc_str_is(name, "properties"))
        return loose;
    if (!kc_str_is(name, "type"))
        return false;
    kc_str type = kc_value_as_str(kc_value_get(schema, "type"));
    bool has_items = kc_value_get(schema, "items") && !loose;
    return nullable || (kc_str_is(type, "array") && !has_items) ||
           (kc_str_is(type, "object") && preserves(schema));
}

static void write_schema(kc__openapi_writer *w, const kc_value *schema, bool is_object);

static void write_properties(kc__openapi_writer *w, const kc_value *properties, bool is_object)
{
    kc__openapi_json_member(w->out, "properties");
    kc_buf_putc(w->out, '{');
    if (is_object)
        write_type_and_meta(w, false);
    kc_value_each_member (properties, name, value) {
        if (is_object && is_type_or_meta(name))
            continue;
        kc__openapi_json_next(w->out);
        kc_json_quote(w->out, name);
        kc_buf_putc(w->out, ':');
        write_schema(w, value, false);
    }
    kc_buf_putc(w->out, '}');
}

/* Writes the required fields; in v2, nullable fields are not required. */
static void write_required(kc__openapi_writer *w, const kc_value *schema, bool embedded)
{
    const kc_value *properties = kc_value_get(schema, "properties");
    size_t begin = w->out->n;
    kc__openapi_json_member(w->out, "required");
    kc_buf_putc(w->out, '[');
    size_t empty = w->out->n;
    kc_value_each_item (kc_value_get(schema, "required"), item) {
        kc_str name = kc_value_as_str(item);
        if ((embedded && is_type_or_meta(name) && !kc_str_is(name, "metadata")) ||
            (w->v2 && is_true(kc_value_get_str(properties, name), "nullable")))
            continue;
        kc__openapi_json_next(w->out);
        kc_json_quote(w->out, name);
    }
    if (embedded)
        kc_buf_printf(w->out, "%s\"kind\",\"apiVersion\"", w->out->n > empty ? "," : "");
    if (w->out->n > empty)
        kc_buf_putc(w->out, ']');
    else
        w->out->n = begin;
}

/* Members that contain schemas are written recursively. */
static void write_custom_member(kc__openapi_writer *w, kc_str name, const kc_value *value)
{
    bool nested = kc_str_is(name, "items") || kc_str_is(name, "additionalProperties");
    kc__openapi_json_next(w->out);
    kc_json_quote(w->out, name);
    kc_buf_putc(w->out, ':');
    if (nested && kc_value_type(value) == KC_JSON_OBJECT)
        write_schema(w, value, false);
    else
        kc_json_write(w->out, value);
}

/* Writes the members of a schema. `is_object`: it is the schema of whole objects. */
static void write_custom_members(kc__openapi_writer *w, const kc_value *schema, bool is_object)
{
    bool embedded =
        is_true(schema, "x-kubernetes-embedded-resource") && !(w->v2 && preserves(schema));
    bool adds = is_object || embedded;
    kc_value_each_member (schema, name, value) {
        if (kc_str_is(name, "properties") || kc_str_is(name, "required") ||
            (w->v2 && is_left_out(schema, name)))
            continue;
        write_custom_member(w, name, value);
    }
    const kc_value *properties = kc_value_get(schema, "properties");
    if (adds || (properties && !(w->v2 && is_left_out(schema, KC_STR("properties")))))
        write_properties(w, properties, adds);
    if (embedded || kc_value_get(schema, "required"))
        write_required(w, schema, embedded);
}

static void write_schema(kc__openapi_writer *w, const kc_value *schema, bool is_object)
{
    kc_buf_putc(w->out, '{');
    write_custom_members(w, schema, is_object);
    kc_buf_putc(w->out, '}');
}

/* ---- kinds ---- */

/* The fields that selectors may name, in addition to those of all objects. */
static void write_selectable(kc__openapi_writer *w, const kc__resource *resource)
{
    const char *const *fields = resource->selectable;
    if (!fields || !*fields)
        return;
    kc__openapi_json_member(w->out, "x-kubernetes-selectable-fields");
    kc_buf_putc(w->out, '[');
    for (; *fields; fields++) {
        kc__openapi_json_next(w->out);
        kc_buf_putc(w->out, '{');
        kc__openapi_json_text(w->out, "fieldPath", kc_cstr(*fields));
        kc_buf_putc(w->out, '}');
    }
    kc_buf_putc(w->out, ']');
}

/* Adds the group, version and kind to an open schema and closes it. */
static void close_with_kind(kc__openapi_writer *w, const kc__resource *resource, const char *kind)
{
    write_selectable(w, resource);
    kc__openapi_json_member(w->out, "x-kubernetes-group-version-kind");
    kc_buf_putc(w->out, '[');
    kc__openapi_write_kind(w->out, resource->group, resource->version, kind);
    kc_buf_puts(w->out, "]}");
}

/* A schema that may have any fields names none: kubectl would treat the named ones as all
 * fields. */
static void write_custom(kc__openapi_writer *w, const char *name, const kc__resource *resource)
{
    kc_auto(kc_view) *view =
        resource->schema.n ? kc_view_parse(resource->schema, NULL, NULL) : NULL;
    const kc_value *root = view ? kc_view_root(view) : NULL;
    kc__openapi_json_member(w->out, name);
    kc_buf_putc(w->out, '{');
    bool loose = preserves(root) || resource->preserves_unknown_fields;
    if (kc_value_type(root) == KC_JSON_OBJECT && !(w->v2 && loose))
        write_custom_members(w, root, true);
    else
        kc__openapi_json_text(w->out, "type", KC_STR("object"));
    close_with_kind(w, resource, resource->kind);
}

static void write_custom_list(kc__openapi_writer *w, const char *name, const kc__resource *resource)
{
    kc_buf *out = w->out;
    const char *text =
        kc_arena_printf(w->arena, "%s is a list of %s", resource->list_kind, resource->kind);
    const char *items =
        kc_arena_printf(w->arena, "List of %s. More info: " CONVENTIONS, resource->plural);
    kc__openapi_json_member(out, kc_arena_printf(w->arena, "%sList", name));
    kc_buf_putc(out, '{');
    kc__openapi_json_text(out, "description", kc_cstr(text));
    kc_buf_puts(out, ",\"type\":\"object\",\"required\":[\"items\"],\"properties\":{");
    write_type_and_meta(w, true);
    kc_buf_puts(out, ",\"items\":{");
    kc__openapi_json_text(out, "description", kc_cstr(items));
    kc_buf_puts(out, ",\"type\":\"array\",\"items\":");
    kc__openapi_write_ref(w, name);
    kc_buf_puts(out, "}}");
    close_with_kind(w, resource, resource->list_kind);
}

void kc__openapi_write_customs(kc__openapi_writer *w)
{
    kc_map_each (&w->customs, entry) {
        const kc__resource *resource = entry->value;
        write_custom(w, entry->key.p, resource);
        if (resource->list_kind)
            write_custom_list(w, entry->key.p, resource);
    }
}
