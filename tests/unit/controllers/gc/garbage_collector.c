/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The garbage collector in simulated time: each propagation policy, and each shape of the owner
 * graph.
 */
#include "garbage_testing.h"

/* ---- in the background ---- */

static void dependents_are_deleted_after_their_owner(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(1);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    kc_auto(kc_object) *other = map(env, "other", NO_OWNERS);
    settle(env);
    assert_true(has_map(env, "child"));
    remove_map(env, "owner", "Background");
    assert_false(has_map(env, "owner"));
    settle(env);
    assert_false(has_map(env, "child"));
    assert_true(has_map(env, "other"));
}

static void chain_of_owners_is_deleted_completely(void **state)
{
    (void)state;
    enum { LINKS = 20 };
    kc_auto(kc_testenv) *env = collected(2);
    kc_object *last = map(env, "link-0", NO_OWNERS);
    for (int i = 1; i < LINKS; i++) {
        kc_autofree char *name = kc_asprintf("link-%d", i);
        kc_object *next = map(env, name, OWNERS(last));
        kc_object_unref(last);
        last = next;
    }
    kc_object_unref(last);
    settle(env);
    remove_map(env, "link-0", "Background");
    settle(env);
    for (int i = 0; i < LINKS; i++) {
        kc_autofree char *name = kc_asprintf("link-%d", i);
        assert_false(has_map(env, name));
    }
}

static void dependent_stays_while_one_owner_exists(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(3);
    kc_auto(kc_object) *one = map(env, "one", NO_OWNERS);
    kc_auto(kc_object) *two = map(env, "two", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(one, two));
    settle(env);
    remove_map(env, "one", "Background");
    settle(env);
    assert_int_equal(count_owners(env, "child"), 1);
    remove_map(env, "two", "Background");
    settle(env);
    assert_false(has_map(env, "child"));
}

static void diamond_of_owners_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(4);
    kc_auto(kc_object) *top = map(env, "top", NO_OWNERS);
    kc_auto(kc_object) *left = map(env, "left", OWNERS(top));
    kc_auto(kc_object) *right = map(env, "right", OWNERS(top));
    kc_auto(kc_object) *bottom = map(env, "bottom", OWNERS(left, right));
    settle(env);
    remove_map(env, "top", "Background");
    settle(env);
    assert_false(has_map(env, "left") || has_map(env, "right") || has_map(env, "bottom"));
}

static void set_owner(kc_testenv *env, const char *name, const kc_object *owner)
{
    kc_scoped(kc_buf) patch = {0};
    kc_buf_puts(&patch, "{\"metadata\":{\"ownerReferences\":[");
    write_owners(&patch, OWNERS(owner), true);
    kc_buf_puts(&patch, "]}}");
    change_map(env, name, kc_buf_cstr(&patch));
}

static void cycle_stays_until_one_member_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(5);
    kc_auto(kc_object) *a = map(env, "a", NO_OWNERS);
    kc_auto(kc_object) *b = map(env, "b", OWNERS(a));
    kc_auto(kc_object) *c = map(env, "c", OWNERS(b));
    set_owner(env, "a", c);
    settle(env);
    assert_true(has_map(env, "a") && has_map(env, "b") && has_map(env, "c"));
    remove_map(env, "b", "Background");
    settle(env);
    assert_false(has_map(env, "a") || has_map(env, "b") || has_map(env, "c"));
}

static void self_owning_object_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(6);
    kc_auto(kc_object) *a = map(env, "a", NO_OWNERS);
    set_owner(env, "a", a);
    settle(env);
    remove_map(env, "a", "Foreground");
    settle(env);
    assert_false(has_map(env, "a"));
}

static void kinds_of_owner_and_dependent_may_differ(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(7);
    kc_auto(kc_object) *node =
        make(env, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}}");
    kc_auto(kc_object) *child = map(env, "child", OWNERS(node));
    kc_auto(kc_object) *secret =
        make_owned(env, "v1 Secret", "default", "secret", OWNERS(child), true);
    settle(env);
    assert_true(has_map(env, "child"));
    assert_int_equal(
        kc_client_delete(kc_testenv_client(env), &kc_kind_node, KC_KEY("", "n"), NULL, NULL), 0);
    settle(env);
    kc_auto(kc_object) *found = look_up(env, &kc_kind_secret, "secret");
    assert_false(has_map(env, "child"));
    assert_null(found);
}

/* ---- absent owners ---- */

