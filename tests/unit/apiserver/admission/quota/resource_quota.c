/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceQuotas, enforced by the API server. The texts are those of kube-apiserver. The status of
 * a quota is set as the quota controller sets it. */
#include "api_testing.h"

#include "apiserver/admission/admission_config.h"

#define PODS   "/api/v1/namespaces/default/pods"
#define QUOTAS "/api/v1/namespaces/default/resourcequotas"
#define MAPS   "/api/v1/namespaces/default/configmaps"

/* A quota whose usage is known. `spec`: further members of the spec. */
static void limit(api *a, const char *name, const char *hard, const char *used, const char *spec)
{
    assert_code(
        api_post(a, QUOTAS,
                 text(a, "{'metadata':{'name':'%s'},'spec':{'hard':{%s}%s}}", name, hard, spec)),
        201);
    const reply *r =
        SEND(a, "PATCH", text(a, QUOTAS "/%s/status", name),
             .body = text(a, "{'status':{'hard':{%s},'used':{%s}}}", hard, used),
             .type = "application/merge-patch+json", .agent = "kube-controller-manager/v1");
    assert_code(r, 200);
}

static const reply *make_pod(api *a, const char *name, const char *spec, const char *resources)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i',"
                         "'resources':{%s}}]%s}}",
                         name, resources, spec));
}

static const reply *make_map(api *a, const char *name)
{
    return api_post(a, MAPS, text(a, "{'metadata':{'name':'%s'}}", name));
}

static const char *used(api *a, const char *quota)
{
    return r_text(api_get(a, text(a, QUOTAS "/%s", quota)), "status.used");
}

static void object_beyond_the_count_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'configmaps':'2','count/configmaps':'3'",
          "'configmaps':'0','count/configmaps':'0'", "");
    assert_code(make_map(a, "a"), 201);
    assert_code(make_map(a, "b"), 201);
    assert_string_equal(used(a, "q"), "{\"configmaps\":\"2\",\"count/configmaps\":\"2\"}");
    assert_status(
        make_map(a, "c"), 403, "Forbidden",
        "configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: "
        "configmaps=2, limited: configmaps=2");
    assert_string_equal(used(a, "q"), "{\"configmaps\":\"2\",\"count/configmaps\":\"2\"}");
}

static void refused_object_charges_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'configmaps':'5'", "'configmaps':'0'", "");
    assert_code(make_map(a, "a"), 201);
    assert_code(make_map(a, "a"), 409);
    assert_code(make_map(a, "A"), 422);
    assert_string_equal(used(a, "q"), "{\"configmaps\":\"1\"}");
}

static void dry_run_is_checked_and_charges_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'configmaps':'1'", "'configmaps':'0'", "");
    assert_code(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'a'}}"), 201);
    assert_string_equal(used(a, "q"), "{\"configmaps\":\"0\"}");
    assert_code(make_map(a, "a"), 201);
    assert_code(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'b'}}"), 403);
}

static void quota_without_a_status_limits_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, QUOTAS, "{'metadata':{'name':'q'},'spec':{'hard':{'configmaps':'0'}}}"),
                201);
    assert_code(make_map(a, "a"), 201);
}

static void quota_without_usage_refuses(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'configmaps':'2','count/configmaps':'2'", "'configmaps':'0'", "");
    assert_status(make_map(a, "a"), 403, "Forbidden",
                  "configmaps \"a\" is forbidden: status unknown for quota: q, resources: "
                  "configmaps,count/configmaps");
}

static void pod_is_charged_its_requests_and_limits(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'requests.cpu':'1','limits.memory':'2Gi','pods':'10'",
          "'requests.cpu':'0','limits.memory':'0','pods':'0'", "");
    assert_code(make_pod(a, "a", "", "'requests':{'cpu':'600m'},'limits':{'memory':'1Gi'}"), 201);
    assert_string_equal(used(a, "q"),
                        "{\"limits.memory\":\"1Gi\",\"pods\":\"1\",\"requests.cpu\":\"600m\"}");
    assert_status(make_pod(a, "b", "", "'requests':{'cpu':'600m'},'limits':{'memory':'1Gi'}"), 403,
                  "Forbidden",
                  "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: "
                  "requests.cpu=600m, limited: requests.cpu=1");
    assert_status(make_pod(a, "b", "", "'requests':{'cpu':'600m'},'limits':{'memory':'1536Mi'}"),
                  403, "Forbidden",
                  "pods \"b\" is forbidden: exceeded quota: q, requested: limits.memory=1536Mi,"
                  "requests.cpu=600m, used: limits.memory=1Gi,requests.cpu=600m, limited: "
                  "limits.memory=2Gi,requests.cpu=1");
}

