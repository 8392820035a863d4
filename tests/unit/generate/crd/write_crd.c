/* SPDX-License-Identifier: Apache-2.0 */
/* Complete CRDs: their format, versions, types of the SDK, options, and errors. */
#include "generate_testing.h"

#include "kc/clock.h"

/* ---- format ---- */

static const char robot_header[] = //
    "typedef enum robot_phase { ROBOT_PHASE_IDLE, ROBOT_PHASE_WALKING } robot_phase;\n"
    "/// RobotArm is one of its arms.\n"
    "typedef struct robot_arm {\n"
    "    /// Length in millimetres, from the shoulder to the tip of the longest finger it has.\n"
    "    int32_t length;\n"
    "    kc_quantity_text *load;\n"
    "} robot_arm;\n"
    "/// RobotSpec is the desired state of a robot.\n"
    "typedef struct robot_spec {\n"
    "    /// Arms, by name:\n"
    "    /// any number of them.\n"
    "    /// +optional\n"
    "    KC_MAP_OF(robot_arm) arms;\n"
    "    kc_duration_field rest;\n"
    "} robot_spec;\n"
    "typedef struct robot_status {\n"
    "    robot_phase phase;\n"
    "    kc_micro_timestamp *seen;\n"
    "} robot_status;\n"
    "/// +kubebuilder:object:root=true\n"
    "/// +kubebuilder:subresource:status\n"
    "/// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`\n"
    "\n"
    "/// Robot walks.\n"
    "typedef struct robot {\n"
    "    kc_object_meta metadata;\n"
    "    robot_spec spec;\n"
    "    robot_status status;\n"
    "} robot;\n";

static const char robot_yaml[] = //
    "# apps.example.io_robots.yaml\n"
    "---\n"
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata:\n"
    "  annotations:\n"
    "    kubecontroller.io/version: v9\n"
    "  name: robots.apps.example.io\n"
    "spec:\n"
    "  group: apps.example.io\n"
    "  names:\n"
    "    kind: Robot\n"
    "    listKind: RobotList\n"
    "    plural: robots\n"
    "    singular: robot\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - additionalPrinterColumns:\n"
    "    - jsonPath: .status.phase\n"
    "      name: Phase\n"
    "      type: string\n"
    "    name: v1\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        description: Robot walks.\n"
    "        properties:\n"
    "          apiVersion:\n"
    "            description: |-\n"
    "              APIVersion defines the versioned schema of this representation of an object.\n"
    "              Servers should convert recognized schemas to the latest internal value, and\n"
    "              may reject unrecognized values.\n"
    "              More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources\n"
    "            type: string\n"
    "          kind:\n"
    "            description: |-\n"
    "              Kind is a string value representing the REST resource this object represents.\n"
    "              Servers may infer this from the endpoint the client submits requests to.\n"
    "              Cannot be updated.\n"
    "              In CamelCase.\n"
    "              More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds\n"
    "            type: string\n"
    "          metadata:\n"
    "            type: object\n"
    "          spec:\n"
    "            description: RobotSpec is the desired state of a robot.\n"
    "            properties:\n"
    "              arms:\n"
    "                additionalProperties:\n"
    "                  description: RobotArm is one of its arms.\n"
    "                  properties:\n"
    "                    length:\n"
    "                      description: Length in millimetres, from the shoulder to the\n"
    "                        tip of the longest finger it has.\n"
    "                      format: int32\n"
    "                      type: integer\n"
    "                    load:\n"
    "                      anyOf:\n"
    "                      - type: integer\n"
    "                      - type: string\n"
    "                      pattern: ^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$\n"
    "                      x-kubernetes-int-or-string: true\n"
    "                  required:\n"
    "                  - length\n"
    "                  type: object\n"
    "                description: |-\n"
    "                  Arms, by name:\n"
    "                  any number of them.\n"
    "                type: object\n"
    "              rest:\n"
    "                type: string\n"
    "            required:\n"
    "            - rest\n"
    "            type: object\n"
    "          status:\n"
    "            properties:\n"
    "              phase:\n"
    "                enum:\n"
    "                - Idle\n"
    "                - Walking\n"
    "                type: string\n"
    "              seen:\n"
    "                format: date-time\n"
    "                type: string\n"
    "            required:\n"
    "            - phase\n"
    "            type: object\n"
    "        required:\n"
    "        - spec\n"
    "        type: object\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources:\n"
    "      status: {}\n";

static void complete_crd_matches_expected_yaml(void **state)
{
    (void)state;
    kc_autofree char *yaml = crds_with(robot_header, &(kc__gen_crd_opts){.version = "v9"});
    assert_string_equal(yaml, robot_yaml);
}

