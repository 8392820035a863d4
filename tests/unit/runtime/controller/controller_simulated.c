/* SPDX-License-Identifier: Apache-2.0 */
/* A controller in a simulation: equal seeds give equal reconciles. */
#include "kc/sim.h"
#include "runtime/controller/controller_internal.h"

#include "testing.h"

#include <inttypes.h>

enum { KEYS = 10 };

typedef struct plane {
    kc_controller *controller;
    kc_cancel *stop;
    kc_mutex mutex; /* Guards what follows. */
    kc_buf trace;
    int working[KEYS];
} plane;

static void append_line(plane *p, const kc_context *ctx, kc_key key, const char *what)
{
    kc_locked (&p->mutex)
        kc_buf_printf(&p->trace, "%" PRId64 " %.*s %s\n", kc_clock_now(ctx->clock),
                      KC_ARG(key.name), what);
}

/* Takes a while, and then does one thing or another. */
static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    plane *p = ctx->user;
    int *working = &p->working[request->key.name.p[0] - '0'];
    kc_locked (&p->mutex)
        assert_int_equal((*working)++, 0);
    append_line(p, ctx, request->key, "begins");
    int64_t wait = (int64_t)kc_rand_below(ctx->rand, 30) * KC_MILLISECOND;
    bool reported =
        !kc_cancel_sleep_until(ctx->cancel, ctx->clock, kc_clock_deadline(ctx->clock, wait));
    append_line(p, ctx, request->key, reported ? "gives up" : "ends");
    kc_locked (&p->mutex)
        --*working;
    if (reported)
        return kc_error_set(err, KC_TIMEOUT, "too slow"), kc_retry(err);
    return kc_rand_below(ctx->rand, 3) ? kc_done() : kc_requeue_after(50 * KC_MILLISECOND);
}

static void run_controller(void *user)
{
    plane *p = user;
    if (kc__controller_begin(p->stop, p->controller, NULL) != KC_RUN_PARKED)
        return;
    kc_cancel_sleep_until(p->stop, kc_sim_clock(kc_sim_current()), KC_FOREVER);
    kc__controller_end(p->controller);
}

static void send_some(kc_sim *sim, kc_channel *channel)
{
    kc_rand rand = kc_sim_rand(sim);
    for (int i = 0; i < 100; i++) {
        char name[] = {(char)('0' + kc_rand_below(&rand, KEYS)), '\0'};
        kc_channel_send(channel, KC_KEY("ns", name), NULL);
        kc_sim_run_for(sim, (int64_t)kc_rand_below(&rand, 10) * KC_MILLISECOND);
    }
}

static char *run(uint64_t seed)
{
    kc_auto(kc_sim) *sim = kc_sim_new(seed, 0);
    kc_sim_enter(sim);
    kc_rand rand = kc_sim_rand(sim);
    kc_channel *channel = kc_channel_new();
    plane p = {.stop = kc_cancel_new(NULL)};
    kc_mutex_init(&p.mutex);
    p.controller = kc__controller_create(
        &(kc__controller_env){.clock = kc_sim_clock(sim), .rand = &rand},
        &(kc_controller_opts){
            .name = "robot",
            .sources = KC_SOURCES(kc_source_channel(channel),
                                  kc_source_timer(100 * KC_MILLISECOND, KC_KEY("ns", "0"))),
            .reconcile = reconcile,
            .user = &p,
            .workers = 3,
            .timeout = 20 * KC_MILLISECOND,
            .fair = true,
        },
        NULL);
    kc_thread *thread = kc_thread_start("controller", run_controller, &p, NULL);
    send_some(sim, channel);
    kc_sim_run_for(sim, KC_SECOND);
    kc_cancel_fire(p.stop);
    kc_thread_join(thread);
    kc__controller_free(p.controller);
    kc_channel_unref(channel);
    kc_cancel_unref(p.stop);
    kc_mutex_done(&p.mutex);
    kc_sim_leave(sim);
    return kc_buf_take(&p.trace);
}

static void equal_seeds_give_equal_reconciles(void **state)
{
    (void)state;
    kc_autofree char *other = run(99);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        kc_autofree char *first = run(seed), *again = run(seed);
        assert_contains(first, "gives up");
        assert_string_equal(first, again);
        assert_string_not_equal(first, other);
    }
}

TESTS(equal_seeds_give_equal_reconciles)
