/* SPDX-License-Identifier: Apache-2.0 */
/* Headers from CRDs: what each schema becomes, and that the CRD round-trips. */
#include "testing.h"

#include "generate/crd/write_crd.h"
#include "generate/read/read_headers.h"
#include "generate/types/write_types.h"

#include "kc/diff.h"
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
    assert_int_equal(kc__gen_write_types(kc_view_root(view), put_file, into, &err), 0);
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
    {"size", "{'type':'integer','format':'int64'}", "", "    int64_t *size;\n"},
    {"size", "{'type':'integer'}", "",
     "    /// +kubebuilder:validation:Format=\"\"\n    int64_t *size;\n"},
    {"HTTPRoutes", "{'type':'string'}", "HTTPRoutes",
     "    /// +kc:json=HTTPRoutes\n    char *http_routes;\n"},
    {"clusterIPs", "{'type':'string'}", "clusterIPs",
     "    /// +kc:json=clusterIPs\n    char *cluster_ips;\n"},
    {"oneOfAKind", "{'type':'string'}", "oneOfAKind", "    char *one_of_a_kind;\n"},
    {"a,b", "{'type':'string'}", "a,b", ""},
    {"on", "{'type':'boolean'}", "", "    bool *on;\n"},
    {"size", "{'type':'number'}", "size", "    double size;\n"},
    {"at", "{'type':'string','format':'date-time'}", "", "    kc_timestamp *at;\n"},
    {"data", "{'type':'string','format':'byte'}", "data", "    kc_bytes data;\n"},
    {"port", "{'anyOf':[{'type':'integer'},{'type':'string'}],'x-kubernetes-int-or-string':true}",
     "port", "    kc_int_or_string port;\n"},
    {"any", "{'x-kubernetes-preserve-unknown-fields':true}", "any", "    kc_raw any;\n"},
    {"any", "{'type':'object','x-kubernetes-preserve-unknown-fields':true}", "any",
     "    /// +kubebuilder:validation:Type=object\n    kc_raw any;\n"},
    {"args", "{'type':'array','items':{'type':'string','maxLength':3}}", "args",
     "    /// +kubebuilder:validation:items:MaxLength=3\n    char **args;\n    size_t n_args;\n"},
    {"lists", "{'type':'array','items':{'type':'array','items':{'type':'string'}}}", "lists",
     "    KC_LIST_OF(char *) *lists;\n    size_t n_lists;\n"},
    {"lists",
     "{'type':'array','items':{'type':'array','maxItems':2,'items':{'type':'object',"
     "'additionalProperties':{'type':'string'}}}}",
     "lists", "    robot_spec_lists_item *lists;\n    size_t n_lists;\n"},
    {"words", "{'type':'array','items':{'type':'string','description':'A word.'}}", "words",
     "    robot_spec_words_item *words;\n    size_t n_words;\n"},
    {"groups",
     "{'type':'object','additionalProperties':{'type':'array','items':{'type':'string'}}}",
     "groups", "    KC_MAP_OF(KC_LIST_OF(char *)) groups;\n"},
    {"names", "{'type':'object','additionalProperties':{'type':'string','maxLength':3}}", "names",
     "    KC_MAP_OF(robot_spec_names_value) names;\n"},
    {"empty", "{'type':'object'}", "empty",
     "    /// +kubebuilder:validation:Schemaless\n"
     "    /// +kubebuilder:validation:Type=object\n    kc_raw empty;\n"},
    {"port", "{'x-kubernetes-int-or-string':true}", "port",
     "    /// +kubebuilder:validation:Schemaless\n"
     "    /// +kubebuilder:validation:XIntOrString\n    kc_int_or_string port;\n"},
    {"limited", "{'type':'string','allOf':[{'maxLength':9},{'maxLength':5}]}", "limited",
     "    /// +kubebuilder:validation:MaxLength=5\n    robot_spec_limited_type limited;\n"},
    {"tags", "{'type':'object','additionalProperties':{'type':'string'}}", "tags",
     "    kc_string_map tags;\n"},
    {"sizes", "{'type':'object','additionalProperties':{'type':'integer','format':'int64'}}",
     "sizes", "    KC_MAP_OF(int64_t) sizes;\n"},
    {"arm", "{'type':'object','properties':{'on':{'type':'boolean'}}}", "",
     "    robot_spec_arm *arm;\n"},
    {"metadata", "{'type':'object'}", "metadata", "    kc_object_meta metadata;\n"},
    {"name", "{'type':'string','description':'One.\\n\\n+Two'}", "name",
     "    /// One.\n    ///\n    /// \\+Two\n    char *name;\n"},
    {"name", "{'type':'string','pattern':'^a$','format':'hostname','enum':['a','b'],'default':'a'}",
     "name",
     "    /// +kubebuilder:validation:Pattern=`^a$`\n"
     "    /// +kubebuilder:validation:Enum=a;b\n"
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

static void inexpressible_schema_parts_are_listed_at_the_top(void **state)
{
    (void)state;
    kc_scoped(files) f = {0};
    types_of(CRD("", "", "",
                 "        {properties: {spec: {type: object, properties: {a: {type: string, oneOf: "
                 "[{format: ipv4}], not: {enum: [x]}}, b: {type: array, items: {type: string, "
                 "nullable: true}}, c: {type: object, additionalProperties: true, example: "
                 "{a: [b, 1]}}, f: {type: array, items: {type: object}}, "
                 "\"d,e\": {type: string}}}}}\n"),
             &f);
    kc_autofree char *text = kc_str_dup(f.items[1].text);
    assert_contains(text, " *   robot_spec.a: oneOf, not\n"
                          " *   robot_spec_b_item: nullable\n"
                          " *   robot_spec.c: additionalProperties, example\n"
                          " *   robot_spec_f_item: that unknown fields are dropped\n"
                          " *   robot_spec: a field whose name no marker can say\n");
}

static void colliding_names_are_made_distinct(void **state)
{
    (void)state;
    kc_scoped(files) f = {0};
    types_of(CRD("", "", "",
                 "        {properties: {spec: {type: object, properties: {proxyURL: {type: string},"
                 " proxyUrl: {type: string}, arms: {type: array, items: {type: string}}, "
                 "nArms: {type: string}, aB: {type: object, properties: {c: {type: string}}}, "
                 "a: {type: object, properties: {b: {type: object, properties: {d: {type: "
                 "string}}}}}}}}}\n"),
             &f);
    kc_autofree char *text = kc_str_dup(f.items[1].text);
    assert_contains(text, "/// +kc:json=proxyURL\n    /// +optional\n    char *proxy_url;");
    assert_contains(text, "/// +kc:json=proxyUrl\n    /// +optional\n    char *proxy_url_2;");
    assert_contains(text, "/// +kc:json=nArms\n    /// +optional\n    char *n_arms_2;");
    assert_contains(text, "typedef struct robot_spec_a_b {\n    /// +optional\n    char *c;");
    assert_contains(text, "typedef struct robot_spec_a_b_2 {\n    /// +optional\n    char *d;");
}

static void kind_name_that_is_a_function_gets_a_suffix(void **state)
{
    (void)state;
    kc_scoped(files) f = {0};
    types_of("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: "
             "a.io, names: {kind: Link, plural: links}, versions: [{name: v1, schema: "
             "{openAPIV3Schema: {type: object}}}]}}",
             &f);
    kc_autofree char *text = kc_str_dup(f.items[1].text);
    assert_contains(text, "/// +kc:kind=Link\ntypedef struct link_kind {\n");
}

/* A description is foreign text: it must not end a comment or start code. */
static void descriptions_cannot_end_a_comment(void **state)
{
    (void)state;
    kc_scoped(files) f = {0};
    types_of(CRD("", "", "",
                 "        {properties: {spec: {type: object, properties: {a: {type: string, "
                 "description: \"one\\r*/ \\\\\\ntwo\"}}}}}\n"),
             &f);
    kc_autofree char *text = kc_str_dup(f.items[1].text);
    assert_contains(text, "    /// one */\n    /// two\n    /// +optional\n    char *a;\n");
}

/* ---- round trips ---- */

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
    if (kc_value_type(before) != KC_JSON_OBJECT) {
        assert_value_json(after, kc_buf_cstr(&text));
        return;
    }
    kc_value_each_member (before, name, value)
        assert_parts(value, kc_value_get_str(after, name));
}

