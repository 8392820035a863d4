/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The webhook of the sidecars, called as an API server does: at the URL of its configuration, over
 * HTTPS, with the configured CA. It runs in real time, since it uses the network.
 */
#include "reconciler_testing.h"
#include "webhook_testing.h"

#include "sidecar/sidecar.h"

#include "kc/json_patch.h"

/* ---- fixture ---- */

static kc_object *configuration(kc_testenv *env)
{
    return kc_client_get(kc_testenv_client(env), &kc_kind_mutating_webhook,
                         KC_KEY("", SIDECAR_CONFIGURATION), NULL, NULL);
}

/* An entry of it, by its name; NULL when it is not there. */
static const kc_value *entry_of(const kc_view *view, const char *name)
{
    kc_value_each_item (kc_value_get(kc_view_root(view), "webhooks"), hook)
        if (kc_str_is(kc_value_as_str(kc_value_get(hook, "name")), name))
            return hook;
    return NULL;
}

#define LABELLED  "labelled.sidecar.kubecontroller.io"
#define ANNOTATED "annotated.sidecar.kubecontroller.io"

static bool is_published(kc_testenv *env)
{
    kc_auto(kc_object) *object = configuration(env);
    kc_auto(kc_view) *view = object ? kc_view_of(object) : NULL;
    return kc_value_nested(entry_of(view, ANNOTATED), "clientConfig.caBundle");
}

#define eventually(condition)                                               \
    do {                                                                    \
        const int64_t end_ = kc_clock_now(kc_clock_real()) + 2 * KC_MINUTE; \
        while (!(condition) && kc_clock_now(kc_clock_real()) < end_)        \
            kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);            \
        assert_true(condition);                                             \
    } while (0)

/* With these settings; the map is a file or NULL. */
static kc_testenv *begun(const char *settings, const char *map)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_asprintf("reconcilers: {sidecar: %s}", settings);
    const scenario s = {.reconcilers = "sidecar", .config = text};
    kc_testenv *env = kc_testenv_start(&(kc_testenv_opts){0}, NULL);
    scenario_add(&s, kc_testenv_manager(env));
    if (map)
        apply_file(env, map);
    OK(kc_testenv_run(env, &err), &err);
    return env;
}

static kc_testenv *running(const char *settings, const char *map)
{
    kc_testenv *env = begun(settings, map);
    eventually(is_published(env));
    return env;
}

#define ENVOY "../manifests/sidecar/envoy-initializer.yaml"

/* As the configuration says; both entries say the same. */
static kc_transport *transport_to_hook(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) authority = {0};
    kc_auto(kc_object) *object = configuration(env);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *config = kc_value_get(entry_of(view, ANNOTATED), "clientConfig");
    assert_true(
        kc_base64_read(&authority, kc_value_as_str(kc_value_get(config, "caBundle")), KC_BASE64));
    const kc_str url = kc_value_as_str(kc_value_get(config, "url"));
    assert_true(kc_str_ends(url, KC_STR("/mutate--v1-pod")));
    kc_autofree char *server = kc_str_dup(kc_str_sub(url, 0, url.n - strlen("/mutate--v1-pod")));
    const kc_config way = {.server = server, .ca_data = kc_buf_str(&authority), .ns = "default"};
    kc_transport *t = kc_transport_http_new(&way, NULL, &err);
    OK(t ? 0 : -1, &err);
    return t;
}

static char *review_of(const char *operation, const char *pod, bool dry_run)
{
    return kc_asprintf("{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','request':{"
                       "'uid':'u','operation':'%s','name':'p','namespace':'default','dryRun':%s,"
                       "'kind':{'group':'','version':'v1','kind':'Pod'},'resource':{'group':'',"
                       "'version':'v1','resource':'pods'},'object':%s}}",
                       operation, dry_run ? "true" : "false", pod);
}

