/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_support.c: fields of a pod that this runtime does not apply, as a table.
 *
 * No field is ignored silently. Each one that containers as processes cannot have is either
 *
 *     REFUSED   the container does not start (CreateContainerConfigError, with the reason):
 *               ignoring the field would be unsafe, or the program could not work
 *     REPORTED  the container runs without it, and one event and one condition of the pod
 *               name all such fields (pod_run.c)
 *
 * Rows match the pod's JSON, not structs: so a row is all that a field needs. They apply to values
 * that differ from the default; defaults that every pod has (dnsPolicy, service links, image pull
 * policy) are described in docs/internals/pods-processes.md instead.
 *
 * To add a field: a row in `rows`, and one in the table of that page.
 */
#include "pods/process_internal.h"

#include "kc/view.h"

#define MAX_TEXT ((size_t)2 << 10) /* Size of the event's text; further fields are counted. */

typedef enum scope {
    OF_POD,       /* Paths start at spec. */
    OF_CONTAINER, /* At a container. */
    OF_MOUNT,     /* At a volumeMount. */
    OF_VOLUME,
} scope;

typedef enum test {
    IS_SET,      /* Present, and neither empty nor zero. */
    IS_TRUE,     /* The boolean. */
    IS_NOT_TRUE, /* The boolean false. */
    IS,          /* Equal to the text. */
    IS_NOT,      /* Not equal to the text. */
} test;

typedef enum process_support_verdict { REFUSED, REPORTED } process_support_verdict;

typedef bool process_support_condition(const kc__process_runtime *rt);

static bool no_cpu(const kc__process_runtime *rt)
{
    return !rt->isolation.cpu;
}

static bool process_support_no_memory(const kc__process_runtime *rt)
{
    return !rt->isolation.memory;
}

static bool no_choice(const kc__process_runtime *rt)
{
    return !rt->allow_root || !rt->isolation.root;
}

static bool no_namespaces(const kc__process_runtime *rt)
{
    return rt->isolation.namespaces == KC__PROCESS_NAMESPACES_NONE;
}

static bool no_tmpfs(const kc__process_runtime *rt)
{
    return rt->isolation.namespaces != KC__PROCESS_NAMESPACES_ROOT;
}

static bool no_seccomp(const kc__process_runtime *rt)
{
    return !rt->isolation.seccomp;
}

