/* SPDX-License-Identifier: Apache-2.0 */
/* evict.c: Evictions, and disruption budgets. */
#include "api_testing.h"

#define PODS    "/api/v1/namespaces/default/pods"
#define BUDGETS "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define NO      "Cannot evict pod as it would violate the pod's disruption budget."

/* A pod on a node; `phase` may be "Pending". */
static const reply *make(api *a, const char *phase, bool ready)
{
    api_post(a, PODS,
             "{'metadata':{'name':'p','labels':{'app':'p'}},'spec':{'nodeName':'n','containers':[{"
             "'name':'c','image':'i'}]}}");
    return api_patch(a, PODS "/p/status",
                     text(a,
                          "{'status':{'phase':'%s','conditions':[{'type':'Ready','status':'%s'}]}}",
                          phase, ready ? "True" : "False"));
}

static void create_budget(api *a, const char *name, const char *spec, const char *status)
{
    assert_code(api_post(a, BUDGETS,
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'selector':{'matchLabels':{'app':"
                              "'p'}}%s}}",
                              name, spec)),
                201);
    assert_code(api_patch(a, text(a, BUDGETS "/%s/status", name), text(a, "{'status':%s}", status)),
                200);
}

static const reply *evict(api *a, const char *options)
{
    return api_post(
        a, PODS "/p/eviction",
        text(a, "{'metadata':{'name':'p'}%s%s}", *options ? ",'deleteOptions':" : "", options));
}

static void eviction_without_budget_deletes_the_pod(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    make(a, "Running", true);
    watch *w = WATCH(a, PODS "?watch=1&resourceVersion=0");
    assert_event(w, "ADDED", "p");
    const reply *r = evict(a, "");
    assert_code(r, 201);
    assert_at(r, "status", "Success");
    const char *modified = assert_event(w, "MODIFIED", "p");
    assert_string_equal(line_text(w, modified, "object.metadata.deletionTimestamp"), "");
    assert_string_equal(
        line_text(w, modified, "object.status.conditions[1]"),
        "{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"lastProbeTime\":null,"
        "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"reason\":\"EvictionByEvictionAPI\","
        "\"message\":\"Eviction API: evicting\"}");
    const char *marked = assert_event(w, "MODIFIED", "p");
    assert_string_equal(line_text(w, marked, "object.metadata.deletionGracePeriodSeconds"), "30");
    watch_close(w);
}

static void eviction_applies_its_delete_options(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "Running", true);
    assert_code(evict(a, "{'gracePeriodSeconds':7}"), 201);
    assert_at(api_get(a, PODS "/p"), "metadata.deletionGracePeriodSeconds", "7");
    assert_code(evict(a, "{'gracePeriodSeconds':0}"), 201);
    assert_code(api_get(a, PODS "/p"), 404);
    make(a, "Running", true);
    assert_code(evict(a, "{'propagationPolicy':'Foreground'}"), 201);
    assert_at(api_get(a, PODS "/p"), "metadata.finalizers", "[\"foregroundDeletion\"]");
}

static void eviction_with_wrong_preconditions_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *pod = make(a, "Running", true);
    const char *uid = r_text(pod, "metadata.uid"),
               *version = r_text(pod, "metadata.resourceVersion");
    assert_status(evict(a, "{'preconditions':{'uid':'x'}}"), 409, "Conflict",
                  text(a,
                       "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition "
                       "(x) does not match the UID in record (%s). The object might have been "
                       "deleted and then recreated",
                       uid));
    assert_code(evict(a, "{'preconditions':{'resourceVersion':'1'}}"), 409);
    assert_at(api_get(a, PODS "/p"), "status.conditions[1].type", "");
    assert_code(
        evict(a, text(a, "{'preconditions':{'uid':'%s','resourceVersion':'%s'}}", uid, version)),
        201);
    assert_string_not_equal(r_text(api_get(a, PODS "/p"), "metadata.deletionTimestamp"), "");
}

static void eviction_beyond_the_budget_returns_429(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "Running", true);
    create_budget(
        a, "b", ",'minAvailable':1",
        "{'observedGeneration':1,'disruptionsAllowed':0,'currentHealthy':1,'desiredHealthy':2,"
        "'expectedPods':1}");
    const reply *r = evict(a, "");
    assert_status(r, 429, "TooManyRequests", NO);
    assert_at(r, "details.causes[0].reason", "DisruptionBudget");
    assert_at(r, "details.causes[0].message",
              "The disruption budget b needs 2 healthy pods and has 1 currently");
    assert_null(r_header(r, "Retry-After"));
    assert_at(api_get(a, PODS "/p"), "metadata.deletionTimestamp", "");
    assert_at(api_get(a, PODS "/p"), "status.conditions[1].type", "");
}

static void eviction_with_unprocessed_budget_returns_429_with_retry_after(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "Running", true);
    create_budget(a, "b", ",'minAvailable':1", "{}");
    const reply *r = evict(a, "");
    assert_status(r, 429, "TooManyRequests", NO);
    assert_at(r, "details.causes[0].message",
              "The disruption budget b is still being processed by the server.");
    assert_at(r, "details.retryAfterSeconds", "10");
    assert_string_equal(r_header(r, "Retry-After"), "10");
}

