/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the table of markers.
 *
 * It has those of controller-gen v0.21 with the same arguments, and a few of our own under kc: for
 * what C has no syntax for. Where controller-gen ignores an unknown name, or a marker at a wrong
 * place, this generator reports an error: a misspelled validation would silently be missing.
 *
 * To add a marker: a row here; its effect on a schema or a CRD goes into the table of
 * schema_markers.c or crd_markers.c; a line in docs/internals/generate.md; a test.
 */
#include "generate/markers/table.h"

#define V     "kubebuilder:validation:"
#define ITEMS V "items:"

#define P       KC__GEN_SCOPE_PACKAGE
#define T       KC__GEN_SCOPE_TYPE
#define F       KC__GEN_SCOPE_FIELD
#define NO_ARGS {{0}}
#define VALUE(t)                          \
    {                                     \
        {                                 \
            "", KC__GEN_MARKER_##t, false \
        }                                 \
    }
#define ARG(n, t) {n, KC__GEN_MARKER_##t, false}
#define OPT(n, t) {n, KC__GEN_MARKER_##t, true}

const kc__gen_marker_def kc__gen_marker_defs[] = {
    /* Package markers. */
    {"groupName", P, false, {OPT("", STRING)}},
    {"versionName", P, false, VALUE(STRING)},
    {"kubebuilder:skip", P, false, NO_ARGS},

    /* Validation of fields and types; each also for items. */
    {V "Maximum", F | T, true, VALUE(NUMBER)},
    {V "Minimum", F | T, true, VALUE(NUMBER)},
    {V "ExclusiveMaximum", F | T, true, VALUE(BOOL)},
    {V "ExclusiveMinimum", F | T, true, VALUE(BOOL)},
    {V "MultipleOf", F | T, true, VALUE(NUMBER)},
    {V "MinProperties", F | T, true, VALUE(INT)},
    {V "MaxProperties", F | T, true, VALUE(INT)},
    {V "MaxLength", F | T, true, VALUE(INT)},
    {V "MinLength", F | T, true, VALUE(INT)},
    {V "Pattern", F | T, true, VALUE(STRING)},
    {V "MaxItems", F | T, true, VALUE(INT)},
    {V "MinItems", F | T, true, VALUE(INT)},
    {V "UniqueItems", F | T, true, VALUE(BOOL)},
    {V "Enum", F | T, true, VALUE(ANYS)},
    {V "Format", F | T, true, VALUE(STRING)},
    {V "Type", F | T, true, VALUE(STRING)},
    {V "XPreserveUnknownFields", F | T, true, NO_ARGS},
    {V "XEmbeddedResource", F | T, true, NO_ARGS},
    {V "XIntOrString", F | T, true, NO_ARGS},
    {V "XValidation",
     F | T,
     true,
     {ARG("rule", STRING), OPT("message", STRING), OPT("messageExpression", STRING),
      OPT("reason", STRING), OPT("fieldPath", STRING), OPT("optionalOldSelf", BOOL)}},

    /* Types only. */
    {V "AtMostOneOf", T, false, VALUE(STRINGS)},
    {V "ExactlyOneOf", T, false, VALUE(STRINGS)},
    {V "AtLeastOneOf", T, false, VALUE(STRINGS)},
    {"k8s:enum", T, false, NO_ARGS},

    /* Fields only; the first two also for a package, for all its fields. */
    {V "Required", F | P, false, NO_ARGS},
    {V "Optional", F | P, false, NO_ARGS},
    {"required", F, false, NO_ARGS},
    {"optional", F, false, NO_ARGS},
    {"k8s:required", F, false, NO_ARGS},
    {"k8s:optional", F, false, NO_ARGS},
    {"nullable", F, false, NO_ARGS},
    {"kubebuilder:default", F, false, VALUE(ANY)},
    {"default", F, false, VALUE(JSON)},
    {"kubebuilder:example", F, false, VALUE(ANY)},
    {V "EmbeddedResource", F, false, NO_ARGS},
    {V "Schemaless", F, false, NO_ARGS},
    {"k8s:immutable", F, false, NO_ARGS},

    /* Fields and types. */
    {"kubebuilder:pruning:PreserveUnknownFields", F | T, false, NO_ARGS},
    {"kubebuilder:title", F | T, false, VALUE(ANY)},
    {"kubebuilder:externalDocs", F | T, false, {ARG("url", STRING), OPT("description", STRING)}},
    {"listType", F | T, false, VALUE(STRING)},
    {"listMapKey", F | T, false, VALUE(STRING)},
    {"mapType", F | T, false, VALUE(STRING)},
    {"structType", F | T, false, VALUE(STRING)},
    {"k8s:listType", F | T, false, VALUE(STRING)},
    {"k8s:listMapKey", F | T, false, VALUE(STRING)},

    /* Kinds. */
    {"kubebuilder:resource",
     T,
     false,
     {OPT("path", STRING), OPT("shortName", STRINGS), OPT("categories", STRINGS),
      OPT("singular", STRING), OPT("scope", STRING)}},
    {"kubebuilder:subresource:status", T, false, NO_ARGS},
    {"kubebuilder:subresource:scale",
     T,
     false,
     {ARG("specpath", STRING), ARG("statuspath", STRING), OPT("selectorpath", STRING)}},
    {"kubebuilder:printcolumn",
     T,
     false,
     {ARG("name", STRING), ARG("type", STRING), ARG("JSONPath", STRING), OPT("description", STRING),
      OPT("format", STRING), OPT("priority", INT)}},
    {"kubebuilder:storageversion", T, false, NO_ARGS},
    {"kubebuilder:skipversion", T, false, NO_ARGS},
    {"kubebuilder:unservedversion", T, false, NO_ARGS},
    {"kubebuilder:deprecatedversion", T, false, {OPT("warning", STRING)}},
    {"kubebuilder:metadata", T, false, {OPT("annotations", STRINGS), OPT("labels", STRINGS)}},
    {"kubebuilder:selectablefield", T, false, {ARG("JSONPath", STRING)}},

    /* Code generation of a type. */
    {"kubebuilder:object:generate", P | T, false, VALUE(BOOL)},
    {"kubebuilder:object:root", T, false, VALUE(BOOL)},
    {"k8s:deepcopy-gen", P | T, false, VALUE(REST)},
    {"k8s:deepcopy-gen:interfaces", T, false, VALUE(REST)},
    {"kubebuilder:ac:generate", P | T | F, false, VALUE(BOOL)},
    {"kubebuilder:ac:output:package", P, false, VALUE(STRING)},

    /* Anywhere in a project. */
    {"kubebuilder:rbac",
     KC__GEN_SCOPE_ANY,
     false,
     {OPT("groups", STRINGS), OPT("resources", STRINGS), OPT("resourceNames", STRINGS),
      ARG("verbs", STRINGS), OPT("urls", STRINGS), OPT("namespace", STRING),
      OPT("roleName", STRING)}},
    {"kubebuilder:webhook",
     KC__GEN_SCOPE_ANY,
     false,
     {ARG("mutating", BOOL), ARG("failurePolicy", STRING), OPT("matchPolicy", STRING),
      OPT("sideEffects", STRING), OPT("timeoutSeconds", INT), ARG("groups", STRINGS),
      ARG("resources", STRINGS), ARG("verbs", STRINGS), ARG("versions", STRINGS),
      OPT("name", STRING), OPT("serviceName", STRING), OPT("serviceNamespace", STRING),
      OPT("servicePort", INT), OPT("path", STRING), OPT("url", STRING),
      OPT("webhookVersions", STRINGS), ARG("admissionReviewVersions", STRINGS),
      OPT("reinvocationPolicy", STRING), OPT("patch", STRING)}},
    {"kubebuilder:webhookconfiguration",
     KC__GEN_SCOPE_ANY,
     false,
     {ARG("mutating", BOOL), OPT("name", STRING)}},

    /* Our own. */
    {"kc:json", F, false, VALUE(REST)},
    {"kc:inline", F, false, NO_ARGS},
    {"kc:kind", T, false, VALUE(STRING)},
    {"kc:resource",
     T,
     false,
     {OPT("catalog", STRING), OPT("prefix", STRING), OPT("description", STRING),
      OPT("controller", STRING), OPT("phaseMachine", STRING), OPT("notPortable", BOOL)}},
    {"kc:value", KC__GEN_SCOPE_ENUMERATOR, false, {OPT("", STRING)}},
};
const size_t kc__gen_n_marker_defs = KC_COUNT(kc__gen_marker_defs);

