/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch_mutating.c: calls the mutating webhooks that match, one after the other. Each sees the
 * changes of the webhooks before it.
 *
 *     first round:   a ──▶ b ──▶ c    all that match
 *     second round:  a                those with reinvocationPolicy IfNeeded that were called
 *                                     before the last change; there is no third round
 *
 * Between the rounds the plugins that do not wait run again. The result of a webhook's patch is
 * decoded and defaulted like a request body.
 */
#include "apiserver/admission/chain/admission.h"
#include "apiserver/admission/chain/attributes.h"
#include "apiserver/admission/policies/policy_phases.h"
#include "apiserver/admission/webhooks/dispatch.h"
#include "apiserver/call/go_json.h"
#include "apiserver/kinds/remote_conversion.h"
#include "apiserver/kinds/resource_ops.h"

#include "kc/diff.h"
#include "kc/json.h"
#include "kc/json_patch.h"

/* ---- the patch ---- */

static const kc_object *target_object(kc__admission_dispatch *d)
{
    return kc__draft_freeze(d->target, d->target_type, &d->call->error);
}

static void refuse_patch(kc__admission_webhook_call *q, const char *why)
{
    q->result = KC__ADMISSION_REJECTED;
    q->code = 0;
    kc_error_set(&q->error, KC_INTERNAL, "Internal error occurred: %s", why);
    kc_error_add_cause(&q->error, "", (kc_str){0}, kc_cstr(why));
}

static kc_object *patched_of(kc__admission_webhook_call *q, const kc_json_patch *patch,
                             kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(q->object);
    if (kc_json_patch_apply(patch, edit, err) < 0)
        return NULL;
    kc_auto(kc_object) *patched = kc_edit_freeze(edit, err);
    if (patched && (!kc_str_eq(kc_object_kind(patched), kc_object_kind(q->object)) ||
                    !kc_str_eq(kc_object_api_version(patched), kc_object_api_version(q->object)))) {
        kc_error_set(err, KC_INTERNAL, "the patch changes apiVersion or kind");
        return NULL;
    }
    return kc_take(patched);
}

/* ---- conversion by webhook ---- */

static bool is_converted_back(const kc__admission_dispatch *d, const kc_object *decoded)
{
    return kc__admission_is_remote(&d->about, decoded, d->about.resource);
}

static void converted_back(kc__remote_conversion *job)
{
    kc__admission_dispatch *d = job->user;
    d->current.pending = false;
    kc__rest_call_resume(d->call, KC__REST_ON_LOOP);
}

/* Converts the patched object to the version of the request; take_converted takes the result. */
static void convert_back(kc__admission_dispatch *d, const kc_object *decoded)
{
    d->back = kc__remote_conversion_new(d->about.resource, d->call->x->loop);
    d->back->done = converted_back;
    d->back->user = d;
    kc__remote_conversion_add(d->back, decoded, NULL);
    d->current.pending = true;
    kc__remote_conversion_start(d->back);
}

static void take_converted(kc__admission_dispatch *d, kc__admission_webhook_call *q)
{
    const kc_error *error = kc__remote_conversion_error(d->back);
    if (error) {
        q->result = KC__ADMISSION_REJECTED;
        q->code = 0;
        d->changed = false;
        kc_error_set(&q->error, error->reason, "%s", kc_error_text(error));
    } else {
        d->call->admission_patched = true;
        kc__draft_give(d->target, kc_take(d->back->items.items[0].result));
    }
    d->back = kc__remote_conversion_free(d->back);
}

/* ---- applying a patch ---- */

