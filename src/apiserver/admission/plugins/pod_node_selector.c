/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_node_selector.c: implements the admission plugin PodNodeSelector.
 *
 *     podNodeSelectorPluginConfig:
 *       clusterDefaultNodeSelector: env=prod      selector of namespaces without the annotation
 *       team-a: env=test,disk=ssd                 the only labels that pods of team-a may select
 *
 * A namespace sets its selector with the annotation scheduler.alpha.kubernetes.io/node-selector.
 * The selector joins that of each new pod. A pod that selects another value of the same label, or
 * labels that its namespace is not allowed, is rejected. A text is a list of KEY=VALUE, and is
 * parsed for each pod, as in Kubernetes: an error in an annotation is an error of the pod.
 */
#include "apiserver/admission/plugins/pod_node_selector.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/admission/chain/plugin_request.h"
#include "kc/map.h"
#include "kc/names.h"
#include "kc/yaml.h"

#define ANNOTATION "scheduler.alpha.kubernetes.io/node-selector"
#define DEFAULT    "clusterDefaultNodeSelector"

enum { LONG_TEXT = 8 << 10 }; /* Bytes; longer ones are parsed on a worker. */

struct kc__admission_node_selectors {
    kc_view *view;
};

/* ---- the configuration ---- */

kc__admission_node_selectors *kc__admission_node_selectors_free(
    kc__admission_node_selectors *selectors)
{
    if (!selectors)
        return NULL;
    kc_view_free(selectors->view);
    free(selectors);
    return NULL;
}

static const kc_value *texts_of_config(const kc_value *root)
{
    return kc_value_get(root, "podNodeSelectorPluginConfig");
}

kc__admission_node_selectors *kc__admission_node_selectors_parse(kc_str text, kc_error *err)
{
    kc_auto(kc_view) *view = kc_yaml_parse(text, NULL, err);
    if (!view)
        return NULL;
    const kc_value *texts = texts_of_config(kc_view_root(view));
    if (kc_value_type(texts) != KC_JSON_OBJECT) {
        kc_error_set(err, KC_INVALID, "podNodeSelectorPluginConfig: Required value");
        return NULL;
    }
    kc_value_each_member (texts, name, value)
        if (kc_value_type(value) != KC_JSON_STRING) {
            kc_error_set(err, KC_INVALID, "podNodeSelectorPluginConfig.%.*s: must be a string",
                         KC_ARG(name));
            return NULL;
        }
    kc__admission_node_selectors *selectors = kc_new(kc__admission_node_selectors);
    selectors->view = kc_take(view);
    return selectors;
}

static kc_str configured_text(const kc__rest_call *call, kc_str name)
{
    const kc__admission_config *config = call->api->admission_config;
    if (!config || !config->node_selectors)
        return (kc_str){0};
    const kc_value *texts = texts_of_config(kc_view_root(config->node_selectors->view));
    return kc_value_as_str(kc_value_get_str(texts, name));
}

/* ---- sets of labels ---- */

/* Keys are labels, values are their values (kc_str, in the arena of the call). */
typedef kc_map node_labels;

static kc_str node_label_value(const void *value)
{
    return *(const kc_str *)value;
}

static void set_node_label(kc__rest_call *call, node_labels *labels, kc_str key, kc_str value)
{
    kc_str *own = kc_arena_new(call->arena, kc_str);
    *own = value;
    kc_map_put(labels, key, own);
}

/* The problems of a name, joined; NULL: it is valid. */
static const char *name_problems(kc__rest_call *call, kc_name_rule rule, kc_str text)
{
    const char *messages[KC_NAME_MESSAGES];
    const size_t n = kc_name_check(rule, text, messages);
    const char *all = NULL;
    for (size_t i = 0; i < n; i++)
        all = all ? kc_arena_printf(call->arena, "%s; %s", all, messages[i]) : messages[i];
    return all;
}

static kc__rest_verdict check_node_label(kc__rest_call *call, kc_str key, kc_str value)
{
    const char *problem = name_problems(call, KC_NAME_QUALIFIED, key);
    if (problem)
        return kc__rest_fail(call, KC_UNKNOWN, "<nil>: Invalid value: \"%.*s\": %s", KC_ARG(key),
                             problem);
    problem = name_problems(call, KC_NAME_LABEL_VALUE, value);
    if (problem)
        return kc__rest_fail(call, KC_UNKNOWN, "[%.*s]: Invalid value: \"%.*s\": %s", KC_ARG(key),
                             KC_ARG(value), problem);
    return KC__REST_NEXT;
}

/* "a=b" has one '='; Go prints the parts of another text as a list. */
static kc__rest_verdict fail_selector(kc__rest_call *call, kc_str label)
{
    char *parts = kc_arena_strndup(call->arena, label.p, label.n);
    for (char *c = parts; *c; c++)
        if (*c == '=')
            *c = ' ';
    return kc__rest_fail(call, KC_UNKNOWN, "invalid selector: [%s]", parts);
}