/* The CRD of the headers of a CRD. */
static kc_view *there_and_back(const char *crd)
{
    kc_scoped(files) f = {0};
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_buf) yaml = {0};
    kc_scoped(kc_error) err = {0};
    types_of(crd, &f);
    assert_string_equal(f.items[0].path, "/kc-tests/api/apps/v1/groupversion_info.h");
    assert_string_equal(f.items[1].path, "/kc-tests/api/apps/v1/robot_types.h");
    const kc__gen_read_opts opts = {
        .sources = f.items, .n_sources = f.n, .sdk_include = "../include"};
    const kc__gen_crd_opts crd_opts = {.allow_dangerous_types = true};
    if (kc__gen_read_headers(&opts, &model, &err) < 0 ||
        kc__gen_write_crds(&model, &crd_opts, keep, &yaml, &err) < 0)
        fail_msg("%s\n%.*s", kc_error_text(&err), KC_ARG(f.items[1].text));
    return kc_yaml_parse(kc_buf_str(&yaml), NULL, NULL);
}

static void crd_round_trips_through_headers(void **state)
{
    (void)state;
    kc_auto(kc_view) *before = kc_yaml_parse(kc_cstr(whole), NULL, NULL);
    kc_auto(kc_view) *after = there_and_back(whole);
    const char *const same[] = {"group", "names", "scope"};
    for (size_t i = 0; i < KC_COUNT(same); i++)
        assert_parts(kc_value_get(kc_value_get(kc_view_root(before), "spec"), same[i]),
                     kc_value_get(kc_value_get(kc_view_root(after), "spec"), same[i]));
    assert_parts(kc_value_at(kc_value_nested(kc_view_root(before), "spec.versions"), 0),
                 kc_value_at(kc_value_nested(kc_view_root(after), "spec.versions"), 0));
}

