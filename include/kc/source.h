/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: sources of a controller's keys: changes of objects (kc_watch_spec in controller.h
 * creates those), a channel that the program feeds, a timer, or a custom source.
 *
 *     kc_channel *alarms = kc_channel_new();
 *     const kc_controller_opts opts = {
 *         .sources = KC_SOURCES(kc_source_channel(alarms), kc_source_timer(KC_MINUTE, key)), …
 *     };
 *     kc_channel_send(alarms, KC_KEY("plant", "robot-1"), NULL);    from any thread
 *
 * The controller starts a source with the queue to fill, and stops it before it frees the queue. A
 * controller that lost the lease and acquired it again starts the source again. The receiver owns
 * the source.
 */
#ifndef KC_SOURCE_H
#define KC_SOURCE_H

#include "kc/reconcile.h"

typedef struct kc_source kc_source;

typedef struct kc_source_ops {
    /* Must not block; a negative result fails the start of the controller. */
    int (*start)(void *state, kc_queue *queue, kc_error *err);
    /* Returns true when everything that existed at the start has been added; false at the deadline,
     * or with an error when that is impossible. NULL: at once. */
    bool (*wait_synced)(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err);
    /* After it returns, nothing is added. May be NULL. */
    void (*stop)(void *state);
    void (*free)(void *state);
} kc_source_ops;

kc_source *kc_source_new(const kc_source_ops *ops, void *state);
/* NULL is allowed; returns NULL. */
kc_source *kc_source_free(kc_source *source);

/* Keys that the program sends to one controller. Reference-counted: the source holds one reference,
 * the program another. Up to 1024 keys are kept while the controller does not run. */
typedef struct kc_channel kc_channel;
kc_channel *kc_channel_new(void);
kc_channel *kc_channel_ref(kc_channel *channel);
kc_channel *kc_channel_unref(kc_channel *channel);
KC_AUTO_DEFINE(kc_channel, kc_channel_unref)
/* KC_TOO_MANY_REQUESTS when the channel is full. Never blocks. */
int kc_channel_send(kc_channel *channel, kc_key key, kc_error *err);
kc_source *kc_source_channel(kc_channel *channel);

/* Adds the key every `period`, first after one period. Copies the key. */
kc_source *kc_source_timer(int64_t period, kc_key key);

#endif
