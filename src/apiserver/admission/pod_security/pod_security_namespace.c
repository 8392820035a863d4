/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_namespace.c: checks namespaces for the plugin PodSecurity. Wrong labels are
 * rejected, unless an update leaves them as they were. When the enforced level gets stricter, the
 * existing pods are evaluated and violations become warnings: one for each set of reasons, with the
 * name of the first pod and the number of others.
 *
 * The evaluation is limited to MAX_PODS pods and to a second, and runs on a worker thread. Pods of
 * a controller are alike, so one of each controller is evaluated before the others.
 */
#include "apiserver/admission/pod_security/pod_security_namespace.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/pod_security/pod_security_checks.h"
#include "apiserver/admission/pod_security/pod_security_config.h"
#include "apiserver/kinds/key_layout.h"
#include "base/work.h"
#include "kc/map.h"

enum { MAX_PODS = 3000, FEW_PODS = 10 };

#define TIME_LIMIT KC_SECOND

/* ---- the pods of the namespace ---- */

typedef struct pod_list {
    kc__cow_snapshot *all;
    KC_VEC(const kc_object *) pods; /* In the order of evaluation; in the snapshot. */
} pod_list;

static void pod_list_done(pod_list *list)
{
    kc_vec_done(&list->pods);
    kc__cow_snapshot_unref(list->all);
}

/* metadata.ownerReferences[?controller].uid; empty: none. */
static kc_str controller_uid(const kc_value *metadata)
{
    kc_value_each_item (kc_value_get(metadata, "ownerReferences"), owner)
        if (kc_value_as_bool(kc_value_get(owner, "controller"), false))
            return kc_value_as_str(kc_value_get(owner, "uid"));
    return (kc_str){0};
}

static bool has_exempt_class(const kc__rest_call *call, const kc_value *pod)
{
    const kc_str class = kc_value_as_str(kc_value_nested(pod, "spec.runtimeClassName"));
    return kc__pod_security_is_exempt(kc__pod_security_config_of(call)->runtime_classes, class);
}

/* Puts one pod of each controller before its further ones. */
static void order_pods(kc__rest_call *call, kc__cow_iter *it, pod_list *list)
{
    kc_scoped(kc_map) seen = {0};
    KC_VEC(const kc_object *) others = {0};
    while (kc__cow_iter_next(it) && !kc__work_is_over()) {
        kc_auto(kc_view) *view = kc_view_of(it->object);
        const kc_value *root = kc_view_root(view);
        const kc_str uid = controller_uid(kc_value_get(root, "metadata"));
        if (has_exempt_class(call, root))
            continue;
        if (uid.n && kc_map_get(&seen, uid)) {
            kc_vec_push(&others, it->object);
            continue;
        }
        if (uid.n)
            kc_map_put(&seen, kc_arena_str(call->arena, uid), list);
        kc_vec_push(&list->pods, it->object);
    }
    kc_vec_each (&others, pod)
        kc_vec_push(&list->pods, *pod);
    kc_vec_done(&others);
}

static pod_list pods_of_namespace(kc__rest_call *call, kc_str name)
{
    uint64_t revision;
    pod_list list = {
        .all = kc__watch_cache_snapshot(kc__admission_objects(call, "", "pods"), &revision)};
    const kc__cow_range range = {.prefix =
                                     kc_cstr(kc_arena_printf(call->arena, "%.*s/", KC_ARG(name)))};
    kc__cow_iter it = kc__cow_iter_start(list.all, &range);
    order_pods(call, &it, &list);
    return list;
}

static size_t count_pods(kc__rest_call *call, kc_str name)
{
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all =
        kc__watch_cache_snapshot(kc__admission_objects(call, "", "pods"), &revision);
    return kc__cow_snapshot_count_in(
        all,
        &(kc__cow_range){.prefix = kc_cstr(kc_arena_printf(call->arena, "%.*s/", KC_ARG(name)))});
}

/* ---- warnings ---- */

