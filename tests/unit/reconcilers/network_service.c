/* SPDX-License-Identifier: Apache-2.0 */
/* The network service: valid networks, refused ones, and that acknowledged changes are durable. */
#include "network_testing.h"

#include "kc/transport.h"
#include "network/service/cidr.h"
#include "network/service/ledger.h"
#include "network/service/token.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- ranges ---- */

static void cidr_has_first_and_last_address(void **state)
{
    (void)state;
    static const struct {
        const char *cidr, *first, *last;
    } cases[] = {
        {"192.168.0.0/16", "192.168.0.0", "192.168.255.255"},
        {"10.1.2.3/32", "10.1.2.3", "10.1.2.3"},
        {"10.128.0.0/9", "10.128.0.0", "10.255.255.255"},
        {"0.0.0.0/0", "0.0.0.0", "255.255.255.255"},
        {"fd00:7::/64", "fd00:7::", "fd00:7::ffff:ffff:ffff:ffff"},
        {"::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"fd00::1/128", "fd00::1", "fd00::1"},
        {"FD00:0:0::/43", "fd00::", "fd00:0:1f:ffff:ffff:ffff:ffff:ffff"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__network_range range;
        char text[INET6_ADDRSTRLEN];
        kc_scoped(kc_error) err = {0};
        OK(kc__network_range_parse(kc_cstr(cases[i].cidr), &range, &err), &err);
        inet_ntop(range.family, range.first, text, sizeof(text));
        assert_string_equal(text, cases[i].first);
        inet_ntop(range.family, range.last, text, sizeof(text));
        assert_string_equal(text, cases[i].last);
    }
}

static void invalid_cidr_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "/",
        "/8",
        "10.0.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/08",
        "10.0.0/8",
        "10.0.0.256/8",
        "010.0.0.0/8",
        "10.0.0.0/8 ",
        " 10.0.0.0/8",
        "10.0.0.0/8/8",
        "10.0.0.0/+8",
        "fd00::/129",
        "fd00:::/8",
        "fe80::%1/64",
        "::ffff:10.0.0.0/104",
        "example/8",
        "10.0.0.0/18446744073709551624",
        "1111111111111111111111111111111111111111111111111111111111111111111111111111/8",
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__network_range range;
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc__network_range_parse(kc_cstr(cases[i]), &range, &err), -KC_INVALID);
        assert_error(&err, KC_INVALID, "is not a valid CIDR");
    }
    kc__network_range range;
    kc_scoped(kc_error) err = {0};
    assert_true(kc__network_range_parse(kc_str_of("10.0.0.0\0/8", 11), &range, NULL) < 0);
    assert_true(kc__network_range_parse(KC_STR("192.168.7.1/16"), &range, &err) < 0);
    assert_error(&err, KC_INVALID, "did you mean \"192.168.0.0/16\"?");
}

