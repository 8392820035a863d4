/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_types.c: writes headers of API types from CustomResourceDefinitions.
 *
 * Every object with properties becomes a struct, named after its path (spec.arms of Robot:
 * robot_spec_arms), defined before the struct that uses it. Constraints of a value become markers
 * at the field; those of list and map elements become markers at their struct, or at a typedef
 * where a line is not enough. Values without a C type become kc_raw. Generating CRDs from the
 * headers gives the same schema again, except what no marker can express (oneOf, not, most of anyOf
 * and allOf; defaults of elements): a comment at the top lists what was left out, and where.
 *
 * Strings with a fixed set of values stay strings with an Enum marker: a C enum would fail to
 * decode values that a newer CRD adds.
 */
#include "generate/types/write_types.h"

#include "generate/model/names.h"
#include "generate/types/types_internal.h"

#include "kc/ascii.h"

#define INDENT "    "

/* A header being written. */
typedef struct gen_write_types_header {
    kc_arena arena;
    kc_buf types; /* Completed structs. */
    kc_buf lost;  /* What no marker can express, a line each. */
    kc_map taken; /* Names of types. */
    kc_str version;
} gen_write_types_header;

/* A struct being written. */
typedef struct body {
    kc_str name;
    kc_buf fields;
    kc_map taken; /* Names of members. */
} body;

static void body_done(body *b)
{
    kc_buf_done(&b->fields);
    kc_map_done(&b->taken);
}

static kc_str joined(gen_write_types_header *h, kc_str a, kc_str b)
{
    return kc_cstr(kc_arena_printf(&h->arena, "%.*s_%.*s", KC_ARG(a), KC_ARG(b)));
}

static bool gen_write_types_is_text(kc_str type)
{
    return kc_str_is(type, "char *");
}

static void note_lost(gen_write_types_header *h, kc_str where, const kc_value *schema,
                      kc__gen_types_position place)
{
    kc_scoped(kc_buf) keywords = {0};
    kc__gen_types_unrepresentable(&keywords, schema, place);
    if (keywords.n)
        kc_buf_printf(&h->lost, " *   %.*s: %.*s\n", KC_ARG(where), KC_ARG(kc_buf_str(&keywords)));
}

/* ---- types ---- */

static kc_str put_struct(gen_write_types_header *h, kc_str name, const kc_value *schema,
                         bool is_element);
static kc_str element_type(gen_write_types_header *h, const kc_value *schema, kc_str name,
                           kc_str suffix);

static kc_str map_type(gen_write_types_header *h, const kc_value *schema, kc_str name)
{
    const kc_str of =
        element_type(h, kc_value_get(schema, "additionalProperties"), name, KC_STR("value"));
    return gen_write_types_is_text(of)
               ? KC_STR("kc_string_map")
               : kc_cstr(kc_arena_printf(&h->arena, "KC_MAP_OF(%.*s)", KC_ARG(of)));
}

/* The C type of a schema; a struct gets the name. */
static kc_str gen_write_types_type_of(gen_write_types_header *h, const kc_value *schema,
                                      kc_str name, bool is_element)
{
    switch (kc__gen_types_form_of(schema)) {
    case KC__GEN_TYPES_STRUCT: return put_struct(h, name, schema, is_element);
    case KC__GEN_TYPES_MAP: return map_type(h, schema, name);
    case KC__GEN_TYPES_LIST:
        return kc_cstr(kc_arena_printf(
            &h->arena, "KC_LIST_OF(%.*s)",
            KC_ARG(element_type(h, kc_value_get(schema, "items"), name, KC_STR("item")))));
    default: return kc_cstr(kc__gen_types_value(schema));
    }
}

static void put_typedef(kc_buf *out, kc_str type, kc_str name)
{
    kc_buf_printf(out, "typedef %.*s%s%.*s;\n\n", KC_ARG(type),
                  gen_write_types_is_text(type) ? "" : " ", KC_ARG(name));
}

/* The element type of a list or map: a struct of this name, or a type, behind a typedef if its
 * schema has constraints. */
static kc_str element_type(gen_write_types_header *h, const kc_value *schema, kc_str name,
                           kc_str suffix)
{
    kc_scoped(kc_buf) doc = {0};
    if (kc__gen_types_is_condition(schema))
        return KC_STR("kc_status_condition");
    const bool is_struct = kc__gen_types_form_of(schema) == KC__GEN_TYPES_STRUCT;
    const kc_str below = joined(h, name, suffix);
    const kc_str type = gen_write_types_type_of(h, schema, is_struct ? name : below, true);
    note_lost(h, is_struct ? type : below, schema, KC__GEN_TYPES_TYPE);
    if (is_struct)
        return type;
    kc__gen_types_describe(&doc, "", schema);
    kc__gen_types_mark(&doc, "", schema, KC__GEN_TYPES_TYPE);
    if (!doc.n)
        return type;
    const kc_str named = kc__gen_types_take_name(&h->arena, &h->taken, below);
    kc_buf_append(&h->types, kc_buf_str(&doc));
    put_typedef(&h->types, type, named);
    return named;
}

