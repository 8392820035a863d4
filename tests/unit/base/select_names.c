/* SPDX-License-Identifier: Apache-2.0 */
/* select_names.c: comma-separated lists of names with exclusions. */
#include "kc/select_names.h"
#include "testing.h"

static const char *const names[] = {"at", "banana", "robot"};

static void chooses(const char *words, bool at, bool banana, bool robot)
{
    bool chosen[3] = {false};
    assert_int_equal(kc_select_names(words, "thing", names, 3, chosen, NULL), 0);
    assert_int_equal(chosen[0], at);
    assert_int_equal(chosen[1], banana);
    assert_int_equal(chosen[2], robot);
}

static void names_are_selected_and_excluded(void **state)
{
    (void)state;
    chooses("*", true, true, true);
    chooses("at", true, false, false);
    chooses("*,-robot", true, true, false);
    chooses(" at , robot ", true, false, true);
    chooses("-*", false, false, false);
}

static void later_word_wins(void **state)
{
    (void)state;
    chooses("*,-robot,robot", true, true, true);
    chooses("robot,*,-*,at", true, false, false);
}

static void unmentioned_names_keep_their_value(void **state)
{
    (void)state;
    bool chosen[3] = {true, false, true};
    assert_int_equal(kc_select_names("-at", "thing", names, 3, chosen, NULL), 0);
    assert_false(chosen[0]);
    assert_true(chosen[2]);
    assert_int_equal(kc_select_names(NULL, "thing", names, 3, chosen, NULL), 0);
    assert_int_equal(kc_select_names("", "thing", names, 3, chosen, NULL), 0);
    assert_true(chosen[2]);
}

static void unknown_name_suggests_nearest(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    bool chosen[3] = {false};
    assert_true(kc_select_names("*,-robott", "thing", names, 3, chosen, &err) < 0);
    assert_error(&err, KC_INVALID, "there is no thing \"robott\"; did you mean \"robot\"?");
    assert_true(kc_select_names("at,", "thing", names, 3, chosen, &err) < 0);
}

TESTS(names_are_selected_and_excluded, later_word_wins, unmentioned_names_keep_their_value,
      unknown_name_suggests_nearest)
