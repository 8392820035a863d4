/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security.c: implements the admission plugin PodSecurity for pods and for workloads.
 *
 *     pods         rejected if they violate the level that the namespace enforces; warnings
 *     workloads    warnings about their templates of pods; never rejected
 *     namespaces   pod_security_namespace.c
 *
 * Updates of a pod are checked only if they change what the checks can see: containers or images.
 * Violations of the audited level are counted (pod_security_evaluations_total) and annotated in the
 * audit log.
 */
#include "apiserver/admission/pod_security/pod_security.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/pod_security/pod_security_checks.h"
#include "apiserver/admission/pod_security/pod_security_config.h"
#include "apiserver/admission/pod_security/pod_security_metrics.h"
#include "apiserver/admission/pod_security/pod_security_namespace.h"

/* Workloads, and the path to their template. */
static const struct {
    const char *storage, *template;
} workloads[] = {
    {"core/replicationcontrollers", "spec.template"},
    {"core/podtemplates", "template"},
    {"apps/replicasets", "spec.template"},
    {"apps/deployments", "spec.template"},
    {"apps/statefulsets", "spec.template"},
    {"apps/daemonsets", "spec.template"},
    {"batch/jobs", "spec.template"},
    {"batch/cronjobs", "spec.jobTemplate.spec.template"},
};

/* The path to the template of the workload that the call writes; NULL: it writes none. */
static const char *template_path(const kc__rest_call *call)
{
    for (size_t i = 0; i < KC_COUNT(workloads); i++)
        if (kc__admission_writes(call, workloads[i].storage, NULL))
            return workloads[i].template;
    return NULL;
}

static bool writes_pod(const kc__rest_call *call)
{
    return kc__admission_writes(call, "core/pods", NULL) ||
           kc__admission_writes(call, "core/pods", "ephemeralcontainers") ||
           kc__admission_writes(call, "core/pods", "resize");
}

/* ---- changes of pods ---- */

/* Containers of a pod cannot be reordered, and ephemeral ones only be appended. */
static bool has_other_images(const kc_value *containers, const kc_value *old)
{
    kc_value_iter before = kc__value_iter(old, KC_JSON_ARRAY);
    if (kc_value_len(containers) != kc_value_len(old))
        return true;
    kc_value_each_item (containers, container)
        if (!kc_str_eq(kc_value_as_str(kc_value_get(container, "image")),
                       kc_value_as_str(kc_value_get(kc__value_iter_item(&before), "image"))))
            return true;
    return false;
}

static bool is_significant_update(const kc__rest_call *call, const kc_value *spec)
{
    static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *old = kc_value_get(kc_view_root(view), "spec");
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        if (has_other_images(kc_value_get(spec, lists[i]), kc_value_get(old, lists[i])))
            return true;
    return false;
}

/* ---- evaluation ---- */

#define ANNOTATIONS "pod-security.kubernetes.io/"

static void audit_enforced(kc__rest_call *call, const kc__pod_security_standard *standard)
{
    kc_scoped(kc_buf) text = {0};
    if (!call->audit_event)
        return;
    kc__pod_security_standard_write(&text, standard);
    kc__rest_audit(call, KC_STR(ANNOTATIONS "enforce-policy"), kc_buf_str(&text));
}

static void audit_exemption(kc__rest_call *call, const char *reason)
{
    kc__pod_security_count_exemption(call);
    kc__rest_audit(call, KC_STR(ANNOTATIONS "exempt"), kc_cstr(reason));
}

static kc__rest_verdict enforce_policy(kc__rest_call *call, const kc__pod_security_pod *pod,
                                       const kc__pod_security_standard *standard)
{
    kc_scoped(kc__pod_security_result) result = {0};
    kc_scoped(kc_buf) text = {0};
    audit_enforced(call, standard);
    kc__pod_security_evaluate(standard, pod, &result);
    kc__pod_security_count_evaluation(call, standard, "enforce", !result.reasons.n);
    if (!result.reasons.n)
        return KC__REST_NEXT;
    kc__pod_security_standard_write(&text, standard);
    return kc__admission_forbid(call, "violates PodSecurity \"%s\": %s", kc_buf_cstr(&text),
                                kc_buf_cstr(&result.details));
}

/* Writes what a pod violates of a standard that is not enforced, and counts it. False: nothing. */
static bool write_violations(kc__rest_call *call, const kc__pod_security_pod *pod,
                             const kc__pod_security_standard *standard, const char *mode,
                             kc_buf *out)
{
    kc_scoped(kc__pod_security_result) result = {0};
    kc__pod_security_evaluate(standard, pod, &result);
    if (!result.reasons.n)
        return false;
    kc_buf_puts(out, "would violate PodSecurity \"");
    kc__pod_security_standard_write(out, standard);
    kc_buf_printf(out, "\": %s", kc_buf_cstr(&result.details));
    kc__pod_security_count_evaluation(call, standard, mode, false);
    return true;
}

