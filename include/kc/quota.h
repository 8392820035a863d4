/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h: how much of a ResourceQuota an object uses, as Kubernetes v1.34 measures it. The API
 * server charges quotas with it, and the quota controller recalculates their usage.
 *
 *     const kc_quota_resource pods = {KC_STR(""), KC_STR("pods")};
 *     kc_auto(kc_view) *view = kc_view_of(pod);
 *     kc_scoped(kc_quota_amounts) usage = {0};
 *     kc_quota_usage(&pods, kc_view_root(view), kc_clock_wall(clock), &usage);
 *
 * Pods, services, persistent volume claims and resource claims have evaluators of their own; of any
 * other resource, custom ones included, objects are counted. Objects are read in the version v1 of
 * their group (resource claims in any version). All functions are pure; any thread.
 */
#ifndef KC_QUOTA_H
#define KC_QUOTA_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/map.h"
#include "kc/quantity.h"
#include "kc/time.h"

/* ---- amounts of resources ---- */

typedef struct kc_quota_amount {
    kc_quantity value;
    kc_str text; /* As Kubernetes prints it. */
} kc_quota_amount;

/*
 * Amounts by resource name, "cpu: 500m". Zero: no amounts. Either `written` is set, or `summed`.
 * Names are borrowed and must live as long as the amounts; texts live in the arena, or are
 * borrowed from the view of a value that was read.
 */
typedef struct kc_quota_amounts {
    const kc_value *written; /* An object of quantities, borrowed. */
    kc_map summed;           /* Of kc_quota_amount *, in the arena. */
    kc_arena arena;
} kc_quota_amounts;

void kc_quota_amounts_done(kc_quota_amounts *amounts);

/* Reads a quantity. False: it is none. */
bool kc_quota_amount_read(const kc_value *value, kc_quota_amount *ret);
/* The amount of a resource. False: there is none; *ret is unchanged. */
bool kc_quota_amount_of(const kc_quota_amounts *amounts, kc_str resource, kc_quota_amount *ret);

/* Replaces one amount. Its text must live as long as the amounts. */
void kc_quota_amounts_set(kc_quota_amounts *amounts, kc_str resource, const kc_quota_amount *value);
/* Sets one amount to an integer. */
void kc_quota_amounts_set_count(kc_quota_amounts *amounts, kc_str resource, int64_t count);
/* Adds to one amount. A sum of more than 38 digits keeps its last value. */
void kc_quota_amounts_add(kc_quota_amounts *amounts, kc_str resource, const kc_quota_amount *more);
/* Subtracts from one amount; a result that is not positive becomes 0. */
void kc_quota_amounts_subtract(kc_quota_amounts *amounts, kc_str resource,
                               const kc_quota_amount *less);
/* Sets one amount to the larger of both. */
void kc_quota_amounts_raise(kc_quota_amounts *amounts, kc_str resource,
                            const kc_quota_amount *value);
/* Reads an object of quantities: each replaces the amount of its name. */
void kc_quota_amounts_read(kc_quota_amounts *amounts, const kc_value *list);
/* Adds all amounts of another list, whose names must live as long as `amounts`. */
void kc_quota_amounts_add_all(kc_quota_amounts *amounts, const kc_quota_amounts *more);
/* Appends the amounts of `names` that exist, sorted: "cpu=1,memory=1Gi". Sorts `names`. */
void kc_quota_amounts_print(kc_buf *out, const kc_quota_amounts *amounts, kc_str *names,
                            size_t n_names);
/* Appends the amounts as a JSON object, sorted by name. */
void kc_quota_amounts_write(kc_buf *out, const kc_quota_amounts *amounts);

