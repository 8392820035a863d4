/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workqueue.c: a controller built by hand: an informer delivers changes of pods, a queue holds
 * their keys, workers take one after the other and log what they see.
 *
 *     kc run workqueue
 *     kubectl run web --image=nginx
 *     kubectl run bad --image=nginx --labels=fail=true          fails, as a demonstration
 *
 *     informer ──enqueue──▶ queue ──work──▶ sync_to_log
 *                             ▲                 │ failed, up to five times: with backoff
 *                             └─────────────────┘ then dropped, until the pod changes again
 *
 * controller.h does all of this and more; this reconciler shows how it works. It runs while the
 * process is the leader: each term has a queue of its own, and the event handler delivers all pods
 * to it.
 *
 * Threads: `enqueue` runs on the informer's, `work` on two of ours, `run` on one of the manager's,
 * which only waits. They share only the queue and the cache.
 */
#include "kc/app.h"
#include "kc/kinds.h"

enum { MAX_RETRIES = 5, WORKERS = 2 };

typedef struct controller {
    kc_manager *manager;
    kc_log *log;
    const char *ns; /* Namespace of the pods; "": all. */
    kc_informer *pods;
    kc_queue *queue; /* Set while it runs. */
} controller;

/* ---- one pod ---- */

/* Event handler: only the key of a change is kept. */
static void workqueue_enqueue(const kc_change *change, void *user)
{
    const controller *c = user;
    const kc_key key = kc_object_key(change->object);
    if (!c->ns[0] || kc_str_is(key.ns, c->ns))
        kc_queue_add(c->queue, key);
}

/* The business logic. Here: logs the pod. */
static int sync_to_log(const controller *c, kc_key key, kc_error *err)
{
    kc_auto(kc_object) *pod = kc_cache_get(kc_manager_cache(c->manager), &kc_kind_pod, key, err);
    if (!pod && !kc_is_not_found(err))
        return kc_error_result(err);
    if (pod && kc_object_label_is(pod, KC_STR("fail"), KC_STR("true")))
        return kc_error_set(err, KC_UNKNOWN, "label fail=true is set");
    kc_autofree char *message =
        pod ? kc_asprintf("Sync/Add/Update for Pod %.*s", KC_ARG(key.name))
            : kc_asprintf("Pod %.*s/%.*s does not exist anymore", KC_ARG(key.ns), KC_ARG(key.name));
    kc_log_info(c->log, message);
    return 0;
}

/* A failed key is retried a few times with backoff (the queue's rate limiter). After it is dropped,
 * its next failure counts as the first. */
static void handle_error(const controller *c, kc_key key, const kc_error *err)
{
    const bool retries = kc_queue_num_requeues(c->queue, key) < MAX_RETRIES;
    kc_autofree char *text =
        kc_asprintf(retries ? "Error syncing pod %.*s/%.*s: %s"
                            : "Dropping pod \"%.*s/%.*s\" out of the queue: %s",
                    KC_ARG(key.ns), KC_ARG(key.name), kc_error_text(err));
    if (retries) {
        kc_log_info(c->log, text);
        kc_queue_add_rate_limited(c->queue, key);
    } else {
        kc_log_error(c->log, text);
        kc_queue_forget(c->queue, key);
    }
}

/* A key that is added while it is processed is queued again afterwards; so two workers never
 * process the same key. */
static void workqueue_work(void *user)
{
    const controller *c = user;
    kc_queue_item item;
    while (kc_queue_get(c->queue, &item)) {
        kc_scoped(kc_error) err = {0};
        if (sync_to_log(c, item.key, &err) == 0)
            kc_queue_forget(c->queue, item.key);
        else
            handle_error(c, item.key, &err);
        kc_queue_done(c->queue, &item);
    }
}

/* ---- start and stop with the lease ---- */

static int work_until(controller *c, kc_cancel *stop, kc_error *err)
{
    kc_thread *workers[WORKERS] = {NULL};
    int n = 0;
    while (n < WORKERS && (workers[n] = kc_thread_start("workqueue", workqueue_work, c, err)))
        n++;
    if (n == WORKERS)
        kc_cancel_sleep_until(stop, kc_manager_clock(c->manager), KC_FOREVER);
    kc_log_info(c->log, "Stopping Pod controller");
    kc_queue_shut_down(c->queue);
    for (int i = 0; i < n; i++)
        kc_thread_join(workers[i]);
    return n == WORKERS ? 0 : kc_error_result(err);
}

/* Reverse order of creation: without the event handler no keys are added, and the queue can be
 * freed. */
static int workqueue_run(kc_cancel *stop, void *user, kc_error *err)
{
    static const kc_event_handler_ops handlers = {workqueue_enqueue, workqueue_enqueue,
                                                  workqueue_enqueue, NULL};
    controller *c = user;
    kc_auto(kc_queue) *queue = kc_queue_new(&(kc_queue_opts){
        .name = "workqueue",
        .clock = kc_manager_clock(c->manager),
        .metrics = kc_manager_metrics(c->manager),
    });
    c->queue = queue;
    kc_auto(kc_event_handler) *listener = kc_informer_add_handler(c->pods, &handlers, c, 0);
    if (!kc_informer_wait_synced(c->pods, KC_FOREVER, stop))
        return 0;
    return work_until(c, stop, err);
}

/* ---- setup ---- */

static void workqueue_controller_free(void *state)
{
    controller *c = state;
    kc_informer_release(c->pods);
    kc_log_free(c->log);
    free(c);
}

static int workqueue_setup(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    (void)ret_user;
    controller *c = kc_new(controller);
    c->manager = setup->manager;
    c->ns = setup->settings[0];
    c->log = kc_log_child(kc_manager_log(setup->manager), "workqueue");
    kc_manager_defer(setup->manager, c, workqueue_controller_free);
    c->pods = kc_cache_informer(kc_manager_cache(setup->manager), &kc_kind_pod, err);
    if (!c->pods)
        return kc_error_result(err);
    const kc_runnable runs = {
        .name = "workqueue", .group = KC_RUNNABLE_LEADER, .run = workqueue_run, .user = c};
    return kc_manager_add(setup->manager, &runs, err);
}

KC_RECONCILER(workqueue) = {
    .description = "logs changes of pods: a controller built by hand",
    .kind = &kc_kind_pod,
    .settings = KC_SETTINGS({"namespace", "default", "namespace of the pods; \"\" for all"}),
    .setup = workqueue_setup,
    .disabled = true,
};
