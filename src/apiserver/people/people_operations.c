/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_operations.c: the operations on credentials, step by step.
 *
 *     login      limits ─▶ hash ─▶ session stored ─▶ token
 *     renew      session key ─▶ token
 *     logout     session key ─▶ session deleted, or the next generation of the user stored
 *     password   (limits, hash of the old one) ─▶ hash ─▶ Secret and next generation stored
 * together issue      token revoke     next generation stored
 *
 * A wrong password, an unknown user, a user without a password and a disabled one have the same
 * response after the same work. A session is checked by a key of 32 random bytes, of which the
 * server keeps a hash.
 */
#include "apiserver/people/people_run.h"

#include "kc/base64.h"
#include "kc/meta.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#define WRONG_PASSWORD "invalid user name or password"
#define SESSION_ENDED  "the session has ended; log in again"
#define STORE_BUSY     "the user is being changed, please try again"

enum { KEY_BYTES = 32 };

static void fail_unknown_user(kc__people_run *run)
{
    kc_error_set(&run->op->error, KC_NOT_FOUND, "users." KC__PEOPLE_GROUP " \"%.*s\" not found",
                 KC_ARG(run->op->user));
    kc_error_about(&run->op->error, KC_STR(KC__PEOPLE_GROUP), KC_STR("users"), run->op->user);
    kc__people_run_end(run);
}

/* After a conflict the step runs again with the new state. False: too often. */
static bool may_retry(kc__people_run *run)
{
    if (++run->tries < KC__PEOPLE_MAX_TRIES)
        return true;
    kc__people_run_fail(run, KC_CONFLICT, STORE_BUSY);
    return false;
}

/* ---- login ---- */

static void sign_session(kc__people_run *run)
{
    kc__people_user user;
    kc__people_op *op = run->op;
    if (run->conflict) {
        kc__people_run_fail(run, KC_INTERNAL, "the session could not be stored");
        return;
    }
    if (!kc__people_user_load(run->people, op->user, &user) || user.generation != run->generation)
        kc_error_set(&op->error, KC_UNAUTHORIZED, WRONG_PASSWORD);
    else
        kc__people_sign(run->people, op, &user, kc_buf_str(&run->session_id),
                        KC_MIN(KC__PEOPLE_TOKEN_LIFETIME, run->people->session_lifetime));
    kc__people_user_done(&user);
    kc__people_run_end(run);
}

/* A new key in op->session_key, its hash in `hash`. */
static void make_session_key(kc__people_run *run, unsigned char hash[SHA256_DIGEST_LENGTH])
{
    unsigned char key[KEY_BYTES];
    kc__people_new_session_id(run->op->user, &run->session_id);
    RAND_bytes(key, sizeof(key));
    SHA256(key, sizeof(key), hash);
    kc_buf_append(&run->op->session_key, kc_buf_str(&run->session_id));
    kc_buf_putc(&run->op->session_key, '.');
    kc_base64_write(&run->op->session_key, kc_str_of((const char *)key, sizeof(key)),
                    KC_BASE64_URL);
    explicit_bzero(key, sizeof(key));
}

static void put_namespace(kc__people_run *run)
{
    kc_auto(kc_object) *there =
        kc__watch_cache_get(run->people->namespaces, KC_STR(KC__PEOPLE_NAMESPACE));
    if (!there)
        kc__people_run_put(run, run->people->namespaces, KC__PEOPLE_NAMESPACE,
                           kc__people_make_namespace(run->people), KC__STORAGE_ABSENT);
}

static void store_session(kc__people_run *run, const kc__people_user *user)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    kc__people *people = run->people;
    kc__people_end_sessions(people, run->op->loop, run->op->user, false);
    make_session_key(run, hash);
    run->op->session_expires = kc_clock_wall(people->api->clock) + people->session_lifetime;
    kc_autofree char *key =
        kc_asprintf(KC__PEOPLE_NAMESPACE "/session-%s", kc_buf_cstr(&run->session_id));
    kc__people_run_put(run, people->secrets, key,
                       kc__people_make_session(people, user, kc_buf_str(&run->session_id),
                                               kc_str_of((const char *)hash, sizeof(hash)),
                                               run->op->session_expires),
                       KC__STORAGE_ABSENT);
    kc__people_run_commit(run, sign_session);
}

/* The user is read again: the hash took long, and a change of the password in the meantime must not
 * be undone by a session. */
