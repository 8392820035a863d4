/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c: what happened, brought into the cluster and the queue.
 *
 * A pod's life here: it waits (in the queue) → it is assumed (we chose a node; it counts there
 * while the binding is written, and until the watch shows it) → it is on a node → it is gone or
 * finished. A watch that is late shows an assumed pod without a node for a while; that changes
 * nothing. One that shows another node than ours is right. An assumption has no expiry: a pod that
 * was bound is shown so, or as deleted, by whatever the watch or the next list brings, and
 * forgetting it before would fill its node twice.
 *
 * What may help pods that are stuck is only noted here; after all notes of a moment the queue is
 * looked through once (kc__engine_move), so that a thousand changes cost one look.
 */
#include "scheduler/engine.h"

void kc__engine_touch(kc__engine *e, kc__host *host, unsigned change)
{
    e->changes |= change;
    if (!host || host->touched)
        return;
    host->touched = true;
    kc_vec_push(&e->touched, host->slot);
}

/* ---- pods ---- */

static void forget(kc__engine *e, kc__place *place)
{
    if (place->host)
        kc__engine_touch(e, place->host, KC__POD_LEFT);
    kc__pending_remove(&e->pending, place);
    kc__cluster_remove_pod(&e->cluster, place);
}

static bool same_labels(const kc__demand *a, const kc__demand *b)
{
    return kc_str_eq(kc_object_labels_json(a->object), kc_object_labels_json(b->object));
}

static bool takes_less(const kc__demand *now, const kc__demand *before)
{
    return now->requests.cpu < before->requests.cpu ||
           now->requests.memory < before->requests.memory;
}

/* A pod that has a node. */
static void apply_placed(kc__engine *e, kc__place *place, kc__demand *demand)
{
    const bool changed =
        place && place->host &&
        (!same_labels(place->demand, demand) || takes_less(demand, place->demand) ||
         place->demand->leaving != demand->leaving);
    if (place)
        kc__pending_remove(&e->pending, place);
    place = kc__cluster_set_pod(&e->cluster, demand);
    kc__place_nominate(&e->cluster, place, NULL);
    place->assumed = false;
    free(kc_take(place->said));
    if (place->host && strcmp(place->host->name, demand->node) != 0) {
        kc__engine_touch(e, place->host, KC__POD_LEFT);
        kc__place_take(&e->cluster, place);
    }
    if (!place->host) {
        kc__place_put(&e->cluster, place, kc_cstr(demand->node));
        kc__engine_touch(e, place->host, KC__POD_CAME);
    }
    if (changed)
        kc__engine_touch(e, place->host, KC__POD_CAME | KC__POD_LEFT);
}

static void enqueue(kc__engine *e, kc__place *place)
{
    kc__pending_add(&e->pending, place, kc_clock_now(e->clock));
    if (place->state == KC__GATED)
        kc__engine_say_gated(e, place);
}

/* Room was made for it by who led before us. */
static void nominate_as_said(kc__engine *e, kc__place *place)
{
    const kc__wants *w = place->demand->wants;
    if (w && w->nominated)
        kc__place_nominate(&e->cluster, place,
                           kc__cluster_host(&e->cluster, kc_cstr(w->nominated)));
}

/* Nodes may be told of after pods: who is nominated where is seen when all is told. */
static void apply_synced(kc__engine *e)
{
    if (--e->awaited)
        return;
    kc_map_each (&e->cluster.places, entry)
        nominate_as_said(e, entry->value);
}

static void apply_new(kc__engine *e, kc__demand *demand)
{
    kc__place *place = kc__cluster_set_pod(&e->cluster, demand);
    if (!e->awaited)
        nominate_as_said(e, place);
    enqueue(e, place);
}

/* Only what it asks for is worth another try, not what we have written to its status. */
static bool asks_otherwise(const kc__demand *now, const kc__demand *before)
{
    return !same_labels(now, before) || now->wants->n_gates != before->wants->n_gates ||
           kc_object_generation(now->object) != kc_object_generation(before->object);
}

static void apply_waiting(kc__engine *e, kc__place *place, kc__demand *demand)
{
    if (!place && (demand->leaving || !demand->ours)) {
        kc__demand_free(demand);
        return;
    }
    if (!place) {
        apply_new(e, demand);
        return;
    }
    const bool otherwise = !place->host && asks_otherwise(demand, place->demand);
    const bool leaving = demand->leaving;
    kc__cluster_set_pod(&e->cluster, demand);
    if (leaving && !place->assumed)
        forget(e, place);
    else if (otherwise)
        enqueue(e, place);
}

static void apply_pod(kc__engine *e, const kc__note *note)
{
    kc_scoped(kc_buf) key = {0};
    kc_scoped(kc_error) err = {0};
    kc_key_write(&key, kc_object_key(note->object));
    kc__place *place = kc__cluster_place(&e->cluster, kc_buf_str(&key));
    if (place && (note->gone || !kc_str_eq(place->demand->uid, kc_object_uid(note->object)))) {
        forget(e, place);
        place = NULL;
    }
    kc__demand *demand = note->gone ? NULL : kc__demand_of(note->object, &e->cluster.terms, &err);
    if (!demand && !note->gone)
        kc_log_warn(e->log, "cannot read a pod", kc_kv("pod", kc_buf_str(&key)),
                    kc_kv("err", &err));
    if (demand && demand->finished) {
        if (place)
            forget(e, place);
        kc__demand_free(demand);
    } else if (demand && demand->node) {
        apply_placed(e, place, demand);
    } else if (demand) {
        apply_waiting(e, place, demand);
    }
}

