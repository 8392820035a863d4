/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_internal.h: writes a document from resources.
 *
 *     paths.c         resources and verbs → paths with operations
 *     parameters.c    options of verbs → query parameters
 *     operation.c     paths, operations → JSON
 *     schema.c        messages → JSON
 *     document.c      the whole document
 *     descriptions.c  the published descriptions
 *
 * All of them write one document (kc__openapi_writer), in version 2 or 3 of OpenAPI.
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

/* A document that is being written. */
typedef struct kc__openapi_writer {
    kc_buf *out;
    kc_arena *arena; /* For data that lives until the document is written. */
    const kc__registry *kinds;
    const kc__openapi_descriptions *texts; /* NULL: none. */
    bool v2;
    kc_map messages;   /* Messages that the document references, by name. */
    kc_map parameters; /* Shared parameters of v2, by key. */
    kc_map customs;    /* Custom resources whose schemas it references, by schema name. */
    unsigned special;  /* Bits of kc__type_field_kind that have a schema of their own. */
} kc__openapi_writer;

/* ---- paths.c ---- */

/* One query or path parameter. */
typedef struct kc__openapi_parameter {
    const char *name, *in; /* "query", "path" */
    const char *type;      /* "string", "integer", "boolean" */
    kc_str description;
    bool required;
} kc__openapi_parameter;

typedef KC_VEC(kc__openapi_parameter) kc__openapi_parameter_list;

/* Status codes of an operation, as bits. */
enum { KC__OPENAPI_CODE_OK = 1, KC__OPENAPI_CODE_CREATED = 2, KC__OPENAPI_CODE_ACCEPTED = 4 };

/* How the response body is described. */
typedef enum kc__openapi_response_kind {
    KC__OPENAPI_RESPONSE_OBJECTS,
    KC__OPENAPI_RESPONSE_STREAMS, /* Objects, or a stream of events. */
    KC__OPENAPI_RESPONSE_TEXT,    /* Logs. */
    KC__OPENAPI_RESPONSE_ANYTHING /* Connections. */
} kc__openapi_response_kind;

typedef struct kc__openapi_operation {
    const char *method, *action;
    const char *description, *id;
    const char *group, *version, *kind; /* Kind of its objects; kind NULL: discovery. */
    kc__openapi_parameter_list parameters;
    const char *body; /* Name of the body's schema; NULL: none. */
    bool body_required;
    bool patches;
    bool strategic; /* Accepts strategic merge patches. */
    const char *response;
    unsigned codes;
    kc__openapi_response_kind answers;
} kc__openapi_operation;

/* A path and its operations. */
typedef struct kc__openapi_path {
    const char *path;
    KC_VEC(kc__openapi_operation) operations;
    kc__openapi_parameter_list common; /* Parameters of all operations. */
} kc__openapi_path;

typedef void kc__openapi_path_fn(kc__openapi_writer *w, kc__openapi_path *path, const char *tag);

/* Calls `write` for each path of a group version, in a fixed order. */
void kc__openapi_paths(kc__openapi_writer *w, const kc__registry_version *version,
                       kc__openapi_path_fn *write);

/* ---- parameters.c ---- */

/* The query options of an operation, as bits. */
enum {
    KC__OPENAPI_PARAMS_NAME = 1 << 0,
    KC__OPENAPI_PARAMS_NAMESPACE = 1 << 1,
    KC__OPENAPI_PARAMS_PRETTY = 1 << 2,
    KC__OPENAPI_PARAMS_LIST = 1 << 3,
    KC__OPENAPI_PARAMS_CREATE = 1 << 4,
    KC__OPENAPI_PARAMS_UPDATE = 1 << 5,
    KC__OPENAPI_PARAMS_PATCH = 1 << 6,
    KC__OPENAPI_PARAMS_DELETE = 1 << 7,
    KC__OPENAPI_PARAMS_DELETE_LIST = 1 << 8, /* Options of lists, without those of watches. */
    KC__OPENAPI_PARAMS_PATH = 1 << 9,        /* The part after …/proxy/ */
};

typedef struct kc__openapi_parameter_sets {
    unsigned sets;
    const char *kind;                /* Kind whose name is in the path. */
    const kc__type_message *options; /* Additional options: PodLogOptions. NULL: none. */
} kc__openapi_parameter_sets;

/* Sorted by name. Allocated in the arena, except the vector itself. */
void kc__openapi_parameters(kc__openapi_writer *w, const kc__openapi_parameter_sets *of,
                            kc__openapi_parameter_list *out);
/* Moves parameters that all operations share to the path. */
void kc__openapi_share_parameters(kc__openapi_path *path);
bool kc__openapi_parameter_equals(const kc__openapi_parameter *a, const kc__openapi_parameter *b);

/* ---- operation.c ---- */

kc__openapi_path_fn kc__openapi_write_path;
/* A parameter as an object. */
void kc__openapi_write_parameter(kc__openapi_writer *w, const kc__openapi_parameter *parameter);
/* The key under which v2 documents define it. */
const char *kc__openapi_parameter_key(kc__openapi_writer *w,
                                      const kc__openapi_parameter *parameter);

/* ---- schema.c ---- */

/* The schema name of a resource's request or response body; adds the schema to the document. */
const char *kc__openapi_schema_of(kc__openapi_writer *w, const kc__resource *resource);
const char *kc__openapi_list_schema_of(kc__openapi_writer *w, const kc__resource *resource);
/* The same for a message; NULL for NULL. */
const char *kc__openapi_require_schema(kc__openapi_writer *w, const kc__type_message *message);
/* Writes all referenced schemas, and those they reference, as members. */
void kc__openapi_write_schemas(kc__openapi_writer *w);
/* {"$ref":"…"} */
void kc__openapi_write_ref(kc__openapi_writer *w, const char *name);
/* Writes members of an open object: a reference, with its description and default. `fallback` is
 * JSON; NULL: no default. */
void kc__openapi_write_reference(kc__openapi_writer *w, const char *name, const char *fallback);
/* Writes a whole member: "name":{…} */
void kc__openapi_write_field(kc__openapi_writer *w, const kc__type_field *field);
void kc__openapi_write_kind(kc_buf *out, const char *group, const char *version, const char *kind);

/* ---- custom.c ---- */

void kc__openapi_write_customs(kc__openapi_writer *w);

/* ---- JSON ---- */

/* Each of these writes a comma first if something precedes it. */
void kc__openapi_json_next(kc_buf *out);
void kc__openapi_json_member(kc_buf *out, const char *name);
void kc__openapi_json_text(kc_buf *out, const char *name, kc_str value);
/* Writes nothing if it is empty. */
void kc__openapi_json_text_if(kc_buf *out, const char *name, kc_str value);

#endif