static void equal_headers_give_equal_bytes(void **state)
{
    (void)state;
    kc_autofree char *first = crds_of(robot_header);
    for (int i = 0; i < 3; i++) {
        kc_autofree char *again = crds_of(robot_header);
        assert_string_equal(first, again);
    }
}

/* ---- versions ---- */

static char *crds_of_versions(const char *v1, const char *v2)
{
    kc_autofree char *old = kc_asprintf("#include \"kc/api.h\"\n%s", v1);
    kc_autofree char *fresh = kc_asprintf("#include \"kc/api.h\"\n%s", v2);
    const kc__gen_source sources[] = {
        {"/kc-tests/api/apps/v2/groupversion_info.h", KC_STR(INFO_TEXT)},
        {"/kc-tests/api/apps/v2/robot_types.h", kc_cstr(fresh)},
        {INFO_PATH, KC_STR(INFO_TEXT)},
        {TYPES_PATH, kc_cstr(old)},
    };
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    if (read_sources(sources, KC_COUNT(sources), &model, &err) < 0 ||
        kc__gen_write_crds(&model, &(kc__gen_crd_opts){.max_description = -1}, put_text, &out,
                           &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

#define KIND(name, markers)                                              \
    "/// +kubebuilder:object:root=true\n" markers "typedef struct " name \
    " { kc_object_meta metadata; } " name ";\n"

static void versions_of_a_kind_are_in_one_crd(void **state)
{
    (void)state;
    kc_autofree char *yaml =
        crds_of_versions(KIND("robot", "/// +kubebuilder:unservedversion\n"),
                         KIND("robot_v2", "/// +kubebuilder:storageversion\n"));
    assert_contains(yaml, "  - name: v1\n");
    assert_contains(yaml, "    served: false\n    storage: false\n  - name: v2\n");
    assert_contains(yaml, "    served: true\n    storage: true\n");
    assert_null(strstr(yaml + 1, "# "));
}

static void skipped_version_is_left_out(void **state)
{
    (void)state;
    kc_autofree char *yaml =
        crds_of_versions(KIND("robot", ""), KIND("robot", "/// +kubebuilder:skipversion\n"));
    assert_contains(yaml, "  - name: v1\n");
    assert_null(strstr(yaml, "v2"));
}

static void exactly_one_version_must_be_stored(void **state)
{
    (void)state;
    kc_autofree char *none = crds_of_versions(KIND("robot", ""), KIND("robot", ""));
    assert_contains(none, TYPES_PATH ":3:16: Robot has 2 versions, of which none is stored");
    kc_autofree char *both = crds_of_versions(KIND("robot", "/// +kubebuilder:storageversion\n"),
                                              KIND("robot", "/// +kubebuilder:storageversion\n"));
    assert_contains(both, "of which several are stored");
}

/* ---- types of the SDK ---- */

static void conditions_have_the_schema_of_kubernetes(void **state)
{
    (void)state;
    kc_autofree char *yaml =
        crds_of(KIND_OF("", "/// +listType=map\n/// +listMapKey=type\n"
                            "kc_status_condition *conditions; size_t n_conditions;\n"));
    assert_part(yaml, 14,
                "conditions:\n"
                "  items:\n"
                "    description: Condition contains details for one aspect of the current\n"
                "      state of this API Resource.\n"
                "    properties:\n"
                "      lastTransitionTime:\n");
    assert_part(yaml, 20,
                "status:\n"
                "  description: status of the condition, one of True, False, Unknown.\n"
                "  enum:\n"
                "  - \"True\"\n"
                "  - \"False\"\n"
                "  - Unknown\n"
                "  type: string\n");
    assert_part(yaml, 18,
                "required:\n- lastTransitionTime\n- message\n- reason\n- status\n- type\n"
                "type: object\n");
}

static void embedded_metadata_has_properties_only_on_request(void **state)
{
    (void)state;
    const char *header =
        KIND_OF("typedef struct template {\n    kc_object_meta metadata;\n} template;\n",
                "template pod;\n");
    kc_autofree char *plain = crds_of(header);
    assert_part(plain, 14, "pod:\n  properties:\n    metadata:\n      type: object\n");
    kc_autofree char *full = crds_with(header, &(kc__gen_crd_opts){.embedded_object_meta = true});
    assert_part(
        full, 18,
        "metadata:\n  properties:\n    annotations:\n      additionalProperties:\n"
        "        type: string\n      type: object\n    finalizers:\n      items:\n"
        "        type: string\n      type: array\n    labels:\n      additionalProperties:\n"
        "        type: string\n      type: object\n    name:\n      type: string\n"
        "    namespace:\n      type: string\n  type: object\n");
    assert_part(full, 10, "metadata:\n  type: object\n");
}

static void quantity_and_int_or_string_take_field_markers(void **state)
{
    (void)state;
    kc_autofree char *yaml = crds_of(KIND_OF("", "/// Port.\n"
                                                 "/// +kubebuilder:validation:Enum=1;http\n"
                                                 "kc_int_or_string port;\n"));
    assert_part(yaml, 14,
                "port:\n  anyOf:\n  - type: integer\n  - type: string\n  description: Port.\n"
                "  enum:\n  - 1\n  - http\n  x-kubernetes-int-or-string: true\n");
}

/* ---- options ---- */

static void descriptions_are_truncated_at_sentences(void **state)
{
    (void)state;
    const char *header = KIND_OF("", "/// One sentence. Another one.\nchar *a;\n"
                                     "/// words without any end\nchar *b;\n"
                                     "/// short\nchar *c;\n");
    kc_autofree char *cut = crds_with(header, &(kc__gen_crd_opts){.max_description = 20});
    assert_part(cut, 16, "description: One sentence.\n");
    assert_part(cut, 16, "description: words without any...\n");
    assert_part(cut, 16, "description: short\n");
    kc_autofree char *none = crds_with(header, &(kc__gen_crd_opts){.max_description = -1});
    assert_null(strstr(none, "description"));
}

static void floats_require_allow_dangerous_types(void **state)
{
    (void)state;
    const char *header = KIND_OF("", "/// +kubebuilder:validation:Maximum=1.5\ndouble a;\n");
    kc_autofree char *refused = crds_of(header);
    assert_contains(refused,
                    TYPES_PATH ":4:8: floating-point numbers are not portable between languages");
    kc_autofree char *allowed =
        crds_with(header, &(kc__gen_crd_opts){.allow_dangerous_types = true});
    assert_part(allowed, 14, "a:\n  maximum: 1.5\n  type: number\n");
}

static void header_precedes_the_document(void **state)
{
    (void)state;
    kc_autofree char *yaml = crds_with(robot_header, &(kc__gen_crd_opts){.header = "# License.\n"});
    assert_contains(yaml, ".yaml\n# License.\n---\napiVersion");
}

/* ---- invalid input ---- */

static const struct error_row {
    const char *text, *error;
} errors[] = {
    {KIND_OF("", "/// +kubebuilder:validation:Maximum=1\nchar *a;\n"),
     ":3:5: '+kubebuilder:validation:Maximum' applies to a number; this is of type \"string\""},
    {KIND_OF("", "/// +kubebuilder:validation:MaxLength=1\nint32_t a;\n"),
     ":3:5: '+kubebuilder:validation:MaxLength' applies to text; this is of type \"integer\""},
    {KIND_OF("", "/// +kubebuilder:validation:MinItems=1\nchar *a;\n"), "applies to a list"},
    {KIND_OF("", "/// +kubebuilder:validation:MaxProperties=1\nchar *a;\n"),
     "applies to an object"},
    {KIND_OF("", "/// +kubebuilder:validation:Maximum=1.5\nint32_t a;\n"),
     "1.5 is not an integer, but the field is"},
    {KIND_OF("", "/// +kubebuilder:validation:items:MaxLength=1\nchar *a;\n"),
     "applies to a list, which this is not"},
    {KIND_OF("", "/// +listType=heap\nchar **a; size_t n_a;\n"),
     "'+listType' must be map or set or atomic, not 'heap'"},
    {KIND_OF("", "/// +listMapKey=name\nchar **a; size_t n_a;\n"),
     "'+listMapKey' requires '+listType=map'"},
    {KIND_OF("", "/// +mapType=loose\nkc_string_map a;\n"), "must be granular or atomic"},
    {KIND_OF("", "/// +kubebuilder:title=5\nchar *a;\n"), "quote 5"},
    {KIND_OF("", "/// +kubebuilder:externalDocs:url=nowhere\nchar *a;\n"),
     "'nowhere' is not a URL"},
    {KIND_OF("", "/// +kubebuilder:validation:XValidation:rule=x,reason=Bad\nchar *a;\n"),
     "the reason must be FieldValueRequired, FieldValueInvalid"},
    {KIND_OF("", "/// +kubebuilder:validation:XValidation:rule=\"self.b\"\nchar *a;\n"),
     ":3:5: rule of properties[spec].properties[a].x-kubernetes-validations[0].rule: Invalid value: "
     "{\"Rule\":\"self.b\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
     "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: type "
     "'string' does not support field selection"},
    {KIND_OF("/// +kubebuilder:validation:XValidation:rule=\"true\",fieldPath=\".b\"\n"
             "typedef struct one { int *a; } one;\n",
             "one a;\n"),
     ":2:5: rule of properties[spec].properties[a].x-kubernetes-validations[0].fieldPath: Invalid "
     "value: \".b\": must be a valid path"},
    {KIND_OF("", "/// +kubebuilder:validation:items:XValidation:rule=\"self == oldSelf\"\n"
                 "char **a; size_t n_a;\n"),
     "oldSelf cannot be used on the uncorrelatable portion of the schema"},
    {KIND_OF("/// +kubebuilder:validation:Type=integer\ntypedef char *odd;\n",
             "/// +kubebuilder:validation:Type=boolean\nodd a;\n"),
     "a: its marker contradicts its type"},
    {KIND_OF("/// +kubebuilder:validation:ExactlyOneOf=a;c\ntypedef struct one { int *a; } one;\n",
             "one a;\n"),
     ":2:5: '+kubebuilder:validation:ExactlyOneOf': unknown field 'c'"},
    {KIND_OF("/// +kubebuilder:validation:ExactlyOneOf=a.b\ntypedef struct one { int *a; } one;\n",
             "one a;\n"),
     "cannot refer to nested fields: a.b"},
    {KIND_OF("/// +kubebuilder:validation:AtMostOneOf=a\ntypedef struct one { int a; } one;\n",
             "one a;\n"),
     ":3:26: a is required but named by '+kubebuilder:validation:AtMostOneOf'"},
    {KIND_OF("/// +k8s:enum\ntypedef char *word;\n", "word a;\n"),
     "'+k8s:enum' applies to an enum"},
    {KIND_OF("typedef struct node { struct node *next; } node;\n", "node a;\n"),
     ":2:36: node is recursive, which a CRD cannot express"},
    {"/// +kubebuilder:object:root=true\n/// +kubebuilder:resource:scope=Galaxy\n"
     "typedef struct robot { kc_object_meta metadata; } robot;\n",
     ":3:5: '+kubebuilder:resource': the scope must be Namespaced or Cluster, not 'Galaxy'"},
    {"/// +kubebuilder:object:root=true\n/// +kubebuilder:metadata:labels=alone\n"
     "typedef struct robot { kc_object_meta metadata; } robot;\n",
     "'alone' is not of the form name=value"},
};

static void errors_have_a_location_and_write_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(errors); i++) {
        kc_autofree char *expected =
            kc_asprintf("%s%s", errors[i].error[0] == ':' ? TYPES_PATH : "", errors[i].error);
        kc_autofree char *text = crds_of(errors[i].text);
        assert_contains(text, expected);
        assert_null(strstr(text, "apiVersion:"));
    }
}

static void schemaless_marker_breaks_recursion(void **state)
{
    (void)state;
    kc_autofree char *yaml = crds_of(KIND_OF("typedef struct node {\n"
                                             "/// +kubebuilder:validation:Schemaless\n"
                                             "/// +kubebuilder:validation:Type=object\n"
                                             "/// +kubebuilder:pruning:PreserveUnknownFields\n"
                                             "struct node *next; } node;\n",
                                             "node a;\n"));
    assert_part(yaml, 14,
                "a:\n  properties:\n    next:\n      type: object\n"
                "      x-kubernetes-preserve-unknown-fields: true\n  type: object\n");
}

/* ---- speed ---- */

static void ten_kinds_take_less_than_a_second(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "typedef struct common { char *a; int32_t *b; kc_string_map c; } common;\n");
    for (int i = 0; i < 10; i++) {
        kc_buf_printf(&text, "typedef struct k%d_spec {\n", i);
        for (int k = 0; k < 30; k++)
            kc_buf_printf(&text,
                          "    /// Field %d.\n    /// +kubebuilder:validation:MaxLength=%d\n"
                          "    char *text_%d;\n    common part_%d;\n",
                          k, k + 1, k, k);
        kc_buf_printf(&text,
                      "} k%d_spec;\n/// +kubebuilder:object:root=true\ntypedef struct k%d {\n"
                      "    kc_object_meta metadata;\n    k%d_spec spec;\n} k%d;\n",
                      i, i, i, i);
    }
    const int64_t start = kc_clock_now(kc_clock_real());
    kc_autofree char *yaml = crds_of(kc_buf_cstr(&text));
    const int64_t took = kc_clock_now(kc_clock_real()) - start;
    assert_contains(yaml, "# apps.example.io_k9s.yaml\n");
    /* A second as released; sanitizers and a busy machine get more. */
    assert_true(took < 20 * KC_SECOND);
    print_message("ten kinds: %lld ms\n", (long long)(took / KC_MILLISECOND));
}

TESTS(complete_crd_matches_expected_yaml, equal_headers_give_equal_bytes,
      versions_of_a_kind_are_in_one_crd, skipped_version_is_left_out,
      exactly_one_version_must_be_stored, conditions_have_the_schema_of_kubernetes,
      embedded_metadata_has_properties_only_on_request,
      quantity_and_int_or_string_take_field_markers, descriptions_are_truncated_at_sentences,
      floats_require_allow_dangerous_types, header_precedes_the_document,
      errors_have_a_location_and_write_nothing, schemaless_marker_breaks_recursion,
      ten_kinds_take_less_than_a_second)
