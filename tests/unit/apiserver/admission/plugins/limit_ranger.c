/* SPDX-License-Identifier: Apache-2.0 */
/* LimitRanges, applied to pods and claims by the API server. The texts are those of kube-apiserver.
 */
#include "api_testing.h"

#define PODS   "/api/v1/namespaces/default/pods"
#define RANGES "/api/v1/namespaces/default/limitranges"

static void limit(api *a, const char *name, const char *item)
{
    assert_code(api_post(a, RANGES,
                         text(a, "{'metadata':{'name':'%s'},'spec':{'limits':[%s]}}", name, item)),
                201);
}

static const reply *make_pod(api *a, const char *name, const char *resources)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i',"
                         "'resources':{%s}}]}}",
                         name, resources));
}

static void container_gets_defaults_and_annotation(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "l",
          "{'type':'Container','default':{'memory':'1Gi','cpu':'2'},'defaultRequest':"
          "{'cpu':'500m'}}");
    const reply *r = make_pod(a, "p", "'limits':{'cpu':'1'}");
    assert_code(r, 201);
    assert_at(r, "spec.containers[0].resources",
              "{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"1\","
              "\"memory\":\"1Gi\"}}");
    assert_at(r, "metadata.annotations",
              "{\"kubernetes.io/limit-ranger\":\"LimitRanger plugin set: memory request for "
              "container c; memory limit for container c\"}");
    assert_at(r, "status.qosClass", "Guaranteed");
}

static void complete_container_is_unchanged(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "l", "{'type':'Container','default':{'cpu':'2'}}");
    const reply *r = make_pod(a, "p", "'limits':{'cpu':'1'},'requests':{'cpu':'1'}");
    assert_code(r, 201);
    assert_at(r, "metadata.annotations", "");
}

static void pod_outside_minimum_and_maximum_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "l",
          "{'type':'Container','min':{'cpu':'100m'},'max':{'cpu':'1'},'default':"
          "{'cpu':'500m'}}");
    assert_status(
        make_pod(a, "p", "'requests':{'cpu':'50m'}"), 403, "Forbidden",
        "pods \"p\" is forbidden: minimum cpu usage per Container is 100m, but request is "
        "50m");
    assert_status(make_pod(a, "p", "'requests':{'cpu':'0.05'},'limits':{'cpu':'2'}"), 403,
                  "Forbidden",
                  "pods \"p\" is forbidden: [minimum cpu usage per Container is 100m, but request "
                  "is 50m, maximum cpu usage per Container is 1, but limit is 2]");
    assert_code(make_pod(a, "p", "'requests':{'cpu':'100m'},'limits':{'cpu':'1'}"), 201);
}

static void missing_amount_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "l", "{'type':'Pod','max':{'cpu':'1'}}");
    assert_status(make_pod(a, "p", ""), 403, "Forbidden",
                  "pods \"p\" is forbidden: maximum cpu usage per Pod is 1.  No limit is "
                  "specified");
}

static void ratio_above_the_maximum_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "l", "{'type':'Container','maxLimitRequestRatio':{'cpu':'2'}}");
    assert_status(make_pod(a, "p", "'requests':{'cpu':'30m'},'limits':{'cpu':'100m'}"), 403,
                  "Forbidden",
                  "pods \"p\" is forbidden: cpu max limit to request ratio per Container is 2, but "
                  "provided ratio is 3.333333");
    assert_code(make_pod(a, "p", "'requests':{'cpu':'50m'},'limits':{'cpu':'100m'}"), 201);
}

