/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_stream.h: lists and watches that do not block a thread: the event-driven side of a client,
 * used by the reflectors of a cache.
 *
 *     kc__client_stream *s = kc__client_stream_watch(client, kind, &opts, wake, user);
 *
 *     each time `wake` was called, or kc__client_stream_wake_at has passed:
 *     while ((got = kc__client_stream_next(s, &event, err)) == KC__STREAM_EVENT)
 *         …
 *
 *     kc__client_stream_cancel(s);               `wake` is called when it is over
 *     if (kc__client_stream_is_over(s))
 *         kc__client_stream_free(s);
 *
 * The transport's callbacks only queue bytes, or objects if the server is in the same process;
 * kc__client_stream_next parses them on the owner's thread. A queue of more than 256 KiB pauses the
 * transport. Failures are retried by the rules of kc__client_send (client_attempt.h); the owner
 * waits between attempts.
 *
 * A stream may be used by one thread at a time. The transport calls `wake` on one of its threads,
 * with a lock of the stream held: it must not call into the stream.
 */
#ifndef KC_CLIENT_STREAM_H
#define KC_CLIENT_STREAM_H

#include "kc/client.h"

typedef struct kc__client_stream kc__client_stream;
typedef void kc__client_stream_wake(void *user);

typedef enum kc__client_stream_type {
    KC__STREAM_OPENED, /* The server accepted the request. */
    KC__STREAM_WATCHED,
    KC__STREAM_LISTED,
    KC__STREAM_LIST_END, /* All pages were read. */
} kc__client_stream_type;

typedef struct kc__client_stream_event {
    kc__client_stream_type type;
    kc_watch_event_type watch; /* WATCHED only. */
    bool initial_end;          /* WATCHED only: a bookmark that ends the initial events. */
    bool shared; /* The object is shared with the server in the same process and must not be copied.
                  */
    kc_object *object;            /* WATCHED and LISTED only; owned by the caller. */
    const char *resource_version; /* LIST_END only; owned by the stream. */
} kc__client_stream_event;

/* Results of kc__client_stream_next in addition to negative errors. */
enum { KC__STREAM_DONE = 0, KC__STREAM_EVENT = 1, KC__STREAM_WAIT = 2 };

/* Lists from the server, page by page: LISTED for each object, then LIST_END, then
 * KC__STREAM_DONE. Strings in the options are copied; `limit`, `continue_token` and `index` are
 * ignored. Sends nothing before the first kc__client_stream_next. */
kc__client_stream *kc__client_stream_list(kc_client *client, const kc_kind *kind,
                                          const kc_list_opts *opts, kc__client_stream_wake *wake,
                                          void *user);
/* Opens a watch. It fails with KC_TIMEOUT if the server has not accepted it by `deadline`; after
 * that the owner is responsible for timeouts. `opts.cancel` is ignored. */
kc__client_stream *kc__client_stream_watch(kc_client *client, const kc_kind *kind,
                                           const kc_watch_opts *opts, int64_t deadline,
                                           kc__client_stream_wake *wake, void *user);

/*
 * Returns KC__STREAM_EVENT with the next event; KC__STREAM_WAIT if there is none yet;
 * KC__STREAM_DONE at the regular end; a negative value on failure, with the errors of
 * kc_client_list_each and kc_watch_next. Must not be called again after the last two.
 */
int kc__client_stream_next(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err);
/* Returns when to call kc__client_stream_next again even without a `wake`. */
int64_t kc__client_stream_wake_at(const kc__client_stream *s);
/* Cancels the stream; does not wait. */
void kc__client_stream_cancel(kc__client_stream *s);
/* Returns whether the transport has released the stream, so that it may be freed. */
bool kc__client_stream_is_over(kc__client_stream *s);
/* The stream must be over. NULL is allowed; returns NULL. */
kc__client_stream *kc__client_stream_free(kc__client_stream *s);

#endif