static const struct process_support_row {
    scope scope;
    const char *path;
    test test;
    const char *text;
    process_support_verdict verdict;
    const char *why;
    process_support_condition *when; /* NULL: always. */
} rows[] = {
    {OF_POD, "hostPID", IS_TRUE, NULL, REFUSED, "pods run in PID namespaces of their own"},
    {OF_POD, "hostIPC", IS_TRUE, NULL, REFUSED, "pods run in IPC namespaces of their own"},
    {OF_POD, "shareProcessNamespace", IS_TRUE, NULL, REPORTED,
     "each container has a PID namespace "
     "of its own"},
    {OF_POD, "hostUsers", IS_NOT_TRUE, NULL, REPORTED,
     "each pod has a UID of its own but no user namespace"},
    {OF_POD, "runtimeClassName", IS_SET, NULL, REFUSED, "this node has one runtime class"},
    {OF_POD, "os.name", IS_NOT, "linux", REFUSED, "this node runs Linux"},
    {OF_POD, "resourceClaims", IS_SET, NULL, REFUSED, "this node has no devices"},
    {OF_POD, "resources.limits", IS_SET, NULL, REPORTED, "limits apply to containers only"},
    {OF_POD, "ephemeralContainers", IS_SET, NULL, REPORTED, "ephemeral containers are not run"},
    {OF_POD, "dnsPolicy", IS, "None", REPORTED, "the host's resolver configuration is used"},
    {OF_POD, "dnsConfig", IS_SET, NULL, REPORTED, "the host's resolver configuration is used"},
    {OF_POD, "hostAliases", IS_SET, NULL, REPORTED, "the host's resolver configuration is used"},
    {OF_POD, "subdomain", IS_SET, NULL, REPORTED, "there is no cluster DNS"},
    {OF_POD, "setHostnameAsFQDN", IS_TRUE, NULL, REPORTED, "there is no cluster DNS"},
    {OF_POD, "hostname", IS_SET, NULL, REPORTED, "this node has no UTS namespaces", no_namespaces},
    {OF_POD, "securityContext.fsGroup", IS_SET, NULL, REPORTED, "needs --pods-allow-root",
     no_choice},
    {OF_POD, "securityContext.supplementalGroups", IS_SET, NULL, REPORTED,
     "pods have no supplementary groups"},
    {OF_POD, "securityContext.sysctls", IS_SET, NULL, REFUSED,
     "sysctls would apply to the whole host"},
    {OF_POD, "securityContext.seLinuxOptions", IS_SET, NULL, REPORTED, "no SELinux context is set"},
    {OF_POD, "securityContext.seccompProfile.type", IS, "Localhost", REFUSED,
     "this node loads no seccomp profiles"},
    {OF_POD, "securityContext.seccompProfile.type", IS, "Unconfined", REPORTED,
     "the node's seccomp filter applies"},
    {OF_POD, "securityContext.seccompProfile.type", IS, "RuntimeDefault", REPORTED,
     "the kernel does not support seccomp filters", no_seccomp},
    {OF_POD, "securityContext.appArmorProfile.type", IS, "Localhost", REFUSED,
     "this node loads no AppArmor profiles"},
    {OF_POD, "securityContext.appArmorProfile.type", IS, "RuntimeDefault", REPORTED,
     "no AppArmor profile is set"},

    {OF_CONTAINER, "resources.limits.cpu", IS_SET, NULL, REPORTED,
     "no cgroup v2 CPU controller: the limit is not enforced", no_cpu},
    {OF_CONTAINER, "resources.limits.memory", IS_SET, NULL, REPORTED,
     "no cgroup v2 memory controller: the limit is not enforced", process_support_no_memory},
    {OF_CONTAINER, "resources.claims", IS_SET, NULL, REFUSED, "this node has no devices"},
    {OF_CONTAINER, "volumeDevices", IS_SET, NULL, REFUSED, "this node has no block volumes"},
    {OF_CONTAINER, "stdin", IS_TRUE, NULL, REPORTED, "standard input is empty"},
    {OF_CONTAINER, "tty", IS_TRUE, NULL, REPORTED, "no terminal is allocated"},
    {OF_CONTAINER, "livenessProbe.grpc", IS_SET, NULL, REFUSED,
     "this node does not support "
     "gRPC probes"},
    {OF_CONTAINER, "readinessProbe.grpc", IS_SET, NULL, REFUSED,
     "this node does not support "
     "gRPC probes"},
    {OF_CONTAINER, "startupProbe.grpc", IS_SET, NULL, REFUSED,
     "this node does not support gRPC "
     "probes"},
    {OF_CONTAINER, "lifecycle.postStart.tcpSocket", IS_SET, NULL, REFUSED,
     "supported hooks: exec, httpGet, sleep"},
    {OF_CONTAINER, "lifecycle.preStop.tcpSocket", IS_SET, NULL, REFUSED,
     "supported hooks: exec, httpGet, sleep"},
    {OF_CONTAINER, "lifecycle.stopSignal", IS_NOT, "SIGTERM", REPORTED,
     "containers are stopped "
     "with SIGTERM"},
    {OF_CONTAINER, "securityContext.capabilities.add", IS_SET, NULL, REPORTED,
     "containers have no capabilities", no_choice},
    {OF_CONTAINER, "securityContext.allowPrivilegeEscalation", IS_TRUE, NULL, REPORTED,
     "no_new_privs is always set"},
    {OF_CONTAINER, "securityContext.procMount", IS_NOT, "Default", REPORTED,
     "the default /proc is "
     "mounted"},
    {OF_CONTAINER, "securityContext.seLinuxOptions", IS_SET, NULL, REPORTED,
     "no SELinux context is set"},
    {OF_CONTAINER, "securityContext.seccompProfile.type", IS, "Localhost", REFUSED,
     "this node loads no seccomp profiles"},
    {OF_CONTAINER, "securityContext.seccompProfile.type", IS, "Unconfined", REPORTED,
     "the node's seccomp filter applies"},
    {OF_CONTAINER, "securityContext.seccompProfile.type", IS, "RuntimeDefault", REPORTED,
     "the kernel does not support seccomp filters", no_seccomp},
    {OF_CONTAINER, "securityContext.appArmorProfile.type", IS, "Localhost", REFUSED,
     "this node loads no AppArmor profiles"},
    {OF_CONTAINER, "securityContext.appArmorProfile.type", IS, "RuntimeDefault", REPORTED,
     "no AppArmor profile is set"},

    {OF_MOUNT, "mountPropagation", IS_NOT, "None", REPORTED, "mounts are private to the container"},

    {OF_VOLUME, "emptyDir.medium", IS, "Memory", REPORTED, "the volume is stored on disk",
     no_tmpfs},
};

/* ---- tests ---- */

static bool is_something(const kc_value *v)
{
    switch (kc_value_type(v)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: return false;
    case KC_JSON_BOOL: return kc_value_as_bool(v, false);
    case KC_JSON_STRING: return kc_value_as_str(v).n > 0;
    case KC_JSON_ARRAY:
    case KC_JSON_OBJECT: return kc_value_len(v) > 0;
    default: return true;
    }
}

/* "grpc: {}" counts as set: the member is present. */
static bool applies(const struct process_support_row *row, const kc_value *base)
{
    const kc_value *v = kc_value_nested(base, row->path);
    const kc_str text = kc_value_as_str(v);
    switch (row->test) {
    case IS_SET: return is_something(v) || kc_value_type(v) == KC_JSON_OBJECT;
    case IS_TRUE: return kc_value_as_bool(v, false);
    case IS_NOT_TRUE: return !kc_value_as_bool(v, true);
    case IS: return kc_str_is(text, row->text);
    case IS_NOT: return text.n > 0 && !kc_str_is(text, row->text);
    }
    return false;
}

/* ---- matching ---- */

