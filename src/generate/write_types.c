/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_types.c: headers of API types from CustomResourceDefinitions.
 *
 * Every object with properties becomes a struct, named after its place (spec.arms of Robot:
 * robot_spec_arms), and stands before the struct that uses it. What a schema says of a value stands
 * at the field; what it says of elements of lists and maps, at their struct, or at a typedef of its
 * own where there is more to say than a line. What C has no type for becomes kc_raw. Generating
 * CRDs from the headers gives the same schema again, except what no marker can say (oneOf, not,
 * most of anyOf and allOf; defaults of elements): a comment at the top names what was left out, and
 * where.
 *
 * Texts of a given set stay texts with their Enum marker: a C enum would refuse to read what a
 * newer CRD adds to it.
 */
#include "generate/write_types.h"

#include "generate/names.h"
#include "generate/types_internal.h"

#include "kc/ascii.h"

#define INDENT "    "

/* A header being written. */
typedef struct header {
    kc_arena arena;
    kc_buf types; /* Those that are complete. */
    kc_buf lost;  /* What could not be said, a line each. */
    kc_map taken; /* Names of types. */
    kc_str version;
} header;

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

static kc_str joined(header *h, kc_str a, kc_str b)
{
    return kc_cstr(kc_arena_printf(&h->arena, "%.*s_%.*s", KC_ARG(a), KC_ARG(b)));
}

static bool is_text(kc_str type)
{
    return kc_str_is(type, "char *");
}

static void note_lost(header *h, kc_str where, const kc_value *schema, kc__types_place place)
{
    kc_scoped(kc_buf) keywords = {0};
    kc__types_lost(&keywords, schema, place);
    if (keywords.n)
        kc_buf_printf(&h->lost, " *   %.*s: %.*s\n", KC_ARG(where), KC_ARG(kc_buf_str(&keywords)));
}

/* ---- types ---- */

static kc_str put_struct(header *h, kc_str name, const kc_value *schema, bool is_element);
static kc_str element_type(header *h, const kc_value *schema, kc_str name, kc_str suffix);

static kc_str map_type(header *h, const kc_value *schema, kc_str name)
{
    const kc_str of =
        element_type(h, kc_get(schema, "additionalProperties"), name, KC_STR("value"));
    return is_text(of) ? KC_STR("kc_string_map")
                       : kc_cstr(kc_arena_printf(&h->arena, "KC_MAP_OF(%.*s)", KC_ARG(of)));
}

/* The C type of a schema; a struct gets the name. */
static kc_str type_of(header *h, const kc_value *schema, kc_str name, bool is_element)
{
    switch (kc__types_form_of(schema)) {
    case KC__TYPES_STRUCT: return put_struct(h, name, schema, is_element);
    case KC__TYPES_MAP: return map_type(h, schema, name);
    case KC__TYPES_LIST:
        return kc_cstr(kc_arena_printf(
            &h->arena, "KC_LIST_OF(%.*s)",
            KC_ARG(element_type(h, kc_get(schema, "items"), name, KC_STR("item")))));
    default: return kc_cstr(kc__types_value(schema));
    }
}

static void put_typedef(kc_buf *out, kc_str type, kc_str name)
{
    kc_buf_printf(out, "typedef %.*s%s%.*s;\n\n", KC_ARG(type), is_text(type) ? "" : " ",
                  KC_ARG(name));
}

/* What stands at each place of a list or map: a struct of this name, or a type, behind a typedef
 * where the schema says something of it. */
static kc_str element_type(header *h, const kc_value *schema, kc_str name, kc_str suffix)
{
    kc_scoped(kc_buf) says = {0};
    if (kc__types_is_condition(schema))
        return KC_STR("kc_status_condition");
    const bool is_struct = kc__types_form_of(schema) == KC__TYPES_STRUCT;
    const kc_str below = joined(h, name, suffix);
    const kc_str type = type_of(h, schema, is_struct ? name : below, true);
    note_lost(h, is_struct ? type : below, schema, KC__TYPES_TYPE);
    if (is_struct)
        return type;
    kc__types_describe(&says, "", schema);
    kc__types_mark(&says, "", schema, KC__TYPES_TYPE);
    if (!says.n)
        return type;
    const kc_str named = kc__types_take_name(&h->arena, &h->taken, below);
    kc_buf_append(&h->types, kc_buf_str(&says));
    put_typedef(&h->types, type, named);
    return named;
}

/* ---- fields ---- */

