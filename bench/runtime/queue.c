/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c: the priority queue on one thread: a key is added, taken and done, with few and with many
 * keys waiting, with metrics, and in a fair queue. Figures are CPU time of the thread, the median
 * of 15 rounds. bench/runtime/run compares the queue with client-go's; here the bounds are on
 * growth, and on the cost of metrics and fairness.
 */
#include "bench.h"

#include "kc/queue.h"

#include <stdio.h>
#include <time.h>

enum { KEYS = 53000, ROUNDS = 15, CYCLES = 100000 };

typedef struct setup {
    kc_queue *queue;
    kc_key keys[KEYS];
    char text[KEYS][32];
    size_t next;
} setup;

static void cycle(setup *s, size_t times)
{
    kc_queue_item item;
    while (times--) {
        kc_queue_add(s->queue, s->keys[s->next++ % KEYS]);
        kc_queue_get(s->queue, &item);
        kc_queue_done(s->queue, &item);
    }
}

static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void fill(setup *s, kc_queue_opts opts, size_t waiting)
{
    kc_queue_free(s->queue);
    s->queue = kc_queue_new(&opts);
    s->next = 0;
    while (s->next < waiting)
        kc_queue_add(s->queue, s->keys[s->next++]);
}

/* Nanoseconds of a cycle. */
static double measure(setup *s, const char *title, kc_queue_opts opts, size_t waiting)
{
    double took[ROUNDS];
    fill(s, opts, waiting);
    cycle(s, CYCLES);
    for (size_t i = 0; i < ROUNDS; i++) {
        double begin = processor_ns();
        cycle(s, CYCLES);
        took[i] = (processor_ns() - begin) / CYCLES;
    }
    qsort(took, ROUNDS, sizeof(*took), by_size);
    printf("  %-34s %10.1f ns\n", title, took[ROUNDS / 2]);
    return took[ROUNDS / 2];
}

int main(void)
{
    setup *s = kc_new(setup);
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(s->text[i], sizeof(s->text[i]), "config-map-%zu", i);
        s->keys[i] = KC_KEY(i % 2 ? "default" : "kube-system", s->text[i]);
    }
    printf("queue: add, get, done\n");
    const double one = measure(s, "empty", (kc_queue_opts){0}, 0);
    const double thousand = measure(s, "1,000 keys wait", (kc_queue_opts){0}, 1000);
    const double many = measure(s, "50,000 keys wait", (kc_queue_opts){0}, 50000);
    const double measured = measure(s, "1,000 keys wait, metrics",
                                    (kc_queue_opts){.name = "bench", .metrics = metrics}, 1000);
    const double fair = measure(s, "1,000 keys wait, fair", (kc_queue_opts){.fair = true}, 1000);
    bench_at_most("a key with 1,000 waiting, to an empty queue", thousand / one, 2);
    bench_at_most("a key with 50,000 waiting, to an empty queue", many / one, 6);
    bench_at_most("a key with metrics, to one without", measured / thousand, 3);
    bench_at_most("a key in a fair queue, to one in a plain queue", fair / thousand, 2);
    kc_queue_free(s->queue);
    free(s);
    return bench_result();
}
