/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_markers.c: applies the markers of a kind to its CRD.
 *
 * Markers of each version are applied in the order of the versions' names; for fields of the whole
 * CRD (names, scope, labels) the last version wins.
 *
 * To add a marker: a row of `rows`.
 */
#include "generate/crd/crd_internal.h"
#include "kc/resource_metadata.h"

#include "kc/json.h"

/* A marker being applied. */
typedef struct gen_crd_markers_work {
    kc__gen_schema_maker *maker;
    kc__gen_crd *crd;
    kc__gen_crd_version *version;
    const kc__gen_marker *marker;
} gen_crd_markers_work;

static kc_str arg(const gen_crd_markers_work *w, const char *name)
{
    return kc__gen_marker_arg(w->marker, name);
}

static kc_str json(const gen_crd_markers_work *w, const char *name)
{
    return kc__gen_marker_json(w->marker, name);
}

static void apply_resource(const gen_crd_markers_work *w)
{
    const kc_str scope = arg(w, "scope");
    if (arg(w, "path").n)
        w->crd->plural = arg(w, "path");
    if (arg(w, "singular").n)
        w->crd->singular = arg(w, "singular");
    w->crd->short_names = json(w, "shortName");
    w->crd->categories = json(w, "categories");
    w->crd->scope = scope.n ? scope : KC_STR("Namespaced");
    if (!kc_str_is(w->crd->scope, "Namespaced") && !kc_str_is(w->crd->scope, "Cluster"))
        kc__gen_schema_maker_fail(
            w->maker, w->marker->at,
            "'+kubebuilder:resource': the scope must be Namespaced or Cluster, not "
            "'%.*s'",
            KC_ARG(scope));
}

static void apply_status(const gen_crd_markers_work *w)
{
    w->version->has_subresources = w->version->has_status = true;
}

static void apply_scale(const gen_crd_markers_work *w)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "{\"specReplicasPath\":%.*s,\"statusReplicasPath\":%.*s",
                  KC_ARG(json(w, "specpath")), KC_ARG(json(w, "statuspath")));
    if (json(w, "selectorpath").p)
        kc_buf_printf(&out, ",\"labelSelectorPath\":%.*s", KC_ARG(json(w, "selectorpath")));
    kc_buf_putc(&out, '}');
    w->version->has_subresources = true;
    w->version->scale = kc_arena_str(w->maker->arena, kc_buf_str(&out));
}

static void apply_column(const gen_crd_markers_work *w)
{
    static const char *const optional[] = {"description", "format", "priority"};
    kc_buf *out = &w->version->columns;
    kc_buf_printf(out, "%s{\"name\":%.*s,\"type\":%.*s,\"jsonPath\":%.*s", out->n ? "," : "",
                  KC_ARG(json(w, "name")), KC_ARG(json(w, "type")), KC_ARG(json(w, "JSONPath")));
    for (size_t i = 0; i < KC_COUNT(optional); i++) {
        const kc_str value = json(w, optional[i]);
        if (value.n && !kc_str_is(value, "\"\"") && !kc_str_is(value, "0"))
            kc_buf_printf(out, ",\"%s\":%.*s", optional[i], KC_ARG(value));
    }
    kc_buf_putc(out, '}');
    w->version->has_subresources = true; /* An accident of controller-gen that is visible in
                                          * CRDs. */
}

static void apply_storage(const gen_crd_markers_work *w)
{
    w->version->is_storage = true;
}

static void apply_skip(const gen_crd_markers_work *w)
{
    w->version->is_skipped = true;
}

static void apply_unserved(const gen_crd_markers_work *w)
{
    w->version->is_served = false;
}

static void apply_deprecated(const gen_crd_markers_work *w)
{
    w->version->is_deprecated = true;
    w->version->warning = json(w, "warning");
}

static void apply_selectable(const gen_crd_markers_work *w)
{
    kc_buf *out = &w->version->selectable;
    kc_buf_printf(out, "%s{\"jsonPath\":%.*s}", out->n ? "," : "", KC_ARG(json(w, "JSONPath")));
}

/* name=value texts; of equal names the last wins. */
static void add_pairs(const gen_crd_markers_work *w, const char *argument, bool labels)
{
    kc_auto(kc_view) *view = kc_view_parse(json(w, argument), NULL, NULL);
    kc_value_each_item (kc_view_root(view), item) {
        kc_str value = kc_arena_str(w->maker->arena, kc_value_as_str(item));
        const kc_str name = kc_str_cut(&value, '=');
        const kc__gen_crd_pair pair = {name, value};
        if (!value.p)
            kc__gen_schema_maker_fail(
                w->maker, w->marker->at,
                "'+kubebuilder:metadata': '%.*s' is not of the form name=value", KC_ARG(name));
        else if (labels)
            kc_vec_push(&w->crd->labels, pair);
        else
            kc_vec_push(&w->crd->annotations, pair);
    }
}

static void apply_metadata(const gen_crd_markers_work *w)
{
    if (json(w, "annotations").n)
        add_pairs(w, "annotations", false);
    if (json(w, "labels").n)
        add_pairs(w, "labels", true);
}

static bool is_controller_type(kc_str text)
{
    static const char *const types[] = {"none", "generic", "phase-machine", NULL};
    return !text.p || kc_str_is_any(text, types);
}

/* The fields of resource_metadata.h as annotations, for servers. */
static void apply_resource_metadata(const gen_crd_markers_work *w)
{
    static const struct {
        const char *argument, *annotation;
    } known[] = {
        {"catalog", KC_ANNOTATION_CATALOG},          {"prefix", KC_ANNOTATION_PREFIX},
        {"controller", KC_ANNOTATION_CONTROLLER},    {"phaseMachine", KC_ANNOTATION_PHASE_MACHINE},
        {"notPortable", KC_ANNOTATION_NOT_PORTABLE},
    };
    if (!is_controller_type(kc__gen_marker_arg(w->marker, "controller")))
        kc__gen_schema_maker_fail(w->maker, w->marker->at,
                                  "'+kc:resource': controller must be none, generic or "
                                  "phase-machine");
    for (size_t i = 0; i < KC_COUNT(known); i++) {
        kc_str value = kc__gen_marker_arg(w->marker, known[i].argument);
        if (value.p)
            kc_vec_push(&w->crd->annotations,
                        ((kc__gen_crd_pair){kc_cstr(known[i].annotation), value}));
    }
}

static const struct gen_crd_markers_row {
    const char *name;
    void (*apply)(const gen_crd_markers_work *w);
} rows[] = {
    {"kubebuilder:resource", apply_resource},
    {"kubebuilder:subresource:status", apply_status},
    {"kubebuilder:subresource:scale", apply_scale},
    {"kubebuilder:printcolumn", apply_column},
    {"kubebuilder:storageversion", apply_storage},
    {"kubebuilder:skipversion", apply_skip},
    {"kubebuilder:unservedversion", apply_unserved},
    {"kubebuilder:deprecatedversion", apply_deprecated},
    {"kubebuilder:selectablefield", apply_selectable},
    {"kubebuilder:metadata", apply_metadata},
    {"kc:resource", apply_resource_metadata},
};

void kc__gen_crd_apply(kc__gen_schema_maker *maker, kc__gen_crd *crd, kc__gen_crd_version *version)
{
    const kc__gen_markers *markers = &version->type->markers;
    for (size_t i = 0; i < markers->n; i++)
        for (size_t k = 0; k < KC_COUNT(rows); k++)
            if (kc_str_is(markers->items[i].name, rows[k].name))
                rows[k].apply(&(gen_crd_markers_work){maker, crd, version, &markers->items[i]});
}