static void gateway_must_be_an_address_of_its_network(void **state)
{
    (void)state;
    static const struct {
        const char *cidr, *gateway, *message; /* NULL: it may be. */
    } cases[] = {
        {"192.168.0.0/16", "192.168.0.1", NULL},
        {"192.168.0.0/16", "192.168.255.254", NULL},
        {"192.168.0.0/16", "192.168.0.0", "is the network or broadcast address"},
        {"192.168.0.0/16", "192.168.255.255", "is the network or broadcast address"},
        {"192.168.0.0/31", "192.168.0.0", NULL},
        {"192.168.0.7/32", "192.168.0.7", NULL},
        {"192.168.0.0/16", "192.169.0.0", "is not within the network"},
        {"192.168.0.0/16", "192.167.255.255", "is not within the network"},
        {"192.168.0.0/16", "fd00::1", "is not within the network"},
        {"192.168.0.0/16", "gateway", "is not a valid IP address"},
        {"192.168.0.0/16", "192.168.0.1/32", "is not a valid IP address"},
        {"fd00::/64", "fd00::", NULL},
        {"fd00::/64", "fd00:0:0:1::", "is not within the network"},
        {"::/0", "192.168.0.1", "is not within the network"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__network_range range;
        kc_scoped(kc_error) err = {0};
        OK(kc__network_range_parse(kc_cstr(cases[i].cidr), &range, &err), &err);
        const int result = kc__network_range_check_gateway(&range, kc_cstr(cases[i].gateway), &err);
        assert_int_equal(result, cases[i].message ? -KC_INVALID : 0);
        if (cases[i].message)
            assert_error(&err, KC_INVALID, cases[i].message);
    }
}

/* ---- calls ---- */

static int begin(void **state)
{
    (void)state;
    outside_begin(NULL);
    return 0;
}

#define PUT(name, json) outside_call("PUT", "/v1/networks/default/" name, json, NULL)

/* What a call with fields of its own is answered. */
static int call_with(const kc__network_call *call, uint64_t *ret_generation)
{
    kc_scoped(kc__network_reply) reply = {0};
    kc__network_service_call(outside.service, call, &reply);
    if (ret_generation)
        *ret_generation = reply.generation;
    return reply.status;
}

static void assert_answer(const char *method, const char *path, const char *json, int status,
                          const char *part)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(outside_call(method, path, json, &out), status);
    assert_contains(kc_buf_cstr(&out), part);
}

static void networks_are_created_updated_and_deleted(void **state)
{
    begin(state);
    assert_int_equal(PUT("one", "{'cidr':'10.0.0.0/8','gateway':'10.0.0.1','owner':'me'}"), 201);
    assert_int_equal(PUT("one", "{'cidr':'10.0.0.0/8','gateway':'10.0.0.1','owner':'me'}"), 200);
    assert_answer("GET", "/v1/networks/default/one", NULL, 200, "\"generation\":1}");
    assert_int_equal(PUT("one", "{'cidr':'11.0.0.0/8','owner':'me'}"), 200);
    assert_answer("GET", "/v1/networks/default/one", NULL, 200,
                  "{\"namespace\":\"default\",\"name\":\"one\",\"cidr\":\"11.0.0.0/8\",\"gateway\":"
                  "\"\",\"owner\":\"me\",\"generation\":2}");
    assert_int_equal(outside_call("DELETE", "/v1/networks/default/one", NULL, NULL), 200);
    assert_answer("GET", "/v1/networks/default/one", NULL, 404, "\"reason\":\"NotFound\"");
    assert_answer("DELETE", "/v1/networks/default/one", NULL, 404, "not found");
    assert_answer("GET", "/v1/networks", NULL, 200, "{\"generation\":3,\"networks\":[]}");
    outside_end();
}

static void overlapping_networks_are_refused(void **state)
{
    begin(state);
    assert_int_equal(PUT("b", "{'cidr':'10.2.0.0/16'}"), 201);
    assert_int_equal(PUT("d", "{'cidr':'10.4.0.0/16'}"), 201);
    assert_int_equal(PUT("six", "{'cidr':'fd00::/64'}"), 201);
    static const char *const refused[] = {"10.2.0.0/16", "10.2.7.0/24",   "10.0.0.0/8",
                                          "0.0.0.0/0",   "10.4.255.0/24", "10.2.0.0/15",
                                          "::/0",        "fd00::7/128"};
    for (size_t i = 0; i < KC_COUNT(refused); i++) {
        kc_autofree char *json = kc_asprintf("{'cidr':'%s'}", refused[i]);
        assert_answer("PUT", "/v1/networks/default/x", json, 409, "\"reason\":\"Overlap\"");
    }
    assert_answer("PUT", "/v1/networks/default/x", "{'cidr':'10.2.7.0/24'}", 409,
                  "10.2.7.0/24 overlaps with 10.2.0.0/16 of default/b");
    assert_int_equal(PUT("c", "{'cidr':'10.3.0.0/16'}"), 201);
    assert_int_equal(PUT("a", "{'cidr':'10.1.0.0/16'}"), 201);
    assert_service_has(
        "a 10.1.0.0/16 , b 10.2.0.0/16 , c 10.3.0.0/16 , d 10.4.0.0/16 , six fd00::/64 ");
    /* Its own range does not overlap; that of its neighbour does. */
    assert_int_equal(PUT("b", "{'cidr':'10.2.8.0/24'}"), 200);
    assert_int_equal(PUT("b", "{'cidr':'10.2.0.0/15'}"), 409);
    assert_int_equal(PUT("b", "{'cidr':'10.0.0.0/8'}"), 409);
    assert_service_has(
        "a 10.1.0.0/16 , b 10.2.8.0/24 , c 10.3.0.0/16 , d 10.4.0.0/16 , six fd00::/64 ");
    outside_end();
}

