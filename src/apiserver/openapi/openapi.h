/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h: what resources there are and what their objects look like, as OpenAPI describes it.
 *
 * Documents are made from a snapshot of the kinds when somebody asks for one, and freed when the
 * last answer that carries it is sent: while nobody asks they cost nothing. What is kept are their
 * hashes, which the index needs, and by which clients keep documents for good.
 *
 *     kc_auto(kc__openapi_document) *doc = kc__openapi_v3(openapi, kinds, group, version);
 *     if (!doc)
 *         return …;                                                             404
 *
 * | path                  | function             |
 * |-----------------------|----------------------|
 * | /openapi/v3           | kc__openapi_index    |
 * | /openapi/v3/api/v1    | kc__openapi_v3       |
 * | /openapi/v2           | kc__openapi_v2       |
 */
#ifndef KC_APISERVER_OPENAPI_H
#define KC_APISERVER_OPENAPI_H

#include "apiserver/kinds/registry.h"

/* A document: immutable, counted, any thread. */
typedef struct kc__openapi_document kc__openapi_document;

enum { KC__OPENAPI_HASH = 129 }; /* Room for a hash and a NUL. */

typedef enum kc__openapi_form { KC__OPENAPI_JSON, KC__OPENAPI_PROTOBUF } kc__openapi_form;

kc_str kc__openapi_body(const kc__openapi_document *doc);
/* The SHA-512 of its JSON in capital digits, without quotes. */
kc_str kc__openapi_hash(const kc__openapi_document *doc);
kc__openapi_document *kc__openapi_document_ref(kc__openapi_document *doc);
kc__openapi_document *kc__openapi_document_unref(kc__openapi_document *doc);
KC_AUTO_DEFINE(kc__openapi_document, kc__openapi_document_unref)

/* Where the schemas of resources come from that have no type among the definitions: custom ones. */
typedef struct kc__openapi_source {
    /* The schema of a resource's objects as JSON text of an object, which lives as long as the
     * resource; empty: any object. Defaults to that for all. */
    kc_str (*schema)(const kc__resource *resource, void *user);
    void *user;
} kc__openapi_source;

/* Makes documents, and keeps what all of them need. Any thread. */
typedef struct kc__openapi kc__openapi;

/* `source` may be NULL. Never NULL. */
kc__openapi *kc__openapi_new(const kc__openapi_source *source);
/* No document may be left. NULL is allowed; returns NULL. */
kc__openapi *kc__openapi_free(kc__openapi *openapi);
KC_AUTO_DEFINE(kc__openapi, kc__openapi_free)

/*
 * These take the snapshot that the request has. One that is newer than those before makes earlier
 * hashes void. The reference is the caller's. They block for as long as it takes to write the
 * documents: some milliseconds.
 */

/* {"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=…"}}} Never NULL. */
kc__openapi_document *kc__openapi_index(kc__openapi *openapi, const kc__kinds *kinds);
/* Of a group version, in version 3; NULL when there is none. The core group is "". */
kc__openapi_document *kc__openapi_v3(kc__openapi *openapi, const kc__kinds *kinds, kc_str group,
                                     kc_str version);
/* Of everything, in version 2; its protobuf has the hash of the JSON. Never NULL. */
kc__openapi_document *kc__openapi_v2(kc__openapi *openapi, const kc__kinds *kinds,
                                     kc__openapi_form form);

/* The hash of a document that was made before from this snapshot, so that a client that has it need
 * not wait for another. False, and *ret untouched, when it was not. */
bool kc__openapi_v3_hash(kc__openapi *openapi, const kc__kinds *kinds, kc_str group, kc_str version,
                         char ret[KC__OPENAPI_HASH]);
bool kc__openapi_v2_hash(kc__openapi *openapi, const kc__kinds *kinds, char ret[KC__OPENAPI_HASH]);

#endif
