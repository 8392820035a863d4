/* SPDX-License-Identifier: Apache-2.0 */
#include "etcd_process.h"

#include "tcp_proxy.h"

static etcd_cluster cluster;

static kc__etcd_reply *range_of(kc__etcd *etcd, const kc__etcd_range_request *range)
{
    return etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE, .range = *range});
}

static void put_value_is_read(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    const int64_t revision = etcd_put(etcd, "read/a", KC_STR("value"));
    kc_auto(kc__etcd_reply) *reply =
        range_of(etcd, &(kc__etcd_range_request){.key = KC_STR("read/a")});
    assert_int_equal(reply->range->kvs.n, 1);
    assert_str(reply->range->kvs.items[0].value, "value");
    assert_int_equal(reply->range->kvs.items[0].mod_revision, revision);
    assert_int_equal(reply->revision, revision);
}

static void range_selects_by_prefix_limit_and_revision(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_scoped(kc_arena) arena = {0};
    const int64_t first = etcd_put(etcd, "range/a", KC_STR("1"));
    etcd_put(etcd, "range/b", KC_STR("2"));
    etcd_put(etcd, "range/c", KC_STR("3"));
    kc__etcd_range_request range = {.key = KC_STR("range/"),
                                    .range_end = kc__etcd_prefix_end(&arena, KC_STR("range/"))};
    range.limit = 2;
    kc_auto(kc__etcd_reply) *page = range_of(etcd, &range);
    assert_int_equal(page->range->kvs.n, 2);
    assert_true(page->range->more);
    assert_int_equal(page->range->count, 3);
    range.revision = first;
    kc_auto(kc__etcd_reply) *past = range_of(etcd, &range);
    assert_int_equal(past->range->kvs.n, 1);
    range = (kc__etcd_range_request){.key = range.key, .range_end = range.range_end};
    range.count_only = true;
    kc_auto(kc__etcd_reply) *count = range_of(etcd, &range);
    assert_int_equal(count->range->count, 3);
    assert_int_equal(count->range->kvs.n, 0);
    range.count_only = false;
    range.keys_only = range.serializable = true;
    kc_auto(kc__etcd_reply) *keys = range_of(etcd, &range);
    assert_int_equal(keys->range->kvs.n, 3);
    assert_str(keys->range->kvs.items[2].key, "range/c");
    assert_int_equal(keys->range->kvs.items[2].value.n, 0);
}

static void prefix_end_is_the_next_prefix(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_str(kc__etcd_prefix_end(&arena, KC_STR("a/")), "a0");
    assert_str(kc__etcd_prefix_end(&arena, KC_STR("a\xff\xff")), "b");
    assert_true(kc_str_eq(kc__etcd_prefix_end(&arena, KC_STR("\xff")), KC_STR("\0")));
    assert_true(kc_str_eq(kc__etcd_prefix_end(&arena, KC_STR("")), KC_STR("\0")));
}

/* Creates the key if its mod_revision is the expected one; otherwise reads it. */
static kc__etcd_reply *compare_and_put(kc__etcd *etcd, const char *key, int64_t expected,
                                       const char *value)
{
    const kc__etcd_compare compare = {
        .target = KC__ETCD_COMPARE_MOD, .key = kc_cstr(key), .mod_revision = expected};
    const kc__etcd_put_request put = {.key = kc_cstr(key), .value = kc_cstr(value)};
    const kc__etcd_range_request get = {.key = kc_cstr(key)};
    const kc__etcd_request_op success = {.put = &put}, failure = {.range = &get};
    return etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_TXN,
                                             .txn = {.compare = {&compare, 1},
                                                     .success = {&success, 1},
                                                     .failure = {&failure, 1}}});
}

static void txn_stores_only_if_the_revision_is_expected(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_auto(kc__etcd_reply) *created = compare_and_put(etcd, "txn/a", 0, "1");
    assert_true(created->txn->succeeded);
    kc_auto(kc__etcd_reply) *conflict = compare_and_put(etcd, "txn/a", 0, "2");
    assert_false(conflict->txn->succeeded);
    const kc__etcd_range_response *current = conflict->txn->responses.items[0].range;
    assert_non_null(current);
    assert_str(current->kvs.items[0].value, "1");
    assert_int_equal(current->kvs.items[0].mod_revision, created->revision);
    kc_auto(kc__etcd_reply) *updated = compare_and_put(etcd, "txn/a", created->revision, "2");
    assert_true(updated->txn->succeeded);
}

