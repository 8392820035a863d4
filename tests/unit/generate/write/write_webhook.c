/* SPDX-License-Identifier: Apache-2.0 */
/* Webhook configurations from markers: their format, defaults, order, patches, and errors. */
#include "testing.h"

#include "generate/read/read_headers.h"
#include "generate/write/write_webhook.h"

/* What every marker needs, and a path for those of a service. */
#define BASE                                                                               \
    "groups=apps.example.io,resources=robots,versions=v1,verbs=create,failurePolicy=fail," \
    "sideEffects=None,admissionReviewVersions=v1"
#define VALIDATING "webhook:mutating=false," BASE ",path=/check,name=v.robots.example.io"
#define MUTATING   "webhook:mutating=true," BASE ",path=/mutate,name=m.robots.example.io"

static int keep(const char *name, kc_str text, void *user, kc_error *err)
{
    (void)err;
    assert_string_equal(name, "manifests.yaml");
    kc_buf_append(user, text);
    return 0;
}

/* The configurations of markers, one a line without what stands before their names; or errors. */
static char *webhooks_of(const char *lines, const char *header)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) source = {0};
    kc_scoped(kc_buf) out = {0};
    for (kc_str rest = kc_cstr(lines); rest.n;) {
        const kc_str line = kc_str_cut(&rest, '\n');
        kc_buf_printf(&source, "/// +kubebuilder:%.*s\n", KC_ARG(line));
    }
    if (kc__gen_read_project_text(kc_buf_str(&source), "main.c", &model, &err) < 0 ||
        kc__gen_write_webhooks(&model, header, keep, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

static void marker_becomes_a_webhook_configuration(void **state)
{
    (void)state;
    kc_autofree char *yaml = webhooks_of(VALIDATING, "# Mine.\n");
    assert_string_equal(yaml, "# Mine.\n"
                              "---\n"
                              "apiVersion: admissionregistration.k8s.io/v1\n"
                              "kind: ValidatingWebhookConfiguration\n"
                              "metadata:\n"
                              "  name: validating-webhook-configuration\n"
                              "webhooks:\n"
                              "- admissionReviewVersions:\n"
                              "  - v1\n"
                              "  clientConfig:\n"
                              "    service:\n"
                              "      name: webhook-service\n"
                              "      namespace: system\n"
                              "      path: /check\n"
                              "  failurePolicy: Fail\n"
                              "  name: v.robots.example.io\n"
                              "  rules:\n"
                              "  - apiGroups:\n"
                              "    - apps.example.io\n"
                              "    apiVersions:\n"
                              "    - v1\n"
                              "    operations:\n"
                              "    - CREATE\n"
                              "    resources:\n"
                              "    - robots\n"
                              "  sideEffects: None\n");
}

static void no_webhook_writes_nothing(void **state)
{
    (void)state;
    kc_autofree char *none = webhooks_of("", "# Mine.\n");
    assert_string_equal(none, "");
    kc_autofree char *named = webhooks_of("webhookconfiguration:mutating=true,name=a", NULL);
    assert_string_equal(named, "");
}

static const struct argument_case {
    const char *marker, *part;
} argument_cases[] = {
    {VALIDATING ",matchPolicy=exact", "\n  matchPolicy: Exact\n"},
    {VALIDATING ",matchPolicy=Equivalent", "\n  matchPolicy: Equivalent\n"},
    {VALIDATING ",timeoutSeconds=30", "\n  timeoutSeconds: 30\n"},
    {VALIDATING ",serviceName=hooks,serviceNamespace=robots,servicePort=8443",
     "    service:\n      name: hooks\n      namespace: robots\n      path: /check\n"
     "      port: 8443\n"},
    {"webhook:mutating=false," BASE ",name=a.b.c,url=\"https://hooks:9443/check\"",
     "  clientConfig:\n    url: https://hooks:9443/check\n"},
    {MUTATING ",reinvocationPolicy=ifneeded", "\n  reinvocationPolicy: IfNeeded\n"},
    {MUTATING, "  name: mutating-webhook-configuration\n"},
    {MUTATING "\nwebhookconfiguration:mutating=true,name=mine", "metadata:\n  name: mine\n"},
    {VALIDATING "\nwebhookconfiguration:mutating=true,name=mine",
     "  name: validating-webhook-configuration\n"},
    {"webhook:mutating=true,groups=core;apps,resources=pods/status,versions=*,"
     "verbs=create;UPDATE;Delete;connect,failurePolicy=ignore,sideEffects=noneOnDryRun,"
     "admissionReviewVersions=v1;v1beta1,path=/a,name=a.b.c,webhookVersions=v1",
     "  - apiGroups:\n    - \"\"\n    - apps\n    apiVersions:\n    - '*'\n    operations:\n"
     "    - CREATE\n    - UPDATE\n    - DELETE\n    - CONNECT\n    resources:\n"
     "    - pods/status\n  sideEffects: NoneOnDryRun\n"},
    {VALIDATING ",patch=`{\"namespaceSelector\":{\"matchLabels\":{\"robots\":\"yes\"}}}`",
     "\n  namespaceSelector:\n    matchLabels:\n      robots: \"yes\"\n  rules:\n"},
    {VALIDATING ",timeoutSeconds=3,patch=`{\"timeoutSeconds\":25}`", "\n  timeoutSeconds: 25\n"},
    {VALIDATING ",patch=`{\"matchConditions\":[{\"name\":\"a\",\"expression\":\"true\"}]}`",
     "\n  matchConditions:\n  - expression: \"true\"\n    name: a\n"},
    {VALIDATING ",patch=`{\"clientConfig\":{\"service\":{\"port\":1}}}`",
     "      path: /check\n      port: 1\n"},
};

static void every_argument_is_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(argument_cases); i++) {
        kc_autofree char *yaml = webhooks_of(argument_cases[i].marker, NULL);
        assert_contains(yaml, argument_cases[i].part);
    }
}

