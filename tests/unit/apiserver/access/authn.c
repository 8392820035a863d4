/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/authn.h"

#include "http/trust/local_request.h"
#include "testing.h"

#include <unistd.h>

/* ---- requests and responses ---- */

static kc__conn_peer_socket of_root = {.fd = -1, .looked_up = true, .has_owner = true, .owner = 0};
static kc__conn_peer_socket of_another_user = {
    .fd = -1, .looked_up = true, .has_owner = true, .owner = 4242};
static kc__conn_peer_socket closed = {.fd = -1, .looked_up = true};
static const kc__conn_peer loopback_peer = {
    .address = "127.0.0.1", .port = 40000, .loopback = true, .socket = &of_root};
static const kc__conn_peer remote_peer = {.address = "192.0.2.7", .port = 40000};

/* "user group group", or the error's message. Fields come in pairs up to a NULL. */
static char *answer_of(const kc__authn *authn, const kc__conn_peer *peer, const char *const *fields)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc__http_headers) headers = {0};
    for (; fields[0]; fields += 2)
        assert_int_equal(
            kc__http_headers_add(&headers, kc_cstr(fields[0]), kc_cstr(fields[1]), NULL), 0);
    const kc__http_request request = {
        .method = KC_STR("GET"), .protocol = "HTTP/1.1", .peer = peer, .headers = headers};
    kc__user user;
    if (kc__authn_authenticate(authn, &request, NULL, &arena, &user, &err) < 0) {
        assert_int_equal(err.code, err.reason == KC_FORBIDDEN ? 403 : 401);
        return kc_strdup(kc_error_text(&err));
    }
    kc_buf text = {0};
    kc_buf_append(&text, user.name);
    for (size_t i = 0; i < user.n_groups; i++)
        kc_buf_printf(&text, " %.*s", KC_ARG(user.groups[i]));
    return kc_buf_take(&text);
}

static void check(const kc__authn *authn, const kc__conn_peer *peer, const char *const *fields,
                  const char *expected, int line)
{
    kc_autofree char *actual = answer_of(authn, peer, fields);
    if (strcmp(actual, expected) != 0)
        fail_msg("line %d: %s, not %s", line, actual, expected);
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL, NULL})
/* Beside a Host as local clients send it. */
#define LOCAL(...)                               FIELDS("Host", "localhost:6080" __VA_OPT__(, ) __VA_ARGS__)
#define assert_is(authn, peer, fields, expected) check(authn, peer, fields, expected, __LINE__)

#define ANONYMOUS "system:anonymous system:unauthenticated"
#define ADMIN     "system:admin system:masters system:authenticated"
#define ALICE     "alice developers system:authenticated"

static kc__authn *authn_with(kc__authn_opts opts, const char *tokens)
{
    char path[] = "/tmp/kc-authn-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(write(fd, tokens, strlen(tokens)) == (ssize_t)strlen(tokens));
    close(fd);
    opts.token_file = path;
    kc__authn *authn = kc__authn_new(&opts, NULL);
    unlink(path);
    assert_non_null(authn);
    return authn;
}

static kc__authn *authn_of(kc__authn_opts opts)
{
    return authn_with(opts, "secret,alice,1,developers\n");
}

/* ---- anonymous and tokens ---- */

static void request_without_credentials_is_anonymous(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &remote_peer, FIELDS(), ANONYMOUS);
    assert_is(authn, &loopback_peer, FIELDS(), ANONYMOUS);
}

static void anonymous_request_is_unauthorized_when_disabled(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.refuse_anonymous = true});
    assert_is(authn, &loopback_peer, FIELDS(), "Unauthorized");
    assert_is(authn, &loopback_peer, FIELDS("Authorization", "Bearer secret"), ALICE);
}

static void bearer_token_authenticates_its_user(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer secret"), ALICE);
    assert_is(authn, &remote_peer, FIELDS("authorization", "bEARER secret"), ALICE);
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer secret more"), ALICE);
}

#define SOCKET(...) \
    FIELDS("Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Protocol", __VA_ARGS__)
#define IN_BASE64 "base64url.bearer.authorization.k8s.io."

