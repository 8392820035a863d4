/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/warnings.h"

#include "kinds_samples.h"

typedef void warn_fn(const kc_value *object, kc_paths *warnings);

static void assert_warned(warn_fn *warn, const char *json, const char *expected)
{
    kc_scoped(kc_paths) warnings = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_object) *object = object_of(json);
    kc_auto(kc_view) *view = kc_view_of(object);
    warn(kc_view_root(view), &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        kc_buf_printf(&out, "%s%s", i ? "\n" : "", warnings.items[i]);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void valid_object_has_no_warnings(void **state)
{
    (void)state;
    assert_warned(kc__warnings_pod, POD_WITH(""), "");
    assert_warned(kc__warnings_service, "{'spec':{'type':'ClusterIP'}}", "");
    assert_warned(kc__warnings_ingress, "{'metadata':{}}", "");
}

static void duplicate_variables_and_ports_are_warned_about(void **state)
{
    (void)state;
    assert_warned(kc__warnings_pod,
                  CONTAINER_WITH("'env':[{'name':'a'},{'name':'b'},{'name':'a'}],"
                                 "'ports':[{'containerPort':80},{'containerPort':80}]"),
                  "spec.containers[0].env[2]: hides previous definition of \"a\", which may be "
                  "dropped when using apply\n"
                  "spec.containers[0].ports[1]: duplicate port definition with "
                  "spec.containers[0].ports[0]");
    assert_warned(kc__warnings_pod_template,
                  "{'spec':{'template':{'spec':{'imagePullSecrets':[{}]}}}}",
                  "spec.template.spec.imagePullSecrets[0].name: invalid empty name \"\"");
}

static void deprecated_parts_of_pods_are_warned_about(void **state)
{
    (void)state;
    assert_warned(
        kc__warnings_pod,
        "{'metadata':{'annotations':{'scheduler.alpha.kubernetes.io/critical-pod':'','seccomp."
        "security.alpha.kubernetes.io/pod':'x','container.seccomp.security.alpha.kubernetes.io/c':"
        "'x','container.apparmor.security.beta.kubernetes.io/c':'unconfined'}},'spec':{"
        "'nodeSelector':{'beta.kubernetes.io/os':'linux'},'volumes':[{'name':'v','gitRepo':{}},{"
        "'name':'w','storageos':{}}],'containers':[{'name':'c'}]}}",
        "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
        "\"kubernetes.io/os\" instead\n"
        "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in "
        "v1.16+; use the \"priorityClassName\" field instead\n"
        "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+\n"
        "spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+\n"
        "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; "
        "use the \"seccompProfile\" field instead\n"
        "metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in "
        "v1.27+; use the \"seccompProfile\" field instead");
}

static void profile_annotation_of_a_template_is_warned_about(void **state)
{
    (void)state;
#define TEMPLATE(context)                                                                \
    "{'spec':{'template':{'metadata':{'annotations':{'container.apparmor.security.beta." \
    "kubernetes.io/c':'localhost/x'}},'spec':{" context "'containers':[{'name':'c'}]}}}}"
    assert_warned(kc__warnings_pod_template, TEMPLATE(""),
                  "spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes."
                  "io/c]: deprecated since v1.30; use the \"appArmorProfile\" field instead");
    assert_warned(kc__warnings_pod_template,
                  TEMPLATE("'securityContext':{'appArmorProfile':{'type':'Localhost',"
                           "'localhostProfile':'x'}},"),
                  "");
}

static void values_without_effect_are_warned_about(void **state)
{
    (void)state;
    assert_warned(
        kc__warnings_pod,
        "{'spec':{'terminationGracePeriodSeconds':-1,'hostAliases':[{'ip':'1.1.1.1'},{'ip':"
        "'1.1.1.1'}],'topologySpreadConstraints':[{'topologyKey':'failure-domain.beta.kubernetes."
        "io/zone'}],'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
        "'topologyKey':'x'}]},'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution'"
        ":[{'podAffinityTerm':{}}]}},'containers':[{'name':'c','env':[{'name':'a','value':'x'},{"
        "'name':'a','value':'$(a)y'},{'name':'a','value':'$(a)'}],'resources':{'limits':{'memory':"
        "'100m'}},'ports':[{'name':'p','containerPort':1,'hostIP':'1.1.1.1'},{'name':'p',"
        "'containerPort':1,'hostPort':2}]}]}}",
        "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is "
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead\n"
        "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching "
        "no pod\n"
        "spec.hostAliases[1].ip: duplicate ip \"1.1.1.1\"\n"
        "spec.containers[0].resources.limits[memory]: fractional byte value \"100m\" is invalid, "
        "must be an integer\n"
        "spec.containers[0].env[2]: hides previous definition of \"a\", which may be dropped when "
        "using apply\n"
        "spec.containers[0].ports[0]: hostIP set without hostPort: {Name:p HostPort:0 "
        "ContainerPort:1 Protocol: HostIP:1.1.1.1}\n"
        "spec.containers[0].ports[1]: overlapping port definition with "
        "spec.containers[0].ports[0]\n"
        "spec.containers[0].ports[1]: duplicate port name \"p\" with spec.containers[0].ports[0], "
        "services and probes that select ports by name will use spec.containers[0].ports[0]\n"
        "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be "
        "treated as 1\n"
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector:"
        " a null labelSelector results in matching no pod\n"
        "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
        "podAffinityTerm.labelSelector: a null labelSelector results in matching no pod");
}

static void overlapping_paths_of_a_volume_are_warned_about(void **state)
{
    (void)state;
    assert_warned(
        kc__warnings_pod,
        "{'spec':{'volumes':[{'name':'v','configMap':{'name':'m','items':[{'path':'a'},{'path':"
        "'a/b/'},{'path':'ab'}]}},{'name':'w','projected':{'sources':[{},{'secret':{'name':'s',"
        "'items':[{'path':'t'}]}},{'serviceAccountToken':{'path':'t'}}]}}]}}",
        "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"a/b\" with \"a\"\n"
        "volume \"w\" (Projected) has no sources provided\n"
        "volume \"w\" (Projected): overlapping paths: \"t\" (ServiceAccountToken) with \"t\" "
        "(Secret \"s\")");
}

static void number_of_warnings_is_bounded(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_paths) warnings = {0};
    kc_buf_puts(&json, "{'spec':{'containers':[{'ports':[{'containerPort':1}");
    for (int i = 0; i < 5000; i++)
        kc_buf_puts(&json, ",{'containerPort':1}");
    kc_buf_puts(&json, "]}]}}");
    kc_auto(kc_object) *object = object_of(kc_buf_cstr(&json));
    kc_auto(kc_view) *view = kc_view_of(object);
    kc__warnings_pod(kc_view_root(view), &warnings);
    assert_int_equal(warnings.n, 128);
}