const kc__gen_marker_def *kc__gen_marker_def_find(kc_str name)
{
    const bool items = kc_str_starts(name, KC_STR(ITEMS));
    const kc_str bare = kc_str_sub(name, sizeof(ITEMS) - 1, name.n);
    for (size_t i = 0; i < KC_COUNT(kc__gen_marker_defs); i++) {
        const kc__gen_marker_def *def = &kc__gen_marker_defs[i];
        const kc_str full_name = kc_cstr(def->name);
        const bool same =
            items ? def->of_items &&
                        kc_str_eq(kc_str_sub(full_name, sizeof(V) - 1, full_name.n), bare)
                  : kc_str_eq(full_name, name);
        if (same)
            return def;
    }
    return NULL;
}

/* Markers of scaffolding and of the kubebuilder book occur in many projects. */
static const char *const left_alone[] = {"kubebuilder:scaffold:", "kubebuilder:docs-gen:"};
/* Prefixes of known markers. */
static const char *const our_prefixes[] = {"kubebuilder:", "kc:"};

static bool starts_with_any(kc_str name, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (kc_str_starts(name, kc_cstr(prefixes[i])))
            return true;
    return false;
}

bool kc__gen_marker_is_foreign(kc_str name)
{
    if (starts_with_any(name, left_alone, KC_COUNT(left_alone)))
        return true;
    if (starts_with_any(name, our_prefixes, KC_COUNT(our_prefixes)))
        return false;
    /* "+optinal" is a typing error, "+genclient" is for another program. */
    return kc_str_find(name, ':') >= 0 || name.n < 5 || !kc__gen_marker_nearest(name);
}

/* The part after the last colon. */
static const char *gen_marker_table_last_part(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* Names share long prefixes, which hide differences, so the last parts are compared:
 * "kubebuilder:validation:nullable" was meant as "nullable". */
static const char *nearest_part(kc_str part)
{
    const char *names[KC_COUNT(kc__gen_marker_defs)];
    for (size_t i = 0; i < KC_COUNT(names); i++)
        names[i] = gen_marker_table_last_part(kc__gen_marker_defs[i].name);
    const char *nearest = kc_str_nearest(part, names, KC_COUNT(names));
    for (size_t i = 0; nearest && i < KC_COUNT(names); i++)
        if (names[i] == nearest)
            return kc__gen_marker_defs[i].name;
    return NULL;
}

const char *kc__gen_marker_nearest(kc_str name)
{
    const char *names[KC_COUNT(kc__gen_marker_defs)];
    const ptrdiff_t colon = kc_str_rfind(name, ':');
    const char *nearest =
        colon < 0 ? NULL : nearest_part(kc_str_sub(name, (size_t)(colon + 1), name.n));
    for (size_t i = 0; i < KC_COUNT(names); i++)
        names[i] = kc__gen_marker_defs[i].name;
    return nearest ? nearest : kc_str_nearest(name, names, KC_COUNT(names));
}
