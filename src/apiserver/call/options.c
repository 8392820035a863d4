/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c: reads and validates the options of requests.
 *
 * A value that cannot be parsed (a limit that is not a number) is a bad request. A value that can
 * be parsed but is not allowed is Invalid, with a cause for each field, about
 * "CreateOptions.meta.k8s.io" or one of the other options kinds. Unknown parameters are ignored, as
 * in a Kubernetes API server.
 */
#include "apiserver/call/options.h"

#include "kc/json.h"
#include "kc/names.h"

void kc__rest_options_done(kc__rest_options *options)
{
    options->labels = kc_selector_free(options->labels);
    options->fields = kc_field_selector_free(options->fields);
}

static int to_error(const kc_field_errors *errors, const char *kind, kc_error *err)
{
    return kc_field_errors_to_error(errors, KC_STR("meta.k8s.io"), kc_cstr(kind), (kc_str){0}, err);
}

static kc_str option_text_of(const kc__query *query, const char *name)
{
    kc_str value = {0};
    kc__query_get(query, kc_cstr(name), &value);
    return value;
}

static kc__rest_tristate flag_of(const kc__query *query, const char *name)
{
    if (!kc__query_has(query, kc_cstr(name)))
        return KC__REST_UNSET;
    return kc__query_flag(query, kc_cstr(name)) ? KC__REST_YES : KC__REST_NO;
}

/* ---- shared options ---- */

static void check_dry_run(const kc_str *values, size_t n, kc__rest_options *ret,
                          kc_field_errors *errors)
{
    bool known = true;
    kc_scoped(kc_buf) shown = {0};
    kc_buf_putc(&shown, '[');
    for (size_t i = 0; i < n; i++) {
        known = known && kc_str_is(values[i], "All");
        if (i)
            kc_buf_putc(&shown, ',');
        kc_json_quote(&shown, values[i]);
    }
    kc_buf_putc(&shown, ']');
    ret->dry_run = n > 0;
    if (!known)
        kc_field_errors_add(errors, KC_FIELD_NOT_SUPPORTED, "dryRun", kc_buf_str(&shown),
                            "supported values: \"All\"");
}

static void read_dry_run(const kc__query *query, kc__rest_options *ret, kc_field_errors *errors)
{
    KC_VEC(kc_str) values = {0};
    kc_str value;
    for (size_t at = 0; kc__query_next(query, KC_STR("dryRun"), &at, &value);)
        kc_vec_push(&values, value);
    check_dry_run(values.items, values.n, ret, errors);
    kc_vec_done(&values);
}

static void not_supported(kc_field_errors *errors, const char *field, kc_str value,
                          const char *supported)
{
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, value);
    kc_field_errors_add(errors, KC_FIELD_NOT_SUPPORTED, field, kc_buf_str(&quoted),
                        "supported values: %s", supported);
}

static void read_field_validation(const kc__query *query, kc__rest_options *ret,
                                  kc_field_errors *errors)
{
    kc_str value = option_text_of(query, "fieldValidation");
    if (kc_str_empty(value) || kc_str_is(value, "Warn"))
        ret->validation = KC__REST_VALIDATE_WARN;
    else if (kc_str_is(value, "Ignore"))
        ret->validation = KC__REST_VALIDATE_IGNORE;
    else if (kc_str_is(value, "Strict"))
        ret->validation = KC__REST_VALIDATE_STRICT;
    else
        not_supported(errors, "fieldValidation", value, "\"\", \"Ignore\", \"Strict\", \"Warn\"");
}

static void read_common(const kc__query *query, kc__rest_options *ret, kc_field_errors *errors)
{
    ret->field_manager = option_text_of(query, "fieldManager");
    kc_validate_field_manager(errors, "fieldManager", ret->field_manager);
    read_dry_run(query, ret, errors);
    read_field_validation(query, ret, errors);
}

int kc__rest_options_read_write(const kc__query *query, const char *kind, kc__rest_options *ret,
                                kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    read_common(query, ret, &errors);
    return to_error(&errors, kind, err);
}

int kc__rest_options_read_patch(const kc__query *query, bool apply, kc__rest_options *ret,
                                kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    ret->force = flag_of(query, "force");
    if (apply && kc_str_empty(option_text_of(query, "fieldManager")))
        kc_field_errors_add(&errors, KC_FIELD_REQUIRED, "fieldManager", (kc_str){0},
                            "is required for apply patch");
    if (!apply && ret->force != KC__REST_UNSET)
        kc_field_errors_add(&errors, KC_FIELD_FORBIDDEN, "force", (kc_str){0},
                            "may not be specified for non-apply patch");
    read_common(query, ret, &errors);
    return to_error(&errors, "PatchOptions", err);
}

/* ---- deletes ---- */

