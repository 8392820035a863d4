/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.h: objects reduced to their metadata: PartialObjectMetadata and its list, for clients
 * that send "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1".
 *
 * An object's text contains its metadata in the form of the response, so writing it copies a slice.
 */
#ifndef KC_APISERVER_PARTIAL_H
#define KC_APISERVER_PARTIAL_H

#include "kc/object.h"

/* The version of meta.k8s.io that a client requested. They differ only in name. */
typedef enum kc__print_meta_version {
    KC__PRINT_META_V1,
    KC__PRINT_META_V1BETA1
} kc__print_meta_version;

/* Parses "v1" or "v1beta1"; returns false for others, without touching *ret. */
bool kc__print_meta_version_parse(kc_str text, kc__print_meta_version *ret);
/* "meta.k8s.io/v1" */
const char *kc__print_meta_api_version(kc__print_meta_version version);

/* The metadata of a list; zeros and empty strings are omitted. */
typedef struct kc__print_list_meta {
    uint64_t revision;
    kc_str continue_token;
    uint64_t remaining; /* Items after this page; 0: omitted. */
} kc__print_list_meta;

/* Appends it as JSON: {"resourceVersion":"7"}. NULL is an empty one. */
void kc__print_list_meta_write(kc_buf *out, const kc__print_list_meta *meta);

/* Appends an object's PartialObjectMetadata. Also for the object of a watch event. */
void kc__print_partial_write(kc_buf *out, const kc_object *object, kc__print_meta_version version);

/* A PartialObjectMetadataList, written item by item. Zero-initialized. */
typedef struct kc__print_partial_list {
    kc__print_meta_version version; /* Defaults to v1. */
    bool started;                   /* An item was written. */
} kc__print_partial_list;

void kc__print_partial_list_begin(kc__print_partial_list *list, kc_buf *out,
                                  const kc__print_list_meta *meta);
void kc__print_partial_list_item(kc__print_partial_list *list, kc_buf *out,
                                 const kc_object *object);
void kc__print_partial_list_end(kc__print_partial_list *list, kc_buf *out);

#endif
