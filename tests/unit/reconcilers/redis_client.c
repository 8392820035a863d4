/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis client of the reconciler redismigration: its protocol, addresses, connections. */
#include "plane_testing.h"
#include "redis_testing.h"

#include "redismigration/migration.h"

/* ---- protocol ---- */

/* The scan's verdict of a text; *ret_at is where it ended. */
static int scan_text(const char *text, size_t *ret_at, kc_error *err)
{
    resp_scan scan = {0};
    const int found = resp_scan_more(&scan, kc_cstr(text), NULL, err);
    *ret_at = scan.at;
    return found;
}

static void replies_are_parsed_to_their_end(void **state)
{
    static const struct {
        const char *text;
        size_t n; /* 0: not whole. */
    } cases[] = {
        {"+OK\r\n", 5},       {"+OK\r", 0},
        {"+OK\r\n:1\r\n", 5}, {":-2\r\n", 5},
        {"$3\r\nabc\r\n", 9}, {"$3\r\nabc\r", 0},
        {"$-1\r\n", 5},       {"$0\r\n\r\n", 6},
        {"*0\r\n", 4},        {"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n+", 19},
        {"*2\r\n:1\r\n", 0},  {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        size_t at = 0;
        const int found = scan_text(cases[i].text, &at, NULL);
        assert_int_equal(found, cases[i].n > 0);
        if (found)
            assert_int_equal(at, cases[i].n);
    }
}

static void invalid_replies_are_refused_at_once(void **state)
{
    static const char *const cases[] = {"H",       "+OK\n",     ":x\r\n",           "$-2\r\n",
                                        "*-2\r\n", "$1\r\nxyz", "$99999999999\r\n", "*9999999\r\n",
                                        "%1\r\n"};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        size_t at;
        assert_true(scan_text(cases[i], &at, &err) < 0);
        assert_int_equal(err.reason, KC_INVALID);
    }
}

static void reply_tree_has_all_values(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    const kc_str text = KC_STR("*4\r\n$3\r\na\0b\r\n:-7\r\n-ERR no\r\n*2\r\n$-1\r\n+x\r\n");
    const resp_value v = resp_build(text, &arena);
    assert_int_equal(v.n, 4);
    assert_true(kc_str_eq(v.items[0].str, KC_STR("a\0b")));
    assert_int_equal(v.items[1].number, -7);
    assert_int_equal(v.items[2].type, RESP_ERROR);
    assert_int_equal(v.items[3].items[0].type, RESP_NIL);
    assert_str(v.items[3].items[1].str, "x");
}

static void command_may_have_any_bytes(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    resp_command(&out, REDIS_WORDS(KC_STR("SET"), KC_STR("a\r\n"), KC_STR("")));
    assert_str(kc_buf_str(&out), "*3\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$0\r\n\r\n");
}

/* ---- addresses ---- */

static void addresses_are_parsed(void **state)
{
    static const struct {
        const char *text, *place, *user, *password;
    } cases[] = {
        {"10.0.0.7:6379", "10.0.0.7:6379/0", NULL, NULL},
        {"db.example.com:1/3", "db.example.com:1/3", NULL, NULL},
        {"[::1]:6379/1", "[::1]:6379/1", NULL, NULL},
        {"redis://h:1", "h:1/0", NULL, NULL},
        {"redis://h:1/", "h:1/0", NULL, NULL},
        {"redis://:pw@h:1/2", "h:1/2", NULL, "pw"},
        {"redis://pw@h:1", "h:1/0", NULL, "pw"},
        {"redis://ada:p%40w%3a@h:1", "h:1/0", "ada", "p@w:"},
        {"redis://ada:p@w@h:1", "h:1/0", "ada", "p@w"},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(endpoint) e = {0};
        kc_scoped(kc_error) err = {0};
        OK(endpoint_parse(kc_cstr(cases[i].text), &e, &err), &err);
        assert_string_equal(e.place, cases[i].place);
        assert_string_equal(e.name, cases[i].place);
        assert_string_equal(e.user ? e.user : "", cases[i].user ? cases[i].user : "");
        assert_string_equal(e.password ? e.password : "",
                            cases[i].password ? cases[i].password : "");
    }
}