static void websocket_token_in_subprotocol_authenticates_its_user(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &remote_peer, SOCKET(IN_BASE64 "c2VjcmV0, v4.channel.k8s.io"), ALICE);
    assert_is(authn, &loopback_peer, SOCKET("v4.channel.k8s.io," IN_BASE64 "c2VjcmV0"), ALICE);
    assert_is(authn, &loopback_peer, SOCKET("v4", "Sec-WebSocket-Protocol", IN_BASE64 "c2VjcmV0"),
              ALICE);
    assert_is(authn, &remote_peer,
              SOCKET(IN_BASE64 "c2VjcmV0, v4", "Origin", "https://page.example"), ALICE);
}

static void invalid_websocket_token_is_unauthorized(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &loopback_peer, SOCKET(IN_BASE64 "d3Jvbmc, v4"), "Unauthorized");
    assert_is(authn, &loopback_peer, SOCKET(IN_BASE64 "c2VjcmV0"), "Unauthorized");
    assert_is(authn, &loopback_peer, SOCKET(IN_BASE64 "c2VjcmV0, "), "Unauthorized");
    assert_is(authn, &loopback_peer, SOCKET(IN_BASE64 "c2VjcmV0*, v4"), "Unauthorized");
    assert_is(authn, &loopback_peer, SOCKET(IN_BASE64 "c2VjcmV0, v4, " IN_BASE64 "c2VjcmV0"),
              "Unauthorized");
}

static void subprotocol_token_without_upgrade_is_ignored(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &remote_peer, FIELDS("Sec-WebSocket-Protocol", IN_BASE64 "c2VjcmV0, v4"),
              ANONYMOUS);
    assert_is(authn, &remote_peer, SOCKET("v4"), ANONYMOUS);
    assert_is(authn, &remote_peer, SOCKET(IN_BASE64 ", v4"), ANONYMOUS);
}

static void unknown_token_is_unauthorized_though_anonymous_is_allowed(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer wrong"), "Unauthorized");
}

static void token_is_unauthorized_without_token_file(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = kc__authn_new(&(kc__authn_opts){0}, NULL);
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer secret"), "Unauthorized");
}

static void other_schemes_and_empty_tokens_are_anonymous(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Basic c2VjcmV0"), ANONYMOUS);
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer"), ANONYMOUS);
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer  secret"), ANONYMOUS);
    assert_is(authn, &remote_peer, FIELDS("Authorization", ""), ANONYMOUS);
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearersecret"), ANONYMOUS);
}

static void missing_token_file_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc__authn_new(&(kc__authn_opts){.token_file = "/no/such/file"}, &err));
    assert_error(&err, KC_NOT_FOUND, "/no/such/file");
}

/* ---- certificates ---- */

static const kc_str carols_groups[] = {KC_STR_INIT("admins"), KC_STR_INIT("staff")};
static const kc__conn_client_cert carols = {.common_name = KC_STR_INIT("carol"),
                                            .organizations = carols_groups,
                                            .n_organizations = 2,
                                            .sha256 = "0123"};
static const kc__conn_peer carol = {.address = "192.0.2.7", .tls = true, .cert = &carols};

static void client_certificate_authenticates_user_and_groups(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &carol, FIELDS(), "carol admins staff system:authenticated");
}

static void client_certificate_takes_precedence_over_token(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &carol, FIELDS("Authorization", "Bearer secret"),
              "carol admins staff system:authenticated");
    assert_is(authn, &carol, FIELDS("Authorization", "Bearer wrong"),
              "carol admins staff system:authenticated");
}

static void client_certificate_without_common_name_is_anonymous(void **state)
{
    (void)state;
    const kc__conn_client_cert nameless = {.organizations = carols_groups, .n_organizations = 2};
    const kc__conn_peer peer = {.address = "192.0.2.7", .tls = true, .cert = &nameless};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &peer, FIELDS(), ANONYMOUS);
}

static void client_certificate_sets_credential_id(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    kc__user user;
    assert_int_equal(kc__authn_authenticate(authn, &(kc__http_request){.peer = &carol}, NULL,
                                            &arena, &user, NULL),
                     0);
    assert_int_equal(user.n_extra, 1);
    assert_str(user.extra[0].key, "authentication.kubernetes.io/credential-id");
    assert_int_equal(user.extra[0].n_values, 1);
    assert_str(user.extra[0].values[0], "X509SHA256=0123");
}

static void full_arena_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = 16};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    kc__user user = {.n_groups = 7};
    assert_true(kc__authn_authenticate(authn, &(kc__http_request){.peer = &carol}, NULL, &arena,
                                       &user, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "exceeds the memory limit");
    assert_int_equal(user.n_groups, 7);
}

