/* SPDX-License-Identifier: Apache-2.0 */
/* The cache in a simulation: a seed orders the threads, so runs are reproducible. */
#include "plane.h"

#include "kc/sim.h"

/* The result of a run: the notifications of listeners, in order, and the number of choices. */
typedef struct record {
    kc_buf text;
    uint64_t choices;
} record;

static void on_added(const kc_change *change, void *user)
{
    kc_buf_printf(user, "+%.*s@%.*s ", KC_ARG(kc_object_name(change->object)),
                  KC_ARG(kc_object_resource_version(change->object)));
}

static void on_updated(const kc_change *change, void *user)
{
    kc_buf_printf(user, "~%.*s@%.*s ", KC_ARG(kc_object_name(change->object)),
                  KC_ARG(kc_object_resource_version(change->object)));
}

static const kc_event_handler_ops OPS = {.added = on_added, .updated = on_updated};

static void live(kc_sim *sim, record *ret)
{
    kc_rand rand = kc_sim_rand(sim);
    kc_embedded_server *server = kc_embedded_server_start(
        &(kc_embedded_server_opts){.clock = kc_sim_clock(sim), .rand = &rand, .threads = 1}, NULL);
    assert_non_null(server);
    kc_client *client =
        kc_client_new(&(kc_client_opts){.transport = kc_embedded_server_transport(server, NULL),
                                        .clock = kc_sim_clock(sim),
                                        .rand = &rand},
                      NULL);
    kc_cache *cache = kc_cache_new(&(kc_cache_opts){.client = client, .rand = &rand});
    kc_informer *informer = kc_cache_informer(cache, &kc_kind_config_map, NULL);
    kc_event_handler *l = kc_informer_add_handler(informer, &OPS, &ret->text, 0);
    kc_cache_start(cache, NULL);
    create(client, "default", "one", "", "v");
    create(client, "default", "two", "", "v");
    update(client, "default", "one", "w");
    kc_sim_run_for(sim, 3 * KC_MINUTE);
    assert_true(kc_informer_has_synced(informer));
    kc_event_handler_remove(l);
    kc_informer_release(informer);
    kc_cache_free(cache);
    kc_client_unref(client);
    kc_embedded_server_stop(server);
}

static record run(uint64_t seed)
{
    record r = {0};
    kc_auto(kc_sim) *sim = kc_sim_new(seed, 1700000000 * KC_SECOND);
    kc_sim_enter(sim);
    live(sim, &r);
    r.choices = kc_sim_choices(sim);
    kc_sim_leave(sim);
    return r;
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        record a = run(seed), b = run(seed);
        assert_true(kc_str_eq(kc_buf_str(&a.text), kc_buf_str(&b.text)));
        assert_int_equal(a.choices, b.choices);
        assert_true(a.text.n > 0);
        kc_buf_done(&a.text);
        kc_buf_done(&b.text);
    }
}

TESTS(equal_seeds_give_equal_runs)
