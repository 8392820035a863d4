/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_internal.h: what the files of the HTTP transport share.
 *
 *     caller's thread                    lane's thread
 *     open: fetch, handle, options
 *           kc__lane_post(START) ──────▶ curl_multi_add_handle
 *           waits                        header, write callbacks fill the fetch
 *           ◀──────────────────────────  publish
 *     read: takes the body, RESUME ────▶ curl_easy_pause
 *     close: STOP ─────────────────────▶ curl_multi_remove_handle
 *
 * Order of locks: a fetch's, a lane's; neither is held while calling out or into curl.
 */
#ifndef KC_CLIENT_TRANSPORT_HTTP_INTERNAL_H
#define KC_CLIENT_TRANSPORT_HTTP_INTERNAL_H

#include "client/credentials.h"
#include "kc/arena.h"
#include "kc/transport.h"

#include <curl/curl.h>

/* Bytes of a body that wait for their reader before the sender is stopped. */
#define KC__BODY_AHEAD ((size_t)256 << 10)
/* Of an answer's head. */
#define KC__MAX_HEAD        ((size_t)256 << 10)
#define KC__MAX_HEAD_FIELDS 1000
/* Of a request's target. */
#define KC__MAX_TARGET ((size_t)1 << 20)

typedef struct kc__lane kc__lane;
typedef struct kc__fetch kc__fetch;

/* ---- the transport ---- */

typedef struct kc__http {
    kc_transport transport; /* First. */
    kc_config *config;      /* A copy. */
    const kc_clock *clock;
    kc__credentials *credentials;
    char *base; /* https://host:port/prefix */
    char *host; /* host:port, as in Host: */
    char *user_agent;
    struct curl_slist connect_to;   /* With tls-server-name: where to go in its place. */
    struct curl_slist *fixed;       /* Header lines of every request; */
    struct curl_slist *impersonate; /* those and impersonation. May be the same. */
    kc_arena arena;                 /* Of those lines. */
    bool tls, loopback;
    long connect_timeout_ms;
    kc__lane *quick; /* For requests with short answers, and */
    kc__lane *slow;  /* for lists and watches; see transport_http.c. May be the same. */
} kc__http;

/* ---- easy handles, with the options that stay (transport_http_handle.c) ---- */

typedef struct kc__handle {
    CURL *easy;
    kc__credential *credential; /* Whose certificates it has. */
    char error[CURL_ERROR_SIZE];
} kc__handle;

/* For a credential, HTTP/1.1 or what the server offers. NULL when memory is short. */
kc__handle *kc__handle_new(const kc__http *http, kc__credential *credential, bool http1);
kc__handle *kc__handle_free(kc__handle *handle);

/* ---- one request and its answer ---- */

struct kc__fetch {
    kc_http_response response; /* First: what the user has. */
    kc_ref refs;               /* The caller's, one of the lane, one of its inbox. */
    const kc__http *http;
    kc__lane *lane;
    const char *method;
    int64_t deadline;
    kc_cancel *cancel; /* With a reference; may be NULL. */
    kc_cancel_hook hook;
    kc_arena arena; /* Text of the request, fields of the answer. */

    /* The caller's before START and after the head; the lane's thread's in between. */
    kc__handle *handle;
    kc__credential *credential;
    bool replayable; /* May be sent twice: it changes nothing. */
    bool asked_gzip;

    /* The lane's thread's alone. */
    kc_link in_running;
    kc_link in_touched;
    KC_VEC(kc_http_field) fields;
    size_t head_bytes;
    unsigned attempts; /* How often it was about to be sent. */
    bool gzip, refused_to_repeat, head_over;

    /* Of its lane's inbox; guarded by the lane's mutex. */
    kc_link in_inbox;
    unsigned wishes;

    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    bool head, done, cancelled, paused;
    CURLcode result; /* With done. */
    char *why;       /* With done, of a failure. */
    kc_buf filling;  /* Body that came and was not taken. */

    kc_buf draining; /* The reader's: what it took. */
    size_t drained;  /* Of it. */
};

/* With one reference, the caller's; hung on the request's token unless that was fired before. */
kc__fetch *kc__fetch_new(const kc__http *http, const kc_http_request *request);
kc__fetch *kc__fetch_unref(kc__fetch *x);
/* Waits for the head. 0, or an error; then the lane has been told to stop. */
int kc__fetch_await_head(kc__fetch *x, kc_error *err);
ssize_t kc__fetch_read(kc__fetch *x, char *ret_bytes, size_t n, kc_error *err);
/* Stops it wherever it is, and drops the caller's reference. */
void kc__fetch_close(kc__fetch *x);

/* For the lane, on its thread: ends it, with curl's result. */
void kc__fetch_finish(kc__fetch *x, CURLcode result);

/* Callbacks of curl, on the lane's thread; `user` is the fetch. (transport_http_answer.c) */
size_t kc__on_header(char *line, size_t size, size_t n, void *user);
size_t kc__on_body(char *bytes, size_t size, size_t n, void *user);
int kc__on_sending(void *user, char *remote, char *local, int remote_port, int local_port);

/* ---- requests (transport_http_request.c) ---- */

/* Sets what differs from request to request. */
int kc__fetch_prepare(kc__fetch *x, const kc_http_request *request, kc_error *err);
/* Whether an answer may be long, and read slowly. */
bool kc__request_is_slow(const kc_http_request *request);
/* A node of a list of header lines, in an arena. */
struct curl_slist *kc__header_line(kc_arena *arena, kc_str name, kc_str value,
                                   struct curl_slist *next);

/* ---- what went wrong (transport_http_error.c) ---- */

/* Of a fetch that is done, with a result other than CURLE_OK. Returns negative. */
int kc__fetch_failed(const kc__fetch *x, kc_error *err);

/* ---- lanes (transport_http_lane.c) ---- */

enum { KC__WISH_START = 1, KC__WISH_RESUME = 2, KC__WISH_STOP = 4 };

kc__lane *kc__lane_start(const char *name, bool http1, int max_connections, kc_error *err);
/* All fetches are closed. NULL is allowed; returns NULL. */
kc__lane *kc__lane_stop(kc__lane *lane);
bool kc__lane_is_http1(const kc__lane *lane);
/* Any thread; does not block. */
void kc__lane_post(kc__lane *lane, kc__fetch *x, unsigned wish);
/* On its thread: the fetch's waiter is woken at the end of this turn. */
void kc__lane_touch(kc__lane *lane, kc__fetch *x);
/* A handle made for the same credential that is not used, or NULL. Any thread. */
kc__handle *kc__lane_take_handle(kc__lane *lane, const kc__credential *credential);
/* Back, to be used again. Any thread. */
void kc__lane_give_handle(kc__lane *lane, kc__handle *handle);

#endif