/* ---- local trust ---- */

static void loopback_request_is_admin_when_local_trust_is_enabled(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &loopback_peer, LOCAL(), ADMIN);
    assert_is(authn, &loopback_peer, FIELDS("Host", "127.0.0.1:6080"), ADMIN);
    assert_is(authn, &remote_peer, FIELDS("Host", "127.0.0.1:6080"), ANONYMOUS);
}

static void forwarding_headers_do_not_make_a_remote_request_local(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn =
        authn_of((kc__authn_opts){.allow_localhost = true, .refuse_anonymous = true});
    assert_is(authn, &remote_peer,
              FIELDS("Host", "localhost", "X-Forwarded-For", "127.0.0.1", "X-Real-IP", "127.0.0.1",
                     "Forwarded", "for=127.0.0.1", "Origin", "http://localhost"),
              "Unauthorized");
}

static void request_without_peer_address_is_not_local(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, NULL, FIELDS(), ANONYMOUS);
    assert_is(authn, &(kc__conn_peer){0}, FIELDS(), ANONYMOUS);
}

static void credentials_take_precedence_over_local_trust(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &loopback_peer, LOCAL("Authorization", "Bearer secret"), ALICE);
    assert_is(authn, &loopback_peer, LOCAL("Authorization", "Bearer wrong"), "Unauthorized");
    assert_is(authn, &loopback_peer, LOCAL("Authorization", "Basic x"), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Authorization", ""), ANONYMOUS);
}

static void request_with_foreign_host_is_not_local(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &loopback_peer, FIELDS("Host", "rebound.example:6080"), ANONYMOUS);
    assert_is(authn, &loopback_peer, FIELDS("Host", "localhost", "Host", "rebound.example"),
              ANONYMOUS);
    assert_is(authn, &loopback_peer, FIELDS("Host", ""), ANONYMOUS);
}

static void authority_of_absolute_target_overrides_host(void **state)
{
    (void)state;
    kc_scoped(kc__http_headers) headers = {0};
    assert_int_equal(kc__http_headers_add(&headers, KC_STR("Host"), KC_STR("localhost"), NULL), 0);
    kc__http_request request = {
        .peer = &loopback_peer, .headers = headers, .target.authority = KC_STR("rebound.example")};
    assert_false(kc__local_request_is_local(&request));
    request.target.authority = KC_STR("localhost:6080");
    assert_true(kc__local_request_is_local(&request));
}

static void cross_site_request_is_not_local(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &loopback_peer, LOCAL("Origin", "https://evil.example"), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Origin", "null"), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Origin", ""), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Sec-Fetch-Site", "cross-site"), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Sec-Fetch-Site", "something-new"), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Origin", "http://localhost:8000"), ADMIN);
    assert_is(authn, &loopback_peer, LOCAL("Sec-Fetch-Site", "same-origin"), ADMIN);
    assert_is(authn, &loopback_peer, LOCAL("Sec-Fetch-Site", "none"), ADMIN);
}

static void cross_site_anonymous_request_is_unauthorized_when_pages_are_refused(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.refuse_pages = true});
    assert_is(authn, &loopback_peer, FIELDS("Host", "127.0.0.1:6080"), ANONYMOUS);
    assert_is(authn, &loopback_peer, FIELDS("X-Forwarded-For", "192.0.2.1"), ANONYMOUS);
    assert_is(authn, &loopback_peer, FIELDS("Host", "rebound.example"), "Unauthorized");
    assert_is(authn, &loopback_peer, FIELDS("Origin", "https://evil.example"), "Unauthorized");
    assert_is(authn, &loopback_peer, FIELDS("Sec-Fetch-Site", "cross-site"), "Unauthorized");
    assert_is(authn, &loopback_peer,
              FIELDS("Origin", "https://e.example", "Authorization", "Bearer secret"), ALICE);
    assert_is(authn, &remote_peer, FIELDS("Host", "plane.example"), ANONYMOUS);
    assert_is(authn, &(kc__conn_peer){0}, FIELDS("Host", "plane.example"), ANONYMOUS);
}

static bool is_cross_site(const char *const *fields)
{
    kc_scoped(kc__http_headers) headers = {0};
    for (; fields[0]; fields += 2)
        assert_int_equal(
            kc__http_headers_add(&headers, kc_cstr(fields[0]), kc_cstr(fields[1]), NULL), 0);
    return kc__local_request_is_cross_site(
        &(kc__http_request){.peer = &remote_peer, .headers = headers});
}