#define REFERENCE(name, uid)                                                              \
    "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'" name \
    "','uid':'" uid "'}]}}"

static void dependent_of_absent_owner_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(8);
    kc_auto(kc_object) *child = map(env, "child", NO_OWNERS);
    change_map(env, "child", REFERENCE("nobody", "6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b7"));
    settle(env);
    assert_false(has_map(env, "child"));
}

static void recreated_owner_does_not_keep_dependents(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(9);
    kc_auto(kc_object) *first = map(env, "owner", NO_OWNERS);
    remove_map(env, "owner", "Background");
    kc_auto(kc_object) *second = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *of_first = map(env, "of-first", OWNERS(first));
    kc_auto(kc_object) *of_second = map(env, "of-second", OWNERS(second));
    settle(env);
    assert_false(has_map(env, "of-first"));
    assert_true(has_map(env, "of-second"));
}

static void dependents_created_after_owner_deletion_are_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(10);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *early = map(env, "early", OWNERS(owner));
    settle(env);
    remove_map(env, "owner", "Background");
    kc_auto(kc_object) *late = map(env, "late", OWNERS(owner));
    settle(env);
    kc_auto(kc_object) *later = map(env, "later", OWNERS(owner));
    settle(env);
    assert_false(has_map(env, "early") || has_map(env, "late") || has_map(env, "later"));
}

static void owner_reference_with_wrong_name_does_not_count(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(11);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *good = map(env, "good", OWNERS(owner));
    kc_autofree char *patch = kc_asprintf(
        "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'wrong',"
        "'uid':'%.*s'}]}}",
        KC_ARG(kc_object_uid(owner)));
    kc_auto(kc_object) *bad = map(env, "bad", NO_OWNERS);
    change_map(env, "bad", patch);
    settle(env);
    assert_false(has_map(env, "bad"));
    assert_true(has_map(env, "good") && has_map(env, "owner"));
}

static void dependent_of_unknown_owner_kind_is_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(12);
    kc_auto(kc_object) *child = map(env, "child", NO_OWNERS);
    change_map(env, "child",
               "{'metadata':{'ownerReferences':[{'apiVersion':'x.example/v1','kind':'Robot',"
               "'name':'r','uid':'6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b7'}]}}");
    settle(env);
    kc_testenv_advance(env, 10 * KC_MINUTE);
    assert_true(has_map(env, "child"));
}

/* ---- in the foreground ---- */

static bool is_waiting(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *object = look_up(env, &kc_kind_config_map, name);
    return object && kc_object_being_deleted(object) &&
           kc_object_has_finalizer(object, KC_STR("foregroundDeletion"));
}

static void add_finalizer(kc_testenv *env, const char *name)
{
    change_map(env, name, "{'metadata':{'finalizers':['example.com/hold']}}");
}

static void remove_finalizer(kc_testenv *env, const char *name)
{
    change_map(env, name, "{'metadata':{'finalizers':null}}");
}

static void foreground_deletion_waits_for_dependents(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(13);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    kc_auto(kc_object) *grandchild = map(env, "grandchild", OWNERS(child));
    add_finalizer(env, "grandchild");
    settle(env);
    remove_map(env, "owner", "Foreground");
    settle(env);
    assert_true(is_waiting(env, "owner"));
    assert_true(is_waiting(env, "child"));
    assert_true(has_map(env, "grandchild"));
    remove_finalizer(env, "grandchild");
    settle(env);
    assert_false(has_map(env, "owner") || has_map(env, "child") || has_map(env, "grandchild"));
}

static void foreground_deletion_ignores_non_blocking_dependents(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(14);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child =
        make_owned(env, "v1 ConfigMap", "default", "child", OWNERS(owner), false);
    add_finalizer(env, "child");
    settle(env);
    remove_map(env, "owner", "Foreground");
    settle(env);
    assert_false(has_map(env, "owner"));
    assert_true(has_map(env, "child"));
    remove_finalizer(env, "child");
    settle(env);
    assert_false(has_map(env, "child"));
}

static void dependent_with_another_owner_drops_its_waiting_owner(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(15);
    kc_auto(kc_object) *one = map(env, "one", NO_OWNERS);
    kc_auto(kc_object) *two = map(env, "two", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(one, two));
    settle(env);
    remove_map(env, "one", "Foreground");
    settle(env);
    assert_false(has_map(env, "one"));
    assert_int_equal(count_owners(env, "child"), 1);
}

