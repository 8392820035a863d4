/* SPDX-License-Identifier: Apache-2.0 */
/* pod_security_internal.h: what the checks of Pod Security share. */
#ifndef KC_APISERVER_POD_SECURITY_INTERNAL_H
#define KC_APISERVER_POD_SECURITY_INTERNAL_H

#include "apiserver/admission/pod_security/pod_security_checks.h"
#include "kc/vec.h"

/* A revision of a check. */
typedef struct kc__pod_security_check kc__pod_security_check;

/* What a check found. */
typedef struct kc__pod_security_finding {
    const char *reason; /* NULL: the pod is allowed. */
    kc_buf detail;
} kc__pod_security_finding;

typedef void kc__pod_security_check_fn(const kc__pod_security_check *check,
                                       const kc__pod_security_pod *pod,
                                       kc__pod_security_finding *ret);

struct kc__pod_security_check {
    const char *id;
    kc__pod_security_level level;
    int since; /* The minor version from which this revision replaces the previous one. */
    kc__pod_security_check_fn *run;
    const char *const *allowed; /* Values that the check allows; NULL-terminated. */
    const char *overrides;      /* A baseline check that this one includes. */
    bool not_for_windows;       /* Pods for Windows pass. */
};

extern kc__pod_security_check_fn kc__pod_security_app_armor, kc__pod_security_capabilities,
    kc__pod_security_host_namespaces, kc__pod_security_host_path, kc__pod_security_host_ports,
    kc__pod_security_probe_hosts, kc__pod_security_privileged, kc__pod_security_proc_mount,
    kc__pod_security_selinux, kc__pod_security_seccomp_annotations, kc__pod_security_seccomp,
    kc__pod_security_sysctls, kc__pod_security_windows_host_process;
extern kc__pod_security_check_fn kc__pod_security_escalation, kc__pod_security_drop_capabilities,
    kc__pod_security_volumes, kc__pod_security_non_root, kc__pod_security_user,
    kc__pod_security_seccomp_required;

/* ---- containers ---- */

/* The lists of containers in a pod spec, in the order in which checks report them. */
extern const char *const kc__pod_security_container_lists[3];

/* Runs the block for each container of all lists. `break` leaves one list only. */
#define kc__pod_security_each_container(spec, container)                           \
    for (size_t container##_list_ = 0; container##_list_ < 3; container##_list_++) \
        kc_value_each_item (                                                       \
            kc_value_get(spec, kc__pod_security_container_lists[container##_list_]), container)

kc_str kc__pod_security_name_of(const kc_value *container);
/* securityContext.NAMES of a container or a pod spec. */
const kc_value *kc__pod_security_context(const kc_value *of, const char *names);

/* ---- texts ---- */

typedef KC_VEC(kc_str) kc__pod_security_names;

void kc__pod_security_names_done(kc__pod_security_names *names);
/* Sorts them and removes duplicates. */
void kc__pod_security_names_sort(kc__pod_security_names *names);
/* Appends `"a", "b"`. */
void kc__pod_security_quote(kc_buf *out, const kc__pod_security_names *names);
/* Appends `container "a"` or `containers "a", "b"`. */
void kc__pod_security_write_containers(kc_buf *out, const kc__pod_security_names *names);
/* Appends the owners of a value: `pod`, `containers "a", "b"`, `pod and container "a"`. */
void kc__pod_security_write_setters(kc_buf *out, bool pod,
                                    const kc__pod_security_names *containers);

static inline const char *kc__pod_security_plural(size_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

#endif
