/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_rules.c: rules that depend on the operating system of a pod: Linux supports no Windows
 * options, Windows few of the others; also, a pod with its own user namespace cannot share
 * namespaces of the host.
 */
#include "apiserver/kinds/core/pod_rules.h"

static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

/* ---- Windows host processes ---- */

typedef struct host_processes {
    const kc_value *pod; /* hostProcess of the pod, or NULL. */
    size_t containers, found;
} host_processes;

static void count_host_process(const kc__location *container, host_processes *count)
{
    kc__location context = kc__location_member(container, "securityContext");
    kc__location options = kc__location_member(&context, "windowsOptions");
    kc__location own = kc__location_member(&options, "hostProcess");
    bool pod = kc_value_as_bool(count->pod, false);
    if (count->pod && own.value && pod != kc__location_is_set(&own))
        kc__location_error(&own, KC_FIELD_INVALID,
                           "pod hostProcess value must be identical if both are specified, was %s",
                           pod ? "true" : "false");
    count->containers++;
    count->found += own.value ? kc__location_is_set(&own) : pod;
}

void kc__validate_host_processes(const kc__location *spec)
{
    kc__location context = kc__location_member(spec, "securityContext"),
                 network = kc__location_member(spec, "hostNetwork");
    kc__location options = kc__location_member(&context, "windowsOptions");
    host_processes count = {.pod = kc__location_member(&options, "hostProcess").value};
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__location list = kc__location_member(spec, lists[l]);
        size_t i = 0;
        kc_value_each_item (list.value, value) {
            kc__location container = kc__location_item(&list, value, i++);
            count_host_process(&container, &count);
        }
    }
    if (count.found && count.found != count.containers)
        kc__location_error_json(
            spec, KC_FIELD_INVALID, "\"\"",
            "If pod contains any hostProcess containers then all containers must be "
            "HostProcess containers");
    if (count.found && !kc__location_is_set(&network))
        kc__location_error_json(
            &network, KC_FIELD_INVALID, "false",
            "hostNetwork must be true if pod contains any hostProcess containers");
}

/* ---- user namespaces ---- */

void kc__validate_host_users(const kc__location *spec)
{
    static const char *const shared[][2] = {
        {"hostNetwork", "hostNetwork"}, {"hostPID", "HostPID"}, {"hostIPC", "HostIPC"}};
    kc__location users = kc__location_member(spec, "hostUsers");
    if (!users.value || kc__location_is_set(&users))
        return;
    for (size_t i = 0; i < KC_COUNT(shared); i++) {
        kc__location member = kc__location_member(spec, shared[i][1]);
        if (kc__location_member_is_true(spec, shared[i][0]))
            kc__location_error(&member, KC_FIELD_FORBIDDEN, "when `hostUsers` is false");
    }
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__location list = kc__location_member(spec, lists[l]);
        size_t i = 0;
        kc_value_each_item (list.value, value) {
            kc__location container = kc__location_item(&list, value, i++);
            kc__location devices = kc__location_member(&container, "volumeDevices");
            if (kc__location_is_set(&devices))
                kc__location_error(&devices, KC_FIELD_FORBIDDEN, "when `hostUsers` is false");
        }
    }
}

/* ---- operating system ---- */

/* Reports those of the members that are set; `names` ends with NULL. */
static void forbid(const kc__location *location, const char *const *names, const char *why)
{
    for (size_t i = 0; names[i]; i++) {
        kc__location member = kc__location_member(location, names[i]);
        if (member.value)
            kc__location_error(&member, KC_FIELD_FORBIDDEN, "%s", why);
    }
}

static void forbid_in_containers(const kc__location *spec, const char *const *names,
                                 const char *why)
{
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__location list = kc__location_member(spec, lists[l]);
        size_t i = 0;
        kc_value_each_item (list.value, value) {
            kc__location container = kc__location_item(&list, value, i++);
            kc__location context = kc__location_member(&container, "securityContext");
            forbid(&context, names, why);
        }
    }
}

/* In the order of Kubernetes: members of the spec are among those of the security context. */
static void check_windows(const kc__location *spec)
{
    static const char why[] = "cannot be set for a windows pod";
    static const char *const in_pod[] = {"appArmorProfile",
                                         "seLinuxOptions",
                                         "^hostUsers",
                                         "^hostPID",
                                         "^hostIPC",
                                         "seccompProfile",
                                         "fsGroup",
                                         "fsGroupChangePolicy",
                                         "sysctls",
                                         "^shareProcessNamespace",
                                         "runAsUser",
                                         "runAsGroup",
                                         "supplementalGroups",
                                         "supplementalGroupsPolicy",
                                         "seLinuxChangePolicy"};
    static const char *const in_container[] = {"appArmorProfile",
                                               "seLinuxOptions",
                                               "seccompProfile",
                                               "capabilities",
                                               "readOnlyRootFilesystem",
                                               "privileged",
                                               "allowPrivilegeEscalation",
                                               "procMount",
                                               "runAsUser",
                                               "runAsGroup",
                                               NULL};
    kc__location context = kc__location_member(spec, "securityContext");
    for (size_t i = 0; i < KC_COUNT(in_pod); i++) {
        bool above = in_pod[i][0] == '^';
        const char *one[] = {in_pod[i] + above, NULL};
        forbid(above ? spec : &context, one, why);
    }
    forbid_in_containers(spec, in_container, why);
}

static void check_linux(const kc__location *spec)
{
    static const char why[] = "windows options cannot be set for a linux pod";
    static const char *const options[] = {"windowsOptions", NULL};
    kc__location context = kc__location_member(spec, "securityContext");
    forbid(&context, options, why);
    forbid_in_containers(spec, options, why);
}

/* An error about the name is reported for the whole, as in Kubernetes. */
void kc__validate_system(const kc__location *spec)
{
    static const char *const systems[] = {"linux", "windows", NULL};
    kc__location os = kc__location_member(spec, "os"), name = kc__location_member(&os, "name"),
                 shown = os;
    shown.value = name.value;
    if (!os.value)
        return;
    if (!kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
    else if (kc__location_text_is(&name, "linux"))
        check_linux(spec);
    else if (kc__location_text_is(&name, "windows"))
        check_windows(spec);
    else
        kc__location_not_supported(&shown, systems);
}
