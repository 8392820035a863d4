/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c: applies events to the cluster and the queue.
 *
 * States of a pod: queued → assumed (a node is selected; the pod counts there while the binding is
 * written, and until the watch delivers it) → assigned → deleted or terminated. A late watch shows
 * an assumed pod without a node for a while, which changes nothing. If the watch shows another node
 * than the assumed one, the watch is right. An assumption has no expiry: the watch or the next list
 * shows every bound pod as assigned or deleted, and dropping the assumption earlier would
 * overcommit the node.
 *
 * Events only record which unschedulable pods they may help; after all events of a batch one pass
 * over the queue moves those pods (kc__sched_engine_move), so that a thousand changes cost one
 * pass.
 */
#include "scheduler/engine.h"

void kc__sched_engine_touch(kc__sched_engine *e, kc__sched_node *host, unsigned change)
{
    e->changes |= change;
    if (!host || host->touched)
        return;
    host->touched = true;
    kc_vec_push(&e->touched, host->slot);
}

/* ---- pods ---- */

static void sched_changes_forget(kc__sched_engine *e, kc__sched_pod *place)
{
    if (place->host)
        kc__sched_engine_touch(e, place->host, KC__SCHED_POD_REMOVED);
    kc__sched_queue_remove(&e->pending, place);
    kc__sched_cluster_remove_pod(&e->cluster, place);
}

static bool same_labels(const kc__sched_demand *a, const kc__sched_demand *b)
{
    return kc_str_eq(kc_object_labels_json(a->object), kc_object_labels_json(b->object));
}

static bool takes_less(const kc__sched_demand *now, const kc__sched_demand *before)
{
    return now->requests.cpu < before->requests.cpu ||
           now->requests.memory < before->requests.memory;
}

/* A pod with a node. */
static void apply_placed(kc__sched_engine *e, kc__sched_pod *place, kc__sched_demand *demand)
{
    const bool changed =
        place && place->host &&
        (!same_labels(place->demand, demand) || takes_less(demand, place->demand) ||
         place->demand->leaving != demand->leaving);
    if (place)
        kc__sched_queue_remove(&e->pending, place);
    place = kc__sched_cluster_set_pod(&e->cluster, demand);
    kc__sched_pod_nominate(&e->cluster, place, NULL);
    place->assumed = false;
    free(kc_take(place->last_event));
    if (place->host && strcmp(place->host->name, demand->node) != 0) {
        kc__sched_engine_touch(e, place->host, KC__SCHED_POD_REMOVED);
        kc__sched_pod_unassign(&e->cluster, place);
    }
    if (!place->host) {
        kc__sched_pod_assign(&e->cluster, place, kc_cstr(demand->node));
        kc__sched_engine_touch(e, place->host, KC__SCHED_POD_ADDED);
    }
    if (changed)
        kc__sched_engine_touch(e, place->host, KC__SCHED_POD_ADDED | KC__SCHED_POD_REMOVED);
}

static void sched_changes_enqueue(kc__sched_engine *e, kc__sched_pod *place)
{
    kc__sched_queue_add(&e->pending, place, kc_clock_now(e->clock));
    if (place->state == KC__SCHED_GATED)
        kc__sched_engine_report_gated(e, place);
}

/* An earlier leader has nominated it there. */
static void restore_nomination(kc__sched_engine *e, kc__sched_pod *place)
{
    const kc__sched_wants *w = place->demand->wants;
    if (w && w->nominated)
        kc__sched_pod_nominate(&e->cluster, place,
                               kc__sched_cluster_node(&e->cluster, kc_cstr(w->nominated)));
}

/* Nodes may be delivered after pods: nominations are resolved when all listeners have synced. */
static void apply_synced(kc__sched_engine *e)
{
    if (--e->awaited)
        return;
    kc_map_each (&e->cluster.places, entry)
        restore_nomination(e, entry->value);
}

static void apply_new(kc__sched_engine *e, kc__sched_demand *demand)
{
    kc__sched_pod *place = kc__sched_cluster_set_pod(&e->cluster, demand);
    if (!e->awaited)
        restore_nomination(e, place);
    sched_changes_enqueue(e, place);
}

