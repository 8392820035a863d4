/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_objects.c: the stored objects of people: Users, Secrets with the hash of a password, and
 * Secrets that stand for a session.
 *
 *     kc-credentials/user-NAME              data.password: the hash; annotation: uid of the User
 *     kc-credentials/session-HASH-RANDOM    data.key: SHA-256 of the session key; annotations: name
 *                                           and uid of the User, time of its end
 *
 * No client can read or write these Secrets (request/reserved_secrets.c): the server writes them
 * through the store. HASH is that of the User's name, so the sessions of a user are a range of
 * keys. An object whose uid annotation is that of a former User of the same name counts as absent.
 */
#include "apiserver/people/people_internal.h"

#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/meta.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#define SESSION_TYPE   KC__PEOPLE_GROUP "/session"
#define SESSION_PREFIX KC__PEOPLE_NAMESPACE "/session-"
#define USER_NAME      KC__PEOPLE_GROUP "/user"
#define USER_UID       KC__PEOPLE_GROUP "/user-uid"
#define EXPIRES        KC__PEOPLE_GROUP "/expires"

enum { USER_HASH_BYTES = 8, RANDOM_ID_BYTES = 16, MAX_ENDED = 256 };

static void put_hex(kc_buf *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(out, "%02x", bytes[i]);
}

/* ---- Users ---- */

/* Of a User, or of a session. */
static int64_t read_generation(const kc_object *object)
{
    uint64_t generation = 0;
    kc_scoped(kc_arena) arena = {0};
    if (!kc_str_to_u64(kc_object_annotation(object, KC_STR(KC__PEOPLE_GENERATION), &arena),
                       &generation))
        return 0;
    return (int64_t)KC_MIN(generation, (uint64_t)INT64_MAX - 1);
}

bool kc__people_user_load(kc__people *people, kc_str name, kc__people_user *ret)
{
    *ret = (kc__people_user){0};
    if (!name.n || name.n > KC__PEOPLE_NAME_MAX)
        return false;
    ret->object = kc__watch_cache_get(people->users, name);
    if (!ret->object)
        return false;
    ret->view = kc_view_of(ret->object);
    ret->disabled =
        kc_value_as_bool(kc_value_nested(kc_view_root(ret->view), "spec.disabled"), false) ||
        kc_object_being_deleted(ret->object);
    ret->generation = read_generation(ret->object);
    return true;
}

void kc__people_user_done(kc__people_user *user)
{
    kc_view_free(user->view);
    kc_object_unref(user->object);
    *user = (kc__people_user){0};
}

kc_object *kc__people_next_user(const kc__people_user *user, bool refers, kc_error *err)
{
    char number[24];
    kc_auto(kc_edit) *edit = kc_edit_of(user->object);
    const kc_str name = kc_object_name(user->object);
    const kc_value *spec = kc_value_get(kc_view_root(user->view), "spec");
    snprintf(number, sizeof(number), "%lld", (long long)user->generation + 1);
    kc_edit_set_annotation(edit, KC_STR(KC__PEOPLE_GENERATION), kc_cstr(number));
    if (refers && !kc_value_get(spec, "credentialsRef")) {
        kc_autofree char *secret = kc_asprintf(KC__PEOPLE_SECRET "%.*s", KC_ARG(name));
        kc_edit_set_nested(edit, "spec.credentialsRef.name", kc_node_str(edit, kc_cstr(secret)));
        kc_edit_set_nested(edit, "spec.credentialsRef.namespace",
                           kc_node_str(edit, KC_STR(KC__PEOPLE_NAMESPACE)));
        kc_edit_set_nested(edit, "metadata.generation",
                           kc_node_i64(edit, kc_object_generation(user->object) + 1));
    }
    return kc_edit_freeze(edit, err);
}

/* ---- new objects ---- */

/* Kind, metadata without annotations; the object stays open. */
static void begin_object(kc__people *people, kc_buf *json, const char *kind, const char *ns,
                         kc_str name)
{
    uint8_t random[16];
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    RAND_bytes(random, sizeof(random));
    kc_uid_of(random, uid);
    kc_time_print(kc_clock_wall(people->api->clock), now);
    kc_buf_printf(json, "{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%.*s\"",
                  kind, KC_ARG(name));
    if (ns)
        kc_buf_printf(json, ",\"namespace\":\"%s\"", ns);
    kc_buf_printf(json, ",\"uid\":\"%s\",\"resourceVersion\":\"0\",\"creationTimestamp\":\"%s\"",
                  uid, now);
}

