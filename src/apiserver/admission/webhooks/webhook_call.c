/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_call.c: calls one webhook about one request: writes the AdmissionReview in the version
 * that the webhook accepts, finds its endpoint, sends the review and reads the response. A failure
 * on the way is KC__ADMISSION_CALL_FAILED; the caller applies the webhook's failure policy.
 *
 * Everything runs on the request's loop; the transfer itself runs on another thread
 * (http/client/http_client.h), and its end runs the phase of the request again.
 */
#include "apiserver/admission/webhooks/webhook_call.h"

#include "apiserver/admission/chain/attributes.h"
#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/kinds/remote_conversion.h"
#include "apiserver/webhook/webhook_endpoint.h"
#include "apiserver/webhook/webhook_error.h"
#include "apiserver/webhook/webhook_kubeconfig.h"
#include "kc/names.h"
#include "kc/uid.h"

#define AGENT "kube-apiserver-admission"

/* ---- failures ---- */

/* "failed calling webhook "x": …"; `code` is the status that metrics count. */
static void fail_call(kc__admission_webhook_call *q, int code, const char *what, const char *why)
{
    q->result = KC__ADMISSION_CALL_FAILED;
    q->code = code;
    kc_error_set(&q->error, KC_INTERNAL, "failed calling webhook \"%.*s\": %s%s",
                 KC_ARG(q->hook->name), what, why);
}

/* ---- the response ---- */

static void read_body(kc__admission_webhook_call *q, kc_str body)
{
    kc_scoped(kc_error) err = {0};
    const kc__admission_review_origin from = {.hook = q->hook->name,
                                              .uid = kc_cstr(q->uid),
                                              .mutates = q->hook->mutates,
                                              .beta = q->hook->beta};
    if (kc__admission_review_read(body, &from, &q->response, &err) == 0) {
        q->result = q->response.allowed ? KC__ADMISSION_ALLOWED : KC__ADMISSION_DENIED;
        q->code = q->response.allowed ? 200 : q->response.denial.code;
        return;
    }
    const char *what = err.reason == KC_INVALID ? "received invalid webhook response: "
                       : err.reason == KC_UNSUPPORTED_MEDIA_TYPE ? ""
                                                                 : "failed to call webhook: ";
    fail_call(q, 503, what, kc_error_text(&err));
}

static void read_response(kc__admission_webhook_call *q, const kc__http_client_response *response)
{
    kc_scoped(kc_buf) why = {0};
    if (kc__http_client_succeeded(response)) {
        read_body(q, response->body);
        return;
    }
    kc__hook_write_error(&why, response, q->url);
    fail_call(q, response->status ? response->status : 503,
              "failed to call webhook: ", kc_buf_cstr(&why));
}

static void response_arrived(const kc__http_client_response *response, void *user)
{
    kc__admission_webhook_call *q = user;
    read_response(q, response);
    q->pending = false;
    kc__rest_call_resume(q->call, KC__REST_ON_LOOP);
}

/* ---- the request ---- */

static void refuse_call(kc__admission_webhook_call *q, kc_reason reason, const char *fmt,
                        kc_str text)
{
    q->result = KC__ADMISSION_REJECTED;
    kc_error_set(&q->error, reason, fmt, KC_ARG(text));
}

static void make_uid(kc__admission_webhook_call *q)
{
    uint8_t random[16];
    kc_rand_bytes(q->call->rand, random, sizeof(random));
    kc_uid_of(random, q->uid);
}

/* The webhook's timeout, or the time until the request's deadline. */
static int64_t time_left(const kc__admission_webhook_call *q)
{
    const kc__rest_call *call = q->call;
    const int64_t left =
        call->x->request.received + call->request_timeout - kc_clock_now(call->api->clock);
    return KC_MIN(q->hook->timeout, left);
}

/* The server's credentials for a webhook, by the configuration of the plugin that calls it. NULL:
 * none. */
