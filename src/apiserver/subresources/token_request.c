/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_request.c: POST serviceaccounts/NAME/token issues a token. The TokenRequest is not stored;
 * the response is the request with the token in its status.
 *
 *     body ─▶ admission ─▶ account exists, uid matches ─▶ defaults ─▶ validation
 *          ─▶ bound object exists, uid matches ─▶ lifetime ─▶ claims ─▶ signature
 *
 * A token that is bound to an object becomes invalid with it. The token of a pod also names the
 * pod's node, for audit logs. Order and messages of the checks are those of Kubernetes.
 *
 * To bind to another kind: a row of `bindings`.
 */
#include "apiserver/access/account_name.h"
#include "apiserver/access/sa_tokens.h"
#include "apiserver/admission/plugins/namespace_lifecycle.h"
#include "apiserver/audit/audit.h"
#include "apiserver/background/account_objects.h"
#include "apiserver/codec/typed.h"
#include "apiserver/request/decode.h"
#include "apiserver/request/write.h"
#include "kc/kind.h"

#define DEFAULT_SECONDS 3600
#define MIN_SECONDS     600
#define MAX_SECONDS     ((int64_t)1 << 32)
#define GROUP           "authentication.k8s.io"
#define KIND            "TokenRequest"

/* The state of one request; the views live as long as it. */
typedef struct issuing {
    kc__rest_call *call;
    kc_view *body;        /* Of call->subresource_body. */
    const kc_value *spec; /* Of the body; may be NULL. */
    kc_object *account;   /* The service account. */
    kc_object *bound;     /* Pod, Secret or Node; NULL: not bound. */
    kc_object *pod_node;  /* The node of a bound pod; NULL: none, or it does not exist. */
    kc_view *bound_view;  /* Of `bound`. */
    kc__sa_claims claims; /* Texts belong to the objects above, and to the call's arena. */
    int64_t now;          /* Wall time in nanoseconds. */
    int64_t seconds;      /* Lifetime in the response. */
    char id[KC_UID_TEXT]; /* "jti" */
    bool is_pod;
} issuing;

static void issuing_done(issuing *i)
{
    kc_object_unref(i->account);
    kc_object_unref(i->bound);
    kc_object_unref(i->pod_node);
    kc_view_free(i->body);
    kc_view_free(i->bound_view);
}

/* ---- decoding ---- */

static void default_lifetime(kc_edit *edit)
{
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    int64_t seconds;
    if (!kc_node_as_i64(kc_node_get(spec, KC_STR("expirationSeconds")), &seconds))
        kc_node_set(edit, spec, KC_STR("expirationSeconds"), kc_node_i64(edit, DEFAULT_SECONDS));
}

/* The audit log shows the request with its default. */
static void audit_token_request(kc__rest_call *call)
{
    kc_scoped(kc_error) ignored = {0};
    kc__draft draft = {0};
    kc__draft_set(&draft, call->subresource_body);
    if (kc__audit_wants_body(call))
        default_lifetime(kc__draft_edit(&draft));
    kc__audit_request_object(call, kc__draft_freeze(&draft, call->request_resource, &ignored));
    kc__draft_clear(&draft);
}

