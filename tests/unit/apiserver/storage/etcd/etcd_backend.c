/* SPDX-License-Identifier: Apache-2.0 */
/* The backend etcd with a real etcd: the parts of the storage contract that shared backends have.
 */
#include "apiserver/storage/etcd/etcd_backend.h"

#include "etcd_process.h"

#include "kc/vec.h"

/* ---- an etcd, and storages in it ---- */

static etcd_cluster cluster = {.n = 1};

static int start_etcd(void **state)
{
    (void)state;
    etcd_cluster_start(&cluster);
    return 0;
}

static int stop_etcd(void **state)
{
    (void)state;
    etcd_cluster_stop(&cluster);
    return 0;
}

/* Each test has a prefix of its own. */
static kc__storage *open_storage(const char *prefix)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    const char *url = cluster.members[0].url;
    const kc__storage_opts opts = {
        .etcd = &(kc__storage_etcd_opts){.endpoints = &url, .n_endpoints = 1, .prefix = prefix}};
    if (kc__storage_open(&kc__storage_etcd_backend, &opts, &storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static kc__storage_op put_op(const char *key, uint64_t expected, const char *value)
{
    return (kc__storage_op){.verb = KC__STORAGE_PUT,
                            .key = kc_cstr(key),
                            .expected = expected,
                            .value = kc_cstr(value)};
}

static kc__storage_result commit_one(kc__storage *storage, kc__storage_op op)
{
    kc_scoped(kc_error) err = {0};
    kc__storage_result result = {0};
    if (kc__storage_commit(storage, &op, 1, &result, NULL, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return result;
}

static uint64_t put(kc__storage *storage, const char *key, const char *value)
{
    const kc__storage_result result = commit_one(storage, put_op(key, KC__STORAGE_ANY, value));
    assert_int_equal(result.outcome, KC__STORAGE_STORED);
    return result.revision;
}

static int append_entry(const kc__storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%.*s=%.*s ", KC_ARG(entry->key), KC_ARG(entry->value));
    return 0;
}

static void expect_list(kc__storage *storage, kc__storage_list_opts opts, const char *expected)
{
    kc_scoped(kc_buf) text = {0};
    assert_int_equal(kc__storage_list(storage, &opts, append_entry, &text, NULL, NULL), 0);
    assert_string_equal(kc_buf_cstr(&text), expected);
}

/* ---- reading and writing ---- */

static void stored_value_is_read_with_its_revision(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/read");
    kc_scoped(kc_buf) value = {0};
    uint64_t revision = 0;
    const uint64_t stored = put(storage, "/registry/pods/a", "1");
    assert_int_equal(kc__storage_get(storage, KC_STR("/registry/pods/a"), &value, &revision, NULL),
                     0);
    assert_int_equal(revision, stored);
    assert_string_equal(kc_buf_cstr(&value), "1");
    assert_int_equal(kc__storage_get(storage, KC_STR("/registry/pods/b"), NULL, &revision, NULL),
                     0);
    assert_int_equal(revision, 0);
}

static void prefix_replaces_the_root_of_keys(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/elsewhere/");
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    put(storage, "/registry/pods/a", "1");
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE,
                                          .range = {.key = KC_STR("/elsewhere/pods/a")}});
    assert_int_equal(reply->range->kvs.n, 1);
    expect_list(storage, (kc__storage_list_opts){0}, "/registry/pods/a=1 ");
}

static void create_of_existing_key_conflicts(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/create");
    const uint64_t stored = put(storage, "/registry/a", "1");
    const kc__storage_result result =
        commit_one(storage, put_op("/registry/a", KC__STORAGE_ABSENT, "2"));
    assert_int_equal(result.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(result.revision, stored);
}

static void update_with_stale_revision_conflicts(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/update");
    const uint64_t first = put(storage, "/registry/a", "1");
    const uint64_t second = put(storage, "/registry/a", "2");
    assert_int_equal(commit_one(storage, put_op("/registry/a", first, "3")).outcome,
                     KC__STORAGE_CONFLICT);
    assert_int_equal(commit_one(storage, put_op("/registry/a", second, "3")).outcome,
                     KC__STORAGE_STORED);
}

static void delete_of_absent_key_conflicts(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/delete");
    const kc__storage_op op = {
        .verb = KC__STORAGE_DELETE, .key = KC_STR("/registry/a"), .expected = KC__STORAGE_ANY};
    assert_int_equal(commit_one(storage, op).outcome, KC__STORAGE_CONFLICT);
    put(storage, "/registry/a", "1");
    assert_int_equal(commit_one(storage, op).outcome, KC__STORAGE_STORED);
    expect_list(storage, (kc__storage_list_opts){0}, "");
}

static void group_is_stored_as_a_whole_or_not_at_all(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/group");
    kc__storage_result results[2] = {0};
    put(storage, "/registry/b", "1");
    kc__storage_op ops[2] = {put_op("/registry/a", KC__STORAGE_ABSENT, "2"),
                             put_op("/registry/b", KC__STORAGE_ABSENT, "2")};
    ops[1].joined = true;
    assert_int_equal(kc__storage_commit(storage, ops, 2, results, NULL, NULL), 0);
    assert_int_equal(results[0].outcome, KC__STORAGE_SKIPPED);
    assert_int_equal(results[1].outcome, KC__STORAGE_CONFLICT);
    expect_list(storage, (kc__storage_list_opts){0}, "/registry/b=1 ");
    ops[1].expected = KC__STORAGE_ANY;
    assert_int_equal(kc__storage_commit(storage, ops, 2, results, NULL, NULL), 0);
    assert_int_equal(results[0].outcome, KC__STORAGE_STORED);
    assert_int_equal(results[0].revision, results[1].revision);
    expect_list(storage, (kc__storage_list_opts){0}, "/registry/a=2 /registry/b=2 ");
}

static void list_shows_one_revision(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/list");
    put(storage, "/registry/pods/a", "1");
    const uint64_t then = put(storage, "/registry/pods/b", "1");
    put(storage, "/registry/pods/b", "2");
    put(storage, "/registry/podsx/c", "2");
    expect_list(storage,
                (kc__storage_list_opts){.prefix = KC_STR("/registry/pods/"), .revision = then},
                "/registry/pods/a=1 /registry/pods/b=1 ");
    expect_list(storage, (kc__storage_list_opts){.after = KC_STR("/registry/pods/a"), .limit = 1},
                "/registry/pods/b=2 ");
}

static int count_entry(const kc__storage_entry *entry, void *user)
{
    (void)entry;
    ++*(size_t *)user;
    return 0;
}

static void list_of_many_keys_has_all(void **state)
{
    (void)state;
    enum { KEYS = 2500 };
    kc_auto(kc__storage) *storage = open_storage("/many");
    kc__storage_state listed = {0};
    size_t n = 0;
    for (int i = 0; i < KEYS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "/registry/pods/%d", i);
        put(storage, key, "1");
    }
    assert_int_equal(kc__storage_load(storage, count_entry, &n, &listed, NULL), 0);
    assert_int_equal(n, KEYS);
    assert_false(listed.more);
}

static void compacted_revision_is_expired(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/compact");
    kc_scoped(kc_error) err = {0};
    const uint64_t first = put(storage, "/registry/a", "1");
    const uint64_t last = put(storage, "/registry/a", "2");
    assert_int_equal(kc__storage_compact(storage, last, NULL), 0);
    assert_int_equal(kc__storage_compact(storage, first, NULL), 0);
    assert_true(kc__storage_list(storage, &(kc__storage_list_opts){.revision = first}, NULL, NULL,
                                 NULL, &err) < 0);
    assert_int_equal(err.reason, KC_EXPIRED);
}

/* ---- submissions and queries ---- */

typedef struct sent {
    kc__storage_submission submission;
    kc__storage_query query;
    kc__storage_result results[1];
    kc_latch done;
} sent;

static void on_decided(kc__storage_submission *submission)
{
    kc_latch_count_down(&kc_container_of(submission, sent, submission)->done);
}

static void on_answered(kc__storage_query *query)
{
    kc_latch_count_down(&kc_container_of(query, sent, query)->done);
}

static void submission_and_question_are_answered(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/submit");
    const kc__storage_op op = put_op("/registry/a", KC__STORAGE_ABSENT, "1");
    sent s = {.submission = {.ops = &op, .n_ops = 1, .done = on_decided},
              .query = {.done = on_answered}};
    s.submission.results = s.results;
    kc_latch_init(&s.done);
    kc_latch_add(&s.done, 1);
    kc__storage_submit(storage, &s.submission);
    kc_latch_wait(&s.done);
    assert_int_equal(s.submission.error.reason, 0);
    assert_int_equal(s.results[0].outcome, KC__STORAGE_STORED);
    assert_int_equal(s.results[0].revision, s.submission.revision);
    kc_latch_add(&s.done, 1);
    kc__storage_query_start(storage, &s.query);
    kc_latch_wait(&s.done);
    assert_true(s.query.revision >= s.submission.revision);
    kc_latch_done(&s.done);
}

static bool is_gone(kc__storage *storage, kc_str key)
{
    uint64_t revision = 0;
    assert_int_equal(kc__storage_get(storage, key, NULL, &revision, NULL), 0);
    return revision == 0;
}

static void key_with_time_to_live_expires(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/lease");
    kc__storage_op ops[2] = {put_op("/registry/a", KC__STORAGE_ANY, "1"),
                             put_op("/registry/b", KC__STORAGE_ANY, "1")};
    ops[0].ttl = 1;
    assert_int_equal(commit_one(storage, ops[0]).outcome, KC__STORAGE_STORED);
    assert_int_equal(commit_one(storage, ops[1]).outcome, KC__STORAGE_STORED);
    etcd_await(is_gone(storage, KC_STR("/registry/a")));
    assert_false(is_gone(storage, KC_STR("/registry/b")));
}

/* Times to live that are shorter than the time for which a lease is reused, and of different
 * lengths, as those of Events and of the addresses of servers. */
static void submissions_with_different_times_to_live_have_different_leases(void **state)
{
    (void)state;
    static const int64_t seconds[] = {15, 3600, 15, 3600, 1};
    kc_auto(kc__storage) *storage = open_storage("/short");
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    int64_t leases[KC_COUNT(seconds)];
    for (size_t i = 0; i < KC_COUNT(seconds); i++) {
        sent s = {0};
        kc__storage_op op = put_op("/registry/a", KC__STORAGE_ANY, "1");
        op.ttl = seconds[i];
        s.submission = (kc__storage_submission){
            .ops = &op, .n_ops = 1, .results = s.results, .done = on_decided};
        kc_latch_init(&s.done);
        kc_latch_add(&s.done, 1);
        kc__storage_submit(storage, &s.submission);
        kc_latch_wait(&s.done);
        kc_latch_done(&s.done);
        assert_int_equal(s.results[0].outcome, KC__STORAGE_STORED);
        kc_auto(kc__etcd_reply) *reply =
            etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE,
                                              .range = {.key = KC_STR("/short/a")}});
        leases[i] = reply->range->kvs.items[0].lease;
    }
    assert_true(leases[1] == leases[3]);
    assert_true(leases[0] != leases[1] && leases[2] != leases[1] && leases[4] != leases[1]);
    etcd_await(is_gone(storage, KC_STR("/registry/a")));
}

