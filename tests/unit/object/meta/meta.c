/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/meta.h"
#include "testing.h"

#define POD                                                                                    \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'web','namespace':'prod','uid':'u-1'," \
    "'labels':{'app':'web','tier':'front','odd':7,'quote\\\"d':'a\\\\b'},"                     \
    "'annotations':{'note':'line\\none','plain':'x'},"                                         \
    "'finalizers':['a.io/one',3,'b.io/two'],"                                                  \
    "'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n1','uid':'u-n'},5,"          \
    "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web-1','uid':'u-rs',"                 \
    "'controller':true,'blockOwnerDeletion':true,'extra':{'uid':'no'}}]},'spec':{}}"

static void one_label_is_found_by_its_key(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(POD);
    kc_scoped(kc_arena) arena = {0};
    assert_str(kc_object_label(pod, KC_STR("tier"), &arena), "front");
    assert_int_equal(arena.used, 0);
    assert_str(kc_object_label(pod, KC_STR("quote\"d"), &arena), "a\\b");
    assert_null(kc_object_label(pod, KC_STR("absent"), &arena).p);
    assert_null(kc_object_label(pod, KC_STR("odd"), &arena).p);
    assert_true(kc_object_label_is(pod, KC_STR("app"), KC_STR("web")));
    assert_true(kc_object_label_is(pod, KC_STR("quote\"d"), KC_STR("a\\b")));
    assert_false(kc_object_label_is(pod, KC_STR("app"), KC_STR("we")));
    assert_true(kc_object_has_label(pod, KC_STR("app")));
    assert_false(kc_object_has_label(pod, KC_STR("ap")));
    assert_false(kc_object_has_label(pod, KC_STR("odd")));
}

static void annotations_are_unescaped(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(POD);
    kc_scoped(kc_arena) arena = {0};
    assert_str(kc_object_annotation(pod, KC_STR("note"), &arena), "line\none");
    assert_str(kc_object_annotation(pod, KC_STR("plain"), &arena), "x");
    assert_true(kc_object_annotation_is(pod, KC_STR("note"), KC_STR("line\none")));
    assert_true(kc_object_has_annotation(pod, KC_STR("plain")));
    assert_false(kc_object_has_annotation(pod, KC_STR("app")));
}

static void label_iteration_skips_values_that_are_not_strings(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(POD);
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) seen = {0};
    kc_meta_iter at = kc_object_labels(pod, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&at, &key, &value))
        kc_buf_printf(&seen, "%.*s=%.*s;", KC_ARG(key), KC_ARG(value));
    assert_str(kc_buf_str(&seen), "app=web;tier=front;quote\"d=a\\b;");
    assert_false(kc_meta_next_pair(&at, &key, &value));
}

static void finalizers_are_found_and_iterated(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(POD);
    kc_scoped(kc_arena) arena = {0};
    assert_true(kc_object_has_finalizer(pod, KC_STR("b.io/two")));
    assert_false(kc_object_has_finalizer(pod, KC_STR("b.io/tw")));
    kc_meta_iter at = kc_object_finalizers(pod, &arena);
    kc_str name;
    assert_true(kc_meta_next_text(&at, &name));
    assert_str(name, "a.io/one");
    assert_true(kc_meta_next_text(&at, &name));
    assert_str(name, "b.io/two");
    assert_false(kc_meta_next_text(&at, &name));
}

static void owners_are_iterated_and_controller_is_found(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(POD);
    kc_scoped(kc_arena) arena = {0};
    kc_meta_iter at = kc_object_owners(pod, &arena);
    kc_owner owner;
    assert_true(kc_meta_next_owner(&at, &owner));
    assert_str(owner.kind, "Node");
    assert_false(owner.controller || owner.block_owner_deletion);
    assert_true(kc_meta_next_owner(&at, &owner));
    assert_str(owner.api_version, "apps/v1");
    assert_str(owner.name, "web-1");
    assert_false(kc_meta_next_owner(&at, &owner));

    kc_owner controller;
    assert_true(kc_object_controller(pod, &arena, &controller));
    assert_str(controller.uid, "u-rs");
    assert_true(controller.block_owner_deletion);
    assert_true(kc_object_owned_by(pod, KC_STR("u-n")));
    assert_false(kc_object_owned_by(pod, KC_STR("no")));
    assert_true(kc_object_controlled_by(pod, KC_STR("u-rs")));
    assert_false(kc_object_controlled_by(pod, KC_STR("u-n")));
}

