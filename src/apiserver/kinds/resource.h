/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.h: what the server serves: every resource of every group and version, and what one may
 * do with it. Built-in ones are lines of a constant table (builtin.c); custom ones are made at run
 * time with the same struct (crd/crd_resource.h), so little above here asks where one comes from.
 */
#ifndef KC_APISERVER_RESOURCE_H
#define KC_APISERVER_RESOURCE_H

#include "apiserver/kinds/definition.h"
#include "kc/mem.h"
#include "kc/ref.h"

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
    const char *also; /* Another version of it that is taken too: "policy/v1beta1". May be NULL. */
} kc__subresource;

typedef struct kc__resource {
    const char *group, *version; /* "" is the core group. */
    const char *plural, *singular, *kind;
    const char *list_kind; /* NULL: it cannot be listed. */
    bool namespaced;
    unsigned verbs;
    const char *const *short_names; /* Ended by NULL, as categories; NULL: none. */
    const char *const *categories;
    const kc__subresource *subresources; /* Ended by one without name; NULL: none. */
    const char *type_name;               /* "io.k8s.api.apps.v1.Deployment"; NULL: any fields. */
    const kc__message *type;             /* What is found under that name when it is registered. */
    const kc__strategy *strategy;        /* Never NULL once it is registered. */
    /* "apps/deployments": group and plural under which all versions are stored. NULL: it is not
     * stored (reviews). */
    const char *storage;
    const char *storage_api_version; /* The version in which it is stored: "apps/v1". */
    const char *deprecation;         /* What clients are told of this version; NULL: nothing. */
    /* Of custom resources; NULL: it is built in. */
    const struct kc__custom *custom;   /* crd/crd_resource.h */
    const struct kc__columns *columns; /* printing/table.h */
} kc__resource;

/*
 * Resources that come and go together, with the text they point to: those of one
 * CustomResourceDefinition. Embedded as the first member of what holds them; counted, immutable.
 */
typedef struct kc__resource_set {
    kc_ref refs;
    const kc__resource *resources;
    size_t n;
    void (*free)(struct kc__resource_set *set);
} kc__resource_set;

static inline void kc__resource_set_ref(const kc__resource_set *set)
{
    kc_ref_add(&((kc__resource_set *)set)->refs);
}

static inline void kc__resource_set_unref(const kc__resource_set *set)
{
    kc__resource_set *counted = (kc__resource_set *)set;
    if (counted && kc_ref_drop(&counted->refs))
        counted->free(counted);
}

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