/* ---- fields ---- */

/* Whether constraints of a list's items can be markers at the list. */
static bool is_said_at_list(const kc_value *items)
{
    kc_scoped(kc_buf) lost = {0};
    const kc__gen_types_form form = kc__gen_types_form_of(items);
    kc__gen_types_unrepresentable(&lost, items, KC__GEN_TYPES_ITEMS);
    return (form == KC__GEN_TYPES_ONE || form == KC__GEN_TYPES_RAW) &&
           !kc_value_get(items, "description") && !lost.n;
}

/* A field: its schema, and the generated C. */
typedef struct gen_write_types_field {
    const kc_value *schema;
    kc_str json_name, name, type;
    bool is_list, is_required, is_of_kind;
} gen_write_types_field;

static kc_str field_type(gen_write_types_header *h, gen_write_types_field *f, kc_str below,
                         kc_buf *out)
{
    const kc_value *items = kc_value_get(f->schema, "items");
    const kc__gen_types_form form = kc__gen_types_form_of(f->schema);
    if (form == KC__GEN_TYPES_RAW && kc_str_is(f->json_name, "metadata") &&
        kc_str_is(kc_value_as_str(kc_value_get(f->schema, "type")), "object") &&
        !kc_value_get(f->schema, "x-kubernetes-preserve-unknown-fields"))
        return KC_STR("kc_object_meta");
    if (form != KC__GEN_TYPES_LIST)
        return gen_write_types_type_of(h, f->schema, below, false);
    f->is_list = true;
    if (!is_said_at_list(items))
        return element_type(h, items, below, KC_STR("item"));
    kc__gen_types_mark(out, INDENT, items, KC__GEN_TYPES_ITEMS);
    return kc_cstr(kc__gen_types_value(items));
}

/* If type and field both have limits, those of the type go to a typedef of its own, with those of
 * the items. */
static void put_both(gen_write_types_header *h, gen_write_types_field *f, kc_str below,
                     kc_buf *of_items, kc_buf *out)
{
    const kc_value *parts = kc__gen_types_both(f->schema);
    if (!parts)
        return;
    const kc_str named =
        kc__gen_types_take_name(&h->arena, &h->taken, joined(h, below, KC_STR("type")));
    const kc_str list = kc_cstr(kc_arena_printf(&h->arena, "KC_LIST_OF(%.*s)", KC_ARG(f->type)));
    kc__gen_types_mark_limits(&h->types, "", kc_value_at(parts, 0), KC__GEN_TYPES_TYPE);
    kc_buf_append(&h->types, kc_buf_str(of_items));
    kc_buf_clear(of_items);
    put_typedef(&h->types, f->is_list ? list : f->type, named);
    kc__gen_types_mark_limits(out, INDENT, kc_value_at(parts, 1), KC__GEN_TYPES_FIELD);
    f->type = named;
    f->is_list = false;
}

/* A type with an empty value needs no pointer to be absent; nor does a kind's spec. */
static bool needs_pointer(const gen_write_types_field *f)
{
    static const char *const own[] = {"char *", "kc_bytes", "kc_raw", NULL};
    const kc__gen_types_form form = kc__gen_types_form_of(f->schema);
    if (f->is_required || form == KC__GEN_TYPES_LIST || form == KC__GEN_TYPES_MAP)
        return false;
    return form == KC__GEN_TYPES_STRUCT
               ? !f->is_of_kind
               : !kc_str_is_any(kc_cstr(kc__gen_types_value(f->schema)), own);
}

static void put_declaration(kc_buf *out, const gen_write_types_field *f, bool pointer)
{
    kc_buf_printf(out, INDENT "%.*s%s%s%.*s;\n", KC_ARG(f->type),
                  gen_write_types_is_text(f->type) ? "" : " ", pointer || f->is_list ? "*" : "",
                  KC_ARG(f->name));
    if (f->is_list)
        kc_buf_printf(out, INDENT "size_t n_%.*s;\n", KC_ARG(f->name));
}

/* A member's name; a list's count takes a name too. */
static kc_str take_member(gen_write_types_header *h, body *b, const gen_write_types_field *f)
{
    const kc_str wanted = kc__gen_types_c_name(&h->arena, f->json_name);
    const kc_str name = kc__gen_types_take_name(&h->arena, &b->taken, wanted);
    if (kc__gen_types_form_of(f->schema) == KC__GEN_TYPES_LIST)
        kc_map_put(&b->taken, joined(h, KC_STR("n"), name), b);
    return name;
}