/* Whether what a list says of its items can stand at the list. */
static bool is_said_at_list(const kc_value *items)
{
    kc_scoped(kc_buf) lost = {0};
    const kc__types_form form = kc__types_form_of(items);
    kc__types_lost(&lost, items, KC__TYPES_ITEMS);
    return (form == KC__TYPES_ONE || form == KC__TYPES_RAW) && !kc_get(items, "description") &&
           !lost.n;
}

/* A field: its schema, and what becomes of it. */
typedef struct field {
    const kc_value *schema;
    kc_str json_name, name, type;
    bool is_list, is_required, is_of_kind;
} field;

static kc_str field_type(header *h, field *f, kc_str below, kc_buf *out)
{
    const kc_value *items = kc_get(f->schema, "items");
    const kc__types_form form = kc__types_form_of(f->schema);
    if (form == KC__TYPES_RAW && kc_str_is(f->json_name, "metadata") &&
        kc_str_is(kc_as_str(kc_get(f->schema, "type")), "object") &&
        !kc_get(f->schema, "x-kubernetes-preserve-unknown-fields"))
        return KC_STR("kc_object_meta");
    if (form != KC__TYPES_LIST)
        return type_of(h, f->schema, below, false);
    f->is_list = true;
    if (!is_said_at_list(items))
        return element_type(h, items, below, KC_STR("item"));
    kc__types_mark(out, INDENT, items, KC__TYPES_ITEMS);
    return kc_cstr(kc__types_value(items));
}

/* Of limits that a type and a field have, the type's: a typedef of its own. What is said of items
 * is said there then. */
static void put_both(header *h, field *f, kc_str below, kc_buf *of_items, kc_buf *out)
{
    const kc_value *parts = kc__types_both(f->schema);
    if (!parts)
        return;
    const kc_str named =
        kc__types_take_name(&h->arena, &h->taken, joined(h, below, KC_STR("type")));
    const kc_str list = kc_cstr(kc_arena_printf(&h->arena, "KC_LIST_OF(%.*s)", KC_ARG(f->type)));
    kc__types_mark_limits(&h->types, "", kc_at(parts, 0), KC__TYPES_TYPE);
    kc_buf_append(&h->types, kc_buf_str(of_items));
    kc_buf_clear(of_items);
    put_typedef(&h->types, f->is_list ? list : f->type, named);
    kc__types_mark_limits(out, INDENT, kc_at(parts, 1), KC__TYPES_FIELD);
    f->type = named;
    f->is_list = false;
}

/* What has an empty value of its own needs no pointer to be absent; nor has a kind's spec one. */
static bool needs_pointer(const field *f)
{
    static const char *const own[] = {"char *", "kc_bytes", "kc_raw", NULL};
    const kc__types_form form = kc__types_form_of(f->schema);
    if (f->is_required || form == KC__TYPES_LIST || form == KC__TYPES_MAP)
        return false;
    return form == KC__TYPES_STRUCT ? !f->is_of_kind
                                    : !kc_str_is_any(kc_cstr(kc__types_value(f->schema)), own);
}

static void put_declaration(kc_buf *out, const field *f, bool pointer)
{
    kc_buf_printf(out, INDENT "%.*s%s%s%.*s;\n", KC_ARG(f->type), is_text(f->type) ? "" : " ",
                  pointer || f->is_list ? "*" : "", KC_ARG(f->name));
    if (f->is_list)
        kc_buf_printf(out, INDENT "size_t n_%.*s;\n", KC_ARG(f->name));
}

/* A member's name; a list's count is one too. */
static kc_str take_member(header *h, body *b, const field *f)
{
    const kc_str wanted = kc__types_c_name(&h->arena, f->json_name);
    const kc_str name = kc__types_take_name(&h->arena, &b->taken, wanted);
    if (kc__types_form_of(f->schema) == KC__TYPES_LIST)
        kc_map_put(&b->taken, joined(h, KC_STR("n"), name), b);
    return name;
}

