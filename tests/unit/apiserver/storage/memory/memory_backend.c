/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/memory/memory_backend.h"

#include "kc/mem.h"

/* One stage at a time: what its store lies in. */
static kc__storage_memory *the_memory;

static char *new_location(void)
{
    the_memory = kc__storage_memory_new();
    return kc_strdup("memory");
}

static void remove_location(const char *location)
{
    (void)location;
    the_memory = kc__storage_memory_free(the_memory);
}

/* The contract knows places by their names only. */
static int open_memory(const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err)
{
    kc__storage_opts with = *opts;
    with.memory = the_memory;
    return kc__storage_open(&kc__storage_memory_backend, &with, ret_storage, err);
}

static const kc__storage_backend in_the_memory = {.open = open_memory};

#define STORAGE_BACKEND in_the_memory
#include "storage_contract.h"

static void second_store_on_the_same_memory_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_error) err = {0};
    kc__storage *second = NULL;
    assert_true(open_memory(&s->opts, &second, &err) < 0);
    assert_error(&err, KC_CONFLICT, "in use");
    assert_null(second);
    put(s, "a", "1");
}

static void store_without_shared_memory_has_its_own(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = NULL;
    assert_int_equal(
        kc__storage_open(&kc__storage_memory_backend, &(kc__storage_opts){0}, &storage, NULL), 0);
    const kc__storage_op op = put_op(KC_STR("a"), KC__STORAGE_ANY, KC_STR("1"));
    kc__storage_result result;
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    assert_result(result, STORED, 2);
}

static void batch_beyond_max_bytes_is_refused_as_a_whole(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.max_bytes = 5000);
    kc_scoped(kc_error) err = {0};
    char value[4000] = {0};
    const kc__storage_op ops[] = {
        put_op(KC_STR("a"), KC__STORAGE_ANY, KC_STR("1")),
        put_op(KC_STR("b"), KC__STORAGE_ANY, kc_str_of(value, sizeof(value))),
        put_op(KC_STR("c"), KC__STORAGE_ANY, kc_str_of(value, sizeof(value))),
    };
    kc__storage_result results[KC_COUNT(ops)];
    assert_true(kc__storage_commit(s->storage, ops, KC_COUNT(ops), results, NULL, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "the size limit of the store is reached");
    assert_live(s, "revision 1");
    put(s, "a", "1");
}

static void long_history_is_read_from_any_revision(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.history_events = 50);
    for (int i = 0; i < 200; i++)
        put(s, i % 2 ? "a" : "b", "1");
    assert_int_equal(compacted(s), 151);
    for (uint64_t since = 151; since <= 201; since++) {
        kc_scoped(kc_buf) out = {0};
        assert_int_equal(kc__storage_history(s->storage, since, print_event, &out, NULL), 0);
        size_t n = 0;
        for (size_t i = 0; i < out.n; i++)
            n += out.p[i] == ' ';
        assert_int_equal(n, 201 - since);
    }
}

TESTS(STORAGE_CONTRACT, second_store_on_the_same_memory_is_refused,
      store_without_shared_memory_has_its_own, batch_beyond_max_bytes_is_refused_as_a_whole,
      long_history_is_read_from_any_revision)
