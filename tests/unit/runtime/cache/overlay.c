/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cache/overlay.h"
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

static kc__overlay *own_new(void)
{
    kc__overlay *own = kc_new(kc__overlay);
    kc__overlay_init(own, AGE);
    return own;
}

static void own_free(kc__overlay *own)
{
    kc__overlay_done(own);
    free(own);
}

static const kc_key WEB = {KC_STR_INIT("a"), KC_STR_INIT("web")};

static void wrote(kc__overlay *own, const kc_object *object)
{
    kc__overlay_add(own,
                    &(kc__overlay_entry_args){.key = kc_object_key(object),
                                              .object = object,
                                              .revision = kc_object_revision(object)},
                    0);
}

static void deleted(kc__overlay *own, const char *uid, uint64_t last)
{
    kc__overlay_add(own, &(kc__overlay_entry_args){.key = WEB, .uid = kc_cstr(uid), .last = last},
                    0);
}

static void own_write_hides_older_object(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *old = state_of("u", 9, ""), *mine = state_of("u", 10, "");
    assert_ptr_equal(kc__overlay_lookup(own, WEB, old), old);
    wrote(own, mine);
    assert_ptr_equal(kc__overlay_lookup(own, WEB, old), mine);
    assert_ptr_equal(kc__overlay_lookup(own, WEB, NULL), mine); /* A creation. */
    own_free(own);
}

static void revisions_are_compared_as_numbers(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *mine = state_of("u", 10, ""), *newer = state_of("u", 11, ""),
                       *older = state_of("u", 9, "");
    wrote(own, mine);
    assert_ptr_equal(kc__overlay_lookup(own, WEB, newer), newer);
    wrote(own, older); /* Told late by another thread. */
    assert_ptr_equal(kc__overlay_lookup(own, WEB, NULL), mine);
    kc__overlay_advance(own, 9);
    assert_false(kc__overlay_empty(own));
    kc__overlay_advance(own, 10);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void event_with_equal_revision_removes_the_entry(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *mine = state_of("u", 10, ""), *older = state_of("u", 9, "");
    wrote(own, mine);
    kc__overlay_observe(own, older, false);
    assert_false(kc__overlay_empty(own));
    kc__overlay_observe(own, mine, false);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void deletion_hides_object_until_its_event(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *kept = state_of("u", 9, ""), *changed = state_of("u", 11, "");
    deleted(own, "u", 9);
    assert_null(kc__overlay_lookup(own, WEB, kept));
    kc__overlay_observe(own, changed, false); /* A change before the deletion. */
    assert_null(kc__overlay_lookup(own, WEB, changed));
    kc__overlay_advance(own, 100);
    assert_null(kc__overlay_lookup(own, WEB, changed));
    kc__overlay_observe(own, changed, true);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void terminating_object_is_visible_after_own_delete(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *going =
        state_of("u", 10, ",'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['a/b']");
    deleted(own, "u", 9);
    assert_ptr_equal(kc__overlay_lookup(own, WEB, going), going);
    kc__overlay_observe(own, going, false);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void deletion_does_not_hide_recreated_object(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *successor = state_of("v", 12, ""), *predecessor = state_of("t", 5, "");
    deleted(own, "u", 9);
    assert_ptr_equal(kc__overlay_lookup(own, WEB, successor), successor);
    assert_null(kc__overlay_lookup(own, WEB, predecessor)); /* The watch is far behind. */
    kc__overlay_observe(own, predecessor, true);
    assert_false(kc__overlay_empty(own));
    kc__overlay_observe(own, successor, false);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void late_deletion_does_not_hide_newer_creation(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *again = state_of("v", 12, "");
    wrote(own, again);
    deleted(own, "u", 9);
    assert_ptr_equal(kc__overlay_lookup(own, WEB, NULL), again);
    own_free(own);
}

static void object_outside_the_selector_is_hidden_up_to_its_revision(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_auto(kc_object) *kept = state_of("u", 9, "");
    kc__overlay_add(own, &(kc__overlay_entry_args){.key = WEB, .revision = 10}, 0);
    assert_null(kc__overlay_lookup(own, WEB, kept));
    kc__overlay_advance(own, 10);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void entry_never_reached_by_watch_expires_and_is_counted(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc_scoped(kc_buf) key = {0};
    kc_auto(kc_object) *mine = state_of("u", 10, "");
    wrote(own, mine);
    assert_int_equal(kc__overlay_expire(own, AGE - 1, &key), 0);
    assert_false(kc__overlay_empty(own));
    assert_int_equal(kc__overlay_expire(own, AGE, &key), 1);
    assert_str(kc_buf_str(&key), "a/web");
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void moot_entry_expires_early_without_count(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    kc__overlay_add(
        own, &(kc__overlay_entry_args){.key = WEB, .uid = KC_STR("u"), .without_effect = true}, 0);
    assert_int_equal(kc__overlay_expire(own, KC__OVERLAY_NO_EFFECT_LIFETIME, NULL), 0);
    assert_true(kc__overlay_empty(own));
    own_free(own);
}

static void entries_are_removed_in_order_of_revisions(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    static const unsigned revisions[] = {30, 10, 20, 40};
    for (size_t i = 0; i < KC_COUNT(revisions); i++) {
        kc_autofree char *text = kc_asprintf("{'metadata':{'name':'n%u','resourceVersion':'%u'}}",
                                             revisions[i], revisions[i]);
        kc_auto(kc_object) *object = object_of(text);
        wrote(own, object);
    }
    kc__overlay_advance(own, 20);
    assert_int_equal(own->by_key.n, 2);
    kc__overlay_advance(own, 39);
    assert_int_equal(own->by_key.n, 1);
    own_free(own);
}

static void number_of_entries_is_limited(void **state)
{
    (void)state;
    kc__overlay *own = own_new();
    for (unsigned i = 1; i <= KC__OVERLAY_MAX + 10; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        kc__overlay_add(own, &(kc__overlay_entry_args){.key = KC_KEY("", name), .revision = i}, 0);
    }
    assert_int_equal(kc__overlay_expire(own, 0, NULL), 10);
    assert_int_equal(own->by_key.n, KC__OVERLAY_MAX);
    assert_null(kc_map_get(&own->by_key, KC_STR("n10"))); /* The oldest have gone. */
    assert_non_null(kc_map_get(&own->by_key, KC_STR("n11")));
    own_free(own);
}

TESTS(own_write_hides_older_object, revisions_are_compared_as_numbers,
      event_with_equal_revision_removes_the_entry, deletion_hides_object_until_its_event,
      terminating_object_is_visible_after_own_delete, deletion_does_not_hide_recreated_object,
      late_deletion_does_not_hide_newer_creation,
      object_outside_the_selector_is_hidden_up_to_its_revision,
      entry_never_reached_by_watch_expires_and_is_counted, moot_entry_expires_early_without_count,
      entries_are_removed_in_order_of_revisions, number_of_entries_is_limited)