#define INT_OR_STRING \
    "'anyOf':[{'type':'integer'},{'type':'string'}],'x-kubernetes-int-or-string':true"

/* Schemas that come back as they are. */
static const char *const schemas[] = {
    "{'type':'string'}",
    "{'type':'string','description':'One.\\n\\nTwo: `a` \\\"b\\\".','title':'A title'}",
    "{'type':'string','format':'date-time','nullable':true}",
    "{'type':'string','format':'byte'}",
    "{'type':'string','format':'ipv4','minLength':0,'maxLength':40,'pattern':'^`?a$'}",
    "{'type':'string','enum':['a','b-c'],'default':'a'}",
    "{'type':'string','enum':['','true','1','a b']}",
    "{'type':'string','example':'e','externalDocs':{'url':'https://a.io/b','description':'c'}}",
    "{'type':'string','allOf':[{'maxLength':9,'minLength':1},{'maxLength':5,'minLength':2}]}",
    "{'type':'string','x-kubernetes-validations':[{'rule':'oldSelf.orValue(\\\"b\\\") != \\\"a\\\"','message':'m','reason'"
    ":'FieldValueInvalid','optionalOldSelf':true},{'rule':'true'}]}",
    "{'type':'object','properties':{'a':{'type':'string'}},'x-kubernetes-validations':[{'rule':"
    "'has(self.a)','fieldPath':'.a'}]}",
    "{'type':'array','items':{'type':'string','maxLength':3},'allOf':[{'maxItems':9},{'maxItems':5}"
    "]}",
    "{'type':'object','additionalProperties':{'type':'string'},'allOf':[{'minProperties':1},"
    "{'minProperties':2}]}",
    "{'type':'integer'}",
    "{'type':'integer','format':'int32','minimum':-3,'maximum':7,'multipleOf':2}",
    "{'type':'integer','format':'int64','minimum':0,'exclusiveMinimum':true}",
    "{'type':'integer','format':'uint8','default':3}",
    "{'type':'number'}",
    "{'type':'number','format':'double','maximum':0.5}",
    "{'type':'boolean','default':true}",
    "{" INT_OR_STRING "}",
    "{" INT_OR_STRING ",'pattern':'^[0-9]+%$','maxLength':4}",
    "{" INT_OR_STRING ",'pattern':'^(\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))(([KMGTPE]i)|"
    "[numkMGTPE]|([eE](\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))))?$'}",
    "{'x-kubernetes-int-or-string':true}",
    "{'x-kubernetes-preserve-unknown-fields':true}",
    "{'type':'object'}",
    "{'type':'object','x-kubernetes-preserve-unknown-fields':true,'description':'Any.'}",
    "{'type':'object','x-kubernetes-embedded-resource':true,"
    "'x-kubernetes-preserve-unknown-fields':true}",
    "{'type':'object','additionalProperties':{'type':'string'},'maxProperties':2,"
    "'x-kubernetes-map-type':'atomic','default':{'a':'b'},'example':{'a':'b c','d e':'f'}}",
    "{'type':'object','additionalProperties':{'type':'string','maxLength':3,'description':'D.'}}",
    "{'type':'object','additionalProperties':{'type':'integer'}}",
    "{'type':'object','additionalProperties':{" INT_OR_STRING "}}",
    "{'type':'object','additionalProperties':{'type':'object','additionalProperties':{'type':"
    "'array','items':{'type':'boolean'}}}}",
    "{'type':'object','additionalProperties':{'type':'object','properties':{'a':{'type':'string'}},"
    "'required':['a'],'x-kubernetes-map-type':'atomic'}}",
    "{'type':'array','items':{'type':'string'},'default':['a'],'example':['a','b'],'minItems':1,"
    "'maxItems':9,'uniqueItems':true,'x-kubernetes-list-type':'set'}",
    "{'type':'array','items':{'type':'string','enum':['a','b'],'maxLength':2}}",
    "{'type':'array','items':{'type':'string','description':'A word.','pattern':'^a$'}}",
    "{'type':'array','items':{'type':'integer'}}",
    "{'type':'array','items':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}",
    "{'type':'array','items':{'type':'array','maxItems':2,'items':{'type':'array','items':{'type':"
    "'number'},'x-kubernetes-list-type':'atomic'}}}",
    "{'type':'array','items':{'type':'array','items':{'type':'object','properties':{'a':{'type':"
    "'string'}}}}}",
    "{'type':'array','items':{'type':'object','properties':{'a':{'type':'string'}},'required':['a']"
    ",'x-kubernetes-validations':[{'rule':'true'}]},'x-kubernetes-list-type':'map',"
    "'x-kubernetes-list-map-keys':['a']}",
    "{'type':'object','properties':{'a':{'type':'integer'},'metadata':{'type':'object'}},"
    "'minProperties':1,'x-kubernetes-preserve-unknown-fields':true,'nullable':true}",
};