static kc_view *send_review(kc_transport *t, const char *operation, const char *pod, bool dry_run)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_autofree char *review = review_of(operation, pod, dry_run);
    if (call(t, "POST", "/mutate--v1-pod", review, &out) != 200)
        fail_msg("%s", kc_buf_cstr(&out));
    kc_view *answer = kc_view_parse(kc_buf_str(&out), NULL, &err);
    assert_non_null(answer);
    assert_true(kc_value_as_bool(kc_value_nested(kc_view_root(answer), "response.allowed"), false));
    return answer;
}

/* The pod as the server would store it. */
static kc_object *admitted(kc_transport *t, const char *pod)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *answer = send_review(t, "CREATE", pod, false);
    kc_auto(kc_object) *before = object_of(pod);
    const kc_str encoded = kc_value_as_str(kc_value_nested(kc_view_root(answer), "response.patch"));
    if (!encoded.p)
        return kc_take(before);
    assert_true(kc_base64_read(&text, encoded, KC_BASE64));
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&text), NULL, &err);
    kc_auto(kc_edit) *edit = kc_edit_of(before);
    OK(kc_json_patch_apply(patch, edit, &err), &err);
    return kc_edit_freeze(edit, &err);
}

/* "" when there is none. */
static char *warning_of(const kc_view *answer)
{
    return kc_strdup(kc_value_as_cstr(
        kc_value_at(kc_value_nested(kc_view_root(answer), "response.warnings"), 0), ""));
}

static bool is_patched(const kc_view *answer)
{
    return kc_value_nested(kc_view_root(answer), "response.patch");
}

#define POD(metadata)                                                                              \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'," metadata "},'spec':{'containers':[{" \
    "'name':'web','image':'w'}]}}"
#define LABEL "'labels':{'sidecar.kubecontroller.io/inject':'true'}"
#define MARK  "'annotations':{'initializer.kubernetes.io/envoy':'true'}"

/* ---- pods ---- */

static void selected_pod_gets_its_sidecars(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", ENVOY);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    kc_auto(kc_object) *labelled = admitted(t, POD(LABEL)), *marked = admitted(t, POD(MARK));
    assert_contains(kc_object_json(labelled).p, "\"name\":\"envoy\"");
    assert_contains(kc_object_json(labelled).p, "\"name\":\"envoy-conf\"");
    assert_contains(kc_object_json(marked).p, "\"name\":\"envoy\"");
    /* What it gave is what the server takes, and the controller is content with. */
    kc_scoped(kc_error) err = {0};
    kc_client *own =
        kc_client_with(kc_testenv_client(env), &(kc_client_overrides){.ns = "default"});
    kc_auto(kc_object) *made = kc_client_create(own, labelled, NULL, &err);
    kc_client_unref(own);
    OK(made ? 0 : -1, &err);
    settle(env);
    assert_int_equal(count_recorded_events(env, "SidecarsMissing", ""), 0);
}

static void patched_pod_needs_no_patch(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", ENVOY);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    kc_auto(kc_object) *once = admitted(t, POD(LABEL));
    kc_autofree char *text = kc_str_dup(kc_object_json(once));
    kc_auto(kc_view) *again = send_review(t, "CREATE", text, false);
    assert_false(is_patched(again));
}

static void unselected_pod_is_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", ENVOY);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    static const struct {
        const char *operation, *pod;
    } cases[] = {
        {"CREATE", POD("'labels':{'a':'b'}")},
        {"CREATE", POD(LABEL ",'annotations':{'sidecar.kubecontroller.io/inject':'false'}")},
        {"UPDATE", POD(LABEL)},
        {"CREATE", "{'metadata':{" LABEL "},'spec':{'containers':[{'name':'envoy','image':'m'}]}}"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(kc_view) *answer = send_review(t, cases[i].operation, cases[i].pod, false);
        assert_false(is_patched(answer));
    }
}

typedef struct sender {
    kc_transport *way;
    int n; /* Answered well. */
} sender;

