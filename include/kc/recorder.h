/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h: telling people what a controller does, as Events of the objects it does it to.
 *
 *     kc_event(ctx->recorder, robot, KC_NORMAL, "Scaled", "Scaled up to %d", n);
 *
 * Recording never blocks and never fails: events go through a queue (of 1000 for each name that
 * speaks; what finds it full is dropped) to one thread, which sends them. Those that repeat are
 * counted, not sent again; those that differ only in their message are combined after the tenth; of
 * what one source says of one object no more than 25 are sent at once and one more every five
 * minutes.
 */
#ifndef KC_RECORDER_H
#define KC_RECORDER_H

#include "kc/client.h"

typedef struct kc_recorder kc_recorder;

#define KC_NORMAL  "Normal"
#define KC_WARNING "Warning"

typedef struct kc_recorder_opts {
    kc_client *client;
    const char *component; /* Who says it. */
    const char *host;      /* Defaults to the machine's name. */
    bool events_v1;        /* events.k8s.io/v1, with series, instead of core/v1. */
    kc_rand *rand;
    kc_log *log; /* Every event is said there too, at debug. */
    kc_metrics *metrics;
} kc_recorder_opts;

kc_recorder *kc_recorder_new(const kc_recorder_opts *opts, kc_error *err);
/* Sends what is in the queue until the deadline of the client's clock, and frees it. Returns NULL.
 */
kc_recorder *kc_recorder_stop(kc_recorder *recorder, int64_t deadline);
static inline KC_UNUSED void kc_recorder_drop(kc_recorder *recorder)
{
    kc_recorder_stop(recorder, 0);
}
KC_AUTO_DEFINE(kc_recorder, kc_recorder_drop)

/* The same recorder in another's name: events say `component` as their source, and have limits of
 * their own. It lives as long as `recorder`, and is not stopped. NULL gives NULL. Any thread. */
kc_recorder *kc_recorder_as(kc_recorder *recorder, const char *component);

/* `object` is what it is about; the rest is copied. A NULL recorder says nothing. Any thread. */
void kc_event(kc_recorder *recorder, const kc_object *about, const char *type, const char *reason,
              const char *fmt, ...) KC_PRINTF(5, 6);

typedef struct kc_event_opts {
    const kc_object *about;
    const kc_object *related; /* A second object; events.k8s.io only. */
    const char *type, *reason;
    const char *action; /* What was done or tried. Defaults to the reason. */
    const char *message;
    const char *field_path;         /* The part it is about: "spec.containers{web}". */
    const char *const *annotations; /* "name=value", end with NULL. */
} kc_event_opts;
void kc_event_with(kc_recorder *recorder, const kc_event_opts *opts);

#endif
