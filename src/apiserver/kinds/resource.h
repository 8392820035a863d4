/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.h: what the server serves: every resource of every group and version, and what one may
 * do with it. Built-in ones are lines of a constant table (builtin.c); custom ones will be made at
 * run time with the same struct, so nothing above here asks where one comes from.
 */
#ifndef KC_APISERVER_RESOURCE_H
#define KC_APISERVER_RESOURCE_H

#include "apiserver/kinds/definition.h"
#include "kc/mem.h"

/* Verbs, a set, in the order discovery writes them. */
enum {
    KC__CREATE = 1 << 0,
    KC__DELETE = 1 << 1,
    KC__DELETE_COLLECTION = 1 << 2,
    KC__GET = 1 << 3,
    KC__LIST = 1 << 4,
    KC__PATCH = 1 << 5,
    KC__UPDATE = 1 << 6,
    KC__WATCH = 1 << 7,
    KC__ALL_VERBS = (1 << 8) - 1,
};

typedef struct kc__strategy kc__strategy; /* strategy.h */

/* "status", "scale", … */
typedef struct kc__subresource {
    const char *name;
    unsigned verbs;
    /* What it speaks, where that is another kind: {"autoscaling", "v1", "Scale"}. NULL: the
     * parent's. */
    const char *group, *version, *kind;
} kc__subresource;

typedef struct kc__resource {
    const char *group, *version; /* "" is the core group. */
    const char *plural, *singular, *kind, *list_kind;
    bool namespaced;
    unsigned verbs;
    const char *const *short_names; /* Ended by NULL, as categories; NULL: none. */
    const char *const *categories;
    const kc__subresource *subresources; /* Ended by one without name; NULL: none. */
    const kc__message *type;             /* NULL: any fields (custom resources). */
    const kc__strategy *strategy;        /* Never NULL once it is registered. */
    const char
        *storage; /* "apps/deployments": group and plural under which all versions are stored. */
} kc__resource;

/* ---- the groups and what is in them ---- */

typedef struct kc__group {
    const char *name;
    const char *const *versions; /* The preferred one first. Ended by NULL. */
} kc__group;

extern const kc__group kc__builtin_groups[]; /* In the order of discovery; core first. */
extern const size_t kc__n_builtin_groups;
extern const kc__resource
    kc__builtin_resources[]; /* Of a group version they stand together, by name. */
extern const size_t kc__n_builtin_resources;

#endif
