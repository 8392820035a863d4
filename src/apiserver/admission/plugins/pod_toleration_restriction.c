/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_toleration_restriction.c: implements the admission plugin PodTolerationRestriction. Two
 * annotations of a namespace hold lists of tolerations as JSON:
 *
 *     scheduler.alpha.kubernetes.io/defaultTolerations      merged into those of each new pod
 *     scheduler.alpha.kubernetes.io/tolerationsWhitelist    cover every toleration of its pods
 *
 * The configuration has the lists of namespaces without the annotation; an empty annotation is an
 * empty list. A pod that is not BestEffort tolerates memory pressure of its node.
 */
#include "apiserver/admission/plugins/pod_toleration_restriction.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/plugins/tolerations.h"
#include "apiserver/call/go_json.h"
#include "apiserver/config/config_errors.h"
#include "apiserver/config/strict_config.h"
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/core/qos.h"
#include "apiserver/kinds/defaults.h"
#include "kc/json.h"

#define DEFAULTS  "scheduler.alpha.kubernetes.io/defaultTolerations"
#define WHITELIST "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
#define MEMORY_PRESSURE                                                        \
    "{\"key\":\"node.kubernetes.io/memory-pressure\",\"operator\":\"Exists\"," \
    "\"effect\":\"NoSchedule\"}"

enum {
    MANY_TOLERATIONS = 100, /* Their merge takes up to 0.1 ms. */
    LONG_TEXT = 8 << 10     /* Bytes; longer annotations are parsed on a worker. */
};

struct kc__admission_toleration_limits {
    kc_view *view;
};

/* ---- the configuration ---- */

static const kc__config_member toleration_members[] = {
    {"key", KC__CONFIG_STRING, NULL},
    {"operator", KC__CONFIG_STRING, NULL},
    {"value", KC__CONFIG_STRING, NULL},
    {"effect", KC__CONFIG_STRING, NULL},
    {"tolerationSeconds", KC__CONFIG_INTEGER, NULL},
    {0}};
static const kc__config_member limit_members[] = {
    {"default", KC__CONFIG_OBJECTS, toleration_members},
    {"whitelist", KC__CONFIG_OBJECTS, toleration_members},
    {0}};
static const char *const limit_versions[] = {"podtolerationrestriction.admission.k8s.io/v1alpha1",
                                             NULL};
static const kc__config_type limits_type = {
    .api_versions = limit_versions, .kind = "Configuration", .members = limit_members};

static int validate_limits(const kc_value *root, kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) why = {0};
    const kc__location at = kc__location_root(root, &errors);
    const kc__location defaults = kc__location_member(&at, "default"),
                       whitelist = kc__location_member(&at, "whitelist");
    kc__validate_tolerations(&defaults);
    kc__validate_tolerations(&whitelist);
    if (kc__config_errors(&errors, &why) == 0)
        return 0;
    return kc_error_set(err, KC_INVALID, "invalid config: %s", kc_error_text(&why));
}

kc__admission_toleration_limits *kc__admission_toleration_limits_free(
    kc__admission_toleration_limits *limits)
{
    if (!limits)
        return NULL;
    kc_view_free(limits->view);
    free(limits);
    return NULL;
}

kc__admission_toleration_limits *kc__admission_toleration_limits_parse(kc_str text, kc_error *err)
{
    kc_auto(kc_view) *view = kc__config_parse(text, &limits_type, err);
    if (!view || validate_limits(kc_view_root(view), err) < 0)
        return NULL;
    kc__admission_toleration_limits *limits = kc_new(kc__admission_toleration_limits);
    limits->view = kc_take(view);
    return limits;
}

static const kc_value *configured_tolerations(const kc__rest_call *call, const char *member)
{
    const kc__admission_config *config = call->api->admission_config;
    if (!config || !config->toleration_limits)
        return NULL;
    return kc_value_get(kc_view_root(config->toleration_limits->view), member);
}

/* ---- annotations ---- */

/* The list of a namespace. `view` NULL: the namespace has none, and that of the configuration
 * counts. */
