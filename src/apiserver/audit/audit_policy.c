/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_policy.c: reads an audit policy and evaluates it.
 *
 * As in kube-apiserver, a policy with unknown fields is read leniently after a warning: a typing
 * error must not leave a server without its audit log. Everything else that is wrong is an error.
 *
 * A rule lists strings to compare; an empty list matches everything. Lists are short, and compared
 * one by one.
 */
#include "apiserver/audit/audit_policy.h"

#include "apiserver/config/config_errors.h"
#include "apiserver/config/strict_config.h"
#include "kc/file.h"
#include "kc/names.h"
#include "kc/yaml.h"

#define MAX_POLICY_BYTES ((size_t)1 << 20)

const char *const kc__audit_level_names[KC__AUDIT_LEVELS] = {"None", "Metadata", "Request",
                                                             "RequestResponse"};
const char *const kc__audit_stage_names[KC__AUDIT_STAGES] = {"RequestReceived", "ResponseStarted",
                                                             "ResponseComplete", "Panic"};

typedef struct text_list {
    kc_str *items;
    size_t n;
} text_list;

typedef struct group_resources {
    kc_str group;
    text_list resources, names;
} group_resources;

typedef struct audit_rule {
    text_list users, groups, verbs, namespaces, urls;
    group_resources *resources;
    size_t n_resources;
    kc__audit_decision decision;
} audit_rule;

struct kc__audit_policy {
    kc_arena arena;
    audit_rule *rules;
    size_t n_rules;
    kc__audit_decision otherwise; /* Without a matching rule. */
};

/* ---- reading ---- */

static const kc__config_member resource_members[] = {{"group", KC__CONFIG_STRING, NULL},
                                                     {"resources", KC__CONFIG_STRINGS, NULL},
                                                     {"resourceNames", KC__CONFIG_STRINGS, NULL},
                                                     {0}};
static const kc__config_member rule_members[] = {
    {"level", KC__CONFIG_STRING, NULL},
    {"users", KC__CONFIG_STRINGS, NULL},
    {"userGroups", KC__CONFIG_STRINGS, NULL},
    {"verbs", KC__CONFIG_STRINGS, NULL},
    {"resources", KC__CONFIG_OBJECTS, resource_members},
    {"namespaces", KC__CONFIG_STRINGS, NULL},
    {"nonResourceURLs", KC__CONFIG_STRINGS, NULL},
    {"omitStages", KC__CONFIG_STRINGS, NULL},
    {"omitManagedFields", KC__CONFIG_BOOL, NULL},
    {0}};
static const kc__config_member policy_members[] = {{"metadata", KC__CONFIG_ANY, NULL},
                                                   {"rules", KC__CONFIG_OBJECTS, rule_members},
                                                   {"omitStages", KC__CONFIG_STRINGS, NULL},
                                                   {"omitManagedFields", KC__CONFIG_BOOL, NULL},
                                                   {0}};
static const char *const policy_versions[] = {"audit.k8s.io/v1", NULL};
static const kc__config_type policy_type = {policy_versions, "Policy", policy_members};

static text_list read_texts(kc_arena *arena, const kc_value *list)
{
    text_list texts = {kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(kc_str)), 0};
    kc_value_each_item (list, item)
        texts.items[texts.n++] = kc_arena_str(arena, kc_value_as_str(item));
    return texts;
}

static int name_index(kc_str text, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (kc_str_is(text, names[i]))
            return i;
    return -1;
}

static unsigned read_stages(const kc_value *list)
{
    unsigned stages = 0;
    kc_value_each_item (list, item) {
        const int stage =
            name_index(kc_value_as_str(item), kc__audit_stage_names, KC__AUDIT_STAGES);
        stages |= stage >= 0 ? 1u << stage : 0;
    }
    return stages;
}

static void read_group_resources(kc_arena *arena, const kc_value *value, group_resources *ret)
{
    ret->group = kc_arena_str(arena, kc_value_as_str(kc_value_get(value, "group")));
    ret->resources = read_texts(arena, kc_value_get(value, "resources"));
    ret->names = read_texts(arena, kc_value_get(value, "resourceNames"));
}

