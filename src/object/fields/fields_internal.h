/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_internal.h: what the files of src/object/fields share: iteration over values, lookups of
 * members, items of associative lists, and output of values.
 *
 * A parsed value is a sequence of yyjson cells, a container before its content, with distances
 * instead of pointers. So iteration is pointer arithmetic, and a result can be written cell after
 * cell: kc__fields_out.
 */
#ifndef KC_FIELDS_INTERNAL_H
#define KC_FIELDS_INTERNAL_H

#include "kc/map.h"
#include "object/fields/fields_set.h"
#include "object/fields/fields_type.h"
#include "object/model/object_internal.h"

/* ---- texts ---- */

static inline bool kc__fields_same_text(kc_str a, kc_str b)
{
    return a.n == b.n && kc__object_same_bytes(a.p, b.p, a.n);
}

/* ---- values ---- */

static inline kc_str kc__fields_text(const kc_value *string)
{
    return kc_str_of(string->uni.str, (size_t)(string->tag >> YYJSON_TAG_BIT));
}

static inline size_t kc__fields_len(const kc_value *container)
{
    return container ? (size_t)(container->tag >> YYJSON_TAG_BIT) : 0;
}

static inline bool kc__fields_is(const kc_value *value, uint8_t type)
{
    return value && unsafe_yyjson_get_type((kc_value *)value) == type;
}

static inline bool kc__fields_is_object(const kc_value *value)
{
    return kc__fields_is(value, YYJSON_TYPE_OBJ);
}

static inline bool kc__fields_is_list(const kc_value *value)
{
    return kc__fields_is(value, YYJSON_TYPE_ARR);
}

static inline bool kc__fields_is_null(const kc_value *value)
{
    return kc__fields_is(value, YYJSON_TYPE_NULL);
}

static inline const kc_value *kc__fields_after(const kc_value *value)
{
    return unsafe_yyjson_get_next((kc_value *)value);
}

