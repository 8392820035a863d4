/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_validate.c: validates a custom object.
 *
 *     kind ─▶ metadata ─▶ schema ─▶ scale ─▶ embedded resources ─▶ lists ─▶ rules
 *
 * On an update, schema errors of unchanged values are ignored (ratcheting), broken rules of
 * unchanged values become warnings, and lists may keep duplicate elements if the old object had
 * some. For an update of the status the schema of the status alone is validated, but all rules.
 *
 * Rules (x-kubernetes-validations) run only if the object has the types and sizes that they rely
 * on. They may take a second, so a caller on an event loop sets a limit and repeats the validation
 * on a worker thread if rules exceed it.
 */
#include "apiserver/crd/custom_internal.h"
#include "kc/metadata_validation.h"
#include "object/gofmt/go_quote.h"

static bool check_custom_type(const kc__custom *custom, const kc_value *object,
                              kc_field_errors *errors)
{
    const kc_value *kind = kc_value_get(object, "kind"),
                   *version = kc_value_get(object, "apiVersion");
    bool ok = true;
    if (!kc_str_is(kc_value_as_str(kind), custom->kind)) {
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "kind", kind, "must be %s",
                                  custom->kind);
        ok = false;
    }
    if (!kc_str_is(kc_value_as_str(version), custom->api_version)) {
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "apiVersion", version, "must be %s",
                                  custom->api_version);
        ok = false;
    }
    return ok;
}

static void check_custom_metadata(const kc__custom *custom, const kc_value *object,
                                  const kc__custom_rules *rules, kc_field_errors *errors)
{
    kc_metadata_rules common = {.namespaced = custom->namespaced};
    const kc_value *metadata = kc_value_get(object, "metadata");
    if (rules->metadata_checked)
        return;
    if (rules->old)
        kc_validate_metadata_update(errors, metadata, kc_value_get(rules->old, "metadata"),
                                    &common);
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

/* Rules are not evaluated on an object that lacks values they may access. */
static bool is_in_the_way(kc_field_error_type type)
{
    return type == KC_FIELD_NOT_SUPPORTED || type == KC_FIELD_REQUIRED ||
           type == KC_FIELD_TOO_LONG || type == KC_FIELD_TOO_MANY || type == KC_FIELD_TYPE_INVALID;
}

static bool is_blocked(const kc_field_errors *errors, size_t first)
{
    for (size_t i = first; i < errors->list.n; i++)
        if (is_in_the_way(errors->list.items[i].type))
            return true;
    return false;
}

/* False: the rules exceed the limit of the caller. */
static bool check_custom_rules(const kc__custom *custom, const kc_value *object,
                               const kc__custom_rules *rules, size_t first, kc_field_errors *errors)
{
    if (!custom->rules)
        return true;
    if (is_blocked(errors, first)) {
        kc_field_errors_add(errors, KC_FIELD_INVALID, "<nil>", KC_STR("null"),
                            "some validation rules were not checked because the object was "
                            "invalid; correct the existing errors to complete validation");
        return true;
    }
    kc_cel_rules_opts opts = {.old = rules->old,
                              .ratchets = rules->old != NULL,
                              .warnings = rules->warnings,
                              .stop_at = rules->stop_at};
    return kc_cel_rules_validate(custom->rules, object, &opts, errors) != KC_CEL_RULES_UNFINISHED;
}

static void check_status(const kc__custom *custom, const kc_value *object, const kc_value *old,
                         kc_field_errors *errors)
{
    const kc_value *status = kc_value_get(object, "status");
    const kc_schema *schema = kc_schema_property(custom->schema, KC_STR("status"));
    if (status)
        kc_schema_validate(
            schema, status,
            &(kc_schema_validate_opts){.base = "status", .old = kc_value_get(old, "status")},
            errors);
}

bool kc__custom_validate(const kc__custom *custom, const kc_value *object,
                         const kc__custom_rules *rules, kc_field_errors *errors)
{
    kc__custom_rules none = {0};
    rules = rules ? rules : &none;
    bool status = rules->subresource && !strcmp(rules->subresource, "status");
    size_t first = errors->list.n;
    if (!check_custom_type(custom, object, errors))
        return true;
    check_custom_metadata(custom, object, rules, errors);
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
    return check_custom_rules(custom, object, rules, first, errors);
}

/* ---- finalizers ---- */

static bool has_text(const kc_value *list, kc_str text)
{
    kc_value_each_item (list, item)
        if (kc_str_eq(kc_value_as_str(item), text))
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
    const kc_value *before = kc_value_get(kc_value_get(old, "metadata"), "finalizers");
    size_t looked_at = 0;
    kc_value_each_item (kc_value_get(kc_value_get(object, "metadata"), "finalizers"), item) {
        if (looked_at++ >= MOST)
            return;
        if (!has_text(before, kc_value_as_str(item)))
            warn_of(warnings, kc_value_as_str(item));
    }
}
