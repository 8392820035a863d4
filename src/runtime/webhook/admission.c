/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.c: serves an AdmissionReview: decodes it, calls the hook, encodes the response.
 *
 * The response is always HTTP 200 with a review, even if the request is not a valid review or the
 * hook fails: an API server reports the content of a review, but of other codes only the number.
 * There are three kinds of hook (`askers`): one that builds the whole response, one that sets
 * defaults and one that validates. To add one more, give kc__webhook_handler its function and add
 * it to `caller_of`.
 *
 * The guard covers only the program's own function. After a recovered crash, whatever the function
 * left behind (a partly written error) is not touched.
 */
#include "kc/json_patch.h"
#include "runtime/webhook/review.h"
#include "runtime/webhook/webhook_handler.h"

#include <stdio.h>

struct kc_warnings {
    KC_VEC(char *) texts;
};

/* One call of a hook. */
typedef struct webhook_admission_call {
    const kc__webhook_handler *hook;
    kc__webhook_call *call;
    const kc_admission_request *request;
    kc_edit *edit; /* Only for defaulting hooks. */
    kc_admission_response response;
    kc_warnings warnings;
    kc_error err;
    int result;
} webhook_admission_call;

void kc_warnings_add(kc_warnings *to, const char *fmt, ...)
{
    kc_buf text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_vec_push(&to->texts, kc_buf_take(&text));
}

bool kc__webhook_call_guarded(kc__webhook_call *call, void (*fn)(void *user), void *user,
                              kc_error *err)
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

static int call_guarded(webhook_admission_call *q, void (*fn)(void *user))
{
    if (!kc__webhook_call_guarded(q->call, fn, q, &q->err))
        return -1;
    return q->result < 0 ? -1 : 0;
}

/* ---- generic hooks ---- */

static void call_admit(void *user)
{
    webhook_admission_call *q = user;
    q->result = q->hook->admit(q->request, &q->response, q->hook->user, &q->err);
}

/* Rejects an invalid patch here: the API server's error would be less specific. */
static int run_admit(webhook_admission_call *q)
{
    if (call_guarded(q, call_admit) < 0)
        return -1;
    if (!q->response.patch.n)
        return 0;
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&q->response.patch), NULL, NULL);
    return patch ? 0
                 : kc_error_set(&q->err, KC_INTERNAL, "the webhook returned an invalid JSON patch");
}

/* ---- shared by defaulting and validating hooks ---- */

static int webhook_admission_check_kind(webhook_admission_call *q, const kc_object *object)
{
    if (!object)
        return kc_error_set(&q->err, KC_BAD_REQUEST, "there is no content to decode");
    if (kc_gvk_eq(q->request->kind, kc_kind_gvk(q->hook->kind)))
        return 0;
    kc_scoped(kc_buf) is = {0}, wanted = {0};
    kc_gvk_write(&is, q->request->kind);
    kc_gvk_write(&wanted, kc_kind_gvk(q->hook->kind));
    return kc_error_set(&q->err, KC_BAD_REQUEST, "expected %s, got %s", kc_buf_cstr(&wanted),
                        kc_buf_cstr(&is));
}

/* ---- defaulting ---- */

static void call_default(void *user)
{
    webhook_admission_call *q = user;
    q->result = q->hook->set_defaults(q->edit, q->request, q->hook->user, &q->err);
}

static int make_patch(webhook_admission_call *q)
{
    kc_auto(kc_view) *to = kc_edit_view(q->edit, &q->err);
    if (!to)
        return kc_error_wrap(&q->err, "defaulted object");
    kc_auto(kc_view) *from = kc_view_of(q->request->object);
    kc_auto(kc_edit) *patch = kc_json_patch_make(kc_view_root(from), kc_view_root(to));
    if (kc_node_len(kc_edit_root(patch)))
        kc_node_write(&q->response.patch, kc_edit_root(patch));
    return 0;
}

static int run_default(webhook_admission_call *q)
{
    if (kc_str_is(q->request->operation, "DELETE"))
        return 0;
    if (webhook_admission_check_kind(q, q->request->object) < 0)
        return -1;
    q->edit = kc_edit_of(q->request->object);
    return call_guarded(q, call_default) < 0 ? -1 : make_patch(q);
}