static void submissions_share_a_lease(void **state)
{
    (void)state;
    enum { KEYS = 20 };
    kc_auto(kc__storage) *storage = open_storage("/leases");
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    sent s[KEYS] = {0};
    kc__storage_op ops[KEYS];
    char keys[KEYS][32];
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "/registry/events/%zu", i);
        ops[i] = put_op(keys[i], KC__STORAGE_ABSENT, "1");
        ops[i].ttl = 3600;
        s[i].submission = (kc__storage_submission){
            .ops = &ops[i], .n_ops = 1, .results = s[i].results, .done = on_decided};
        kc_latch_init(&s[i].done);
        kc_latch_add(&s[i].done, 1);
        kc__storage_submit(storage, &s[i].submission);
    }
    for (size_t i = 0; i < KEYS; i++) {
        kc_latch_wait(&s[i].done);
        kc_latch_done(&s[i].done);
        assert_int_equal(s[i].results[0].outcome, KC__STORAGE_STORED);
    }
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE,
                                          .range = {.key = KC_STR("/leases/events/"),
                                                    .range_end = KC_STR("/leases/events0")}});
    assert_int_equal(reply->range->kvs.n, KEYS);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(reply->range->kvs.items[i].lease, reply->range->kvs.items[0].lease);
    assert_true(reply->range->kvs.items[0].lease != 0);
}

