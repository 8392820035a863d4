/* SPDX-License-Identifier: Apache-2.0 */
/* Pod Security in requests: pods, templates of workloads, labels of namespaces, exemptions. */
#include "api_testing.h"

#include "apiserver/admission/admission_config.h"

#define L          "'pod-security.kubernetes.io/"
#define PRIVILEGED "'securityContext':{'privileged':true}"

static void make_namespace(api *a, const char *name, const char *labels)
{
    assert_code(api_post(a, "/api/v1/namespaces",
                         text(a, "{'metadata':{'name':'%s','labels':{%s}}}", name, labels)),
                201);
}

static const reply *make_pod(api *a, const char *ns, const char *name, const char *more)
{
    return api_post(a, text(a, "/api/v1/namespaces/%s/pods", ns),
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i'"
                         "%s}]}}",
                         name, more));
}

static const char *warning(const reply *r, size_t i)
{
    const char *found = r_header_at(r, "Warning", i);
    return found ? found : "";
}

static void violating_pod_is_forbidden_where_the_level_is_enforced(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "strict", L "enforce':'baseline'");
    assert_status(make_pod(a, "strict", "p", "," PRIVILEGED), 403, "Forbidden",
                  "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": privileged "
                  "(container \"c\" must not set securityContext.privileged=true)");
    assert_code(make_pod(a, "strict", "p", ""), 201);
    assert_code(make_pod(a, "default", "p", "," PRIVILEGED), 201);
}

static void warned_level_warns_about_pods_and_templates(void **state)
{
    (void)state;
    static const char expected[] =
        "299 - \"would violate PodSecurity \\\"baseline:v1.20\\\": privileged (container \\\"c\\\" "
        "must not set securityContext.privileged=true)\"";
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "warned", L "warn':'baseline'," L "warn-version':'v1.20'");
    const reply *r = make_pod(a, "warned", "p", "," PRIVILEGED);
    assert_code(r, 201);
    assert_string_equal(warning(r, 0), expected);
    r = api_post(a, "/apis/batch/v1/namespaces/warned/cronjobs",
                 "{'metadata':{'name':'j'},'spec':{'schedule':'* * * * *','jobTemplate':{'spec':"
                 "{'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':"
                 "'i'," PRIVILEGED "}]}}}}}}");
    assert_code(r, 201);
    assert_string_equal(warning(r, 0), expected);
}

static void enforced_level_only_warns_about_templates(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "strict", L "enforce':'baseline'");
    const reply *r = api_post(
        a, "/apis/apps/v1/namespaces/strict/deployments",
        "{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':"
        "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'," PRIVILEGED
        "}]}}}}");
    assert_code(r, 201);
    assert_contains(warning(r, 0), "would violate PodSecurity \\\"baseline:latest\\\"");
}

static void update_that_changes_no_image_is_not_checked(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "n", "");
    assert_code(make_pod(a, "n", "p", "," PRIVILEGED), 201);
    assert_code(
        api_patch(a, "/api/v1/namespaces/n", "{'metadata':{'labels':{" L "enforce':'baseline'}}}"),
        200);
    assert_code(api_patch(a, "/api/v1/namespaces/n/pods/p", "{'metadata':{'labels':{'a':'b'}}}"),
                200);
    assert_code(SEND(a, "PATCH", "/api/v1/namespaces/n/pods/p",
                     .type = "application/strategic-merge-patch+json",
                     .body = "{'spec':{'containers':[{'name':'c','image':'j'}]}}"),
                403);
}

static void wrong_label_of_a_namespace_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_post(a, "/api/v1/namespaces",
                           "{'metadata':{'name':'n','labels':{" L "enforce-version':'v2'}}}"),
                  422, "Invalid",
                  "Namespace \"n\" is invalid: metadata.labels[pod-security.kubernetes.io/"
                  "enforce-version]: Invalid value: \"v2\": must be \"latest\" or \"v1.x\"");
}

static void stricter_level_warns_about_existing_pods(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "n", "");
    for (int i = 2; i >= 0; i--)
        assert_code(make_pod(a, "n", text(a, "p%d", i), "," PRIVILEGED), 201);
    assert_code(make_pod(a, "n", "fine", ""), 201);
    const reply *r =
        api_patch(a, "/api/v1/namespaces/n", "{'metadata':{'labels':{" L "enforce':'baseline'}}}");
    assert_code(r, 200);
    assert_string_equal(warning(r, 0),
                        "299 - \"existing pods in namespace \\\"n\\\" violate the new PodSecurity "
                        "enforce level \\\"baseline:latest\\\"\"");
    assert_string_equal(warning(r, 1), "299 - \"p0 (and 2 other pods): privileged\"");
    assert_string_equal(warning(r, 2), "");
    r = api_patch(a, "/api/v1/namespaces/n",
                  "{'metadata':{'labels':{" L "enforce':'privileged'}}}");
    assert_string_equal(warning(r, 0), "");
}

/* More than ten pods: a worker thread evaluates them. */
static void many_existing_pods_are_evaluated(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "n", "");
    for (int i = 0; i < 40; i++)
        assert_code(make_pod(a, "n", text(a, "p%02d", i), "," PRIVILEGED), 201);
    const reply *r =
        api_patch(a, "/api/v1/namespaces/n", "{'metadata':{'labels':{" L "enforce':'baseline'}}}");
    assert_string_equal(warning(r, 1), "299 - \"p00 (and 39 other pods): privileged\"");
}

static void configuration_sets_defaults_and_exemptions(void **state)
{
    (void)state;
    kc_auto(kc__pod_security_config) *config = kc__pod_security_config_parse(
        KC_STR("apiVersion: pod-security.admission.config.k8s.io/v1\n"
               "kind: PodSecurityConfiguration\n"
               "defaults: {enforce: baseline}\n"
               "exemptions: {namespaces: [free], runtimeClasses: [vm]}\n"),
        NULL);
    assert_non_null(config);
    const kc__admission_config admission = {.pod_security = config};
    kc_auto(api) *a = api_start(&(api_opts){.server.admission_config = &admission});
    make_namespace(a, "free", "");
    assert_code(make_pod(a, "default", "p", "," PRIVILEGED), 403);
    assert_code(make_pod(a, "free", "p", "," PRIVILEGED), 201);
    const reply *r = api_patch(a, "/api/v1/namespaces/free",
                               "{'metadata':{'labels':{" L "enforce':'restricted'}}}");
    assert_string_equal(
        warning(r, 0), "299 - \"namespace \\\"free\\\" is exempt from Pod Security, and the policy "
                       "(enforce=restricted:latest) will be ignored\"");
}

static void decisions_are_counted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_namespace(a, "n", L "enforce':'baseline'," L "audit':'restricted'");
    assert_code(make_pod(a, "n", "p", "," PRIVILEGED), 403);
    const reply *r = api_get(a, "/metrics");
    assert_contains(r->body,
                    "pod_security_evaluations_total{decision=\"deny\",policy_level=\"baseline\","
                    "policy_version=\"latest\",mode=\"enforce\",request_operation=\"create\","
                    "resource=\"pod\",subresource=\"\"} 1");
    assert_contains(r->body, "mode=\"audit\"");
}

TESTS(violating_pod_is_forbidden_where_the_level_is_enforced,
      warned_level_warns_about_pods_and_templates, enforced_level_only_warns_about_templates,
      update_that_changes_no_image_is_not_checked, wrong_label_of_a_namespace_is_invalid,
      stricter_level_warns_about_existing_pods, many_existing_pods_are_evaluated,
      configuration_sets_defaults_and_exemptions, decisions_are_counted)