static void same_origin_request_is_not_cross_site(void **state)
{
    (void)state;
    assert_false(is_cross_site(FIELDS()));
    assert_false(is_cross_site(FIELDS("Host", "api.example:6443")));
    assert_false(
        is_cross_site(FIELDS("Host", "api.example:6443", "Origin", "https://API.example:6443")));
    assert_false(is_cross_site(FIELDS("Host", "api.example", "Origin", "https://api.example/")));
    assert_false(is_cross_site(FIELDS("Host", "api.example", "Origin", "http://localhost:8001")));
    assert_false(is_cross_site(FIELDS("Host", "api.example", "Origin", "http://127.0.0.1/")));
    assert_false(is_cross_site(FIELDS("Host", "api.example", "Sec-Fetch-Site", "same-origin")));
}

static void request_of_another_origin_is_cross_site(void **state)
{
    (void)state;
    assert_true(is_cross_site(FIELDS("Host", "api.example", "Origin", "https://evil.example")));
    assert_true(is_cross_site(FIELDS("Host", "api.example", "Origin", "https://api.example.evil")));
    assert_true(
        is_cross_site(FIELDS("Host", "api.example", "Origin", "https://evil.example/api.example")));
    assert_true(is_cross_site(
        FIELDS("Host", "api.example", "Origin", "https://evil.example/://api.example")));
    assert_true(is_cross_site(FIELDS("Host", "api.example", "Origin", "null")));
    assert_true(is_cross_site(FIELDS("Host", "", "Origin", "")));
    assert_true(is_cross_site(FIELDS("Host", "api.example", "Origin", "https://api.example",
                                     "Origin", "https://evil.example")));
    assert_true(is_cross_site(FIELDS("Host", "api.example", "Sec-Fetch-Site", "cross-site")));
}

static void request_with_proxy_header_is_not_trusted(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "X-Forwarded-For",     "X-Forwarded-Host",   "x-forwarded-proto", "X-Forwarded-Client-Cert",
        "X-Forwarded",         "Forwarded",          "forwarded-for",     "Via",
        "x-real-ip",           "CF-Connecting-IP",   "True-Client-IP",    "X-Client-IP",
        "X-Cluster-Client-Ip", "X-Original-URL",     "X-Original-Host",   "X-Remote-User",
        "Proxy-Connection",    "Proxy-Authorization"};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    for (size_t i = 0; i < KC_COUNT(fields); i++)
        assert_is(authn, &loopback_peer, LOCAL(fields[i], "127.0.0.1"), ANONYMOUS);
    assert_is(authn, &loopback_peer, LOCAL("Viable", "1", "X-IP-Address", "1", "X-Original", "1"),
              ADMIN);
}

static void request_without_host_is_not_trusted(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &loopback_peer, FIELDS(), ANONYMOUS);
    assert_is(authn, &loopback_peer, FIELDS("Accept", "*/*"), ANONYMOUS);
}

static void socket_of_another_user_is_not_trusted(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    kc__conn_peer peer = loopback_peer;
    peer.socket = &of_another_user;
    assert_is(authn, &peer, LOCAL(), ANONYMOUS);
    peer.socket = &closed;
    assert_is(authn, &peer, LOCAL(), ANONYMOUS);
    peer.socket = NULL;
    assert_is(authn, &peer, LOCAL(), ANONYMOUS);
}

static void named_user_is_trusted_unless_pods_run_as_it(void **state)
{
    (void)state;
    const uint32_t users[] = {4242};
    const kc__local_trust_uid_range pods[] = {{4000, 5000}}, root[] = {{0, 0}};
    kc__conn_peer peer = loopback_peer;
    peer.socket = &of_another_user;
    kc_auto(kc__authn) *authn = authn_of(
        (kc__authn_opts){.allow_localhost = true, .localhost = {.users = users, .n_users = 1}});
    assert_is(authn, &peer, LOCAL(), ADMIN);
    assert_null(kc__authn_new(
        &(kc__authn_opts){.allow_localhost = true,
                          .localhost = {.users = users, .n_users = 1, .never = pods, .n_never = 1}},
        NULL));
    kc_auto(kc__authn) *rootless = authn_of(
        (kc__authn_opts){.allow_localhost = true, .localhost = {.never = root, .n_never = 1}});
    assert_is(rootless, &loopback_peer, LOCAL(), ANONYMOUS);
}

