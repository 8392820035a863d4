/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escalation.c: compares the permissions that a role or binding grants with those of its writer.
 *
 *     rules of the role ─ split ─▶ parts of one verb, group, resource, name ─┐
 *     rules of the writer (all bindings in the namespace of the request) ────┴─▶ uncovered parts
 *
 * One rule of the writer must cover a part alone. The message lists the uncovered parts, with the
 * verbs of the same resource in one line. The rules of the writer are collected under the lock of
 * the index and compared without it.
 */
#include "apiserver/authz/escalation.h"

#include "apiserver/authz/rbac.h"
#include "apiserver/authz/request_state.h"
#include "base/work.h"
#include "kc/diff.h"
#include "kc/map.h"
#include "object/gofmt/go_quote.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

enum {
    QUICK = 20000,    /* Comparisons of a part with a rule that take less than a millisecond. */
    MAX_LINES = 1000, /* Lines of a message. */
};

/* ---- describing what is missing ---- */

/* Uncovered parts of the same group, resource and name. */
typedef struct missing_right {
    kc__rbac_rule rule;
    KC_VEC(kc_str) verbs;
    char *key;
} missing_right;

typedef struct missing_rights {
    KC_VEC(missing_right *) list;
    kc_map by_target;
} missing_rights;

static void missing_rights_done(missing_rights *missing)
{
    kc_vec_each (&missing->list, it) {
        kc_vec_done(&(*it)->verbs);
        free((*it)->key);
        free(*it);
    }
    kc_vec_done(&missing->list);
    kc_map_done(&missing->by_target);
}

/* Lengths keep the parts of the key apart. Each path is a target of its own. */
static char *target_key(const kc__rbac_rule *part)
{
    if (part->urls.n)
        return kc_asprintf("u%zu:%.*s:%.*s", part->urls.items[0].n, KC_ARG(part->urls.items[0]),
                           KC_ARG(part->verbs.items[0]));
    const kc_str group = part->groups.items[0], resource = part->resources.items[0];
    const kc_str name = part->names.n ? part->names.items[0] : (kc_str){0};
    return kc_asprintf("r%zu:%.*s%zu:%.*s%u:%.*s", group.n, KC_ARG(group), resource.n,
                       KC_ARG(resource), part->names.n, KC_ARG(name));
}

static void note_missing(missing_rights *missing, const kc__rbac_rule *part)
{
    kc_autofree char *key = target_key(part);
    missing_right *right = kc_map_get(&missing->by_target, kc_cstr(key));
    if (!right) {
        right = kc_new(missing_right);
        right->rule = *part;
        right->key = kc_take(key);
        kc_map_put(&missing->by_target, kc_cstr(right->key), right);
        kc_vec_push(&missing->list, right);
    }
    kc_vec_push(&right->verbs, part->verbs.items[0]);
}

static void describe_names(kc_buf *out, const char *label, const kc_str *items, size_t n)
{
    if (!n)
        return;
    kc_buf_printf(out, "%s%s:[", out->p[out->n - 1] == '{' ? "" : ", ", label);
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(out, i ? " " : "");
        kc__go_quote(out, items[i]);
    }
    kc_buf_putc(out, ']');
}