static void expressible_schemas_round_trip(void **state)
{
    (void)state;
    kc_scoped(kc_buf) properties = {0};
    for (size_t i = 0; i < KC_COUNT(schemas); i++)
        kc_buf_printf(&properties, "%s'p%zu':%s", i ? "," : "", i, schemas[i]);
    kc_autofree char *crd = kc_asprintf(
        CRD("", "", "", "        {'properties':{'spec':{'type':'object','properties':{%s}}}}\n"),
        kc_buf_cstr(&properties));
    for (char *quote = crd; (quote = strchr(quote, '\''));)
        *quote = '"';
    kc_auto(kc_view) *view = kc_yaml_parse(kc_cstr(crd), NULL, NULL);
    kc_auto(kc_view) *after = there_and_back(crd);
    const char path[] = "schema.openAPIV3Schema.properties.spec.properties";
    const kc_value *were =
        kc_value_nested(kc_value_at(kc_value_nested(kc_view_root(view), "spec.versions"), 0), path);
    const kc_value *are = kc_value_nested(
        kc_value_at(kc_value_nested(kc_view_root(after), "spec.versions"), 0), path);
    assert_int_equal(kc_value_len(were), KC_COUNT(schemas));
    kc_value_each_member (were, name, was)
        if (!kc_value_equal(was, kc_value_get_str(are, name), NULL)) {
            kc_scoped(kc_buf) now = {0};
            kc_json_write(&now, kc_value_get_str(are, name));
            fail_msg("%.*s: %s\nbecomes %s", KC_ARG(name), schemas[strtoul(name.p + 1, NULL, 10)],
                     kc_buf_cstr(&now));
        }
}