static void container_without_required_amounts_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'requests.cpu':'1','limits.memory':'2Gi'",
          "'requests.cpu':'0','limits.memory':'0'", "");
    assert_status(make_pod(a, "p", "", ""), 403, "Forbidden",
                  "pods \"p\" is forbidden: failed quota: q: must specify limits.memory for: c; "
                  "requests.cpu for: c");
}

static void quota_of_another_scope_does_not_apply(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'pods':'0'", "'pods':'0'", ",'scopes':['Terminating']");
    assert_code(make_pod(a, "a", "", ""), 201);
    assert_status(make_pod(a, "b", ",'activeDeadlineSeconds':5", ""), 403, "Forbidden",
                  "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, "
                  "limited: pods=0");
}

static void every_matching_quota_is_charged(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "one", "'pods':'5'", "'pods':'0'", "");
    limit(a, "two", "'count/pods':'5'", "'count/pods':'1'", "");
    limit(a, "other", "'services':'5'", "'services':'0'", "");
    assert_code(make_pod(a, "a", "", ""), 201);
    assert_string_equal(used(a, "one"), "{\"pods\":\"1\"}");
    assert_string_equal(used(a, "two"), "{\"count/pods\":\"2\"}");
    assert_string_equal(used(a, "other"), "{\"services\":\"0\"}");
}

static void update_is_charged_the_difference(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
#define SERVICES "/api/v1/namespaces/default/services"
    limit(a, "q", "'services':'5','services.nodeports':'2','services.loadbalancers':'0'",
          "'services':'0','services.nodeports':'0','services.loadbalancers':'0'", "");
    assert_code(api_post(a, SERVICES,
                         "{'metadata':{'name':'s'},'spec':{'ports':[{'name':'a','port':1},{'name':"
                         "'b','port':2}]}}"),
                201);
    assert_code(api_patch(a, SERVICES "/s", "{'spec':{'type':'NodePort'}}"), 200);
    assert_string_equal(used(a, "q"), "{\"services\":\"1\",\"services.loadbalancers\":\"0\","
                                      "\"services.nodeports\":\"2\"}");
    assert_status(api_patch(a, SERVICES "/s", "{'spec':{'type':'LoadBalancer'}}"), 403, "Forbidden",
                  "services \"s\" is forbidden: exceeded quota: q, requested: "
                  "services.loadbalancers=1, used: services.loadbalancers=0, limited: "
                  "services.loadbalancers=0");
    assert_code(api_patch(a, SERVICES "/s", "{'spec':{'type':'ClusterIP'}}"), 200);
    assert_string_equal(used(a, "q"), "{\"services\":\"1\",\"services.loadbalancers\":\"0\","
                                      "\"services.nodeports\":\"2\"}");
}

static void custom_resource_is_counted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                         "{'metadata':{'name':'robots.x.io'},'spec':{'group':'x.io','scope':"
                         "'Namespaced','names':{'plural':'robots','kind':'Robot'},'versions':[{"
                         "'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
                         "'type':'object'}}}]}}"),
                201);
    limit(a, "q", "'count/robots.x.io':'1'", "'count/robots.x.io':'0'", "");
#define ROBOTS "/apis/x.io/v1/namespaces/default/robots"
    for (int i = 0; api_get(a, ROBOTS)->status != 200; i++)
        assert_true(i < 1000);
#define ROBOT(name) "{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'" name "'}}"
    assert_code(api_post(a, ROBOTS, ROBOT("a")), 201);
    assert_status(api_post(a, ROBOTS, ROBOT("b")), 403, "Forbidden",
                  "robots.x.io \"b\" is forbidden: exceeded quota: q, requested: "
                  "count/robots.x.io=1, used: count/robots.x.io=1, limited: count/robots.x.io=1");
}

