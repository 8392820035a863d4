/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_status_rules.c: validates the status of an admission policy: the warnings of type checking
 * and the conditions.
 */
#include "apiserver/kinds/admissionregistration/policy_rules.h"

#include "kc/ascii.h"
#include "kc/jsonpath.h"

enum { MAX_REASON = 1024, MAX_MESSAGE = 32 * 1024 };

/* ---- warnings ---- */

static void check_field_ref(const kc__location *location)
{
    const kc_str ref = kc_str_trim(kc__location_text(location));
    kc_scoped(kc_buf) text = {0}, detail = {0};
    kc_scoped(kc_error) err = {0};
    if (kc_str_empty(ref)) {
        kc__location_error(location, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc_buf_printf(&text, "{%.*s}", KC_ARG(ref));
    kc_auto(kc_jsonpath) *path = kc_jsonpath_parse(kc_buf_str(&text), NULL, &err);
    if (path)
        return;
    kc_buf_printf(&detail, "invalid JSONPath: %s", kc_error_text(&err));
    kc__validate_invalid_text(location, ref, kc_buf_cstr(&detail));
}

static void check_warnings(const kc__location *warnings)
{
    size_t i = 0;
    kc_value_each_item (warnings->value, value) {
        const kc__location item = kc__location_item(warnings, value, i++),
                           warning = kc__location_member(&item, "warning"),
                           ref = kc__location_member(&item, "fieldRef");
        if (!kc__location_is_set(&warning))
            kc__location_error(&warning, KC_FIELD_REQUIRED, NULL);
        check_field_ref(&ref);
    }
}

/* ---- conditions ---- */

static bool is_reason(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && (!i || !text.p[i] || !strchr("_,:", text.p[i])))
            return false;
    const char last = text.p[text.n - 1];
    return !kc_is_digit(text.p[0]) && (kc_is_alnum(last) || last == '_');
}

static void check_reason(const kc__location *reason)
{
    const kc_str text = kc__location_text(reason);
    if (!text.n) {
        kc__location_error(reason, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!is_reason(text))
        kc__location_error(
            reason, KC_FIELD_INVALID,
            "a condition reason must start with alphabetic character, optionally followed by a "
            "string of alphanumeric characters or '_,:', and must end with an alphanumeric "
            "character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
            "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
            "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    if (text.n > MAX_REASON)
        kc__location_error(reason, KC_FIELD_TOO_LONG, "may not be more than %d bytes", MAX_REASON);
}

static void check_status_condition(const kc__location *condition, kc_map *types)
{
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};
    const kc__location type = kc__location_member(condition, "type"),
                       status = kc__location_member(condition, "status"),
                       generation = kc__location_member(condition, "observedGeneration"),
                       time = kc__location_member(condition, "lastTransitionTime"),
                       reason = kc__location_member(condition, "reason"),
                       message = kc__location_member(condition, "message");
    kc__validate_unique(&type, types);
    kc__validate_name(&type, KC_NAME_QUALIFIED);
    if (!kc_str_is_any(kc__location_text(&status), statuses))
        kc__location_not_supported(&status, statuses);
    if (kc__location_number(&generation) < 0)
        kc__location_error(&generation, KC_FIELD_INVALID, "must be greater than or equal to zero");
    if (!kc__location_is_set(&time))
        kc__location_error(&time, KC_FIELD_REQUIRED, NULL);
    check_reason(&reason);
    if (kc__location_text(&message).n > MAX_MESSAGE)
        kc__location_error(&message, KC_FIELD_TOO_LONG, "may not be more than %d bytes",
                           MAX_MESSAGE);
}

void kc__validate_policy_status(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors)
{
    kc_scoped(kc_map) types = {0};
    const kc__location root = kc__location_root(object, errors);
    const kc__location status = kc__location_member(&root, "status"),
                       checking = kc__location_member(&status, "typeChecking"),
                       warnings = kc__location_member(&checking, "expressionWarnings"),
                       conditions = kc__location_member(&status, "conditions");
    size_t i = 0;
    (void)old;
    check_warnings(&warnings);
    kc_value_each_item (conditions.value, value) {
        const kc__location item = kc__location_item(&conditions, value, i++);
        check_status_condition(&item, &types);
    }
}
