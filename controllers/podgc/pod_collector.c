/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_collector.c: deletes pods that no other component deletes: pods of nodes that do not exist
 * (orphans.c), and every twenty seconds
 *
 *   - terminated pods above the threshold, evicted ones first, then the oldest;
 *   - terminating pods that were never assigned to a node;
 *   - terminating pods whose node is not ready and has the taint
 *     node.kubernetes.io/out-of-service.
 *
 * An index finds terminated and terminating pods: a sweep visits no others. A pod whose deletion
 * fails is left to the next sweep.
 */
#include "internal.h"

#include "podgc/collector.h"

#include "common/pod_state.h"

#include "kc/conditions.h"
#include "kc/kinds.h"
#include "kc/log.h"
#include "kc/view.h"

#define PERIOD      (20 * KC_SECOND)
#define INDEX       "podgc"
#define ENDED       "ended"
#define TERMINATING "terminating"

/* ---- the index ---- */

static void by_end(const kc_object *pod, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    const kc__common_pod_state state = kc__common_pod_state_of(pod);
    if (state.deleting)
        emit(KC_STR(TERMINATING), to);
    if (kc__common_pod_is_terminal(&state))
        emit(KC_STR(ENDED), to);
}

static int list_pods(kc_context *ctx, const char *which, kc_object_list *ret, kc_error *err)
{
    return kc_cache_list(ctx->cache, &kc_kind_pod, &(kc_list_opts){.index = INDEX, .value = which},
                         ret, err);
}

/* ---- deletion ---- */

int kc__podgc_collect(kc_context *ctx, const kc__podgc_collector *collector, const kc_object *pod,
                      const char *why, const kc__common_disruption *how, kc_error *err)
{
    const kc_str ns = kc_object_namespace(pod);
    kc_log_info(ctx->log, "PodGC is force deleting Pod", kc_kv("pod", kc_object_name(pod)),
                kc_kv("namespace", ns), kc_kv("reason", why));
    const int r = kc__common_evict_pod(ctx->client, pod, how, err);
    kc_counter_inc(kc_metric_counter(collector->deleted, ns, kc_cstr(why)));
    if (r < 0)
        kc_counter_inc(kc_metric_counter(collector->failed, ns, kc_cstr(why)));
    return r;
}

static void podgc_collector_collect(kc_context *ctx, const kc_object *pod, const char *why)
{
    static const kc__common_disruption forced = {.fail = true, .immediately = true};
    kc_scoped(kc_error) err = {0};
    if (kc__podgc_collect(ctx, ctx->user, pod, why, &forced, &err) < 0)
        kc_log_error(ctx->log, "failed to delete pod", kc_kv("pod", kc_object_name(pod)),
                     kc_kv("namespace", kc_object_namespace(pod)), kc_kv("err", &err));
}

/* ---- terminated pods ---- */

typedef struct podgc_collector_ended {
    const kc_object *pod;
    bool evicted;
} podgc_collector_ended;

static int by_age(const void *a, const void *b)
{
    const podgc_collector_ended *x = a, *y = b;
    if (x->evicted != y->evicted)
        return x->evicted ? -1 : 1;
    const int age =
        kc_str_cmp(kc_object_creation_timestamp(x->pod), kc_object_creation_timestamp(y->pod));
    return age ? age : kc_str_cmp(kc_object_name(x->pod), kc_object_name(y->pod));
}

static bool was_evicted(const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *status = kc_value_get(kc_view_root(view), "status");
    return kc_str_is(kc_value_as_str(kc_value_get(status, "phase")), "Failed") &&
           kc_str_is(kc_value_as_str(kc_value_get(status, "reason")), "Evicted");
}

