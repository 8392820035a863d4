/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_checks.c: the table of checks, and the evaluation of a pod.
 *
 * A check has one row for each of its revisions, oldest first. A version uses the newest revision
 * that is not newer than itself; later versions than the newest revision are the same as it. The
 * level restricted uses the baseline checks too, except those that a restricted check overrides.
 * Rows are in the order in which findings are reported: baseline before restricted, by id.
 *
 * To add a check: its function (baseline_checks.c, restricted_checks.c) and a row.
 */
#include "apiserver/admission/pod_security/pod_security_internal.h"

#define BASELINE   KC__POD_SECURITY_BASELINE
#define RESTRICTED KC__POD_SECURITY_RESTRICTED

static const char *const default_capabilities[] = {
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",       "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT", NULL};
static const char *const restricted_capabilities[] = {"NET_BIND_SERVICE", NULL};

#define SELINUX_1_0 "", "container_t", "container_init_t", "container_kvm_t"
static const char *const selinux_1_0[] = {SELINUX_1_0, NULL};
static const char *const selinux_1_31[] = {SELINUX_1_0, "container_engine_t", NULL};

#define SYSCTLS_1_0                                                                      \
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", \
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"
#define SYSCTLS_1_27 SYSCTLS_1_0, "net.ipv4.ip_local_reserved_ports"
#define SYSCTLS_1_29                                                         \
    SYSCTLS_1_27, "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", \
        "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"
static const char *const sysctls_1_0[] = {SYSCTLS_1_0, NULL};
static const char *const sysctls_1_27[] = {SYSCTLS_1_27, NULL};
static const char *const sysctls_1_29[] = {SYSCTLS_1_29, NULL};
static const char *const sysctls_1_32[] = {SYSCTLS_1_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
                                           NULL};

static const kc__pod_security_check checks[] = {
    {"appArmorProfile", BASELINE, 0, kc__pod_security_app_armor},
    {"capabilities_baseline", BASELINE, 0, kc__pod_security_capabilities,
     .allowed = default_capabilities},
    {"hostNamespaces", BASELINE, 0, kc__pod_security_host_namespaces},
    {"hostPathVolumes", BASELINE, 0, kc__pod_security_host_path},
    {"hostPorts", BASELINE, 0, kc__pod_security_host_ports},
    {"hostProbesAndHostLifecycle", BASELINE, 34, kc__pod_security_probe_hosts},
    {"privileged", BASELINE, 0, kc__pod_security_privileged},
    {"procMount", BASELINE, 0, kc__pod_security_proc_mount},
    {"seLinuxOptions", BASELINE, 0, kc__pod_security_selinux, .allowed = selinux_1_0},
    {"seLinuxOptions", BASELINE, 31, kc__pod_security_selinux, .allowed = selinux_1_31},
    {"seccompProfile_baseline", BASELINE, 0, kc__pod_security_seccomp_annotations},
    {"seccompProfile_baseline", BASELINE, 19, kc__pod_security_seccomp},
    {"sysctls", BASELINE, 0, kc__pod_security_sysctls, .allowed = sysctls_1_0},
    {"sysctls", BASELINE, 27, kc__pod_security_sysctls, .allowed = sysctls_1_27},
    {"sysctls", BASELINE, 29, kc__pod_security_sysctls, .allowed = sysctls_1_29},
    {"sysctls", BASELINE, 32, kc__pod_security_sysctls, .allowed = sysctls_1_32},
    {"windowsHostProcess", BASELINE, 0, kc__pod_security_windows_host_process},

    {"allowPrivilegeEscalation", RESTRICTED, 8, kc__pod_security_escalation},
    {"allowPrivilegeEscalation", RESTRICTED, 25, kc__pod_security_escalation,
     .not_for_windows = true},
    {"capabilities_restricted", RESTRICTED, 22, kc__pod_security_drop_capabilities,
     .allowed = restricted_capabilities, .overrides = "capabilities_baseline"},
    {"capabilities_restricted", RESTRICTED, 25, kc__pod_security_drop_capabilities,
     .allowed = restricted_capabilities, .overrides = "capabilities_baseline",
     .not_for_windows = true},
    {"restrictedVolumes", RESTRICTED, 0, kc__pod_security_volumes, .overrides = "hostPathVolumes"},
    {"runAsNonRoot", RESTRICTED, 0, kc__pod_security_non_root},
    {"runAsUser", RESTRICTED, 23, kc__pod_security_user},
    {"seccompProfile_restricted", RESTRICTED, 19, kc__pod_security_seccomp_required,
     .overrides = "seccompProfile_baseline"},
    {"seccompProfile_restricted", RESTRICTED, 25, kc__pod_security_seccomp_required,
     .overrides = "seccompProfile_baseline", .not_for_windows = true},
};

/* ---- which rows apply ---- */

static bool is_check_of_version(const kc__pod_security_check *check,
                                const kc__pod_security_standard *s)
{
    const kc__pod_security_check *next = check + 1;
    if (check->level > s->level || (s->pinned && check->since > s->minor))
        return false;
    return next == checks + KC_COUNT(checks) || strcmp(next->id, check->id) != 0 ||
           (s->pinned && next->since > s->minor);
}

static bool is_overridden(const kc__pod_security_check *check, const kc__pod_security_standard *s)
{
    for (size_t i = 0; i < KC_COUNT(checks); i++)
        if (checks[i].overrides && !strcmp(checks[i].overrides, check->id) &&
            is_check_of_version(&checks[i], s))
            return true;
    return false;
}

/* ---- evaluation ---- */

void kc__pod_security_result_done(kc__pod_security_result *result)
{
    kc_buf_done(&result->reasons);
    kc_buf_done(&result->details);
}

static bool is_for_windows(const kc_value *spec)
{
    return kc_str_is(kc_value_as_str(kc_value_nested(spec, "os.name")), "windows");
}

static void add_finding(kc__pod_security_result *result, const kc__pod_security_finding *finding)
{
    const char *separator = result->reasons.n ? ", " : "";
    kc_buf_printf(&result->reasons, "%s%s", separator, finding->reason);
    kc_buf_printf(&result->details, "%s%s", separator, finding->reason);
    if (!finding->detail.n)
        return;
    kc_buf_puts(&result->details, " (");
    kc_buf_append(&result->details, kc_buf_str(&finding->detail));
    kc_buf_putc(&result->details, ')');
}

static void run_check(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                      kc__pod_security_result *result)
{
    kc__pod_security_finding finding = {0};
    if (check->not_for_windows && is_for_windows(pod->spec))
        return;
    check->run(check, pod, &finding);
    if (finding.reason)
        add_finding(result, &finding);
    kc_buf_done(&finding.detail);
}

void kc__pod_security_evaluate(const kc__pod_security_standard *standard,
                               const kc__pod_security_pod *pod, kc__pod_security_result *ret)
{
    for (size_t i = 0; i < KC_COUNT(checks); i++)
        if (is_check_of_version(&checks[i], standard) && !is_overridden(&checks[i], standard))
            run_check(&checks[i], pod, ret);
}

/* ---- what checks share ---- */

const char *const kc__pod_security_container_lists[3] = {"initContainers", "containers",
                                                         "ephemeralContainers"};

kc_str kc__pod_security_name_of(const kc_value *container)
{
    return kc_value_as_str(kc_value_get(container, "name"));
}

const kc_value *kc__pod_security_context(const kc_value *of, const char *names)
{
    return kc_value_nested(kc_value_get(of, "securityContext"), names);
}

void kc__pod_security_names_done(kc__pod_security_names *names)
{
    kc_vec_done(names);
}

void kc__pod_security_names_sort(kc__pod_security_names *names)
{
    size_t kept = 0;
    kc_vec_sort(names, kc_str_compare);
    for (size_t i = 0; i < names->n; i++)
        if (!kept || !kc_str_eq(names->items[kept - 1], names->items[i]))
            names->items[kept++] = names->items[i];
    names->n = kept;
}

void kc__pod_security_quote(kc_buf *out, const kc__pod_security_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        kc_buf_printf(out, "%s\"%.*s\"", i ? ", " : "", KC_ARG(names->items[i]));
}

void kc__pod_security_write_containers(kc_buf *out, const kc__pod_security_names *names)
{
    kc_buf_printf(out, "%s ", kc__pod_security_plural(names->n, "container", "containers"));
    kc__pod_security_quote(out, names);
}

void kc__pod_security_write_setters(kc_buf *out, bool pod, const kc__pod_security_names *containers)
{
    kc_buf_puts(out, pod ? "pod" : "");
    kc_buf_puts(out, pod && containers->n ? " and " : "");
    if (containers->n)
        kc__pod_security_write_containers(out, containers);
}
