/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes pass which predicate. */
#include "kc/predicate.h"

#include "testing.h"

static const char plain[] = "{'metadata':{'name':'a','generation':1,'resourceVersion':'1',"
                            "'labels':{'app':'web','tier':'front'},'annotations':{'n':'1'}}}";

/* Whether an update from `plain` to this passes. Frees the predicate. */
static bool update_passes(kc_predicate *predicate, const char *to)
{
    kc_auto(kc_object) *old = object_of(plain);
    kc_auto(kc_object) *object = object_of(to);
    bool passes = kc_predicate_passes(predicate, KC_CHANGE_UPDATE,
                                      &(kc_change){.old = old, .object = object});
    kc_predicate_free(predicate);
    return passes;
}

static bool passes(kc_predicate *predicate, kc_change_type type, const char *text)
{
    kc_auto(kc_object) *object = object_of(text);
    bool it_does = kc_predicate_passes(predicate, type, &(kc_change){.object = object});
    kc_predicate_free(predicate);
    return it_does;
}

static void no_predicate_lets_everything_pass(void **state)
{
    (void)state;
    assert_true(update_passes(NULL, plain));
}

static void comparisons_swallow_updates_that_change_nothing_of_theirs(void **state)
{
    (void)state;
    assert_false(update_passes(kc_predicate_generation(), plain));
    assert_false(update_passes(kc_predicate_resource_version(), plain));
    assert_false(update_passes(kc_predicate_labels(), plain));
    assert_false(update_passes(kc_predicate_annotations(), plain));
    assert_true(update_passes(kc_predicate_generation(), "{'metadata':{'generation':2}}"));
    assert_true(update_passes(kc_predicate_resource_version(),
                              "{'metadata':{'generation':1,'resourceVersion':'2'}}"));
}

static void labels_are_compared_as_a_map(void **state)
{
    (void)state;
    assert_false(update_passes(kc_predicate_labels(),
                               "{'metadata':{'labels':{'tier':'front','app':'web'}}}"));
    assert_true(update_passes(kc_predicate_labels(),
                              "{'metadata':{'labels':{'tier':'back','app':'web'}}}"));
    assert_true(update_passes(kc_predicate_labels(), "{'metadata':{'labels':{'app':'web'}}}"));
    assert_true(update_passes(kc_predicate_labels(),
                              "{'metadata':{'labels':{'tier':'front','app':'web','x':''}}}"));
    assert_true(update_passes(kc_predicate_labels(), "{'metadata':{}}"));
}

static void annotations_are_too(void **state)
{
    (void)state;
    assert_false(update_passes(kc_predicate_annotations(),
                               "{'metadata':{'generation':2,'annotations':{'n':'1'}}}"));
    assert_true(
        update_passes(kc_predicate_annotations(), "{'metadata':{'annotations':{'n':'2'}}}"));
    kc_auto(kc_object) *none = object_of("{'metadata':{}}");
    kc_auto(kc_object) *empty = object_of("{'metadata':{'annotations':{}}}");
    kc_auto(kc_predicate) *predicate = kc_predicate_annotations();
    assert_false(kc_predicate_passes(predicate, KC_CHANGE_UPDATE,
                                     &(kc_change){.old = none, .object = empty}));
}

static void comparisons_let_all_but_updates_pass(void **state)
{
    (void)state;
    static const kc_change_type others[] = {KC_CHANGE_CREATE, KC_CHANGE_DELETE, KC_CHANGE_GENERIC};
    for (size_t i = 0; i < KC_COUNT(others); i++) {
        assert_true(passes(kc_predicate_generation(), others[i], plain));
        assert_true(passes(kc_predicate_resource_version(), others[i], plain));
        assert_true(passes(kc_predicate_labels(), others[i], plain));
        assert_true(passes(kc_predicate_annotations(), others[i], plain));
    }
}

static void a_selector_is_asked_for_every_change(void **state)
{
    (void)state;
    assert_true(passes(kc_predicate_selector("app=web", NULL), KC_CHANGE_CREATE, plain));
    assert_false(passes(kc_predicate_selector("app=db", NULL), KC_CHANGE_CREATE, plain));
    assert_false(passes(kc_predicate_selector("app=db", NULL), KC_CHANGE_DELETE, plain));
    assert_true(update_passes(kc_predicate_selector("app=db", NULL),
                              "{'metadata':{'labels':{'app':'db'}}}")); /* The new one counts. */
    kc_scoped(kc_error) err = {0};
    assert_null(kc_predicate_selector("a in (", &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
}

static bool is_create(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    ++*(int *)user;
    return type == KC_CHANGE_CREATE;
}

static void predicates_are_built_of_each_other(void **state)
{
    (void)state;
    int asked = 0;
    assert_false(passes(kc_predicate_and(kc_predicate_new(is_create, &asked), NULL,
                                         kc_predicate_new(is_create, &asked)),
                        KC_CHANGE_DELETE, plain));
    assert_int_equal(asked, 1); /* The first decides. */
    assert_true(passes(kc_predicate_or(NULL, kc_predicate_new(is_create, &asked),
                                       kc_predicate_new(is_create, &asked)),
                       KC_CHANGE_CREATE, plain));
    assert_int_equal(asked, 2);
    assert_true(
        passes(kc_predicate_not(kc_predicate_new(is_create, &asked)), KC_CHANGE_DELETE, plain));
    assert_true(update_passes(kc_predicate_or(kc_predicate_generation(), kc_predicate_labels()),
                              "{'metadata':{'generation':1}}"));
    assert_false(update_passes(kc_predicate_and(kc_predicate_generation(), kc_predicate_labels()),
                               "{'metadata':{'generation':1}}"));
    assert_null(kc_predicate_and(NULL, NULL));
}

TESTS(no_predicate_lets_everything_pass, comparisons_swallow_updates_that_change_nothing_of_theirs,
      labels_are_compared_as_a_map, annotations_are_too, comparisons_let_all_but_updates_pass,
      a_selector_is_asked_for_every_change, predicates_are_built_of_each_other)