static void send_reviews(void *user)
{
    sender *a = user;
    for (int i = 0; i < 20; i++) {
        kc_scoped(kc_buf) out = {0};
        kc_autofree char *review = review_of("CREATE", POD(LABEL), false);
        const int status = call(a->way, "POST", "/mutate--v1-pod", review, &out);
        a->n += status == 200 && strstr(kc_buf_cstr(&out), "\"patch\"") != NULL;
    }
}

static void concurrent_requests_are_answered(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", ENVOY);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    kc_thread *threads[4];
    sender senders[4] = {{t}, {t}, {t}, {t}};
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("asker", send_reviews, &senders[i], NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        assert_int_equal(senders[i].n, 20);
}

/* ---- maps ---- */

static void pod_without_config_map_is_admitted_with_a_warning(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", NULL);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    kc_auto(kc_view) *answer = send_review(t, "CREATE", POD(LABEL), false);
    kc_autofree char *warning = warning_of(answer);
    assert_contains(warning, "ConfigMap of the sidecars not found");
    assert_false(is_patched(answer));
}

/* In a dry run nothing is written, not even an event. */
static void invalid_config_map_is_reported(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", NULL);
    kc_auto(kc_object) *map =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'envoy-initializer',"
                  "'namespace':'default'},'data':{'config':'containers: 5'}}");
    settle(env);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    kc_auto(kc_view) *dry = send_review(t, "CREATE", POD(LABEL), true);
    kc_autofree char *warning = warning_of(dry);
    assert_contains(warning, "invalid sidecar ConfigMap");
    settle(env);
    assert_int_equal(count_recorded_events(env, "BadSidecars", ""), 0);
    kc_auto(kc_view) *wet = send_review(t, "CREATE", POD(LABEL), false);
    assert_false(is_patched(wet));
    eventually(
        count_recorded_events(env, "BadSidecars", "data.config: containers: must be a list") == 1);
}

/* ---- its configuration ---- */

static void assert_entry(kc_testenv *env, const char *name, const char *path, const char *json)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_object) *object = configuration(env);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_json_write(&out, kc_value_nested(entry_of(view, name), path));
    assert_string_equal(kc_buf_cstr(&out), json);
}

static bool entry_field_is(kc_testenv *env, const char *name, const char *path, const char *text)
{
    kc_auto(kc_object) *object = configuration(env);
    kc_auto(kc_view) *view = object ? kc_view_of(object) : NULL;
    return kc_str_is(kc_value_as_str(kc_value_nested(entry_of(view, name), path)), text);
}

static void webhook_configuration_has_the_selector(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{selector: 'a=b,c notin (d,e),!f,g'}", NULL);
    assert_entry(env, LABELLED, "objectSelector.matchExpressions",
                 "[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\"]},"
                 "{\"key\":\"c\",\"operator\":\"NotIn\",\"values\":[\"d\",\"e\"]},"
                 "{\"key\":\"f\",\"operator\":\"DoesNotExist\"},"
                 "{\"key\":\"g\",\"operator\":\"Exists\"}]");
    assert_entry(env, LABELLED, "failurePolicy", "\"Ignore\"");
    assert_entry(env, LABELLED, "timeoutSeconds", "2");
    assert_entry(env, ANNOTATED, "objectSelector", "{}");
}

static void each_pod_matches_one_webhook_only(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", NULL);
    assert_entry(env, LABELLED, "objectSelector.matchExpressions",
                 "[{\"key\":\"sidecar.kubecontroller.io/inject\",\"operator\":\"In\","
                 "\"values\":[\"true\"]}]");
    assert_entry(env, ANNOTATED, "objectSelector.matchExpressions",
                 "[{\"key\":\"sidecar.kubecontroller.io/inject\",\"operator\":\"NotIn\","
                 "\"values\":[\"true\"]}]");
}

