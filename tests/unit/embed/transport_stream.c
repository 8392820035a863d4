/* SPDX-License-Identifier: Apache-2.0 */
/* The event-driven call to a server in the same process. */
#include "stream_testing.h"

#include "kc/embedded_server.h"

static void streams_to_embedded_server_keep_the_contract(void **state)
{
    (void)state;
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.threads = 2}, NULL);
    assert_non_null(server);
    kc_transport *t = kc_embedded_server_transport(server, NULL);
    make_long_list(t);
    check_streams(t);
    kc_transport_free(t);
    kc_embedded_server_stop(server);
}

static void stream_ends_when_its_server_stops_and_none_starts_after(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.threads = 1}, NULL);
    kc_transport *t = kc_embedded_server_transport(server, NULL);
    stream_record r;
    record_init(&r);
    kc_stream *s = stream_of(t, STREAM_MAPS "?watch=true", &r);
    record_await(&r, r.heads);
    kc_embedded_server_stop(server);
    assert_int_equal(r.ends, 1);
    kc_stream_release(s);
    assert_null(
        kc_transport_start(t, &(kc_http_request){.method = "GET", .target = KC_STR(STREAM_MAPS)},
                           &record_callbacks, &r, &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "stopped");
    assert_int_equal(err.code, 0);
    kc_transport_free(t);
    record_done(&r);
}

TESTS(streams_to_embedded_server_keep_the_contract,
      stream_ends_when_its_server_stops_and_none_starts_after)