static void read_rule(kc__audit_policy *policy, const kc_value *value, audit_rule *ret)
{
    kc_arena *arena = &policy->arena;
    const kc_value *resources = kc_value_get(value, "resources");
    const int level = name_index(kc_value_as_str(kc_value_get(value, "level")),
                                 kc__audit_level_names, KC__AUDIT_LEVELS);
    ret->users = read_texts(arena, kc_value_get(value, "users"));
    ret->groups = read_texts(arena, kc_value_get(value, "userGroups"));
    ret->verbs = read_texts(arena, kc_value_get(value, "verbs"));
    ret->namespaces = read_texts(arena, kc_value_get(value, "namespaces"));
    ret->urls = read_texts(arena, kc_value_get(value, "nonResourceURLs"));
    ret->resources = kc_arena_calloc(arena, kc_value_len(resources) + 1, sizeof(*ret->resources));
    kc_value_each_item (resources, item)
        read_group_resources(arena, item, &ret->resources[ret->n_resources++]);
    ret->decision = (kc__audit_decision){
        .level = level < 0 ? KC__AUDIT_NONE : (kc__audit_level)level,
        .omit_stages =
            policy->otherwise.omit_stages | read_stages(kc_value_get(value, "omitStages")),
        .omit_managed_fields = kc_value_as_bool(kc_value_get(value, "omitManagedFields"),
                                                policy->otherwise.omit_managed_fields)};
}

/* ---- validation ---- */

static void check_stages(const kc_value *list, const char *field, kc_field_errors *errors)
{
    size_t i = 0;
    kc_value_each_item (list, stage) {
        kc_autofree char *at = kc_asprintf("%s[%zu]", field, i++);
        if (name_index(kc_value_as_str(stage), kc__audit_stage_names, KC__AUDIT_STAGES) < 0)
            kc_field_errors_add_value(
                errors, KC_FIELD_INVALID, at, stage,
                "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic");
    }
}

static void check_level(const kc_value *level, const char *field, kc_field_errors *errors)
{
    if (!kc_value_as_str(level).n)
        kc_field_errors_add(errors, KC_FIELD_REQUIRED, field, (kc_str){0}, NULL);
    else if (name_index(kc_value_as_str(level), kc__audit_level_names, KC__AUDIT_LEVELS) < 0)
        kc_field_errors_add_value(errors, KC_FIELD_NOT_SUPPORTED, field, level,
                                  "supported values: \"None\", \"Metadata\", \"Request\", "
                                  "\"RequestResponse\"");
}

static void check_urls(const kc_value *urls, const char *field, kc_field_errors *errors)
{
    size_t i = 0;
    kc_value_each_item (urls, url) {
        kc_autofree char *at = kc_asprintf("%s[%zu]", field, i++);
        const kc_str text = kc_value_as_str(url);
        if (kc_str_is(text, "*"))
            continue;
        if (!kc_str_starts(text, KC_STR("/")))
            kc_field_errors_add_value(errors, KC_FIELD_INVALID, at, url,
                                      "non-resource URL rules must begin with a '/' character");
        if (text.n && kc_str_find(kc_str_sub(text, 0, text.n - 1), '*') >= 0)
            kc_field_errors_add_value(
                errors, KC_FIELD_INVALID, at, url,
                "non-resource URL wildcards '*' must be the final character of the rule");
    }
}

static void check_group_name(const kc_value *group, const char *field, kc_field_errors *errors)
{
    kc_scoped(kc_field_errors) found = {0};
    if (!kc_value_as_str(group).n)
        return;
    kc_validate_name(&found, field, KC_NAME_DNS_SUBDOMAIN, kc_value_as_str(group));
    kc_field_errors_merge(errors, &found);
}

