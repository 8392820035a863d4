/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_admission.c: what becomes of an AdmissionReview: read, put to the hook, answered.
 *
 * A review is always answered with HTTP 200 and a review, also when it is none, or the hook fails:
 * an API server shows what stands in there, and of other codes only the number. There are three
 * kinds of hook (`askers`): one that answers for itself, one that sets defaults and one that
 * validates. To add one more, give kc__hook its function and add it to `asker_of`.
 *
 * Only the program's own function is guarded. What it leaves behind in a crash (an error half
 * written) is left alone.
 */
#include "kc/json_patch.h"
#include "runtime/webhook_hook.h"
#include "runtime/webhook_review.h"

#include <stdio.h>

struct kc_warnings {
    KC_VEC(char *) texts;
};

/* One question to a hook. */
typedef struct question {
    const kc__hook *hook;
    kc__hook_call *call;
    const kc_admission *request;
    kc_edit *edit; /* For defaults. */
    kc_admission_answer answer;
    kc_warnings warnings;
    kc_error err;
    int result;
} question;

void kc_warn(kc_warnings *to, const char *fmt, ...)
{
    kc_buf text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_vec_push(&to->texts, kc_buf_take(&text));
}

bool kc__hook_guarded(kc__hook_call *call, void (*fn)(void *user), void *user, kc_error *err)
{
    const char *what = NULL;
    if (!call->guard) {
        fn(user);
        return true;
    }
    if (kc__guard_call(call->guard, fn, user, &what))
        return true;
    call->crashed = true;
    *err = (kc_error){0};
    kc_error_set(err, KC_INTERNAL, "panic: %s [recovered]", what);
    return false;
}

static int ask_guarded(question *q, void (*fn)(void *user))
{
    if (!kc__hook_guarded(q->call, fn, q, &q->err))
        return -1;
    return q->result < 0 ? -1 : 0;
}

/* ---- hooks of their own ---- */

static void call_admit(void *user)
{
    question *q = user;
    q->result = q->hook->admit(q->request, &q->answer, q->hook->user, &q->err);
}

/* What it says is a patch must be one: the API server's complaint would tell less. */
static int ask_admit(question *q)
{
    if (ask_guarded(q, call_admit) < 0)
        return -1;
    if (!q->answer.patch.n)
        return 0;
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&q->answer.patch), NULL, NULL);
    return patch ? 0 : kc_error_set(&q->err, KC_INTERNAL, "the webhook's patch is not one");
}

/* ---- what hooks of a kind have in common ---- */

static int check_kind(question *q, const kc_object *object)
{
    if (!object)
        return kc_error_set(&q->err, KC_BAD_REQUEST, "there is no content to decode");
    if (kc_gvk_eq(q->request->kind, kc_kind_gvk(q->hook->kind)))
        return 0;
    kc_scoped(kc_buf) is = {0}, wanted = {0};
    kc_gvk_write(&is, q->request->kind);
    kc_gvk_write(&wanted, kc_kind_gvk(q->hook->kind));
    return kc_error_set(&q->err, KC_BAD_REQUEST, "want %s, not %s", kc_buf_cstr(&wanted),
                        kc_buf_cstr(&is));
}

/* ---- defaults ---- */

static void call_default(void *user)
{
    question *q = user;
    q->result = q->hook->set_defaults(q->edit, q->request, q->hook->user, &q->err);
}

static int make_patch(question *q)
{
    kc_auto(kc_view) *to = kc_edit_view(q->edit, &q->err);
    if (!to)
        return kc_error_wrap(&q->err, "the object with its defaults");
    kc_auto(kc_view) *from = kc_view_of(q->request->object);
    kc_auto(kc_edit) *patch = kc_json_patch_make(kc_view_root(from), kc_view_root(to));
    if (kc_node_len(kc_edit_root(patch)))
        kc_node_write(&q->answer.patch, kc_edit_root(patch));
    return 0;
}

