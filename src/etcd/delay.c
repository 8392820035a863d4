/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay.c: actions after a time: retries of calls, restarts of the watch stream, requests for
 * progress.
 *
 * The loop `timers` has the client's timers and nothing else. Closing the client makes all delays
 * fire: their owners then see that the client closes, and end.
 */
#include "etcd/etcd_internal.h"

static void fire_delay(kc__loop_timer *timer)
{
    kc__etcd_delay *delay = kc_container_of(timer, kc__etcd_delay, timer);
    kc_dlist_remove(&delay->link);
    delay->fire(delay);
}

static void start_timer(kc__loop_task *task)
{
    kc__etcd_delay *delay = kc_container_of(task, kc__etcd_delay, task);
    kc__etcd *etcd = delay->etcd;
    if (etcd->delays_closed) {
        delay->fire(delay);
        return;
    }
    delay->timer = (kc__loop_timer){.loop = etcd->timers, .fire = fire_delay};
    kc_dlist_push(&etcd->delays, &delay->link);
    kc__loop_timer_start(&delay->timer, delay->deadline);
}

void kc__etcd_delay_start(kc__etcd_delay *delay, int64_t ns)
{
    delay->deadline = kc_clock_deadline(delay->etcd->clock, ns);
    delay->task.run = start_timer;
    kc__loop_post(delay->etcd->timers, &delay->task);
}

static void close_delays(kc__loop_task *task)
{
    kc__etcd *etcd = kc_container_of(task, kc__etcd, close_delays);
    etcd->delays_closed = true;
    for (kc_dlist_link *link; (link = kc_dlist_pop(&etcd->delays));) {
        kc__etcd_delay *delay = kc_container_of(link, kc__etcd_delay, link);
        kc__loop_timer_stop(&delay->timer);
        delay->fire(delay);
    }
}

void kc__etcd_delay_close_all(kc__etcd *etcd)
{
    etcd->close_delays.run = close_delays;
    kc__loop_post(etcd->timers, &etcd->close_delays);
}

int64_t kc__etcd_backoff(kc__etcd *etcd, unsigned attempts)
{
    const int64_t pause = attempts < 7 ? KC__ETCD_MIN_BACKOFF << attempts : KC__ETCD_MAX_BACKOFF;
    return kc_rand_jitter(&etcd->rand, KC_MIN(pause, KC__ETCD_MAX_BACKOFF), 0.5);
}