static bool compares(kc__etcd *etcd, kc__etcd_compare compare)
{
    kc_auto(kc__etcd_reply) *reply = etcd_do(
        etcd, &(kc__etcd_request){.method = KC__ETCD_TXN, .txn = {.compare = {&compare, 1}}});
    return reply->txn->succeeded;
}

static void txn_compares_value_version_and_creation(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    const int64_t created = etcd_put(etcd, "compare", KC_STR("x"));
    const kc_str key = KC_STR("compare");
    etcd_put(etcd, "compare", KC_STR("y"));
    assert_true(compares(
        etcd,
        (kc__etcd_compare){.target = KC__ETCD_COMPARE_VALUE, .key = key, .value = KC_STR("y")}));
    assert_false(compares(
        etcd,
        (kc__etcd_compare){.target = KC__ETCD_COMPARE_VALUE, .key = key, .value = KC_STR("")}));
    assert_true(compares(
        etcd, (kc__etcd_compare){.target = KC__ETCD_COMPARE_VERSION, .key = key, .version = 2}));
    assert_true(compares(etcd, (kc__etcd_compare){.target = KC__ETCD_COMPARE_CREATE,
                                                  .key = key,
                                                  .create_revision = created}));
    assert_false(compares(etcd, (kc__etcd_compare){.target = KC__ETCD_COMPARE_CREATE,
                                                   .result = KC__ETCD_GREATER,
                                                   .key = key,
                                                   .create_revision = created}));
}

static void delete_range_returns_previous_values(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    etcd_put(etcd, "delete/a", KC_STR("1"));
    etcd_put(etcd, "delete/b", KC_STR("2"));
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_DELETE_RANGE,
                                          .delete_range = {.key = KC_STR("delete/"),
                                                           .range_end = KC_STR("delete0"),
                                                           .prev_kv = true}});
    assert_int_equal(reply->delete_range->deleted, 2);
    assert_int_equal(reply->delete_range->prev_kvs.n, 2);
    assert_str(reply->delete_range->prev_kvs.items[1].value, "2");
}

static void assert_fails(kc__etcd *etcd, const kc__etcd_request *request, kc__etcd_code code,
                         kc_reason reason, const char *text)
{
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(etcd, request);
    assert_int_equal(reply->code, code);
    assert_error(&reply->err, reason, text);
    assert_false(reply->unknown_outcome);
}

static void compacted_and_future_revisions_return_different_errors(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    const int64_t old = etcd_put(etcd, "compact", KC_STR("1"));
    const int64_t now = etcd_put(etcd, "compact", KC_STR("2"));
    kc_auto(kc__etcd_reply) *compacted =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_COMPACT,
                                          .compact = {.revision = now, .physical = true}});
    assert_true(compacted->revision >= now);
    kc__etcd_request request = {.method = KC__ETCD_RANGE,
                                .range = {.key = KC_STR("compact"), .revision = old}};
    assert_fails(etcd, &request, KC__ETCD_COMPACTED, KC_EXPIRED,
                 "KV/Range: etcdserver: mvcc: requ");
    request.range.revision = now + 1000;
    assert_fails(etcd, &request, KC__ETCD_FUTURE_REVISION, KC_BAD_REQUEST, "future revision");
    request.range = (kc__etcd_range_request){0};
    assert_fails(etcd, &request, KC__ETCD_INVALID, KC_BAD_REQUEST, "key is not provided");
}

