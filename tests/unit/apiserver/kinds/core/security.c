/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of security contexts, profile annotations and host namespaces of pods. */
#include "kinds_samples.h"

static const sample pod_1[] = {
    {POD_WITH(",'securityContext':{'runAsUser':-1}"),
     "spec.securityContext.runAsUser: Invalid value: -1: must be "
     "between 0 and 2147483647, inclusive"},
    {POD_WITH(",'securityContext':{'runAsGroup':-1}"),
     "spec.securityContext.runAsGroup: Invalid value: -1: must be "
     "between 0 and 2147483647, inclusive"},
    {POD_WITH(",'securityContext':{'fsGroup':-1}"),
     "spec.securityContext.fsGroup: Invalid value: -1: must be "
     "between 0 and 2147483647, inclusive"},
    {POD_WITH(",'securityContext':{'fsGroup':4294967296}"),
     "spec.securityContext.fsGroup: Invalid value: 4294967296: must "
     "be between 0 and 2147483647, inclusive"},
    {POD_WITH(",'securityContext':{'supplementalGroups':[-1,5]}"),
     "spec.securityContext.supplementalGroups[0]: Invalid value: "
     "-1: must be between 0 and 2147483647, inclusive"},
    {POD_WITH(",'securityContext':{'fsGroupChangePolicy':'X'}"),
     "spec.securityContext.fsGroupChangePolicy: Unsupported value: "
     "\"X\": supported values: \"Always\", \"OnRootMismatch\""},
    {POD_WITH(",'securityContext':{'seccompProfile':{'type':'X'}}"),
     "spec.securityContext.seccompProfile.type: Unsupported value: "
     "\"X\": supported values: \"Localhost\", \"RuntimeDefault\", "
     "\"Unconfined\""},
    {POD_WITH(",'securityContext':{'seccompProfile':{'type':'Localhost'}}"),
     "spec.securityContext.seccompProfile.localhostProfile: "
     "Required value: must be set when seccomp type is Localhost"},
    {POD_WITH(",'securityContext':{'seccompProfile':{'type':'Localhost',"
              "'localhostProfile':'../x'}}"),
     "spec.securityContext.seccompProfile.localhostProfile: Invalid "
     "value: \"../x\": must not contain '..'"},
    {POD_WITH(",'securityContext':{'seccompProfile':{'type':'RuntimeDefault',"
              "'localhostProfile':'x'}}"),
     "spec.securityContext.seccompProfile.localhostProfile: Invalid "
     "value: {\"Type\":\"RuntimeDefault\",\"LocalhostProfile\":\"x\"}: can "
     "only be set when seccomp type is Localhost"},
    {POD_WITH(",'securityContext':{'appArmorProfile':{'type':'X'}}"),
     "spec.securityContext.appArmorProfile.type: Unsupported value: "
     "\"X\": supported values: \"Localhost\", \"RuntimeDefault\", "
     "\"Unconfined\""},
    {POD_WITH(",'securityContext':{'appArmorProfile':{'type':'Localhost'}}"),
     "spec.securityContext.appArmorProfile.localhostProfile: "
     "Required value: must be set when AppArmor type is Localhost"},
    {POD_WITH(",'securityContext':{'appArmorProfile':{'type':'Unconfined',"
              "'localhostProfile':'x'}}"),
     "spec.securityContext.appArmorProfile.localhostProfile: "
     "Invalid value: \"x\": can only be set when AppArmor type is "
     "Localhost"},
    {POD_WITH(",'securityContext':{'sysctls':[{'name':'','value':'1'}]}"),
     "spec.securityContext.sysctls[0].name: Required value"},
    {POD_WITH(",'securityContext':{'sysctls':[{'name':'a b','value':'1'}]}"),
     "spec.securityContext.sysctls[0].name: Invalid value: \"a b\": "
     "must have at most 253 characters and match regex "
     "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*["
     "a-z0-9])?$"},
    {POD_WITH(",'securityContext':{'sysctls':[{'name':'kernel."
              "shm_rmid_forced','value':'1'},"
              "{'name':'kernel.shm_rmid_forced','value':'1'}]}"),
     "spec.securityContext.sysctls[1].name: Duplicate value: "
     "\"kernel.shm_rmid_forced\""},
    {POD_WITH(",'securityContext':{'supplementalGroupsPolicy':'X'}"),
     "spec.securityContext.supplementalGroupsPolicy: Unsupported "
     "value: \"X\": supported values: \"Merge\", \"Strict\""},
    {POD_WITH(",'securityContext':{'seLinuxChangePolicy':'X'}"),
     "spec.securityContext.seLinuxChangePolicy: Unsupported value: "
     "\"X\": supported values: \"Recursive\""},
};

static void invalid_pod_security_contexts_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_1, KC_COUNT(pod_1));
}

