/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workqueue.c: what a controller is made of, put together by hand: an informer tells what happens
 * to pods, a queue holds their keys, workers take one after the other and say what they see.
 *
 *     kc run workqueue
 *     kubectl run web --image=nginx
 *     kubectl run bad --image=nginx --labels=fail=true          fails, to see that
 *
 *     informer ──enqueue──▶ queue ──work──▶ sync_to_log
 *                             ▲                 │ failed, up to five times: later and later
 *                             └─────────────────┘ then dropped, until the pod changes again
 *
 * controller.h does all of this, and what else a controller needs; this is for those who want to
 * know how. It starts with the lead and ends with it: another lead has a queue of its own, and the
 * listener tells it of all pods there are.
 *
 * Threads: `enqueue` is called on the informer's, `work` runs on two of ours, `run` on one of the
 * manager's, which only waits. They share nothing but the queue and the cache.
 */
#include "kc/app.h"
#include "kc/kinds.h"

enum { MAX_RETRIES = 5, WORKERS = 2 };

typedef struct controller {
    kc_manager *manager;
    kc_log *log;
    const char *ns; /* Whose pods; "": all. */
    kc_informer *pods;
    kc_queue *queue; /* While it runs. */
} controller;

/* ---- one pod ---- */

/* From the informer: the key is all that is kept of a change. */
static void enqueue(const kc_change *change, void *user)
{
    const controller *c = user;
    const kc_key key = kc_object_key(change->object);
    if (!c->ns[0] || kc_str_is(key.ns, c->ns))
        kc_queue_add(c->queue, key);
}

/* The business logic: makes the world as the pod says. Here: says it. */
static int sync_to_log(const controller *c, kc_key key, kc_error *err)
{
    kc_auto(kc_object) *pod = kc_cache_get(kc_manager_cache(c->manager), &kc_kind_pod, key, err);
    if (!pod && !kc_is_not_found(err))
        return -1;
    if (pod && kc_object_label_is(pod, KC_STR("fail"), KC_STR("true")))
        return kc_error_set(err, KC_UNKNOWN, "it is labelled so");
    kc_autofree char *said =
        pod ? kc_asprintf("Sync/Add/Update for Pod %.*s", KC_ARG(key.name))
            : kc_asprintf("Pod %.*s/%.*s does not exist anymore", KC_ARG(key.ns), KC_ARG(key.name));
    kc_log_info(c->log, said);
    return 0;
}

/* What failed is tried again a few times, each later than the one before (the queue's limiter says
 * when). Having given up, its next failure is the first again. */
static void handle_error(const controller *c, kc_key key, const kc_error *err)
{
    const bool again = kc_queue_failures(c->queue, key) < MAX_RETRIES;
    kc_autofree char *text = kc_asprintf(again ? "Error syncing pod %.*s/%.*s: %s"
                                               : "Dropping pod \"%.*s/%.*s\" out of the queue: %s",
                                         KC_ARG(key.ns), KC_ARG(key.name), kc_error_text(err));
    if (again) {
        kc_log_info(c->log, text);
        kc_queue_add_rate_limited(c->queue, key);
    } else {
        kc_log_error(c->log, text);
        kc_queue_forget(c->queue, key);
    }
}

/* A key that is added meanwhile comes again once this is done with it; so two workers never have
 * the same one. */
static void work(void *user)
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

/* ---- while we lead ---- */

static int work_until(controller *c, kc_cancel *stop, kc_error *err)
{
    kc_thread *workers[WORKERS] = {NULL};
    int n = 0;
    while (n < WORKERS && (workers[n] = kc_thread_start("workqueue", work, c, err)))
        n++;
    if (n == WORKERS)
        kc_cancel_sleep_until(stop, kc_manager_clock(c->manager), KC_FOREVER);
    kc_log_info(c->log, "Stopping Pod controller");
    kc_queue_shut_down(c->queue);
    for (int i = 0; i < n; i++)
        kc_thread_join(workers[i]);
    return n == WORKERS ? 0 : -1;
}

/* What was made last goes first: after the listener nobody adds keys, and the queue can go. */
static int run(kc_cancel *stop, void *user, kc_error *err)
{
    static const kc_listener_ops handlers = {enqueue, enqueue, enqueue, NULL};
    controller *c = user;
    kc_auto(kc_queue) *queue = kc_queue_new(&(kc_queue_opts){
        .name = "workqueue",
        .clock = kc_manager_clock(c->manager),
        .metrics = kc_manager_metrics(c->manager),
    });
    c->queue = queue;
    kc_auto(kc_listener) *listener = kc_informer_listen(c->pods, &handlers, c, 0);
    if (!kc_informer_wait_synced(c->pods, KC_FOREVER, stop))
        return 0;
    return work_until(c, stop, err);
}

/* ---- setting up ---- */

static void controller_free(void *state)
{
    controller *c = state;
    kc_informer_release(c->pods);
    kc_log_free(c->log);
    free(c);
}

static int set_up(const kc_setup *setup, void **ret_user, kc_error *err)
{
    (void)ret_user;
    controller *c = kc_new(controller);
    c->manager = setup->manager;
    c->ns = setup->settings[0];
    c->log = kc_log_child(kc_manager_log(setup->manager), "workqueue");
    kc_manager_keep(setup->manager, c, controller_free);
    c->pods = kc_cache_informer(kc_manager_cache(setup->manager), &kc_kind_pod, err);
    if (!c->pods)
        return -1;
    const kc_runnable runs = {.name = "workqueue", .group = KC_GROUP_LEADER, .run = run, .user = c};
    return kc_manager_add(setup->manager, &runs, err);
}

KC_RECONCILER(workqueue) = {
    .description = "says what happens to pods: a controller made by hand",
    .kind = &kc_kind_pod,
    .settings = KC_SETTINGS({"namespace", "default", "whose pods; \"\" is all"}),
    .setup = set_up,
    .disabled = true,
};
