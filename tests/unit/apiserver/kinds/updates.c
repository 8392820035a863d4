/* SPDX-License-Identifier: Apache-2.0 */
/* Updates: which fields are immutable, and how absent fields are defaulted. */
#include "kinds_samples.h"

#define JOB   "io.k8s.api.batch.v1.Job"
#define EVENT "io.k8s.api.core.v1.Event"
#define CLAIM "io.k8s.api.core.v1.PersistentVolumeClaim"

#define JOB_OF(spec, image)                                                                       \
    "{'kind':'Job','apiVersion':'batch/v1','metadata':{'name':'j','uid':'u'},'spec':{" spec       \
    "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'" image "'}]" \
    "}}}}"

static void completions_of_indexed_job_change_with_parallelism_only(void **state)
{
    (void)state;
    const char *before = JOB_OF("'completionMode':'Indexed','completions':3,'parallelism':3,", "a");
    assert_changed(JOB, &kc__strategy_job, before,
                   JOB_OF("'completionMode':'Indexed','completions':5,'parallelism':5,", "a"), "");
    assert_changed(JOB, &kc__strategy_job, before,
                   JOB_OF("'completionMode':'Indexed','completions':5,'parallelism':3,", "a"),
                   "spec.completions: Invalid value: 5: can only be modified in tandem with "
                   "spec.parallelism");
    assert_changed(JOB, &kc__strategy_job, JOB_OF("'completions':1,", "a"),
                   JOB_OF("'completions':2,", "a"),
                   "spec.completions: Invalid value: 2: field is immutable");
}

static void job_policies_are_immutable(void **state)
{
    (void)state;
    assert_changed(
        JOB, &kc__strategy_job, JOB_OF("", "a"),
        JOB_OF("'podReplacementPolicy':'Failed','podFailurePolicy':{'rules':[{'action':'Ignore',"
               "'onPodConditions':[{'type':'X'}]}]},",
               "a"),
        "spec.podFailurePolicy: Invalid value: {\"Rules\":[{\"Action\":\"Ignore\",\"OnExitCodes\":"
        "null,\"OnPodConditions\":[{\"Type\":\"X\",\"Status\":\"True\"}]}]}: field is immutable");
}

static void suspended_job_may_change_scheduling_but_not_containers(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_object) *one = prepared(JOB, &kc__strategy_job, JOB_OF("'suspend':true,", "a"));
    kc_auto(kc_object) *two = prepared(JOB, &kc__strategy_job, JOB_OF("'suspend':true,", "b"));
    kc_auto(kc_view) *old = kc_view_of(one), *now = kc_view_of(two);
    kc__strategy_job.validate_update(kc_view_root(now), kc_view_root(old), &errors);
    assert_int_equal(errors.list.n, 1);
    assert_string_equal(errors.list.items[0].field, "spec.template");
    assert_contains(errors.list.items[0].body, "\"Image\":\"b\"");
    assert_contains(errors.list.items[0].body, "field is immutable");
}

static void spec_of_unbound_claim_is_immutable(void **state)
{
    (void)state;
#define CLAIM_OF(size)                                                                   \
    "{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{'name':'c'},'spec':{" \
    "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'" size "'}}}}"
    assert_changed(CLAIM, &kc__strategy_claim, CLAIM_OF("1Gi"), CLAIM_OF("2Gi"),
                   "spec: Forbidden: spec is immutable after creation except resources.requests "
                   "and volumeAttributesClassName for bound claims\n"
                   "@@ -6,7 +6,7 @@\n"
                   "  \"Resources\": {\n"
                   "   \"Limits\": null,\n"
                   "   \"Requests\": {\n"
                   "-   \"storage\": \"1Gi\"\n"
                   "+   \"storage\": \"2Gi\"\n"
                   "   }\n"
                   "  },\n"
                   "  \"VolumeName\": \"\",\n");
}

#define EVENT_OF(rest)                                                                    \
    "{'kind':'Event','apiVersion':'v1','metadata':{'name':'e','namespace':'default'},"    \
    "'involvedObject':{'namespace':'default'},'eventTime':'2026-01-01T00:00:00.000000Z'," \
    "'reportingComponent':'a.b/c','reportingInstance':'i','action':'A','type':'Normal'," rest "}"

static void events_v1_event_without_required_fields_is_invalid(void **state)
{
    (void)state;
    assert_new(EVENT, &kc__strategy_new_event, EVENT_OF("'reason':'R'"), "");
    assert_new(EVENT, &kc__strategy_new_event, EVENT_OF("'reason':''"), "reason: Required value");
    assert_new(EVENT, &kc__strategy_new_event, EVENT_OF("'reason':'R','count':2"),
               "count: Invalid value: \"\": needs to be unset");
    assert_new(EVENT, &kc__strategy_new_event,
               EVENT_OF("'reason':'R','series':{'count':1,"
                        "'lastObservedTime':'2026-01-01T00:00:00.000000Z'}"),
               "series.count: Invalid value: \"\": should be at least 2");
    assert_new(EVENT, &kc__strategy_event, EVENT_OF("'reason':'R','count':2"), "");
}

