/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.c: the order in which a ReplicaSet deletes its pods on scale-down, cheapest loss first. Each
 * criterion only breaks ties of those before:
 *
 *     not assigned to a node; pending, then unknown, then running; not ready;
 *     lower controller.kubernetes.io/pod-deletion-cost;
 *     on a node with more pods of the same owner (so of all ReplicaSets of a Deployment);
 *     ready for a shorter time, more restarts, younger.
 *
 * Times are compared by their order of magnitude (base 2), and by uid within it: so that of pods
 * that started together those to delete are not all in one zone.
 */
#include "replicaset/replica_set.h"

#include "common/indexes.h"

/* The compared fields of a pod; texts are in the arena of the ranking. */
typedef struct ranked {
    kc__rs_replica replica;
    kc_str node, uid;
    int64_t cost; /* pod-deletion-cost. */
    size_t neighbours;
    int64_t restarts, sidecar_restarts;
    kc_time created;
    int age_order, ready_order; /* Order of magnitude. */
} ranked;

static int order_of_magnitude(kc_time since, kc_time now)
{
    return now > since ? 63 - __builtin_clzll((uint64_t)(now - since)) : -1;
}

/* ---- reading ---- */

static int64_t most_restarts(const kc_value *statuses, const kc_value *only)
{
    int64_t most = 0;
    kc_value_each_item (statuses, status) {
        bool counts = !only;
        kc_value_each_item (only, container)
            counts |=
                kc_str_eq(kc_value_as_str(kc_value_get(container, "name")),
                          kc_value_as_str(kc_value_get(status, "name"))) &&
                kc_str_is(kc_value_as_str(kc_value_get(container, "restartPolicy")), "Always");
        if (counts)
            most = KC_MAX(most, kc_value_as_i64_or(kc_value_get(status, "restartCount"), 0));
    }
    return most;
}

/* Parses a 32-bit number as Go does, without leading zeros or plus; else 0. */
static int64_t cost_of(const kc_object *pod, kc_arena *arena)
{
    int64_t cost;
    const kc_str text =
        kc_object_annotation(pod, KC_STR("controller.kubernetes.io/pod-deletion-cost"), arena);
    const kc_str digits = kc_str_starts(text, KC_STR("-")) ? kc_str_sub(text, 1, text.n) : text;
    const bool odd = digits.n > 1 && digits.p[0] == '0';
    const bool ok = !odd && kc_str_to_i64(text, &cost) && cost >= INT32_MIN && cost <= INT32_MAX;
    return ok ? cost : 0;
}

static void read_pod(const kc__rs_replica *replica, kc_time now, kc_arena *arena, ranked *r)
{
    kc_auto(kc_view) *view = kc_view_of(replica->pod);
    const kc_value *root = kc_view_root(view), *status = kc_value_get(root, "status");
    *r = (ranked){
        .replica = *replica,
        .node = kc_arena_str(arena, kc_value_as_str(kc_value_nested(root, "spec.nodeName"))),
        .uid = kc_object_uid(replica->pod),
        .cost = cost_of(replica->pod, arena),
        .restarts = most_restarts(kc_value_get(status, "containerStatuses"), NULL),
        .sidecar_restarts = most_restarts(kc_value_get(status, "initContainerStatuses"),
                                          kc_value_nested(root, "spec.initContainers")),
    };
    kc_time_parse(kc_object_creation_timestamp(replica->pod), &r->created, NULL);
    r->age_order = order_of_magnitude(r->created, now);
    r->ready_order = order_of_magnitude(replica->state.ready_since, now);
}

/* ---- pods on the same node ---- */

typedef struct nodes {
    kc_map counts; /* Number of active pods by node; values are offset by one. */
} nodes;

static void count_pods(nodes *n, const kc_object_list *pods, kc_arena *arena)
{
    for (size_t i = 0; i < pods->n; i++) {
        kc_auto(kc_view) *view = kc_view_of(pods->items[i]);
        const kc__common_pod_state state = kc__common_pod_state_in(kc_view_root(view));
        const kc_str node = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.nodeName"));
        if (!kc__common_pod_is_active(&state))
            continue;
        size_t *count = kc_map_get(&n->counts, node);
        if (!count) {
            count = kc_arena_new(arena, size_t);
            kc_map_put(&n->counts, kc_arena_str(arena, node), count);
        }
        ++*count;
    }
}

