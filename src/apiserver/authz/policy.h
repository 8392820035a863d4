/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h: the roles and bindings that every cluster has from its first start.
 *
 * The rules of a role are text, one rule a line:
 *
 *     get list watch | core apps | pods deployments/scale | name-1 name-2
 *     get | /healthz /version
 *
 * verbs, groups, resources and, optionally, resource names; or verbs and paths. "core" is the group
 * without a name. A server creates these objects, and adds what is missing in them at each start,
 * unless an object has the annotation rbac.authorization.kubernetes.io/autoupdate: "false". The
 * objects of Kubernetes have the label kubernetes.io/bootstrapping, those of this project (`own`)
 * the label kubecontroller.io/bootstrapping.
 */
#ifndef KC_APISERVER_POLICY_H
#define KC_APISERVER_POLICY_H

#include "kc/buf.h"

typedef struct kc__policy_role {
    const char *name;
    const char *rules;
    const char *aggregate_to; /* "view": its rules become part of that role. */
    const char *aggregates;   /* "view": its rules are those of the roles labelled so. */
    const char *ns;           /* NULL: a ClusterRole. */
    bool own;                 /* Of this project, not of Kubernetes: has another label. */
} kc__policy_role;

typedef struct kc__policy_binding {
    const char *name;
    const char *role;     /* NULL: the role of the same name. */
    const char *subjects; /* "G:system:masters U:alice S:namespace:name", separated by spaces. */
    const char *ns;       /* NULL: a ClusterRoleBinding. */
    bool own;             /* As above. */
} kc__policy_binding;

/* Tables end with a row without a name. */
extern const kc__policy_role kc__policy_cluster_roles[], kc__policy_controller_roles[],
    kc__policy_namespace_roles[], kc__policy_own_roles[];
extern const kc__policy_binding kc__policy_bindings[];

/* Appends the rules as JSON: an array of PolicyRule. */
void kc__policy_rules_write(kc_buf *out, const char *rules);
/* Appends the subjects as JSON: an array of Subject. */
void kc__policy_subjects_write(kc_buf *out, const char *subjects);

#endif