static void write_with_stale_generation_is_refused(void **state)
{
    begin(state);
    uint64_t generation = 0;
    kc__network_call call = {.method = KC_STR("PUT"),
                             .path = KC_STR("/v1/networks/default/one"),
                             .body = KC_STR("{\"cidr\":\"10.0.0.0/8\"}"),
                             .if_match = KC_STR("\"1\"")};
    assert_int_equal(call_with(&call, NULL), 412);
    call.if_match = (kc_str){0};
    call.if_none_match = KC_STR("*");
    assert_int_equal(call_with(&call, &generation), 201);
    assert_int_equal(generation, 1);
    assert_int_equal(call_with(&call, NULL), 412);
    call.if_none_match = (kc_str){0};
    call.body = KC_STR("{\"cidr\":\"11.0.0.0/8\"}");
    call.if_match = KC_STR("\"1\"");
    assert_int_equal(call_with(&call, &generation), 200);
    assert_int_equal(generation, 2);
    assert_int_equal(call_with(&call, NULL), 412);
    static const char *const bad[] = {"1", "\"\"", "\"one\"", "*", "\"0\"", "W/\"1\""};
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        call.if_match = kc_cstr(bad[i]);
        assert_int_equal(call_with(&call, NULL), 400);
    }
    call.method = KC_STR("DELETE");
    call.if_match = KC_STR("\"1\"");
    assert_int_equal(call_with(&call, NULL), 412);
    call.if_match = KC_STR("\"2\"");
    assert_int_equal(call_with(&call, NULL), 200);
    outside_end();
}

static void network_of_another_owner_is_a_conflict(void **state)
{
    begin(state);
    assert_int_equal(PUT("one", "{'cidr':'10.0.0.0/8','owner':'me'}"), 201);
    assert_answer("PUT", "/v1/networks/default/one", "{'cidr':'10.0.0.0/8','owner':'you'}", 409,
                  "default/one belongs to me");
    assert_answer("PUT", "/v1/networks/default/one", "{'cidr':'10.0.0.0/8'}", 409, "belongs to me");
    kc__network_call call = {.method = KC_STR("DELETE"),
                             .path = KC_STR("/v1/networks/default/one"),
                             .owner = KC_STR("you")};
    assert_int_equal(call_with(&call, NULL), 409);
    assert_int_equal(PUT("two", "{'cidr':'11.0.0.0/8'}"), 201);
    assert_answer("PUT", "/v1/networks/default/two", "{'cidr':'11.0.0.0/8','owner':'me'}", 409,
                  "default/two has no owner");
    kc_scoped(kc__network_reply) mine = {0};
    kc__network_service_call(outside.service,
                             &(kc__network_call){.method = KC_STR("GET"),
                                                 .path = KC_STR("/v1/networks"),
                                                 .owner = KC_STR("me")},
                             &mine);
    assert_contains(kc_buf_cstr(&mine.body), "\"name\":\"one\"");
    assert_null(strstr(kc_buf_cstr(&mine.body), "\"name\":\"two\""));
    call.owner = KC_STR("me");
    assert_int_equal(call_with(&call, NULL), 200);
    outside_end();
}

