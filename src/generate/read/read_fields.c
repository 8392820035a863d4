/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_fields.c: reads members of a struct: their shapes and names.
 *
 *     int32_t replicas;            a value, required
 *     int32_t *replicas;           optional: NULL is absent
 *     char *name;                  text
 *     T *arms; size_t n_arms;      a list; T **arms is a list of pointers
 *     kc_string_map labels;        a map; KC_MAP_OF(T) of anything else (read_collections.c)
 *     KC_LIST_OF(T) arms;          a list with its own count
 *
 * A count is not a field of the API; a count without its list, or a list without its count, is an
 * error.
 */
#include "generate/model/names.h"
#include "generate/read/read_internal.h"

/* A struct whose members are being read. */
typedef struct gen_read_fields_record {
    kc__gen_reader *r;
    kc__gen_cursors members;
    kc_map by_name; /* A member's C name to its CXCursor. */
    kc_map json;    /* Used names, to the field's location. */
    kc__gen_field *fields;
    size_t n_fields;
} gen_read_fields_record;

/* ---- names and markers ---- */

/* +kc:json=name,option. False: the field is not in JSON. */
static bool read_json_name(gen_read_fields_record *rec, kc__gen_field *field)
{
    const kc__gen_marker *marker = kc__gen_marker_find(&field->markers, "kc:json");
    kc_str rest = kc__gen_marker_arg(marker, "");
    field->is_inline = kc__gen_marker_find(&field->markers, "kc:inline") != NULL;
    field->json_name = kc__gen_json_name(rec->r->arena, field->c_name);
    if (!marker)
        return true;
    if (kc_str_is(rest, "-"))
        return false;
    const kc_str name = kc_str_trim(kc_str_cut(&rest, ','));
    if (name.n)
        field->json_name = name;
    while (rest.p) {
        const kc_str option = kc_str_trim(kc_str_cut(&rest, ','));
        if (kc_str_is(option, "inline"))
            field->is_inline = true;
        else if (kc_str_is(option, "omitempty"))
            field->optional = true;
        else
            kc__gen_reader_fail(rec->r, marker->at,
                                "'+kc:json' has no option '%.*s'; options: inline, omitempty",
                                KC_ARG(option));
    }
    return true;
}

static bool gen_read_fields_has(const kc__gen_field *field, const char *name)
{
    return kc__gen_marker_find(&field->markers, name) != NULL;
}

static bool package_is_optional(const kc__gen_reader *r)
{
    const kc__gen_markers markers = {r->package_markers.items, r->package_markers.n};
    return kc__gen_marker_find(&markers, "kubebuilder:validation:Optional") != NULL;
}

/* The rule of controller-gen. */
static bool is_optional(const gen_read_fields_record *rec, const kc__gen_field *field)
{
    if (gen_read_fields_has(field, "kubebuilder:validation:Optional"))
        return true;
    if (gen_read_fields_has(field, "kubebuilder:validation:Required"))
        return false;
    if (gen_read_fields_has(field, "optional") || gen_read_fields_has(field, "k8s:optional"))
        return true;
    if (gen_read_fields_has(field, "required") || gen_read_fields_has(field, "k8s:required"))
        return false;
    return field->optional || field->is_inline || field->shape == KC__GEN_POINTER ||
           package_is_optional(rec->r);
}

/* ---- shapes ---- */

static const CXCursor *member_named(const gen_read_fields_record *rec, const char *prefix,
                                    kc_str name)
{
    kc_autofree char *full_name = kc_asprintf("%s%.*s", prefix, KC_ARG(name));
    return kc_map_get(&rec->by_name, kc_cstr(full_name));
}

/* The count of a list, not a field. */
static bool is_count(gen_read_fields_record *rec, CXCursor member, kc_str name)
{
    if (!kc_str_starts(name, KC_STR("n_")) ||
        !kc__gen_reader_is_size(rec->r, rec->r->clang.getCursorType(member)))
        return false;
    const kc_str stem = kc_str_sub(name, 2, name.n);
    const CXCursor *list = kc_map_get(&rec->by_name, stem);
    const bool pointer =
        list &&
        rec->r->clang.getCanonicalType(rec->r->clang.getCursorType(*list)).kind == CXType_Pointer;
    if (!pointer)
        kc__gen_reader_fail(
            rec->r, kc__gen_reader_at(rec->r, member),
            "%.*s is a count without a list '%.*s'; a field of that name needs another type "
            "than size_t",
            KC_ARG(name), KC_ARG(stem));
    return true;
}

