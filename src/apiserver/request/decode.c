/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.c: the phase `decoded`: reads the request body into call->body.
 *
 *     bytes ─(Content-Type: JSON, YAML, protobuf)─▶ object ─▶ of the resource's kind? ─▶ typed
 *
 * Unknown and duplicate fields are dropped silently, dropped with a warning for each (the default),
 * or rejected: the client chooses with fieldValidation.
 */
#include "apiserver/request/decode.h"

#include "apiserver/audit/audit.h"
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/body.h"
#include "apiserver/request/own.h"
#include "apiserver/request/write.h"
#include "kc/kind.h"

/* The body is not an object, or has no usable apiVersion. */
static kc__rest_verdict refuse_body(kc__rest_call *call, kc_error *why)
{
    kc_scoped(kc_buf) start = {0};
    if (why->reason == KC_TOO_LARGE || why->reason == KC_TOO_MANY_REQUESTS) {
        kc_error_move(&call->error, why);
        return KC__REST_FAIL;
    }
    kc__rest_body_summary(&start, call->x->request.body);
    return kc__rest_fail(call, KC_BAD_REQUEST,
                         "the object provided is unrecognized (must be of type %s): %s (%s)",
                         call->request_resource->kind, kc_error_text(why), kc_buf_cstr(&start));
}

/* ---- DeleteOptions ---- */

/* Kubernetes reports DeleteOptions that it cannot decode as an internal error. */
static kc__rest_verdict refuse_options(kc__rest_call *call, const kc_error *why)
{
    return kc__rest_fail(call, why->reason == KC_TOO_LARGE ? KC_TOO_LARGE : KC_UNKNOWN, "%s",
                         kc_error_text(why));
}

static kc_object *read_options(kc__rest_call *call, kc__rest_body_type type, kc_error *err)
{
    kc_auto(kc_object) *body = kc__rest_body_read(call->x->request.body, type, NULL, err);
    if (!body)
        return NULL;
    kc_str kind = kc_object_kind(body);
    if (!kc_str_empty(kind) && !kc_str_is(kind, "DeleteOptions")) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                     "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"",
                     KC_ARG(kind), KC_ARG(kc_object_api_version(body)));
        return NULL;
    }
    return kc__typed_decode(kc__type_lookup_kind(KC_STR("v1"), KC_STR("DeleteOptions")), body, NULL,
                            err);
}

kc__rest_verdict kc__rest_decode_options_body(kc__rest_call *call, kc_object **ret)
{
    kc__rest_body_type type;
    kc_scoped(kc_error) err = {0};
    *ret = NULL;
    if (kc_str_empty(call->x->request.body))
        return KC__REST_NEXT;
    if (kc__rest_body_type_of(call, &type) != KC__REST_NEXT)
        return KC__REST_FAIL;
    *ret = read_options(call, type, &err);
    return *ret ? KC__REST_NEXT : refuse_options(call, &err);
}

/* ---- checking the kind ---- */

static void first_label(kc_str group, kc_str *ret)
{
    *ret = kc_str_empty(group) ? KC_STR("core") : kc_str_cut(&group, '.');
}

/* Whether this request accepts the kind, in any version; `other` is the resource of that kind. The
 * kind of a subresource's body is not a resource, and was in other groups in the past. */
static bool is_own_kind(const kc__rest_call *call, const kc__resource *other, kc_str api_version,
                        kc_str kind)
{
    const kc__resource *r = call->request_resource;
    if (other)
        return !strcmp(other->kind, r->kind) && !strcmp(other->group, r->group);
    return r != call->resource && kc_str_is(kind, r->kind) &&
           kc__type_lookup_kind(api_version, kind);
}

/* Reports an object of another kind. */
static int report_wrong_kind(kc__rest_call *call, kc_gvk got, kc_str api_version, kc_error *err)
{
    const kc__resource *r = call->request_resource;
    const kc__resource *other =
        kc__registry_find_kind(call->catalog->kinds, got.group, got.version, got.kind);
    const struct kc__resource_ops *ops = call->resource->ops;
    /* Some kinds are not served at any path: lists, options, Status. */
    bool known = other || kc__type_lookup_kind(api_version, got.kind);
    if (!known || ops->body_scheme_is_closed || is_own_kind(call, other, api_version, got.kind))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "no kind \"%.*s\" is registered for version \"%.*s\" in scheme \"%s\"",
                            KC_ARG(got.kind), KC_ARG(api_version), ops->body_scheme);
    kc_str group;
    first_label(kc_cstr(r->group), &group);
    return kc_error_set(err, KC_BAD_REQUEST,
                        "converting (%.*s.%.*s) to (%.*s.%s): unknown conversion",
                        KC_ARG(got.version), KC_ARG(got.kind), KC_ARG(group), r->kind);
}

