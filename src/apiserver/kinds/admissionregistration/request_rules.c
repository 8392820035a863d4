/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rules.c: validates rules that select requests, and match conditions. Webhook
 * configurations and admission policies share both.
 */
#include "apiserver/kinds/admissionregistration/request_rules.h"

#include "object/gofmt/go_quote.h"

enum { MAX_MATCH_CONDITIONS = 64 };

const char *const kc__validate_failure_policies[] = {"Fail", "Ignore", NULL};
const char *const kc__validate_match_policies[] = {"Equivalent", "Exact", NULL};
const char *const kc__validate_reinvocation_policies[] = {"IfNeeded", "Never", NULL};

static const char *const operations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL};
static const char *const scopes[] = {"*", "Cluster", "Namespaced", NULL};

static const kc__defaults_entry rule_defaults_[] = {{.field = "scope", .json = "\"*\""}};
const kc__defaults kc__defaults_request_rule = KC__DEFAULTS(rule_defaults_);

/* ---- rules ---- */

static void check_stars(const kc__location *list, const char *what)
{
    bool star = false;
    kc_value_each_item (list->value, item)
        star = star || kc_str_is(kc_value_as_str(item), "*");
    if (!kc_value_len(list->value))
        kc__location_error(list, KC_FIELD_REQUIRED, NULL);
    else if (star && kc_value_len(list->value) > 1)
        kc__location_error(list, KC_FIELD_INVALID, "if '*' is present, must not specify other %s",
                           what);
}

static void check_operations(const kc__location *list)
{
    size_t i = 0;
    check_stars(list, "operations");
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        bool known = false;
        for (size_t j = 0; operations[j]; j++)
            known = known || kc__location_text_is(&item, operations[j]);
        if (!known)
            kc__location_not_supported(&item, operations);
    }
}

static void check_groups(const kc__location *list)
{
    check_stars(list, "API groups");
}

static void check_versions(const kc__location *list)
{
    size_t i = 0;
    check_stars(list, "API versions");
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        if (!kc__location_is_set(&item))
            kc__location_error(&item, KC_FIELD_REQUIRED, NULL);
    }
}

typedef struct wildcards {
    kc_map resources;       /* pods/…: all subresources of pods. */
    kc_map subresources;    /* …/status: the status of all resources. */
    bool all, plain, other; /* All resources and subresources; all resources; a single resource. */
} wildcards;

/* Reports a resource that an earlier entry already covers. */
static void check_webhook_resource(const kc__location *item, wildcards *seen)
{
    kc_str sub = kc__location_text(item), name = kc_str_cut(&sub, '/');
    seen->all = seen->all || kc__location_text_is(item, "*/*");
    seen->plain = seen->plain || kc__location_text_is(item, "*");
    if (!sub.p) {
        seen->other = !kc__location_text_is(item, "*");
        return;
    }
    if (kc_map_get(&seen->resources, name))
        kc__location_error(item, KC_FIELD_INVALID, "if '%.*s/*' is present, must not specify %.*s",
                           KC_ARG(name), KC_ARG(kc__location_text(item)));
    if (kc_map_get(&seen->subresources, sub))
        kc__location_error(item, KC_FIELD_INVALID, "if '*/%.*s' is present, must not specify %.*s",
                           KC_ARG(sub), KC_ARG(kc__location_text(item)));
    if (kc_str_is(sub, "*"))
        kc_map_put(&seen->resources, name, seen);
    if (kc_str_is(name, "*"))
        kc_map_put(&seen->subresources, sub, seen);
}

