/* SPDX-License-Identifier: Apache-2.0 */
/* Headers from CRDs: what each schema becomes, and that the CRD comes back from them. */
#include "testing.h"

#include "generate/read_headers.h"
#include "generate/write_crd.h"
#include "generate/write_types.h"

#include "kc/yaml.h"

enum { MAX_FILES = 8 };

/* Files as they were put. */
typedef struct files {
    kc__gen_source items[MAX_FILES];
    size_t n;
    kc_arena arena;
} files;

static void files_done(files *f)
{
    kc_arena_done(&f->arena);
}

static int put_file(const char *name, kc_str text, void *user, kc_error *err)
{
    files *f = user;
    (void)err;
    assert_true(f->n < MAX_FILES);
    f->items[f->n++] = (kc__gen_source){kc_arena_printf(&f->arena, "/kc-tests/api/%s", name),
                                        kc_arena_str(&f->arena, text)};
    return 0;
}

#define CRD(more_names, scope, version, schema)  \
    "---\n"                                      \
    "apiVersion: apiextensions.k8s.io/v1\n"      \
    "kind: CustomResourceDefinition\n"           \
    "metadata:\n"                                \
    "  name: robots.apps.example.io\n"           \
    "spec:\n"                                    \
    "  group: apps.example.io\n"                 \
    "  names:\n" more_names "    kind: Robot\n"  \
    "    listKind: RobotList\n"                  \
    "    plural: robots\n" scope "  versions:\n" \
    "  - " version "name: v1\n"                  \
    "    schema:\n"                              \
    "      openAPIV3Schema:\n" schema

static void types_of(const char *crd, files *into)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(kc_cstr(crd), NULL, &err);
    assert_non_null(view);
    assert_int_equal(kc__write_types(kc_view_root(view), put_file, into, &err), 0);
}

/* ---- one property ---- */

static const struct property_case {
    const char *name, *schema, *required, *lines;
} property_cases[] = {
    {"deploymentName", "{'type':'string'}", "deploymentName", "    char *deployment_name;\n"},
    {"name", "{'type':'string'}", "", "    /// +optional\n    char *name;\n"},
    {"clusterIP", "{'type':'string'}", "clusterIP",
     "    /// +kc:json=clusterIP\n    char *cluster_ip;\n"},
    {"default", "{'type':'string'}", "default", "    /// +kc:json=default\n    char *f_default;\n"},
    {"$ref", "{'type':'string'}", "$ref", "    /// +kc:json=$ref\n    char *_ref;\n"},
    {"size", "{'type':'integer','format':'int32'}", "size", "    int32_t size;\n"},
    {"size", "{'type':'integer'}", "", "    int64_t *size;\n"},
    {"on", "{'type':'boolean'}", "", "    bool *on;\n"},
    {"size", "{'type':'number'}", "size", "    double size;\n"},
    {"at", "{'type':'string','format':'date-time'}", "", "    kc_timestamp *at;\n"},
    {"data", "{'type':'string','format':'byte'}", "data", "    kc_bytes data;\n"},
    {"port", "{'anyOf':[{'type':'integer'},{'type':'string'}],'x-kubernetes-int-or-string':true}",
     "port", "    kc_int_or_text port;\n"},
    {"any", "{'x-kubernetes-preserve-unknown-fields':true}", "any", "    kc_raw any;\n"},
    {"any", "{'type':'object','x-kubernetes-preserve-unknown-fields':true}", "any",
     "    /// +kubebuilder:validation:Type=object\n    kc_raw any;\n"},
    {"args", "{'type':'array','items':{'type':'string','maxLength':3}}", "args",
     "    /// +kubebuilder:validation:items:MaxLength=3\n    char **args;\n    size_t n_args;\n"},
    {"lists", "{'type':'array','items':{'type':'array','items':{'type':'string'}}}", "lists",
     "    kc_raw *lists;\n    size_t n_lists;\n"},
    {"tags", "{'type':'object','additionalProperties':{'type':'string'}}", "tags",
     "    kc_string_map tags;\n"},
    {"sizes", "{'type':'object','additionalProperties':{'type':'integer'}}", "sizes",
     "    KC_MAP_OF(int64_t) sizes;\n"},
    {"arm", "{'type':'object','properties':{'on':{'type':'boolean'}}}", "",
     "    robot_spec_arm *arm;\n"},
    {"metadata", "{'type':'object'}", "metadata", "    kc_object_meta metadata;\n"},
    {"name", "{'type':'string','description':'One.\\n\\n+Two'}", "name",
     "    /// One.\n    ///\n    /// \\+Two\n    char *name;\n"},
    {"name", "{'type':'string','pattern':'^a$','format':'hostname','enum':['a','b'],'default':'a'}",
     "name",
     "    /// +kubebuilder:validation:Pattern=`^a$`\n"
     "    /// +kubebuilder:validation:Enum={\"a\",\"b\"}\n"
     "    /// +default=\"a\"\n"
     "    /// +kubebuilder:validation:Format=hostname\n    char *name;\n"},
    {"name",
     "{'type':'string','x-kubernetes-validations':[{'rule':'self != 1','message':'no','reason':"
     "'FieldValueInvalid'}]}",
     "name",
     "    /// +kubebuilder:validation:XValidation:rule=\"self != "
     "1\",message=\"no\",reason=\"FieldValueInvalid\"\n    char *name;\n"},
};

