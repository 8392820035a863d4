/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h: what the program knows while it runs.
 *
 *     proto.c    generated.proto   packages, messages, fields, numbers, markers
 *     golang.c   *.go              structs: names in JSON, pointers, order; constants
 *     resolve.c                    marries the two, by field numbers
 *     enums.c                      the values of types that are enumerations
 *     amend*.c   amendments.txt    what is newer than the packaged definitions
 *     describe.c                   descriptions, from the comments
 *     write.c                      C source of the tables
 *
 * Text is borrowed from the files, which stay in memory until the end, or is in the arena.
 */
#ifndef KC_DEFINITIONS_MODEL_H
#define KC_DEFINITIONS_MODEL_H

#include "apiserver/codec/api_types.h"
#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/map.h"
#include "kc/vec.h"

typedef struct message message;
typedef struct package package;

/* A field, first as generated.proto has it, then as the table will. */
typedef struct field {
    kc_str proto_name, type; /* Of a map, the type of its values. */
    kc_str markers;          /* The comment before it. */
    int line;
    /* The table's: */
    kc_str name; /* In JSON. */
    uint16_t number;
    kc__type_field_kind kind;
    kc__type_field_shape shape;
    unsigned marks;
    message *message;
    const char *merge_key, *list_keys, *fallback, *go_type;
    uint16_t enumeration; /* Place in model.enums, from 1. */
} field;

struct message {
    package *package;
    kc_str proto_name;
    kc_str markers;
    int line;
    KC_VEC(field) read; /* As generated.proto has them. */
    /* The table's: */
    KC_VEC(field) fields; /* In the order of Go. */
    kc_str name;
    const char *go_name;
    unsigned marks;
    bool special; /* Its JSON is no object: a kind of field, and not in the table. */
    bool amended; /* Only the amendments have it. */
    kc__type_field_kind kind;
    size_t index;
};

/* One field of a Go struct. */
typedef struct go_field {
    kc_str name;         /* Of an embedded struct, its type's. */
    const char *type;    /* As reflection prints it, without a pointer's star: "[]v1.Container". */
    const char *package; /* Where a named type is from: "k8s.io.api.core.v1"; NULL: no named one. */
    kc_str type_name;    /* Without its package. */
    bool pointer, embedded;
    kc_str tag;
    int line;
} go_field;

/* A Go type. One that is neither a struct nor a list is not kept, unless it is another name of one
 * (`type List metav1.List`): then `same_package` and `same_name` say of which. */
typedef struct go_type {
    const char *path; /* File. */
    kc_str name;
    bool is_list;
    bool is_enum;     /* Marked +enum, and a string. */
    const char *text; /* Of one that is no struct: "[]string". */
    const char *same_package;
    kc_str same_name;
    KC_VEC(go_field) fields;
} go_type;

/* const NAME TYPE = "value", or NAME = TYPE("value"), of a type of its own package. */
typedef struct go_constant {
    kc_str name, type;
    kc_str value;             /* A token's text, with its quotes; empty: that of */
    const char *same_package; /* a constant of this package, */
    kc_str same_name;         /* of this name. */
    kc_str comment;           /* The one before it. */
} go_constant;

/* A string type with constants, which OpenAPI lists as its values. */
typedef struct enumeration {
    const char *name;           /* "k8s.io.api.core.v1.Protocol" */
    KC_VEC(go_constant) values; /* In the order of their values. */
} enumeration;

struct package {
    const char *folder; /* "api/core/v1" */
    const char *proto_path;
    kc_str name;                /* "k8s.io.api.core.v1" */
    KC_VEC(message *) messages; /* In the arena. */
    kc_map go_types;            /* Name to go_type, in the arena. */
    kc_map constants;           /* Name to its string literal, a token's text in the arena. */
    KC_VEC(go_constant) typed;  /* Those of a type. */
};

typedef struct model {
    kc_arena arena;
    KC_VEC(char *) files;
    KC_VEC(package *) packages; /* In the arena. */
    kc_map by_name;             /* Full proto name, "k8s.io.api.core.v1.Pod", to message. */
    KC_VEC(message *) table;    /* What is written, sorted by name. */
    KC_VEC(enumeration) enums;
    kc_map enum_places; /* Name to its place in `enums`, from 1, in the arena. */
    kc_map not_enums;   /* Types that another package has under a name of its own without +enum:
                           Kubernetes' generator loses the marker then. */
} model;

void model_done(model *m);

/* A file's text, the model's. Ends the program when it cannot be read. */
kc_str model_file(model *m, const char *path);
package *model_package(const model *m, kc_str name);

void read_proto(model *m, package *p);
void read_go(model *m, package *p, const char *path);
/* Fills in the fields of every message of the packages. */
void resolve(model *m);
/* Adds what a file of amendments has: amend.c shows its language. After resolve. */
void amend(model *m, const char *path);
/* Sorts the table; after this nothing is added to it. */
void resolve_order(model *m);
void write_tables(model *m, const char *path);
void write_descriptions(model *m, kc_buf *out);

/* The comment right before something: what follows the last empty line. */
kc_str comment_of(kc_str before);

/* ---- resolve.c, for amendments ---- */

/* The kind of field that a scalar of protobuf is; false: it is no scalar. */
bool scalar_kind(kc_str type, kc__type_field_kind *ret);
/* What "+listType=set" and the like stand for; 0: it is not known. */
unsigned mark_named(kc_str marker, kc_str value);
/* What a patchStrategy stands for, "merge,retainKeys"; 0: it is not known. */
unsigned patch_marks_named(kc_str strategies);
/* Makes a message known by its full name, which none has yet. */
void register_message(model *m, message *msg);

/* ---- enums.c ---- */

/* The place of the enumeration that a type is, from 1; 0: it is none. */
uint16_t enum_find(model *m, const char *package_name, kc_str type_name);
/* The same, made if there is none. */
uint16_t enum_need(model *m, const char *package_name, kc_str type_name);
/* A value more, unless it is one already. */
void enum_add(enumeration *e, go_constant value);
/* The values as a JSON array. */
void enum_write(kc_buf *out, const enumeration *e);
/* What a description says of the values. */
void enum_describe(kc_buf *out, const enumeration *e);

/* The value of "// +name=value" in a comment; p == NULL when it is not there. "// +name" is empty.
 * *at, which may be NULL, starts at 0 and lets a loop find further ones. */
kc_str marker(kc_str comment, const char *name, size_t *at);

#endif
