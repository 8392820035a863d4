/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: writes the schema of a message, and of everything it references.
 *
 * The output follows Kubernetes' OpenAPI generator, because clients compare with it:
 *
 * - A field that is a struct references its schema. v3 wraps the reference in allOf, so that a
 *   description and a default can accompany it; v2 has no defaults.
 * - A field that Go writes even if it is empty has the empty value as its default: "" for a
 *   string, 0, false, {} for a struct. The same holds for list elements and map values.
 * - Structs that are embedded in Go have no schema: their fields are the parent's.
 *
 * The schemas that a document needs are collected first (kc__openapi_require_schema), so that they
 * are written in the order of their names and the same kinds produce the same bytes. To describe
 * another kind of field: a row of `shapes`; one that is a type of its own also has a name there.
 */
#include "apiserver/openapi/openapi_internal.h"

#define META        "io.k8s.apimachinery.pkg.apis.meta.v1."
#define DEFINITIONS "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

/* The JSON representation of a field kind. One with a name is a schema that others reference. */
static const struct {
    const char *name;
    const char *type, *format;
    const char *one_of; /* Instead of `type`, in version 3. */
    const char *empty;  /* The default of a field that is always written; NULL: none. */
    const char *text;   /* Its description, if the definitions have none. */
} shapes[] = {
    [KC__FIELD_BOOL] = {.type = "boolean", .empty = "false"},
    [KC__FIELD_INT32] = {.type = "integer", .format = "int32", .empty = "0"},
    [KC__FIELD_INT64] = {.type = "integer", .format = "int64", .empty = "0"},
    [KC__FIELD_UINT32] = {.type = "integer", .format = "int64", .empty = "0"},
    [KC__FIELD_UINT64] = {.type = "integer", .format = "int64", .empty = "0"},
    [KC__FIELD_FLOAT] = {.type = "number", .format = "float", .empty = "0"},
    [KC__FIELD_DOUBLE] = {.type = "number", .format = "double", .empty = "0"},
    [KC__FIELD_STRING] = {.type = "string", .empty = "\"\""},
    [KC__FIELD_BYTES] = {.type = "string", .format = "byte"},
    [KC__FIELD_TIME] = {.name = META "Time", .type = "string", .format = "date-time"},
    [KC__FIELD_MICRO_TIME] = {.name = META "MicroTime", .type = "string", .format = "date-time"},
    [KC__FIELD_DURATION] = {.name = META "Duration", .type = "string"},
    [KC__FIELD_QUANTITY] = {.name = "io.k8s.apimachinery.pkg.api.resource.Quantity",
                            .type = "string",
                            .one_of = "{\"type\":\"string\"},{\"type\":\"number\"}"},
    [KC__FIELD_INT_OR_STRING] = {.name = "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
                                 .type = "string",
                                 .format = "int-or-string",
                                 .one_of = "{\"type\":\"integer\"},{\"type\":\"string\"}"},
    [KC__FIELD_RAW] = {.name = "io.k8s.apimachinery.pkg.runtime.RawExtension", .type = "object"},
    [KC__FIELD_FIELDS_V1] = {.name = META "FieldsV1", .type = "object"},
    [KC__FIELD_LIST] = {0},
    [KC__FIELD_ANY] = {.name = DEFINITIONS "JSON", .text = "Any JSON value."},
    [KC__FIELD_EITHER] = {.name = DEFINITIONS "JSONSchemaPropsOrArray",
                          .text = "A schema, or another value in its place."},
};

/* ---- referenced schemas ---- */

const char *kc__openapi_require_schema(kc__openapi_writer *w, const kc__type_message *message)
{
    if (!message || kc_map_get(&w->messages, message->name))
        return message ? message->name.p : NULL;
    /* If a message is in two tables, the published one is described. */
    const kc__type_message *published = kc__type_lookup(message->name);
    message = published ? published : message;
    kc_map_put(&w->messages, message->name, (void *)message);
    return message->name.p;
}

/* Adds the messages that the fields of a message reference. */
static void want_fields(kc__openapi_writer *w, const kc__type_message *message)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        if (field->marks & KC__INLINE)
            want_fields(w, field->message);
        else if (field->kind == KC__FIELD_MESSAGE)
            kc__openapi_require_schema(w, field->message);
        else if (shapes[field->kind].name)
            w->special |= 1u << field->kind;
    }
}

static int compare_messages(const void *a, const void *b)
{
    return kc_str_cmp((*(const kc__type_message *const *)a)->name,
                      (*(const kc__type_message *const *)b)->name);
}

typedef KC_VEC(const kc__type_message *) schema_messages;

