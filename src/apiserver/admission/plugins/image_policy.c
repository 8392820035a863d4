/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_policy.c: implements the admission plugin ImagePolicyWebhook. The webhook reviews the
 * images of a pod that is created or updated, and those of its ephemeral containers. Annotations of
 * the pod whose names contain ".image-policy.k8s.io/" are a part of the review.
 *
 *     cached result ────────────────────────────────────────────▶ allow or deny
 *     none ─▶ POST, repeated while the webhook is overloaded (http_post.h)
 *                 ├─▶ ImageReview ─▶ cached ───────────────────▶ allow or deny
 *                 └─▶ anything else ─▶ defaultAllow ───────────▶ allow or deny
 *
 * The request waits on its loop; the transfer runs on the thread of the webhooks' HTTP client.
 */
#include "apiserver/admission/plugins/image_policy.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/webhooks/webhook_registry.h"
#include "kc/json.h"
#include "kc/log.h"

#define AGENT        "kube-apiserver"
#define VERSION      "imagepolicy.k8s.io/v1alpha1"
#define AUDIT_PREFIX "imagepolicywebhook.image-policy.k8s.io/"
#define FAILED_OPEN  AUDIT_PREFIX "failed-open"
#define MAX_RESPONSE ((size_t)1 << 20)

/* The review of one request; in its arena. Belongs to the loop of the call. */
typedef struct kc__admission_image_review {
    kc__rest_call *call;
    const kc__admission_image_policy *policy;
    kc_str spec;              /* JSON; the key of cached results. */
    kc__authz_result *result; /* NULL: none has arrived. */
    const char *failure;      /* Why the call failed; NULL: it has not. */
} kc__admission_image_review;

/* ---- the request ---- */

static void write_images(kc_buf *out, const kc_value *spec, const char *list)
{
    kc_value_each_item (kc_value_get(spec, list), container) {
        const kc_str image = kc_value_as_str(kc_value_get(container, "image"));
        kc_buf_puts(out, out->p[out->n - 1] == '[' ? "{" : ",{");
        if (image.n) {
            kc_buf_puts(out, "\"image\":");
            kc_json_quote(out, image);
        }
        kc_buf_putc(out, '}');
    }
}

/* Go writes the members of a map in the order of their names. */
static void write_annotations(kc_buf *out, const kc_value *annotations)
{
    KC_VEC(kc_str) names = {0};
    kc_value_each_member (annotations, name, value) {
        (void)value;
        if (kc_str_contains(name, KC_STR(".image-policy.k8s.io/")))
            kc_vec_push(&names, name);
    }
    kc_vec_sort(&names, kc_str_compare);
    for (size_t i = 0; i < names.n; i++) {
        kc_buf_puts(out, i ? "," : ",\"annotations\":{");
        kc_json_quote(out, names.items[i]);
        kc_buf_putc(out, ':');
        kc_json_quote(out, kc_value_as_str(kc_value_get_str(annotations, names.items[i])));
    }
    kc_buf_puts(out, names.n ? "}" : "");
    kc_vec_done(&names);
}

static void write_review_spec(const kc__rest_call *call, const kc_value *pod, kc_buf *out)
{
    const kc_value *spec = kc_value_get(pod, "spec");
    kc_buf_puts(out, "{\"containers\":[");
    if (call->subresource) {
        write_images(out, spec, "ephemeralContainers");
    } else {
        write_images(out, spec, "containers");
        write_images(out, spec, "initContainers");
    }
    kc_buf_putc(out, ']');
    write_annotations(out, kc_value_nested(pod, "metadata.annotations"));
    kc_buf_puts(out, ",\"namespace\":");
    kc_json_quote(out, call->info.ns);
    kc_buf_putc(out, '}');
}

/* ---- the response ---- */

/* Whether the response is an ImageReview; kind and version may be absent, as in Kubernetes. */
static bool is_image_review(kc__admission_image_review *review, const kc_value *root)
{
    const kc_value *kind = kc_value_get(root, "kind"), *version = kc_value_get(root, "apiVersion");
    const kc_str is_kind = kind ? kc_value_as_str(kind) : KC_STR("ImageReview"),
                 is_version = version ? kc_value_as_str(version) : KC_STR(VERSION);
    if (kc_str_is(is_kind, "ImageReview") && kc_str_is(is_version, VERSION))
        return true;
    review->failure =
        kc_arena_printf(review->call->arena, "no kind \"%.*s\" is registered for version \"%.*s\"",
                        KC_ARG(is_kind), KC_ARG(is_version));
    return false;
}

/* The status of the response is the result, which is cached. */
static void read_image_review(kc__admission_image_review *review, kc_str body)
{
    const kc__admission_image_policy *policy = review->policy;
    kc_scoped(kc_error) why = {0}, err = {0};
    kc_scoped(kc_buf) json = {0};
    kc_auto(kc_view) *view = kc_view_parse(body, NULL, &why);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    if (kc_value_type(root) != KC_JSON_OBJECT) {
        kc__hook_report_no_object(body, root, &why, &err);
        review->failure = kc_arena_printf(review->call->arena, "%s", kc_error_text(&err));
        return;
    }
    if (!is_image_review(review, root))
        return;
    const kc_value *status = kc_value_get(root, "status");
    const bool allowed = kc_value_as_bool(kc_value_get(status, "allowed"), false);
    if (status)
        kc_json_write(&json, status);
    review->result = kc__authz_result_new(allowed ? KC__AUTHZ_ALLOW : KC__AUTHZ_DENY,
                                          kc_buf_str(&json), (kc_str){0});
    kc__authz_result_cache_put(policy->cache, review->spec, review->result,
                               allowed ? policy->allow_ttl : policy->deny_ttl);
}

