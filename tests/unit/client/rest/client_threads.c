/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads on one client: its shared state is guarded. Most useful under ThreadSanitizer. */
#include "client_testing.h"

enum { THREADS = 6, ROUNDS = 15 };

typedef struct worker {
    bench *b;
    kc_client *client;
    int number;
} worker;

static void run_all(bench *b, kc_client *client, void (*run)(void *user))
{
    worker workers[THREADS];
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){b, client, i};
        threads[i] = kc_thread_start("worker", run, &workers[i], NULL);
    }
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
}

static void use_client(void *user)
{
    const worker *w = user;
    for (int i = 0; i < ROUNDS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "w-%d-%d", w->number, i);
        kc_auto(kc_client) *mine =
            kc_client_with(w->client, &(kc_client_overrides){.ns = "default"});
        kc_auto(kc_object) *object = config_map(name, "v");
        kc_auto(kc_object) *made = kc_client_create(mine, object, NULL, NULL);
        assert_non_null(made);
        kc_auto(kc_object) *read =
            kc_client_get(mine, &kc_kind_config_map, KC_KEY("", name), NULL, NULL);
        assert_non_null(read);
        kc_scoped(kc_object_list) list = {0};
        assert_int_equal(
            kc_client_list(mine, &kc_kind_config_map, &(kc_list_opts){.page = 10}, &list, NULL), 0);
        assert_true(list.n > 0);
        assert_int_equal(kc_client_delete(mine, &kc_kind_config_map, KC_KEY("", name), NULL, NULL),
                         0);
    }
}

static void client_is_used_by_many_threads(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.metrics = metrics});
    run_all(b, b->client, use_client);
    kc_scoped(kc_object_list) list = {0};
    assert_int_equal(kc_client_list(b->client, &kc_kind_config_map,
                                    &(kc_list_opts){.ns = "default"}, &list, NULL),
                     0);
    assert_int_equal(list.n, 0);
}

static void ignore(const kc_api_resource *resource, void *user)
{
    (void)user;
    assert_non_null(resource->kind->plural);
}

static void discover(void *user)
{
    const worker *w = user;
    for (int i = 0; i < 3; i++) {
        const kc_kind *kind = kc_client_kind(
            w->client, (kc_gvk){KC_STR("apps"), KC_STR("v1"), KC_STR("Deployment")}, NULL);
        assert_string_equal(kind->plural, "deployments");
        const kc_kind *same = kc_client_kind_of_resource(w->client, KC_STR("deploy"), NULL);
        assert_string_equal(same->plural, "deployments");
        assert_null(kc_client_kind(
            w->client, (kc_gvk){KC_STR("none.example.com"), KC_STR("v1"), KC_STR("X")}, NULL));
        assert_int_equal(kc_client_discover(w->client, ignore, NULL, NULL), 0);
    }
}

static void kinds_are_discovered_by_many_threads(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    run_all(b, b->client, discover);
}

static void get_rate_limited(void *user)
{
    const worker *w = user;
    for (int i = 0; i < ROUNDS; i++)
        kc_object_unref(
            kc_client_get(w->client, &kc_kind_config_map, KC_KEY("default", "a"), NULL, NULL));
}

static void rate_limits_and_retries_are_shared_by_threads(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.qps = 2000, .burst = 10});
    for (int i = 0; i < 30; i++)
        bench_script(b, i % 2 ? &(scripted){.status = 429, .fields = {{"retry-after", "0"}}}
                              : &(scripted){0});
    run_all(b, b->client, get_rate_limited);
    assert_int_equal(bench_count(b), THREADS * ROUNDS + 15);
}

static void watch_some(void *user)
{
    const worker *w = user;
    kc_auto(kc_watch) *watch =
        kc_client_watch(w->client, &kc_kind_config_map, &(kc_watch_opts){.ns = "default"}, NULL);
    assert_non_null(watch);
    char name[32];
    snprintf(name, sizeof(name), "of-%d", w->number);
    kc_object_unref(created(w->b, name));
    bool seen = false;
    while (!seen) {
        kc_watch_event event;
        const int64_t soon = kc_clock_deadline(kc_clock_real(), 60 * KC_SECOND);
        assert_int_equal(kc_watch_next(watch, soon, &event, NULL), 1);
        seen = kc_str_is(kc_object_name(event.object), name);
        kc_object_unref(event.object);
    }
}

static void watches_run_concurrently(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    run_all(b, b->client, watch_some);
}

TESTS(client_is_used_by_many_threads, kinds_are_discovered_by_many_threads,
      rate_limits_and_retries_are_shared_by_threads, watches_run_concurrently)
