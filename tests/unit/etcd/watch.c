/* SPDX-License-Identifier: Apache-2.0 */
#include "etcd_watch_testing.h"

static etcd_cluster cluster;

static void put(kc__etcd *etcd, const char *key, const char *value)
{
    etcd_put(etcd, key, kc_cstr(value));
}

static int64_t delete_range(kc__etcd *etcd, const char *key, const char *end)
{
    kc_auto(kc__etcd_reply) *reply = etcd_do(
        etcd,
        &(kc__etcd_request){.method = KC__ETCD_DELETE_RANGE,
                            .delete_range = {.key = kc_cstr(key), .range_end = kc_cstr(end)}});
    return reply->revision;
}

static void events_arrive_in_order(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    const int64_t start = etcd_put(etcd, "order/a", KC_STR("1"));
    kc__etcd_watch *watch = watch_record_start(etcd, &r,
                                               &(kc__etcd_watch_opts){.key = KC_STR("order/"),
                                                                      .range_end = KC_STR("order0"),
                                                                      .start_revision = start,
                                                                      .prev_kv = true});
    put(etcd, "order/b", "2");
    put(etcd, "order/a", "3");
    put(etcd, "other/a", "4");
    delete_range(etcd, "order/b", "");
    watch_record_await(&r, 4);
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT order/a=1 PUT order/b=2 PUT order/a=3(was 1) DELETE order/b(was 2)");
    watch_record_done(&r);
}

static void history_is_delivered_to_a_late_watch(void **state)
{
    (void)state;
    enum { N = 2500 };
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    r.keys_only = true;
    const int64_t start = etcd_put(etcd, "history", KC_STR(""));
    int64_t last = 0;
    for (int i = 1; i < N; i++)
        last = etcd_put(etcd, "history", KC_STR("x"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("history"), .start_revision = start});
    watch_record_await(&r, N);
    kc__etcd_watch_stop(watch);
    assert_int_equal(r.n_events, N);
    assert_int_equal(r.complete, last);
    assert_false(r.disorder);
    watch_record_done(&r);
}

static void watches_share_a_stream_and_get_their_own_events(void **state)
{
    (void)state;
    enum { N = 100 };
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(kc_buf) text = {0};
    etcd_cluster measured = cluster;
    measured.opts.metrics = metrics;
    kc__etcd *etcd = etcd_client(&measured);
    watch_record *records = kc_calloc(N, sizeof(*records));
    kc__etcd_watch *watches[N];
    char keys[N][32];
    const int64_t start = etcd_put(etcd, "share", KC_STR(""));
    for (int i = 0; i < N; i++) {
        snprintf(keys[i], sizeof(keys[i]), "share/%d", i);
        watch_record_init(&records[i]);
        watches[i] = watch_record_start(
            etcd, &records[i],
            &(kc__etcd_watch_opts){.key = kc_cstr(keys[i]), .start_revision = start});
    }
    for (int i = 0; i < N; i++)
        put(etcd, keys[i], "v");
    for (int i = 0; i < N; i++)
        watch_record_await(&records[i], 1);
    for (int i = 0; i < N; i++) {
        kc_autofree char *expected = kc_asprintf("PUT share/%d=v", i);
        kc__etcd_watch_stop(watches[i]);
        assert_recorded(&records[i], expected);
        watch_record_done(&records[i]);
    }
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "etcd_client_watch_streams_total 1\n");
    assert_contains(kc_buf_cstr(&text), "etcd_client_watch_events_total 100\n");
    free(records);
    kc__etcd_close(etcd);
}

static void watch_without_start_delivers_what_comes_later(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    put(etcd, "now", "before");
    kc__etcd_watch *watch =
        watch_record_start(etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("now")});
    /* The watch begins at some time: what is put after its first event is delivered. */
    etcd_await((put(etcd, "now", "x"), watch_record_get(&r, n_events) > 0));
    const size_t seen = watch_record_get(&r, n_events);
    put(etcd, "now", "after");
    watch_record_await(&r, seen + 1);
    etcd_await(watch_record_ends(&r, "=after"));
    kc__etcd_watch_stop(watch);
    assert_false(kc_str_contains(kc_buf_str(&r.line), KC_STR("before")));
    assert_false(r.disorder);
    watch_record_done(&r);
}

