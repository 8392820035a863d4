/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.c: keeping the webhooks that are configured.
 *
 * They are compiled when somebody asks for them after a configuration has changed, not when it
 * changes: so a request that comes after the answer to a change always sees it, and the look that
 * every write takes is a comparison of two numbers.
 */
#include "apiserver/admission/hooks.h"

#include <stdio.h>

/* Names of hooks are their owners' choice. */
enum { MAX_NAMES = 1000, MAX_CODES = 60 };

#define TYPES      KC_LABEL_VALUES("admit", "validating")
#define OPERATIONS KC_LABEL_VALUES("CREATE", "UPDATE", "DELETE", "CONNECT")
#define YES_OR_NO  KC_LABEL_VALUES("true", "false")

static int register_metrics(kc__hooks *hooks, kc_metrics *metrics, kc_error *err)
{
    static const double buckets[] = {0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25};
    hooks->durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_admission_webhook_admission_duration_seconds",
                          .help = "How long admission webhooks took to answer.",
                          .labels = {{"name", .max_values = MAX_NAMES},
                                     {"type", TYPES},
                                     {"operation", OPERATIONS},
                                     {"rejected", YES_OR_NO}},
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    hooks->rejections = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "apiserver_admission_webhook_rejection_count",
            .help = "Requests that admission webhooks rejected, or that failed because of one.",
            .labels = {{"name", .max_values = MAX_NAMES},
                       {"type", TYPES},
                       {"operation", OPERATIONS},
                       {"error_type", KC_LABEL_VALUES("calling_webhook_error",
                                                      "apiserver_internal_error", "no_error")},
                       {"rejection_code", .max_values = MAX_CODES}}},
        err);
    hooks->failed_open = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_admission_webhook_fail_open_count",
                          .help = "Requests that went on though an admission webhook failed.",
                          .labels = {{"name", .max_values = MAX_NAMES}, {"type", TYPES}}},
        err);
    hooks->requests =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "apiserver_admission_webhook_request_total",
                                             .help = "Questions to admission webhooks.",
                                             .labels = {{"name", .max_values = MAX_NAMES},
                                                        {"type", TYPES},
                                                        {"operation", OPERATIONS},
                                                        {"code", .max_values = MAX_CODES},
                                                        {"rejected", YES_OR_NO}}},
                           err);
    return hooks->durations && hooks->rejections && hooks->failed_open && hooks->requests ? 0 : -1;
}

kc__hooks *kc__hooks_new(kc__store *store, kc_metrics *metrics, kc_error *err)
{
    kc__hooks *hooks = kc_new(kc__hooks);
    kc_mutex_init(&hooks->mutex);
    hooks->asker = kc__asker_new();
    hooks->mutating = kc__store_cache(
        store, KC_STR("/registry/admissionregistration.k8s.io/mutatingwebhookconfigurations/"));
    hooks->validating = kc__store_cache(
        store, KC_STR("/registry/admissionregistration.k8s.io/validatingwebhookconfigurations/"));
    atomic_store(&hooks->mutating_seen, UINT64_MAX);
    atomic_store(&hooks->validating_seen, UINT64_MAX);
    return register_metrics(hooks, metrics, err) < 0 ? kc__hooks_free(hooks) : hooks;
}

kc__hooks *kc__hooks_free(kc__hooks *hooks)
{
    if (!hooks)
        return NULL;
    kc__asker_free(hooks->asker);
    kc__hook_set_unref(hooks->set);
    kc_mutex_done(&hooks->mutex);
    free(hooks);
    return NULL;
}

/* ---- which there are ---- */

static bool is_seen(const kc__hooks *hooks)
{
    return atomic_load_explicit(&hooks->mutating_seen, memory_order_acquire) ==
               kc__cache_changed_at(hooks->mutating) &&
           atomic_load_explicit(&hooks->validating_seen, memory_order_acquire) ==
               kc__cache_changed_at(hooks->validating);
}

/* Under the mutex. What changes meanwhile may be in it already, and is looked at once more. */
static void compile(kc__hooks *hooks)
{
    const uint64_t mutating_at = kc__cache_changed_at(hooks->mutating);
    const uint64_t validating_at = kc__cache_changed_at(hooks->validating);
    kc_auto(kc_cow_snapshot) *mutating = kc__cache_snapshot(hooks->mutating, NULL);
    kc_auto(kc_cow_snapshot) *validating = kc__cache_snapshot(hooks->validating, NULL);
    kc__hook_set_unref(hooks->set);
    hooks->set = kc__hook_set_new(mutating, validating);
    atomic_store(&hooks->any, hooks->set->mutating.n || hooks->set->validating.n);
    atomic_store_explicit(&hooks->mutating_seen, mutating_at, memory_order_release);
    atomic_store_explicit(&hooks->validating_seen, validating_at, memory_order_release);
}

kc__hook_set *kc__hooks_now(kc__hooks *hooks)
{
    kc__hook_set *set = NULL;
    if (is_seen(hooks) && !atomic_load_explicit(&hooks->any, memory_order_acquire))
        return NULL;
    kc_locked (&hooks->mutex) {
        if (!is_seen(hooks))
            compile(hooks);
        if (atomic_load(&hooks->any))
            set = kc__hook_set_ref(hooks->set);
    }
    return set;
}

/* ---- counting ---- */

void kc__hooks_count(const kc__hooks *hooks, const kc__hook *hook, const char *operation,
                     kc__hook_result result, int code, int64_t took)
{
    static const char *const errors[] = {[KC__HOOK_DENIED] = "no_error",
                                         [KC__HOOK_FAILED] = "calling_webhook_error",
                                         [KC__HOOK_REFUSED] = "apiserver_internal_error"};
    const kc_str type = kc_cstr(hook->mutates ? "admit" : "validating"), op = kc_cstr(operation);
    const bool open = result == KC__HOOK_FAILED && hook->ignored;
    const bool rejected = result != KC__HOOK_ALLOWED && !open;
    const kc_str answer = kc_cstr(rejected ? "true" : "false");
    char text[16];
    snprintf(text, sizeof(text), "%d", code);
    if (open)
        kc_counter_inc(kc_counter_of(hooks->failed_open, hook->name, type));
    if (rejected)
        kc_counter_inc(kc_counter_of(hooks->rejections, hook->name, type, op,
                                     kc_cstr(errors[result]), kc_cstr(text)));
    kc_histogram_observe_duration(kc_histogram_of(hooks->durations, hook->name, type, op, answer),
                                  took);
    kc_counter_inc(kc_counter_of(hooks->requests, hook->name, type, op, kc_cstr(text), answer));
}
