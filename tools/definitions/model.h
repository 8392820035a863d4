/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h: what the program knows while it runs.
 *
 *     proto.c    generated.proto   packages, messages, fields, numbers, markers
 *     golang.c   *.go              structs: names in JSON, pointers, order
 *     resolve.c                    marries the two, by field numbers
 *     describe.c                   descriptions, from the comments
 *     write.c                      C source of the tables
 *
 * Text is borrowed from the files, which stay in memory until the end, or is in the arena.
 */
#ifndef KC_DEFINITIONS_MODEL_H
#define KC_DEFINITIONS_MODEL_H

#include "apiserver/kinds/definition.h"
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
    kc__field_kind kind;
    kc__field_shape shape;
    unsigned marks;
    message *message;
    const char *merge_key, *list_keys, *fallback, *go_type;
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
    kc__field_kind kind;
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
    const char *text; /* Of one that is no struct: "[]string". */
    const char *same_package;
    kc_str same_name;
    KC_VEC(go_field) fields;
} go_type;

struct package {
    const char *folder; /* "api/core/v1" */
    const char *proto_path;
    kc_str name;                /* "k8s.io.api.core.v1" */
    KC_VEC(message *) messages; /* In the arena. */
    kc_map go_types;            /* Name to go_type, in the arena. */
    kc_map constants;           /* Name to its string literal, a token's text in the arena. */
};

typedef struct model {
    kc_arena arena;
    KC_VEC(char *) files;
    KC_VEC(package *) packages; /* In the arena. */
    kc_map by_name;             /* Full proto name, "k8s.io.api.core.v1.Pod", to message. */
    KC_VEC(message *) table;    /* What is written, sorted by name. */
} model;

void model_done(model *m);

/* A file's text, the model's. Ends the program when it cannot be read. */
kc_str model_file(model *m, const char *path);
package *model_package(const model *m, kc_str name);

void read_proto(model *m, package *p);
void read_go(model *m, package *p, const char *path);
void resolve(model *m);
void write_tables(model *m, const char *path);
void write_descriptions(model *m, kc_buf *out);

/* The value of "// +name=value" in a comment; p == NULL when it is not there. "// +name" is empty.
 * *at, which may be NULL, starts at 0 and lets a loop find further ones. */
kc_str marker(kc_str comment, const char *name, size_t *at);

#endif
