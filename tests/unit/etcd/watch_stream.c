/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches over connections that break and stall: a proxy before a real etcd cuts or freezes them.
 */
#include "etcd_watch_testing.h"

#include "kc/rand.h"
#include "tcp_proxy.h"

static etcd_cluster cluster;

/* A client that reaches etcd through a proxy, and one that does not. */
typedef struct fixture {
    tcp_proxy *proxy;
    char url[64];
    kc__etcd *etcd, *direct;
    watch_record record;
} fixture;

static void fixture_init(fixture *f, const kc__etcd_opts *opts)
{
    etcd_cluster through = cluster;
    through.opts = *opts;
    f->proxy = tcp_proxy_start(cluster.members[0].port);
    snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%d", f->proxy->port);
    f->etcd = etcd_client_of(&through, (const char *const[]){f->url}, 1);
    f->direct = etcd_client(&cluster);
    watch_record_init(&f->record);
}

static void fixture_done(fixture *f)
{
    kc__etcd_close(f->etcd);
    kc__etcd_close(f->direct);
    tcp_proxy_free(f->proxy);
    watch_record_done(&f->record);
}

/* Keys 0 to n - 1 in order, once each. */
static void assert_all_keys(watch_record *r, const char *prefix, size_t n)
{
    kc_scoped(kc_buf) expected = {0};
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&expected, "%s%s/%04zu", i ? " " : "", prefix, i);
    assert_string_equal(kc_buf_cstr(&r->keys), kc_buf_cstr(&expected));
    assert_int_equal(r->n_events, n);
    assert_false(r->disorder);
}

static int64_t put_numbered(kc__etcd *etcd, const char *prefix, size_t i, kc_str value)
{
    char key[64];
    snprintf(key, sizeof(key), "%s/%04zu", prefix, i);
    return etcd_put(etcd, key, value);
}

