/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that are off by default. The texts are those of kube-apiserver. */
#include "api_testing.h"

#include "apiserver/admission/admission_config.h"

#define PODS     "/api/v1/namespaces/default/pods"
#define SERVICES "/api/v1/namespaces/default/services"
#define EVENTS   "/api/v1/namespaces/default/events"

static api *start_with(const char *plugins)
{
    kc__admission_selection on = 0;
    assert_int_equal(kc__admission_selection_parse(plugins, &on, NULL), 0);
    return api_start(&(api_opts){.server.enabled_plugins = on});
}

static const reply *make_pod(api *a, const char *name, const char *container, const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i'"
                         "%s}]%s}}",
                         name, container, spec));
}

static void always_pull_images_sets_the_policy(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with("AlwaysPullImages");
    const reply *r = make_pod(a, "p", ",'imagePullPolicy':'Never'",
                              ",'initContainers':[{'name':'i','image':'x:1'}]");
    assert_code(r, 201);
    assert_at(r, "spec.containers[0].imagePullPolicy", "Always");
    assert_at(r, "spec.initContainers[0].imagePullPolicy", "Always");
    assert_code(api_patch(a, PODS "/p", "{'metadata':{'labels':{'a':'b'}}}"), 200);
}

static void hard_anti_affinity_of_zones_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with("LimitPodHardAntiAffinityTopology");
#define ANTI(key)                                                                         \
    ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{" \
    "'labelSelector':{},'topologyKey':'" key "'}]}}"
    assert_code(make_pod(a, "a", "", ANTI("kubernetes.io/hostname")), 201);
    assert_status(make_pod(a, "b", "", ANTI("zone")), 403, "Forbidden",
                  "pods \"b\" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has "
                  "TopologyKey zone but only key kubernetes.io/hostname is allowed");
}

static void new_external_ips_are_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with("DenyServiceExternalIPs");
    assert_code(api_post(a, SERVICES, "{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}"),
                201);
    assert_status(api_patch(a, SERVICES "/s", "{'spec':{'externalIPs':['1.2.3.4']}}"), 403,
                  "Forbidden",
                  "services \"s\" is forbidden: Use of external IPs is denied by admission "
                  "control");
    assert_code(api_patch(a, SERVICES "/s", "{'metadata':{'labels':{'a':'b'}}}"), 200);
}

static void always_deny_forbids_every_write(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with("AlwaysDeny");
    assert_status(make_pod(a, "p", "", ""), 403, "Forbidden",
                  "pods \"p\" is forbidden: admission control is denying all modifications");
    assert_code(api_get(a, PODS), 200);
}

static void pod_tolerates_its_extended_resources(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with("ExtendedResourceToleration");
    const reply *r =
        make_pod(a, "p", ",'resources':{'limits':{'x.io/b':'1','x.io/a':'1','cpu':'1'}}", "");
    assert_code(r, 201);
    assert_at(r, "spec.tolerations[2]",
              "{\"key\":\"x.io/a\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}");
    assert_at(r, "spec.tolerations[3]",
              "{\"key\":\"x.io/b\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}");
    assert_at(r, "spec.tolerations[4]", "");
}

static void default_tolerations_last_as_configured(void **state)
{
    (void)state;
    const kc__admission_config config = {.default_tolerations = {.given = true, .not_ready = 7}};
    kc_auto(api) *a = api_start(&(api_opts){.server.admission_config = &config});
    const reply *r = make_pod(a, "p", "", "");
    assert_at(r, "spec.tolerations[0].tolerationSeconds", "7");
    assert_at(r, "spec.tolerations[1].tolerationSeconds", "0");
}

/* ---- EventRateLimit ---- */

static const reply *make_event(api *a, const char *name, const char *object)
{
    return api_post(a, EVENTS,
                    text(a,
                         "{'metadata':{'name':'%s'},'involvedObject':{'namespace':'default',"
                         "'name':'%s'},'reason':'r'}",
                         name, object));
}

static void events_beyond_the_rate_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc__admission_selection on = 0;
    kc_auto(kc__event_rate_limits) *limits = kc__event_rate_limits_parse(
        KC_STR("apiVersion: eventratelimit.admission.k8s.io/v1alpha1\n"
               "kind: Configuration\n"
               "limits:\n"
               "- {type: Namespace, qps: 1, burst: 3}\n"
               "- {type: SourceAndObject, qps: 1, burst: 1, cacheSize: 2}\n"),
        &err);
    assert_non_null(limits);
    const kc__admission_config config = {.event_rate = limits};
    kc__admission_selection_parse("EventRateLimit", &on, NULL);
    kc_auto(api) *a = api_start(&(api_opts){
        .virtual_time = true, .server.enabled_plugins = on, .server.admission_config = &config});
    assert_code(make_event(a, "a", "one"), 201);
    assert_status(make_event(a, "b", "one"), 429, "TooManyRequests",
                  "Too many requests: limit reached on type SourceAndObject for key defaultone");
    assert_code(make_event(a, "c", "two"), 201);
    assert_status(make_event(a, "d", "three"), 429, "TooManyRequests",
                  "Too many requests: limit reached on type Namespace for key default");
    api_advance(a, KC_SECOND);
    assert_code(make_event(a, "e", "one"), 201);
    assert_code(api_post(a, "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'x'}}"),
                201);
}

static void wrong_limits_of_events_are_invalid(void **state)
{
    (void)state;
#define CONFIG "{apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration"
    static const struct {
        const char *text, *problem;
    } wrong[] = {
        {CONFIG "}", "limits: Invalid value: must not be empty"},
        {CONFIG ", limits: [{type: Node, qps: 1, burst: 1}]}",
         "limits[0].type: Unsupported value: \"Node\""},
        {CONFIG ", limits: [{type: User, qps: 1}]}",
         "limits[0].burst: Invalid value: 0: must be positive"},
        {CONFIG ", limits: [{type: User, qps: 1, burst: 1, cacheSize: -1}]}",
         "limits[0].cacheSize: Invalid value: -1"},
        {CONFIG ", limits: [{type: User, qps: 1, burst: 1, size: 1}]}",
         "unknown field \"limits[0].size\""},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc__event_rate_limits_parse(kc_cstr(wrong[i].text), &err));
        assert_error(&err, KC_INVALID, wrong[i].problem);
    }
}

TESTS(always_pull_images_sets_the_policy, hard_anti_affinity_of_zones_is_forbidden,
      new_external_ips_are_forbidden, always_deny_forbids_every_write,
      default_tolerations_last_as_configured, pod_tolerates_its_extended_resources,
      events_beyond_the_rate_are_refused, wrong_limits_of_events_are_invalid)