static void put_user_annotations(kc_buf *json, const kc__people_user *user)
{
    kc_buf_printf(json, ",\"annotations\":{\"" USER_NAME "\":\"%.*s\",\"" USER_UID "\":\"%.*s\"",
                  KC_ARG(kc_object_name(user->object)), KC_ARG(kc_object_uid(user->object)));
}

static kc_object *end_secret(kc_buf *json, const char *member, kc_str bytes, const char *type)
{
    kc_buf_printf(json, "}},\"data\":{\"%s\":\"", member);
    kc_base64_write(json, bytes, KC_BASE64);
    kc_buf_printf(json, "\"},\"type\":\"%s\"}", type);
    return kc_object_parse(kc_buf_str(json), NULL, NULL);
}

kc_object *kc__people_make_namespace(kc__people *people)
{
    kc_scoped(kc_buf) json = {0};
    begin_object(people, &json, "Namespace", NULL, KC_STR(KC__PEOPLE_NAMESPACE));
    kc_buf_puts(&json, ",\"labels\":{\"kubernetes.io/metadata.name\":\"" KC__PEOPLE_NAMESPACE
                       "\"}},\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":"
                       "\"Active\"}}");
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

/* A password change replaces the value alone, so the Secret keeps its uid. */
static kc_object *with_hash(const kc_object *before, const kc__people_user *user, kc_str hash)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_edit) *edit = kc_edit_of(before);
    kc_base64_write(&text, hash, KC_BASE64);
    kc_edit_set_nested(edit, "data.password", kc_node_str(edit, kc_buf_str(&text)));
    kc_edit_set_annotation(edit, KC_STR(USER_UID), kc_object_uid(user->object));
    return kc_edit_freeze(edit, NULL);
}

kc_object *kc__people_make_credentials(kc__people *people, const kc__people_user *user,
                                       const kc_object *before, kc_str hash)
{
    kc_scoped(kc_buf) json = {0};
    const kc_str name = kc_object_name(user->object);
    kc_autofree char *secret = kc_asprintf(KC__PEOPLE_SECRET "%.*s", KC_ARG(name));
    if (before)
        return with_hash(before, user, hash);
    begin_object(people, &json, "Secret", KC__PEOPLE_NAMESPACE, kc_cstr(secret));
    put_user_annotations(&json, user);
    return end_secret(&json, "password", hash, KC__PEOPLE_TYPE);
}

kc_object *kc__people_make_session(kc__people *people, const kc__people_user *user, kc_str id,
                                   kc_str key_hash, kc_time expires)
{
    char text[KC_TIME_TEXT];
    kc_scoped(kc_buf) json = {0};
    kc_autofree char *name = kc_asprintf("session-%.*s", KC_ARG(id));
    begin_object(people, &json, "Secret", KC__PEOPLE_NAMESPACE, kc_cstr(name));
    put_user_annotations(&json, user);
    kc_buf_printf(&json, ",\"" EXPIRES "\":\"%.*s\",\"" KC__PEOPLE_GENERATION "\":\"%lld\"",
                  KC_ARG(kc_time_print(expires, text)), (long long)user->generation);
    return end_secret(&json, "key", key_hash, SESSION_TYPE);
}

/* ---- hashes ---- */

static bool has_type(const kc_value *secret, const char *type)
{
    return kc_str_is(kc_value_as_str(kc_value_get(secret, "type")), type);
}

static bool read_data(const kc_value *secret, const char *member, kc_buf *out)
{
    return kc_base64_read(out, kc_value_as_str(kc_value_get(kc_value_get(secret, "data"), member)),
                          KC_BASE64);
}

