/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/authn.h"

#include "apiserver/access/local_request.h"
#include "testing.h"

#include <unistd.h>

/* ---- a request and its answer ---- */

static const kc__peer here = {.address = "127.0.0.1", .port = 40000, .loopback = true};
static const kc__peer elsewhere = {.address = "192.0.2.7", .port = 40000};

/* "user group group", or the error's message. Fields come in pairs up to a NULL. */
static char *answer_of(const kc__authn *authn, const kc__peer *peer, const char *const *fields)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc__headers) headers = {0};
    for (; fields[0]; fields += 2)
        assert_int_equal(kc__headers_add(&headers, kc_cstr(fields[0]), kc_cstr(fields[1]), NULL),
                         0);
    const kc__request request = {
        .method = KC_STR("GET"), .protocol = "HTTP/1.1", .peer = peer, .headers = headers};
    kc__user user;
    if (kc__authenticate(authn, &request, &arena, &user, &err) < 0) {
        assert_int_equal(err.code, 401);
        return kc_strdup(kc_error_text(&err));
    }
    kc_buf text = {0};
    kc_buf_append(&text, user.name);
    for (size_t i = 0; i < user.n_groups; i++)
        kc_buf_printf(&text, " %.*s", KC_ARG(user.groups[i]));
    return kc_buf_take(&text);
}

static void check(const kc__authn *authn, const kc__peer *peer, const char *const *fields,
                  const char *expected, int line)
{
    kc_autofree char *actual = answer_of(authn, peer, fields);
    if (strcmp(actual, expected) != 0)
        fail_msg("line %d: %s, not %s", line, actual, expected);
}

#define FIELDS(...)                              ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL, NULL})
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

static void nobody_in_particular_is_anonymous(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &elsewhere, FIELDS(), ANONYMOUS);
    assert_is(authn, &here, FIELDS(), ANONYMOUS);
}

static void anonymous_requests_can_be_refused(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.refuse_anonymous = true});
    assert_is(authn, &here, FIELDS(), "Unauthorized");
    assert_is(authn, &here, FIELDS("Authorization", "Bearer secret"), ALICE);
}

static void a_bearer_token_names_its_user(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearer secret"), ALICE);
    assert_is(authn, &elsewhere, FIELDS("authorization", "bEARER secret"), ALICE);
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearer secret more"), ALICE);
}

#define SOCKET(...) \
    FIELDS("Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Protocol", __VA_ARGS__)
#define IN_BASE64 "base64url.bearer.authorization.k8s.io."

static void a_websocket_may_carry_its_token_as_a_subprotocol(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &elsewhere, SOCKET(IN_BASE64 "c2VjcmV0, v4.channel.k8s.io"), ALICE);
    assert_is(authn, &here, SOCKET("v4.channel.k8s.io," IN_BASE64 "c2VjcmV0"), ALICE);
    assert_is(authn, &here, SOCKET("v4", "Sec-WebSocket-Protocol", IN_BASE64 "c2VjcmV0"), ALICE);
    assert_is(authn, &elsewhere, SOCKET(IN_BASE64 "c2VjcmV0, v4", "Origin", "https://page.example"),
              ALICE);
}

static void a_bad_one_is_refused(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &here, SOCKET(IN_BASE64 "d3Jvbmc, v4"), "Unauthorized");
    assert_is(authn, &here, SOCKET(IN_BASE64 "c2VjcmV0"), "Unauthorized");
    assert_is(authn, &here, SOCKET(IN_BASE64 "c2VjcmV0, "), "Unauthorized");
    assert_is(authn, &here, SOCKET(IN_BASE64 "c2VjcmV0*, v4"), "Unauthorized");
    assert_is(authn, &here, SOCKET(IN_BASE64 "c2VjcmV0, v4, " IN_BASE64 "c2VjcmV0"),
              "Unauthorized");
}

static void outside_a_websocket_a_subprotocol_means_nothing(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &elsewhere, FIELDS("Sec-WebSocket-Protocol", IN_BASE64 "c2VjcmV0, v4"),
              ANONYMOUS);
    assert_is(authn, &elsewhere, SOCKET("v4"), ANONYMOUS);
    assert_is(authn, &elsewhere, SOCKET(IN_BASE64 ", v4"), ANONYMOUS);
}

static void a_bad_token_is_refused_even_where_anonymous_is_allowed(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearer wrong"), "Unauthorized");
}

static void a_token_is_bad_where_there_are_none(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = kc__authn_new(&(kc__authn_opts){0}, NULL);
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearer secret"), "Unauthorized");
}