static void eviction_decrements_the_budget(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    make(a, "Running", true);
    create_budget(
        a, "b", ",'maxUnavailable':1",
        "{'observedGeneration':1,'disruptionsAllowed':1,'currentHealthy':2,'desiredHealthy':1,"
        "'expectedPods':2,'disruptedPods':{'z':'2020-01-01T00:00:00Z'}}");
    assert_code(evict(a, ""), 201);
    const reply *b = api_get(a, BUDGETS "/b");
    assert_at(b, "status.disruptionsAllowed", "0");
    assert_at(b, "status.disruptedPods",
              "{\"p\":\"2026-01-02T03:04:05Z\",\"z\":\"2020-01-01T00:00:00Z\"}");
    assert_at(b, "status.conditions",
              "[{\"type\":\"DisruptionAllowed\",\"status\":\"False\",\"observedGeneration\":1,"
              "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"reason\":\"InsufficientPods\","
              "\"message\":\"\"}]");
    assert_at(b, "metadata.generation", "1");
    assert_string_not_equal(r_text(api_get(a, PODS "/p"), "metadata.deletionTimestamp"), "");
    assert_code(evict(a, ""), 201); /* It goes already, and nothing more is taken. */
    assert_string_equal(api_get(a, BUDGETS "/b")->body, b->body);
}

static void budget_does_not_protect_pods_that_do_not_run(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_budget(a, "b", ",'minAvailable':1", "{}");
    static const char *const phases[] = {"Pending", "Succeeded", "Failed"};
    for (size_t i = 0; i < KC_COUNT(phases); i++) {
        make(a, phases[i], false);
        assert_code(evict(a, "{'gracePeriodSeconds':0}"), 201);
        assert_code(api_get(a, PODS "/p"), 404);
    }
}

static void unready_pod_is_evicted_when_enough_others_are_healthy(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "Running", false);
    create_budget(
        a, "b", ",'minAvailable':1",
        "{'observedGeneration':1,'disruptionsAllowed':0,'currentHealthy':0,'desiredHealthy':1,"
        "'expectedPods':1}");
    assert_code(evict(a, ""), 429);
    api_patch(a, BUDGETS "/b", "{'spec':{'unhealthyPodEvictionPolicy':'AlwaysAllow'}}");
    assert_code(SEND(a, "POST", PODS "/p/eviction?dryRun=All", .body = "{'metadata':{'name':'p'}}"),
                201);
    api_patch(a, BUDGETS "/b", "{'spec':{'unhealthyPodEvictionPolicy':'IfHealthyBudget'}}");
    assert_code(evict(a, ""), 429);
    api_patch(a, BUDGETS "/b/status", "{'status':{'currentHealthy':1,'observedGeneration':3}}");
    assert_code(evict(a, ""), 201);
    assert_at(api_get(a, BUDGETS "/b"), "status.disruptedPods", "");
}

static void two_budgets_return_internal_error(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "Running", true);
    create_budget(a, "b", ",'minAvailable':1", "{}");
    create_budget(a, "c", ",'minAvailable':1", "{}");
    assert_status(evict(a, ""), 500, "",
                  "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                  "does not support.");
}

static void dry_run_does_not_evict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *pod = make(a, "Running", true);
    create_budget(
        a, "b", ",'maxUnavailable':1",
        "{'observedGeneration':1,'disruptionsAllowed':1,'currentHealthy':2,'desiredHealthy':1,"
        "'expectedPods':2}");
    const reply *b = api_get(a, BUDGETS "/b");
    assert_code(evict(a, "{'dryRun':['All']}"), 201);
    assert_code(api_post(a, PODS "/p/eviction?dryRun=All", "{'metadata':{'name':'p'}}"), 201);
    assert_string_equal(api_get(a, BUDGETS "/b")->body, b->body);
    assert_string_equal(api_get(a, PODS "/p")->body, pod->body);
    assert_status(api_post(a, PODS "/p/eviction?dryRun=All",
                           "{'metadata':{'name':'p'},'deleteOptions':{'dryRun':['Some']}}"),
                  500, "", "Non-matching dry-run options in request and content: [All] and [Some]");
}

static void invalid_eviction_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(evict(a, ""), 404, "NotFound", "pods \"p\" not found");
    make(a, "Running", true);
    assert_status(api_post(a, PODS "/p/eviction", "{'metadata':{'name':'q'}}"), 400, "BadRequest",
                  "name in URL does not match name in Eviction object");
    assert_code(evict(a, "{'propagationPolicy':'What'}"), 422);
    assert_code(evict(a, "{'ignoreStoreReadErrorWithClusterBreakingPotential':true}"), 422);
    assert_code(api_post(a, PODS "/p/eviction",
                         "{'kind':'Eviction','apiVersion':'v1','metadata':{'name':'p'}}"),
                400);
    assert_code(api_get(a, PODS "/p/eviction"), 405);
    assert_at(api_get(a, PODS "/p"), "metadata.deletionTimestamp", "");
}

static void v1beta1_eviction_is_accepted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "Running", true);
    assert_code(
        api_post(a, PODS "/p/eviction",
                 "{'kind':'Eviction','apiVersion':'policy/v1beta1','metadata':{'name':'p'}}"),
        201);
}

TESTS(eviction_without_budget_deletes_the_pod, eviction_applies_its_delete_options,
      eviction_with_wrong_preconditions_returns_conflict, eviction_beyond_the_budget_returns_429,
      eviction_with_unprocessed_budget_returns_429_with_retry_after, eviction_decrements_the_budget,
      budget_does_not_protect_pods_that_do_not_run,
      unready_pod_is_evicted_when_enough_others_are_healthy, two_budgets_return_internal_error,
      dry_run_does_not_evict, invalid_eviction_is_refused, v1beta1_eviction_is_accepted)
