/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking_mutate.c: webhooks that may change an object, one after the other, each seeing what those
 * before it have made of it.
 *
 *     first round:   a ──▶ b ──▶ c    all that are concerned
 *     second round:  a                who asked for it (reinvocationPolicy) and was followed by one
 *                                     that changed something; there is no third
 *
 * Between the rounds the server's own plug-ins run again. What a hook's patch makes of an object is
 * read as if a client had sent it: typed, completed, pruned.
 */
#include "apiserver/admission/asking.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/crd/custom_object.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/typed.h"
#include "apiserver/rest/go_json.h"
#include "apiserver/rest/write.h"

#include "kc/diff.h"
#include "kc/json_patch.h"

/* ---- the patch ---- */

static bool is_part(const kc__asking *a)
{
    return a->about.subresource && a->about.subresource->kind;
}

/* As it was typed, before anything was filled in. */
static kc_object *decode(const kc__asking *a, const kc__resource *as, kc_object *patched,
                         kc_error *err)
{
    if (is_part(a))
        return kc__typed_decode(a->call->spoken->type, patched, NULL, err);
    return as->custom ? kc__custom_decode(as->custom, patched, NULL, err)
                      : kc__typed_decode(as->type, patched, NULL, err);
}

/* In the form in which a call has its objects; the reference is taken over. */
static kc_object *complete(const kc__asking *a, const kc__resource *as, kc_object *decoded,
                           kc_error *err)
{
    kc_auto(kc_object) *object = decoded;
    if (is_part(a) || (as->custom && as == a->about.resource))
        return kc_take(object);
    if (!as->custom)
        return kc__completed(as, object, err);
    kc_auto(kc_object) *stored = kc__to_stored(as, object, err);
    return stored ? kc__from_stored(a->about.resource, stored, err) : NULL;
}

/* Without the number of the operation, which others do not tell. */
static const char *plain(const kc_error *err)
{
    kc_str text = kc_cstr(kc_error_text(err)), rest = text;
    if (!kc_str_starts(text, KC_STR("operation ")))
        return text.p;
    kc_str_cut(&rest, ':');
    return rest.p ? kc_str_trim(rest).p : text.p;
}

static void refuse(kc__question *q, const char *why)
{
    q->result = KC__HOOK_REFUSED;
    q->code = 0;
    kc_error_set(&q->error, KC_INTERNAL, "Internal error occurred: %s", why);
    kc_error_add_cause(&q->error, "", (kc_str){0}, kc_cstr(why));
}

static kc_object *patched_of(kc__question *q, const kc_json_patch *patch, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(q->object);
    if (kc_json_patch_apply(patch, edit, err) < 0)
        return NULL;
    kc_auto(kc_object) *patched = kc_edit_freeze(edit, err);
    if (patched && (!kc_str_eq(kc_object_kind(patched), kc_object_kind(q->object)) ||
                    !kc_str_eq(kc_object_api_version(patched), kc_object_api_version(q->object)))) {
        kc_error_set(err, KC_INTERNAL, "the patch changes what kind of object it is");
        return NULL;
    }
    return kc_take(patched);
}

static void apply(kc__asking *a, kc__question *q, const kc_json_patch *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *patched = patched_of(q, patch, &err);
    kc_auto(kc_object) *decoded = patched ? decode(a, q->as, patched, &err) : NULL;
    kc_auto(kc_object) *whole = decoded ? complete(a, q->as, kc_object_ref(decoded), &err) : NULL;
    if (!whole) {
        refuse(q, plain(&err));
        return;
    }
    a->changed = !kc_object_equal(q->object, decoded, NULL);
    kc_object_unref(*a->target);
    *a->target = kc_take(whole);
}

static void not_a_patch(kc__question *q, const kc_error *why)
{
    if (why->reason == KC_INVALID) {
        refuse(q, plain(why));
        return;
    }
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&q->answer.patch), NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    q->result = KC__HOOK_FAILED;
    q->code = 503;
    kc_error_set(&q->error, KC_INTERNAL,
                 "failed calling webhook \"%.*s\": received undecodable patch in webhook response: "
                 "%s%s%s",
                 KC_ARG(q->hook->name),
                 root && kc_type_of(root) != KC_ARRAY ? "json: cannot unmarshal " : "",
                 root && kc_type_of(root) != KC_ARRAY ? kc__go_json_type(root) : plain(why),
                 root && kc_type_of(root) != KC_ARRAY ? " into Go value of type jsonpatch.Patch"
                                                      : "");
}

static void not_supported(kc__question *q)
{
    kc_scoped(kc_buf) why = {0};
    kc_buf_printf(&why,
                  "admission webhook \"%.*s\" attempted to modify the object, which is not "
                  "supported for this operation",
                  KC_ARG(q->hook->name));
    refuse(q, kc_buf_cstr(&why));
}

