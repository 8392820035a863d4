/* SPDX-License-Identifier: Apache-2.0 */
/* What a RuntimeClass adds to pods. */
#include "api_testing.h"

#define PODS "/api/v1/namespaces/default/pods"

static void make_class(api *a, const char *name, const char *more)
{
    assert_code(api_post(a, "/apis/node.k8s.io/v1/runtimeclasses",
                         text(a, "{'metadata':{'name':'%s'},'handler':'h'%s}", name, more)),
                201);
}

static const reply *make_pod(api *a, const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]"
                         "%s}}",
                         spec));
}

static void pod_gets_the_overhead_of_its_class(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_class(a, "r", ",'overhead':{'podFixed':{'cpu':'100m'}}");
    assert_status(make_pod(a, ",'runtimeClassName':'r','overhead':{'cpu':'1'}"), 403, "Forbidden",
                  "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match "
                  "RuntimeClass's defined Overhead");
    assert_status(make_pod(a, ",'overhead':{'cpu':'1'}"), 403, "Forbidden",
                  "pods \"p\" is forbidden: pod rejected: Pod Overhead set without corresponding "
                  "RuntimeClass defined Overhead");
    assert_status(make_pod(a, ",'runtimeClassName':'none'"), 403, "Forbidden",
                  "pods \"p\" is forbidden: pod rejected: RuntimeClass \"none\" not found");
    assert_at(make_pod(a, ",'runtimeClassName':'r','overhead':{'cpu':'0.1'}"), "spec.overhead",
              "{\"cpu\":\"100m\"}");
}

static void pod_gets_selector_and_tolerations_of_its_class(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_class(a, "r",
               ",'scheduling':{'nodeSelector':{'a':'b'},'tolerations':[{'key':'k','operator':"
               "'Exists'}]}");
    assert_status(make_pod(a, ",'runtimeClassName':'r','nodeSelector':{'a':'c'}"), 403, "Forbidden",
                  "pods \"p\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; "
                  "pod.spec.nodeSelector[a] = c");
    const reply *r = make_pod(
        a, ",'runtimeClassName':'r','nodeSelector':{'x':'y'},'tolerations':[{'key':'k','operator':"
           "'Equal','value':'v','effect':'NoSchedule'},{'key':'z','operator':'Exists'}]");
    assert_at(r, "spec.nodeSelector", "{\"a\":\"b\",\"x\":\"y\"}");
    assert_at(r, "spec.tolerations[0]", "{\"key\":\"z\",\"operator\":\"Exists\"}");
    assert_at(r, "spec.tolerations[3]", "{\"key\":\"k\",\"operator\":\"Exists\"}");
    assert_int_equal(r_count(r, "spec.tolerations"), 4);
}

/* More than 100: the merge runs on a worker thread. */
static void many_tolerations_are_merged(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) many = {0};
    for (int i = 0; i < 300; i++)
        kc_buf_printf(&many, "%s{'key':'k','operator':'Equal','value':'v%d'}", i ? "," : "", i);
    make_class(a, "r", ",'scheduling':{'tolerations':[{'key':'k','operator':'Exists'}]}");
    const reply *r =
        make_pod(a, text(a, ",'runtimeClassName':'r','tolerations':[%s]", kc_buf_cstr(&many)));
    assert_code(r, 201);
    assert_int_equal(r_count(r, "spec.tolerations"), 3);
}

TESTS(pod_gets_the_overhead_of_its_class, pod_gets_selector_and_tolerations_of_its_class,
      many_tolerations_are_merged)
