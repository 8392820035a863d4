/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_methods.c: what the gRPC server for tests does on each method: correct services, and all
 * kinds of errors that a client must survive. Arguments are in the message, as text.
 *
 * To add a behaviour: a function, and a line in the table at the end.
 */
#include "grpc_server.h"

#include <stdio.h>

/* The n-th number in the message; 0 if there are fewer. */
static size_t argument(const grpc_server_stream *s, size_t n)
{
    kc_str rest = s->message;
    uint64_t number = 0;
    for (size_t i = 0; i <= n && rest.p; i++) {
        const kc_str word = kc_str_cut(&rest, ' ');
        if (i == n && !kc_str_to_u64(word, &number))
            return 0;
    }
    return (size_t)number;
}

static void finish_ok(grpc_server_stream *s)
{
    grpc_server_finish(s, KC__GRPC_OK, NULL);
}

static void send_of_size(grpc_server_stream *s, size_t size)
{
    kc_autofree char *bytes = kc_alloc(size + 1);
    memset(bytes, 'x', size);
    grpc_server_send(s, kc_str_of(bytes, size));
}

/* ---- services ---- */

static void echo(grpc_server_stream *s)
{
    grpc_server_send(s, s->message);
}

static void respond_name(grpc_server_stream *s)
{
    grpc_server_send(s, kc_cstr(s->conn->server->opts.name));
}

/* The fields x-ask and grpc-timeout. */
static void respond_fields(grpc_server_stream *s)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s|%s", s->asked ? s->asked : "", s->timeout ? s->timeout : "");
    grpc_server_send(s, kc_buf_str(&text));
}

/* "N": a message of N bytes. */
static void respond_large(grpc_server_stream *s)
{
    send_of_size(s, argument(s, 0));
}

/* The size of the message. */
static void respond_size(grpc_server_stream *s)
{
    char text[24];
    snprintf(text, sizeof(text), "%zu", s->message.n);
    grpc_server_send(s, kc_cstr(text));
}

/* "N SIZE": N messages. */
static void flood(grpc_server_stream *s)
{
    for (size_t i = argument(s, 0); i > 0; i--)
        send_of_size(s, argument(s, 1));
}

/* "CODE MESSAGE": a head and trailers, or trailers only. */
static void fail_with(grpc_server_stream *s)
{
    const ptrdiff_t space = kc_str_find(s->message, ' ');
    kc_autofree char *text = kc_str_dup(kc_str_sub(s->message, (size_t)space + 1, s->message.n));
    grpc_server_finish(s, (int)argument(s, 0), text);
}

static void fail_at_once(grpc_server_stream *s)
{
    const ptrdiff_t space = kc_str_find(s->message, ' ');
    kc_autofree char *code = kc_str_dup(kc_str_sub(s->message, 0, (size_t)space));
    kc_autofree char *text = kc_str_dup(kc_str_sub(s->message, (size_t)space + 1, s->message.n));
    const nghttp2_nv head[] = {
        grpc_server_nv(":status", "200"), grpc_server_nv("content-type", "application/grpc+proto"),
        grpc_server_nv("grpc-status", code), grpc_server_nv("grpc-message", text)};
    nghttp2_submit_response(s->conn->h2, s->id, head, KC_COUNT(head), NULL);
}

/* ---- unusual and invalid responses ---- */

static void echo_by_bytes(grpc_server_stream *s)
{
    s->chunk = 1;
    grpc_server_send(s, s->message);
}

static void echo_twice(grpc_server_stream *s)
{
    kc_scoped(kc_buf) both = {0};
    kc__grpc_frame_write(&both, s->message);
    kc__grpc_frame_write(&both, s->message);
    grpc_server_send_raw(s, kc_buf_str(&both));
}

static void send_compressed(grpc_server_stream *s)
{
    grpc_server_send_raw(s, KC_STR("\1\0\0\0\1x"));
}

static void send_truncated(grpc_server_stream *s)
{
    grpc_server_send_raw(s, KC_STR("\0\0\0\0\5abc"));
}

static void omit_trailers(grpc_server_stream *s)
{
    s->without_trailers = true;
    echo(s);
}

/* "STATUS" of HTTP, with a page. */
static void respond_http(grpc_server_stream *s)
{
    kc_autofree char *status = kc_str_dup(s->message);
    const nghttp2_nv head[] = {grpc_server_nv(":status", status),
                               grpc_server_nv("content-type", "text/html")};
    nghttp2_submit_response(s->conn->h2, s->id, head, KC_COUNT(head), NULL);
}

