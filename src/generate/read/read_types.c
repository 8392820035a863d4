/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_types.c: reads structs, enums and typedefs.
 *
 * A type is identified by its typedef: generated code needs that name. Types refer to each other by
 * pointer, and a struct may contain a list of itself, so a type is registered before its members
 * are read.
 *
 * A typedef of a scalar, list or map, or a second one of a struct, is a type of its own if it has
 * documentation or markers: the markers of the underlying type come first.
 *
 * To add a type of the SDK that is one JSON value: a row of `values_of_sdk`, a value of
 * kc__gen_base.
 */
#include "generate/model/names.h"
#include "generate/read/read_internal.h"

enum { MAX_DEPTH = 200 };

/* Structs of kc/api.h and its headers that are not JSON objects. */
static const struct {
    const char *name;
    kc__gen_base base;
} values_of_sdk[] = {
    {"kc_bytes", KC__GEN_BYTES},
    {"kc_int_or_string", KC__GEN_INT_OR_STRING},
    {"kc_quantity_text", KC__GEN_QUANTITY},
    {"kc_timestamp", KC__GEN_TIME},
    {"kc_micro_timestamp", KC__GEN_MICRO_TIME},
    {"kc_duration_field", KC__GEN_DURATION},
    {"kc_raw", KC__GEN_RAW},
};

/* ---- enums ---- */

static kc_str text_of_enumerator(kc__gen_reader *r, CXCursor cursor, kc_str name, size_t prefix)
{
    kc__gen_read_doc doc = {0};
    kc__gen_reader_doc(r, cursor, KC__GEN_SCOPE_ENUMERATOR, &doc);
    const kc__gen_markers markers = kc__gen_reader_keep(r, &doc.markers);
    const kc__gen_marker *marker = kc__gen_marker_find(&markers, "kc:value");
    if (marker)
        return marker->n_args ? marker->args[0].value : KC_STR("");
    return kc__gen_enum_text(r->arena, kc_str_sub(name, prefix, name.n));
}

static size_t prefix_of_all(const kc__gen_enum_value *values, size_t n)
{
    size_t prefix = n ? values[0].c_name.n : 0;
    for (size_t i = 1; i < n; i++)
        prefix = KC_MIN(prefix, kc__gen_common_prefix(values[0].c_name, values[i].c_name));
    if (n != 1)
        return prefix;
    const ptrdiff_t last = kc_str_rfind(values[0].c_name, '_');
    return last < 0 ? 0 : (size_t)last + 1;
}

static void read_enum(kc__gen_reader *r, CXCursor definition, kc__gen_type *type)
{
    kc__gen_cursors children = kc__gen_reader_children(r, definition);
    kc__gen_enum_value *values = kc_arena_calloc(r->arena, children.n + 1, sizeof(*values));
    for (size_t i = 0; i < children.n; i++)
        values[i].c_name = kc__gen_reader_spelling(r, children.items[i]);
    const size_t prefix = prefix_of_all(values, children.n);
    for (size_t i = 0; i < children.n; i++) {
        const kc__gen_at at = kc__gen_reader_at(r, children.items[i]);
        if (r->clang.getEnumConstantDeclValue(children.items[i]) != (long long)i)
            kc__gen_reader_fail(
                r, at, "%.*s must be %zu: values of an enum must start at 0 and have no gaps",
                KC_ARG(values[i].c_name), i);
        values[i].text = text_of_enumerator(r, children.items[i], values[i].c_name, prefix);
    }
    if (!children.n)
        kc__gen_reader_fail(r, type->at, "the enum %.*s has no values", KC_ARG(type->c_name));
    type->values = values;
    type->n_values = children.n;
    kc_vec_done(&children);
}

/* ---- structs ---- */

static bool gen_read_types_is_true(const kc__gen_markers *markers, const char *name)
{
    const kc__gen_marker *marker = kc__gen_marker_find(markers, name);
    return marker && kc_str_is(kc__gen_marker_arg(marker, ""), "true");
}