static void check_propagation(kc_str value, kc__rest_options *ret, kc_field_errors *errors)
{
    static const struct {
        const char *text;
        kc__rest_propagation propagation;
    } known[] = {{"Foreground", KC__REST_PROPAGATE_FOREGROUND},
                 {"Background", KC__REST_PROPAGATE_BACKGROUND},
                 {"Orphan", KC__REST_PROPAGATE_ORPHAN}};
    if (ret->orphan_dependents != KC__REST_UNSET) {
        kc_scoped(kc_buf) quoted = {0};
        kc_json_quote(&quoted, value);
        kc_field_errors_add(errors, KC_FIELD_INVALID, "propagationPolicy", kc_buf_str(&quoted),
                            "orphanDependents and deletionPropagation cannot be both set");
    }
    for (size_t i = 0; i < KC_COUNT(known); i++)
        if (kc_str_is(value, known[i].text)) {
            ret->propagation = known[i].propagation;
            return;
        }
    not_supported(errors, "propagationPolicy", value,
                  "\"Foreground\", \"Background\", \"Orphan\", \"nil\"");
}

static int read_delete_query(const kc__query *query, kc__rest_options *ret, kc_field_errors *errors,
                             kc_error *err)
{
    ret->has_grace = kc__query_has(query, KC_STR("gracePeriodSeconds"));
    if (kc__query_i64(query, KC_STR("gracePeriodSeconds"), 0, &ret->grace_seconds, err) < 0)
        return kc_error_result(err);
    ret->orphan_dependents = flag_of(query, "orphanDependents");
    if (kc__query_has(query, KC_STR("propagationPolicy")))
        check_propagation(option_text_of(query, "propagationPolicy"), ret, errors);
    read_dry_run(query, ret, errors);
    return 0;
}

static void read_delete_dry_run(const kc_value *list, kc_arena *arena, kc__rest_options *ret,
                                kc_field_errors *errors)
{
    size_t n = 0;
    kc_str *values = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*values));
    kc_value_each_item (list, item)
        values[n++] = kc_value_as_str(item);
    check_dry_run(values, n, ret, errors);
}

/* Copies a string to the arena; p is NULL if absent. */
static kc_str keep_option_text(const kc_value *value, kc_arena *arena)
{
    kc_str text = kc_value_as_str(value);
    return text.p ? kc_cstr(kc_arena_strndup(arena, text.p, text.n)) : (kc_str){0};
}

static void read_delete_body(const kc_value *root, kc_arena *arena, kc__rest_options *ret,
                             kc_field_errors *errors)
{
    const kc_value *preconditions = kc_value_get(root, "preconditions");
    const kc_value *orphan = kc_value_get(root, "orphanDependents");
    kc_str policy = kc_value_as_str(kc_value_get(root, "propagationPolicy"));
    ret->has_grace = kc_value_as_i64(kc_value_get(root, "gracePeriodSeconds"), &ret->grace_seconds);
    if (kc_value_type(orphan) == KC_JSON_BOOL)
        ret->orphan_dependents = kc_value_as_bool(orphan, false) ? KC__REST_YES : KC__REST_NO;
    ret->uid = keep_option_text(kc_value_get(preconditions, "uid"), arena);
    ret->precondition_version =
        keep_option_text(kc_value_get(preconditions, "resourceVersion"), arena);
    if (policy.p)
        check_propagation(policy, ret, errors);
    read_delete_dry_run(kc_value_get(root, "dryRun"), arena, ret, errors);
}

int kc__rest_options_read_delete(const kc__query *query, const kc_object *body, kc_arena *arena,
                                 kc__rest_options *ret, kc_error *err)
{
    kc_scoped(kc_field_errors) errors = {0};
    if (body) {
        kc_auto(kc_view) *view = kc_view_of(body);
        read_delete_body(kc_view_root(view), arena, ret, &errors);
    } else if (read_delete_query(query, ret, &errors, err) < 0) {
        return kc_error_result(err);
    }
    return to_error(&errors, "DeleteOptions", err);
}

/* ---- lists and watches ---- */

static void forbidden(kc_field_errors *errors, const char *field, const char *why)
{
    kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, field, (kc_str){0}, "%s", why);
}