static void gen_write_types_put_field(gen_write_types_header *h, body *b, gen_write_types_field f)
{
    kc_buf *out = &b->fields;
    kc_scoped(kc_buf) of_items = {0};
    if (!kc__gen_types_can_be_named(f.json_name)) {
        kc_buf_printf(&h->lost, " *   %.*s: a field whose name no marker can say\n",
                      KC_ARG(b->name));
        return;
    }
    f.name = take_member(h, b, &f);
    const kc_str below = joined(h, b->name, f.name);
    f.type = field_type(h, &f, below, &of_items);
    const bool is_meta = kc_str_is(f.type, "kc_object_meta");
    const bool pointer = is_meta ? !f.is_required : needs_pointer(&f);
    kc_autofree char *where = kc_asprintf("%.*s.%.*s", KC_ARG(b->name), KC_ARG(f.name));
    note_lost(h, kc_cstr(where), f.schema, KC__GEN_TYPES_FIELD);
    kc__gen_types_describe(out, INDENT, f.schema);
    if (!is_meta)
        kc__gen_types_mark(out, INDENT, f.schema, KC__GEN_TYPES_FIELD);
    put_both(h, &f, below, &of_items, out);
    kc_buf_append(out, kc_buf_str(&of_items));
    if (!kc_str_eq(kc__gen_json_name(&h->arena, f.name), f.json_name))
        kc_buf_printf(out, INDENT "/// +kc:json=%.*s\n", KC_ARG(f.json_name));
    if (!f.is_required && !pointer)
        kc_buf_puts(out, INDENT "/// +optional\n");
    put_declaration(out, &f, pointer);
}

static bool gen_write_types_is_required(const kc_value *schema, kc_str name)
{
    kc_value_each_item (kc_value_get(schema, "required"), item)
        if (kc_str_eq(kc_value_as_str(item), name))
            return true;
    return false;
}

/* For elements the marker is at the struct; for fields, at the field. */
static kc_str put_struct(gen_write_types_header *h, kc_str wanted, const kc_value *schema,
                         bool is_element)
{
    kc_scoped(body) b = {.name = kc__gen_types_take_name(&h->arena, &h->taken, wanted)};
    kc_value_each_member (kc_value_get(schema, "properties"), member, value)
        gen_write_types_put_field(
            h, &b,
            (gen_write_types_field){.schema = value,
                                    .json_name = member,
                                    .is_required = gen_write_types_is_required(schema, member)});
    if (is_element) {
        kc__gen_types_describe(&h->types, "", schema);
        kc__gen_types_mark(&h->types, "", schema, KC__GEN_TYPES_TYPE);
    }
    kc_buf_printf(&h->types, "typedef struct %.*s {\n%.*s} %.*s;\n\n", KC_ARG(b.name),
                  KC_ARG(kc_buf_str(&b.fields)), KC_ARG(b.name));
    return b.name;
}

/* ---- kinds ---- */

/* Members of a kind except the common ones. Clients send no status, so it is no pointer and needs
 * no marker to be optional; metadata is always there. */
static void put_kind_fields(gen_write_types_header *h, body *b, const kc_value *schema)
{
    const bool metadata = gen_write_types_is_required(schema, KC_STR("metadata"));
    kc_map_put(&b->taken, KC_STR("metadata"), b);
    kc_buf_printf(&b->fields, "%s" INDENT "kc_object_meta metadata;\n",
                  metadata ? INDENT "/// +required\n" : "");
    kc_value_each_member (kc_value_get(schema, "properties"), member, value) {
        const bool required = gen_write_types_is_required(schema, member),
                   status = kc_str_is(member, "status");
        if (kc_str_is(member, "apiVersion") || kc_str_is(member, "kind") ||
            kc_str_is(member, "metadata"))
            continue;
        if (status && required)
            kc_buf_puts(&b->fields, INDENT "/// +required\n");
        gen_write_types_put_field(h, b,
                                  (gen_write_types_field){.schema = value,
                                                          .json_name = member,
                                                          .is_required = required || status,
                                                          .is_of_kind = true});
    }
}

