/* SPDX-License-Identifier: Apache-2.0 */
#include "etcd_watch_testing.h"

#include "grpc/grpc.h"

static etcd_cluster cluster;

/* A call of the Auth service with two strings, or none. */
static void administer(const char *method, const char *first, const char *second)
{
    const char *url = cluster.members[0].url;
    kc_auto(kc__grpc_channel) *channel =
        kc__grpc_channel_open(&(kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1}, NULL);
    kc_scoped(kc_buf) request = {0};
    kc_scoped(kc__grpc_reply) reply = {0};
    kc__etcd_proto_encode(&kc__etcd_authenticate_request_table,
                          &(kc__etcd_authenticate_request){kc_cstr(first), kc_cstr(second)},
                          &request);
    kc__grpc_call_wait(channel,
                       &(kc__grpc_call_opts){.method = method,
                                             .request = kc_buf_str(&request),
                                             .wait_for_ready = true},
                       NULL, &reply);
    if (reply.status.code != KC__GRPC_OK)
        fail_msg("%s: %s", method, reply.status.message);
}

static void enable_auth(void)
{
    administer("/etcdserverpb.Auth/UserAdd", "root", "secret");
    administer("/etcdserverpb.Auth/UserAdd", "nobody", "secret");
    administer("/etcdserverpb.Auth/UserGrantRole", "root", "root");
    administer("/etcdserverpb.Auth/AuthEnable", NULL, NULL);
}

static kc__etcd *client_as(const char *username, const char *password)
{
    etcd_cluster as = cluster;
    as.opts.username = username;
    as.opts.password = password;
    return etcd_client(&as);
}

static kc__etcd_code read_code(kc__etcd *etcd)
{
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(
        etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE, .range = {.key = KC_STR("a")}});
    return reply->code;
}

/* Runs first: authentication is not enabled yet. The same client goes on when it is. */
static void client_with_a_user_works_before_and_after_auth_is_enabled(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = client_as("root", "secret");
    etcd_put(etcd, "a", KC_STR("1"));
    enable_auth();
    assert_int_equal(read_code(etcd), KC__ETCD_OK);
    etcd_put(etcd, "a", KC_STR("2"));
}

static void calls_without_or_with_wrong_credentials_are_refused(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *anonymous = etcd_client(&cluster);
    assert_int_equal(read_code(anonymous), KC__ETCD_INVALID_TOKEN);
    kc_auto(kc__etcd) *wrong = client_as("root", "wrong");
    assert_int_equal(read_code(wrong), KC__ETCD_AUTH_FAILED);
    assert_int_equal(read_code(wrong), KC__ETCD_AUTH_FAILED);
    kc_auto(kc__etcd) *nobody = client_as("nobody", "secret");
    assert_int_equal(read_code(nobody), KC__ETCD_PERMISSION_DENIED);
}

static void watch_without_permission_fails(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *nobody = client_as("nobody", "secret");
    watch_record r;
    watch_record_init(&r);
    kc__etcd_watch *watch =
        watch_record_start(nobody, &r, &(kc__etcd_watch_opts){.key = KC_STR("a")});
    etcd_await(watch_record_get(&r, failed));
    kc__etcd_watch_stop(watch);
    assert_int_equal(r.code, KC__ETCD_PERMISSION_DENIED);
    watch_record_done(&r);
}

/* etcd keeps simple tokens in memory: a restart makes them invalid. */
static void lost_token_is_renewed(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = client_as("root", "secret");
    watch_record r;
    watch_record_init(&r);
    const int64_t start = etcd_put(etcd, "renewed", KC_STR("1"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("renewed"), .start_revision = start});
    watch_record_await(&r, 1);
    for (int i = 0; i < 2; i++) {
        etcd_member_kill(&cluster.members[0]);
        etcd_member_restart(&cluster.members[0]);
        assert_int_equal(read_code(etcd), KC__ETCD_OK);
        etcd_put(etcd, "renewed", KC_STR("2"));
        watch_record_await(&r, 2 + (size_t)i);
    }
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT renewed=1 PUT renewed=2 PUT renewed=2");
    watch_record_done(&r);
}

/* The watch alone meets the invalid token. */
static void watch_renews_a_lost_token(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = client_as("root", "secret");
    kc_auto(kc__etcd) *writer = client_as("root", "secret");
    watch_record r;
    watch_record_init(&r);
    const int64_t start = etcd_put(writer, "alone", KC_STR("1"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("alone"), .start_revision = start});
    watch_record_await(&r, 1);
    etcd_member_kill(&cluster.members[0]);
    etcd_member_restart(&cluster.members[0]);
    etcd_put(writer, "alone", KC_STR("2"));
    watch_record_await(&r, 2);
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT alone=1 PUT alone=2");
    watch_record_done(&r);
}

static void snapshot_needs_the_token(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__etcd) *etcd = client_as("root", "secret");
    kc_auto(kc__etcd) *wrong = client_as("root", "wrong");
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    uint64_t size = 0;
    assert_int_equal(kc__etcd_snapshot(etcd, fd, &size, &err), 0);
    assert_true(size > 0);
    assert_true(kc__etcd_snapshot(wrong, fd, NULL, &err) < 0);
    assert_error(&err, KC_UNAUTHORIZED, "authentication failed");
    close(fd);
}

ETCD_TESTS(cluster, client_with_a_user_works_before_and_after_auth_is_enabled,
           calls_without_or_with_wrong_credentials_are_refused, watch_without_permission_fails,
           lost_token_is_renewed, watch_renews_a_lost_token, snapshot_needs_the_token)
