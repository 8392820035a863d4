/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_types.c: headers of API types from CustomResourceDefinitions.
 *
 * Every object with properties becomes a struct, named after its place (spec.arms of Robot:
 * robot_spec_arms), and stands before the struct that uses it. What a schema says of a value stands
 * at the field; what it says of elements that are structs, at the struct. What C has no type for
 * (lists of lists, values without a type) becomes kc_raw. Generating CRDs from the headers gives
 * the same schema again, except:
 *
 *   - whole numbers without a format get int64;
 *   - oneOf, anyOf, allOf and not have no markers: a comment at the top names where they were;
 *   - limits of a map's values are lost unless the values are structs.
 */
#include "generate/write_types.h"

#include "generate/names.h"
#include "generate/types_internal.h"

#include "kc/ascii.h"

#define INDENT "    "

/* A header being written. */
typedef struct header {
    kc_arena arena;
    kc_buf structs; /* Those that are complete. */
    kc_buf lost;    /* What could not be said, a line each. */
    kc_str version;
} header;

static bool is_type(const kc_value *schema, const char *type)
{
    return kc_str_is(kc_as_str(kc_get(schema, "type")), type);
}

static bool is_set(const kc_value *schema, const char *keyword)
{
    return kc_as_bool(kc_get(schema, keyword), false);
}

/* ---- names ---- */

/* deploymentName → deployment_name; clusterIPs → cluster_ips. */
static kc_str snake(kc_arena *arena, kc_str name)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool upper = c >= 'A' && c <= 'Z';
        const bool after_lower =
            i > 0 && kc_is_alnum(name.p[i - 1]) && !(name.p[i - 1] >= 'A' && name.p[i - 1] <= 'Z');
        if (upper && after_lower)
            kc_buf_putc(&out, '_');
        kc_buf_putc(&out, kc_is_alnum(c) ? kc_lower(c) : '_');
    }
    return kc_arena_str(arena, kc_buf_str(&out));
}

/* Words that are no names in C, or not in every place C++ reads the header. */
static const char *const words[] = {
    "auto",     "bool",     "break",     "case",    "char",     "class",    "const",
    "continue", "default",  "delete",    "do",      "double",   "else",     "enum",
    "extern",   "false",    "float",     "for",     "goto",     "if",       "inline",
    "int",      "long",     "namespace", "new",     "operator", "private",  "public",
    "register", "restrict", "return",    "short",   "signed",   "sizeof",   "static",
    "struct",   "switch",   "template",  "this",    "true",     "typedef",  "typename",
    "union",    "unsigned", "using",     "virtual", "void",     "volatile", "while",
};

static kc_str field_name(kc_arena *arena, kc_str json_name)
{
    kc_str name = snake(arena, json_name);
    bool taken = name.n == 0 || kc_is_digit(name.p[0]);
    for (size_t i = 0; i < KC_COUNT(words) && !taken; i++)
        taken = kc_str_is(name, words[i]);
    if (taken)
        name = kc_cstr(kc_arena_printf(arena, "f_%.*s", KC_ARG(name)));
    return name;
}

/* ---- types ---- */

static kc_str put_struct(header *h, kc_str name, const kc_value *schema, bool is_element);

/* The C type of one value; struct_name is what it is called if it is a struct. */
static kc_str value_type(header *h, const kc_value *schema, kc_str struct_name, bool is_element)
{
    const kc_str format = kc_as_str(kc_get(schema, "format"));
    if (is_set(schema, "x-kubernetes-int-or-string"))
        return kc__types_is_quantity(schema) ? KC_STR("kc_quantity_text")
                                             : KC_STR("kc_int_or_text");
    if (is_type(schema, "string"))
        return kc_str_is(format, "byte")        ? KC_STR("kc_bytes")
               : kc_str_is(format, "date-time") ? KC_STR("kc_timestamp")
                                                : KC_STR("char *");
    if (is_type(schema, "integer"))
        return kc_str_is(format, "int32") ? KC_STR("int32_t") : KC_STR("int64_t");
    if (is_type(schema, "number"))
        return KC_STR("double");
    if (is_type(schema, "boolean"))
        return KC_STR("bool");
    if (is_type(schema, "object") && kc_len(kc_get(schema, "properties")))
        return put_struct(h, struct_name, schema, is_element);
    return KC_STR("kc_raw");
}

/* A field as it is declared. */
typedef struct declaration {
    kc_str type;
    bool is_list, is_map, is_raw;
} declaration;