/* Pods of all ReplicaSets with the same controller; none if this ReplicaSet has no controller. */
static int count_related(kc__rs_call *call, nodes *n, kc_arena *arena, kc_error *err)
{
    kc_owner controller;
    if (!kc_object_controller(call->object, arena, &controller))
        return 0;
    kc_scoped(kc_object_list) sets = {0};
    const kc_str uid = kc_arena_str(arena, controller.uid);
    if (kc_client_list(call->ctx->client, &kc_kind_replica_set,
                       &(kc_list_opts){.index = KC__COMMON_INDEX_CONTROLLER, .value = uid.p}, &sets,
                       err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < sets.n; i++) {
        kc_scoped(kc_object_list) pods = {0};
        const kc_str set = kc_arena_str(arena, kc_object_uid(sets.items[i]));
        if (kc_client_list(call->ctx->client, &kc_kind_pod,
                           &(kc_list_opts){.index = KC__COMMON_INDEX_CONTROLLER, .value = set.p},
                           &pods, err) < 0)
            return kc_error_result(err);
        count_pods(n, &pods, arena);
    }
    return 0;
}

/* ---- comparing ---- */

/* Negative if a goes first. */
static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_time(kc_time a, kc_time b, int a_order, int b_order, const ranked *x, const ranked *y)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    return a_order != b_order ? a_order - b_order : kc_str_cmp(x->uid, y->uid);
}

static int by_state(const ranked *a, const ranked *b)
{
    const kc__common_pod_state *x = &a->replica.state, *y = &b->replica.state;
    if (!a->node.n != !b->node.n)
        return a->node.n ? 1 : -1;
    if (x->phase != y->phase)
        return (int)x->phase - (int)y->phase;
    return (int)x->ready - (int)y->ready;
}

static int rs_rank_compare(const void *first, const void *second)
{
    const ranked *a = first, *b = second;
    const kc__common_pod_state *x = &a->replica.state, *y = &b->replica.state;
    int order = by_state(a, b);
    if (!order)
        order = by_number(a->cost, b->cost);
    if (!order)
        order = by_number((int64_t)b->neighbours, (int64_t)a->neighbours);
    if (!order && x->ready)
        order = by_time(x->ready_since, y->ready_since, a->ready_order, b->ready_order, a, b);
    if (!order)
        order = by_number(b->restarts, a->restarts);
    if (!order)
        order = by_number(b->sidecar_restarts, a->sidecar_restarts);
    if (!order)
        order = by_time(a->created, b->created, a->age_order, b->age_order, a, b);
    return order ? order : kc_str_cmp(a->uid, b->uid);
}

/* ---- metric ---- */

static void observe_ages(const kc__rs_call *call, const ranked *all, size_t n, kc_time now)
{
    kc_time youngest = 0;
    for (size_t i = 0; i < call->n_active; i++)
        if (all[i].replica.state.ready)
            youngest = KC_MAX(youngest, all[i].created);
    const int64_t base = (now - youngest) / KC_MILLISECOND;
    for (size_t i = 0; i < n && base > 0 && call->controller->age_ratio; i++)
        if (all[i].replica.state.ready)
            kc_histogram_observe(call->controller->age_ratio,
                                 (double)((now - all[i].created) / KC_MILLISECOND / base));
}

int kc__rs_rank(kc__rs_call *call, size_t n_to_delete, kc_error *err)
{
    const kc_time now = kc_clock_wall(call->ctx->clock);
    kc_scoped(kc_arena) arena = {0};
    nodes n = {0};
    int result = count_related(call, &n, &arena, err);
    ranked *all = kc_calloc(call->n_active, sizeof(*all));
    for (size_t i = 0; i < call->n_active; i++) {
        read_pod(&call->active[i], now, &arena, &all[i]);
        const size_t *count = kc_map_get(&n.counts, all[i].node);
        all[i].neighbours = count ? *count : 0;
    }
    qsort(all, call->n_active, sizeof(*all), rs_rank_compare);
    for (size_t i = 0; i < call->n_active; i++)
        call->active[i] = all[i].replica;
    observe_ages(call, all, n_to_delete, now);
    free(all);
    kc_map_done(&n.counts);
    return result;
}