static kc_str own_api_version(kc__rest_call *call)
{
    return kc__resource_api_version(call->request_resource, call->arena);
}

/* An object without kind or apiVersion gets those of the path's resource. */
static int set_kind(kc__rest_call *call, kc_object **object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(*object);
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("kind"),
                kc_node_str(edit, kc_cstr(call->request_resource->kind)));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, own_api_version(call)));
    kc_object *named = kc_edit_freeze(edit, err);
    if (!named)
        return kc_error_result(err);
    kc_object_unref(*object);
    *object = named;
    return 0;
}

/* Whether `api_version` is another version of a subresource's kind that has the same contents. */
static bool is_accepted_version(const kc__rest_call *call, kc_str api_version)
{
    return call->subresource && call->subresource->also &&
           kc_str_is(api_version, call->subresource->also);
}

int kc__rest_decode_kind(kc__rest_call *call, kc_object **object, kc_error *err)
{
    kc_str api_version = kc_object_api_version(*object), kind = kc_object_kind(*object);
    kc_str own = own_api_version(call);
    bool complete = !kc_str_empty(api_version) && !kc_str_empty(kind);
    if (kc_str_empty(api_version))
        api_version = own;
    if (kc_str_empty(kind))
        kind = kc_cstr(call->request_resource->kind);
    bool right = kc_str_eq(api_version, own) || is_accepted_version(call, api_version);
    if (!right || !kc_str_is(kind, call->request_resource->kind))
        return report_wrong_kind(call, kc_gvk_of(api_version, kind), api_version, err);
    return complete ? 0 : set_kind(call, object, err);
}

/* Rejects a body of the wrong kind, with the prefix that Kubernetes puts before the reason. */
static kc__rest_verdict refuse_kind(kc__rest_call *call, kc_error *why)
{
    kc_str api_version = kc_object_api_version(call->body), kind = kc_object_kind(call->body);
    if (kc_str_empty(api_version))
        api_version = own_api_version(call);
    if (kc_str_empty(kind))
        kind = kc_cstr(call->request_resource->kind);
    kc_gvk got = kc_gvk_of(api_version, kind);
    const kc__resource *r = call->request_resource,
                       *other = kc__registry_find_kind(call->catalog->kinds, got.group, got.version,
                                                       got.kind);
    if (kc_str_empty(got.version)) {
        kc_error_set(why, KC_BAD_REQUEST, "unexpected GroupVersion string: %.*s",
                     KC_ARG(api_version));
        return refuse_body(call, why);
    }
    if (is_own_kind(call, other, api_version, kind))
        return kc__rest_fail(
            call, KC_BAD_REQUEST,
            "the API version in the data (%.*s) does not match the expected API version "
            "(%s/%s)",
            KC_ARG(api_version), r->group, r->version);
    return kc__rest_fail(call, KC_BAD_REQUEST,
                         "%.*s in version \"%.*s\" cannot be handled as a %s: %s", KC_ARG(got.kind),
                         KC_ARG(got.version), r->kind, kc_error_text(why));
}

/* ---- the body ---- */

const char *kc__rest_join_strict_errors(const kc_paths *strict_errors, kc_arena *arena)
{
    kc_scoped(kc_buf) all = {0};
    kc_buf_puts(&all, "strict decoding error: ");
    for (size_t i = 0; i < strict_errors->n; i++)
        kc_buf_printf(&all, "%s%s", i ? ", " : "", strict_errors->items[i]);
    return kc_arena_strndup(arena, kc_buf_cstr(&all), all.n);
}