typedef struct process_support_walk {
    const kc__process_runtime *rt;
    process_support_verdict verdict;
    /* Called for each row that applies. `where`: "", "container c: ", "volume v: ". */
    void (*found)(struct process_support_walk *w, const char *where, const char *path,
                  const char *why);
    kc_buf *out;   /* For TOLD. */
    size_t more;   /* Number of fields that did not fit into `out`. */
    kc_error *err; /* For REFUSED: the first field. */
    bool refused;
} process_support_walk;

static void process_support_inspect(process_support_walk *w, scope of, const kc_value *base,
                                    const char *where)
{
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (rows[i].scope == of && rows[i].verdict == w->verdict &&
            (!rows[i].when || rows[i].when(w->rt)) && applies(&rows[i], base))
            w->found(w, where, rows[i].path, rows[i].why);
}

/* Resources that this node never has: devices, huge pages. */
static void check_resources(process_support_walk *w, const kc_value *container, const char *where)
{
    static const char *const known[] = {"cpu", "memory", "ephemeral-storage", NULL};
    if (w->verdict != REFUSED)
        return;
    kc_value_each_member (kc_value_nested(container, "resources.limits"), name, value) {
        (void)value;
        if (!kc_str_is_any(name, known)) {
            kc_autofree char *path = kc_asprintf("resources.limits.%.*s", KC_ARG(name));
            w->found(w, where, path, "this node does not have this resource");
        }
    }
}

/* A hostPort equals the container's port: containers use the host network. */
static void check_ports(process_support_walk *w, const kc_value *container, const char *where)
{
    if (w->verdict != REPORTED)
        return;
    kc_value_each_item (kc_value_get(container, "ports"), port) {
        const int64_t host = kc_value_as_i64_or(kc_value_get(port, "hostPort"), 0);
        if (host && host != kc_value_as_i64_or(kc_value_get(port, "containerPort"), 0)) {
            w->found(w, where, "ports.hostPort", "containers use the host network");
            return;
        }
    }
}

static void check_container(process_support_walk *w, const kc_value *container)
{
    kc_autofree char *where =
        kc_asprintf("container %s: ", kc_value_as_cstr(kc_value_get(container, "name"), ""));
    process_support_inspect(w, OF_CONTAINER, container, where);
    check_resources(w, container, where);
    check_ports(w, container, where);
    kc_value_each_item (kc_value_get(container, "volumeMounts"), mount) {
        kc_autofree char *which = kc_asprintf("%svolumeMount %s: ", where,
                                              kc_value_as_cstr(kc_value_get(mount, "name"), ""));
        process_support_inspect(w, OF_MOUNT, mount, which);
    }
}

static void check_volumes(process_support_walk *w, const kc_value *spec)
{
    kc_value_each_item (kc_value_get(spec, "volumes"), volume) {
        kc_autofree char *where =
            kc_asprintf("volume %s: ", kc_value_as_cstr(kc_value_get(volume, "name"), ""));
        process_support_inspect(w, OF_VOLUME, volume, where);
    }
}

/* `only`: one container; NULL: all. */
static void check_pod(process_support_walk *w, const kc_pod *pod, const char *only)
{
    static const char *const lists[] = {"initContainers", "containers"};
    kc_auto(kc_view) *view = pod->metadata.origin ? kc_view_of(pod->metadata.origin) : NULL;
    const kc_value *spec = view ? kc_value_get(kc_view_root(view), "spec") : NULL;
    process_support_inspect(w, OF_POD, spec, "");
    check_volumes(w, spec);
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (kc_value_get(spec, lists[i]), container)
            if (!only || kc_str_is(kc_value_as_str(kc_value_get(container, "name")), only))
                check_container(w, container);
}

/* ---- the two verdicts ---- */

static void process_support_reject(process_support_walk *w, const char *where, const char *path,
                                   const char *why)
{
    if (!w->refused)
        kc_error_set(w->err, KC_INVALID, "%s%s is not supported: %s", where, path, why);
    w->refused = true;
}

int kc__process_support_check(kc__process_runtime *rt, const kc_pod *pod,
                              const kc_container *container, kc_error *err)
{
    kc__process_identity who;
    process_support_walk w = {
        .rt = rt, .verdict = REFUSED, .found = process_support_reject, .err = err};
    check_pod(&w, pod, container->name);
    return w.refused ? kc_error_result(err)
                     : kc__process_identity_of(rt, pod, container, &who, err);
}

static void process_support_notify(process_support_walk *w, const char *where, const char *path,
                                   const char *why)
{
    if (w->out->n > MAX_TEXT)
        w->more++;
    else
        kc_buf_printf(w->out, "%s%s%s (%s)", w->out->n ? "; " : "", where, path, why);
}

void kc__process_support_ignored(const kc__process_runtime *rt, const kc_pod *pod, kc_buf *out)
{
    process_support_walk w = {
        .rt = rt, .verdict = REPORTED, .found = process_support_notify, .out = out};
    check_pod(&w, pod, NULL);
    if (w.more)
        kc_buf_printf(out, "; and %zu more", w.more);
}
