/* SPDX-License-Identifier: Apache-2.0 */
/* The event-driven call over HTTP, and over a transport that has only the blocking call. */
#include "stream_testing.h"
#include "transport_testing.h"

static void streams_over_plain_http_keep_the_contract(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    make_long_list(t);
    check_streams(t);
}

static void streams_over_tls_keep_the_contract(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    make_long_list(t);
    check_streams(t);
}

/* ---- a transport without streams ---- */

typedef struct blocking_only {
    kc_transport base;
    kc_transport *to;
} blocking_only;

static kc_http_response *pass_on(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    return kc_transport_open(kc_container_of(t, blocking_only, base)->to, request, err);
}

static void blocking_transport_is_adapted_to_streams(void **state)
{
    (void)state;
    static const kc_transport_ops ops = {.open = pass_on};
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    blocking_only b = {.base.ops = &ops, .to = t};
    make_long_list(t);
    check_streams(&b.base);
}

static void stream_to_stopped_server_ends_with_code_0(void **state)
{
    (void)state;
    kc_auto(kc_transport) *t = transport_to("http://127.0.0.1:1");
    stream_record r;
    record_init(&r);
    kc_stream *s = stream_of(t, STREAM_MAPS, &r);
    record_await(&r, r.ends);
    kc_stream_release(s);
    assert_int_equal(r.heads, 0);
    assert_error(&r.failure, KC_SERVICE_UNAVAILABLE, "");
    assert_int_equal(r.failure.code, 0);
    record_done(&r);
}

TESTS(streams_over_plain_http_keep_the_contract, streams_over_tls_keep_the_contract,
      blocking_transport_is_adapted_to_streams, stream_to_stopped_server_ends_with_code_0)
