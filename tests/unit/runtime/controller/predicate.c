/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes match which predicate. */
#include "kc/predicate.h"

#include "testing.h"

static const char plain[] = "{'metadata':{'name':'a','generation':1,'resourceVersion':'1',"
                            "'labels':{'app':'web','tier':'front'},'annotations':{'n':'1'}}}";

/* Whether an update from `plain` to this passes. Frees the predicate. */
static bool update_passes(kc_predicate *predicate, const char *to)
{
    kc_auto(kc_object) *old = object_of(plain);
    kc_auto(kc_object) *object = object_of(to);
    bool passes = kc_predicate_matches(predicate, KC_CHANGE_UPDATE,
                                       &(kc_change){.old = old, .object = object});
    kc_predicate_free(predicate);
    return passes;
}

static bool passes(kc_predicate *predicate, kc_change_type type, const char *text)
{
    kc_auto(kc_object) *object = object_of(text);
    bool it_does = kc_predicate_matches(predicate, type, &(kc_change){.object = object});
    kc_predicate_free(predicate);
    return it_does;
}

static void null_predicate_matches_everything(void **state)
{
    (void)state;
    assert_true(update_passes(NULL, plain));
}

static void change_predicates_filter_updates_without_their_change(void **state)
{
    (void)state;
    assert_false(update_passes(kc_predicate_generation_changed(), plain));
    assert_false(update_passes(kc_predicate_version_changed(), plain));
    assert_false(update_passes(kc_predicate_labels_changed(), plain));
    assert_false(update_passes(kc_predicate_annotations_changed(), plain));
    assert_true(update_passes(kc_predicate_generation_changed(), "{'metadata':{'generation':2}}"));
    assert_true(update_passes(kc_predicate_version_changed(),
                              "{'metadata':{'generation':1,'resourceVersion':'2'}}"));
}

static void labels_are_compared_as_a_map(void **state)
{
    (void)state;
    assert_false(update_passes(kc_predicate_labels_changed(),
                               "{'metadata':{'labels':{'tier':'front','app':'web'}}}"));
    assert_true(update_passes(kc_predicate_labels_changed(),
                              "{'metadata':{'labels':{'tier':'back','app':'web'}}}"));
    assert_true(
        update_passes(kc_predicate_labels_changed(), "{'metadata':{'labels':{'app':'web'}}}"));
    assert_true(update_passes(kc_predicate_labels_changed(),
                              "{'metadata':{'labels':{'tier':'front','app':'web','x':''}}}"));
    assert_true(update_passes(kc_predicate_labels_changed(), "{'metadata':{}}"));
}

static void annotations_are_compared_as_a_map(void **state)
{
    (void)state;
    assert_false(update_passes(kc_predicate_annotations_changed(),
                               "{'metadata':{'generation':2,'annotations':{'n':'1'}}}"));
    assert_true(update_passes(kc_predicate_annotations_changed(),
                              "{'metadata':{'annotations':{'n':'2'}}}"));
    kc_auto(kc_object) *none = object_of("{'metadata':{}}");
    kc_auto(kc_object) *empty = object_of("{'metadata':{'annotations':{}}}");
    kc_auto(kc_predicate) *predicate = kc_predicate_annotations_changed();
    assert_false(kc_predicate_matches(predicate, KC_CHANGE_UPDATE,
                                      &(kc_change){.old = none, .object = empty}));
}

static void change_predicates_match_all_but_updates(void **state)
{
    (void)state;
    static const kc_change_type others[] = {KC_CHANGE_CREATE, KC_CHANGE_DELETE, KC_CHANGE_GENERIC};
    for (size_t i = 0; i < KC_COUNT(others); i++) {
        assert_true(passes(kc_predicate_generation_changed(), others[i], plain));
        assert_true(passes(kc_predicate_version_changed(), others[i], plain));
        assert_true(passes(kc_predicate_labels_changed(), others[i], plain));
        assert_true(passes(kc_predicate_annotations_changed(), others[i], plain));
    }
}

static void label_selector_applies_to_every_change(void **state)
{
    (void)state;
    assert_true(passes(kc_predicate_label_selector("app=web", NULL), KC_CHANGE_CREATE, plain));
    assert_false(passes(kc_predicate_label_selector("app=db", NULL), KC_CHANGE_CREATE, plain));
    assert_false(passes(kc_predicate_label_selector("app=db", NULL), KC_CHANGE_DELETE, plain));
    assert_true(update_passes(kc_predicate_label_selector("app=db", NULL),
                              "{'metadata':{'labels':{'app':'db'}}}")); /* The new one counts. */
    kc_scoped(kc_error) err = {0};
    assert_null(kc_predicate_label_selector("a in (", &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
}

static bool is_create(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    ++*(int *)user;
    return type == KC_CHANGE_CREATE;
}

static void predicates_are_combined_with_and_or_not(void **state)
{
    (void)state;
    int calls = 0;
    assert_false(passes(kc_predicate_and(kc_predicate_new(is_create, &calls), NULL,
                                         kc_predicate_new(is_create, &calls)),
                        KC_CHANGE_DELETE, plain));
    assert_int_equal(calls, 1); /* The first decides. */
    assert_true(passes(kc_predicate_or(NULL, kc_predicate_new(is_create, &calls),
                                       kc_predicate_new(is_create, &calls)),
                       KC_CHANGE_CREATE, plain));
    assert_int_equal(calls, 2);
    assert_true(
        passes(kc_predicate_not(kc_predicate_new(is_create, &calls)), KC_CHANGE_DELETE, plain));
    assert_true(update_passes(
        kc_predicate_or(kc_predicate_generation_changed(), kc_predicate_labels_changed()),
        "{'metadata':{'generation':1}}"));
    assert_false(update_passes(
        kc_predicate_and(kc_predicate_generation_changed(), kc_predicate_labels_changed()),
        "{'metadata':{'generation':1}}"));
    assert_null(kc_predicate_and(NULL, NULL));
}

TESTS(null_predicate_matches_everything, change_predicates_filter_updates_without_their_change,
      labels_are_compared_as_a_map, annotations_are_compared_as_a_map,
      change_predicates_match_all_but_updates, label_selector_applies_to_every_change,
      predicates_are_combined_with_and_or_not)
