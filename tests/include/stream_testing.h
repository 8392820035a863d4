/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_testing.h: the contract of streams (kc_transport_start), for every transport that has
 * them: each check takes a transport to a server with the ConfigMaps of make_long_list.
 */
#ifndef KC_STREAM_TESTING_H
#define KC_STREAM_TESTING_H

#include "testing.h"

#include "kc/thread.h"
#include "kc/transport.h"

#define STREAM_MAPS "/api/v1/namespaces/default/configmaps"
enum { STREAM_MAP_COUNT = 20, STREAM_MAP_BYTES = 100000 };

/* What a stream has delivered. */
typedef struct stream_record {
    bool pauses;    /* Pause after each piece. */
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    int status, heads, ends, pieces;
    bool paused;
    size_t bytes;
    kc_error failure;
} stream_record;

static KC_UNUSED void record_init(stream_record *r)
{
    *r = (stream_record){0};
    kc_mutex_init(&r->mutex);
    kc_cond_init(&r->changed);
}

static KC_UNUSED void record_done(stream_record *r)
{
    kc_error_done(&r->failure);
    kc_cond_done(&r->changed);
    kc_mutex_done(&r->mutex);
}

static void record_head(kc_stream *s, const kc_http_response *head, void *user)
{
    stream_record *r = user;
    (void)s;
    kc_locked (&r->mutex) {
        assert_int_equal(r->ends + r->pieces, 0);
        r->heads++;
        r->status = head->status;
        assert_str(kc_http_response_field(head, KC_STR("content-type")), "application/json");
        kc_cond_broadcast(&r->changed);
    }
}

static bool record_body(kc_stream *s, kc_str bytes, void *user)
{
    stream_record *r = user;
    (void)s;
    kc_locked (&r->mutex) {
        assert_int_equal(r->ends, 0);
        r->pieces++;
        r->bytes += bytes.n;
        r->paused = r->pauses;
        kc_cond_broadcast(&r->changed);
    }
    return !r->pauses;
}

static bool record_object(kc_stream *s, kc_stream_item item, const kc_object *object, void *user)
{
    (void)item;
    return record_body(s, kc_object_json(object), user);
}

static void record_end(kc_stream *s, const kc_error *err, void *user)
{
    stream_record *r = user;
    (void)s;
    kc_locked (&r->mutex) {
        r->ends++;
        if (err) {
            kc_error_set(&r->failure, err->reason, "%s", kc_error_text(err));
            r->failure.code = err->code;
        }
        kc_cond_broadcast(&r->changed);
    }
}

static const kc_stream_callbacks record_callbacks = {record_head, record_body, record_object,
                                                     record_end};

static KC_UNUSED kc_stream *stream_of(kc_transport *t, const char *target, stream_record *r)
{
    kc_scoped(kc_error) err = {0};
    kc_stream *s =
        kc_transport_start(t, &(kc_http_request){.method = "GET", .target = kc_cstr(target)},
                           &record_callbacks, r, &err);
    if (!s)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

#define record_await(r, condition) \
    kc_locked (&(r)->mutex)        \
        while (!(condition))       \
    kc_cond_wait(&(r)->changed, &(r)->mutex)

/* ---- the checks ---- */

static KC_UNUSED void check_complete_answer(kc_transport *t)
{
    stream_record r;
    record_init(&r);
    kc_stream *s = stream_of(t, STREAM_MAPS, &r);
    record_await(&r, r.ends);
    kc_stream_release(s);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.heads, 1);
    assert_int_equal(r.ends, 1);
    assert_int_equal(r.failure.reason, KC_OK);
    assert_true(r.bytes > (size_t)STREAM_MAP_COUNT * STREAM_MAP_BYTES);
    record_done(&r);
}

/* Each piece pauses the stream; a paused stream delivers nothing except what the transport had
 * buffered. */
static KC_UNUSED void check_pause_and_resume(kc_transport *t)
{
    stream_record r;
    record_init(&r);
    r.pauses = true;
    kc_stream *s = stream_of(t, STREAM_MAPS, &r);
    for (int i = 0;; i++) {
        bool ended = false;
        size_t bytes = 0;
        record_await(&r, r.paused || r.ends);
        kc_locked (&r.mutex) {
            ended = r.ends;
            bytes = r.bytes;
            r.paused = false;
        }
        if (ended)
            break;
        if (i < 3) {
            kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND);
            kc_locked (&r.mutex)
                assert_true(r.bytes - bytes <= (size_t)256 << 10);
        }
        kc_stream_resume(s);
    }
    kc_stream_release(s);
    assert_int_equal(r.failure.reason, KC_OK);
    assert_true(r.bytes > (size_t)STREAM_MAP_COUNT * STREAM_MAP_BYTES);
    record_done(&r);
}

static KC_UNUSED void check_cancelled_watch(kc_transport *t)
{
    stream_record r;
    record_init(&r);
    kc_stream *s = stream_of(t, STREAM_MAPS "?watch=true", &r);
    record_await(&r, r.pieces);
    kc_stream_cancel(s);
    kc_stream_cancel(s);
    record_await(&r, r.ends);
    kc_stream_cancel(s);
    kc_stream_resume(s);
    kc_stream_release(s);
    assert_int_equal(r.ends, 1);
    assert_error(&r.failure, KC_TIMEOUT, "cancelled");
    record_done(&r);
}

/* Whatever the state of the request, the end is reported once. */
static KC_UNUSED void check_cancel_at_any_time(kc_transport *t)
{
    for (int i = 0; i < 30; i++) {
        stream_record r;
        record_init(&r);
        r.pauses = i % 3 == 0;
        kc_stream *s = stream_of(t, i % 2 ? STREAM_MAPS : STREAM_MAPS "?watch=true", &r);
        if (i % 5)
            kc_clock_sleep(kc_clock_real(), (i % 5) * 200 * KC_MICROSECOND);
        kc_stream_cancel(s);
        record_await(&r, r.ends);
        kc_stream_release(s);
        assert_int_equal(r.ends, 1);
        record_done(&r);
    }
}

static KC_UNUSED void check_streams(kc_transport *t)
{
    check_complete_answer(t);
    check_pause_and_resume(t);
    check_cancelled_watch(t);
    check_cancel_at_any_time(t);
}

/* ---- objects on the server ---- */

static KC_UNUSED void make_long_list(kc_transport *t)
{
    for (int i = 0; i < STREAM_MAP_COUNT; i++) {
        kc_scoped(kc_buf) body = {0}, out = {0};
        kc_buf_printf(&body, "{\"metadata\":{\"name\":\"m%d\"},\"data\":{\"k\":\"", i);
        for (int k = 0; k < STREAM_MAP_BYTES; k++)
            kc_buf_putc(&body, 'x');
        kc_buf_puts(&body, "\"}}");
        const kc_http_field type = {KC_STR("Content-Type"), KC_STR("application/json")};
        assert_int_equal(kc_http_request_send(t,
                                              &(kc_http_request){.method = "POST",
                                                                 .target = KC_STR(STREAM_MAPS),
                                                                 .fields = &type,
                                                                 .n_fields = 1,
                                                                 .body = kc_buf_str(&body)},
                                              &out, NULL),
                         201);
    }
}

#endif