static void login_hashed(kc__people_run *run)
{
    kc__people_user user;
    const bool found = kc__people_user_load(run->people, run->op->user, &user);
    if (run->verified && found && !user.disabled && user.generation == run->generation)
        store_session(run, &user);
    else
        kc__people_run_fail(run, KC_UNAUTHORIZED, WRONG_PASSWORD);
    kc__people_user_done(&user);
}

static void begin_login(kc__people_run *run)
{
    kc__people_user user;
    if (!kc__people_run_limit(run, run->op->user))
        return;
    if (kc__people_user_load(run->people, run->op->user, &user)) {
        run->generation = user.generation;
        kc__people_read_hash(run->people, &user, &run->stored);
    }
    kc__people_user_done(&user);
    run->verifies = true;
    kc__people_run_hash(run, login_hashed);
}

/* ---- sessions ---- */

/* "ID.KEY" of the client; compares the key in constant time. */
static bool session_is_valid(kc__people_run *run, kc_arena *arena, kc__people_session *ret)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    kc_scoped(kc_buf) key = {0};
    kc_str rest = run->op->session;
    const kc_str id = kc_str_cut(&rest, '.');
    const bool known = kc__people_session_load(run->people, id, arena, ret);
    if (!kc_base64_read(&key, rest, KC_BASE64_URL) || key.n != KEY_BYTES)
        return false;
    SHA256((const unsigned char *)key.p, key.n, hash);
    explicit_bzero(key.p, key.n);
    return known && ret->key_hash.n == sizeof(hash) &&
           CRYPTO_memcmp(hash, ret->key_hash.p, sizeof(hash)) == 0;
}

/* The user of the session, if both are still valid. */
static bool session_user(kc__people_run *run, const kc__people_session *session,
                         kc__people_user *ret)
{
    return session->expires > kc_clock_wall(run->people->api->clock) &&
           kc__people_user_load(run->people, session->user, ret) && !ret->disabled &&
           kc_str_eq(kc_object_uid(ret->object), session->user_uid) &&
           ret->generation == session->generation;
}

static void begin_renew(kc__people_run *run)
{
    kc__people_user user = {0};
    kc__people_session session = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__people_op *op = run->op;
    if (!kc__people_run_limit(run, (kc_str){0}))
        return;
    if (session_is_valid(run, &arena, &session) && session_user(run, &session, &user)) {
        kc_str rest = op->session;
        const int64_t left = session.expires - kc_clock_wall(run->people->api->clock);
        op->session_expires = session.expires;
        kc__people_sign(run->people, op, &user, kc_str_cut(&rest, '.'),
                        KC_MIN(KC__PEOPLE_TOKEN_LIFETIME, left));
    } else {
        kc_error_set(&op->error, KC_UNAUTHORIZED, SESSION_ENDED);
    }
    kc__people_user_done(&user);
    kc__people_session_done(&session);
    kc__people_run_end(run);
}

/* ---- revocation ---- */

static void store_next_generation(kc__people_run *run);

static void generation_stored(kc__people_run *run)
{
    if (run->conflict) {
        if (may_retry(run))
            store_next_generation(run);
        return;
    }
    kc__people_end_sessions(run->people, run->op->loop, run->op->user, true);
    kc__people_run_end(run);
}

static void store_next_generation(kc__people_run *run)
{
    kc__people_user user;
    if (!kc__people_user_load(run->people, run->op->user, &user)) {
        fail_unknown_user(run);
        return;
    }
    kc_object *next = kc__people_next_user(&user, false, &run->op->error);
    if (next) {
        kc__people_run_put(run, run->people->users, run->op->user.p, next,
                           kc_object_revision(user.object));
        kc__people_run_commit(run, generation_stored);
    } else {
        kc__people_run_end(run);
    }
    kc__people_user_done(&user);
}

/* A session that is gone is what the client wants. */
static void session_removed(kc__people_run *run)
{
    kc__people_run_end(run);
}

static void remove_session(kc__people_run *run, const kc__people_session *session)
{
    kc_autofree char *key =
        kc_asprintf(KC__PEOPLE_NAMESPACE "/%.*s", KC_ARG(kc_object_name(session->object)));
    kc__people_run_put(run, run->people->secrets, key, NULL, kc_object_revision(session->object));
    kc__people_run_commit(run, session_removed);
}

