/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS with certificates of both sides, signed by a CA of the test.
 */
#include "etcd_watch_testing.h"

#include "tls_testing.h"

static etcd_cluster cluster = {.tls = true};
static char paths[6][128];
enum { CA, SERVER, SERVER_KEY, CLIENT, CLIENT_KEY, OTHER_CA };

/* A certificate for 127.0.0.1. */
static void name_host(identity *id, const identity *ca)
{
    X509_EXTENSION *host = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(id->cert, host, -1);
    X509_EXTENSION_free(host);
    X509_sign(id->cert, ca->key, EVP_sha256());
}

static void write_certificates(void)
{
    static const char *const names[] = {"ca",     "server",     "server-key",
                                        "client", "client-key", "other-ca"};
    identity ca = identity_new("ca", NULL, NULL), other = identity_new("other", NULL, NULL);
    identity server = identity_new("server", NULL, &ca), user = identity_new("me", NULL, &ca);
    for (size_t i = 0; i < KC_COUNT(names); i++)
        snprintf(paths[i], sizeof(paths[i]), "%s/%s.pem", cluster.dir->dir, names[i]);
    name_host(&server, &ca);
    write_cert(&ca, paths[CA]);
    write_cert(&other, paths[OTHER_CA]);
    write_cert(&server, paths[SERVER]);
    write_key(&server, paths[SERVER_KEY]);
    write_cert(&user, paths[CLIENT]);
    write_key(&user, paths[CLIENT_KEY]);
    identity_done(&ca);
    identity_done(&other);
    identity_done(&server);
    identity_done(&user);
}

static int start_with_tls(void **state)
{
    (void)state;
    cluster.dir = scratch_new();
    write_certificates();
    const char *const args[] = {"--cert-file",     paths[SERVER],        "--key-file",
                                paths[SERVER_KEY], "--client-cert-auth", "--trusted-ca-file",
                                paths[CA]};
    memcpy(cluster.args, args, sizeof(args));
    cluster.opts.ca_file = paths[CA];
    cluster.opts.cert_file = paths[CLIENT];
    cluster.opts.key_file = paths[CLIENT_KEY];
    etcd_cluster_start(&cluster);
    return 0;
}

static int stop_with_tls(void **state)
{
    (void)state;
    etcd_cluster_stop(&cluster);
    return 0;
}

static void client_with_a_certificate_is_served(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    watch_record r;
    watch_record_init(&r);
    const int64_t start = etcd_put(etcd, "tls", KC_STR("1"));
    kc__etcd_watch *watch = watch_record_start(
        etcd, &r, &(kc__etcd_watch_opts){.key = KC_STR("tls"), .start_revision = start});
    watch_record_await(&r, 1);
    kc__etcd_watch_stop(watch);
    assert_recorded(&r, "PUT tls=1");
    watch_record_done(&r);
}

static void assert_unreachable(const etcd_cluster *as)
{
    kc_auto(kc__etcd) *etcd = etcd_client(as);
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(
        etcd, &(kc__etcd_request){.method = KC__ETCD_STATUS, .timeout = 2 * KC_SECOND});
    assert_true(reply->code == KC__ETCD_TIMEOUT || reply->code == KC__ETCD_UNAVAILABLE);
}

static void client_without_a_certificate_is_refused(void **state)
{
    (void)state;
    etcd_cluster without = cluster;
    without.opts.cert_file = without.opts.key_file = NULL;
    assert_unreachable(&without);
}

static void server_of_another_ca_is_not_trusted(void **state)
{
    (void)state;
    etcd_cluster other = cluster;
    other.opts.ca_file = paths[OTHER_CA];
    assert_unreachable(&other);
}

static void missing_file_is_reported_by_open(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const char *url = cluster.members[0].url;
    assert_null(kc__etcd_open(
        &(kc__etcd_opts){.endpoints = &url, .n_endpoints = 1, .ca_file = "/nowhere/ca.pem"}, &err));
    assert_contains(kc_error_text(&err), "/nowhere/ca.pem");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_with_a_certificate_is_served),
        cmocka_unit_test(client_without_a_certificate_is_refused),
        cmocka_unit_test(server_of_another_ca_is_not_trusted),
        cmocka_unit_test(missing_file_is_reported_by_open),
    };
    return cmocka_run_group_tests(tests, start_with_tls, stop_with_tls);
}