static void audit_policy(kc__rest_call *call, const kc__pod_security_pod *pod,
                         const kc__pod_security_standard *standard)
{
    kc_scoped(kc_buf) text = {0};
    if (write_violations(call, pod, standard, "audit", &text))
        kc__rest_audit(call, KC_STR(ANNOTATIONS "audit-violations"), kc_buf_str(&text));
}

static void warn_about_policy(kc__rest_call *call, const kc__pod_security_pod *pod,
                              const kc__pod_security_standard *standard)
{
    kc_scoped(kc_buf) text = {0};
    if (write_violations(call, pod, standard, "warn", &text))
        kc__rest_warn(call, kc_buf_str(&text));
}

static kc__rest_verdict evaluate_pod(kc__rest_call *call, const kc__pod_security_policy *policy,
                                     const kc__pod_security_pod *pod, bool enforces)
{
    const kc__pod_security_config *config = kc__pod_security_config_of(call);
    const kc_str class = kc_value_as_str(kc_value_get(pod->spec, "runtimeClassName"));
    if (kc__pod_security_is_exempt(config->runtime_classes, class)) {
        audit_exemption(call, "runtimeClass");
        return KC__REST_NEXT;
    }
    audit_policy(call, pod, &policy->audit);
    const kc__rest_verdict verdict =
        enforces ? enforce_policy(call, pod, &policy->enforce) : KC__REST_NEXT;
    if (verdict == KC__REST_NEXT)
        warn_about_policy(call, pod, &policy->warn);
    return verdict;
}

/* ---- the policy of the namespace ---- */

static bool is_exempt_request(kc__rest_call *call)
{
    const kc__pod_security_config *config = kc__pod_security_config_of(call);
    const bool space = kc__pod_security_is_exempt(config->namespaces, call->info.ns);
    if (!space && !kc__pod_security_is_exempt(config->usernames, call->user.name))
        return false;
    audit_exemption(call, space ? "namespace" : "user");
    return true;
}

/* False: the namespace does not exist. *ret_is_valid: its labels are valid. */
static bool policy_of_namespace(kc__rest_call *call, kc__pod_security_policy *ret,
                                bool *ret_is_valid)
{
    kc_auto(kc_object) *space = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    const kc__pod_security_policy *defaults = &kc__pod_security_config_of(call)->defaults;
    kc_scoped(kc_field_errors) errors = {0};
    if (!space)
        return false;
    kc_auto(kc_view) *view = kc_view_parse(kc_object_labels_json(space), NULL, NULL);
    *ret = kc__pod_security_policy_of(kc_view_root(view), defaults, &errors);
    *ret_is_valid = !errors.list.n;
    return true;
}

static kc__rest_verdict check_written_pod(kc__rest_call *call)
{
    kc__pod_security_policy policy;
    bool is_valid;
    if (is_exempt_request(call))
        return KC__REST_NEXT;
    if (!policy_of_namespace(call, &policy, &is_valid)) {
        kc__pod_security_count_error(call, true);
        return kc__rest_fail(call, KC_INTERNAL,
                             "Internal error occurred: failed to lookup namespace \"%.*s\"",
                             KC_ARG(call->info.ns));
    }
    if (is_valid && kc__pod_security_policy_is_privileged(&policy)) {
        kc__rest_audit(call, KC_STR(ANNOTATIONS "enforce-policy"), KC_STR("privileged:latest"));
        kc__pod_security_count_evaluation(call, &policy.enforce, "enforce", true);
        return KC__REST_NEXT;
    }
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    const kc_value *root = kc_view_root(view);
    const kc__pod_security_pod pod = {kc_value_get(root, "metadata"), kc_value_get(root, "spec")};
    if (call->current && !is_significant_update(call, pod.spec))
        return KC__REST_NEXT;
    if (!is_valid)
        kc__pod_security_count_error(call, false);
    return evaluate_pod(call, &policy, &pod, true);
}

static kc__rest_verdict check_workload(kc__rest_call *call, const char *path)
{
    kc__pod_security_policy policy;
    bool is_valid;
    if (is_exempt_request(call))
        return KC__REST_NEXT;
    if (!policy_of_namespace(call, &policy, &is_valid)) {
        kc__pod_security_count_error(call, true);
        return KC__REST_NEXT;
    }
    if (is_valid && !policy.warn.level && !policy.audit.level)
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    const kc_value *template = kc_value_nested(kc_view_root(view), path);
    const kc__pod_security_pod pod = {kc_value_get(template, "metadata"),
                                      kc_value_get(template, "spec")};
    if (!template)
        return KC__REST_NEXT;
    if (!is_valid)
        kc__pod_security_count_error(call, false);
    return evaluate_pod(call, &policy, &pod, false);
}

kc__rest_verdict kc__admission_pod_security(kc__rest_call *call)
{
    if (!call->resource->storage)
        return KC__REST_NEXT;
    if (kc__admission_writes(call, "core/namespaces", NULL))
        return kc__pod_security_check_namespace(call);
    if (writes_pod(call))
        return check_written_pod(call);
    const char *path = template_path(call);
    return path ? check_workload(call, path) : KC__REST_NEXT;
}