static void invalid_address_is_refused_without_repeating_it(void **state)
{
    static const char *const cases[] = {
        "pass-w0rd",
        "redis://pass-w0rd",
        "redis://:pass-w0rd",
        "pass-w0rd:0",
        "pass-w0rd:65536",
        "pass-w0rd:x",
        "h:1/pass-w0rd",
        ":1",
        "::1:6379",
        "http://pass-w0rd:80",
        "rediss://pass-w0rd:1",
        "redis://%zz@h:1",
        "redis://:%00pass-w0rd@h:1",
        "h:1/-1",
        "redis://:pass-w0rd%4@h:1",
        "redis://",
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(endpoint) e = {0};
        kc_scoped(kc_error) err = {0};
        assert_true(endpoint_parse(kc_cstr(cases[i]), &e, &err) < 0);
        assert_error(&err, KC_INVALID, "not an address of a Redis server");
        assert_null(strstr(kc_error_text(&err), "pass-w0rd"));
        assert_null(e.place);
    }
}

static void titles_have_no_passwords(void **state)
{
    static const char *const cases[][2] = {{"ali-123", "ali-123"},
                                           {"h:1/2", "h:1/2"},
                                           {"redis://:pw@h:1", "h:1/0"},
                                           {"redis://:pw", "(no address)"}};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *title = endpoint_title(kc_cstr(cases[i][0]));
        assert_string_equal(title, cases[i][1]);
    }
}

/* What a Secret and a ConfigMap named x say; "" for no such object. */
static int resolve(const char *secret, const char *config, endpoint *ret, kc_error *err)
{
    kc_auto(kc_testenv) *env = plane(1);
    const char *data[] = {secret, config}, *kinds[] = {"Secret", "ConfigMap"};
    for (size_t i = 0; i < 2; i++) {
        kc_autofree char *yaml = kc_asprintf(
            "apiVersion: v1\nkind: %s\nmetadata: {name: x, namespace: default}\n%s: {%s}\n",
            kinds[i], i ? "data" : "stringData", data[i]);
        if (*data[i])
            OK(kc_testenv_apply(env, kc_cstr(yaml), err), err);
    }
    return endpoint_resolve(kc_testenv_client(env), KC_STR("default"), KC_STR("x"), ret, err);
}

static void endpoint_name_is_resolved_from_secret_and_config_map(void **state)
{
    (void)state;
    kc_scoped(endpoint) e = {0};
    kc_scoped(kc_error) err = {0};
    OK(resolve("password: \"pw\\n\", username: ada", "address: 'h:1', db: '5'", &e, &err), &err);
    assert_string_equal(e.name, "x");
    assert_string_equal(e.place, "h:1/5");
    assert_string_equal(e.user, "ada");
    assert_string_equal(e.password, "pw");
}

static void incomplete_endpoint_is_reported(void **state)
{
    static const struct {
        const char *secret, *config, *message;
    } cases[] = {
        {"", "", "Redis x not found"},
        {"password: pw-of-x", "", "Secret or ConfigMap x has no key \"address\""},
        {"", "address: 'h:1', password: pw-of-x", "contains a password; use a Secret"},
        {"address: 'h'", "", "address in x: not an address"},
        {"address: 'h:1', db: two", "", "db in x is not a number"},
        {"address: 'h:1', username: ada", "", "x has a username but no password"},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(endpoint) e = {0};
        kc_scoped(kc_error) err = {0};
        assert_true(resolve(cases[i].secret, cases[i].config, &e, &err) < 0);
        assert_contains(kc_error_text(&err), cases[i].message);
        assert_null(strstr(kc_error_text(&err), "pw-of-x"));
    }
}

/* ---- connections ---- */

static redis *open_within(const redis_server *s, int64_t timeout)
{
    return redis_open(
        &(redis_opts){.host = "127.0.0.1", .port = (uint16_t)s->port, .timeout = timeout}, NULL);
}

static redis *open_with(const redis_server *s, const char *user, const char *password,
                        kc_error *err)
{
    return redis_open(&(redis_opts){.host = "127.0.0.1",
                                    .port = (uint16_t)s->port,
                                    .user = user,
                                    .password = password,
                                    .timeout = KC_MINUTE},
                      err);
}

