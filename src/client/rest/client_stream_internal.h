/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_stream_internal.h: shared by the files of client_stream.h: the queue between transport and
 * owner (client_stream_queue.c), and the attempts and events of a request (client_stream.c).
 */
#ifndef KC_CLIENT_STREAM_INTERNAL_H
#define KC_CLIENT_STREAM_INTERNAL_H

#include "client/rest/client_attempt.h"
#include "client/rest/client_stream.h"
#include "client/stream/list_splitter.h"
#include "client/stream/watch_frames.h"
#include "kc/arena.h"
#include "kc/vec.h"

typedef struct kc__client_stream_queued {
    kc_stream_item item;
    kc_object *object; /* A reference. */
} kc__client_stream_queued;

/* What one attempt received and the owner has not taken yet. */
typedef struct kc__client_stream_arrivals {
    kc_buf bytes;
    KC_VEC(kc__client_stream_queued) objects;
    bool head, ended;
    int status;       /* Valid if `head` is set. */
    kc_error failure; /* Valid if `ended` is set; KC_OK after a complete response. */
} kc__client_stream_arrivals;

/* The queue between a transport's callbacks and the owner of a stream. */
typedef struct kc__client_stream_queue {
    kc__client_stream_wake *wake;
    void *user;
    const kc__client_attempt *attempt; /* For logging. */
    int64_t began;

    kc_mutex mutex; /* Guards the fields below. `wake` is called with it held. */
    kc__client_stream_arrivals arrived;
    size_t queued_bytes;
    bool paused, woken;
    kc_buf retry_after; /* The header field. */
} kc__client_stream_queue;

extern const kc_stream_callbacks kc__client_stream_queue_callbacks; /* `user` is the queue. */

void kc__client_stream_queue_init(kc__client_stream_queue *queue, kc__client_stream_wake *wake,
                                  void *user);
void kc__client_stream_queue_done(kc__client_stream_queue *queue);
/* Empties the queue for the next attempt. */
void kc__client_stream_queue_reset(kc__client_stream_queue *queue);
/* Moves the received data to `ret`, which must be empty. Returns true if the transport is to be
 * resumed. `head` and `ended` stay set in the queue. */
bool kc__client_stream_queue_take(kc__client_stream_queue *queue, kc__client_stream_arrivals *ret);
bool kc__client_stream_queue_ended(kc__client_stream_queue *queue);

void kc__client_stream_arrivals_clear(kc__client_stream_arrivals *arrivals);

struct kc__client_stream {
    kc_client *client;
    const kc_kind *kind;        /* As requested. */
    const kc_kind *object_kind; /* Applies to objects that do not state their kind. */
    bool is_list;
    kc_list_opts list;
    kc_watch_opts watch;
    kc_arena arena; /* Strings of the options. */
    int64_t open_deadline;
    kc_object_list about; /* Of a list: the metadata of the last page. */

    kc__client_request request; /* For the current page, or the watch. */
    kc__client_attempt attempt;
    enum {
        KC__CLIENT_STREAM_PREPARE, /* The next page, or the watch, is to be requested. */
        KC__CLIENT_STREAM_SEND,    /* At send_at. */
        KC__CLIENT_STREAM_READ,    /* The transport is receiving. */
        KC__CLIENT_STREAM_END,     /* Ended or failed. */
    } phase;
    int64_t send_at;
    kc_stream *stream;     /* Of the transport; NULL between attempts. */
    bool opened;           /* KC__STREAM_OPENED was returned. */
    bool was_unauthorized; /* Sent again after a 401; at most once. */

    kc__client_stream_queue queue;
    kc__client_stream_arrivals taken; /* Objects not passed on yet start at `at_object`, */
    size_t at_object;
    size_t at_byte; /* bytes at this offset. */
    kc__stream_frames frames;
    kc__stream_splitter cutter;
    KC_VEC(kc_object *) listed; /* Split off; not passed on yet from `at_listed` on. */
    size_t at_listed;
    kc_object *list_end; /* The list without items, if the transport delivers objects. */
    kc_buf error_body;
};

#endif
