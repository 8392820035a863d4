/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people.h: users that log in with a password: their credentials, sessions and tokens.
 *
 *     User "ann" ──▶ Secret kc-credentials/user-ann          hash of the password
 *                    Secret kc-credentials/session-…          one for each login, until its end
 *     token ──▶ user, generation, session, expiry            signed as the tokens of accounts are
 *
 *     kc__people *people = kc__people_start(api, &(kc__people_opts){.tokens = tokens});
 *
 * A User and its teams are an identity: name and uid of the User, the groups "team:NAME" of teams
 * that exist, and spec.groups. A token is valid while its User exists with the same uid, is not
 * disabled, has the token's generation, and the session of the token exists. All of this is read
 * from the watch caches for every request, so a revocation is in effect for the next one.
 *
 * Operations are asynchronous: each takes a kc__people_op, which embeds the request, and calls
 * op->done on the loop of the op. An operation that hashes runs on one of two threads; beyond that
 * it fails with KC_TOO_MANY_REQUESTS. docs/internals/people.md describes the whole.
 */
#ifndef KC_APISERVER_PEOPLE_H
#define KC_APISERVER_PEOPLE_H

#include "apiserver/access/sa_tokens.h"
#include "apiserver/call/call.h"
#include "apiserver/people/password_hash.h"

#define KC__PEOPLE_GROUP     "platform.kubecontroller.io"
#define KC__PEOPLE_NAMESPACE KC__REST_CREDENTIALS_NAMESPACE  /* Of the Secrets. */
#define KC__PEOPLE_TYPE      KC__PEOPLE_GROUP "/credentials" /* Of the Secrets with a hash. */
#define KC__PEOPLE_SECRET    "user-" /* Their names: the prefix and the name of the User. */
/* Annotation of a User: the generation of its tokens. The server alone writes it. */
#define KC__PEOPLE_GENERATION KC__PEOPLE_GROUP "/token-generation"
/* Extra field of an authenticated person: the session of the token. */
#define KC__PEOPLE_EXTRA_SESSION KC__PEOPLE_GROUP "/session"

#define KC__PEOPLE_TOKEN_LIFETIME   (15 * KC_MINUTE) /* Of the tokens of a session. */
#define KC__PEOPLE_SESSION_LIFETIME (12 * KC_HOUR)
#define KC__PEOPLE_MAX_LIFETIME     (24 * KC_HOUR) /* Of a token that an administrator issues. */
#define KC__PEOPLE_MAX_SESSIONS     20 /* Of one user; a login beyond it ends the oldest. */
#define KC__PEOPLE_NAME_MAX         200

typedef struct kc__people kc__people;

typedef struct kc__people_opts {
    kc__sa_tokens *tokens;    /* Signs and verifies. Borrowed. */
    int64_t session_lifetime; /* Defaults to KC__PEOPLE_SESSION_LIFETIME. */
    kc__people_cost cost;     /* Of new hashes. Defaults to that of password_hash.h. */
} kc__people_opts;

/* Attaches to the tokens: from now on they identify people, too. NULL if a metric cannot be
 * registered. */
kc__people *kc__people_start(kc__rest_api *api, const kc__people_opts *opts, kc_error *err);
/* Waits for hashes in progress; the loops still run, the store is open. NULL is allowed. */
void kc__people_stop(kc__people *people);
/* After the last request. NULL is allowed; returns NULL. */
kc__people *kc__people_free(kc__people *people);

/* ---- operations ---- */

typedef enum kc__people_action {
    KC__PEOPLE_LOGIN,        /* user, password → token, session. */
    KC__PEOPLE_RENEW,        /* session → token. */
    KC__PEOPLE_LOGOUT,       /* session; with `everywhere` all tokens and sessions of the user. */
    KC__PEOPLE_SET_PASSWORD, /* user, password; old_password unless `trusted`. Ends all sessions. */
    KC__PEOPLE_ISSUE,        /* user, lifetime → token without a session. */
    KC__PEOPLE_REVOKE,       /* user: ends all tokens and sessions. */
} kc__people_action;

typedef struct kc__people_op kc__people_op;

/* One operation. kc__people_op_new copies its inputs; secrets are wiped with the op. */
struct kc__people_op {
    kc__people_action action;
    kc_str user, password, old_password, session; /* Terminated. */
    kc_str address;   /* Of the client, for the limits; empty: not limited. */
    int64_t lifetime; /* Of the token to issue. */
    bool everywhere, trusted;
    kc__loop *loop;
    /* Called once, on the loop; may free the op. */
    void (*done)(kc__people_op *op);
    void *context; /* The caller's. */

    /* Set before `done`. */
    kc_error error;
    kc_buf token;          /* The signed token. */
    kc_buf session_key;    /* Of a login: "ID.KEY". */
    kc_time token_expires; /* Wall clock. */
    kc_time session_expires;
};

/* Copies what `inputs` has. */
kc__people_op *kc__people_op_new(const kc__people_op *inputs);
/* Wipes and frees. NULL is allowed; returns NULL. */
kc__people_op *kc__people_op_free(kc__people_op *op);
/* Starts the operation; `done` may be called from within. On the loop of the op. */
void kc__people_submit(kc__people *people, kc__people_op *op);

#endif