static void check_list_match(kc_str match, const kc__rest_options *ret, kc_field_errors *errors)
{
    if (kc_str_empty(ret->resource_version))
        forbidden(errors, "resourceVersionMatch",
                  "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!kc_str_empty(ret->continue_token))
        forbidden(errors, "resourceVersionMatch",
                  "resourceVersionMatch is forbidden when continue is provided");
    if (ret->match == KC__REST_MATCH_UNSET)
        not_supported(errors, "resourceVersionMatch", match, "\"Exact\", \"NotOlderThan\", \"\"");
    if (ret->match == KC__REST_MATCH_EXACT && kc_str_is(ret->resource_version, "0"))
        forbidden(errors, "resourceVersionMatch",
                  "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

static void check_watch_match(kc_str match, const kc__rest_options *ret, kc_field_errors *errors)
{
    if (ret->initial_events == KC__REST_UNSET)
        forbidden(
            errors, "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (ret->match != KC__REST_MATCH_NOT_OLDER)
        not_supported(errors, "resourceVersionMatch", match, "\"NotOlderThan\"");
    if (!kc_str_empty(ret->continue_token))
        forbidden(errors, "resourceVersionMatch",
                  "resourceVersionMatch is forbidden when continue is provided");
}

static void check_list(kc_str match, bool watch, const kc__rest_options *ret,
                       kc_field_errors *errors)
{
    if (watch && ret->initial_events != KC__REST_UNSET && ret->match != KC__REST_MATCH_NOT_OLDER)
        forbidden(errors, "resourceVersionMatch",
                  "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (!kc_str_empty(match) && watch)
        check_watch_match(match, ret, errors);
    else if (!kc_str_empty(match))
        check_list_match(match, ret, errors);
    if (!watch && ret->initial_events != KC__REST_UNSET)
        forbidden(errors, "sendInitialEvents", "sendInitialEvents is forbidden for list");
}

static int check_option_selector(const char *name, kc_str text, kc_error *err)
{
    if (text.n <= KC__REST_MAX_SELECTOR_BYTES)
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "%s has %zu bytes: the limit is %zu", name, text.n,
                        KC__REST_MAX_SELECTOR_BYTES);
}

static int check_requirements(const char *name, size_t n, size_t n_values, kc_error *err)
{
    if (n > KC__REST_MAX_SELECTOR_REQUIREMENTS)
        return kc_error_set(err, KC_BAD_REQUEST, "%s has %zu requirements: the limit is %zu", name,
                            n, KC__REST_MAX_SELECTOR_REQUIREMENTS);
    if (n_values > KC__REST_MAX_SELECTOR_VALUES)
        return kc_error_set(err, KC_BAD_REQUEST, "%s has %zu values: the limit is %zu", name,
                            n_values, KC__REST_MAX_SELECTOR_VALUES);
    return 0;
}

/* Watches hold their selectors for hours, so the size of the parsed form is limited, too. */
static int check_parsed(const kc__rest_options *options, kc_error *err)
{
    size_t n = 0, n_values = 0;
    const kc_requirement *labels = kc_selector_requirements(options->labels, &n);
    for (size_t i = 0; i < n; i++)
        n_values += labels[i].n_values;
    if (check_requirements("labelSelector", n, n_values, err) < 0)
        return kc_error_result(err);
    kc_field_selector_requirements(options->fields, &n);
    return check_requirements("fieldSelector", n, 0, err);
}

static int read_selectors(const kc__query *query, kc__rest_options *ret, kc_error *err)
{
    kc_str labels = option_text_of(query, "labelSelector"),
           fields = option_text_of(query, "fieldSelector");
    if (check_option_selector("labelSelector", labels, err) < 0 ||
        check_option_selector("fieldSelector", fields, err) < 0)
        return kc_error_result(err);
    if (!kc_str_empty(labels) && !(ret->labels = kc_selector_parse(labels, err)))
        return kc_error_result(err);
    if (!kc_str_empty(fields) && !(ret->fields = kc_field_selector_parse(fields, err)))
        return kc_error_result(err);
    return check_parsed(ret, err);
}

int kc__rest_options_read_list(const kc__query *query, bool watch, kc__rest_options *ret,
                               kc_error *err)
{
    kc_str match = option_text_of(query, "resourceVersionMatch");
    if (kc__query_i64(query, KC_STR("timeoutSeconds"), 0, &ret->timeout_seconds, err) < 0 ||
        kc__query_i64(query, KC_STR("limit"), 0, &ret->limit, err) < 0 ||
        read_selectors(query, ret, err) < 0)
        return kc_error_result(err);
    ret->continue_token = option_text_of(query, "continue");
    ret->resource_version = option_text_of(query, "resourceVersion");
    ret->match = kc_str_is(match, "Exact")          ? KC__REST_MATCH_EXACT
                 : kc_str_is(match, "NotOlderThan") ? KC__REST_MATCH_NOT_OLDER
                                                    : KC__REST_MATCH_UNSET;
    ret->bookmarks = kc__query_flag(query, KC_STR("allowWatchBookmarks"));
    ret->initial_events = flag_of(query, "sendInitialEvents");
    kc_scoped(kc_field_errors) errors = {0};
    check_list(match, watch, ret, &errors);
    return to_error(&errors, "ListOptions", err);
}