static bool read_list(gen_read_fields_record *rec, CXType pointee, CXCursor count,
                      kc__gen_field *field)
{
    kc__gen_reader *r = rec->r;
    field->shape = KC__GEN_LIST;
    field->count = kc__gen_reader_spelling(r, count);
    if (kc__gen_reader_is_size(r, r->clang.getCursorType(count)))
        return kc__gen_reader_item(r, pointee, field);
    kc__gen_reader_fail(r, kc__gen_reader_at(r, count), "%.*s, the count of %.*s, must be a size_t",
                        KC_ARG(field->count), KC_ARG(field->c_name));
    return false;
}

static bool gen_read_fields_read_value(gen_read_fields_record *rec, CXType type,
                                       kc__gen_field *field)
{
    kc__gen_read_value value = {0};
    const bool pointer = field->shape == KC__GEN_POINTER;
    if (!(pointer ? kc__gen_reader_pointee : kc__gen_reader_value)(rec->r, type, field->at,
                                                                   field->c_name, &value))
        return false;
    field->base = value.base;
    field->type = value.type;
    field->inner = value.inner;
    /* A list or map is one value only if its typedef has documentation or markers. */
    if (!field->type)
        *field = kc__gen_flat(field, rec->r->arena);
    return true;
}

static bool read_pointer(gen_read_fields_record *rec, CXType type, CXType pointee,
                         kc__gen_field *field)
{
    field->shape = KC__GEN_POINTER;
    if (!kc__gen_reader_is_text(rec->r, pointee))
        return gen_read_fields_read_value(rec, type, field);
    kc__gen_reader_fail(rec->r, field->at,
                        "%.*s: a list of texts needs a count: size_t n_%.*s; optional text is char "
                        "* and +optional",
                        KC_ARG(field->c_name), KC_ARG(field->c_name));
    return false;
}

static bool read_shape(gen_read_fields_record *rec, CXType type, kc__gen_field *field)
{
    kc__gen_reader *r = rec->r;
    const CXCursor *count = member_named(rec, "n_", field->c_name);
    if (kc__gen_reader_is_pointer(r, type)) {
        const CXType pointee = r->clang.getPointeeType(kc__gen_reader_strip(r, type));
        return count ? read_list(rec, pointee, *count, field)
                     : read_pointer(rec, type, pointee, field);
    }
    if (!count || !kc__gen_reader_is_text(r, type))
        return gen_read_fields_read_value(rec, type, field);
    kc__gen_reader_fail(
        r, field->at,
        "%.*s is text and needs no count; for bytes use kc_bytes, for a list of texts "
        "char **",
        KC_ARG(field->c_name));
    return false;
}

/* ---- a field ---- */

static bool check_inline(gen_read_fields_record *rec, const kc__gen_field *field)
{
    if (!field->is_inline || (field->base == KC__GEN_STRUCT && field->shape == KC__GEN_VALUE))
        return true;
    kc__gen_reader_fail(rec->r, field->at, "%.*s: only a struct that is no pointer can be inline",
                        KC_ARG(field->c_name));
    return false;
}

static bool gen_read_fields_check_name(gen_read_fields_record *rec, const kc__gen_field *field)
{
    const kc__gen_at *before = kc_map_get(&rec->json, field->json_name);
    if (!field->json_name.n)
        kc__gen_reader_fail(rec->r, field->at, "'%.*s' has no JSON name; set one: +kc:json=name",
                            KC_ARG(field->c_name));
    else if (before)
        kc__gen_reader_fail(rec->r, field->at, "%.*s: duplicate field '%.*s', also in line %u",
                            KC_ARG(field->c_name), KC_ARG(field->json_name), before->line);
    else
        return true;
    return false;
}