static void invalid_request_is_refused_with_message(void **state)
{
    begin(state);
    static const char one[] = "/v1/networks/default/one";
    kc_autofree char *long_name = kc_asprintf("/v1/networks/default/%0300d", 7);
    const struct {
        const char *method, *path, *json;
        int status;
        const char *message;
    } cases[] = {
        {"GET", "/", NULL, 404, "networks are at /v1/networks"},
        {"GET", "/v1/networks/", NULL, 404, ""},
        {"GET", "/v1/networks/default", NULL, 404, ""},
        {"GET", "/v1/networks/default/", NULL, 404, ""},
        {"GET", "/v1/networks/default/one/two", NULL, 404, ""},
        {"POST", "/v1/networks", "{}", 405, "method POST not allowed; allowed: GET"},
        {"PATCH", one, "{}", 405, "method PATCH not allowed; allowed: GET, PUT, DELETE"},
        {"PUT", one, "", 400, "\"reason\":\"BadRequest\""},
        {"PUT", one, "[]", 400, "a network must be a JSON object"},
        {"PUT", one, "{'cidr':12}", 400, "cidr must be a string, not integer"},
        {"PUT", one, "{'cidr':'10.0.0.0/8','gatway':'10.0.0.1'}", 400,
         "unknown field \\\"gatway\\\""},
        {"PUT", one, "{'cidr':'10.0.0.0/8','gateway':['10.0.0.1']}", 400,
         "gateway must be a string"},
        {"PUT", one, "{}", 422, "is not a valid CIDR"},
        {"PUT", one, "{'cidr':'10.0.0.0/8','gateway':'11.0.0.1'}", 422, "is not within"},
        {"PUT", one, "{'cidr':'10.0.0.0/8','owner':'Not A Name'}", 422, "owner"},
        {"PUT", "/v1/networks/Default/one", "{'cidr':'10.0.0.0/8'}", 422, "namespace"},
        {"PUT", "/v1/networks/default/One", "{'cidr':'10.0.0.0/8'}", 422, "name"},
        {"PUT", long_name, "{'cidr':'10.0.0.0/8'}", 422, "name"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_answer(cases[i].method, cases[i].path, cases[i].json, cases[i].status,
                      cases[i].message);
    kc_autofree char *long_body = kc_asprintf("{'cidr':'%017000d'}", 7);
    assert_answer("PUT", one, long_body, 413, "at most 16384 bytes");
    assert_answer("GET", "/healthz", NULL, 200, "ok");
    assert_service_has("");
    outside_end();
}

static void network_limit_is_enforced(void **state)
{
    begin(state);
    char path[64], json[64];
    for (int i = 0; i < KC__NETWORK_NETS; i++) {
        snprintf(path, sizeof(path), "/v1/networks/default/n%d", i);
        snprintf(json, sizeof(json), "{'cidr':'10.%d.%d.0/24'}", i / 256, i % 256);
        assert_int_equal(outside_call("PUT", path, json, NULL), 201);
    }
    assert_answer("PUT", "/v1/networks/default/more", "{'cidr':'11.0.0.0/8'}", 507,
                  "networks reached");
    assert_int_equal(PUT("n7", "{'cidr':'11.0.0.0/8'}"), 200);
    assert_int_equal(outside_call("DELETE", "/v1/networks/default/n8", NULL, NULL), 200);
    assert_int_equal(PUT("more", "{'cidr':'12.0.0.0/8'}"), 201);
    outside_end();
}

/* ---- the file ---- */

static char folder[] = "/tmp/kc-networks-XXXXXX";
static char file[64];

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/kc-networks-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/networks.json", folder);
    return 0;
}

static void folder_remove(void)
{
    kc_autofree char *command = kc_asprintf("rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void start_over_file(void)
{
    kc_scoped(kc_error) err = {0};
    outside_end();
    outside.service = kc__network_service_start(&(kc__network_service_opts){.file = file}, &err);
    OK(outside.service ? 0 : -1, &err);
}

static void networks_survive_restart(void **state)
{
    folder_make(state);
    start_over_file();
    assert_int_equal(PUT("one", "{'cidr':'10.0.0.0/8','gateway':'10.0.0.1','owner':'me'}"), 201);
    assert_int_equal(PUT("two", "{'cidr':'fd00::/64'}"), 201);
    assert_int_equal(PUT("three", "{'cidr':'11.0.0.0/8'}"), 201);
    assert_int_equal(outside_call("DELETE", "/v1/networks/default/three", NULL, NULL), 200);
    start_over_file();
    assert_service_has("one 10.0.0.0/8 10.0.0.1, two fd00::/64 ");
    assert_answer("GET", "/v1/networks/default/one", NULL, 200,
                  "\"owner\":\"me\",\"generation\":1}");
    /* Generations go on. */
    assert_int_equal(PUT("two", "{'cidr':'fd01::/64'}"), 200);
    assert_answer("GET", "/v1/networks/default/two", NULL, 200, "\"generation\":5}");
    assert_int_equal(PUT("four", "{'cidr':'10.1.0.0/16'}"), 409);
    outside_end();
    folder_remove();
}

/* Writes one network after the other, and says each that was taken. */
static void write_and_acknowledge(int to)
{
    kc__network_service *service =
        kc__network_service_start(&(kc__network_service_opts){.file = file}, NULL);
    char path[64], json[64];
    for (int i = 0; service && i < KC__NETWORK_NETS; i++) {
        kc__network_reply reply = {0};
        snprintf(path, sizeof(path), "/v1/networks/default/n%d", i);
        snprintf(json, sizeof(json), "{\"cidr\":\"10.%d.%d.0/24\"}", i / 256, i % 256);
        kc__network_service_call(service,
                                 &(kc__network_call){.method = KC_STR("PUT"),
                                                     .path = kc_cstr(path),
                                                     .body = kc_cstr(json)},
                                 &reply);
        if (reply.status != 201 || write(to, &i, sizeof(i)) != (ssize_t)sizeof(i))
            break;
    }
    _exit(1);
}

/* A service that is killed in the middle has stored every acknowledged change, and one more at
 * most. */
static void acknowledged_change_survives_kill(void **state)
{
    folder_make(state);
    for (int round = 0; round < 5; round++) {
        int ends[2], acked = -1, last = -1;
        assert_int_equal(pipe(ends), 0);
        unlink(file);
        const pid_t child = fork();
        if (child == 0)
            write_and_acknowledge(ends[1]);
        close(ends[1]);
        while (acked < 20 + round * 7 && read(ends[0], &acked, sizeof(acked)) == sizeof(acked))
            last = acked;
        kill(child, SIGKILL);
        while (read(ends[0], &acked, sizeof(acked)) == sizeof(acked))
            last = acked;
        close(ends[0]);
        waitpid(child, NULL, 0);
        assert_true(last >= 20 + round * 7);
        kc_auto(kc__network_ledger) *ledger = kc__network_ledger_open(file, NULL);
        assert_non_null(ledger);
        char name[16];
        for (int i = 0; i <= last; i++) {
            snprintf(name, sizeof(name), "n%d", i);
            assert_non_null(kc__network_ledger_get(ledger, KC_STR("default"), kc_cstr(name)));
        }
        assert_null(kc__network_ledger_at(ledger, (size_t)last + 2));
    }
    folder_remove();
}

static void put_file(const char *text)
{
    FILE *out = fopen(file, "w");
    fputs(text, out);
    fclose(out);
}

static void invalid_file_is_refused(void **state)
{
    folder_make(state);
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"format\":1,", "networks.json: "},
        {"{}", "not a file of networks"},
        {"{\"format\":2,\"generation\":1,\"networks\":[]}", "not a file of networks"},
        {"{\"format\":1,\"generation\":1,\"networks\":[{}]}", "namespace"},
        {"{\"format\":1,\"generation\":1,\"networks\":[{\"namespace\":\"a\",\"name\":\"b\","
         "\"cidr\":\"10.0.0.0/8\",\"generation\":7}]}",
         "a/b has no generation"},
        {"{\"format\":1,\"generation\":1,\"networks\":[{\"namespace\":\"a\",\"name\":\"b\","
         "\"cidr\":\"10.0.0.0/8\",\"generation\":1},{\"namespace\":\"a\",\"name\":\"c\","
         "\"cidr\":\"10.7.0.0/16\",\"generation\":1}]}",
         "a/c is a duplicate or overlaps"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        put_file(cases[i].text);
        assert_null(kc__network_ledger_open(file, &err));
        assert_contains(kc_error_text(&err), cases[i].message);
    }
    folder_remove();
}

static void file_in_use_is_a_conflict(void **state)
{
    folder_make(state);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__network_ledger) *first = kc__network_ledger_open(file, &err);
    assert_non_null(first);
    assert_null(kc__network_ledger_open(file, &err));
    assert_error(&err, KC_CONFLICT, "networks.json is in use by another process");
    assert_null(kc__network_ledger_open("/no/such/folder/networks.json", &err));
    assert_contains(kc_error_text(&err), "/no/such/folder");
    folder_remove();
}

/* A change that cannot be written has not happened. */
static void change_that_cannot_be_written_is_undone(void **state)
{
    folder_make(state);
    start_over_file();
    assert_int_equal(PUT("one", "{'cidr':'10.0.0.0/8'}"), 201);
    kc_autofree char *in_the_way = kc_asprintf("mv '%s' '%s.old' && mkdir '%s'", file, file, file);
    assert_int_equal(system(in_the_way), 0);
    assert_answer("PUT", "/v1/networks/default/two", "{'cidr':'11.0.0.0/8'}", 500, "cannot write");
    assert_answer("PUT", "/v1/networks/default/one", "{'cidr':'12.0.0.0/8'}", 500, "cannot write");
    assert_int_equal(outside_call("DELETE", "/v1/networks/default/one", NULL, NULL), 500);
    assert_service_has("one 10.0.0.0/8 ");
    kc_autofree char *out_of_the_way =
        kc_asprintf("rmdir '%s' && mv '%s.old' '%s'", file, file, file);
    assert_int_equal(system(out_of_the_way), 0);
    assert_int_equal(PUT("one", "{'cidr':'12.0.0.0/8'}"), 200);
    start_over_file();
    assert_service_has("one 12.0.0.0/8 ");
    outside_end();
    folder_remove();
}

/* ---- over HTTP ---- */

static kc__network_service *serve(void)
{
    return kc__network_service_start(
        &(kc__network_service_opts){.address = "127.0.0.1:0", .token = "sesame"}, NULL);
}

static kc_transport *transport_with_token(const kc__network_service *service, const char *token)
{
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc__network_service_port(service));
    kc_auto(kc_config) *server = kc_config_for_url(url);
    kc_config config = *server;
    config.token = token;
    return kc_transport_http_new(&config, NULL, NULL);
}

