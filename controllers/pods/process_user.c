/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_user.c: the user, group and capabilities of a container.
 *
 * A pod's UID comes from the range that belongs to pods (process_uids.c). A pod with another
 * runAsUser or runAsGroup would choose among the accounts of the host, including the operator's; a
 * pod's fsGroup would choose among its groups, including "shadow" and "disk". So both require
 * allow_root, and a pod that names another user is refused rather than run as a user that it does
 * not expect.
 */
#include "pods/process_internal.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The default capabilities of containers that run as root: chown, dac_override, fowner, fsetid,
 * kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod, audit_write,
 * setfcap. */
#define ROOT_CAPABILITIES UINT64_C(0xa80425fb)

static int check_id(const int64_t *wanted, uint32_t own, const char *field, bool allowed,
                    const kc_container *c, kc_error *err)
{
    if (!wanted || *wanted == (int64_t)own)
        return 0;
    if (*wanted < 0 || *wanted >= (int64_t)UINT32_MAX)
        return kc_error_set(err, KC_INVALID, "container %s: %s %lld is out of range", c->name,
                            field, (long long)*wanted);
    if (allowed)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "container %s: %s %lld is refused: this node assigns each pod a UID of "
                        "its own (here %u); other UIDs require --pods-allow-root",
                        c->name, field, (long long)*wanted, own);
}

static const int64_t *of_both(const int64_t *own, const int64_t *pods)
{
    return own ? own : pods;
}

static bool process_user_is_true(const bool *value)
{
    return value && *value;
}

int kc__process_identity_of(kc__process_runtime *rt, const kc_pod *pod, const kc_container *c,
                            kc__process_identity *ret, kc_error *err)
{
    static const kc_pod_security_context nothing_for_all;
    static const kc_security_context nothing;
    const kc_pod_security_context *all =
        pod->spec.security_context ? pod->spec.security_context : &nothing_for_all;
    const kc_security_context *own = c->security_context ? c->security_context : &nothing;
    const bool allowed = rt->allow_root && rt->isolation.root;
    const int64_t *user = of_both(own->run_as_user, all->run_as_user);
    const int64_t *group = of_both(own->run_as_group, all->run_as_group);
    const bool *non_root = own->run_as_non_root ? own->run_as_non_root : all->run_as_non_root;
    uint32_t uid;
    if (kc__process_uids_of_pod(rt, kc_cstr(pod->metadata.uid), &uid, err) < 0)
        return kc_error_result(err);
    const gid_t gid = rt->isolation.root ? uid : getegid();
    if (check_id(user, uid, "runAsUser", allowed, c, err) < 0 ||
        check_id(group, gid, "runAsGroup", allowed, c, err) < 0)
        return kc_error_result(err);
    if (process_user_is_true(own->privileged) && !allowed)
        return kc_error_set(err, KC_INVALID,
                            "container %s: privileged containers require --pods-allow-root on a "
                            "node that runs as root",
                            c->name);
    kc__process_identity who = {.uid = user ? (uid_t)*user : uid, .gid = gid};
    if (who.uid != uid)
        who.gid = 0; /* As for a user without an entry in the image. */
    if (group)
        who.gid = (gid_t)*group;
    who.group = allowed && all->fs_group ? (gid_t)*all->fs_group : who.gid;
    if (process_user_is_true(non_root) && who.uid == 0)
        return kc_error_set(err, KC_INVALID,
                            "container has runAsNonRoot and image will run as root (container %s)",
                            c->name);
    *ret = who;
    return 0;
}

int kc__process_identity_of_pod(kc__process_runtime *rt, const kc_pod *pod,
                                kc__process_identity *ret, kc_error *err)
{
    const kc_pod_security_context *c = pod->spec.security_context;
    uint32_t uid;
    if (kc__process_uids_of_pod(rt, kc_cstr(pod->metadata.uid), &uid, err) < 0)
        return kc_error_result(err);
    *ret = (kc__process_identity){.uid = uid, .gid = uid, .group = uid};
    if (c && rt->allow_root && c->run_as_user)
        ret->uid = (uid_t)*c->run_as_user;
    if (c && rt->allow_root && c->fs_group)
        ret->group = (gid_t)*c->fs_group;
    return 0;
}

/* ---- capabilities ---- */

/* By number, as in linux/capability.h. */
static const char *const names[] = {
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
};

static uint64_t mask_of(char *const *list, size_t n)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i++) {
        kc_str name = kc_cstr(list[i]);
        if (kc_str_starts(name, KC_STR("CAP_")))
            name = kc_str_sub(name, 4, name.n);
        if (kc_str_is(name, "ALL"))
            return ~UINT64_C(0);
        for (size_t k = 0; k < KC_COUNT(names); k++)
            if (kc_str_is(name, names[k]))
                mask |= UINT64_C(1) << k;
    }
    return mask;
}

/* Our own capabilities, which limit those of containers. */
static uint64_t own_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capget, &head, data) < 0)
        return 0;
    return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

uint64_t kc__process_capabilities_of(const kc__process_runtime *rt, const kc_container *c,
                                     uid_t uid)
{
    const kc_capabilities *change = c->security_context ? c->security_context->capabilities : NULL;
    if (uid != 0 || !rt->allow_root)
        return 0;
    if (!change)
        return ROOT_CAPABILITIES;
    const uint64_t kept = ROOT_CAPABILITIES & ~mask_of(change->drop, change->n_drop);
    return (kept | mask_of(change->add, change->n_add)) & own_capabilities();
}
