/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h: records Events about the objects that a controller works on.
 *
 *     kc_recorder_event(ctx->recorder, robot, KC_EVENT_TYPE_NORMAL, "Scaled",
 *                       "Scaled up to %d", n);
 *
 * Recording never blocks and never fails: events go through a queue (1000 per component; a full
 * queue drops them) to one thread, which sends them. Repeated events are counted, not sent again;
 * events that differ only in their message are combined after the tenth; for one source and object
 * at most 25 are sent at once, and then one every five minutes.
 */
#ifndef KC_RECORDER_H
#define KC_RECORDER_H

#include "kc/client.h"

typedef struct kc_recorder kc_recorder;

#define KC_EVENT_TYPE_NORMAL  "Normal"
#define KC_EVENT_TYPE_WARNING "Warning"

typedef struct kc_recorder_opts {
    kc_client *client;
    const char *component;     /* Source of the events. */
    const char *host;          /* Defaults to the host name. */
    const char *field_manager; /* Of the events. Defaults to the client's. */
    bool events_v1;            /* events.k8s.io/v1, with series, instead of core/v1. */
    kc_rand *rand;
    kc_log *log; /* Receives every event at debug level. */
    kc_metrics *metrics;
} kc_recorder_opts;

kc_recorder *kc_recorder_new(const kc_recorder_opts *opts, kc_error *err);
/* Sends the queued events until the deadline of the client's clock, then frees the recorder.
 * Returns NULL. */
kc_recorder *kc_recorder_stop(kc_recorder *recorder, int64_t deadline);
static inline KC_UNUSED void kc_recorder_drop(kc_recorder *recorder)
{
    kc_recorder_stop(recorder, 0);
}
KC_AUTO_DEFINE(kc_recorder, kc_recorder_drop)

/* The same recorder with another source: its events have `component` as source, `field_manager` as
 * the manager of their fields, and limits of their own. NULL for one of them: that of the recorder
 * that was made by kc_recorder_new. It lives as long as `recorder` and is not stopped. NULL for
 * NULL. Any thread. */
kc_recorder *kc_recorder_with_component(kc_recorder *recorder, const char *component,
                                        const char *field_manager);

/* Records an event about an object; copies its arguments. No effect for a NULL recorder. Any
 * thread. */
void kc_recorder_event(kc_recorder *recorder, const kc_object *about, const char *type,
                       const char *reason, const char *fmt, ...) KC_PRINTF(5, 6);

typedef struct kc_recorder_event_opts {
    const kc_object *about;
    const kc_object *related; /* A second object; events.k8s.io only. */
    const char *type, *reason;
    const char *action; /* The action taken or attempted. Defaults to the reason. */
    const char *message;
    const char *field_path;         /* The part of the object: "spec.containers{web}". */
    const char *const *annotations; /* "name=value", ended by NULL. */
} kc_recorder_event_opts;
void kc_recorder_event_with(kc_recorder *recorder, const kc_recorder_event_opts *opts);

#endif