static const kc__gen_field *gen_read_types_metadata_of(const kc__gen_type *type)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (kc_str_is(type->fields[i].json_name, "metadata") && type->fields[i].type &&
            kc_str_is(type->fields[i].type->c_name, "kc_object_meta"))
            return &type->fields[i];
    return NULL;
}

static const char *const markers_of_kinds[] = {
    "kubebuilder:resource",          "kubebuilder:subresource:status", "kubebuilder:printcolumn",
    "kubebuilder:subresource:scale", "kubebuilder:storageversion",     "kubebuilder:skipversion",
    "kubebuilder:unservedversion",   "kubebuilder:deprecatedversion",  "kubebuilder:metadata",
    "kubebuilder:selectablefield",
};

static void check_root(kc__gen_reader *r, const kc__gen_type *type)
{
    if (type->is_root && !gen_read_types_metadata_of(type))
        kc__gen_reader_fail(r, type->at,
                            "%.*s is a kind (+kubebuilder:object:root=true) and needs a member "
                            "'kc_object_meta metadata'",
                            KC_ARG(type->c_name));
    for (size_t i = 0; !type->is_root && i < KC_COUNT(markers_of_kinds); i++) {
        const kc__gen_marker *marker = kc__gen_marker_find(&type->markers, markers_of_kinds[i]);
        if (marker)
            kc__gen_reader_fail(r, marker->at,
                                "'+%s' applies to a kind; to make %.*s one, add "
                                "'+kubebuilder:object:root=true'",
                                markers_of_kinds[i], KC_ARG(type->c_name));
    }
}

/* Implicitly optional members of a kind: clients need not send them. */
static void relax_root(kc__gen_type *type)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        kc__gen_field *field = (kc__gen_field *)&type->fields[i];
        const bool implied =
            kc_str_is(field->json_name, "metadata") || kc_str_is(field->json_name, "status");
        if (implied && !kc__gen_marker_find(&field->markers, "required") &&
            !kc__gen_marker_find(&field->markers, "k8s:required") &&
            !kc__gen_marker_find(&field->markers, "kubebuilder:validation:Required"))
            field->optional = true;
    }
}

static void gen_read_types_read_struct(kc__gen_reader *r, CXCursor definition, kc__gen_type *type)
{
    type->is_root = gen_read_types_is_true(&type->markers, "kubebuilder:object:root");
    if (type->from_sdk && kc_str_is(type->c_name, "kc_object_meta"))
        return; /* The SDK has functions for it. */
    kc__gen_reader_fields(r, definition, type);
    if (type->is_root)
        relax_root(type);
    check_root(r, type);
}

/* ---- any type ---- */

static kc__gen_type *new_type(kc__gen_reader *r, CXCursor at, kc_str c_name)
{
    kc__gen_type *type = kc_arena_new(r->arena, kc__gen_type);
    kc__gen_read_file *file = kc__gen_reader_position(r, r->clang.getCursorLocation(at), &type->at);
    type->c_name = c_name;
    type->from_sdk = file && file->is_sdk;
    type->is_external = !file || (!file->is_ours && !file->is_sdk);
    return type;
}

static void name_in_go(kc__gen_reader *r, kc__gen_type *type)
{
    const kc__gen_marker *kind = kc__gen_marker_find(&type->markers, "kc:kind");
    type->go_name = kind ? kc__gen_marker_arg(kind, "")
                         : kc__gen_go_name(r->arena, type->c_name, r->package->version);
}

/* typedef struct x { … } x; */
static bool is_inside(kc__gen_reader *r, CXCursor definition, CXCursor named)
{
    kc__gen_at a, b;
    const CXSourceRange inner = r->clang.getCursorExtent(definition);
    const CXSourceRange outer = r->clang.getCursorExtent(named);
    if (kc__gen_reader_position(r, r->clang.getRangeStart(inner), &a) !=
            kc__gen_reader_position(r, r->clang.getRangeStart(outer), &b) ||
        b.line > a.line)
        return false;
    kc__gen_reader_position(r, r->clang.getRangeEnd(inner), &a);
    kc__gen_reader_position(r, r->clang.getRangeEnd(outer), &b);
    return b.line >= a.line;
}

