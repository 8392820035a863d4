/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workqueue: the smallest controller, made by hand of its parts: an informer tells what happens to
 * Pods in the namespace default, a queue holds their keys, a worker works on one after the other.
 * What fails is tried again, five times, each later than the one before; then it is dropped.
 *
 *     KUBECONFIG=… workqueue
 *
 * A Pod with the label fail=true fails, to see that. (controller.h does all of this for you.)
 */
#include "kc/cache.h"
#include "kc/kinds.h"
#include "kc/queue.h"

#include <signal.h>
#include <stdio.h>

typedef struct controller {
    kc_cache *cache;
    kc_queue *queue;
} controller;

/* From the informer: the key is all that is kept of a change. */
static void enqueue(const kc_change *change, void *user)
{
    kc_queue_add(((controller *)user)->queue, kc_object_key(change->object));
}

/* The business logic: makes the world as the Pod says. Here: prints it. */
static int sync_to_stdout(controller *c, kc_key key, kc_error *err)
{
    kc_auto(kc_object) *pod = kc_cache_get(c->cache, &kc_kind_pod, key, err);
    if (!pod && !kc_is_not_found(err))
        return -1;
    if (!pod)
        printf("Pod %.*s/%.*s does not exist anymore\n", KC_ARG(key.ns), KC_ARG(key.name));
    else if (kc_object_label_is(pod, KC_STR("fail"), KC_STR("true")))
        return kc_error_set(err, KC_UNKNOWN, "it is labelled so");
    else
        printf("Sync/Add/Update for Pod %.*s\n", KC_ARG(key.name));
    return 0;
}

static void work(void *user)
{
    controller *c = user;
    kc_queue_item item;
    while (kc_queue_get(c->queue, &item)) {
        kc_scoped(kc_error) err = {0};
        const char *what = "Error syncing pod";
        if (sync_to_stdout(c, item.key, &err) == 0) {
            kc_queue_forget(c->queue, item.key);
            what = NULL;
        } else if (kc_queue_failures(c->queue, item.key) < 5) {
            kc_queue_add_rate_limited(c->queue, item.key);
        } else {
            kc_queue_forget(c->queue, item.key);
            what = "Dropping pod out of the queue";
        }
        if (what)
            printf("%s %.*s: %s\n", what, KC_ARG(item.key.name), kc_error_text(&err));
        kc_queue_done(c->queue, &item);
    }
}

static int run(controller *c, kc_client *client, sigset_t *stop, kc_error *err)
{
    static const kc_listener_ops handlers = {enqueue, enqueue, enqueue, NULL};
    static const char *const namespaces[] = {"default", NULL};
    kc_auto(kc_cache) *cache =
        kc_cache_new(&(kc_cache_opts){.client = client, .namespaces = namespaces});
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    *c = (controller){cache, queue};
    kc_auto(kc_informer) *pods = kc_cache_informer(cache, &kc_kind_pod, err);
    if (!pods || kc_cache_start(cache, err) < 0)
        return -1;
    kc_auto(kc_listener) *listener = kc_informer_listen(pods, &handlers, c, 0);
    if (!kc_cache_wait_synced(cache, kc_clock_deadline(kc_clock_real(), KC_MINUTE), NULL))
        return kc_error_set(err, KC_TIMEOUT, "Timed out waiting for caches to sync");

    kc_thread *worker = kc_thread_start("worker", work, c, err);
    int signal_number;
    sigwait(stop, &signal_number);
    puts("Stopping Pod controller");
    kc_queue_shut_down(queue);
    kc_thread_join(worker);
    return 0;
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);

    kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){0}, &err);
    controller c;
    if (client && run(&c, client, &stop, &err) == 0)
        return 0;
    fprintf(stderr, "workqueue: %s\n", kc_error_text(&err));
    return 1;
}