static void apply_patch(kc__admission_dispatch *d, kc__admission_webhook_call *q,
                        const kc_json_patch *patch)
{
    kc_scoped(kc_error) err = {0};
    kc__draft patched_draft = {0};
    kc_auto(kc_object) *patched = patched_of(q, patch, &err);
    kc_auto(kc_object) *decoded =
        patched
            ? kc__admission_decode_patched(&d->about, d->target_type, q->as, patched, false, &err)
            : NULL;
    if (decoded && is_converted_back(d, decoded)) {
        d->changed = !kc_object_equal(q->object, decoded, NULL);
        convert_back(d, decoded);
        return;
    }
    if (!decoded ||
        kc__admission_default_patched(&d->about, q->as, decoded, &patched_draft, &err) < 0 ||
        !kc__draft_freeze(&patched_draft, d->target_type, &err)) {
        refuse_patch(q, kc__admission_patch_error(&err));
    } else {
        d->changed = !kc_object_equal(q->object, decoded, NULL);
        d->call->admission_patched = true;
        kc__draft_give(d->target, kc_take(patched_draft.object));
    }
    kc__draft_clear(&patched_draft);
}

static void refuse_malformed_patch(kc__admission_webhook_call *q, const kc_error *why)
{
    if (why->reason == KC_INVALID) {
        refuse_patch(q, kc__admission_patch_error(why));
        return;
    }
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&q->response.patch), NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    q->result = KC__ADMISSION_CALL_FAILED;
    q->code = 503;
    kc_error_set(&q->error, KC_INTERNAL,
                 "failed calling webhook \"%.*s\": received undecodable patch in webhook response: "
                 "%s%s%s",
                 KC_ARG(q->hook->name),
                 root && kc_value_type(root) != KC_JSON_ARRAY ? "json: cannot unmarshal " : "",
                 root && kc_value_type(root) != KC_JSON_ARRAY ? kc__rest_go_json_type(root)
                                                              : kc__admission_patch_error(why),
                 root && kc_value_type(root) != KC_JSON_ARRAY
                     ? " into Go value of type jsonpatch.Patch"
                     : "");
}

static void refuse_unsupported_patch(kc__admission_webhook_call *q)
{
    kc_scoped(kc_buf) why = {0};
    kc_buf_printf(&why,
                  "admission webhook \"%.*s\" attempted to modify the object, which is not "
                  "supported for this operation",
                  KC_ARG(q->hook->name));
    refuse_patch(q, kc_buf_cstr(&why));
}

static void take_patch(kc__admission_dispatch *d, kc__admission_webhook_call *q)
{
    kc_scoped(kc_error) err = {0};
    d->changed = false;
    if (q->result != KC__ADMISSION_ALLOWED || !q->response.patch.n)
        return;
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&q->response.patch), NULL, &err);
    if (!patch)
        refuse_malformed_patch(q, &err);
    else if (kc_json_patch_len(patch) && !d->target)
        refuse_unsupported_patch(q);
    else if (kc_json_patch_len(patch))
        apply_patch(d, q, patch);
}

/* ---- rounds ---- */

/* Marks the webhooks that were called before the last change of the object. */
static void mark_for_reinvocation(kc__admission_dispatch *d)
{
    for (size_t i = 0; i < d->set->mutating.n; i++) {
        d->reinvoke[i] = d->reinvoke[i] || d->called[i];
        d->called[i] = false;
    }
}

/* Passes the target to the webhooks that follow. */
static int show_target(kc__admission_dispatch *d)
{
    const kc_object *target = target_object(d);
    kc_object *shown =
        target ? kc__admission_show_target(&d->about, target, &d->call->error) : NULL;
    if (!shown)
        return -1;
    kc_object_unref(d->about.object);
    d->about.object = shown;
    return 0;
}

/* The last webhook changed the object. */
static kc__rest_verdict take_change(kc__admission_dispatch *d)
{
    mark_for_reinvocation(d);
    kc_object_unref(d->last_seen);
    d->last_seen = kc_object_ref(target_object(d));
    return show_target(d) < 0 ? KC__REST_FAIL : KC__REST_NEXT;
}

/* The members of an operation by name, the smallest first: Go writes maps so. NULL: `after` is the
 * last one. */
