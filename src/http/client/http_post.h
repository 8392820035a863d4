/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_post.h: posts JSON to a server that the operator has configured, such as a webhook that
 * reviews tokens, and tries again while the server is overloaded.
 *
 *     kc__http_post(&(kc__http_post_opts){.client = client, .target = &webhook->target,
 *                                         .body = review, .timeout = 30 * KC_SECOND,
 *                                         .loop = loop, .done = done, .user = request});
 *
 * The responses 429, 500 and 504, and connections that the server resets, are followed by up to
 * four more attempts after 0.5 s, 0.75 s, …, as in kube-apiserver.
 */
#ifndef KC_HTTP_CLIENT_HTTP_POST_H
#define KC_HTTP_CLIENT_HTTP_POST_H

#include "http/client/http_client.h"
#include "kc/arena.h"
#include "kc/clock.h"
#include "kc/rand.h"

/* Where a server is, how it is verified, and the credentials for it. */
typedef struct kc__http_target {
    const char *url; /* http or https. */
    kc_str ca;       /* PEM. Defaults to the system's. */
    kc__http_client_identity identity;
} kc__http_target;

/* A copy whose texts are in the arena. */
kc__http_target kc__http_target_copy(const kc__http_target *target, kc_arena *arena);

/* The URL with the parameter that clients of Kubernetes send: "https://hook/x?timeout=30s". The
 * text is in the arena. */
const char *kc__http_url_with_timeout(const char *url, int64_t timeout, kc_arena *arena);

/* The body is copied. */
typedef struct kc__http_post_opts {
    kc__http_client *client;       /* Borrowed until `done` is called. */
    const kc__http_target *target; /* Likewise. */
    const char *agent;             /* User-Agent; a constant. */
    kc_str body;
    int64_t timeout;       /* Of one attempt. */
    int64_t deadline;      /* Of all attempts; monotonic, on `clock`. Defaults to none. */
    const kc_clock *clock; /* That of the loop. Defaults to the real clock. */
    int64_t backoff;       /* Before the second attempt. Defaults to 0.5 s; negative: none. */
    kc_rand *rand; /* Makes pauses up to 20 % longer; borrowed as `client`. Defaults to none. */
    size_t max_response; /* Defaults to KC__HTTP_CLIENT_MAX_RESPONSE. */
    kc__loop *loop;
    kc__http_client_send_fn *send; /* For tests. Defaults to kc__http_client_send. */
    /* Called after each attempt, before `done`, with its duration. Defaults to none. */
    void (*attempted)(const kc__http_client_response *response, int64_t took, void *user);
    kc__http_client_done_fn *done; /* Called once, with the last response. */
    void *user;
} kc__http_post_opts;

/* On the loop's thread, where the callbacks run, too. */
void kc__http_post(const kc__http_post_opts *opts);

#endif
