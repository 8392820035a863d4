/* SPDX-License-Identifier: Apache-2.0 */
#include "kinds_testing.h"

#define POD "io.k8s.api.core.v1.Pod"

#define POD_OF(spec)         "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p'},'spec':{" spec "}}"
#define CONTAINER            "'name':'c','image':'busybox:1'"
#define POD_WITH(rest)       POD_OF("'containers':[{" CONTAINER "}]" rest)
#define CONTAINER_WITH(rest) POD_OF("'containers':[{" CONTAINER "," rest "}]")

static void assert_pod(const char *json, const char *expected)
{
    assert_new(POD, &kc__strategy_pod, json, expected);
}

/* ---- defaults ---- */

static void assert_has(const char *json, const char *part)
{
    kc_auto(kc_object) *pod = prepared(POD, &kc__strategy_pod, json);
    kc_autofree char *text = kc_str_dup(kc_object_json(pod));
    kc_autofree char *wanted = kc_str_dup(kc_cstr(part));
    for (char *p = wanted; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_contains(text, wanted);
}

static void pod_spec_is_defaulted(void **state)
{
    (void)state;
    assert_has(
        POD_WITH(""),
        "'spec':{'containers':[{'name':'c','image':'busybox:1','resources':{},"
        "'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File',"
        "'imagePullPolicy':'IfNotPresent'}],'restartPolicy':'Always',"
        "'terminationGracePeriodSeconds':30,'dnsPolicy':'ClusterFirst',"
        "'securityContext':{},'schedulerName':'default-scheduler','enableServiceLinks':true}");
}

static void given_values_are_not_defaulted(void **state)
{
    (void)state;
    assert_has(POD_WITH(",'terminationGracePeriodSeconds':0,'enableServiceLinks':false"),
               "'terminationGracePeriodSeconds':0");
    assert_has(CONTAINER_WITH("'imagePullPolicy':'Never'"), "'imagePullPolicy':'Never'");
}

static void image_without_tag_or_with_latest_is_always_pulled(void **state)
{
    (void)state;
    assert_has(POD_OF("'containers':[{'name':'c','image':'busybox'}]"), "'Always'}]");
    assert_has(POD_OF("'containers':[{'name':'c','image':'host:5000/x'}]"), "'Always'}]");
    assert_has(POD_OF("'containers':[{'name':'c','image':'x:latest'}]"), "'Always'}]");
    assert_has(POD_OF("'containers':[{'name':'c','image':'x@sha256:ab'}]"), "'IfNotPresent'}]");
}

static void probes_ports_and_references_are_defaulted(void **state)
{
    (void)state;
    assert_has(CONTAINER_WITH("'livenessProbe':{'httpGet':{'port':80}}"),
               "'livenessProbe':{'httpGet':{'path':'/','port':80,'scheme':'HTTP'},"
               "'timeoutSeconds':1,'periodSeconds':10,'successThreshold':1,'failureThreshold':3}");
    assert_has(CONTAINER_WITH("'ports':[{'containerPort':80}]"),
               "'ports':[{'containerPort':80,'protocol':'TCP'}]");
    assert_has(CONTAINER_WITH(
                   "'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'}}}]"),
               "'fieldRef':{'apiVersion':'v1','fieldPath':'status.podIP'}");
}

static void volumes_are_defaulted(void **state)
{
    (void)state;
    assert_has(POD_WITH(",'volumes':[{'name':'v'}]"), "'volumes':[{'name':'v','emptyDir':{}}]");
    assert_has(POD_WITH(",'volumes':[{'name':'v','secret':{'secretName':'s'}}]"),
               "{'secretName':'s','defaultMode':420}");
    assert_has(POD_WITH(",'volumes':[{'name':'v','hostPath':{'path':'/x'}}]"),
               "'hostPath':{'path':'/x','type':''}");
    assert_has(POD_WITH(",'volumes':[{'name':'v','projected':{'sources':"
                        "[{'serviceAccountToken':{'path':'t'}}]}}]"),
               "{'sources':[{'serviceAccountToken':{'expirationSeconds':3600,'path':'t'}}],"
               "'defaultMode':420}");
}

static void requests_default_to_limits(void **state)
{
    (void)state;
    assert_has(CONTAINER_WITH("'resources':{'limits':{'cpu':'1','memory':'1Gi'},"
                              "'requests':{'cpu':'500m'}}"),
               "'requests':{'cpu':'500m','memory':'1Gi'}");
}

static void host_ports_default_to_container_ports_on_host_network(void **state)
{
    (void)state;
    assert_has(
        POD_OF("'hostNetwork':true,'containers':[{" CONTAINER ",'ports':[{'containerPort':80}]}]"),
        "{'hostPort':80,'containerPort':80,'protocol':'TCP'}");
}

static void new_pod_is_pending_and_has_a_qos_class(void **state)
{
    (void)state;
    assert_has(POD_WITH(""), "'status':{'phase':'Pending','qosClass':'BestEffort'}");
    assert_has(CONTAINER_WITH("'resources':{'limits':{'cpu':'1','memory':'1Gi'}}"), "'Guaranteed'");
    assert_has(CONTAINER_WITH("'resources':{'limits':{'cpu':'1'}}"), "'Burstable'");
    assert_has(CONTAINER_WITH("'resources':{'requests':{'memory':'1Gi'}}"), "'Burstable'");
}

/* ---- checks ---- */

static void valid_pod_has_no_errors(void **state)
{
    (void)state;
    assert_pod(POD_WITH(""), "");
}

static void containers_need_name_and_image(void **state)
{
    (void)state;
    assert_pod(POD_OF("'containers':[]"), "spec.containers: Required value");
    assert_pod(POD_OF("'containers':[{}]"), "spec.containers[0].name: Required value\n"
                                            "spec.containers[0].image: Required value");
    assert_pod(POD_OF("'containers':[{" CONTAINER "},{" CONTAINER "}]"),
               "spec.containers[1].name: Duplicate value: \"c\"");
    assert_pod(POD_OF("'containers':[{'name':'c','image':' x'}]"),
               "spec.containers[0].image: Invalid value: \" x\": must not have leading or trailing "
               "whitespace");
}

static void unknown_policy_is_unsupported(void **state)
{
    (void)state;
    assert_pod(POD_WITH(",'restartPolicy':'Sometimes'"),
               "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: "
               "\"Always\", \"OnFailure\", \"Never\"");
    assert_pod(CONTAINER_WITH("'imagePullPolicy':'Perhaps'"),
               "spec.containers[0].imagePullPolicy: Unsupported value: \"Perhaps\": supported "
               "values: \"Always\", \"IfNotPresent\", \"Never\"");
}

static void invalid_container_ports_are_reported(void **state)
{
    (void)state;
    assert_pod(CONTAINER_WITH("'ports':[{'containerPort':0}]"),
               "spec.containers[0].ports[0].containerPort: Required value");
    assert_pod(CONTAINER_WITH("'ports':[{'containerPort':65536,'name':'Bad_'}]"),
               "spec.containers[0].ports[0].name: Invalid value: \"Bad_\": must contain only "
               "alpha-numeric characters (a-z, 0-9), and hyphens (-)\n"
               "spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 "
               "and 65535, inclusive");
    assert_pod(CONTAINER_WITH("'ports':[{'containerPort':80,'hostPort':1},"
                              "{'containerPort':81,'hostPort':1}]"),
               "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//1\"");
}

static void variable_needs_a_name_and_one_source(void **state)
{
    (void)state;
    assert_pod(CONTAINER_WITH("'env':[{'name':''}]"),
               "spec.containers[0].env[0].name: Required value");
    assert_pod(CONTAINER_WITH("'env':[{'name':'A','valueFrom':{}}]"),
               "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of: "
               "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
    assert_pod(CONTAINER_WITH("'env':[{'name':'A','value':'x','valueFrom':"
                              "{'fieldRef':{'fieldPath':'metadata.name'}}}]"),
               "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified "
               "when `value` is not empty");
}

static void volume_mount_needs_an_existing_volume(void **state)
{
    (void)state;
    assert_pod(CONTAINER_WITH("'volumeMounts':[{'name':'v','mountPath':'/x'}]"),
               "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
    assert_pod(POD_OF("'volumes':[{'name':'v'}],'containers':[{" CONTAINER
                      ",'volumeMounts':[{'name':'v','mountPath':'/x'},"
                      "{'name':'v','mountPath':'/x'}]}]"),
               "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": must be "
               "unique");
}

static void volume_needs_exactly_one_source(void **state)
{
    (void)state;
    assert_pod(POD_WITH(",'volumes':[{'name':'v','emptyDir':{},'secret':{'secretName':'s'}}]"),
               "spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type");
    assert_pod(POD_WITH(",'volumes':[{'name':'v','hostPath':{'path':'/a/../b'}}]"),
               "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'");
    assert_pod(POD_WITH(",'volumes':[{'name':'v'},{'name':'v'}]"),
               "spec.volumes[1].name: Duplicate value: \"v\"");
}

static void request_above_limit_is_invalid(void **state)
{
    (void)state;
    assert_pod(CONTAINER_WITH("'resources':{'limits':{'cpu':'1'},'requests':{'cpu':'2'}}"),
               "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
               "equal to cpu limit of 1");
    assert_pod(CONTAINER_WITH("'resources':{'limits':{'cpu':'-1'}}"),
               "spec.containers[0].resources.limits[cpu]: Invalid value: \"-1\": must be greater "
               "than or equal to 0\n"
               "spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater "
               "than or equal to 0");
}

static void probe_needs_exactly_one_handler(void **state)
{
    (void)state;
    assert_pod(CONTAINER_WITH("'readinessProbe':{}"),
               "spec.containers[0].readinessProbe: Required value: must specify a handler type");
    assert_pod(CONTAINER_WITH("'livenessProbe':{'exec':{'command':['a']},'successThreshold':2}"),
               "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1");
}

/* ---- changes ---- */

static void assert_change(const char *before, const char *after, const char *expected)
{
    assert_changed(POD, &kc__strategy_pod, before, after, expected);
}

static void image_may_be_updated(void **state)
{
    (void)state;
    assert_change(POD_WITH(""), POD_OF("'containers':[{'name':'c','image':'busybox:2'}]"), "");
}

static void tolerations_may_be_added_but_not_changed(void **state)
{
    (void)state;
    assert_change(POD_WITH(""), POD_WITH(",'tolerations':[{'operator':'Exists'}]"), "");
    assert_change(POD_WITH(",'tolerations':[{'operator':'Exists'}]"), POD_WITH(""),
                  "spec.tolerations: Forbidden: existing toleration can not be modified except its "
                  "tolerationSeconds");
}

static void update_of_other_fields_is_forbidden(void **state)
{
    (void)state;
    assert_change(POD_WITH(""), POD_WITH(",'nodeName':'n'"),
                  "spec: Forbidden: pod updates may not change fields other than "
                  "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
                  "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
                  "it was previously negative)\n"
                  "@@ -42,7 +42,7 @@\n"
                  "  \"NodeSelector\": null,\n"
                  "  \"ServiceAccountName\": \"\",\n"
                  "  \"AutomountServiceAccountToken\": null,\n"
                  "- \"NodeName\": \"\",\n"
                  "+ \"NodeName\": \"n\",\n"
                  "  \"SecurityContext\": {\n"
                  "   \"HostNetwork\": false,\n"
                  "   \"HostPID\": false,\n");
    assert_change(POD_WITH(""), POD_OF("'containers':[{" CONTAINER "},{'name':'d','image':'x'}]"),
                  "spec.containers: Forbidden: pod updates may not add or remove containers");
}

/* ---- deletion ---- */

static int64_t grace_of(const char *json, const int64_t *requested)
{
    kc_auto(kc_view) *view = view_of(json);
    return kc__strategy_pod.grace(kc_view_root(view), requested);
}

static void running_pod_has_its_grace_period(void **state)
{
    (void)state;
    int64_t five = 5, negative = -1;
    const char *running = "{'spec':{'nodeName':'n','terminationGracePeriodSeconds':30},"
                          "'status':{'phase':'Running'}}";
    assert_int_equal(grace_of(running, NULL), 30);
    assert_int_equal(grace_of(running, &five), 5);
    assert_int_equal(grace_of(running, &negative), 1);
}

static void unassigned_or_terminated_pod_has_no_grace_period(void **state)
{
    (void)state;
    int64_t five = 5;
    assert_int_equal(grace_of("{'spec':{'terminationGracePeriodSeconds':30}}", &five), 0);
    assert_int_equal(grace_of("{'spec':{'nodeName':'n','terminationGracePeriodSeconds':30},"
                              "'status':{'phase':'Succeeded'}}",
                              NULL),
                     0);
}

TESTS(pod_spec_is_defaulted, given_values_are_not_defaulted,
      image_without_tag_or_with_latest_is_always_pulled, probes_ports_and_references_are_defaulted,
      volumes_are_defaulted, requests_default_to_limits,
      host_ports_default_to_container_ports_on_host_network, new_pod_is_pending_and_has_a_qos_class,
      valid_pod_has_no_errors, containers_need_name_and_image, unknown_policy_is_unsupported,
      invalid_container_ports_are_reported, variable_needs_a_name_and_one_source,
      volume_mount_needs_an_existing_volume, volume_needs_exactly_one_source,
      request_above_limit_is_invalid, probe_needs_exactly_one_handler, image_may_be_updated,
      tolerations_may_be_added_but_not_changed, update_of_other_fields_is_forbidden,
      running_pod_has_its_grace_period, unassigned_or_terminated_pod_has_no_grace_period)