static void put_field(header *h, body *b, field f)
{
    kc_buf *out = &b->fields;
    kc_scoped(kc_buf) of_items = {0};
    if (!kc__types_can_be_named(f.json_name)) {
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
    note_lost(h, kc_cstr(where), f.schema, KC__TYPES_FIELD);
    kc__types_describe(out, INDENT, f.schema);
    if (!is_meta)
        kc__types_mark(out, INDENT, f.schema, KC__TYPES_FIELD);
    put_both(h, &f, below, &of_items, out);
    kc_buf_append(out, kc_buf_str(&of_items));
    if (!kc_str_eq(kc__json_name(&h->arena, f.name), f.json_name))
        kc_buf_printf(out, INDENT "/// +kc:json=%.*s\n", KC_ARG(f.json_name));
    if (!f.is_required && !pointer)
        kc_buf_puts(out, INDENT "/// +optional\n");
    put_declaration(out, &f, pointer);
}

static bool is_required(const kc_value *schema, kc_str name)
{
    kc_items (kc_get(schema, "required"), item)
        if (kc_str_eq(kc_as_str(item), name))
            return true;
    return false;
}

/* Of an element it says what there is to say; of a field, the field does. */
static kc_str put_struct(header *h, kc_str wanted, const kc_value *schema, bool is_element)
{
    kc_scoped(body) b = {.name = kc__types_take_name(&h->arena, &h->taken, wanted)};
    kc_members (kc_get(schema, "properties"), member, value)
        put_field(h, &b,
                  (field){.schema = value,
                          .json_name = member,
                          .is_required = is_required(schema, member)});
    if (is_element) {
        kc__types_describe(&h->types, "", schema);
        kc__types_mark(&h->types, "", schema, KC__TYPES_TYPE);
    }
    kc_buf_printf(&h->types, "typedef struct %.*s {\n%.*s} %.*s;\n\n", KC_ARG(b.name),
                  KC_ARG(kc_buf_str(&b.fields)), KC_ARG(b.name));
    return b.name;
}

/* ---- kinds ---- */

/* Members of a kind, without those every object has. A client sends no status, so it is no pointer
 * and needs no marker to be optional; metadata is there anyway. */
static void put_kind_fields(header *h, body *b, const kc_value *schema)
{
    const bool metadata = is_required(schema, KC_STR("metadata"));
    kc_map_put(&b->taken, KC_STR("metadata"), b);
    kc_buf_printf(&b->fields, "%s" INDENT "kc_object_meta metadata;\n",
                  metadata ? INDENT "/// +required\n" : "");
    kc_members (kc_get(schema, "properties"), member, value) {
        const bool required = is_required(schema, member), status = kc_str_is(member, "status");
        if (kc_str_is(member, "apiVersion") || kc_str_is(member, "kind") ||
            kc_str_is(member, "metadata"))
            continue;
        if (status && required)
            kc_buf_puts(&b->fields, INDENT "/// +required\n");
        put_field(h, b,
                  (field){.schema = value,
                          .json_name = member,
                          .is_required = required || status,
                          .is_of_kind = true});
    }
}

static void put_kind(header *h, const kc_value *crd, const kc_value *version, kc_str kind)
{
    const kc_value *schema = kc_dig(version, "schema.openAPIV3Schema");
    kc_scoped(body) b = {
        .name = kc__types_take_name(&h->arena, &h->taken, kc__types_kind_name(&h->arena, kind))};
    put_kind_fields(h, &b, schema);
    note_lost(h, b.name, schema, KC__TYPES_TYPE);
    kc__types_describe(&h->types, "", schema);
    kc__types_mark(&h->types, "", schema, KC__TYPES_TYPE);
    kc__types_mark_kind(&h->types, crd, version);
    if (!kc_str_eq(kc__go_name(&h->arena, b.name, h->version), kind))
        kc_buf_printf(&h->types, "/// +kc:kind=%.*s\n", KC_ARG(kind));
    kc_buf_printf(&h->types, "typedef struct %.*s {\n%.*s} %.*s;\n", KC_ARG(b.name),
                  KC_ARG(kc_buf_str(&b.fields)), KC_ARG(b.name));
}

static int put_header(header *h, kc_str folder, kc_str kind, kc__gen_put *put, void *user,
                      kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const kc_str name = kc__types_snake(&h->arena, kind);
    kc_buf_printf(&text, "/* %.*s of version %.*s. */\n#pragma once\n\n#include \"kc/api.h\"\n\n",
                  KC_ARG(kind), KC_ARG(h->version));
    if (h->lost.n)
        kc_buf_printf(&text, "/*\n * Rules that no marker can say, left out:\n%.*s */\n\n",
                      KC_ARG(kc_buf_str(&h->lost)));
    kc_buf_append(&text, kc_buf_str(&h->types));
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
    kc_buf_done(&h.types);
    kc_buf_done(&h.lost);
    kc_map_done(&h.taken);
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
