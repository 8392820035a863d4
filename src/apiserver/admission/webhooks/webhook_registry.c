/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_registry.c: keeps the compiled set of configured webhooks.
 *
 * The first write after a change of a configuration compiles the set, not the change itself. So a
 * request that follows the response to a change always sees the change, and every other write only
 * compares two numbers.
 *
 * Event loops call this, so the set is compiled without the mutex, from the previous set: only the
 * changed configuration is compiled (webhook_config.c). Threads that find the set outdated at the
 * same time each compile one; the mutex is held to take and to replace the pointer.
 */
#include "apiserver/admission/webhooks/webhook_registry.h"

#include "apiserver/kinds/key_layout.h"

#include <stdio.h>

/* Clients choose the names of webhooks: bound the label values. */
enum { MAX_NAMES = 1000, MAX_CODES = 60 };

#define TYPES      KC_LABEL_VALUES("admit", "validating")
#define OPERATIONS KC_LABEL_VALUES("CREATE", "UPDATE", "DELETE", "CONNECT")
#define YES_OR_NO  KC_LABEL_VALUES("true", "false")

static int register_metrics(kc__admission_webhooks *hooks, kc_metrics *metrics, kc_error *err)
{
    static const double buckets[] = {0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25};
    hooks->durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_admission_webhook_admission_duration_seconds",
                          .help = "Duration of calls of admission webhooks.",
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
                          .help = "Requests that continued although an admission webhook failed.",
                          .labels = {{"name", .max_values = MAX_NAMES}, {"type", TYPES}}},
        err);
    hooks->requests =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "apiserver_admission_webhook_request_total",
                                             .help = "Calls of admission webhooks.",
                                             .labels = {{"name", .max_values = MAX_NAMES},
                                                        {"type", TYPES},
                                                        {"operation", OPERATIONS},
                                                        {"code", .max_values = MAX_CODES},
                                                        {"rejected", YES_OR_NO}}},
                           err);
    return hooks->durations && hooks->rejections && hooks->failed_open && hooks->requests
               ? 0
               : kc_error_result(err);
}

kc__admission_webhooks *kc__admission_webhooks_new(kc__store *store, kc_metrics *metrics,
                                                   kc_error *err)
{
    kc__admission_webhooks *hooks = kc_new(kc__admission_webhooks);
    kc_mutex_init(&hooks->mutex);
    hooks->http_client = kc__http_client_new();
    hooks->send = kc__http_client_send;
    hooks->mutating = kc__store_watch_cache(
        store, kc__resource_key_builtin_prefix("admissionregistration.k8s.io",
                                               "mutatingwebhookconfigurations"));
    hooks->validating = kc__store_watch_cache(
        store, kc__resource_key_builtin_prefix("admissionregistration.k8s.io",
                                               "validatingwebhookconfigurations"));
    atomic_store(&hooks->mutating_seen, UINT64_MAX);
    atomic_store(&hooks->validating_seen, UINT64_MAX);
    if (register_metrics(hooks, metrics, err) < 0)
        return kc__admission_webhooks_free(hooks);
    /* All configurations, before a loop would have to compile them. */
    kc__admission_webhook_set_unref(kc__admission_webhooks_current(hooks));
    return hooks;
}

kc__admission_webhooks *kc__admission_webhooks_free(kc__admission_webhooks *hooks)
{
    if (!hooks)
        return NULL;
    kc__http_client_free(hooks->http_client);
    kc__admission_webhook_set_unref(hooks->set);
    kc_mutex_done(&hooks->mutex);
    free(hooks);
    return NULL;
}

/* ---- the set ---- */

static bool set_is_current(const kc__admission_webhooks *hooks)
{
    return atomic_load_explicit(&hooks->mutating_seen, memory_order_acquire) ==
               kc__watch_cache_changed_at(hooks->mutating) &&
           atomic_load_explicit(&hooks->validating_seen, memory_order_acquire) ==
               kc__watch_cache_changed_at(hooks->validating);
}

/* Compiles the set that follows `before`. The revisions are loaded first: a concurrent change may
 * already be in the set, and the set is then compiled once more. */