/* All required messages and those they reference, sorted. The map grows during the walk. */
static schema_messages wanted(kc__openapi_writer *w)
{
    schema_messages found = {0};
    for (size_t i = 0; i < w->messages.used; i++) {
        const kc__type_message *message = w->messages.entries[i].value;
        want_fields(w, message);
        kc_vec_push(&found, message);
    }
    kc_vec_sort(&found, compare_messages);
    return found;
}

/* ---- values ---- */

static void write_ref_member(kc__openapi_writer *w, const char *name)
{
    kc_buf_printf(w->out, "\"$ref\":\"#/%s/%s\"", w->v2 ? "definitions" : "components/schemas",
                  name);
}

void kc__openapi_write_ref(kc__openapi_writer *w, const char *name)
{
    kc_buf_putc(w->out, '{');
    write_ref_member(w, name);
    kc_buf_putc(w->out, '}');
}

/* A reference without description or default needs no allOf. */
void kc__openapi_write_reference(kc__openapi_writer *w, const char *name, const char *fallback)
{
    bool alone = w->out->p[w->out->n - 1] == '{' && !fallback;
    if (w->v2 || alone) {
        kc__openapi_json_next(w->out);
        write_ref_member(w, name);
        return;
    }
    kc__openapi_json_member(w->out, "allOf");
    kc_buf_putc(w->out, '[');
    kc__openapi_write_ref(w, name);
    kc_buf_putc(w->out, ']');
    if (fallback) {
        kc__openapi_json_member(w->out, "default");
        kc_buf_puts(w->out, fallback);
    }
}

/* `values` is a JSON array of the allowed values; NULL: any. */
static void write_scalar(kc__openapi_writer *w, kc__type_field_kind kind, const char *fallback,
                         const char *values)
{
    kc__openapi_json_text_if(w->out, "type", kc_cstr(shapes[kind].type));
    kc__openapi_json_text_if(w->out, "format", kc_cstr(shapes[kind].format));
    if (fallback && !w->v2) {
        kc__openapi_json_member(w->out, "default");
        kc_buf_puts(w->out, fallback);
    }
    if (values) {
        kc__openapi_json_member(w->out, "enum");
        kc_buf_puts(w->out, values);
    }
}

/* Writes a list message, which has a single field, as an array of that field's elements. */
static void write_named_list(kc__openapi_writer *w, const kc__type_message *list)
{
    kc__type_field_kind kind = (kc__type_field_kind)list->fields[0].kind;
    kc_buf_puts(w->out, "\"type\":\"array\",\"items\":{");
    write_scalar(w, kind, shapes[kind].empty, NULL);
    kc_buf_putc(w->out, '}');
}

/* Writes one value of a field: the field itself, an element of its list, or a value of its map. */
static void write_value(kc__openapi_writer *w, const kc__type_field *field, const char *fallback)
{
    kc__type_field_kind kind = (kc__type_field_kind)field->kind;
    if (kind == KC__FIELD_MESSAGE) {
        kc__openapi_write_reference(w, field->message->name.p, fallback);
    } else if (kind == KC__FIELD_LIST) {
        kc__openapi_json_next(w->out);
        write_named_list(w, field->message);
    } else if (shapes[kind].name) {
        kc__openapi_write_reference(w, shapes[kind].name, fallback);
    } else {
        write_scalar(w, kind, fallback, kc__type_enumerations[field->enumeration]);
    }
}

/* The default of a value that is always written; NULL: none. */
static const char *empty_value(const kc__type_field *field)
{
    if (field->kind == KC__FIELD_MESSAGE)
        return field->message->marks & KC__ANY_VALUE ? NULL : "{}";
    return shapes[field->kind].empty;
}

/* Elements of "[]*Thing" and "map[string]*Thing" have no default. */
static bool holds_pointers(const kc__type_field *field)
{
    return field->go_type && strstr(field->go_type, "]*");
}

/* Writes an element of a list or a value of a map. */
static void write_inner(kc__openapi_writer *w, const kc__type_field *field)
{
    kc_buf_putc(w->out, '{');
    write_value(w, field, holds_pointers(field) ? NULL : empty_value(field));
    kc_buf_putc(w->out, '}');
}

/* A struct that is not a pointer is always written; a scalar, unless it has omitempty. */
static const char *fallback_of(const kc__type_field *field)
{
    if (field->fallback)
        return field->fallback;
    if (field->marks & KC__POINTER)
        return NULL;
    if (field->kind != KC__FIELD_MESSAGE && (field->marks & KC__OMIT_EMPTY))
        return NULL;
    return empty_value(field);
}

/* ---- fields ---- */