static void take_patch(kc__asking *a, kc__question *q)
{
    kc_scoped(kc_error) err = {0};
    a->changed = false;
    if (q->result != KC__HOOK_ALLOWED || !q->answer.patch.n)
        return;
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&q->answer.patch), NULL, &err);
    if (!patch)
        not_a_patch(q, &err);
    else if (kc_json_patch_len(patch) && !a->target)
        not_supported(q);
    else if (kc_json_patch_len(patch))
        apply(a, q, patch);
}

/* ---- rounds ---- */

/* Those who have seen the object as it no longer is. */
static void ask_again(kc__asking *a)
{
    for (size_t i = 0; i < a->set->mutating.n; i++) {
        a->again[i] = a->again[i] || a->asked_before[i];
        a->asked_before[i] = false;
    }
}

/* What the hooks see from now on. */
static int show_target(kc__asking *a)
{
    const kc__resource *r = a->about.resource;
    kc_object *shown = is_part(a) || r->custom ? kc_object_ref(*a->target)
                                               : kc__from_stored(r, *a->target, &a->call->error);
    if (!shown)
        return -1;
    kc_object_unref(a->about.object);
    a->about.object = shown;
    return 0;
}

/* A hook has answered, or nobody needed to ask it. */
static kc__verdict settle(kc__asking *a)
{
    kc__question *q = &a->question;
    take_patch(a, q);
    kc__hook_settle(q);
    const bool fails = q->result == KC__HOOK_DENIED || q->result == KC__HOOK_REFUSED ||
                       (q->result == KC__HOOK_FAILED && !q->hook->ignored);
    kc__verdict verdict = fails                          ? kc__hook_fail(q)
                          : q->result == KC__HOOK_FAILED ? kc__asking_in_time(a)
                                                         : KC__NEXT;
    if (verdict == KC__NEXT && a->changed) {
        ask_again(a);
        a->output = kc_object_unref(a->output);
        a->output = kc_object_ref(*a->target);
        verdict = show_target(a) < 0 ? KC__FAIL : KC__NEXT;
    }
    a->asked_before[a->at] = a->asked_before[a->at] || q->hook->again;
    kc__question_done(q);
    return verdict;
}

static void answered(kc__question *q);

/* KC__NEXT: it is this hook's turn no longer. */
static kc__verdict ask_one(kc__asking *a, const kc__hook *hook)
{
    const kc__resource *as;
    bool concerned;
    kc__verdict verdict = kc__asking_match(a, hook, &as, &concerned);
    if (verdict != KC__NEXT || !concerned || (a->second && !a->again[a->at]))
        return verdict;
    a->question = (kc__question){
        .call = a->call, .hook = hook, .about = &a->about, .as = as, .done = answered, .user = a};
    return kc__hook_ask(&a->question) ? KC__LATER : settle(a);
}

/* Whether there is a second round: the plug-ins have run again, and the object is as they left it.
 */
static kc__verdict begin_second(kc__asking *a)
{
    kc__verdict verdict = is_part(a) ? KC__NEXT : kc__admit_plugins(a->call);
    if (verdict != KC__NEXT)
        return verdict;
    if (!kc_object_equal(*a->target, a->output, NULL)) {
        ask_again(a);
        if (show_target(a) < 0)
            return KC__FAIL;
    }
    a->second = true;
    a->at = 0;
    return KC__NEXT;
}

static kc__verdict go_on(kc__asking *a)
{
    kc__verdict verdict = KC__NEXT;
    for (;;) {
        for (; verdict == KC__NEXT && a->at < a->set->mutating.n; a->at++) {
            verdict = ask_one(a, &a->set->mutating.items[a->at]);
            if (verdict == KC__LATER)
                return KC__LATER;
        }
        if (verdict != KC__NEXT || a->second || !a->output)
            return kc__asking_end(a, verdict);
        verdict = begin_second(a);
    }
}

static void answered(kc__question *q)
{
    kc__asking *a = q->user;
    kc__verdict verdict = settle(a);
    if (verdict == KC__NEXT) {
        a->at++;
        verdict = go_on(a);
    } else {
        kc__asking_end(a, verdict);
    }
    if (verdict != KC__LATER)
        a->done(a, verdict);
}

kc__verdict kc__asking_mutate(kc__asking *a)
{
    const size_t n = a->set->mutating.n;
    a->asked_before = kc_arena_calloc(a->call->arena, n + 1, sizeof(bool));
    a->again = kc_arena_calloc(a->call->arena, n + 1, sizeof(bool));
    return go_on(a);
}
