/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac_rules.h: the rules of a Role or ClusterRole, compiled: which requests they allow, and
 * whether rules cover others (a user may not grant what the user does not have).
 *
 *     kc_auto(kc__rbac_rules) *rules = kc__rbac_rules_new(kc_value_get(role, "rules"));
 *     if (kc__rbac_rules_allow(rules, &attributes))
 *         …
 */
#ifndef KC_APISERVER_RBAC_RULES_H
#define KC_APISERVER_RBAC_RULES_H

#include "apiserver/authz/authz.h"
#include "kc/arena.h"
#include "kc/vec.h"
#include "kc/view.h"

#include <stdatomic.h>

/* A list of names; `any` if "*" is one of them. */
typedef struct kc__rbac_names {
    const kc_str *items;
    uint32_t n;
    bool any;
} kc__rbac_names;

/* A PolicyRule: all lists must match. */
typedef struct kc__rbac_rule {
    unsigned verb_bits; /* Of the verbs that have one; all of them for "*". */
    kc__rbac_names verbs, groups, resources, names, urls;
} kc__rbac_rule;

/* A bit for each verb that most requests have; 0 for any other. One test of bits decides about most
 * rules. */
unsigned kc__rbac_verb_bit(kc_str verb);

/* Immutable and reference-counted. */
typedef struct kc__rbac_rules {
    _Atomic size_t refs;
    unsigned verb_bits; /* Of all rules: one test decides about most requests. */
    size_t n;
    kc__rbac_rule *items;
    kc_arena arena; /* Of the items and their strings. */
} kc__rbac_rules;

/* Compiles an array of PolicyRule; NULL is an empty array. The strings are copied. */
kc__rbac_rules *kc__rbac_rules_new(const kc_value *rules);
/* Take and drop a reference, on any thread. Both allow NULL; unref returns NULL. */
kc__rbac_rules *kc__rbac_rules_ref(kc__rbac_rules *rules);
kc__rbac_rules *kc__rbac_rules_unref(kc__rbac_rules *rules);
KC_AUTO_DEFINE(kc__rbac_rules, kc__rbac_rules_unref)

/* Compiles one rule into an arena. */
kc__rbac_rule kc__rbac_rule_of(const kc_value *rule, kc_arena *arena);
bool kc__rbac_rule_allows(const kc__rbac_rule *rule, const kc__authz_attributes *a);
/* Whether one of the rules allows the request. NULL: none. */
bool kc__rbac_rules_allow(const kc__rbac_rules *rules, const kc__authz_attributes *a);

/* Whether `owner` alone allows all that `part` does. `part` must be of one verb, group, resource,
 * resource name or URL each (kc__rbac_rule_split). */
bool kc__rbac_rule_covers(const kc__rbac_rule *owner, const kc__rbac_rule *part);

typedef KC_VEC(kc__rbac_rule) kc__rbac_rule_list;
/* Splits a rule into rules of one verb, group, resource, resource name or URL each, appended to
 * *parts; they borrow from the rule. False if there would be more than `max`. */
bool kc__rbac_rule_split(const kc__rbac_rule *rule, size_t max, kc__rbac_rule_list *parts);

#endif