static int sweep_ended(kc_context *ctx, kc_error *err)
{
    const kc__podgc_collector *c = ctx->user;
    kc_scoped(kc_object_list) pods = {0};
    if (list_pods(ctx, ENDED, &pods, err) < 0)
        return kc_error_result(err);
    if (pods.n <= c->threshold)
        return 0;
    KC_VEC(podgc_collector_ended) order = {0};
    for (size_t i = 0; i < pods.n; i++)
        kc_vec_push(&order, ((podgc_collector_ended){pods.items[i], was_evicted(pods.items[i])}));
    kc_vec_sort(&order, by_age);
    for (size_t i = 0; i < pods.n - c->threshold; i++)
        podgc_collector_collect(ctx, order.items[i].pod, "terminated");
    kc_vec_done(&order);
    return 0;
}

/* ---- terminating pods ---- */

static bool has_taint(const kc_value *node, const char *key)
{
    kc_value_each_item (kc_value_nested(node, "spec.taints"), taint)
        if (kc_str_is(kc_value_as_str(kc_value_get(taint, "key")), key))
            return true;
    return false;
}

static bool is_out_of_service(kc_context *ctx, kc_str node)
{
    kc_auto(kc_object) *found =
        kc_client_get(ctx->client, &kc_kind_node, (kc_key){.name = node}, NULL, NULL);
    if (!found)
        return false;
    kc_auto(kc_view) *view = kc_view_of(found);
    return !kc_condition_true(found, KC_STR("Ready")) &&
           has_taint(kc_view_root(view), "node.kubernetes.io/out-of-service");
}

static int sweep_terminating(kc_context *ctx, kc_error *err)
{
    kc_scoped(kc_object_list) pods = {0};
    if (list_pods(ctx, TERMINATING, &pods, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < pods.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(pods.items[i]);
        const kc_str node = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.nodeName"));
        if (!node.n)
            podgc_collector_collect(ctx, pods.items[i], "unscheduled");
        else if (is_out_of_service(ctx, node))
            podgc_collector_collect(ctx, pods.items[i], "out-of-service");
    }
    return 0;
}

/* ---- setup ---- */

static kc_result podgc_collector_sweep(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)request;
    if (sweep_ended(ctx, err) < 0 || sweep_terminating(ctx, err) < 0)
        return kc_retry(err);
    return kc_done();
}

static int podgc_collector_register_metrics(kc__podgc_collector *c, kc_metrics *metrics,
                                            kc_error *err)
{
    const kc_metric_label ns = {"namespace", .max_values = 1000},
                          why = {"reason", KC_LABEL_VALUES("terminated", "orphaned", "unscheduled",
                                                           "out-of-service")};
    c->deleted = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "pod_gc_collector_force_delete_pods_total",
                          .help = "Number of pods that are being forcefully deleted since the Pod "
                                  "GC Controller started.",
                          .labels = {ns, why}},
        err);
    c->failed = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "pod_gc_collector_force_delete_pod_errors_total",
                          .help = "Number of errors encountered when forcefully deleting the pods "
                                  "since the Pod GC Controller started.",
                          .labels = {ns, why}},
        err);
    return c->deleted && c->failed ? 0 : kc_error_result(err);
}

static void collector_free(void *state)
{
    kc__podgc_collector *c = state;
    kc__podgc_forget_missing(c);
    kc_mutex_done(&c->mutex);
    free(c);
}

int kc__podgc_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__podgc_collector *c = kc_new(kc__podgc_collector);
    kc_mutex_init(&c->mutex);
    kc_manager_defer(manager, c, collector_free);
    c->threshold = (size_t)opts->ended_pods;
    if (podgc_collector_register_metrics(c, kc_manager_metrics(manager), err) < 0 ||
        kc_cache_add_index(kc_manager_cache(manager), &kc_kind_pod, INDEX, by_end, NULL, err) < 0 ||
        kc__podgc_orphans_setup(manager, c, opts, err) < 0)
        return kc_error_result(err);
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "podgc",
            .field_manager = KC__CONTROLLERS_MANAGER,
            .sources = KC_SOURCES(kc_source_timer(PERIOD, (kc_key){.name = KC_STR("sweep")})),
            .reconcile = podgc_collector_sweep,
            .user = c,
            .act_as = kc__common_identity(opts, KC__COMMON_POD_COLLECTOR),
        },
        err);
    return made ? 0 : kc_error_result(err);
}