static void other_schemes_and_empty_tokens_are_ignored(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Basic c2VjcmV0"), ANONYMOUS);
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearer"), ANONYMOUS);
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearer  secret"), ANONYMOUS);
    assert_is(authn, &elsewhere, FIELDS("Authorization", ""), ANONYMOUS);
    assert_is(authn, &elsewhere, FIELDS("Authorization", "Bearersecret"), ANONYMOUS);
}

static void a_bad_token_file_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc__authn_new(&(kc__authn_opts){.token_file = "/no/such/file"}, &err));
    assert_error(&err, KC_NOT_FOUND, "/no/such/file");
}

/* ---- certificates ---- */

static const kc_str carols_groups[] = {KC_STR_INIT("admins"), KC_STR_INIT("staff")};
static const kc__client_cert carols = {.common_name = KC_STR_INIT("carol"),
                                       .organizations = carols_groups,
                                       .n_organizations = 2,
                                       .sha256 = "0123"};
static const kc__peer carol = {.address = "192.0.2.7", .tls = true, .cert = &carols};

static void a_certificate_names_user_and_groups(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &carol, FIELDS(), "carol admins staff system:authenticated");
}

static void a_certificate_comes_before_any_token(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &carol, FIELDS("Authorization", "Bearer secret"),
              "carol admins staff system:authenticated");
    assert_is(authn, &carol, FIELDS("Authorization", "Bearer wrong"),
              "carol admins staff system:authenticated");
}

static void a_certificate_without_common_name_names_nobody(void **state)
{
    (void)state;
    const kc__client_cert nameless = {.organizations = carols_groups, .n_organizations = 2};
    const kc__peer peer = {.address = "192.0.2.7", .tls = true, .cert = &nameless};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    assert_is(authn, &peer, FIELDS(), ANONYMOUS);
}

static void a_certificate_gives_its_credential_id(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    kc__user user;
    assert_int_equal(kc__authenticate(authn, &(kc__request){.peer = &carol}, &arena, &user, NULL),
                     0);
    assert_int_equal(user.n_extra, 1);
    assert_str(user.extra[0].key, "authentication.kubernetes.io/credential-id");
    assert_int_equal(user.extra[0].n_values, 1);
    assert_str(user.extra[0].values[0], "X509SHA256=0123");
}

static void a_full_arena_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {.limit = 16};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){0});
    kc__user user = {.n_groups = 7};
    assert_true(kc__authenticate(authn, &(kc__request){.peer = &carol}, &arena, &user, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "no room");
    assert_int_equal(user.n_groups, 7);
}

/* ---- this machine ---- */

static void this_machine_is_the_administrator_where_allowed(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &here, FIELDS(), ADMIN);
    assert_is(authn, &here, FIELDS("Host", "127.0.0.1:6080"), ADMIN);
    assert_is(authn, &elsewhere, FIELDS("Host", "127.0.0.1:6080"), ANONYMOUS);
}

static void no_header_makes_another_machine_this_one(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn =
        authn_of((kc__authn_opts){.allow_localhost = true, .refuse_anonymous = true});
    assert_is(authn, &elsewhere,
              FIELDS("Host", "localhost", "X-Forwarded-For", "127.0.0.1", "X-Real-IP", "127.0.0.1",
                     "Forwarded", "for=127.0.0.1", "Origin", "http://localhost"),
              "Unauthorized");
}

static void a_caller_without_address_is_not_this_machine(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, NULL, FIELDS(), ANONYMOUS);
    assert_is(authn, &(kc__peer){0}, FIELDS(), ANONYMOUS);
}

static void whoever_shows_credentials_is_judged_by_them(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &here, FIELDS("Authorization", "Bearer secret"), ALICE);
    assert_is(authn, &here, FIELDS("Authorization", "Bearer wrong"), "Unauthorized");
    assert_is(authn, &here, FIELDS("Authorization", "Basic x"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Authorization", ""), ANONYMOUS);
}

static void a_foreign_host_is_no_local_request(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &here, FIELDS("Host", "rebound.example:6080"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Host", "localhost", "Host", "rebound.example"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Host", ""), ANONYMOUS);
}

static void an_absolute_target_counts_as_host(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__request request = {.peer = &here, .target.authority = KC_STR("rebound.example")};
    assert_false(kc__is_local_request(&request));
    request.target.authority = KC_STR("localhost:6080");
    assert_true(kc__is_local_request(&request));
}

