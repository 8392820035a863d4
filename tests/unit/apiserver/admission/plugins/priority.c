/* SPDX-License-Identifier: Apache-2.0 */
/* The priority of pods, and the default PriorityClass. */
#include "api_testing.h"

#define CLASSES "/apis/scheduling.k8s.io/v1/priorityclasses"
#define PODS    "/api/v1/namespaces/default/pods"

static const reply *make_class(api *a, const char *name, const char *more)
{
    return api_post(a, CLASSES, text(a, "{'metadata':{'name':'%s'},'value':7%s}", name, more));
}

static const reply *make_pod(api *a, const char *name, const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i'}]"
                         "%s}}",
                         name, spec));
}

static void pod_gets_the_priority_of_its_class(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_class(a, "never", ",'preemptionPolicy':'Never'"), 201);
    const reply *r = make_pod(a, "p", ",'priorityClassName':'never'");
    assert_at(r, "spec.priority", "7");
    assert_at(r, "spec.preemptionPolicy", "Never");
    r = make_pod(a, "q", "");
    assert_at(r, "spec.priority", "0");
    assert_at(r, "spec.preemptionPolicy", "PreemptLowerPriority");
    assert_at(make_pod(a, "s", ",'priorityClassName':'system-node-critical'"), "spec.priority",
              "2000001000");
}

static void other_priority_than_that_of_the_class_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_class(a, "never", ",'preemptionPolicy':'Never'"), 201);
    assert_status(make_pod(a, "p", ",'priority':3"), 403, "Forbidden",
                  "pods \"p\" is forbidden: the integer value of priority (3) must not be provided "
                  "in pod spec; priority admission controller computed 0 from the given "
                  "PriorityClass name");
    assert_status(
        make_pod(a, "p", ",'priorityClassName':'never','preemptionPolicy':'PreemptLowerPriority'"),
        403, "Forbidden",
        "pods \"p\" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must "
        "not be provided in pod spec; priority admission controller computed Never from the given "
        "PriorityClass name");
    assert_status(make_pod(a, "p", ",'priorityClassName':'none'"), 403, "Forbidden",
                  "pods \"p\" is forbidden: no PriorityClass with name none was found");
}

static void second_default_class_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_class(a, "one", ",'globalDefault':true"), 201);
    assert_at(make_pod(a, "p", ""), "spec.priorityClassName", "one");
    assert_status(make_class(a, "two", ",'globalDefault':true"), 403, "Forbidden",
                  "priorityclasses.scheduling.k8s.io \"two\" is forbidden: PriorityClass one is "
                  "already marked as default. Only one default can exist");
    assert_code(api_patch(a, CLASSES "/one", "{'description':'x'}"), 200);
}

TESTS(pod_gets_the_priority_of_its_class, other_priority_than_that_of_the_class_is_forbidden,
      second_default_class_is_forbidden)