static void check_rule_resources(const kc_value *list, const char *field, kc_field_errors *errors)
{
    kc_autofree char *group = kc_asprintf("%s.group", field);
    kc_autofree char *names = kc_asprintf("%s.resourceNames", field);
    kc_value_each_item (list, item) {
        check_group_name(kc_value_get(item, "group"), group, errors);
        if (kc_value_len(kc_value_get(item, "resourceNames")) &&
            !kc_value_len(kc_value_get(item, "resources")))
            kc_field_errors_add_value(errors, KC_FIELD_INVALID, names,
                                      kc_value_get(item, "resourceNames"),
                                      "using resourceNames requires at least one resource");
    }
}

static void check_rule(const kc_value *rule, size_t i, kc_field_errors *errors)
{
    kc_autofree char *level = kc_asprintf("rules[%zu].level", i);
    kc_autofree char *urls = kc_asprintf("rules[%zu].nonResourceURLs", i);
    kc_autofree char *resources = kc_asprintf("rules[%zu].resources", i);
    kc_autofree char *stages = kc_asprintf("rules[%zu].omitStages", i);
    const kc_value *given = kc_value_get(rule, "nonResourceURLs");
    check_level(kc_value_get(rule, "level"), level, errors);
    check_urls(given, urls, errors);
    check_rule_resources(kc_value_get(rule, "resources"), resources, errors);
    check_stages(kc_value_get(rule, "omitStages"), stages, errors);
    if (kc_value_len(given) && (kc_value_len(kc_value_get(rule, "resources")) ||
                                kc_value_len(kc_value_get(rule, "namespaces"))))
        kc_field_errors_add_value(
            errors, KC_FIELD_INVALID, urls, given,
            "rules cannot apply to both regular resources and non-resource URLs");
}

static int check_audit_policy(const kc_value *root, kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    size_t i = 0;
    check_stages(kc_value_get(root, "omitStages"), "omitStages", &errors);
    kc_value_each_item (kc_value_get(root, "rules"), rule)
        check_rule(rule, i++, &errors);
    if (kc__config_errors(&errors, err) < 0)
        return kc_error_result(err);
    return i ? 0 : kc_error_set(err, KC_INVALID, "loaded illegal policy with 0 rules");
}

/* ---- the whole policy ---- */

static kc__audit_policy *policy_of(const kc_value *root)
{
    const kc_value *rules = kc_value_get(root, "rules");
    kc__audit_policy *policy = kc_new(kc__audit_policy);
    policy->otherwise = (kc__audit_decision){
        .omit_stages = read_stages(kc_value_get(root, "omitStages")),
        .omit_managed_fields = kc_value_as_bool(kc_value_get(root, "omitManagedFields"), false)};
    policy->rules = kc_arena_calloc(&policy->arena, kc_value_len(rules) + 1, sizeof(audit_rule));
    kc_value_each_item (rules, rule)
        read_rule(policy, rule, &policy->rules[policy->n_rules++]);
    return policy;
}

static kc_view *parse_leniently(kc_str text, kc_log *log, kc_error *err)
{
    kc_scoped(kc_error) strict = {0};
    kc_view *view = kc__config_parse(text, &policy_type, &strict);
    if (view)
        return view;
    if (strncmp(kc_error_text(&strict), "strict decoding error", 21) != 0) {
        kc_error_set(err, KC_INVALID, "failed decoding: %s", kc_error_text(&strict));
        return NULL;
    }
    kc_log_warn(log, "audit policy contains errors, falling back to lenient decoding",
                kc_kv("err", &strict));
    return kc_yaml_parse(text, NULL, err);
}

kc__audit_policy *kc__audit_policy_parse(kc_str text, kc_log *log, kc_error *err)
{
    kc_auto(kc_view) *view = parse_leniently(text, log, err);
    if (!view || check_audit_policy(kc_view_root(view), err) < 0)
        return NULL;
    return policy_of(kc_view_root(view));
}