static void every_schema_has_its_declaration(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(property_cases); i++) {
        const struct property_case *c = &property_cases[i];
        kc_scoped(files) f = {0};
        kc_autofree char *crd =
            kc_asprintf(CRD("", "", "",
                            "        {'properties': {'spec': {'type': 'object', "
                            "'required': ['%s'], 'properties': {'%s': %s}}}}\n"),
                        c->required, c->name, c->schema);
        for (char *quote = crd; (quote = strchr(quote, '\''));)
            *quote = '"';
        types_of(crd, &f);
        kc_autofree char *text = kc_str_dup(f.items[1].text);
        kc_autofree char *spec = kc_asprintf("typedef struct robot_spec {\n%s}", c->lines);
        assert_contains(text, spec);
    }
}

static void what_no_marker_says_is_told_at_the_top(void **state)
{
    (void)state;
    kc_scoped(files) f = {0};
    types_of(CRD("", "", "",
                 "        {properties: {spec: {type: object, properties: {a: {type: "
                 "string, oneOf: [{format: ipv4}]}}}}}\n"),
             &f);
    kc_autofree char *text = kc_str_dup(f.items[1].text);
    assert_contains(text, " *   robot_spec.a: oneOf\n");
}

/* ---- there and back ---- */

static const char whole[] =
    CRD("    categories:\n    - all\n",
        "    shortNames:\n    - rb\n    singular: robot\n  scope: Cluster\n",
        "additionalPrinterColumns:\n"
        "    - jsonPath: .status.phase\n"
        "      name: Phase\n"
        "      type: string\n"
        "    ",
        "        description: Robot walks.\n"
        "        properties:\n"
        "          spec:\n"
        "            properties:\n"
        "              arms:\n"
        "                description: Arms it has.\n"
        "                items:\n"
        "                  description: Arm is one of them.\n"
        "                  properties:\n"
        "                    clusterIP:\n"
        "                      format: ipv4\n"
        "                      type: string\n"
        "                    length:\n"
        "                      default: 3\n"
        "                      format: int32\n"
        "                      maximum: 9\n"
        "                      type: integer\n"
        "                  required:\n"
        "                  - clusterIP\n"
        "                  type: object\n"
        "                  x-kubernetes-map-type: atomic\n"
        "                maxItems: 4\n"
        "                type: array\n"
        "                x-kubernetes-list-map-keys:\n"
        "                - clusterIP\n"
        "                x-kubernetes-list-type: map\n"
        "              labels:\n"
        "                additionalProperties:\n"
        "                  type: string\n"
        "                type: object\n"
        "            required:\n"
        "            - arms\n"
        "            type: object\n"
        "            x-kubernetes-validations:\n"
        "            - message: it needs arms\n"
        "              rule: self.arms.size() > 0\n"
        "          status:\n"
        "            properties:\n"
        "              phase:\n"
        "                enum:\n"
        "                - Idle\n"
        "                - Walking\n"
        "                type: string\n"
        "            type: object\n"
        "        required:\n"
        "        - spec\n"
        "        type: object\n"
        "    served: true\n"
        "    storage: true\n"
        "    subresources:\n"
        "      status: {}\n");

