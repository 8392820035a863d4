/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: keys from sources other than watches. A thread of the program watches doors (here: it
 * rings them one after the other) and sends their names through a channel; a timer queues a round
 * every second. Both feed one queue: each key once, one worker at a time, failures retried.
 */
#include "kc/controller.h"

#include <stdio.h>

/* A runnable: runs with the manager on a thread of its own until `stop` fires. */
static int watch_doors(kc_cancel *stop, void *user, kc_error *err)
{
    const kc_clock *clock = kc_clock_real();
    for (int door = 1; door <= 3; door++) {
        kc_autofree char *name = kc_asprintf("door-%d", door);
        if (kc_channel_send(user, KC_KEY("", name), err) < 0)
            return kc_error_result(err);
        if (!kc_cancel_sleep_until(stop, clock, kc_clock_deadline(clock, 100 * KC_MILLISECOND)))
            break;
    }
    return 0;
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    (void)ctx;
    if (kc_str_is(req->key.name, "round"))
        return printf("a round\n"), kc_done();
    if (kc_str_is(req->key.name, "door-2") &&
        req->item->causes[0].reason != KC_QUEUE_REASON_RETRY) {
        printf("door-2 is stuck\n");
        return kc_error_set(err, KC_UNKNOWN, "stuck"), kc_retry(err);
    }
    printf("%.*s is opened\n", KC_ARG(req->key.name));
    return kc_done();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_auto(kc_channel) *bell = kc_channel_new();
    kc_controller_opts porter = {
        .name = "porter",
        .sources =
            KC_SOURCES(kc_source_channel(bell), kc_source_timer(KC_SECOND, KC_KEY("", "round"))),
        .reconcile = reconcile,
    };
    kc_runnable doors = {.name = "doors", .run = watch_doors, .user = bell};
    if (!kc_controller_new(manager, &porter, &err) || kc_manager_add(manager, &doors, &err) < 0 ||
        kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