static void revoke_lease_of(kc__etcd *etcd, kc_str key)
{
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE, .range = {.key = key}});
    assert_int_equal(reply->range->kvs.n, 1);
    kc__etcd_reply_free(etcd_do(
        etcd, &(kc__etcd_request){.method = KC__ETCD_LEASE_REVOKE,
                                  .lease_revoke = {.id = reply->range->kvs.items[0].lease}}));
}

static void submit_and_wait(kc__storage *storage, const kc__storage_op *op)
{
    sent s = {.submission = {.ops = op, .n_ops = 1, .done = on_decided}};
    s.submission.results = s.results;
    kc_latch_init(&s.done);
    kc_latch_add(&s.done, 1);
    kc__storage_submit(storage, &s.submission);
    kc_latch_wait(&s.done);
    kc_latch_done(&s.done);
    assert_int_equal(s.submission.error.reason, 0);
    assert_int_equal(s.results[0].outcome, KC__STORAGE_STORED);
}

static void submission_with_a_short_time_to_live_is_stored_and_expires(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/short");
    kc__storage_op op = put_op("/registry/a", KC__STORAGE_ANY, "1");
    op.ttl = 1;
    submit_and_wait(storage, &op);
    etcd_await(is_gone(storage, KC_STR("/registry/a")));
}

