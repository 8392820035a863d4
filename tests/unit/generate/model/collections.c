/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nested lists and maps, and typedefs with markers: from a header to schemas, tables and samples.
 */
#include "generate_testing.h"

#include "generate/sample/write_sample.h"
#include "generate/write/write_code.h"

#define V "/// +kubebuilder:validation:"

typedef int writer(const kc__gen_model *model, const char *header, kc__gen_output_put *put,
                   void *user, kc_error *err);

/* What a writer makes of a header, or the errors. The caller frees the text. */
static char *written(writer *write, const char *before, const char *members)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *text = kc_asprintf(KIND_OF("%s", "%s"), before, members);
    if (read_text(text, &model, &err) < 0 || write(&model, NULL, put_text, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

static char *crd_of(const char *before, const char *members)
{
    kc_autofree char *text = kc_asprintf(KIND_OF("%s", "%s"), before, members);
    return crds_of(text);
}

#define ARM    "typedef struct arm {\n    char *name;\n} arm;\n"
#define LABELS "/// Labels.\n" V "MaxProperties=3\ntypedef kc_string_map labels;\n"
#define NAMES                                                                  \
    "/// Names.\n" V "MaxItems=8\n" V "items:MaxLength=9\n/// +listType=set\n" \
    "typedef KC_LIST_OF(char *) names;\n"
#define PORT "/// A port.\n" V "Pattern=`^[a-z]+$`\ntypedef char *port;\n"

static const struct row {
    const char *before, *members, *schema, *code;
} rows[] = {
    {"", "KC_LIST_OF(char *) f;\n", "f:\n  items:\n    type: string\n  type: array\n",
     ".count_offset = offsetof(robot_spec, f.n), .type = KC_MEMBER_TEXT, .shape = KC_SHAPE_LIST,"},
    {"", "KC_MAP_OF(KC_LIST_OF(char *)) f;\n",
     "f:\n  additionalProperties:\n    items:\n      type: string\n    type: array\n"
     "  type: object\n",
     ".type = KC_MEMBER_INNER, .shape = KC_SHAPE_MAP, .flags = KC_MEMBER_KEEP_EMPTY, .inner = "
     "&(const kc_member){KC_INNER_LIST, .type = KC_MEMBER_TEXT}},"},
    {"", "KC_LIST_OF(KC_LIST_OF(int32_t)) f;\n",
     "f:\n  items:\n    items:\n      format: int32\n      type: integer\n    type: array\n"
     "  type: array\n",
     ".inner = &(const kc_member){KC_INNER_LIST, .type = KC_MEMBER_INT32}},"},
    {ARM, "KC_MAP_OF(KC_MAP_OF(arm *)) f;\n",
     "f:\n  additionalProperties:\n    additionalProperties:\n      properties:\n        name:\n"
     "          type: string\n      required:\n      - name\n      type: object\n"
     "    type: object\n  type: object\n",
     ".inner = &(const kc_member){KC_INNER_MAP, .type = KC_MEMBER_STRUCT, .flags = "
     "KC_MEMBER_POINTERS, .of = &arm_struct}},"},
    {"", "kc_string_map *f; size_t n_f;\n",
     "f:\n  items:\n    additionalProperties:\n      type: string\n    type: object\n"
     "  type: array\n",
     ".count_offset = offsetof(robot_spec, n_f), .type = KC_MEMBER_INNER, .shape = KC_SHAPE_LIST,"},
    {"", "kc_string_map *f;\n", "f:\n  additionalProperties:\n    type: string\n  type: object\n",
     ".type = KC_MEMBER_INNER, .shape = KC_SHAPE_POINTER, .inner = &(const kc_member){KC_INNER_MAP, "
     ".type = KC_MEMBER_TEXT}},"},
    {"", "KC_LIST_OF(KC_MAP_OF(KC_LIST_OF(bool))) f;\n",
     "f:\n  items:\n    additionalProperties:\n      items:\n        type: boolean\n"
     "      type: array\n    type: object\n  type: array\n",
     ".inner = &(const kc_member){KC_INNER_MAP, .type = KC_MEMBER_INNER, .inner = &(const "
     "kc_member){KC_INNER_LIST, .type = KC_MEMBER_BOOLEAN}}},"},
    /* What a typedef says holds where it is used; a field adds to it. */
    {LABELS, V "MinProperties=1\nlabels f;\n",
     "f:\n  additionalProperties:\n    type: string\n  description: Labels.\n  maxProperties: 3\n"
     "  minProperties: 1\n  type: object\n",
     ".type = KC_MEMBER_TEXT, .shape = KC_SHAPE_MAP, .flags = KC_MEMBER_KEEP_EMPTY},"},
    {LABELS, "/// Rooms.\nlabels *f; size_t n_f;\n",
     "f:\n  description: Rooms.\n  items:\n    additionalProperties:\n      type: string\n"
     "    description: Labels.\n    maxProperties: 3\n    type: object\n  type: array\n",
     ".inner = &(const kc_member){KC_INNER_MAP, .type = KC_MEMBER_TEXT}},"},
    {NAMES, "names f;\n",
     "f:\n  description: Names.\n  items:\n    maxLength: 9\n    type: string\n  maxItems: 8\n"
     "  type: array\n  x-kubernetes-list-type: set\n",
     ".count_offset = offsetof(robot_spec, f.n), .type = KC_MEMBER_TEXT, .shape = KC_SHAPE_LIST,"},
    {NAMES, V "MaxItems=4\nnames f;\n",
     "f:\n  allOf:\n  - maxItems: 8\n  - maxItems: 4\n  description: Names.\n  items:\n"
     "    maxLength: 9\n    type: string\n  type: array\n  x-kubernetes-list-type: set\n",
     ".shape = KC_SHAPE_LIST,"},
    {NAMES, V "MinProperties=1\nKC_MAP_OF(names) f;\n",
     "f:\n  additionalProperties:\n    description: Names.\n    items:\n      maxLength: 9\n"
     "      type: string\n    maxItems: 8\n    type: array\n    x-kubernetes-list-type: set\n"
     "  minProperties: 1\n  type: object\n",
     ".inner = &(const kc_member){KC_INNER_LIST, .type = KC_MEMBER_TEXT}},"},
    {PORT, V "MaxLength=5\nport f;\n",
     "f:\n  description: A port.\n  maxLength: 5\n  pattern: ^[a-z]+$\n  type: string\n",
     ".type = KC_MEMBER_TEXT, .shape = KC_SHAPE_VALUE},"},
    {PORT, V "items:MaxLength=5\nport *f; size_t n_f;\n",
     "f:\n  items:\n    description: A port.\n    maxLength: 5\n    pattern: ^[a-z]+$\n"
     "    type: string\n  type: array\n",
     ".type = KC_MEMBER_TEXT, .shape = KC_SHAPE_LIST,"},
    {PORT "/// Ports.\ntypedef KC_LIST_OF(port) ports;\n", "KC_MAP_OF(ports) f;\n",
     "f:\n  additionalProperties:\n    description: Ports.\n    items:\n"
     "      description: A port.\n"
     "      pattern: ^[a-z]+$\n      type: string\n    type: array\n  type: object\n",
     ".inner = &(const kc_member){KC_INNER_LIST, .type = KC_MEMBER_TEXT}},"},
    /* A pointer's typedef speaks of what it points to. */
    {V "Minimum=3\ntypedef int32_t *maybe;\n", "maybe f;\n",
     "f:\n  format: int32\n  minimum: 3\n  type: integer\n",
     ".type = KC_MEMBER_INT32, .shape = KC_SHAPE_POINTER},"},
    {V "Minimum=3\ntypedef int32_t *maybe;\n", "maybe *f; size_t n_f;\n",
     "f:\n  items:\n    format: int32\n    minimum: 3\n    type: integer\n  type: array\n",
     ".flags = KC_MEMBER_POINTERS | KC_MEMBER_KEEP_EMPTY},"},
    /* A second typedef says more of the same. */
    {LABELS V "MinProperties=2\ntypedef labels more_labels;\n", "more_labels f;\n",
     "f:\n  additionalProperties:\n    type: string\n  description: Labels.\n  maxProperties: 3\n"
     "  minProperties: 2\n  type: object\n",
     ".shape = KC_SHAPE_MAP,"},
    {PORT V "Pattern=`^a`\n" V "MaxLength=3\ntypedef port short_port;\n",
     V "MaxLength=2\nshort_port f;\n",
     "f:\n  allOf:\n  - pattern: ^[a-z]+$\n  - pattern: ^a\n  - maxLength: 3\n  - maxLength: 2\n",
     ".type = KC_MEMBER_TEXT, .shape = KC_SHAPE_VALUE},"},
    /* Items of a list that are lists. */
    {"", V "items:MinItems=2\n" V "MaxItems=3\nKC_LIST_OF(KC_LIST_OF(bool)) f;\n",
     "f:\n  items:\n    items:\n      type: boolean\n    minItems: 2\n    type: array\n"
     "  maxItems: 3\n  type: array\n",
     ".inner = &(const kc_member){KC_INNER_LIST, .type = KC_MEMBER_BOOLEAN}},"},
};

static void nested_lists_maps_and_typedefs_are_generated(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_autofree char *yaml = crd_of(rows[i].before, rows[i].members);
        assert_part(yaml, 14, rows[i].schema);
        kc_autofree char *code = written(kc__gen_write_code, rows[i].before, rows[i].members);
        assert_contains(code, rows[i].code);
    }
}

static void nested_collections_have_samples(void **state)
{
    (void)state;
    static const struct {
        const char *before, *members, *spec;
    } cases[] = {
        {"", "KC_LIST_OF(KC_LIST_OF(int32_t)) f;\n", "f:\n  - - 1\n"},
        {"", "KC_LIST_OF(kc_string_map) f;\n", "f:\n  - key: value\n"},
        {LABELS, "labels f;\n", "f:\n    key: value\n"},
        {NAMES, "names f;\n", "f:\n  - f\n"},
        {"", "KC_MAP_OF(KC_LIST_OF(kc_duration_field)) f;\n", "f:\n    key:\n    - 1m0s\n"},
        {V "MinItems=2\ntypedef KC_LIST_OF(kc_duration_field) pauses;\n", "pauses f;\n",
         "f:\n  - 1m0s\n  - 2m0s\n"},
        {ARM, "KC_MAP_OF(KC_LIST_OF(arm)) f;\n", "f:\n    key:\n    - name: name\n"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *yaml = written(kc__gen_write_samples, cases[i].before, cases[i].members);
        kc_autofree char *spec = kc_asprintf("\nspec:\n  %s", cases[i].spec);
        assert_contains(yaml, spec);
        assert_null(strstr(yaml, "To do"));
    }
}

static void errors_inside_collections_have_a_location(void **state)
{
    (void)state;
    static const struct {
        const char *before, *members, *error;
    } cases[] = {
        {NAMES, V "items:MinLength=1\nnames f;\n",
         "'+kubebuilder:validation:items:MinLength' applies to a list, which this is not; put it at the "
         "list's typedef"},
        {V "MaxItems=1\ntypedef kc_string_map m;\n", "m f;\n",
         ":2:5: '+kubebuilder:validation:MaxItems' applies to a list; this is of type \"object\""},
        {"/// +k8s:enum\ntypedef kc_string_map m;\n", "m f;\n", "'+k8s:enum' applies to an enum"},
        {"typedef struct node { KC_LIST_OF(struct node *) next; } node;\n", "node a;\n",
         "node is recursive, which a CRD cannot express"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *text = crd_of(cases[i].before, cases[i].members);
        assert_contains(text, cases[i].error);
    }
}

static void too_deep_nesting_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) types = {0};
    kc_buf_puts(&types, "typedef int32_t l0;\n");
    for (int i = 0; i < 40; i++)
        kc_buf_printf(&types, "typedef KC_LIST_OF(l%d) l%d;\n", i, i + 1);
    kc_autofree char *text = crd_of(kc_buf_cstr(&types), "l40 f;\n");
    assert_contains(text, "f: lists and maps are nested more than 32 deep");
}

static void unused_typedef_is_only_validated(void **state)
{
    (void)state;
    kc_autofree char *good =
        crd_of(PORT LABELS NAMES "typedef void (*callback)(void);\n", "int f;\n");
    assert_contains(good, "apiVersion:");
    kc_autofree char *bad = crd_of(V "MaxLengh=1\ntypedef char *text;\n", "int f;\n");
    assert_contains(bad, TYPES_PATH ":2:5: unknown marker '+kubebuilder:validation:MaxLengh'");
}

TESTS(nested_lists_maps_and_typedefs_are_generated, nested_collections_have_samples,
      errors_inside_collections_have_a_location, too_deep_nesting_is_refused,
      unused_typedef_is_only_validated)