static const kc_value *next_member(const kc_value *operation, kc_str after, kc_str *ret_name)
{
    const kc_value *next = NULL;
    kc_value_each_member (operation, name, value)
        if (kc_str_cmp(name, after) > 0 && (!next || kc_str_cmp(name, *ret_name) < 0)) {
            next = value;
            *ret_name = name;
        }
    return next;
}

static void write_operation(kc_buf *out, const kc_value *operation)
{
    const kc_value *member;
    kc_str name = {0}, after = {0};
    kc_buf_putc(out, '{');
    for (; (member = next_member(operation, after, &name)); after = name) {
        kc_buf_puts(out, after.n ? "," : "");
        kc_json_quote(out, name);
        kc_buf_putc(out, ':');
        kc_json_write(out, member);
    }
    kc_buf_putc(out, '}');
}

/* The patch as compact text. An operation has a handful of members. */
static void write_compact_patch(kc_buf *out, kc_str patch)
{
    kc_auto(kc_view) *view = kc_view_parse(patch, NULL, NULL);
    bool first = true;
    kc_buf_putc(out, '[');
    kc_value_each_item (view ? kc_view_root(view) : NULL, operation) {
        kc_buf_puts(out, first ? "" : ",");
        write_operation(out, operation);
        first = false;
    }
    kc_buf_putc(out, ']');
}

/* What a webhook did, in the audit log: as kube-apiserver names it, by round and index. */
static void audit_mutation(const kc__admission_dispatch *d, const kc__admission_webhook_call *q)
{
    kc__rest_call *call = d->call;
    const kc__admission_webhook *hook = q->hook;
    kc_scoped(kc_buf) value = {0};
    if (!call->audit_event)
        return;
    const kc_str place = kc_cstr(kc_arena_printf(
        call->arena, "webhook.admission.k8s.io/round_%d_index_%zu", d->second ? 1 : 0, d->at));
    const char *key = kc_arena_printf(call->arena, "mutation.%.*s", KC_ARG(place));
    kc_buf_puts(&value, "{\"configuration\":");
    kc_json_quote(&value, hook->configuration);
    kc_buf_puts(&value, ",\"webhook\":");
    kc_json_quote(&value, hook->name);
    const size_t common = value.n;
    kc_buf_printf(&value, ",\"mutated\":%s}", d->changed ? "true" : "false");
    kc__rest_audit(call, kc_cstr(key), kc_buf_str(&value));
    if (q->result == KC__ADMISSION_CALL_FAILED && hook->ignored)
        kc__rest_audit(call, kc_cstr(kc_arena_printf(call->arena, "failed-open.%s", key)),
                       hook->name);
    if (q->result != KC__ADMISSION_ALLOWED || !q->response.patch.n)
        return;
    value.n = common;
    kc_buf_puts(&value, ",\"patch\":");
    write_compact_patch(&value, kc_buf_str(&q->response.patch));
    kc_buf_puts(&value, ",\"patchType\":\"JSONPatch\"}");
    kc__rest_audit_request(call, kc_cstr(kc_arena_printf(call->arena, "patch.%.*s", KC_ARG(place))),
                           kc_buf_str(&value));
}

/* The current webhook call has ended. */
static kc__rest_verdict finish_call(kc__admission_dispatch *d)
{
    kc__admission_webhook_call *q = &d->current;
    if (d->back)
        take_converted(d, q);
    else
        take_patch(d, q);
    if (q->pending)
        return KC__REST_NEXT; /* The conversion of the patched object has begun. */
    kc__admission_webhook_call_report(q);
    audit_mutation(d, q);
    const bool fails = q->result == KC__ADMISSION_DENIED || q->result == KC__ADMISSION_REJECTED ||
                       (q->result == KC__ADMISSION_CALL_FAILED && !q->hook->ignored);
    kc__rest_verdict verdict = fails ? kc__admission_webhook_call_fail(q)
                               : q->result == KC__ADMISSION_CALL_FAILED
                                   ? kc__admission_dispatch_check_deadline(d)
                                   : KC__REST_NEXT;
    if (verdict == KC__REST_NEXT && d->changed)
        verdict = take_change(d);
    d->called[d->at] = d->called[d->at] || q->hook->reinvoked;
    kc__admission_webhook_call_done(q);
    d->at++;
    return verdict;
}

