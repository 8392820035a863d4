/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.c: reading configurations of admission webhooks. They were validated and completed when they
 * were stored; what is missing all the same has its default here too.
 */
#include "apiserver/admission/hook.h"

#include "kc/arena.h"
#include "kc/base64.h"
#include "kc/view.h"

enum { DEFAULT_TIMEOUT = 10, HTTPS_PORT = 443 };

static kc__texts texts_of(kc_arena *arena, const kc_value *list)
{
    kc_str *items = kc_arena_calloc(arena, kc_len(list) + 1, sizeof(*items));
    size_t n = 0;
    kc_items (list, item)
        items[n++] = kc_as_str(item);
    return (kc__texts){items, n};
}

static void read_rules(kc__hook_set *set, const kc_value *list, kc__hook *ret)
{
    kc__hook_rule *rules = kc_arena_calloc(set->arena, kc_len(list) + 1, sizeof(*rules));
    kc_items (list, rule)
        rules[ret->n_rules++] =
            (kc__hook_rule){.operations = texts_of(set->arena, kc_get(rule, "operations")),
                            .groups = texts_of(set->arena, kc_get(rule, "apiGroups")),
                            .versions = texts_of(set->arena, kc_get(rule, "apiVersions")),
                            .resources = texts_of(set->arena, kc_get(rule, "resources")),
                            .scope = kc_as_str(kc_get(rule, "scope"))};
    ret->rules = rules;
}

static kc_selector *selector_of(const kc_value *selector)
{
    return selector ? kc_selector_of(selector, NULL) : NULL;
}

static void read_client(kc__hook_set *set, const kc_value *client, kc__hook *ret)
{
    const kc_value *service = kc_get(client, "service");
    kc_scoped(kc_buf) pem = {0};
    ret->url = kc_as_cstr(kc_get(client, "url"), NULL);
    ret->service = kc_as_str(kc_get(service, "name"));
    ret->service_ns = kc_as_str(kc_get(service, "namespace"));
    ret->path = kc_as_str(kc_get(service, "path"));
    ret->port = kc_as_i64_or(kc_get(service, "port"), HTTPS_PORT);
    if (kc_base64_read(&pem, kc_as_str(kc_get(client, "caBundle")), KC_BASE64) && pem.n)
        ret->ca = kc_arena_str(set->arena, kc_buf_str(&pem));
}

/* The first of those it takes that we speak. */
static bool wants_beta(const kc_value *versions)
{
    kc_items (versions, version) {
        if (kc_str_is(kc_as_str(version), "v1"))
            return false;
        if (kc_str_is(kc_as_str(version), "v1beta1"))
            return true;
    }
    return false;
}

static bool says(const kc_value *object, const char *name, const char *text)
{
    return kc_str_is(kc_as_str(kc_get(object, name)), text);
}

static kc__hook read_hook(kc__hook_set *set, const kc_value *webhook, bool mutates)
{
    kc__hook hook = {
        .name = kc_as_str(kc_get(webhook, "name")),
        .namespaces = selector_of(kc_get(webhook, "namespaceSelector")),
        .objects = selector_of(kc_get(webhook, "objectSelector")),
        .equivalent = !says(webhook, "matchPolicy", "Exact"),
        .ignored = says(webhook, "failurePolicy", "Ignore"),
        .again = says(webhook, "reinvocationPolicy", "IfNeeded"),
        .dry = says(webhook, "sideEffects", "None") || says(webhook, "sideEffects", "NoneOnDryRun"),
        .conditions = kc_len(kc_get(webhook, "matchConditions")) > 0,
        .mutates = mutates,
        .beta = wants_beta(kc_get(webhook, "admissionReviewVersions")),
        .timeout = kc_as_i64_or(kc_get(webhook, "timeoutSeconds"), DEFAULT_TIMEOUT) * KC_SECOND,
    };
    read_rules(set, kc_get(webhook, "rules"), &hook);
    read_client(set, kc_get(webhook, "clientConfig"), &hook);
    return hook;
}

static void read_all(kc__hook_set *set, const kc_cow_snapshot *configurations, bool mutates)
{
    if (!configurations)
        return;
    kc_cow_iter at = kc_cow_iter_start(configurations, NULL);
    while (kc_cow_iter_next(&at)) {
        kc_view *view = kc_view_of(at.object);
        kc_vec_push(&set->views, view);
        kc_items (kc_get(kc_view_root(view), "webhooks"), webhook) {
            kc__hook hook = read_hook(set, webhook, mutates);
            if (mutates)
                kc_vec_push(&set->mutating, hook);
            else
                kc_vec_push(&set->validating, hook);
        }
    }
}

kc__hook_set *kc__hook_set_new(const kc_cow_snapshot *mutating, const kc_cow_snapshot *validating)
{
    kc__hook_set *set = kc_new(kc__hook_set);
    kc_ref_init(&set->refs);
    set->arena = kc_new(kc_arena);
    read_all(set, mutating, true);
    read_all(set, validating, false);
    return set;
}

kc__hook_set *kc__hook_set_ref(kc__hook_set *set)
{
    kc_ref_add(&set->refs);
    return set;
}

static void hook_done(kc__hook *hook)
{
    kc_selector_free(hook->namespaces);
    kc_selector_free(hook->objects);
}

kc__hook_set *kc__hook_set_unref(kc__hook_set *set)
{
    if (!set || !kc_ref_drop(&set->refs))
        return NULL;
    kc_vec_each (&set->mutating, hook)
        hook_done(hook);
    kc_vec_each (&set->validating, hook)
        hook_done(hook);
    kc_vec_each (&set->views, view)
        kc_view_free(*view);
    kc_vec_done(&set->mutating);
    kc_vec_done(&set->validating);
    kc_vec_done(&set->views);
    kc_arena_done(set->arena);
    free(set->arena);
    free(set);
    return NULL;
}