static void gen_write_types_put_kind(gen_write_types_header *h, const kc_value *crd,
                                     const kc_value *version, kc_str kind)
{
    const kc_value *schema = kc_value_nested(version, "schema.openAPIV3Schema");
    kc_scoped(body) b = {.name = kc__gen_types_take_name(&h->arena, &h->taken,
                                                         kc__gen_types_kind_name(&h->arena, kind))};
    put_kind_fields(h, &b, schema);
    note_lost(h, b.name, schema, KC__GEN_TYPES_TYPE);
    kc__gen_types_describe(&h->types, "", schema);
    kc__gen_types_mark(&h->types, "", schema, KC__GEN_TYPES_TYPE);
    kc__gen_types_mark_kind(&h->types, crd, version);
    if (!kc_str_eq(kc__gen_go_name(&h->arena, b.name, h->version), kind))
        kc_buf_printf(&h->types, "/// +kc:kind=%.*s\n", KC_ARG(kind));
    kc_buf_printf(&h->types, "typedef struct %.*s {\n%.*s} %.*s;\n", KC_ARG(b.name),
                  KC_ARG(kc_buf_str(&b.fields)), KC_ARG(b.name));
}

static int put_header(gen_write_types_header *h, kc_str dir, kc_str kind, kc__gen_output_put *put,
                      void *user, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const kc_str name = kc__gen_types_snake(&h->arena, kind);
    kc_buf_printf(&text, "/* %.*s of version %.*s. */\n#pragma once\n\n#include \"kc/api.h\"\n\n",
                  KC_ARG(kind), KC_ARG(h->version));
    if (h->lost.n)
        kc_buf_printf(&text, "/*\n * Rules that no marker can say, left out:\n%.*s */\n\n",
                      KC_ARG(kc_buf_str(&h->lost)));
    kc_buf_append(&text, kc_buf_str(&h->types));
    const char *path = kc_arena_printf(&h->arena, "%.*s/%.*s_types.h", KC_ARG(dir), KC_ARG(name));
    return put(path, kc_buf_str(&text), user, err);
}

static int put_version(const kc_value *crd, const kc_value *version, kc__gen_output_put *put,
                       void *user, kc_error *err)
{
    gen_write_types_header h = {.version = kc_value_as_str(kc_value_get(version, "name"))};
    const kc_str group = kc_value_as_str(kc_value_nested(crd, "spec.group"));
    const kc_str kind = kc_value_as_str(kc_value_nested(crd, "spec.names.kind"));
    kc_str rest = group;
    const kc_str label = kc_str_cut(&rest, '.');
    const kc_str dir =
        kc_cstr(kc_arena_printf(&h.arena, "%.*s/%.*s", KC_ARG(label), KC_ARG(h.version)));
    const char *info = kc_arena_printf(&h.arena, "%.*s/groupversion_info.h", KC_ARG(dir));
    const char *text =
        kc_arena_printf(&h.arena, "/// +groupName=%.*s\n/// +versionName=%.*s\n#pragma once\n",
                        KC_ARG(group), KC_ARG(h.version));
    gen_write_types_put_kind(&h, crd, version, kind);
    int done = put(info, kc_cstr(text), user, err);
    if (done == 0)
        done = put_header(&h, dir, kind, put, user, err);
    kc_buf_done(&h.types);
    kc_buf_done(&h.lost);
    kc_map_done(&h.taken);
    kc_arena_done(&h.arena);
    return done;
}

/* Whether it can be part of a path. */
static bool gen_write_types_is_plain(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && (i == 0 || (text.p[i] != '-' && text.p[i] != '.')))
            return false;
    return text.n > 0;
}

static int gen_write_types_check(const kc_value *crd, kc_error *err)
{
    if (!kc_str_is(kc_value_as_str(kc_value_get(crd, "apiVersion")), "apiextensions.k8s.io/v1") ||
        !kc_str_is(kc_value_as_str(kc_value_get(crd, "kind")), "CustomResourceDefinition"))
        return kc_error_set(err, KC_INVALID,
                            "not a CustomResourceDefinition of apiextensions.k8s.io/v1");
    if (!gen_write_types_is_plain(kc_value_as_str(kc_value_nested(crd, "spec.group"))) ||
        !gen_write_types_is_plain(kc_value_as_str(kc_value_nested(crd, "spec.names.kind"))))
        return kc_error_set(err, KC_INVALID, "spec.group or spec.names.kind is missing");
    kc_value_each_item (kc_value_nested(crd, "spec.versions"), version) {
        const kc_str name = kc_value_as_str(kc_value_get(version, "name"));
        if (!gen_write_types_is_plain(name) || !kc_value_nested(version, "schema.openAPIV3Schema"))
            return kc_error_set(err, KC_INVALID, "version '%.*s' has no schema", KC_ARG(name));
    }
    return 0;
}

int kc__gen_write_types(const kc_value *crd, kc__gen_output_put *put, void *user, kc_error *err)
{
    int done = gen_write_types_check(crd, err);
    kc_value_each_item (kc_value_nested(crd, "spec.versions"), version)
        if (done == 0)
            done = put_version(crd, version, put, user, err);
    return done;
}
