/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_usage.c: what a pod uses: requests and limits of cpu, memory and ephemeral storage, huge
 * pages and extended resources, and "pods". A pod that has ended, or that should be gone by now,
 * uses none of these; it still counts as "count/pods".
 *
 * Quotas know a request of cpu as "cpu" and as "requests.cpu"; the table lists these names.
 */
#include "kc/clock.h"
#include "kc/diff.h"
#include "kc/names.h"
#include "quota/quota_internal.h"

#define REQUESTS  "requests."
#define HUGEPAGES "hugepages-"

/* The names of a resource in pods and in quotas. */
static const struct compute_name {
    const char *resource, *plain, *request, *limit;
    bool required; /* A quota of it requires that every container states an amount. */
} compute_names[] = {
    {"cpu", "cpu", "requests.cpu", "limits.cpu", true},
    {"memory", "memory", "requests.memory", "limits.memory", true},
    {"ephemeral-storage", "ephemeral-storage", "requests.ephemeral-storage",
     "limits.ephemeral-storage", false},
};

/* ---- names ---- */

/* Names without a domain, and those of kubernetes.io, belong to Kubernetes. */
static bool is_native(kc_str name)
{
    return kc_str_find(name, '/') < 0 || kc_str_contains(name, KC_STR("kubernetes.io/"));
}

static bool is_compute_name(const struct compute_name *names, kc_str name)
{
    return kc_str_is(name, names->plain) || kc_str_is(name, names->request) ||
           kc_str_is(name, names->limit);
}

bool kc__usage_pod_tracks(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(compute_names); i++)
        if (is_compute_name(&compute_names[i], name))
            return true;
    return kc_str_is(name, "pods") || kc_str_starts(name, KC_STR(HUGEPAGES)) ||
           kc_str_starts(name, KC_STR(REQUESTS HUGEPAGES)) ||
           (kc_str_starts(name, KC_STR(REQUESTS)) && !is_native(name));
}

bool kc_quota_is_extended_resource(kc_str name)
{
    kc_scoped(kc_buf) as_request = {0};
    if (is_native(name) || kc_str_starts(name, KC_STR(REQUESTS)))
        return false;
    kc_buf_printf(&as_request, REQUESTS "%.*s", KC_ARG(name));
    return kc_name_valid(KC_NAME_QUALIFIED, kc_buf_str(&as_request));
}

/* ---- life ---- */

static kc_str phase_of(const kc_value *pod)
{
    return kc_value_as_str(kc_value_nested(pod, "status.phase"));
}

/* Whether a pod that is being deleted should be gone by now: its node may be lost. */
static bool is_overdue(const kc_value *pod, kc_time now)
{
    kc_time deleted;
    int64_t grace;
    const kc_value *metadata = kc_value_get(pod, "metadata");
    const kc_str text = kc_value_as_str(kc_value_get(metadata, "deletionTimestamp"));
    if (!text.n || kc_time_parse(text, &deleted, NULL) < 0 ||
        !kc_value_as_i64(kc_value_get(metadata, "deletionGracePeriodSeconds"), &grace))
        return false;
    return now > deleted && (now - deleted) / KC_SECOND > grace;
}

static bool is_charged(const kc_value *pod, kc_time now)
{
    return !kc_str_is(phase_of(pod), "Failed") && !kc_str_is(phase_of(pod), "Succeeded") &&
           !is_overdue(pod, now);
}

bool kc_quota_pod_is_terminating(const kc_value *pod)
{
    int64_t seconds;
    return kc_value_as_i64(kc_value_nested(pod, "spec.activeDeadlineSeconds"), &seconds) &&
           seconds >= 0;
}

/* ---- usage ---- */

static void copy_amount(const kc_quota_amounts *from, const char *resource, const char *name,
                        kc_quota_amounts *ret)
{
    kc_quota_amount amount;
    if (!name || !kc_quota_amount_of(from, kc_cstr(resource), &amount))
        return;
    amount.text = kc_arena_str(&ret->arena, amount.text);
    kc_quota_amounts_set(ret, kc_cstr(name), &amount);
}

static void add_other_request(kc_str name, const kc_quota_amount *amount, kc_quota_amounts *ret)
{
    const kc_str own = kc_arena_str(&ret->arena, name),
                 request = kc_cstr(kc_arena_printf(&ret->arena, REQUESTS "%.*s", KC_ARG(name)));
    const kc_quota_amount copy = {amount->value, kc_arena_str(&ret->arena, amount->text)};
    if (kc_str_starts(name, KC_STR(HUGEPAGES)))
        kc_quota_amounts_set(ret, own, &copy);
    if (kc_str_starts(name, KC_STR(HUGEPAGES)) || kc_quota_is_extended_resource(name))
        kc_quota_amounts_set(ret, request, &copy);
}

