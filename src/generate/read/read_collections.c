/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_collections.c: reads lists and maps that are one type: KC_LIST_OF, KC_MAP_OF, kc_string_map.
 *
 *     struct { T *items; size_t n; }                                a list
 *     struct { struct { char *key; T value; } *items; size_t n; }   a map
 *
 * They are recognised by their form, because a macro leaves no name. T may be one of them again, or
 * a typedef of one with markers: a list or map is a field without a name (model.h).
 */
#include "generate/read/read_internal.h"

enum { MAX_NESTED = 32 };

bool kc__gen_reader_is_size(kc__gen_reader *r, CXType type)
{
    const CXType canonical = r->clang.getCanonicalType(type);
    return canonical.kind == CXType_ULong || canonical.kind == CXType_ULongLong ||
           (canonical.kind == CXType_UInt && r->clang.Type_getSizeOf(canonical) == sizeof(size_t));
}

bool kc__gen_reader_is_text(kc__gen_reader *r, CXType type)
{
    const CXType canonical = r->clang.getCanonicalType(type);
    const CXType to = r->clang.getPointeeType(canonical);
    return canonical.kind == CXType_Pointer &&
           (to.kind == CXType_Char_S || to.kind == CXType_Char_U);
}

bool kc__gen_reader_is_pointer(kc__gen_reader *r, CXType type)
{
    return r->clang.getCanonicalType(type).kind == CXType_Pointer &&
           !kc__gen_reader_is_text(r, type);
}

/* The types of the two members of a struct that has exactly these. */
static bool two_members(kc__gen_reader *r, CXType record_type, const char *first,
                        const char *second, CXType *ret_first, CXType *ret_second)
{
    if (record_type.kind != CXType_Record)
        return false;
    kc__gen_cursors members = kc__gen_reader_children(r, r->clang.getTypeDeclaration(record_type));
    kc__gen_cursors fields = {0};
    kc_vec_each (&members, member)
        if (r->clang.getCursorKind(*member) == CXCursor_FieldDecl)
            kc_vec_push(&fields, *member);
    const bool same = fields.n == 2 &&
                      kc_str_is(kc__gen_reader_spelling(r, fields.items[0]), first) &&
                      kc_str_is(kc__gen_reader_spelling(r, fields.items[1]), second);
    if (same) {
        *ret_first = r->clang.getCursorType(fields.items[0]);
        *ret_second = r->clang.getCursorType(fields.items[1]);
    }
    kc_vec_done(&members);
    kc_vec_done(&fields);
    return same;
}

kc__gen_shape kc__gen_reader_collection_shape(kc__gen_reader *r, CXType type, CXType *ret_item)
{
    CXType items, n, key, value;
    if (!two_members(r, r->clang.getCanonicalType(type), "items", "n", &items, &n) ||
        !kc__gen_reader_is_size(r, n) || r->clang.getCanonicalType(items).kind != CXType_Pointer)
        return KC__GEN_VALUE;
    const CXType item = r->clang.getPointeeType(kc__gen_reader_strip(r, items));
    if (two_members(r, r->clang.getCanonicalType(item), "key", "value", &key, &value) &&
        kc__gen_reader_is_text(r, key)) {
        *ret_item = value;
        return KC__GEN_MAP;
    }
    *ret_item = item;
    return KC__GEN_LIST;
}

bool kc__gen_reader_item(kc__gen_reader *r, CXType type, kc__gen_field *into)
{
    kc__gen_read_value value = {0};
    into->pointers = kc__gen_reader_is_pointer(r, type);
    if (!(into->pointers ? kc__gen_reader_pointee : kc__gen_reader_value)(r, type, into->at,
                                                                          into->c_name, &value))
        return false;
    into->base = value.base;
    into->type = value.type;
    into->inner = value.inner;
    return true;
}

const kc__gen_field *kc__gen_reader_collection(kc__gen_reader *r, CXType type, kc__gen_at at,
                                               kc_str name)
{
    CXType item;
    kc__gen_field *field = kc_arena_new(r->arena, kc__gen_field);
    field->at = at;
    field->c_name = name; /* For messages: the field that has it. */
    field->shape = kc__gen_reader_collection_shape(r, type, &item);
    if (r->nested >= MAX_NESTED) {
        kc__gen_reader_fail(r, at, "%.*s: lists and maps are nested more than %d deep",
                            KC_ARG(name), MAX_NESTED);
        return NULL;
    }
    r->nested++;
    const bool read = kc__gen_reader_item(r, item, field);
    r->nested--;
    return read ? field : NULL;
}