static void charged_quota_is_owned_by_the_server(void **state)
{
    (void)state;
    /* Entries are sorted by their second first. */
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    limit(a, "q", "'configmaps':'2'", "'configmaps':'0'", "");
    assert_code(make_map(a, "a"), 201);
    const reply *r = api_get(a, QUOTAS "/q");
    assert_at(r, "metadata.managedFields[0].manager", "kube-apiserver");
    assert_at(r, "metadata.managedFields[0].subresource", "status");
    assert_at(r, "metadata.managedFields[0].fieldsV1",
              "{\"f:status\":{\"f:used\":{\"f:configmaps\":{}}}}");
}

static void watcher_sees_the_object_before_the_charge(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "q", "'configmaps':'2'", "'configmaps':'0'", "");
    const reply *map = make_map(a, "a");
    const uint64_t of_map = strtoull(r_text(map, "metadata.resourceVersion"), NULL, 10),
                   of_quota = strtoull(r_text(api_get(a, QUOTAS "/q"), "metadata.resourceVersion"),
                                       NULL, 10);
    assert_int_equal(of_quota, of_map + 1);
}

static void limited_resource_needs_a_quota(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__quota_config) *config = kc__quota_config_parse(
        KC_STR("apiVersion: apiserver.config.k8s.io/v1\n"
               "kind: ResourceQuotaConfiguration\n"
               "limitedResources:\n"
               "- resource: persistentvolumeclaims\n"
               "  matchContains: [gold.storageclass.storage.k8s.io/requests.storage]\n"
               "- resource: pods\n"
               "  matchScopes:\n"
               "  - {scopeName: PriorityClass, operator: In, values: [high, higher]}\n"),
        &err);
    assert_non_null(config);
    const kc__admission_config admission = {.quota = config};
    kc_auto(api) *a = api_start(&(api_opts){.server.admission_config = &admission});
#define CLAIM(name)                                                                                \
    "{'metadata':{'name':'" name                                                                   \
    "'},'spec':{'storageClassName':'gold','accessModes':['ReadWriteOnce'],'resources':{'requests'" \
    ":{'storage':'1Gi'}}}}"
    assert_status(api_post(a, "/api/v1/namespaces/default/persistentvolumeclaims", CLAIM("c")), 403,
                  "Forbidden",
                  "persistentvolumeclaims \"c\" is forbidden: insufficient quota to consume: "
                  "gold.storageclass.storage.k8s.io/requests.storage");
    assert_code(api_post(a, "/apis/scheduling.k8s.io/v1/priorityclasses",
                         "{'metadata':{'name':'high'},'value':5}"),
                201);
    const reply *r = make_pod(a, "p", ",'priorityClassName':'high'", "");
    assert_code(r, 500);
    assert_at(r, "message",
              "insufficient quota to match these scopes: [{PriorityClass In [high higher]}]");
    limit(a, "q", "'pods':'1'", "'pods':'0'",
          ",'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In',"
          "'values':['high']}]}");
    assert_code(make_pod(a, "p", ",'priorityClassName':'high'", ""), 201);
}

static void configuration_with_an_unknown_field_is_invalid(void **state)
{
    (void)state;
#define CONFIG "{apiVersion: apiserver.config.k8s.io/v1, kind: ResourceQuotaConfiguration"
    static const struct {
        const char *text, *problem;
    } wrong[] = {
        {CONFIG ", limited: []}", "unknown field \"configuration.limited\""},
        {CONFIG ", limitedResources: [{apiGroup: apps}]}",
         "limitedResources[0].resource: Required value"},
        {CONFIG ", limitedResources: [{resource: pods, matchContains: [1]}]}",
         "limitedResources.matchContains has the wrong type"},
        {"{apiVersion: v1, kind: ResourceQuotaConfiguration}",
         "expected kind ResourceQuotaConfiguration"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc__quota_config_parse(kc_cstr(wrong[i].text), &err));
        assert_error(&err, KC_INVALID, wrong[i].problem);
    }
}

TESTS(object_beyond_the_count_is_forbidden, refused_object_charges_nothing,
      dry_run_is_checked_and_charges_nothing, quota_without_a_status_limits_nothing,
      quota_without_usage_refuses, pod_is_charged_its_requests_and_limits,
      container_without_required_amounts_is_forbidden, quota_of_another_scope_does_not_apply,
      every_matching_quota_is_charged, update_is_charged_the_difference, custom_resource_is_counted,
      charged_quota_is_owned_by_the_server, watcher_sees_the_object_before_the_charge,
      limited_resource_needs_a_quota, configuration_with_an_unknown_field_is_invalid)
