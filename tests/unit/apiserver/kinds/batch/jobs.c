/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Jobs, CronJobs and ReplicationControllers. */
#include "kinds_samples.h"

static const sample job_1[] = {
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'parallelism':-1}}",
     "spec.parallelism: Invalid value: -1: must be greater than or "
     "equal to 0"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'completions':-1}}",
     "spec.completions: Invalid value: -1: must be greater than or "
     "equal to 0"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'backoffLimit':-1}}",
     "spec.backoffLimit: Invalid value: -1: must be greater than or "
     "equal to 0"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'activeDeadlineSeconds':-1}}",
     "spec.activeDeadlineSeconds: Invalid value: -1: must be "
     "greater than or equal to 0"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'ttlSecondsAfterFinished':-1}}",
     "spec.ttlSecondsAfterFinished: Invalid value: -1: must be "
     "greater than or equal to 0"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'completionMode':'X'}}",
     "spec.completionMode: Unsupported value: \"X\": supported "
     "values: \"NonIndexed\", \"Indexed\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'completionMode':'Indexed',"
     "'completions':200000,'parallelism':200000}}",
     "spec.parallelism: Invalid value: 200000: must be less than or "
     "equal to 100000 when completion mode is Indexed"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'completions':3,"
     "'completionMode':'Indexed','backoffLimitPerIndex':-1}}",
     "spec.backoffLimitPerIndex: Invalid value: -1: must be greater "
     "than or equal to 0"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'backoffLimitPerIndex':1}}",
     "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed "
     "completion mode"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'maxFailedIndexes':1}}",
     "spec.backoffLimitPerIndex: Required value: when "
     "maxFailedIndexes is specified\n"
     "spec.maxFailedIndexes: Invalid value: 1: requires indexed "
     "completion mode"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'completions':3,"
     "'completionMode':'Indexed','backoffLimitPerIndex':1,"
     "'maxFailedIndexes':5}}",
     "spec.maxFailedIndexes: Invalid value: 5: must be less than or "
     "equal to completions"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'completions':200000,"
     "'completionMode':'Indexed','backoffLimitPerIndex':1}}",
     "spec.maxFailedIndexes: Required value: must be specified when "
     "completions is above 100000"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'podReplacementPolicy':'X'}}",
     "spec.podReplacementPolicy: Unsupported value: \"X\": supported "
     "values: \"Failed\", \"TerminatingOrFailed\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Always'}}}}",
     "spec.template.spec.restartPolicy: Required value: valid "
     "values: \"OnFailure\", \"Never\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}]}}}}",
     "spec.template.spec.restartPolicy: Required value: valid "
     "values: \"OnFailure\", \"Never\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'X'}}}}",
     "spec.template.spec.restartPolicy: Unsupported value: \"X\": "
     "supported values: \"Always\", \"OnFailure\", \"Never\"\n"
     "spec.template.spec.restartPolicy: Unsupported value: \"X\": "
     "supported values: \"OnFailure\", \"Never\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'manualSelector':true}}",
     "spec.selector: Required value\n"
     "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: "
     "`selector` does not match template `labels`"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'manualSelector':true,"
     "'selector':{'matchLabels':{'x':'y'}}}}",
     "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: "
     "`selector` does not match template `labels`"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'managedBy':'x'}}",
     "spec.managedBy: Invalid value: \"x\": must be a domain-prefixed "
     "path (such as \"acme.io/foo\")"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'managedBy':'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxx.com/y'}}",
     "spec.managedBy: Too long: may not be more than 63 bytes"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'managedBy':''}}",
     "spec.managedBy: Required value"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},'podFailurePolicy':{'rules':[{}]}}}",
     "spec.podFailurePolicy.rules[0].action: Required value: valid "
     "values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]\n"
     "spec.podFailurePolicy.rules[0]: Invalid value: specifying one "
     "of OnExitCodes and OnPodConditions is required"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'X',"
     "'onExitCodes':{'operator':'In','values':[1]}}]}}}",
     "spec.podFailurePolicy.rules[0].action: Unsupported value: "
     "\"X\": supported values: \"Count\", \"FailIndex\", \"FailJob\", "
     "\"Ignore\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob'}]}}}",
     "spec.podFailurePolicy.rules[0]: Invalid value: specifying one "
     "of OnExitCodes and OnPodConditions is required"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob',"
     "'onExitCodes':{'operator':'X','values':[1]}}]}}}",
     "spec.podFailurePolicy.rules[0].onExitCodes.operator: "
     "Unsupported value: \"X\": supported values: \"In\", \"NotIn\""},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob',"
     "'onExitCodes':{'operator':'In','values':[]}}]}}}",
     "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid "
     "value: []: at least one value is required"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob',"
     "'onExitCodes':{'operator':'In','values':[0,2]}}]}}}",
     "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid "
     "value: 0: must not be 0 for the In operator"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob',"
     "'onExitCodes':{'operator':'In','values':[2,1]}}]}}}",
     "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid "
     "value: [2,1]: must be ordered"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob',"
     "'onExitCodes':{'operator':'In','values':[1,1]}}]}}}",
     "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: "
     "Duplicate value: 1"},
    {"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j'},"
     "'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}},"
     "'podFailurePolicy':{'rules':[{'action':'FailJob',"
     "'onExitCodes':{'operator':'In','values':[1],"
     "'containerName':'zz'}}]}}}",
     "spec.podFailurePolicy.rules[0].onExitCodes.containerName: "
     "Invalid value: \"zz\": must be one of the container or "
     "initContainer names in the pod template"},
};

