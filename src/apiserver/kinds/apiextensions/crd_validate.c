/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate.c: validates a CRD as a whole: its name and group, the relations between its
 * versions, immutable fields, and the versions that must not be removed.
 *
 * Errors are in the order in which Kubernetes finds them and name the fields of its internal form:
 * parts that all versions share are above the versions (crd_parts.c).
 */
#include "apiserver/kinds/apiextensions/crd_validate.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/apiextensions/crd_validate_internal.h"
#include "apiserver/kinds/key_layout.h"
#include "kc/map.h"
#include "kc/metadata_validation.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

static bool preserves(const kc_value *spec)
{
    return kc_value_as_bool(kc_value_get(spec, "preserveUnknownFields"), false);
}

/* ---- metadata ---- */

static void check_crd_metadata(kc__crd_check *c)
{
    const kc_value *metadata = kc_value_get(c->crd, "metadata");
    if (c->old) {
        if (!c->rules->metadata_checked)
            kc_validate_metadata_update(c->errors, metadata, kc_value_get(c->old, "metadata"),
                                        NULL);
        return;
    }
    if (!c->rules->metadata_checked)
        kc_validate_metadata(c->errors, metadata, &(kc_metadata_rules){0});
    kc_str name = kc_value_as_str(kc_value_get(metadata, "name"));
    kc_scoped(kc_buf) wanted = {0};
    kc_buf_printf(&wanted, "%.*s.%.*s",
                  KC_ARG(kc_value_as_str(kc_value_get(kc_value_get(c->spec, "names"), "plural"))),
                  KC_ARG(kc_value_as_str(kc_value_get(c->spec, "group"))));
    if (!kc_str_eq(name, kc_buf_str(&wanted)))
        kc_field_errors_add_value(c->errors, KC_FIELD_INVALID, "metadata.name",
                                  kc_value_get(metadata, "name"),
                                  "must be spec.names.plural+\".\"+spec.group");
}

/* ---- spec: fields above the versions ---- */

/* The group of a CRD that is already stored is not validated again, so that its finalizers can
 * still be changed; its status says that it is not served. */
static void check_group(kc__crd_check *c)
{
    kc_str group = kc_value_as_str(kc_value_get(c->spec, "group"));
    if (!group.n)
        kc__crd_required(c, "group", "");
    else if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, group))
        kc__crd_check_name(c, "group", KC_NAME_DNS_SUBDOMAIN, group, group, "");
    else if (kc_str_find(group, '.') < 0)
        kc__crd_invalid(c, "group", group, "should be a domain with at least one dot");
    else if (!c->old && kc__resource_key_group_is_builtin(group))
        kc__crd_invalid(c, "group", group, "must not be a group that is served by built-in APIs");
}

static bool all_have_schemas(const kc_value *spec)
{
    kc_value_each_item (kc_value_get(spec, "versions"), version)
        if (!kc__crd_schema_of(version))
            return false;
    return true;
}

static void require_schemas(kc__crd_check *c)
{
    bool strict = !c->rules->beta && (!c->old || all_have_schemas(kc_value_get(c->old, "spec")));
    size_t i = 0;
    if (!strict && preserves(c->spec))
        return;
    kc_value_each_item (kc_value_get(c->spec, "versions"), version) {
        size_t before = kc__crd_enter(c, ".versions[%zu].schema.openAPIV3Schema", i++);
        bool required = strict || kc_value_as_bool(kc_value_get(version, "served"), false);
        if (required && !kc__crd_schema_of(version))
            kc__crd_required(c, "", strict ? "" : "because otherwise all fields are pruned");
        kc__crd_leave(c, before);
    }
}

/* Whether a schema contains a default. */
static bool has_default(const kc_value *schema)
{
    bool found = kc_value_get(schema, "default") != NULL;
    kc_value_each_member (schema, name, value) {
        if (found)
            break;
        bool named = kc_str_is(name, "properties") || kc_str_is(name, "patternProperties") ||
                     kc_str_is(name, "definitions") || kc_str_is(name, "dependencies");
        if (named)
            kc_value_each_member (value, key, child)
                found = found || (key.n && has_default(child));
        else if (kc_value_type(value) == KC_JSON_OBJECT)
            found = has_default(value);
        else if (kc_str_is(name, "allOf") || kc_str_is(name, "anyOf") || kc_str_is(name, "oneOf"))
            kc_value_each_item (value, child)
                found = found || has_default(child);
    }
    return found;
}

static void check_defaults_allowed(kc__crd_check *c)
{
    if (!preserves(c->spec))
        return;
    kc_value_each_item (kc_value_get(c->spec, "versions"), version) {
        const kc_value *schema = kc__crd_schema_of(version);
        if (!schema || !has_default(schema))
            continue;
        kc_field_errors_add(c->errors, KC_FIELD_INVALID, "spec.preserveUnknownFields",
                            KC_STR("true"), "must be false in order to use defaults in the schema");
        return;
    }
}

/* ---- spec: the versions ---- */