/* Adds the labels of a text to *ret. Fails the call if the text is invalid. */
static kc__rest_verdict parse_node_labels(kc__rest_call *call, kc_str text, node_labels *ret)
{
    kc_str rest = text.n ? kc_arena_str(call->arena, text) : (kc_str){0};
    while (rest.p) {
        const kc_str label = kc_str_cut(&rest, ',');
        kc_str value = label;
        const kc_str key = kc_str_cut(&value, '=');
        if (!value.p || kc_str_find(value, '=') >= 0)
            return fail_selector(call, label);
        if (check_node_label(call, kc_str_trim(key), kc_str_trim(value)) != KC__REST_NEXT)
            return KC__REST_FAIL;
        set_node_label(call, ret, kc_str_trim(key), kc_str_trim(value));
    }
    return KC__REST_NEXT;
}

/* ---- the checks ---- */

/* A pod, of the draft or proposed. */
typedef struct selecting_pod {
    kc_str name;
    const kc_value *selector;
} selecting_pod;

static kc__rest_verdict forbid_selector(kc__rest_call *call, const selecting_pod *pod,
                                        const char *why)
{
    if (pod->name.n)
        kc__rest_fail(call, KC_FORBIDDEN, "pods \"%.*s\" is forbidden: %s", KC_ARG(pod->name), why);
    else
        kc__rest_fail(call, KC_FORBIDDEN, "pods is forbidden: %s", why);
    kc_error_about(&call->error, KC_STR(""), KC_STR("pods"), pod->name);
    return KC__REST_FAIL;
}

/* The selector of the call's namespace: that of its annotation, or the default. */
static kc__rest_verdict read_namespace_selector(kc__rest_call *call, node_labels *ret)
{
    kc_auto(kc_object) *space = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    if (!space)
        return kc__rest_fail(call, KC_INTERNAL,
                             "Internal error occurred: namespace %.*s does not exist",
                             KC_ARG(call->info.ns));
    kc_auto(kc_view) *view = kc_view_of(space);
    const kc_str own = kc__admission_annotation_of(kc_view_root(view), ANNOTATION);
    if (kc__admission_needs_worker(call, own.n > LONG_TEXT))
        return KC__REST_ON_WORKER;
    return parse_node_labels(call, own.p ? own : configured_text(call, KC_STR(DEFAULT)), ret);
}

static kc__rest_verdict check_conflicts(kc__rest_call *call, const selecting_pod *pod,
                                        const node_labels *wanted)
{
    kc_value_each_member (pod->selector, key, value) {
        const void *label = kc_map_get(wanted, key);
        if (label && !kc_str_eq(kc_value_as_str(value), node_label_value(label)))
            return forbid_selector(
                call, pod,
                "pod node label selector conflicts with its namespace node label selector");
    }
    return KC__REST_NEXT;
}

/* The labels of the namespace's entry in the configuration are the only ones that a pod may
 * select. Without an entry it may select all. */
static kc__rest_verdict check_allowed_labels(kc__rest_call *call, const selecting_pod *pod)
{
    kc_scoped(kc_map) allowed = {0};
    kc__rest_verdict verdict =
        parse_node_labels(call, configured_text(call, call->info.ns), &allowed);
    kc_value_each_member (pod->selector, key, value) {
        const void *label = kc_map_get(&allowed, key);
        if (verdict == KC__REST_NEXT && allowed.n &&
            (!label || !kc_str_eq(node_label_value(label), kc_value_as_str(value))))
            verdict = forbid_selector(
                call, pod, "pod node label selector labels conflict with its namespace whitelist");
    }
    return verdict;
}

/* ---- the plugin ---- */

static void merge_selector(kc_edit *edit, const node_labels *labels)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    if (!labels->n || !spec)
        return;
    kc_node *selector = kc_node_ensure_object(edit, spec, KC_STR("nodeSelector"));
    kc_map_each (labels, label)
        if (!kc_node_get(selector, label->key))
            kc_node_set(edit, selector, label->key,
                        kc_node_str(edit, node_label_value(label->value)));
}

/* Checks a pod, and merges the selector of its namespace into `edit`, unless it is NULL. */
static kc__rest_verdict admit_selector(kc__rest_call *call, const kc_value *pod, kc_edit *edit)
{
    kc_scoped(kc_map) wanted = {0};
    const selecting_pod own = {.name = kc_value_as_str(kc_value_nested(pod, "metadata.name")),
                               .selector = kc_value_nested(pod, "spec.nodeSelector")};
    kc__rest_verdict verdict = read_namespace_selector(call, &wanted);
    if (verdict == KC__REST_NEXT)
        verdict = check_conflicts(call, &own, &wanted);
    if (verdict == KC__REST_NEXT && edit)
        merge_selector(edit, &wanted);
    return verdict == KC__REST_NEXT && !edit ? check_allowed_labels(call, &own) : verdict;
}

kc__rest_verdict kc__admission_pod_node_selector_validate(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    return admit_selector(call, kc_view_root(view), NULL);
}

kc__rest_verdict kc__admission_pod_node_selector_mutate(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_auto(kc_view) *sent = kc_edit_view(edit, &call->error);
    const kc__rest_verdict verdict =
        sent ? admit_selector(call, kc_view_root(sent), edit) : KC__REST_FAIL;
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_auto(kc_view) *merged = kc_edit_view(edit, &call->error);
    return merged ? admit_selector(call, kc_view_root(merged), NULL) : KC__REST_FAIL;
}
