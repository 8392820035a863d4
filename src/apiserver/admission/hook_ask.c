/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_ask.c: asking a webhook. Writes the review in the version the hook knows, finds out where it
 * is, and reads its answer. What goes wrong on the way is KC__HOOK_FAILED: whether that matters the
 * hook's failure policy says, not this file.
 *
 * All of it runs on the call's loop, but for the waiting (http/ask.h).
 */
#include "apiserver/admission/hook_ask.h"

#include "apiserver/admission/hook_place.h"
#include "apiserver/kinds/conversion.h"
#include "kc/uid.h"

#define AGENT "kube-apiserver-admission"

/* ---- what went wrong ---- */

/* "failed calling webhook "x": …", with the code that is counted. */
static void fail(kc__question *q, int code, const char *what, const char *why)
{
    q->result = KC__HOOK_FAILED;
    q->code = code;
    kc_error_set(&q->error, KC_INTERNAL, "failed calling webhook \"%.*s\": %s%s",
                 KC_ARG(q->hook->name), what, why);
}

typedef struct sentence {
    int status;
    const char *text;
} sentence;

/* What client-go makes of a status. */
static const sentence sentences[] = {
    {400, "the server rejected our request for an unknown reason"},
    {401, "the server has asked for the client to provide credentials"},
    {404, "the server could not find the requested resource"},
    {405, "the server does not allow this method on the requested resource"},
    {406, "the server was unable to respond with a content type that the client supports"},
    {409, "the server reported a conflict"},
    {415, "the body of the request was in an unknown format - accepted media types include: "},
    {422, "the server rejected our request due to an error in our request"},
    {429, "the server has received too many requests and has asked us to try again later"},
    {503, "the server is currently unable to handle the request"},
    {504, "the server was unable to return a response in the time allotted, but may still be "
          "processing the request"},
};

/* Its own words, where it is text. */
static kc_str words_of(const kc__ask_answer *answer)
{
    const kc_str text = kc_str_trim(answer->body);
    return kc_str_starts(answer->type, KC_STR("text/")) && text.n ? text : KC_STR("unknown");
}

static void say_status(const kc__ask_answer *answer, kc_buf *out)
{
    for (size_t i = 0; i < KC_COUNT(sentences); i++)
        if (sentences[i].status == answer->status) {
            kc_buf_puts(out, sentences[i].text);
            return;
        }
    if (answer->status == 403) {
        kc_buf_append(out, words_of(answer));
        return;
    }
    if (answer->status < 500) {
        kc_buf_printf(out,
                      "the server responded with the status code %d but did not return more "
                      "information",
                      answer->status);
        return;
    }
    kc_buf_puts(out, "an error on the server (");
    kc_json_quote(out, words_of(answer));
    kc_buf_puts(out, ") has prevented the request from succeeding");
}