static void assert_not_opened(const redis_server *s, const char *user, const char *password,
                              kc_reason reason, const char *message)
{
    kc_scoped(kc_error) err = {0};
    assert_null(open_with(s, user, password, &err));
    assert_error(&err, reason, message);
    assert_null(strstr(kc_error_text(&err), "pass-w0rd"));
}

static void wrong_password_is_refused_without_repeating_it(void **state)
{
    (void)state;
    redis_server locked = {.args = {"--requirepass", "right"}, .password = "right"};
    redis_server open = {.args = {NULL}};
    redis_server odd = {.args = {"--rename-command", "AUTH", "LETMEIN"}};
    redis_server_start(&locked);
    redis_server_start(&open);
    redis_server_start(&odd);
    redis_do(&locked, "ACL SETUSER ada on >lovelace +ping ~*");
    assert_not_opened(&locked, NULL, "pass-w0rd", KC_FORBIDDEN, "(WRONGPASS)");
    assert_not_opened(&locked, "ada", "pass-w0rd", KC_FORBIDDEN, "(WRONGPASS)");
    assert_not_opened(&open, NULL, "pass-w0rd", KC_FORBIDDEN,
                      "the server has no password, but one is configured");
    assert_not_opened(&odd, NULL, "pass-w0rd", KC_INVALID, "server refused AUTH (ERR)");
    kc_scoped(kc_error) err = {0};
    kc_auto(redis) *ada = open_with(&locked, "ada", "lovelace", &err);
    resp_value answer;
    OK(ada ? REDIS_CALL(ada, &answer, &err, KC_STR("PING")) : -1, &err);
    assert_true(REDIS_CALL(ada, &answer, &err, KC_STR("GET"), KC_STR("a")) < 0);
    assert_error(&err, KC_FORBIDDEN, "NOPERM");
    redis_server_stop(&locked);
    redis_server_stop(&open);
    redis_server_stop(&odd);
}

