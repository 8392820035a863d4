/* SPDX-License-Identifier: Apache-2.0 */
/* Apply configurations from the text of a header. The project test proves that they compile. */
#include "generate_testing.h"

#include "generate/write/write_code.h"

/* Both files of a header, or its errors. The caller frees the text. */
static char *code_of_header(const char *text)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    if (read_text(text, &model, &err) < 0 ||
        kc__gen_write_code(&model, NULL, put_text, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

static void kind_gets_its_apply_configuration(void **state)
{
    (void)state;
    kc_autofree char *code = code_of_header(KIND_OF("", "    char *model;\n    int32_t n;\n"));
    assert_contains(code, "typedef struct robot_spec_apply_config robot_spec_apply_config;\n");
    assert_contains(code, "#ifndef robot_spec_apply_config\n"
                          "#define robot_spec_apply_config robot_spec_apply_config\n"
                          "/* As robot_spec; what is not set is not sent. */\n"
                          "struct robot_spec_apply_config {\n"
                          "    const char *model;\n"
                          "    int32_t *n;\n"
                          "};\n#endif\n");
    assert_contains(code, "struct robot_apply_config {\n"
                          "    kc_object_meta metadata;\n"
                          "    robot_spec_apply_config *spec;\n");
    assert_contains(code, "extern const kc_struct robot_apply_config_struct;\n");
    assert_contains(code, "\nKC_TYPED_APPLY(robot)\n");
    assert_contains(code, "const kc_typed robot_type = {&robot_kind, &robot_struct, "
                          "&robot_apply_config_struct};\n");
    assert_contains(code, "KC_COUNT(robot_apply_config_members), "
                          "offsetof(robot_apply_config, metadata)};");
}

static void every_field_can_be_left_out(void **state)
{
    static const struct {
        const char *member, *declared, *row;
    } cases[] = {
        {"char *name;", "const char *name;",
         ".type = KC_MEMBER_TEXT, .shape = KC_SHAPE_VALUE, "
         ".flags = KC_MEMBER_IF_SET}"},
        {"/// +kubebuilder:default=3\nint32_t *n;", "int32_t *n;", ".shape = KC_SHAPE_POINTER}"},
        {"bool on;", "bool *on;", ".type = KC_MEMBER_BOOLEAN, .shape = KC_SHAPE_POINTER}"},
        {"int64_t n;", "int64_t *n;", ".type = KC_MEMBER_INT64, .shape = KC_SHAPE_POINTER}"},
        {"uint32_t n;", "uint32_t *n;", ".shape = KC_SHAPE_POINTER}"},
        {"uint64_t n;", "uint64_t *n;", ".shape = KC_SHAPE_POINTER}"},
        {"phase phase;", "phase *phase;", ".shape = KC_SHAPE_POINTER, .names = phase_names}"},
        {"kc_int_or_string at;", "kc_int_or_string *at;", ".shape = KC_SHAPE_POINTER}"},
        {"kc_duration_field at;", "kc_duration_field *at;", ".shape = KC_SHAPE_POINTER}"},
        {"kc_timestamp at;", "kc_timestamp at;", ".flags = KC_MEMBER_IF_SET}"},
        {"kc_micro_timestamp at;", "kc_micro_timestamp at;", ".flags = KC_MEMBER_IF_SET}"},
        {"kc_quantity_text at;", "kc_quantity_text at;", ".flags = KC_MEMBER_IF_SET}"},
        {"kc_bytes at;", "kc_bytes at;", ".flags = KC_MEMBER_IF_SET}"},
        {"kc_raw at;", "kc_raw at;", ".flags = KC_MEMBER_IF_SET}"},
        {"arm arm;", "arm_apply_config *arm;",
         ".shape = KC_SHAPE_POINTER, .of = &arm_apply_config_struct}"},
        {"arm *arm;", "arm_apply_config *arm;", ".shape = KC_SHAPE_POINTER"},
        {"arm *arms; size_t n_arms;", "arm_apply_config *arms;\n    size_t n_arms;",
         ".count_offset = offsetof(robot_spec_apply_config, n_arms), .type = KC_MEMBER_STRUCT, "
         ".shape = KC_SHAPE_LIST, .flags = KC_MEMBER_IF_SET, .of = &arm_apply_config_struct}"},
        {"arm **arms; size_t n_arms;", "arm_apply_config **arms;\n    size_t n_arms;",
         ".flags = KC_MEMBER_IF_SET | KC_MEMBER_POINTERS"},
        {"char **tags; size_t n_tags;", "const char **tags;\n    size_t n_tags;",
         ".shape = KC_SHAPE_LIST, .flags = KC_MEMBER_IF_SET}"},
        {"kc_string_map labels;", "kc_string_map labels;",
         ".shape = KC_SHAPE_MAP, .flags = KC_MEMBER_IF_SET}"},
        {"KC_MAP_OF(arm) arms;", "KC_MAP_OF(arm_apply_config) arms;", ".shape = KC_SHAPE_MAP"},
        {"KC_MAP_OF(KC_LIST_OF(arm *)) arms;", "KC_MAP_OF(KC_LIST_OF(arm_apply_config *)) arms;",
         ".flags = KC_MEMBER_POINTERS, .of = &arm_apply_config_struct}"},
        {"KC_LIST_OF(kc_string_map) maps;", "KC_LIST_OF(kc_string_map) maps;",
         "count_offset = offsetof(robot_spec_apply_config, maps.n)"},
        {"tag_list tags;", "KC_LIST_OF(const char *) tags;",
         "count_offset = offsetof(robot_spec_apply_config, tags.n)"},
        {"percent part;", "int32_t *part;", ".shape = KC_SHAPE_POINTER}"},
        {"/// +kc:inline\narm arm;", "arm_apply_config arm;", ".flags = KC_MEMBER_INLINE,"},
        {"kc_object_meta metadata;", "kc_object_meta metadata;", ".flags = KC_MEMBER_OMIT_EMPTY"},
        {"kc_status_condition *conditions; size_t n_conditions;",
         "kc_status_condition_apply_config *conditions;\n    size_t n_conditions;",
         ".of = &kc_struct_status_condition_apply_config}"},
        {"kc_owner_reference *owners; size_t n_owners;", "kc_owner_reference *owners;",
         ".flags = KC_MEMBER_IF_SET, .of = &kc_struct_owner_reference}"},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *header = kc_asprintf(
            KIND_OF("typedef enum phase { PHASE_NONE, PHASE_UP } phase;\n"
                    "typedef struct arm { char *name; } arm;\n"
                    "/// +kubebuilder:validation:MaxItems=8\ntypedef KC_LIST_OF(char *) tag_list;\n"
                    "/// +kubebuilder:validation:Maximum=100\ntypedef int32_t percent;\n",
                    "%s\n"),
            cases[i].member);
        kc_autofree char *code = code_of_header(header);
        kc_autofree char *declared =
            kc_asprintf("struct robot_spec_apply_config {\n    %s\n", cases[i].declared);
        assert_contains(code, declared);
        const char *rows = strstr(code, "robot_spec_apply_config_members[] = {");
        assert_non_null(rows);
        assert_contains(rows, cases[i].row);
    }
}

/* A map contains its values: C needs their type before. */
static void contained_types_are_declared_first(void **state)
{
    (void)state;
    kc_autofree char *code = code_of_header(KIND_OF(
        "typedef struct hand { char *name; } hand;\n"
        "typedef struct arm { KC_LIST_OF(KC_MAP_OF(hand)) hands; struct arm *other; } arm;\n",
        "    KC_MAP_OF(arm) arms;\n"));
    const char *hand = strstr(code, "struct hand_apply_config {");
    const char *arm = strstr(code, "struct arm_apply_config {");
    const char *spec = strstr(code, "struct robot_spec_apply_config {");
    assert_true(hand && hand < arm && arm < spec);
    assert_contains(arm, "arm_apply_config *other;\n");
}

/* Types that no kind consists of have none. */
static void only_types_of_kinds_have_configurations(void **state)
{
    (void)state;
    kc_autofree char *code =
        code_of_header(KIND_OF("typedef struct unused { char *name; } unused;\n", ""));
    assert_contains(code, "unused_struct");
    assert_null(strstr(code, "unused_apply_config"));
    kc_autofree char *none = code_of_header("typedef struct arm { char *name; } arm;\n");
    assert_null(strstr(none, "apply"));
}

static void type_of_another_header_has_a_static_table(void **state)
{
    (void)state;
    static const char robot[] = "#include \"/kc-tests/api/core/v1/arm_types.h\"\n" KIND_OF(
        "", "    arm *arms; size_t n_arms;\n");
    static const char arm[] = "#pragma once\n#include \"kc/api.h\"\n"
                              "typedef struct arm { char *name; struct arm *other; } arm;\n";
    const kc__gen_source sources[] = {
        {INFO_PATH, KC_STR(INFO_TEXT)},
        {TYPES_PATH, kc_cstr(robot)},
        {"/kc-tests/api/core/v1/groupversion_info.h", KC_STR("/// +groupName=core.example.io\n")},
        {"/kc-tests/api/core/v1/arm_types.h", kc_cstr(arm)}};
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    if (read_sources(sources, KC_COUNT(sources), &model, &err) < 0 ||
        kc__gen_write_code(&model, NULL, put_text, &out, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_contains(kc_buf_cstr(&out), "struct arm_apply_config {\n");
    assert_contains(kc_buf_cstr(&out), "static const kc_struct arm_apply_config_struct;\n");
    assert_null(strstr(kc_buf_cstr(&out), "extern const kc_struct arm_apply_config_struct;"));
}

static void name_of_a_generated_type_is_refused(void **state)
{
    (void)state;
    kc_autofree char *text = code_of_header(
        KIND_OF("typedef struct arm_apply_config { char *name; } arm_apply_config;\n", ""));
    assert_contains(text,
                    "arm_apply_config: names with _apply_config are those of generated types");
}

TESTS(kind_gets_its_apply_configuration, every_field_can_be_left_out,
      contained_types_are_declared_first, only_types_of_kinds_have_configurations,
      type_of_another_header_has_a_static_table, name_of_a_generated_type_is_refused)