static void image_review_arrived(const kc__http_client_response *response, void *user)
{
    kc__admission_image_review *review = user;
    kc_scoped(kc_buf) why = {0};
    if (kc__http_client_succeeded(response) && !response->body.n) {
        review->failure = kc_arena_printf(
            review->call->arena, "0-length response with status code: %d and content type: %.*s",
            response->status, KC_ARG(response->type));
    } else if (kc__http_client_succeeded(response)) {
        read_image_review(review, response->body);
    } else {
        kc__hook_write_error(&why, response, review->policy->target.url);
        review->failure = kc_arena_printf(review->call->arena, "%s", kc_buf_cstr(&why));
    }
    kc__rest_call_resume(review->call, KC__REST_ON_LOOP);
}

/* ---- the request ---- */

static void send_image_review(kc__admission_image_review *review)
{
    const kc__admission_image_policy *policy = review->policy;
    const kc__rest_call *call = review->call;
    const kc__admission_webhooks *hooks = call->api->hooks;
    kc_scoped(kc_buf) body = {0};
    kc_buf_printf(&body,
                  "{\"kind\":\"ImageReview\",\"apiVersion\":\"" VERSION "\","
                  "\"metadata\":{},\"spec\":%.*s,\"status\":{\"allowed\":false}}\n",
                  KC_ARG(review->spec));
    kc__http_post(
        &(kc__http_post_opts){.client = hooks->http_client,
                              .target = &policy->target,
                              .agent = AGENT,
                              .body = kc_buf_str(&body),
                              .timeout = KC__ADMISSION_IMAGE_POLICY_TIMEOUT,
                              .deadline = call->x->request.received + call->request_timeout,
                              .clock = call->api->clock,
                              .backoff = policy->backoff ? policy->backoff : -1,
                              .rand = call->rand,
                              .max_response = MAX_RESPONSE,
                              .loop = call->x->loop,
                              .send = hooks->send,
                              .done = image_review_arrived,
                              .user = review});
}

/* ---- the decision ---- */

static kc__rest_verdict decide_after_failure(kc__rest_call *call,
                                             const kc__admission_image_review *review)
{
    kc_log_warn(call->api->log, "calling image policy webhook failed",
                kc_kv("err", review->failure),
                kc_kv("allowed", review->policy->default_allow ? "true" : "false"));
    if (!review->policy->default_allow)
        return kc__admission_forbid(call, "%s", review->failure);
    kc__rest_audit(call, KC_STR(FAILED_OPEN), KC_STR("true"));
    return KC__REST_NEXT;
}

static kc__rest_verdict decide_by_result(kc__rest_call *call, const kc__authz_result *result)
{
    kc_auto(kc_view) *view = kc_view_parse(kc__authz_result_reason(result), NULL, NULL);
    const kc_value *status = view ? kc_view_root(view) : NULL;
    const kc_str reason = kc_value_as_str(kc_value_get(status, "reason"));
    kc_value_each_member (kc_value_get(status, "auditAnnotations"), name, value)
        kc__rest_audit(call,
                       kc_cstr(kc_arena_printf(call->arena, AUDIT_PREFIX "%.*s", KC_ARG(name))),
                       kc_value_as_str(value));
    if (kc__authz_result_decision(result) == KC__AUTHZ_ALLOW)
        return KC__REST_NEXT;
    if (reason.n)
        return kc__admission_forbid(
            call, "image policy webhook backend denied one or more images: %.*s", KC_ARG(reason));
    return kc__admission_forbid(call, "one or more images rejected by webhook backend");
}

/* ---- the plugin ---- */

static kc__admission_image_review *begin_image_review(kc__rest_call *call,
                                                      const kc__admission_image_policy *policy)
{
    kc_scoped(kc_buf) spec = {0};
    kc_auto(kc_view) *pod = kc_view_of(call->proposed);
    kc__admission_image_review *review = kc_arena_new(call->arena, kc__admission_image_review);
    write_review_spec(call, kc_view_root(pod), &spec);
    *review = (kc__admission_image_review){
        .call = call, .policy = policy, .spec = kc_arena_str(call->arena, kc_buf_str(&spec))};
    review->result = kc__authz_result_cache_get(policy->cache, review->spec);
    return review;
}

static bool has_reviewed_images(const kc__rest_call *call)
{
    return kc__admission_writes(call, "core/pods", NULL) ||
           kc__admission_writes(call, "core/pods", "ephemeralcontainers");
}

kc__rest_verdict kc__admission_image_policy_validate(kc__rest_call *call)
{
    const kc__admission_config *config = call->api->admission_config;
    kc__admission_image_review *review = call->image_review;
    if (!config || !config->image_policy || !has_reviewed_images(call))
        return KC__REST_NEXT;
    if (!review) {
        if (call->on_worker)
            return KC__REST_ON_LOOP;
        review = call->image_review = begin_image_review(call, config->image_policy);
        if (!review->result) {
            send_image_review(review);
            return KC__REST_PENDING;
        }
    }
    if (!review->result && !review->failure)
        return KC__REST_PENDING;
    call->image_review = NULL; /* A retry after a conflict reviews the new object. */
    const kc__rest_verdict verdict = review->result ? decide_by_result(call, review->result)
                                                    : decide_after_failure(call, review);
    kc__authz_result_unref(review->result);
    return verdict;
}
