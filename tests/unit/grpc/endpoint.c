/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of endpoints, and the settings of a channel. */
#include "grpc_testing.h"

#include "grpc/grpc_internal.h"

static void assert_parsed(const char *url, bool tls, const char *host, const char *port,
                          const char *authority)
{
    kc__grpc_endpoint e = {0};
    assert_int_equal(kc__grpc_endpoint_parse(&e, url, NULL), 0);
    assert_int_equal(e.tls, tls);
    assert_string_equal(e.host, host);
    assert_string_equal(e.port, port);
    assert_string_equal(e.authority, authority);
    kc__grpc_endpoint_done(&e);
}

static void url_has_scheme_host_and_port(void **state)
{
    (void)state;
    assert_parsed("http://127.0.0.1:2379", false, "127.0.0.1", "2379", "127.0.0.1:2379");
    assert_parsed("https://etcd.example:2379/", true, "etcd.example", "2379", "etcd.example:2379");
    assert_parsed("http://[::1]:2379", false, "::1", "2379", "[::1]:2379");
    assert_parsed("https://[fe80::1]", true, "fe80::1", "443", "[fe80::1]");
    assert_parsed("http://localhost", false, "localhost", "80", "localhost");
}

static void invalid_url_is_refused(void **state)
{
    (void)state;
    static const char *const urls[] = {"",
                                       "127.0.0.1:2379",
                                       "ftp://a:1",
                                       "http://",
                                       "http://:2379",
                                       "http://a:0",
                                       "http://a:65536",
                                       "http://a:x",
                                       "http://a:",
                                       "http://a:1/path",
                                       "http://[::1",
                                       "http://::1]:1",
                                       "http://u@a:2379",
                                       "http://[::1]x:2379",
                                       "http://a b:1",
                                       "http://::1:2379"};
    for (size_t i = 0; i < KC_COUNT(urls); i++) {
        kc_scoped(kc_error) err = {0};
        kc__grpc_channel_opts opts = {.endpoints = &urls[i], .n_endpoints = 1};
        assert_null(kc__grpc_channel_open(&opts, &err));
        assert_error(&err, KC_INVALID, "is not of the form");
    }
}

static void channel_without_endpoints_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc__grpc_channel_open(&(kc__grpc_channel_opts){0}, &err));
    assert_error(&err, KC_INVALID, "needs an endpoint");
}

static void missing_tls_file_is_refused_at_once(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const char *url = "https://127.0.0.1:1";
    kc__grpc_channel_opts opts = {
        .endpoints = &url, .n_endpoints = 1, .tls.ca_file = "/nonexistent/ca.pem"};
    assert_null(kc__grpc_channel_open(&opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "/nonexistent/ca.pem");
}

TESTS(url_has_scheme_host_and_port, invalid_url_is_refused, channel_without_endpoints_is_refused,
      missing_tls_file_is_refused_at_once)