/* A Status speaks for itself. */
static bool say_own_status(const kc__ask_answer *answer, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_parse(answer->body, NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    const kc_str message = kc_as_str(kc_get(root, "message"));
    if (!kc_str_is(kc_as_str(kc_get(root, "kind")), "Status") || kc_str_empty(message))
        return false;
    kc_buf_append(out, message);
    return true;
}

/* ---- the answer ---- */

static void read_body(kc__question *q, kc_str body)
{
    kc_scoped(kc_error) err = {0};
    const kc__hook_from from = {.hook = q->hook->name,
                                .uid = kc_cstr(q->uid),
                                .mutates = q->hook->mutates,
                                .beta = q->hook->beta};
    if (kc__hook_review_read(body, &from, &q->answer, &err) == 0) {
        q->result = q->answer.allowed ? KC__HOOK_ALLOWED : KC__HOOK_DENIED;
        q->code = q->answer.allowed ? 200 : q->answer.denial.code;
        return;
    }
    const char *what = err.reason == KC_INVALID ? "received invalid webhook response: "
                       : err.reason == KC_UNSUPPORTED_MEDIA_TYPE ? ""
                                                                 : "failed to call webhook: ";
    fail(q, 503, what, kc_error_text(&err));
}

static void read_answer(kc__question *q, const kc__ask_answer *answer)
{
    kc_scoped(kc_buf) why = {0};
    if (answer->status >= 200 && answer->status <= 206) {
        read_body(q, answer->body);
        return;
    }
    if (!answer->status)
        kc_buf_printf(&why, "Post \"%s\": %s", q->url, answer->error);
    else if (!say_own_status(answer, &why))
        say_status(answer, &why);
    fail(q, answer->status ? answer->status : 503, "failed to call webhook: ", kc_buf_cstr(&why));
}

static void answered(const kc__ask_answer *answer, void *user)
{
    kc__question *q = user;
    read_answer(q, answer);
    q->done(q);
}

/* ---- the question ---- */

/* In the version the hook sees; what a subresource speaks has only one. */
static int show(const kc__question *q, const kc_object *object, kc_object **ret, kc_error *err)
{
    const kc__resource *own = q->about->resource;
    if (!object || q->as == own || (q->about->subresource && q->about->subresource->kind)) {
        *ret = object ? kc_object_ref(object) : NULL;
        return 0;
    }
    kc_auto(kc_object) *stored = kc__to_stored(own, object, err);
    *ret = stored ? kc__from_stored(q->as, stored, err) : NULL;
    return *ret ? 0 : -1;
}

static void refuse(kc__question *q, kc_reason reason, const char *fmt, kc_str text)
{
    q->result = KC__HOOK_REFUSED;
    kc_error_set(&q->error, reason, fmt, KC_ARG(text));
}

static void make_uid(kc__question *q)
{
    uint8_t random[16];
    kc_rand_bytes(&q->call->lane->rand, random, sizeof(random));
    kc_uid_of(random, q->uid);
}

/* No longer than the client is willing to wait for all of it. */
static int64_t patience(const kc__question *q)
{
    const kc__call *call = q->call;
    const int64_t left =
        call->x->request.received + call->patience - kc_clock_now(call->api->clock);
    return KC_MIN(q->hook->timeout, left);
}

static void send(kc__question *q, const kc__hook_place *place, int64_t timeout)
{
    kc_scoped(kc_buf) body = {0};
    kc__hook_review_write(&body, &(kc__hook_review){.about = q->about,
                                                    .as = q->as,
                                                    .object = q->object,
                                                    .old = q->old,
                                                    .uid = kc_cstr(q->uid),
                                                    .beta = q->hook->beta});
    q->url = kc_strdup(place->url);
    kc__ask_start(q->call->api->hooks->asker,
                  &(kc__ask_request){.url = place->url,
                                     .connect_to = place->connect_to,
                                     .body = kc_buf_str(&body),
                                     .ca = q->hook->ca,
                                     .agent = AGENT,
                                     .patience = timeout,
                                     .http2 = place->near},
                  q->call->x->loop, answered, q);
}

bool kc__hook_ask(kc__question *q)
{
    const int64_t timeout = patience(q);
    kc_scoped(kc_error) err = {0};
    kc__hook_place place;
    q->started = kc_clock_now(q->call->api->clock);
    if (q->about->dry_run && !q->hook->dry) {
        refuse(q, KC_BAD_REQUEST, "admission webhook \"%.*s\" does not support dry run",
               q->hook->name);
        return false;
    }
    if (show(q, q->about->object, &q->object, &err) < 0 ||
        show(q, q->about->old, &q->old, &err) < 0) {
        refuse(q, KC_INTERNAL, "Internal error occurred: %.*s", kc_cstr(kc_error_text(&err)));
        return false;
    }
    make_uid(q);
    const int64_t seconds = (KC_MAX(timeout, 1) + KC_SECOND - 1) / KC_SECOND;
    if (kc__hook_place_find(q->call, q->hook, seconds, &place, &err) < 0) {
        fail(q, 503, "failed to call webhook: ", kc_error_text(&err));
        return false;
    }
    if (timeout <= 0) {
        fail(q, 503, "failed to call webhook: ",
             kc_arena_printf(q->call->arena, "Post \"%s\": context deadline exceeded", place.url));
        return false;
    }
    send(q, &place, timeout);
    return true;
}

/* ---- afterwards ---- */

void kc__hook_settle(const kc__question *q)
{
    kc__call *call = q->call;
    kc__hooks_count(call->api->hooks, q->hook, q->about->operation, q->result, q->code,
                    kc_clock_now(call->api->clock) - q->started);
    for (size_t i = 0; i < q->answer.warnings.n; i++)
        kc__warn(call, kc_cstr(q->answer.warnings.items[i]));
    if (q->result == KC__HOOK_FAILED)
        kc_log_warn(call->api->log,
                    q->hook->ignored ? "a webhook failed, and is ignored" : "a webhook failed",
                    kc_kv("err", &q->error));
}

void kc__question_done(kc__question *q)
{
    kc_object_unref(q->object);
    kc_object_unref(q->old);
    kc__hook_answer_done(&q->answer);
    kc_error_done(&q->error);
    free(q->url);
    *q = (kc__question){0};
}

kc__verdict kc__hook_fail(kc__question *q)
{
    kc__call *call = q->call;
    if (q->result == KC__HOOK_DENIED) {
        call->denial = kc_arena_str(call->arena, kc_buf_str(&q->answer.status));
        kc_error_move(&call->error, &q->answer.denial);
        return KC__FAIL;
    }
    if (q->result == KC__HOOK_FAILED) {
        kc__fail(call, KC_INTERNAL, "Internal error occurred: %s", kc_error_text(&q->error));
        kc_error_add_cause(&call->error, "", (kc_str){0}, kc_cstr(kc_error_text(&q->error)));
        return KC__FAIL;
    }
    kc_error_move(&call->error, &q->error);
    return KC__FAIL;
}
