/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_testing.h: the real API server in this process, without sockets: its store is in a temporary
 * directory, its loops run, and requests are passed to it as an HTTP connection would.
 *
 *     kc_auto(api) *a = api_start(NULL);
 *     const reply *r = SEND(a, "POST", "/api/v1/namespaces/default/configmaps",
 *                           .body = "{'metadata':{'name':'a'},'data':{'k':'v'}}");
 *     assert_int_equal(r->status, 201);
 *     assert_string_equal(r_text(r, "data.k"), "v");
 *
 * SEND blocks until the response is complete. In bodies ' stands for ", unless they are sent raw.
 * Replies and all strings live until the server is stopped; a test need not free anything.
 *
 *     watch *w = WATCH(a, "/api/v1/namespaces/default/configmaps?watch=1");
 *     assert_event(w, "ADDED", "a");
 *     watch_close(w);
 *
 * The response of a watch is read line by line; waiting for a line fails the test after half a
 * minute of real time. The functions are called on the test's thread; those that run on loops say
 * so.
 */
#ifndef KC_API_TESTING_H
#define KC_API_TESTING_H

#include "testing.h"

#include "apiserver/apiserver.h"
#include "apiserver/request/phases.h"

typedef struct api api;
typedef struct reply reply;
typedef reply watch;

typedef struct api_opts {
    bool virtual_time;     /* Stays at 2026-01-02T03:04:05Z until api_advance moves it. */
    const char *client_ca; /* Published as the CA of client certificates. Defaults to none. */
    /* Limits. api_start sets storage, clock, CA and randomness. The plugin ServiceAccount is off
     * unless it is enabled: no controller creates accounts. */
    kc__apiserver_opts server;
} api_opts;

/* `opts` may be NULL. Never NULL. */
api *api_start(const api_opts *opts);
/* Closes open watches, stops the server, removes its directory. NULL is allowed; returns NULL. */
api *api_stop(api *a);
KC_AUTO_DEFINE(api, api_stop)

/* Stops the server as a signal would, and starts it again in the same directory. */
void api_restart(api *a);
/* Makes the server not ready; watches end. */
void api_drain(api *a);
/* Moves virtual time. */
void api_advance(api *a, int64_t ns);
kc__rest_api *api_inside(api *a);
/* The integer value of a series, named as in /metrics; -1 if there is none. */
long api_metric(api *a, const char *series);

typedef struct api_request {
    const char *method, *target;
    const char *body;       /* ' stands for ". */
    const char *type;       /* Content-Type. Defaults to application/json with a body, else none. */
    const char *accept;     /* Defaults to none. */
    const char *agent;      /* User-Agent. Defaults to none. */
    const char *headers[8]; /* Additional headers: "Name: value". */
    kc_str raw;             /* Instead of `body`: any bytes. */
    bool takes_items;       /* Receive objects instead of bytes: each becomes a line of a watch. */
    size_t stall_after; /* The client stops reading after this many bytes, until watch_resume. */
} api_request;

/* A response. */
struct reply {
    int status;
    const char *type; /* Content-Type; "" if missing. */
    const char *body; /* NUL-terminated; of a watch what has arrived so far. */
    size_t length;    /* Of body. */
    bool aborted;     /* The body was truncated. */
};

const reply *api_send(api *a, const api_request *request);
#define SEND(a, ...) api_send(a, &(api_request){__VA_ARGS__})

/* Shorthands. */
const reply *api_get(api *a, const char *target);
const reply *api_delete(api *a, const char *target, const char *body);
const reply *api_post(api *a, const char *target, const char *body);
const reply *api_put(api *a, const char *target, const char *body);
/* A merge patch. */
const reply *api_patch(api *a, const char *target, const char *body);
/* Formats a target or a body, like printf. Owned by the api. */
const char *text(api *a, const char *fmt, ...) KC_PRINTF(2, 3);

/* ---- responses ---- */

/* The first value of a header, or NULL; the i-th. */
const char *r_header(const reply *r, const char *name);
const char *r_header_at(const reply *r, const char *name, size_t i);
/* The value at a path of the body ("metadata.name", "items[0].metadata.uid"): a string without its
 * quotes, anything else as JSON; "" if there is none. */
const char *r_text(const reply *r, const char *path);
/* The number of items of the list at a path ("items"). */
size_t r_count(const reply *r, const char *path);
/* metadata.name of each item, separated by spaces. */
const char *r_names(const reply *r);

/* Asserts that the response is a Status with this code, reason and message. */
#define assert_status(r, the_code, the_reason, the_message) \
    api__assert_status(r, the_code, the_reason, the_message, __FILE__, __LINE__)
#define assert_code(r, the_code)     api__assert_code(r, the_code, __FILE__, __LINE__)
#define assert_at(r, path, expected) api__assert_at(r, path, expected, __FILE__, __LINE__)

/* ---- watches ---- */

/* Returns when the response headers have arrived. */
watch *api_watch(api *a, const api_request *request);
#define WATCH(a, the_target, ...) \
    api_watch(a, &(api_request){.method = "GET", .target = the_target, __VA_ARGS__})
/* The next line, without its end; NULL when the response has ended. Fails the test if none
 * arrives. */
const char *watch_line(watch *w);
/* Whether nothing unread has arrived, after everything sent before was handled. */
bool watch_is_silent(watch *w);
/* The i-th object received; it must exist. Lives until the server is stopped. */
const kc_object *watch_item(watch *w, size_t i);
/* The client resumes reading. */
void watch_resume(watch *w);
/* Simulates a client that disconnects; the reply stays readable. */
void watch_close(watch *w);

/* Asserts the type of the next event and the name of its object. Returns the line. */
#define assert_event(w, type, name) api__assert_event(w, type, name, __FILE__, __LINE__)
/* Asserts that the response ends here. */
#define assert_ended(w) assert_null(watch_line(w))

/* The value at a path of a line; owned by the api. */
const char *line_text(watch *w, const char *line, const char *path);

void api__assert_status(const reply *r, int code, const char *reason, const char *message,
                        const char *file, int line);
void api__assert_code(const reply *r, int code, const char *file, int line);
void api__assert_at(const reply *r, const char *path, const char *expected, const char *file,
                    int line);
const char *api__assert_event(watch *w, const char *type, const char *name, const char *file,
                              int line);

#endif