static kc__admission_webhook_set *compile_set(kc__admission_webhooks *hooks,
                                              const kc__admission_webhook_set *before)
{
    const uint64_t mutating_at = kc__watch_cache_changed_at(hooks->mutating);
    const uint64_t validating_at = kc__watch_cache_changed_at(hooks->validating);
    kc_auto(kc__cow_snapshot) *mutating = kc__watch_cache_snapshot(hooks->mutating, NULL);
    kc_auto(kc__cow_snapshot) *validating = kc__watch_cache_snapshot(hooks->validating, NULL);
    kc__admission_webhook_set *set = kc__admission_webhook_set_new(mutating, validating, before);
    set->mutating_at = mutating_at;
    set->validating_at = validating_at;
    return set;
}

static bool has_webhooks(const kc__admission_webhook_set *set)
{
    return set->mutating.n || set->validating.n;
}

/* Replaces the current set unless another thread has published a newer one. Call it with the mutex
 * held. Returns the set that is to be dropped, which may free much: not under the mutex. */
static kc__admission_webhook_set *publish_set(kc__admission_webhooks *hooks,
                                              kc__admission_webhook_set *set)
{
    kc__admission_webhook_set *before = hooks->set;
    if (before &&
        (before->mutating_at > set->mutating_at || before->validating_at > set->validating_at))
        return NULL;
    hooks->set = kc__admission_webhook_set_ref(set);
    atomic_store(&hooks->any, has_webhooks(set));
    atomic_store_explicit(&hooks->mutating_seen, set->mutating_at, memory_order_release);
    atomic_store_explicit(&hooks->validating_seen, set->validating_at, memory_order_release);
    return before;
}

/* The current set, with a reference for the caller; NULL before the first one. */
static kc__admission_webhook_set *take_set(kc__admission_webhooks *hooks, bool *ret_current)
{
    kc__admission_webhook_set *set = NULL;
    kc_locked (&hooks->mutex) {
        *ret_current = set_is_current(hooks);
        set = hooks->set ? kc__admission_webhook_set_ref(hooks->set) : NULL;
    }
    return set;
}

kc__admission_webhook_set *kc__admission_webhooks_current(kc__admission_webhooks *hooks)
{
    bool current = false;
    if (set_is_current(hooks) && !atomic_load_explicit(&hooks->any, memory_order_acquire))
        return NULL;
    kc_auto(kc__admission_webhook_set) *set = take_set(hooks, &current);
    if (!current) {
        kc_auto(kc__admission_webhook_set) *before = set, *replaced = NULL;
        set = compile_set(hooks, before);
        kc_locked (&hooks->mutex)
            replaced = publish_set(hooks, set);
    }
    return has_webhooks(set) ? kc_take(set) : NULL;
}

/* ---- metrics ---- */

void kc__admission_webhooks_count(const kc__admission_webhooks *hooks,
                                  const kc__admission_webhook *hook, const char *operation,
                                  kc__admission_result result, int code, int64_t took)
{
    static const char *const errors[] = {[KC__ADMISSION_DENIED] = "no_error",
                                         [KC__ADMISSION_CALL_FAILED] = "calling_webhook_error",
                                         [KC__ADMISSION_REJECTED] = "apiserver_internal_error"};
    const kc_str type = kc_cstr(hook->mutates ? "admit" : "validating"), op = kc_cstr(operation);
    const bool open = result == KC__ADMISSION_CALL_FAILED && hook->ignored;
    const bool rejected = result != KC__ADMISSION_ALLOWED && !open;
    const kc_str response = kc_cstr(rejected ? "true" : "false");
    char text[16];
    snprintf(text, sizeof(text), "%d", code);
    if (open)
        kc_counter_inc(kc_metric_counter(hooks->failed_open, hook->name, type));
    if (rejected)
        kc_counter_inc(kc_metric_counter(hooks->rejections, hook->name, type, op,
                                         kc_cstr(errors[result]), kc_cstr(text)));
    kc_histogram_observe_duration(
        kc_metric_histogram(hooks->durations, hook->name, type, op, response), took);
    kc_counter_inc(
        kc_metric_counter(hooks->requests, hook->name, type, op, kc_cstr(text), response));
}