static declaration declare(header *h, kc_str json_name, kc_str struct_name, const kc_value *schema)
{
    const kc_value *items = kc_get(schema, "items"),
                   *values = kc_get(schema, "additionalProperties");
    declaration d = {0};
    if (is_type(schema, "array") && items) {
        d.is_list = true;
        d.type = value_type(h, items, struct_name, true);
    } else if (is_type(schema, "object") && kc_type_of(values) == KC_OBJECT) {
        d.is_map = true;
        d.type = value_type(h, values, struct_name, true);
    } else if (is_type(schema, "object") && kc_str_is(json_name, "metadata") &&
               !is_set(schema, "x-kubernetes-preserve-unknown-fields") &&
               !kc_get(schema, "properties")) {
        d.type = KC_STR("kc_object_meta");
    } else {
        d.type = value_type(h, schema, struct_name, false);
        d.is_raw = kc_str_is(d.type, "kc_raw");
    }
    return d;
}

static void put_declaration(kc_buf *out, declaration d, kc_str name, bool optional)
{
    const bool text = kc_str_is(d.type, "char *");
    const char *space = text ? "" : " ";
    if (d.is_map && text)
        kc_buf_printf(out, INDENT "kc_string_map %.*s;\n", KC_ARG(name));
    else if (d.is_map)
        kc_buf_printf(out, INDENT "KC_MAP_OF(%.*s) %.*s;\n", KC_ARG(d.type), KC_ARG(name));
    else if (d.is_list)
        kc_buf_printf(out, INDENT "%.*s%s*%.*s;\n" INDENT "size_t n_%.*s;\n", KC_ARG(d.type), space,
                      KC_ARG(name), KC_ARG(name));
    else
        kc_buf_printf(out, INDENT "%.*s%s%s%.*s;\n", KC_ARG(d.type), space, optional ? "*" : "",
                      KC_ARG(name));
}

/* ---- fields ---- */

static void note_lost(header *h, kc_str struct_name, kc_str name, const kc_value *schema)
{
    static const char *const keywords[] = {"oneOf", "anyOf", "allOf", "not"};
    for (size_t i = 0; i < KC_COUNT(keywords); i++)
        if (kc_get(schema, keywords[i]) && !is_set(schema, "x-kubernetes-int-or-string"))
            kc_buf_printf(&h->lost, " *   %.*s.%.*s: %s\n", KC_ARG(struct_name), KC_ARG(name),
                          keywords[i]);
}

static void put_field(header *h, kc_str struct_name, kc_str json_name, const kc_value *schema,
                      bool required, kc_buf *out)
{
    const kc_str name = field_name(&h->arena, json_name);
    const kc_str below =
        kc_cstr(kc_arena_printf(&h->arena, "%.*s_%.*s", KC_ARG(struct_name), KC_ARG(name)));
    const declaration d = declare(h, json_name, below, schema);
    /* What has an empty value of its own needs no pointer to be absent. */
    const bool pointer = !required && !d.is_list && !d.is_map && !d.is_raw &&
                         !kc_str_is(d.type, "char *") && !kc_str_is(d.type, "kc_bytes");
    note_lost(h, struct_name, name, schema);
    kc__types_describe(out, INDENT, schema);
    kc__types_mark(out, INDENT, schema, KC__TYPES_FIELD);
    if (d.is_list && !kc_get(kc_get(schema, "items"), "properties"))
        kc__types_mark(out, INDENT, kc_get(schema, "items"), KC__TYPES_ITEMS);
    if (d.is_raw && is_type(schema, "object"))
        kc_buf_puts(out, INDENT "/// +kubebuilder:validation:Type=object\n");
    if (!d.is_raw && is_set(schema, "x-kubernetes-preserve-unknown-fields"))
        kc_buf_puts(out, INDENT "/// +kubebuilder:pruning:PreserveUnknownFields\n");
    if (!kc_str_eq(kc__json_name(&h->arena, name), json_name))
        kc_buf_printf(out, INDENT "/// +kc:json=%.*s\n", KC_ARG(json_name));
    if (!required && !pointer)
        kc_buf_puts(out, INDENT "/// +optional\n");
    put_declaration(out, d, name, pointer);
}

static bool is_required(const kc_value *schema, kc_str name)
{
    kc_items (kc_get(schema, "required"), item)
        if (kc_str_eq(kc_as_str(item), name))
            return true;
    return false;
}

static kc_str put_struct(header *h, kc_str name, const kc_value *schema, bool is_element)
{
    kc_scoped(kc_buf) fields = {0};
    kc_members (kc_get(schema, "properties"), member, value)
        put_field(h, name, member, value, is_required(schema, member), &fields);
    if (is_element) {
        kc__types_describe(&h->structs, "", schema);
        kc__types_mark(&h->structs, "", schema, KC__TYPES_TYPE);
        if (is_set(schema, "x-kubernetes-preserve-unknown-fields"))
            kc_buf_puts(&h->structs, "/// +kubebuilder:pruning:PreserveUnknownFields\n");
    }
    kc_buf_printf(&h->structs, "typedef struct %.*s {\n%.*s} %.*s;\n\n", KC_ARG(name),
                  KC_ARG(kc_buf_str(&fields)), KC_ARG(name));
    return name;
}

/* ---- kinds ---- */