static kc__rest_verdict decode_token_request(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_decode_subresource(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    audit_token_request(call);
    kc__rest_metadata m = {.ns = kc_object_namespace(call->subresource_body)};
    return kc__rest_check_namespace(call, &m);
}

/* ---- field ownership ---- */

static void name_request(kc__rest_call *call, kc_edit *edit)
{
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node_set(edit, metadata, KC_STR("name"), kc_node_str(edit, call->info.name));
}

/* Gives the request its default and its managedFields, which the response shows: the body becomes a
 * draft for the phase `owned`. call->body stays as it was sent. */
static kc__rest_verdict own_token_request(kc__rest_call *call)
{
    kc_object_unref(call->body);
    call->body = kc_object_ref(call->subresource_body);
    kc__draft_set(&call->draft, call->body);
    default_lifetime(kc__draft_edit(&call->draft));
    kc__rest_phase_owned(call);
    name_request(call, kc__draft_edit(&call->draft));
    const kc_object *owned = kc__draft_freeze(&call->draft, call->request_resource, &call->error);
    if (!owned || kc__admission_namespace_lifecycle(call) != KC__REST_NEXT)
        return KC__REST_FAIL;
    kc_object_unref(call->subresource_body);
    call->subresource_body = kc_object_ref(owned);
    kc__draft_clear(&call->draft);
    return KC__REST_NEXT;
}

/* ---- the account ---- */

static kc__rest_verdict refuse_request(issuing *i, kc_str name, const kc_field_errors *errors)
{
    kc_field_errors_to_error(errors, KC_STR(GROUP), KC_STR(KIND), name, &i->call->error);
    return KC__REST_FAIL;
}

static kc__rest_verdict check_request_name(issuing *i)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *sent = kc_view_of(i->call->body);
    const kc_value *name = kc_value_nested(kc_view_root(sent), "metadata.name");
    const kc_str text = kc_value_as_str(name);
    if (!text.n || kc_str_eq(text, i->call->info.name))
        return KC__REST_NEXT;
    kc_field_errors_add_value(&errors, KC_FIELD_INVALID, "metadata.name", name,
                              "must match the service account name if specified");
    return refuse_request(i, i->call->info.name, &errors);
}

static kc__rest_verdict uid_conflict(kc__rest_call *call, kc_str group, kc_str kind, kc_str name,
                                     const char *fmt, ...) KC_PRINTF(5, 6);

static kc__rest_verdict uid_conflict(kc__rest_call *call, kc_str group, kc_str kind, kc_str name,
                                     const char *fmt, ...)
{
    kc_scoped(kc_buf) why = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&why, fmt, args);
    va_end(args);
    kc__rest_fail(call, KC_CONFLICT, "Operation cannot be fulfilled on %.*s%s%.*s \"%.*s\": %s",
                  KC_ARG(kind), group.n ? "." : "", KC_ARG(group), KC_ARG(name), kc_buf_cstr(&why));
    kc_error_about(&call->error, group, kind, name);
    return KC__REST_FAIL;
}

static kc__rest_verdict load_account(issuing *i)
{
    kc__rest_call *call = i->call;
    const kc_str uid = kc_object_uid(call->subresource_body);
    i->account = kc__account_objects_get(call->api->account_objects, KC__SA_ACCOUNT, call->info.ns,
                                         call->info.name);
    if (!i->account)
        return kc__rest_fail_not_found(call, call->info.name);
    const kc_str own = kc_object_uid(i->account);
    if (uid.n && !kc_str_eq(uid, own))
        return uid_conflict(call, KC_STR(GROUP), KC_STR(KIND), call->info.name,
                            "the UID in the token request (%.*s) does not match the UID of the "
                            "service account (%.*s)",
                            KC_ARG(uid), KC_ARG(own));
    return KC__REST_NEXT;
}

/* ---- defaults and validation ---- */

static void read_wanted_audiences(issuing *i)
{
    const kc_value *list = kc_value_get(i->spec, "audiences");
    const size_t n = kc_value_len(list);
    const kc__user_audiences own = kc__sa_tokens_audiences(i->call->api->accounts);
    kc_str *items = kc_arena_calloc(i->call->arena, n + 1, sizeof(*items));
    for (size_t at = 0; at < n; at++)
        items[at] = kc_value_as_str(kc_value_at(list, at));
    i->claims.audiences = n ? items : own.items;
    i->claims.n_audiences = n ? n : own.n;
}

