/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.c: the mutable tree, based on yyjson's mutable document. Freezing writes the tree as text
 * and parses that into an object, so that edited objects obey the same limits as received ones.
 *
 * yyjson keeps members and elements in a ring; the container points to the last. A member's key
 * node is followed by its value.
 */
#include "object/model/object_internal.h"

/* yyjson's readers do not take const pointers. */
static yyjson_mut_val *edit_contains(const kc_node *node)
{
    return (yyjson_mut_val *)node;
}

kc_edit *kc_edit_new(void)
{
    kc_edit *edit = kc_new(kc_edit);
    edit->doc = yyjson_mut_doc_new(&kc__object_allocator);
    assert(edit->doc);
    yyjson_mut_doc_set_root(edit->doc, yyjson_mut_obj(edit->doc));
    return edit;
}

kc_edit *kc_edit_of(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_edit_of_value(kc_view_root(view));
}

kc_edit *kc_edit_of_value(const kc_value *value)
{
    kc_edit *edit = kc_edit_new();
    kc_edit_set_root(edit, kc_node_from_value(edit, value));
    return edit;
}

kc_edit *kc_edit_free(kc_edit *edit)
{
    if (!edit)
        return NULL;
    kc__node_fields_done(&edit->set);
    yyjson_mut_doc_free(edit->doc);
    free(edit);
    return NULL;
}

kc_node *kc_edit_root(const kc_edit *edit)
{
    return edit ? yyjson_mut_doc_get_root(edit->doc) : NULL;
}

void kc_edit_set_root(kc_edit *edit, kc_node *root)
{
    yyjson_mut_doc_set_root(edit->doc, root);
}

static char *write_root(const kc_edit *edit, kc_str *ret, kc_error *err)
{
    yyjson_write_err why;
    size_t n;
    char *text = yyjson_mut_write_opts(edit->doc, YYJSON_WRITE_NOFLAG, NULL, &n, &why);
    if (!text && why.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION)
        kc_error_out_of_memory(err);
    else if (!text)
        kc_error_set(err, KC_INTERNAL, "cannot write the object: %s", why.msg);
    if (!text)
        return NULL;
    *ret = kc_str_of(text, n);
    return text;
}

kc_object *kc_edit_freeze(const kc_edit *edit, kc_error *err)
{
    kc_str json;
    kc_autofree char *text = write_root(edit, &json, err);
    return text ? kc_object_parse(json, NULL, err) : NULL;
}

kc_view *kc_edit_view(const kc_edit *edit, kc_error *err)
{
    kc_str json;
    kc_autofree char *text = write_root(edit, &json, err);
    return text ? kc_view_parse(json, NULL, err) : NULL;
}

void kc_node_write(kc_buf *out, const kc_node *node)
{
    size_t n;
    kc_autofree char *text =
        node ? yyjson_mut_val_write_opts(edit_contains(node), YYJSON_WRITE_ALLOW_INVALID_UNICODE,
                                         NULL, &n, NULL)
             : NULL;
    kc_buf_append(out, text ? kc_str_of(text, n) : KC_STR("null"));
}

/* yyjson returns NULL only if its allocator does, and kc__object_allocator never does. */
static kc_node *made(kc_node *node)
{
    assert(node);
    return node;
}

kc_node *kc_node_object(kc_edit *edit)
{
    return made(yyjson_mut_obj(edit->doc));
}

kc_node *kc_node_array(kc_edit *edit)
{
    return made(yyjson_mut_arr(edit->doc));
}

kc_node *kc_node_null(kc_edit *edit)
{
    return made(yyjson_mut_null(edit->doc));
}

kc_node *kc_node_str(kc_edit *edit, kc_str text)
{
    return made(yyjson_mut_strncpy(edit->doc, text.p ? text.p : "", text.n));
}

kc_node *kc_node_bool(kc_edit *edit, bool value)
{
    return made(yyjson_mut_bool(edit->doc, value));
}

kc_node *kc_node_i64(kc_edit *edit, int64_t value)
{
    return made(value < 0 ? yyjson_mut_sint(edit->doc, value)
                          : yyjson_mut_uint(edit->doc, (uint64_t)value));
}

kc_node *kc_node_u64(kc_edit *edit, uint64_t value)
{
    return made(yyjson_mut_uint(edit->doc, value));
}

kc_node *kc_node_f64(kc_edit *edit, double value)
{
    return made(yyjson_mut_real(edit->doc, value));
}

kc_node *kc_node_from_value(kc_edit *edit, const kc_value *value)
{
    return value ? made(yyjson_val_mut_copy(edit->doc, (yyjson_val *)value)) : NULL;
}

kc_node *kc_node_clone(kc_edit *edit, const kc_node *node)
{
    return node ? made(yyjson_mut_val_mut_copy(edit->doc, edit_contains(node))) : NULL;
}

kc_json_type kc_node_type(const kc_node *node)
{
    switch (yyjson_mut_get_type(edit_contains(node))) {
    case YYJSON_TYPE_NULL: return KC_JSON_NULL;
    case YYJSON_TYPE_BOOL: return KC_JSON_BOOL;
    case YYJSON_TYPE_NUM:
        return yyjson_mut_is_real(edit_contains(node)) ? KC_JSON_FLOAT : KC_JSON_INT;
    case YYJSON_TYPE_STR: return KC_JSON_STRING;
    case YYJSON_TYPE_ARR: return KC_JSON_ARRAY;
    case YYJSON_TYPE_OBJ: return KC_JSON_OBJECT;
    default: return KC_JSON_ABSENT;
    }
}

