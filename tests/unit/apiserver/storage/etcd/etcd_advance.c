/* SPDX-License-Identifier: Apache-2.0 */
/* Raising the revision of a real etcd. */
#include "maintenance_testing.h"

#include "etcd_process.h"
#include "etcd_storage.h"

static etcd_cluster cluster = {.n = 1};

typedef struct raised {
    uint64_t revision, goal;
    size_t calls;
} raised;

static void note_raised(uint64_t revision, uint64_t goal, void *user)
{
    raised *r = user;
    assert_true(revision > r->revision);
    *r = (raised){revision, goal, r->calls + 1};
}

static bool is_expired(kc__storage *storage, uint64_t revision)
{
    kc_scoped(kc_error) err = {0};
    const kc__storage_list_opts opts = {.revision = revision};
    return kc__storage_list(storage, &opts, NULL, NULL, NULL, &err) < 0 && err.reason == KC_EXPIRED;
}

static void revision_is_raised_and_older_ones_expire(void **state)
{
    (void)state;
    raised seen = {0};
    kc_auto(kc__storage) *storage = etcd_store_with(
        &cluster,
        &(kc__storage_etcd_opts){
            .prefix = "/raise", .timeout = 60 * KC_SECOND, .advanced = note_raised, .user = &seen});
    put_map(storage, "a");
    const uint64_t before = state_of(storage).revision, goal = before + 51000;
    assert_int_equal(kc__storage_advance(storage, goal, NULL), 0);
    const uint64_t after = state_of(storage).revision;
    assert_true(after >= goal && after < goal + 100);
    assert_int_equal(seen.goal, goal);
    assert_true(seen.calls >= 2); /* In steps. */
    assert_true(is_expired(storage, before));
    assert_true(is_expired(storage, after - 1));
    assert_false(is_expired(storage, after));
    assert_keys(storage, MAPS "a ");
    put_map(storage, "b");
    assert_int_equal(state_of(storage).revision, after + 1);
}

static void lower_revision_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = etcd_store(&cluster, "/lower");
    put_map(storage, "a");
    put_map(storage, "b");
    const uint64_t before = state_of(storage).revision;
    assert_int_equal(kc__storage_advance(storage, before, NULL), 0);
    assert_int_equal(kc__storage_advance(storage, 1, NULL), 0);
    assert_int_equal(state_of(storage).revision, before);
    assert_false(is_expired(storage, before - 1));
}

/* What a kill leaves: the key of the puts. */
static void interrupted_raise_is_continued_and_its_key_removed(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = etcd_store(&cluster, "/again");
    put_value(storage, "/kc/revision", "");
    assert_keys(storage, "/kc/revision ");
    const uint64_t before = state_of(storage).revision;
    assert_int_equal(kc__storage_advance(storage, before, NULL), 0);
    assert_keys(storage, "");
    assert_true(is_expired(storage, before));
}

static void keys_of_the_program_are_below_the_prefix(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = etcd_store(&cluster, "/own");
    kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
    put_value(storage, KC__STORAGE_MARKER_KEY, "x");
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_RANGE,
                                          .range = {.key = KC_STR("/own/kc/incomplete")}});
    assert_int_equal(reply->range->kvs.n, 1);
    assert_keys(storage, KC__STORAGE_MARKER_KEY " ");
}

static void raise_without_etcd_fails(void **state)
{
    (void)state;
    etcd_cluster lost = {.n = 1};
    etcd_cluster_start(&lost);
    kc_auto(kc__storage) *storage =
        etcd_store_with(&lost, &(kc__storage_etcd_opts){.timeout = KC_SECOND});
    kc_scoped(kc_error) err = {0};
    etcd_member_kill(&lost.members[0]);
    assert_true(kc__storage_advance(storage, 1000000, &err) < 0);
    assert_true(err.reason == KC_SERVICE_UNAVAILABLE || err.reason == KC_TIMEOUT);
    etcd_cluster_stop(&lost);
}

ETCD_TESTS(cluster, revision_is_raised_and_older_ones_expire, lower_revision_changes_nothing,
           interrupted_raise_is_continued_and_its_key_removed,
           keys_of_the_program_are_below_the_prefix, raise_without_etcd_fails)
