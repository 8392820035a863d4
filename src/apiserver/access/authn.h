/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn.h: authenticates requests.
 *
 *     kc_auto(kc__authn) *authn = kc__authn_new(&(kc__authn_opts){.token_file = path}, err);
 *     …
 *     kc__user user;
 *     if (kc__authn_authenticate(authn, &x->request, x->request.arena, &user, err) < 0)
 *         return respond_error(x, err);                        401 "Unauthorized"
 *
 * docs/internals/access.md has the order in which credentials are checked.
 */
#ifndef KC_APISERVER_AUTHN_H
#define KC_APISERVER_AUTHN_H

#include "http/trust/local_trust.h"
#include "kc/view.h"

#define KC__USER_ANONYMOUS             "system:anonymous"
#define KC__USER_LOCALHOST             "system:admin"
#define KC__USER_GROUP_AUTHENTICATED   "system:authenticated"
#define KC__USER_GROUP_UNAUTHENTICATED "system:unauthenticated"
#define KC__USER_GROUP_MASTERS         "system:masters"
#define KC__USER_EXTRA_CREDENTIAL_ID   "authentication.kubernetes.io/credential-id"

typedef struct kc__user_extra {
    kc_str key;
    const kc_str *values;
    size_t n_values;
} kc__user_extra;

/* A note of an authenticator about a credential, for the audit log. */
typedef struct kc__user_note {
    kc_str key, value;
} kc__user_note;

/* How a user was authenticated, where that matters to a policy. */
typedef enum kc__user_credential {
    KC__USER_OTHER_CREDENTIAL, /* A certificate, an own process, none. */
    KC__USER_STATIC_TOKEN,     /* Of the token file. */
    KC__USER_SIGNED_TOKEN,     /* Of this server. */
} kc__user_credential;

/* Valid as long as the arena that it was allocated in. */
typedef struct kc__user {
    kc_str name, uid;
    const kc_str *groups;
    size_t n_groups;
    const kc__user_extra *extra;
    size_t n_extra;
    kc__user_credential credential;
    int64_t expires; /* Of the credential, in seconds since 1970; 0: unknown, or never. */
    const kc__user_note *notes; /* About the credential. */
    size_t n_notes;
} kc__user;

/* A list of audiences: the servers that a token is for. */
typedef struct kc__user_audiences {
    const kc_str *items;
    size_t n;
} kc__user_audiences;

/* The result of a verified token, allocated in the arena. */
typedef struct kc__user_identity {
    kc__user user;
    kc__user_audiences audiences; /* Those of the token that were asked for. */
} kc__user_identity;

/* Adds system:authenticated to an authenticated user, unless the credentials themselves name one of
 * the special groups or users (user.c). `groups` are the user's, with room for one more. */
void kc__user_authenticated(kc__user *user, kc_str *groups);

/* Copies a user to an arena; false if the arena is full. */
bool kc__user_copy(const kc__user *from, kc_arena *arena, kc__user *ret);

/* Reads a UserInfo of authentication.k8s.io, and adds system:authenticated. Everything is copied to
 * the arena. */
void kc__user_read(const kc_value *info, kc_arena *arena, kc__user *ret);

/* Appends the user as JSON: a UserInfo of authentication.k8s.io/v1. */
void kc__user_write(kc_buf *out, const kc__user *user);

/* A list of texts. */
typedef struct kc__authn_texts {
    const kc_str *items;
    size_t n;
} kc__authn_texts;

/* Front proxies: clients that name the user of a request in header fields. Everything is copied. */
typedef struct kc__authn_proxy_opts {
    kc__authn_texts allowed_names; /* Common names of their certificates. Default to any. */
    kc__authn_texts username_headers, uid_headers, group_headers;
    kc__authn_texts extra_prefixes;
} kc__authn_proxy_opts;

typedef struct kc__authn_opts {
    const char *token_file; /* CSV of token, user, uid, groups. Defaults to none. */
    bool allow_localhost;   /* Loopback clients of trusted users need no credentials. Defaults to
                               no. */
    kc__local_trust_opts localhost; /* The trusted users. Defaults to root and the server's own. */
    const kc__authn_proxy_opts *proxy; /* Accept front proxies. Defaults to none. */
    bool bootstrap_tokens; /* Accept bootstrap tokens, which Secrets hold. Defaults to no. */
    bool refuse_anonymous; /* Reject requests without credentials. Defaults to no. */
    kc__authn_texts anonymous_paths; /* The only paths of anonymous requests. Default to all. */
    bool refuse_pages;     /* Reject at least those that a browser on this machine sends for a web
                                  page of another origin. Defaults to no. */
    kc_log *log;           /* For warnings about the token file. Defaults to no log. */
    const kc_clock *clock; /* Defaults to the real clock. */
} kc__authn_opts;

