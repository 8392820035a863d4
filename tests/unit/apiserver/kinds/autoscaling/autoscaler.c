/* SPDX-License-Identifier: Apache-2.0 */
/* autoscaler.c: HorizontalPodAutoscalers of autoscaling/v1 and v2 are the same objects. */
#include "api_testing.h"

#define V1     "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
#define V2     "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
#define TARGET "'scaleTargetRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'web'}"
#define PODS                                                                          \
    "{'type':'Pods','pods':{'metric':{'name':'rps'},'target':{'type':'AverageValue'," \
    "'averageValue':'1000m'}}}"
#define CPU \
    "{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','averageUtilization':50}}}"
#define KEPT "autoscaling.alpha.kubernetes.io/"

static const reply *make(api *a, const char *where, const char *spec)
{
    return api_post(
        a, where, text(a, "{'metadata':{'name':'h'},'spec':{" TARGET ",'maxReplicas':5%s}}", spec));
}

/* An annotation of a reply; its name has dots, which paths do not take. */
static bool is_annotated(const reply *r, const char *name, const char *json)
{
    kc_scoped(kc_buf) quoted = {0};
    kc_buf_printf(&quoted, "\"" KEPT "%s\":", name);
    kc_json_quote(&quoted, kc_cstr(json));
    return strstr(r->body, kc_buf_cstr(&quoted)) != NULL;
}

static void autoscaler_is_readable_in_both_versions(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *one = make(a, V1, ",'targetCPUUtilizationPercentage':50");
    assert_code(one, 201);
    assert_at(one, "apiVersion", "autoscaling/v1");
    assert_at(one, "spec.targetCPUUtilizationPercentage", "50");
    assert_at(one, "spec.minReplicas", "1");
    const reply *two = api_get(a, V2 "/h");
    assert_at(two, "apiVersion", "autoscaling/v2");
    assert_at(two, "metadata.uid", r_text(one, "metadata.uid"));
    assert_at(two, "spec.metrics",
              "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
              "\"Utilization\",\"averageUtilization\":50}}}]");
    assert_at(api_get(a, V1), "items[0].spec.targetCPUUtilizationPercentage", "50");
    assert_at(api_get(a, V1), "items[0].apiVersion", "");
}

static void absent_metrics_default_to_cpu_utilization(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(make(a, V1, ""), "spec.targetCPUUtilizationPercentage", "80");
    assert_at(api_get(a, V2 "/h"), "spec.metrics[0].resource.target.averageUtilization", "80");
}

static void v1_keeps_other_metrics_in_an_annotation(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, V2, ",'metrics':[" PODS "," CPU "]");
    const reply *one = api_get(a, V1 "/h");
    assert_at(one, "spec.targetCPUUtilizationPercentage", "50");
    assert_at(one, "spec.metrics", "");
    assert_true(is_annotated(one, "metrics",
                             "[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"rps\","
                             "\"targetAverageValue\":\"1\"}}]"));
    assert_at(api_get(a, V2 "/h"), "metadata.annotations", "");
}

static void update_in_v1_keeps_v2_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, V2,
         ",'metrics':[" PODS "," CPU "],'behavior':{'scaleDown':{'selectPolicy':'Disabled'}}");
    const reply *before = api_get(a, V2 "/h");
    assert_code(api_patch(a, V1 "/h", "{'metadata':{'labels':{'a':'b'}}}"), 200);
    const reply *after = api_get(a, V2 "/h");
    assert_at(after, "metadata.labels.a", "b");
    assert_at(after, "spec", r_text(before, "spec"));
    assert_code(api_patch(a, V1 "/h", "{'metadata':{'annotations':null}}"), 200);
    assert_int_equal(r_count(api_get(a, V2 "/h"), "spec.metrics"), 1);
    assert_at(api_get(a, V2 "/h"), "spec.behavior", "");
}

static void v1_keeps_behavior_in_an_annotation(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, V2, ",'behavior':{'scaleDown':{'stabilizationWindowSeconds':60}}");
    assert_true(is_annotated(
        api_get(a, V1 "/h"), "behavior",
        "{\"ScaleUp\":{\"StabilizationWindowSeconds\":0,\"SelectPolicy\":\"Max\",\"Policies\":[{"
        "\"Type\":\"Pods\",\"Value\":4,\"PeriodSeconds\":15},{\"Type\":\"Percent\",\"Value\":100,"
        "\"PeriodSeconds\":15}],\"Tolerance\":null},\"ScaleDown\":{\"StabilizationWindowSeconds\":"
        "60,\"SelectPolicy\":\"Max\",\"Policies\":[{\"Type\":\"Percent\",\"Value\":100,"
        "\"PeriodSeconds\":15}],\"Tolerance\":null}}"));
}