static void start_in_the_future_waits_for_the_revision(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    const int64_t now = etcd_put(etcd, "future", KC_STR("0"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("future"), .start_revision = now + 3});
    put(etcd, "future", "1");
    put(etcd, "future", "2");
    put(etcd, "future", "3");
    watch_record_await(&r, 1);
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT future=3");
    watch_record_done(&r);
}

static void compacted_start_ends_the_watch(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    const int64_t old = etcd_put(etcd, "compacted", KC_STR("1"));
    const int64_t now = etcd_put(etcd, "compacted", KC_STR("2"));
    kc__etcd_reply_free(etcd_do(
        etcd, &(kc__etcd_request){.method = KC__ETCD_COMPACT, .compact = {.revision = now}}));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("compacted"), .start_revision = old});
    etcd_await(watch_record_get(&r, compacted) > 0);
    /* An ended watch gets nothing more; the client goes on. */
    put(etcd, "compacted", "3");
    assert_false(kc__etcd_watch_await(watch, now));
    kc__etcd_watch_stop(watch);
    assert_int_equal(r.compacted, now);
    assert_recorded(&r, "");
    assert_false(r.failed);
    watch_record_done(&r);
}

static void awaited_revision_is_reported_without_events(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    const int64_t start = etcd_put(etcd, "await/a", KC_STR("1"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("await/a"), .start_revision = start});
    int64_t revision = 0;
    for (int i = 0; i < 20; i++) {
        revision = etcd_put(etcd, "unwatched", KC_STR(""));
        if (!kc__etcd_watch_await(watch, revision))
            etcd_await(watch_record_get(&r, progress) >= revision);
        assert_int_equal(watch_record_get(&r, n_events), 1);
    }
    assert_true(kc__etcd_watch_await(watch, revision));
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT await/a=1");
    watch_record_done(&r);
}

static void awaited_revision_comes_after_its_events(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    r.keys_only = true;
    const int64_t start = etcd_put(etcd, "after", KC_STR(""));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("after"), .start_revision = start});
    for (size_t i = 2; i < 50; i++) {
        const int64_t revision = etcd_put(etcd, "after", KC_STR(""));
        if (!kc__etcd_watch_await(watch, revision))
            etcd_await(watch_record_get(&r, progress) >= revision);
        assert_int_equal(watch_record_get(&r, n_events), i);
    }
    kc__etcd_watch_stop(watch);
    assert_false(r.disorder);
    watch_record_done(&r);
}

typedef struct slow_watcher {
    kc_latch entered, released;
    _Atomic bool returned, reported, early;
} slow_watcher;

static void block_in_callback(const kc__etcd_batch *batch, void *user)
{
    slow_watcher *s = user;
    (void)batch;
    kc_latch_count_down(&s->entered);
    kc_latch_wait(&s->released);
    s->returned = true;
}

static void note_report(int64_t revision, void *user)
{
    slow_watcher *s = user;
    (void)revision;
    s->early = s->early || !s->returned;
    s->reported = true;
}

static void revision_is_not_reached_while_its_callback_runs(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    slow_watcher s = {0};
    kc_latch *latches[] = {&s.entered, &s.released};
    for (size_t i = 0; i < KC_COUNT(latches); i++) {
        kc_latch_init(latches[i]);
        kc_latch_add(latches[i], 1);
    }
    const int64_t revision = etcd_put(etcd, "slow", KC_STR(""));
    kc__etcd_watch *watch =
        kc__etcd_watch_start(etcd, &(kc__etcd_watch_opts){.key = KC_STR("slow"),
                                                          .start_revision = revision,
                                                          .events = block_in_callback,
                                                          .progress = note_report,
                                                          .user = &s});
    kc_latch_wait(&s.entered);
    assert_false(kc__etcd_watch_await(watch, revision));
    kc_latch_count_down(&s.released);
    etcd_await(s.reported);
    assert_false(s.early);
    assert_true(kc__etcd_watch_await(watch, revision));
    kc__etcd_watch_stop(watch);
    for (size_t i = 0; i < KC_COUNT(latches); i++)
        kc_latch_done(latches[i]);
}