static void versions_and_annotations_round_trip(void **state)
{
    (void)state;
    static const char crd[] =
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata:\n"
        "  annotations:\n"
        "    api-approved.kubernetes.io: https://a.io/1\n"
        "    controller-gen.kubebuilder.io/version: v0.21.0\n"
        "    kubecontroller.io/catalog: \"machines,\\nand more\"\n"
        "    kubecontroller.io/not-portable: \"true\"\n"
        "  labels: {team: \"a=b, c\"}\n"
        "  name: robots.apps.example.io\n"
        "spec:\n"
        "  group: apps.example.io\n"
        "  names: {kind: Robot, listKind: RobotList, plural: robots, singular: robot}\n"
        "  scope: Namespaced\n"
        "  versions:\n"
        "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
        "required: [metadata, status], properties: {status: {type: object, properties: {a: {type: "
        "string}}}}}}, subresources: {scale: {specReplicasPath: .spec.a, statusReplicasPath: "
        ".status.a, labelSelectorPath: .status.b}}, selectableFields: [{jsonPath: .spec.a}]}\n"
        "  - {name: v1beta1, served: false, storage: false, deprecated: true, deprecationWarning: "
        "\"use v1, please\", schema: {openAPIV3Schema: {type: object, properties: {spec: {type: "
        "object, properties: {b: {type: string}}}}}}}\n";
    kc_auto(kc_view) *before = kc_yaml_parse(kc_cstr(crd), NULL, NULL);
    kc_auto(kc_view) *after = there_and_back(crd);
    const kc_value *was = kc_value_nested(kc_view_root(before), "spec.versions");
    const kc_value *is = kc_value_nested(kc_view_root(after), "spec.versions");
    assert_int_equal(kc_value_len(is), 2);
    for (size_t i = 0; i < 2; i++)
        assert_parts(kc_value_at(was, i), kc_value_at(is, i));
    const kc_value *metadata = kc_value_get(kc_view_root(after), "metadata");
    assert_value_json(kc_value_get(metadata, "annotations"),
                      "{\"api-approved.kubernetes.io\":\"https://a.io/1\","
                      "\"kubecontroller.io/catalog\":\"machines,\\nand more\","
                      "\"kubecontroller.io/not-portable\":\"true\"}");
    assert_value_json(kc_value_get(metadata, "labels"), "{\"team\":\"a=b, c\"}");
}

/* ---- mistakes ---- */

static const struct mistake {
    const char *crd, *error;
} mistakes[] = {
    {"{'kind':'Pod','apiVersion':'v1'}", "not a CustomResourceDefinition"},
    {"[]", "not a CustomResourceDefinition"},
    {"{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','spec':{}}",
     "spec.group or spec.names.kind is missing"},
    {"{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','spec':{'group':"
     "'../a','names':{'kind':'Robot'}}}",
     "spec.group or spec.names.kind is missing"},
    {"{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','spec':{'group':"
     "'a.io','names':{'kind':'Robot'},'versions':[{'name':'v1'}]}}",
     "version 'v1' has no schema"},
};

static void invalid_crd_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(mistakes); i++) {
        kc_scoped(kc_error) err = {0};
        kc_scoped(files) f = {0};
        kc_auto(kc_view) *view = view_of(mistakes[i].crd);
        assert_true(kc__gen_write_types(kc_view_root(view), put_file, &f, &err) < 0);
        assert_error(&err, KC_INVALID, mistakes[i].error);
        assert_int_equal(f.n, 0);
    }
}

TESTS(every_schema_has_its_declaration, inexpressible_schema_parts_are_listed_at_the_top,
      colliding_names_are_made_distinct, kind_name_that_is_a_function_gets_a_suffix,
      descriptions_cannot_end_a_comment, crd_round_trips_through_headers,
      expressible_schemas_round_trip, versions_and_annotations_round_trip, invalid_crd_is_refused)