static void begin_logout(kc__people_run *run)
{
    kc__people_session session = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__people_op *op = run->op;
    if (!kc__people_run_limit(run, (kc_str){0}))
        return;
    if (!session_is_valid(run, &arena, &session)) {
        kc__people_run_fail(run, KC_UNAUTHORIZED, SESSION_ENDED);
    } else if (!op->everywhere) {
        remove_session(run, &session);
    } else {
        free((char *)op->user.p);
        op->user = kc_str_of(kc_str_dup(session.user), session.user.n);
        store_next_generation(run);
    }
    kc__people_session_done(&session);
}

/* ---- passwords ---- */

static void store_password(kc__people_run *run);

static void password_stored(kc__people_run *run)
{
    if (run->conflict) {
        if (may_retry(run))
            store_password(run);
        return;
    }
    kc__people_end_sessions(run->people, run->op->loop, run->op->user, true);
    kc__people_run_end(run);
}

static void put_credentials(kc__people_run *run, const kc__people_user *user)
{
    kc__people *people = run->people;
    kc_autofree char *key =
        kc_asprintf(KC__PEOPLE_NAMESPACE "/" KC__PEOPLE_SECRET "%s", run->op->user.p);
    kc_auto(kc_object) *before = kc__watch_cache_get(people->secrets, kc_cstr(key));
    kc__people_run_put(run, people->secrets, key,
                       kc__people_make_credentials(people, user, before, kc_buf_str(&run->made)),
                       before ? kc_object_revision(before) : KC__STORAGE_ABSENT);
}

static void store_password(kc__people_run *run)
{
    kc__people_user user;
    if (!kc__people_user_load(run->people, run->op->user, &user)) {
        fail_unknown_user(run);
        return;
    }
    kc_object *next = kc__people_next_user(&user, true, &run->op->error);
    if (next) {
        put_namespace(run);
        put_credentials(run, &user);
        kc__people_run_put(run, run->people->users, run->op->user.p, next,
                           kc_object_revision(user.object));
        kc__people_run_commit(run, password_stored);
    } else {
        kc__people_run_end(run);
    }
    kc__people_user_done(&user);
}

static void password_hashed(kc__people_run *run)
{
    if (run->verifies && !run->verified)
        kc__people_run_fail(run, KC_UNAUTHORIZED, WRONG_PASSWORD);
    else
        store_password(run);
}

static bool password_is_acceptable(kc__people_run *run)
{
    const kc_str password = run->op->password;
    if (password.n >= KC__PEOPLE_PASSWORD_MIN && password.n <= KC__PEOPLE_PASSWORD_MAX &&
        !memchr(password.p, 0, password.n))
        return true;
    kc_error_set(&run->op->error, KC_BAD_REQUEST, "a password must have %d to %d bytes",
                 KC__PEOPLE_PASSWORD_MIN, KC__PEOPLE_PASSWORD_MAX);
    kc__people_run_end(run);
    return false;
}

static void begin_set_password(kc__people_run *run)
{
    kc__people_user user = {0};
    run->makes = true;
    run->verifies = !run->op->trusted;
    if (!password_is_acceptable(run) ||
        (run->verifies && !kc__people_run_limit(run, run->op->user)))
        return;
    if (kc__people_user_load(run->people, run->op->user, &user)) {
        kc__people_read_hash(run->people, &user, &run->stored);
        kc__people_run_hash(run, password_hashed);
    } else {
        fail_unknown_user(run);
    }
    kc__people_user_done(&user);
}

/* ---- tokens of administrators ---- */

static void begin_issue(kc__people_run *run)
{
    kc__people_user user;
    if (!kc__people_user_load(run->people, run->op->user, &user))
        fail_unknown_user(run);
    else if (user.disabled)
        kc__people_run_fail(run, KC_CONFLICT, "the user is disabled");
    else {
        kc__people_sign(run->people, run->op, &user, (kc_str){0}, run->op->lifetime);
        kc__people_run_end(run);
    }
    kc__people_user_done(&user);
}

/* ---- all operations ---- */

void kc__people_submit(kc__people *people, kc__people_op *op)
{
    static kc__people_step *const begin[] = {
        [KC__PEOPLE_LOGIN] = begin_login,   [KC__PEOPLE_RENEW] = begin_renew,
        [KC__PEOPLE_LOGOUT] = begin_logout, [KC__PEOPLE_SET_PASSWORD] = begin_set_password,
        [KC__PEOPLE_ISSUE] = begin_issue,   [KC__PEOPLE_REVOKE] = store_next_generation,
    };
    begin[op->action](kc__people_run_new(people, op));
}
