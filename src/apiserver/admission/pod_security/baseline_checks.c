/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_checks.c: the checks of the level baseline about the host, privileges and kernel
 * settings. profile_checks.c has those about AppArmor, seccomp and SELinux. Reasons and details are
 * the texts of Kubernetes.
 */
#include "apiserver/admission/pod_security/pod_security_internal.h"

/* ---- the host ---- */

void kc__pod_security_host_namespaces(const kc__pod_security_check *check,
                                      const kc__pod_security_pod *pod,
                                      kc__pod_security_finding *ret)
{
    static const char *const members[] = {"hostNetwork", "hostPID", "hostIPC"};
    (void)check;
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        if (!kc_value_as_bool(kc_value_get(pod->spec, members[i]), false))
            continue;
        kc_buf_printf(&ret->detail, "%s%s=true", ret->reason ? ", " : "", members[i]);
        ret->reason = "host namespaces";
    }
}

void kc__pod_security_host_path(const kc__pod_security_check *check,
                                const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) volumes = {0};
    (void)check;
    kc_value_each_item (kc_value_get(pod->spec, "volumes"), volume)
        if (kc_value_get(volume, "hostPath"))
            kc_vec_push(&volumes, kc__pod_security_name_of(volume));
    if (!volumes.n)
        return;
    ret->reason = "hostPath volumes";
    kc_buf_printf(&ret->detail, "%s ", kc__pod_security_plural(volumes.n, "volume", "volumes"));
    kc__pod_security_quote(&ret->detail, &volumes);
}

/* Collects the host ports of a container as texts. */
static bool collect_host_ports(const kc_value *container, kc_arena *arena,
                               kc__pod_security_names *ports)
{
    bool any = false;
    kc_value_each_item (kc_value_get(container, "ports"), port) {
        const int64_t number = kc_value_as_i64_or(kc_value_get(port, "hostPort"), 0);
        if (!number)
            continue;
        kc_vec_push(ports, kc_cstr(kc_arena_printf(arena, "%lld", (long long)number)));
        any = true;
    }
    return any;
}

void kc__pod_security_host_ports(const kc__pod_security_check *check,
                                 const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) containers = {0};
    kc_scoped(kc__pod_security_names) ports = {0};
    kc_scoped(kc_arena) arena = {0};
    (void)check;
    kc__pod_security_each_container(pod->spec,
                                    container) if (collect_host_ports(container, &arena, &ports))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (!containers.n)
        return;
    ret->reason = "hostPort";
    kc__pod_security_names_sort(&ports);
    kc__pod_security_write_containers(&ret->detail, &containers);
    kc_buf_printf(&ret->detail, " %s %s ", kc__pod_security_plural(containers.n, "uses", "use"),
                  kc__pod_security_plural(ports.n, "hostPort", "hostPorts"));
    kc_vec_each (&ports, port)
        kc_buf_printf(&ret->detail, "%s%.*s", port == ports.items ? "" : ", ", KC_ARG(*port));
}

/* Collects the hosts that probes and lifecycle handlers of a container name. */
static bool collect_probe_hosts(const kc_value *container, kc__pod_security_names *hosts)
{
    static const char *const handlers[] = {"livenessProbe", "readinessProbe", "startupProbe",
                                           "lifecycle.postStart", "lifecycle.preStop"};
    static const char *const actions[] = {"httpGet", "tcpSocket"};
    const size_t before = hosts->n;
    for (size_t i = 0; i < KC_COUNT(handlers); i++) {
        const kc_value *handler = kc_value_nested(container, handlers[i]);
        for (size_t j = 0; j < KC_COUNT(actions); j++) {
            const kc_value *action = kc_value_get(handler, actions[j]);
            const kc_str host = kc_value_as_str(kc_value_get(action, "host"));
            if (host.n)
                kc_vec_push(hosts, host);
        }
    }
    return hosts->n > before;
}

