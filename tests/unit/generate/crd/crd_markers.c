/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every marker, from a header to the part of the CRD that it changes. The last test iterates over
 * the table of markers and fails for one that no row here uses.
 */
#include "generate_testing.h"

#include "generate/markers/table.h"

#define V "kubebuilder:validation:"

typedef struct row {
    const char *before; /* Types before the kind. */
    const char *text; /* Members of its spec, or markers of the kind, or markers of the package. */
    const char *part; /* Of the CRD; or of an error. */
} row;

/* Members of a spec; the part is the spec's properties. */
static const row fields[] = {
    {"", "/// +" V "Maximum=100\n int32_t f;\n",
     "f:\n  format: int32\n  maximum: 100\n  type: integer\n"},
    {"", "/// +" V "Minimum=-5\n int64_t f;\n",
     "f:\n  format: int64\n  minimum: -5\n  type: integer\n"},
    {"", "/// +" V "Maximum=10\n/// +" V "ExclusiveMaximum=true\n uint32_t f;\n",
     "f:\n  exclusiveMaximum: true\n  format: int32\n  maximum: 10\n  type: integer\n"},
    {"", "/// +" V "Minimum=0\n/// +" V "ExclusiveMinimum=true\n uint64_t f;\n",
     "f:\n  exclusiveMinimum: true\n  format: int64\n  minimum: 0\n  type: integer\n"},
    {"", "/// +" V "ExclusiveMinimum=false\n int32_t f;\n",
     "f:\n  format: int32\n  type: integer\n"},
    {"", "/// +" V "MultipleOf=5\n int32_t f;\n",
     "f:\n  format: int32\n  multipleOf: 5\n  type: integer\n"},
    {"", "/// +" V "MinProperties=1\n kc_string_map f;\n",
     "f:\n  additionalProperties:\n    type: string\n  minProperties: 1\n  type: object\n"},
    {"", "/// +" V "MaxProperties=9\n KC_MAP_OF(bool) f;\n",
     "f:\n  additionalProperties:\n    type: boolean\n  maxProperties: 9\n  type: object\n"},
    {"", "/// +" V "MaxLength=63\n char *f;\n", "f:\n  maxLength: 63\n  type: string\n"},
    {"", "/// +" V "MinLength=1\n const char *f;\n", "f:\n  minLength: 1\n  type: string\n"},
    {"", "/// +" V "Pattern=`^[a-z]+(\\.[a-z]{1,3})?$`\n char *f;\n",
     "f:\n  pattern: ^[a-z]+(\\.[a-z]{1,3})?$\n  type: string\n"},
    {"", "/// +" V "MaxItems=3\n char **f; size_t n_f;\n",
     "f:\n  items:\n    type: string\n  maxItems: 3\n  type: array\n"},
    {"", "/// +" V "MinItems=1\n int32_t *f; size_t n_f;\n",
     "f:\n  items:\n    format: int32\n    type: integer\n  minItems: 1\n  type: array\n"},
    {"", "/// +" V "UniqueItems=true\n char **f; size_t n_f;\n",
     "f:\n  items:\n    type: string\n  type: array\n  uniqueItems: true\n"},
    {"", "/// +" V "Enum=Always;\"If Not Present\";Never\n char *f;\n",
     "f:\n  enum:\n  - Always\n  - If Not Present\n  - Never\n  type: string\n"},
    {"", "/// +" V "Enum=1;2\n int32_t f;\n",
     "f:\n  enum:\n  - 1\n  - 2\n  format: int32\n  type: integer\n"},
    {"", "/// +" V "Format=date-time\n char *f;\n", "f:\n  format: date-time\n  type: string\n"},
    {"", "/// +" V "Type=string\n bool f;\n", "f:\n  type: string\n"},
    {"", "/// +" V "XPreserveUnknownFields\n kc_string_map f;\n",
     "f:\n  additionalProperties:\n    type: string\n  type: object\n"
     "  x-kubernetes-preserve-unknown-fields: true\n"},
    {"", "/// +" V "XEmbeddedResource\n kc_raw f;\n",
     "f:\n  type: object\n  x-kubernetes-embedded-resource: true\n"
     "  x-kubernetes-preserve-unknown-fields: true\n"},
    {"", "/// +" V "EmbeddedResource\n kc_raw f;\n",
     "f:\n  type: object\n  x-kubernetes-embedded-resource: true\n"
     "  x-kubernetes-preserve-unknown-fields: true\n"},
    {"", "/// +" V "XIntOrString\n/// +" V "MaxLength=4\n kc_int_or_string f;\n",
     "f:\n  anyOf:\n  - type: integer\n  - type: string\n  maxLength: 4\n"
     "  x-kubernetes-int-or-string: true\n"},
    {"",
     "/// +" V "XValidation:rule=\"oldSelf.hasValue() || self > 1\",message=\"must be more\","
     "reason=FieldValueInvalid,optionalOldSelf=true\n"
     "/// +" V "XValidation:rule=\"self < 9\",messageExpression=\"'no ' + 'more'\"\n"
     " int32_t f;\n",
     "f:\n  format: int32\n  type: integer\n  x-kubernetes-validations:\n"
     "  - message: must be more\n    optionalOldSelf: true\n"
     "    reason: FieldValueInvalid\n    rule: oldSelf.hasValue() || self > 1\n"
     "  - messageExpression: '''no '' + ''more'''\n    rule: self < 9\n"},
    {"/// +" V "XValidation:rule=\"has(self.a)\",fieldPath=\".a\"\n"
     "typedef struct one { int32_t *a; } one;\n",
     " one f;\n",
     "f:\n  properties:\n    a:\n      format: int32\n      type: integer\n  type: object\n"
     "  x-kubernetes-validations:\n  - fieldPath: .a\n    rule: has(self.a)\n"},
    {"", "/// +nullable\n char *f;\n", "f:\n  nullable: true\n  type: string\n"},
    {"", "/// +kubebuilder:default=forty-two\n char *f;\n",
     "f:\n  default: forty-two\n  type: string\n"},
    {"", "/// +kubebuilder:default={a,b}\n char **f; size_t n_f;\n",
     "f:\n  default:\n  - a\n  - b\n  items:\n    type: string\n  type: array\n"},
    {"", "/// +kubebuilder:default={}\n char **f; size_t n_f;\n",
     "f:\n  default: []\n  items:\n    type: string\n  type: array\n"},
    {"", "/// +kubebuilder:default={}\n kc_string_map f;\n",
     "f:\n  additionalProperties:\n    type: string\n  default: {}\n  type: object\n"},
    {"", "/// +kubebuilder:default=3\n/// +default=4\n int32_t f;\n",
     "f:\n  default: 3\n  format: int32\n  type: integer\n"},
    {"", "/// +default=[\"a\",\"b\"]\n char **f; size_t n_f;\n",
     "f:\n  default:\n  - a\n  - b\n  items:\n    type: string\n  type: array\n"},
    {"", "/// +default=ref(SOMETHING)\n char *f;\n", "f:\n  type: string\n"},
    {"", "/// +kubebuilder:example={a: 1, b: {true, false}}\n kc_raw f;\n",
     "f:\n  example:\n    a: 1\n    b:\n    - true\n    - false\n"
     "  x-kubernetes-preserve-unknown-fields: true\n"},
    {"", "/// +" V "Schemaless\n/// +" V "Type=string\n kc_bytes f;\n", "f:\n  type: string\n"},
    {"", "/// +k8s:immutable\n char *f;\n",
     "f:\n  type: string\n  x-kubernetes-validations:\n  - message: field is immutable\n"
     "    rule: self == oldSelf\n"},
    {"", "/// +kubebuilder:pruning:PreserveUnknownFields\n kc_string_map f;\n",
     "f:\n  additionalProperties:\n    type: string\n  type: object\n"
     "  x-kubernetes-preserve-unknown-fields: true\n"},
    {"", "/// +kubebuilder:title=\"The name\"\n char *f;\n",
     "f:\n  title: The name\n  type: string\n"},
    {"",
     "/// +kubebuilder:externalDocs:url=\"https://example.io/f\",description=\"all of it\"\n char *f;\n",
     "f:\n  externalDocs:\n    description: all of it\n    url: https://example.io/f\n  type: string\n"},
    {"", "/// +listType=set\n char **f; size_t n_f;\n",
     "f:\n  items:\n    type: string\n  type: array\n  x-kubernetes-list-type: set\n"},
    {"", "/// +k8s:listType=atomic\n char **f; size_t n_f;\n",
     "f:\n  items:\n    type: string\n  type: array\n  x-kubernetes-list-type: atomic\n"},
    {"typedef struct port { char *name; char *protocol; } port;\n",
     "/// +listType=map\n/// +listMapKey=name\n/// +listMapKey=protocol\n port *f; size_t n_f;\n",
     "f:\n  items:\n    properties:\n      name:\n        type: string\n      protocol:\n"
     "        type: string\n    required:\n    - name\n    - protocol\n    type: object\n"
     "  type: array\n  x-kubernetes-list-map-keys:\n  - name\n  - protocol\n"
     "  x-kubernetes-list-type: map\n"},
    {"typedef struct port { char *name; } port;\n",
     "/// +k8s:listMapKey=name\n/// +k8s:listType=map\n port *f; size_t n_f;\n",
     "  x-kubernetes-list-map-keys:\n  - name\n  x-kubernetes-list-type: map\n"},
    {"", "/// +mapType=atomic\n kc_string_map f;\n",
     "f:\n  additionalProperties:\n    type: string\n  type: object\n"
     "  x-kubernetes-map-type: atomic\n"},
    {"typedef struct port { char *name; } port;\n", "/// +structType=atomic\n port f;\n",
     "f:\n  properties:\n    name:\n      type: string\n  required:\n  - name\n  type: object\n"
     "  x-kubernetes-map-type: atomic\n"},
    /* Of a list's items. */
    {"", "/// +" V "items:MaxLength=9\n/// +" V "items:Enum=a;b\n char **f; size_t n_f;\n",
     "f:\n  items:\n    enum:\n    - a\n    - b\n    maxLength: 9\n    type: string\n  type: array\n"},
    {"typedef struct port { int32_t number; } port;\n",
     "/// +" V "items:XValidation:rule=\"self.number > 0\"\n port *f; size_t n_f;\n",
     "    type: object\n    x-kubernetes-validations:\n    - rule: self.number > 0\n  type: array\n"},
    /* Of types. */
    {"/// +" V "MinLength=4\n/// A longer string.\ntypedef char *longer;\n", "longer f;\n",
     "f:\n  description: A longer string.\n  minLength: 4\n  type: string\n"},
    {"/// +" V "MinLength=4\ntypedef char *longer;\n",
     "/// Own words.\n/// +" V "MinLength=9\n/// +" V "MaxLength=99\n longer f;\n",
     "f:\n  allOf:\n  - minLength: 4\n  - minLength: 9\n  description: Own words.\n"
     "  maxLength: 99\n  type: string\n"},
    {"/// +" V "AtMostOneOf=a;b\ntypedef struct one { char **a; size_t n_a; /// +optional\n"
     "int32_t *b; } one;\n",
     "one f;\n",
     "  x-kubernetes-validations:\n  - message: at most one of the fields in [a b] may be set\n"
     "    rule: (has(self.a)?1:0)+(has(self.b)?1:0) <= 1\n"},
    {"/// +" V "ExactlyOneOf={a,b}\ntypedef struct one { int32_t *a; int32_t *b; } one;\n",
     "one f;\n",
     "  x-kubernetes-validations:\n"
     "  - message: exactly one of the fields in [a b] must be set\n"
     "    rule: (has(self.a)?1:0)+(has(self.b)?1:0) == 1\n"},
    {"/// +" V "AtLeastOneOf=a;b\n/// +" V "XValidation:rule=\"true\"\n"
     "typedef struct one { int32_t *a; int32_t *b; } one;\n",
     "one f;\n",
     "  x-kubernetes-validations:\n  - rule: \"true\"\n"
     "  - message: at least one of the fields in [a b] must be set\n"
     "    rule: has(self.a)||has(self.b)\n"},
    {"/// +k8s:enum\ntypedef enum phase { PHASE_RUNNING, PHASE_IDLE,\n"
     "/// +kc:value=\"not ready\"\nPHASE_BAD,\n/// +kc:value=\nPHASE_NONE } phase;\n",
     "phase f;\n", "f:\n  enum:\n  - Idle\n  - Running\n  - not ready\n  type: string\n"},
    /* Our own. */
    {"", "/// +kc:json=clusterIP\n char *cluster_ip;\n", "clusterIP:\n  type: string\n"},
    {"typedef struct common {\n/// How many.\n int32_t amount;\n} common;\n",
     "/// +kc:inline\n common c;\n",
     "amount:\n  description: How many.\n  format: int32\n  type: integer\n"},
    {"typedef struct common { char *inside; } common;\n", "/// +kc:json=,inline\n common c;\n",
     "inside:\n  type: string\n"},
};