static void check_resources(const kc__location *list)
{
    wildcards seen = {0};
    size_t i = 0;
    if (!kc__location_is_set(list))
        kc__location_error(list, KC_FIELD_REQUIRED, NULL);
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        if (kc__location_is_set(&item))
            check_webhook_resource(&item, &seen);
        else
            kc__location_error(&item, KC_FIELD_REQUIRED, NULL);
    }
    if (seen.all && i > 1)
        kc__location_error(list, KC_FIELD_INVALID,
                           "if '*/*' is present, must not specify other resources");
    if (seen.plain && seen.other)
        kc__location_error(
            list, KC_FIELD_INVALID,
            "if '*' is present, must not specify other resources without subresources");
    kc_map_done(&seen.resources);
    kc_map_done(&seen.subresources);
}

static const kc__validate_rule request_rule_[] = {
    {"operations", .code = check_operations},
    {"apiGroups", .code = check_groups},
    {"apiVersions", .code = check_versions},
    {"resources", .code = check_resources},
    {"scope", .one_of = scopes},
};
const kc__validate_rule_table kc__validate_request_rule = KC__VALIDATE_RULES(request_rule_);

/* ---- match conditions ---- */

void kc__validate_invalid_text(const kc__location *location, kc_str text, const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    if (kc_field_errors_is_full(location->errors)) {
        location->errors->dropped++;
        return;
    }
    kc__go_quote(&quoted, text);
    kc_field_errors_add(location->errors, KC_FIELD_INVALID, kc__location_path(location),
                        kc_buf_str(&quoted), "%s", detail);
}

void kc__validate_expression_failure(const kc__location *location, kc_str text,
                                     const kc__expression_failure *failure)
{
    kc_scoped(kc_buf) detail = {0};
    kc_buf_append(&detail, kc_buf_str(&failure->detail));
    if (failure->internal)
        kc__location_error(location, KC_FIELD_INTERNAL, "%s", kc_buf_cstr(&detail));
    else
        kc__validate_invalid_text(location, text, kc_buf_cstr(&detail));
}

static void check_condition_expression(const kc__location *location,
                                       const kc__expression_scope *scope, bool has_params,
                                       const kc_map *stored)
{
    const kc_str text = kc_str_trim(kc__location_text(location));
    kc__expression_failure failure = {0};
    if (kc_str_empty(text)) {
        kc__location_error(location, KC_FIELD_REQUIRED, NULL);
        return;
    }
    const kc__expression_opts opts = {.result = KC__EXPRESSION_BOOL,
                                      .has_params = has_params,
                                      .has_authorizer = true,
                                      .stored = stored && kc_map_get(stored, text)};
    kc_auto(kc_cel_program) *program = kc__expression_compile(scope, text, &opts, &failure);
    if (!program)
        kc__validate_expression_failure(location, text, &failure);
    kc__expression_failure_done(&failure);
}

static void check_condition(const kc__location *condition, const kc__expression_scope *scope,
                            bool has_params, const kc_map *stored, kc_map *names)
{
    const kc__location name = kc__location_member(condition, "name"),
                       expression = kc__location_member(condition, "expression");
    check_condition_expression(&expression, scope, has_params, stored);
    if (!kc__location_is_set(&name)) {
        kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_name(&name, KC_NAME_QUALIFIED);
    kc__validate_unique(&name, names);
}

void kc__validate_match_conditions(const kc__location *conditions, bool has_params,
                                   const kc_map *stored)
{
    kc_scoped(kc_map) names = {0};
    const size_t n = kc_value_len(conditions->value);
    size_t i = 0;
    if (!n)
        return;
    kc_auto(kc__expression_env) *env = kc__expression_env_new();
    kc__expression_scope scope;
    kc__expression_scope_init(&scope, env, NULL, false);
    if (n > MAX_MATCH_CONDITIONS)
        kc__location_error_json(conditions, KC_FIELD_TOO_MANY,
                                kc_arena_printf(&conditions->errors->arena, "%zu", n),
                                "must have at most %d items", MAX_MATCH_CONDITIONS);
    kc_value_each_item (conditions->value, value) {
        const kc__location item = kc__location_item(conditions, value, i++);
        check_condition(&item, &scope, has_params, stored, &names);
    }
    kc__expression_scope_done(&scope);
}
