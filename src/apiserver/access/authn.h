/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn.h: who sends a request.
 *
 *     kc_auto(kc__authn) *authn = kc__authn_new(&(kc__authn_opts){.token_file = path}, err);
 *     …
 *     kc__user user;
 *     if (kc__authenticate(authn, &x->request, x->request.arena, &user, err) < 0)
 *         return answer_error(x, err);                         401 "Unauthorized"
 *
 * See docs/internals/access.md for the order in which a request's credentials are looked at.
 */
#ifndef KC_APISERVER_AUTHN_H
#define KC_APISERVER_AUTHN_H

#include "http/exchange.h"
#include "kc/log.h"

#define KC__USER_ANONYMOUS        "system:anonymous"
#define KC__USER_LOCALHOST        "system:admin"
#define KC__GROUP_AUTHENTICATED   "system:authenticated"
#define KC__GROUP_UNAUTHENTICATED "system:unauthenticated"
#define KC__GROUP_MASTERS         "system:masters"
#define KC__EXTRA_CREDENTIAL_ID   "authentication.kubernetes.io/credential-id"

typedef struct kc__user_extra {
    kc_str key;
    const kc_str *values;
    size_t n_values;
} kc__user_extra;

/* All of it lives as long as the arena and the authenticator it came from. */
typedef struct kc__user {
    kc_str name, uid;
    const kc_str *groups;
    size_t n_groups;
    const kc__user_extra *extra;
    size_t n_extra;
} kc__user;

/* Completes who has shown credentials with system:authenticated, except where the credentials
 * themselves say otherwise. `groups` are the user's, with room for one more. */
void kc__user_authenticated(kc__user *user, kc_str *groups);

typedef struct kc__authn_opts {
    const char *token_file; /* CSV of token, user, uid, groups. Defaults to none. */
    bool allow_localhost;   /* Requests from this machine need no credentials. Defaults to no. */
    bool refuse_anonymous;  /* Requests without credentials are refused. Defaults to no. */
    bool refuse_pages;      /* At least those that a browser of this machine sends for a web page of
                               elsewhere. Defaults to no. */
    kc_log *log;            /* For what is odd in the token file. Defaults to silence. */
} kc__authn_opts;

typedef struct kc__authn kc__authn;

/* Reads the token file. NULL on error, with its name and line. The caller frees it. Blocks. */
kc__authn *kc__authn_new(const kc__authn_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__authn *kc__authn_free(kc__authn *authn);
KC_AUTO_DEFINE(kc__authn, kc__authn_free)

/*
 * Finds out who sent a request: by its client certificate, its bearer token, its coming from this
 * machine, or as nobody in particular, whichever is first. KC_UNAUTHORIZED when it shows a token
 * nobody knows, or nothing at all where that is not enough. Any thread; does not block.
 */
int kc__authenticate(const kc__authn *authn, const kc__request *request, kc_arena *arena,
                     kc__user *ret, kc_error *err);

#endif