/* ---- nodes and others ---- */

static void apply_node(kc__engine *e, const kc__note *note)
{
    kc_scoped(kc_error) err = {0};
    if (note->gone) {
        kc__cluster_remove_node(&e->cluster, kc_object_name(note->object));
        e->changes |= KC__NODE_CHANGED; /* One domain less to be spread over. */
        return;
    }
    const kc__host *known = kc__cluster_host(&e->cluster, kc_object_name(note->object));
    const uint64_t version = known ? known->version : 0;
    kc__host *host = kc__cluster_set_node(&e->cluster, note->object, &err);
    if (host && host->version != version)
        kc__engine_touch(e, host, KC__NODE_CHANGED);
    if (!host)
        kc_log_warn(e->log, "cannot read a node", kc_kv("node", kc_object_name(note->object)),
                    kc_kv("err", &err));
}

/* ---- how jobs went ---- */

static kc__place *place_of(const kc__engine *e, const kc_object *pod)
{
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, kc_object_key(pod));
    kc__place *place = kc__cluster_place(&e->cluster, kc_buf_str(&key));
    return place && kc_str_eq(place->demand->uid, kc_object_uid(pod)) ? place : NULL;
}

static void apply_result(kc__engine *e, const kc__note *note)
{
    kc__place *place = place_of(e, note->object);
    if (!place)
        return;
    if (note->type == KC__NOTE_SAID || note->type == KC__NOTE_NOT_SAID)
        kc__engine_said(e, place);
    if (note->type == KC__NOTE_NOT_BOUND && place->assumed) {
        kc__engine_touch(e, place->host, KC__POD_LEFT);
        kc__place_take(&e->cluster, place);
        place->assumed = false;
        kc__engine_failed(e, place, note->text);
    } else if (note->type == KC__NOTE_NOT_SAID) {
        kc__pending_move(&e->pending, place, kc_clock_now(e->clock));
    } else if (note->type == KC__NOTE_PREEMPTED) {
        place->preempting = false;
        kc__pending_move(&e->pending, place, kc_clock_now(e->clock));
    }
}

void kc__engine_apply(kc__engine *e, const kc__note *note)
{
    const kc_object *object = note->gone ? NULL : note->object;
    switch (note->type) {
    case KC__NOTE_NODE: apply_node(e, note); break;
    case KC__NOTE_POD: apply_pod(e, note); break;
    case KC__NOTE_NAMESPACE:
        kc__cluster_set_namespace(&e->cluster, kc_object_name(note->object), object);
        e->changes |= KC__NAMESPACE_CHANGED;
        break;
    case KC__NOTE_CLAIM:
        kc__cluster_set_claim(&e->cluster, kc_object_key(note->object), object);
        e->changes |= KC__CLAIM_CAME;
        break;
    case KC__NOTE_BUDGET:
        kc__cluster_set_budget(&e->cluster, kc_object_key(note->object), object);
        break;
    case KC__NOTE_SYNCED: apply_synced(e); break;
    default: apply_result(e, note); break;
    }
}

/* ---- whom it helps ---- */

/* Plugins whose refusals the changes may have made obsolete; of those, which look beyond one host:
 * whether it helps them is not seen at the host. */
static uint32_t helped(unsigned changes, bool far_sighted)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < kc__n_plugins; i++)
        if (kc__plugins[i].helped_by & changes && (!far_sighted || kc__plugins[i].prepare))
            bits |= 1u << i;
    return bits;
}

/* A node has changed: one of those that refused the pod would not any more, were it empty. So the
 * pod also says why not as the node is now. */
static bool is_welcome(kc__engine *e, const kc__place *place, const kc__host *host)
{
    kc__cycle c = {.cluster = &e->cluster, .demand = place->demand};
    const uint32_t asked = place->refused_by & helped(KC__NODE_CHANGED, false);
    for (size_t i = 0; i < kc__n_plugins; i++)
        if (asked & (1u << i) && kc__plugins[i].filter &&
            kc__plugins[i].filter(&c, host, NULL) != KC__NEVER)
            return true;
    return false;
}

static bool helps_at(kc__engine *e, const kc__place *place, kc__host *host)
{
    if (!host || !host->node)
        return false;
    return kc__fits_alone(&e->cluster, place->demand, host) ||
           (e->changes & KC__NODE_CHANGED && is_welcome(e, place, host));
}

static bool may_help(kc__engine *e, const kc__place *place)
{
    if (!(place->refused_by & helped(e->changes, false)))
        return false;
    if (place->refused_by & helped(e->changes, true))
        return true;
    kc_vec_each (&e->touched, slot)
        if (helps_at(e, place, e->cluster.slots.items[*slot]))
            return true;
    return false;
}

void kc__engine_move(kc__engine *e)
{
    const int64_t now = kc_clock_now(e->clock);
    if (e->changes && kc__pending_stuck_by(&e->pending, helped(e->changes, false)))
        kc_list_each (&e->pending.stuck, kc__place, stuck, place)
            if (may_help(e, place))
                kc__pending_move(&e->pending, place, now);
    e->changes = 0;
    kc_vec_each (&e->touched, slot)
        if (e->cluster.slots.items[*slot])
            e->cluster.slots.items[*slot]->touched = false;
    kc_vec_clear(&e->touched);
    kc__pending_flush(&e->pending, now);
}
