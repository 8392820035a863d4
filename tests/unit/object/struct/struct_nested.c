/* SPDX-License-Identifier: Apache-2.0 */
/* Nested lists and maps: decoding, encoding, merging over the original object, defaults. */
#include "testing.h"

#include "kc/struct.h"

typedef struct arm {
    char *name;
    int32_t *joints;
} arm;

typedef KC_MAP_OF(KC_LIST_OF(arm)) arms_by_side;

typedef struct robot {
    kc_object_meta metadata;
    KC_LIST_OF(KC_LIST_OF(int32_t)) matrix;
    KC_MAP_OF(KC_LIST_OF(char *)) groups;
    KC_MAP_OF(kc_string_map) names;
    arms_by_side sides;
    kc_string_map *rooms;
    size_t n_rooms;
    kc_string_map *maybe;
    KC_MAP_OF(KC_LIST_OF(arm *)) spare;
    KC_LIST_OF(KC_LIST_OF(KC_LIST_OF(KC_MAP_OF(bool)))) deep;
} robot;

#define F(in, json, member, a_shape, ...) \
    {.name = json, .offset = offsetof(in, member), .shape = KC_SHAPE_##a_shape, __VA_ARGS__}
#define COUNT(member) .count_offset = offsetof(robot, member)
#define INNER(a_shape, a_type, ...)                                 \
    .type = KC_MEMBER_INNER, .inner = &(const kc_member)            \
    {                                                               \
        KC_INNER_##a_shape, .type = KC_MEMBER_##a_type, __VA_ARGS__ \
    }

static const kc_member arm_fields[] = {
    F(arm, "name", name, VALUE, .type = KC_MEMBER_TEXT),
    F(arm, "joints", joints, POINTER, .type = KC_MEMBER_INT32, .default_json = "3"),
};
static const kc_struct arm_table = {"arm", sizeof(arm), arm_fields, KC_COUNT(arm_fields), -1};

static const kc_member bools = {KC_INNER_MAP, .type = KC_MEMBER_BOOLEAN};
static const kc_member bools_list = {KC_INNER_LIST, .type = KC_MEMBER_INNER, .inner = &bools};

static const kc_member robot_fields[] = {
    F(robot, "metadata", metadata, VALUE, .type = KC_MEMBER_STRUCT, .of = &kc_struct_object_meta,
      .flags = KC_MEMBER_OMIT_EMPTY),
    F(robot, "matrix", matrix, LIST, COUNT(matrix.n), INNER(LIST, INT32),
      .default_json = "[[1],[2,3]]"),
    F(robot, "groups", groups, MAP, INNER(LIST, TEXT), .flags = KC_MEMBER_KEEP_EMPTY),
    F(robot, "names", names, MAP, INNER(MAP, TEXT)),
    F(robot, "sides", sides, MAP, INNER(LIST, STRUCT, .of = &arm_table)),
    F(robot, "rooms", rooms, LIST, COUNT(n_rooms), INNER(MAP, TEXT)),
    F(robot, "maybe", maybe, POINTER, INNER(MAP, TEXT)),
    F(robot, "spare", spare, MAP,
      INNER(LIST, STRUCT, .of = &arm_table, .flags = KC_MEMBER_POINTERS)),
    F(robot, "deep", deep, LIST, COUNT(deep.n), INNER(LIST, INNER, .inner = &bools_list)),
};
static const kc_struct robot_table = {"robot", sizeof(robot), robot_fields, KC_COUNT(robot_fields),
                                      offsetof(robot, metadata)};
static const kc_kind robot_kind = {"example.io", "v1",    "Robot",
                                   "robots",     "robot", .namespaced = true};

#define FULL                                                                                   \
    "{'apiVersion':'example.io/v1','kind':'Robot','metadata':{'name':'r'},'matrix':[[1,2],[]," \
    "[3]],'groups':{'a':['x','y'],'b':[]},'names':{'en':{'one':'1'},'de':{}},'sides':{'l':[{"  \
    "'name':'q','joints':2},{'name':'p'}]},'rooms':[{'k':'v'},{}],'maybe':{},'spare':{'s':[{"  \
    "'name':'t'},null]},'deep':[[[{'yes':true},{}],[]]]}"

static void robot_free(robot *r)
{
    kc_struct_free(&robot_table, r);
}
KC_AUTO_DEFINE(robot, robot_free)

static robot *decode(const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of(json);
    robot *r = kc_struct_decode(&robot_table, object, &err);
    if (!r)
        fail_msg("%s", kc_error_text(&err));
    return r;
}

static void nested_containers_are_decoded(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(FULL);
    assert_int_equal(r->matrix.n, 3);
    assert_int_equal(r->matrix.items[0].items[1], 2);
    assert_int_equal(r->matrix.items[1].n, 0);
    assert_string_equal(r->groups.items[0].key, "a");
    assert_string_equal(r->groups.items[0].value.items[1], "y");
    assert_string_equal(r->names.items[0].value.items[0].value, "1");
    assert_int_equal(*r->sides.items[0].value.items[0].joints, 2);
    assert_string_equal(r->rooms[0].items[0].key, "k");
    assert_non_null(r->maybe);
    assert_string_equal(r->spare.items[0].value.items[0]->name, "t");
    assert_null(r->spare.items[0].value.items[1]);
    assert_true(r->deep.items[0].items[0].items[0].items[0].value);
}

static void nested_containers_round_trip(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(FULL);
    kc_auto(kc_object) *before = object_of(FULL);
    kc_auto(kc_object) *after = kc_struct_encode(&robot_table, &robot_kind, r, NULL);
    assert_string_equal(kc_object_json(after).p, kc_object_json(before).p);
    r->metadata.origin = kc_object_unref(r->metadata.origin);
    kc_auto(kc_object) *alone = kc_struct_encode(&robot_table, &robot_kind, r, NULL);
    assert_string_equal(kc_object_json(alone).p, kc_object_json(before).p);
}

static void unknown_members_of_nested_structs_survive(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode("{'metadata':{'name':'r'},'groups':{},'sides':{'l':[{'name':'a',"
                               "'colour':'red'},{'name':'gone'}],'gone':[]}}");
    int32_t nine = 9;
    r->sides.n = 1;
    r->sides.items[0].value.n = 1;
    r->sides.items[0].value.items[0].joints = &nine;
    kc_auto(kc_object) *now = kc_struct_encode(&robot_table, &robot_kind, r, NULL);
    assert_contains(kc_object_json(now).p,
                    "\"sides\":{\"l\":[{\"name\":\"a\",\"colour\":\"red\",\"joints\":9}]},");
}

static void wrong_nested_type_fails_with_path(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"{'matrix':[[1],['2']]}", "matrix: [1]: [0]: expected an integer in range, got string"},
        {"{'matrix':[1]}", "matrix: [0]: expected a list, got integer"},
        {"{'groups':{'a':'x'}}", "groups: [a]: expected a list, got string"},
        {"{'names':{'a':{'b':[]}}}", "names: [a]: [b]: expected a string, got array"},
        {"{'maybe':[]}", "maybe: expected an object, got array"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *object = object_of(cases[i].json);
        assert_null(kc_struct_decode(&robot_table, object, &err));
        assert_string_equal(kc_error_text(&err), cases[i].text);
    }
}