/* Pods with the same reasons. */
typedef struct pod_group {
    kc_str first; /* The first name in order. */
    size_t n;
} pod_group;

static void add_to_group(kc__rest_call *call, kc_map *groups, kc_str reasons, kc_str name)
{
    pod_group *group = kc_map_get(groups, reasons);
    if (!group) {
        group = kc_arena_new(call->arena, pod_group);
        kc_map_put(groups, kc_arena_str(call->arena, reasons), group);
    }
    if (!group->n++ || kc_str_cmp(name, group->first) < 0)
        group->first = name;
}

/* Returns the number of evaluated pods. */
static size_t group_violations(kc__rest_call *call, const pod_list *list,
                               const kc__pod_security_standard *standard, kc_map *ret_groups)
{
    const int64_t deadline = kc_clock_deadline(call->api->clock, TIME_LIMIT);
    const size_t n = KC_MIN(list->pods.n, (size_t)MAX_PODS);
    for (size_t i = 0; i < n; i++) {
        const kc_object *object = list->pods.items[i];
        kc_auto(kc_view) *view = kc_view_of(object);
        const kc_value *root = kc_view_root(view);
        kc_scoped(kc__pod_security_result) result = {0};
        kc__pod_security_evaluate(
            standard,
            &(kc__pod_security_pod){kc_value_get(root, "metadata"), kc_value_get(root, "spec")},
            &result);
        if (result.reasons.n)
            add_to_group(call, ret_groups, kc_buf_str(&result.reasons), kc_object_name(object));
        if (kc_clock_now(call->api->clock) >= deadline || kc__work_is_over())
            return i + 1;
    }
    return n;
}

static kc_str group_text(kc_arena *arena, kc_str reasons, const pod_group *group)
{
    const size_t others = group->n - 1;
    if (!others)
        return kc_cstr(kc_arena_printf(arena, "%.*s: %.*s", KC_ARG(group->first), KC_ARG(reasons)));
    return kc_cstr(kc_arena_printf(arena, "%.*s (and %zu other pod%s): %.*s", KC_ARG(group->first),
                                   others, others > 1 ? "s" : "", KC_ARG(reasons)));
}

static void warn_about_groups(kc__rest_call *call, kc_str name,
                              const kc__pod_security_standard *standard, const kc_map *groups)
{
    KC_VEC(kc_str) texts = {0};
    kc_scoped(kc_buf) head = {0};
    if (!groups->n)
        return;
    kc_buf_printf(&head,
                  "existing pods in namespace \"%.*s\" violate the new PodSecurity enforce level "
                  "\"",
                  KC_ARG(name));
    kc__pod_security_standard_write(&head, standard);
    kc_buf_putc(&head, '"');
    kc__rest_warn(call, kc_buf_str(&head));
    kc_map_each (groups, entry)
        kc_vec_push(&texts, group_text(call->arena, entry->key, entry->value));
    kc_vec_sort(&texts, kc_str_compare);
    kc_vec_each (&texts, text)
        kc__rest_warn(call, *text);
    kc_vec_done(&texts);
}

static kc__rest_verdict warn_about_pods(kc__rest_call *call, kc_str name,
                                        const kc__pod_security_standard *standard)
{
    if (kc__admission_needs_worker(call, count_pods(call, name) > FEW_PODS))
        return KC__REST_ON_WORKER;
    kc_scoped(pod_list) list = pods_of_namespace(call, name);
    kc_scoped(kc_map) groups = {0};
    const size_t checked = group_violations(call, &list, standard, &groups);
    if (checked < list.pods.n)
        kc__rest_warn(call,
                      kc_cstr(kc_arena_printf(call->arena,
                                              "new PodSecurity enforce level only checked against "
                                              "the first %zu of %zu existing pods",
                                              checked, list.pods.n)));
    warn_about_groups(call, name, standard, &groups);
    return KC__REST_NEXT;
}

/* ---- exempt namespaces ---- */