static void large_revision_arrives_in_fragments(void **state)
{
    (void)state;
    enum { N = 60, SIZE = 100000 };
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_autofree char *value = kc_alloc(SIZE);
    watch_record r;
    watch_record_init(&r);
    r.keys_only = true;
    memset(value, 'v', SIZE);
    int64_t last = 0;
    for (int i = 0; i < N; i++) {
        char key[32];
        snprintf(key, sizeof(key), "large/%02d", i);
        last = etcd_put(etcd, key, kc_str_of(value, SIZE));
    }
    kc__etcd_watch *watch = watch_record_start(etcd, &r,
                                               &(kc__etcd_watch_opts){.key = KC_STR("large/"),
                                                                      .range_end = KC_STR("large0"),
                                                                      .start_revision = last + 1,
                                                                      .prev_kv = true,
                                                                      .fragment = true});
    /* Created, so that etcd does not hold the events back, which would make them one response. */
    const int64_t unwatched = etcd_put(etcd, "unwatched", KC_STR(""));
    if (!kc__etcd_watch_await(watch, unwatched))
        etcd_await(watch_record_get(&r, progress) >= unwatched);
    const int64_t deleted = delete_range(etcd, "large/", "large0");
    watch_record_await(&r, N);
    kc__etcd_watch_stop(watch);
    assert_int_equal(r.n_events, N);
    assert_int_equal(r.complete, deleted);
    assert_true(r.n_partial > 0 && r.n_batches > 1);
    assert_false(r.disorder);
    watch_record_done(&r);
}

/* ---- starting and stopping ---- */

static void watch_stopped_at_once_gets_nothing(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    const int64_t start = etcd_put(etcd, "stopped", KC_STR(""));
    for (int i = 0; i < 100; i++) {
        watch_record r;
        watch_record_init(&r);
        kc__etcd_watch *watch = watch_record_start(
            etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("stopped"), .start_revision = start});
        if (i % 3 == 1)
            watch_record_await(&r, 1);
        if (i % 3 == 2)
            kc_clock_sleep(kc_clock_real(), i * 50 * KC_MICROSECOND);
        kc__etcd_watch_stop(watch);
        /* The record is freed: a callback after the stop would be found by a sanitizer. */
        watch_record_done(&r);
    }
}

typedef struct self_stopper {
    kc__etcd_watch *watch;
    kc_latch started, stopped;
    size_t events;
} self_stopper;

static void stop_self(const kc__etcd_batch *batch, void *user)
{
    self_stopper *s = user;
    kc_latch_wait(&s->started);
    s->events += batch->n;
    kc__etcd_watch_stop(s->watch);
    kc_latch_count_down(&s->stopped);
}

static void watch_can_be_stopped_by_its_callback(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    self_stopper s = {0};
    kc_latch_init(&s.started);
    kc_latch_init(&s.stopped);
    kc_latch_add(&s.started, 1);
    kc_latch_add(&s.stopped, 1);
    const int64_t start = etcd_put(etcd, "self", KC_STR(""));
    s.watch = kc__etcd_watch_start(
        etcd, &(kc__etcd_watch_opts){
                  .key = KC_STR("self"), .start_revision = start, .events = stop_self, .user = &s});
    kc_latch_count_down(&s.started);
    kc_latch_wait(&s.stopped);
    put(etcd, "self", "later");
    assert_int_equal(s.events, 1);
    etcd = kc__etcd_close(etcd);
    kc_latch_done(&s.started);
    kc_latch_done(&s.stopped);
}

static void idle_client_watches_again(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    for (int i = 0; i < 5; i++) {
        watch_record r;
        watch_record_init(&r);
        const int64_t start = etcd_put(etcd, "idle", KC_STR("v"));
        kc__etcd_watch *watch = watch_record_start(
            etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("idle"), .start_revision = start});
        watch_record_await(&r, 1);
        kc__etcd_watch_stop(watch);
        assert_recorded(&r, "PUT idle=v");
        watch_record_done(&r);
        kc_clock_sleep(kc_clock_real(), i * 5 * KC_MILLISECOND);
    }
}

ETCD_TESTS(cluster, events_arrive_in_order, history_is_delivered_to_a_late_watch,
           watches_share_a_stream_and_get_their_own_events,
           watch_without_start_delivers_what_comes_later,
           start_in_the_future_waits_for_the_revision, compacted_start_ends_the_watch,
           awaited_revision_is_reported_without_events, awaited_revision_comes_after_its_events,
           revision_is_not_reached_while_its_callback_runs, large_revision_arrives_in_fragments,
           watch_stopped_at_once_gets_nothing, watch_can_be_stopped_by_its_callback,
           idle_client_watches_again)
