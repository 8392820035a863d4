/* SPDX-License-Identifier: Apache-2.0 */
/*
 * garbage_collector.c: deletes objects whose owners are gone. This file connects the parts that
 * collector.h lists.
 *
 * The collector consists of three controllers of the manager. One runs the monitors; it ignores its
 * keys. The other two process uids that the graph emits; their sources connect the graph with their
 * queues. The queues are fair between namespaces and between owners that release dependents, so
 * that a large one does not delay the others. Informers change the graph on their own threads,
 * serialised by its lock; the graph never blocks.
 *
 * While this process is not the leader, the graph is kept up to date and has no queues; when the
 * queues are connected, the graph emits all pending uids again.
 */
#include "gc/collector.h"

#include "internal.h"

#include "kc/controller.h"
#include "kc/json.h"
#include "kc/kinds.h"

#define INITIAL_SYNC  (30 * KC_SECOND)
#define POLL_INTERVAL (20 * KC_MILLISECOND)

/* ---- from the graph to the queues ---- */

static void gc_collector_inspect(const kc__gc_identity *what, void *user)
{
    kc__gc *gc = user;
    if (gc->queues[KC__GC_DELETE])
        kc_queue_add(gc->queues[KC__GC_DELETE], (kc_key){what->ns, what->uid});
}

static void gc_collector_release(kc_str owner, kc_str dependent, void *user)
{
    kc__gc *gc = user;
    const kc_key key = dependent.n ? (kc_key){owner, dependent} : (kc_key){.name = owner};
    if (gc->queues[KC__GC_RELEASE])
        kc_queue_add(gc->queues[KC__GC_RELEASE], key);
}

static kc_object *gc_collector_reference_to(const kc__gc_identity *what)
{
    kc_str version, kind;
    kc__gc_type_parts(what->type, &version, &kind);
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"apiVersion\":");
    kc_json_quote(&text, version);
    kc_buf_puts(&text, ",\"kind\":");
    kc_json_quote(&text, kind);
    kc_buf_puts(&text, ",\"metadata\":{\"name\":");
    kc_json_quote(&text, what->name);
    kc_buf_puts(&text, ",\"namespace\":");
    kc_json_quote(&text, what->ns);
    kc_buf_puts(&text, ",\"uid\":");
    kc_json_quote(&text, what->uid);
    kc_buf_puts(&text, "}}");
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

static void gc_collector_report_error(const kc__gc_identity *dependent,
                                      const kc__gc_identity *owner, void *user)
{
    kc__gc *gc = user;
    kc_str version, kind;
    kc__gc_type_parts(owner->type, &version, &kind);
    kc_auto(kc_object) *about = gc_collector_reference_to(dependent);
    kc_recorder_event(
        gc->recorder, about, KC_EVENT_TYPE_WARNING, "OwnerRefInvalidNamespace",
        "ownerRef [%.*s/%.*s, namespace: %.*s, name: %.*s, uid: %.*s] does not exist in "
        "namespace \"%.*s\"",
        KC_ARG(version), KC_ARG(kind), KC_ARG(owner->ns), KC_ARG(owner->name), KC_ARG(owner->uid),
        KC_ARG(dependent->ns));
}

/* ---- the collector ---- */

static void gc_collector_measure(kc_metrics_hook *hook)
{
    kc__gc *gc = kc_container_of(hook, kc__gc, hook);
    kc__gc_size size = {0};
    kc_locked (&gc->mutex)
        size = kc__gc_graph_size(gc->graph);
    kc_gauge_set(gc->nodes, (double)size.nodes);
    kc_gauge_set(gc->edges, (double)size.edges);
    kc_gauge_set(gc->bytes, (double)size.bytes);
}

static kc_gauge *gauge_of(kc__gc *gc, const char *name, const char *help)
{
    return kc_metric_gauge(
        kc_metrics_gauge(gc->metrics, &(kc_metric_opts){.name = name, .help = help}, NULL));
}

static void gc_collector_make_metrics(kc__gc *gc, kc_metrics *metrics)
{
    const kc_metric_opts errors = {.name = "garbagecollector_controller_resources_sync_error_total",
                                   .help = "Number of garbage collector resources sync errors"};
    gc->metrics = metrics;
    gc->sync_errors = kc_metric_counter(kc_metrics_counter(metrics, &errors, NULL));
    gc->nodes = gauge_of(gc, "kc_garbage_collector_nodes",
                         "Number of objects in the owner "
                         "graph.");
    gc->edges = gauge_of(gc, "kc_garbage_collector_edges",
                         "Number of owner references in the "
                         "owner graph.");
    gc->bytes = gauge_of(gc, "kc_garbage_collector_bytes",
                         "Memory used by the owner graph in "
                         "bytes.");
    gc->hook.before = gc_collector_measure;
    kc_metrics_add_hook(metrics, &gc->hook);
}