static kc__rest_verdict check_lifetime(issuing *i)
{
    kc_scoped(kc_field_errors) errors = {0};
    const kc_value *seconds = kc_value_get(i->spec, "expirationSeconds");
    i->seconds = kc_value_as_i64_or(seconds, 0);
    if (i->seconds < MIN_SECONDS)
        kc_field_errors_add_value(&errors, KC_FIELD_INVALID, "spec.expirationSeconds", seconds,
                                  "may not specify a duration less than 10 minutes");
    if (i->seconds > MAX_SECONDS)
        kc_field_errors_add_value(&errors, KC_FIELD_INVALID, "spec.expirationSeconds", seconds,
                                  "may not specify a duration larger than 2^32 seconds");
    return errors.list.n ? refuse_request(i, (kc_str){0}, &errors) : KC__REST_NEXT;
}

/* More audiences than the server itself reads in a token. */
static kc__rest_verdict check_audiences(issuing *i)
{
    if (i->claims.n_audiences <= KC__SA_MAX_AUDIENCES)
        return KC__REST_NEXT;
    return kc__rest_fail(i->call, KC_BAD_REQUEST, "a token can have at most %d audiences",
                         KC__SA_MAX_AUDIENCES);
}

/* ---- the bound object ---- */

static void load_pod_node(issuing *i, kc_str name)
{
    kc__sa_ref *node = &i->claims.node;
    if (!name.n)
        return;
    i->pod_node =
        kc__account_objects_get(i->call->api->account_objects, KC__SA_NODE, (kc_str){0}, name);
    *node = (kc__sa_ref){true, name, i->pod_node ? kc_object_uid(i->pod_node) : (kc_str){0}};
}

static kc__rest_verdict bind_to_pod(issuing *i)
{
    const kc_value *spec = kc_value_get(kc_view_root(i->bound_view), "spec");
    const kc_str account = i->call->info.name;
    if (!kc_str_eq(kc_value_as_str(kc_value_get(spec, "serviceAccountName")), account))
        return kc__rest_fail(i->call, KC_BAD_REQUEST,
                             "cannot bind token for serviceaccount \"%.*s\" to pod running with "
                             "different serviceaccount name.",
                             KC_ARG(account));
    i->is_pod = true;
    i->claims.pod = (kc__sa_ref){true, kc_object_name(i->bound), kc_object_uid(i->bound)};
    load_pod_node(i, kc_value_as_str(kc_value_get(spec, "nodeName")));
    return KC__REST_NEXT;
}

static kc__rest_verdict bind_to_secret(issuing *i)
{
    i->claims.secret = (kc__sa_ref){true, kc_object_name(i->bound), kc_object_uid(i->bound)};
    return KC__REST_NEXT;
}

static kc__rest_verdict bind_to_node(issuing *i)
{
    i->claims.node = (kc__sa_ref){true, kc_object_name(i->bound), kc_object_uid(i->bound)};
    return KC__REST_NEXT;
}

static const struct token_binding {
    const char *kind, *plural;
    kc__sa_kind of;
    kc__rest_verdict (*bind)(issuing *i);
} bindings[] = {
    {"Pod", "pods", KC__SA_POD, bind_to_pod},
    {"Secret", "secrets", KC__SA_SECRET, bind_to_secret},
    {"Node", "nodes", KC__SA_NODE, bind_to_node},
};

static kc__rest_verdict bound_not_found(kc__rest_call *call, const char *plural, kc_str name)
{
    kc__rest_fail(call, KC_NOT_FOUND, "%s \"%.*s\" not found", plural, KC_ARG(name));
    kc_error_about(&call->error, (kc_str){0}, kc_cstr(plural), name);
    return KC__REST_FAIL;
}

