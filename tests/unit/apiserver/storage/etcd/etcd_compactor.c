/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction of a real etcd by two servers. */
#include "apiserver/storage/etcd/etcd_internal.h"

#include "etcd_process.h"

static kc__storage *open_storage(const etcd_cluster *cluster)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    const char *url = cluster->members[0].url;
    const kc__storage_opts opts = {
        .etcd = &(kc__storage_etcd_opts){.endpoints = &url, .n_endpoints = 1}};
    if (kc__storage_open(&kc__storage_etcd_backend, &opts, &storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static uint64_t put(kc__storage *storage)
{
    const kc__storage_op op = {.verb = KC__STORAGE_PUT,
                               .key = KC_STR("/registry/a"),
                               .expected = KC__STORAGE_ANY,
                               .value = KC_STR("1")};
    kc__storage_result result = {0};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    return result.revision;
}

static bool is_compacted(kc__storage *storage, uint64_t revision)
{
    kc_scoped(kc_error) err = {0};
    const kc__storage_list_opts opts = {.revision = revision};
    return kc__storage_list(storage, &opts, NULL, NULL, NULL, &err) < 0 && err.reason == KC_EXPIRED;
}

static void one_server_compacts_what_is_older_than_an_interval(void **state)
{
    (void)state;
    etcd_cluster cluster = {.n = 1};
    etcd_cluster_start(&cluster);
    kc__storage *servers[2] = {open_storage(&cluster), open_storage(&cluster)};
    kc__storage_etcd *first = kc__storage_etcd_of(servers[0]),
                     *second = kc__storage_etcd_of(servers[1]);
    const uint64_t old = put(servers[0]);
    put(servers[0]);
    for (int interval = 0; interval < 2; interval++) { /* The second server is always late. */
        kc__storage_etcd_run_compactor(first);
        kc__storage_etcd_run_compactor(second);
        assert_int_equal(first->compactor.clock, interval + 1);
        assert_int_equal(second->compactor.clock, interval + 1);
        assert_int_equal(is_compacted(servers[0], old), interval == 1);
    }
    const uint64_t recent = put(servers[0]);
    put(servers[0]);
    assert_false(is_compacted(servers[0], recent));
    kc__storage_etcd_run_compactor(second); /* The first has stopped. */
    assert_int_equal(second->compactor.clock, 3);
    kc__storage_close(servers[0]);
    kc__storage_close(servers[1]);
    etcd_cluster_stop(&cluster);
}

TESTS(one_server_compacts_what_is_older_than_an_interval)
