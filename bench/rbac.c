/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac.c: a decision of role-based access control for a user in 20 groups, each of which has one
 * binding: with 10,000 roles and 20,000 bindings, and with those of the user alone. The request is
 * denied, so every rule of the user is checked. Measured is the index, without its lock, which
 * rbac.c takes once for a decision. The peer is written by hand: strcmp over the rules of the 20
 * roles, which it need not find.
 */
#include "bench.h"

#include "apiserver/authz/rbac_index.h"

#include <stdio.h>
#include <string.h>

enum { GROUPS = 20, ROLES = 10000, BINDINGS = 20000 };

static kc_object *parse_quoted(char *text)
{
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return kc_object_parse(kc_cstr(text), NULL, NULL);
}

static void add_roles(kc__rbac_index *index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char key[32], text[400];
        snprintf(key, sizeof(key), "role-%zu", i);
        snprintf(text, sizeof(text),
                 "{'metadata':{'name':'%s'},'rules':[{'verbs':['get','list','watch'],'apiGroups':"
                 "['apps'],'resources':['deployments','deployments/scale']},{'verbs':['create'],"
                 "'apiGroups':[''],'resources':['pods','services','configmaps']}]}",
                 key);
        kc_auto(kc_object) *role = parse_quoted(text);
        kc__rbac_index_set_role(index, kc_cstr(key), role);
    }
}

/* Binding i is of group i: the first ones are those of the user. */
static void add_bindings(kc__rbac_index *index, size_t n, size_t n_roles)
{
    for (size_t i = 0; i < n; i++) {
        char key[32], text[400];
        snprintf(key, sizeof(key), "binding-%zu", i);
        snprintf(text, sizeof(text),
                 "{'metadata':{'name':'%s'},'roleRef':{'kind':'ClusterRole','name':'role-%zu'},"
                 "'subjects':[{'kind':'Group','name':'group-%zu'},{'kind':'User','name':'u-%zu'}]}",
                 key, i % n_roles, i, i);
        kc_auto(kc_object) *binding = parse_quoted(text);
        kc__rbac_index_set_binding(index, kc_cstr(key), binding);
    }
}

typedef struct setup {
    kc__rbac_index few, many;
    kc__authz_attributes attributes;
} setup;

static bool deny(const kc__rbac_grant *grant, void *user)
{
    return !kc__rbac_rules_allow(*grant->rules, user);
}

static void decide(const kc__rbac_index *index, setup *s, size_t times)
{
    while (times--)
        kc__rbac_index_visit(index, s->attributes.user, s->attributes.ns, deny, &s->attributes);
}

static void decide_among_few(void *input, size_t times)
{
    setup *s = input;
    decide(&s->few, s, times);
}

static void decide_among_many(void *input, size_t times)
{
    setup *s = input;
    decide(&s->many, s, times);
}

/* The rules of a role, as a program that knows nothing else would keep them. */
typedef struct plain_rule {
    const char *verbs[4], *groups[2], *resources[4]; /* NULL after the last. */
} plain_rule;

static const plain_rule plain_rules[] = {
    {{"get", "list", "watch"}, {"apps"}, {"deployments", "deployments/scale"}},
    {{"create"}, {""}, {"pods", "services", "configmaps"}},
};

static bool is_listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static bool allows_plainly(const plain_rule *rule, const char *verb, const char *group,
                           const char *resource)
{
    return is_listed(rule->verbs, verb) && is_listed(rule->groups, group) &&
           is_listed(rule->resources, resource);
}

static void decide_by_hand(void *input, size_t times)
{
    (void)input;
    while (times--) {
        bool allowed = false;
        for (int role = 0; role < GROUPS && !allowed; role++)
            for (size_t i = 0; i < KC_COUNT(plain_rules) && !allowed; i++) {
                bench_use(plain_rules);
                allowed = allows_plainly(&plain_rules[i], "delete", "", "secrets");
            }
        bench_use(allowed);
    }
}

int main(void)
{
    static char names[GROUPS][16];
    kc_str groups[GROUPS];
    for (size_t i = 0; i < GROUPS; i++) {
        snprintf(names[i], sizeof(names[i]), "group-%zu", i);
        groups[i] = kc_cstr(names[i]);
    }
    const kc__user user = {.name = KC_STR("alice"), .groups = groups, .n_groups = GROUPS};
    setup s = {.attributes = {.user = &user,
                              .verb = KC_STR("delete"),
                              .verb_bit = kc__rbac_verb_bit(KC_STR("delete")),
                              .is_resource = true,
                              .resource = KC_STR("secrets"),
                              .ns = KC_STR("default")}};
    add_roles(&s.few, GROUPS);
    add_bindings(&s.few, GROUPS, GROUPS);
    add_roles(&s.many, ROLES);
    add_bindings(&s.many, BINDINGS, ROLES);
    contestant contestants[] = {{"20 roles, 20 bindings", decide_among_few},
                                {"10,000 roles, 20,000 bindings", decide_among_many},
                                {"the rules of 20 roles by hand", decide_by_hand}};
    bench_run("role-based access control: a decision", contestants, KC_COUNT(contestants), &s);
    bench_at_most("decision with 10,000 roles and 20,000 bindings, to the rules by hand",
                  contestants[1].ns / contestants[2].ns, 3);
    bench_at_most("decision: growth from 20 bindings to 20,000",
                  contestants[1].ns / contestants[0].ns, 2);
    kc__rbac_index_done(&s.few);
    kc__rbac_index_done(&s.many);
    return bench_result();
}