static void events_arrive_once_over_connections_that_break(void **state)
{
    (void)state;
    enum { N = 400 };
    fixture f;
    fixture_init(&f, &(kc__etcd_opts){0});
    f.record.keys_only = true;
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    const int64_t start = put_numbered(f.direct, "break", 0, KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(f.etcd, &f.record,
                                               &(kc__etcd_watch_opts){.key = KC_STR("break/"),
                                                                      .range_end = KC_STR("break0"),
                                                                      .start_revision = start});
    for (size_t i = 1; i < N; i++) {
        put_numbered(f.direct, "break", i, KC_STR("0123456789"));
        if (i % 20 == 0)
            tcp_proxy_cut_after(f.proxy, (int64_t)kc_rand_below(&rand, 600));
    }
    watch_record_await(&f.record, N);
    kc__etcd_watch_stop(watch);
    assert_all_keys(&f.record, "break", N);
    assert_true(f.proxy->accepted > 1);
    fixture_done(&f);
}

/* One revision of several megabytes, whose fragments are cut at many places. */
static void fragments_arrive_once_over_connections_that_break(void **state)
{
    (void)state;
    enum { N = 80, SIZE = 100000 };
    kc_autofree char *value = kc_alloc(SIZE);
    memset(value, 'v', SIZE);
    size_t partial = 0;
    for (int round = 0; round < SEEDS_OF(6); round++) {
        fixture f;
        fixture_init(&f, &(kc__etcd_opts){0});
        f.record.keys_only = true;
        int64_t last = 0;
        for (size_t i = 0; i < N; i++)
            last = put_numbered(f.direct, "cut", i, kc_str_of(value, SIZE));
        kc__etcd_watch *watch =
            watch_record_start(f.etcd, &f.record,
                               &(kc__etcd_watch_opts){.key = KC_STR("cut/"),
                                                      .range_end = KC_STR("cut0"),
                                                      .start_revision = last + 1,
                                                      .prev_kv = true,
                                                      .fragment = true});
        const int64_t unwatched = etcd_put(f.direct, "unwatched", KC_STR(""));
        if (!kc__etcd_watch_await(watch, unwatched))
            etcd_await(watch_record_get(&f.record, progress) >= unwatched);
        tcp_proxy_cut_after(f.proxy, 2500000 + round * 1000000);
        kc__etcd_reply_free(
            etcd_do(f.direct, &(kc__etcd_request){.method = KC__ETCD_DELETE_RANGE,
                                                  .delete_range = {.key = KC_STR("cut/"),
                                                                   .range_end = KC_STR("cut0")}}));
        watch_record_await(&f.record, N);
        kc__etcd_watch_stop(watch);
        assert_all_keys(&f.record, "cut", N);
        partial += f.record.n_partial;
        assert_true(f.proxy->accepted > 1);
        fixture_done(&f);
    }
    assert_true(partial > 0);
}

static void stalled_stream_is_resumed(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, &(kc__etcd_opts){.keepalive_time = 200 * KC_MILLISECOND,
                                      .keepalive_timeout = 500 * KC_MILLISECOND,
                                      .connect_timeout = KC_SECOND});
    f.record.keys_only = true;
    const int64_t start = put_numbered(f.direct, "stall", 0, KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(f.etcd, &f.record,
                                               &(kc__etcd_watch_opts){.key = KC_STR("stall/"),
                                                                      .range_end = KC_STR("stall0"),
                                                                      .start_revision = start});
    watch_record_await(&f.record, 1);
    tcp_proxy_freeze(f.proxy, true);
    put_numbered(f.direct, "stall", 1, KC_STR(""));
    /* The client gives up the silent connection, and tries others, which are silent as well. */
    const size_t before = f.proxy->accepted;
    etcd_await(f.proxy->accepted > before);
    assert_int_equal(watch_record_get(&f.record, n_events), 1);
    tcp_proxy_freeze(f.proxy, false);
    put_numbered(f.direct, "stall", 2, KC_STR(""));
    watch_record_await(&f.record, 3);
    kc__etcd_watch_stop(watch);
    assert_all_keys(&f.record, "stall", 3);
    fixture_done(&f);
}

static void stalled_endpoint_is_left_for_another(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, &(kc__etcd_opts){0});
    kc__etcd_close(f.etcd);
    etcd_cluster impatient = cluster;
    impatient.opts = (kc__etcd_opts){.keepalive_time = 200 * KC_MILLISECOND,
                                     .keepalive_timeout = 500 * KC_MILLISECOND,
                                     .connect_timeout = KC_SECOND};
    tcp_proxy *other = tcp_proxy_start(cluster.members[0].port);
    char other_url[64];
    snprintf(other_url, sizeof(other_url), "http://127.0.0.1:%d", other->port);
    f.etcd = etcd_client_of(&impatient, (const char *const[]){f.url, other_url}, 2);
    f.record.keys_only = true;
    const int64_t start = put_numbered(f.direct, "leave", 0, KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(f.etcd, &f.record,
                                               &(kc__etcd_watch_opts){.key = KC_STR("leave/"),
                                                                      .range_end = KC_STR("leave0"),
                                                                      .start_revision = start});
    watch_record_await(&f.record, 1);
    /* Whichever endpoint the stream uses: each of them stalls once, for good or for a while. */
    tcp_proxy_freeze(f.proxy, true);
    put_numbered(f.direct, "leave", 1, KC_STR(""));
    watch_record_await(&f.record, 2);
    tcp_proxy_freeze(f.proxy, false);
    tcp_proxy_freeze(other, true);
    put_numbered(f.direct, "leave", 2, KC_STR(""));
    watch_record_await(&f.record, 3);
    kc__etcd_watch_stop(watch);
    assert_all_keys(&f.record, "leave", 3);
    fixture_done(&f);
    tcp_proxy_free(other);
}

static void compaction_during_an_outage_is_reported(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, &(kc__etcd_opts){.keepalive_time = 200 * KC_MILLISECOND,
                                      .keepalive_timeout = 300 * KC_MILLISECOND,
                                      .connect_timeout = KC_SECOND});
    f.record.keys_only = true;
    const int64_t start = put_numbered(f.direct, "outage", 0, KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(
        f.etcd, &f.record,
        &(kc__etcd_watch_opts){
            .key = KC_STR("outage/"), .range_end = KC_STR("outage0"), .start_revision = start});
    watch_record_await(&f.record, 1);
    tcp_proxy_freeze(f.proxy, true);
    tcp_proxy_cut(f.proxy);
    put_numbered(f.direct, "outage", 1, KC_STR(""));
    const int64_t now = put_numbered(f.direct, "outage", 2, KC_STR(""));
    kc__etcd_reply_free(etcd_do(
        f.direct, &(kc__etcd_request){.method = KC__ETCD_COMPACT, .compact = {.revision = now}}));
    tcp_proxy_freeze(f.proxy, false);
    etcd_await(watch_record_get(&f.record, compacted) == now);
    kc__etcd_watch_stop(watch);
    assert_all_keys(&f.record, "outage", 1);
    fixture_done(&f);
}

static void watch_starts_before_the_server_can_be_reached(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, &(kc__etcd_opts){.connect_timeout = KC_SECOND});
    f.record.keys_only = true;
    tcp_proxy_freeze(f.proxy, true);
    tcp_proxy_cut(f.proxy);
    const int64_t start = put_numbered(f.direct, "early", 0, KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(f.etcd, &f.record,
                                               &(kc__etcd_watch_opts){.key = KC_STR("early/"),
                                                                      .range_end = KC_STR("early0"),
                                                                      .start_revision = start});
    tcp_proxy_freeze(f.proxy, false);
    watch_record_await(&f.record, 1);
    kc__etcd_watch_stop(watch);
    fixture_done(&f);
}

/* Keepalive does not do it. */
static void awaited_progress_moves_the_watch_from_a_silent_member(void **state)
{
    (void)state;
    tcp_proxy *proxies[] = {tcp_proxy_start(cluster.members[0].port),
                            tcp_proxy_start(cluster.members[0].port)};
    char urls[2][64];
    for (int i = 0; i < 2; i++)
        snprintf(urls[i], sizeof(urls[i]), "http://127.0.0.1:%d", proxies[i]->port);
    etcd_cluster through = cluster;
    through.opts = (kc__etcd_opts){.keepalive_time = KC_HOUR};
    kc__etcd *etcd = etcd_client_of(&through, (const char *const[]){urls[0], urls[1]}, 2);
    kc__etcd *direct = etcd_client(&cluster);
    watch_record record;
    watch_record_init(&record);
    const int64_t start = etcd_put(direct, "silent", KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &record, &(kc__etcd_watch_opts){.key = KC_STR("silent"), .start_revision = start});
    watch_record_await(&record, 1);
    for (size_t i = 0; i < 2; i++) { /* The stream is on one of the two. */
        tcp_proxy_freeze(proxies[i], true);
        kc__etcd_watch_await(watch, etcd_put(direct, "silent", KC_STR("")));
        watch_record_await(&record, i + 2);
        tcp_proxy_freeze(proxies[i], false);
    }
    assert_false(record.disorder);
    kc__etcd_watch_stop(watch);
    kc__etcd_close(etcd);
    kc__etcd_close(direct);
    tcp_proxy_free(proxies[0]);
    tcp_proxy_free(proxies[1]);
    watch_record_done(&record);
}

ETCD_TESTS(cluster, events_arrive_once_over_connections_that_break,
           fragments_arrive_once_over_connections_that_break, stalled_stream_is_resumed,
           stalled_endpoint_is_left_for_another, compaction_during_an_outage_is_reported,
           watch_starts_before_the_server_can_be_reached,
           awaited_progress_moves_the_watch_from_a_silent_member)
