/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.h: objects without anything but their metadata: PartialObjectMetadata and its list, for
 * clients that ask "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1".
 *
 * An object's metadata lies in its text as it is answered, so writing one is copying a slice.
 */
#ifndef KC_APISERVER_PARTIAL_H
#define KC_APISERVER_PARTIAL_H

#include "kc/object.h"

/* The version of meta.k8s.io that a client asked for. They differ in their name only. */
typedef enum kc__meta_version { KC__META_V1, KC__META_V1BETA1 } kc__meta_version;

/* "v1", "v1beta1"; false for others, *ret untouched. */
bool kc__meta_version_parse(kc_str text, kc__meta_version *ret);
/* "meta.k8s.io/v1" */
const char *kc__meta_api_version(kc__meta_version version);

/* What a list says of itself; zeros and empty text are left out. */
typedef struct kc__list_meta {
    uint64_t revision;
    kc_str continue_token;
    uint64_t remaining; /* Items after this page; 0: nothing is said of them. */
} kc__list_meta;

/* Appends it as JSON: {"resourceVersion":"7"}. NULL is an empty one. */
void kc__list_meta_write(kc_buf *out, const kc__list_meta *meta);

/* Appends an object's PartialObjectMetadata. Also for the object of a watch event. */
void kc__partial_write(kc_buf *out, const kc_object *object, kc__meta_version version);

/* A PartialObjectMetadataList, item by item; a zeroed one is ready. */
typedef struct kc__partial_list {
    kc__meta_version version; /* Defaults to v1. */
    bool started;             /* An item was written. */
} kc__partial_list;

void kc__partial_list_begin(kc__partial_list *list, kc_buf *out, const kc__list_meta *meta);
void kc__partial_list_item(kc__partial_list *list, kc_buf *out, const kc_object *object);
void kc__partial_list_end(kc__partial_list *list, kc_buf *out);

#endif
