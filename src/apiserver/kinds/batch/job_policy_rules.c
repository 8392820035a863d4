/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_policy_rules.c: validates the policies that decide when a Job has failed or succeeded:
 * podFailurePolicy with rules about exit codes and pod conditions, and successPolicy with rules
 * about succeeded indexes.
 */
#include "apiserver/kinds/batch/job_rules.h"
#include "apiserver/kinds/internal_form.h"

#include <stdio.h>

#define MAX_RULES         20
#define MAX_CODES         255
#define MAX_INDEXES_BYTES (64 * 1024)

/* ---- podFailurePolicy ---- */

static const char *const actions[] = {"Count", "FailIndex", "FailJob", "Ignore", NULL};
static const char *const operators[] = {"In", "NotIn", NULL};
static const char *const statuses[] = {"False", "True", "Unknown", NULL};

static void check_action(const kc__location *action, bool per_index)
{
    if (!kc__location_is_set(action))
        kc__location_error(action, KC_FIELD_REQUIRED,
                           "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    else if (kc__location_text_is(action, "FailIndex") && !per_index)
        kc__location_error(action, KC_FIELD_INVALID, "requires the backoffLimitPerIndex to be set");
    else
        kc__validate_one_of(action, actions);
}

static void too_many(const kc__location *list, size_t most)
{
    if (kc_value_len(list->value) > most)
        kc__location_error_json(
            list, KC_FIELD_TOO_MANY,
            kc_arena_printf(&list->errors->arena, "%zu", kc_value_len(list->value)),
            "must have at most %zu items", most);
}

static void check_codes(const kc__location *values, bool in)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    int64_t last = INT64_MIN;
    bool ordered = true;
    if (!kc_value_len(values->value))
        kc__location_error_json(values, KC_FIELD_INVALID, "[]", "at least one value is required");
    too_many(values, MAX_CODES);
    kc_value_each_item (values->value, value) {
        kc__location code = kc__location_item(values, value, i++);
        const char *key =
            kc_arena_printf(&code.errors->arena, "%lld", (long long)kc__location_number(&code));
        if (in && !kc__location_number(&code))
            kc__location_error(&code, KC_FIELD_INVALID, "must not be 0 for the In operator");
        if (kc_map_put(&seen, kc_cstr(key), &seen))
            kc__location_error(&code, KC_FIELD_DUPLICATE, NULL);
        ordered = ordered && last <= kc__location_number(&code);
        last = kc__location_number(&code);
    }
    if (!ordered)
        kc__location_error(values, KC_FIELD_INVALID, "must be ordered");
}

static void check_exit_codes(const kc__location *codes, const kc_map *containers)
{
    kc__location op = kc__location_member(codes, "operator"),
                 name = kc__location_member(codes, "containerName");
    kc__location values = kc__location_member(codes, "values");
    if (!codes->value)
        return;
    if (!kc__location_is_set(&op))
        kc__location_error(&op, KC_FIELD_REQUIRED, "valid values: [\"In\" \"NotIn\"]");
    else
        kc__validate_one_of(&op, operators);
    if (name.value && !kc_map_get(containers, kc__location_text(&name)))
        kc__location_error(
            &name, KC_FIELD_INVALID,
            "must be one of the container or initContainer names in the pod template");
    check_codes(&values, kc__location_text_is(&op, "In"));
}

static const kc__validate_rule condition_[] = {
    {"type", .name = &kc__validate_name_qualified},
    {"status", .required = "valid values: [\"False\" \"True\" \"Unknown\"]", .one_of = statuses},
};
static const kc__validate_rule_table condition = KC__VALIDATE_RULES(condition_);

/* Errors about the whole rule show no value. */
static void check_failure_rule(const kc__location *rule, bool per_index, const kc_map *containers)
{
    kc__location action = kc__location_member(rule, "action"),
                 codes = kc__location_member(rule, "onExitCodes");
    kc__location conditions = kc__location_member(rule, "onPodConditions");
    check_action(&action, per_index);
    check_exit_codes(&codes, containers);
    too_many(&conditions, MAX_RULES);
    kc__validate_items_by_rules(&condition, &conditions);
    if (codes.value && kc__location_is_set(&conditions))
        kc__location_error_json(rule, KC_FIELD_INVALID, "",
                                "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!codes.value && !kc__location_is_set(&conditions))
        kc__location_error_json(rule, KC_FIELD_INVALID, "",
                                "specifying one of OnExitCodes and OnPodConditions is required");
}

static void gather_names(const kc_value *pod, kc_map *ret_names)
{
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t l = 0; l < KC_COUNT(lists); l++)
        kc_value_each_item (kc_value_get(pod, lists[l]), container)
            kc_map_put(ret_names, kc_value_as_str(kc_value_get(container, "name")),
                       (void *)container);
}

