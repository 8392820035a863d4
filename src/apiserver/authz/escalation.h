/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escalation.h: a user may not grant permissions that the user does not have.
 *
 *     const kc__escalation e = {.user = &user, .resource = KC_STR("roles"), .ns = ns,
 *                               .object = role, .old = stored};
 *     if (kc__escalation_check(authz, &e, &unfinished, err) < 0)
 *         …                                                           403, or 404 for a missing
 * role
 *
 * A write of a role needs the role's permissions, or the verb "escalate" on it. A write of a
 * binding needs the permissions of the role that it names, or the verb "bind" on that role. The
 * group system:masters may do everything, and so may a write that changes only what garbage
 * collection changes: owner references and finalizers.
 */
#ifndef KC_APISERVER_ESCALATION_H
#define KC_APISERVER_ESCALATION_H

#include "apiserver/authz/authz.h"
#include "kc/view.h"

/* Permissions of one role that are compared one by one: verbs times groups times resources times
 * names. A role with more is rejected. */
#define KC__ESCALATION_MAX_PARTS ((size_t)100000)

typedef struct kc__escalation {
    const kc__user *user;
    struct kc__loop *loop;  /* A loop of the server, for calls of webhooks. */
    kc_str resource;        /* "roles", "clusterroles", "rolebindings" or "clusterrolebindings". */
    kc_str ns, name;        /* Of the path; empty where the path has none. */
    const kc_value *object; /* The object to be written, with defaults. */
    const kc_value *old;    /* The stored object; NULL: none. */
} kc__escalation;

/*
 * KC_FORBIDDEN with the message of Kubernetes if the write grants too much, KC_NOT_FOUND if a
 * binding names a role that does not exist, KC_INVALID beyond KC__ESCALATION_MAX_PARTS. If
 * `ret_unfinished` is not NULL and the comparison takes long, sets it to true and decides nothing:
 * the caller repeats the call with NULL on a worker thread. Any thread; with the mode Webhook a
 * worker thread only, because it waits.
 */
int kc__escalation_check(kc__authz *authz, const kc__escalation *e, bool *ret_unfinished,
                         kc_error *err);

#endif