static int keep(const char *name, kc_str text, void *user, kc_error *err)
{
    (void)name;
    (void)err;
    kc_buf_append(user, text);
    return 0;
}

/* Parts that both have: the second has apiVersion, kind and metadata besides. */
static void assert_parts(const kc_value *before, const kc_value *after)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, before);
    if (kc_type_of(before) != KC_OBJECT) {
        assert_value_json(after, kc_buf_cstr(&text));
        return;
    }
    kc_members (before, name, value)
        assert_parts(value, kc_get_str(after, name));
}

static void a_crd_comes_back_from_its_headers(void **state)
{
    (void)state;
    kc_scoped(files) f = {0};
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_buf) yaml = {0};
    types_of(whole, &f);
    assert_string_equal(f.items[0].path, "/kc-tests/api/apps/v1/groupversion_info.h");
    assert_string_equal(f.items[1].path, "/kc-tests/api/apps/v1/robot_types.h");
    const kc__read_opts opts = {.sources = f.items, .n_sources = f.n, .sdk_include = "../include"};
    kc_scoped(kc_error) err = {0};
    if (kc__read_headers(&opts, &model, &err) < 0 ||
        kc__write_crds(&model, &(kc__crd_opts){0}, keep, &yaml, &err) < 0)
        fail_msg("%s\n%.*s", kc_error_text(&err), KC_ARG(f.items[1].text));
    kc_auto(kc_view) *before = kc_yaml_parse(kc_cstr(whole), NULL, NULL);
    kc_auto(kc_view) *after = kc_yaml_parse(kc_buf_str(&yaml), NULL, NULL);
    const char *const same[] = {"group", "names", "scope"};
    for (size_t i = 0; i < KC_COUNT(same); i++)
        assert_parts(kc_get(kc_get(kc_view_root(before), "spec"), same[i]),
                     kc_get(kc_get(kc_view_root(after), "spec"), same[i]));
    assert_parts(kc_at(kc_dig(kc_view_root(before), "spec.versions"), 0),
                 kc_at(kc_dig(kc_view_root(after), "spec.versions"), 0));
}

/* ---- mistakes ---- */

static const struct mistake {
    const char *crd, *error;
} mistakes[] = {
    {"{'kind':'Pod','apiVersion':'v1'}", "it is no CustomResourceDefinition"},
    {"[]", "it is no CustomResourceDefinition"},
    {"{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','spec':{}}",
     "it has no spec.group"},
    {"{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','spec':{'group':"
     "'../a','names':{'kind':'Robot'}}}",
     "it has no spec.group"},
    {"{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','spec':{'group':"
     "'a.io','names':{'kind':'Robot'},'versions':[{'name':'v1'}]}}",
     "its version 'v1' has no schema"},
};

static void what_is_no_crd_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(mistakes); i++) {
        kc_scoped(kc_error) err = {0};
        kc_scoped(files) f = {0};
        kc_auto(kc_view) *view = view_of(mistakes[i].crd);
        assert_true(kc__write_types(kc_view_root(view), put_file, &f, &err) < 0);
        assert_error(&err, KC_INVALID, mistakes[i].error);
        assert_int_equal(f.n, 0);
    }
}

TESTS(every_schema_has_its_declaration, what_no_marker_says_is_told_at_the_top,
      a_crd_comes_back_from_its_headers, what_is_no_crd_is_refused)
