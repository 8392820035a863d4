/* SPDX-License-Identifier: Apache-2.0 */
/* authn_internal.h: what the authenticators share. */
#ifndef KC_APISERVER_AUTHN_INTERNAL_H
#define KC_APISERVER_AUTHN_INTERNAL_H

#include "apiserver/access/authn_remote.h"
#include "apiserver/access/sa_tokens.h"
#include "apiserver/access/token_file.h"
#include "http/tls/cert_pool.h"
#include "kc/thread.h"

typedef struct kc__authn_proxy kc__authn_proxy;

struct kc__authn {
    const kc_clock *clock;
    kc_log *log;
    char *token_path;           /* NULL: no token file. */
    kc_mutex mutex;             /* Guards the pointer `tokens`. */
    kc__token_file *tokens;     /* NULL: no token file. */
    kc__sa_tokens *accounts;    /* NULL: no tokens of service accounts. Borrowed. */
    kc__cert_pool *client_cas;  /* Verify the certificates of users. */
    kc__authn_proxy *proxy;     /* NULL: no front proxies. */
    kc__local_trust *localhost; /* NULL: loopback clients need credentials. */
    kc__authn_remote *remotes[KC__AUTHN_MAX_REMOTES];
    size_t n_remotes;
    bool bootstrap_tokens; /* Accept them. */
    bool refuse_anonymous, refuse_pages;
    kc_arena arena; /* Holds the paths. */
    kc__authn_texts anonymous_paths;
};

struct kc__authn_results {
    kc_str token;
    kc__authn_result *items[KC__AUTHN_MAX_REMOTES]; /* NULL: not called. */
};

/* The input of the authenticators. */
typedef struct kc__authn_request {
    const kc__authn *authn;
    const kc__http_request *request;  /* NULL in a review. */
    const kc__authn_results *results; /* NULL: none was called yet. */
    kc_arena *arena;
    kc__user_audiences wanted; /* Empty: those of this server. */
} kc__authn_request;

int kc__authn_unauthorized(kc_error *err);
int kc__authn_out_of_memory(kc_error *err);

/* Authenticators: 1 and the user; 0: the request has no credentials for it; negative: they are not
 * valid; KC__AUTHN_PENDING. */
typedef int kc__authn_fn(const kc__authn_request *q, kc__user *ret, kc_error *err);

kc__authn_fn kc__authn_by_proxy;           /* authn_proxy.c */
kc__authn_fn kc__authn_by_certificate;     /* authn_cert.c */
kc__authn_fn kc__authn_by_token;           /* authn_token.c */
kc__authn_fn kc__authn_by_websocket_token; /* authn_token.c */

/* The token of a request: of its header, or of a WebSocket; empty if there is none. */
kc_str kc__authn_request_token(const kc__http_request *request, kc_arena *arena);
/* The audiences of this server. */
kc__user_audiences kc__authn_audiences(const kc__authn *authn);

/* Finds the user of a token (authn_token.c): 1, KC__AUTHN_PENDING, or negative; the error says why
 * there is none, as TokenReview shows it. */
int kc__authn_identify_token(const kc__authn_request *q, kc_str token, kc__user_identity *ret,
                             kc_error *err);

/* One kind of bearer tokens: 1 and the user; 0: not such a token; negative: such a token, but not
 * valid. */
typedef int kc__authn_token_fn(const kc__authn_request *q, kc_str token, kc__user_identity *ret,
                               kc_error *err);
kc__authn_token_fn kc__authn_by_bootstrap_token; /* bootstrap_token.c */

/* The audiences of a token that has none itself and is valid for this server: those of the server
 * among the wanted ones. False if the token is not for any of the wanted. */
bool kc__authn_own_audiences(const kc__authn_request *q, kc__user_audiences *ret);

/* A copy in the arena (authn.c). */
kc__authn_texts kc__authn_copy_texts(kc_arena *arena, kc__authn_texts from);

/* Front proxies (authn_proxy.c). NULL is allowed by all. */
kc__authn_proxy *kc__authn_proxy_new(const kc__authn_proxy_opts *opts);
kc__authn_proxy *kc__authn_proxy_free(kc__authn_proxy *proxy);

/* The user of a bootstrap token, by its Secret. False: the Secret does not accept the token now
 * (wall time). Texts are in the arena. */
bool kc__authn_bootstrap_user(const kc_value *secret, kc_str token, int64_t now, kc_arena *arena,
                              kc__user *ret);

#endif