static int status_of(kc_transport *t, const char *target)
{
    kc_scoped(kc_buf) body = {0};
    return kc_http_request_send(t, &(kc_http_request){.method = "GET", .target = kc_cstr(target)},
                                &body, NULL);
}

static void call_without_the_token_is_unauthorized(void **state)
{
    (void)state;
    kc_auto(kc__network_service) *service = serve();
    static const char *const wrong[] = {NULL, "sesamf", "sesam", "sesamee", "SESAME"};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_auto(kc_transport) *t = transport_with_token(service, wrong[i]);
        assert_int_equal(status_of(t, "/v1/networks"), 401);
        assert_int_equal(status_of(t, "/nowhere"), 401);
        assert_int_equal(status_of(t, "/healthz"), 200);
    }
    kc_auto(kc_transport) *t = transport_with_token(service, "sesame");
    assert_int_equal(status_of(t, "/v1/networks"), 200);
}

static void service_without_a_token_does_not_listen(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(
        kc__network_service_start(&(kc__network_service_opts){.address = "127.0.0.1:0"}, &err));
    assert_error(&err, KC_INVALID, "requires a bearer token");
}

/* ---- token files ---- */

static void missing_token_file_is_created_for_its_owner_only(void **state)
{
    (void)state;
    char place[] = "/tmp/kc-token-XXXXXX";
    struct stat st;
    assert_non_null(mkdtemp(place));
    kc_autofree char *path = kc_asprintf("%s/token", place);
    kc_autofree char *first = kc__network_token_ensure(path, NULL);
    kc_autofree char *second = kc__network_token_ensure(path, NULL);
    assert_string_equal(first, second);
    assert_int_equal(strlen(first), 43);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    unlink(path);
    kc_autofree char *third = kc__network_token_ensure(path, NULL);
    assert_string_not_equal(first, third);
    unlink(path);
    rmdir(place);
}