/* {APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]} */
static char *describe_right(const missing_right *right)
{
    const kc__rbac_rule *rule = &right->rule;
    kc_buf out = {0};
    kc_buf_putc(&out, '{');
    describe_names(&out, "APIGroups", rule->groups.items, rule->groups.n);
    describe_names(&out, "Resources", rule->resources.items, rule->resources.n);
    describe_names(&out, "NonResourceURLs", rule->urls.items, rule->urls.n);
    describe_names(&out, "ResourceNames", rule->names.items, rule->names.n);
    describe_names(&out, "Verbs", right->verbs.items, right->verbs.n);
    kc_buf_putc(&out, '}');
    return kc_buf_take(&out);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One line for each, in order, none twice. */
static void describe_missing(kc_buf *out, const missing_rights *missing)
{
    const size_t n = KC_MIN(missing->list.n, (size_t)MAX_LINES);
    KC_VEC(char *) lines = {0};
    for (size_t i = 0; i < n; i++)
        kc_vec_push(&lines, describe_right(missing->list.items[i]));
    kc_vec_sort(&lines, compare_lines);
    for (size_t i = 0; i < n; i++)
        if (!i || strcmp(lines.items[i], lines.items[i - 1]) != 0)
            kc_buf_printf(out, "\n%s", lines.items[i]);
    if (n < missing->list.n)
        kc_buf_printf(out, "\n… and %zu more", missing->list.n - n);
    kc_vec_each (&lines, line)
        free(*line);
    kc_vec_done(&lines);
}

static void describe_escalation(kc_buf *out, const kc__user *user, const missing_rights *missing,
                                kc__rbac_rights *rights)
{
    kc_buf_puts(out, "user ");
    kc__go_quote(out, user->name);
    kc_buf_puts(out, " (groups=[");
    for (size_t i = 0; i < user->n_groups; i++) {
        kc_buf_puts(out, i ? " " : "");
        kc__go_quote(out, user->groups[i]);
    }
    kc_buf_puts(out, "]) is attempting to grant RBAC permissions not currently held:");
    describe_missing(out, missing);
    if (rights->missing.n)
        kc_buf_printf(out, "; resolution errors: [%s]", kc_buf_cstr(&rights->missing));
}

/* ---- comparing ---- */

static bool is_covered(const kc__rbac_rights *rights, const kc__rbac_rule *part)
{
    for (size_t i = 0; i < rights->rules.n; i++)
        for (size_t j = 0; j < rights->rules.items[i]->n; j++)
            if (kc__rbac_rule_covers(&rights->rules.items[i]->items[j], part))
                return true;
    return false;
}

static size_t count_rules(const kc__rbac_rights *rights)
{
    size_t n = 0;
    kc_vec_each (&rights->rules, rules)
        n += (*rules)->n;
    return n;
}

static int split_rules(const kc__rbac_rules *rules, kc__rbac_rule_list *parts, kc_error *err)
{
    for (size_t i = 0; i < rules->n; i++)
        if (!kc__rbac_rule_split(&rules->items[i], KC__ESCALATION_MAX_PARTS, parts))
            return kc_error_set(err, KC_INVALID,
                                "the rules describe more than %zu combinations of verb, group, "
                                "resource and name",
                                KC__ESCALATION_MAX_PARTS);
    return 0;
}

static int compare_parts(const kc__escalation *e, const kc__rbac_rule_list *parts,
                         kc__rbac_rights *rights, kc_buf *why, kc_error *err)
{
    kc_scoped(missing_rights) missing = {0};
    kc_vec_each (parts, part) {
        if (kc__work_is_over())
            return kc__work_fail(err);
        if (!is_covered(rights, part))
            note_missing(&missing, part);
    }
    if (missing.list.n)
        describe_escalation(why, e->user, &missing, rights);
    return 0;
}

/* Whether the writer has all permissions of the rules: otherwise appends the message to `why`. */
static int compare_rules(kc__rbac *rbac, const kc__escalation *e, const kc__rbac_rules *rules,
                         bool *ret_unfinished, kc_buf *why, kc_error *err)
{
    kc_scoped(kc__rbac_rights) rights = {0};
    kc__rbac_rule_list parts = {0};
    int status = split_rules(rules, &parts, err);
    if (status == 0) {
        kc__rbac_rights_collect(rbac, e->user, e->ns, true, &rights);
        if (ret_unfinished && parts.n * count_rules(&rights) > QUICK)
            *ret_unfinished = true;
        else
            status = compare_parts(e, &parts, &rights, why, err);
    }
    kc_vec_done(&parts);
    return status;
}

static int forbid_write(const kc__escalation *e, kc_str why, kc_error *err)
{
    const kc_value *metadata = kc_value_get(e->object, "metadata");
    return kc__authz_forbid_object(KC_STR(RBAC_GROUP), e->resource,
                                   kc_value_as_str(kc_value_get(metadata, "name")), why, err);
}

static int confirm_rules(kc__rbac *rbac, const kc__escalation *e, const kc__rbac_rules *rules,
                         bool *ret_unfinished, kc_error *err)
{
    kc_scoped(kc_buf) why = {0};
    const int status = compare_rules(rbac, e, rules, ret_unfinished, &why, err);
    return status < 0 || !why.n ? status : forbid_write(e, kc_buf_str(&why), err);
}

/* ---- changes of garbage collection ---- */

/* Whether all members of `a` but the named ones are in `b`. */
static bool members_are_in(const kc_value *a, const kc_value *b, const char *const *but)
{
    kc_value_each_member (a, name, value)
        if (!kc_str_is_any(name, but) && !kc_value_equal(value, kc_value_get_str(b, name), NULL))
            return false;
    return true;
}

static bool are_equal_but(const kc_value *a, const kc_value *b, const char *const *but)
{
    return members_are_in(a, b, but) && members_are_in(b, a, but);
}

static bool changes_only_ownership(const kc__escalation *e)
{
    static const char *const metadata[] = {"metadata", NULL};
    static const char *const owned[] = {"ownerReferences", "finalizers", "selfLink",
                                        "managedFields", NULL};
    return e->old && are_equal_but(e->object, e->old, metadata) &&
           are_equal_but(kc_value_get(e->object, "metadata"), kc_value_get(e->old, "metadata"),
                         owned);
}

/* ---- roles ---- */

static bool may(kc__authz *authz, const kc__escalation *e, const char *verb, const char *resource,
                kc_str group, kc_str name)
{
    const kc__authz_attributes a = {.user = e->user,
                                    .verb = kc_cstr(verb),
                                    .is_resource = true,
                                    .group = group,
                                    .version = KC_STR("*"),
                                    .resource = kc_cstr(resource),
                                    .ns = e->ns,
                                    .name = name};
    return kc__authz_wait(authz, e->loop, &a, NULL) == KC__AUTHZ_ALLOW;
}

static bool has_aggregation(const kc_value *role)
{
    return kc_value_len(kc_value_nested(role, "aggregationRule.clusterRoleSelectors")) > 0;
}

/* An aggregated role can gather anything: to make or change one needs every permission. */
static int confirm_aggregation(kc__rbac *rbac, const kc__escalation *e, bool *ret_unfinished,
                               kc_error *err)
{
    static const kc_str star = KC_STR_INIT("*");
    static const kc__rbac_names any = {.items = &star, .n = 1, .any = true};
    kc__rbac_rule everything[] = {{.verbs = any, .groups = any, .resources = any},
                                  {.verbs = any, .urls = any}};
    const kc__rbac_rules rules = {.n = KC_COUNT(everything), .items = everything};
    kc_scoped(kc_buf) why = {0};
    if (!has_aggregation(e->object) && !has_aggregation(e->old))
        return 0;
    const int status = compare_rules(rbac, e, &rules, ret_unfinished, &why, err);
    if (status < 0 || !why.n)
        return status;
    return forbid_write(e, KC_STR("must have cluster-admin privileges to use the aggregationRule"),
                        err);
}

static int check_role(kc__authz *authz, const kc__escalation *e, bool *ret_unfinished,
                      kc_error *err)
{
    kc__rbac *rbac = kc__authz_rbac(authz);
    const bool cluster = kc_str_is(e->resource, "clusterroles");
    if (may(authz, e, "escalate", cluster ? "clusterroles" : "roles", KC_STR(RBAC_GROUP),
            e->name) ||
        changes_only_ownership(e))
        return 0;
    kc_auto(kc__rbac_rules) *rules = kc__rbac_rules_new(kc_value_get(e->object, "rules"));
    const int status = confirm_rules(rbac, e, rules, ret_unfinished, err);
    if (status < 0 || !cluster || (ret_unfinished && *ret_unfinished))
        return status;
    return confirm_aggregation(rbac, e, ret_unfinished, err);
}

/* ---- bindings ---- */

/* Kubernetes names the resource of the request, not that of the role. */
static int refuse_missing_role(kc_str resource, kc_str name, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, name);
    kc_error_set(err, KC_NOT_FOUND, "%.*s." RBAC_GROUP " %s not found", KC_ARG(resource),
                 kc_buf_cstr(&quoted));
    kc_error_about(err, KC_STR(RBAC_GROUP), resource, name);
    return kc_error_result(err);
}

