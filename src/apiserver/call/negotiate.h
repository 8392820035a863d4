/* SPDX-License-Identifier: Apache-2.0 */
/*
 * negotiate.h: the format of a response: its encoding (JSON, YAML) and its representation (the
 * object itself, its metadata alone, a table).
 */
#ifndef KC_APISERVER_NEGOTIATE_H
#define KC_APISERVER_NEGOTIATE_H

#include "apiserver/kinds/resource.h"
#include "apiserver/printing/table.h"
#include "http/message/query.h"
#include "http/server/exchange.h"

typedef enum kc__rest_representation {
    KC__REST_AS_OBJECT,
    KC__REST_AS_PARTIAL, /* PartialObjectMetadata, or a list of them. */
    KC__REST_AS_TABLE,
} kc__rest_representation;

typedef struct kc__rest_format {
    bool yaml;
    bool pretty; /* Indented, for human readers. */
    kc__rest_representation as;
    kc__print_meta_version version; /* Of the table or the metadata. */
    kc__print_include include;      /* In the rows of a table. */
} kc__rest_format;

#define KC__REST_MEDIA_TYPES \
    "application/json, application/yaml, application/vnd.kubernetes.protobuf"
#define KC__REST_WATCH_MEDIA_TYPES \
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"

/* What the response contains, which decides its possible representations. */
typedef enum kc__rest_response_kind {
    KC__REST_RESPONSE_OBJECT, /* An object, or a watch of objects. */
    KC__REST_RESPONSE_LIST,
    KC__REST_RESPONSE_STATUS, /* A Status: only as it is. */
} kc__rest_response_kind;

typedef struct kc__rest_negotiation {
    kc__rest_response_kind kind;
    const kc__resource *resource; /* Of the response, for messages. May be NULL for a Status. */
} kc__rest_negotiation;

/*
 * The format that the client prefers. KC_NOT_ACCEPTABLE if the server supports none of those
 * accepted; *ret_foreign is then true if no clause named a supported media type at all.
 * KC_BAD_REQUEST for an invalid includeObject.
 */
int kc__rest_negotiate(const kc__http_request *request, const kc__query *query,
                       const kc__rest_negotiation *opts, kc__rest_format *ret, bool *ret_foreign,
                       kc_error *err);

/* The Content-Type of a response in this format. */
static inline kc_str kc__rest_format_type(const kc__rest_format *form)
{
    return form->yaml ? KC_STR("application/yaml") : KC_STR("application/json");
}

/* The format of an error Status: what the client accepts, otherwise indented JSON. */
kc__rest_format kc__rest_negotiate_status(const kc__http_request *request, const kc__query *query);

#endif
