/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restricted_checks.c: the checks of the level restricted; profile_checks.c has that about seccomp.
 * Reasons and details are the texts of Kubernetes.
 */
#include "apiserver/admission/pod_security/pod_security_internal.h"

void kc__pod_security_escalation(const kc__pod_security_check *check,
                                 const kc__pod_security_pod *pod, kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) containers = {0};
    (void)check;
    kc__pod_security_each_container(
        pod->spec,
        container) if (kc_value_as_bool(kc__pod_security_context(container,
                                                                 "allowPrivilegeEscalation"),
                                        true))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (!containers.n)
        return;
    ret->reason = "allowPrivilegeEscalation != false";
    kc__pod_security_write_containers(&ret->detail, &containers);
    kc_buf_puts(&ret->detail, " must set securityContext.allowPrivilegeEscalation=false");
}

/* ---- capabilities ---- */

static bool drops_all(const kc_value *capabilities)
{
    kc_value_each_item (kc_value_get(capabilities, "drop"), one)
        if (kc_str_is(kc_value_as_str(one), "ALL"))
            return true;
    return false;
}

static void write_undropped(kc_buf *out, const kc__pod_security_names *containers)
{
    if (!containers->n)
        return;
    kc__pod_security_write_containers(out, containers);
    kc_buf_puts(out, " must set securityContext.capabilities.drop=[\"ALL\"]");
}

static void write_added(kc_buf *out, const kc__pod_security_names *containers,
                        kc__pod_security_names *added)
{
    if (!containers->n)
        return;
    kc__pod_security_names_sort(added);
    kc_buf_puts(out, out->n ? "; " : "");
    kc__pod_security_write_containers(out, containers);
    kc_buf_puts(out, " must not include ");
    kc__pod_security_quote(out, added);
    kc_buf_puts(out, " in securityContext.capabilities.add");
}

void kc__pod_security_drop_capabilities(const kc__pod_security_check *check,
                                        const kc__pod_security_pod *pod,
                                        kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) undropped = {0};
    kc_scoped(kc__pod_security_names) adding = {0};
    kc_scoped(kc__pod_security_names) added = {0};
    kc__pod_security_each_container(pod->spec, container)
    {
        const kc_value *own = kc__pod_security_context(container, "capabilities");
        const size_t before = added.n;
        if (!drops_all(own))
            kc_vec_push(&undropped, kc__pod_security_name_of(container));
        kc_value_each_item (kc_value_get(own, "add"), one)
            if (!kc_str_is_any(kc_value_as_str(one), check->allowed))
                kc_vec_push(&added, kc_value_as_str(one));
        if (added.n > before)
            kc_vec_push(&adding, kc__pod_security_name_of(container));
    }
    if (!undropped.n && !adding.n)
        return;
    ret->reason = "unrestricted capabilities";
    write_undropped(&ret->detail, &undropped);
    write_added(&ret->detail, &adding, &added);
}

/* ---- volumes ---- */

/* The source of a volume; "unknown" if it is none of those that restrict. NULL: it is allowed. */
static const char *restricted_source(const kc_value *volume)
{
    static const char *const allowed[] = {
        "configMap", "csi",   "downwardAPI",           "emptyDir",
        "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret"};
    static const char *const restricted[] = {"hostPath",
                                             "gcePersistentDisk",
                                             "awsElasticBlockStore",
                                             "gitRepo",
                                             "nfs",
                                             "iscsi",
                                             "glusterfs",
                                             "rbd",
                                             "flexVolume",
                                             "cinder",
                                             "cephfs",
                                             "flocker",
                                             "fc",
                                             "azureFile",
                                             "vsphereVolume",
                                             "quobyte",
                                             "azureDisk",
                                             "photonPersistentDisk",
                                             "portworxVolume",
                                             "scaleIO",
                                             "storageos"};
    for (size_t i = 0; i < KC_COUNT(allowed); i++)
        if (kc_value_get(volume, allowed[i]))
            return NULL;
    for (size_t i = 0; i < KC_COUNT(restricted); i++)
        if (kc_value_get(volume, restricted[i]))
            return restricted[i];
    return "unknown";
}

void kc__pod_security_volumes(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                              kc__pod_security_finding *ret)
{
    kc_scoped(kc__pod_security_names) volumes = {0};
    kc_scoped(kc__pod_security_names) types = {0};
    (void)check;
    kc_value_each_item (kc_value_get(pod->spec, "volumes"), volume) {
        const char *type = restricted_source(volume);
        if (!type)
            continue;
        kc_vec_push(&volumes, kc__pod_security_name_of(volume));
        kc_vec_push(&types, kc_cstr(type));
    }
    if (!volumes.n)
        return;
    ret->reason = "restricted volume types";
    kc__pod_security_names_sort(&types);
    kc_buf_printf(&ret->detail, "%s ", kc__pod_security_plural(volumes.n, "volume", "volumes"));
    kc__pod_security_quote(&ret->detail, &volumes);
    kc_buf_printf(
        &ret->detail, " %s %s ", kc__pod_security_plural(volumes.n, "uses", "use"),
        kc__pod_security_plural(types.n, "restricted volume type", "restricted volume types"));
    kc__pod_security_quote(&ret->detail, &types);
}

/* ---- users ---- */

void kc__pod_security_non_root(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                               kc__pod_security_finding *ret)
{
    static const char member[] = "runAsNonRoot";
    const kc_value *of_pod = kc__pod_security_context(pod->spec, member);
    const bool pod_is_bad = of_pod && !kc_value_as_bool(of_pod, false);
    kc_scoped(kc__pod_security_names) bad = {0};
    kc_scoped(kc__pod_security_names) unset = {0};
    (void)check;
    kc__pod_security_each_container(pod->spec, container)
    {
        const kc_value *own = kc__pod_security_context(container, member);
        if (own && !kc_value_as_bool(own, false))
            kc_vec_push(&bad, kc__pod_security_name_of(container));
        else if (!own && !kc_value_as_bool(of_pod, false))
            kc_vec_push(&unset, kc__pod_security_name_of(container));
    }
    if (!pod_is_bad && !bad.n && !unset.n)
        return;
    ret->reason = "runAsNonRoot != true";
    if (pod_is_bad || bad.n) {
        kc__pod_security_write_setters(&ret->detail, pod_is_bad, &bad);
        kc_buf_puts(&ret->detail, " must not set securityContext.runAsNonRoot=false");
        return;
    }
    kc_buf_puts(&ret->detail, "pod or ");
    kc__pod_security_write_containers(&ret->detail, &unset);
    kc_buf_puts(&ret->detail, " must set securityContext.runAsNonRoot=true");
}

static bool runs_as_root(const kc_value *of)
{
    const kc_value *user = kc__pod_security_context(of, "runAsUser");
    return user && kc_value_as_i64_or(user, 1) == 0;
}

void kc__pod_security_user(const kc__pod_security_check *check, const kc__pod_security_pod *pod,
                           kc__pod_security_finding *ret)
{
    const bool of_pod = runs_as_root(pod->spec);
    kc_scoped(kc__pod_security_names) containers = {0};
    (void)check;
    kc__pod_security_each_container(pod->spec, container) if (runs_as_root(container))
        kc_vec_push(&containers, kc__pod_security_name_of(container));
    if (!of_pod && !containers.n)
        return;
    ret->reason = "runAsUser=0";
    kc__pod_security_write_setters(&ret->detail, of_pod, &containers);
    kc_buf_puts(&ret->detail, " must not set runAsUser=0");
}
