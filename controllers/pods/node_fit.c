/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_fit.c: whether a node matches a pod's nodeSelector and node affinity, and whether the pod
 * tolerates the node's NoExecute taints (other effects are the scheduler's).
 */
#include "pods/nodes.h"

#include "common/taints.h"

static const char *pods_node_fit_label_of(const kc_cluster_node *node, const char *key)
{
    for (size_t i = 0; i < node->metadata.labels.n; i++)
        if (!strcmp(node->metadata.labels.items[i].key, key))
            return node->metadata.labels.items[i].value;
    return NULL;
}

/* ---- affinity ---- */

static bool is_among(const char *value, const kc_selector_requirement *r)
{
    for (size_t i = 0; value && i < r->n_values; i++)
        if (!strcmp(value, r->values[i]))
            return true;
    return false;
}

/* Gt and Lt. */
static bool compares(const char *value, const kc_selector_requirement *r, bool greater)
{
    int64_t have, limit;
    if (!value || r->n_values != 1 || !kc_str_to_i64(kc_cstr(value), &have) ||
        !kc_str_to_i64(kc_cstr(r->values[0]), &limit))
        return false;
    return greater ? have > limit : have < limit;
}

static bool satisfies(const char *value, const kc_selector_requirement *r)
{
    const char *op = r->operator;
    if (!strcmp(op, "In"))
        return is_among(value, r);
    if (!strcmp(op, "NotIn"))
        return !is_among(value, r);
    if (!strcmp(op, "Exists"))
        return value;
    if (!strcmp(op, "DoesNotExist"))
        return !value;
    return compares(value, r, !strcmp(op, "Gt"));
}

/* All requirements of a term must match; an empty term matches nothing. */
static bool term_matches(const kc_cluster_node *node, const kc_node_selector_term *term)
{
    for (size_t i = 0; i < term->n_match_expressions; i++)
        if (!satisfies(pods_node_fit_label_of(node, term->match_expressions[i].key),
                       &term->match_expressions[i]))
            return false;
    for (size_t i = 0; i < term->n_match_fields; i++) {
        const bool name = !strcmp(term->match_fields[i].key, "metadata.name");
        if (!name || !satisfies(node->metadata.name, &term->match_fields[i]))
            return false;
    }
    return term->n_match_expressions + term->n_match_fields > 0;
}

static bool is_wanted(const kc_cluster_node *node, const kc_node_selector *wanted)
{
    for (size_t i = 0; i < wanted->n_node_selector_terms; i++)
        if (term_matches(node, &wanted->node_selector_terms[i]))
            return true;
    return false;
}

static bool is_selected(const kc_cluster_node *node, const kc_string_map *selector)
{
    for (size_t i = 0; i < selector->n; i++) {
        const char *value = pods_node_fit_label_of(node, selector->items[i].key);
        if (!value || strcmp(value, selector->items[i].value) != 0)
            return false;
    }
    return true;
}

/* ---- taints ---- */

static bool is_driven_away(const kc_cluster_node *node, const kc_pod *pod)
{
    for (size_t i = 0; i < node->spec.n_taints; i++) {
        const kc_taint *taint = &node->spec.taints[i];
        if (!strcmp(taint->effect, "NoExecute") && !kc__common_find_toleration(pod, taint))
            return true;
    }
    return false;
}

/* ---- checks ---- */

const char *kc__pods_node_refuses(const kc_cluster_node *node, const kc_pod *pod,
                                  const char **ret_why)
{
    const kc_affinity *affinity = pod->spec.affinity;
    const kc_node_selector *wanted =
        affinity && affinity->node_affinity ? affinity->node_affinity->required : NULL;
    if (!is_selected(node, &pod->spec.node_selector) || (wanted && !is_wanted(node, wanted))) {
        *ret_why = "node(s) didn't match Pod's node affinity/selector";
        return "NodeAffinity";
    }
    if (is_driven_away(node, pod)) {
        *ret_why = "node(s) had taints that the pod didn't tolerate";
        return "TaintToleration";
    }
    return NULL;
}