static void foreground_deletion_of_a_cycle_completes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(16);
    kc_auto(kc_object) *a = map(env, "a", NO_OWNERS);
    kc_auto(kc_object) *b = map(env, "b", OWNERS(a));
    kc_auto(kc_object) *c = map(env, "c", OWNERS(b));
    set_owner(env, "a", c);
    settle(env);
    remove_map(env, "a", "Foreground");
    settle(env);
    assert_false(has_map(env, "a") || has_map(env, "b") || has_map(env, "c"));
}

static void foreground_owner_without_dependents_is_deleted_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(17);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    settle(env);
    remove_map(env, "owner", "Foreground");
    settle(env);
    assert_false(has_map(env, "owner"));
}

static void dependents_added_during_foreground_deletion_are_deleted_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(18);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    add_finalizer(env, "child");
    settle(env);
    remove_map(env, "owner", "Foreground");
    settle(env);
    kc_auto(kc_object) *late = map(env, "late", OWNERS(owner));
    settle(env);
    assert_false(has_map(env, "late"));
    assert_true(is_waiting(env, "owner"));
    remove_finalizer(env, "child");
    settle(env);
    assert_false(has_map(env, "owner"));
}

/* ---- without dependents ---- */

static void orphan_propagation_releases_dependents(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(19);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *other = map(env, "other", NO_OWNERS);
    kc_auto(kc_object) *one = map(env, "one", OWNERS(owner));
    kc_auto(kc_object) *two = map(env, "two", OWNERS(owner, other));
    kc_auto(kc_object) *below = map(env, "below", OWNERS(one));
    settle(env);
    remove_map(env, "owner", "Orphan");
    settle(env);
    assert_false(has_map(env, "owner"));
    assert_int_equal(count_owners(env, "one"), 0);
    assert_int_equal(count_owners(env, "two"), 1);
    assert_int_equal(count_owners(env, "below"), 1);
}

static void owner_without_orphans_is_deleted_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(20);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    settle(env);
    remove_map(env, "owner", "Orphan");
    settle(env);
    assert_false(has_map(env, "owner"));
}

static void orphan_finalizer_of_a_dependent_releases_its_own_dependents(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(21);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    kc_auto(kc_object) *below = map(env, "below", OWNERS(child));
    change_map(env, "child", "{'metadata':{'finalizers':['orphan']}}");
    settle(env);
    remove_map(env, "owner", "Background");
    settle(env);
    assert_false(has_map(env, "child"));
    assert_int_equal(count_owners(env, "below"), 0);
}

/* ---- concurrent changes ---- */

static void frequently_updated_object_is_collected(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(22);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    settle(env);
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_STALE_READ, .chance = 1, .times = 3});
    change_map(env, "child", "{'data':{'a':'1'}}");
    remove_map(env, "owner", "Background");
    settle(env);
    assert_false(has_map(env, "child"));
}

static void released_dependent_is_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = collected(23);
    kc_auto(kc_object) *owner = map(env, "owner", NO_OWNERS);
    kc_auto(kc_object) *child = map(env, "child", OWNERS(owner));
    settle(env);
    change_map(env, "child", "{'metadata':{'ownerReferences':null}}");
    remove_map(env, "owner", "Background");
    settle(env);
    assert_true(has_map(env, "child"));
}

TESTS(dependents_are_deleted_after_their_owner, chain_of_owners_is_deleted_completely,
      dependent_stays_while_one_owner_exists, diamond_of_owners_is_deleted,
      cycle_stays_until_one_member_is_deleted, self_owning_object_is_deleted,
      kinds_of_owner_and_dependent_may_differ, dependent_of_absent_owner_is_deleted,
      recreated_owner_does_not_keep_dependents, dependents_created_after_owner_deletion_are_deleted,
      owner_reference_with_wrong_name_does_not_count, dependent_of_unknown_owner_kind_is_kept,
      foreground_deletion_waits_for_dependents, foreground_deletion_ignores_non_blocking_dependents,
      dependent_with_another_owner_drops_its_waiting_owner,
      foreground_deletion_of_a_cycle_completes,
      foreground_owner_without_dependents_is_deleted_at_once,
      dependents_added_during_foreground_deletion_are_deleted_first,
      orphan_propagation_releases_dependents, owner_without_orphans_is_deleted_at_once,
      orphan_finalizer_of_a_dependent_releases_its_own_dependents,
      frequently_updated_object_is_collected, released_dependent_is_kept)