typedef struct kc__authn kc__authn;
struct kc__sa_tokens;

/* Reads the token file. NULL on error, with its name and line, or if allow_localhost is set and the
 * system does not report the owner of a socket. The caller frees it. Blocks. */
kc__authn *kc__authn_new(const kc__authn_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__authn *kc__authn_free(kc__authn *authn);
KC_AUTO_DEFINE(kc__authn, kc__authn_free)

/* Reads the token file again; on failure the previous tokens stay valid. Any thread; blocks. */
int kc__authn_reload_tokens(kc__authn *authn, kc_error *err);

/* Sets the CAs (PEM) whose client certificates identify users; on failure the previous ones stay.
 * Needed if the handshake does not verify certificates (kc__tls_opts.verify_later). Any thread. */
int kc__authn_set_client_ca(kc__authn *authn, kc_str pem, kc_error *err);

/* The same for the CAs whose clients are front proxies. Without them there is no front proxy. */
int kc__authn_set_proxy_ca(kc__authn *authn, kc_str pem, kc_error *err);

/* Removes the header fields by which front proxies name users, after authentication, so that no
 * later code can trust them: those of the options and the usual X-Remote-*. */
void kc__authn_strip(const kc__authn *authn, kc__http_headers *headers);

/* Accepts tokens of service accounts, too. Before the first request; `accounts` is borrowed. */
void kc__authn_accept_accounts(kc__authn *authn, struct kc__sa_tokens *accounts);

/* Remote authenticators of bearer tokens (authn_remote.h). The order of these calls, which come
 * before the first request, is the order of their verification. The reference passes to `authn`. */
enum { KC__AUTHN_MAX_REMOTES = 2 };
struct kc__authn_remote;
void kc__authn_add_remote(kc__authn *authn, struct kc__authn_remote *remote);

/* Their results about one token, for the second call of the functions below. */
typedef struct kc__authn_results kc__authn_results;

/* The result of the functions below if a remote authenticator must verify the token first. */
#define KC__AUTHN_PENDING 2

/* The bearer token of a request, and the issuers that may have signed it; empty if the request has
 * none, or authenticates by a certificate. For checks of long requests. */
kc_str kc__authn_signed_token(const kc__authn *authn, const kc__http_request *request,
                              kc_arena *arena, struct kc__sa_tokens **ret_tokens);

/*
 * Authenticates a request by its front proxy, its client certificate, its bearer token, as a local
 * user, or as anonymous, whichever comes first: 0, or KC__AUTHN_PENDING: call
 * kc__authn_remote_start_request, then this function again with the results. `results` is NULL in
 * the first call. KC_UNAUTHORIZED if all credentials of the request are invalid, or without
 * credentials if anonymous requests are not allowed. On the connection's loop; does not block.
 */
int kc__authn_authenticate(const kc__authn *authn, const kc__http_request *request,
                           const kc__authn_results *results, kc_arena *arena, kc__user *ret,
                           kc_error *err);

/*
 * Reviews a bearer token, for another server that received it: 1 and *ret; KC__AUTHN_PENDING:
 * kc__authn_remote_start_token; or negative with an error that says why the token is not valid.
 * `wanted` are the audiences of that server; empty: the audiences of this one. On any thread; does
 * not block.
 */
int kc__authn_review(const kc__authn *authn, kc_str token, kc__user_audiences wanted,
                     const kc__authn_results *results, kc_arena *arena, kc__user_identity *ret,
                     kc_error *err);

/* Verifies a token by the remote authenticators. Calls `done` once, from a later turn of the loop,
 * with results that are valid during the call. On the loop; does not block. */
typedef void kc__authn_remote_done_fn(const kc__authn_results *results, void *user);
void kc__authn_remote_start_request(const kc__authn *authn, const kc__http_request *request,
                                    kc_arena *arena, kc__loop *loop, kc__authn_remote_done_fn *done,
                                    void *user);
void kc__authn_remote_start_token(const kc__authn *authn, kc_str token, kc__user_audiences wanted,
                                  kc__loop *loop, kc__authn_remote_done_fn *done, void *user);

/* Shutdown: verifications end by this time (monotonic, real clock); then, while the loops still
 * run, none is started any more. */
void kc__authn_end_by(const kc__authn *authn, int64_t deadline);
void kc__authn_stop(const kc__authn *authn);

#endif
