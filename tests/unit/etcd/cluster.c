/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster of three members, of which the client loses one after the other.
 */
#include "etcd_watch_testing.h"

static etcd_cluster cluster = {.n = 3,
                               .opts = {.keepalive_time = KC_SECOND,
                                        .keepalive_timeout = 2 * KC_SECOND,
                                        .connect_timeout = 2 * KC_SECOND}};

static size_t leader_of(kc__etcd *etcd)
{
    kc_auto(kc__etcd_reply) *status = etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_STATUS});
    kc_auto(kc__etcd_reply) *list =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_MEMBER_LIST});
    for (size_t i = 0; i < list->member_list->members.n; i++)
        for (size_t k = 0; k < cluster.n; k++)
            if (list->member_list->members.items[i].id == status->status->leader &&
                kc_str_is(list->member_list->members.items[i].name, cluster.members[k].name))
                return k;
    return 0;
}

static void members_are_listed(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_auto(kc__etcd_reply) *list =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_MEMBER_LIST,
                                          .member_list = {.linearizable = true}});
    assert_int_equal(list->member_list->members.n, 3);
}

static void calls_and_watches_survive_the_loss_of_each_member(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    size_t expected = 1;
    const int64_t start = etcd_put(etcd, "lost", KC_STR("0"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("lost"), .start_revision = start});
    watch_record_await(&r, 1);
    for (size_t i = 0; i < cluster.n; i++) {
        etcd_member_kill(&cluster.members[i]);
        for (int k = 0; k < 10; k++) {
            char value[32];
            snprintf(value, sizeof(value), "%zu", expected);
            /* The outcome of a put that was under way is unknown; this one may be repeated. */
            const kc__etcd_put_request put = {.key = KC_STR("lost"), .value = kc_cstr(value)};
            const kc__etcd_compare once = {.target = KC__ETCD_COMPARE_VERSION,
                                           .key = KC_STR("lost"),
                                           .version = (int64_t)expected};
            const kc__etcd_request_op success = {.put = &put};
            kc__etcd_reply_free(etcd_do(
                etcd,
                &(kc__etcd_request){.method = KC__ETCD_TXN,
                                    .idempotent = true,
                                    .txn = {.compare = {&once, 1}, .success = {&success, 1}}}));
            expected++;
        }
        kc_auto(kc__etcd_reply) *read = etcd_do(
            etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE, .range = {.key = KC_STR("lost")}});
        assert_int_equal(read->range->kvs.items[0].version, expected);
        watch_record_await(&r, expected);
        etcd_member_restart(&cluster.members[i]);
    }
    kc__etcd_watch_stop(watch);
    assert_int_equal(r.n_events, expected);
    assert_false(r.disorder);
    assert_contains(kc_buf_cstr(&r.line), "PUT lost=28 PUT lost=29 PUT lost=30");
    watch_record_done(&r);
}

static void watch_leaves_a_member_without_a_leader(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    const int64_t start = etcd_put(etcd, "leaderless", KC_STR("1"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("leaderless"), .start_revision = start});
    watch_record_await(&r, 1);
    /* Without a quorum the remaining member has no leader; with one, a leader is elected. */
    const size_t leader = leader_of(etcd);
    etcd_member *a = &cluster.members[leader], *b = &cluster.members[(leader + 1) % cluster.n];
    etcd_member_kill(a);
    etcd_member_kill(b);
    const kc__etcd_request read = {
        .method = KC__ETCD_RANGE, .timeout = 4 * KC_SECOND, .range = {.key = KC_STR("leaderless")}};
    kc_auto(kc__etcd_reply) *refused = kc__etcd_call(etcd, &read);
    assert_true(refused->code == KC__ETCD_NO_LEADER || refused->code == KC__ETCD_TIMEOUT ||
                refused->code == KC__ETCD_UNAVAILABLE);
    etcd_members_restart((etcd_member *const[]){a, b}, 2);
    etcd_put(etcd, "leaderless", KC_STR("2"));
    watch_record_await(&r, 2);
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT leaderless=1 PUT leaderless=2");
    watch_record_done(&r);
}

ETCD_TESTS(cluster, members_are_listed, calls_and_watches_survive_the_loss_of_each_member,
           watch_leaves_a_member_without_a_leader)
