/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin ImagePolicyWebhook. The server is the real one; the transport is replaced: the name of
 * the first image chooses the answer of the webhook. The texts are those of kube-apiserver.
 */
#include "api_testing.h"
#include "files_testing.h"

#include "apiserver/admission/admission_config.h"
#include "apiserver/admission/webhooks/webhook_registry.h"
#include "kc/thread.h"

#define PODS "/api/v1/namespaces/default/pods"
#define KUBECONFIG                                                                        \
    "{clusters: [{name: c, cluster: {server: 'https://images.test/policy'}}], contexts: " \
    "[{name: x, context: {cluster: c, user: u}}], current-context: x, users: [{name: u, " \
    "user: {token: secret}}]}"

/* ---- the webhook ---- */

typedef struct image_answer {
    kc__loop_task task;
    kc__http_client_done_fn *done;
    void *user;
    char *body;
} image_answer;

/* Functions that send have no user pointer: each test begins with a reset. */
static struct {
    kc_mutex mutex; /* Guards what follows. */
    unsigned calls;
    char *last_body, *last_url, *last_authorization;
} webhook;

static bool asks_about(const image_answer *answer, const char *image)
{
    kc_autofree char *first = kc_asprintf("[{\"image\":\"%s\"}", image);
    return strstr(answer->body, first);
}

static void answer_review(kc__loop_task *task)
{
    image_answer *answer = kc_container_of(task, image_answer, task);
#define REVIEW(status)                                                                                \
    KC_STR(                                                                                           \
        "{\"kind\":\"ImageReview\",\"apiVersion\":\"imagepolicy.k8s.io/v1alpha1\",\"status\":" status \
        "}")
    kc__http_client_response response = {
        .status = 200, .type = KC_STR("application/json"), .body = REVIEW("{\"allowed\":true}")};
    if (asks_about(answer, "bad"))
        response.body = REVIEW("{\"allowed\":false}");
    else if (asks_about(answer, "worse"))
        response.body = REVIEW("{\"allowed\":false,\"reason\":\"unsigned\"}");
    else if (asks_about(answer, "down"))
        response = (kc__http_client_response){.error = "dial tcp 10.0.0.1:443: connect: refused"};
    else if (asks_about(answer, "lost"))
        response.status = 404;
    else if (asks_about(answer, "busy") && webhook.calls < 3)
        response.status = 429;
    else if (asks_about(answer, "text"))
        response.body = KC_STR("{");
    else if (asks_about(answer, "pod"))
        response.body = KC_STR("{\"kind\":\"Pod\"}");
    else if (asks_about(answer, "bare"))
        response.body = KC_STR("{\"status\":{\"allowed\":true}}");
    else if (asks_about(answer, "empty"))
        response.body = KC_STR("");
    answer->done(&response, answer->user);
    free(answer->body);
    free(answer);
}

/* Replaces kc__http_client_send. */
static void send_to_webhook(kc__http_client *client, const kc__http_client_request *request,
                            kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)client;
    image_answer *answer = kc_new(image_answer);
    *answer = (image_answer){
        .task.run = answer_review, .done = done, .user = user, .body = kc_str_dup(request->body)};
    kc_locked (&webhook.mutex) {
        webhook.calls++;
        free(webhook.last_body);
        free(webhook.last_url);
        free(webhook.last_authorization);
        webhook.last_body = kc_str_dup(request->body);
        webhook.last_url = kc_strdup(request->url);
        webhook.last_authorization = kc_strdup(request->identity->authorization);
    }
    kc__loop_post(loop, &answer->task);
}

/* ---- the server ---- */

typedef struct images {
    scratch *files;
    kc__admission_config config;
    api *a;
} images;

static void images_done(images *i)
{
    api_stop(i->a);
    kc__admission_config_done(&i->config);
    scratch_free(i->files);
    free(webhook.last_body);
    free(webhook.last_url);
    free(webhook.last_authorization);
    kc_mutex_done(&webhook.mutex);
}

static kc__admission_image_policy *read_policy(scratch *files, const char *more, kc_error *err)
{
    kc_autofree char *path = scratch_path(files, "images.kubeconfig");
    scratch_write(files, "images.kubeconfig", KUBECONFIG);
    kc_autofree char *yaml = kc_asprintf("imagePolicy: {kubeConfigFile: '%s'%s}", path, more);
    return kc__admission_image_policy_parse(kc_cstr(yaml), err);
}

static images start_images(const char *more)
{
    images i = {.files = scratch_new()};
    kc_scoped(kc_error) err = {0};
    memset(&webhook, 0, sizeof(webhook));
    kc_mutex_init(&webhook.mutex);
    i.config.image_policy = read_policy(i.files, more, &err);
    if (!i.config.image_policy)
        fail_msg("%s", kc_error_text(&err));
    return i;
}

/* After start_images, whose result has its place now. */
static void serve_images(images *i)
{
    kc__admission_selection on = 0;
    kc__admission_selection_parse("ImagePolicyWebhook", &on, NULL);
    i->a =
        api_start(&(api_opts){.server.enabled_plugins = on, .server.admission_config = &i->config});
    api_inside(i->a)->hooks->send = send_to_webhook;
}

static const reply *make_pod(api *a, const char *name, const char *image)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s','annotations':{'x.image-policy.k8s.io/break':"
                         "'glass','other':'1'}},'spec':{'containers':[{'name':'c','image':'%s'}],"
                         "'initContainers':[{'name':'i','image':'init'}]}}",
                         name, image));
}