static const kc__http_client_identity *credentials_for(const kc__admission_webhook_call *q,
                                                       const kc__hook_endpoint *place)
{
    const kc__admission_config *config = q->call->api->admission_config;
    if (!config)
        return NULL;
    return kc__webhook_kubeconfig_users_for(q->hook->mutates ? config->mutating_users
                                                             : config->validating_users,
                                            kc_cstr(place->server));
}

static void send_review(kc__admission_webhook_call *q, const kc__hook_endpoint *place,
                        int64_t timeout)
{
    kc_scoped(kc_buf) body = {0};
    kc__admission_review_write(&body, &(kc__admission_review){.about = q->about,
                                                              .as = q->as,
                                                              .object = q->object,
                                                              .old = q->old,
                                                              .uid = kc_cstr(q->uid),
                                                              .beta = q->hook->beta});
    q->url = kc_strdup(place->url);
    q->pending = true;
    q->call->api->hooks->send(q->call->api->hooks->http_client,
                              &(kc__http_client_request){.url = place->url,
                                                         .connect_to = place->connect_to,
                                                         .identity = credentials_for(q, place),
                                                         .body = kc_buf_str(&body),
                                                         .ca = q->hook->target.ca,
                                                         .agent = AGENT,
                                                         .timeout = timeout,
                                                         .http2 = place->near},
                              q->call->x->loop, response_arrived, q);
}

/* Calls the webhook about q->object and q->old. */
static void call_webhook(kc__admission_webhook_call *q)
{
    const int64_t timeout = time_left(q);
    kc_scoped(kc_error) err = {0};
    kc__hook_endpoint place;
    make_uid(q);
    const int64_t seconds = (KC_MAX(timeout, 1) + KC_SECOND - 1) / KC_SECOND;
    if (kc__hook_endpoint_resolve(q->call->api->store, &q->hook->target, seconds, q->call->arena,
                                  &place, &err) < 0) {
        fail_call(q, 503, "failed to call webhook: ", kc_error_text(&err));
        return;
    }
    if (timeout <= 0) {
        fail_call(
            q, 503, "failed to call webhook: ",
            kc_arena_printf(q->call->arena, "Post \"%s\": context deadline exceeded", place.url));
        return;
    }
    send_review(q, &place, timeout);
}

/* ---- conversion by webhook ---- */

/* The object as the webhook sees it: the next result of the job, or the object itself. An object
 * that cannot be converted can be deleted: webhooks see the stored form. */
static kc_object *take_shown(const kc__admission_webhook_call *q, const kc_object *object,
                             kc__remote_conversion *job, size_t *at)
{
    if (!object)
        return NULL;
    kc_object *result = NULL;
    if (kc__admission_is_remote(q->about, object, q->as)) {
        result = kc_take(job->items.items[*at].result);
        (*at)++;
    }
    return result ? result : kc_object_ref(object);
}

static void objects_converted(kc__remote_conversion *job)
{
    kc__admission_webhook_call *q = job->user;
    const kc_error *error = kc__remote_conversion_error(job);
    size_t at = 0;
    q->pending = false;
    if (error && strcmp(q->about->operation, "DELETE") != 0) {
        refuse_call(q, KC_INTERNAL, "Internal error occurred: %.*s", kc_cstr(kc_error_text(error)));
    } else {
        q->object = take_shown(q, q->about->object, job, &at);
        q->old = take_shown(q, q->about->old, job, &at);
        call_webhook(q);
    }
    kc__remote_conversion_free(job);
    if (!q->pending)
        kc__rest_call_resume(q->call, KC__REST_ON_LOOP);
}