kc_node *kc_node_get(const kc_node *object, kc_str name)
{
    return yyjson_mut_obj_getn(edit_contains(object), name.p ? name.p : "", name.n);
}

kc_node *kc_node_at(const kc_node *array, size_t index)
{
    return yyjson_mut_arr_get(edit_contains(array), index);
}

size_t kc_node_len(const kc_node *node)
{
    return yyjson_mut_is_ctn(edit_contains(node)) ? yyjson_mut_get_len(edit_contains(node)) : 0;
}

kc_str kc_node_as_str(const kc_node *node)
{
    return yyjson_mut_is_str(edit_contains(node))
               ? kc_str_of(yyjson_mut_get_str(edit_contains(node)),
                           yyjson_mut_get_len(edit_contains(node)))
               : (kc_str){0};
}

bool kc_node_as_bool(const kc_node *node, bool fallback)
{
    return yyjson_mut_is_bool(edit_contains(node)) ? yyjson_mut_get_bool(edit_contains(node))
                                                   : fallback;
}

bool kc_node_as_i64(const kc_node *node, int64_t *ret)
{
    /* A scalar has the same layout in both kinds of tree. */
    return yyjson_mut_is_num(edit_contains(node)) &&
           kc_value_as_i64((const kc_value *)(const void *)node, ret);
}

bool kc_node_as_f64(const kc_node *node, double *ret)
{
    if (!yyjson_mut_is_num(edit_contains(node)))
        return false;
    *ret = yyjson_mut_get_num(edit_contains(node));
    return true;
}

kc_node *kc__node_find_key(kc_node *object, kc_str name)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    kc_node *key;
    while ((key = yyjson_mut_obj_iter_next(&iter)))
        if (kc__object_key_is(yyjson_mut_get_str(key), yyjson_mut_get_len(key), name))
            return key;
    return NULL;
}

/* Indexes a long object that gets many members; node_fields.c says when the index is valid. */
static void set_in_long_object(kc_edit *edit, kc_node *object, kc_str name, kc_node *value)
{
    if (edit->set.object != object || edit->set_len != kc_node_len(object) ||
        edit->set_last != object->uni.ptr) {
        kc__node_fields_done(&edit->set);
        edit->set = kc__node_fields_of(edit, object);
    }
    kc__node_fields_set(&edit->set, name, value);
    edit->set_len = kc_node_len(object);
    edit->set_last = object->uni.ptr;
}

void kc_node_set(kc_edit *edit, kc_node *object, kc_str name, kc_node *value)
{
    if (!yyjson_mut_is_obj(object) || !value)
        return;
    if (yyjson_mut_get_len(object) > KC__NODE_SHORT_OBJECT) {
        set_in_long_object(edit, object, name, value);
        return;
    }
    kc_node *key = kc__node_find_key(object, name);
    if (!key) {
        kc_node_add(edit, object, name, value);
        return;
    }
    kc_node *old = key->next;
    value->next = old->next;
    key->next = value;
}

void kc_node_add(kc_edit *edit, kc_node *object, kc_str name, kc_node *value)
{
    if (yyjson_mut_is_obj(object) && value)
        yyjson_mut_obj_add(object, kc_node_str(edit, name), value);
}

bool kc_node_remove(kc_node *object, kc_str name)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    kc_node *key;
    while ((key = yyjson_mut_obj_iter_next(&iter))) {
        if (kc__object_key_is(yyjson_mut_get_str(key), yyjson_mut_get_len(key), name)) {
            yyjson_mut_obj_iter_remove(&iter);
            return true;
        }
    }
    return false;
}

void kc_node_append(kc_node *array, kc_node *value)
{
    yyjson_mut_arr_append(array, value);
}

void kc_node_insert(kc_node *array, size_t index, kc_node *value)
{
    yyjson_mut_arr_insert(array, value, index);
}

void kc_node_remove_at(kc_node *array, size_t index)
{
    yyjson_mut_arr_remove(array, index);
}

void kc_node_replace_at(kc_node *array, size_t index, kc_node *value)
{
    yyjson_mut_arr_replace(array, index, value);
}

kc_node *kc_node_ensure_object(kc_edit *edit, kc_node *object, kc_str name)
{
    kc_node *member = kc_node_get(object, name);
    if (kc_node_type(member) == KC_JSON_OBJECT)
        return member;
    member = kc_node_object(edit);
    kc_node_set(edit, object, name, member);
    return member;
}

kc_node_iter kc__node_iter(const kc_node *node, kc_json_type type)
{
    if (kc_node_type(node) != type || kc_node_len(node) == 0)
        return (kc_node_iter){0};
    kc_node *last = node->uni.ptr;
    kc_node *first = type == KC_JSON_OBJECT ? last->next->next : last->next;
    return (kc_node_iter){first, (kc_node *)node, kc_node_len(node)};
}

kc_node *kc__node_iter_item(kc_node_iter *iter)
{
    if (!iter->left)
        return NULL;
    kc_node *item = iter->at;
    iter->left--;
    iter->at = item->next;
    return item;
}

kc_node *kc__node_iter_member(kc_node_iter *iter, kc_node **ret_value)
{
    if (!iter->left)
        return NULL;
    kc_node *key = iter->at;
    *ret_value = key->next;
    iter->left--;
    iter->at = key->next->next;
    return key;
}