/* Turns strict decoding errors into warnings, or under strict validation into an error. */
static kc__rest_verdict handle_strict_errors(kc__rest_call *call, const kc_paths *strict_errors)
{
    const kc__resource *r = call->request_resource;
    if (strict_errors->n && call->options.validation == KC__REST_VALIDATE_STRICT)
        return kc__rest_fail(
            call, KC_BAD_REQUEST, "%s in version \"%s\" cannot be handled as a %s: %s", r->kind,
            r->version, r->kind, kc__rest_join_strict_errors(strict_errors, call->arena));
    for (size_t i = 0; i < strict_errors->n; i++)
        kc__rest_warn(call, kc_cstr(strict_errors->items[i]));
    return KC__REST_NEXT;
}

int kc__rest_decode_object(kc__rest_call *call, kc_object **object,
                           const kc__resource_decode_source *source, kc_paths *strict_errors,
                           kc_error *err)
{
    const kc__resource *r = call->request_resource;
    if (!r->ops->decode_checks_kind && kc__rest_decode_kind(call, object, err) < 0)
        return kc_error_result(err);
    return r->ops->decode(r, object, source, strict_errors, err);
}

/* Types call->body as the resource's kind. Strict decoding errors are handled before other errors:
 * Kubernetes reports unknown fields of an object that it rejects, too. */
static kc__rest_verdict decode_typed_body(kc__rest_call *call,
                                          const kc__resource_decode_source *source)
{
    const kc__resource *r = call->request_resource;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) strict_errors = {0};
    if (!r->ops->decode_checks_kind && kc__rest_decode_kind(call, &call->body, &err) < 0)
        return refuse_kind(call, &err);
    bool decoded = r->ops->decode(r, &call->body, source, &strict_errors, &err) == 0;
    if (source->report_strict_errors && handle_strict_errors(call, &strict_errors) != KC__REST_NEXT)
        return KC__REST_FAIL;
    if (decoded)
        return KC__REST_NEXT;
    kc_error_move(&call->error, &err);
    return KC__REST_FAIL;
}

/* The audit log shows the body as it was decoded, with the defaults of its kind, before anything
 * else is checked, as in Kubernetes. A body whose defaults are those of another version is shown
 * without them. */
static void audit_decoded(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc_scoped(kc_error) ignored = {0};
    kc__draft draft = {0};
    const kc_object *object = NULL;
    if (kc__audit_wants_body(call) && call->request_resource == r) {
        kc__draft_set(&draft, call->body);
        if (r->ops->default_(r, &draft, &ignored) == 0)
            object = kc__draft_freeze(&draft, r, &ignored);
    }
    const bool same_version =
        object && kc_str_eq(kc_object_api_version(object), kc_object_api_version(call->body));
    kc__audit_request_object(call, same_version ? object : call->body);
    kc__draft_clear(&draft);
}

kc__rest_verdict kc__rest_decode_body(kc__rest_call *call)
{
    kc__rest_body_type type;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) duplicate = {0};
    if (kc__rest_body_type_of(call, &type) != KC__REST_NEXT)
        return KC__REST_FAIL;
    call->body = kc__rest_body_read(call->x->request.body, type, &duplicate, &err);
    if (!call->body)
        return refuse_body(call, &err);
    const bool is_json = type == KC__REST_BODY_JSON;
    call->resets_owners = kc__rest_resets_owners(call, call->body);
    const kc__rest_verdict verdict = decode_typed_body(
        call, &(kc__resource_decode_source){.text = is_json ? call->x->request.body : (kc_str){0},
                                            .is_json = is_json,
                                            .duplicate = &duplicate,
                                            .ret_view = &call->body_view,
                                            .report_strict_errors = call->options.validation !=
                                                                    KC__REST_VALIDATE_IGNORE});
    if (verdict == KC__REST_NEXT && call->audit_event && !call->verb->replaces_object)
        audit_decoded(call);
    return verdict;
}

kc__rest_verdict kc__rest_decode_create(kc__rest_call *call)
{
    if (kc__rest_options_read_write(&call->query, "CreateOptions", &call->options, &call->error) <
        0)
        return KC__REST_FAIL;
    return kc__rest_decode_body(call);
}

kc__rest_verdict kc__rest_decode_subresource(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_decode_create(call);
    if (verdict == KC__REST_NEXT)
        call->subresource_body = kc_take(call->body);
    return verdict;
}

kc__rest_verdict kc__rest_phase_decoded(kc__rest_call *call)
{
    if (call->endpoint)
        return KC__REST_RESPOND;
    return call->verb->decode ? call->verb->decode(call) : KC__REST_NEXT;
}