static void empty_selector_uses_the_annotation_only(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{selector: ''}", ENVOY);
    kc_auto(kc_transport) *t = transport_to_hook(env);
    assert_entry(env, LABELLED, "name", "null");
    kc_auto(kc_view) *labelled = send_review(t, "CREATE", POD(LABEL), false);
    assert_false(is_patched(labelled));
    kc_auto(kc_view) *marked = send_review(t, "CREATE", POD(MARK), false);
    assert_true(is_patched(marked));
}

static void webhook_is_reached_through_a_service(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{hook: ':0', hook-url: 'service://mesh/hook:8443'}", NULL);
    assert_entry(env, LABELLED, "clientConfig.service",
                 "{\"namespace\":\"mesh\",\"name\":\"hook\",\"path\":\"/mutate--v1-pod\","
                 "\"port\":8443}");
    assert_entry(env, LABELLED, "clientConfig.url", "null");
}

static void changed_webhook_configuration_is_restored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", NULL);
    kc_client *client = kc_testenv_client(env);
    const kc_key key = KC_KEY("", SIDECAR_CONFIGURATION);
    kc_auto(kc_object) *changed = kc_client_patch(
        client, &kc_kind_mutating_webhook, key, KC_PATCH_STRATEGIC,
        KC_STR("{\"webhooks\":[{\"name\":\"" LABELLED "\",\"failurePolicy\":\"Fail\","
               "\"namespaceSelector\":{\"matchLabels\":{\"mesh\":\"yes\"}}}]}"),
        NULL, NULL);
    assert_non_null(changed);
    eventually(entry_field_is(env, LABELLED, "failurePolicy", "Ignore"));
    assert_entry(env, LABELLED, "namespaceSelector", "{\"matchLabels\":{\"mesh\":\"yes\"}}");
    assert_true(is_published(env));
    kc_client_delete(client, &kc_kind_mutating_webhook, key, NULL, NULL);
    eventually(is_published(env));
    kc_auto(kc_transport) *t = transport_to_hook(env);
    kc_auto(kc_view) *answer = send_review(t, "CREATE", POD(LABEL), false);
    assert_non_null(answer);
}

/* A client that waits for readiness can rely on the webhook. */
static void readiness_requires_published_webhook(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun("{}", NULL);
    eventually(kc_manager_check_ready(kc_testenv_manager(env), NULL) == 0);
    assert_true(is_published(env));
}

static bool is_backing_off(kc_testenv *env)
{
    kc_scoped(kc_buf) metrics = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &metrics);
    const char *name = "reconcile_total{controller=\"sidecar-configuration\",result=\"requeue_"
                       "after\"} ";
    const char *found = strstr(kc_buf_cstr(&metrics), name);
    return found && found[strlen(name)] != '0';
}

/* Another hub, say, that says something else as often as we do. */
static void conflicting_writers_back_off(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = running("{}", NULL);
    for (int i = 0; i < 20 && !is_backing_off(env); i++) {
        kc_auto(kc_object) *changed = kc_client_patch(
            kc_testenv_client(env), &kc_kind_mutating_webhook, KC_KEY("", SIDECAR_CONFIGURATION),
            KC_PATCH_STRATEGIC,
            KC_STR("{\"webhooks\":[{\"name\":\"" LABELLED "\",\"failurePolicy\":\"Fail\"}]}"), NULL,
            NULL);
        assert_non_null(changed);
        eventually(is_backing_off(env) || entry_field_is(env, LABELLED, "failurePolicy", "Ignore"));
    }
    assert_true(is_backing_off(env));
}

TESTS(selected_pod_gets_its_sidecars, patched_pod_needs_no_patch, unselected_pod_is_unchanged,
      concurrent_requests_are_answered, pod_without_config_map_is_admitted_with_a_warning,
      invalid_config_map_is_reported, webhook_configuration_has_the_selector,
      each_pod_matches_one_webhook_only, empty_selector_uses_the_annotation_only,
      webhook_is_reached_through_a_service, changed_webhook_configuration_is_restored,
      readiness_requires_published_webhook, conflicting_writers_back_off)
