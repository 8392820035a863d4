/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_internal.h: what the files of the client share.
 *
 *     etcd.c       the client: open, close, timers (delay.c)
 *     call.c       unary calls: send, retry, authenticate again
 *     auth.c       the token: one Authenticate for all calls that wait for it
 *     watch.c      watches: start, stop, await; what a response means (watch_response.c)
 *     watch_stream.c  the stream under them: open, close, resume
 *     cursor.c     which events a watch has delivered
 *
 * Threads. The channel's thread runs the callbacks of gRPC and of the users; the loop `timers` runs
 * delays; callers have their own. One mutex guards all state of the client. It is not held while a
 * user's callback runs, and functions of grpc.h, which never call back before they return, may be
 * called under it.
 */
#ifndef KC_ETCD_ETCD_INTERNAL_H
#define KC_ETCD_ETCD_INTERNAL_H

#include "etcd/cursor.h"
#include "etcd/etcd.h"
#include "grpc/grpc.h"
#include "http/loop/loop.h"
#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/rand.h"
#include "kc/ref.h"
#include "kc/thread.h"

#define KC__ETCD_DEFAULT_TIMEOUT   (10 * KC_SECOND)
#define KC__ETCD_MAX_MESSAGE       ((size_t)256 << 20)
#define KC__ETCD_MIN_BACKOFF       (50 * KC_MILLISECOND)
#define KC__ETCD_MAX_BACKOFF       (5 * KC_SECOND)
#define KC__ETCD_PROGRESS_INTERVAL (100 * KC_MILLISECOND)
#define KC__ETCD_KEEPALIVE_TIMEOUT (2 * KC_SECOND)
/* A member that says nothing for so long, while a call or progress is awaited, is avoided. */
#define KC__ETCD_SILENCE (1 * KC_SECOND)

/* etcd ends, or refuses, a call with this metadata on a member that knows no leader. */
#define KC__ETCD_REQUIRE_LEADER                           \
    (kc__grpc_metadata)                                   \
    {                                                     \
        .name = "hasleader", .value = KC_STR_INIT("true") \
    }

/* ---- delays (delay.c) ---- */

/* Calls `fire` on the timers' loop after a time; at once when the client closes. Embedded; may be
 * started again once `fire` has begun. */
typedef struct kc__etcd_delay {
    kc__etcd *etcd;
    void (*fire)(struct kc__etcd_delay *delay);
    int64_t deadline; /* This field and the rest are private. */
    kc__loop_task task;
    kc__loop_timer timer;
    kc_dlist_link link; /* In `delays` of the client while the timer runs. */
} kc__etcd_delay;

/* Any thread. */
void kc__etcd_delay_start(kc__etcd_delay *delay, int64_t ns);
/* Makes all delays fire now, and later ones when they start. Any thread. */
void kc__etcd_delay_close_all(kc__etcd *etcd);

/* The pause before attempt number `attempts` (from 0): doubles up to a maximum, with jitter. With
 * the mutex held. */
int64_t kc__etcd_backoff(kc__etcd *etcd, unsigned attempts);

/* ---- authentication (auth.c) ---- */

typedef struct kc__etcd_auth_waiter {
    /* `refused` is NULL when a token is there. On the channel's thread. */
    void (*ready)(struct kc__etcd_auth_waiter *waiter, const kc__etcd_reply *refused);
    kc_dlist_link link; /* Private. */
} kc__etcd_auth_waiter;

typedef enum kc__etcd_auth_state {
    KC__ETCD_AUTH_NONE,
    KC__ETCD_AUTH_PENDING,
    KC__ETCD_AUTH_READY,
} kc__etcd_auth_state;

typedef struct kc__etcd_auth {
    char *username, *password; /* NULL: no authentication. Constant. */
    kc__etcd_auth_state state;
    uint64_t generation; /* Number of the token. */
    kc_dlist waiters;
} kc__etcd_auth;

/* True if calls may be sent, with the number of the token; otherwise `ready` is called later. */
bool kc__etcd_auth_wait(kc__etcd *etcd, kc__etcd_auth_waiter *waiter, uint64_t *ret_generation);
/* The server refused the token of this number: the next wait gets a new one. */
void kc__etcd_auth_invalidate(kc__etcd *etcd, uint64_t generation);

/* ---- errors (errors.c) ---- */

/* The code of an error that the server or the channel reported. */
kc__etcd_code kc__etcd_code_of(kc__grpc_code code, kc_str message);
/* "compacted". */
const char *kc__etcd_code_text(kc__etcd_code code);
kc_reason kc__etcd_code_reason(kc__etcd_code code);
/* Whether a call that ended so may have been processed by the server. */
bool kc__etcd_outcome_is_unknown(const kc__grpc_status *status, kc__etcd_code code);