static void object_without_metadata_has_no_labels_or_owners(void **state)
{
    (void)state;
    static const char *const bare[] = {
        "{}", "{'metadata':{}}", "{'metadata':{'labels':null,'finalizers':'x'}}",
        "{'metadata':{'labels':{},'annotations':{},'finalizers':[],'ownerReferences':[]}}"};
    for (size_t i = 0; i < KC_COUNT(bare); i++) {
        kc_auto(kc_object) *o = object_of(bare[i]);
        kc_scoped(kc_arena) arena = {0};
        kc_str key, value;
        kc_owner owner;
        kc_meta_iter labels = kc_object_labels(o, &arena), owners = kc_object_owners(o, &arena),
                     finalizers = kc_object_finalizers(o, &arena),
                     annotations = kc_object_annotations(o, &arena);
        assert_false(kc_object_has_label(o, KC_STR("app")));
        assert_false(kc_object_has_finalizer(o, KC_STR("x")));
        assert_false(kc_object_owned_by(o, KC_STR("")));
        assert_false(kc_object_controller(o, &arena, &owner));
        assert_false(kc_meta_next_pair(&labels, &key, &value));
        assert_false(kc_meta_next_pair(&annotations, &key, &value));
        assert_false(kc_meta_next_text(&finalizers, &value));
        assert_false(kc_meta_next_owner(&owners, &owner));
        assert_false(kc_object_being_deleted(o));
        assert_false(kc_object_has_managed_fields(o));
    }
}

static void deletion_and_managed_fields_are_read(void **state)
{
    (void)state;
    kc_auto(kc_object) *o = object_of("{'metadata':{'deletionTimestamp':'2024-01-01T00:00:00Z',"
                                      "'managedFields':[{'manager':'kubectl'}]}}");
    assert_true(kc_object_being_deleted(o));
    assert_true(kc_object_has_managed_fields(o));
    kc_auto(kc_object) *no =
        object_of("{'metadata':{'deletionTimestamp':null,'managedFields':[]}}");
    assert_false(kc_object_being_deleted(no));
    assert_false(kc_object_has_managed_fields(no));
}

static void key_consists_of_namespace_and_name(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(POD);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_key key;
    kc_key_write(&out, kc_object_key(pod));
    assert_str(kc_buf_str(&out), "prod/web");
    kc_buf_clear(&out);
    kc_key_write(&out, KC_KEY("", "node-1"));
    assert_str(kc_buf_str(&out), "node-1");

    assert_int_equal(kc_key_parse(KC_STR("prod/web"), &key, NULL), 0);
    assert_true(kc_key_eq(key, kc_object_key(pod)));
    assert_int_equal(kc_key_parse(KC_STR("node-1"), &key, NULL), 0);
    assert_true(kc_key_eq(key, KC_KEY(NULL, "node-1")));
    assert_int_equal(kc_key_parse(KC_STR("a/b/c"), &key, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "unexpected key format: \"a/b/c\"");
    assert_true(kc_key_cmp(KC_KEY("a", "z"), KC_KEY("b", "a")) < 0);
    assert_true(kc_key_cmp(KC_KEY("a", "z"), KC_KEY("a", "y")) > 0);
    assert_int_equal(kc_key_cmp(KC_KEY("a", "z"), KC_KEY("a", "z")), 0);
}

static void names_are_set_and_removed(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'kind':'Pod'}");
    kc_edit_set_name(edit, KC_STR("web"));
    kc_edit_set_namespace(edit, KC_STR("prod"));
    assert_node_json(kc_edit_root(edit),
                     "{'kind':'Pod','metadata':{'name':'web','namespace':'prod'}}");
    kc_edit_set_namespace(edit, KC_STR(""));
    assert_node_json(kc_edit_root(edit), "{'kind':'Pod','metadata':{'name':'web'}}");
}

static void labels_and_annotations_are_set_and_removed(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{}");
    assert_false(kc_edit_remove_label(edit, KC_STR("app")));
    assert_true(kc_edit_set_label(edit, KC_STR("app"), KC_STR("web")));
    assert_false(kc_edit_set_label(edit, KC_STR("app"), KC_STR("web")));
    assert_true(kc_edit_set_label(edit, KC_STR("app"), KC_STR("db")));
    assert_true(kc_edit_set_annotation(edit, KC_STR("note"), KC_STR("a\"b")));
    assert_node_json(kc_edit_root(edit), "{'metadata':{'labels':{'app':'db'},"
                                         "'annotations':{'note':'a\\'b'}}}");
    assert_true(kc_edit_remove_label(edit, KC_STR("app")));
    assert_true(kc_edit_remove_annotation(edit, KC_STR("note")));
    assert_false(kc_edit_remove_annotation(edit, KC_STR("note")));
    assert_node_json(kc_edit_root(edit), "{'metadata':{}}");
}

static void label_that_is_not_a_string_is_replaced(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'metadata':{'labels':{'app':1},'annotations':[]}}");
    assert_true(kc_edit_set_label(edit, KC_STR("app"), KC_STR("1")));
    assert_true(kc_edit_set_annotation(edit, KC_STR("a"), KC_STR("")));
    assert_node_json(kc_edit_root(edit),
                     "{'metadata':{'labels':{'app':'1'},'annotations':{'a':''}}}");
}

