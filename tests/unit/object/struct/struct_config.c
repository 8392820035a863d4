/* SPDX-License-Identifier: Apache-2.0 */
/* Apply configurations by tables: what is set is written, empty or not; what is not set is not. */
#include "testing.h"

#include "kc/struct.h"

typedef struct arm_config {
    char *name;
    int32_t *joints;
} arm_config;

typedef struct spec_config {
    int32_t *replicas;
    bool *armed;
    char *model;
    kc_bytes key;
    kc_quantity_text memory;
    kc_raw extra;
    kc_timestamp built;
    kc_micro_timestamp beat;
    kc_duration_field *pause;
    arm_config *arms;
    size_t n_arms;
    KC_LIST_OF(char *) tags;
    kc_string_map labels;
    arm_config *main_arm;
    kc_status_condition_apply_config *conditions;
    size_t n_conditions;
} spec_config;

typedef struct robot_config {
    kc_object_meta metadata;
    spec_config *spec;
} robot_config;

#define F(in, json, member, a_type, a_shape, ...) \
    {.name = json,                                \
     .offset = offsetof(in, member),              \
     .type = KC_MEMBER_##a_type,                  \
     .shape = KC_SHAPE_##a_shape,                 \
     __VA_ARGS__}
#define TABLE(name, type, fields, meta) \
    static const kc_struct name = {#type, sizeof(type), fields, KC_COUNT(fields), meta}
#define SET      .flags = KC_MEMBER_IF_SET
#define COUNT(n) .count_offset = offsetof(spec_config, n)

static const kc_member arm_fields[] = {F(arm_config, "name", name, TEXT, VALUE, SET),
                                       F(arm_config, "joints", joints, INT32, POINTER)};
TABLE(arm_table, arm_config, arm_fields, -1);

static const kc_member spec_fields[] = {
    F(spec_config, "replicas", replicas, INT32, POINTER),
    F(spec_config, "armed", armed, BOOLEAN, POINTER),
    F(spec_config, "model", model, TEXT, VALUE, SET),
    F(spec_config, "key", key, BYTES, VALUE, SET),
    F(spec_config, "memory", memory, QUANTITY, VALUE, SET),
    F(spec_config, "extra", extra, RAW, VALUE, SET),
    F(spec_config, "built", built, TIME, VALUE, SET),
    F(spec_config, "beat", beat, MICRO_TIME, VALUE, SET),
    F(spec_config, "pause", pause, DURATION, POINTER),
    F(spec_config, "arms", arms, STRUCT, LIST, SET, COUNT(n_arms), .of = &arm_table),
    F(spec_config, "tags", tags, TEXT, LIST, SET, COUNT(tags.n)),
    F(spec_config, "labels", labels, TEXT, MAP, SET),
    F(spec_config, "mainArm", main_arm, STRUCT, POINTER, .of = &arm_table),
    F(spec_config, "conditions", conditions, STRUCT, LIST, SET, COUNT(n_conditions),
      .of = &kc_struct_status_condition_apply_config),
};
TABLE(spec_table, spec_config, spec_fields, -1);

static const kc_member robot_fields[] = {
    F(robot_config, "metadata", metadata, STRUCT, VALUE, .flags = KC_MEMBER_OMIT_EMPTY,
      .of = &kc_struct_object_meta),
    F(robot_config, "spec", spec, STRUCT, POINTER, .of = &spec_table),
};
TABLE(robot_table, robot_config, robot_fields, offsetof(robot_config, metadata));

static const kc_kind robot_kind = {
    .group = "example.com", .version = "v1", .kind = "Robot", .plural = "robots"};

static void assert_encoded(const robot_config *config, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) expected = {0};
    kc_auto(kc_object) *object = kc_struct_encode_alone(&robot_table, &robot_kind, config, &err);
    if (!object)
        fail_msg("%s", kc_error_text(&err));
    kc_buf_printf(&expected, "{'apiVersion':'example.com/v1','kind':'Robot'%s}", json);
    for (size_t i = 0; i < expected.n; i++)
        expected.p[i] = expected.p[i] == '\'' ? '"' : expected.p[i];
    assert_str(kc_object_json(object), kc_buf_cstr(&expected));
}