/* Converts the objects to the version of the webhook; false: no conversion webhook is needed. */
static bool convert_objects(kc__admission_webhook_call *q)
{
    const kc_object *objects[] = {q->about->object, q->about->old};
    kc__remote_conversion *job = NULL;
    for (size_t i = 0; i < KC_COUNT(objects); i++) {
        if (!kc__admission_is_remote(q->about, objects[i], q->as))
            continue;
        if (!job)
            job = kc__remote_conversion_new(q->as, q->call->x->loop);
        kc__remote_conversion_add(job, objects[i], NULL);
    }
    if (!job)
        return false;
    job->done = objects_converted;
    job->user = q;
    q->pending = true;
    kc__remote_conversion_start(job);
    return true;
}

void kc__admission_webhook_call_start(kc__admission_webhook_call *q)
{
    kc_scoped(kc_error) err = {0};
    q->started = kc_clock_now(q->call->api->clock);
    if (q->about->dry_run && !q->hook->dry) {
        refuse_call(q, KC_BAD_REQUEST, "admission webhook \"%.*s\" does not support dry run",
                    q->hook->name);
        return;
    }
    if (convert_objects(q))
        return;
    if (kc__admission_convert(q->about, q->about->object, q->as, &q->object, &err) < 0 ||
        kc__admission_convert(q->about, q->about->old, q->as, &q->old, &err) < 0) {
        refuse_call(q, KC_INTERNAL, "Internal error occurred: %.*s", kc_cstr(kc_error_text(&err)));
        return;
    }
    call_webhook(q);
}

/* ---- the result ---- */

/* Adds WEBHOOK/KEY to the audit event. As in Kubernetes, a key that makes no qualified name is
 * dropped. */
static void annotate_event(const kc__admission_webhook_call *q, const char *key, const char *value)
{
    const kc_str name =
        kc_cstr(kc_arena_printf(q->call->arena, "%.*s/%s", KC_ARG(q->hook->name), key));
    if (kc_name_valid(KC_NAME_QUALIFIED, name))
        kc__rest_audit(q->call, name, kc_cstr(value));
    else
        kc_log_warn(q->call->api->log, "audit annotation of a webhook has an invalid key; dropped",
                    kc_kv("key", name));
}

void kc__admission_webhook_call_report(const kc__admission_webhook_call *q)
{
    kc__rest_call *call = q->call;
    kc__admission_webhooks_count(call->api->hooks, q->hook, q->about->operation, q->result, q->code,
                                 kc_clock_now(call->api->clock) - q->started);
    for (size_t i = 0; i < q->response.warnings.n; i++)
        kc__rest_warn(call, kc_cstr(q->response.warnings.items[i]));
    for (size_t i = 0; i + 1 < q->response.annotations.n; i += 2)
        annotate_event(q, q->response.annotations.items[i], q->response.annotations.items[i + 1]);
    if (q->result == KC__ADMISSION_CALL_FAILED)
        kc_log_warn(call->api->log,
                    q->hook->ignored ? "calling webhook failed; ignored" : "calling webhook failed",
                    kc_kv("err", &q->error));
}

void kc__admission_webhook_call_done(kc__admission_webhook_call *q)
{
    kc_object_unref(q->object);
    kc_object_unref(q->old);
    kc__admission_response_done(&q->response);
    kc_error_done(&q->error);
    free(q->url);
    *q = (kc__admission_webhook_call){0};
}

kc__rest_verdict kc__admission_webhook_call_fail(kc__admission_webhook_call *q)
{
    kc__rest_call *call = q->call;
    if (q->result == KC__ADMISSION_DENIED) {
        call->denial = kc_arena_str(call->arena, kc_buf_str(&q->response.status));
        kc_error_move(&call->error, &q->response.denial);
        return KC__REST_FAIL;
    }
    if (q->result == KC__ADMISSION_CALL_FAILED) {
        kc__rest_fail(call, KC_INTERNAL, "Internal error occurred: %s", kc_error_text(&q->error));
        kc_error_add_cause(&call->error, "", (kc_str){0}, kc_cstr(kc_error_text(&q->error)));
        return KC__REST_FAIL;
    }
    kc_error_move(&call->error, &q->error);
    return KC__REST_FAIL;
}