static void lease_is_kept_alive_and_revoked_with_its_keys(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_auto(kc__etcd_reply) *grant = etcd_do(
        etcd, &(kc__etcd_request){.method = KC__ETCD_LEASE_GRANT, .lease_grant = {.ttl = 300}});
    const int64_t id = grant->lease_grant->id;
    assert_true(id != 0);
    kc__etcd_reply_free(
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_PUT,
                                          .put = {.key = KC_STR("leased"), .lease = id}}));
    const kc__etcd_request alive = {.method = KC__ETCD_LEASE_KEEP_ALIVE, .lease_keep_alive = {id}};
    kc_auto(kc__etcd_reply) *kept = etcd_do(etcd, &alive);
    assert_int_equal(kept->lease_keep_alive->ttl, 300);
    const kc__etcd_request time_to_live = {.method = KC__ETCD_LEASE_TIME_TO_LIVE,
                                           .lease_time_to_live = {.id = id, .keys = true}};
    kc_auto(kc__etcd_reply) *left = etcd_do(etcd, &time_to_live);
    assert_int_equal(left->lease_time_to_live->granted_ttl, 300);
    assert_int_equal(left->lease_time_to_live->keys.n, 1);
    assert_str(left->lease_time_to_live->keys.items[0], "leased");
    const kc__etcd_request revoke = {.method = KC__ETCD_LEASE_REVOKE, .lease_revoke = {id}};
    kc__etcd_reply_free(etcd_do(etcd, &revoke));
    kc_auto(kc__etcd_reply) *gone =
        range_of(etcd, &(kc__etcd_range_request){.key = KC_STR("leased")});
    assert_int_equal(gone->range->kvs.n, 0);
    assert_fails(etcd, &revoke, KC__ETCD_LEASE_NOT_FOUND, KC_NOT_FOUND, "lease not found");
    assert_fails(etcd, &alive, KC__ETCD_LEASE_NOT_FOUND, KC_NOT_FOUND, "lease not found");
    assert_fails(etcd, &time_to_live, KC__ETCD_LEASE_NOT_FOUND, KC_NOT_FOUND, "lease not found");
}

static void status_and_members_describe_the_server(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_auto(kc__etcd_reply) *status = etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_STATUS});
    assert_true(kc_str_starts(status->status->version, KC_STR("3.")));
    assert_true(status->status->db_size > 0);
    assert_int_equal(status->status->leader, status->status->header->member_id);
    kc_auto(kc__etcd_reply) *list =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_MEMBER_LIST});
    assert_int_equal(list->member_list->members.n, 1);
    assert_str(list->member_list->members.items[0].name, cluster.members[0].name);
    assert_str(list->member_list->members.items[0].client_urls.items[0], cluster.members[0].url);
}

static void large_values_pass_and_too_large_ones_are_refused(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    const size_t n = (size_t)2 << 20;
    kc_autofree char *bytes = kc_alloc(n);
    memset(bytes, 'x', n);
    etcd_put(etcd, "large", kc_str_of(bytes, (size_t)1 << 20));
    kc_auto(kc__etcd_reply) *reply =
        range_of(etcd, &(kc__etcd_range_request){.key = KC_STR("large")});
    assert_int_equal(reply->range->kvs.items[0].value.n, (size_t)1 << 20);
    assert_fails(etcd,
                 &(kc__etcd_request){.method = KC__ETCD_PUT,
                                     .put = {.key = KC_STR("large"), .value = {bytes, n}}},
                 KC__ETCD_TOO_LARGE, KC_TOO_LARGE, "");
}

/* ---- asynchronous calls ---- */

typedef struct calls {
    kc_latch left;
    _Atomic size_t ok, cancelled;
} calls;

static void count_call(kc__etcd_reply *reply, void *user)
{
    calls *c = user;
    c->ok += reply->code == KC__ETCD_OK;
    c->cancelled += reply->code == KC__ETCD_CANCELLED;
    kc__etcd_reply_free(reply);
    kc_latch_count_down(&c->left);
}

static void calls_started_together_all_end(void **state)
{
    (void)state;
    enum { N = 500 };
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    calls c = {0};
    kc_latch_init(&c.left);
    kc_latch_add(&c.left, N);
    for (int i = 0; i < N; i++)
        kc__etcd_call_start(
            etcd, &(kc__etcd_request){.method = KC__ETCD_PUT, .put = {.key = KC_STR("together")}},
            count_call, &c);
    kc_latch_wait(&c.left);
    kc_latch_done(&c.left);
    assert_int_equal(c.ok, N);
}

static void close_cancels_calls_that_wait(void **state)
{
    (void)state;
    enum { N = 10 };
    /* A port without a server: the calls wait for a connection. */
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", free_port());
    kc__etcd *etcd = etcd_client_of(&cluster, (const char *const[]){url}, 1);
    calls c = {0};
    kc_latch_init(&c.left);
    kc_latch_add(&c.left, N);
    for (int i = 0; i < N; i++)
        kc__etcd_call_start(etcd, &(kc__etcd_request){.method = KC__ETCD_STATUS}, count_call, &c);
    kc__etcd_close(etcd);
    kc_latch_wait(&c.left);
    kc_latch_done(&c.left);
    assert_int_equal(c.cancelled, N);
}