static void v1_keeps_the_whole_status(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, V2, "");
    const reply *two = api_patch(
        a, V2 "/h/status",
        "{'status':{'currentReplicas':3,'desiredReplicas':4,'currentMetrics':[{'type':'Resource',"
        "'resource':{'name':'cpu','current':{'averageUtilization':33,'averageValue':'330m'}}}],"
        "'conditions':[{'type':'AbleToScale','status':'True','lastTransitionTime':"
        "'2026-01-01T00:00:00Z'}]}}");
    assert_code(two, 200);
    const reply *one = api_get(a, V1 "/h");
    assert_at(one, "status",
              "{\"currentReplicas\":3,\"desiredReplicas\":4,"
              "\"currentCPUUtilizationPercentage\":33}");
    assert_true(is_annotated(one, "conditions",
                             "[{\"type\":\"AbleToScale\",\"status\":\"True\","
                             "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]"));
    assert_code(api_patch(a, V1 "/h/status", "{'status':{'desiredReplicas':5}}"), 200);
    assert_at(api_get(a, V2 "/h"), "status.currentMetrics", r_text(two, "status.currentMetrics"));
}

static void invalid_annotation_is_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const odd[] = {"nonsense", "[1]", "[{\\\"pods\\\":1}]", "{}", ""};
    for (size_t i = 0; i < KC_COUNT(odd); i++) {
        const reply *r =
            api_post(a, V1,
                     text(a,
                          "{'metadata':{'name':'h%zu','annotations':{'" KEPT
                          "metrics':\"%s\",'" KEPT "behavior':\"%s\",'" KEPT
                          "conditions':\"%s\",'x':'y'}},'spec':{" TARGET ",'maxReplicas':5}}",
                          i, odd[i], odd[i], odd[i]));
        assert_code(r, 201);
        assert_at(r, "metadata.annotations", "{\"x\":\"y\"}");
        assert_at(r, "spec.targetCPUUtilizationPercentage", "80");
    }
}

static void invalid_metrics_are_refused_in_both_versions(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(make(a, V1, ",'targetCPUUtilizationPercentage':0"), 422, "Invalid",
                  "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: "
                  "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be "
                  "greater than 0");
    assert_status(make(a, V2, ",'metrics':[{'type':'Pods'}]"), 422, "Invalid",
                  "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: spec.metrics[0].pods: "
                  "Required value: must populate information for the given metric source");
    assert_status(
        make(a, V2,
             ",'metrics':[{'type':'External','external':{'metric':{'name':'q'},'target':{"
             "'type':'What','value':'-1'}}}]"),
        422, "Invalid",
        "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: "
        "[spec.metrics[0].external.target.type: Invalid value: \"What\": must be either "
        "Utilization, Value, or AverageValue, spec.metrics[0].external.target.value: Invalid "
        "value: \"-1\": must be positive]");
}

static void invalid_scaling_policies_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        make(a, V2,
             ",'behavior':{'scaleUp':{'selectPolicy':'What','policies':[{'type':"
             "'Pods','value':0,'periodSeconds':1801}]}}"),
        422, "Invalid",
        "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: "
        "[spec.behavior.scaleUp.selectPolicy: Unsupported value: \"What\": supported "
        "values: \"Disabled\", \"Max\", \"Min\", "
        "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than "
        "zero, spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must "
        "be less than or equal to 1800]");
}

static void scale_target_needs_a_valid_group(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char body[] = "{'metadata':{'name':'h'},'spec':{'maxReplicas':1,'scaleTargetRef':{"
                               "'kind':'%s','name':'x','apiVersion':'%s'}}}";
    assert_code(api_post(a, V2, text(a, body, "Deployment", "v1")), 422);
    assert_status(api_post(a, V2, text(a, body, "Deployment", "a/b/c")), 422, "Invalid",
                  "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: "
                  "spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/c\": unexpected "
                  "GroupVersion string: a/b/c");
    assert_code(api_post(a, V2, text(a, body, "ReplicationController", "v1")), 201);
}

static void table_includes_object_in_the_requested_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, V2, "");
    const reply *r = SEND(a, "GET", V1 "?includeObject=Object",
                          .accept = "application/json;as=Table;v=v1;g=meta.k8s.io");
    assert_at(r, "rows[0].cells[2]", "cpu: <unknown>/80%");
    assert_at(r, "rows[0].object.apiVersion", "autoscaling/v1");
    assert_at(r, "rows[0].object.spec.targetCPUUtilizationPercentage", "80");
}

static void watch_sends_object_in_its_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, V1 "?watch=1");
    make(a, V2, ",'metrics':[" PODS "]");
    const char *line = assert_event(w, "ADDED", "h");
    assert_string_equal(line_text(w, line, "object.apiVersion"), "autoscaling/v1");
    assert_string_equal(line_text(w, line, "object.spec.metrics"), "");
    watch_close(w);
}

TESTS(autoscaler_is_readable_in_both_versions, absent_metrics_default_to_cpu_utilization,
      v1_keeps_other_metrics_in_an_annotation, update_in_v1_keeps_v2_fields,
      v1_keeps_behavior_in_an_annotation, v1_keeps_the_whole_status, invalid_annotation_is_ignored,
      invalid_metrics_are_refused_in_both_versions, invalid_scaling_policies_are_refused,
      scale_target_needs_a_valid_group, table_includes_object_in_the_requested_version,
      watch_sends_object_in_its_version)
