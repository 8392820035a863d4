/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_config.c: compiles the configurations of admission webhooks. They were validated and
 * defaulted when they were stored; members that are missing nevertheless get their default here,
 * too.
 *
 * A set takes over every configuration of the previous set whose stored object is still the same
 * object. Both are sorted by name, so one pass over both finds them, and a change costs the
 * compilation of one configuration, however many there are.
 */
#include "apiserver/admission/webhooks/webhook_config.h"

#include "apiserver/admission/webhooks/webhook_conditions.h"

#include "kc/arena.h"
#include "kc/view.h"

enum { DEFAULT_TIMEOUT = 10 };

static kc_selector *selector_of(const kc_value *selector)
{
    return selector ? kc_selector_of(selector, NULL) : NULL;
}

/* Whether the first supported version in admissionReviewVersions is v1beta1. */
static bool wants_beta(const kc_value *versions)
{
    kc_value_each_item (versions, version) {
        if (kc_str_is(kc_value_as_str(version), "v1"))
            return false;
        if (kc_str_is(kc_value_as_str(version), "v1beta1"))
            return true;
    }
    return false;
}

static bool member_is(const kc_value *object, const char *name, const char *text)
{
    return kc_str_is(kc_value_as_str(kc_value_get(object, name)), text);
}

static kc__admission_webhook read_hook(kc_arena *arena, const kc_value *webhook, bool mutates)
{
    kc__admission_webhook hook = {
        .name = kc_value_as_str(kc_value_get(webhook, "name")),
        .criteria = {.rules = kc__admission_rules_read(arena, kc_value_get(webhook, "rules")),
                     .namespaces = selector_of(kc_value_get(webhook, "namespaceSelector")),
                     .objects = selector_of(kc_value_get(webhook, "objectSelector")),
                     .equivalent = !member_is(webhook, "matchPolicy", "Exact")},
        .ignored = member_is(webhook, "failurePolicy", "Ignore"),
        .reinvoked = member_is(webhook, "reinvocationPolicy", "IfNeeded"),
        .dry = member_is(webhook, "sideEffects", "None") ||
               member_is(webhook, "sideEffects", "NoneOnDryRun"),
        .conditions =
            kc__admission_webhook_conditions_new(kc_value_get(webhook, "matchConditions")),
        .mutates = mutates,
        .beta = wants_beta(kc_value_get(webhook, "admissionReviewVersions")),
        .timeout = kc_value_as_i64_or(kc_value_get(webhook, "timeoutSeconds"), DEFAULT_TIMEOUT) *
                   KC_SECOND,
    };
    kc__hook_target_read(arena, kc_value_get(webhook, "clientConfig"), &hook.target);
    return hook;
}

/* ---- configurations ---- */

struct kc__admission_webhook_config {
    kc_ref refs;
    kc_object *object; /* The stored configuration; its address identifies it. */
    kc_view *view;     /* The strings of the webhooks are slices of it, or in the arena. */
    kc_arena arena;
    size_t n_hooks;
    kc__admission_webhook hooks[];
};

static kc__admission_webhook_config *config_new(const kc_object *object, bool mutates)
{
    kc_view *view = kc_view_of(object);
    const kc_value *webhooks = kc_value_get(kc_view_root(view), "webhooks");
    kc__admission_webhook_config *config =
        kc_calloc(1, sizeof(*config) + kc_value_len(webhooks) * sizeof(config->hooks[0]));
    kc_ref_init(&config->refs);
    config->object = kc_object_ref(object);
    config->view = view;
    kc_value_each_item (webhooks, webhook) {
        config->hooks[config->n_hooks] = read_hook(&config->arena, webhook, mutates);
        config->hooks[config->n_hooks++].configuration = kc_object_name(config->object);
    }
    return config;
}

static kc__admission_webhook_config *config_ref(kc__admission_webhook_config *config)
{
    kc_ref_add(&config->refs);
    return config;
}

static void config_unref(kc__admission_webhook_config *config)
{
    if (!kc_ref_drop(&config->refs))
        return;
    for (size_t i = 0; i < config->n_hooks; i++) {
        kc__admission_criteria_done(&config->hooks[i].criteria);
        kc__admission_webhook_conditions_free(config->hooks[i].conditions);
    }
    kc_view_free(config->view);
    kc_arena_done(&config->arena);
    kc_object_unref(config->object);
    free(config);
}

/* ---- sets ---- */

/* The configurations of one kind in a set. */
typedef struct config_list {
    kc__admission_webhook_config *const *items;
    size_t n;
} config_list;

/* The configuration of `object`: that of the previous set, which the caller reads in the order of
 * names, or a new one. */
static kc__admission_webhook_config *config_of(const kc_object *object, bool mutates,
                                               config_list *before)
{
    const kc_str name = kc_object_name(object);
    while (before->n && kc_str_cmp(kc_object_name(before->items[0]->object), name) < 0) {
        before->items++;
        before->n--;
    }
    return before->n && before->items[0]->object == object ? config_ref(before->items[0])
                                                           : config_new(object, mutates);
}

static void add_mutating(kc__admission_webhook_set *set, kc__admission_webhook_config *config)
{
    kc_vec_push(&set->mutating_configs, config);
    for (size_t i = 0; i < config->n_hooks; i++)
        kc_vec_push(&set->mutating, &config->hooks[i]);
}

static void add_validating(kc__admission_webhook_set *set, kc__admission_webhook_config *config)
{
    kc_vec_push(&set->validating_configs, config);
    for (size_t i = 0; i < config->n_hooks; i++)
        kc_vec_push(&set->validating, &config->hooks[i]);
}

static void add_all(kc__admission_webhook_set *set, const kc__cow_snapshot *configurations,
                    bool mutates, config_list before)
{
    if (!configurations)
        return;
    kc__cow_iter at = kc__cow_iter_start(configurations, NULL);
    while (kc__cow_iter_next(&at)) {
        kc__admission_webhook_config *config = config_of(at.object, mutates, &before);
        if (mutates)
            add_mutating(set, config);
        else
            add_validating(set, config);
    }
}

kc__admission_webhook_set *kc__admission_webhook_set_new(const kc__cow_snapshot *mutating,
                                                         const kc__cow_snapshot *validating,
                                                         const kc__admission_webhook_set *before)
{
    kc__admission_webhook_set *set = kc_new(kc__admission_webhook_set);
    config_list were_mutating = {0}, were_validating = {0};
    kc_ref_init(&set->refs);
    if (before) {
        were_mutating = (config_list){before->mutating_configs.items, before->mutating_configs.n};
        were_validating =
            (config_list){before->validating_configs.items, before->validating_configs.n};
    }
    add_all(set, mutating, true, were_mutating);
    add_all(set, validating, false, were_validating);
    return set;
}

kc__admission_webhook_set *kc__admission_webhook_set_ref(kc__admission_webhook_set *set)
{
    kc_ref_add(&set->refs);
    return set;
}

kc__admission_webhook_set *kc__admission_webhook_set_unref(kc__admission_webhook_set *set)
{
    if (!set || !kc_ref_drop(&set->refs))
        return NULL;
    kc_vec_each (&set->mutating_configs, config)
        config_unref(*config);
    kc_vec_each (&set->validating_configs, config)
        config_unref(*config);
    kc_vec_done(&set->mutating_configs);
    kc_vec_done(&set->validating_configs);
    kc_vec_done(&set->mutating);
    kc_vec_done(&set->validating);
    free(set);
    return NULL;
}
