/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: their fields and values, and that the schema accepts them. */
#include "testing.h"

#include "generate/read/read_headers.h"
#include "generate/sample/sample_value.h"
#include "generate/sample/write_sample.h"

static int put_text(const char *name, kc_str text, void *user, kc_error *err)
{
    (void)err;
    kc_buf_printf(user, "# %s\n%.*s", name, KC_ARG(text));
    return 0;
}

/* The samples of headers, each behind its file's name, or their errors. */
static char *samples_from(const kc__gen_source *sources, size_t n)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    const kc__gen_read_opts opts = {
        .sources = sources, .n_sources = n, .sdk_include = "../include"};
    if (kc__gen_read_headers(&opts, &model, &err) < 0 ||
        kc__gen_write_samples(&model, NULL, put_text, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

static char *samples_of(const char *text)
{
    kc_autofree char *whole = kc_asprintf("#include \"kc/api.h\"\n%s", text);
    const kc__gen_source sources[] = {
        {"/kc-tests/api/apps/v1/groupversion_info.h", KC_STR("/// +groupName=apps.example.io\n")},
        {"/kc-tests/api/apps/v1/robot_types.h", kc_cstr(whole)},
    };
    return samples_from(sources, KC_COUNT(sources));
}

#define ROBOT(markers, before, members)                                           \
    before "typedef struct robot_spec {\n" members "} robot_spec;\n"              \
           "typedef struct robot_status { char *phase; } robot_status;\n" markers \
           "/// +kubebuilder:object:root=true\n"                                  \
           "typedef struct robot {\n"                                             \
           "    kc_object_meta metadata;\n"                                       \
           "    robot_spec spec;\n"                                               \
           "    robot_status status;\n"                                           \
           "} robot;\n"

static void sample_is_named_after_its_kind(void **state)
{
    (void)state;
    kc_autofree char *yaml =
        samples_of(ROBOT("", "", "    char *deployment_name;\n    int32_t *replicas;\n"));
    assert_string_equal(yaml, "# apps_v1_robot.yaml\n"
                              "apiVersion: apps.example.io/v1\n"
                              "kind: Robot\n"
                              "metadata:\n"
                              "  name: robot-sample\n"
                              "spec:\n"
                              "  deploymentName: deployment-name\n");
}

static void spec_without_required_fields_is_empty(void **state)
{
    (void)state;
    kc_autofree char *yaml = samples_of(ROBOT("", "", "    int32_t *replicas;\n"));
    assert_contains(yaml, "\nspec: {}\n");
}

#define ARM                            \
    "typedef struct robot_arm {\n"     \
    "    char *name;\n"                \
    "    /// +kubebuilder:example=7\n" \
    "    int32_t *length;\n"           \
    "} robot_arm;\n"
#define SIDE(marker)                                      \
    "/// +kubebuilder:validation:" marker "=left;right\n" \
    "typedef struct robot_side {\n"                       \
    "    char *other;\n"                                  \
    "    /// +optional\n"                                 \
    "    char *left;\n"                                   \
    "    /// +optional\n"                                 \
    "    char *right;\n"                                  \
    "} robot_side;\n"
#define V "/// +kubebuilder:validation:"

static const struct value_case {
    const char *before, *members, *spec; /* The spec without its first indent. */
} value_cases[] = {
    /* By type. */
    {"", "bool on_air;\n", "onAir: false\n"},
    {"", "int64_t replicas;\n", "replicas: 1\n"},
    {"", "double ratio;\n", "ratio: 1\n"},
    {"", "kc_duration_field rest;\n", "rest: 1m0s\n"},
    {"", "kc_quantity_text weight;\n", "weight: \"1\"\n"},
    {"", "kc_int_or_string port;\n", "port: 1\n"},
    {"", "kc_timestamp born;\n", "born: \"2025-01-31T12:00:00Z\"\n"},
    {"", "kc_bytes data;\n", "data: c2FtcGxl\n"},
    {"", "kc_raw any;\n", "any: {}\n"},
    {"", "kc_string_map labels;\n", "labels:\n    key: value\n"},
    {"", V "MaxProperties=0\nkc_string_map labels;\n", "labels: {}\n"},
    {"", V "EmbeddedResource\nkc_raw any;\n",
     "any:\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: sample\n"},
    {"typedef enum mood { MOOD_GOOD, MOOD_BAD } mood;\n", "mood mood;\n", "mood: Good\n"},
    {"", "char **args; size_t n_args;\n", "args:\n  - arg\n"},
    {ARM, "robot_arm arm;\n", "arm:\n    length: 7\n    name: name\n"},
    /* By marker. */
    {"", "/// +kubebuilder:default=3\nint32_t *replicas;\n", "replicas: 3\n"},
    {"", "/// +kubebuilder:default=3\n/// +kubebuilder:example=4\nint32_t replicas;\n",
     "replicas: 4\n"},
    {"", V "Enum=b;a\nchar *kind;\n", "kind: b\n"},
    {"", V "Minimum=5\nint32_t size;\n", "size: 5\n"},
    {"", V "Minimum=5\n" V "ExclusiveMinimum=true\nint32_t size;\n", "size: 6\n"},
    {"", V "Minimum=5\n" V "MultipleOf=4\nint32_t size;\n", "size: 8\n"},
    {"", V "Maximum=-5\nint32_t size;\n", "size: -5\n"},
    {"", V "Maximum=0\n" V "ExclusiveMaximum=true\nint32_t size;\n", "size: -1\n"},
    {"", V "Minimum=0.25\n" V "Maximum=0.75\ndouble size;\n", "size: 0.5\n"},
    {"", V "MinLength=6\nchar *text;\n", "text: textaa\n"},
    {"", V "MaxLength=3\nchar *text;\n", "text: tex\n"},
    {"", V "Format=ipv4\nchar *address;\n", "address: 192.0.2.1\n"},
    {"", V "Format=uuid\nchar *id;\n", "id: a3bb189e-8bf9-4888-9912-ace4e6543002\n"},
    {"", V "Pattern=`^[a-z-]+$`\nchar *plain;\n", "plain: plain\n"},
    {"", V "Pattern=`^v[0-9]+(alpha|beta)?$`\nchar *version;\n", "version: v0\n"},
    {"", V "Pattern=`^[0-9]*$`\n" V "MinLength=3\nchar *code;\n", "code: \"000\"\n"},
    {"", V "MinItems=2\nint32_t *ports; size_t n_ports;\n", "ports:\n  - 1\n  - 2\n"},
    {"", V "MaxItems=0\nint32_t *ports; size_t n_ports;\n", "ports: []\n"},
    {"", V "MinProperties=2\nkc_string_map labels;\n",
     "labels:\n    key: value\n    key-2: value-2\n"},
    {ARM,
     V "MinItems=2\n/// +listType=map\n/// +listMapKey=name\nrobot_arm *arms; size_t n_arms;\n",
     "arms:\n  - length: 7\n    name: name\n  - length: 7\n    name: name-2\n"},
    /* What an example is in is shown. */
    {ARM, "robot_arm *arm;\n", "arm:\n    length: 7\n    name: name\n"},
    /* One of several. */
    {SIDE("ExactlyOneOf"), "robot_side side;\n", "side:\n    left: left\n    other: other\n"},
    {SIDE("AtLeastOneOf"), "robot_side side;\n", "side:\n    left: left\n    other: other\n"},
    {SIDE("AtMostOneOf"), "robot_side side;\n", "side:\n    other: other\n"},
    /* Members of an inlined struct. */
    {ARM, "/// +kc:inline\nrobot_arm arm;\n", "length: 7\n  name: name\n"},
};

static void sample_values_satisfy_the_schema(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(value_cases); i++) {
        const struct value_case *c = &value_cases[i];
        kc_autofree char *header = kc_asprintf(ROBOT("", "%s", "%s"), c->before, c->members);
        kc_autofree char *yaml = samples_of(header);
        kc_autofree char *spec = kc_asprintf("\nspec:\n  %s", c->spec);
        assert_contains(yaml, spec);
        assert_null(strstr(yaml, "To do"));
    }
}

static void unsatisfiable_field_is_reported_in_a_comment(void **state)
{
    (void)state;
    kc_autofree char *yaml = samples_of(ROBOT("", "", V "Pattern=`^\\p{Greek}+$`\nchar *greek;\n"));
    assert_contains(yaml, "# To do: spec.greek: Invalid value: \"greek\"");
    assert_contains(yaml, "\nspec:\n  greek: greek\n");
}

static void unserved_versions_have_no_sample(void **state)
{
    (void)state;
    kc_autofree char *unserved =
        samples_of(ROBOT("/// +kubebuilder:unservedversion\n", "", "char *a;\n"));
    assert_string_equal(unserved, "");
    kc_autofree char *skipped =
        samples_of(ROBOT("/// +kubebuilder:skipversion\n", "", "char *a;\n"));
    assert_string_equal(skipped, "");
}

static void groups_with_equal_label_have_distinct_files(void **state)
{
    (void)state;
    static const char kind[] = "#include \"kc/api.h\"\n"
                               "/// +kubebuilder:object:root=true\n"
                               "typedef struct robot { kc_object_meta metadata; } robot;\n";
    const kc__gen_source sources[] = {
        {"/kc-tests/api/a/v1/groupversion_info.h", KC_STR("/// +groupName=apps.example.io\n")},
        {"/kc-tests/api/a/v1/robot_types.h", kc_cstr(kind)},
        {"/kc-tests/api/b/v1/groupversion_info.h", KC_STR("/// +groupName=apps.example.org\n")},
        {"/kc-tests/api/b/v1/robot_types.h", kc_cstr(kind)},
    };
    kc_autofree char *yaml = samples_from(sources, KC_COUNT(sources));
    assert_contains(yaml, "# apps.example.io_v1_robot.yaml\n");
    assert_contains(yaml, "# apps.example.org_v1_robot.yaml\n");
}

static void invalid_types_write_nothing(void **state)
{
    (void)state;
    kc_autofree char *text = samples_of(ROBOT("", "", V "Maximum=3\nchar *greek;\n"));
    assert_contains(text, "robot_types.h:");
}

static const struct pattern_case {
    const char *pattern;
    size_t more, nth;
    const char *text; /* NULL: it is not simple. */
} pattern_cases[] = {
    {"^abc$", 0, 0, "abc"},
    {"a*b+c?", 0, 0, "b"},
    {"a*b+c?", 2, 0, "aabbb"},
    {"[c-e]{2}", 0, 0, "cc"},
    {"[c-e]{2,}", 0, 1, "dd"},
    {"[c-e]{1,2}", 5, 0, "cc"},
    {"[^a-y]", 0, 0, "z"},
    {"[]a]", 0, 0, "a"},
    {"[\\d-]x", 0, 0, "0x"},
    {"\\d\\w\\.", 0, 0, "0a."},
    {"(?:a|b(c))d|e", 0, 0, "ad"},
    {"(a|b)+?", 1, 0, "aa"},
    {"", 0, 0, ""},
    {"\\p{L}", 0, 0, NULL},
    {"\\bx", 0, 0, NULL},
    {"[[:alpha:]]", 0, 0, NULL},
    {"(?i)x", 0, 0, NULL},
    {"(a", 0, 0, NULL},
    {"a)", 0, 0, NULL},
    {"[a", 0, 0, NULL},
    {"*a", 0, 0, NULL},
    {"a{2", 0, 0, NULL},
    {"a{999999999999}", 0, 0, NULL},
    {"((((a{256}){256}){256}){256})", 0, 0, NULL},
    {"a\\", 0, 0, NULL},
};

static void simple_patterns_have_a_matching_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(pattern_cases); i++) {
        const struct pattern_case *c = &pattern_cases[i];
        kc_scoped(kc_buf) out = {0};
        const bool found = kc__gen_sample_pattern(kc_cstr(c->pattern), c->more, c->nth, &out);
        if (found != (c->text != NULL))
            print_message("%s\n", c->pattern);
        assert_int_equal(found, c->text != NULL);
        assert_string_equal(kc_buf_cstr(&out), c->text ? c->text : "");
    }
}

TESTS(sample_is_named_after_its_kind, spec_without_required_fields_is_empty,
      sample_values_satisfy_the_schema, unsatisfiable_field_is_reported_in_a_comment,
      unserved_versions_have_no_sample, groups_with_equal_label_have_distinct_files,
      invalid_types_write_nothing, simple_patterns_have_a_matching_text)