void kc__pod_security_probe_hosts(const kc__pod_security_check *check,
                                  const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) containers = {0};
    kc_scoped(kc__pod_security_names) hosts = {0};
    (void)check;
    kc__pod_security_each_container(pod->spec,
                                    container) if (collect_probe_hosts(container, &hosts))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (!containers.n)
        return;
    ret->reason = "probe or lifecycle host";
    kc__pod_security_names_sort(&containers);
    kc__pod_security_names_sort(&hosts);
    kc__pod_security_write_containers(&ret->detail, &containers);
    kc_buf_printf(
        &ret->detail, " %s %s ", kc__pod_security_plural(containers.n, "uses", "use"),
        kc__pod_security_plural(hosts.n, "probe or lifecycle host", "probe or lifecycle hosts"));
    kc__pod_security_quote(&ret->detail, &hosts);
}

void kc__pod_security_windows_host_process(const kc__pod_security_check *check,
                                           const kc__pod_security_pod *pod,
                                           kc__pod_security_finding *ret)
{
    static const char member[] = "windowsOptions.hostProcess";
    const bool of_pod = kc_value_as_bool(kc__pod_security_context(pod->spec, member), false);
    kc_scoped(kc__pod_security_names) containers = {0};
    (void)check;
    kc__pod_security_each_container(
        pod->spec,
        container) if (kc_value_as_bool(kc__pod_security_context(container, member), false))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (!of_pod && !containers.n)
        return;
    ret->reason = "hostProcess";
    kc__pod_security_write_setters(&ret->detail, of_pod, &containers);
    kc_buf_puts(&ret->detail, " must not set securityContext.windowsOptions.hostProcess=true");
}

/* ---- privileges ---- */

void kc__pod_security_privileged(const kc__pod_security_check *check,
                                 const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) containers = {0};
    (void)check;
    kc__pod_security_each_container(
        pod->spec,
        container) if (kc_value_as_bool(kc__pod_security_context(container, "privileged"), false))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (!containers.n)
        return;
    ret->reason = "privileged";
    kc__pod_security_write_containers(&ret->detail, &containers);
    kc_buf_puts(&ret->detail, " must not set securityContext.privileged=true");
}

void kc__pod_security_capabilities(const kc__pod_security_check *check,
                                   const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) containers = {0};
    kc_scoped(kc__pod_security_names) added = {0};
    kc__pod_security_each_container(pod->spec, container)
    {
        const size_t before = added.n;
        kc_value_each_item (kc__pod_security_context(container, "capabilities.add"), one)
            if (!kc_str_is_any(kc_value_as_str(one), check->allowed))
                kc_vec_push(&added, kc_value_as_str(one));
        if (added.n > before)
            kc_vec_push(&containers, kc__pod_security_name_of(container));
    }
    if (!containers.n)
        return;
    ret->reason = "non-default capabilities";
    kc__pod_security_names_sort(&added);
    kc__pod_security_write_containers(&ret->detail, &containers);
    kc_buf_puts(&ret->detail, " must not include ");
    kc__pod_security_quote(&ret->detail, &added);
    kc_buf_puts(&ret->detail, " in securityContext.capabilities.add");
}

/* ---- the kernel ---- */

void kc__pod_security_proc_mount(const kc__pod_security_check *check,
                                 const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) containers = {0};
    kc_scoped(kc__pod_security_names) types = {0};
    (void)check;
    kc__pod_security_each_container(pod->spec, container)
    {
        const kc_value *type = kc__pod_security_context(container, "procMount");
        if (!type || kc_str_is(kc_value_as_str(type), "Default"))
            continue;
        kc_vec_push(&containers, kc__pod_security_name_of(container));
        kc_vec_push(&types, kc_value_as_str(type));
    }
    if (!containers.n)
        return;
    ret->reason = "procMount";
    kc__pod_security_names_sort(&types);
    kc__pod_security_write_containers(&ret->detail, &containers);
    kc_buf_puts(&ret->detail, " must not set securityContext.procMount to ");
    kc__pod_security_quote(&ret->detail, &types);
}

void kc__pod_security_sysctls(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                              kc__pod_security_finding *ret)
{
    kc_value_each_item (kc__pod_security_context(pod->spec, "sysctls"), sysctl) {
        const kc_str name = kc__pod_security_name_of(sysctl);
        if (kc_str_is_any(name, check->allowed))
            continue;
        kc_buf_printf(&ret->detail, "%s%.*s", ret->reason ? ", " : "", KC_ARG(name));
        ret->reason = "forbidden sysctls";
    }
}