static int refuse_role_kind(kc_str kind, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, kind);
    return kc_error_set(err, KC_UNKNOWN, "unsupported role reference kind: %s",
                        kc_buf_cstr(&quoted));
}

static int check_binding(kc__authz *authz, const kc__escalation *e, bool *ret_unfinished,
                         kc_error *err)
{
    const kc_value *ref = kc_value_get(e->object, "roleRef");
    const kc_str kind = kc_value_as_str(kc_value_get(ref, "kind"));
    const kc_str name = kc_value_as_str(kc_value_get(ref, "name"));
    const bool cluster = kc_str_is(kind, "ClusterRole"), local = kc_str_is(kind, "Role");
    const char *resource = cluster ? "clusterroles" : "roles";
    if (changes_only_ownership(e))
        return 0;
    if (!cluster && !local)
        return refuse_role_kind(kind, err);
    if (may(authz, e, "bind", resource, kc_value_as_str(kc_value_get(ref, "apiGroup")), name))
        return 0;
    kc_auto(kc__rbac_rules) *rules = kc__rbac_role_rules(kc__authz_rbac(authz), kind, e->ns, name);
    if (!rules)
        return refuse_missing_role(e->resource, name, err);
    return confirm_rules(kc__authz_rbac(authz), e, rules, ret_unfinished, err);
}

/* Without the mode RBAC the authorizers allow "escalate" and "bind", or nothing but to
 * system:masters. */
int kc__escalation_check(kc__authz *authz, const kc__escalation *e, bool *ret_unfinished,
                         kc_error *err)
{
    if (kc__authz_is_master(e->user) || !kc__authz_rbac(authz))
        return 0;
    const bool role = kc_str_is(e->resource, "roles") || kc_str_is(e->resource, "clusterroles");
    return role ? check_role(authz, e, ret_unfinished, err)
                : check_binding(authz, e, ret_unfinished, err);
}
