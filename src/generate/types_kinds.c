/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types_kinds.c: what a CRD says of a kind, back to markers: names, scope, columns, subresources,
 * versions, annotations and labels.
 *
 * The other way round of crd_markers.c. What is the whole CRD's stands at the stored version only.
 */
#include "generate/types_internal.h"

#include "kc/json.h"
#include "kc/resource_metadata.h"

/* `name=value` of a marker, if there is a value. */
static void put_arg(kc_buf *out, const char **before, const char *name, const kc_value *value)
{
    if (!value)
        return;
    kc_buf_printf(out, "%s%s=", *before, name);
    if (kc_type_of(value) == KC_ARRAY)
        kc__types_put_list(out, value);
    else
        kc__types_put_value(out, value);
    *before = ",";
}

static void mark_resource(kc_buf *out, const kc_value *spec)
{
    const kc_value *names = kc_get(spec, "names");
    const char *before = ":";
    kc_buf_puts(out, "/// +kubebuilder:resource");
    put_arg(out, &before, "path", kc_get(names, "plural"));
    put_arg(out, &before, "shortName", kc_get(names, "shortNames"));
    put_arg(out, &before, "categories", kc_get(names, "categories"));
    put_arg(out, &before, "singular", kc_get(names, "singular"));
    put_arg(out, &before, "scope", kc_get(spec, "scope"));
    kc_buf_putc(out, '\n');
}

static void mark_columns(kc_buf *out, const kc_value *version)
{
    static const char *const args[][2] = {{"name", "name"},         {"type", "type"},
                                          {"JSONPath", "jsonPath"}, {"format", "format"},
                                          {"priority", "priority"}, {"description", "description"}};
    kc_items (kc_get(version, "additionalPrinterColumns"), column) {
        const char *before = ":";
        kc_buf_puts(out, "/// +kubebuilder:printcolumn");
        for (size_t i = 0; i < KC_COUNT(args); i++)
            put_arg(out, &before, args[i][0], kc_get(column, args[i][1]));
        kc_buf_putc(out, '\n');
    }
}

static void mark_subresources(kc_buf *out, const kc_value *version)
{
    const kc_value *scale = kc_dig(version, "subresources.scale");
    const char *before = ":";
    if (kc_dig(version, "subresources.status"))
        kc_buf_puts(out, "/// +kubebuilder:subresource:status\n");
    if (!scale)
        return;
    kc_buf_puts(out, "/// +kubebuilder:subresource:scale");
    put_arg(out, &before, "specpath", kc_get(scale, "specReplicasPath"));
    put_arg(out, &before, "statuspath", kc_get(scale, "statusReplicasPath"));
    put_arg(out, &before, "selectorpath", kc_get(scale, "labelSelectorPath"));
    kc_buf_putc(out, '\n');
}

/* Annotations that a marker of their own stands for, or that whoever generates the CRD writes. */
static const struct known {
    const char *annotation, *argument; /* Of +kc:resource; NULL: it is left out. */
} known[] = {
    {"controller-gen.kubebuilder.io/version", NULL},
    {"kubecontroller.io/version", NULL},
    {"kubectl.kubernetes.io/last-applied-configuration", NULL},
    {KC_ANNOTATION_CATALOG, "catalog"},
    {KC_ANNOTATION_PREFIX, "prefix"},
    {KC_ANNOTATION_CONTROLLER, "controller"},
    {KC_ANNOTATION_PHASE_MACHINE, "phaseMachine"},
    {KC_ANNOTATION_NOT_PORTABLE, "notPortable"},
};

static bool is_known(kc_str annotation)
{
    for (size_t i = 0; i < KC_COUNT(known); i++)
        if (kc_str_is(annotation, known[i].annotation))
            return true;
    return false;
}

static void mark_pairs(kc_buf *out, const char *argument, const kc_value *pairs)
{
    kc_members (pairs, name, value) {
        kc_autofree char *pair = kc_asprintf("%.*s=%.*s", KC_ARG(name), KC_ARG(kc_as_str(value)));
        if (is_known(name))
            continue;
        kc_buf_printf(out, "/// +kubebuilder:metadata:%s={", argument);
        kc_json_quote(out, kc_cstr(pair));
        kc_buf_puts(out, "}\n");
    }
}

static void mark_metadata(kc_buf *out, const kc_value *crd)
{
    const kc_value *annotations = kc_dig(crd, "metadata.annotations");
    const char *before = ":";
    for (size_t i = 0; i < KC_COUNT(known); i++) {
        const kc_value *value = kc_get(annotations, known[i].annotation);
        if (!known[i].argument || !value)
            continue;
        kc_buf_puts(out, before[0] == ':' ? "/// +kc:resource" : "");
        if (kc_str_is(kc_as_str(value), "true")) {
            kc_buf_printf(out, "%s%s=true", before, known[i].argument);
            before = ",";
        } else {
            put_arg(out, &before, known[i].argument, value);
        }
    }
    kc_buf_puts(out, before[0] == ':' ? "" : "\n");
    mark_pairs(out, "annotations", annotations);
    mark_pairs(out, "labels", kc_dig(crd, "metadata.labels"));
}

void kc__types_mark_kind(kc_buf *out, const kc_value *crd, const kc_value *version)
{
    const kc_value *spec = kc_get(crd, "spec");
    const kc_value *warning = kc_get(version, "deprecationWarning");
    const char *before = ":";
    kc_buf_puts(out, "/// +kubebuilder:object:root=true\n");
    mark_resource(out, spec);
    mark_subresources(out, version);
    mark_columns(out, version);
    if (kc_as_bool(kc_get(version, "storage"), false)) {
        mark_metadata(out, crd);
        if (kc_len(kc_get(spec, "versions")) > 1)
            kc_buf_puts(out, "/// +kubebuilder:storageversion\n");
    }
    if (!kc_as_bool(kc_get(version, "served"), true))
        kc_buf_puts(out, "/// +kubebuilder:unservedversion\n");
    if (kc_as_bool(kc_get(version, "deprecated"), false)) {
        kc_buf_puts(out, "/// +kubebuilder:deprecatedversion");
        put_arg(out, &before, "warning", warning);
        kc_buf_putc(out, '\n');
    }
    kc_items (kc_get(version, "selectableFields"), field) {
        before = ":";
        kc_buf_puts(out, "/// +kubebuilder:selectablefield");
        put_arg(out, &before, "JSONPath", kc_get(field, "jsonPath"));
        kc_buf_putc(out, '\n');
    }
}