static const sample pod_2[] = {
    {CONTAINER_WITH("'securityContext':{'runAsUser':-1}"),
     "spec.containers[0].securityContext.runAsUser: Invalid value: "
     "-1: must be between 0 and 2147483647, inclusive"},
    {CONTAINER_WITH("'securityContext':{'runAsGroup':-1}"),
     "spec.containers[0].securityContext.runAsGroup: Invalid value: "
     "-1: must be between 0 and 2147483647, inclusive"},
    {CONTAINER_WITH("'securityContext':{'procMount':'X'}"),
     "spec.containers[0].securityContext.procMount: Unsupported "
     "value: \"X\": supported values: \"Default\", \"Unmasked\""},
    {CONTAINER_WITH("'securityContext':{'procMount':'Unmasked'}"),
     "spec.containers[0].securityContext.procMount: Invalid value: "
     "\"Unmasked\": `hostUsers` must be false to use `Unmasked`"},
    {CONTAINER_WITH("'securityContext':{'seccompProfile':{'type':''}}"),
     "spec.containers[0].securityContext.seccompProfile.type: "
     "Required value: type is required when seccompProfile is set"},
    {CONTAINER_WITH("'securityContext':{'seccompProfile':{'type':'Localhost',"
                    "'localhostProfile':'/x'}}"),
     "spec.containers[0].securityContext.seccompProfile."
     "localhostProfile: Invalid value: \"/x\": must be a relative path"},
    {CONTAINER_WITH("'securityContext':{'appArmorProfile':{'type':'Localhost',"
                    "'localhostProfile':' x'}}"),
     "spec.containers[0].securityContext.appArmorProfile."
     "localhostProfile: Invalid value: \" x\": must not be padded "
     "with whitespace"},
    {CONTAINER_WITH("'securityContext':{'windowsOptions':{'hostProcess':true}}"),
     "spec.hostNetwork: Invalid value: false: hostNetwork must be "
     "true if pod contains any hostProcess containers"},
};

static void invalid_container_security_contexts_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_2, KC_COUNT(pod_2));
}

static const sample pod_3[] = {
    {POD_WITH(",'hostIPC':true,'hostPID':true,'hostNetwork':true,"
              "'shareProcessNamespace':true"),
     "spec.securityContext.shareProcessNamespace: Invalid value: "
     "true: ShareProcessNamespace and HostPID cannot both be enabled"},
    {POD_WITH(",'shareProcessNamespace':true,'hostPID':true"),
     "spec.securityContext.shareProcessNamespace: Invalid value: "
     "true: ShareProcessNamespace and HostPID cannot both be enabled"},
    {POD_WITH(",'hostUsers':false,'hostNetwork':true"),
     "spec.hostNetwork: Forbidden: when `hostUsers` is false"},
    {POD_WITH(",'os':{'name':'windows'},'hostPID':true,"
              "'securityContext':{'runAsUser':1,'fsGroup':2,"
              "'seLinuxOptions':{}}"),
     "spec.securityContext.seLinuxOptions: Forbidden: cannot be set "
     "for a windows pod\n"
     "spec.hostPID: Forbidden: cannot be set for a windows pod\n"
     "spec.securityContext.fsGroup: Forbidden: cannot be set for a "
     "windows pod\n"
     "spec.securityContext.runAsUser: Forbidden: cannot be set for "
     "a windows pod"},
    {POD_WITH(",'os':{'name':'linux'},'securityContext':{'windowsOptions':{}}"),
     "spec.securityContext.windowsOptions: Forbidden: windows "
     "options cannot be set for a linux pod"},
};

static void invalid_host_namespaces_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_3, KC_COUNT(pod_3));
}

#define ARMOR   "container.apparmor.security.beta.kubernetes.io/"
#define SECCOMP "container.seccomp.security.alpha.kubernetes.io/"
#define ANNOTATED(annotations, context)                                                       \
    "{'metadata':{'name':'p','namespace':'default','annotations':{" annotations "}},'spec':{" \
    "'containers':[{'name':'c','image':'i','securityContext':{" context "}}]}}"

static const sample pod_4[] = {
    {ANNOTATED("'" ARMOR "c':'unconfined','" SECCOMP "c':'localhost/a'", ""), ""},
    {ANNOTATED("'" ARMOR "d':'x'", ""),
     "metadata.annotations[" ARMOR "d]: Invalid value: \"d\": container not found\n"
     "metadata.annotations[" ARMOR "d]: Invalid value: \"x\": invalid AppArmor profile name: "
     "\"x\""},
    {ANNOTATED("'" SECCOMP "c':'x'", ""),
     "metadata.annotations." SECCOMP "c: Invalid value: \"x\": must be a valid seccomp profile"},
    {ANNOTATED("'" SECCOMP "c':'localhost/a/..'", ""),
     "metadata.annotations." SECCOMP "c: Invalid value: \"a/..\": must not contain '..'"},
    {ANNOTATED("'" ARMOR "c':'unconfined'", "'appArmorProfile':{'type':'RuntimeDefault'}"),
     "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in "
     "annotation and field must match"},
    {ANNOTATED("'" SECCOMP "c':'localhost/b'",
               "'seccompProfile':{'type':'Localhost','localhostProfile':'a'}"),
     "spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp "
     "profile in annotation and field must match"},
};

static void invalid_profile_annotations_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_4, KC_COUNT(pod_4));
}

TESTS(invalid_profile_annotations_are_reported, invalid_pod_security_contexts_are_reported,
      invalid_container_security_contexts_are_reported, invalid_host_namespaces_are_reported)