static void gc_free(void *state)
{
    kc__gc *gc = state;
    kc_metrics_remove_hook(gc->metrics, &gc->hook);
    kc__gc_stop_monitors(gc);
    kc__gc_graph_free(gc->graph);
    kc__gc_kinds_done(gc);
    kc__gc_absents_done(&gc->absents);
    kc_mutex_done(&gc->mutex);
    free(gc);
}

static kc__gc *gc_new(kc_manager *manager)
{
    kc__gc *gc = kc_new(kc__gc);
    gc->cache = kc_manager_cache(manager);
    gc->recorder = kc_recorder_with_component(
        kc_manager_recorder(manager), "garbage-collector-controller", KC__CONTROLLERS_MANAGER);
    gc->clock = kc_manager_clock(manager);
    gc->graph = kc__gc_graph_new(
        &(kc__gc_sink){gc_collector_inspect, gc_collector_release, gc_collector_report_error, gc});
    kc__gc_absents_init(&gc->absents);
    kc_mutex_init(&gc->mutex);
    gc_collector_make_metrics(gc, kc_manager_metrics(manager));
    kc_manager_defer(manager, gc, gc_free);
    return gc;
}

/* ---- sources ---- */

typedef struct pipe_end {
    kc__gc *gc;
    kc__gc_queue which;
} pipe_end;

static int open_pipe(void *state, kc_queue *queue, kc_error *err)
{
    const pipe_end *p = state;
    (void)err;
    kc_locked (&p->gc->mutex) {
        p->gc->queues[p->which] = queue;
        kc__gc_resend(p->gc->graph);
    }
    return 0;
}

/* Workers start when all resources have been listed, or after a timeout: a resource that cannot be
 * listed must not block the rest. */
static bool wait_listed(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    kc__gc *gc = ((const pipe_end *)state)->gc;
    const int64_t enough = KC_MIN(deadline, kc_clock_deadline(gc->clock, INITIAL_SYNC));
    (void)err;
    while (!kc__gc_has_synced(gc) && kc_clock_now(gc->clock) < enough)
        if (!kc_cancel_sleep_until(cancel, gc->clock, kc_clock_deadline(gc->clock, POLL_INTERVAL)))
            return false;
    return true;
}

static void close_pipe(void *state)
{
    const pipe_end *p = state;
    kc_locked (&p->gc->mutex)
        p->gc->queues[p->which] = NULL;
}

static const kc_source_ops pipe_ops = {open_pipe, wait_listed, close_pipe, free};

static kc_source *source_of(kc__gc *gc, kc__gc_queue which)
{
    pipe_end *p = kc_new(pipe_end);
    *p = (pipe_end){gc, which};
    return kc_source_new(&pipe_ops, p);
}

/* ---- resources ---- */

static const kc_key resources = {.name = KC_STR_INIT("resources")};

static void on_definition(const kc_object *object, kc_enqueuer *to, void *user)
{
    (void)object;
    (void)user;
    kc_enqueue(to, resources);
}

static int enqueue_at_start(void *state, kc_queue *queue, kc_error *err)
{
    (void)state;
    (void)err;
    kc_queue_add(queue, resources);
    return 0;
}

static const kc_source_ops start_ops = {.start = enqueue_at_start};

int kc__gc_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__gc *gc = gc_new(manager);
    const kc_controller_opts monitors = {
        .name = "garbage_collector_resources",
        .watches = KC_WATCHES({.kind = &kc_kind_custom_resource_definition,
                               .map = on_definition,
                               .metadata_only = true}),
        .sources = KC_SOURCES(kc_source_new(&start_ops, gc)),
        .reconcile = kc__gc_monitor_resources,
        .user = gc,
        .act_as = kc__common_identity(opts, KC__COMMON_GARBAGE_COLLECTOR),
    };
    const kc_controller_opts deleting = {
        .name = "garbage_collector_attempt_to_delete",
        .field_manager = KC__CONTROLLERS_MANAGER,
        .sources = KC_SOURCES(source_of(gc, KC__GC_DELETE)),
        .reconcile = kc__gc_attempt_to_delete,
        .fair = true,
        .user = gc,
        .act_as = kc__common_identity(opts, KC__COMMON_GARBAGE_COLLECTOR),
        .workers = opts->workers,
    };
    const kc_controller_opts releasing = {
        .name = "garbage_collector_attempt_to_orphan",
        .field_manager = KC__CONTROLLERS_MANAGER,
        .sources = KC_SOURCES(source_of(gc, KC__GC_RELEASE)),
        .reconcile = kc__gc_attempt_to_release,
        .fair = true,
        .user = gc,
        .act_as = kc__common_identity(opts, KC__COMMON_GARBAGE_COLLECTOR),
        .workers = opts->workers,
    };
    bool made = kc_controller_new(manager, &monitors, err);
    made = kc_controller_new(manager, &deleting, err) && made;
    made = kc_controller_new(manager, &releasing, err) && made;
    return made ? 0 : kc_error_result(err);
}
