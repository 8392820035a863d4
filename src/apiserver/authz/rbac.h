/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac.h: role-based access control: decisions from the stored roles and bindings.
 *
 *     kc_auto(kc__rbac) *rbac = kc__rbac_new(&(kc__rbac_opts){.store = store}, err);
 *     …
 *     decision = kc__rbac_authorize(rbac, &attributes, &reason);
 *
 * An index follows the store: for each user and group the bindings that name it, and for each
 * binding the compiled rules of its role. A decision costs one lookup for the user and one for each
 * of the user's groups, whatever the number of roles and bindings. A decision that begins after the
 * response to a write of a role or binding sees that write.
 */
#ifndef KC_APISERVER_RBAC_H
#define KC_APISERVER_RBAC_H

#include "apiserver/authz/rbac_rules.h"
#include "apiserver/store/store.h"

typedef struct kc__rbac kc__rbac;

typedef struct kc__rbac_opts {
    kc__store *store;
    struct kc__memory_account *memory; /* Accounts for the index. Defaults to none. */
    kc_metrics *metrics;               /* Defaults to none. */
} kc__rbac_opts;

/* Compiles all stored roles and bindings. NULL if a metric cannot be registered. */
kc__rbac *kc__rbac_new(const kc__rbac_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__rbac *kc__rbac_free(kc__rbac *rbac);
KC_AUTO_DEFINE(kc__rbac, kc__rbac_free)

/* KC__AUTHZ_ALLOW or KC__AUTHZ_NO_OPINION. Appends the reason to `reason`: the binding that allows
 * it; otherwise the roles that bindings of the user name and that do not exist, if there are any.
 * `reason` may be NULL. Any thread. */
kc__authz_decision kc__rbac_authorize(kc__rbac *rbac, const kc__authz_attributes *a,
                                      kc_buf *reason);

/* What a binding grants to one of its subjects. The index has one for each, so that a visit copies
 * nothing. Valid during the call that gives it. */
typedef struct kc__rbac_grant {
    kc_str ns, binding; /* The namespace is empty for a ClusterRoleBinding. */
    kc_str role_kind, role;
    kc_str subject_kind, subject; /* As messages name it: "alice", "NAME/NAMESPACE". */
    kc__rbac_rules *const *rules; /* Those of the role; *rules is NULL: there is no such role. */
} kc__rbac_grant;

/* Returns whether to go on. */
typedef bool kc__rbac_visit_fn(const kc__rbac_grant *grant, void *user);

/* Visits the grants of a user that apply to a namespace: those of ClusterRoleBindings, then, unless
 * the namespace is empty, those of its RoleBindings. `visit` runs under the lock of the index. Any
 * thread. */
void kc__rbac_visit(kc__rbac *rbac, const kc__user *user, kc_str ns, kc__rbac_visit_fn *visit,
                    void *visit_user);

/* The rules of a role with a reference; NULL if the role does not exist. `kind` is "Role", which is
 * looked up in the namespace, or "ClusterRole". Any thread. */
kc__rbac_rules *kc__rbac_role_rules(kc__rbac *rbac, kc_str kind, kc_str ns, kc_str name);

/* What a user may do in a namespace, independent of the index. */
typedef struct kc__rbac_rights {
    KC_VEC(kc__rbac_rules *) rules;
    kc_buf missing; /* The roles that bindings of the user name and that do not exist, as an
                       aggregate of errors in Go: "a not found", "[a not found, b not found]". */
} kc__rbac_rights;

/* Collects the rules of all grants of a user, with a reference to each. `plural`: the errors name
 * the resource "roles" instead of "role". Any thread. */
void kc__rbac_rights_collect(kc__rbac *rbac, const kc__user *user, kc_str ns, bool plural,
                             kc__rbac_rights *ret);
void kc__rbac_rights_done(kc__rbac_rights *rights);

#endif