static void validating_webhook_has_no_reinvocation_policy(void **state)
{
    (void)state;
    kc_autofree char *yaml = webhooks_of(VALIDATING ",reinvocationPolicy=Never", NULL);
    assert_null(strstr(yaml, "reinvocationPolicy"));
}

static void mutating_webhooks_come_first_and_are_sorted_by_name(void **state)
{
    (void)state;
    kc_autofree char *yaml = webhooks_of("webhook:mutating=false," BASE ",path=/2,name=z.z.z\n"
                                         "webhook:mutating=false," BASE ",path=/1,name=a.a.a\n"
                                         "webhook:mutating=false," BASE ",path=/3,name=z.z.z\n"
                                         "webhook:mutating=true," BASE ",path=/0,name=m.m.m",
                                         NULL);
    const char *at = yaml;
    for (int i = 0; i < 4; i++) {
        kc_autofree char *path = kc_asprintf("path: /%d\n", i);
        at = strstr(at, path);
        assert_non_null(at);
    }
}

static const struct mistake {
    const char *markers, *error;
} mistakes[] = {
    {VALIDATING ",url=\"https://a/b\"", "main.c:1:5: '+kubebuilder:webhook' needs a path or a url"},
    {"webhook:mutating=false," BASE ",name=a.b.c", "needs a path or a url"},
    {"webhook:mutating=false," BASE ",path=/a", "needs a name"},
    {VALIDATING ",timeoutSeconds=31", "timeoutSeconds must be from 1 to 30"},
    {VALIDATING ",matchPolicy=Exactly", "matchPolicy must be Equivalent or Exact, not 'Exactly'"},
    {VALIDATING ",webhookVersions=v1beta1", "webhookVersions may only be v1, not 'v1beta1'"},
    {MUTATING ",reinvocationPolicy=Often", "reinvocationPolicy must be Never or IfNeeded"},
    {"webhook:mutating=true,groups=a,resources=b,versions=v1,verbs=creat,failurePolicy=fail,"
     "sideEffects=None,admissionReviewVersions=v1,path=/a,name=a.b.c",
     "verbs must be CREATE, UPDATE, DELETE, CONNECT or *, not 'creat'"},
    {"webhook:mutating=true,groups=a,resources=b,versions=v1,verbs=create,failurePolicy=faill,"
     "sideEffects=Some,admissionReviewVersions=v1,path=/a,name=a.b.c",
     "failurePolicy must be Fail or Ignore, not 'faill'\n"
     "main.c:1:5: '+kubebuilder:webhook': sideEffects must be None or NoneOnDryRun, not 'Some'"},
    {"webhook:mutating=true,groups=a,resources=b,versions=v1,verbs=create,failurePolicy=fail,"
     "admissionReviewVersions=v1,path=/a,name=a.b.c",
     "sideEffects must be None or NoneOnDryRun"},
    {MUTATING "\nwebhookconfiguration:mutating=true,name=a\n"
              "webhookconfiguration:mutating=true,name=b",
     "main.c:3:5: '+kubebuilder:webhookconfiguration' of the same kind stands in main.c, line 2"},
    {VALIDATING ",patch=`{`", "patch: "},
    {VALIDATING ",patch=`[]`", "patch: it must be an object"},
    {VALIDATING ",patch=`{\"objectSelektor\":{}}`",
     "patch: a webhook has no field 'objectSelektor'; is it 'objectSelector'?"},
    {VALIDATING ",patch=`{\"timeoutSeconds\":0}`", "timeoutSeconds must be from 1 to 30"},
    {VALIDATING ",patch=`{\"admissionReviewVersions\":null}`", "needs admissionReviewVersions=v1"},
};

static void rules_the_server_refuses_are_errors_with_location(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(mistakes); i++) {
        kc_autofree char *text = webhooks_of(mistakes[i].markers, NULL);
        assert_contains(text, mistakes[i].error);
    }
}

TESTS(marker_becomes_a_webhook_configuration, no_webhook_writes_nothing, every_argument_is_written,
      validating_webhook_has_no_reinvocation_policy,
      mutating_webhooks_come_first_and_are_sorted_by_name,
      rules_the_server_refuses_are_errors_with_location)
