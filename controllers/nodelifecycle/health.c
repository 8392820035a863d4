/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c: marks a lost node in its status: the condition Ready and the pressure conditions become
 * Unknown. NetworkUnavailable is not reported by the kubelet and stays as it is.
 */
#include "nodelifecycle/lifecycle.h"

kc_node_condition *kc__lifecycle_node_condition(const kc_cluster_node *node, const char *type)
{
    for (size_t i = 0; i < node->status.n_conditions; i++)
        if (!strcmp(node->status.conditions[i].type, type))
            return &node->status.conditions[i];
    return NULL;
}

static kc_node_condition *add_condition(kc_cluster_node *node)
{
    kc_node_status *status = &node->status;
    const size_t n = status->n_conditions;
    kc_node_condition *all = kc_arena_calloc(node->metadata.arena, n + 1, sizeof(*all));
    if (n)
        memcpy(all, status->conditions, n * sizeof(*all));
    status->conditions = all;
    status->n_conditions++;
    return &all[n];
}

static bool lose_condition(kc_cluster_node *node, const char *type, kc_time now)
{
    kc_arena *arena = node->metadata.arena;
    kc_node_condition *c = kc__lifecycle_node_condition(node, type);
    if (c && !strcmp(c->status, "Unknown"))
        return false;
    const bool never = !c;
    if (never) {
        c = add_condition(node);
        c->type = kc_arena_printf(arena, "%s", type);
        c->last_heartbeat_time = node->metadata.creation_timestamp;
    }
    c->status = kc_arena_printf(arena, "Unknown");
    c->reason = kc_arena_printf(arena, never ? "NodeStatusNeverUpdated" : "NodeStatusUnknown");
    c->message = kc_arena_printf(arena, never ? "Kubelet never posted node status."
                                              : "Kubelet stopped posting node status.");
    c->last_transition_time = (kc_timestamp){now};
    return true;
}

bool kc__lifecycle_node_mark_lost(kc_cluster_node *node, kc_time now)
{
    static const char *const pressures[] = {"MemoryPressure", "DiskPressure", "PIDPressure"};
    if (!lose_condition(node, "Ready", now))
        return false;
    for (size_t i = 0; i < KC_COUNT(pressures); i++)
        lose_condition(node, pressures[i], now);
    return true;
}
