/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names, some of them crossed out. */
#include "kc/choose.h"
#include "testing.h"

static const char *const names[] = {"at", "banana", "robot"};

static void chooses(const char *words, bool at, bool banana, bool robot)
{
    bool chosen[3] = {false};
    assert_int_equal(kc_choose(words, "thing", names, 3, chosen, NULL), 0);
    assert_int_equal(chosen[0], at);
    assert_int_equal(chosen[1], banana);
    assert_int_equal(chosen[2], robot);
}

static void names_are_chosen_and_crossed_out(void **state)
{
    (void)state;
    chooses("*", true, true, true);
    chooses("at", true, false, false);
    chooses("*,-robot", true, true, false);
    chooses(" at , robot ", true, false, true);
    chooses("-*", false, false, false);
}

static void the_later_word_counts(void **state)
{
    (void)state;
    chooses("*,-robot,robot", true, true, true);
    chooses("robot,*,-*,at", true, false, false);
}

static void what_is_not_spoken_of_stays(void **state)
{
    (void)state;
    bool chosen[3] = {true, false, true};
    assert_int_equal(kc_choose("-at", "thing", names, 3, chosen, NULL), 0);
    assert_false(chosen[0]);
    assert_true(chosen[2]);
    assert_int_equal(kc_choose(NULL, "thing", names, 3, chosen, NULL), 0);
    assert_int_equal(kc_choose("", "thing", names, 3, chosen, NULL), 0);
    assert_true(chosen[2]);
}

static void a_name_that_there_is_not_gets_the_nearest(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    bool chosen[3] = {false};
    assert_true(kc_choose("*,-robott", "thing", names, 3, chosen, &err) < 0);
    assert_error(&err, KC_INVALID, "there is no thing \"robott\"; did you mean \"robot\"?");
    assert_true(kc_choose("at,", "thing", names, 3, chosen, &err) < 0);
}

TESTS(names_are_chosen_and_crossed_out, the_later_word_counts, what_is_not_spoken_of_stays,
      a_name_that_there_is_not_gets_the_nearest)
