/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/own_writes.h"
#include "testing.h"

#include <stdio.h>

#include "kc/meta.h"

#define AGE (6 * KC_MINUTE)

static kc_object *state_of(const char *uid, unsigned revision, const char *more)
{
    kc_autofree char *text = kc_asprintf(
        "{'metadata':{'namespace':'a','name':'web','uid':'%s','resourceVersion':'%u'%s}}", uid,
        revision, more);
    return object_of(text);
}

static kc__own_writes *own_new(void)
{
    kc__own_writes *own = kc_new(kc__own_writes);
    kc__own_writes_init(own, AGE);
    return own;
}

static void own_free(kc__own_writes *own)
{
    kc__own_writes_done(own);
    free(own);
}

static const kc_key WEB = {KC_STR_INIT("a"), KC_STR_INIT("web")};

static void wrote(kc__own_writes *own, const kc_object *object)
{
    kc__own_writes_add(own,
                       &(kc__own_write_args){.key = kc_object_key(object),
                                             .object = object,
                                             .revision = kc_object_revision(object)},
                       0);
}

static void deleted(kc__own_writes *own, const char *uid, uint64_t last)
{
    kc__own_writes_add(own, &(kc__own_write_args){.key = WEB, .uid = kc_cstr(uid), .last = last},
                       0);
}

static void a_write_is_seen_over_what_is_older(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *old = state_of("u", 9, ""), *mine = state_of("u", 10, "");
    assert_ptr_equal(kc__own_writes_over(own, WEB, old), old);
    wrote(own, mine);
    assert_ptr_equal(kc__own_writes_over(own, WEB, old), mine);
    assert_ptr_equal(kc__own_writes_over(own, WEB, NULL), mine); /* A creation. */
    own_free(own);
}

static void revisions_are_compared_as_numbers(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *mine = state_of("u", 10, ""), *newer = state_of("u", 11, ""),
                       *older = state_of("u", 9, "");
    wrote(own, mine);
    assert_ptr_equal(kc__own_writes_over(own, WEB, newer), newer);
    wrote(own, older); /* Told late by another thread. */
    assert_ptr_equal(kc__own_writes_over(own, WEB, NULL), mine);
    kc__own_writes_reached(own, 9);
    assert_false(kc__own_writes_empty(own));
    kc__own_writes_reached(own, 10);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void an_event_for_the_key_that_is_as_new_ends_it(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *mine = state_of("u", 10, ""), *older = state_of("u", 9, "");
    wrote(own, mine);
    kc__own_writes_saw(own, older, false);
    assert_false(kc__own_writes_empty(own));
    kc__own_writes_saw(own, mine, false);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void a_deletion_hides_the_object_until_the_watch_shows_it(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *kept = state_of("u", 9, ""), *changed = state_of("u", 11, "");
    deleted(own, "u", 9);
    assert_null(kc__own_writes_over(own, WEB, kept));
    kc__own_writes_saw(own, changed, false); /* What somebody changed before the deletion. */
    assert_null(kc__own_writes_over(own, WEB, changed));
    kc__own_writes_reached(own, 100);
    assert_null(kc__own_writes_over(own, WEB, changed));
    kc__own_writes_saw(own, changed, true);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void an_object_that_finalizers_keep_is_seen_with_its_deletion(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *going =
        state_of("u", 10, ",'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['a/b']");
    deleted(own, "u", 9);
    assert_ptr_equal(kc__own_writes_over(own, WEB, going), going);
    kc__own_writes_saw(own, going, false);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void a_deletion_does_not_hide_who_comes_after(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *successor = state_of("v", 12, ""), *predecessor = state_of("t", 5, "");
    deleted(own, "u", 9);
    assert_ptr_equal(kc__own_writes_over(own, WEB, successor), successor);
    assert_null(kc__own_writes_over(own, WEB, predecessor)); /* The watch is far behind. */
    kc__own_writes_saw(own, predecessor, true);
    assert_false(kc__own_writes_empty(own));
    kc__own_writes_saw(own, successor, false);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void a_deletion_told_late_does_not_hide_what_was_created_since(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *again = state_of("v", 12, "");
    wrote(own, again);
    deleted(own, "u", 9);
    assert_ptr_equal(kc__own_writes_over(own, WEB, NULL), again);
    own_free(own);
}

static void what_left_the_selector_is_hidden_up_to_its_revision(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_auto(kc_object) *kept = state_of("u", 9, "");
    kc__own_writes_add(own, &(kc__own_write_args){.key = WEB, .revision = 10}, 0);
    assert_null(kc__own_writes_over(own, WEB, kept));
    kc__own_writes_reached(own, 10);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void what_the_watch_never_reaches_expires_and_is_counted(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc_scoped(kc_buf) key = {0};
    kc_auto(kc_object) *mine = state_of("u", 10, "");
    wrote(own, mine);
    assert_int_equal(kc__own_writes_expire(own, AGE - 1, &key), 0);
    assert_false(kc__own_writes_empty(own));
    assert_int_equal(kc__own_writes_expire(own, AGE, &key), 1);
    assert_str(kc_buf_str(&key), "a/web");
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void what_hides_nothing_expires_soon_and_silently(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    kc__own_writes_add(own, &(kc__own_write_args){.key = WEB, .uid = KC_STR("u"), .moot = true}, 0);
    assert_int_equal(kc__own_writes_expire(own, KC__OWN_WRITES_MOOT, NULL), 0);
    assert_true(kc__own_writes_empty(own));
    own_free(own);
}

static void writes_out_of_order_go_in_the_order_of_revisions(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    static const unsigned revisions[] = {30, 10, 20, 40};
    for (size_t i = 0; i < KC_COUNT(revisions); i++) {
        kc_autofree char *text = kc_asprintf("{'metadata':{'name':'n%u','resourceVersion':'%u'}}",
                                             revisions[i], revisions[i]);
        kc_auto(kc_object) *object = object_of(text);
        wrote(own, object);
    }
    kc__own_writes_reached(own, 20);
    assert_int_equal(own->by_key.n, 2);
    kc__own_writes_reached(own, 39);
    assert_int_equal(own->by_key.n, 1);
    own_free(own);
}

static void there_are_never_more_than_the_most(void **state)
{
    (void)state;
    kc__own_writes *own = own_new();
    for (unsigned i = 1; i <= KC__OWN_WRITES_MAX + 10; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        kc__own_writes_add(own, &(kc__own_write_args){.key = KC_KEY("", name), .revision = i}, 0);
    }
    assert_int_equal(kc__own_writes_expire(own, 0, NULL), 10);
    assert_int_equal(own->by_key.n, KC__OWN_WRITES_MAX);
    assert_null(kc__own_writes_find(own, KC_KEY("", "n10"))); /* The oldest have gone. */
    assert_non_null(kc__own_writes_find(own, KC_KEY("", "n11")));
    own_free(own);
}

TESTS(a_write_is_seen_over_what_is_older, revisions_are_compared_as_numbers,
      an_event_for_the_key_that_is_as_new_ends_it,
      a_deletion_hides_the_object_until_the_watch_shows_it,
      an_object_that_finalizers_keep_is_seen_with_its_deletion,
      a_deletion_does_not_hide_who_comes_after,
      a_deletion_told_late_does_not_hide_what_was_created_since,
      what_left_the_selector_is_hidden_up_to_its_revision,
      what_the_watch_never_reaches_expires_and_is_counted,
      what_hides_nothing_expires_soon_and_silently,
      writes_out_of_order_go_in_the_order_of_revisions, there_are_never_more_than_the_most)