void kc__validate_failure_policy(const kc__location *spec)
{
    kc__location policy = kc__location_member(spec, "podFailurePolicy"),
                 rules = kc__location_member(&policy, "rules");
    bool per_index = kc__location_member(spec, "backoffLimitPerIndex").value;
    kc_scoped(kc_map) containers = {0};
    size_t i = 0;
    too_many(&rules, MAX_RULES);
    gather_names(kc_value_get(kc_value_get(spec->value, "template"), "spec"), &containers);
    kc_value_each_item (rules.value, value) {
        kc__location rule = kc__location_item(&rules, value, i++);
        check_failure_rule(&rule, per_index, &containers);
    }
}

/* ---- successPolicy ---- */

typedef struct indexes {
    int64_t completions, last, total;
    char why[160];
} indexes;

static bool read_index(indexes *all, kc_str text, int64_t *ret)
{
    if (!kc_str_to_i64(text, ret)) {
        snprintf(all->why, sizeof(all->why), "cannot convert string to integer for index: \"%.*s\"",
                 (int)KC_MIN(text.n, 80), text.p);
        return false;
    }
    if (*ret < all->completions)
        return true;
    snprintf(all->why, sizeof(all->why), "too large index: \"%.*s\"", KC_ARG(text));
    return false;
}

static bool check_order(indexes *all, int64_t before, int64_t now)
{
    if (before < now)
        return true;
    snprintf(all->why, sizeof(all->why), "non-increasing order, previous: %lld, current: %lld",
             (long long)before, (long long)now);
    return false;
}

/* Parses an interval: "3" or "3-5". */
static bool read_interval(indexes *all, kc_str text)
{
    kc_str rest = text, first = kc_str_cut(&rest, '-');
    int64_t low = 0, high = 0;
    if (kc_str_find(rest, '-') >= 0) {
        snprintf(
            all->why, sizeof(all->why),
            "the fragment \"%.*s\" violates the requirement that an index interval can have at "
            "most two parts separated by '-'",
            (int)KC_MIN(text.n, 30), text.p);
        return false;
    }
    if (!read_index(all, first, &low))
        return false;
    high = low;
    if (rest.p && (!read_index(all, rest, &high) || !check_order(all, low, high)))
        return false;
    if (!check_order(all, all->last, low))
        return false;
    all->total += high - low + 1;
    all->last = high;
    return true;
}

/* Returns the number of indexes; 0 if the text is invalid. */
static int64_t check_indexes(const kc__location *list, int64_t completions)
{
    indexes all = {.completions = completions, .last = -1};
    kc_str rest = kc__location_text(list);
    if (rest.n > MAX_INDEXES_BYTES)
        kc__location_error(list, KC_FIELD_TOO_LONG, "may not be more than %d bytes",
                           MAX_INDEXES_BYTES);
    while (rest.n) {
        if (read_interval(&all, kc_str_cut(&rest, ',')))
            continue;
        kc__location_error(list, KC_FIELD_INVALID, "error parsing succeededIndexes: %s", all.why);
        return 0;
    }
    return all.total;
}

static void check_success_rule(const kc__location *rule, int64_t completions)
{
    kc__location count = kc__location_member(rule, "succeededCount");
    kc__location list = kc__location_member(rule, "succeededIndexes");
    if (!count.value && !list.value)
        kc__location_error(rule, KC_FIELD_REQUIRED,
                           "at least one of succeededCount or succeededIndexes must be specified");
    int64_t total = list.value ? check_indexes(&list, completions) : 0;
    if (!count.value)
        return;
    kc__validate_at_least_0(&count);
    if (kc__location_number(&count) > completions)
        kc__location_error(
            &count, KC_FIELD_INVALID,
            "must be less than or equal to %lld (the number of specified completions)",
            (long long)completions);
    if (list.value && kc__location_number(&count) > total)
        kc__location_error(
            &count, KC_FIELD_INVALID,
            "must be less than or equal to %lld (the number of indexes in the specified "
            "succeededIndexes field)",
            (long long)total);
}

void kc__validate_success_policy(const kc__location *spec)
{
    kc__location policy = kc__location_member(spec, "successPolicy"),
                 rules = kc__location_member(&policy, "rules");
    kc__location completions = kc__location_member(spec, "completions");
    size_t i = 0;
    if (!policy.value)
        return;
    if (!kc_str_is(kc__location_member_text(spec, "completionMode"), "Indexed")) {
        kc__location_error_json(&policy, KC_FIELD_INVALID,
                                kc__internal_form_json("io.k8s.api.batch.v1.SuccessPolicy",
                                                       policy.value, &policy.errors->arena),
                                "requires indexed completion mode");
        return;
    }
    if (!kc__location_is_set(&rules))
        kc__location_error(
            &rules, KC_FIELD_REQUIRED,
            "at least one rules must be specified when the successPolicy is specified");
    too_many(&rules, MAX_RULES);
    kc_value_each_item (rules.value, value) {
        kc__location rule = kc__location_item(&rules, value, i++);
        check_success_rule(&rule, kc__location_number(&completions));
    }
}
