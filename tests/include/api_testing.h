/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_testing.h: the real API server in this process, without sockets: its store lies in a
 * temporary folder, its loops run, and requests are handed to it as a carrier of HTTP would.
 *
 *     kc_auto(api) *a = api_start(NULL);
 *     const reply *r = SEND(a, "POST", "/api/v1/namespaces/default/configmaps",
 *                           .body = "{'metadata':{'name':'a'},'data':{'k':'v'}}");
 *     assert_int_equal(r->status, 201);
 *     assert_string_equal(r_text(r, "data.k"), "v");
 *
 * SEND blocks until the answer is complete. In bodies ' stands for ", unless they are sent as they
 * are. Replies and all texts live until the server is stopped; a test need not free anything.
 *
 *     watch *w = WATCH(a, "/api/v1/namespaces/default/configmaps?watch=1");
 *     assert_event(w, "ADDED", "a");
 *     watch_close(w);
 *
 * A watch's answer is read line by line; waiting for a line gives up, and fails, after half a
 * minute of real time. The calls are the test's thread's; what runs on loops says so.
 */
#ifndef KC_API_TESTING_H
#define KC_API_TESTING_H

#include "testing.h"

#include "apiserver/apiserver.h"
#include "apiserver/rest/call.h"

typedef struct api api;
typedef struct reply reply;
typedef reply watch;

typedef struct api_opts {
    bool virtual_time; /* Stands at 2026-01-02T03:04:05Z until api_advance moves it. */
} api_opts;

/* `opts` may be NULL. Never NULL. */
api *api_start(const api_opts *opts);
/* Closes open watches, stops the server, removes its folder. NULL is allowed; returns NULL. */
api *api_stop(api *a);
KC_AUTO_DEFINE(api, api_stop)

/* Stops the server as a signal would, and starts it again over the same folder. */
void api_restart(api *a);
/* Not ready any more; watches end. */
void api_drain(api *a);
/* Moves virtual time. */
void api_advance(api *a, int64_t ns);
kc__api *api_inside(api *a);

typedef struct api_request {
    const char *method, *target;
    const char *body;       /* ' stands for ". */
    const char *type;       /* Content-Type. Defaults to application/json with a body, else none. */
    const char *accept;     /* Defaults to none. */
    const char *agent;      /* User-Agent. Defaults to none. */
    const char *headers[8]; /* More of them: "Name: value". */
    kc_str raw;             /* Instead of body: any bytes. */
} api_request;

/* What was answered. */
struct reply {
    int status;
    const char *type; /* Content-Type; "" without one. */
    const char *body; /* Terminated; of a watch what came so far. */
    size_t length;    /* Of body. */
    bool aborted;     /* The body ended in the middle. */
};

const reply *api_send(api *a, const api_request *request);
#define SEND(a, ...) api_send(a, &(api_request){__VA_ARGS__})

/* Short forms of what most tests do. */
const reply *api_get(api *a, const char *target);
const reply *api_delete(api *a, const char *target, const char *body);
const reply *api_post(api *a, const char *target, const char *body);
const reply *api_put(api *a, const char *target, const char *body);
/* A merge patch. */
const reply *api_patch(api *a, const char *target, const char *body);
/* As printf: a target or a body made of what was learnt before. The api's. */
const char *text(api *a, const char *fmt, ...) KC_PRINTF(2, 3);

/* ---- looking at answers ---- */

/* The first value of a header, or NULL; the i-th. */
const char *r_header(const reply *r, const char *name);
const char *r_header_at(const reply *r, const char *name, size_t i);
/* What stands at a path of the body ("metadata.name", "items[0].metadata.uid"): text without its
 * quotes, anything else as JSON; "" where there is nothing. */
const char *r_text(const reply *r, const char *path);
/* The number of items of the list at a path ("items"). */
size_t r_count(const reply *r, const char *path);
/* metadata.name of each item, with blanks between. */
const char *r_names(const reply *r);

/* The answer is a Status with this code, reason and message. */
#define assert_status(r, the_code, the_reason, the_message) \
    api__assert_status(r, the_code, the_reason, the_message, __FILE__, __LINE__)
#define assert_code(r, the_code)     api__assert_code(r, the_code, __FILE__, __LINE__)
#define assert_at(r, path, expected) api__assert_at(r, path, expected, __FILE__, __LINE__)

/* ---- watches ---- */

/* Returns when the head of the answer is there. */
watch *api_watch(api *a, const api_request *request);
#define WATCH(a, the_target, ...) \
    api_watch(a, &(api_request){.method = "GET", .target = the_target, __VA_ARGS__})
/* The next line, without its end; NULL when the answer has ended. Fails when none comes. */
const char *watch_line(watch *w);
/* Whether nothing has come that was not read: after everything sent before was handled. */
bool watch_is_silent(watch *w);
/* As if the client had gone away; the reply stays readable. */
void watch_close(watch *w);

/* The next event has this type, and its object this name. Gives the line. */
#define assert_event(w, type, name) api__assert_event(w, type, name, __FILE__, __LINE__)
/* The answer ends here. */
#define assert_ended(w) assert_null(watch_line(w))

/* What stands at a path of a line; the api's. */
const char *line_text(watch *w, const char *line, const char *path);

void api__assert_status(const reply *r, int code, const char *reason, const char *message,
                        const char *file, int line);
void api__assert_code(const reply *r, int code, const char *file, int line);
void api__assert_at(const reply *r, const char *path, const char *expected, const char *file,
                    int line);
const char *api__assert_event(watch *w, const char *type, const char *name, const char *file,
                              int line);

#endif