static void respond_html(grpc_server_stream *s)
{
    const nghttp2_nv head[] = {grpc_server_nv(":status", "200"),
                               grpc_server_nv("content-type", "text/html")};
    nghttp2_submit_headers(s->conn->h2, NGHTTP2_FLAG_NONE, s->id, NULL, head, KC_COUNT(head), NULL);
}

static void respond_after_hints(grpc_server_stream *s)
{
    const nghttp2_nv head[] = {grpc_server_nv(":status", "103"), grpc_server_nv("link", "</x>")};
    nghttp2_submit_headers(s->conn->h2, NGHTTP2_FLAG_NONE, s->id, NULL, head, KC_COUNT(head), NULL);
    echo(s);
}

/* Trailers above the client's limit. */
static void respond_with_large_head(grpc_server_stream *s)
{
    enum { FIELDS = 40, VALUE = 3000 };
    nghttp2_nv head[FIELDS + 2] = {grpc_server_nv(":status", "200"),
                                   grpc_server_nv("content-type", "application/grpc")};
    char value[VALUE + 1];
    memset(value, 'v', VALUE);
    value[VALUE] = 0;
    for (size_t i = 0; i < FIELDS; i++)
        head[i + 2] = grpc_server_nv("x-large", value);
    nghttp2_submit_headers(s->conn->h2, NGHTTP2_FLAG_NONE, s->id, NULL, head, KC_COUNT(head), NULL);
}

/* ---- lost requests ---- */

/* "ERROR": an error code of HTTP/2. */
static void reset(grpc_server_stream *s)
{
    nghttp2_submit_rst_stream(s->conn->h2, NGHTTP2_FLAG_NONE, s->id, (uint32_t)argument(s, 0));
}

/* True as often as the test has asked for it. */
static bool take_one(_Atomic int *times)
{
    int left = atomic_load(times);
    while (left > 0 && !atomic_compare_exchange_weak(times, &left, left - 1))
        ;
    return left > 0;
}

/* Says that this request was not processed, and that no more are. */
static void go_away(grpc_server_stream *s)
{
    if (take_one(&s->conn->server->go_away))
        nghttp2_submit_goaway(s->conn->h2, NGHTTP2_FLAG_NONE, KC_MAX(s->id - 2, 0),
                              NGHTTP2_NO_ERROR, NULL, 0);
    else
        echo(s);
}

static void finish_if_started(grpc_server_stream *s)
{
    if (s->started)
        finish_ok(s);
}

/* Processes this request without an end, and no more. */
static void hang_and_go_away(grpc_server_stream *s)
{
    nghttp2_submit_goaway(s->conn->h2, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR, NULL, 0);
}

/* Processes this request, and no more. */
static void echo_and_go_away(grpc_server_stream *s)
{
    nghttp2_submit_goaway(s->conn->h2, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR, NULL, 0);
    echo(s);
}

static void drop_connection(grpc_server_stream *s)
{
    s->conn->drop = take_one(&s->conn->server->drop);
    if (!s->conn->drop)
        echo(s);
}

/* Opens the response and never goes on. */
static void open_only(grpc_server_stream *s)
{
    grpc_server_open(s);
    nghttp2_session_resume_data(s->conn->h2, s->id);
}

const grpc_server_method grpc_server_methods[] = {
    {"/test/Echo", echo, finish_ok},
    {"/test/Name", respond_name, finish_ok},
    {"/test/Fields", respond_fields, finish_ok},
    {"/test/Large", respond_large, finish_ok},
    {"/test/Size", respond_size, finish_ok},
    {"/test/Flood", flood, finish_ok},
    {"/test/Fail", fail_with, NULL},
    {"/test/FailAtOnce", fail_at_once, NULL},
    {"/test/Hang", NULL, NULL},
    {"/test/Open", open_only, NULL},
    {"/test/Deaf", open_only, NULL, .deaf = true},
    {"/test/Bytes", echo_by_bytes, finish_ok},
    {"/test/Twice", echo_twice, finish_ok},
    {"/test/Nothing", NULL, finish_ok},
    {"/test/Compressed", send_compressed, finish_ok},
    {"/test/Truncated", send_truncated, finish_ok},
    {"/test/NoTrailers", omit_trailers, finish_ok},
    {"/test/Http", respond_http, NULL},
    {"/test/Html", respond_html, NULL},
    {"/test/Hints", respond_after_hints, finish_ok},
    {"/test/LargeHead", respond_with_large_head, NULL},
    {"/test/Reset", reset, NULL},
    {"/test/GoAway", go_away, finish_if_started},
    {"/test/HangGoAway", hang_and_go_away, NULL},
    {"/test/EchoGoAway", echo_and_go_away, finish_ok},
    {"/test/Drop", drop_connection, finish_if_started},
    {NULL},
};