static void refuse_token_file(const char *path, const char *why)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc__network_token_ensure(path, &err));
    assert_error(&err, KC_INVALID, why);
}

static void token_file_that_others_can_read_or_replace_is_refused(void **state)
{
    (void)state;
    char place[] = "/tmp/kc-token-XXXXXX";
    assert_non_null(mkdtemp(place));
    kc_autofree char *path = kc_asprintf("%s/token", place);
    kc_autofree char *link = kc_asprintf("%s/link", place);
    free(kc__network_token_ensure(path, NULL));
    chmod(path, 0644);
    refuse_token_file(path, "accessible to other users");
    chmod(path, 0620);
    refuse_token_file(path, "accessible to other users");
    chmod(path, 0600);
    assert_int_equal(symlink(path, link), 0);
    refuse_token_file(link, "cannot open token file");
    refuse_token_file(place, "not a regular file");
    assert_int_equal(truncate(path, 3), 0);
    refuse_token_file(path, "no token of at least 16");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 4242, 4242), 0);
        refuse_token_file(path, "belongs to uid 4242");
    }
    unlink(link);
    unlink(path);
    rmdir(place);
}

static void service_works_over_http(void **state)
{
    (void)state;
    kc_auto(kc__network_service) *service = serve();
    kc_auto(kc_transport) *t = transport_with_token(service, "sesame");
    kc_scoped(kc_buf) body = {0};
    const kc_http_field only_new = {KC_STR("If-None-Match"), KC_STR("*")};
    kc_http_request put = {.method = "PUT",
                           .target = KC_STR("/v1/networks/default/one"),
                           .body = KC_STR("{\"cidr\":\"10.0.0.0/8\"}"),
                           .fields = &only_new,
                           .n_fields = 1};
    assert_int_equal(kc_http_request_send(t, &put, &body, NULL), 201);
    assert_int_equal(kc_http_request_send(t, &put, &body, NULL), 412);
    kc_auto(kc_http_response) *got =
        kc_transport_open(t, &(kc_http_request){.method = "GET", .target = put.target}, NULL);
    assert_str(kc_http_response_field(got, KC_STR("etag")), "\"1\"");
    kc_auto(kc_http_response) *wrong =
        kc_transport_open(t, &(kc_http_request){.method = "POST", .target = put.target}, NULL);
    assert_int_equal(wrong->status, 405);
    assert_str(kc_http_response_field(wrong, KC_STR("allow")), "GET, PUT, DELETE");
    kc_http_request remove = {.method = "DELETE",
                              .target = KC_STR("/v1/networks/default/one?owner=you")};
    assert_int_equal(kc_http_request_send(t, &remove, &body, NULL), 409);
    remove.target = put.target;
    assert_int_equal(kc_http_request_send(t, &remove, &body, NULL), 200);
}

TESTS(cidr_has_first_and_last_address, invalid_cidr_is_refused,
      gateway_must_be_an_address_of_its_network, networks_are_created_updated_and_deleted,
      overlapping_networks_are_refused, write_with_stale_generation_is_refused,
      network_of_another_owner_is_a_conflict, invalid_request_is_refused_with_message,
      network_limit_is_enforced, networks_survive_restart, acknowledged_change_survives_kill,
      invalid_file_is_refused, file_in_use_is_a_conflict, change_that_cannot_be_written_is_undone,
      service_works_over_http, call_without_the_token_is_unauthorized,
      service_without_a_token_does_not_listen, missing_token_file_is_created_for_its_owner_only,
      token_file_that_others_can_read_or_replace_is_refused)