static void put_kind(header *h, const kc_value *crd, const kc_value *version, kc_str kind)
{
    kc_scoped(kc_buf) fields = {0};
    const kc_value *schema = kc_dig(version, "schema.openAPIV3Schema");
    const kc_str name = field_name(&h->arena, kind);
    kc_members (kc_get(schema, "properties"), member, value)
        if (!kc_str_is(member, "apiVersion") && !kc_str_is(member, "kind") &&
            !kc_str_is(member, "metadata"))
            put_field(h, name, member, value,
                      is_required(schema, member) || kc_str_is(member, "status"), &fields);
    kc__types_describe(&h->structs, "", schema);
    kc__types_mark(&h->structs, "", schema, KC__TYPES_TYPE);
    kc__types_mark_kind(&h->structs, crd, version);
    if (!kc_str_eq(kc__go_name(&h->arena, name, h->version), kind))
        kc_buf_printf(&h->structs, "/// +kc:kind=%.*s\n", KC_ARG(kind));
    kc_buf_printf(&h->structs,
                  "typedef struct %.*s {\n" INDENT "kc_object_meta metadata;\n%.*s} %.*s;\n",
                  KC_ARG(name), KC_ARG(kc_buf_str(&fields)), KC_ARG(name));
}

static int put_header(header *h, kc_str folder, kc_str kind, kc__gen_put *put, void *user,
                      kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const kc_str name = snake(&h->arena, kind);
    kc_buf_printf(&text, "/* %.*s of version %.*s. */\n#pragma once\n\n#include \"kc/api.h\"\n\n",
                  KC_ARG(kind), KC_ARG(h->version));
    if (h->lost.n)
        kc_buf_printf(&text, "/*\n * Rules that no marker can say, left out:\n%.*s */\n\n",
                      KC_ARG(kc_buf_str(&h->lost)));
    kc_buf_append(&text, kc_buf_str(&h->structs));
    const char *path =
        kc_arena_printf(&h->arena, "%.*s/%.*s_types.h", KC_ARG(folder), KC_ARG(name));
    return put(path, kc_buf_str(&text), user, err);
}

static int put_version(const kc_value *crd, const kc_value *version, kc__gen_put *put, void *user,
                       kc_error *err)
{
    header h = {.version = kc_as_str(kc_get(version, "name"))};
    const kc_str group = kc_as_str(kc_dig(crd, "spec.group"));
    const kc_str kind = kc_as_str(kc_dig(crd, "spec.names.kind"));
    kc_str rest = group;
    const kc_str label = kc_str_cut(&rest, '.');
    const kc_str folder =
        kc_cstr(kc_arena_printf(&h.arena, "%.*s/%.*s", KC_ARG(label), KC_ARG(h.version)));
    const char *info = kc_arena_printf(&h.arena, "%.*s/groupversion_info.h", KC_ARG(folder));
    const char *text =
        kc_arena_printf(&h.arena, "/// +groupName=%.*s\n/// +versionName=%.*s\n#pragma once\n",
                        KC_ARG(group), KC_ARG(h.version));
    put_kind(&h, crd, version, kind);
    int done = put(info, kc_cstr(text), user, err);
    if (done == 0)
        done = put_header(&h, folder, kind, put, user, err);
    kc_buf_done(&h.structs);
    kc_buf_done(&h.lost);
    kc_arena_done(&h.arena);
    return done;
}

/* Can be part of a path. */
static bool is_plain(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && (i == 0 || (text.p[i] != '-' && text.p[i] != '.')))
            return false;
    return text.n > 0;
}

static int check(const kc_value *crd, kc_error *err)
{
    if (!kc_str_is(kc_as_str(kc_get(crd, "apiVersion")), "apiextensions.k8s.io/v1") ||
        !kc_str_is(kc_as_str(kc_get(crd, "kind")), "CustomResourceDefinition"))
        return kc_error_set(err, KC_INVALID,
                            "it is no CustomResourceDefinition of apiextensions.k8s.io/v1");
    if (!is_plain(kc_as_str(kc_dig(crd, "spec.group"))) ||
        !is_plain(kc_as_str(kc_dig(crd, "spec.names.kind"))))
        return kc_error_set(err, KC_INVALID, "it has no spec.group or no spec.names.kind");
    kc_items (kc_dig(crd, "spec.versions"), version) {
        const kc_str name = kc_as_str(kc_get(version, "name"));
        if (!is_plain(name) || !kc_dig(version, "schema.openAPIV3Schema"))
            return kc_error_set(err, KC_INVALID, "its version '%.*s' has no schema", KC_ARG(name));
    }
    return 0;
}

int kc__write_types(const kc_value *crd, kc__gen_put *put, void *user, kc_error *err)
{
    int done = check(crd, err);
    kc_items (kc_dig(crd, "spec.versions"), version)
        if (done == 0)
            done = put_version(crd, version, put, user, err);
    return done;
}
