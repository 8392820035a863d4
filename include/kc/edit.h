/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.h: a JSON tree that can be changed, and frozen into an object.
 *
 *     kc_auto(kc_edit) *edit = kc_edit_of(deployment);
 *     kc_edit_put(edit, "spec.replicas", kc_node_i64(edit, 3));
 *     kc_auto(kc_object) *changed = kc_edit_freeze(edit, err);
 *
 * Nodes belong to the edit they were made with, live as long as it does, and stand in at most one
 * place of its tree: to use a value twice, clone it. Strings are copied in. Accessors take NULL and
 * nodes of another type, as in view.h. Not for several threads at a time.
 */
#ifndef KC_EDIT_H
#define KC_EDIT_H

#include "kc/object.h"

typedef struct kc_edit kc_edit;
typedef struct yyjson_mut_val kc_node; /* Opaque; only src/object looks inside. */

/* An edit whose root is an empty object. */
kc_edit *kc_edit_new(void);
kc_edit *kc_edit_of(const kc_object *object);
kc_edit *kc_edit_of_value(const kc_value *value);
kc_edit *kc_edit_free(kc_edit *edit);
KC_AUTO_DEFINE(kc_edit, kc_edit_free)

/* The root; NULL after kc_edit_set_root(edit, NULL). */
kc_node *kc_edit_root(const kc_edit *edit);
void kc_edit_set_root(kc_edit *edit, kc_node *root);

/* A new object of what the tree holds now. Fails when the root is not an object or the tree is
 * deeper or larger than json.h allows. */
kc_object *kc_edit_freeze(const kc_edit *edit, kc_error *err);
/* The same as a view, for a root of any type. */
kc_view *kc_edit_view(const kc_edit *edit, kc_error *err);
/* Appends a node's text. Numbers as they are, members in order; canonical unless it holds floats
 * made by arithmetic. */
void kc_node_write(kc_buf *out, const kc_node *node);

/* New nodes. */
kc_node *kc_node_object(kc_edit *edit);
kc_node *kc_node_array(kc_edit *edit);
kc_node *kc_node_null(kc_edit *edit);
kc_node *kc_node_str(kc_edit *edit, kc_str text);
kc_node *kc_node_bool(kc_edit *edit, bool value);
kc_node *kc_node_i64(kc_edit *edit, int64_t value);
kc_node *kc_node_u64(kc_edit *edit, uint64_t value);
kc_node *kc_node_f64(kc_edit *edit, double value);
/* Deep copies, of a view's value or of another node (of this or another edit). NULL gives NULL. */
kc_node *kc_node_copy(kc_edit *edit, const kc_value *value);
kc_node *kc_node_clone(kc_edit *edit, const kc_node *node);

/* Looking. */
kc_type kc_node_type(const kc_node *node);
kc_node *kc_node_get(const kc_node *object, kc_str name);
kc_node *kc_node_at(const kc_node *array, size_t index);
size_t kc_node_len(const kc_node *node);
kc_str kc_node_as_str(const kc_node *node);
bool kc_node_as_bool(const kc_node *node, bool otherwise);
bool kc_node_as_i64(const kc_node *node, int64_t *ret);
bool kc_node_as_f64(const kc_node *node, double *ret);

/* Changing. Each does nothing when the node has the wrong type or is NULL. */
/* Replaces a member in its place, or adds it at the end. */
void kc_node_set(kc_edit *edit, kc_node *object, kc_str name, kc_node *value);
/* Adds at the end without looking whether the name is there: for building, where the caller knows
 * it is not. */
void kc_node_add(kc_edit *edit, kc_node *object, kc_str name, kc_node *value);
/* True when it was there. */
bool kc_node_remove(kc_node *object, kc_str name);
void kc_node_append(kc_node *array, kc_node *value);
void kc_node_insert(kc_node *array, size_t index, kc_node *value);
void kc_node_remove_at(kc_node *array, size_t index);
void kc_node_replace_at(kc_node *array, size_t index, kc_node *value);
/* The member `name`, made an empty object first if it is absent or not an object. */
kc_node *kc_node_need_object(kc_edit *edit, kc_node *object, kc_str name);
/* The same step by step from the root, and the value set behind the last: names with dots between
 * them, "status.ready". For indexes, and names that hold dots themselves, see path.h. */
void kc_edit_put(kc_edit *edit, const char *names, kc_node *value);

typedef struct kc_node_iter {
    kc_node *at, *container;
    size_t left;
} kc_node_iter;

kc_node_iter kc__node_iter(const kc_node *node, kc_type type);
kc_node *kc__node_iter_item(kc_node_iter *iter);
kc_node *kc__node_iter_member(kc_node_iter *iter, kc_node **ret_value);

/* Loops as in view.h. The container must not be changed inside; its values may be. */
#define kc_node_items(array, item)                                   \
    for (kc_node_iter item##_iter_ = kc__node_iter(array, KC_ARRAY), \
                      *item##_once_ = &item##_iter_;                 \
         item##_once_; item##_once_ = NULL)                          \
        for (kc_node * item; (item = kc__node_iter_item(&item##_iter_));)

#define kc_node_members(object, name, value)                                                  \
    for (kc_node_iter value##_iter_ = kc__node_iter(object, KC_OBJECT),                       \
                      *value##_once_ = &value##_iter_;                                        \
         value##_once_; value##_once_ = NULL)                                                 \
        for (kc_node *value = NULL, *value##_key_ = NULL;                                     \
             !value##_key_ && (value##_key_ = kc__node_iter_member(&value##_iter_, &value));) \
            for (kc_str name = kc_node_as_str(value##_key_); value##_key_; value##_key_ = NULL)

#endif
