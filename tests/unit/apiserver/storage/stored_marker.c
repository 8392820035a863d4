/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "apiserver/storage/stored_marker.h"

static void marker_is_read_as_it_was_written(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc__storage_marker marker = {
        .operation = KC_STR("migrate"), .revision = 7, .after = KC_STR("/registry/a\nb")};
    kc__storage_marker_write(&value, &marker);
    assert_true(kc__storage_marker_read(kc_buf_str(&value), &marker));
    assert_str(marker.operation, "migrate");
    assert_int_equal(marker.revision, 7);
    assert_str(marker.after, "/registry/a\nb");
}

static void other_text_is_no_marker(void **state)
{
    (void)state;
    static const char *const texts[] = {"",           "restore", "restore\n",
                                        "restore\n7", "\n7\n",   "restore\nx\n"};
    kc__storage_marker marker;
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        assert_false(kc__storage_marker_read(kc_cstr(texts[i]), &marker));
}

static void incomplete_store_is_refused_with_the_command_that_completes_it(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_true(kc__storage_marker_refuse(KC_STR("restore\n7\n"), &err) < 0);
    assert_error(&err, KC_STORE_READ_ERROR, "'kc store restore' was interrupted; run it again");
}

TESTS(marker_is_read_as_it_was_written, other_text_is_no_marker,
      incomplete_store_is_refused_with_the_command_that_completes_it)