static void silent_server_times_out(void **state)
{
    (void)state;
    redis_server s = {.args = {NULL}};
    redis_server_start(&s);
    kc_auto(redis) *r = NULL;
    while (!r) /* The timeout is short, for what follows: a slow server may miss it here. */
        r = open_within(&s, 300 * KC_MILLISECOND);
    kc_scoped(kc_error) err = {0};
    resp_value answer;
    kill(s.pid, SIGSTOP);
    assert_true(REDIS_CALL(r, &answer, &err, KC_STR("PING")) < 0);
    assert_error(&err, KC_TIMEOUT, "timed out waiting for a reply");
    redis_server_kill(&s);
    assert_null(open_with(&s, NULL, NULL, &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "cannot connect: Connection refused");
    redis_server_stop(&s);
}

static void cancelled_read_returns_at_once(void **state)
{
    (void)state;
    redis_server s = {.args = {NULL}};
    redis_server_start(&s);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_auto(redis) *r = redis_open(
        &(redis_opts){.host = "127.0.0.1", .port = (uint16_t)s.port, .cancel = cancel}, NULL);
    kc_scoped(kc_error) err = {0};
    resp_value answer;
    kill(s.pid, SIGSTOP);
    kc_cancel_fire(cancel);
    assert_true(REDIS_CALL(r, &answer, &err, KC_STR("PING")) < 0);
    assert_error(&err, KC_TIMEOUT, "cancelled");
    redis_server_stop(&s);
}

static void pipelined_replies_come_in_order(void **state)
{
    enum { N = 5000 };
    (void)state;
    redis_server s = {.args = {NULL}};
    redis_server_start(&s);
    for (int i = 0; i < N; i++)
        REDIS_SEND(s.conn, KC_STR("INCR"), KC_STR("n"));
    for (int i = 0; i < N; i++) {
        resp_value answer;
        assert_int_equal(redis_read(s.conn, &answer, NULL), 0);
        assert_int_equal(answer.number, i + 1);
    }
    redis_server_stop(&s);
}

/* ---- comparing ---- */

static redis_server here, there;

static migration both(void)
{
    return (migration){.source = {"source", {.name = here.folder, .place = here.folder}, here.conn},
                       .dest = {"dest", {.name = there.folder, .place = there.folder}, there.conn}};
}

/* Two commands, for each server one; then the key k is looked at. */
static int compare(const char *at_source, const char *at_dest, const char **ret_why)
{
    const migration m = both();
    kc_scoped(kc_error) err = {0};
    redis_do(&here, "FLUSHALL");
    redis_do(&there, "FLUSHALL");
    redis_do(&here, at_source);
    redis_do(&there, at_dest);
    return OK(compare_key(&m, KC_STR("k"), ret_why, &err), &err);
}

static void values_are_compared_by_content(void **state)
{
    static const struct {
        const char *source, *dest, *why; /* NULL: the same. */
    } cases[] = {
        {"SET k v", "SET k v", NULL},
        {"SET k v", "SET k w", "has another value"},
        {"SET k v", "SET k vv", "has another value"},
        {"SET k v", "PING", "is missing"},
        {"SET k v", "RPUSH k v", "has another type"},
        {"SET k v", "SET k v EX 100", "expires at one of the servers only"},
        {"RPUSH k a b c", "RPUSH k a b c", NULL},
        {"RPUSH k a b c", "RPUSH k a c b", "has another value"},
        {"SADD k a b", "SADD k b a", NULL},
        {"SADD k a b", "SADD k a c", "has another value"},
        {"HSET k a 1 b 2", "HSET k b 2 a 1", NULL},
        {"HSET k a 1 b 2", "HSET k b 2 a 2", "has another value"},
        {"ZADD k 1.1 a 2 b", "ZADD k 2 b 1.1 a", NULL},
        {"ZADD k 1.1 a 2 b", "ZADD k 2.5 b 1.1 a", "has another value"},
        {"XADD k 1-1 f v", "XADD k 1-1 f v", NULL},
        {"XADD k 1-1 f v", "XADD k 1-2 f v", "has another value"},
    };
    (void)state;
    here = there = (redis_server){.args = {NULL}};
    redis_server_start(&here);
    redis_server_start(&there);
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        const char *why = "";
        const int result = compare(cases[i].source, cases[i].dest, &why);
        assert_int_equal(result, cases[i].why ? KEY_DIFFERENT : KEY_SAME);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
    }
    const char *why = "";
    assert_int_equal(compare("PING", "SET k v", &why), KEY_GONE);
    redis_server_stop(&here);
    redis_server_stop(&there);
}

static void keys_are_printed_escaped_and_truncated(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    key_print(&out, KC_STR("a\0\"\xff\nz"));
    assert_str(kc_buf_str(&out), "\"a\\x00\\x22\\xff\\x0az\"");
    char longer[100];
    memset(longer, 'x', sizeof(longer));
    kc_buf_clear(&out);
    key_print(&out, kc_str_of(longer, sizeof(longer)));
    assert_int_equal(out.n, 64 + 2 + strlen("…"));
}

static void newer_servers_read_dumps_of_older_ones(void **state)
{
    static const struct {
        const char *reader, *writer;
        bool reads;
    } cases[] = {
        {"7.0.15", "7.0.15", true}, {"7.2.4", "7.0.15", true}, {"7.0.15", "7.2.4", false},
        {"6.0.16", "6.2.1", true},  {"5.0.3", "6.2.14", true}, {"6.2.14", "7.0.0", false},
        {"4.0.14", "5.0.0", false}, {"8.0.1", "7.4.0", true},  {"3.2.0", "2.8.17", true},
        {"7.10.0", "7.4.1", true},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_int_equal(reads_dumps_of(kc_cstr(cases[i].reader), kc_cstr(cases[i].writer)),
                         cases[i].reads);
}

TESTS(replies_are_parsed_to_their_end, invalid_replies_are_refused_at_once,
      reply_tree_has_all_values, command_may_have_any_bytes, addresses_are_parsed,
      invalid_address_is_refused_without_repeating_it, titles_have_no_passwords,
      endpoint_name_is_resolved_from_secret_and_config_map, incomplete_endpoint_is_reported,
      wrong_password_is_refused_without_repeating_it, silent_server_times_out,
      cancelled_read_returns_at_once, pipelined_replies_come_in_order,
      values_are_compared_by_content, keys_are_printed_escaped_and_truncated,
      newer_servers_read_dumps_of_older_ones)
