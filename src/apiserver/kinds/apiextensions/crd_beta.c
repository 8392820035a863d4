/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_beta.c: converts CRDs of apiextensions.k8s.io/v1beta1, which old manifests still use.
 *
 *     v1beta1                              v1
 *     spec.version                         spec.versions[0].name, served and stored
 *     spec.validation                      spec.versions[*].schema
 *     spec.subresources, …Columns          spec.versions[*].subresources, …Columns
 *     …Columns[*].JSONPath                 …Columns[*].jsonPath
 *     spec.conversion.webhookClientConfig  spec.conversion.webhook.clientConfig
 *     preserveUnknownFields: by default    false by default
 *
 * The conversion back reads the same table from the right: parts that are the same in all versions
 * move above the versions. In either direction a client that reads, changes and writes a CRD
 * changes nothing else in it.
 */
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"

static bool is_given(const kc_node *node)
{
    return kc_node_type(node) != KC_JSON_ABSENT && kc_node_type(node) != KC_JSON_NULL;
}

static void rename_member(kc_edit *edit, kc_node *object, const char *from, const char *to)
{
    kc_node *value = kc_node_get(object, kc_cstr(from));
    if (!is_given(value))
        return;
    kc_node *moved = kc_node_clone(edit, value);
    kc_node_remove(object, kc_cstr(from));
    kc_node_set(edit, object, kc_cstr(to), moved);
}

static void rename_paths(kc_edit *edit, const kc_node *columns, const char *from, const char *to)
{
    kc_node_each_item (columns, column)
        rename_member(edit, column, from, to);
}

/* Renames the path member of all columns, per version and above the versions. */
static void rename_all_paths(kc_edit *edit, const kc_node *spec, const char *from, const char *to)
{
    rename_paths(edit, kc_node_get(spec, KC_STR("additionalPrinterColumns")), from, to);
    kc_node_each_item (kc_node_get(spec, KC_STR("versions")), version)
        rename_paths(edit, kc_node_get(version, KC_STR("additionalPrinterColumns")), from, to);
}

/* ---- to v1 ---- */

static void need_versions(kc_edit *edit, kc_node *spec)
{
    kc_node *versions = kc_node_get(spec, KC_STR("versions"));
    kc_str name = kc_node_as_str(kc_node_get(spec, KC_STR("version")));
    if (kc_node_len(versions) == 0 && name.n) {
        kc_node *only = kc_node_object(edit);
        kc_node_set(edit, only, KC_STR("name"), kc_node_str(edit, name));
        kc_node_set(edit, only, KC_STR("served"), kc_node_bool(edit, true));
        kc_node_set(edit, only, KC_STR("storage"), kc_node_bool(edit, true));
        versions = kc_node_array(edit);
        kc_node_append(versions, only);
        kc_node_set(edit, spec, KC_STR("versions"), versions);
    }
    kc_node_remove(spec, KC_STR("version"));
}

/* Copies a part from above the versions into each version. */
static void push_down(kc_edit *edit, kc_node *spec, const kc__crd_shared *part)
{
    kc_node *above = kc_node_get(spec, kc_cstr(part->above));
    if (is_given(above))
        kc_node_each_item (kc_node_get(spec, KC_STR("versions")), version)
            kc_node_set(edit, version, kc_cstr(part->inside), kc_node_clone(edit, above));
    kc_node_remove(spec, kc_cstr(part->above));
}

static void nest_webhook(kc_edit *edit, kc_node *conversion)
{
    kc_node *client = kc_node_get(conversion, KC_STR("webhookClientConfig"));
    kc_node *reviews = kc_node_get(conversion, KC_STR("conversionReviewVersions"));
    if (!is_given(client) && !is_given(reviews))
        return;
    kc_node *webhook = kc_node_ensure_object(edit, conversion, KC_STR("webhook"));
    if (is_given(client))
        kc_node_set(edit, webhook, KC_STR("clientConfig"), kc_node_clone(edit, client));
    if (is_given(reviews))
        kc_node_set(edit, webhook, KC_STR("conversionReviewVersions"),
                    kc_node_clone(edit, reviews));
    kc_node_remove(conversion, KC_STR("webhookClientConfig"));
    kc_node_remove(conversion, KC_STR("conversionReviewVersions"));
}