kc__audit_policy *kc__audit_policy_read(const char *path, kc_log *log, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) why = {0};
    if (kc_file_read(path, MAX_POLICY_BYTES, &text, &why) < 0) {
        kc_error_set(err, why.reason, "loading audit policy file: %s", kc_error_text(&why));
        return NULL;
    }
    kc__audit_policy *policy = kc__audit_policy_parse(kc_buf_str(&text), log, &why);
    if (!policy)
        kc_error_set(err, KC_INVALID, "loading audit policy file: %s: from file %s",
                     kc_error_text(&why), path);
    return policy;
}

kc__audit_policy *kc__audit_policy_free(kc__audit_policy *policy)
{
    if (!policy)
        return NULL;
    kc_arena_done(&policy->arena);
    free(policy);
    return NULL;
}

/* ---- evaluation ---- */

static bool policy_list_has(const text_list *list, kc_str text)
{
    for (size_t i = 0; i < list->n; i++)
        if (kc_str_eq(list->items[i], text))
            return true;
    return false;
}

static bool has_group(const text_list *list, const kc__user *user)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (policy_list_has(list, user->groups[i]))
            return true;
    return false;
}

static bool path_matches(kc_str path, kc_str spec)
{
    if (kc_str_is(spec, "*") || kc_str_eq(path, spec))
        return true;
    if (!kc_str_ends(spec, KC_STR("*")))
        return false;
    while (spec.n && spec.p[spec.n - 1] == '*')
        spec.n--;
    return kc_str_starts(path, spec);
}

static bool urls_match(const text_list *urls, const kc__audit_attributes *a)
{
    for (size_t i = 0; i < urls->n && !a->is_resource; i++)
        if (path_matches(a->path, urls->items[i]))
            return true;
    return false;
}

/* "pods", "pods/log", "*", "pods/" and "*" + "/log" with wildcards on either side. */
static bool resource_matches(kc_str spec, const kc__audit_attributes *a)
{
    const ptrdiff_t slash = kc_str_find(spec, '/');
    if (kc_str_is(spec, "*"))
        return true;
    if (slash < 0)
        return !a->subresource.n && kc_str_eq(spec, a->resource);
    const kc_str resource = kc_str_sub(spec, 0, (size_t)slash),
                 part = kc_str_sub(spec, (size_t)slash + 1, spec.n);
    if (kc_str_is(part, "*") && kc_str_eq(resource, a->resource))
        return true;
    if (!a->subresource.n || !kc_str_eq(part, a->subresource))
        return false;
    return kc_str_is(resource, "*") || kc_str_eq(resource, a->resource);
}

static bool group_matches(const group_resources *g, const kc__audit_attributes *a)
{
    if (!kc_str_eq(g->group, a->group))
        return false;
    if (!g->resources.n)
        return true;
    if (g->names.n && !policy_list_has(&g->names, a->name))
        return false;
    for (size_t i = 0; i < g->resources.n; i++)
        if (resource_matches(g->resources.items[i], a))
            return true;
    return false;
}

static bool resources_match(const audit_rule *rule, const kc__audit_attributes *a)
{
    if (!a->is_resource || (rule->namespaces.n && !policy_list_has(&rule->namespaces, a->ns)))
        return false;
    for (size_t i = 0; i < rule->n_resources; i++)
        if (group_matches(&rule->resources[i], a))
            return true;
    return !rule->n_resources;
}

static bool rule_matches(const audit_rule *rule, const kc__audit_attributes *a)
{
    if ((rule->users.n && !policy_list_has(&rule->users, a->user->name)) ||
        (rule->groups.n && !has_group(&rule->groups, a->user)) ||
        (rule->verbs.n && !policy_list_has(&rule->verbs, a->verb)))
        return false;
    if (rule->namespaces.n || rule->n_resources)
        return resources_match(rule, a);
    return !rule->urls.n || urls_match(&rule->urls, a);
}

kc__audit_decision kc__audit_policy_decide(const kc__audit_policy *policy,
                                           const kc__audit_attributes *attributes)
{
    for (size_t i = 0; i < policy->n_rules; i++)
        if (rule_matches(&policy->rules[i], attributes))
            return policy->rules[i].decision;
    return policy->otherwise;
}