static void versions_invalid(kc__crd_check *c, const bool *shared, const char *detail)
{
    kc_scoped(kc_buf) shown = {0};
    kc__crd_write_versions(&shown, kc_value_get(c->spec, "versions"), shared);
    kc_field_errors_add(c->errors, KC_FIELD_INVALID, "spec.versions", kc_buf_str(&shown), "%s",
                        detail);
}

static void check_versions(kc__crd_check *c, const bool *shared)
{
    kc_scoped(kc_map) names = {0};
    bool twice = false;
    size_t stored = 0, i = 0;
    kc_value_each_item (kc_value_get(c->spec, "versions"), version) {
        kc_str name = kc_value_as_str(kc_value_get(version, "name"));
        size_t before = kc__crd_enter(c, ".versions[%zu]", i++);
        stored += kc_value_as_bool(kc_value_get(version, "storage"), false);
        twice |= kc_map_put(&names, name, c) != NULL;
        kc__crd_check_name(c, "name", KC_NAME_DNS_1035_LABEL, name, name, "");
        kc__crd_check_version(c, version, shared);
        kc__crd_leave(c, before);
    }
    if (twice)
        versions_invalid(c, shared, "must contain unique version names");
    if (stored != 1)
        versions_invalid(c, shared, "must have exactly one version marked as storage version");
    kc_str first =
        kc_value_as_str(kc_value_get(kc_value_at(kc_value_get(c->spec, "versions"), 0), "name"));
    if (first.n)
        kc__crd_check_name(c, "version", KC_NAME_DNS_1035_LABEL, first, first, "");
}

static void check_spec_names(kc__crd_check *c)
{
    static const char *const needed[] = {"plural", "singular", "kind", "listKind"};
    const kc_value *names = kc_value_get(c->spec, "names");
    size_t before = kc__crd_enter(c, ".names");
    for (size_t i = 0; i < KC_COUNT(needed); i++)
        if (!kc_value_as_str(kc_value_get(names, needed[i])).n)
            kc__crd_required(c, needed[i], "");
    kc__crd_check_names(c, names);
    kc__crd_leave(c, before);
}

/* Checks the parts that all versions share, in the first version. */
static void check_shared(kc__crd_check *c, const bool *shared)
{
    const kc_value *first = kc_value_at(kc_value_get(c->spec, "versions"), 0);
    bool status = false;
    kc_value_each_item (kc_value_get(c->spec, "versions"), version)
        status |= kc_value_type(kc_value_get(kc_value_get(version, "subresources"), "status")) ==
                  KC_JSON_OBJECT;
    for (size_t i = 0; i < KC__CRD_N_SHARED; i++) {
        /* Schema first, then the order of the parts. */
        size_t part = i == 0 ? KC__CRD_SHARED_SCHEMA : i == 1 ? KC__CRD_SHARED_SUBRESOURCES : i;
        if (!shared[part])
            continue;
        size_t before = kc__crd_enter(c, ".%s", kc__crd_shared_parts[part].above);
        if (part == KC__CRD_SHARED_SCHEMA)
            kc__crd_check_schema(c, first, status);
        else if (part == KC__CRD_SHARED_SUBRESOURCES)
            kc__crd_check_subresources(c, kc_value_get(first, "subresources"));
        else if (part == KC__CRD_SHARED_COLUMNS)
            kc__crd_check_columns(c, kc_value_get(first, "additionalPrinterColumns"));
        else
            kc__crd_check_selectable(c, first,
                                     "may only be set when validations.schema is included");
        kc__crd_leave(c, before);
    }
}

static void check_crd_spec(kc__crd_check *c)
{
    static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
    bool shared[KC__CRD_N_SHARED];
    for (size_t i = 0; i < KC__CRD_N_SHARED; i++)
        shared[i] = kc__crd_is_shared(kc_value_get(c->spec, "versions"), i);
    kc__crd_enter(c, "spec");
    check_group(c);
    kc__crd_check_word(c, "scope", kc_value_as_str(kc_value_get(c->spec, "scope")), scopes);
    require_schemas(c);
    check_defaults_allowed(c);
    check_versions(c, shared);
    check_spec_names(c);
    check_shared(c, shared);
    kc__crd_check_conversion(c);
    kc__crd_leave(c, 0);
}

/* ---- immutable fields ---- */

static void check_unchanged(kc__crd_check *c, const char *field, const kc_value *value,
                            const kc_value *old)
{
    if (!kc_str_eq(kc_value_as_str(value), kc_value_as_str(old)))
        kc_field_errors_add_value(c->errors, KC_FIELD_INVALID, field, value, "field is immutable");
}

static void check_change(kc__crd_check *c)
{
    const kc_value *old = kc_value_get(c->old, "spec");
    const kc_value *names = kc_value_get(c->spec, "names"), *old_names = kc_value_get(old, "names");
    if (kc__crd_condition_is_true(c->old, "Established")) {
        check_unchanged(c, "spec.scope", kc_value_get(c->spec, "scope"),
                        kc_value_get(old, "scope"));
        check_unchanged(c, "spec.names.kind", kc_value_get(names, "kind"),
                        kc_value_get(old_names, "kind"));
    }
    check_unchanged(c, "spec.group", kc_value_get(c->spec, "group"), kc_value_get(old, "group"));
    check_unchanged(c, "spec.names.plural", kc_value_get(names, "plural"),
                    kc_value_get(old_names, "plural"));
}