static void ignored_service_fields_are_warned_about(void **state)
{
    (void)state;
    assert_warned(kc__warnings_service, "{'spec':{'clusterIP':'None','sessionAffinity':'None'}}",
                  "spec.SessionAffinity is ignored for headless services");
    assert_warned(kc__warnings_service, "{'spec':{'type':'ClusterIP','externalName':'x'}}",
                  "spec.externalName is ignored when spec.type is not \"ExternalName\"");
    assert_warned(kc__warnings_service,
                  "{'spec':{'type':'ExternalName','externalIPs':['1.1.1.1']}}",
                  "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
}

static void deprecated_ingress_class_annotation_is_warned_about(void **state)
{
    (void)state;
    assert_warned(kc__warnings_ingress,
                  "{'metadata':{'annotations':{'kubernetes.io/ingress.class':'x'}}}",
                  "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                  "'spec.ingressClassName' instead");
}

TESTS(valid_object_has_no_warnings, duplicate_variables_and_ports_are_warned_about,
      deprecated_parts_of_pods_are_warned_about, profile_annotation_of_a_template_is_warned_about,
      values_without_effect_are_warned_about, overlapping_paths_of_a_volume_are_warned_about,
      number_of_warnings_is_bounded, ignored_service_fields_are_warned_about,
      deprecated_ingress_class_annotation_is_warned_about)
