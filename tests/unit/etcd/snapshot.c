/* SPDX-License-Identifier: Apache-2.0 */
#include "etcd_process.h"

#include "tcp_proxy.h"

#include <openssl/evp.h>

static etcd_cluster cluster;

static void fill(kc__etcd *etcd)
{
    enum { N = 120, SIZE = 100000 };
    kc_autofree char *value = kc_alloc(SIZE);
    memset(value, 'v', SIZE);
    for (int i = 0; i < N; i++) {
        char key[32];
        snprintf(key, sizeof(key), "fill/%03d", i);
        etcd_put(etcd, key, kc_str_of(value, SIZE));
    }
}

static void snapshot_is_complete_and_has_its_checksum(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    kc_autofree char *path = scratch_path(cluster.dir, "snapshot");
    unsigned char digest[32];
    uint64_t size = 0;
    fill(etcd);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(kc__etcd_snapshot(etcd, fd, &size, &err), 0);
    close(fd);
    assert_int_equal(kc_file_read(path, (size_t)1 << 30, &bytes, &err), 0);
    assert_int_equal(bytes.n, size);
    assert_true(size > 12000000);
    assert_int_equal(bytes.n % 512, sizeof(digest));
    assert_int_equal(
        EVP_Digest(bytes.p, bytes.n - sizeof(digest), digest, NULL, EVP_sha256(), NULL), 1);
    assert_memory_equal(bytes.p + bytes.n - sizeof(digest), digest, sizeof(digest));
}

static void error_of_the_file_is_reported(void **state)
{
    (void)state;
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    kc_scoped(kc_error) err = {0};
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(kc__etcd_snapshot(etcd, fd, NULL, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "No space left");
    close(fd);
    etcd_put(etcd, "a", KC_STR("")); /* The client goes on. */
}

static void lost_connection_fails_the_snapshot(void **state)
{
    (void)state;
    kc_auto(tcp_proxy) *proxy = tcp_proxy_start(cluster.members[0].port);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", proxy->port);
    kc_auto(kc__etcd) *etcd = etcd_client_of(&cluster, (const char *const[]){url}, 1);
    kc_scoped(kc_error) err = {0};
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    etcd_put(etcd, "connected", KC_STR(""));
    tcp_proxy_cut_after(proxy, 3000000);
    assert_true(kc__etcd_snapshot(etcd, fd, NULL, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "Snapshot");
    close(fd);
}

ETCD_TESTS(cluster, snapshot_is_complete_and_has_its_checksum, error_of_the_file_is_reported,
           lost_connection_fails_the_snapshot)