/* ---- status ---- */

void kc__crd_validate_status(const kc_value *crd, kc_field_errors *errors)
{
    kc__crd_rules none = {0};
    kc__crd_check c = {.crd = crd, .errors = errors, .rules = &none};
    kc__crd_enter(&c, "status.acceptedNames");
    kc__crd_check_names(&c, kc_value_get(kc_value_get(crd, "status"), "acceptedNames"));
    kc_buf_done(&c.path);
}

static void stored_invalid(kc__crd_check *c, const kc_value *stored, kc_str name)
{
    kc_scoped(kc_buf) detail = {0};
    kc_buf_puts(&detail, name.p ? "must have the storage version "
                                : "must have at least one stored version");
    kc_buf_append(&detail, name);
    kc_scoped(kc_buf) shown = {0};
    if (stored)
        kc__go_json(&shown, stored);
    else
        kc_buf_puts(&shown, "null");
    kc_field_errors_add(c->errors, KC_FIELD_INVALID, "status.storedVersions", kc_buf_str(&shown),
                        "%s", kc_buf_cstr(&detail));
}

static void stored_missing(kc__crd_check *c, size_t index, const kc_value *name)
{
    kc_scoped(kc_buf) field = {0};
    kc_str text = kc_value_as_str(name);
    kc_buf_printf(&field, "status.storedVersions[%zu]", index);
    kc_field_errors_add_value(
        c->errors, KC_FIELD_INVALID, kc_buf_cstr(&field), name,
        "missing from spec.versions; %.*s was previously a storage version, and must remain in "
        "spec.versions until a storage migration ensures no data remains persisted in %.*s and "
        "removes %.*s from status.storedVersions",
        KC_ARG(text), KC_ARG(text), KC_ARG(text));
}

static void check_stored_versions(kc__crd_check *c)
{
    const kc_value *stored = kc_value_get(kc_value_get(c->crd, "status"), "storedVersions");
    kc_scoped(kc_map) left = {0};
    size_t i = 0;
    if (!kc_value_len(stored)) {
        stored_invalid(c, NULL, (kc_str){0});
        return;
    }
    kc_value_each_item (stored, name)
        kc_map_put(&left, kc_value_as_str(name), c);
    kc_value_each_item (kc_value_get(c->spec, "versions"), version) {
        kc_str name = kc_value_as_str(kc_value_get(version, "name"));
        if (!kc_map_remove(&left, name) &&
            kc_value_as_bool(kc_value_get(version, "storage"), false))
            stored_invalid(c, stored, name);
    }
    kc_value_each_item (stored, name) {
        if (kc_map_get(&left, kc_value_as_str(name)))
            stored_missing(c, i, name);
        i++;
    }
}

/* ---- approval, preserved fields ---- */

static void check_approval(kc__crd_check *c)
{
    static const char field[] = "metadata.annotations[api-approved.kubernetes.io]";
    kc_scoped(kc_buf) reason = {0}, before = {0};
    kc__crd_approval_state now = kc__crd_approval(c->crd, &reason);
    if (c->rules->beta || (c->old && kc__crd_approval(c->old, &before) == now))
        return;
    if (now == KC__CRD_APPROVAL_MISSING)
        kc_field_errors_add(c->errors, KC_FIELD_REQUIRED, field, (kc_str){0}, "%s",
                            kc_buf_cstr(&reason));
    if (now == KC__CRD_APPROVAL_INVALID)
        kc_field_errors_add_value(
            c->errors, KC_FIELD_INVALID, field,
            kc_value_get(kc_value_get(kc_value_get(c->crd, "metadata"), "annotations"),
                         "api-approved.kubernetes.io"),
            "%s", kc_buf_cstr(&reason));
}

static void check_preserving(kc__crd_check *c)
{
    bool may = c->rules->beta || (c->old && preserves(kc_value_get(c->old, "spec")));
    if (!may && preserves(c->spec))
        kc_field_errors_add(c->errors, KC_FIELD_INVALID, "spec.preserveUnknownFields",
                            KC_STR("true"),
                            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true "
                            "in spec.versions[*].schema instead");
}

void kc__crd_validate(const kc_value *crd, const kc__crd_rules *rules, kc_field_errors *errors)
{
    kc__crd_rules none = {0};
    kc__crd_check c = {.crd = crd, .errors = errors, .rules = rules ? rules : &none};
    c.spec = kc_value_get(crd, "spec");
    c.old = c.rules->old;
    check_crd_metadata(&c);
    check_crd_spec(&c);
    if (c.old)
        check_change(&c);
    kc__crd_validate_status(crd, errors);
    check_stored_versions(&c);
    check_approval(&c);
    check_preserving(&c);
    kc_buf_done(&c.path);
}
