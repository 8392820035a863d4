/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matching.h: the attributes of a request under admission, and the criteria by which webhooks and
 * policies select requests: rules, selectors, exclusions. Pure: no network, no locks.
 *
 *     kc__admission_criteria_read(&arena, matchConstraints, &criteria);
 *     …
 *     if (kc__admission_match(&criteria, &attributes, &as) == KC__ADMISSION_MATCH)
 *         …                                the object is shown in the version `as`
 */
#ifndef KC_APISERVER_ADMISSION_MATCHING_H
#define KC_APISERVER_ADMISSION_MATCHING_H

#include "apiserver/access/authn.h"
#include "apiserver/kinds/resource.h"
#include "kc/arena.h"
#include "kc/selector.h"
#include "kc/view.h"

typedef struct kc__admission_strings {
    const kc_str *items;
    size_t n;
} kc__admission_strings;

/* "pods/status": the parts of a resource. */
typedef struct kc__admission_rule_resource {
    kc_str name, part;
    bool any_name, any_part; /* "*" */
} kc__admission_rule_resource;

typedef enum kc__admission_scope {
    KC__ADMISSION_ANY_SCOPE,
    KC__ADMISSION_CLUSTER,
    KC__ADMISSION_NAMESPACED,
} kc__admission_scope;

/* Operations of requests, as bits of a rule. */
enum { KC__ADMISSION_N_OPERATIONS = 4 };
/* The index of "CREATE", "UPDATE", "DELETE" or "CONNECT". */
unsigned kc__admission_operation_index(const char *operation);

/* Matches a request if one item of each list matches. */
typedef struct kc__admission_rule {
    unsigned operations; /* Bit set. */
    bool any_group, any_version;
    kc__admission_strings groups, versions;
    const kc__admission_rule_resource *resources;
    size_t n_resources;
    kc__admission_strings names; /* Names of objects; empty: all. */
    kc__admission_scope scope;
} kc__admission_rule;

typedef struct kc__admission_rules {
    const kc__admission_rule *items;
    size_t n;
} kc__admission_rules;

/* Strings belong to the value that was read. */
typedef struct kc__admission_criteria {
    kc__admission_rules rules, excluded;
    kc_selector *namespaces, *objects;
    bool equivalent;     /* matchPolicy Equivalent: the rules match other versions, too. */
    bool rules_optional; /* Without rules every request matches. */
} kc__admission_criteria;

/* The attributes of a request, as in Kubernetes. */
typedef struct kc__admission_attributes {
    const char *operation; /* "CREATE", "UPDATE", "DELETE" */
    const kc__resource *resource;
    const kc__resource_subresource *subresource; /* NULL: the object itself. */
    kc_str name;                                 /* Empty if it is still to be generated. */
    kc_str ns;                                   /* For a Namespace its own name. */
    /* Both may be NULL; in the version of the resource, or of the subresource's kind. */
    const kc_object *object, *old;
    const kc_object *space; /* The namespace of the object; NULL: none. */
    const kc__user *user;
    kc_str options; /* JSON. */
    bool dry_run;
    /* The other versions of the resource. */
    const kc__resource *const *equivalents;
    size_t n_equivalents;
} kc__admission_attributes;

typedef enum kc__admission_match_result {
    KC__ADMISSION_NO_MATCH,
    KC__ADMISSION_MATCH,
    KC__ADMISSION_MATCH_NO_NAMESPACE, /* It would match, but its namespace does not exist. */
} kc__admission_match_result;

/* Reads rules of a webhook, or of matchConstraints. The list is in the arena. */
kc__admission_rules kc__admission_rules_read(kc_arena *arena, const kc_value *list);
/* Reads matchConstraints or matchResources. */
void kc__admission_criteria_read(kc_arena *arena, const kc_value *match,
                                 kc__admission_criteria *ret);
/* Frees the selectors. */
void kc__admission_criteria_done(kc__admission_criteria *criteria);

/* Whether a request matches, and in which version of the resource. */
kc__admission_match_result kc__admission_match(const kc__admission_criteria *criteria,
                                               const kc__admission_attributes *about,
                                               const kc__resource **ret_as);
/* False: no request about this resource, in any version, can match. Cheap, and needs no
 * attributes. */
bool kc__admission_may_match(const kc__admission_criteria *criteria, const kc__resource *resource);

#endif
