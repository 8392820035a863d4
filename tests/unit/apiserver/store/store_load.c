/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that another program has filled: incomplete ones are refused. */
#include "maintenance_testing.h"

#include "apiserver/store/store.h"

static kc__store *open_store(kc__storage *storage, kc_error *err)
{
    return kc__store_open(&(kc__store_opts){.storage = storage}, err);
}

static void incomplete_store_is_refused_with_the_command_that_completes_it(void **state)
{
    (void)state;
    kc_auto(kc__storage_memory) *memory = kc__storage_memory_new();
    kc__storage *storage = NULL;
    kc_scoped(kc_error) err = {0};
    const kc__storage_opts opts = {.memory = memory};
    assert_int_equal(kc__storage_open(&kc__storage_memory_backend, &opts, &storage, NULL), 0);
    put_map(storage, "a");
    put_value(storage, KC__STORAGE_MARKER_KEY, "restore\n7\n");
    assert_null(open_store(storage, &err));
    assert_error(&err, KC_STORE_READ_ERROR, "'kc store restore' was interrupted; run it again");
}

static void marker_in_the_history_of_a_complete_store_is_ignored(void **state)
{
    (void)state;
    kc__storage *storage = memory_store();
    kc_scoped(kc_error) err = {0};
    const kc__storage_op op = {.verb = KC__STORAGE_DELETE,
                               .key = KC_STR(KC__STORAGE_MARKER_KEY),
                               .expected = KC__STORAGE_ANY};
    kc__storage_result result;
    put_value(storage, KC__STORAGE_MARKER_KEY, "restore\n7\n");
    put_map(storage, "a");
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    kc__store *store = open_store(storage, &err);
    if (!store)
        fail_msg("%s", kc_error_text(&err));
    kc__store_close(store);
}

TESTS(incomplete_store_is_refused_with_the_command_that_completes_it,
      marker_in_the_history_of_a_complete_store_is_ignored)
