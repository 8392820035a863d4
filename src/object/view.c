/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c: reading a parsed document. A kc_value is a yyjson_val under another name, so that nothing
 * outside src/object depends on yyjson; the functions here are thin on purpose.
 */
#include "object/object_internal.h"

#include <math.h>

static yyjson_val *in(const kc_value *value)
{
    return (yyjson_val *)value;
}

kc_view *kc_view_of(const kc_object *object)
{
    kc_view *view = kc_new(kc_view);
    view->doc = yyjson_read(object->text, object->n, YYJSON_READ_NOFLAG);
    assert(view->doc);
    return view;
}

kc_view *kc_view_parse(kc_str json, const kc_json_opts *opts, kc_error *err)
{
    kc_view read;
    if (kc__read(json, opts, &read, err) < 0)
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
    free(view);
    return NULL;
}

const kc_value *kc_view_root(const kc_view *view)
{
    return view ? yyjson_doc_get_root(view->doc) : NULL;
}

kc_type kc_type_of(const kc_value *value)
{
    switch (yyjson_get_type(in(value))) {
    case YYJSON_TYPE_NULL: return KC_NULL;
    case YYJSON_TYPE_BOOL: return KC_BOOL;
    case YYJSON_TYPE_NUM: return yyjson_is_real(in(value)) ? KC_FLOAT : KC_INT;
    case YYJSON_TYPE_STR: return KC_STRING;
    case YYJSON_TYPE_ARR: return KC_ARRAY;
    case YYJSON_TYPE_OBJ: return KC_OBJECT;
    default: return KC_ABSENT;
    }
}

const char *kc_type_name(kc_type type)
{
    static const char *const names[] = {
        [KC_ABSENT] = "",     [KC_NULL] = "null",     [KC_BOOL] = "boolean",
        [KC_INT] = "integer", [KC_FLOAT] = "number",  [KC_STRING] = "string",
        [KC_ARRAY] = "array", [KC_OBJECT] = "object",
    };
    return (size_t)type < KC_COUNT(names) ? names[type] : "";
}

const kc_value *kc_get(const kc_value *object, const char *name)
{
    return yyjson_obj_get(in(object), name);
}

const kc_value *kc_get_str(const kc_value *object, kc_str name)
{
    return yyjson_obj_getn(in(object), name.p ? name.p : "", name.n);
}

const kc_value *kc_at(const kc_value *array, size_t index)
{
    return yyjson_arr_get(in(array), index);
}

size_t kc_len(const kc_value *value)
{
    return yyjson_is_ctn(in(value)) ? yyjson_get_len(in(value)) : 0;
}

kc_str kc_as_str(const kc_value *value)
{
    return yyjson_is_str(in(value))
               ? kc_str_of(yyjson_get_str(in(value)), yyjson_get_len(in(value)))
               : (kc_str){0};
}

const char *kc_as_cstr(const kc_value *value, const char *otherwise)
{
    return yyjson_is_str(in(value)) ? yyjson_get_str(in(value)) : otherwise;
}

bool kc_as_bool(const kc_value *value, bool otherwise)
{
    return yyjson_is_bool(in(value)) ? yyjson_get_bool(in(value)) : otherwise;
}

static bool whole(double number, double low, double high)
{
    return number >= low && number < high && number == trunc(number);
}

bool kc_as_i64(const kc_value *value, int64_t *ret)
{
    yyjson_val *v = in(value);
    if (yyjson_is_sint(v) || (yyjson_is_uint(v) && yyjson_get_uint(v) <= INT64_MAX))
        *ret = yyjson_get_sint(v);
    else if (yyjson_is_real(v) && whole(yyjson_get_real(v), -0x1p63, 0x1p63))
        *ret = (int64_t)yyjson_get_real(v);
    else
        return false;
    return true;
}

bool kc_as_u64(const kc_value *value, uint64_t *ret)
{
    yyjson_val *v = in(value);
    if (yyjson_is_uint(v))
        *ret = yyjson_get_uint(v);
    else if (yyjson_is_real(v) && whole(yyjson_get_real(v), 0, 0x1p64))
        *ret = (uint64_t)yyjson_get_real(v);
    else
        return false;
    return true;
}

bool kc_as_f64(const kc_value *value, double *ret)
{
    if (!yyjson_is_num(in(value)))
        return false;
    *ret = yyjson_get_num(in(value));
    return true;
}

int64_t kc_as_i64_or(const kc_value *value, int64_t otherwise)
{
    int64_t number;
    return kc_as_i64(value, &number) ? number : otherwise;
}

kc_iter kc__iter(const kc_value *value, kc_type type)
{
    if (kc_type_of(value) != type)
        return (kc_iter){0};
    return (kc_iter){unsafe_yyjson_get_first(in(value)), yyjson_get_len(in(value))};
}

const kc_value *kc__iter_item(kc_iter *iter)
{
    if (!iter->left)
        return NULL;
    const kc_value *item = iter->at;
    if (--iter->left)
        iter->at = unsafe_yyjson_get_next(in(item));
    return item;
}

const kc_value *kc__iter_member(kc_iter *iter, const kc_value **ret_value)
{
    if (!iter->left)
        return NULL;
    const kc_value *key = iter->at;
    *ret_value = key + 1;
    if (--iter->left)
        iter->at = unsafe_yyjson_get_next(in(key + 1));
    return key;
}