static void nested_null_is_empty(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode("{'groups':{'a':null},'matrix':[null],'maybe':null}");
    assert_int_equal(r->groups.items[0].value.n, 0);
    assert_int_equal(r->matrix.items[0].n, 0);
    assert_null(r->maybe);
}

static void copy_of_nested_containers_is_equal_and_independent(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(FULL);
    kc_auto(robot) *copy = kc_struct_copy(&robot_table, r);
    assert_true(kc_struct_equal(&robot_table, r, copy));
    copy->matrix.items[0].items[0] = 7;
    assert_int_equal(r->matrix.items[0].items[0], 1);
    assert_false(kc_struct_equal(&robot_table, r, copy));
}

static void defaults_are_applied_in_nested_containers(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode("{'sides':{'l':[{'name':'a'}]},'spare':{'s':[{'name':'b'},null]}}");
    kc_struct_default(&robot_table, r, r->metadata.arena);
    assert_int_equal(r->matrix.n, 2);
    assert_int_equal(r->matrix.items[1].items[1], 3);
    assert_int_equal(*r->sides.items[0].value.items[0].joints, 3);
    assert_int_equal(*r->spare.items[0].value.items[0]->joints, 3);
}

static void required_containers_are_written_when_empty(void **state)
{
    (void)state;
    robot mine = {.metadata.name = (char *)"own"};
    kc_auto(kc_object) *object = kc_struct_encode(&robot_table, &robot_kind, &mine, NULL);
    assert_string_equal(kc_object_json(object).p,
                        "{\"apiVersion\":\"example.io/v1\",\"kind\":\"Robot\",\"metadata\":{"
                        "\"name\":\"own\"},\"groups\":{}}");
}

TESTS(nested_containers_are_decoded, nested_containers_round_trip,
      unknown_members_of_nested_structs_survive, wrong_nested_type_fails_with_path,
      nested_null_is_empty, copy_of_nested_containers_is_equal_and_independent,
      defaults_are_applied_in_nested_containers, required_containers_are_written_when_empty)