static void events_v1_event_is_immutable_but_for_series(void **state)
{
    (void)state;
    assert_changed(EVENT, &kc__strategy_new_event, EVENT_OF("'reason':'R'"),
                   EVENT_OF("'reason':'S'"), "reason: Invalid value: \"S\": field is immutable");
    assert_changed(EVENT, &kc__strategy_event, EVENT_OF("'reason':'R'"), EVENT_OF("'reason':'S'"),
                   "");
}

static void assert_pod_status(const char *status, const char *expected)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_autofree char *json = kc_asprintf("{'kind':'Pod','status':{%s}}", status);
    kc_auto(kc_object) *object = object_of(json);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc__strategy_pod.validate_status(kc_view_root(view), kc_view_root(view), &errors);
    assert_errors(&errors, expected);
}

static void pod_may_have_one_ip_of_each_family(void **state)
{
    (void)state;
    assert_pod_status("'podIPs':[{'ip':'10.0.0.1'},{'ip':'fd00::1'}]", "");
    assert_pod_status("'podIPs':[{'ip':'x'}]",
                      "status.podIPs[0]: Invalid value: \"x\": must be a valid IP address, "
                      "(e.g. 10.9.8.7 or 2001:db8::ffff)");
    assert_pod_status("'hostIP':'1.1.1.1','hostIPs':[{'ip':'1.1.1.1'},{'ip':'1.1.1.2'}]",
                      "status.hostIPs: Invalid value: [{\"IP\":\"1.1.1.1\"},{\"IP\":"
                      "\"1.1.1.2\"}]: may specify no more than one IP for each IP family");
    assert_pod_status("'hostIPs':[{'ip':'1.1.1.1'}]",
                      "status.hostIPs[0].ip: Invalid value: \"1.1.1.1\": must be equal to "
                      "`hostIP`");
    assert_pod_status("'nominatedNodeName':'A_'",
                      "status.nominatedNodeName: Invalid value: \"A_\": " SUBDOMAIN);
}

static void assert_completed(const char *type, const kc__strategy *strategy, const char *json,
                             const char *part)
{
    kc_auto(kc_object) *object = prepared(type, strategy, json);
    kc_autofree char *text = kc_str_dup(kc_object_json(object));
    kc_autofree char *wanted = kc_str_dup(kc_cstr(part));
    for (char *p = wanted; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_contains(text, wanted);
}

static void defaults_depend_on_other_fields(void **state)
{
    (void)state;
    assert_completed("io.k8s.api.core.v1.Pod", &kc__strategy_pod,
                     POD_WITH(",'serviceAccount':'x','terminationGracePeriodSeconds':-5"),
                     "'terminationGracePeriodSeconds':1,'dnsPolicy':'ClusterFirst',"
                     "'serviceAccountName':'x','serviceAccount':'x'");
    assert_completed("io.k8s.api.core.v1.Pod", &kc__strategy_pod,
                     POD_WITH(",'resources':{'limits':{'cpu':'1'}}"),
                     "'resources':{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}");
    assert_completed(
        "io.k8s.api.storage.v1.CSIDriver", &kc__strategy_csi_driver,
        "{'kind':'CSIDriver','apiVersion':'storage.k8s.io/v1','metadata':{},'spec':{}}",
        "'spec':{'attachRequired':true,'podInfoOnMount':false,"
        "'volumeLifecycleModes':['Persistent'],'storageCapacity':false,"
        "'fsGroupPolicy':'ReadWriteOnceWithFSType','requiresRepublish':false,"
        "'seLinuxMount':false}");
    assert_completed(CLAIM, &kc__strategy_claim,
                     "{'kind':'PersistentVolumeClaim','apiVersion':'v1','metadata':{},'spec':{"
                     "'dataSource':{'kind':'PersistentVolumeClaim','name':'n'}}}",
                     "'dataSourceRef':{'apiGroup':null,'kind':'PersistentVolumeClaim','name':'n'}");
}

TESTS(completions_of_indexed_job_change_with_parallelism_only, job_policies_are_immutable,
      suspended_job_may_change_scheduling_but_not_containers, spec_of_unbound_claim_is_immutable,
      events_v1_event_without_required_fields_is_invalid,
      events_v1_event_is_immutable_but_for_series, pod_may_have_one_ip_of_each_family,
      defaults_depend_on_other_fields)