/* Only a change of the pod's requirements requeues it, not a change of its status. */
static bool demand_differs(const kc__sched_demand *now, const kc__sched_demand *before)
{
    return !same_labels(now, before) || now->wants->n_gates != before->wants->n_gates ||
           kc_object_generation(now->object) != kc_object_generation(before->object);
}

static void apply_waiting(kc__sched_engine *e, kc__sched_pod *place, kc__sched_demand *demand)
{
    if (!place && (demand->leaving || !demand->ours)) {
        kc__sched_demand_free(demand);
        return;
    }
    if (!place) {
        apply_new(e, demand);
        return;
    }
    const bool differs = !place->host && demand_differs(demand, place->demand);
    const bool leaving = demand->leaving;
    kc__sched_cluster_set_pod(&e->cluster, demand);
    if (leaving && !place->assumed)
        sched_changes_forget(e, place);
    else if (differs)
        sched_changes_enqueue(e, place);
}

static void apply_pod(kc__sched_engine *e, const kc__sched_event *note)
{
    kc_scoped(kc_buf) key = {0};
    kc_scoped(kc_error) err = {0};
    kc_key_write(&key, kc_object_key(note->object));
    kc__sched_pod *place = kc__sched_cluster_pod(&e->cluster, kc_buf_str(&key));
    if (place && (note->gone || !kc_str_eq(place->demand->uid, kc_object_uid(note->object)))) {
        sched_changes_forget(e, place);
        place = NULL;
    }
    kc__sched_demand *demand =
        note->gone ? NULL : kc__sched_demand_of(note->object, &e->cluster.terms, &err);
    if (!demand && !note->gone)
        kc_log_warn(e->log, "failed to decode pod", kc_kv("pod", kc_buf_str(&key)),
                    kc_kv("err", &err));
    if (demand && demand->finished) {
        if (place)
            sched_changes_forget(e, place);
        kc__sched_demand_free(demand);
    } else if (demand && demand->node) {
        apply_placed(e, place, demand);
    } else if (demand) {
        apply_waiting(e, place, demand);
    }
}

/* ---- nodes and other objects ---- */

static void apply_node(kc__sched_engine *e, const kc__sched_event *note)
{
    kc_scoped(kc_error) err = {0};
    if (note->gone) {
        kc__sched_cluster_remove_node(&e->cluster, kc_object_name(note->object));
        e->changes |= KC__SCHED_NODE_CHANGED; /* One topology domain less. */
        return;
    }
    const kc__sched_node *known = kc__sched_cluster_node(&e->cluster, kc_object_name(note->object));
    const uint64_t version = known ? known->version : 0;
    kc__sched_node *host = kc__sched_cluster_set_node(&e->cluster, note->object, &err);
    if (host && host->version != version)
        kc__sched_engine_touch(e, host, KC__SCHED_NODE_CHANGED);
    if (!host)
        kc_log_warn(e->log, "failed to decode node", kc_kv("node", kc_object_name(note->object)),
                    kc_kv("err", &err));
}

/* ---- results of jobs ---- */

static kc__sched_pod *sched_changes_position_of(const kc__sched_engine *e, const kc_object *pod)
{
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, kc_object_key(pod));
    kc__sched_pod *place = kc__sched_cluster_pod(&e->cluster, kc_buf_str(&key));
    return place && kc_str_eq(place->demand->uid, kc_object_uid(pod)) ? place : NULL;
}

static void apply_result(kc__sched_engine *e, const kc__sched_event *note)
{
    kc__sched_pod *place = sched_changes_position_of(e, note->object);
    if (!place)
        return;
    if (note->type == KC__SCHED_EVENT_STATUS_WRITTEN || note->type == KC__SCHED_EVENT_STATUS_FAILED)
        kc__sched_engine_status_written(e, place);
    if (note->type == KC__SCHED_EVENT_BIND_FAILED && place->assumed) {
        kc__sched_engine_touch(e, place->host, KC__SCHED_POD_REMOVED);
        kc__sched_pod_unassign(&e->cluster, place);
        place->assumed = false;
        kc__sched_engine_failed(e, place, note->text);
    } else if (note->type == KC__SCHED_EVENT_STATUS_FAILED) {
        kc__sched_queue_move(&e->pending, place, kc_clock_now(e->clock));
    } else if (note->type == KC__SCHED_EVENT_PREEMPTED) {
        place->preempting = false;
        kc__sched_queue_move(&e->pending, place, kc_clock_now(e->clock));
    }
}

