/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_validate.c: whether a custom object may be stored.
 *
 *     kind ─▶ metadata ─▶ schema ─▶ scale ─▶ embedded resources ─▶ lists ─▶ rules
 *
 * On an update what did not change is forgiven by the schema, and lists with repeated elements may
 * keep them when the old object had some. Of a change of the status only the status is looked at.
 *
 * Rules (x-kubernetes-validations) are to be evaluated at the end, where `check_rules` is, and only
 * when no error stands in their way. They are not evaluated yet.
 */
#include "apiserver/crd/custom_internal.h"
#include "kc/metadata_validation.h"
#include "object/go_quote.h"

static bool check_type(const kc__custom *custom, const kc_value *object, kc_field_errors *errors)
{
    const kc_value *kind = kc_get(object, "kind"), *version = kc_get(object, "apiVersion");
    bool ok = true;
    if (!kc_str_is(kc_as_str(kind), custom->kind)) {
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "kind", kind, "must be %s",
                                  custom->kind);
        ok = false;
    }
    if (!kc_str_is(kc_as_str(version), custom->api_version)) {
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "apiVersion", version, "must be %s",
                                  custom->api_version);
        ok = false;
    }
    return ok;
}

static void check_metadata(const kc__custom *custom, const kc_value *object,
                           const kc__custom_rules *rules, kc_field_errors *errors)
{
    kc_metadata_rules common = {.namespaced = custom->namespaced};
    const kc_value *metadata = kc_get(object, "metadata");
    if (rules->metadata_checked)
        return;
    if (rules->old)
        kc_validate_metadata_update(errors, metadata, kc_get(rules->old, "metadata"), &common);
    else
        kc_validate_metadata(errors, metadata, &common);
}

static void check_lists(const kc__custom *custom, const kc_value *object, const kc_value *old,
                        kc_field_errors *errors)
{
    kc_scoped(kc_field_errors) found = {0}, before = {0};
    if (kc_schema_validate_lists(custom->schema, object, NULL, &found))
        return;
    if (!old || kc_schema_validate_lists(custom->schema, old, NULL, &before))
        kc_field_errors_merge(errors, &found);
}

/* Rules are not evaluated over an object that lacks what they may ask for. */
static bool is_in_the_way(kc_field_error_type type)
{
    return type == KC_FIELD_NOT_SUPPORTED || type == KC_FIELD_REQUIRED ||
           type == KC_FIELD_TOO_LONG || type == KC_FIELD_TOO_MANY || type == KC_FIELD_TYPE_INVALID;
}

static void check_rules(const kc__custom *custom, size_t first, kc_field_errors *errors)
{
    bool blocked = false;
    for (size_t i = first; i < errors->list.n; i++)
        blocked |= is_in_the_way(errors->list.items[i].type);
    if (custom->rules && blocked)
        kc_field_errors_add(errors, KC_FIELD_INVALID, "<nil>", KC_STR("null"),
                            "some validation rules were not checked because the object was "
                            "invalid; correct the existing errors to complete validation");
}

static void check_status(const kc__custom *custom, const kc_value *object, const kc_value *old,
                         kc_field_errors *errors)
{
    const kc_value *status = kc_get(object, "status");
    const kc_schema *schema = kc_schema_property(custom->schema, KC_STR("status"));
    if (status)
        kc_schema_validate(
            schema, status,
            &(kc_schema_validate_opts){.base = "status", .old = kc_get(old, "status")}, errors);
}

void kc__custom_validate(const kc__custom *custom, const kc_value *object,
                         const kc__custom_rules *rules, kc_field_errors *errors)
{
    kc__custom_rules none = {0};
    rules = rules ? rules : &none;
    bool status = rules->subresource && !strcmp(rules->subresource, "status");
    size_t first = errors->list.n;
    if (!check_type(custom, object, errors))
        return;
    check_metadata(custom, object, rules, errors);
    if (status)
        check_status(custom, object, rules->old, errors);
    else
        kc_schema_validate(custom->schema, object, &(kc_schema_validate_opts){.old = rules->old},
                           errors);
    if (custom->scale)
        kc__custom_check_scale(custom->scale, object, !status, errors);
    if (custom->embeds && !status)
        kc__custom_check_embedded(custom->schema, object, errors);
    check_lists(custom, object, rules->old, errors);
    check_rules(custom, first, errors);
}

/* ---- finalizers ---- */

static bool has_text(const kc_value *list, kc_str text)
{
    kc_items (list, item)
        if (kc_str_eq(kc_as_str(item), text))
            return true;
    return false;
}

static bool is_standard(kc_str name)
{
    return kc_str_is(name, "orphan") || kc_str_is(name, "foregroundDeletion") ||
           kc_str_is(name, "kubernetes");
}

static void warn(kc_paths *warnings, kc_str name, const char *message)
{
    kc_buf text = {0};
    kc_buf_puts(&text, "metadata.finalizers: ");
    kc__go_quote(&text, name);
    kc_buf_printf(&text, ": %s", message);
    kc_vec_push(warnings, kc_buf_take(&text));
}

static void warn_of(kc_paths *warnings, kc_str name)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_QUALIFIED, name, messages);
    for (size_t i = 0; i < n; i++)
        warn(warnings, name, messages[i]);
    if (kc_str_find(name, '/') >= 0 || is_standard(name))
        return;
    if (kc_str_find(name, '.') >= 0)
        warn(warnings, name,
             "prefer a domain-qualified finalizer name including a path (/) to avoid accidental "
             "conflicts with other finalizer writers");
    else
        warn(warnings, name,
             "prefer a domain-qualified finalizer name to avoid accidental conflicts with other "
             "finalizer writers");
}

void kc__custom_warnings(const kc_value *object, const kc_value *old, kc_paths *warnings)
{
    enum { MOST = 100 };
    const kc_value *before = kc_get(kc_get(old, "metadata"), "finalizers");
    size_t looked_at = 0;
    kc_items (kc_get(kc_get(object, "metadata"), "finalizers"), item) {
        if (looked_at++ >= MOST)
            return;
        if (!has_text(before, kc_as_str(item)))
            warn_of(warnings, kc_as_str(item));
    }
}