static void read_doc(kc__gen_reader *r, CXCursor definition, CXCursor named, kc__gen_type *type)
{
    kc__gen_read_doc doc = {0};
    if (!is_inside(r, definition, named))
        kc__gen_reader_doc(r, definition, KC__GEN_SCOPE_TYPE, &doc);
    kc__gen_reader_doc(r, named, KC__GEN_SCOPE_TYPE, &doc);
    type->doc = doc.doc;
    type->markers = kc__gen_reader_keep(r, &doc.markers);
    name_in_go(r, type);
}

static const kc__gen_type *read_declared(kc__gen_reader *r, CXCursor definition, CXCursor named,
                                         kc_str usr)
{
    const bool is_enum = r->clang.getCursorKind(definition) == CXCursor_EnumDecl;
    kc__gen_type *type = new_type(r, definition, kc__gen_reader_spelling(r, named));
    type->base = is_enum ? KC__GEN_ENUM : KC__GEN_STRUCT;
    kc_map_put(&r->known, usr, type);
    read_doc(r, definition, named, type);
    if (is_enum)
        read_enum(r, definition, type);
    else
        gen_read_types_read_struct(r, definition, type);
    return type;
}

const kc__gen_type *kc__gen_reader_type(kc__gen_reader *r, CXCursor declaration, kc__gen_at used_at)
{
    const CXCursor definition = r->clang.getCursorDefinition(declaration);
    const kc_str usr = kc__gen_reader_usr(r, declaration);
    const kc__gen_type *known = kc_map_get(&r->known, usr);
    const CXCursor *named = kc_map_get(&r->typedefs, usr);
    if (known)
        return known;
    const kc_str tag = kc__gen_reader_spelling(r, declaration);
    if (r->clang.Cursor_isNull(definition)) {
        kc__gen_reader_fail(r, used_at, "%.*s is declared but not defined", KC_ARG(tag));
        return NULL;
    }
    if (!named) {
        kc__gen_reader_fail(
            r, kc__gen_reader_at(r, definition),
            "a struct or enum of an API needs a typedef: typedef struct NAME { … } NAME;");
        return NULL;
    }
    if (r->depth >= MAX_DEPTH) {
        kc__gen_reader_fail(r, used_at, "types are nested more than %d deep", MAX_DEPTH);
        return NULL;
    }
    r->depth++;
    const kc__gen_type *type = read_declared(r, definition, *named, usr);
    r->depth--;
    return type;
}

/* ---- values ---- */

/* Typedefs with documentation or markers, outermost last; further ones are skipped. */
enum { MAX_ALIASES = 8 };

typedef struct aliases {
    CXCursor items[MAX_ALIASES];
    size_t n;
} aliases;

static bool is_users(kc__gen_reader *r, CXCursor declaration)
{
    kc__gen_at at;
    const CXSourceLocation location = r->clang.getCursorLocation(declaration);
    if (r->clang.Location_isInSystemHeader(location))
        return false;
    const kc__gen_read_file *file = kc__gen_reader_position(r, location, &at);
    return file && !file->is_sdk;
}

/* Whether a typedef names its struct, rather than being a second one or that of a list. */
static bool is_name_of_struct(kc__gen_reader *r, CXCursor declaration)
{
    CXType item;
    const CXType canonical =
        r->clang.getCanonicalType(r->clang.getTypedefDeclUnderlyingType(declaration));
    if ((canonical.kind != CXType_Record && canonical.kind != CXType_Enum) ||
        kc__gen_reader_collection_shape(r, canonical, &item) != KC__GEN_VALUE)
        return false;
    const CXCursor *named =
        kc_map_get(&r->typedefs, kc__gen_reader_usr(r, r->clang.getTypeDeclaration(canonical)));
    return named && kc_str_eq(kc__gen_reader_usr(r, *named), kc__gen_reader_usr(r, declaration));
}

