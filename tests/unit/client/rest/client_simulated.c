/* SPDX-License-Identifier: Apache-2.0 */
/* The client in a simulation: it waits only through the clock, so equal seeds give equal runs. */
#include "client_testing.h"

#include "kc/sim.h"

enum { WRITERS = 3, WRITES = 4 };

typedef struct writer {
    kc_client *client;
    int number;
} writer;

static void write_some(void *user)
{
    const writer *w = user;
    for (int i = 0; i < WRITES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "w-%d-%d", w->number, i);
        kc_auto(kc_object) *object = config_map(name, "v");
        kc_auto(kc_object) *made = kc_client_create(w->client, object, NULL, NULL);
        assert_non_null(made);
    }
}

typedef struct watcher {
    kc_client *client;
    kc_buf seen;
} watcher;

/* Notes what comes, and when; gives up after a minute of silence. */
static void watch_all(void *user)
{
    watcher *w = user;
    const kc_clock *clock = kc_client_clock(w->client);
    const int64_t began = kc_clock_now(clock);
    kc_auto(kc_watch) *watch =
        kc_client_watch(w->client, &kc_kind_config_map, &(kc_watch_opts){.ns = "default"}, NULL);
    kc_watch_event event;
    while (kc_watch_next(watch, kc_clock_deadline(clock, KC_MINUTE), &event, NULL) > 0) {
        kc_buf_printf(&w->seen, "%lld %.*s\n", (long long)(kc_clock_now(clock) - began),
                      KC_ARG(kc_object_name(event.object)));
        kc_object_unref(event.object);
    }
    kc_buf_printf(&w->seen, "silence at %lld\n", (long long)(kc_clock_now(clock) - began));
}

static void run_threads(kc_client *client, kc_buf *out)
{
    watcher seen = {.client = client};
    writer writers[WRITERS];
    kc_thread *threads[WRITERS + 1];
    threads[WRITERS] = kc_thread_start("watcher", watch_all, &seen, NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){client, i};
        threads[i] = kc_thread_start("writer", write_some, &writers[i], NULL);
    }
    for (int i = 0; i <= WRITERS; i++)
        kc_thread_join(threads[i]);
    kc_buf_append(out, kc_buf_str(&seen.seen));
    kc_buf_done(&seen.seen);
}

/* What was seen, with virtual times: some requests are refused for seven seconds, some break. */
static char *run(uint64_t seed)
{
    kc_auto(kc_sim) *sim = kc_sim_new(seed, 1767323045 * KC_SECOND);
    kc_sim_enter(sim);
    kc_rand rand = kc_sim_rand(sim);
    bench *b = bench_start_with(
        (kc_client_opts){.clock = kc_sim_clock(sim), .rand = &rand, .qps = 10, .burst = 2});
    bench_script(b, &(scripted){0});
    bench_script(b, &(scripted){.status = 429, .fields = {{"retry-after", "7"}}});
    bench_script(b, &(scripted){.reason = KC_SERVICE_UNAVAILABLE});
    kc_scoped(kc_buf) out = {0};
    run_threads(b->client, &out);
    b->clock = NULL; /* The simulation's. */
    bench_stop(b);
    kc_buf_printf(&out, "choices %llu", (unsigned long long)kc_sim_choices(sim));
    kc_sim_leave(sim);
    return kc_buf_take(&out);
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        kc_autofree char *first = run(seed), *again = run(seed);
        assert_string_equal(first, again);
        assert_contains(first, "w-2-3");
        assert_contains(first, "silence at ");
    }
}

TESTS(equal_seeds_give_equal_runs)
