/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c: the priority queue: how many keys a second go through it on one thread, each added,
 * taken and done, with few and with many keys waiting, with metrics, and in a fair queue.
 */
#include "bench.h"

#include "kc/queue.h"

#include <stdio.h>

enum { KEYS = 53000 };

typedef struct setup {
    kc_queue *queue;
    kc_key keys[KEYS];
    char text[KEYS][32];
    size_t next;
} setup;

static void cycle(void *input, size_t times)
{
    setup *s = input;
    kc_queue_item item;
    while (times--) {
        kc_queue_add(s->queue, s->keys[s->next++ % KEYS]);
        kc_queue_get(s->queue, &item);
        kc_queue_done(s->queue, &item);
    }
}

static void fill(setup *s, kc_queue_opts opts, size_t waiting)
{
    kc_queue_free(s->queue);
    s->queue = kc_queue_new(&opts);
    s->next = 0;
    while (s->next < waiting)
        kc_queue_add(s->queue, s->keys[s->next++]);
}

static double measure(setup *s, const char *title, kc_queue_opts opts, size_t waiting)
{
    contestant all[] = {{"add, get, done", cycle}};
    fill(s, opts, waiting);
    bench_run(title, all, 1, s);
    return all[0].ns;
}

int main(void)
{
    setup *s = kc_new(setup);
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(s->text[i], sizeof(s->text[i]), "config-map-%zu", i);
        s->keys[i] = KC_KEY(i % 2 ? "default" : "kube-system", s->text[i]);
    }
    double one = measure(s, "queue, empty", (kc_queue_opts){0}, 0);
    double thousand = measure(s, "queue, 1,000 keys wait", (kc_queue_opts){0}, 1000);
    measure(s, "queue, 50,000 keys wait", (kc_queue_opts){0}, 50000);
    measure(s, "queue, 1,000 keys wait, metrics",
            (kc_queue_opts){.name = "bench", .metrics = metrics}, 1000);
    measure(s, "queue, 1,000 keys wait, fair", (kc_queue_opts){.fair = true}, 1000);
    bench_at_least("million cycles a second, one key", 1e3 / one, 5);
    bench_at_least("million cycles a second, 1,000 keys", 1e3 / thousand, 5);
    kc_queue_free(s->queue);
    free(s);
    return bench_result();
}
