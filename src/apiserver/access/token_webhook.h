/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_webhook.h: a remote authenticator: another server verifies bearer tokens
 * (--authentication-token-webhook-config-file).
 *
 *     POST URL   {"kind":"TokenReview","spec":{"token":"…","audiences":[…]}}
 *     ◀──        {"kind":"TokenReview","status":{"authenticated":true,"user":{"username":"jane"}}}
 */
#ifndef KC_APISERVER_TOKEN_WEBHOOK_H
#define KC_APISERVER_TOKEN_WEBHOOK_H

#include "apiserver/access/authn_remote.h"
#include "http/client/http_post.h"

/* Limits: time of all attempts together, and size of a response. */
#define KC__TOKEN_WEBHOOK_TIMEOUT      (30 * KC_SECOND)
#define KC__TOKEN_WEBHOOK_MAX_RESPONSE ((size_t)1 << 20)

/* Everything is copied. */
typedef struct kc__token_webhook_opts {
    kc__http_target target;
    const char *version;         /* "v1" or "v1beta1" of TokenReview. */
    kc__user_audiences implicit; /* Of tokens about which the webhook names no audience. */
    kc_log *log;                 /* Defaults to no log. */
} kc__token_webhook_opts;

typedef struct kc__token_webhook kc__token_webhook;

extern const kc__authn_remote_ops kc__token_webhook_ops;

/* The `self` of kc__token_webhook_ops. */
kc__token_webhook *kc__token_webhook_new(const kc__token_webhook_opts *opts);

#endif
