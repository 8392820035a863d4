/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.h: a mutable JSON tree that can be frozen into an object.
 *
 *     kc_auto(kc_edit) *edit = kc_edit_of(deployment);
 *     kc_edit_set_nested(edit, "spec.replicas", kc_node_i64(edit, 3));
 *     kc_auto(kc_object) *changed = kc_edit_freeze(edit, err);
 *
 * A node belongs to the edit that created it, lives as long as the edit, and has at most one
 * parent: clone a node to use its value twice. Strings are copied. Accessors accept NULL and nodes
 * of another type, as in view.h. Not thread-safe.
 */
#ifndef KC_EDIT_H
#define KC_EDIT_H

#include "kc/object.h"

typedef struct kc_edit kc_edit;
typedef struct yyjson_mut_val kc_node; /* Opaque outside src/object. */

/* An edit whose root is an empty object. */
kc_edit *kc_edit_new(void);
kc_edit *kc_edit_of(const kc_object *object);
kc_edit *kc_edit_of_value(const kc_value *value);
kc_edit *kc_edit_free(kc_edit *edit);
KC_AUTO_DEFINE(kc_edit, kc_edit_free)

/* The root; NULL after kc_edit_set_root(edit, NULL). */
kc_node *kc_edit_root(const kc_edit *edit);
void kc_edit_set_root(kc_edit *edit, kc_node *root);

/* Creates an object from the current tree. Fails when the root is not an object or the tree exceeds
 * the depth or size limits of json.h. */
kc_object *kc_edit_freeze(const kc_edit *edit, kc_error *err);
/* The same as a view, for a root of any type. */
kc_view *kc_edit_view(const kc_edit *edit, kc_error *err);
/* Appends a node as JSON text. Numbers are unchanged, members in order; canonical unless the node
 * contains computed floating-point numbers. */
void kc_node_write(kc_buf *out, const kc_node *node);

/* Constructors. */
kc_node *kc_node_object(kc_edit *edit);
kc_node *kc_node_array(kc_edit *edit);
kc_node *kc_node_null(kc_edit *edit);
kc_node *kc_node_str(kc_edit *edit, kc_str text);
kc_node *kc_node_bool(kc_edit *edit, bool value);
kc_node *kc_node_i64(kc_edit *edit, int64_t value);
kc_node *kc_node_u64(kc_edit *edit, uint64_t value);
kc_node *kc_node_f64(kc_edit *edit, double value);
/* Deep copies of a view's value or of a node of any edit. NULL for NULL. */
kc_node *kc_node_from_value(kc_edit *edit, const kc_value *value);
kc_node *kc_node_clone(kc_edit *edit, const kc_node *node);

/* Accessors. */
kc_json_type kc_node_type(const kc_node *node);
kc_node *kc_node_get(const kc_node *object, kc_str name);
kc_node *kc_node_at(const kc_node *array, size_t index);
size_t kc_node_len(const kc_node *node);
kc_str kc_node_as_str(const kc_node *node);
bool kc_node_as_bool(const kc_node *node, bool otherwise);
bool kc_node_as_i64(const kc_node *node, int64_t *ret);
bool kc_node_as_f64(const kc_node *node, double *ret);

/* Modifiers. Each has no effect when the node is NULL or of the wrong type. */
/* Replaces a member at its position, or appends it. */
void kc_node_set(kc_edit *edit, kc_node *object, kc_str name, kc_node *value);
/* Appends a member without checking for a duplicate, for callers that know the name is new. */
void kc_node_add(kc_edit *edit, kc_node *object, kc_str name, kc_node *value);
/* True when the member existed. */
bool kc_node_remove(kc_node *object, kc_str name);
void kc_node_append(kc_node *array, kc_node *value);
void kc_node_insert(kc_node *array, size_t index, kc_node *value);
void kc_node_remove_at(kc_node *array, size_t index);
void kc_node_replace_at(kc_node *array, size_t index, kc_node *value);
/* The member `name`, created or replaced by an empty object if it is absent or not an object. */
kc_node *kc_node_ensure_object(kc_edit *edit, kc_node *object, kc_str name);
/* Sets a value at a path of member names joined by dots, "status.ready", creating the objects on
 * the way. For indexes, and for names that contain dots, see path.h. */
void kc_edit_set_nested(kc_edit *edit, const char *names, kc_node *value);

typedef struct kc_node_iter {
    kc_node *at, *container;
    size_t left;
} kc_node_iter;

kc_node_iter kc__node_iter(const kc_node *node, kc_json_type type);
kc_node *kc__node_iter_item(kc_node_iter *iter);
kc_node *kc__node_iter_member(kc_node_iter *iter, kc_node **ret_value);

/* Loops as in view.h. The block must not change the container; it may change the values. */
#define kc_node_each_item(array, item)                                    \
    for (kc_node_iter item##_iter_ = kc__node_iter(array, KC_JSON_ARRAY), \
                      *item##_once_ = &item##_iter_;                      \
         item##_once_; item##_once_ = NULL)                               \
        for (kc_node * item; (item = kc__node_iter_item(&item##_iter_));)

#define kc_node_each_member(object, name, value)                                              \
    for (kc_node_iter value##_iter_ = kc__node_iter(object, KC_JSON_OBJECT),                  \
                      *value##_once_ = &value##_iter_;                                        \
         value##_once_; value##_once_ = NULL)                                                 \
        for (kc_node *value = NULL, *value##_key_ = NULL;                                     \
             !value##_key_ && (value##_key_ = kc__node_iter_member(&value##_iter_, &value));) \
            for (kc_str name = kc_node_as_str(value##_key_); value##_key_; value##_key_ = NULL)

#endif
