/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h: a parsed, read-only view of JSON.
 *
 *     kc_auto(kc_view) *view = kc_view_of(pod);
 *     const kc_value *containers = kc_value_nested(kc_view_root(view), "spec.containers");
 *     kc_value_each_item(containers, c)
 *         printf("%.*s\n", KC_ARG(kc_value_as_str(kc_value_get(c, "image"))));
 *
 * Values live as long as their view. Every accessor accepts NULL and values of another type and
 * then returns "absent", so chains need no checks; where the difference between absent and wrong
 * type matters, use kc_json_type. Any number of threads may read a view.
 */
#ifndef KC_VIEW_H
#define KC_VIEW_H

#include "kc/error.h"
#include "kc/str.h"

typedef struct kc_object kc_object;
typedef struct kc_view kc_view;
typedef struct yyjson_val kc_value; /* Opaque outside src/object. */
struct kc_json_opts;

typedef enum kc_json_type {
    KC_JSON_ABSENT, /* NULL. */
    KC_JSON_NULL,
    KC_JSON_BOOL,
    KC_JSON_INT, /* Fits int64_t or uint64_t. */
    KC_JSON_FLOAT,
    KC_JSON_STRING,
    KC_JSON_ARRAY,
    KC_JSON_OBJECT,
} kc_json_type;

/* Never fails: an object's bytes are valid. The view is a copy and holds no reference. The caller
 * frees it. */
kc_view *kc_view_of(const kc_object *object);
/* Parses text from outside; opts may be NULL. The last of several members with the same name
 * counts. NULL on error. */
kc_view *kc_view_parse(kc_str json, const struct kc_json_opts *opts, kc_error *err);
kc_view *kc_view_free(kc_view *view);
KC_AUTO_DEFINE(kc_view, kc_view_free)

const kc_value *kc_view_root(const kc_view *view);

kc_json_type kc_value_type(const kc_value *value);
/* The OpenAPI name: "object", "array", "string", "integer", "number", "boolean", "null". "" for
 * KC_JSON_ABSENT. */
const char *kc_json_type_name(kc_json_type type);

/* A member of an object, an element of an array; NULL when it is absent. Linear in the number of
 * members: see kc_value_each_member. */
const kc_value *kc_value_get(const kc_value *object, const char *name);
const kc_value *kc_value_get_str(const kc_value *object, kc_str name);
const kc_value *kc_value_at(const kc_value *array, size_t index);
/* kc_value_get for a path of names joined by dots: "spec.template.metadata". For indexes, and for
 * names that contain dots, see path.h. */
const kc_value *kc_value_nested(const kc_value *object, const char *names);
/* The number of members or elements; 0 for any other type. */
size_t kc_value_len(const kc_value *value);
/* The number of values and names in the tree, itself included: the cost of a traversal. O(1). */
size_t kc_value_count(const kc_value *value);

/* The string; p == NULL when it is not one. Terminated; contains NUL bytes only if the text had
 * \u0000. */
kc_str kc_value_as_str(const kc_value *value);
const char *kc_value_as_cstr(const kc_value *value, const char *otherwise);
bool kc_value_as_bool(const kc_value *value, bool otherwise);
/* True when it is an integer that fits; 3.0 is one, "3" is not. */
bool kc_value_as_i64(const kc_value *value, int64_t *ret);
bool kc_value_as_u64(const kc_value *value, uint64_t *ret);
bool kc_value_as_f64(const kc_value *value, double *ret); /* Any number. */
int64_t kc_value_as_i64_or(const kc_value *value, int64_t otherwise);

typedef struct kc_value_iter {
    const kc_value *at;
    size_t left;
} kc_value_iter;

/* Implementation of the two loops below. Each returns NULL at the end. */
kc_value_iter kc__value_iter(const kc_value *value, kc_json_type type);
const kc_value *kc__value_iter_item(kc_value_iter *iter);
const kc_value *kc__value_iter_member(kc_value_iter *iter, const kc_value **ret_value);

/* Runs the block for each element of an array (for no element of another type); `item` is a const
 * kc_value *. */
#define kc_value_each_item(array, item)                                     \
    for (kc_value_iter item##_iter_ = kc__value_iter(array, KC_JSON_ARRAY), \
                       *item##_once_ = &item##_iter_;                       \
         item##_once_; item##_once_ = NULL)                                 \
        for (const kc_value *item; (item = kc__value_iter_item(&item##_iter_));)

/* Runs the block for each member of an object in order; `name` is a kc_str, `value` a const
 * kc_value *. `break` ends the loop. */
#define kc_value_each_member(object, name, value)                                              \
    for (kc_value_iter value##_iter_ = kc__value_iter(object, KC_JSON_OBJECT),                 \
                       *value##_once_ = &value##_iter_;                                        \
         value##_once_; value##_once_ = NULL)                                                  \
        for (const kc_value *value = NULL, *value##_key_ = NULL;                               \
             !value##_key_ && (value##_key_ = kc__value_iter_member(&value##_iter_, &value));) \
            for (kc_str name = kc_value_as_str(value##_key_); value##_key_; value##_key_ = NULL)

#endif
