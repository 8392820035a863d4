/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_internal.h: from resources to the text of a document.
 *
 *     paths.c         resources and verbs → paths with operations
 *     parameters.c    options of verbs → query parameters
 *     operation.c     paths, operations → JSON
 *     schema.c        messages → JSON
 *     document.c      the whole
 *     descriptions.c  the prose of the definitions
 *
 * All of them work for one document (kc__openapi_writer), in the version 2 or 3 of OpenAPI.
 */
#ifndef KC_APISERVER_OPENAPI_INTERNAL_H
#define KC_APISERVER_OPENAPI_INTERNAL_H

#include "apiserver/kinds/registry.h"
#include "apiserver/openapi/descriptions.h"
#include "apiserver/openapi/openapi.h"
#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/map.h"
#include "kc/vec.h"

/* A document being written. */
typedef struct kc__openapi_writer {
    kc_buf *out;
    kc_arena *arena; /* For what lives until the document is written. */
    const kc__kinds *kinds;
    const kc__openapi_source *source;
    const kc__descriptions *texts; /* NULL: none. */
    bool v2;
    kc_map messages;   /* Those the document refers to, by name. */
    kc_map parameters; /* Shared ones of version 2, by their keys. */
    kc_map customs;    /* Custom resources whose schemas it refers to, by the schema's name. */
    unsigned special;  /* Bits of kc__field_kind that have a schema of their own. */
} kc__openapi_writer;

/* ---- paths.c ---- */

/* One query or path parameter. */
typedef struct kc__parameter {
    const char *name, *in; /* "query", "path" */
    const char *type;      /* "string", "integer", "boolean" */
    kc_str description;
    bool required;
} kc__parameter;

typedef KC_VEC(kc__parameter) kc__parameters;

/* Which codes an operation answers with; a bit each. */
enum { KC__CODE_OK = 1, KC__CODE_CREATED = 2, KC__CODE_ACCEPTED = 4 };

/* How the body of an answer is described. */
typedef enum kc__answer_kind {
    KC__ANSWERS_OBJECTS,
    KC__ANSWERS_STREAMS, /* Objects, or a stream of events. */
    KC__ANSWERS_TEXT,    /* Of logs. */
    KC__ANSWERS_ANYTHING /* Of connections. */
} kc__answer_kind;

typedef struct kc__operation {
    const char *method, *action;
    const char *description, *id;
    const char *group, *version, *kind; /* What it speaks; kind NULL: discovery. */
    kc__parameters parameters;
    const char *body; /* The name of its schema; NULL: none. */
    bool body_required;
    bool patches;
    bool strategic; /* Among the patches are strategic ones. */
    const char *answer;
    unsigned codes;
    kc__answer_kind answers;
} kc__operation;

/* A path and what may be done there. */
typedef struct kc__openapi_path {
    const char *path;
    KC_VEC(kc__operation) operations;
    kc__parameters common; /* Of all of them. */
} kc__openapi_path;

typedef void kc__openapi_path_fn(kc__openapi_writer *w, kc__openapi_path *path, const char *tag);

/* Calls `write` for each path of a group version, in a fixed order. */
void kc__openapi_paths(kc__openapi_writer *w, const kc__kinds_version *version,
                       kc__openapi_path_fn *write);

/* ---- parameters.c ---- */

/* Which options a query may have, a set. */
enum {
    KC__PARAMS_NAME = 1 << 0,
    KC__PARAMS_NAMESPACE = 1 << 1,
    KC__PARAMS_PRETTY = 1 << 2,
    KC__PARAMS_LIST = 1 << 3,
    KC__PARAMS_CREATE = 1 << 4,
    KC__PARAMS_UPDATE = 1 << 5,
    KC__PARAMS_PATCH = 1 << 6,
    KC__PARAMS_DELETE = 1 << 7,
    KC__PARAMS_DELETE_LIST = 1 << 8, /* Those of lists, without those of watches. */
    KC__PARAMS_PATH = 1 << 9,        /* What follows …/proxy/ */
};

typedef struct kc__parameters_of {
    unsigned sets;
    const char *kind;           /* Whose name it is. */
    const kc__message *options; /* More of them: PodLogOptions. NULL: none. */
} kc__parameters_of;

/* Sorted by name. In the arena, apart from the vector itself. */
void kc__openapi_parameters(kc__openapi_writer *w, const kc__parameters_of *of,
                            kc__parameters *out);
/* Moves what all operations have in common to the path. */
void kc__openapi_share_parameters(kc__openapi_path *path);
bool kc__parameter_equals(const kc__parameter *a, const kc__parameter *b);

/* ---- operation.c ---- */

kc__openapi_path_fn kc__openapi_write_path;
/* A parameter as an object. */
void kc__openapi_write_parameter(kc__openapi_writer *w, const kc__parameter *parameter);
/* The name under which documents of version 2 keep it. */
const char *kc__openapi_parameter_key(kc__openapi_writer *w, const kc__parameter *parameter);

/* ---- schema.c ---- */

/* The schema's name for what a resource's body or answer is; it will be in the document. */
const char *kc__openapi_schema_of(kc__openapi_writer *w, const kc__resource *resource);
const char *kc__openapi_list_schema_of(kc__openapi_writer *w, const kc__resource *resource);
/* Of a message; NULL where it is NULL. */
const char *kc__openapi_want(kc__openapi_writer *w, const kc__message *message);
/* All schemas that were asked for, and what they refer to, as members. */
void kc__openapi_write_schemas(kc__openapi_writer *w);
/* {"$ref":"…"} */
void kc__openapi_write_ref(kc__openapi_writer *w, const char *name);
/* As members of an object that is open: a reference, with what else is said beside it. `fallback`
 * is JSON; NULL: no default. */
void kc__openapi_write_reference(kc__openapi_writer *w, const char *name, const char *fallback);
/* A whole member: "name":{…} */
void kc__openapi_write_field(kc__openapi_writer *w, const kc__field *field);
void kc__openapi_write_kind(kc_buf *out, const char *group, const char *version, const char *kind);

/* ---- custom.c ---- */

void kc__openapi_write_customs(kc__openapi_writer *w);

/* ---- JSON ---- */

/* Each begins with a comma where something stands before it. */
void kc__json_next(kc_buf *out);
void kc__json_member(kc_buf *out, const char *name);
void kc__json_text(kc_buf *out, const char *name, kc_str value);
/* Nothing where it is empty. */
void kc__json_text_if(kc_buf *out, const char *name, kc_str value);

#endif
