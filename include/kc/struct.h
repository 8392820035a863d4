/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct.h: converts structs of api.h to objects and back, driven by tables.
 *
 * `kc generate` writes a table of fields for each kind; the functions here interpret it. Programs
 * use the generated wrappers:
 *
 *     kc_auto(robot) *robot = robot_of(object, err);             kc_struct_decode
 *     robot->spec.replicas = &three;
 *     kc_auto(kc_object) *changed = robot_object(robot, err);    kc_struct_encode
 *
 * Encoding writes the struct over the original object: members that the table does not know are
 * kept, members that the struct no longer has are removed. One struct must not be used by several
 * threads at a time.
 */
#ifndef KC_STRUCT_H
#define KC_STRUCT_H

#include "kc/api.h"
#include "kc/json.h"
#include "kc/kind.h"

typedef enum kc_member_type {
    KC_MEMBER_BOOLEAN,
    KC_MEMBER_INT32,
    KC_MEMBER_INT64,
    KC_MEMBER_UINT32,
    KC_MEMBER_UINT64,
    KC_MEMBER_FLOAT32,
    KC_MEMBER_FLOAT64,
    KC_MEMBER_TEXT,          /* char * */
    KC_MEMBER_ENUM,          /* A C enum (int) with names: `names`. */
    KC_MEMBER_BYTES,         /* kc_bytes */
    KC_MEMBER_INT_OR_STRING, /* kc_int_or_string */
    KC_MEMBER_QUANTITY,      /* kc_quantity_text */
    KC_MEMBER_TIME,          /* kc_timestamp */
    KC_MEMBER_MICRO_TIME,    /* kc_micro_timestamp */
    KC_MEMBER_DURATION,      /* kc_duration_field */
    KC_MEMBER_RAW,           /* kc_raw */
    KC_MEMBER_STRUCT,        /* `of` */
    KC_MEMBER_INNER,         /* A nested KC_LIST_OF, KC_MAP_OF or kc_string_map: `inner` */
} kc_member_type;

typedef enum kc_member_shape {
    KC_SHAPE_VALUE,
    KC_SHAPE_POINTER, /* NULL: absent. */
    KC_SHAPE_LIST,    /* A pointer at `offset` and a size_t at `count_offset`. */
    KC_SHAPE_MAP,     /* kc_string_map or KC_MAP_OF. */
} kc_member_shape;

enum {
    KC_MEMBER_OMIT_EMPTY = 1, /* Omitted when empty: for optional fields that are not pointers. */
    KC_MEMBER_INLINE = 2,     /* A struct whose members are inlined. */
    KC_MEMBER_POINTERS = 4,   /* Items of the list or map are pointers to the type. */
    KC_MEMBER_KEEP_EMPTY =
        8,                 /* A list or map that is written even when empty: for required fields. */
    KC_MEMBER_IF_SET = 16, /* Omitted only if not set: text, bytes, lists and maps whose pointer is
                            * NULL, times of 0. For apply configurations, where "" and [] count. */
};

typedef struct kc_struct kc_struct;
typedef struct kc_member kc_member;

/* A field, or, without a name, the element of a list or map of lists or maps:
 *
 *     KC_MAP_OF(KC_LIST_OF(char *)) groups;
 *     const kc_member member = {
 *         .name = "groups", .shape = KC_SHAPE_MAP, .type = KC_MEMBER_INNER,
 *         .inner = &(const kc_member){KC_INNER_LIST, .type = KC_MEMBER_TEXT},
 *     };
 */
struct kc_member {
    const char *name; /* In JSON. */
    uint32_t offset, count_offset;
    uint8_t type;  /* kc_member_type */
    uint8_t shape; /* kc_member_shape */
    uint8_t flags;
    const kc_struct *of; /* KC_MEMBER_STRUCT */
    /* KC_MEMBER_ENUM: indexed by value, ended by NULL; "" is not written. */
    const char *const *names;
    const kc_member *inner;   /* KC_MEMBER_INNER: of shape list or map. */
    const char *default_json; /* NULL: none. */
};

/* First initialisers of an `inner` for KC_LIST_OF and KC_MAP_OF. */
#define KC_INNER_LIST .shape = KC_SHAPE_LIST, .count_offset = offsetof(kc_string_map, n)
#define KC_INNER_MAP  .shape = KC_SHAPE_MAP

struct kc_struct {
    const char *name; /* In C. */
    size_t size;
    const kc_member *fields;
    size_t n_fields;
    int32_t meta_offset; /* Of its kc_object_meta; -1: not a kind. */
};

/* Tables of the types in api.h. */
extern const kc_struct kc_struct_object_meta, kc_struct_owner_reference, kc_struct_status_condition,
    kc_struct_status_condition_apply_config;

/*
 * Decodes an object into a struct of `type`, which is a kind, with an arena of its own; free it
 * with kc_struct_free. NULL with KC_BAD_REQUEST and the path when a value has the wrong type.
 */
void *kc_struct_decode(const kc_struct *type, const kc_object *object, kc_error *err);
/* The same for a JSON value, into the caller's zeroed struct and arena. */
int kc_struct_decode_value(const kc_struct *type, const kc_value *value, kc_arena *arena,
                           void *ret_struct, kc_error *err);
/* NULL is allowed; returns NULL. Not for structs in the caller's own memory. */
void *kc_struct_free(const kc_struct *type, void *value);

/* Encodes a struct as an object of this kind, over metadata.origin if it is set. */
kc_object *kc_struct_encode(const kc_struct *type, const kc_kind *kind, const void *value,
                            kc_error *err);
/* The same without metadata.origin: only the fields of the struct. */
kc_object *kc_struct_encode_alone(const kc_struct *type, const kc_kind *kind, const void *value,
                                  kc_error *err);
/* Appends a struct as JSON. */
void kc_struct_write(const kc_struct *type, const void *value, kc_buf *out);

/* A deep copy with its own arena. */
void *kc_struct_copy(const kc_struct *type, const void *value);
/* Semantic equality: empty equals absent, quantities by value. Ignores the arena and the origin of
 * metadata. */
bool kc_struct_equal(const kc_struct *type, const void *a, const void *b);
/* Sets the defaults of empty fields, as a server would. */
void kc_struct_default(const kc_struct *type, void *value, kc_arena *arena);

#endif
