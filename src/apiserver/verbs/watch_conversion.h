/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_conversion.h: the events of a watch whose objects a conversion webhook must convert before
 * they can be sent.
 *
 *     kc__store_watcher ─▶ some events are held ─▶ their objects are converted ─▶ sent one by one
 *
 * For a watch without a webhook the struct is zeroed, and the functions read the store directly. On
 * the watch's loop.
 */
#ifndef KC_APISERVER_WATCH_CONVERSION_H
#define KC_APISERVER_WATCH_CONVERSION_H

#include "apiserver/kinds/remote_conversion.h"
#include "apiserver/store/watch.h"
#include "apiserver/verbs/selection.h"

typedef struct kc__rest_watch_conversion {
    /* Set by the watch. */
    const kc__resource *resource; /* NULL: no webhook. */
    kc__loop *loop;
    void (*ready)(void *user); /* The watch may continue. */
    void *user;

    bool waiting;   /* A webhook converts objects; `ready` will be called. */
    kc_error error; /* Why an object could not be converted: the watch must end. */

    /* Private. */
    kc__remote_conversion *job; /* Being collected, or in progress. */
    kc__remote_pins pins;
    KC_VEC(kc__store_event *) held;
    size_t held_at;                    /* The next of them to send. */
    kc__store_watch_result after_held; /* What followed them. */
    size_t window; /* Objects of the initial state that are converted and not visited yet. */
} kc__rest_watch_conversion;

/* As kc__store_watch_next, for events whose objects can be shown. KC__STORE_WATCH_EMPTY with
 * `waiting`: a webhook converts the next ones. */
kc__store_watch_result kc__rest_watch_convert_next(kc__rest_watch_conversion *c,
                                                   const kc__rest_selection *selection,
                                                   kc__store_watcher *watcher,
                                                   kc__store_event **ret_event);
/* As kc__rest_selection_next_within, for objects that can be shown. False with `waiting`: a webhook
 * converts the next ones. */
bool kc__rest_watch_convert_initial(kc__rest_watch_conversion *c,
                                    const kc__rest_selection *selection, kc__cow_iter *at,
                                    size_t *budget);
/* Whether events are held that have not been sent: a bookmark would come too early. */
bool kc__rest_watch_convert_holds(const kc__rest_watch_conversion *c);
/* At the end of the watch. */
void kc__rest_watch_convert_done(kc__rest_watch_conversion *c);

#endif
