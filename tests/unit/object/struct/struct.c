/* SPDX-License-Identifier: Apache-2.0 */
/* Structs by tables: decoding and encoding, with every type and shape of field. */
#include "testing.h"

#include "kc/struct.h"

typedef enum phase { PHASE_NONE, PHASE_PENDING, PHASE_RUNNING } phase;

typedef struct arm {
    char *name;
    int32_t joints;
} arm;

typedef struct battery {
    double charge;
} battery;

typedef struct spec {
    int32_t *replicas;
    char *model;
    char *nickname; /* Omitted when empty. */
    bool armed;
    arm *arms;
    size_t n_arms;
    arm **spare;
    size_t n_spare;
    char **tags;
    size_t n_tags;
    kc_string_map labels;
    KC_MAP_OF(arm) by_side;
    kc_int_or_string surge;
    kc_quantity_text memory;
    kc_timestamp built;
    kc_micro_timestamp beat;
    kc_duration_field pause;
    kc_bytes key;
    kc_raw extra;
    phase phase;
    uint64_t serial;
    float weight;
    battery power; /* Inline. */
    battery *second;
} spec;

typedef struct robot {
    kc_object_meta metadata;
    spec spec;
} robot;

#define F(in, json, member, a_type, a_shape, ...) \
    {.name = json,                                \
     .offset = offsetof(in, member),              \
     .type = KC_MEMBER_##a_type,                  \
     .shape = KC_SHAPE_##a_shape,                 \
     __VA_ARGS__}
