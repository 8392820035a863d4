/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of Pod Security and the versions in which they apply. Texts are kube-apiserver's. */
#include "apiserver/admission/pod_security/pod_security_checks.h"
#include "testing.h"

/* The findings about a pod; empty: it is allowed. `minor` -1: the latest version. */
static char *findings(kc__pod_security_level level, int minor, const char *pod)
{
    kc_autofree char *json = kc_strdup(pod);
    const kc__pod_security_standard standard = {
        .level = level, .pinned = minor >= 0, .minor = minor >= 0 ? minor : 0};
    kc_scoped(kc__pod_security_result) result = {0};
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, &err);
    assert_non_null(view);
    const kc_value *root = kc_view_root(view);
    kc__pod_security_evaluate(
        &standard,
        &(kc__pod_security_pod){kc_value_get(root, "metadata"), kc_value_get(root, "spec")},
        &result);
    return kc_buf_take(&result.details);
}

#define ASSERT_FINDINGS(level, minor, pod, expected)                              \
    do {                                                                          \
        kc_autofree char *found = findings(KC__POD_SECURITY_##level, minor, pod); \
        assert_string_equal(found, expected);                                     \
    } while (0)

#define CONTAINER(context) "{'name':'c','securityContext':{" context "}}"
#define POD(spec)          "{'spec':{" spec "}}"
#define ONE(context)       POD("'containers':[" CONTAINER(context) "]")
#define GOOD                                                                           \
    "'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']},'runAsNonRoot':" \
    "true,'seccompProfile':{'type':'RuntimeDefault'}"

static void plain_pod_violates_restricted_only(void **state)
{
    (void)state;
    ASSERT_FINDINGS(PRIVILEGED, -1, ONE("'privileged':true"), "");
    ASSERT_FINDINGS(BASELINE, -1, ONE(""), "");
    ASSERT_FINDINGS(RESTRICTED, -1, ONE(GOOD), "");
    ASSERT_FINDINGS(
        RESTRICTED, -1, ONE(""),
        "allowPrivilegeEscalation != false (container \"c\" must set "
        "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
        "\"c\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or "
        "container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or "
        "container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
        "\"Localhost\")");
}

static void baseline_forbids_the_host_and_privileges(void **state)
{
    (void)state;
    ASSERT_FINDINGS(BASELINE, -1, POD("'hostNetwork':true,'hostIPC':true"),
                    "host namespaces (hostNetwork=true, hostIPC=true)");
    ASSERT_FINDINGS(BASELINE, -1, POD("'volumes':[{'name':'v','hostPath':{}},{'name':'e'}]"),
                    "hostPath volumes (volume \"v\")");
    ASSERT_FINDINGS(BASELINE, -1,
                    POD("'containers':[{'name':'a','ports':[{'hostPort':9},{'hostPort':80}]},"
                        "{'name':'b','ports':[{'hostPort':80},{'hostPort':0}]}]"),
                    "hostPort (containers \"a\", \"b\" use hostPorts 80, 9)");
    ASSERT_FINDINGS(BASELINE, -1, POD("'initContainers':[" CONTAINER("'privileged':true") "]"),
                    "privileged (container \"c\" must not set securityContext.privileged=true)");
    ASSERT_FINDINGS(BASELINE, -1, ONE("'capabilities':{'add':['SYS_TIME','KILL','NET_RAW']}"),
                    "non-default capabilities (container \"c\" must not include \"NET_RAW\", "
                    "\"SYS_TIME\" in securityContext.capabilities.add)");
    ASSERT_FINDINGS(BASELINE, -1, ONE("'procMount':'Unmasked'"),
                    "procMount (container \"c\" must not set securityContext.procMount to "
                    "\"Unmasked\")");
    ASSERT_FINDINGS(BASELINE, -1, POD("'securityContext':{'windowsOptions':{'hostProcess':true}}"),
                    "hostProcess (pod must not set "
                    "securityContext.windowsOptions.hostProcess=true)");
}

static void profiles_must_be_those_of_the_runtime_or_the_host(void **state)
{
    (void)state;
    ASSERT_FINDINGS(BASELINE, -1, POD("'securityContext':{'seccompProfile':{'type':'Unconfined'}}"),
                    "seccompProfile (pod must not set securityContext.seccompProfile.type to "
                    "\"Unconfined\")");
    ASSERT_FINDINGS(BASELINE, -1,
                    "{'metadata':{'annotations':{'container.apparmor.security.beta.kubernetes.io/c'"
                    ":'unconfined'}},'spec':{'containers':[" CONTAINER(
                        "'appArmorProfile':{'type':'Unconfined'}") "]}}",
                    "forbidden AppArmor profiles (container \"c\" and annotation must not set "
                    "AppArmor profile type to \"Unconfined\", "
                    "\"container.apparmor.security.beta.kubernetes.io/c=\"unconfined\"\")");
    ASSERT_FINDINGS(BASELINE, -1, ONE("'seLinuxOptions':{'type':'x_t','user':'u','role':'r'}"),
                    "seLinuxOptions (container \"c\" set forbidden "
                    "securityContext.seLinuxOptions: type \"x_t\"; user may not be set; role may "
                    "not be set)");
}

static void restricted_forbids_root_and_other_volumes(void **state)
{
    (void)state;
    ASSERT_FINDINGS(
        RESTRICTED, -1,
        POD("'securityContext':{'runAsUser':0,'runAsNonRoot':false},'containers':[" CONTAINER(
            GOOD) "]"),
        "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), "
        "runAsUser=0 (pod must not set runAsUser=0)");
    ASSERT_FINDINGS(RESTRICTED, -1,
                    POD("'volumes':[{'name':'n','nfs':{}},{'name':'h','hostPath':{}},{'name':'s',"
                        "'secret':{}},{'name':'u'}]"),
                    "restricted volume types (volumes \"n\", \"h\", \"u\" use restricted volume "
                    "types \"hostPath\", \"nfs\", \"unknown\")");
    ASSERT_FINDINGS(RESTRICTED, -1,
                    ONE("'allowPrivilegeEscalation':false,'runAsNonRoot':true,'seccompProfile':"
                        "{'type':'Localhost'},'capabilities':{'add':['CHOWN','NET_BIND_SERVICE']}"),
                    "unrestricted capabilities (container \"c\" must set "
                    "securityContext.capabilities.drop=[\"ALL\"]; container \"c\" must not include "
                    "\"CHOWN\" in securityContext.capabilities.add)");
}

/* Each check as it was in the versions around its revisions. */
static void versions_use_the_revision_of_their_time(void **state)
{
    (void)state;
    static const char sysctl[] = POD("'securityContext':{'sysctls':[{'name':"
                                     "'net.ipv4.tcp_fin_timeout'}]}");
    static const char selinux[] = ONE("'seLinuxOptions':{'type':'container_engine_t'}");
    static const char probe[] = POD("'containers':[{'name':'c','livenessProbe':{'httpGet':{'host':"
                                    "'h'}}}]");
    static const char annotated[] = "{'metadata':{'annotations':{'seccomp.security.alpha."
                                    "kubernetes.io/pod':'unconfined'}},'spec':{}}";
    static const char windows[] = POD("'os':{'name':'windows'},'securityContext':{'runAsNonRoot':"
                                      "true},'containers':[{'name':'c'}]");
    ASSERT_FINDINGS(BASELINE, 28, sysctl, "forbidden sysctls (net.ipv4.tcp_fin_timeout)");
    ASSERT_FINDINGS(BASELINE, 29, sysctl, "");
    ASSERT_FINDINGS(BASELINE, 30, selinux,
                    "seLinuxOptions (container \"c\" set forbidden "
                    "securityContext.seLinuxOptions: type \"container_engine_t\")");
    ASSERT_FINDINGS(BASELINE, 31, selinux, "");
    ASSERT_FINDINGS(BASELINE, 33, probe, "");
    ASSERT_FINDINGS(BASELINE, 34, probe,
                    "probe or lifecycle host (container \"c\" uses probe or lifecycle host "
                    "\"h\")");
    ASSERT_FINDINGS(BASELINE, 18, annotated,
                    "seccompProfile (forbidden annotation "
                    "seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")");
    ASSERT_FINDINGS(BASELINE, 19, annotated, "");
    ASSERT_FINDINGS(RESTRICTED, 25, windows, "");
    ASSERT_FINDINGS(RESTRICTED, 7, ONE(""),
                    "runAsNonRoot != true (pod or container \"c\" must set "
                    "securityContext.runAsNonRoot=true)");
    ASSERT_FINDINGS(RESTRICTED, 22, ONE(GOOD ",'runAsUser':0"), "");
    ASSERT_FINDINGS(RESTRICTED, 23, ONE(GOOD ",'runAsUser':0"),
                    "runAsUser=0 (container \"c\" must not set runAsUser=0)");
}

/* Restricted reports what it includes once, in its own words. */
static void restricted_check_replaces_the_baseline_check_it_overrides(void **state)
{
    (void)state;
    static const char adds[] = ONE("'runAsNonRoot':true,'allowPrivilegeEscalation':false,"
                                   "'capabilities':{'add':['NET_RAW']}");
    ASSERT_FINDINGS(RESTRICTED, 18, adds,
                    "non-default capabilities (container \"c\" must not include \"NET_RAW\" in "
                    "securityContext.capabilities.add)");
    ASSERT_FINDINGS(RESTRICTED, 22, adds,
                    "unrestricted capabilities (container \"c\" must set "
                    "securityContext.capabilities.drop=[\"ALL\"]; container \"c\" must not include "
                    "\"NET_RAW\" in securityContext.capabilities.add), seccompProfile (pod or "
                    "container \"c\" must set securityContext.seccompProfile.type to "
                    "\"RuntimeDefault\" or \"Localhost\")");
}

TESTS(plain_pod_violates_restricted_only, baseline_forbids_the_host_and_privileges,
      profiles_must_be_those_of_the_runtime_or_the_host, restricted_forbids_root_and_other_volumes,
      versions_use_the_revision_of_their_time,
      restricted_check_replaces_the_baseline_check_it_overrides)
