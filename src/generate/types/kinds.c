/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c: converts a CRD's names, scope, columns, subresources, versions, annotations and labels
 * to markers.
 *
 * The inverse of crd_markers.c. Markers of the whole CRD are written at the stored version only.
 */
#include "generate/types/types_internal.h"

#include "kc/json.h"
#include "kc/resource_metadata.h"

/* Appends `name=value` if there is a value. */
static void put_arg(kc_buf *out, const char **before, const char *name, const kc_value *value)
{
    if (!value)
        return;
    kc_buf_printf(out, "%s%s=", *before, name);
    if (kc_value_type(value) == KC_JSON_ARRAY)
        kc__gen_types_put_list(out, value);
    else
        kc__gen_types_put_value(out, value);
    *before = ",";
}

static void mark_resource(kc_buf *out, const kc_value *spec)
{
    const kc_value *names = kc_value_get(spec, "names");
    const char *before = ":";
    kc_buf_puts(out, "/// +kubebuilder:resource");
    put_arg(out, &before, "path", kc_value_get(names, "plural"));
    put_arg(out, &before, "shortName", kc_value_get(names, "shortNames"));
    put_arg(out, &before, "categories", kc_value_get(names, "categories"));
    put_arg(out, &before, "singular", kc_value_get(names, "singular"));
    put_arg(out, &before, "scope", kc_value_get(spec, "scope"));
    kc_buf_putc(out, '\n');
}

static void mark_columns(kc_buf *out, const kc_value *version)
{
    static const char *const args[][2] = {{"name", "name"},         {"type", "type"},
                                          {"JSONPath", "jsonPath"}, {"format", "format"},
                                          {"priority", "priority"}, {"description", "description"}};
    kc_value_each_item (kc_value_get(version, "additionalPrinterColumns"), column) {
        const char *before = ":";
        kc_buf_puts(out, "/// +kubebuilder:printcolumn");
        for (size_t i = 0; i < KC_COUNT(args); i++)
            put_arg(out, &before, args[i][0], kc_value_get(column, args[i][1]));
        kc_buf_putc(out, '\n');
    }
}

static void mark_subresources(kc_buf *out, const kc_value *version)
{
    const kc_value *scale = kc_value_nested(version, "subresources.scale");
    const char *before = ":";
    if (kc_value_nested(version, "subresources.status"))
        kc_buf_puts(out, "/// +kubebuilder:subresource:status\n");
    if (!scale)
        return;
    kc_buf_puts(out, "/// +kubebuilder:subresource:scale");
    put_arg(out, &before, "specpath", kc_value_get(scale, "specReplicasPath"));
    put_arg(out, &before, "statuspath", kc_value_get(scale, "statusReplicasPath"));
    put_arg(out, &before, "selectorpath", kc_value_get(scale, "labelSelectorPath"));
    kc_buf_putc(out, '\n');
}

/* Annotations that have a marker of their own, or that the generator writes. */
static const struct gen_types_kinds_known {
    const char *annotation, *argument; /* Argument of +kc:resource; NULL: omitted. */
} gen_types_kinds_known[] = {
    {"controller-gen.kubebuilder.io/version", NULL},
    {"kubecontroller.io/version", NULL},
    {"kubectl.kubernetes.io/last-applied-configuration", NULL},
    {KC_ANNOTATION_CATALOG, "catalog"},
    {KC_ANNOTATION_PREFIX, "prefix"},
    {KC_ANNOTATION_CONTROLLER, "controller"},
    {KC_ANNOTATION_PHASE_MACHINE, "phaseMachine"},
    {KC_ANNOTATION_NOT_PORTABLE, "notPortable"},
};

static bool gen_types_kinds_is_known(kc_str annotation)
{
    for (size_t i = 0; i < KC_COUNT(gen_types_kinds_known); i++)
        if (kc_str_is(annotation, gen_types_kinds_known[i].annotation))
            return true;
    return false;
}

static void mark_pairs(kc_buf *out, const char *argument, const kc_value *pairs)
{
    kc_value_each_member (pairs, name, value) {
        kc_autofree char *pair =
            kc_asprintf("%.*s=%.*s", KC_ARG(name), KC_ARG(kc_value_as_str(value)));
        if (gen_types_kinds_is_known(name))
            continue;
        kc_buf_printf(out, "/// +kubebuilder:metadata:%s={", argument);
        kc_json_quote(out, kc_cstr(pair));
        kc_buf_puts(out, "}\n");
    }
}

static void mark_metadata(kc_buf *out, const kc_value *crd)
{
    const kc_value *annotations = kc_value_nested(crd, "metadata.annotations");
    const char *before = ":";
    for (size_t i = 0; i < KC_COUNT(gen_types_kinds_known); i++) {
        const kc_value *value = kc_value_get(annotations, gen_types_kinds_known[i].annotation);
        if (!gen_types_kinds_known[i].argument || !value)
            continue;
        kc_buf_puts(out, before[0] == ':' ? "/// +kc:resource" : "");
        if (kc_str_is(kc_value_as_str(value), "true")) {
            kc_buf_printf(out, "%s%s=true", before, gen_types_kinds_known[i].argument);
            before = ",";
        } else {
            put_arg(out, &before, gen_types_kinds_known[i].argument, value);
        }
    }
    kc_buf_puts(out, before[0] == ':' ? "" : "\n");
    mark_pairs(out, "annotations", annotations);
    mark_pairs(out, "labels", kc_value_nested(crd, "metadata.labels"));
}

void kc__gen_types_mark_kind(kc_buf *out, const kc_value *crd, const kc_value *version)
{
    const kc_value *spec = kc_value_get(crd, "spec");
    const kc_value *warning = kc_value_get(version, "deprecationWarning");
    const char *before = ":";
    kc_buf_puts(out, "/// +kubebuilder:object:root=true\n");
    mark_resource(out, spec);
    mark_subresources(out, version);
    mark_columns(out, version);
    if (kc_value_as_bool(kc_value_get(version, "storage"), false)) {
        mark_metadata(out, crd);
        if (kc_value_len(kc_value_get(spec, "versions")) > 1)
            kc_buf_puts(out, "/// +kubebuilder:storageversion\n");
    }
    if (!kc_value_as_bool(kc_value_get(version, "served"), true))
        kc_buf_puts(out, "/// +kubebuilder:unservedversion\n");
    if (kc_value_as_bool(kc_value_get(version, "deprecated"), false)) {
        kc_buf_puts(out, "/// +kubebuilder:deprecatedversion");
        put_arg(out, &before, "warning", warning);
        kc_buf_putc(out, '\n');
    }
    kc_value_each_item (kc_value_get(version, "selectableFields"), field) {
        before = ":";
        kc_buf_puts(out, "/// +kubebuilder:selectablefield");
        put_arg(out, &before, "JSONPath", kc_value_get(field, "jsonPath"));
        kc_buf_putc(out, '\n');
    }
}
