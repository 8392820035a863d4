/* SPDX-License-Identifier: Apache-2.0 */
/*
 * negotiate.h: the form of an answer: how it is written (JSON, YAML) and as what (the object
 * itself, its metadata alone, a table).
 */
#ifndef KC_APISERVER_NEGOTIATE_H
#define KC_APISERVER_NEGOTIATE_H

#include "apiserver/kinds/resource.h"
#include "apiserver/printing/table.h"
#include "http/exchange.h"
#include "http/query.h"

typedef enum kc__shape_as {
    KC__AS_OBJECT,
    KC__AS_PARTIAL, /* PartialObjectMetadata, or a list of them. */
    KC__AS_TABLE,
} kc__shape_as;

typedef struct kc__form {
    bool yaml;
    bool pretty; /* For people: indented. */
    kc__shape_as as;
    kc__meta_version version; /* Of the table or the metadata. */
    kc__include include;      /* In the rows of a table. */
} kc__form;

#define KC__ACCEPTED "application/json, application/yaml, application/vnd.kubernetes.protobuf"
#define KC__WATCH_TYPES \
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"

/* What is answered, which decides what it can be shown as. */
typedef enum kc__answer_kind {
    KC__ANSWERS_OBJECT, /* One, or a watch of them. */
    KC__ANSWERS_LIST,
    KC__ANSWERS_STATUS, /* Only as it is. */
} kc__answer_kind;

typedef struct kc__negotiation {
    kc__answer_kind kind;
    const kc__resource *resource; /* What is answered, for messages. May be NULL for a Status. */
} kc__negotiation;

/*
 * The best form the client accepts. KC_NOT_ACCEPTABLE when there is none; *ret_foreign then says
 * that no clause named a media type of ours at all. KC_BAD_REQUEST for an includeObject that is
 * none.
 */
int kc__negotiate(const kc__request *request, const kc__query *query, const kc__negotiation *opts,
                  kc__form *ret, bool *ret_foreign, kc_error *err);

/* The form of a Status about a failure: what the client accepts, else indented JSON. */
kc__form kc__negotiate_status(const kc__request *request, const kc__query *query);

#endif
