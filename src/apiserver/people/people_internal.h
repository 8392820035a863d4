/* SPDX-License-Identifier: Apache-2.0 */
/* people_internal.h: what the files of this folder share. */
#ifndef KC_APISERVER_PEOPLE_INTERNAL_H
#define KC_APISERVER_PEOPLE_INTERNAL_H

#include "apiserver/people/login_limits.h"
#include "apiserver/people/people.h"
#include "kc/metrics.h"
#include "kc/thread_pool.h"
#include "kc/view.h"

/* Hashes that are computed at a time. */
enum { KC__PEOPLE_HASHES = 2 };

struct kc__people {
    kc__rest_api *api;
    kc__sa_tokens *tokens;
    int64_t session_lifetime;
    kc__people_cost cost;
    kc__watch_cache *users, *teams, *secrets, *namespaces;
    kc_thread_pool *pool;
    _Atomic int hashing; /* Hashes in progress. */
    kc__people_limits *limits;
    kc_metric *operations; /* By action and result. */
};

/* ---- stored objects (people_objects.c) ---- */

/* The user of a stored User; valid as long as its view. */
typedef struct kc__people_user {
    kc_object *object;
    kc_view *view;
    bool disabled;
    int64_t generation; /* Of its tokens. */
} kc__people_user;

/* False: there is no such User. The caller ends it in any case. */
bool kc__people_user_load(kc__people *people, kc_str name, kc__people_user *ret);
void kc__people_user_done(kc__people_user *user);

/* The hash of the user's password, appended; nothing if it has none or the Secret is not its own.
 */
void kc__people_read_hash(kc__people *people, const kc__people_user *user, kc_buf *out);

/* What is known about a session. */
typedef struct kc__people_session {
    kc_object *object;
    kc_str user, user_uid; /* In the arena of kc__people_session_load; so is the next one. */
    kc_str key_hash;
    int64_t generation; /* Of the user at the login. */
    kc_time expires;
} kc__people_session;

bool kc__people_session_load(kc__people *people, kc_str id, kc_arena *arena,
                             kc__people_session *ret);
void kc__people_session_done(kc__people_session *session);
/* Whether a session of this id exists for the user; one look-up. */
bool kc__people_session_exists(kc__people *people, kc_str id, kc_str user_uid);

/* Appends a new id for a session of the user: hexadecimal digits that stand for the user, a dash,
 * and random ones. */
void kc__people_new_session_id(kc_str user, kc_buf *out);

/* New objects, complete but for the resourceVersion. */
kc_object *kc__people_make_namespace(kc__people *people);
kc_object *kc__people_make_credentials(kc__people *people, const kc__people_user *user,
                                       const kc_object *before, kc_str hash);
kc_object *kc__people_make_session(kc__people *people, const kc__people_user *user, kc_str id,
                                   kc_str key_hash, kc_time expires);
/* The User with the next generation of tokens and, if `refers`, a reference to its Secret. */
kc_object *kc__people_next_user(const kc__people_user *user, bool refers, kc_error *err);

/* Deletes sessions of the user: all, or those that have expired and the oldest beyond the limit.
 * Does not wait. */
void kc__people_end_sessions(kc__people *people, kc__loop *loop, kc_str user, bool all);
/* Deletes a Secret of the reserved namespace. Does not wait. */
void kc__people_delete_secret(kc__people *people, kc__loop *loop, const kc_object *secret);
/* Deletes the sessions that have ended, and the Secrets of Users that no longer exist. Does not
 * wait. */
void kc__people_sweep(kc__people *people);

/* ---- identities (people_identity.c) ---- */

/* kc__sa_people.identify. */
int kc__people_identify(const kc__sa_claims *claims, kc_arena *arena, kc__user *ret, void *user,
                        kc_error *err);

/* ---- tokens (people_tokens.c) ---- */

/* Signs a token of the user into op->token; `session` may be empty. */
int kc__people_sign(kc__people *people, kc__people_op *op, const kc__people_user *user,
                    kc_str session, int64_t lifetime);

#endif