/* Whether it was sent. Nobody answers. */
static bool put_into_silence(kc__etcd *etcd, int64_t timeout)
{
    const kc__etcd_request put = {.method = KC__ETCD_PUT,
                                  .timeout = timeout,
                                  .put = {.key = KC_STR("silence"), .value = KC_STR("2")}};
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(etcd, &put);
    assert_int_equal(reply->code, KC__ETCD_TIMEOUT);
    return reply->unknown_outcome;
}

/* The outcome of one that was not sent in time is known. */
static void write_into_silence_times_out_with_unknown_outcome(void **state)
{
    (void)state;
    kc_auto(tcp_proxy) *proxy = tcp_proxy_start(cluster.members[0].port);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", proxy->port);
    kc_auto(kc__etcd) *etcd = etcd_client_of(&cluster, (const char *const[]){url}, 1);
    etcd_put(etcd, "silence", KC_STR("1"));
    tcp_proxy_freeze(proxy, true);
    int64_t timeout = 300 * KC_MILLISECOND;
    while (!put_into_silence(etcd, timeout)) {
        timeout *= 3;
        assert_true(timeout < KC_MINUTE);
    }
    tcp_proxy_freeze(proxy, false);
    kc_auto(kc__etcd_reply) *later =
        range_of(etcd, &(kc__etcd_range_request){.key = KC_STR("silence")});
    assert_int_equal(later->range->kvs.n, 1);
}

static void reads_survive_lost_connections(void **state)
{
    (void)state;
    kc_auto(tcp_proxy) *proxy = tcp_proxy_start(cluster.members[0].port);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", proxy->port);
    kc_auto(kc__etcd) *etcd = etcd_client_of(&cluster, (const char *const[]){url}, 1);
    for (int i = 0; i < 20; i++) {
        tcp_proxy_cut_after(proxy, 20 * i);
        kc_auto(kc__etcd_reply) *reply =
            range_of(etcd, &(kc__etcd_range_request){.key = KC_STR("a"), .range_end = KC_STR("z")});
        assert_true(reply->revision > 0);
    }
    assert_true(proxy->accepted > 1);
}

static void unreachable_server_is_reported_at_the_deadline(void **state)
{
    (void)state;
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", free_port());
    kc_auto(kc__etcd) *etcd = etcd_client_of(&cluster, (const char *const[]){url}, 1);
    const kc__etcd_request put = {
        .method = KC__ETCD_PUT, .timeout = 200 * KC_MILLISECOND, .put = {.key = KC_STR("a")}};
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(etcd, &put);
    assert_int_equal(reply->code, KC__ETCD_TIMEOUT);
    assert_false(reply->unknown_outcome);
}

static void metrics_count_calls_and_failures(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(kc_buf) text = {0};
    etcd_cluster measured = cluster;
    measured.opts.metrics = metrics;
    kc_auto(kc__etcd) *etcd = etcd_client(&measured);
    etcd_put(etcd, "measured", KC_STR(""));
    kc__etcd_reply_free(kc__etcd_call(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE}));
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text),
                    "etcd_client_request_duration_seconds_count{method=\"KV/Put\"} 1");
    assert_contains(kc_buf_cstr(&text),
                    "etcd_client_request_failures_total{method=\"KV/Range\",code=\"invalid\"} 1");
    etcd = kc__etcd_close(etcd);
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const char *url = "ftp://nowhere";
    assert_null(kc__etcd_open(&(kc__etcd_opts){.endpoints = &url, .n_endpoints = 1}, &err));
    assert_true(err.reason != KC_OK);
}

ETCD_TESTS(cluster, put_value_is_read, range_selects_by_prefix_limit_and_revision,
           prefix_end_is_the_next_prefix, txn_stores_only_if_the_revision_is_expected,
           txn_compares_value_version_and_creation, delete_range_returns_previous_values,
           compacted_and_future_revisions_return_different_errors,
           lease_is_kept_alive_and_revoked_with_its_keys, status_and_members_describe_the_server,
           large_values_pass_and_too_large_ones_are_refused, calls_started_together_all_end,
           close_cancels_calls_that_wait, write_into_silence_times_out_with_unknown_outcome,
           reads_survive_lost_connections, unreachable_server_is_reported_at_the_deadline,
           metrics_count_calls_and_failures, invalid_options_are_refused)