static void lease_that_ended_early_is_replaced(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/revoked");
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc__storage_op op = put_op("/registry/events/a", KC__STORAGE_ANY, "1");
    op.ttl = 3600;
    submit_and_wait(storage, &op);
    revoke_lease_of(etcd, KC_STR("/revoked/events/a"));
    submit_and_wait(storage, &op);
    revoke_lease_of(etcd, KC_STR("/revoked/events/a"));
    assert_int_equal(commit_one(storage, op).outcome, KC__STORAGE_STORED);
}

/* ---- watches ---- */

typedef struct follower {
    kc_mutex mutex;
    kc_buf text;
    uint64_t complete;
    kc_reason failed;
} follower;

static int follow_event(const kc__storage_event *event, void *user)
{
    follower *f = user;
    kc_locked (&f->mutex)
        kc_buf_printf(&f->text, "%s%.*s=%.*s ", event->verb == KC__STORAGE_PUT ? "+" : "-",
                      KC_ARG(event->key), KC_ARG(event->value));
    return 0;
}

static void follow_progress(uint64_t revision, void *user)
{
    follower *f = user;
    kc_locked (&f->mutex)
        f->complete = KC_MAX(f->complete, revision);
}

static void follow_failure(const kc_error *err, void *user)
{
    follower *f = user;
    kc_locked (&f->mutex)
        f->failed = err->reason;
}

static bool is_complete(follower *f, uint64_t revision)
{
    bool complete = false;
    kc_locked (&f->mutex)
        complete = f->complete >= revision;
    return complete;
}

static bool has_failed(follower *f)
{
    bool failed = false;
    kc_locked (&f->mutex)
        failed = f->failed == KC_EXPIRED;
    return failed;
}

static kc__storage_watch *follow(kc__storage *storage, follower *f, uint64_t since)
{
    kc__storage_watch *watch = NULL;
    kc_mutex_init(&f->mutex);
    assert_int_equal(kc__storage_watch_start(storage,
                                             &(kc__storage_watch_opts){.since = since,
                                                                       .event = follow_event,
                                                                       .progress = follow_progress,
                                                                       .failed = follow_failure,
                                                                       .user = f},
                                             &watch, NULL),
                     0);
    return watch;
}