/* The usage of requests and limits, by the names of quotas. */
static void name_amounts(const kc_quota_amounts *requests, const kc_quota_amounts *limits,
                         kc_quota_amounts *ret)
{
    for (size_t i = 0; i < KC_COUNT(compute_names); i++) {
        const struct compute_name *names = &compute_names[i];
        copy_amount(requests, names->resource, names->plain, ret);
        copy_amount(requests, names->resource, names->request, ret);
        copy_amount(limits, names->resource, names->limit, ret);
    }
    kc_map_each (&requests->summed, entry)
        add_other_request(entry->key, entry->value, ret);
}

void kc__usage_pod_measure(const kc_value *pod, kc_time now, kc_quota_amounts *ret)
{
    const unsigned parts = KC_QUOTA_POD_STATUS | KC_QUOTA_POD_OVERHEAD | KC_QUOTA_POD_HUGEPAGES;
    kc_scoped(kc_quota_amounts) requests = {0};
    kc_scoped(kc_quota_amounts) limits = {0};
    if (!is_charged(pod, now))
        return;
    kc_quota_pod_amounts(pod, "requests", parts, &requests);
    kc_quota_pod_amounts(pod, "limits", parts, &limits);
    kc_quota_amounts_set_count(ret, KC_STR("pods"), 1);
    name_amounts(&requests, &limits, ret);
}

/* ---- updates ---- */

static bool has_other_resources(const kc_value *old, const kc_value *pod, const char *list)
{
    kc_scoped(kc_map) now = {0};
    kc_value_each_item (kc_value_get(kc_value_get(pod, "status"), list), status)
        kc_map_put(&now, kc_value_as_str(kc_value_get(status, "name")), (void *)status);
    kc_value_each_item (kc_value_get(kc_value_get(old, "status"), list), status) {
        const kc_value *same = kc_map_get(&now, kc_value_as_str(kc_value_get(status, "name")));
        if (same && !kc_value_equal(kc_value_get(status, "resources"),
                                    kc_value_get(same, "resources"), NULL))
            return true;
    }
    return false;
}

bool kc__usage_pod_is_freed_by(const kc_value *old, const kc_value *pod, kc_time now)
{
    return (is_charged(old, now) && !is_charged(pod, now)) ||
           kc_quota_pod_is_terminating(old) != kc_quota_pod_is_terminating(pod) ||
           has_other_resources(old, pod, "containerStatuses") ||
           has_other_resources(old, pod, "initContainerStatuses");
}

/* ---- required amounts ---- */

/* Whether the pod itself states resources: containers then need not. */
static bool has_pod_resources(const kc_value *pod)
{
    static const char *const members[] = {"requests", "limits"};
    for (size_t i = 0; i < KC_COUNT(members); i++)
        kc_value_each_member (kc_value_get(kc_value_nested(pod, "spec.resources"), members[i]),
                              name, value) {
            (void)value;
            if (kc_str_is(name, "cpu") || kc_str_is(name, "memory") ||
                kc_str_starts(name, KC_STR(HUGEPAGES)))
                return true;
        }
    return false;
}

static bool states_amount(const kc_value *container, const struct compute_name *names, kc_str name)
{
    const bool limit = kc_str_is(name, names->limit);
    const kc_value *list =
        kc_value_get(kc_value_get(container, "resources"), limit ? "limits" : "requests");
    return kc_value_get(list, names->resource);
}

typedef KC_VEC(kc_str) container_names;

static void find_silent_containers(const kc_value *pod, const struct compute_name *names,
                                   kc_str name, container_names *ret)
{
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (kc_value_get(kc_value_get(pod, "spec"), lists[i]), container)
            if (!states_amount(container, names, name))
                kc_vec_push(ret, kc_value_as_str(kc_value_get(container, "name")));
    kc_vec_sort(ret, kc_str_compare);
}

static const struct compute_name *required_name(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(compute_names); i++)
        if (compute_names[i].required && is_compute_name(&compute_names[i], name))
            return &compute_names[i];
    return NULL;
}

static void print_missing(const kc_value *pod, kc_str name, kc_buf *out)
{
    const struct compute_name *names = required_name(name);
    container_names silent = {0};
    if (names)
        find_silent_containers(pod, names, name, &silent);
    if (silent.n)
        kc_buf_printf(out, "%s%.*s for: ", out->n ? "; " : "must specify ", KC_ARG(name));
    for (size_t i = 0; i < silent.n; i++)
        kc_buf_printf(out, "%s%.*s", i ? "," : "", KC_ARG(silent.items[i]));
    kc_vec_done(&silent);
}

void kc_quota_missing_amounts(const kc_quota_resource *resource, const kc_value *object,
                              const kc_str *names, size_t n_names, kc_buf *out)
{
    container_names sorted = {0};
    if (kc__usage_evaluator_of(resource)->tracks != kc__usage_pod_tracks ||
        has_pod_resources(object))
        return;
    for (size_t i = 0; i < n_names; i++)
        kc_vec_push(&sorted, names[i]);
    kc_vec_sort(&sorted, kc_str_compare);
    kc_vec_each (&sorted, name)
        print_missing(object, *name, out);
    kc_vec_done(&sorted);
}
