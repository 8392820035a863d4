/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_internal.h: values during an evaluation.
 *
 * A list or map is either JSON, read element by element when it is used, or made by the expression
 * and allocated in the arena of the evaluation:
 *
 *     KC__CEL_JSON      kc_value and its type; elements are converted when they are read
 *     KC__CEL_OWN       an array of values; entries with a hash index
 *     KC__CEL_CONCAT    two lists; a + b costs the same for lists of any length
 *     KC__CEL_LOOKUP    an object whose fields a callback computes; it cannot be iterated
 *
 * An error is a value of kind KC_CEL_ERROR: it passes through every function, except those that may
 * absorb it (&&, ||, ?:, folds).
 */
#ifndef KC_CEL_VALUE_INTERNAL_H
#define KC_CEL_VALUE_INTERNAL_H

#include "cel/type/type_internal.h"

typedef struct kc__cel_eval kc__cel_eval;

enum kc__cel_form { KC__CEL_JSON, KC__CEL_OWN, KC__CEL_CONCAT, KC__CEL_LOOKUP };

/* The Go slice behind a list of an expression: most hold cel-go's values. */
enum kc__cel_slice { KC__CEL_SLICE_REF, KC__CEL_SLICE_ANY, KC__CEL_SLICE_STRING };

typedef struct kc__cel_list {
    kc_cel_value *items; /* With a type: Go values (go_value.c). */
    size_t n, cap;
    bool growing;             /* The accumulator of a fold: additions extend it in place. */
    bool is_view;             /* The Go values of `right`, read by `type`; `left` is empty. */
    uint8_t slice;            /* kc__cel_slice, of KC__CEL_OWN without a type. */
    const kc_cel_type *type;  /* Of a sum that begins with a list of a schema; NULL for others. */
    kc_cel_value left, right; /* Of a concatenation. */
} kc__cel_list;

typedef struct kc__cel_map_entry {
    kc_cel_value key, value;
    uint64_t hash;
} kc__cel_map_entry;

typedef struct kc__cel_map {
    kc__cel_map_entry *entries;
    size_t n, cap;
    uint32_t *slots; /* Positions of entries, plus one; NULL in a small map. */
    size_t n_slots;
    bool growing;            /* As of a list. */
    bool by_value;           /* Keys are equal if == says so; otherwise as in a Go map. */
    const kc_cel_type *type; /* Of a constructed object; NULL of a map. */
    uint64_t seed;           /* Of the hashes: authors of keys cannot choose collisions. */
} kc__cel_map;

/* ---- scalars ---- */

static inline kc_cel_value kc__cel_bool(bool b)
{
    return (kc_cel_value){.kind = KC_CEL_BOOL, .boolean = b};
}

static inline kc_cel_value kc__cel_int(int64_t i)
{
    return (kc_cel_value){.kind = KC_CEL_INT, .integer = i};
}

static inline kc_cel_value kc__cel_uint(uint64_t u)
{
    return (kc_cel_value){.kind = KC_CEL_UINT, .natural = u};
}

static inline kc_cel_value kc__cel_double(double d)
{
    return (kc_cel_value){.kind = KC_CEL_DOUBLE, .number = d};
}

static inline kc_cel_value kc__cel_text(kc_str s)
{
    return (kc_cel_value){.kind = KC_CEL_STRING, .text = s};
}

static inline kc_cel_value kc__cel_none(void)
{
    return (kc_cel_value){.kind = KC_CEL_OPTIONAL};
}

static inline bool kc__cel_is_error(kc_cel_value v)
{
    return v.kind == KC_CEL_ERROR;
}

kc_cel_value kc__cel_optional_of(kc__cel_eval *ev, kc_cel_value inner);
/* An error value with a message. */
kc_cel_value kc__cel_error(kc__cel_eval *ev, const char *fmt, ...) KC_PRINTF(2, 3);
/* The same with a constant message, without a copy. */
kc_cel_value kc__cel_error_const(const char *message);
kc_cel_value kc__cel_no_such_overload(void);
/* Ends the evaluation with "internal error: …": what cel-go makes of a panic, and nothing absorbs.
 */
kc_cel_value kc__cel_panic(kc__cel_eval *ev, const char *fmt, ...) KC_PRINTF(2, 3);