/* Decides whether the next webhook matches; a worker may do that. */
static kc__rest_verdict decide_call(kc__admission_dispatch *d)
{
    if (d->decided)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict =
        kc__admission_dispatch_match(d, d->set->mutating.items[d->at], &d->matches_as, &d->matches);
    d->decided = verdict == KC__REST_NEXT;
    return verdict;
}

/* Starts to call the next webhook, or skips it. */
static kc__rest_verdict start_call(kc__admission_dispatch *d)
{
    const kc__admission_webhook *hook = d->set->mutating.items[d->at];
    const kc__rest_verdict verdict = decide_call(d);
    if (verdict != KC__REST_NEXT)
        return verdict;
    const bool skips = !d->matches || (d->second && !d->reinvoke[d->at]);
    if (!skips && d->call->on_worker)
        return KC__REST_ON_LOOP;
    d->decided = false;
    if (skips) {
        d->at++;
        return KC__REST_NEXT;
    }
    d->current = (kc__admission_webhook_call){
        .call = d->call, .hook = hook, .about = &d->about, .as = d->matches_as};
    kc__admission_webhook_call_start(&d->current);
    return KC__REST_NEXT;
}

/* To the body of a Binding or an Eviction only policies apply. */
static kc__rest_verdict rerun_plugins(kc__admission_dispatch *d)
{
    kc__rest_call *call = d->call;
    if (d->target != &d->own_target)
        return kc__admission_rerun_mutating(call);
    const kc_object *target = target_object(d);
    if (!target)
        return KC__REST_FAIL;
    kc_object_unref(call->subresource_body);
    call->subresource_body = kc_object_ref(target);
    const kc__rest_verdict verdict = kc__admission_policies_mutate_body_again(call);
    if (verdict == KC__REST_NEXT)
        kc__draft_set(d->target, call->subresource_body);
    return verdict;
}

/* Runs the plugins again. What they change counts for reinvocation, too. */
static kc__rest_verdict start_second_round(kc__admission_dispatch *d)
{
    if (!d->last_seen) /* Only a policy changed the object, before the first webhook. */
        d->last_seen = kc_object_ref(target_object(d));
    const kc__rest_verdict verdict = rerun_plugins(d);
    if (verdict != KC__REST_NEXT)
        return verdict;
    d->call->policies_changed = false;
    const kc_object *target = target_object(d);
    if (!target)
        return KC__REST_FAIL;
    if (!kc_object_equal(target, d->last_seen, NULL)) {
        mark_for_reinvocation(d);
        if (show_target(d) < 0)
            return KC__REST_FAIL;
    }
    d->second = true;
    d->at = 0;
    return KC__REST_NEXT;
}

static void start_first_round(kc__admission_dispatch *d)
{
    const size_t n = d->set->mutating.n;
    d->called = kc_arena_calloc(d->call->arena, n + 1, sizeof(bool));
    d->reinvoke = kc_arena_calloc(d->call->arena, n + 1, sizeof(bool));
    d->started = true;
}

kc__rest_verdict kc__admission_dispatch_mutate(kc__admission_dispatch *d)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    if (!d->started)
        start_first_round(d);
    while (verdict == KC__REST_NEXT) {
        if (d->current.pending)
            return KC__REST_PENDING;
        if (d->current.hook)
            verdict = finish_call(d);
        else if (d->at < d->set->mutating.n)
            verdict = start_call(d);
        else if ((d->last_seen || d->call->policies_changed) && !d->second)
            verdict = start_second_round(d);
        else
            break;
    }
    return verdict;
}