/* Loops over the items of a list or the members of an object, which must be of that type. */
#define kc__fields_each_item(list, item)                                           \
    for (const kc_value *item = (list) + 1, *item##_end_ = kc__fields_after(list); \
         item < item##_end_; item = kc__fields_after(item))
#define kc__fields_each_member(object, key)                                          \
    for (const kc_value *key = (object) + 1, *key##_end_ = kc__fields_after(object); \
         key < key##_end_; key = kc__fields_after(key + 1))

/* A number as upstream sees it: an int64_t, or floating point. */
typedef struct kc__fields_number {
    bool is_number, is_int;
    int64_t whole;
    double real;
} kc__fields_number;

kc__fields_number kc__fields_number_of(const kc_value *value);

/* Total order of values: numbers, strings, booleans, lists, objects, null. */
int kc__fields_value_cmp(const kc_value *a, const kc_value *b);
/* As kc__fields_equal, but 1 and 1.0 differ: such values have the same text, apart from the order
 * of members. */
bool kc__fields_same(const kc_value *a, const kc_value *b);

/* Appends values as upstream formats them: in paths; in FieldsV1; "%v" and "%#v" of Go. */
void kc__fields_value_print(kc_buf *out, const kc_value *value);
void kc__fields_value_write(kc_buf *out, const kc_value *value);
void kc__fields_value_print_go(kc_buf *out, const kc_value *value);

/* ---- lookups of members, fastest in the order of the object ---- */

typedef struct kc__fields_finder {
    const kc_value *object; /* NULL: has no members. */
    const kc_value *next;   /* Key after the last match. */
    unsigned missed;
    kc_map map; /* Of a long object, once needed. */
} kc__fields_finder;

kc__fields_finder kc__fields_finder_of(const kc_value *object);
/* The value of a member, or NULL. */
const kc_value *kc__fields_find(kc__fields_finder *finder, kc_str name);
static inline void kc__fields_finder_done(kc__fields_finder *finder)
{
    if (finder->map.n)
        kc_map_done(&finder->map);
}

/* ---- errors about several fields (errors.c) ---- */

/* Zeroed means none. */
typedef struct kc__fields_errors {
    size_t n;
    kc_buf text; /* "\n  path: message" for each of the first KC__FIELDS_MAX_ERRORS. */
} kc__fields_errors;

void kc__fields_errors_add(kc__fields_errors *errors, const kc__fields_path *path, kc_str message);
/* Sets KC_INVALID if there are errors: "path: message", or a list of them after "errors:". Frees
 * the contents. */
int kc__fields_errors_result(kc__fields_errors *errors, kc_error *err);

/* ---- what a value is, for a type ---- */

typedef enum kc__fields_shape {
    KC__FIELDS_SHAPE_NONE,
    KC__FIELDS_SHAPE_SCALAR = 1,
    KC__FIELDS_SHAPE_LIST = 2,
    KC__FIELDS_SHAPE_OBJECT = 4,
} kc__fields_shape;

/* Of the shapes of a type (a set): the one of the value, or all when the value has none of them or
 * is NULL or null. */
static inline unsigned kc__fields_shapes_of(const kc__fields_type *type, const kc_value *value)
{
    static const uint8_t shapes[8] = {[YYJSON_TYPE_BOOL] = KC__FIELDS_SHAPE_SCALAR,
                                      [YYJSON_TYPE_NUM] = KC__FIELDS_SHAPE_SCALAR,
                                      [YYJSON_TYPE_STR] = KC__FIELDS_SHAPE_SCALAR,
                                      [YYJSON_TYPE_ARR] = KC__FIELDS_SHAPE_LIST,
                                      [YYJSON_TYPE_OBJ] = KC__FIELDS_SHAPE_OBJECT};
    unsigned own = value ? type->shapes & shapes[unsafe_yyjson_get_type((kc_value *)value)] : 0;
    return own ? own : type->shapes;
}
/* The shape that an operation treats a value with these shapes as: object, scalar, list. */
static inline kc__fields_shape kc__fields_shape_of(unsigned shapes)
{
    return shapes & KC__FIELDS_SHAPE_OBJECT   ? KC__FIELDS_SHAPE_OBJECT
           : shapes & KC__FIELDS_SHAPE_SCALAR ? KC__FIELDS_SHAPE_SCALAR
           : shapes & KC__FIELDS_SHAPE_LIST   ? KC__FIELDS_SHAPE_LIST
                                              : KC__FIELDS_SHAPE_NONE;
}

/* ---- quiet checks (fits.c) ---- */

static inline bool kc__fields_is_container(const kc_value *value)
{
    return value && unsafe_yyjson_is_ctn((kc_value *)value);
}

/* True when a value that is not null is a scalar of the type. */
static inline bool kc__fields_is_scalar_of(const kc__fields_type *type, const kc_value *value)
{
    const uint8_t is = value ? unsafe_yyjson_get_type((kc_value *)value) : YYJSON_TYPE_NONE;
    const bool number = is == YYJSON_TYPE_NUM, string = is == YYJSON_TYPE_STR,
               boolean = is == YYJSON_TYPE_BOOL;
    switch (type->scalar) {
    case KC__FIELDS_NUMERIC: return number;
    case KC__FIELDS_STRING: return string;
    case KC__FIELDS_BOOLEAN: return boolean;
    default: return number || string || boolean;
    }
}

/* True when a value that is no container is valid for its type. */
static inline bool kc__fields_leaf_fits(const kc__fields_type *type, const kc_value *value)
{
    const kc__fields_shape shape = kc__fields_shape_of(kc__fields_shapes_of(type, value));
    return shape == KC__FIELDS_SHAPE_SCALAR
               ? kc__fields_is_null(value) || kc__fields_is_scalar_of(type, value)
               : shape != KC__FIELDS_SHAPE_NONE && kc__fields_is_null(value);
}

/* True when kc__fields_validate accepts a value. `scratch` is for keys of items; NULL: items may be
 * duplicates. */
bool kc__fields_fits(const kc__fields_type *type, const kc_value *value, kc_arena *scratch);

/* ---- items of associative lists (list_items.c) ---- */

typedef struct kc__fields_item {
    kc__fields_element element;
    const kc_value *value;
    uint64_t first; /* Of a key that is one string, in a list with one key: its first eight bytes as
                     * a number. */
    bool has_first;
    uint32_t at;    /* Position in its list. */
    bool right;     /* Of the second list. */
    bool again;     /* The item before it, in the sorted array, has the same element. */
    bool duplicate; /* So does an earlier item of the same list. */
} kc__fields_item;

/* The element of an item. False when it has none: *ret is then invalid, and `why` has a message
 * (`why` may be NULL). */
bool kc__fields_item_element(kc_arena *arena, const kc__fields_type *list, const kc_value *item,
                             kc__fields_element *ret, kc_buf *why);

/* True when kc__fields_item_element succeeds. */
bool kc__fields_item_is_valid(const kc__fields_type *list, const kc_value *item);

/* True when two valid items of a list have the same element. */
bool kc__fields_items_match(const kc__fields_type *list, const kc_value *a, const kc_value *b);

typedef struct kc__fields_items {
    kc__fields_item *sorted; /* By element; of equal ones, left before right, then by position. */
    size_t n;
} kc__fields_items;

/* The items of one or two lists, each NULL or a list, in the arena. Marks duplicates. */
kc__fields_items kc__fields_items_of(kc_arena *arena, const kc__fields_type *type,
                                     const kc_value *left, const kc_value *right);
/* The number of items from `at` that have the same element. */
size_t kc__fields_items_group(const kc__fields_items *items, size_t at);

/* ---- output of values (value_out.c) ---- */

/* Cells of one value, written in order. */
typedef struct kc__fields_out {
    yyjson_val *cells;
    size_t n, room;
} kc__fields_out;

/* Room for a number of cells, in the arena. */
kc__fields_out kc__fields_out_of(kc_arena *arena, size_t room);
/* Copies a value. */
void kc__fields_out_copy(kc__fields_out *out, const kc_value *value);
void kc__fields_out_key(kc__fields_out *out, const kc_value *key);
void kc__fields_out_null(kc__fields_out *out);
/* Begins a container; pass the result to kc__fields_out_end with the number of items or members. */
size_t kc__fields_out_begin(kc__fields_out *out, bool object);
void kc__fields_out_end(kc__fields_out *out, size_t at, size_t n);

#endif