static void markers_of_fields_and_types_are_in_the_schema(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(fields); i++) {
        kc_autofree char *text =
            kc_asprintf("%s" KIND_OF("", "%s"), fields[i].before, fields[i].text);
        kc_autofree char *yaml = crds_of(text);
        assert_part(yaml, 14, fields[i].part);
    }
}

/* Markers that decide which fields must be there; the part is the spec's end. */
static const row required[] = {
    {"", "char *a;\n int32_t *b;\n bool c;\n", "required:\n- a\n- c\ntype: object\n"},
    {"", "/// +optional\n char *a;\n bool b;\n", "required:\n- b\ntype: object\n"},
    {"", "/// +k8s:optional\n char *a;\n bool b;\n", "required:\n- b\ntype: object\n"},
    {"", "/// +" V "Optional\n char *a;\n bool b;\n", "required:\n- b\ntype: object\n"},
    {"", "/// +required\n int32_t *a;\n", "required:\n- a\ntype: object\n"},
    {"", "/// +k8s:required\n int32_t *a;\n", "required:\n- a\ntype: object\n"},
    {"", "/// +" V "Required\n int32_t *a;\n", "required:\n- a\ntype: object\n"},
    {"", "/// +kc:json=a,omitempty\n char *a;\n bool b;\n", "required:\n- b\ntype: object\n"},
    {"", "/// +optional\n/// +k8s:immutable\n char *a;\n bool b;\n",
     "required:\n- b\ntype: object\nx-kubernetes-validations:\n"
     "- message: field a is immutable once set\n  rule: '!has(oldSelf.a) || has(self.a)'\n"},
};