/* The reference of a User names its own Secret; request/person_rights.c refuses every other. */
static bool refers_to_own_secret(const kc__people_user *user)
{
    const kc_value *ref = kc_value_nested(kc_view_root(user->view), "spec.credentialsRef");
    const kc_str name = kc_value_as_str(kc_value_get(ref, "name"));
    return kc_str_is(kc_value_as_str(kc_value_get(ref, "namespace")), KC__PEOPLE_NAMESPACE) &&
           kc_str_starts(name, KC_STR(KC__PEOPLE_SECRET)) &&
           kc_str_eq(kc_str_sub(name, sizeof(KC__PEOPLE_SECRET) - 1, name.n),
                     kc_object_name(user->object));
}

void kc__people_read_hash(kc__people *people, const kc__people_user *user, kc_buf *out)
{
    if (!user->object || user->disabled || !refers_to_own_secret(user))
        return;
    kc_autofree char *key = kc_asprintf(KC__PEOPLE_NAMESPACE "/" KC__PEOPLE_SECRET "%.*s",
                                        KC_ARG(kc_object_name(user->object)));
    kc_auto(kc_object) *secret = kc__watch_cache_get(people->secrets, kc_cstr(key));
    if (!secret || !kc_object_annotation_is(secret, KC_STR(USER_UID), kc_object_uid(user->object)))
        return;
    kc_auto(kc_view) *view = kc_view_of(secret);
    if (has_type(kc_view_root(view), KC__PEOPLE_TYPE) &&
        !read_data(kc_view_root(view), "password", out))
        kc_buf_clear(out);
}

/* ---- sessions ---- */

static void put_user_hash(kc_str user, kc_buf *out)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)user.p, user.n, digest);
    put_hex(out, digest, USER_HASH_BYTES);
}

void kc__people_new_session_id(kc_str user, kc_buf *out)
{
    unsigned char random[RANDOM_ID_BYTES];
    RAND_bytes(random, sizeof(random));
    put_user_hash(user, out);
    kc_buf_putc(out, '-');
    put_hex(out, random, sizeof(random));
}

/* An id that a client sent must not become another key of the cache. */
static bool is_session_id(kc_str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!(id.p[i] >= '0' && id.p[i] <= '9') && !(id.p[i] >= 'a' && id.p[i] <= 'f') &&
            id.p[i] != '-')
            return false;
    return id.n == 2 * USER_HASH_BYTES + 1 + 2 * RANDOM_ID_BYTES;
}

static kc_object *find_session(kc__people *people, kc_str id)
{
    char key[sizeof(SESSION_PREFIX) + 2 * USER_HASH_BYTES + 1 + 2 * RANDOM_ID_BYTES];
    if (!is_session_id(id))
        return NULL;
    const int n = snprintf(key, sizeof(key), SESSION_PREFIX "%.*s", KC_ARG(id));
    return kc__watch_cache_get(people->secrets, kc_str_of(key, (size_t)n));
}

bool kc__people_session_exists(kc__people *people, kc_str id, kc_str user_uid)
{
    kc_auto(kc_object) *session = find_session(people, id);
    return session && kc_object_annotation_is(session, KC_STR(USER_UID), user_uid);
}

static kc_time session_end(const kc_object *session, kc_arena *arena)
{
    kc_time expires = 0;
    kc_time_parse(kc_object_annotation(session, KC_STR(EXPIRES), arena), &expires, NULL);
    return expires;
}

bool kc__people_session_load(kc__people *people, kc_str id, kc_arena *arena,
                             kc__people_session *ret)
{
    *ret = (kc__people_session){.object = find_session(people, id)};
    if (!ret->object)
        return false;
    kc_scoped(kc_buf) hash = {0};
    kc_auto(kc_view) *view = kc_view_of(ret->object);
    ret->user = kc_object_annotation(ret->object, KC_STR(USER_NAME), arena);
    ret->user_uid = kc_object_annotation(ret->object, KC_STR(USER_UID), arena);
    ret->expires = session_end(ret->object, arena);
    ret->generation = read_generation(ret->object);
    if (!has_type(kc_view_root(view), SESSION_TYPE) || !read_data(kc_view_root(view), "key", &hash))
        return false;
    ret->key_hash = kc_arena_str(arena, kc_buf_str(&hash));
    return true;
}

void kc__people_session_done(kc__people_session *session)
{
    kc_object_unref(session->object);
    *session = (kc__people_session){0};
}

/* ---- ending sessions ---- */

/* A deletion that nothing waits for: a session that is left over has ended anyway, by the
 * generation of its user or by its time, and a hash is useless without its user. */