static CXType strip(kc__gen_reader *r, CXType type, aliases *found)
{
    for (unsigned i = 0; i < 100; i++) {
        if (type.kind == CXType_Elaborated) {
            type = r->clang.Type_getNamedType(type);
        } else if (type.kind == CXType_Typedef) {
            const CXCursor declaration = r->clang.getTypeDeclaration(type);
            if (found && found->n < MAX_ALIASES && is_users(r, declaration) &&
                !is_name_of_struct(r, declaration))
                found->items[found->n++] = declaration;
            type = r->clang.getTypedefDeclUnderlyingType(declaration);
        } else {
            break;
        }
    }
    return type;
}

CXType kc__gen_reader_strip(kc__gen_reader *r, CXType type)
{
    return strip(r, type, NULL);
}

static bool whole_number(kc__gen_reader *r, CXType type, bool is_signed, kc__gen_read_value *ret)
{
    const long long size = r->clang.Type_getSizeOf(type);
    ret->base = size == 4 ? (is_signed ? KC__GEN_INT32 : KC__GEN_UINT32)
                          : (is_signed ? KC__GEN_INT64 : KC__GEN_UINT64);
    return size == 4 || size == 8;
}

static bool is_char(CXType type)
{
    return type.kind == CXType_Char_S || type.kind == CXType_Char_U;
}

/* A struct of the SDK that is one value. */
static bool value_of_sdk(kc__gen_reader *r, CXCursor declaration, kc__gen_read_value *ret)
{
    const CXCursor *named = kc_map_get(&r->typedefs, kc__gen_reader_usr(r, declaration));
    const kc_str name = named ? kc__gen_reader_spelling(r, *named) : (kc_str){0};
    for (size_t i = 0; i < KC_COUNT(values_of_sdk); i++) {
        if (kc_str_is(name, values_of_sdk[i].name)) {
            ret->base = values_of_sdk[i].base;
            return true;
        }
    }
    return false;
}

static bool declared_value(kc__gen_reader *r, CXType canonical, kc__gen_at at, kc_str name,
                           kc__gen_read_value *ret)
{
    const CXCursor declaration = r->clang.getTypeDeclaration(canonical);
    if (r->clang.getCursorKind(declaration) == CXCursor_UnionDecl) {
        kc__gen_reader_fail(
            r, at,
            "%.*s: JSON has no unions; write a struct with a pointer for each choice "
            "and +kubebuilder:validation:ExactlyOneOf",
            KC_ARG(name));
        return false;
    }
    CXType item;
    if (value_of_sdk(r, declaration, ret))
        return true;
    if (kc__gen_reader_collection_shape(r, canonical, &item) != KC__GEN_VALUE) {
        ret->base = KC__GEN_INNER;
        ret->inner = kc__gen_reader_collection(r, canonical, at, name);
        return ret->inner != NULL;
    }
    ret->base = canonical.kind == CXType_Enum ? KC__GEN_ENUM : KC__GEN_STRUCT;
    ret->type = kc__gen_reader_type(r, declaration, at);
    return ret->type != NULL;
}

static bool impossible(kc__gen_reader *r, CXType type, kc__gen_at at, kc_str name)
{
    const kc_str spelled = kc__gen_reader_text(r, r->clang.getTypeSpelling(type));
    const char *advice = "it has no JSON representation";
    const CXType canonical = r->clang.getCanonicalType(type);
    switch ((int)canonical.kind) {
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray:
        advice = is_char(kc__gen_reader_strip(r, type))
                     ? "for text use char *"
                     : "for a list use a pointer and size_t n_NAME, or KC_LIST_OF";
        break;
    case CXType_Char_S:
    case CXType_Char_U:
    case CXType_SChar:
    case CXType_UChar:
    case CXType_Short:
    case CXType_UShort:
        advice = "use int32_t for a number, char * for text, kc_bytes for bytes";
        break;
    case CXType_LongDouble: advice = "use double"; break;
    case CXType_Pointer:
        if (r->clang.getPointeeType(canonical).kind == CXType_FunctionProto ||
            r->clang.getPointeeType(canonical).kind == CXType_FunctionNoProto)
            advice = "functions are not data";
        else if (r->clang.getPointeeType(canonical).kind == CXType_Void)
            advice = "for any JSON use kc_raw";
        else
            advice = "a pointer to a pointer is a list: it needs size_t n_NAME";
        break;
    default: break;
    }
    kc__gen_reader_fail(r, at, "%.*s: '%.*s' cannot be a field: %s", KC_ARG(name), KC_ARG(spelled),
                        advice);
    return false;
}

