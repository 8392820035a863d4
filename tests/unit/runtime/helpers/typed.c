/* SPDX-License-Identifier: Apache-2.0 */
/* A kind as generated code defines it: structs through clients and caches, with the real server. */
#include "plane_testing.h"

#include "kc/create_or_update.h"
#include "kc/typed.h"

typedef struct card {
    kc_object_meta metadata;
    kc_string_map data;
} card;

static const kc_member card_members[] = {
    {.name = "metadata",
     .offset = offsetof(card, metadata),
     .type = KC_MEMBER_STRUCT,
     .of = &kc_struct_object_meta},
    {.name = "data", .offset = offsetof(card, data), .type = KC_MEMBER_TEXT, .shape = KC_SHAPE_MAP},
};
static const kc_struct card_struct = {"card", sizeof(card), card_members, KC_COUNT(card_members),
                                      offsetof(card, metadata)};
static const kc_typed card_type = {&kc_kind_config_map, &card_struct};
KC_TYPED_KIND(card)

static card greeting(kc_string_pair *pair)
{
    return (card){.metadata = {.name = (char *)"a", .ns = (char *)"default"}, .data = {pair, 1}};
}

static kc_string_pair hello = {(char *)"k", (char *)"hello"};

static void struct_is_created_and_read(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    card mine = greeting(&hello);
    OK(card_create(client, &mine, &err), &err);
    kc_auto(card) *read = card_get(client, KC_KEY("default", "a"), &err);
    assert_non_null(read);
    assert_string_equal(read->data.items[0].value, "hello");
    assert_non_null(read->metadata.uid);
    assert_null(card_get(client, KC_KEY("default", "b"), &err));
    assert_true(kc_is_not_found(&err));
}

static void update_keeps_unknown_fields_and_sets_resource_version(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':"
                  "'default'},'data':{'k':'v'},'binaryData':{'b':'AAEC'}}");
    kc_auto(card) *c = card_get(client, KC_KEY("default", "a"), &err);
    c->data.items[0].value = (char *)"w";
    OK(card_update(client, c, &err), &err);
    assert_string_not_equal(c->metadata.resource_version, kc_object_resource_version(made).p);
    c->data.items[0].value = (char *)"x";
    OK(card_update(client, c, &err), &err); /* With the version of the first one: no conflict. */
    kc_auto(kc_object) *now = look_up(env, &kc_kind_config_map, "a");
    assert_contains(kc_object_json(now).p, "\"b\":\"AAEC\"");
    assert_contains(kc_object_json(now).p, "\"k\":\"x\"");
}

static void patch_is_sent_only_when_something_changed(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    card mine = greeting(&hello);
    OK(card_create(client, &mine, &err), &err);
    kc_auto(card) *c = card_get(client, KC_KEY("default", "a"), &err);
    assert_int_equal(OK(card_patch(client, c, &err), &err), 0);
    c->data.items[0].value = (char *)"w";
    assert_int_equal(OK(card_patch(client, c, &err), &err), 1);
    assert_string_equal(c->data.items[0].value, "w");
}

static void ensure_creates_updates_or_leaves_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_client *client = kc_testenv_client(env);
    kc_scoped(kc_error) err = {0};
    card mine = greeting(&hello);
    assert_int_equal(OK(card_ensure(client, &mine, &err), &err), KC_OPERATION_CREATED);
    assert_int_equal(OK(card_ensure(client, &mine, &err), &err), KC_OPERATION_UNCHANGED);
    kc_string_pair other = {(char *)"k2", (char *)"v2"};
    card more = greeting(&other);
    assert_int_equal(OK(card_ensure(client, &more, &err), &err), KC_OPERATION_UPDATED);
    kc_auto(card) *c = card_get(client, KC_KEY("default", "a"), &err);
    assert_int_equal(c->data.n, 2);
}

static void lists_are_read_from_server_and_cache(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *one = make(env, CONFIG_MAP("one")), *two = make(env, CONFIG_MAP("two"));
    kc_scoped(card_list) live = {0}, cached = {0};
    OK(card_client_list(kc_testenv_client(env), NULL, &live, &err), &err);
    assert_int_equal(live.n, 2);
    assert_string_equal(live.items[1]->metadata.name, "two");
    OK(kc_testenv_run(env, &err), &err);
    kc_cache *cache = kc_manager_cache(kc_testenv_manager(env));
    OK(card_lister_list(cache, NULL, &cached, &err), &err);
    assert_int_equal(cached.n, 2);
    kc_auto(card) *c = card_lister_get(cache, KC_KEY("default", "one"), &err);
    assert_string_equal(c->metadata.name, "one");
}

static void controller_reference_of_another_owner_is_a_conflict(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    card owner = {.metadata = {.name = (char *)"o", .uid = (char *)"u1"}};
    card other = {.metadata = {.name = (char *)"p", .uid = (char *)"u2"}};
    card child = {.metadata = {.name = (char *)"c"}};
    OK(card_set_controller(&child.metadata, &owner, &arena, &err), &err);
    OK(card_set_controller(&child.metadata, &owner, &arena, &err), &err);
    assert_int_equal(child.metadata.n_owner_references, 1);
    assert_string_equal(child.metadata.owner_references[0].api_version, "v1");
    assert_true(card_set_controller(&child.metadata, &other, &arena, &err) < 0);
    assert_error(&err, KC_CONFLICT, "c is controlled by ConfigMap o");
}

static void struct_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    card mine = greeting(&hello);
    OK(card_create(kc_testenv_client(env), &mine, &err), &err);
    OK(card_delete(kc_testenv_client(env), &mine, &err), &err);
    kc_auto(kc_object) *gone = look_up(env, &kc_kind_config_map, "a");
    assert_null(gone);
}

TESTS(struct_is_created_and_read, update_keeps_unknown_fields_and_sets_resource_version,
      patch_is_sent_only_when_something_changed, ensure_creates_updates_or_leaves_unchanged,
      lists_are_read_from_server_and_cache, controller_reference_of_another_owner_is_a_conflict,
      struct_is_deleted)
