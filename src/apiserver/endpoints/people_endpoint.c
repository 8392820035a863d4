/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_endpoint.c: logins and other operations on the credentials of people (people/people.h).
 *
 *     POST /people/login     {"username","password"}                 → token, session
 *     POST /people/renew     {"session"}                             → token
 *     POST /people/logout    {"session","everywhere"}
 *     POST /people/password  {"username","password","oldPassword"}
 *     POST /people/token     {"username","expirationSeconds"}        → token
 *     POST /people/revoke    {"username"}
 *
 * The first three need no other credentials. The others need the permission to "bind" the resource
 * users/credentials of that name, because the client that sets a password can become that user; a
 * password can also be changed by its owner, with the old one.
 *
 * Passwords and session keys are copied once, into the operation, which wipes them. The body and
 * the parsed body are wiped here. Requests over plain HTTP are accepted from this machine only.
 */
#include "apiserver/authz/request_state.h"
#include "apiserver/endpoints/endpoints.h"
#include "apiserver/people/people.h"

#include "kc/json.h"

enum { MAX_DEPTH = 4, MIN_TOKEN_SECONDS = 60 };

/* ---- input ---- */

typedef struct people_request {
    kc__rest_call *call;
    kc_view *body;
    kc__people_op op;
} people_request;

static void wipe_str(kc_str text)
{
    if (text.n)
        explicit_bzero((char *)text.p, text.n);
}

/* The body belongs to this request alone; nothing reads it afterwards. That of a caller in the same
 * process is the caller's, who may repeat the request. */
static void people_request_done(people_request *r)
{
    wipe_str(r->op.password);
    wipe_str(r->op.old_password);
    wipe_str(r->op.session);
    if (!kc__rest_is_own_request(r->call))
        wipe_str(r->call->x->request.body);
    kc_view_free(r->body);
}

static bool is_confidential(const kc__rest_call *call)
{
    const kc__conn_peer *peer = call->x->request.peer;
    return !peer || peer->tls || peer->loopback || kc__rest_is_own_request(call);
}

static bool is_json(const kc__rest_call *call)
{
    kc_str type = kc__http_headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    return kc_str_eq_nocase(kc_str_trim(kc_str_cut(&type, ';')), KC_STR("application/json"));
}

static kc__rest_verdict check_people_request(kc__rest_call *call)
{
    if (!call->api->people)
        return kc__rest_respond_page_not_found(call);
    if (!kc_str_is(call->x->request.method, "POST"))
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    if (!is_confidential(call))
        return kc__rest_fail(call, KC_FORBIDDEN,
                             "passwords and sessions are accepted over HTTPS only");
    /* A page of another site cannot send this type without the permission of this server. */
    if (!is_json(call))
        return kc__rest_fail(call, KC_UNSUPPORTED_MEDIA_TYPE, "the body must be application/json");
    return KC__REST_NEXT;
}

static kc__rest_verdict read_people_request(people_request *r)
{
    kc__rest_call *call = r->call;
    r->body = kc_view_parse(call->x->request.body, &(kc_json_opts){.max_depth = MAX_DEPTH}, NULL);
    const kc_value *root = r->body ? kc_view_root(r->body) : NULL;
    if (kc_value_type(root) != KC_JSON_OBJECT)
        return kc__rest_fail(call, KC_BAD_REQUEST, "the body is not a JSON object");
    r->op.user = kc_value_as_str(kc_value_get(root, "username"));
    r->op.password = kc_value_as_str(kc_value_get(root, "password"));
    r->op.old_password = kc_value_as_str(kc_value_get(root, "oldPassword"));
    r->op.session = kc_value_as_str(kc_value_get(root, "session"));
    r->op.everywhere = kc_value_as_bool(kc_value_get(root, "everywhere"), false);
    r->op.lifetime = kc_value_as_i64_or(kc_value_get(root, "expirationSeconds"), 3600) * KC_SECOND;
    r->op.loop = call->x->loop;
    r->op.context = call;
    if (call->x->request.peer)
        r->op.address = kc_cstr(call->x->request.peer->address);
    return KC__REST_NEXT;
}

/* ---- permissions ---- */

/* Whoever sets the credentials of a user can become that user. A webhook that has not decided yet
 * is a denial: the request runs on a loop. */