/* What the sums of a pod include. */
typedef enum kc_quota_pod_parts {
    KC_QUOTA_POD_SPEC = 0,
    KC_QUOTA_POD_STATUS = 1,   /* Resources that the status reports, if they are more. */
    KC_QUOTA_POD_OVERHEAD = 2, /* spec.overhead; for limits, only where there is a limit. */
    KC_QUOTA_POD_HUGEPAGES = 4 /* Huge pages of the pod's own resources, besides cpu and memory. */
} kc_quota_pod_parts;

/*
 * Sums `member` ("requests" or "limits") of a pod's containers: of all containers that run at the
 * same time, or of an init container with the sidecars before it, if that is more. The resources of
 * the pod itself replace the sum. `parts` is a set of kc_quota_pod_parts. `ret` is zeroed.
 */
void kc_quota_pod_amounts(const kc_value *pod, const char *member, unsigned parts,
                          kc_quota_amounts *ret);

/* ---- what a quota measures ---- */

/* A resource by the names of its API: {"apps", "deployments"}; the core group is "". */
typedef struct kc_quota_resource {
    kc_str group, plural;
} kc_quota_resource;

/* Whether no quota applies to the resource: events, and resources that are not stored. */
bool kc_quota_is_ignored(const kc_quota_resource *resource);
/* Whether usage of the resource counts as `name`, a key of a quota's `hard`: "pods",
 * "requests.cpu", "count/deployments.apps". */
bool kc_quota_tracks(const kc_quota_resource *resource, kc_str name);
/* Whether usage depends on the content of objects. False: they are only counted, and their metadata
 * suffices. */
bool kc_quota_measures(const kc_quota_resource *resource);
/* What an object uses. `now` decides whether a pod that is being deleted still counts. `ret` is
 * zeroed; names and texts live as long as `ret` and the view of the object. */
void kc_quota_usage(const kc_quota_resource *resource, const kc_value *object, kc_time now,
                    kc_quota_amounts *ret);
/* Whether the update of an object may have reduced its usage: its quotas are to be recalculated. */
bool kc_quota_is_freed_by(const kc_quota_resource *resource, const kc_value *old,
                          const kc_value *object, kc_time now);
/* Whether a resource of containers is an extended one, "example.com/gpu", which a quota can limit
 * as "requests.example.com/gpu". */
bool kc_quota_is_extended_resource(kc_str name);
/* Whether a pod is limited by its deadline: the scope Terminating. */
bool kc_quota_pod_is_terminating(const kc_value *pod);
/*
 * The amounts of cpu and memory that a quota of `names` requires every container to state, and that
 * some do not: appends "must specify limits.cpu for: a,b; …". Nothing: none is missing, or the
 * resource is not pods.
 */
void kc_quota_missing_amounts(const kc_quota_resource *resource, const kc_value *object,
                              const kc_str *names, size_t n_names, kc_buf *out);

/* ---- scopes ---- */

/* One requirement of a quota's scopes. */
typedef struct kc_quota_scope {
    kc_str name, operator;  /* "PriorityClass", "In" */
    const kc_value *values; /* An array; NULL: none. */
} kc_quota_scope;

/* The requirement that an item of matchExpressions or matchScopes states. */
kc_quota_scope kc_quota_scope_of(const kc_value *expression);
/* Iterates over the requirements of a quota: spec.scopes, then spec.scopeSelector. *at begins with
 * 0. False at the end. */
bool kc_quota_scope_next(const kc_value *quota, size_t *at, kc_quota_scope *ret);
/* Whether the object is in the scope. */
bool kc_quota_scope_matches(const kc_quota_resource *resource, const kc_quota_scope *scope,
                            const kc_value *object);
/* Whether the object is in all scopes of the quota. */
bool kc_quota_is_in_scopes(const kc_quota_resource *resource, const kc_value *quota,
                           const kc_value *object);
/* Whether a quota applies to the object: status.hard has a name that the resource tracks, and the
 * object is in all scopes. */
bool kc_quota_matches(const kc_quota_resource *resource, const kc_value *quota,
                      const kc_value *object);

#endif