static void finalizer_is_added_once_and_removed_at_any_position(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit = edit_of("{'metadata':{'finalizers':['x','y','x']}}");
    assert_false(kc_edit_add_finalizer(edit, KC_STR("y")));
    assert_true(kc_edit_add_finalizer(edit, KC_STR("z")));
    assert_true(kc_edit_remove_finalizer(edit, KC_STR("x")));
    assert_false(kc_edit_remove_finalizer(edit, KC_STR("x")));
    assert_node_json(kc_edit_root(edit), "{'metadata':{'finalizers':['y','z']}}");
    assert_true(kc_edit_remove_finalizer(edit, KC_STR("y")));
    assert_true(kc_edit_remove_finalizer(edit, KC_STR("z")));
    assert_node_json(kc_edit_root(edit), "{'metadata':{}}");
    assert_true(kc_edit_add_finalizer(edit, KC_STR("w")));
    assert_node_json(kc_edit_root(edit), "{'metadata':{'finalizers':['w']}}");
}

static void owner_is_added_or_updated(void **state)
{
    (void)state;
    kc_auto(kc_object) *owner = object_of("{'apiVersion':'apps/v1','kind':'ReplicaSet',"
                                          "'metadata':{'name':'web-1','uid':'u-rs'}}");
    kc_auto(kc_edit) *edit = edit_of("{}");
    kc_owner reference = kc_owner_of(owner, false);
    kc_edit_set_owner(edit, &reference);
    reference.api_version = KC_STR("apps/v2");
    reference.uid = KC_STR("u-new");
    kc_edit_set_owner(edit, &reference);
    assert_node_json(kc_edit_root(edit),
                     "{'metadata':{'ownerReferences':[{'apiVersion':'apps/v2','kind':'ReplicaSet',"
                     "'name':'web-1','uid':'u-new'}]}}");
    assert_false(kc_edit_remove_owner(edit, KC_STR("u-rs")));
    assert_true(kc_edit_remove_owner(edit, KC_STR("u-new")));
    assert_node_json(kc_edit_root(edit), "{'metadata':{}}");
}

static void second_controller_returns_conflict(void **state)
{
    (void)state;
    kc_auto(kc_object) *owner = object_of("{'apiVersion':'apps/v1','kind':'ReplicaSet',"
                                          "'metadata':{'name':'web-1','uid':'u-rs'}}");
    kc_auto(kc_edit) *edit = edit_of("{'metadata':{'name':'p','namespace':'n'}}");
    kc_owner reference = kc_owner_of(owner, true), other = reference;
    assert_int_equal(kc_edit_set_controller(edit, &reference, NULL), 0);
    assert_int_equal(kc_edit_set_controller(edit, &reference, NULL), 0);
    assert_node_json(kc_edit_root(edit),
                     "{'metadata':{'name':'p','namespace':'n','ownerReferences':[{'apiVersion':"
                     "'apps/v1','kind':'ReplicaSet','name':'web-1','uid':'u-rs',"
                     "'controller':true,'blockOwnerDeletion':true}]}}");
    kc_scoped(kc_error) err = {0};
    other.name = KC_STR("web-2");
    assert_int_equal(kc_edit_set_controller(edit, &other, &err), -KC_CONFLICT);
    assert_error(&err, KC_CONFLICT,
                 "Object n/p is already owned by another ReplicaSet controller web-1");
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, NULL);
    assert_true(kc_object_controlled_by(frozen, KC_STR("u-rs")));
}

static void owner_matches_kind_in_any_version(void **state)
{
    (void)state;
    static const kc_kind set = {.group = "apps", .version = "v1", .kind = "ReplicaSet"},
                         pod = {.version = "v1", .kind = "Pod"};
    const kc_owner of_set = {.api_version = KC_STR("apps/v1beta2"), .kind = KC_STR("ReplicaSet")},
                   other_group = {.api_version = KC_STR("mine/v1"), .kind = KC_STR("ReplicaSet")},
                   of_pod = {.api_version = KC_STR("v1"), .kind = KC_STR("Pod")},
                   of_none = {.kind = KC_STR("Pod")};
    assert_true(kc_owner_is(&of_set, &set));
    assert_false(kc_owner_is(&of_set, &pod));
    assert_false(kc_owner_is(&other_group, &set));
    assert_true(kc_owner_is(&of_pod, &pod));
    assert_false(kc_owner_is(&of_pod, &set));
    assert_false(kc_owner_is(&of_none, &set));
}

TESTS(one_label_is_found_by_its_key, annotations_are_unescaped,
      label_iteration_skips_values_that_are_not_strings, finalizers_are_found_and_iterated,
      owners_are_iterated_and_controller_is_found, object_without_metadata_has_no_labels_or_owners,
      deletion_and_managed_fields_are_read, key_consists_of_namespace_and_name,
      names_are_set_and_removed, labels_and_annotations_are_set_and_removed,
      label_that_is_not_a_string_is_replaced, finalizer_is_added_once_and_removed_at_any_position,
      owner_is_added_or_updated, second_controller_returns_conflict,
      owner_matches_kind_in_any_version)