void kc__sched_engine_apply(kc__sched_engine *e, const kc__sched_event *note)
{
    const kc_object *object = note->gone ? NULL : note->object;
    switch (note->type) {
    case KC__SCHED_EVENT_NODE: apply_node(e, note); break;
    case KC__SCHED_EVENT_POD: apply_pod(e, note); break;
    case KC__SCHED_EVENT_NAMESPACE:
        kc__sched_cluster_set_namespace(&e->cluster, kc_object_name(note->object), object);
        e->changes |= KC__SCHED_NAMESPACE_CHANGED;
        break;
    case KC__SCHED_EVENT_CLAIM:
        kc__sched_cluster_set_claim(&e->cluster, kc_object_key(note->object), object);
        e->changes |= KC__SCHED_CLAIM_ADDED;
        break;
    case KC__SCHED_EVENT_BUDGET:
        kc__sched_cluster_set_budget(&e->cluster, kc_object_key(note->object), object);
        break;
    case KC__SCHED_EVENT_SYNCED: apply_synced(e); break;
    default: apply_result(e, note); break;
    }
}

/* ---- moving unschedulable pods ---- */

/* Plugins whose refusals the changes may have resolved; and those of them that look beyond one
 * node, for which the node alone does not tell whether a change helps. */
static uint32_t resolved_by_changes(unsigned changes, bool cluster_wide)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < kc__sched_n_plugins; i++)
        if (kc__sched_plugins[i].helped_by & changes &&
            (!cluster_wide || kc__sched_plugins[i].prepare))
            bits |= 1u << i;
    return bits;
}

/* A node has changed: the pod is moved if one of the plugins that refused it would accept the node
 * when empty. The next attempt then reports the current reasons. */
static bool may_fit(kc__sched_engine *e, const kc__sched_pod *place, const kc__sched_node *host)
{
    kc__sched_cycle c = {.cluster = &e->cluster, .demand = place->demand};
    const uint32_t requested =
        place->refused_by & resolved_by_changes(KC__SCHED_NODE_CHANGED, false);
    for (size_t i = 0; i < kc__sched_n_plugins; i++)
        if (requested & (1u << i) && kc__sched_plugins[i].filter &&
            kc__sched_plugins[i].filter(&c, host, NULL) != KC__SCHED_UNRESOLVABLE)
            return true;
    return false;
}

static bool helps_at(kc__sched_engine *e, const kc__sched_pod *place, kc__sched_node *host)
{
    if (!host || !host->node)
        return false;
    return kc__sched_fits_alone(&e->cluster, place->demand, host) ||
           (e->changes & KC__SCHED_NODE_CHANGED && may_fit(e, place, host));
}

static bool may_help(kc__sched_engine *e, const kc__sched_pod *place)
{
    if (!(place->refused_by & resolved_by_changes(e->changes, false)))
        return false;
    if (place->refused_by & resolved_by_changes(e->changes, true))
        return true;
    kc_vec_each (&e->touched, slot)
        if (helps_at(e, place, e->cluster.slots.items[*slot]))
            return true;
    return false;
}

void kc__sched_engine_move(kc__sched_engine *e)
{
    const int64_t now = kc_clock_now(e->clock);
    if (e->changes &&
        kc__sched_queue_blocked_by(&e->pending, resolved_by_changes(e->changes, false)))
        kc_dlist_each (&e->pending.stuck, kc__sched_pod, stuck, place)
            if (may_help(e, place))
                kc__sched_queue_move(&e->pending, place, now);
    e->changes = 0;
    kc_vec_each (&e->touched, slot)
        if (e->cluster.slots.items[*slot])
            e->cluster.slots.items[*slot]->touched = false;
    kc_vec_clear(&e->touched);
    kc__sched_queue_flush(&e->pending, now);
}