static void unset_members_are_not_written(void **state)
{
    (void)state;
    assert_encoded(&(robot_config){0}, "");
    assert_encoded(&(robot_config){.spec = &(spec_config){0}}, ",'spec':{}");
    assert_encoded(&(robot_config){.metadata.name = (char *)"r", .spec = &(spec_config){0}},
                   ",'metadata':{'name':'r'},'spec':{}");
}

static void zero_and_false_are_written(void **state)
{
    (void)state;
    spec_config spec = {
        .replicas = &(int32_t){0}, .armed = &(bool){false}, .pause = &(kc_duration_field){0}};
    assert_encoded(&(robot_config){.spec = &spec},
                   ",'spec':{'replicas':0,'armed':false,'pause':'0s'}");
}

static void empty_text_list_and_map_are_written_when_set(void **state)
{
    (void)state;
    kc_string_pair none[1];
    spec_config spec = {.model = (char *)"",
                        .key.p = (uint8_t *)"",
                        .arms = (arm_config[1]){{0}},
                        .tags.items = (char *[1]){NULL},
                        .labels.items = none};
    assert_encoded(&(robot_config){.spec = &spec},
                   ",'spec':{'model':'','key':'','arms':[],'tags':[],'labels':{}}");
}

static void values_are_written_when_set(void **state)
{
    (void)state;
    spec_config spec = {
        .key = {(uint8_t *)"k", 1},
        .memory.text = (char *)"1Gi",
        .extra.json = (char *)"{\"a\":1}",
        .built.at = 1700000000 * KC_SECOND,
        .beat.at = 1700000000 * KC_SECOND,
        .arms = (arm_config[]){{.name = (char *)"left"}, {.joints = &(int32_t){3}}},
        .n_arms = 2,
        .main_arm = &(arm_config){.name = (char *)"right"},
    };
    assert_encoded(&(robot_config){.spec = &spec},
                   ",'spec':{'key':'aw==','memory':'1Gi','extra':{'a':1},"
                   "'built':'2023-11-14T22:13:20Z','beat':'2023-11-14T22:13:20.000000Z',"
                   "'arms':[{'name':'left'},{'joints':3}],'mainArm':{'name':'right'}}");
}

static void condition_is_written_as_far_as_it_is_set(void **state)
{
    (void)state;
    spec_config spec = {
        .conditions = (kc_status_condition_apply_config[]){{.type = (char *)"Ready",
                                                            .status = (char *)"True"},
                                                           {.type = (char *)"Idle",
                                                            .message = (char *)"",
                                                            .observed_generation = &(int64_t){0}}},
        .n_conditions = 2,
    };
    assert_encoded(&(robot_config){.spec = &spec},
                   ",'spec':{'conditions':[{'type':'Ready','status':'True'},"
                   "{'type':'Idle','observedGeneration':0,'message':''}]}");
}

/* What was extracted is applied again: empty containers must survive. */
static void decoded_configuration_round_trips(void **state)
{
    static const char *const cases[] = {
        "",
        ",'spec':{}",
        ",'metadata':{'name':'r','labels':{'a':'b'}},'spec':{'replicas':0,'model':'','key':''}",
        ",'spec':{'arms':[],'tags':[],'labels':{}}",
        ",'spec':{'arms':[{}],'tags':['a'],'labels':{'a':''},'mainArm':{}}",
        ",'spec':{'conditions':[{'type':'Ready','message':''}]}",
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_buf) json = {0};
        kc_buf_printf(&json, "{'apiVersion':'example.com/v1','kind':'Robot'%s}", cases[i]);
        kc_auto(kc_object) *object = object_of(kc_buf_cstr(&json));
        robot_config *config = kc_struct_decode(&robot_table, object, NULL);
        assert_non_null(config);
        assert_encoded(config, cases[i]);
        kc_struct_free(&robot_table, config);
    }
}

static void encoding_alone_ignores_the_origin(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of(
        "{'apiVersion':'example.com/v1','kind':'Robot','spec':{'replicas':1,'unknown':true},"
        "'status':{}}");
    robot_config *config = kc_struct_decode(&robot_table, object, NULL);
    assert_encoded(config, ",'spec':{'replicas':1}");
    kc_struct_free(&robot_table, config);
}

TESTS(unset_members_are_not_written, zero_and_false_are_written,
      empty_text_list_and_map_are_written_when_set, values_are_written_when_set,
      condition_is_written_as_far_as_it_is_set, decoded_configuration_round_trips,
      encoding_alone_ignores_the_origin)
