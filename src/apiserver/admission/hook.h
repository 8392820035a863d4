/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.h: admission webhooks as their configurations describe them: read once, then asked of every
 * request whether it is theirs. Nothing here talks to anybody.
 *
 *     kc__hook_set *set = kc__hook_set_new(mutating, validating);
 *     for (size_t i = 0; i < set->mutating.n; i++)
 *         if (kc__hook_match(&set->mutating.items[i], &attributes, &as) == KC__HOOK_CONCERNED)
 *             …                                     ask it, about the resource in the version `as`
 */
#ifndef KC_APISERVER_HOOK_H
#define KC_APISERVER_HOOK_H

#include "apiserver/access/authn.h"
#include "apiserver/kinds/resource.h"
#include "apiserver/store/cow_tree.h"
#include "kc/selector.h"

typedef struct kc__texts {
    const kc_str *items;
    size_t n;
} kc__texts;

/* Which requests: one of each, where "*" is any. */
typedef struct kc__hook_rule {
    kc__texts operations, groups, versions, resources;
    kc_str scope; /* "*", "Cluster", "Namespaced" */
} kc__hook_rule;

/* Texts are the set's. */
typedef struct kc__hook {
    kc_str name;
    const kc__hook_rule *rules;
    size_t n_rules;
    kc_selector *namespaces, *objects;
    bool equivalent; /* Other versions of what the rules name are theirs too. */
    bool ignored;    /* What goes wrong when it is asked does not matter. */
    bool again;      /* It is asked again when others have changed what it saw. */
    bool dry;        /* It may be asked in dry runs. */
    bool conditions; /* It has matchConditions, which nobody evaluates yet. */
    bool mutates;
    bool beta;       /* It is asked with AdmissionReviews of v1beta1; else of v1. */
    int64_t timeout; /* Nanoseconds. */

    const char *url; /* NULL: it is at a service. */
    kc_str service_ns, service, path;
    int64_t port;
    kc_str ca; /* PEM; empty: whom the system trusts. */
} kc__hook;

/* All hooks, in the order in which they are asked: by the names of their configurations, of one
 * configuration as they stand there. Immutable and counted. */
typedef struct kc__hook_set {
    kc_ref refs;
    KC_VEC(kc__hook) mutating, validating;
    KC_VEC(kc_view *) views; /* What the texts are slices of. */
    kc_arena *arena;
} kc__hook_set;

/* Of the stored configurations of both kinds. Each may be NULL. */
kc__hook_set *kc__hook_set_new(const kc_cow_snapshot *mutating, const kc_cow_snapshot *validating);
kc__hook_set *kc__hook_set_ref(kc__hook_set *set);
kc__hook_set *kc__hook_set_unref(kc__hook_set *set);
KC_AUTO_DEFINE(kc__hook_set, kc__hook_set_unref)

/* What a request is about, as Kubernetes' admission sees it. */
typedef struct kc__attributes {
    const char *operation; /* "CREATE", "UPDATE", "DELETE" */
    const kc__resource *resource;
    const kc__subresource *subresource; /* NULL: the object itself. */
    kc_str name;                        /* Empty while it is to be generated. */
    kc_str ns;                          /* Of a namespace its own name. */
    /* Both may be NULL; in the version of the resource, or what the subresource speaks. */
    const kc_object *object, *old;
    const kc_object *space; /* The namespace it is in; NULL: there is none. */
    const kc__user *user;
    kc_str options; /* JSON. */
    bool dry_run;
    /* The resource in its other versions. */
    const kc__resource *const *equivalents;
    size_t n_equivalents;
} kc__attributes;

typedef enum kc__hook_match_result {
    KC__HOOK_UNCONCERNED,
    KC__HOOK_CONCERNED,
    KC__HOOK_NO_NAMESPACE, /* It would be, but its namespace is not there to be looked at. */
} kc__hook_match_result;

/* Whether a hook is to be asked; about which version of the resource. */
kc__hook_match_result kc__hook_match(const kc__hook *hook, const kc__attributes *about,
                                     const kc__resource **ret_as);

#endif