static void fields_are_required_unless_optional_or_pointers(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(required); i++) {
        kc_autofree char *text = kc_asprintf(KIND_OF("", "%s"), required[i].text);
        kc_autofree char *yaml = crds_of(text);
        assert_part(yaml, 12, required[i].part);
    }
}

/* Markers of a kind; the part is of the whole CRD. */
static const row kinds[] = {
    {"", "+kubebuilder:object:root=true",
     "    kind: Robot\n    listKind: RobotList\n"
     "    plural: robots\n    singular: robot\n"
     "  scope: Namespaced\n"},
    {"", "+kc:kind=ROBOT", "    kind: ROBOT\n    listKind: ROBOTList\n    plural: robots\n"},
    {"",
     "+kubebuilder:resource:path=robotz,shortName=rb;rbt,categories={all,toys},singular=rob,"
     "scope=Cluster",
     "  name: robotz.apps.example.io\nspec:\n  group: apps.example.io\n  names:\n    categories:\n"
     "    - all\n    - toys\n    kind: Robot\n    listKind: RobotList\n    plural: robotz\n"
     "    shortNames:\n    - rb\n    - rbt\n    singular: rob\n  scope: Cluster\n"},
    {"", "+kubebuilder:subresource:status", "    subresources:\n      status: {}\n"},
    {"",
     "+kubebuilder:subresource:scale:specpath=.spec.n,statuspath=.status.n,selectorpath=.status.s",
     "    subresources:\n      scale:\n        labelSelectorPath: .status.s\n"
     "        specReplicasPath: .spec.n\n        statusReplicasPath: .status.n\n"},
    {"",
     "+kubebuilder:printcolumn:name=\"Phase\",type=string,JSONPath=`.status.phase`,"
     "description=\"what it does\",format=byte,priority=1",
     "  - additionalPrinterColumns:\n    - description: what it does\n      format: byte\n"
     "      jsonPath: .status.phase\n      name: Phase\n      priority: 1\n      type: string\n"},
    {"", "+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp",
     "    served: true\n    storage: true\n    subresources: {}\n"},
    {"", "+kubebuilder:storageversion", "    served: true\n    storage: true\n"},
    {"", "+kubebuilder:deprecatedversion", "  - deprecated: true\n    name: v1\n"},
    {"", "+kubebuilder:deprecatedversion:warning=\"use v2\"",
     "  - deprecated: true\n    deprecationWarning: use v2\n    name: v1\n"},
    {"", "+kubebuilder:metadata:annotations=\"a/b=c=d\";x=y,labels=l=m",
     "metadata:\n  annotations:\n    a/b: c=d\n    x: \"y\"\n  labels:\n    l: m\n"
     "  name: robots.apps.example.io\n"},
    {"",
     "+kc:resource:catalog=machines,prefix=plant,controller=phase-machine,phaseMachine=robot,"
     "notPortable=true",
     "  annotations:\n    kubecontroller.io/catalog: machines\n"
     "    kubecontroller.io/controller: phase-machine\n"
     "    kubecontroller.io/not-portable: \"true\"\n"
     "    kubecontroller.io/phase-machine: robot\n    kubecontroller.io/prefix: plant\n"},
    {"", "+kubebuilder:selectablefield:JSONPath=`.spec.name`",
     "    selectableFields:\n    - jsonPath: .spec.name\n"},
    {"", "+" V "XValidation:rule=\"self.metadata.name != 'x'\"",
     "        type: object\n        x-kubernetes-validations:\n"
     "        - rule: self.metadata.name != 'x'\n"},
    {"", "+kubebuilder:skipversion", ""},
    /* Without effect on CRDs, but known. */
    {"", "+kubebuilder:object:generate=true", "    kind: Robot\n"},
    {"", "+k8s:deepcopy-gen=true", "    kind: Robot\n"},
    {"", "+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object",
     "    kind: Robot\n"},
    {"", "+kubebuilder:ac:generate=true", "    kind: Robot\n"},
    {"", "+kubebuilder:rbac:groups=apps,resources=robots,verbs=get;list", "    kind: Robot\n"},
    {"",
     "+kubebuilder:webhook:mutating=true,failurePolicy=fail,groups=apps,resources=robots,"
     "verbs=create,versions=v1,name=r.example.io,path=/mutate,sideEffects=None,"
     "admissionReviewVersions=v1",
     "    kind: Robot\n"},
    {"", "+kubebuilder:webhookconfiguration:mutating=true,name=x", "    kind: Robot\n"},
    {"", "+kubebuilder:scaffold:whatever", "    kind: Robot\n"},
    {"", "+genclient", "    kind: Robot\n"},
};

