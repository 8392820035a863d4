/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod fields that process containers do not support: refused or reported, never ignored silently.
 */
#include "process_testing.h"

/* A runtime that only decides: on a machine with everything, or with nothing. */
static kc__process_runtime machine(bool everything)
{
    return (kc__process_runtime){.isolation = {.namespaces = everything
                                                                 ? KC__PROCESS_NAMESPACES_ROOT
                                                                 : KC__PROCESS_NAMESPACES_NONE,
                                               .cpu = everything,
                                               .memory = everything,
                                               .seccomp = everything}};
}

static char *ignored(const kc__process_runtime *rt, const char *spec)
{
    kc_auto(kc_pod) *pod = pod_of(spec);
    kc_scoped(kc_buf) out = {0};
    kc__process_support_ignored(rt, pod, &out);
    return kc_strdup(kc_buf_cstr(&out));
}

#define CONTAINER(fields) "'containers':[{'name':'c','command':['true']" fields "}]"

static void unsupported_fields_are_refused_with_reason(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *error;
    } cases[] = {
        {CONTAINER() ",'hostPID':true", "hostPID is not supported: "},
        {CONTAINER() ",'hostIPC':true", "hostIPC is not supported: "},
        {CONTAINER() ",'runtimeClassName':'gvisor'", "runtimeClassName is not supported: "},
        {CONTAINER() ",'os':{'name':'windows'}", "os.name is not supported: "},
        {CONTAINER() ",'resourceClaims':[{'name':'gpu'}]", "resourceClaims is not supported: "},
        {CONTAINER() ",'securityContext':{'sysctls':[{'name':'a','value':'b'}]}",
         "securityContext.sysctls is not supported: "},
        {CONTAINER() ",'securityContext':{'seccompProfile':{'type':'Localhost'}}",
         "securityContext.seccompProfile.type is not supported: "},
        {CONTAINER(",'securityContext':{'appArmorProfile':{'type':'Localhost'}}"),
         "container c: securityContext.appArmorProfile.type is not supported: "},
        {CONTAINER(",'resources':{'limits':{'nvidia.com/gpu':'1'}}"),
         "container c: resources.limits.nvidia.com/gpu is not supported: "},
        {CONTAINER(",'resources':{'limits':{'hugepages-2Mi':'2Mi'}}"),
         "container c: resources.limits.hugepages-2Mi is not supported: "},
        {CONTAINER(",'volumeDevices':[{'name':'a','devicePath':'/dev/x'}]"),
         "container c: volumeDevices is not supported: "},
        {CONTAINER(",'livenessProbe':{'grpc':{'port':1}}"),
         "container c: livenessProbe.grpc is not supported: "},
        {CONTAINER(",'lifecycle':{'preStop':{'tcpSocket':{'port':1}}}"),
         "container c: lifecycle.preStop.tcpSocket is not supported: "},
    };
    kc__process_runtime rt = machine(true);
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_pod) *pod = pod_of(cases[i].spec);
        if (kc__process_support_check(&rt, pod, &pod->spec.containers[0], &err) == 0)
            fail_msg("%s was not refused", cases[i].spec);
        assert_error(&err, KC_INVALID, cases[i].error);
    }
}

static void ignored_fields_are_listed_in_one_text(void **state)
{
    (void)state;
    kc__process_runtime rt = machine(true);
    kc_autofree char *text = ignored(
        &rt,
        "'hostAliases':[{'ip':'1.2.3.4'}],'dnsPolicy':'None','dnsConfig':{},'subdomain':'s',"
        "'shareProcessNamespace':true,'hostUsers':false,"
        "'securityContext':{'fsGroup':5,'supplementalGroups':[7]},"
        "'volumes':[{'name':'t','projected':{'sources':[{'serviceAccountToken':{'path':'x'}}]}}],"
        "'containers':[{'name':'a','stdin':true,'tty':true,'ports':[{'hostPort':80,"
        "'containerPort':8080}],'securityContext':{'capabilities':{'add':['NET_ADMIN']},"
        "'allowPrivilegeEscalation':true,'seccompProfile':{'type':'Unconfined'}},"
        "'volumeMounts':[{'name':'t','mountPath':'/t','mountPropagation':'HostToContainer'}]}]");
    static const char *const fields[] = {
        "hostAliases (",
        "; dnsConfig (",
        "dnsPolicy (",
        "subdomain (",
        "shareProcessNamespace (",
        "hostUsers (",
        "securityContext.fsGroup (",
        "securityContext.supplementalGroups (",
        "; container a: stdin (",
        "container a: tty (",
        "container a: ports.hostPort (",
        "container a: securityContext.capabilities.add (",
        "container a: securityContext.allowPrivilegeEscalation (",
        "container a: securityContext.seccompProfile.type (",
        "container a: volumeMount t: mountPropagation (",
    };
    for (size_t i = 0; i < KC_COUNT(fields); i++)
        assert_contains(text, fields[i]);
}

static void unenforced_limits_are_reported(void **state)
{
    (void)state;
    static const char spec[] = CONTAINER(",'resources':{'limits':{'cpu':'1','memory':'1Gi',"
                                         "'ephemeral-storage':'1Gi'}}");
    kc__process_runtime with = machine(true), without = machine(false);
    kc_autofree char *enforced = ignored(&with, spec), *unenforced = ignored(&without, spec);
    assert_string_equal(enforced, "");
    assert_contains(unenforced,
                    "container c: resources.limits.memory (no cgroup v2 memory controller");
    assert_contains(unenforced, "container c: resources.limits.cpu (no cgroup v2 CPU controller");
    assert_null(strstr(unenforced, "ephemeral-storage"));
}

/* What the server fills in by itself is not worth a word. */
static void defaulted_pod_has_no_ignored_fields(void **state)
{
    (void)state;
    kc__process_runtime rt = machine(false);
    kc_autofree char *text = ignored(
        &rt,
        "'dnsPolicy':'ClusterFirst','enableServiceLinks':true,'restartPolicy':'Always',"
        "'schedulerName':'default-scheduler','securityContext':{},'serviceAccountName':'default',"
        "'terminationGracePeriodSeconds':30,'tolerations':[{'key':'a','operator':'Exists'}],"
        "'volumes':[{'name':'kube-api-access-abcde','projected':{'defaultMode':420,'sources':[{"
        "'serviceAccountToken':{'expirationSeconds':3607,'path':'token'}}]}}],"
        "'containers':[{'name':'c','image':'x','imagePullPolicy':'Always','resources':{},"
        "'ports':[{'containerPort':80}],'securityContext':{'allowPrivilegeEscalation':false,"
        "'capabilities':{'drop':['ALL']},'runAsNonRoot':true},"
        "'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File',"
        "'volumeMounts':[{'name':'kube-api-access-abcde','mountPath':'/x','readOnly':true}]}]");
    assert_string_equal(text, "");
}

static void ignored_fields_text_is_bounded(void **state)
{
    (void)state;
    kc__process_runtime rt = machine(true);
    kc_scoped(kc_buf) spec = {0};
    for (int i = 0; i < 500; i++)
        kc_buf_printf(&spec, "%s{'name':'c%d','tty':true}", i ? "," : "'containers':[", i);
    kc_buf_puts(&spec, "]");
    kc_autofree char *text = ignored(&rt, kc_buf_cstr(&spec));
    assert_true(strlen(text) < 3000);
    assert_contains(text, " more");
}

TESTS(unsupported_fields_are_refused_with_reason, ignored_fields_are_listed_in_one_text,
      unenforced_limits_are_reported, defaulted_pod_has_no_ignored_fields,
      ignored_fields_text_is_bounded)