/* The name of a value's type in Go, which some messages show. */
const char *kc__cel_go_type(kc_cel_value v);
/* The same of a value before cel-go wraps it: JSON of an unknown type is a native value. */
const char *kc__cel_go_native_type(kc_cel_value v);
/* True if a value can select an element or a member: a boolean, number or string. */
bool kc__cel_is_qualifier(kc_cel_value key);
/* The type that type(x) yields. */
const kc_cel_type *kc__cel_type_of_value(kc_cel_value v);
/* Memory of the evaluation; NULL beyond its limit, and the evaluation then fails. */
void *kc__cel_alloc(kc__cel_eval *ev, size_t size);
/* A string or bytes value with a copy of the text. */
kc_cel_value kc__cel_copy_text(kc__cel_eval *ev, kc_cel_kind kind, kc_str text);

/* ---- JSON (json.c) ---- */

kc_cel_value kc__cel_read_json(kc__cel_eval *ev, const kc_value *json, const kc_cel_type *type);
/* JSON that is a list, map or object. Each reading makes another one to cel-go, which matters where
 * it is the key of a map. */
kc_cel_value kc__cel_container(kc__cel_eval *ev, kc_cel_kind kind, const kc_value *json,
                               const kc_cel_type *type);
/* An element of an array, a member of an object: NULL when it is absent. Large containers get an
 * index at the second access, so that access does not take time linear in their length. */
const kc_value *kc__cel_json_at(kc__cel_eval *ev, const kc_value *array, size_t index);
const kc_value *kc__cel_json_get(kc__cel_eval *ev, const kc_value *object, kc_str name);

/* Text as a duration (Go's syntax) or a timestamp (RFC 3339, or a date). Errors name the text. */
kc_cel_value kc__cel_parse_duration(kc__cel_eval *ev, kc_str text);
kc_cel_value kc__cel_parse_timestamp(kc__cel_eval *ev, kc_str text, bool date);

#define KC__CEL_NOT_INT_OR_STRING \
    "invalid data, expected XIntOrString value to be either a string or integer"
/* A string that a schema declares, in the format of its type: "90s" is a duration. */
kc_cel_value kc__cel_read_text(kc__cel_eval *ev, kc_str text, const kc_cel_type *type);

/* ---- Go values of elements (go_value.c) ---- */

/* The Go value of a value, and of the element of a list of a schema or of a sum. */
kc_cel_value kc__cel_go_value(kc_cel_value v);
kc_cel_value kc__cel_go_element(kc__cel_eval *ev, kc_cel_value list, size_t index);
bool kc__cel_go_is_nil(kc_cel_value go);
/* "int64", "[]ref.Val": as Go's %T prints it. */
const char *kc__cel_go_value_type(kc_cel_value go);
/* A Go value as the type of a schema reads it; an error where it does not fit. */
kc_cel_value kc__cel_read_go(kc__cel_eval *ev, kc_cel_value go, const kc_cel_type *type);

/* ---- lists (list.c) ---- */

size_t kc__cel_list_len(kc_cel_value list);
/* The element at an index below the length. */
kc_cel_value kc__cel_list_at(kc__cel_eval *ev, kc_cel_value list, size_t index);
kc_cel_value kc__cel_list_concat(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b);
/* The type that a schema declares for a list, also for a sum that begins with such a list; NULL for
 * other lists. */
const kc_cel_type *kc__cel_list_declared_type(kc_cel_value list);
/* The type of the elements; dyn where none is declared. */
const kc_cel_type *kc__cel_list_element_type(const kc_cel_type *list);

/* ---- lists of type set and map (schema_list.c) ---- */

/* The declared type of such a list; NULL for other lists. */
const kc_cel_type *kc__cel_list_keyed_type(kc_cel_value list);
/* a + b: elements of b replace those of a with the same keys, equal ones of a set are added once.
 */
kc_cel_value kc__cel_list_merge(kc__cel_eval *ev, const kc_cel_type *type, kc_cel_value a,
                                kc_cel_value b);
/* True if every element of b is one of a, for lists of the same length. */
kc_cel_value kc__cel_list_equal_in_any_order(kc__cel_eval *ev, const kc_cel_type *type,
                                             kc_cel_value a, kc_cel_value b);
