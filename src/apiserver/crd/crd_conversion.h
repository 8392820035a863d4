/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_conversion.h: how a CRD converts its objects between versions: by splicing apiVersion
 * (strategy None), or by a webhook.
 *
 * This sub-layer compiles the webhook's configuration and knows when it is needed. The converter
 * behind kc__crd_converter calls webhooks and keeps the results (conversion/converter.h).
 */
#ifndef KC_APISERVER_CRD_CONVERSION_H
#define KC_APISERVER_CRD_CONVERSION_H

#include "apiserver/crd/crd_resource.h"
#include "apiserver/kinds/admissionregistration/webhook_target.h"
#include "apiserver/kinds/remote_conversion.h"

/* The conversion webhook of a CRD. */
typedef struct kc__crd_webhook {
    kc_str name; /* Of the CRD: "robots.example.com". */
    kc__hook_target target;
    /* The first version in conversionReviewVersions that the server supports: "v1" or "v1beta1";
     * NULL: none. */
    const char *review;
} kc__crd_webhook;

typedef struct kc__crd_converter {
    /* The kept conversion of a stored object, with a reference for the caller; NULL: none. */
    kc_object *(*get)(struct kc__crd_converter *converter, const kc__custom *to,
                      const kc_object *stored);
    /* The same, pinned. */
    kc__remote_converted *(*pin)(struct kc__crd_converter *converter, const kc__custom *to,
                                 const kc_object *stored);
    /* Starts a job; its converter and target are set. */
    void (*convert)(struct kc__crd_converter *converter, kc__remote_conversion *job);
} kc__crd_converter;

/* Reads spec.conversion; NULL: strategy None. Strings are allocated in the arena. */
const kc__crd_webhook *kc__crd_webhook_read(kc_arena *arena, kc_str name,
                                            const kc_value *conversion);

/* The webhook of a compiled CRD; NULL: strategy None. */
const kc__crd_webhook *kc__crd_webhook_of(const kc__crd *crd);
/* Sets the converter of a CRD that has just been compiled and is not published yet. */
void kc__crd_set_converter(kc__crd *crd, kc__crd_converter *converter);
/* Records that the CRD had nothing to convert when it was compiled, or that its webhook has
 * converted an object since. Kubernetes fills a cache for each version then; until that succeeds,
 * lists and watches get another error. */
void kc__crd_set_converting(const kc__crd *crd);
/* Identifies the CRD and its spec: 32 bytes; empty if no digest library is available. */
kc_str kc__crd_identity(const kc__crd *crd);
kc__crd *kc__crd_ref(const kc__crd *crd);

/* ---- operations of custom resources (custom_ops.c) ---- */

bool kc__crd_is_converted_remotely(const kc__resource *resource, const kc_object *object,
                                   bool to_storage);
kc__remote_converted *kc__crd_pin_converted(const kc__resource *resource, const kc_object *stored);
void kc__crd_convert_remotely(kc__remote_conversion *job);
bool kc__crd_is_converting(const kc__resource *resource);
/* The kept conversion of a stored object; NULL, with `err` set, if there is none. */
kc_object *kc__crd_kept_conversion(const kc__custom *custom, const kc_object *stored,
                                   kc_error *err);

#endif