static void write_list_keys(kc_buf *out, const char *keys)
{
    kc__openapi_json_member(out, "x-kubernetes-list-map-keys");
    kc_buf_putc(out, '[');
    for (kc_str rest = kc_cstr(keys); rest.p;) {
        kc_str key = kc_str_cut(&rest, ' ');
        kc__openapi_json_next(out);
        kc_buf_printf(out, "\"%.*s\"", KC_ARG(key));
    }
    kc_buf_putc(out, ']');
}

/* Writes how the field is merged. */
static void write_extensions(kc_buf *out, const kc__type_field *field)
{
    static const struct {
        unsigned mark;
        const char *name, *value;
    } marks[] = {
        {KC__LIST_IS_SET, "x-kubernetes-list-type", "set"},
        {KC__LIST_IS_MAP, "x-kubernetes-list-type", "map"},
        {KC__LIST_IS_ATOMIC, "x-kubernetes-list-type", "atomic"},
        {KC__MAP_IS_ATOMIC, "x-kubernetes-map-type", "atomic"},
        {KC__MAP_IS_GRANULAR, "x-kubernetes-map-type", "granular"},
    };
    static const char *const strategies[] = {NULL, "merge", "retainKeys", "merge,retainKeys",
                                             "replace"};
    if (field->list_keys)
        write_list_keys(out, field->list_keys);
    for (size_t i = 0; i < KC_COUNT(marks); i++) {
        if (field->marks & marks[i].mark)
            kc__openapi_json_text(out, marks[i].name, kc_cstr(marks[i].value));
    }
    kc__openapi_json_text_if(out, "x-kubernetes-patch-merge-key", kc_cstr(field->merge_key));
    unsigned merges = field->marks & (KC__PATCH_MERGES | KC__PATCH_RETAINS | KC__PATCH_REPLACES);
    if (merges && merges / KC__PATCH_MERGES < KC_COUNT(strategies))
        kc__openapi_json_text(out, "x-kubernetes-patch-strategy",
                              kc_cstr(strategies[merges / KC__PATCH_MERGES]));
}

void kc__openapi_write_field(kc__openapi_writer *w, const kc__type_field *field)
{
    kc_buf *out = w->out;
    kc__openapi_json_next(out);
    kc_buf_printf(out, "\"%.*s\":{", KC_ARG(field->name));
    kc__openapi_json_text_if(out, "description", kc__openapi_describe_field(w->texts, field));
    if (field->shape == KC__SINGLE) {
        write_value(w, field, fallback_of(field));
    } else {
        bool list = field->shape == KC__REPEATED;
        kc__openapi_json_text(out, "type", kc_cstr(list ? "array" : "object"));
        kc__openapi_json_member(out, list ? "items" : "additionalProperties");
        write_inner(w, field);
    }
    write_extensions(out, field);
    kc_buf_putc(out, '}');
}

static void write_schema_fields(kc__openapi_writer *w, const kc__type_message *message)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        if (message->fields[i].marks & KC__INLINE)
            write_schema_fields(w, message->fields[i].message);
        else
            kc__openapi_write_field(w, &message->fields[i]);
    }
}

static void write_required(kc_buf *out, const kc__type_message *message, bool *any)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        if (field->marks & KC__INLINE)
            write_required(out, field->message, any);
        if (!(field->marks & KC__REQUIRED))
            continue;
        if (!*any)
            kc_buf_puts(out, ",\"required\":[");
        *any = true;
        kc__openapi_json_next(out);
        kc_buf_printf(out, "\"%.*s\"", KC_ARG(field->name));
    }
}

/* Writes the fields of which at most one is set, and the discriminator, in Go's names, which begin
 * with a capital letter. */
static void write_union(kc_buf *out, const kc__type_message *message,
                        const kc__type_field *discriminator)
{
    kc_buf_printf(out,
                  ",\"x-kubernetes-unions\":[{\"discriminator\":\"%.*s\","
                  "\"fields-to-discriminateBy\":{",
                  KC_ARG(discriminator->name));
    for (size_t i = 0; i < message->n_fields; i++) {
        kc_str name = message->fields[i].name;
        if (&message->fields[i] == discriminator || !name.n)
            continue;
        kc__openapi_json_next(out);
        kc_buf_printf(out, "\"%.*s\":\"%c%.*s\"", KC_ARG(name), name.p[0] & ~0x20, (int)name.n - 1,
                      name.p + 1);
    }
    kc_buf_puts(out, "}}]");
}

static void write_unions(kc_buf *out, const kc__type_message *message)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        if (message->fields[i].marks & KC__DISCRIMINATOR)
            write_union(out, message, &message->fields[i]);
    }
}

/* ---- kinds ---- */

