/* SPDX-License-Identifier: Apache-2.0 */
/* Raising the revision of a store, for every backend that can. */
#include "maintenance_testing.h"

static int count_event(const kc__storage_event *event, void *user)
{
    (void)event;
    ++*(size_t *)user;
    return 0;
}

static void check_advance(kc__storage *storage)
{
    kc_scoped(kc_error) err = {0};
    size_t events = 0;
    put_map(storage, "a");
    put_map(storage, "a");
    put_map(storage, "b");
    assert_int_equal(kc__storage_advance(storage, 1000, NULL), 0);
    assert_int_equal(state_of(storage).revision, 1000);
    assert_int_equal(state_of(storage).compacted, 1000);
    assert_keys(storage, MAPS "a " MAPS "b ");
    assert_true(kc__storage_history(storage, 4, count_event, &events, &err) < 0);
    assert_error(&err, KC_EXPIRED, "too old");
    put_map(storage, "a");
    assert_int_equal(state_of(storage).revision, 1001);
    assert_int_equal(kc__storage_history(storage, 1000, count_event, &events, NULL), 0);
    assert_int_equal(events, 1);
    assert_int_equal(kc__storage_advance(storage, 5, NULL), 0);
    assert_int_equal(state_of(storage).revision, 1001);
    assert_int_equal(state_of(storage).compacted, 1000);
    assert_int_equal(kc__storage_compact(storage, 1001, NULL), 0);
    assert_keys(storage, MAPS "a " MAPS "b ");
}

static void revision_of_a_memory_store_is_raised_and_history_dropped(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    check_advance(storage);
}

static void revision_of_a_file_store_is_raised_and_survives_reopening(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc__storage *storage = file_store(dir, "store");
    check_advance(storage);
    kc__storage_close(storage);
    storage = file_store(dir, "store");
    assert_int_equal(state_of(storage).revision, 1001);
    put_map(storage, "c");
    assert_int_equal(state_of(storage).revision, 1002);
    kc__storage_close(storage);
}

static void backend_that_cannot_raise_its_revision_says_so(void **state)
{
    (void)state;
    const kc__storage_backend fixed = {.name = "fixed"};
    kc__storage storage = {.backend = &fixed};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__storage_advance(&storage, 5, &err) < 0);
    assert_error(&err, KC_INVALID, "the storage \"fixed\" cannot raise its revision");
}

TESTS(revision_of_a_memory_store_is_raised_and_history_dropped,
      revision_of_a_file_store_is_raised_and_survives_reopening,
      backend_that_cannot_raise_its_revision_says_so)