static kc__rest_verdict bind_as(issuing *i, const struct token_binding *binding,
                                const kc_value *ref)
{
    kc__rest_call *call = i->call;
    const kc_str name = kc_value_as_str(kc_value_get(ref, "name")),
                 uid = kc_value_as_str(kc_value_get(ref, "uid"));
    const kc_str ns = binding->of == KC__SA_NODE ? (kc_str){0} : call->info.ns;
    if (!name.n)
        return kc__rest_fail(call, KC_BAD_REQUEST, "Name parameter required.");
    i->bound = kc__account_objects_get(call->api->account_objects, binding->of, ns, name);
    if (!i->bound)
        return bound_not_found(call, binding->plural, name);
    i->bound_view = kc_view_of(i->bound);
    if (binding->bind(i) != KC__REST_NEXT)
        return KC__REST_FAIL;
    if (uid.n && !kc_str_eq(uid, kc_object_uid(i->bound)))
        return uid_conflict(call, (kc_str){0}, kc_cstr(binding->kind), name,
                            "the UID in the bound object reference (%.*s) does not match the UID "
                            "in record. The object might have been deleted and then recreated",
                            KC_ARG(uid));
    return KC__REST_NEXT;
}

/* The text of a Go GroupVersionKind: "/v1, Kind=Pod". */
static kc__rest_verdict cannot_bind(issuing *i, kc_gvk gvk)
{
    return kc__rest_fail(i->call, KC_BAD_REQUEST,
                         "cannot bind token to object of type %.*s/%.*s, Kind=%.*s",
                         KC_ARG(gvk.group), KC_ARG(gvk.version), KC_ARG(gvk.kind));
}

static kc__rest_verdict bind_token(issuing *i)
{
    const kc_value *ref = kc_value_get(i->spec, "boundObjectRef");
    if (kc_value_type(ref) != KC_JSON_OBJECT)
        return KC__REST_NEXT;
    const kc_gvk gvk = kc_gvk_of(kc_value_as_str(kc_value_get(ref, "apiVersion")),
                                 kc_value_as_str(kc_value_get(ref, "kind")));
    for (size_t at = 0; !gvk.group.n && at < KC_COUNT(bindings); at++)
        if (kc_str_is(gvk.kind, bindings[at].kind))
            return bind_as(i, &bindings[at], ref);
    return cannot_bind(i, gvk);
}

/* ---- lifetime ---- */

static bool has_server_audiences(const issuing *i)
{
    const kc__user_audiences own = kc__sa_tokens_audiences(i->call->api->accounts);
    for (size_t at = 0; at < i->claims.n_audiences; at++) {
        bool found = false;
        for (size_t j = 0; j < own.n; j++)
            found = found || kc_str_eq(i->claims.audiences[at], own.items[j]);
        if (!found)
            return false;
    }
    return true;
}

/* Shortens the lifetime to the server's maximum. The token of a kubelet for a pod lives for a year
 * instead, and counts as stale after the time that was asked for. */
static void set_times(issuing *i)
{
    const kc__sa_tokens *tokens = i->call->api->accounts;
    const int64_t most = kc__sa_tokens_max_seconds(tokens), now = i->now / KC_SECOND;
    if (most > 0 && i->seconds > most) {
        kc__rest_warn(i->call, kc_cstr(kc_arena_printf(
                                   i->call->arena,
                                   "requested expiration of %lld seconds shortened to %lld seconds",
                                   (long long)i->seconds, (long long)most)));
        i->seconds = most;
    }
    int64_t lifetime = i->seconds;
    if (kc__sa_tokens_extends(tokens) && i->is_pod && i->seconds == KC__SA_WARN_ONLY_SECONDS &&
        has_server_audiences(i)) {
        i->claims.warn_after = (kc__sa_time){true, now + i->seconds};
        lifetime = KC__SA_EXTENDED_SECONDS;
    }
    i->claims.issued_at = i->claims.not_before = (kc__sa_time){true, now};
    i->claims.expiry = (kc__sa_time){true, now + lifetime};
}

/* ---- the token and the response ---- */

static void set_subject(issuing *i)
{
    uint8_t random[16];
    kc__rest_call *call = i->call;
    kc_rand_bytes(call->rand, random, sizeof(random));
    i->claims.id = kc_uid_of(random, i->id);
    i->claims.ns = call->info.ns;
    i->claims.account = (kc__sa_ref){true, call->info.name, kc_object_uid(i->account)};
    i->claims.subject = kc__user_account_name(call->arena, call->info.ns, call->info.name);
}