void kc__openapi_write_kind(kc_buf *out, const char *group, const char *version, const char *kind)
{
    kc_buf_putc(out, '{');
    kc__openapi_json_text(out, "group", kc_cstr(group));
    kc__openapi_json_text(out, "kind", kc_cstr(kind));
    kc__openapi_json_text(out, "version", kc_cstr(version));
    kc_buf_putc(out, '}');
}

static bool is_kind(const kc__type_message *message)
{
    return message->n_fields && message->fields[0].number == 0 &&
           (message->fields[0].marks & KC__INLINE);
}

/* Whether the kinds of a group version are in this package; "": in any. */
static bool is_package_of(const kc__registry_version *version, kc_str package)
{
    for (size_t i = 0; i < version->n_resources; i++) {
        kc_str type = kc_cstr(version->resources[i].type_name);
        if (type.n > package.n && kc_str_starts(type, package))
            return true;
    }
    return false;
}

/* Kinds that every group version of the definitions has. Custom group versions have them too but
 * are not listed: a new one would change every document. */
static bool is_everywhere(const char *kind)
{
    static const char *const names[] = {"DeleteOptions", "WatchEvent"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (!strcmp(kind, names[i]))
            return true;
    }
    return false;
}

static void write_kinds(kc__openapi_writer *w, const kc__type_message *message)
{
    size_t n;
    const kc__registry_version *versions = kc__registry_versions(w->kinds, &n);
    size_t split = (size_t)(kc_str_rfind(message->name, '.') + 1);
    kc_str package = kc_str_sub(message->name, 0, split);
    const char *kind = message->name.p + split;
    bool meta = kc_str_is(package, META), everywhere = meta && is_everywhere(kind);
    if (!is_kind(message) && !everywhere)
        return;
    kc__openapi_json_member(w->out, "x-kubernetes-group-version-kind");
    kc_buf_putc(w->out, '[');
    if (meta && !everywhere)
        kc__openapi_write_kind(w->out, "", "v1", kind);
    for (size_t i = 0; i < n; i++) {
        if (is_package_of(&versions[i], everywhere ? KC_STR("") : package)) {
            kc__openapi_json_next(w->out);
            kc__openapi_write_kind(w->out, versions[i].group, versions[i].name, kind);
        }
    }
    kc_buf_putc(w->out, ']');
}

/* ---- schemas ---- */

/* Writes the members of an object's schema besides its description. */
static void write_object(kc__openapi_writer *w, const kc__type_message *message)
{
    kc_buf *out = w->out;
    bool any = false;
    kc__openapi_json_text(out, "type", KC_STR("object"));
    if (message->n_fields) {
        kc__openapi_json_member(out, "properties");
        kc_buf_putc(out, '{');
        write_schema_fields(w, message);
        kc_buf_putc(out, '}');
    }
    write_required(out, message, &any);
    kc_buf_puts(out, any ? "]" : "");
    write_kinds(w, message);
    write_unions(out, message);
    if (message->marks & KC__MAP_IS_ATOMIC)
        kc__openapi_json_text(out, "x-kubernetes-map-type", KC_STR("atomic"));
}

static void write_message(kc__openapi_writer *w, const kc__type_message *message)
{
    kc_buf *out = w->out;
    kc__openapi_json_member(out, message->name.p);
    kc_buf_putc(out, '{');
    kc__openapi_json_text_if(out, "description", kc__openapi_describe_message(w->texts, message));
    if (!(message->marks & KC__ANY_VALUE))
        write_object(w, message);
    kc_buf_putc(out, '}');
}

static void write_special(kc__openapi_writer *w, kc__type_field_kind kind)
{
    kc_buf *out = w->out;
    kc__openapi_json_member(out, shapes[kind].name);
    kc_buf_putc(out, '{');
    kc__openapi_json_text_if(out, "description",
                             shapes[kind].text ? kc_cstr(shapes[kind].text)
                                               : kc__openapi_describe_special(w->texts, kind));
    kc__openapi_json_text_if(out, "format", kc_cstr(shapes[kind].format));
    if (shapes[kind].one_of && !w->v2)
        kc_buf_printf(out, "%s\"oneOf\":[%s]", out->p[out->n - 1] == '{' ? "" : ",",
                      shapes[kind].one_of);
    else
        kc__openapi_json_text_if(out, "type", kc_cstr(shapes[kind].type));
    kc_buf_putc(out, '}');
}

void kc__openapi_write_schemas(kc__openapi_writer *w)
{
    kc__openapi_write_customs(w); /* First: they reference others. */
    schema_messages all = wanted(w);
    kc_vec_each (&all, message)
        write_message(w, *message);
    kc_vec_done(&all);
    for (size_t i = 0; i < KC_COUNT(shapes); i++) {
        if (w->special & (1u << i))
            write_special(w, (kc__type_field_kind)i);
    }
}