static void gen_read_fields_read_field(gen_read_fields_record *rec, CXCursor member)
{
    kc__gen_reader *r = rec->r;
    kc__gen_field field = {.c_name = kc__gen_reader_spelling(r, member),
                           .at = kc__gen_reader_at(r, member)};
    kc__gen_read_doc doc = {0};
    if (r->clang.Cursor_isBitField(member)) {
        kc__gen_reader_fail(r, field.at, "%.*s: a bit field cannot be a field; use bool or int32_t",
                            KC_ARG(field.c_name));
        return;
    }
    if (is_count(rec, member, field.c_name))
        return;
    kc__gen_reader_doc(r, member, KC__GEN_SCOPE_FIELD, &doc);
    field.doc = doc.doc;
    field.markers = kc__gen_reader_keep(r, &doc.markers);
    if (!read_json_name(rec, &field) || !read_shape(rec, r->clang.getCursorType(member), &field))
        return;
    field.optional = is_optional(rec, &field);
    if (!check_inline(rec, &field) ||
        (!field.is_inline && !gen_read_fields_check_name(rec, &field)))
        return;
    rec->fields[rec->n_fields] = field;
    if (!field.is_inline)
        kc_map_put(&rec->json, field.json_name, &rec->fields[rec->n_fields].at);
    rec->n_fields++;
}

/* An unnamed member: its members belong to C, not to JSON. */
static void refuse_unnamed(gen_read_fields_record *rec, CXCursor member)
{
    const enum CXCursorKind kind = rec->r->clang.getCursorKind(member);
    kc__gen_reader_fail(
        rec->r, kc__gen_reader_at(rec->r, member),
        kind == CXCursor_UnionDecl
            ? "JSON has no unions; write a struct with a pointer for each choice and "
              "+kubebuilder:validation:ExactlyOneOf"
            : "a struct inside a struct needs a name and a typedef of its own; for "
              "members that stand among these, add +kc:inline");
}

static void index_members(gen_read_fields_record *rec)
{
    kc_vec_each (&rec->members, member) {
        if (rec->r->clang.getCursorKind(*member) != CXCursor_FieldDecl)
            continue;
        const kc_str name = kc__gen_reader_spelling(rec->r, *member);
        if (name.n)
            kc_map_put(&rec->by_name, name, member);
    }
}

/* Whether the members of an unnamed struct or union belong to the parent: libclang also reports the
 * struct of KC_MAP_OF as a child, but a field of that type follows. */
static bool is_unnamed_member(gen_read_fields_record *rec, size_t at)
{
    kc__gen_reader *r = rec->r;
    const CXCursor member = rec->members.items[at];
    const kc_str usr = kc__gen_reader_usr(r, member);
    for (size_t i = at + 1; i < rec->members.n; i++) {
        const CXCursor next = rec->members.items[i];
        if (r->clang.getCursorKind(next) != CXCursor_FieldDecl)
            continue;
        CXType type = r->clang.getCanonicalType(r->clang.getCursorType(next));
        while (type.kind == CXType_Pointer)
            type = r->clang.getCanonicalType(r->clang.getPointeeType(type));
        const bool same = kc_str_eq(kc__gen_reader_usr(r, r->clang.getTypeDeclaration(type)), usr);
        return !(same && kc__gen_reader_spelling(r, next).n);
    }
    return true;
}

bool kc__gen_reader_fields(kc__gen_reader *r, CXCursor definition, kc__gen_type *into)
{
    gen_read_fields_record rec = {.r = r, .members = kc__gen_reader_children(r, definition)};
    const bool failed_before = r->failed;
    rec.fields = kc_arena_calloc(r->arena, rec.members.n + 1, sizeof(*rec.fields));
    index_members(&rec);
    for (size_t i = 0; i < rec.members.n; i++) {
        const enum CXCursorKind kind = r->clang.getCursorKind(rec.members.items[i]);
        if (kind == CXCursor_FieldDecl && kc__gen_reader_spelling(r, rec.members.items[i]).n)
            gen_read_fields_read_field(&rec, rec.members.items[i]);
        else if ((kind == CXCursor_UnionDecl || kind == CXCursor_StructDecl) &&
                 is_unnamed_member(&rec, i))
            refuse_unnamed(&rec, rec.members.items[i]);
    }
    into->fields = rec.fields;
    into->n_fields = rec.n_fields;
    kc_map_done(&rec.by_name);
    kc_map_done(&rec.json);
    kc_vec_done(&rec.members);
    return r->failed == failed_before;
}