/* The caller checks the permission to impersonate (request/impersonate.c). */
static void impersonation_fields_do_not_change_the_user(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    kc_autofree char *plain = answer_of(authn, &loopback_peer, LOCAL());
    kc_autofree char *as = answer_of(authn, &loopback_peer, LOCAL("Impersonate-User", "viewer"));
    assert_string_equal(as, plain);
    assert_is(authn, &remote_peer, FIELDS("Authorization", "Bearer bad", "Impersonate-User", "x"),
              "Unauthorized");
}

static void only_loopback_authorities_are_local(void **state)
{
    (void)state;
    static const char *const local[] = {"localhost",   "LocalHost:6080",    "127.0.0.1",
                                        "127.0.0.1:1", "127.255.3.4:65535", "[::1]",
                                        "[::1]:6443"};
    static const char *const foreign[] = {
        "",
        "localhost.",
        "localhost:",
        "localhost:port",
        "localhost:65536",
        "localhost@",
        "localhostx",
        "x.localhost",
        "127.0.0.1.nip.io",
        "128.0.0.1",
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "::1",
        "[::1",
        "[::1]x",
        "[::2]",
        "[::1]:",
        "localhost:80:80",
        "127.0.0.1:-1",
        "0.0.0.0",
        "10.0.0.1",
        "localhost:000080",
        "user@localhost",
        ":80",
    };
    for (size_t i = 0; i < KC_COUNT(local); i++)
        if (!kc__local_request_is_local_authority(kc_cstr(local[i])))
            fail_msg("%s is local", local[i]);
    for (size_t i = 0; i < KC_COUNT(foreign); i++)
        if (kc__local_request_is_local_authority(kc_cstr(foreign[i])))
            fail_msg("'%s' is foreign", foreign[i]);
    assert_false(kc__local_request_is_local_authority(kc_str_of("127.0.0.1\0.evil", 15)));
}

static void only_loopback_origins_are_local(void **state)
{
    (void)state;
    assert_true(kc__local_request_is_local_origin(KC_STR("http://127.0.0.1:6080")));
    assert_true(kc__local_request_is_local_origin(KC_STR("https://[::1]:6443")));
    assert_false(kc__local_request_is_local_origin(KC_STR("localhost")));
    assert_false(kc__local_request_is_local_origin(KC_STR("http://localhost/")));
    assert_false(kc__local_request_is_local_origin(KC_STR("http://localhost:80@evil.example")));
    assert_false(kc__local_request_is_local_origin(KC_STR("file://localhost")));
    assert_false(kc__local_request_is_local_origin(KC_STR("http://")));
}

TESTS(websocket_token_in_subprotocol_authenticates_its_user,
      invalid_websocket_token_is_unauthorized, subprotocol_token_without_upgrade_is_ignored,
      same_origin_request_is_not_cross_site, request_of_another_origin_is_cross_site,
      request_without_credentials_is_anonymous, anonymous_request_is_unauthorized_when_disabled,
      bearer_token_authenticates_its_user,
      unknown_token_is_unauthorized_though_anonymous_is_allowed,
      token_is_unauthorized_without_token_file, other_schemes_and_empty_tokens_are_anonymous,
      missing_token_file_is_an_error, client_certificate_authenticates_user_and_groups,
      client_certificate_takes_precedence_over_token,
      client_certificate_without_common_name_is_anonymous, client_certificate_sets_credential_id,
      full_arena_is_an_error, loopback_request_is_admin_when_local_trust_is_enabled,
      forwarding_headers_do_not_make_a_remote_request_local,
      request_without_peer_address_is_not_local, credentials_take_precedence_over_local_trust,
      request_with_foreign_host_is_not_local, authority_of_absolute_target_overrides_host,
      cross_site_request_is_not_local,
      cross_site_anonymous_request_is_unauthorized_when_pages_are_refused,
      request_with_proxy_header_is_not_trusted, request_without_host_is_not_trusted,
      socket_of_another_user_is_not_trusted, named_user_is_trusted_unless_pods_run_as_it,
      impersonation_fields_do_not_change_the_user, only_loopback_authorities_are_local,
      only_loopback_origins_are_local)