static void describe_mode(kc_buf *out, const kc_value *labels, const char *mode,
                          const kc__pod_security_standard *standard)
{
    kc_scoped(kc_buf) label = {0};
    kc_buf_printf(&label, "pod-security.kubernetes.io/%s", mode);
    bool is_set = kc_value_get(labels, kc_buf_cstr(&label)) != NULL;
    kc_buf_puts(&label, "-version");
    is_set = is_set || kc_value_get(labels, kc_buf_cstr(&label));
    if (!standard->level || !is_set)
        return;
    kc_buf_printf(out, "%s%s=", out->n ? ", " : "", mode);
    kc__pod_security_standard_write(out, standard);
}

/* The labels of an exempt namespace have no effect. */
static void warn_about_exemption(kc__rest_call *call, kc_str name, const kc_value *labels,
                                 const kc__pod_security_policy *policy)
{
    kc_scoped(kc_buf) modes = {0};
    if (kc__pod_security_policy_is_privileged(policy) ||
        kc__pod_security_policy_is_equivalent(policy, &kc__pod_security_config_of(call)->defaults))
        return;
    describe_mode(&modes, labels, "enforce", &policy->enforce);
    describe_mode(&modes, labels, "audit", &policy->audit);
    describe_mode(&modes, labels, "warn", &policy->warn);
    kc__rest_warn(call,
                  kc_cstr(kc_arena_printf(call->arena,
                                          "namespace \"%.*s\" is exempt from Pod Security, and the "
                                          "policy (%s) will be ignored",
                                          KC_ARG(name), kc_buf_cstr(&modes))));
}

/* ---- the plugin ---- */

static bool has_same_errors(const kc_field_errors *a, const kc_field_errors *b)
{
    if (a->list.n != b->list.n)
        return false;
    for (size_t i = 0; i < a->list.n; i++)
        if (strcmp(a->list.items[i].field, b->list.items[i].field) != 0 ||
            strcmp(a->list.items[i].body, b->list.items[i].body) != 0)
            return false;
    return true;
}

static bool gets_stricter(const kc__pod_security_standard *now,
                          const kc__pod_security_standard *before)
{
    const bool same_version = now->pinned == before->pinned && now->minor == before->minor;
    return now->level && !kc__pod_security_standard_equals(now, before) &&
           !(same_version && now->level <= before->level);
}

static kc__rest_verdict check_namespace_update(kc__rest_call *call, kc_str name,
                                               const kc_value *labels,
                                               const kc__pod_security_policy *policy,
                                               const kc_field_errors *errors)
{
    const kc__pod_security_config *config = kc__pod_security_config_of(call);
    kc_scoped(kc_field_errors) old_errors = {0};
    kc_auto(kc_view) *old = kc_view_parse(kc_object_labels_json(call->current), NULL, NULL);
    const kc__pod_security_policy before =
        kc__pod_security_policy_of(kc_view_root(old), &config->defaults, &old_errors);
    if (errors->list.n && !has_same_errors(errors, &old_errors))
        return kc__rest_fail_invalid(call, name, errors);
    if (!gets_stricter(&policy->enforce, &before.enforce))
        return KC__REST_NEXT;
    if (!kc__pod_security_is_exempt(config->namespaces, name))
        return warn_about_pods(call, name, &policy->enforce);
    warn_about_exemption(call, name, labels, policy);
    return KC__REST_NEXT;
}

kc__rest_verdict kc__pod_security_check_namespace(kc__rest_call *call)
{
    const kc_str name = kc_object_name(call->proposed);
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc_object_labels_json(call->proposed), NULL, NULL);
    const kc_value *labels = kc_view_root(view);
    const kc__pod_security_policy policy =
        kc__pod_security_policy_of(labels, &kc__pod_security_config_of(call)->defaults, &errors);
    if (call->current)
        return check_namespace_update(call, name, labels, &policy, &errors);
    return errors.list.n ? kc__rest_fail_invalid(call, name, &errors) : KC__REST_NEXT;
}