#define TABLE(name, type, fields, meta) \
    static const kc_struct name = {#type, sizeof(type), fields, KC_COUNT(fields), meta}

static const kc_member arm_fields[] = {
    F(arm, "name", name, TEXT, VALUE),
    F(arm, "joints", joints, INT32, VALUE, .flags = KC_MEMBER_OMIT_EMPTY, .default_json = "3"),
};
TABLE(arm_table, arm, arm_fields, -1);

static const kc_member battery_fields[] = {
    F(battery, "charge", charge, FLOAT64, VALUE, .flags = KC_MEMBER_OMIT_EMPTY)};
TABLE(battery_table, battery, battery_fields, -1);

static const char *const phases[] = {"", "Pending", "Running", NULL};

static const kc_member spec_fields[] = {
    F(spec, "replicas", replicas, INT32, POINTER, .default_json = "1"),
    F(spec, "model", model, TEXT, VALUE),
    F(spec, "nickname", nickname, TEXT, VALUE, .flags = KC_MEMBER_OMIT_EMPTY,
      .default_json = "\"Bob\""),
    F(spec, "armed", armed, BOOLEAN, VALUE),
    F(spec, "arms", arms, STRUCT, LIST, .count_offset = offsetof(spec, n_arms), .of = &arm_table),
    F(spec, "spare", spare, STRUCT, LIST, .count_offset = offsetof(spec, n_spare), .of = &arm_table,
      .flags = KC_MEMBER_POINTERS),
    F(spec, "tags", tags, TEXT, LIST, .count_offset = offsetof(spec, n_tags),
      .default_json = "[\"new\"]"),
    F(spec, "labels", labels, TEXT, MAP),
    F(spec, "bySide", by_side, STRUCT, MAP, .of = &arm_table),
    F(spec, "surge", surge, INT_OR_STRING, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "memory", memory, QUANTITY, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "built", built, TIME, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "beat", beat, MICRO_TIME, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "pause", pause, DURATION, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "key", key, BYTES, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "extra", extra, RAW, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "phase", phase, ENUM, VALUE, .flags = KC_MEMBER_OMIT_EMPTY, .names = phases),
    F(spec, "serial", serial, UINT64, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "weight", weight, FLOAT32, VALUE, .flags = KC_MEMBER_OMIT_EMPTY),
    F(spec, "", power, STRUCT, VALUE, .flags = KC_MEMBER_INLINE, .of = &battery_table),
    F(spec, "second", second, STRUCT, POINTER, .of = &battery_table),
};
TABLE(spec_table, spec, spec_fields, -1);

static const kc_member robot_fields[] = {
    F(robot, "metadata", metadata, STRUCT, VALUE, .of = &kc_struct_object_meta),
    F(robot, "spec", spec, STRUCT, VALUE, .of = &spec_table),
};
TABLE(robot_table, robot, robot_fields, offsetof(robot, metadata));

static const kc_kind robot_kind = {"example.io", "v1",    "Robot",
                                   "robots",     "robot", .namespaced = true};

#define FULL                                                                                     \
    "{'apiVersion':'example.io/v1','kind':'Robot','metadata':{'name':'r','namespace':'n',"       \
    "'labels':{'a':'b'},'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':"    \
    "'u','controller':true}],'finalizers':['f']},'spec':{'replicas':3,'model':'m','armed':true," \
    "'arms':[{'name':'left','joints':2},{'name':'right'}],'spare':[{'name':'s'}],'tags':['x',"   \
    "'y'],'labels':{'k':'v'},'bySide':{'l':{'name':'q'}},'surge':'25%','memory':'1Gi','built':"  \
    "'2026-01-02T03:04:05Z','beat':'2026-01-02T03:04:05.000006Z','pause':'1m30s','key':'AAEC',"  \
    "'extra':{'any':[1,2]},'phase':'Running','serial':18446744073709551615,'weight':1.5,"        \
    "'charge':0.5,'second':{'charge':1}}}"

static robot *decode(const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of(json);
    robot *r = kc_struct_decode(&robot_table, object, &err);
    if (!r)
        fail_msg("%s", kc_error_text(&err));
    return r;
}

static void robot_free(robot *r)
{
    kc_struct_free(&robot_table, r);
}
KC_AUTO_DEFINE(robot, robot_free)

static void every_type_is_decoded(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(FULL);
    assert_string_equal(r->metadata.name, "r");
    assert_string_equal(r->metadata.ns, "n");
    assert_true(*r->metadata.owner_references[0].controller);
    assert_null(r->metadata.owner_references[0].block_owner_deletion);
    assert_string_equal(r->metadata.finalizers[0], "f");
    assert_int_equal(*r->spec.replicas, 3);
    assert_int_equal(r->spec.n_arms, 2);
    assert_int_equal(r->spec.arms[0].joints, 2);
    assert_string_equal(r->spec.spare[0]->name, "s");
    assert_string_equal(r->spec.labels.items[0].value, "v");
    assert_string_equal(r->spec.by_side.items[0].key, "l");
    assert_string_equal(r->spec.by_side.items[0].value.name, "q");
    assert_true(r->spec.surge.is_string);
    assert_string_equal(r->spec.memory.text, "1Gi");
    assert_int_equal(r->spec.built.at, INT64_C(1767323045) * KC_SECOND);
    assert_int_equal(r->spec.beat.at, INT64_C(1767323045) * KC_SECOND + 6000);
    assert_int_equal(r->spec.pause.ns, 90 * KC_SECOND);
    assert_int_equal(r->spec.key.n, 3);
    assert_int_equal(r->spec.key.p[2], 2);
    assert_string_equal(r->spec.extra.json, "{\"any\":[1,2]}");
    assert_int_equal(r->spec.phase, PHASE_RUNNING);
    assert_true(r->spec.serial == UINT64_MAX);
    assert_true(r->spec.power.charge == 0.5);
    assert_true(r->spec.second->charge == 1);
}

static void decoded_object_round_trips(void **state)
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

static void unknown_members_survive(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(
        "{'apiVersion':'example.io/v1','kind':'Robot','metadata':{'name':'r','managedFields':"
        "[{'manager':'m'}]},'spec':{'model':'m','armed':false,'future':{'a':1},'arms':[{'name':"
        "'left','colour':'red'},{'name':'gone','colour':'blue'}]},'status':{'x':1}}");
    r->spec.n_arms = 1;
    r->spec.arms[0].joints = 9;
    kc_auto(kc_object) *now = kc_struct_encode(&robot_table, &robot_kind, r, NULL);
    assert_string_equal(
        kc_object_json(now).p,
        "{\"apiVersion\":\"example.io/v1\",\"kind\":\"Robot\",\"metadata\":{\"name\":\"r\","
        "\"managedFields\":[{\"manager\":\"m\"}]},\"spec\":{\"model\":\"m\",\"armed\":false,"
        "\"future\":{\"a\":1},\"arms\":[{\"name\":\"left\",\"colour\":\"red\",\"joints\":9}]},"
        "\"status\":{\"x\":1}}");
}

static void members_removed_from_struct_are_removed(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(FULL);
    r->spec = (spec){.model = (char *)"n"};
    r->metadata.labels.n = 0;
    kc_auto(kc_object) *now = kc_struct_encode(&robot_table, &robot_kind, r, NULL);
    kc_auto(kc_view) *view = kc_view_of(now);
    assert_value_json(kc_value_get(kc_view_root(view), "spec"),
                      "{\"model\":\"n\",\"armed\":false}");
    assert_null(kc_value_get(kc_value_get(kc_view_root(view), "metadata"), "labels"));
}

static void reordered_list_is_taken_from_struct(void **state)
{
    (void)state;
    kc_auto(robot) *r =
        decode("{'metadata':{'name':'r'},'spec':{'model':'m','armed':false,'arms':[{"
               "'name':'a','colour':'red'},{'name':'b','colour':'blue'}]}}");
    arm swapped[] = {r->spec.arms[1], r->spec.arms[0]};
    r->spec.arms = swapped;
    kc_auto(kc_object) *now = kc_struct_encode(&robot_table, &robot_kind, r, NULL);
    assert_contains(kc_object_json(now).p, "\"arms\":[{\"name\":\"b\"},{\"name\":\"a\"}]");
}

static void struct_in_own_memory_is_encoded(void **state)
{
    (void)state;
    int32_t two = 2;
    robot mine = {.metadata.name = (char *)"own", .spec = {.replicas = &two, .model = (char *)"m"}};
    kc_auto(kc_object) *object = kc_struct_encode(&robot_table, &robot_kind, &mine, NULL);
    assert_string_equal(
        kc_object_json(object).p,
        "{\"apiVersion\":\"example.io/v1\",\"kind\":\"Robot\",\"metadata\":{\"name\":"
        "\"own\"},\"spec\":{\"replicas\":2,\"model\":\"m\",\"armed\":false}}");
}

static void wrong_type_fails_with_path(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"{'spec':{'replicas':'3'}}", "spec: replicas: expected an integer in range, got string"},
        {"{'spec':{'replicas':5000000000}}", "spec: replicas: 5000000000 does not fit its field"},
        {"{'spec':{'arms':[{'name':'a'},{'name':1}]}}",
         "spec: arms: [1]: name: expected a string, got integer"},
        {"{'spec':{'labels':{'k':1}}}", "spec: labels: [k]: expected a string, got integer"},
        {"{'spec':{'arms':{}}}", "spec: arms: expected a list, got object"},
        {"{'spec':[]}", "spec: expected an object, got array"},
        {"{'spec':{'phase':'Asleep'}}",
         "spec: phase: \"Asleep\" is none of the values this program knows"},
        {"{'spec':{'armed':1}}", "spec: armed: expected a boolean, got integer"},
        {"{'spec':{'key':'*'}}", "spec: key: expected base64, got string"},
        {"{'spec':{'serial':-1}}", "spec: serial: expected an integer in range, got integer"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *object = object_of(cases[i].json);
        assert_null(kc_struct_decode(&robot_table, object, &err));
        assert_string_equal(kc_error_text(&err), cases[i].text);
        assert_int_equal(err.reason, KC_BAD_REQUEST);
    }
}

