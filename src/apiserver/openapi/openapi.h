/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h: the OpenAPI documents of the served resources.
 *
 * Documents are built from a registry on demand and freed when the last response that carries them
 * is sent: without requests they cost nothing. Only their hashes are kept, which the index needs
 * and by which clients cache documents permanently.
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

struct kc__memory_account; /* governor/governor.h */

/* A document: immutable, reference-counted, any thread. */
typedef struct kc__openapi_document kc__openapi_document;

enum { KC__OPENAPI_HASH = 129 }; /* Size of a hash with its NUL. */

typedef enum kc__openapi_form { KC__OPENAPI_JSON, KC__OPENAPI_PROTOBUF } kc__openapi_form;

kc_str kc__openapi_body(const kc__openapi_document *doc);
/* The SHA-512 of its JSON in upper-case hexadecimal digits, without quotes. */
kc_str kc__openapi_hash(const kc__openapi_document *doc);
kc__openapi_document *kc__openapi_document_ref(kc__openapi_document *doc);
kc__openapi_document *kc__openapi_document_unref(kc__openapi_document *doc);
KC_AUTO_DEFINE(kc__openapi_document, kc__openapi_document_unref)

/* Builds documents, and keeps what all of them need. Any thread. */
typedef struct kc__openapi kc__openapi;

/* Counts the bytes of documents in `memory`, which may be NULL. Never NULL. */
kc__openapi *kc__openapi_new(struct kc__memory_account *memory);
/* No document may be left. NULL is allowed; returns NULL. */
kc__openapi *kc__openapi_free(kc__openapi *openapi);
KC_AUTO_DEFINE(kc__openapi, kc__openapi_free)

/*
 * These functions take the request's registry. A newer registry than before invalidates earlier
 * hashes. The reference passes to the caller. They block while the documents are written: some
 * milliseconds.
 */

/* {"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=…"}}} Never NULL. */
kc__openapi_document *kc__openapi_index(kc__openapi *openapi, const kc__registry *kinds);
/* The v3 document of a group version; NULL if it does not exist. The core group is "". */
kc__openapi_document *kc__openapi_v3(kc__openapi *openapi, const kc__registry *kinds, kc_str group,
                                     kc_str version);
/* The v2 document of everything; its protobuf form has the hash of the JSON. Never NULL. */
kc__openapi_document *kc__openapi_v2(kc__openapi *openapi, const kc__registry *kinds,
                                     kc__openapi_form form);

/* The hash of a document that was already built from this registry, so that a client with a cached
 * copy need not wait for a new one. Returns false, without touching *ret, if it was not built. */
bool kc__openapi_v3_hash(kc__openapi *openapi, const kc__registry *kinds, kc_str group,
                         kc_str version, char ret[KC__OPENAPI_HASH]);
bool kc__openapi_v2_hash(kc__openapi *openapi, const kc__registry *kinds,
                         char ret[KC__OPENAPI_HASH]);

#endif
