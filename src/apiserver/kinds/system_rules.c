/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_rules.c: what in a pod depends on its system: Linux knows nothing of Windows' options,
 * Windows little of the rest; and who brings users of its own cannot share the host's namespaces.
 */
#include "apiserver/kinds/pod_rules.h"

static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

/* ---- processes of a Windows host ---- */

typedef struct host_processes {
    const kc_value *pod; /* What the pod says, or NULL. */
    size_t containers, found;
} host_processes;

static void count_host_process(const kc__place *container, host_processes *count)
{
    kc__place context = kc__member(container, "securityContext");
    kc__place options = kc__member(&context, "windowsOptions");
    kc__place own = kc__member(&options, "hostProcess");
    bool pod = kc_as_bool(count->pod, false);
    if (count->pod && own.value && pod != kc__there(&own))
        kc__wrong(&own, KC_FIELD_INVALID,
                  "pod hostProcess value must be identical if both are specified, was %s",
                  pod ? "true" : "false");
    count->containers++;
    count->found += own.value ? kc__there(&own) : pod;
}

void kc__check_host_processes(const kc__place *spec)
{
    kc__place context = kc__member(spec, "securityContext"),
              network = kc__member(spec, "hostNetwork");
    kc__place options = kc__member(&context, "windowsOptions");
    host_processes count = {.pod = kc__member(&options, "hostProcess").value};
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__place list = kc__member(spec, lists[l]);
        size_t i = 0;
        kc_items (list.value, value) {
            kc__place container = kc__item(&list, value, i++);
            count_host_process(&container, &count);
        }
    }
    if (count.found && count.found != count.containers)
        kc__wrong_as(spec, KC_FIELD_INVALID, "\"\"",
                     "If pod contains any hostProcess containers then all containers must be "
                     "HostProcess containers");
    if (count.found && !kc__there(&network))
        kc__wrong_as(&network, KC_FIELD_INVALID, "false",
                     "hostNetwork must be true if pod contains any hostProcess containers");
}

/* ---- users ---- */

void kc__check_host_users(const kc__place *spec)
{
    static const char *const shared[][2] = {
        {"hostNetwork", "hostNetwork"}, {"hostPID", "HostPID"}, {"hostIPC", "HostIPC"}};
    kc__place users = kc__member(spec, "hostUsers");
    if (!users.value || kc__there(&users))
        return;
    for (size_t i = 0; i < KC_COUNT(shared); i++) {
        kc__place member = kc__member(spec, shared[i][1]);
        if (kc__true_in(spec, shared[i][0]))
            kc__wrong(&member, KC_FIELD_FORBIDDEN, "when `hostUsers` is false");
    }
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__place list = kc__member(spec, lists[l]);
        size_t i = 0;
        kc_items (list.value, value) {
            kc__place container = kc__item(&list, value, i++);
            kc__place devices = kc__member(&container, "volumeDevices");
            if (kc__there(&devices))
                kc__wrong(&devices, KC_FIELD_FORBIDDEN, "when `hostUsers` is false");
        }
    }
}

/* ---- the system ---- */

/* Complains about those of the members that are there; `names` ends with NULL. */
static void forbid(const kc__place *place, const char *const *names, const char *why)
{
    for (size_t i = 0; names[i]; i++) {
        kc__place member = kc__member(place, names[i]);
        if (member.value)
            kc__wrong(&member, KC_FIELD_FORBIDDEN, "%s", why);
    }
}

static void forbid_in_containers(const kc__place *spec, const char *const *names, const char *why)
{
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__place list = kc__member(spec, lists[l]);
        size_t i = 0;
        kc_items (list.value, value) {
            kc__place container = kc__item(&list, value, i++);
            kc__place context = kc__member(&container, "securityContext");
            forbid(&context, names, why);
        }
    }
}

/* In the order of Kubernetes; those of the spec stand among those of the security context. */
static void check_windows(const kc__place *spec)
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
    kc__place context = kc__member(spec, "securityContext");
    for (size_t i = 0; i < KC_COUNT(in_pod); i++) {
        bool above = in_pod[i][0] == '^';
        const char *one[] = {in_pod[i] + above, NULL};
        forbid(above ? spec : &context, one, why);
    }
    forbid_in_containers(spec, in_container, why);
}

static void check_linux(const kc__place *spec)
{
    static const char why[] = "windows options cannot be set for a linux pod";
    static const char *const options[] = {"windowsOptions", NULL};
    kc__place context = kc__member(spec, "securityContext");
    forbid(&context, options, why);
    forbid_in_containers(spec, options, why);
}

/* The error about the name is about the whole, as in Kubernetes. */
void kc__check_system(const kc__place *spec)
{
    static const char *const systems[] = {"linux", "windows", NULL};
    kc__place os = kc__member(spec, "os"), name = kc__member(&os, "name"), shown = os;
    shown.value = name.value;
    if (!os.value)
        return;
    if (!kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
    else if (kc__text_is(&name, "linux"))
        check_linux(spec);
    else if (kc__text_is(&name, "windows"))
        check_windows(spec);
    else
        kc__not_supported(&shown, systems);
}
