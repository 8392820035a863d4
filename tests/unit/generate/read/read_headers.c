/* SPDX-License-Identifier: Apache-2.0 */
/* From headers to the model, and the errors that point into them. */
#include "generate_testing.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const kc__gen_type *type_of(const kc__gen_model *model, const char *c_name)
{
    for (size_t i = 0; i < model->packages.n; i++)
        for (size_t k = 0; k < model->packages.items[i]->n_types; k++)
            if (kc_str_is(model->packages.items[i]->types[k]->c_name, c_name))
                return model->packages.items[i]->types[k];
    fail_msg("type %s not found", c_name);
    return NULL;
}

static const kc__gen_field *field_of(const kc__gen_type *type, const char *c_name)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (kc_str_is(type->fields[i].c_name, c_name))
            return &type->fields[i];
    fail_msg("field %s not found", c_name);
    return NULL;
}

static void read_good(const char *text, kc__gen_model *model)
{
    kc_scoped(kc_error) err = {0};
    if (read_text(text, model, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

/* ---- valid input ---- */

static const struct shape_row {
    const char *member, *name;
    kc__gen_base base;
    kc__gen_shape shape;
    bool pointers;
} shapes[] = {
    {"bool f;", "f", KC__GEN_BOOL, KC__GEN_VALUE, false},
    {"int32_t f;", "f", KC__GEN_INT32, KC__GEN_VALUE, false},
    {"int f;", "f", KC__GEN_INT32, KC__GEN_VALUE, false},
    {"int64_t f;", "f", KC__GEN_INT64, KC__GEN_VALUE, false},
    {"long long f;", "f", KC__GEN_INT64, KC__GEN_VALUE, false},
    {"uint32_t f;", "f", KC__GEN_UINT32, KC__GEN_VALUE, false},
    {"size_t f;", "f", KC__GEN_UINT64, KC__GEN_VALUE, false},
    {"float f;", "f", KC__GEN_FLOAT32, KC__GEN_VALUE, false},
    {"double f;", "f", KC__GEN_FLOAT64, KC__GEN_VALUE, false},
    {"char *f;", "f", KC__GEN_STRING, KC__GEN_VALUE, false},
    {"const char *const f;", "f", KC__GEN_STRING, KC__GEN_VALUE, false},
    {"phase f;", "f", KC__GEN_ENUM, KC__GEN_VALUE, false},
    {"enum phase f;", "f", KC__GEN_ENUM, KC__GEN_VALUE, false},
    {"kc_bytes f;", "f", KC__GEN_BYTES, KC__GEN_VALUE, false},
    {"kc_int_or_string f;", "f", KC__GEN_INT_OR_STRING, KC__GEN_VALUE, false},
    {"kc_quantity_text f;", "f", KC__GEN_QUANTITY, KC__GEN_VALUE, false},
    {"kc_timestamp f;", "f", KC__GEN_TIME, KC__GEN_VALUE, false},
    {"kc_micro_timestamp f;", "f", KC__GEN_MICRO_TIME, KC__GEN_VALUE, false},
    {"kc_duration_field f;", "f", KC__GEN_DURATION, KC__GEN_VALUE, false},
    {"kc_raw f;", "f", KC__GEN_RAW, KC__GEN_VALUE, false},
    {"arm f;", "f", KC__GEN_STRUCT, KC__GEN_VALUE, false},
    {"struct arm f;", "f", KC__GEN_STRUCT, KC__GEN_VALUE, false},
    {"kc_object_meta f;", "f", KC__GEN_STRUCT, KC__GEN_VALUE, false},
    {"int32_t *f;", "f", KC__GEN_INT32, KC__GEN_POINTER, false},
    {"arm *f;", "f", KC__GEN_STRUCT, KC__GEN_POINTER, false},
    {"kc_timestamp *f;", "f", KC__GEN_TIME, KC__GEN_POINTER, false},
    {"char **f; size_t n_f;", "f", KC__GEN_STRING, KC__GEN_LIST, false},
    {"size_t n_f; arm *f;", "f", KC__GEN_STRUCT, KC__GEN_LIST, false},
    {"arm **f; size_t n_f;", "f", KC__GEN_STRUCT, KC__GEN_LIST, true},
    {"phase *f; size_t n_f;", "f", KC__GEN_ENUM, KC__GEN_LIST, false},
    {"kc_string_map f;", "f", KC__GEN_STRING, KC__GEN_MAP, false},
    {"KC_MAP_OF(arm) f;", "f", KC__GEN_STRUCT, KC__GEN_MAP, false},
    {"KC_MAP_OF(arm *) f;", "f", KC__GEN_STRUCT, KC__GEN_MAP, true},
    {"KC_MAP_OF(int64_t) f;", "f", KC__GEN_INT64, KC__GEN_MAP, false},
    {"KC_MAP_OF(kc_bytes) f;", "f", KC__GEN_BYTES, KC__GEN_MAP, false},
    {"arm_map f;", "f", KC__GEN_STRUCT, KC__GEN_MAP, false},
};

static void every_member_shape_is_recognized(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "typedef enum phase { PHASE_A, PHASE_B } phase;\n"
                       "typedef struct arm { char *name; } arm;\n"
                       "typedef KC_MAP_OF(arm) arm_map;\n");
    for (size_t i = 0; i < KC_COUNT(shapes); i++)
        kc_buf_printf(&text, "typedef struct s%zu { %s } s%zu;\n", i, shapes[i].member, i);
    kc_scoped(kc__gen_model) model = {0};
    read_good(kc_buf_cstr(&text), &model);
    for (size_t i = 0; i < KC_COUNT(shapes); i++) {
        char name[16];
        snprintf(name, sizeof(name), "s%zu", i);
        const kc__gen_type *type = type_of(&model, name);
        const kc__gen_field *field = field_of(type, shapes[i].name);
        assert_int_equal(type->n_fields, 1);
        assert_int_equal(field->base, shapes[i].base);
        assert_int_equal(field->shape, shapes[i].shape);
        assert_int_equal(field->pointers, shapes[i].pointers);
        assert_int_equal(field->optional, shapes[i].shape == KC__GEN_POINTER);
        assert_int_equal(field->count.n, shapes[i].shape == KC__GEN_LIST ? 3 : 0);
    }
}

static void kind_is_read_with_its_descriptions(void **state)
{
    (void)state;
    kc_scoped(kc__gen_model) model = {0};
    read_good("/// +kubebuilder:subresource:status\n"
              "\n"
              "/// Robot walks.\n"
              "/// +kubebuilder:object:root=true\n"
              "typedef struct robot {\n"
              "    kc_object_meta metadata;\n"
              "    /**\n"
              "     * Legs, as many\n"
              "     * as wanted.\n"
              "     * +kubebuilder:validation:Minimum=2\n"
              "     */\n"
              "    int32_t leg_count; // +optional\n"
              "    char *name, *title; ///< What it is called.\n"
              "    struct robot *helpers;\n"
              "    size_t n_helpers;\n"
              "} robot;\n",
              &model);
    const kc__gen_type *robot = type_of(&model, "robot");
    assert_true(robot->is_root);
    assert_str(robot->go_name, "Robot");
    assert_str(robot->doc, "Robot walks.");
    assert_non_null(kc__gen_marker_find(&robot->markers, "kubebuilder:subresource:status"));
    assert_int_equal(robot->at.line, 6);
    const kc__gen_field *legs = field_of(robot, "leg_count");
    assert_str(legs->json_name, "legCount");
    assert_str(legs->doc, "Legs, as many\nas wanted.");
    assert_true(legs->optional);
    assert_int_equal(legs->at.line, 13);
    assert_int_equal(legs->at.column, 13);
    assert_int_equal(legs->markers.items[0].at.line, 11);
    assert_int_equal(legs->markers.items[0].at.column, 8);
    assert_str(field_of(robot, "title")->doc, "What it is called.");
    assert_ptr_equal(field_of(robot, "helpers")->type, robot);
    assert_true(field_of(robot, "metadata")->type->from_sdk);
    assert_true(field_of(robot, "metadata")->optional);
    assert_str(model.packages.items[0]->group, "apps.example.io");
    assert_str(model.packages.items[0]->version, "v1");
}

static void enum_texts_follow_rule_or_marker(void **state)
{
    (void)state;
    kc_scoped(kc__gen_model) model = {0};
    read_good("typedef enum robot_phase {\n"
              "    ROBOT_PHASE_NOT_READY,\n"
              "    /// +kc:value=running\n"
              "    ROBOT_PHASE_RUNNING,\n"
              "    ROBOT_PHASE_NONE, /// +kc:value=\"\"\n"
              "} robot_phase;\n"
              "typedef struct robot { robot_phase phase; } robot;\n",
              &model);
    const kc__gen_type *phase = type_of(&model, "robot_phase");
    assert_int_equal(phase->n_values, 3);
    assert_str(phase->values[0].text, "NotReady");
    assert_str(phase->values[0].c_name, "ROBOT_PHASE_NOT_READY");
    assert_str(phase->values[1].text, "running");
    assert_str(phase->values[2].text, "");
}

static void types_of_other_headers_are_followed(void **state)
{
    (void)state;
    const kc__gen_source sources[] = {
        {INFO_PATH, KC_STR(INFO_TEXT)},
        {"/kc-tests/shared/arm.h", KC_STR("#pragma once\n#include \"kc/api.h\"\n/// An arm.\n"
                                          "typedef struct arm { char *hand; } arm;\n")},
        {TYPES_PATH,
         KC_STR("#include \"/kc-tests/shared/arm.h\"\n"
                "typedef struct robot { arm left; kc_owner_reference owner; } robot;\n")},
    };
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(read_sources(sources, 3, &model, &err), 0);
    const kc__gen_type *robot = type_of(&model, "robot");
    const kc__gen_type *arm = field_of(robot, "left")->type;
    assert_true(arm->is_external);
    assert_str(arm->doc, "An arm.");
    const kc__gen_type *owner = field_of(robot, "owner")->type;
    assert_true(owner->from_sdk);
    assert_true(field_of(owner, "block_owner_deletion")->optional);
    assert_str(field_of(owner, "api_version")->json_name, "apiVersion");
}

static void structs_with_generate_false_are_left_out(void **state)
{
    (void)state;
    kc_scoped(kc__gen_model) model = {0};
    read_good("/// +kubebuilder:object:generate=false\n"
              "typedef struct inner {\n"
              "    /// +kubebuilder:default=1\n"
              "    union { int a; void *b; } u;\n"
              "} inner;\n"
              "struct without_typedef { void (*f)(void); };\n"
              "typedef void (*callback)(void);\n"
              "static inline int one(void) { return 1; }\n"
              "typedef struct robot {\n    int a;\n    void (*f)(void); /// +kc:json=-\n} robot;\n",
              &model);
    assert_int_equal(model.packages.items[0]->n_types, 1);
    assert_int_equal(type_of(&model, "robot")->n_fields, 1);
}

/* ---- invalid input ---- */

static const struct error_row {
    const char *text, *error;
} errors[] = {
    {"typedef struct r {\n    union { int a; } u;\n} r;\n", ":3:22: u: JSON has no unions"},
    {"typedef struct r {\n    union { int a; };\n} r;\n", ":3:5: JSON has no unions"},
    {"typedef struct r {\n    struct { int a; };\n} r;\n",
     ":3:5: a struct inside a struct needs a name and a typedef of its own"},
    {"typedef struct r {\n    struct { int a; } s;\n} r;\n",
     ":3:5: a struct or enum of an API needs a typedef"},
    {"typedef struct r { int a : 3; } r;\n", ":2:24: a: a bit field cannot be a field"},
    {"typedef struct r { void (*f)(int); } r;\n",
     ":2:27: f: 'void (int)' cannot be a field: it has no JSON representation"},
    {"typedef struct r { void *f; } r;\n", ":2:26: f: 'void' cannot be a field"},
    {"typedef struct a { int x; } a;\ntypedef struct r { a **f; } r;\n",
     ":3:24: f: 'a *' cannot be a field: a pointer to a pointer is a list: it needs size_t n_NAME"},
    {"typedef struct r { char **f; } r;\n", ":2:27: f: a list of texts needs a count: size_t n_f;"},
    {"typedef struct r { char f[10]; } r;\n", ":2:25: f: 'char[10]' cannot be a field"},
    {"typedef struct r { int f[3]; } r;\n", "for a list use a pointer and size_t n_NAME"},
    {"typedef struct r { short f; } r;\n", "use int32_t for a number"},
    {"typedef struct r { char f; } r;\n", "use int32_t for a number, char * for text"},
    {"typedef struct r { long double f; } r;\n", "use double"},
    {"typedef struct r { uint8_t *f; size_t n_f; } r;\n", "kc_bytes for bytes"},
    {"typedef struct r { char *f; size_t n_f; } r;\n",
     ":2:26: f is text and needs no count; for bytes use kc_bytes"},
    {"typedef struct r { int *f; int n_f; } r;\n", ":2:32: n_f, the count of f, must be a size_t"},
    {"typedef struct r { size_t n_f; } r;\n", ":2:27: n_f is a count without a list"},
    {"typedef struct r { KC_MAP_OF(KC_LIST_OF(void *)) f; } r;\n",
     ":2:50: f: 'void' cannot be a field"},
    {"typedef struct r { KC_LIST_OF(char) f; } r;\n", "use int32_t for a number"},
    {"typedef struct r { KC_LIST_OF(int) f; size_t n_f; } r;\n",
     ":2:46: n_f is a count without a list 'f'"},
    {"typedef struct r { struct nowhere *f; } r;\n", ":2:36: nowhere is declared but not defined"},
    {"typedef enum e { A = 1, B } e;\ntypedef struct r { e f; } r;\n",
     ":2:18: A must be 0: values of an enum must start at 0"},
    {"typedef struct r { int a_b; int a__b; } r;\n",
     ":2:33: a__b: duplicate field 'aB', also in line 2"},
    {"typedef struct r {\n    /// +kc:json=a,sometimes\n    int a;\n} r;\n",
     ":3:9: '+kc:json' has no option 'sometimes'; options: inline, omitempty"},
    {"typedef struct r {\n    /// +kc:inline\n    int a;\n} r;\n",
     ":4:9: a: only a struct that is no pointer can be inline"},
    {"/// +kubebuilder:object:root=true\ntypedef struct r { int a; } r;\n",
     ":3:16: r is a kind (+kubebuilder:object:root=true) and needs a member 'kc_object_meta"},
    {"/// +kubebuilder:subresource:status\ntypedef struct r { int a; } r;\n",
     ":2:5: '+kubebuilder:subresource:status' applies to a kind; to make r one, add"},
    {"typedef struct r {\n    /// Text.\n    ///   +kubebuilder:validation:Maximun=1\n    int a;\n} r;\n",
     ":4:11: unknown marker '+kubebuilder:validation:Maximun'"},
    {"/* +kubebuilder:default=1 */\n#define X 1\ntypedef struct r { int a; } r;\n",
     ":2:4: '+kubebuilder:default' applies to a field, and none follows it"},
    {"typedef struct r {\n    /// How many. +kubebuilder:validation:Minimum=0\n    int a;\n} r;\n",
     ":3:9: a marker needs a line of its own; was this comment filled by a formatter?"},
    {"typedef struct r { nonsense a; } r;\n", ":2:20: unknown type name 'nonsense'"},
    {"typedef struct r { int a }\n", ":2:27: expected ';' after struct"},
    {"#include \"nowhere.h\"\n", ":2:10: 'nowhere.h' file not found"},
};

static void errors_have_a_source_location(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(errors); i++) {
        kc_scoped(kc__gen_model) model = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *expected =
            kc_asprintf("%s%s", errors[i].error[0] == ':' ? TYPES_PATH : "", errors[i].error);
        if (read_text(errors[i].text, &model, &err) == 0)
            fail_msg("no error: %s", errors[i].text);
        assert_error(&err, KC_INVALID, expected);
    }
}

static void all_errors_are_reported_at_once(void **state)
{
    (void)state;
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(read_text("typedef struct r {\n    short a;\n    /// +nulable\n    int b;\n"
                          "    void *c;\n} r;\n",
                          &model, &err) < 0);
    assert_contains(kc_error_text(&err), ":3:11: a: 'short'");
    assert_contains(kc_error_text(&err), ":4:9: unknown marker '+nulable'");
    assert_contains(kc_error_text(&err), ":6:11: c: 'void'");
}

/* ---- files ---- */

static void write_file(const char *dir, const char *name, const char *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", dir, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_all(const char *dir)
{
    kc_autofree char *command = kc_asprintf("rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
}

static void directories_are_searched_and_project_markers_found(void **state)
{
    (void)state;
    char dir[] = "/tmp/kc-read-headers-XXXXXX";
    assert_non_null(mkdtemp(dir));
    write_file(dir, "api/apps/v1/groupversion_info.h", INFO_TEXT);
    write_file(dir, "api/apps/v1/robot_types.h",
               "#include \"kc/api.h\"\n#include \"arm_types.h\"\n" KIND_OF("", "arm a;\n"));
    write_file(dir, "api/apps/v1/arm_types.h",
               "#pragma once\ntypedef struct arm { int a; } arm;\n");
    write_file(dir, "api/apps/v1/other.h", "this is not C\n");
    write_file(dir, "controllers/robot.c",
               "// +kubebuilder:rbac:groups=apps,resources=robots,verbs=get\n"
               "int f(void) { return '\"'; }\n"
               "/* +kubebuilder:webhookconfiguration:mutating=true */\n"
               "char *s = \"// +kubebuilder:rbac:verbs=none\";\n");
    write_file(dir, "build/generated.c", "// +kubebuilder:rbac:verbs=all\n");
    kc_autofree char *api = kc_asprintf("%s/api/...", dir);
    kc_autofree char *sdk = realpath("../include", NULL);
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    if (kc__gen_read_headers(
            &(kc__gen_read_opts){
                .paths = (const char *[]){api}, .n_paths = 1, .sdk_include = sdk, .project = dir},
            &model, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(model.packages.n, 1);
    assert_int_equal(model.packages.items[0]->n_types, 3);
    assert_str(model.packages.items[0]->types[0]->c_name, "arm");
    assert_false(model.packages.items[0]->types[0]->is_external);
    assert_int_equal(model.rbac.n, 1);
    assert_str(kc__gen_marker_json(&model.rbac.items[0], "verbs"), "[\"get\"]");
    assert_int_equal(model.webhooks.n, 1);
    assert_int_equal(model.webhooks.items[0].at.line, 3);
    remove_all(dir);
}

static void missing_path_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__gen_read_headers(
                    &(kc__gen_read_opts){.paths = (const char *[]){"/nowhere"}, .n_paths = 1},
                    &model, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "/nowhere: No such file or directory");
}

TESTS(every_member_shape_is_recognized, kind_is_read_with_its_descriptions,
      enum_texts_follow_rule_or_marker, types_of_other_headers_are_followed,
      structs_with_generate_false_are_left_out, errors_have_a_source_location,
      all_errors_are_reported_at_once, directories_are_searched_and_project_markers_found,
      missing_path_is_an_error)
