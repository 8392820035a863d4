/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_user.c: whom containers run as.
 *
 * One user for all of them, who should be nobody else: what that user may not read, no pod may. A
 * pod that names a user of its own (runAsUser, runAsGroup) would choose among those of the machine,
 * the operator's own account too; a pod's fsGroup would choose among its groups, "shadow" and
 * "disk" too. So both need allow_root, and a pod that names another user is refused rather than run
 * as somebody it does not expect.
 */
#include "pods/process_internal.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

/* From the machine's own file: no name service is asked, which might be a server that is not there.
 */
static bool find_user(kc_str name, kc__identity *ret)
{
    FILE *file = fopen("/etc/passwd", "re");
    struct passwd entry, *found = NULL;
    char text[4096];
    bool is = false;
    while (file && !is && fgetpwent_r(file, &entry, text, sizeof(text), &found) == 0 && found)
        is = kc_str_is(name, found->pw_name);
    if (is)
        *ret = (kc__identity){found->pw_uid, found->pw_gid, found->pw_gid};
    if (file)
        fclose(file);
    return is;
}

static bool to_id(kc_str text, uint32_t *ret)
{
    uint64_t n;
    if (!kc_str_to_u64(text, &n) || n >= UINT32_MAX)
        return false;
    *ret = (uint32_t)n;
    return true;
}

int kc__identity_parse(const char *text, kc__identity *ret, kc_error *err)
{
    kc_str rest = kc_cstr(text);
    const kc_str user = kc_str_cut(&rest, ':');
    kc__identity found = {65534, 65534, 65534};
    uint32_t id;
    if (to_id(user, &id))
        found = (kc__identity){id, id, id};
    else if (!find_user(user, &found) && !kc_str_is(user, "nobody"))
        return kc_error_set(err, KC_INVALID, "there is no user \"%.*s\" on this machine",
                            KC_ARG(user));
    if (rest.p && !to_id(rest, &id))
        return kc_error_set(err, KC_INVALID, "\"%.*s\" is no number of a group", KC_ARG(rest));
    if (rest.p)
        found.gid = found.group = id;
    *ret = found;
    return 0;
}

static int check_id(const int64_t *wanted, uint32_t ours, const char *what, bool allowed,
                    const kc_container *c, kc_error *err)
{
    if (!wanted || *wanted == (int64_t)ours)
        return 0;
    if (*wanted < 0 || *wanted >= (int64_t)UINT32_MAX)
        return kc_error_set(err, KC_INVALID, "container %s: there is no %s %lld", c->name, what,
                            (long long)*wanted);
    if (allowed)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "container %s asks to run as %s %lld, but this node runs all containers as "
                        "%s %u unless it allows root",
                        c->name, what, (long long)*wanted, what, ours);
}

int kc__identity_of(const kc__process_runtime *rt, const kc_pod *pod, const kc_container *c,
                    kc__identity *ret, kc_error *err)
{
    const kc_pod_security_context *all = pod->spec.security_context;
    const kc_security_context *own = c->security_context;
    const bool allowed = rt->allow_root && rt->isolation.root;
    const int64_t *user = own && own->run_as_user ? own->run_as_user
                          : all                   ? all->run_as_user
                                                  : NULL;
    const int64_t *group = own && own->run_as_group ? own->run_as_group
                           : all                    ? all->run_as_group
                                                    : NULL;
    const bool *non_root = own && own->run_as_non_root ? own->run_as_non_root
                           : all                       ? all->run_as_non_root
                                                       : NULL;
    if (check_id(user, rt->user.uid, "user", allowed, c, err) < 0 ||
        check_id(group, rt->user.gid, "group", allowed, c, err) < 0)
        return -1;
    if (own && own->privileged && *own->privileged && !allowed)
        return kc_error_set(err, KC_INVALID,
                            "container %s: privileged containers need a node that allows root",
                            c->name);
    kc__identity who = rt->user;
    if (user)
        who.uid = (uid_t)*user;
    if (user && who.uid != rt->user.uid)
        who.gid = 0; /* As for a user that an image does not know. */
    if (group)
        who.gid = (gid_t)*group;
    who.group = allowed && all && all->fs_group ? (gid_t)*all->fs_group : who.gid;
    if (non_root && *non_root && who.uid == 0)
        return kc_error_set(err, KC_INVALID,
                            "container has runAsNonRoot and image will run as root (container %s)",
                            c->name);
    *ret = who;
    return 0;
}
