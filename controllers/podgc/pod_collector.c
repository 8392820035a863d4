/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_collector.c: removes pods that nobody else will: those of nodes that are gone (orphans.c),
 * and every twenty seconds
 *
 *   - ended ones above a number that is kept, the evicted and then the oldest first;
 *   - those being deleted that were never on a node;
 *   - those being deleted whose node is not ready and was put out of service by its keeper
 *     (the taint node.kubernetes.io/out-of-service).
 *
 * Ended pods and those being deleted are found by an index: a sweep does not look at any other. One
 * that fails to be deleted is left to the next sweep.
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
    const kc__pod_state state = kc__pod_state_of(pod);
    if (state.deleting)
        emit(KC_STR(TERMINATING), to);
    if (kc__pod_is_terminal(&state))
        emit(KC_STR(ENDED), to);
}

static int list_pods(kc_context *ctx, const char *which, kc_objects *ret, kc_error *err)
{
    return kc_cache_list(ctx->cache, &kc_kind_pod, &(kc_list_opts){.index = INDEX, .value = which},
                         ret, err);
}

/* ---- deleting ---- */

int kc__collect(kc_context *ctx, const kc__collector *collector, const kc_object *pod,
                const char *why, const kc__disruption *how, kc_error *err)
{
    const kc_str ns = kc_object_namespace(pod);
    kc_log_info(ctx->log, "PodGC is force deleting Pod", kc_kv("pod", kc_object_name(pod)),
                kc_kv("in", ns), kc_kv("reason", why));
    const int r = kc__disrupt_pod(ctx->client, pod, how, err);
    kc_counter_inc(kc_counter_of(collector->deleted, ns, kc_cstr(why)));
    if (r < 0)
        kc_counter_inc(kc_counter_of(collector->failed, ns, kc_cstr(why)));
    return r;
}

static void collect(kc_context *ctx, const kc_object *pod, const char *why)
{
    static const kc__disruption forced = {.fail = true, .now = true};
    kc_scoped(kc_error) err = {0};
    if (kc__collect(ctx, ctx->user, pod, why, &forced, &err) < 0)
        kc_log_error(ctx->log, "cannot delete a pod", kc_kv("pod", kc_object_name(pod)),
                     kc_kv("in", kc_object_namespace(pod)), kc_kv("err", &err));
}

/* ---- ended pods ---- */

typedef struct ended {
    const kc_object *pod;
    bool evicted;
} ended;

static int by_age(const void *a, const void *b)
{
    const ended *x = a, *y = b;
    if (x->evicted != y->evicted)
        return x->evicted ? -1 : 1;
    const int age =
        kc_str_cmp(kc_object_creation_timestamp(x->pod), kc_object_creation_timestamp(y->pod));
    return age ? age : kc_str_cmp(kc_object_name(x->pod), kc_object_name(y->pod));
}

static bool was_evicted(const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *status = kc_get(kc_view_root(view), "status");
    return kc_str_is(kc_as_str(kc_get(status, "phase")), "Failed") &&
           kc_str_is(kc_as_str(kc_get(status, "reason")), "Evicted");
}

static int sweep_ended(kc_context *ctx, kc_error *err)
{
    const kc__collector *c = ctx->user;
    kc_scoped(kc_objects) pods = {0};
    if (list_pods(ctx, ENDED, &pods, err) < 0)
        return -1;
    if (pods.n <= c->threshold)
        return 0;
    KC_VEC(ended) order = {0};
    for (size_t i = 0; i < pods.n; i++)
        kc_vec_push(&order, ((ended){pods.items[i], was_evicted(pods.items[i])}));
    kc_vec_sort(&order, by_age);
    for (size_t i = 0; i < pods.n - c->threshold; i++)
        collect(ctx, order.items[i].pod, "terminated");
    kc_vec_done(&order);
    return 0;
}

/* ---- pods being deleted ---- */

static bool has_taint(const kc_value *node, const char *key)
{
    kc_items (kc_dig(node, "spec.taints"), taint)
        if (kc_str_is(kc_as_str(kc_get(taint, "key")), key))
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
    kc_scoped(kc_objects) pods = {0};
    if (list_pods(ctx, TERMINATING, &pods, err) < 0)
        return -1;
    for (size_t i = 0; i < pods.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(pods.items[i]);
        const kc_str node = kc_as_str(kc_dig(kc_view_root(view), "spec.nodeName"));
        if (!node.n)
            collect(ctx, pods.items[i], "unscheduled");
        else if (is_out_of_service(ctx, node))
            collect(ctx, pods.items[i], "out-of-service");
    }
    return 0;
}

/* ---- setting up ---- */

static kc_result sweep(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)request;
    if (sweep_ended(ctx, err) < 0 || sweep_terminating(ctx, err) < 0)
        return kc_retry(err);
    return kc_done();
}

static int register_metrics(kc__collector *c, kc_metrics *metrics, kc_error *err)
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
    return c->deleted && c->failed ? 0 : -1;
}

static void collector_free(void *state)
{
    kc__collector *c = state;
    kc__forget_missing(c);
    kc_mutex_done(&c->mutex);
    free(c);
}

int kc__pod_collector_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__collector *c = kc_new(kc__collector);
    kc_mutex_init(&c->mutex);
    kc_manager_keep(manager, c, collector_free);
    c->threshold = (size_t)opts->ended_pods;
    if (register_metrics(c, kc_manager_metrics(manager), err) < 0 ||
        kc_cache_index(kc_manager_cache(manager), &kc_kind_pod, INDEX, by_end, NULL, err) < 0 ||
        kc__orphans_setup(manager, c, opts->workers, err) < 0)
        return -1;
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "podgc",
            .sources = KC_SOURCES(kc_source_timer(PERIOD, (kc_key){.name = KC_STR("sweep")})),
            .reconcile = sweep,
            .user = c,
        },
        err);
    return made ? 0 : -1;
}