/* ---- watches ---- */

struct kc__etcd_watch {
    kc__etcd *etcd;
    kc_ref refs; /* The owner's, and one for each list or map that holds the watch. */
    kc__etcd_watch_opts opts;
    char *key, *range_end; /* Copies that `opts` points to. */
    /* Guarded by the client's mutex. */
    kc__etcd_cursor cursor;
    bool stopped;           /* By the owner. */
    bool ended;             /* Compacted, or refused. */
    bool has_id;            /* Created on the current stream. */
    int64_t id;             /* On the current stream. */
    int64_t complete;       /* The callbacks for all events up to this revision have returned. */
    int64_t awaited;        /* Revision of kc__etcd_watch_await; 0: none. */
    kc_dlist_link link;     /* In `active`. */
    kc_dlist_link creating; /* In `creating`. */
};

typedef struct kc__etcd_watches {
    kc_dlist active;         /* Watches that are neither stopped nor ended. */
    kc_dlist creating;       /* Watches whose creation was sent and not answered, in order. */
    kc_map by_id;            /* Created watches; the key is the bytes of `id`. */
    kc__grpc_stream *stream; /* NULL: none is open. */
    /* A stream is open, or will be: a restart, the token or the connection is awaited. */
    bool running;
    unsigned attempts;         /* Streams in a row on which no message arrived. */
    uint64_t token_generation; /* Of the stream. */
    kc__etcd_delay restart, progress;
    bool progress_armed;
    int64_t heard; /* The last message, or the time since when one is awaited. */
    kc__etcd_auth_waiter token;
    kc__etcd_watch *in_callback; /* Whose callback runs. */
    pthread_t callback_thread;   /* On which it runs. */
    kc_cond callback_returned;
    kc_arena arena; /* Of the current response; used by the channel's thread only. */
} kc__etcd_watches;

void kc__etcd_watches_init(kc__etcd *etcd);
void kc__etcd_watches_done(kc__etcd *etcd);
kc__etcd_watch *kc__etcd_watch_unref(kc__etcd_watch *watch);

/* What to tell the user of a watch; one member besides `watch` is set. */
typedef struct kc__etcd_watch_news {
    kc__etcd_batch batch;
    int64_t progress;
    int64_t compact_revision;
    kc__etcd_code code;
    const kc_error *err;
} kc__etcd_watch_news;
/* Calls the callback, unless the watch is stopped. On the channel's thread, without the mutex. */
void kc__etcd_watch_tell(kc__etcd_watch *watch, const kc__etcd_watch_news *news);

/* With the mutex held: */
void kc__etcd_watch_stream_start(kc__etcd *etcd);
void kc__etcd_watch_stream_create(kc__etcd_watch *watch);
void kc__etcd_watch_stream_send(kc__etcd *etcd, const kc__etcd_watch_request *request);
/* Cancels a stream without watches. */
void kc__etcd_watch_stream_rest(kc__etcd *etcd);
/* Asks for progress until no watch awaits any. */
void kc__etcd_watch_stream_ask_progress(kc__etcd *etcd);
/* Without it, on the channel's thread: a message of the stream. False if it is malformed. */
bool kc__etcd_watch_response_handle(kc__etcd *etcd, kc_str message, kc_error *err);

/* ---- the client ---- */

typedef struct kc__etcd_metrics {
    kc_metric *duration; /* etcd_client_request_duration_seconds, by method. */
    kc_metric *failures; /* etcd_client_request_failures_total, by method and code. */
    kc_counter *events;  /* etcd_client_watch_events_total. */
    kc_counter *streams; /* etcd_client_watch_streams_total. */
} kc__etcd_metrics;

struct kc__etcd {
    kc__grpc_channel *channel;
    kc__loop *timers;
    const kc_clock *clock;
    kc_log *log;
    int64_t timeout;
    kc__etcd_metrics metrics;
    kc__loop_task close_delays;
    kc_dlist delays; /* Running ones; this and the next are used by the timers' loop only. */
    bool delays_closed;
    kc_mutex mutex; /* Guards the rest. */
    kc_rand rand;
    bool closing;
    size_t operations; /* Calls, and the stream of watches: kc__etcd_close waits for their end. */
    kc_cond idle;      /* `operations` is 0. */
    kc__etcd_auth auth;
    kc__etcd_watches watches;
};

void kc__etcd_operation_begin(kc__etcd *etcd);
/* The last access to the client by the operation. */
void kc__etcd_operation_end(kc__etcd *etcd);

#endif
