/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_policy.h: the admission plugin ImagePolicyWebhook: a webhook of the operator decides which
 * images pods may use.
 *
 *     POST URL   {"kind":"ImageReview","spec":{"containers":[{"image":"…"}],"namespace":"…"}}
 *     ◀──        {"kind":"ImageReview","status":{"allowed":false,"reason":"…"}}
 */
#ifndef KC_APISERVER_IMAGE_POLICY_H
#define KC_APISERVER_IMAGE_POLICY_H

#include "apiserver/authz/webhook_results.h"
#include "apiserver/call/call.h"
#include "apiserver/webhook/webhook_kubeconfig.h"

#define KC__ADMISSION_IMAGE_POLICY_TIMEOUT (30 * KC_SECOND) /* Of one attempt. */

/* The configuration, and the cached results. Any thread. */
typedef struct kc__admission_image_policy {
    kc__webhook_kubeconfig webhook;
    kc__http_target target;        /* Of the webhook, with ?timeout=. */
    kc_arena arena;                /* Holds the URL and the path. */
    const char *kubeconfig;        /* Path of the file. */
    int64_t allow_ttl, deny_ttl;   /* TTLs of cached results. 0: not cached. */
    int64_t backoff;               /* Before the second attempt. 0: none. */
    bool default_allow;            /* A webhook that fails allows. */
    kc__authz_result_cache *cache; /* By spec; the reason of a result is the JSON of a status. */
} kc__admission_image_policy;

/* Reads {imagePolicy: {kubeConfigFile: …}} (YAML or JSON), and the kubeconfig. NULL on error.
 * The caller frees it. Blocks. */
kc__admission_image_policy *kc__admission_image_policy_parse(kc_str text, kc_error *err);
/* NULL is allowed. Returns NULL. */
kc__admission_image_policy *kc__admission_image_policy_free(kc__admission_image_policy *policy);
KC_AUTO_DEFINE(kc__admission_image_policy, kc__admission_image_policy_free)

kc__rest_phase_fn kc__admission_image_policy_validate;

#endif