static void total_of_a_pod_counts_sidecars_and_init_containers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
#define CPU(n) "'resources':{'requests':{'cpu':'" n "'},'limits':{'cpu':'" n "'}}"
    limit(a, "l", "{'type':'Pod','max':{'cpu':'1'}}");
    assert_status(
        api_post(a, PODS,
                 "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'," CPU(
                     "100m") "}],'initContainers':[{'name':'s','image':'i',"
                             "'restartPolicy':'Always'," CPU(
                                 "600m") "},{'name':'i','image':'i'," CPU("500m") "}]}}"),
        403, "Forbidden",
        "pods \"p\" is forbidden: maximum cpu usage per Pod is 1, but limit is 1100m");
    assert_code(
        api_post(a, PODS,
                 "{'metadata':{'name':'p'},'spec':{'resources':{'limits':{'cpu':'1'},"
                 "'requests':{'cpu':'1'}},'containers':[{'name':'c','image':'i'," CPU("1") "}]}}"),
        201);
}

static void claim_outside_its_limits_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    limit(a, "l",
          "{'type':'PersistentVolumeClaim','min':{'storage':'1Gi'},'max':{'storage':"
          "'2Gi'}}");
#define CLAIM(size)                                                                             \
    "{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':" \
    "{'storage':'" size "'}}}}"
    assert_status(api_post(a, "/api/v1/namespaces/default/persistentvolumeclaims", CLAIM("3Gi")),
                  403, "Forbidden",
                  "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
                  "PersistentVolumeClaim is 2Gi, but request is 3Gi");
    assert_code(api_post(a, "/api/v1/namespaces/default/persistentvolumeclaims", CLAIM("2Gi")),
                201);
}

static void update_of_a_pod_is_not_limited_but_its_resize_is(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_pod(a, "p", "'limits':{'cpu':'2'},'requests':{'cpu':'1'}"), 201);
    limit(a, "l", "{'type':'Container','max':{'cpu':'1'}}");
    assert_code(api_patch(a, PODS "/p", "{'metadata':{'labels':{'a':'b'}}}"), 200);
    assert_status(
        SEND(a, "PATCH", PODS "/p/resize", .type = "application/strategic-merge-patch+json",
             .body = "{'spec':{'containers':[{'name':'c','resources':{'limits':{'cpu':'3'}}}]}}"),
        403, "Forbidden",
        "pods \"p\" is forbidden: maximum cpu usage per Container is 1, but limit is 3");
}

/* More than 8 KiB of LimitRanges: the plugin runs on a worker thread. */
static void large_ranges_apply_too(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) more = {0};
    for (int i = 0; i < 400; i++)
        kc_buf_printf(&more, ",'example.com/resource-%d':'1'", i);
    limit(a, "l", text(a, "{'type':'Container','default':{'cpu':'1'%s}}", kc_buf_cstr(&more)));
    limit(a, "m", "{'type':'Container','max':{'cpu':'1'}}");
    const reply *r = make_pod(a, "p", "'limits':{'cpu':'2'}");
    assert_status(r, 403, "Forbidden",
                  "pods \"p\" is forbidden: maximum cpu usage per Container is 1, but limit is 2");
    r = make_pod(a, "p", "");
    assert_code(r, 201);
    assert_at(r, "spec.containers[0].resources.limits.cpu", "1");
}

static void disabled_plugin_limits_nothing(void **state)
{
    (void)state;
    kc__admission_selection off = 0;
    assert_int_equal(kc__admission_selection_parse("LimitRanger", &off, NULL), 0);
    kc_auto(api) *a = api_start(&(api_opts){.server.disabled_plugins = off});
    limit(a, "l", "{'type':'Container','max':{'cpu':'1'},'default':{'cpu':'1'}}");
    const reply *r = make_pod(a, "p", "'limits':{'cpu':'2'}");
    assert_code(r, 201);
    assert_at(r, "metadata.annotations", "");
}

TESTS(container_gets_defaults_and_annotation, complete_container_is_unchanged,
      pod_outside_minimum_and_maximum_is_forbidden, missing_amount_is_forbidden,
      ratio_above_the_maximum_is_forbidden, total_of_a_pod_counts_sidecars_and_init_containers,
      claim_outside_its_limits_is_forbidden, update_of_a_pod_is_not_limited_but_its_resize_is,
      large_ranges_apply_too, disabled_plugin_limits_nothing)