static void markers_of_a_kind_are_in_its_crd(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(kinds); i++) {
        kc_autofree char *text = kc_asprintf(
            "/// +kubebuilder:object:root=true\n"
            "/// %s\n"
            "typedef struct robot { kc_object_meta metadata; } "
            "robot;\n",
            strcmp(kinds[i].text, "+kubebuilder:object:root=true") ? kinds[i].text : "");
        kc_autofree char *yaml = crds_of(text);
        assert_contains(yaml, kinds[i].part);
        if (!*kinds[i].part)
            assert_string_equal(yaml, "");
    }
}

static void kind_with_all_versions_unserved_is_refused(void **state)
{
    (void)state;
    kc_autofree char *text = crds_of("/// +kubebuilder:object:root=true\n"
                                     "/// +kubebuilder:unservedversion\n"
                                     "typedef struct robot { kc_object_meta metadata; } robot;\n");
    assert_string_equal(text, TYPES_PATH ":4:16: no version of Robot is served");
}

/* Markers of a package. */
static char *crds_of_package(const char *info)
{
    const char *types = "#include \"kc/api.h\"\n" KIND_OF("", "char *a;\n");
    const kc__gen_source sources[] = {{INFO_PATH, kc_cstr(info)}, {TYPES_PATH, kc_cstr(types)}};
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    if (read_sources(sources, 2, &model, &err) < 0 ||
        kc__gen_write_crds(&model, &(kc__gen_crd_opts){0}, put_text, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

static const row packages[] = {
    {"", "/// +groupName=toys.example.io\n", "# toys.example.io_robots.yaml\n---\n"},
    {"", "/// +groupName=t.io\n/// +versionName=v7\n", "  - name: v7\n"},
    {"", "/// +groupName=t.io\n/// +" V "Optional\n",
     "                type: string\n            type: object\n"},
    {"", "/// +groupName=t.io\n/// +" V "Required\n", "            required:\n            - a\n"},
    {"", "/// +groupName=t.io\n/// +kubebuilder:ac:output:package=x\n", "kind: Robot"},
    {"", "/// +groupName=t.io\n/// +kubebuilder:object:generate=true\n", "kind: Robot"},
    {"", "/// +groupName=t.io\n/// +kubebuilder:skip\n", ""},
    {"", "/// nothing\n", "the group of Robot is missing"},
};

static void package_markers_apply_to_all_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(packages); i++) {
        kc_autofree char *yaml = crds_of_package(packages[i].text);
        assert_contains(yaml, packages[i].part);
        if (!*packages[i].part)
            assert_string_equal(yaml, "");
    }
}

/* ---- every marker ---- */

static bool uses(const row *rows, size_t n, const char *name)
{
    kc_autofree char *plus = kc_asprintf("+%s", name);
    const size_t length = strlen(plus);
    for (size_t i = 0; i < n; i++) {
        const char *texts[] = {rows[i].before, rows[i].text};
        for (size_t k = 0; k < 2; k++)
            for (const char *at = strstr(texts[k], plus); at; at = strstr(at + 1, plus))
                if (!at[length] || strchr("=:\n", at[length]))
                    return true;
    }
    return false;
}

static void every_marker_has_a_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__gen_n_marker_defs; i++) {
        const char *name = kc__gen_marker_defs[i].name;
        const bool used =
            uses(fields, KC_COUNT(fields), name) || uses(required, KC_COUNT(required), name) ||
            uses(kinds, KC_COUNT(kinds), name) || uses(packages, KC_COUNT(packages), name) ||
            !strcmp(name, "kubebuilder:unservedversion");
        if (!used)
            fail_msg("no row uses +%s", name);
    }
}

TESTS(markers_of_fields_and_types_are_in_the_schema,
      fields_are_required_unless_optional_or_pointers, markers_of_a_kind_are_in_its_crd,
      kind_with_all_versions_unserved_is_refused, package_markers_apply_to_all_types,
      every_marker_has_a_test)
