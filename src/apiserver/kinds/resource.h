/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.h: one resource in one version: its names, its verbs, its place in the storage.
 *
 * Built-in resources are rows of a constant table (builtin.c). Custom resources are created at run
 * time from a CustomResourceDefinition (crd/crd_resource.h). Both use this struct. Their behavior
 * differs only behind `ops` (resource_ops.h); code above kinds/ and crd/ does not check which of
 * the two a resource is.
 */
#ifndef KC_APISERVER_RESOURCE_H
#define KC_APISERVER_RESOURCE_H

#include "apiserver/codec/api_types.h"
#include "kc/field_selector.h"
#include "kc/mem.h"
#include "kc/ref.h"

/* Verbs, a bit set, in the order in which discovery lists them. */
enum {
    KC__VERB_CREATE = 1 << 0,
    KC__VERB_DELETE = 1 << 1,
    KC__VERB_DELETE_COLLECTION = 1 << 2,
    KC__VERB_GET = 1 << 3,
    KC__VERB_LIST = 1 << 4,
    KC__VERB_PATCH = 1 << 5,
    KC__VERB_UPDATE = 1 << 6,
    KC__VERB_WATCH = 1 << 7,
    KC__N_VERBS = 8,
    KC__VERB_ALL = (1 << KC__N_VERBS) - 1,
};

typedef struct kc__strategy kc__strategy; /* strategy.h */
struct kc__resource_ops;                  /* resource_ops.h */

/* A subresource: "status", "scale", … */
typedef struct kc__resource_subresource {
    const char *name;
    unsigned verbs;
    /* The kind of its bodies, if it differs from the parent's: {"autoscaling", "v1", "Scale"}.
     * NULL: the parent's kind. */
    const char *group, *version, *kind;
    const char *also; /* Another accepted version of that kind: "policy/v1beta1". May be NULL. */
} kc__resource_subresource;

typedef struct kc__resource {
    const char *group, *version; /* "" is the core group. */
    const char *plural, *singular, *kind;
    const char *list_kind; /* NULL: the resource cannot be listed. */
    bool namespaced;
    unsigned verbs; /* The verbs that discovery shows. */
    /* The verbs that requests may use. Defaults to `verbs`. While a CRD is being deleted,
     * discovery no longer shows the verbs that write its objects, but requests may still use
     * them. */
    unsigned accepted_verbs;
    const char *const *short_names; /* NULL-terminated, like categories. NULL: none. */
    const char *const *categories;
    const kc__resource_subresource *subresources; /* Ended by one without a name; NULL: none. */
    const char *type_name;        /* "io.k8s.api.apps.v1.Deployment"; NULL: untyped, any fields. */
    const kc__type_message *type; /* The type of that name; set on registration. */
    const kc__strategy *strategy; /* Never NULL after registration. */
    const struct kc__resource_ops *ops; /* Never NULL after registration. */
    /* "apps/deployments": the group and plural that identify the resource in all its versions.
     * NULL: the resource is not stored (reviews). */
    const char *storage;
    const char *key_prefix; /* In the storage: "/registry/deployments/". NULL: not stored. */
    const char *storage_api_version; /* The version of the stored form: "apps/v1". */
    /* The version in which Kubernetes v1.34 stores it in etcd. NULL: storage_api_version. Only
     * stored_value.h uses it. */
    const char *etcd_api_version;
    const char *deprecation;     /* Deprecation warning of this version for clients; NULL: none. */
    const char *removed_release; /* With it: the release without this version; NULL: unknown. */
    const struct kc__print_columns *columns; /* printing/table.h. NULL: those of the table there. */
    const struct kc__print_columns *scale_columns; /* Columns of its Scale. NULL: likewise. */
    const kc_fields *fields; /* Fields that field selectors may use. NULL: those of the strategy. */

    /* Members set from a CustomResourceDefinition. */
    const struct kc__custom *custom; /* crd/crd_resource.h; only the operations in crd/ use it. */
    kc_str schema; /* OpenAPI schema as JSON. Empty: derived from `type`, or any object. */
    bool preserves_unknown_fields; /* Objects keep fields that are not in the schema. */
    const char *const *selectable; /* Its own selectable fields, NULL-terminated. */
    struct kc__resource_unservable_set *unservable; /* unservable_set.h; NULL: not recorded. */
} kc__resource;

/*
 * Resources that are added and removed together, with the strings they point to: those of one
 * CustomResourceDefinition. Embedded as the first member of the struct that owns them;
 * reference-counted, immutable.
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

/* ---- the built-in groups and resources ---- */

typedef struct kc__resource_group {
    const char *name;
    const char *const *versions; /* The preferred version first. NULL-terminated. */
} kc__resource_group;

extern const kc__resource_group
    kc__resource_builtin_groups[]; /* In discovery order; the core group first. */
extern const size_t kc__resource_n_builtin_groups;
extern const kc__resource
    kc__resource_builtins[]; /* Resources of one group version are adjacent, sorted by name. */
extern const size_t kc__resource_n_builtins;

#endif