/* An empty list to which elements can be appended until it is used. NULL beyond the limit. */
kc__cel_list *kc__cel_list_new(kc__cel_eval *ev, size_t room);
/* The same for what cel-go keeps as a slice of Go strings. */
kc__cel_list *kc__cel_strings_new(kc__cel_eval *ev, size_t room);
bool kc__cel_list_append(kc__cel_eval *ev, kc__cel_list *list, kc_cel_value item);
static inline kc_cel_value kc__cel_list_value(kc__cel_list *list)
{
    return (kc_cel_value){.kind = KC_CEL_LIST, .form = KC__CEL_OWN, .list = list};
}

/* Iterates over the elements of a list or the keys of a map, in constant time per element. */
typedef struct kc__cel_iter {
    kc_cel_value over;
    size_t at, n;
    kc_value_iter json;
    const kc_value *json_value; /* The value of the current key. */
} kc__cel_iter;

/* False when the value is neither a list nor a map. */
bool kc__cel_iter_begin(kc__cel_eval *ev, kc_cel_value over, kc__cel_iter *ret);
/* The next element or key, and for a map its value when `ret_value` is given. */
bool kc__cel_iter_next(kc__cel_eval *ev, kc__cel_iter *iter, kc_cel_value *ret,
                       kc_cel_value *ret_value);

/* ---- maps (map.c) ---- */

size_t kc__cel_map_len(kc_cel_value map);
/* Of a map or an object. True when the key is present; an error in *ret counts as present. */
bool kc__cel_map_find(kc__cel_eval *ev, kc_cel_value map, kc_cel_value key, kc_cel_value *ret);
kc__cel_map *kc__cel_map_new(kc__cel_eval *ev, size_t room);
/* The same for a set of values that compares them as == does. */
kc__cel_map *kc__cel_values_new(kc__cel_eval *ev, size_t room);
/* Sets an entry. False beyond the limit, and for a key that Go cannot hash. */
bool kc__cel_map_put(kc__cel_eval *ev, kc__cel_map *map, kc_cel_value key, kc_cel_value value);
void kc__cel_map_remove(kc__cel_eval *ev, kc__cel_map *map, kc_cel_value key);
static inline kc_cel_value kc__cel_map_value(kc__cel_map *map)
{
    return (kc_cel_value){.kind = KC_CEL_MAP, .form = KC__CEL_OWN, .map = map};
}

/* ---- equality (equal.c) ---- */

/* a == b: a boolean, or an error when the type of a refuses the comparison. */
kc_cel_value kc__cel_equals(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b);
/* The same where cel-go calls Equal of the left value, so null is compared as any other value. */
kc_cel_value kc__cel_value_equals(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b);
/* True if a == b is true. */
bool kc__cel_equal(kc__cel_eval *ev, kc_cel_value a, kc_cel_value b);

/* The value after cel-go's conversion to a Go value and back (native.c). */
kc_cel_value kc__cel_through_native(kc__cel_eval *ev, kc_cel_value v);

/* ---- order and hashes (compare.c) ---- */

uint64_t kc__cel_hash(kc__cel_eval *ev, kc_cel_value v, uint64_t seed);

typedef enum kc__cel_order {
    KC__CEL_BEFORE = -1,
    KC__CEL_SAME = 0,
    KC__CEL_AFTER = 1,
    KC__CEL_NAN,       /* "NaN values cannot be ordered" */
    KC__CEL_UNORDERED, /* The types have no order. */
} kc__cel_order;
kc__cel_order kc__cel_compare(kc_cel_value a, kc_cel_value b);

bool kc__cel_double_to_int(double d, int64_t *ret);   /* Within range, truncated. */
bool kc__cel_double_to_uint(double d, uint64_t *ret); /* The same. */

/* ---- text (text.c) ---- */

/* As Go prints a value in a message. */
void kc__cel_write_plain(kc_cel_value value, kc_buf *out);
/* "2024-02-29T12:00:00.5Z", in the zone of the timestamp. */
void kc__cel_write_timestamp(kc_cel_value timestamp, kc_buf *out);
/* "1.5s" */
void kc__cel_write_duration(int64_t ns, kc_buf *out);

/* The size as the function size() counts it; 1 for a value without one. */
uint64_t kc__cel_size(kc_cel_value v);
size_t kc__cel_runes(kc_str text);

#endif