/* ---- validation ---- */

static void call_validate(void *user)
{
    webhook_admission_call *q = user;
    q->result = q->hook->validate(q->request, &q->warnings, q->hook->user, &q->err);
}

static int run_validate(webhook_admission_call *q)
{
    const kc_admission_request *r = q->request;
    if (kc_str_is(r->operation, "CONNECT"))
        return 0;
    const bool creates = kc_str_is(r->operation, "CREATE"),
               updates = kc_str_is(r->operation, "UPDATE"),
               deletes = kc_str_is(r->operation, "DELETE");
    if (!creates && !updates && !deletes)
        return kc_error_set(&q->err, KC_BAD_REQUEST, "unknown operation \"%.*s\"",
                            KC_ARG(r->operation));
    if (((creates || updates) && webhook_admission_check_kind(q, r->object) < 0) ||
        ((updates || deletes) && webhook_admission_check_kind(q, r->old_object) < 0))
        return kc_error_result(&q->err);
    return call_guarded(q, call_validate);
}

/* ---- responses ---- */

static int (*caller_of(const kc__webhook_handler *hook))(webhook_admission_call *)
{
    return hook->set_defaults ? run_default : hook->validate ? run_validate : run_admit;
}

static bool is_json(kc_str type)
{
    const ptrdiff_t end = kc_str_find(type, ';');
    type = kc_str_trim(end < 0 ? type : kc_str_sub(type, 0, (size_t)end));
    return kc_str_eq_nocase(type, KC_STR("application/json"));
}

static int read_call(const kc__webhook_call *call, kc__webhook_review *review, kc_error *err)
{
    if (!call->body.n)
        return kc_error_set(err, KC_BAD_REQUEST, "request body is empty");
    if (!is_json(call->content_type))
        return kc_error_set(err, KC_BAD_REQUEST, "contentType=%.*s, expected application/json",
                            KC_ARG(call->content_type));
    return kc__webhook_review_read(call->body, review, err);
}

/* The hook's list of warnings ends with NULL; a validator's warnings are counted. */
static void write_answer(webhook_admission_call *q, const kc__webhook_review *review, int result)
{
    kc__webhook_response verdict = {.patch = kc_buf_str(&q->response.patch),
                                    .denied = result < 0 ? &q->err : NULL,
                                    .warnings = (const char *const *)q->warnings.texts.items,
                                    .n_warnings = q->warnings.texts.n};
    if (q->response.warnings) {
        verdict.warnings = q->response.warnings;
        while (verdict.warnings[verdict.n_warnings])
            verdict.n_warnings++;
    }
    kc__webhook_review_write(&q->call->out, review, &verdict);
}

static void webhook_admission_call_done(webhook_admission_call *q)
{
    kc_edit_free(q->edit);
    kc_buf_done(&q->response.patch);
    kc_vec_each (&q->warnings.texts, text)
        free(*text);
    kc_vec_done(&q->warnings.texts);
    kc_error_done(&q->err);
}

static void log_call(const kc__webhook_handler *hook, const kc__webhook_call *call,
                     const webhook_admission_call *q, int result)
{
    if (call->crashed)
        kc_log_error(call->log, "webhook panicked", kc_kv("path", hook->path),
                     kc_kv("uid", q->request->uid), kc_kv("err", &q->err));
    else if (result < 0)
        kc_log_verbose(call->log, 1, "webhook denied", kc_kv("path", hook->path),
                       kc_kv("uid", q->request->uid), kc_kv("err", &q->err));
}

int kc__webhook_serve_admission(const kc__webhook_handler *hook, kc__webhook_call *call)
{
    kc_scoped(kc__webhook_review) review = {0};
    kc_scoped(webhook_admission_call) q = {.hook = hook, .call = call, .request = &review.request};
    int result = read_call(call, &review, &q.err);
    if (result == 0)
        result = caller_of(hook)(&q);
    if (call->crashed) /* After a crash the response cannot be trusted. */
        q.response = (kc_admission_response){0};
    log_call(hook, call, &q, result);
    write_answer(&q, &review, result);
    return 200;
}