static void default_beta(kc_edit *edit, kc_node *spec)
{
    if (!is_given(kc_node_get(spec, KC_STR("preserveUnknownFields"))))
        kc_node_set(edit, spec, KC_STR("preserveUnknownFields"), kc_node_bool(edit, true));
    if (!kc_node_as_str(kc_node_get(spec, KC_STR("scope"))).n)
        kc_node_set(edit, spec, KC_STR("scope"), kc_node_str(edit, KC_STR("Namespaced")));
}

void kc__crd_from_beta(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit), *spec = kc_node_get(root, KC_STR("spec"));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, KC_STR(KC__CRD_VERSION)));
    if (kc_node_type(spec) != KC_JSON_OBJECT)
        return;
    need_versions(edit, spec);
    rename_all_paths(edit, spec, "JSONPath", "jsonPath");
    for (size_t i = 0; i < KC__CRD_N_SHARED; i++)
        push_down(edit, spec, &kc__crd_shared_parts[i]);
    nest_webhook(edit, kc_node_get(spec, KC_STR("conversion")));
    default_beta(edit, spec);
}

/* ---- to v1beta1 ---- */

static void move_to_spec(kc_edit *edit, kc_node *spec, const kc__crd_shared *part)
{
    kc_node *versions = kc_node_get(spec, KC_STR("versions"));
    kc_node *first = kc_node_get(kc_node_at(versions, 0), kc_cstr(part->inside));
    if (is_given(first))
        kc_node_set(edit, spec, kc_cstr(part->above), kc_node_clone(edit, first));
    kc_node_each_item (versions, version)
        kc_node_remove(version, kc_cstr(part->inside));
}

static void flatten_webhook(kc_edit *edit, kc_node *conversion)
{
    kc_node *webhook = kc_node_get(conversion, KC_STR("webhook"));
    kc_node *client = kc_node_get(webhook, KC_STR("clientConfig"));
    kc_node *reviews = kc_node_get(webhook, KC_STR("conversionReviewVersions"));
    if (is_given(client))
        kc_node_set(edit, conversion, KC_STR("webhookClientConfig"), kc_node_clone(edit, client));
    if (is_given(reviews))
        kc_node_set(edit, conversion, KC_STR("conversionReviewVersions"),
                    kc_node_clone(edit, reviews));
    kc_node_remove(conversion, KC_STR("webhook"));
}

/* Sets preserveUnknownFields explicitly: v1 omits false, but in v1beta1 an absent field means
 * true. */
static void name_preserving(kc_edit *edit, kc_node *spec)
{
    if (!is_given(kc_node_get(spec, KC_STR("preserveUnknownFields"))))
        kc_node_set(edit, spec, KC_STR("preserveUnknownFields"), kc_node_bool(edit, false));
}

static void spec_to_beta(kc_edit *edit, kc_node *spec, const kc_value *versions)
{
    if (kc_value_len(versions))
        kc_node_set(
            edit, spec, KC_STR("version"),
            kc_node_str(edit, kc_value_as_str(kc_value_get(kc_value_at(versions, 0), "name"))));
    for (size_t i = 0; i < KC__CRD_N_SHARED; i++)
        if (kc__crd_is_shared(versions, i))
            move_to_spec(edit, spec, &kc__crd_shared_parts[i]);
    rename_all_paths(edit, spec, "jsonPath", "JSONPath");
    flatten_webhook(edit, kc_node_get(spec, KC_STR("conversion")));
    name_preserving(edit, spec);
}

kc_object *kc__crd_to_beta(const kc_object *crd, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(crd);
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_node *root = kc_edit_root(edit), *spec = kc_node_get(root, KC_STR("spec"));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, KC_STR(KC__CRD_BETA)));
    if (kc_node_type(spec) == KC_JSON_OBJECT)
        spec_to_beta(edit, spec,
                     kc_value_get(kc_value_get(kc_view_root(view), "spec"), "versions"));
    kc_auto(kc_object) *beta = kc_edit_freeze(edit, err);
    return beta ? kc__typed_decode(kc__crd_beta_type, beta, NULL, err) : NULL;
}