static void a_page_from_elsewhere_is_no_local_request(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &here, FIELDS("Origin", "https://evil.example"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Origin", "null"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Origin", ""), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Sec-Fetch-Site", "cross-site"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Sec-Fetch-Site", "something-new"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Origin", "http://localhost:8000"), ADMIN);
    assert_is(authn, &here, FIELDS("Sec-Fetch-Site", "same-origin"), ADMIN);
    assert_is(authn, &here, FIELDS("Sec-Fetch-Site", "none"), ADMIN);
}

static void pages_from_elsewhere_can_be_refused_as_anonymous(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.refuse_pages = true});
    assert_is(authn, &here, FIELDS("Host", "127.0.0.1:6080"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("X-Forwarded-For", "192.0.2.1"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Host", "rebound.example"), "Unauthorized");
    assert_is(authn, &here, FIELDS("Origin", "https://evil.example"), "Unauthorized");
    assert_is(authn, &here, FIELDS("Sec-Fetch-Site", "cross-site"), "Unauthorized");
    assert_is(authn, &here, FIELDS("Origin", "https://e.example", "Authorization", "Bearer secret"),
              ALICE);
    assert_is(authn, &elsewhere, FIELDS("Host", "plane.example"), ANONYMOUS);
    assert_is(authn, &(kc__peer){0}, FIELDS("Host", "plane.example"), ANONYMOUS);
}

static bool is_cross_site(const char *const *fields)
{
    kc_scoped(kc__headers) headers = {0};
    for (; fields[0]; fields += 2)
        assert_int_equal(kc__headers_add(&headers, kc_cstr(fields[0]), kc_cstr(fields[1]), NULL),
                         0);
    return kc__is_cross_site(&(kc__request){.peer = &elsewhere, .headers = headers});
}

static void a_page_of_the_server_is_no_other_site(void **state)
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

static void any_other_page_is(void **state)
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

static void what_a_proxy_passes_on_is_no_local_request(void **state)
{
    (void)state;
    kc_auto(kc__authn) *authn = authn_of((kc__authn_opts){.allow_localhost = true});
    assert_is(authn, &here, FIELDS("X-Forwarded-For", "127.0.0.1"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Forwarded", "for=192.0.2.1"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("x-real-ip", "127.0.0.1"), ANONYMOUS);
    assert_is(authn, &here, FIELDS("Via", "1.1 proxy"), ANONYMOUS);
}

static void names_of_this_machine_are_few(void **state)
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
        if (!kc__is_local_authority(kc_cstr(local[i])))
            fail_msg("%s is of this machine", local[i]);
    for (size_t i = 0; i < KC_COUNT(foreign); i++)
        if (kc__is_local_authority(kc_cstr(foreign[i])))
            fail_msg("'%s' is foreign", foreign[i]);
    assert_false(kc__is_local_authority(kc_str_of("127.0.0.1\0.evil", 15)));
}

static void origins_of_this_machine_are_few(void **state)
{
    (void)state;
    assert_true(kc__is_local_origin(KC_STR("http://127.0.0.1:6080")));
    assert_true(kc__is_local_origin(KC_STR("https://[::1]:6443")));
    assert_false(kc__is_local_origin(KC_STR("localhost")));
    assert_false(kc__is_local_origin(KC_STR("http://localhost/")));
    assert_false(kc__is_local_origin(KC_STR("http://localhost:80@evil.example")));
    assert_false(kc__is_local_origin(KC_STR("file://localhost")));
    assert_false(kc__is_local_origin(KC_STR("http://")));
}

TESTS(a_websocket_may_carry_its_token_as_a_subprotocol, a_bad_one_is_refused,
      outside_a_websocket_a_subprotocol_means_nothing, a_page_of_the_server_is_no_other_site,
      any_other_page_is, nobody_in_particular_is_anonymous, anonymous_requests_can_be_refused,
      a_bearer_token_names_its_user, a_bad_token_is_refused_even_where_anonymous_is_allowed,
      a_token_is_bad_where_there_are_none, other_schemes_and_empty_tokens_are_ignored,
      a_bad_token_file_is_an_error, a_certificate_names_user_and_groups,
      a_certificate_comes_before_any_token, a_certificate_without_common_name_names_nobody,
      a_certificate_gives_its_credential_id, a_full_arena_is_an_error,
      this_machine_is_the_administrator_where_allowed, no_header_makes_another_machine_this_one,
      a_caller_without_address_is_not_this_machine, whoever_shows_credentials_is_judged_by_them,
      a_foreign_host_is_no_local_request, an_absolute_target_counts_as_host,
      a_page_from_elsewhere_is_no_local_request, pages_from_elsewhere_can_be_refused_as_anonymous,
      what_a_proxy_passes_on_is_no_local_request, names_of_this_machine_are_few,
      origins_of_this_machine_are_few)