static int ask_default(question *q)
{
    if (kc_str_is(q->request->operation, "DELETE"))
        return 0;
    if (check_kind(q, q->request->object) < 0)
        return -1;
    q->edit = kc_edit_of(q->request->object);
    return ask_guarded(q, call_default) < 0 ? -1 : make_patch(q);
}

/* ---- validation ---- */

static void call_validate(void *user)
{
    question *q = user;
    q->result = q->hook->validate(q->request, &q->warnings, q->hook->user, &q->err);
}

static int ask_validate(question *q)
{
    const kc_admission *r = q->request;
    if (kc_str_is(r->operation, "CONNECT"))
        return 0;
    const bool creates = kc_str_is(r->operation, "CREATE"),
               updates = kc_str_is(r->operation, "UPDATE"),
               deletes = kc_str_is(r->operation, "DELETE");
    if (!creates && !updates && !deletes)
        return kc_error_set(&q->err, KC_BAD_REQUEST, "unknown operation \"%.*s\"",
                            KC_ARG(r->operation));
    if (((creates || updates) && check_kind(q, r->object) < 0) ||
        ((updates || deletes) && check_kind(q, r->old_object) < 0))
        return -1;
    return ask_guarded(q, call_validate);
}

/* ---- answering ---- */

static int (*asker_of(const kc__hook *hook))(question *)
{
    return hook->set_defaults ? ask_default : hook->validate ? ask_validate : ask_admit;
}

static bool is_json(kc_str type)
{
    const ptrdiff_t end = kc_str_find(type, ';');
    type = kc_str_trim(end < 0 ? type : kc_str_sub(type, 0, (size_t)end));
    return kc_str_eq_nocase(type, KC_STR("application/json"));
}

static int read_call(const kc__hook_call *call, kc__review *review, kc_error *err)
{
    if (!call->body.n)
        return kc_error_set(err, KC_BAD_REQUEST, "request body is empty");
    if (!is_json(call->content_type))
        return kc_error_set(err, KC_BAD_REQUEST, "contentType=%.*s, expected application/json",
                            KC_ARG(call->content_type));
    return kc__review_read(call->body, review, err);
}

/* The hook's list ends with NULL; a validator's texts are counted. */
static void write_answer(question *q, const kc__review *review, int result)
{
    kc__verdict verdict = {.patch = kc_buf_str(&q->answer.patch),
                           .denied = result < 0 ? &q->err : NULL,
                           .warnings = (const char *const *)q->warnings.texts.items,
                           .n_warnings = q->warnings.texts.n};
    if (q->answer.warnings) {
        verdict.warnings = q->answer.warnings;
        while (verdict.warnings[verdict.n_warnings])
            verdict.n_warnings++;
    }
    kc__review_write(&q->call->out, review, &verdict);
}

static void question_done(question *q)
{
    kc_edit_free(q->edit);
    kc_buf_done(&q->answer.patch);
    kc_vec_each (&q->warnings.texts, text)
        free(*text);
    kc_vec_done(&q->warnings.texts);
    kc_error_done(&q->err);
}

static void log_call(const kc__hook *hook, const kc__hook_call *call, const question *q, int result)
{
    if (call->crashed)
        kc_log_error(call->log, "a webhook crashed", kc_kv("path", hook->path),
                     kc_kv("uid", q->request->uid), kc_kv("err", &q->err));
    else if (result < 0)
        kc_log_verbose(call->log, 1, "webhook denied", kc_kv("path", hook->path),
                       kc_kv("uid", q->request->uid), kc_kv("err", &q->err));
}

int kc__serve_admission(const kc__hook *hook, kc__hook_call *call)
{
    kc_scoped(kc__review) review = {0};
    kc_scoped(question) q = {.hook = hook, .call = call, .request = &review.request};
    int result = read_call(call, &review, &q.err);
    if (result == 0)
        result = asker_of(hook)(&q);
    if (call->crashed) /* What it was about to say is not to be trusted. */
        q.answer = (kc_admission_answer){0};
    log_call(hook, call, &q, result);
    write_answer(&q, &review, result);
    return 200;
}