static kc__rest_verdict may_bind_credentials(people_request *r)
{
    kc__rest_call *call = r->call;
    kc_scoped(kc_buf) reason = {0};
    const kc__authz_attributes a = {.user = &call->user,
                                    .verb = KC_STR("bind"),
                                    .is_resource = true,
                                    .group = KC_STR(KC__PEOPLE_GROUP),
                                    .version = KC_STR("v1"),
                                    .resource = KC_STR("users"),
                                    .subresource = KC_STR("credentials"),
                                    .name = r->op.user};
    kc_scoped(kc__authz_request_state) state = {0};
    if (kc__authz_authorize(call->api->authz, &state, &a, &reason) == KC__AUTHZ_ALLOW)
        return KC__REST_NEXT;
    kc__authz_forbid(&a, kc_buf_str(&reason), &call->error);
    call->forbidden = true;
    return KC__REST_FAIL;
}

static kc__rest_verdict prepare_password(people_request *r)
{
    if (r->op.old_password.n)
        return KC__REST_NEXT;
    r->op.trusted = true;
    return may_bind_credentials(r);
}

static kc__rest_verdict prepare_issue(people_request *r)
{
    const int64_t most = KC__PEOPLE_MAX_LIFETIME;
    if (r->op.lifetime < MIN_TOKEN_SECONDS * KC_SECOND || r->op.lifetime > most)
        return kc__rest_fail(r->call, KC_BAD_REQUEST, "expirationSeconds must be %d to %lld",
                             MIN_TOKEN_SECONDS, (long long)(most / KC_SECOND));
    return may_bind_credentials(r);
}

static kc__rest_verdict prepare_nothing(people_request *r)
{
    (void)r;
    return KC__REST_NEXT;
}

/* ---- response ---- */

static void put_member(kc_buf *out, const char *name, kc_str text)
{
    if (!text.n)
        return;
    kc_buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    kc_json_quote(out, text);
}

static void put_time(kc_buf *out, const char *name, kc_time time)
{
    char text[KC_TIME_TEXT];
    if (time)
        put_member(out, name, kc_time_print(time, text));
}

static void people_done(kc__people_op *op)
{
    kc__rest_call *call = op->context;
    kc_scoped(kc_buf) json = {0};
    if (op->error.reason) {
        kc_error_move(&call->error, &op->error);
        kc__people_op_free(op);
        kc__rest_call_resume(call, KC__REST_FAIL);
        return;
    }
    kc_buf_putc(&json, '{');
    put_member(&json, "token", kc_buf_str(&op->token));
    put_time(&json, "expirationTimestamp", op->token_expires);
    put_member(&json, "session", kc_buf_str(&op->session_key));
    put_time(&json, "sessionExpirationTimestamp", op->session_expires);
    kc_buf_puts(&json, "}\n");
    kc__people_op_free(op);
    kc__rest_respond_text(call, 200, KC_STR("application/json"), kc_buf_str(&json));
    kc_buf_wipe(&json);
}

/* ---- endpoints ---- */

static kc__rest_verdict begin_people(kc__rest_call *call, kc__people_action action,
                                     kc__rest_verdict (*prepare)(people_request *r))
{
    kc__people_op *op = NULL;
    people_request r = {.call = call, .op = {.action = action, .done = people_done}};
    kc__rest_verdict verdict = check_people_request(call);
    if (verdict == KC__REST_NEXT)
        verdict = read_people_request(&r);
    if (verdict == KC__REST_NEXT)
        verdict = prepare(&r);
    if (verdict == KC__REST_NEXT)
        op = kc__people_op_new(&r.op);
    if (verdict != KC__REST_DONE) /* The call has ended. */
        people_request_done(&r);
    if (!op)
        return verdict;
    kc__people_submit(call->api->people, op); /* May end the call. */
    return KC__REST_PENDING;
}

kc__rest_verdict kc__rest_endpoint_login(kc__rest_call *call)
{
    return begin_people(call, KC__PEOPLE_LOGIN, prepare_nothing);
}

kc__rest_verdict kc__rest_endpoint_renew(kc__rest_call *call)
{
    return begin_people(call, KC__PEOPLE_RENEW, prepare_nothing);
}

kc__rest_verdict kc__rest_endpoint_logout(kc__rest_call *call)
{
    return begin_people(call, KC__PEOPLE_LOGOUT, prepare_nothing);
}

kc__rest_verdict kc__rest_endpoint_password(kc__rest_call *call)
{
    return begin_people(call, KC__PEOPLE_SET_PASSWORD, prepare_password);
}

kc__rest_verdict kc__rest_endpoint_token(kc__rest_call *call)
{
    return begin_people(call, KC__PEOPLE_ISSUE, prepare_issue);
}

kc__rest_verdict kc__rest_endpoint_revoke(kc__rest_call *call)
{
    return begin_people(call, KC__PEOPLE_REVOKE, may_bind_credentials);
}
