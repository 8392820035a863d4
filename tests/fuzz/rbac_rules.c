/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule covers each of its parts, and allows the request that a part describes. The input is a
 * list of rules.
 */
#include "fuzzing.h"

#include "apiserver/authz/rbac_rules.h"

static kc__authz_attributes request_of(const kc__rbac_rule *part)
{
    kc__authz_attributes a = {.verb = part->verbs.items[0]};
    a.verb_bit = kc__rbac_verb_bit(a.verb);
    if (part->urls.n) {
        a.path = part->urls.items[0];
        return a;
    }
    kc_str rest = part->resources.items[0];
    a.is_resource = true;
    a.group = part->groups.items[0];
    a.resource = kc_str_cut(&rest, '/');
    a.subresource = rest;
    a.name = part->names.n ? part->names.items[0] : (kc_str){0};
    return a;
}

/* "pods/" names no subresource, so no request is for it. */
static bool is_requestable(const kc__rbac_rule *part)
{
    return part->urls.n || !kc_str_ends(part->resources.items[0], KC_STR("/"));
}

static void check_rule(const kc__rbac_rule *rule)
{
    kc__rbac_rule_list parts = {0};
    const bool mixed = rule->urls.n && rule->names.n; /* Invalid: validation rejects it. */
    kc__rbac_rule_split(rule, 1000, &parts);
    assert(parts.n <= 1000);
    for (size_t i = 0; i < parts.n; i++) {
        const kc__authz_attributes a = request_of(&parts.items[i]);
        assert(mixed || kc__rbac_rule_covers(rule, &parts.items[i]));
        assert(!is_requestable(&parts.items[i]) || kc__rbac_rule_allows(rule, &a));
    }
    kc_vec_done(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_str_of((const char *)data, size), NULL, NULL);
    if (!view)
        return 0;
    kc_auto(kc__rbac_rules) *rules = kc__rbac_rules_new(kc_view_root(view));
    for (size_t i = 0; i < rules->n; i++)
        check_rule(&rules->items[i]);
    return 0;
}
