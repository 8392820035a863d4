/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac_index.h: roles and bindings, indexed by subject. Used by rbac.c, which follows the store and
 * guards the index by its lock; not thread-safe.
 *
 *     users      "alice" ──▶ bindings of the cluster     ──▶ binding ──▶ role ──▶ rules
 *     groups     "dev"       bindings of each namespace
 *
 * A role that a binding names has an entry even if it does not exist, so roles and bindings may
 * come in any order.
 */
#ifndef KC_APISERVER_RBAC_INDEX_H
#define KC_APISERVER_RBAC_INDEX_H

#include "apiserver/authz/rbac.h"
#include "kc/map.h"

typedef struct kc__rbac_index {
    kc_map roles;    /* Of rbac_role, by "name" or "namespace/name". */
    kc_map bindings; /* Of rbac_binding, likewise. */
    kc_map users;    /* Of rbac_subject, by name. */
    kc_map groups;   /* Likewise. */
    size_t bytes;    /* Memory of the entries, estimated. */
} kc__rbac_index;

void kc__rbac_index_done(kc__rbac_index *index);

/* Sets or, with NULL, removes a role or binding. The key is its key in the store: "name" for those
 * of the cluster, "namespace/name" otherwise. */
void kc__rbac_index_set_role(kc__rbac_index *index, kc_str key, const kc_object *role);
void kc__rbac_index_set_binding(kc__rbac_index *index, kc_str key, const kc_object *binding);

/* The rules of a role with a reference; NULL if the role does not exist. */
kc__rbac_rules *kc__rbac_index_role_rules(const kc__rbac_index *index, kc_str key);

/* As kc__rbac_visit. */
void kc__rbac_index_visit(const kc__rbac_index *index, const kc__user *user, kc_str ns,
                          kc__rbac_visit_fn *visit, void *visit_user);

#endif