static void null_is_absent(void **state)
{
    (void)state;
    kc_auto(robot) *r =
        decode("{'metadata':null,'spec':{'replicas':null,'arms':null,'labels':null,'model':null}}");
    assert_null(r->spec.replicas);
    assert_int_equal(r->spec.n_arms, 0);
    assert_null(r->spec.model);
}

static void copy_is_equal_and_independent(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode(FULL);
    kc_auto(robot) *copy = kc_struct_copy(&robot_table, r);
    assert_true(kc_struct_equal(&robot_table, r, copy));
    copy->spec.arms[0].joints = 7;
    assert_int_equal(r->spec.arms[0].joints, 2);
    assert_false(kc_struct_equal(&robot_table, r, copy));
}

static void equality_is_semantic(void **state)
{
    (void)state;
    kc_auto(robot) *a =
        decode("{'spec':{'memory':'1024Mi','model':'','labels':{'a':'1','b':'2'}}}");
    kc_auto(robot) *b = decode("{'spec':{'memory':'1Gi','labels':{'b':'2','a':'1'},'arms':[]}}");
    assert_true(kc_struct_equal(&robot_table, a, b));
}

static void defaults_fill_absent_members(void **state)
{
    (void)state;
    kc_auto(robot) *r = decode("{'spec':{'arms':[{'name':'a'},{'name':'b','joints':5}]}}");
    kc_struct_default(&robot_table, r, r->metadata.arena);
    assert_int_equal(*r->spec.replicas, 1);
    assert_string_equal(r->spec.nickname, "Bob");
    assert_string_equal(r->spec.tags[0], "new");
    assert_int_equal(r->spec.arms[0].joints, 3);
    assert_int_equal(r->spec.arms[1].joints, 5);
    kc_auto(robot) *set = decode("{'spec':{'replicas':0,'nickname':'Al','tags':['old']}}");
    kc_struct_default(&robot_table, set, set->metadata.arena);
    assert_int_equal(*set->spec.replicas, 0);
    assert_string_equal(set->spec.nickname, "Al");
    assert_string_equal(set->spec.tags[0], "old");
}

TESTS(every_type_is_decoded, decoded_object_round_trips, unknown_members_survive,
      members_removed_from_struct_are_removed, reordered_list_is_taken_from_struct,
      struct_in_own_memory_is_encoded, wrong_type_fails_with_path, null_is_absent,
      copy_is_equal_and_independent, equality_is_semantic, defaults_fill_absent_members)
