/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/admission/allocator.h"
#include "testing.h"

#include <stdio.h>

/* Who holds which number, as the store would say it. */
typedef struct holder {
    uint32_t number;
    const char *owner;
} holder;

static bool holds(uint32_t number, kc_str owner, void *user)
{
    const holder *h = user;
    return h->owner && h->number == number && kc_str_is(owner, h->owner);
}

static kc__allocator *of_range(uint32_t first, uint32_t last, holder *stored)
{
    return kc__allocator_new(
        &(kc__allocator_opts){.first = first, .last = last, .holds = holds, .user = stored});
}

static void a_number_under_way_is_nobody_elses(void **state)
{
    (void)state;
    holder nobody = {0};
    kc_auto(kc__allocator) *a = of_range(1, 9, &nobody);
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("x")), KC__ALLOCATED);
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("y")), KC__TAKEN);
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("x")), KC__ALLOCATED);
}

static void a_stored_number_stays_with_its_owner(void **state)
{
    (void)state;
    holder stored = {5, "x"};
    kc_auto(kc__allocator) *a = of_range(1, 9, &stored);
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("x")), KC__ALLOCATED);
    kc__allocator_settle(a, 5);
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("y")), KC__TAKEN);
}

static void a_number_whose_owner_went_is_free(void **state)
{
    (void)state;
    holder stored = {5, "x"};
    kc_auto(kc__allocator) *a = of_range(1, 9, &stored);
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("x")), KC__ALLOCATED);
    kc__allocator_settle(a, 5);
    stored.owner = NULL;
    assert_int_equal(kc__allocator_take(a, 5, KC_STR("y")), KC__ALLOCATED);
}

static void numbers_outside_are_refused(void **state)
{
    (void)state;
    holder nobody = {0};
    kc_auto(kc__allocator) *a = of_range(3, 9, &nobody);
    assert_int_equal(kc__allocator_take(a, 2, KC_STR("x")), KC__OUT_OF_RANGE);
    assert_int_equal(kc__allocator_take(a, 10, KC_STR("x")), KC__OUT_OF_RANGE);
}

static void draws_give_every_number_once_and_then_none(void **state)
{
    (void)state;
    holder nobody = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc_auto(kc__allocator) *a = of_range(1, 20, &nobody);
    bool seen[21] = {0};
    for (int i = 0; i < 20; i++) {
        char owner[16];
        uint32_t number = 0;
        snprintf(owner, sizeof(owner), "o%d", i);
        assert_int_equal(kc__allocator_draw(a, &rand, kc_cstr(owner), &number), KC__ALLOCATED);
        assert_false(seen[number]);
        seen[number] = true;
    }
    uint32_t number = 77;
    assert_int_equal(kc__allocator_draw(a, &rand, KC_STR("late"), &number), KC__EXHAUSTED);
    assert_int_equal(number, 77);
}

static void draws_leave_the_start_to_those_who_choose(void **state)
{
    (void)state;
    holder nobody = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc_auto(kc__allocator) *a = kc__allocator_new(&(kc__allocator_opts){
        .first = 1, .last = 1000, .draw_from = 900, .holds = holds, .user = &nobody});
    for (int i = 0; i < 10; i++) {
        uint32_t number = 0;
        char owner[16];
        snprintf(owner, sizeof(owner), "o%d", i);
        assert_int_equal(kc__allocator_draw(a, &rand, kc_cstr(owner), &number), KC__ALLOCATED);
        assert_true(number >= 900);
    }
    assert_int_equal(kc__allocator_take(a, 1, KC_STR("x")), KC__ALLOCATED);
}

TESTS(a_number_under_way_is_nobody_elses, a_stored_number_stays_with_its_owner,
      a_number_whose_owner_went_is_free, numbers_outside_are_refused,
      draws_give_every_number_once_and_then_none, draws_leave_the_start_to_those_who_choose)