typedef struct namespace_tolerations {
    kc_view *view;
    bool empty; /* The annotation is empty: an empty list. */
} namespace_tolerations;

/* Go shows a number that does not fit into an integer. */
static kc__rest_verdict fail_unmarshal(kc__rest_call *call, const kc_value *value, bool to_integer,
                                       const char *target)
{
    kc_scoped(kc_buf) shown = {0};
    const char *type = kc__rest_go_json_type(value);
    if (to_integer && !strcmp(type, "number")) {
        kc_buf_putc(&shown, ' ');
        kc_json_write(&shown, value);
    }
    return kc__rest_fail(call, KC_UNKNOWN, "json: cannot unmarshal %s%s into Go %s", type,
                         kc_buf_cstr(&shown), target);
}

static kc__rest_verdict check_toleration_types(kc__rest_call *call, const kc_value *toleration)
{
    if (kc_value_type(toleration) != KC_JSON_OBJECT)
        return fail_unmarshal(call, toleration, false, "value of type v1.Toleration");
    kc_value_each_member (toleration, name, value) {
        const bool seconds = kc_str_is(name, "tolerationSeconds");
        const kc_json_type type = kc_value_type(value);
        int64_t number;
        const char *target =
            kc_arena_printf(call->arena, "struct field Toleration.%.*s of type %s", KC_ARG(name),
                            seconds                       ? "int64"
                            : kc_str_is(name, "operator") ? "v1.TolerationOperator"
                            : kc_str_is(name, "effect")   ? "v1.TaintEffect"
                                                          : "string");
        static const char *const texts[] = {"key", "operator", "value", "effect", NULL};
        if (type == KC_JSON_NULL || (!seconds && !kc_str_is_any(name, texts)))
            continue;
        if (seconds ? !kc_value_as_i64(value, &number) : type != KC_JSON_STRING)
            return fail_unmarshal(call, value, seconds, target);
    }
    return KC__REST_NEXT;
}

static kc__rest_verdict check_list_types(kc__rest_call *call, const kc_value *list)
{
    if (kc_value_type(list) == KC_JSON_NULL)
        return KC__REST_NEXT;
    if (kc_value_type(list) != KC_JSON_ARRAY)
        return fail_unmarshal(call, list, false, "value of type []v1.Toleration");
    kc_value_each_item (list, toleration)
        if (kc_value_type(toleration) != KC_JSON_NULL &&
            check_toleration_types(call, toleration) != KC__REST_NEXT)
            return KC__REST_FAIL;
    return KC__REST_NEXT;
}

static kc__rest_verdict parse_tolerations(kc__rest_call *call, kc_str json, kc_view **ret_view)
{
    kc_scoped(kc_buf) why = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, &err);
    if (!view)
        return kc__rest_fail(call, KC_UNKNOWN, "%s",
                             kc__rest_go_json_error(json, &why) ? kc_buf_cstr(&why)
                                                                : kc_error_text(&err));
    if (check_list_types(call, kc_view_root(view)) != KC__REST_NEXT)
        return KC__REST_FAIL;
    *ret_view = kc_take(view);
    return KC__REST_NEXT;
}

static kc__rest_verdict read_namespace_tolerations(kc__rest_call *call, const char *annotation,
                                                   namespace_tolerations *ret)
{
    kc_auto(kc_object) *space = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    if (!space) {
        kc__rest_fail(call, KC_NOT_FOUND, "namespaces \"%.*s\" not found", KC_ARG(call->info.ns));
        kc_error_about(&call->error, KC_STR(""), KC_STR("namespaces"), call->info.ns);
        return KC__REST_FAIL;
    }
    kc_auto(kc_view) *view = kc_view_of(space);
    const kc_str json = kc__admission_annotation_of(kc_view_root(view), annotation);
    if (kc__admission_needs_worker(call, json.n > LONG_TEXT))
        return KC__REST_ON_WORKER;
    ret->empty = json.p && !json.n;
    return json.n ? parse_tolerations(call, json, &ret->view) : KC__REST_NEXT;
}

