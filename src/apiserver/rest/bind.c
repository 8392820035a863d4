/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c: a Binding gives a pod its node, once: what schedulers write, at pods/NAME/binding or, as
 * old ones do, to bindings. Nothing of it is kept but the change of the pod, which no rule of pods
 * looks at: a pod that was created for this moment cannot be refused any more.
 *
 * A scheduler that knows which pod it means names its uid or version; the pod must be that one.
 */
#include "apiserver/kinds/conditions.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/write.h"

/* ---- what was sent ---- */

/* Not as any object is refused: "[a: Required value, b: Unsupported value: …]", and 500. */
static kc__verdict refuse(kc__call *call, const kc_field_errors *errors)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(&text, "%s%s: %s", i ? ", " : "", errors->list.items[i].field,
                      errors->list.items[i].body);
    bool many = errors->list.n > 1;
    return kc__fail(call, KC_UNKNOWN, "%s%s%s", many ? "[" : "", kc_buf_cstr(&text),
                    many ? "]" : "");
}

static kc__verdict check_target(kc__call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = kc_view_of(call->sent);
    const kc_value *target = kc_get(kc_view_root(view), "target"), *kind = kc_get(target, "kind");
    kc_str text = kc_as_str(kind);
    if (!kc_str_empty(text) && !kc_str_is(text, "Node"))
        kc_field_errors_add_value(&errors, KC_FIELD_NOT_SUPPORTED, "target.kind", kind,
                                  "supported values: \"Node\", \"<empty>\"");
    if (kc_str_empty(kc_as_str(kc_get(target, "name"))))
        kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "target.name", (kc_str){0}, NULL);
    return errors.list.n ? refuse(call, &errors) : KC__NEXT;
}

/* Whether it is about the pod of the path; without one it says itself. */
static kc__verdict check_name(kc__call *call)
{
    kc_str name = kc_object_name(call->sent);
    kc__metadata m = {.ns = kc_object_namespace(call->sent)};
    kc__verdict verdict = kc__check_namespace(call, &m);
    if (verdict != KC__NEXT)
        return verdict;
    if (call->info.named && !kc_str_eq(name, call->info.name))
        return kc__fail(call, KC_BAD_REQUEST, "name in URL does not match name in Binding object");
    verdict = check_target(call);
    if (verdict == KC__NEXT && kc_str_empty(name))
        return kc__fail(call, KC_BAD_REQUEST, "Name parameter required.");
    call->key = kc__key_of(call, name);
    return verdict;
}

static kc__verdict decode(kc__call *call)
{
    if (kc__options_read_write(&call->query, "CreateOptions", &call->options, &call->error) < 0)
        return KC__FAIL;
    kc__verdict verdict = kc__decode_body(call);
    if (verdict != KC__NEXT)
        return verdict;
    call->sent = kc_take(call->given);
    call->skip_validation = true;
    return check_name(call);
}

/* ---- the pod ---- */

static kc__verdict check_preconditions(kc__call *call)
{
    kc_str name = kc_object_name(call->current);
    kc_str uid = kc_object_uid(call->sent), version = kc_object_resource_version(call->sent);
    kc_str own = kc_object_uid(call->current), now = kc_object_resource_version(call->current);
    /* Of one that was created the uid would be the server's to give. */
    if (call->info.named && !kc_str_empty(uid) && !kc_str_eq(uid, own))
        return kc__fail_precondition(call, name, "UID", uid, own);
    if (!kc_str_empty(version) && !kc_str_eq(version, now))
        return kc__fail_precondition(call, name, "ResourceVersion", version, now);
    return KC__NEXT;
}

static kc__verdict conflict(kc__call *call, const char *fmt, ...) KC_PRINTF(2, 3);

static kc__verdict conflict(kc__call *call, const char *fmt, ...)
{
    kc_scoped(kc_buf) why = {0};
    kc_str name = kc_object_name(call->current);
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&why, fmt, args);
    va_end(args);
    kc__fail(call, KC_CONFLICT,
             "Operation cannot be fulfilled on pods/binding \"%.*s\": pod %.*s %s", KC_ARG(name),
             KC_ARG(name), kc_buf_cstr(&why));
    kc_error_about(&call->error, (kc_str){0}, KC_STR("pods/binding"), name);
    return KC__FAIL;
}

static kc__verdict check_free(kc__call *call)
{
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *spec = kc_get(kc_view_root(view), "spec");
    kc_str node = kc_as_str(kc_get(spec, "nodeName"));
    if (!kc_str_empty(kc_object_deletion_timestamp(call->current)))
        return conflict(call, "is being deleted, cannot be assigned to a host");
    if (!kc_str_empty(node))
        return conflict(call, "is already assigned to node \"%.*s\"", KC_ARG(node));
    if (kc_len(kc_get(spec, "schedulingGates")))
        return conflict(call, "has non-empty .spec.schedulingGates");
    return KC__NEXT;
}

static void assign(kc_edit *edit, kc__call *call)
{
    char now[KC_TIME_TEXT];
    kc_node *root = kc_edit_root(edit);
    kc_auto(kc_view) *view = kc_view_of(call->sent);
    const kc_value *sent = kc_view_root(view);
    const kc_value *annotations = kc_get(kc_get(sent, "metadata"), "annotations");
    kc_node_set(edit, kc_node_need_object(edit, root, KC_STR("spec")), KC_STR("nodeName"),
                kc_node_copy(edit, kc_get(kc_get(sent, "target"), "name")));
    if (kc_len(annotations)) {
        kc_node *metadata = kc_node_need_object(edit, root, KC_STR("metadata"));
        kc_node *own = kc_node_need_object(edit, metadata, KC_STR("annotations"));
        kc_members (annotations, name, value)
            kc_node_set(edit, own, name, kc_node_copy(edit, value));
    }
    kc__condition_put(edit, root, kc__condition_new(edit, "PodScheduled", "True", NULL),
                      kc__call_now(call, now));
}

static kc__verdict propose(kc__call *call)
{
    if (!kc__load_current(call))
        return kc__fail_not_found(call, kc_object_name(call->sent));
    kc__verdict verdict = check_preconditions(call);
    if (verdict == KC__NEXT)
        verdict = check_free(call);
    if (verdict != KC__NEXT)
        return verdict;
    kc_object_unref(call->proposed);
    call->proposed = kc_object_ref(call->current);
    return kc__reshape(call, &call->proposed, assign) < 0 ? KC__FAIL : KC__NEXT;
}

static kc__verdict answer(kc__call *call)
{
    return kc__answer_success(call, 201);
}

const kc__verb kc__verb_bind = {
    .name = "create",
    .bit = KC__CREATE,
    .mutates = true,
    .stands_in = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
};
