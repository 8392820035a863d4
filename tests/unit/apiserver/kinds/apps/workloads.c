/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/batch/cron.h"
#include "kinds_testing.h"

#define DEPLOYMENT   "io.k8s.api.apps.v1.Deployment"
#define REPLICA_SET  "io.k8s.api.apps.v1.ReplicaSet"
#define STATEFUL_SET "io.k8s.api.apps.v1.StatefulSet"
#define DAEMON_SET   "io.k8s.api.apps.v1.DaemonSet"
#define JOB          "io.k8s.api.batch.v1.Job"
#define CRON_JOB     "io.k8s.api.batch.v1.CronJob"

#define LABELS       "'metadata':{'labels':{'a':'b'}}"
#define CONTAINERS   "'containers':[{'name':'c','image':'i:1'}]"
#define TEMPLATE     "'template':{" LABELS ",'spec':{" CONTAINERS "}}"
#define SELECTOR     "'selector':{'matchLabels':{'a':'b'}}"
#define OBJECT(spec) "{'metadata':{'name':'x','uid':'u'},'spec':{" spec "}}"

/* The members of the spec but for the template. */
static void assert_spec(const char *type, const kc__strategy *strategy, const char *json,
                        const char *expected)
{
    kc_auto(kc_object) *object = completed(type, strategy, json);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node_remove(spec, KC_STR("template"));
    kc_node_remove(spec, KC_STR("selector"));
    kc_autofree char *wanted = kc_str_dup(kc_cstr(expected));
    for (char *p = wanted; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_node_json(spec, wanted);
}

static void deployment_spec_is_defaulted(void **state)
{
    (void)state;
    assert_spec(DEPLOYMENT, &kc__strategy_deployment, OBJECT(SELECTOR "," TEMPLATE),
                "{'replicas':1,'strategy':{'type':'RollingUpdate','rollingUpdate':"
                "{'maxUnavailable':'25%','maxSurge':'25%'}},'revisionHistoryLimit':10,"
                "'progressDeadlineSeconds':600}");
    assert_spec(DEPLOYMENT, &kc__strategy_deployment,
                OBJECT(SELECTOR "," TEMPLATE ",'replicas':0,'strategy':{'type':'Recreate'}"),
                "{'replicas':0,'strategy':{'type':'Recreate'},'revisionHistoryLimit':10,"
                "'progressDeadlineSeconds':600}");
}

static void pod_template_is_defaulted_as_a_pod(void **state)
{
    (void)state;
    kc_auto(kc_object) *object =
        completed(REPLICA_SET, &kc__strategy_replica_set, OBJECT(SELECTOR "," TEMPLATE));
    kc_autofree char *json = kc_str_dup(kc_object_json(object));
    assert_contains(json, "\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30");
    assert_contains(json, "\"imagePullPolicy\":\"IfNotPresent\"");
}

static void selector_not_matching_template_labels_is_invalid(void **state)
{
    (void)state;
    assert_new(DEPLOYMENT, &kc__strategy_deployment, OBJECT(SELECTOR "," TEMPLATE), "");
    assert_new(DEPLOYMENT, &kc__strategy_deployment,
               OBJECT("'selector':{'matchLabels':{'x':'y'}}," TEMPLATE),
               "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
               "match template `labels`");
    assert_new(DEPLOYMENT, &kc__strategy_deployment, OBJECT("'selector':{}," TEMPLATE),
               "spec.selector: Invalid value: {}: empty selector is invalid for deployment");
    assert_new(DEPLOYMENT, &kc__strategy_deployment, OBJECT(TEMPLATE),
               "spec.selector: Required value\n"
               "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
               "match template `labels`");
}

static void selector_is_immutable(void **state)
{
    (void)state;
    assert_changed(REPLICA_SET, &kc__strategy_replica_set, OBJECT(SELECTOR "," TEMPLATE),
                   OBJECT("'selector':{'matchExpressions':[{'key':'a','operator':'Exists'}]}," //
                          TEMPLATE),
                   "spec.selector: Invalid value: "
                   "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}: field is "
                   "immutable");
}

static void template_errors_have_the_path_of_the_template(void **state)
{
    (void)state;
    assert_new(DEPLOYMENT, &kc__strategy_deployment,
               OBJECT(SELECTOR ",'replicas':-1,'template':{" LABELS
                               ",'spec':{'restartPolicy':'Never'," CONTAINERS "}}"),
               "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n"
               "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
               "\"Always\"");
}

static void stateful_set_and_daemon_set_are_defaulted(void **state)
{
    (void)state;
    assert_spec(STATEFUL_SET, &kc__strategy_stateful_set, OBJECT(SELECTOR "," TEMPLATE),
                "{'replicas':1,'serviceName':'','podManagementPolicy':'OrderedReady',"
                "'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'partition':0}},"
                "'revisionHistoryLimit':10,'persistentVolumeClaimRetentionPolicy':"
                "{'whenDeleted':'Retain','whenScaled':'Retain'}}");
    assert_spec(DAEMON_SET, &kc__strategy_daemon_set, OBJECT(SELECTOR "," TEMPLATE),
                "{'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,"
                "'maxSurge':0}},'revisionHistoryLimit':10}");
}

static void volume_claim_templates_are_volumes_of_the_pods(void **state)
{
    (void)state;
    const char *claims = OBJECT(
        SELECTOR ",'template':{" LABELS ",'spec':{'containers':[{'name':'c','image':'i',"
                 "'volumeMounts':[{'name':'data','mountPath':'/d'}]}]}},'volumeClaimTemplates':"
                 "[{'metadata':{'name':'data'},'spec':{'accessModes':['ReadWriteOnce'],"
                 "'resources':{'requests':{'storage':'1Gi'}}}}]");
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_object) *object = completed(STATEFUL_SET, &kc__strategy_stateful_set, claims);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc__location root = kc__location_root(kc_view_root(view), &errors);
    kc__validate_by_rules(kc__strategy_stateful_set.rules, &root);
    assert_errors(&errors, "");
}