static void invalid_jobs_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.batch.v1.Job", &kc__strategy_job, job_1, KC_COUNT(job_1));
}

static const sample cron_2[] = {
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Required value"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'x',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"x\": expected exactly 5 fields, "
     "found 1: [x]"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'* * * *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"* * * *\": expected exactly 5 "
     "fields, found 4: [* * * *]"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'61 * * * *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"61 * * * *\": end of range (61) "
     "above maximum (59): 61"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'@foo',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"@foo\": unrecognized "
     "descriptor: @foo"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'TZ=UTC * * * * "
     "*','jobTemplate':{'spec':{'template':{'metadata':{'labels':{'"
     "a':'b'}},'spec':{'containers':[{'name':'c',"
     "'image':'busybox:1'}],'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use "
     "TZ or CRON_TZ in schedule, use timeZone field instead"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'CRON_TZ=UTC 0 * "
     "* * *','jobTemplate':{'spec':{'template':{'metadata':{'labels'"
     ":{'a':'b'}},'spec':{'containers':[{'name':'c',"
     "'image':'busybox:1'}],'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"CRON_TZ=UTC 0 * * * *\": cannot "
     "use TZ or CRON_TZ in schedule, use timeZone field instead"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'1-0 * * * *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"1-0 * * * *\": beginning of "
     "range (1) beyond end of range (0): 1-0"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'* * * * * *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"* * * * * *\": expected exactly "
     "5 fields, found 6: [* * * * * *]"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'*/0 * * * *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"*/0 * * * *\": step of range "
     "should be a positive number: */0"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'0 0 * FOO *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}}}",
     "spec.schedule: Invalid value: \"0 0 * FOO *\": failed to parse "
     "int from FOO: strconv.Atoi: parsing \"FOO\": invalid syntax"},
    {"{'apiVersion':'batch/v1','kind':'CronJob',"
     "'metadata':{'name':'cj'},'spec':{'schedule':'* * * * *',"
     "'jobTemplate':{'spec':{'template':{'metadata':{'labels':{'a':'"
     "b'}},'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}},'timeZone':''}}",
     "spec.timeZone: Invalid value: \"\": timeZone must be nil or "
     "non-empty string"},
};

static void invalid_cron_jobs_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.batch.v1.CronJob", &kc__strategy_cron_job, cron_2, KC_COUNT(cron_2));
}

static const sample rc_3[] = {
    {"{'apiVersion':'v1','kind':'ReplicationController',"
     "'metadata':{'name':'rc'},'spec':{'selector':{'x':'y'},"
     "'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}]}}}}",
     "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: "
     "`selector` does not match template `labels`"},
    {"{'apiVersion':'v1','kind':'ReplicationController',"
     "'metadata':{'name':'rc'},'spec':{'selector':{'a':'b'},"
     "'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}]}},"
     "'replicas':-1}}",
     "spec.replicas: Invalid value: -1: must be greater than or "
     "equal to 0"},
    {"{'apiVersion':'v1','kind':'ReplicationController',"
     "'metadata':{'name':'rc'},'spec':{'selector':{'a':'b'},"
     "'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}]}},"
     "'minReadySeconds':-1}}",
     "spec.minReadySeconds: Invalid value: -1: must be greater than "
     "or equal to 0"},
    {"{'apiVersion':'v1','kind':'ReplicationController',"
     "'metadata':{'name':'rc'},'spec':{'selector':{'a':'b'}}}",
     "spec.template: Required value"},
    {"{'apiVersion':'v1','kind':'ReplicationController',"
     "'metadata':{'name':'rc'},'spec':{'selector':{'a':'b'},"
     "'template':{'metadata':{'labels':{'a':'b'}},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}],"
     "'restartPolicy':'Never'}}}}",
     "spec.template.spec.restartPolicy: Unsupported value: \"Never\": "
     "supported values: \"Always\""},
    {"{'apiVersion':'v1','kind':'ReplicationController',"
     "'metadata':{'name':'rc'},'spec':{'template':{'metadata':{},"
     "'spec':{'containers':[{'name':'c','image':'busybox:1'}]}}}}",
     "spec.selector: Required value"},
};

static void invalid_replication_controllers_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.ReplicationController", &kc__strategy_replication_controller,
                   rc_3, KC_COUNT(rc_3));
}

TESTS(invalid_jobs_are_reported, invalid_cron_jobs_are_reported,
      invalid_replication_controllers_are_reported)