static void stop_following(kc__storage *storage, kc__storage_watch *watch, follower *f)
{
    kc__storage_watch_stop(storage, watch);
    kc_mutex_done(&f->mutex);
    kc_buf_done(&f->text);
}

static void watch_delivers_past_and_later_events_in_order(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/watch");
    follower f = {0};
    const uint64_t first = put(storage, "/registry/a", "1");
    put(storage, "/registry/a", "2");
    kc__storage_watch *watch = follow(storage, &f, first);
    const kc__storage_op gone = {
        .verb = KC__STORAGE_DELETE, .key = KC_STR("/registry/a"), .expected = KC__STORAGE_ANY};
    const uint64_t last = commit_one(storage, gone).revision;
    etcd_await(is_complete(&f, last));
    assert_string_equal(kc_buf_cstr(&f.text), "+/registry/a=2 -/registry/a= ");
    stop_following(storage, watch, &f);
}

static void progress_reaches_revisions_of_other_prefixes(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/here");
    kc_auto(kc__storage) *other = open_storage("/there");
    follower f = {0};
    kc__storage_watch *watch = follow(storage, &f, put(storage, "/registry/a", "1"));
    const uint64_t last = put(other, "/registry/a", "1");
    kc__storage_request_progress(storage, watch, last);
    etcd_await(is_complete(&f, last));
    assert_string_equal(kc_buf_cstr(&f.text), "");
    stop_following(storage, watch, &f);
}

static void watch_of_compacted_revision_fails_as_expired(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = open_storage("/expired");
    follower f = {0};
    const uint64_t first = put(storage, "/registry/a", "1");
    put(storage, "/registry/a", "2");
    const uint64_t last = put(storage, "/registry/a", "3");
    assert_int_equal(kc__storage_compact(storage, last, NULL), 0);
    kc__storage_watch *watch = follow(storage, &f, first);
    etcd_await(has_failed(&f));
    stop_following(storage, watch, &f);
}

/* ---- opening ---- */

static void unreachable_etcd_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    char url[64];
    const char *urls[] = {url};
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", free_port());
    const kc__storage_opts opts = {
        .etcd = &(kc__storage_etcd_opts){.endpoints = urls, .n_endpoints = 1, .wait = 1}};
    assert_true(kc__storage_open(&kc__storage_etcd_backend, &opts, &storage, &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "etcd"));
}

static void no_endpoint_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    assert_true(
        kc__storage_open(&kc__storage_etcd_backend, &(kc__storage_opts){0}, &storage, &err) < 0);
    assert_int_equal(err.reason, KC_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_value_is_read_with_its_revision),
        cmocka_unit_test(prefix_replaces_the_root_of_keys),
        cmocka_unit_test(create_of_existing_key_conflicts),
        cmocka_unit_test(update_with_stale_revision_conflicts),
        cmocka_unit_test(delete_of_absent_key_conflicts),
        cmocka_unit_test(group_is_stored_as_a_whole_or_not_at_all),
        cmocka_unit_test(list_shows_one_revision),
        cmocka_unit_test(list_of_many_keys_has_all),
        cmocka_unit_test(submission_and_question_are_answered),
        cmocka_unit_test(key_with_time_to_live_expires),
        cmocka_unit_test(submissions_share_a_lease),
        cmocka_unit_test(submissions_with_different_times_to_live_have_different_leases),
        cmocka_unit_test(submission_with_a_short_time_to_live_is_stored_and_expires),
        cmocka_unit_test(lease_that_ended_early_is_replaced),
        cmocka_unit_test(watch_delivers_past_and_later_events_in_order),
        cmocka_unit_test(progress_reaches_revisions_of_other_prefixes),
        cmocka_unit_test(compacted_revision_is_expired),
        cmocka_unit_test(watch_of_compacted_revision_fails_as_expired),
        cmocka_unit_test(unreachable_etcd_is_an_error),
        cmocka_unit_test(no_endpoint_is_an_error),
    };
    return cmocka_run_group_tests(tests, start_etcd, stop_etcd);
}