/* ---- tests ---- */

static void webhook_reviews_all_images_and_its_annotations(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images("");
    serve_images(&i);
    assert_code(make_pod(i.a, "p", "good"), 201);
    assert_string_equal(
        webhook.last_body,
        "{\"kind\":\"ImageReview\",\"apiVersion\":\"imagepolicy.k8s.io/v1alpha1\",\"metadata\":{},"
        "\"spec\":{\"containers\":[{\"image\":\"good\"},{\"image\":\"init\"}],\"annotations\":{"
        "\"x.image-policy.k8s.io/break\":\"glass\"},\"namespace\":\"default\"},\"status\":{"
        "\"allowed\":false}}\n");
    assert_string_equal(webhook.last_url, "https://images.test/policy?timeout=30s");
    assert_string_equal(webhook.last_authorization, "Bearer secret");
    assert_code(api_post(i.a, "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'x'}}"),
                201);
    assert_int_equal(webhook.calls, 1);
}

static void denied_images_are_forbidden(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images("");
    serve_images(&i);
    assert_status(make_pod(i.a, "p", "bad"), 403, "Forbidden",
                  "pods \"p\" is forbidden: one or more images rejected by webhook backend");
    assert_status(make_pod(i.a, "p", "worse"), 403, "Forbidden",
                  "pods \"p\" is forbidden: image policy webhook backend denied one or more "
                  "images: unsigned");
}

static void answers_are_kept_for_their_time(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images(", denyTTL: -1");
    serve_images(&i);
    assert_code(make_pod(i.a, "a", "good"), 201);
    assert_code(make_pod(i.a, "b", "good"), 201);
    assert_int_equal(webhook.calls, 1);
    assert_code(make_pod(i.a, "c", "bad"), 403);
    assert_code(make_pod(i.a, "c", "bad"), 403);
    assert_int_equal(webhook.calls, 3);
}

static void failure_of_the_webhook_forbids_by_default(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images("");
    serve_images(&i);
    assert_status(make_pod(i.a, "p", "down"), 403, "Forbidden",
                  "pods \"p\" is forbidden: Post \"https://images.test/policy?timeout=30s\": dial "
                  "tcp 10.0.0.1:443: connect: refused");
    assert_status(make_pod(i.a, "p", "lost"), 403, "Forbidden",
                  "pods \"p\" is forbidden: the server could not find the requested resource");
    assert_code(make_pod(i.a, "p", "text"), 403);
    assert_status(make_pod(i.a, "p", "pod"), 403, "Forbidden",
                  "pods \"p\" is forbidden: no kind \"Pod\" is registered for version "
                  "\"imagepolicy.k8s.io/v1alpha1\"");
    assert_status(make_pod(i.a, "p", "empty"), 403, "Forbidden",
                  "pods \"p\" is forbidden: 0-length response with status code: 200 and content "
                  "type: application/json");
    assert_code(make_pod(i.a, "p", "bare"), 201);
}

static void failure_of_the_webhook_allows_if_configured(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images(", defaultAllow: true");
    serve_images(&i);
    assert_code(make_pod(i.a, "p", "down"), 201);
    assert_code(make_pod(i.a, "q", "bad"), 403);
}

static void overloaded_webhook_is_called_again(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images(", retryBackoff: 1");
    serve_images(&i);
    assert_code(make_pod(i.a, "p", "busy"), 201);
    assert_int_equal(webhook.calls, 3);
}

static void ephemeral_containers_are_reviewed(void **state)
{
    (void)state;
    kc_scoped(images) i = start_images("");
    serve_images(&i);
    assert_code(make_pod(i.a, "p", "good"), 201);
    assert_status(api_patch(i.a, PODS "/p/ephemeralcontainers",
                            "{'spec':{'ephemeralContainers':[{'name':'e','image':'bad'}]}}"),
                  403, "Forbidden",
                  "pods \"p\" is forbidden: one or more images rejected by webhook backend");
}

static void wrong_configuration_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *more, *problem;
    } wrong[] = {
        {", allowTTL: 1801", "imagePolicy.allowTTL: valid value is between 1s and 30m0s, got 1801"},
        {", denyTTL: -2", "imagePolicy.denyTTL: valid value is between 1s and 30m0s, got -2"},
        {", retryBackoff: 300001",
         "imagePolicy.retryBackoff: valid value is between 1ns and 5m0s, got 300001"},
        {", retryBackoff: soon", "imagePolicy.retryBackoff: must be an integer"},
    };
    scratch *files = scratch_new();
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(read_policy(files, wrong[i].more, &err));
        assert_error(&err, KC_INVALID, wrong[i].problem);
    }
    kc_scoped(kc_error) err = {0};
    assert_null(kc__admission_image_policy_parse(KC_STR("{}"), &err));
    assert_error(&err, KC_INVALID, "imagePolicy.kubeConfigFile: Required value");
    scratch_free(files);
}

TESTS(webhook_reviews_all_images_and_its_annotations, denied_images_are_forbidden,
      answers_are_kept_for_their_time, failure_of_the_webhook_forbids_by_default,
      failure_of_the_webhook_allows_if_configured, overloaded_webhook_is_called_again,
      ephemeral_containers_are_reviewed, wrong_configuration_is_rejected)