typedef struct secret_deletion {
    kc__store_write write;
    char key[];
} secret_deletion;

static void secret_deleted(kc__store_write *write)
{
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    free(kc_container_of(write, secret_deletion, write));
}

void kc__people_delete_secret(kc__people *people, kc__loop *loop, const kc_object *secret)
{
    const kc_str name = kc_object_name(secret);
    const size_t n = sizeof(KC__PEOPLE_NAMESPACE) + name.n;
    secret_deletion *d = kc_calloc(1, sizeof(*d) + n + 1);
    snprintf(d->key, n + 1, KC__PEOPLE_NAMESPACE "/%.*s", KC_ARG(name));
    d->write = (kc__store_write){.cache = people->secrets,
                                 .verb = KC__STORAGE_DELETE,
                                 .key = kc_str_of(d->key, n),
                                 .expected = kc_object_revision(secret),
                                 .loop = loop,
                                 .done = secret_deleted};
    kc__store_submit(people->api->store, &d->write);
}

/* The session that ends first among those that have not ended. */
static const kc_object *oldest_session(kc__cow_snapshot *sessions, const kc__cow_range *range,
                                       kc_time now, size_t *ret_count)
{
    const kc_object *oldest = NULL;
    kc_time first = INT64_MAX;
    kc_scoped(kc_arena) arena = {0};
    kc__cow_iter at = kc__cow_iter_start(sessions, range);
    *ret_count = 0;
    while (kc__cow_iter_next(&at)) {
        const kc_time end = session_end(at.object, &arena);
        *ret_count += end > now;
        if (end > now && end < first) {
            first = end;
            oldest = at.object;
        }
    }
    return oldest;
}

void kc__people_end_sessions(kc__people *people, kc__loop *loop, kc_str user, bool all)
{
    kc_scoped(kc_buf) prefix = {0};
    kc_scoped(kc_arena) arena = {0};
    const kc_time now = kc_clock_wall(people->api->clock);
    size_t left = 0, ended = 0;
    kc_buf_puts(&prefix, SESSION_PREFIX);
    put_user_hash(user, &prefix);
    kc_buf_putc(&prefix, '-');
    const kc__cow_range range = {.prefix = kc_buf_str(&prefix)};
    kc_auto(kc__cow_snapshot) *sessions = kc__watch_cache_snapshot(people->secrets, NULL);
    kc__cow_iter at = kc__cow_iter_start(sessions, &range);
    while (kc__cow_iter_next(&at) && ended < MAX_ENDED)
        if (all || session_end(at.object, &arena) <= now) {
            kc__people_delete_secret(people, loop, at.object);
            ended++;
        }
    const kc_object *oldest = all ? NULL : oldest_session(sessions, &range, now, &left);
    if (oldest && left >= KC__PEOPLE_MAX_SESSIONS)
        kc__people_delete_secret(people, loop, oldest);
}

/* ---- leftovers ---- */

static bool is_session(const kc_object *secret)
{
    return kc_str_starts(kc_object_name(secret), KC_STR("session-"));
}

static bool is_left_over(kc__people *people, const kc_object *secret, kc_time now)
{
    kc__people_user user;
    kc_scoped(kc_arena) arena = {0};
    kc__people_user_load(people, kc_object_annotation(secret, KC_STR(USER_NAME), &arena), &user);
    const bool left =
        !user.object ||
        !kc_object_annotation_is(secret, KC_STR(USER_UID), kc_object_uid(user.object)) ||
        (is_session(secret) && session_end(secret, &arena) <= now);
    kc__people_user_done(&user);
    return left;
}

void kc__people_sweep(kc__people *people)
{
    const kc__cow_range range = {.prefix = KC_STR(KC__PEOPLE_NAMESPACE "/")};
    const kc_time now = kc_clock_wall(people->api->clock);
    kc_auto(kc__cow_snapshot) *secrets = kc__watch_cache_snapshot(people->secrets, NULL);
    kc__cow_iter at = kc__cow_iter_start(secrets, &range);
    while (kc__cow_iter_next(&at))
        if (is_left_over(people, at.object, now))
            kc__people_delete_secret(people, people->api->contexts[0].loop, at.object);
}