/* ---- mutation ---- */

/* As Kubernetes: the class in the status, which a client may have sent, or the computed one. */
static bool is_best_effort(const kc_node *pod)
{
    const kc_str class = kc__defaults_node_text(kc_node_get(pod, KC_STR("status")), "qosClass");
    const kc_node *spec = kc_node_get(pod, KC_STR("spec"));
    return class.n ? kc_str_is(class, "BestEffort") : !strcmp(kc__qos_class(spec), "BestEffort");
}

/* Appends the default tolerations of the namespace to a JSON array. */
static kc__rest_verdict write_defaults(kc__rest_call *call, kc_buf *out)
{
    namespace_tolerations own = {0};
    const kc__rest_verdict verdict = read_namespace_tolerations(call, DEFAULTS, &own);
    const kc_value *list = own.view    ? kc_view_root(own.view)
                           : own.empty ? NULL
                                       : configured_tolerations(call, "default");
    kc_value_each_item (list, toleration) {
        kc_buf_puts(out, out->n > 1 ? "," : "");
        kc_json_write(out, toleration);
    }
    kc_view_free(own.view);
    return verdict;
}

static kc__rest_verdict merge_tolerations(kc__rest_call *call, kc_edit *edit)
{
    kc_scoped(kc_buf) more = {0};
    kc_node *root = kc_edit_root(edit);
    kc_buf_putc(&more, '[');
    const kc__rest_verdict verdict = call->current ? KC__REST_NEXT : write_defaults(call, &more);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (!is_best_effort(root))
        kc_buf_printf(&more, "%s" MEMORY_PRESSURE, more.n > 1 ? "," : "");
    if (more.n == 1)
        return KC__REST_NEXT;
    kc_buf_putc(&more, ']');
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&more), NULL, &call->error);
    if (!view)
        return KC__REST_FAIL;
    kc__admission_merge_tolerations(edit, kc_node_get(root, KC_STR("spec")), kc_view_root(view));
    return KC__REST_NEXT;
}

/* ---- validation ---- */

static kc__rest_verdict check_whitelist(kc__rest_call *call, const kc_value *tolerations)
{
    namespace_tolerations own = {0};
    if (!kc_value_len(tolerations))
        return KC__REST_NEXT;
    kc__rest_verdict verdict = read_namespace_tolerations(call, WHITELIST, &own);
    const bool of_namespace = own.view || own.empty;
    const kc_value *list = own.view    ? kc_view_root(own.view)
                           : own.empty ? NULL
                                       : configured_tolerations(call, "whitelist");
    if (verdict == KC__REST_NEXT && kc_value_len(list) &&
        !kc__admission_covers_tolerations(list, tolerations))
        verdict = kc__rest_fail(call, KC_UNKNOWN,
                                "pod tolerations (possibly merged with namespace default "
                                "tolerations) conflict with its %s whitelist",
                                of_namespace ? "namespace" : "cluster");
    kc_view_free(own.view);
    return verdict;
}

kc__rest_verdict kc__admission_toleration_restriction_validate(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_auto(kc_view) *pod = kc_view_of(call->proposed);
    const kc_value *tolerations = kc_value_nested(kc_view_root(pod), "spec.tolerations");
    if (kc__admission_needs_worker(call, kc_value_len(tolerations) > MANY_TOLERATIONS))
        return KC__REST_ON_WORKER;
    return check_whitelist(call, tolerations);
}

kc__rest_verdict kc__admission_toleration_restriction_mutate(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    const kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    const size_t n = kc_node_len(kc_node_get(spec, KC_STR("tolerations")));
    if (kc__admission_needs_worker(call, n > MANY_TOLERATIONS))
        return KC__REST_ON_WORKER;
    const kc__rest_verdict verdict = merge_tolerations(call, edit);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_auto(kc_view) *view = kc_edit_view(edit, &call->error);
    return view ? check_whitelist(call, kc_value_nested(kc_view_root(view), "spec.tolerations"))
                : KC__REST_FAIL;
}
