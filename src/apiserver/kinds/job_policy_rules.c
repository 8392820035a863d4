/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_policy_rules.c: when a Job has failed and when it has succeeded, as its policies say: rules
 * about exit codes and conditions of its pods, and about the indexes that are done.
 */
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/job_rules.h"

#include <stdio.h>

#define MAX_RULES         20
#define MAX_CODES         255
#define MAX_INDEXES_BYTES (64 * 1024)

/* ---- failures ---- */

static const char *const actions[] = {"Count", "FailIndex", "FailJob", "Ignore", NULL};
static const char *const operators[] = {"In", "NotIn", NULL};
static const char *const statuses[] = {"False", "True", "Unknown", NULL};

static void check_action(const kc__place *action, bool per_index)
{
    if (!kc__there(action))
        kc__wrong(action, KC_FIELD_REQUIRED,
                  "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    else if (kc__text_is(action, "FailIndex") && !per_index)
        kc__wrong(action, KC_FIELD_INVALID, "requires the backoffLimitPerIndex to be set");
    else
        kc__check_one_of(action, actions);
}

static void too_many(const kc__place *list, size_t most)
{
    if (kc_len(list->value) > most)
        kc__wrong_as(list, KC_FIELD_TOO_MANY,
                     kc_arena_printf(&list->errors->arena, "%zu", kc_len(list->value)),
                     "must have at most %zu items", most);
}

static void check_codes(const kc__place *values, bool in)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    int64_t last = INT64_MIN;
    bool ordered = true;
    if (!kc_len(values->value))
        kc__wrong_as(values, KC_FIELD_INVALID, "[]", "at least one value is required");
    too_many(values, MAX_CODES);
    kc_items (values->value, value) {
        kc__place code = kc__item(values, value, i++);
        const char *key =
            kc_arena_printf(&code.errors->arena, "%lld", (long long)kc__number(&code));
        if (in && !kc__number(&code))
            kc__wrong(&code, KC_FIELD_INVALID, "must not be 0 for the In operator");
        if (kc_map_put(&seen, kc_cstr(key), &seen))
            kc__wrong(&code, KC_FIELD_DUPLICATE, NULL);
        ordered = ordered && last <= kc__number(&code);
        last = kc__number(&code);
    }
    if (!ordered)
        kc__wrong(values, KC_FIELD_INVALID, "must be ordered");
}

static void check_exit_codes(const kc__place *codes, const kc_map *containers)
{
    kc__place op = kc__member(codes, "operator"), name = kc__member(codes, "containerName");
    kc__place values = kc__member(codes, "values");
    if (!codes->value)
        return;
    if (!kc__there(&op))
        kc__wrong(&op, KC_FIELD_REQUIRED, "valid values: [\"In\" \"NotIn\"]");
    else
        kc__check_one_of(&op, operators);
    if (name.value && !kc_map_get(containers, kc__text(&name)))
        kc__wrong(&name, KC_FIELD_INVALID,
                  "must be one of the container or initContainer names in the pod template");
    check_codes(&values, kc__text_is(&op, "In"));
}

static const kc__rule condition_[] = {
    {"type", .name = &kc__qualified_name},
    {"status", .required = "valid values: [\"False\" \"True\" \"Unknown\"]", .one_of = statuses},
};
static const kc__rules condition = KC__RULES(condition_);

/* Errors about the whole show no value. */
static void check_failure_rule(const kc__place *rule, bool per_index, const kc_map *containers)
{
    kc__place action = kc__member(rule, "action"), codes = kc__member(rule, "onExitCodes");
    kc__place conditions = kc__member(rule, "onPodConditions");
    check_action(&action, per_index);
    check_exit_codes(&codes, containers);
    too_many(&conditions, MAX_RULES);
    kc__rules_check_below(&condition, &conditions);
    if (codes.value && kc__there(&conditions))
        kc__wrong_as(rule, KC_FIELD_INVALID, "",
                     "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!codes.value && !kc__there(&conditions))
        kc__wrong_as(rule, KC_FIELD_INVALID, "",
                     "specifying one of OnExitCodes and OnPodConditions is required");
}

static void gather_names(const kc_value *pod, kc_map *ret_names)
{
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t l = 0; l < KC_COUNT(lists); l++)
        kc_items (kc_get(pod, lists[l]), container)
            kc_map_put(ret_names, kc_as_str(kc_get(container, "name")), (void *)container);
}

void kc__check_failure_policy(const kc__place *spec)
{
    kc__place policy = kc__member(spec, "podFailurePolicy"), rules = kc__member(&policy, "rules");
    bool per_index = kc__member(spec, "backoffLimitPerIndex").value;
    kc_scoped(kc_map) containers = {0};
    size_t i = 0;
    too_many(&rules, MAX_RULES);
    gather_names(kc_get(kc_get(spec->value, "template"), "spec"), &containers);
    kc_items (rules.value, value) {
        kc__place rule = kc__item(&rules, value, i++);
        check_failure_rule(&rule, per_index, &containers);
    }
}

/* ---- successes ---- */

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

/* "3" or "3-5". */
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

/* How many there are; 0 where the text is wrong. */
static int64_t check_indexes(const kc__place *list, int64_t completions)
{
    indexes all = {.completions = completions, .last = -1};
    kc_str rest = kc__text(list);
    if (rest.n > MAX_INDEXES_BYTES)
        kc__wrong(list, KC_FIELD_TOO_LONG, "may not be more than %d bytes", MAX_INDEXES_BYTES);
    while (rest.n) {
        if (read_interval(&all, kc_str_cut(&rest, ',')))
            continue;
        kc__wrong(list, KC_FIELD_INVALID, "error parsing succeededIndexes: %s", all.why);
        return 0;
    }
    return all.total;
}

static void check_success_rule(const kc__place *rule, int64_t completions)
{
    kc__place count = kc__member(rule, "succeededCount");
    kc__place list = kc__member(rule, "succeededIndexes");
    if (!count.value && !list.value)
        kc__wrong(rule, KC_FIELD_REQUIRED,
                  "at least one of succeededCount or succeededIndexes must be specified");
    int64_t total = list.value ? check_indexes(&list, completions) : 0;
    if (!count.value)
        return;
    kc__check_at_least_0(&count);
    if (kc__number(&count) > completions)
        kc__wrong(&count, KC_FIELD_INVALID,
                  "must be less than or equal to %lld (the number of specified completions)",
                  (long long)completions);
    if (list.value && kc__number(&count) > total)
        kc__wrong(&count, KC_FIELD_INVALID,
                  "must be less than or equal to %lld (the number of indexes in the specified "
                  "succeededIndexes field)",
                  (long long)total);
}

void kc__check_success_policy(const kc__place *spec)
{
    kc__place policy = kc__member(spec, "successPolicy"), rules = kc__member(&policy, "rules");
    kc__place completions = kc__member(spec, "completions");
    size_t i = 0;
    if (!policy.value)
        return;
    if (!kc_str_is(kc__text_in(spec, "completionMode"), "Indexed")) {
        kc__wrong_as(&policy, KC_FIELD_INVALID,
                     kc__inner_json("io.k8s.api.batch.v1.SuccessPolicy", policy.value,
                                    &policy.errors->arena),
                     "requires indexed completion mode");
        return;
    }
    if (!kc__there(&rules))
        kc__wrong(&rules, KC_FIELD_REQUIRED,
                  "at least one rules must be specified when the successPolicy is specified");
    too_many(&rules, MAX_RULES);
    kc_items (rules.value, value) {
        kc__place rule = kc__item(&rules, value, i++);
        check_success_rule(&rule, kc__number(&completions));
    }
}