static void stateful_set_update_of_other_fields_is_forbidden(void **state)
{
    (void)state;
    assert_changed(STATEFUL_SET, &kc__strategy_stateful_set,
                   OBJECT(SELECTOR "," TEMPLATE ",'serviceName':'a'"),
                   OBJECT(SELECTOR "," TEMPLATE ",'serviceName':'a','replicas':9"), "");
    assert_changed(STATEFUL_SET, &kc__strategy_stateful_set,
                   OBJECT(SELECTOR "," TEMPLATE ",'serviceName':'a'"),
                   OBJECT(SELECTOR "," TEMPLATE ",'serviceName':'b'"),
                   "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
                   "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                   "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

/* ---- jobs ---- */

#define JOB_TEMPLATE "'template':{'spec':{'restartPolicy':'Never'," CONTAINERS "}}"

static void job_selector_is_generated_from_its_uid(void **state)
{
    (void)state;
    kc_auto(kc_object) *job = completed(JOB, &kc__strategy_job, OBJECT(JOB_TEMPLATE));
    kc_auto(kc_edit) *edit = kc_edit_of(job);
    kc__strategy_job.prepare(edit);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    assert_node_json(kc_node_get(spec, KC_STR("selector")),
                     "{\"matchLabels\":{\"batch.kubernetes.io/controller-uid\":\"u\"}}");
    kc_auto(kc_object) *known = kc_edit_freeze(edit, NULL);
    kc_auto(kc_view) *view = kc_view_of(known);
    kc_scoped(kc_field_errors) errors = {0};
    kc__strategy_job.validate(kc_view_root(view), &errors);
    assert_errors(&errors, "");
}

static void job_spec_is_defaulted(void **state)
{
    (void)state;
    assert_spec(JOB, &kc__strategy_job, OBJECT(JOB_TEMPLATE),
                "{'parallelism':1,'completions':1,'backoffLimit':6,'manualSelector':false,"
                "'completionMode':'NonIndexed','suspend':false,"
                "'podReplacementPolicy':'TerminatingOrFailed'}");
    assert_spec(JOB, &kc__strategy_job, OBJECT(JOB_TEMPLATE ",'parallelism':3"),
                "{'parallelism':3,'backoffLimit':6,'manualSelector':false,"
                "'completionMode':'NonIndexed','suspend':false,"
                "'podReplacementPolicy':'TerminatingOrFailed'}");
}

static void assert_schedule(const char *schedule, const char *expected)
{
    char why[KC__CRON_ERROR] = "";
    assert_int_equal(kc__cron_check(kc_cstr(schedule), why), *expected == 0);
    assert_string_equal(why, expected);
}

static void invalid_cron_schedule_is_reported(void **state)
{
    (void)state;
    assert_schedule("*/5 * * * *", "");
    assert_schedule("0 2 1,15 jan-mar mon-fri", "");
    assert_schedule("@daily", "");
    assert_schedule("@now", "unrecognized descriptor: @now");
    assert_schedule("* * * *", "expected exactly 5 fields, found 4: [* * * *]");
    assert_schedule("60 * * * *", "end of range (60) above maximum (59): 60");
    assert_schedule("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1");
    assert_schedule("x * * * *",
                    "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax");
}

TESTS(deployment_spec_is_defaulted, pod_template_is_defaulted_as_a_pod,
      selector_not_matching_template_labels_is_invalid, selector_is_immutable,
      template_errors_have_the_path_of_the_template, stateful_set_and_daemon_set_are_defaulted,
      volume_claim_templates_are_volumes_of_the_pods,
      stateful_set_update_of_other_fields_is_forbidden, job_selector_is_generated_from_its_uid,
      job_spec_is_defaulted, invalid_cron_schedule_is_reported)
