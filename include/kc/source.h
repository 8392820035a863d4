/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: where a controller's keys come from: what happens to objects (kc_watch_kind of
 * controller.h makes those), a channel that the program feeds, a timer, or anything else.
 *
 *     kc_channel *alarms = kc_channel_new();
 *     … .sources = KC_SOURCES(kc_source_channel(alarms), kc_source_timer(KC_MINUTE, key)) …
 *     kc_channel_send(alarms, KC_KEY("plant", "robot-1"), NULL);    from any thread
 *
 * A source is started with the queue it fills, and stopped before that is freed; a controller that
 * lost the lead and won it again starts it again. It belongs to whoever it was given to.
 */
#ifndef KC_SOURCE_H
#define KC_SOURCE_H

#include "kc/reconcile.h"

typedef struct kc_source kc_source;

typedef struct kc_source_ops {
    /* Must not block; negative fails the start of the controller. */
    int (*start)(void *state, kc_queue *queue, kc_error *err);
    /* What was there at the start has been added. Returns false at the deadline, or with an error
     * when it cannot be. NULL: at once. */
    bool (*wait_synced)(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err);
    /* After it nothing is added. NULL: nothing to do. */
    void (*stop)(void *state);
    void (*free)(void *state);
} kc_source_ops;

kc_source *kc_source_new(const kc_source_ops *ops, void *state);
/* NULL is allowed; returns NULL. */
kc_source *kc_source_free(kc_source *source);

/* Keys sent by the program, to one controller. Counted: the source holds one reference, the program
 * the other. What is sent while the controller does not run waits for it, up to 1024 keys. */
typedef struct kc_channel kc_channel;
kc_channel *kc_channel_new(void);
kc_channel *kc_channel_ref(kc_channel *channel);
kc_channel *kc_channel_unref(kc_channel *channel);
KC_AUTO_DEFINE(kc_channel, kc_channel_unref)
/* KC_TOO_MANY_REQUESTS when nobody takes them. Never blocks. */
int kc_channel_send(kc_channel *channel, kc_key key, kc_error *err);
kc_source *kc_source_channel(kc_channel *channel);

/* Adds the key every `period`, first after one period. The key's text is copied. */
kc_source *kc_source_timer(int64_t period, kc_key key);

#endif
