/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_taints.c: taints that follow from a node's conditions.
 *
 * NoSchedule taints keep new pods away; they follow the conditions at once. NoExecute taints
 * (not-ready, unreachable) evict pods; a node has at most one of the two, and zones.c decides when
 * it may have it. Taints of other owners stay, and an existing taint keeps its timeAdded.
 *
 * To follow another condition: a row in the table.
 */
#include "nodelifecycle/lifecycle.h"

static const struct {
    const char *condition, *status, *taint;
} rows[] = {
    {"Ready", "False", KC__LIFECYCLE_NOT_READY},
    {"Ready", "Unknown", KC__LIFECYCLE_UNREACHABLE},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {NULL, NULL, "node.kubernetes.io/unschedulable"}, /* From spec.unschedulable. */
};

static bool applies(const kc_cluster_node *node, size_t row)
{
    if (!rows[row].condition)
        return node->spec.unschedulable;
    const kc_node_condition *c = kc__lifecycle_node_condition(node, rows[row].condition);
    return c && !strcmp(c->status, rows[row].status);
}

static bool lifecycle_taints_equals(const kc_taint *taint, const char *key, const char *effect)
{
    return !strcmp(taint->key, key) && !strcmp(taint->effect, effect);
}

bool kc__lifecycle_has_taint(const kc_cluster_node *node, const char *key, const char *effect)
{
    for (size_t i = 0; i < node->spec.n_taints; i++)
        if (lifecycle_taints_equals(&node->spec.taints[i], key, effect))
            return true;
    return false;
}

/* An existing taint stays if it is wanted or not managed here. */
static bool may_stay(const kc_cluster_node *node, const kc_taint *taint, const char *no_execute)
{
    if (lifecycle_taints_equals(taint, KC__LIFECYCLE_NOT_READY, KC__LIFECYCLE_NO_EXECUTE) ||
        lifecycle_taints_equals(taint, KC__LIFECYCLE_UNREACHABLE, KC__LIFECYCLE_NO_EXECUTE))
        return no_execute && !strcmp(taint->key, no_execute);
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (lifecycle_taints_equals(taint, rows[i].taint, KC__LIFECYCLE_NO_SCHEDULE))
            return applies(node, i);
    return true;
}

typedef struct building {
    kc_cluster_node *node;
    kc_taint *taints;
    size_t n;
    kc_time now;
    bool changed;
} building;

static void want(building *b, const char *key, const char *effect)
{
    kc_arena *arena = b->node->metadata.arena;
    if (kc__lifecycle_has_taint(b->node, key, effect))
        return;
    b->taints[b->n++] = (kc_taint){.key = kc_arena_printf(arena, "%s", key),
                                   .effect = kc_arena_printf(arena, "%s", effect),
                                   .time_added = {b->now}};
    b->changed = true;
}

bool kc__lifecycle_node_set_taints(kc_cluster_node *node, const char *no_execute, kc_time now)
{
    kc_node_spec *spec = &node->spec;
    building b = {.node = node, .now = now};
    b.taints = kc_arena_calloc(node->metadata.arena, spec->n_taints + KC_COUNT(rows) + 1,
                               sizeof(*b.taints));
    for (size_t i = 0; i < spec->n_taints; i++)
        if (may_stay(node, &spec->taints[i], no_execute))
            b.taints[b.n++] = spec->taints[i];
    b.changed = b.n != spec->n_taints;
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (applies(node, i))
            want(&b, rows[i].taint, KC__LIFECYCLE_NO_SCHEDULE);
    if (no_execute)
        want(&b, no_execute, KC__LIFECYCLE_NO_EXECUTE);
    spec->taints = b.taints;
    spec->n_taints = b.n;
    return b.changed;
}

/* ---- labels ---- */

static kc_string_pair *find_label(const kc_string_map *labels, const char *key)
{
    for (size_t i = 0; i < labels->n; i++)
        if (!strcmp(labels->items[i].key, key))
            return &labels->items[i];
    return NULL;
}

static bool follow_label(kc_cluster_node *node, const char *from, const char *to)
{
    kc_string_map *labels = &node->metadata.labels;
    kc_arena *arena = node->metadata.arena;
    const kc_string_pair *newer = find_label(labels, from);
    kc_string_pair *older = find_label(labels, to);
    if (!newer || (older && !strcmp(newer->value, older->value)))
        return false;
    if (older) {
        older->value = newer->value;
        return true;
    }
    kc_string_pair *all = kc_arena_calloc(arena, labels->n + 1, sizeof(*all));
    memcpy(all, labels->items, labels->n * sizeof(*all));
    all[labels->n] = (kc_string_pair){kc_arena_printf(arena, "%s", to), newer->value};
    *labels = (kc_string_map){all, labels->n + 1};
    return true;
}

bool kc__lifecycle_node_set_labels(kc_cluster_node *node)
{
    const bool os = follow_label(node, "kubernetes.io/os", "beta.kubernetes.io/os");
    const bool arch = follow_label(node, "kubernetes.io/arch", "beta.kubernetes.io/arch");
    return os || arch;
}
