/* SPDX-License-Identifier: Apache-2.0 */
/* Service accounts of pods. */
#include "api_testing.h"

#define PODS     "/api/v1/namespaces/default/pods"
#define ACCOUNTS "/api/v1/namespaces/default/serviceaccounts"
#define MOUNT    "/var/run/secrets/kubernetes.io/serviceaccount"

static api *start_with_plugin(void)
{
    kc__admission_selection on = 0;
    assert_int_equal(kc__admission_selection_parse("ServiceAccount", &on, NULL), 0);
    return api_start(&(api_opts){.server.enabled_plugins = on});
}

static void make_account(api *a, const char *name, const char *more)
{
    assert_code(api_post(a, ACCOUNTS, text(a, "{'metadata':{'name':'%s'%s}", name, more)), 201);
}

static const reply *make_pod(api *a, const char *name, const char *metadata, const char *container,
                             const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s'%s},'spec':{'containers':[{'name':'c','image':"
                         "'i'%s}]%s}}",
                         name, metadata, container, spec));
}

static void pod_gets_the_default_account_and_its_token(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_plugin();
    assert_status(make_pod(a, "p", "", "", ""), 403, "Forbidden",
                  "pods \"p\" is forbidden: error looking up service account default/default: "
                  "serviceaccount \"default\" not found");
    make_account(a, "default", "}");
    const reply *r = make_pod(a, "p", "", "", "");
    const char *volume = r_text(r, "spec.volumes[0].name");
    assert_code(r, 201);
    assert_at(r, "spec.serviceAccountName", "default");
    assert_at(r, "spec.serviceAccount", "default");
    assert_int_equal(strncmp(volume, "kube-api-access-", 16), 0);
    assert_int_equal(strlen(volume), 21);
    assert_at(r, "spec.containers[0].volumeMounts[0]",
              text(a, "{\"name\":\"%s\",\"readOnly\":true,\"mountPath\":\"" MOUNT "\"}", volume));
    assert_at(r, "spec.volumes[0].projected.defaultMode", "420");
    assert_at(r, "spec.volumes[0].projected.sources[0].serviceAccountToken",
              "{\"expirationSeconds\":3607,\"path\":\"token\"}");
    assert_at(r, "spec.volumes[0].projected.sources[1].configMap.name", "kube-root-ca.crt");
    assert_at(r, "spec.volumes[0].projected.sources[2].downwardAPI.items[0].path", "namespace");
}

static void token_is_not_mounted_where_it_is_not_wanted(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_plugin();
    make_account(a, "default", "}");
    make_account(a, "quiet",
                 "},'automountServiceAccountToken':false,'imagePullSecrets':[{'name':'pull'}]");
    assert_at(make_pod(a, "a", "", "", ",'automountServiceAccountToken':false"), "spec.volumes",
              "");
    const reply *r = make_pod(a, "b", "", "", ",'serviceAccountName':'quiet'");
    assert_at(r, "spec.volumes", "");
    assert_at(r, "spec.imagePullSecrets", "[{\"name\":\"pull\"}]");
    r = make_pod(a, "c", "", ",'volumeMounts':[{'name':'v','mountPath':'" MOUNT "'}]",
                 ",'volumes':[{'name':'v','emptyDir':{}}]");
    assert_int_equal(r_count(r, "spec.volumes"), 1);
    assert_int_equal(r_count(r, "spec.containers[0].volumeMounts"), 1);
}

static void mirror_pod_must_not_use_accounts_or_secrets(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_plugin();
    static const char mirror[] = ",'annotations':{'kubernetes.io/config.mirror':'x'}";
    assert_status(make_pod(a, "p", mirror, "", ",'nodeName':'n','serviceAccountName':'default'"),
                  403, "Forbidden",
                  "pods \"p\" is forbidden: a mirror pod may not reference service accounts");
    assert_status(
        make_pod(a, "p", mirror, ",'envFrom':[{'secretRef':{'name':'s'}}]", ",'nodeName':'n'"), 403,
        "Forbidden", "pods \"p\" is forbidden: a mirror pod may not reference secrets");
    assert_status(make_pod(a, "p", mirror, "",
                           ",'nodeName':'n','volumes':[{'name':'v','projected':{'sources':["
                           "{'serviceAccountToken':{'path':'t'}}]}}]"),
                  403, "Forbidden",
                  "pods \"p\" is forbidden: a mirror pod may not use ServiceAccountToken volume "
                  "projections");
    const reply *r = make_pod(a, "p", mirror, "", ",'nodeName':'n'");
    assert_code(r, 201);
    assert_at(r, "spec.volumes", "");
}

static void account_limits_secrets_if_it_enforces_that(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_plugin();
    make_account(a, "strict",
                 ",'annotations':{'kubernetes.io/enforce-mountable-secrets':'true'}},"
                 "'secrets':[{'name':'ok'}]");
#define STRICT ",'serviceAccountName':'strict'"
    assert_status(
        make_pod(a, "p", "", "", STRICT ",'volumes':[{'name':'v','secret':{'secretName':'bad'}}]"),
        403, "Forbidden",
        "pods \"p\" is forbidden: volume with secret.secretName=\"bad\" is not allowed "
        "because service account strict does not reference that secret");
    assert_status(make_pod(a, "p", "", ",'envFrom':[{'secretRef':{'name':'bad'}}]", STRICT), 403,
                  "Forbidden",
                  "pods \"p\" is forbidden: container c with envFrom referencing "
                  "secret.secretName=\"bad\" is not allowed because service account strict does "
                  "not reference that secret");
    assert_status(make_pod(a, "p", "", "", STRICT ",'imagePullSecrets':[{'name':'bad'}]"), 403,
                  "Forbidden",
                  "pods \"p\" is forbidden: imagePullSecrets[0].name=\"bad\" is not allowed "
                  "because service account strict does not reference that imagePullSecret");
    assert_code(
        make_pod(a, "p", "", "", STRICT ",'volumes':[{'name':'v','secret':{'secretName':'ok'}}]"),
        201);
}

static void pods_need_no_account_while_the_plugin_is_off(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = make_pod(a, "p", "", "", "");
    assert_code(r, 201);
    assert_at(r, "spec.serviceAccountName", "");
}

TESTS(pod_gets_the_default_account_and_its_token, token_is_not_mounted_where_it_is_not_wanted,
      mirror_pod_must_not_use_accounts_or_secrets, account_limits_secrets_if_it_enforces_that,
      pods_need_no_account_while_the_plugin_is_off)
