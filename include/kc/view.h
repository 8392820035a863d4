/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h: a parsed, read-only look at JSON.
 *
 *     kc_auto(kc_view) *view = kc_view_of(pod);
 *     const kc_value *containers = kc_dig(kc_view_root(view), "spec.containers");
 *     kc_items(containers, c)
 *         printf("%.*s\n", KC_ARG(kc_as_str(kc_get(c, "image"))));
 *
 * Values live as long as their view. Every accessor takes NULL and a value of another type and then
 * answers "absent", so chains need no checks; where the difference between absent and wrong
 * matters, ask kc_type. Any number of threads may read a view.
 */
#ifndef KC_VIEW_H
#define KC_VIEW_H

#include "kc/error.h"
#include "kc/str.h"

typedef struct kc_object kc_object;
typedef struct kc_view kc_view;
typedef struct yyjson_val kc_value; /* Opaque; only src/object looks inside. */
struct kc_json_opts;

typedef enum kc_type {
    KC_ABSENT, /* NULL. */
    KC_NULL,
    KC_BOOL,
    KC_INT, /* Fits int64_t or uint64_t. */
    KC_FLOAT,
    KC_STRING,
    KC_ARRAY,
    KC_OBJECT,
} kc_type;

/* Never fails: an object's bytes are valid. The view holds no reference; it has a copy. The caller
 * frees it. */
kc_view *kc_view_of(const kc_object *object);
/* Of text from outside; opts may be NULL. Of members with the same name the last counts. NULL on
 * error. */
kc_view *kc_view_parse(kc_str json, const struct kc_json_opts *opts, kc_error *err);
kc_view *kc_view_free(kc_view *view);
KC_AUTO_DEFINE(kc_view, kc_view_free)

const kc_value *kc_view_root(const kc_view *view);

kc_type kc_type_of(const kc_value *value);
/* "object", "array", "string", "integer", "number", "boolean", "null": the names of OpenAPI. "" for
 * KC_ABSENT. */
const char *kc_type_name(kc_type type);

/* Member of an object, element of an array; NULL when it is not there. A long object costs a walk:
 * see kc_members. */
const kc_value *kc_get(const kc_value *object, const char *name);
const kc_value *kc_get_str(const kc_value *object, kc_str name);
const kc_value *kc_at(const kc_value *array, size_t index);
/* kc_get step by step: names with dots between them, "spec.template.metadata". For indexes, and
 * names that hold dots themselves, see path.h. */
const kc_value *kc_dig(const kc_value *object, const char *names);
/* Members or elements; 0 for anything else. */
size_t kc_len(const kc_value *value);

/* The string; p == NULL when it is not one. It is terminated, and may hold NUL bytes only if the
 * text had \u0000. */
kc_str kc_as_str(const kc_value *value);
const char *kc_as_cstr(const kc_value *value, const char *otherwise);
bool kc_as_bool(const kc_value *value, bool otherwise);
/* True when it is a whole number that fits; 3.0 is one, "3" is not. */
bool kc_as_i64(const kc_value *value, int64_t *ret);
bool kc_as_u64(const kc_value *value, uint64_t *ret);
bool kc_as_f64(const kc_value *value, double *ret); /* Any number. */
int64_t kc_as_i64_or(const kc_value *value, int64_t otherwise);

typedef struct kc_iter {
    const kc_value *at;
    size_t left;
} kc_iter;

/* Behind the two loops below. Each gives NULL at the end. */
kc_iter kc__iter(const kc_value *value, kc_type type);
const kc_value *kc__iter_item(kc_iter *iter);
const kc_value *kc__iter_member(kc_iter *iter, const kc_value **ret_value);

/* Runs the block for each element of an array (nothing when it is not one); `item` is a const
 * kc_value *. */
#define kc_items(array, item)                                                             \
    for (kc_iter item##_iter_ = kc__iter(array, KC_ARRAY), *item##_once_ = &item##_iter_; \
         item##_once_; item##_once_ = NULL)                                               \
        for (const kc_value *item; (item = kc__iter_item(&item##_iter_));)

/* Runs the block for each member of an object in order; `name` is a kc_str, `value` a const
 * kc_value *. `break` ends it. */
#define kc_members(object, name, value)                                                        \
    for (kc_iter value##_iter_ = kc__iter(object, KC_OBJECT), *value##_once_ = &value##_iter_; \
         value##_once_; value##_once_ = NULL)                                                  \
        for (const kc_value *value = NULL, *value##_key_ = NULL;                               \
             !value##_key_ && (value##_key_ = kc__iter_member(&value##_iter_, &value));)       \
            for (kc_str name = kc_as_str(value##_key_); value##_key_; value##_key_ = NULL)

#endif