static void fill_metadata(issuing *i, kc_edit *edit)
{
    char now[KC_TIME_TEXT];
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node_set(edit, metadata, KC_STR("name"), kc_node_str(edit, i->call->info.name));
    kc_node_set(edit, metadata, KC_STR("namespace"), kc_node_str(edit, i->call->info.ns));
    kc_node_set(edit, metadata, KC_STR("uid"), kc_node_str(edit, kc_object_uid(i->account)));
    kc_node_set(edit, metadata, KC_STR("creationTimestamp"),
                kc_node_str(edit, kc_time_print(i->now, now)));
}

static void fill_spec(issuing *i, kc_edit *edit)
{
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node *audiences = kc_node_array(edit);
    for (size_t at = 0; at < i->claims.n_audiences; at++)
        kc_node_append(audiences, kc_node_str(edit, i->claims.audiences[at]));
    kc_node_set(edit, spec, KC_STR("audiences"), audiences);
    kc_node_set(edit, spec, KC_STR("expirationSeconds"), kc_node_i64(edit, i->seconds));
}

/* Typed again, so that the members are in the order of the type. */
static kc_object *response_of(issuing *i, kc_str token)
{
    char expires[KC_TIME_TEXT];
    kc_auto(kc_edit) *edit = kc_edit_of(i->call->subresource_body);
    fill_metadata(i, edit);
    fill_spec(i, edit);
    kc_node *status = kc_node_object(edit);
    kc_node_add(edit, status, KC_STR("token"), kc_node_str(edit, token));
    kc_node_add(edit, status, KC_STR("expirationTimestamp"),
                kc_node_str(edit, kc_time_print(i->now + i->seconds * KC_SECOND, expires)));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("status"), status);
    kc_auto(kc_object) *untyped = kc_edit_freeze(edit, &i->call->error);
    return untyped
               ? kc__typed_decode(i->call->request_resource->type, untyped, NULL, &i->call->error)
               : NULL;
}

static kc__rest_verdict sign_token(issuing *i)
{
    kc__rest_call *call = i->call;
    kc_scoped(kc_buf) token = {0};
    set_times(i);
    set_subject(i);
    if (kc__sa_tokens_sign(call->api->accounts, &i->claims, &token, &call->error) < 0)
        return KC__REST_FAIL;
    kc__rest_audit(call, KC_STR("authentication.kubernetes.io/issued-credential-id"),
                   kc_cstr(kc_arena_printf(call->arena, "JTI=%.*s", KC_ARG(i->claims.id))));
    call->proposed = response_of(i, kc_buf_str(&token));
    return call->proposed ? KC__REST_RESPOND : KC__REST_FAIL;
}

static kc__rest_verdict propose_token_request(kc__rest_call *call)
{
    static kc__rest_verdict (*const steps[])(issuing *i) = {
        check_request_name, load_account, check_lifetime, check_audiences, bind_token, sign_token,
    };
    issuing i = {.call = call, .now = kc_clock_wall(call->api->clock)};
    if (own_token_request(call) != KC__REST_NEXT)
        return KC__REST_FAIL;
    i.body = kc_view_of(call->subresource_body);
    i.spec = kc_value_get(kc_view_root(i.body), "spec");
    read_wanted_audiences(&i);
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t at = 0; at < KC_COUNT(steps) && verdict == KC__REST_NEXT; at++)
        verdict = steps[at](&i);
    issuing_done(&i);
    return verdict;
}

static kc__rest_verdict respond_token_request(kc__rest_call *call)
{
    return kc__rest_respond_object(call, 201, call->proposed);
}

const kc__rest_verb kc__rest_verb_request_token = {
    .name = "create",
    .bit = KC__VERB_CREATE,
    .mutates = true,
    .replaces_object = true,
    .decode = decode_token_request,
    .propose = propose_token_request,
    .respond = respond_token_request,
};
