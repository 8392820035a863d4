/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c: a Binding assigns a pod to a node, once. Schedulers create it at pods/NAME/binding or, in
 * older versions, at bindings. The Binding is not stored; only the pod changes. The validation
 * rules of pods do not run on this change: a pod that was accepted at creation cannot be rejected
 * now.
 *
 * A scheduler may set the uid or resourceVersion of the pod; the stored pod must match.
 */
#include "apiserver/audit/audit.h"
#include "apiserver/kinds/conditions.h"
#include "apiserver/request/decode.h"
#include "apiserver/request/write.h"

/* ---- decoding the Binding ---- */

/* Other than Invalid errors of objects: "[a: Required value, b: Unsupported value: …]", with code
 * 500. */
static kc__rest_verdict refuse_bind_request(kc__rest_call *call, const kc_field_errors *errors)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(&text, "%s%s: %s", i ? ", " : "", errors->list.items[i].field,
                      errors->list.items[i].body);
    bool many = errors->list.n > 1;
    return kc__rest_fail(call, KC_UNKNOWN, "%s%s%s", many ? "[" : "", kc_buf_cstr(&text),
                         many ? "]" : "");
}

static kc__rest_verdict check_target(kc__rest_call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = kc_view_of(call->subresource_body);
    const kc_value *target = kc_value_get(kc_view_root(view), "target"),
                   *kind = kc_value_get(target, "kind");
    kc_str text = kc_value_as_str(kind);
    if (!kc_str_empty(text) && !kc_str_is(text, "Node"))
        kc_field_errors_add_value(&errors, KC_FIELD_NOT_SUPPORTED, "target.kind", kind,
                                  "supported values: \"Node\", \"<empty>\"");
    if (kc_str_empty(kc_value_as_str(kc_value_get(target, "name"))))
        kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "target.name", (kc_str){0}, NULL);
    return errors.list.n ? refuse_bind_request(call, &errors) : KC__REST_NEXT;
}

/* Checks that the Binding names a node, and the pod of the path; without a name in the path, the
 * Binding names the pod. Mutating admission may have changed the Binding. */
static kc__rest_verdict check_binding(kc__rest_call *call)
{
    kc_str name = kc_object_name(call->subresource_body);
    if (call->info.named && !kc_str_eq(name, call->info.name))
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "name in URL does not match name in Binding object");
    const kc__rest_verdict verdict = check_target(call);
    if (verdict == KC__REST_NEXT && kc_str_empty(name))
        return kc__rest_fail(call, KC_BAD_REQUEST, "Name parameter required.");
    call->key = kc__rest_key_of(call, name);
    return verdict;
}

static kc__rest_verdict decode_bind(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_decode_subresource(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__audit_request_object(call, call->subresource_body);
    call->skip_validation = true;
    kc__rest_metadata m = {.ns = kc_object_namespace(call->subresource_body)};
    return kc__rest_check_namespace(call, &m);
}

/* ---- the pod ---- */

static kc__rest_verdict check_preconditions(kc__rest_call *call)
{
    kc_str name = kc_object_name(call->current);
    kc_str uid = kc_object_uid(call->subresource_body),
           version = kc_object_resource_version(call->subresource_body);
    kc_str own = kc_object_uid(call->current), now = kc_object_resource_version(call->current);
    /* A Binding that is created without a pod in the path gets its uid from the server, so it is no
     * precondition. */
    if (call->info.named && !kc_str_empty(uid) && !kc_str_eq(uid, own))
        return kc__rest_fail_precondition(call, name, "UID", uid, own);
    if (!kc_str_empty(version) && !kc_str_eq(version, now))
        return kc__rest_fail_precondition(call, name, "ResourceVersion", version, now);
    return KC__REST_NEXT;
}

static kc__rest_verdict bind_conflict(kc__rest_call *call, const char *fmt, ...) KC_PRINTF(2, 3);

static kc__rest_verdict bind_conflict(kc__rest_call *call, const char *fmt, ...)
{
    kc_scoped(kc_buf) why = {0};
    kc_str name = kc_object_name(call->current);
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&why, fmt, args);
    va_end(args);
    kc__rest_fail(call, KC_CONFLICT,
                  "Operation cannot be fulfilled on pods/binding \"%.*s\": pod %.*s %s",
                  KC_ARG(name), KC_ARG(name), kc_buf_cstr(&why));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("pods/binding"), name);
    return KC__REST_FAIL;
}

static kc__rest_verdict check_free(kc__rest_call *call)
{
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    kc_str node = kc_value_as_str(kc_value_get(spec, "nodeName"));
    if (!kc_str_empty(kc_object_deletion_timestamp(call->current)))
        return bind_conflict(call, "is being deleted, cannot be assigned to a host");
    if (!kc_str_empty(node))
        return bind_conflict(call, "is already assigned to node \"%.*s\"", KC_ARG(node));
    if (kc_value_len(kc_value_get(spec, "schedulingGates")))
        return bind_conflict(call, "has non-empty .spec.schedulingGates");
    return KC__REST_NEXT;
}

/* The pod gets the labels or annotations of the Binding. */
static void copy_metadata(kc_edit *edit, const kc_value *binding, const char *member)
{
    const kc_value *sent = kc_value_get(kc_value_get(binding, "metadata"), member);
    if (!kc_value_len(sent))
        return;
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node *own = kc_node_ensure_object(edit, metadata, kc_cstr(member));
    kc_value_each_member (sent, name, value)
        kc_node_set(edit, own, name, kc_node_from_value(edit, value));
}

static void assign(kc_edit *edit, kc__rest_call *call)
{
    char now[KC_TIME_TEXT];
    kc_node *root = kc_edit_root(edit);
    kc_auto(kc_view) *view = kc_view_of(call->subresource_body);
    const kc_value *sent = kc_view_root(view);
    kc_node_set(edit, kc_node_ensure_object(edit, root, KC_STR("spec")), KC_STR("nodeName"),
                kc_node_from_value(edit, kc_value_get(kc_value_get(sent, "target"), "name")));
    copy_metadata(edit, sent, "annotations");
    if (call->copies_labels)
        copy_metadata(edit, sent, "labels");
    kc__condition_put(edit, root, kc__condition_new(edit, "PodScheduled", "True", NULL),
                      kc__rest_call_now(call, now));
}

static kc__rest_verdict propose_bind(kc__rest_call *call)
{
    if (!kc__rest_load_current(call))
        return kc__rest_fail_not_found(call, kc_object_name(call->subresource_body));
    kc__rest_verdict verdict = check_preconditions(call);
    if (verdict == KC__REST_NEXT)
        verdict = check_free(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_object_unref(call->proposed);
    call->proposed = kc_object_ref(call->current);
    return kc__rest_edit_object(call, &call->proposed, assign) < 0 ? KC__REST_FAIL : KC__REST_NEXT;
}

static kc__rest_verdict respond_bind(kc__rest_call *call)
{
    return kc__rest_respond_success(call, 201);
}

const kc__rest_verb kc__rest_verb_bind = {
    .name = "create",
    .bit = KC__VERB_CREATE,
    .mutates = true,
    .replaces_object = true,
    .decode = decode_bind,
    .check_body = check_binding,
    .propose = propose_bind,
    .respond = respond_bind,
};