static bool plain_value(kc__gen_reader *r, CXType type, kc__gen_at at, kc_str name,
                        kc__gen_read_value *ret)
{
    const CXType canonical = r->clang.getCanonicalType(type);
    switch ((int)canonical.kind) {
    case CXType_Bool: ret->base = KC__GEN_BOOL; return true;
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong:
        return whole_number(r, canonical, true, ret) || impossible(r, type, at, name);
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong:
        return whole_number(r, canonical, false, ret) || impossible(r, type, at, name);
    case CXType_Float: ret->base = KC__GEN_FLOAT32; return true;
    case CXType_Double: ret->base = KC__GEN_FLOAT64; return true;
    case CXType_Record:
    case CXType_Enum: return declared_value(r, canonical, at, name, ret);
    case CXType_Pointer:
        if (is_char(r->clang.getPointeeType(canonical))) {
            ret->base = KC__GEN_STRING;
            return true;
        }
        break;
    default: break;
    }
    return impossible(r, type, at, name);
}

/* A typedef with documentation or markers. */
static const kc__gen_type *alias_of(kc__gen_reader *r, CXCursor declaration, kc__gen_read_value of)
{
    const kc_str usr = kc__gen_reader_usr(r, declaration);
    const kc__gen_type *known = kc_map_get(&r->known, usr);
    kc__gen_read_doc doc = {0};
    if (known)
        return known;
    for (size_t i = 0; of.type && i < of.type->markers.n; i++)
        kc_vec_push(&doc.markers, of.type->markers.items[i]);
    const size_t inherited = doc.markers.n;
    kc__gen_reader_doc(r, declaration, KC__GEN_SCOPE_TYPE, &doc);
    const bool has_doc = doc.doc.n || doc.markers.n > inherited;
    kc__gen_type *type = new_type(r, declaration, kc__gen_reader_spelling(r, declaration));
    if (of.type) {
        const kc__gen_type own = *type;
        *type = *of.type;
        type->c_name = own.c_name;
        type->at = own.at;
        type->second_of = of.type;
        type->n_inherited = inherited;
    }
    type->base = of.base;
    type->inner = of.inner;
    type->markers = kc__gen_reader_keep(r, &doc.markers);
    type->doc = doc.doc.n ? doc.doc : type->doc;
    name_in_go(r, type);
    if (!has_doc)
        return of.type;
    kc_map_put(&r->known, usr, type);
    return type;
}

static bool named_value(kc__gen_reader *r, CXType type, aliases *found, kc__gen_at at, kc_str name,
                        kc__gen_read_value *ret_value)
{
    const CXType plain = strip(r, type, found);
    kc__gen_read_value value = {0};
    if (!plain_value(r, plain, at, name, &value))
        return false;
    for (size_t i = found->n; i > 0; i--)
        value.type = alias_of(r, found->items[i - 1], value);
    *ret_value = value;
    return true;
}

bool kc__gen_reader_value(kc__gen_reader *r, CXType type, kc__gen_at at, kc_str name,
                          kc__gen_read_value *ret_value)
{
    aliases found = {.n = 0};
    return named_value(r, type, &found, at, name, ret_value);
}

bool kc__gen_reader_pointee(kc__gen_reader *r, CXType pointer, kc__gen_at at, kc_str name,
                            kc__gen_read_value *ret_value)
{
    aliases found = {.n = 0};
    const CXType type = r->clang.getPointeeType(strip(r, pointer, &found));
    return named_value(r, type, &found, at, name, ret_value);
}
