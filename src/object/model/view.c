/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c: reads a parsed document. A kc_value is a yyjson_val under another name, so that no code
 * outside src/object depends on yyjson; the functions here are thin on purpose.
 */
#include "object/model/canonical.h"
#include "object/model/object_internal.h"

#include <math.h>

static yyjson_val *view_contains(const kc_value *value)
{
    return (yyjson_val *)value;
}

static void *view_take(void *ctx, size_t size)
{
    (void)ctx;
    return kc_alloc(size);
}

static void *view_resize(void *ctx, void *block, size_t old_size, size_t size)
{
    (void)ctx;
    (void)old_size;
    return kc_realloc(block, size);
}

static void view_return(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

const yyjson_alc kc__object_allocator = {
    .malloc = view_take, .realloc = view_resize, .free = view_return};

/* A view of canonical text, which it copies. */
static kc_view *view_of_canonical(kc_str json)
{
    kc_view *view = kc_new(kc_view);
    char *text = kc_alloc(json.n + KC__JSON_PADDING);
    memcpy(text, json.p, json.n);
    kc__json_read_canonical(text, json.n, view);
    return view;
}

kc_view *kc_view_of(const kc_object *object)
{
    return view_of_canonical(kc_object_json(object));
}

kc_view *kc_view_parse(kc_str json, const kc_json_opts *opts, kc_error *err)
{
    kc_view read = {0};
    if (kc__json_read(json, opts, &read, err) < 0)
        return NULL;
    kc_view *view = kc_new(kc_view);
    *view = read;
    return view;
}

kc_view *kc_view_free(kc_view *view)
{
    if (!view)
        return NULL;
    yyjson_doc_free(view->doc);
    free(view->text);
    free(view->root);
    kc_view_free(view->base);
    kc_edit_free(view->edit);
    if (view->held)
        view->release(view->held);
    free(view);
    return NULL;
}

const kc_value *kc_view_root(const kc_view *view)
{
    if (!view)
        return NULL;
    return view->root ? view->root : yyjson_doc_get_root(view->doc);
}

static void *copy_cells(yyjson_val *to, const kc_value *from, size_t n)
{
    memcpy(to, from, n * sizeof(*to));
    return to + n;
}

/* The cells of an object follow each other, with distances instead of pointers: those of one member
 * can be exchanged, and only the distance of the object itself changes. */
kc_view *kc__object_view_with_member(kc_view *view, const char *name, kc_str json)
{
    const kc_value *root = kc_view_root(view), *old = kc_value_get(root, name);
    kc_auto(kc_view) *base = view;
    if (!old)
        return NULL;
    kc_view *with = view_of_canonical(json);
    kc_autofree kc_value *own = with->root;
    const kc_value *member = kc_view_root(with);
    const size_t n_old = kc_value_count(old), n_member = kc_value_count(member);
    const size_t before = (size_t)(old - root), n = kc_value_count(root) - n_old + n_member;
    with->root = kc_alloc(n * sizeof(*with->root));
    yyjson_val *to = copy_cells(with->root, root, before);
    to = copy_cells(to, member, n_member);
    copy_cells(to, old + n_old, n - before - n_member);
    with->root->uni.ofs = n * sizeof(*with->root);
    with->base = kc_take(base);
    return with;
}

bool kc__value_has_null(const kc_value *value)
{
    for (size_t i = 0, n = kc_value_count(value); i < n; i++)
        if (unsafe_yyjson_get_type((yyjson_val *)&value[i]) == YYJSON_TYPE_NULL)
            return true;
    return false;
}

bool kc__value_has_empty(const kc_value *value)
{
    for (size_t i = 0, n = kc_value_count(value); i < n; i++)
        if (unsafe_yyjson_is_ctn((yyjson_val *)&value[i]) &&
            !unsafe_yyjson_get_len((yyjson_val *)&value[i]))
            return true;
    return false;
}

kc_json_type kc_value_type(const kc_value *value)
{
    switch (yyjson_get_type(view_contains(value))) {
    case YYJSON_TYPE_NULL: return KC_JSON_NULL;
    case YYJSON_TYPE_BOOL: return KC_JSON_BOOL;
    case YYJSON_TYPE_NUM: return yyjson_is_real(view_contains(value)) ? KC_JSON_FLOAT : KC_JSON_INT;
    case YYJSON_TYPE_STR: return KC_JSON_STRING;
    case YYJSON_TYPE_ARR: return KC_JSON_ARRAY;
    case YYJSON_TYPE_OBJ: return KC_JSON_OBJECT;
    default: return KC_JSON_ABSENT;
    }
}

const char *kc_json_type_name(kc_json_type type)
{
    static const char *const names[] = {
        [KC_JSON_ABSENT] = "",     [KC_JSON_NULL] = "null",     [KC_JSON_BOOL] = "boolean",
        [KC_JSON_INT] = "integer", [KC_JSON_FLOAT] = "number",  [KC_JSON_STRING] = "string",
        [KC_JSON_ARRAY] = "array", [KC_JSON_OBJECT] = "object",
    };
    return (size_t)type < KC_COUNT(names) ? names[type] : "";
}

const kc_value *kc_value_get(const kc_value *object, const char *name)
{
    return yyjson_obj_get(view_contains(object), name);
}

const kc_value *kc_value_get_str(const kc_value *object, kc_str name)
{
    return yyjson_obj_getn(view_contains(object), name.p ? name.p : "", name.n);
}

const kc_value *kc_value_at(const kc_value *array, size_t index)
{
    return yyjson_arr_get(view_contains(array), index);
}

size_t kc_value_len(const kc_value *value)
{
    return yyjson_is_ctn(view_contains(value)) ? yyjson_get_len(view_contains(value)) : 0;
}

size_t kc_value_count(const kc_value *value)
{
    return value ? (size_t)(unsafe_yyjson_get_next(view_contains(value)) - view_contains(value))
                 : 0;
}

kc_str kc_value_as_str(const kc_value *value)
{
    return yyjson_is_str(view_contains(value)) ? kc_str_of(yyjson_get_str(view_contains(value)),
                                                           yyjson_get_len(view_contains(value)))
                                               : (kc_str){0};
}

const char *kc_value_as_cstr(const kc_value *value, const char *fallback)
{
    return yyjson_is_str(view_contains(value)) ? yyjson_get_str(view_contains(value)) : fallback;
}

bool kc_value_as_bool(const kc_value *value, bool fallback)
{
    return yyjson_is_bool(view_contains(value)) ? yyjson_get_bool(view_contains(value)) : fallback;
}

static bool whole(double number, double low, double high)
{
    return number >= low && number < high && number == trunc(number);
}

bool kc_value_as_i64(const kc_value *value, int64_t *ret)
{
    yyjson_val *v = view_contains(value);
    if (yyjson_is_sint(v) || (yyjson_is_uint(v) && yyjson_get_uint(v) <= INT64_MAX))
        *ret = yyjson_get_sint(v);
    else if (yyjson_is_real(v) && whole(yyjson_get_real(v), -0x1p63, 0x1p63))
        *ret = (int64_t)yyjson_get_real(v);
    else
        return false;
    return true;
}

bool kc_value_as_u64(const kc_value *value, uint64_t *ret)
{
    yyjson_val *v = view_contains(value);
    if (yyjson_is_uint(v))
        *ret = yyjson_get_uint(v);
    else if (yyjson_is_real(v) && whole(yyjson_get_real(v), 0, 0x1p64))
        *ret = (uint64_t)yyjson_get_real(v);
    else
        return false;
    return true;
}

bool kc_value_as_f64(const kc_value *value, double *ret)
{
    if (!yyjson_is_num(view_contains(value)))
        return false;
    *ret = yyjson_get_num(view_contains(value));
    return true;
}

int64_t kc_value_as_i64_or(const kc_value *value, int64_t fallback)
{
    int64_t number;
    return kc_value_as_i64(value, &number) ? number : fallback;
}

kc_value_iter kc__value_iter(const kc_value *value, kc_json_type type)
{
    if (kc_value_type(value) != type)
        return (kc_value_iter){0};
    return (kc_value_iter){unsafe_yyjson_get_first(view_contains(value)),
                           yyjson_get_len(view_contains(value))};
}

const kc_value *kc__value_iter_item(kc_value_iter *iter)
{
    if (!iter->left)
        return NULL;
    const kc_value *item = iter->at;
    if (--iter->left)
        iter->at = unsafe_yyjson_get_next(view_contains(item));
    return item;
}

const kc_value *kc__value_iter_member(kc_value_iter *iter, const kc_value **ret_value)
{
    if (!iter->left)
        return NULL;
    const kc_value *key = iter->at;
    *ret_value = key + 1;
    if (--iter->left)
        iter->at = unsafe_yyjson_get_next(view_contains(key + 1));
    return key;
}
