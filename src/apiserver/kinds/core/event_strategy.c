/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_strategy.c: the strategies of Events and Leases, both small and frequently written.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- Event ---- */

#define MAX_WORD 128 /* Limit of reporting instance, action and reason. */
#define MAX_NOTE 1024

/* An Event must be in the namespace of its object; an Event about a cluster-scoped object must
 * be in the namespace default. */
static void check_namespace(const kc__location *root, bool timed)
{
    kc__location about = kc__location_member(root, "involvedObject"),
                 ns = kc__location_member(&about, "namespace");
    kc_str own = kc_value_as_str(kc_value_get(kc_value_get(root->value, "metadata"), "namespace"));
    bool fits = kc__location_is_set(&ns)
                    ? timed || kc_str_eq(kc__location_text(&ns), own)
                    : kc_str_is(own, "default") || (timed && kc_str_is(own, "kube-system"));
    if (!fits && about.value)
        kc__location_error(&ns, KC_FIELD_INVALID, "does not match event.namespace");
}

/* These errors do not show the text. */
static void check_event_length(const kc__location *text, size_t most)
{
    if (kc__location_text(text).n > most)
        kc__location_error_json(text, KC_FIELD_INVALID, "\"\"", "can have at most %zu characters",
                                most);
}

static void check_word(const kc__location *word)
{
    if (!kc__location_is_set(word))
        kc__location_error(word, KC_FIELD_REQUIRED, NULL);
    check_event_length(word, MAX_WORD);
}

static const kc__validate_rule words_[] = {
    {"reportingInstance", .code = check_word},
    {"action", .code = check_word},
    {"reason", .code = check_word},
};
static const kc__validate_rule_table words = KC__VALIDATE_RULES(words_);

/* Validates an Event. An Event with eventTime is of the newer form, which has more required
 * fields. `controller` is the name of the reporter field in the requested API. */
static void check_event(const kc__location *root, const char *controller)
{
    kc__location time = kc__location_member(root, "eventTime"),
                 reporter = kc__location_member(root, controller);
    kc__location note = kc__location_member(root, "message");
    check_namespace(root, time.value != NULL);
    if (!time.value)
        return;
    reporter.value = kc__location_member(root, "reportingComponent").value;
    if (!kc__location_is_set(&reporter))
        kc__location_error(&reporter, KC_FIELD_REQUIRED, NULL);
    kc__validate_name(&reporter, KC_NAME_QUALIFIED);
    kc__validate_by_rules(&words, root);
    check_event_length(&note, MAX_NOTE);
}

static void check_old(const kc__location *root)
{
    check_event(root, "reportingComponent");
}

static const kc__validate_rule event_[] = {{.code = check_old}};
static const kc__validate_rule_table event_rules = KC__VALIDATE_RULES(event_);

static const kc_field_def selectable[] = {
    {.field = "involvedObject.kind"},
    {.field = "involvedObject.namespace"},
    {.field = "involvedObject.name"},
    {.field = "involvedObject.uid"},
    {.field = "involvedObject.apiVersion"},
    {.field = "involvedObject.resourceVersion"},
    {.field = "involvedObject.fieldPath"},
    {.field = "reason"},
    {.field = "reportingComponent"},
    {.field = "source", .path = "source.component"},
    {.field = "type"},
};

const kc__strategy kc__strategy_event = {
    .upserts = true,
    .owns_nothing = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .rules = &event_rules,
};

/* ---- Events of events.k8s.io, with stricter rules ---- */

static void check_new(const kc__location *root)
{
    check_event(root, "reportingController");
}

static const kc__validate_rule new_event_[] = {{.code = check_new}};
static const kc__validate_rule_table new_event_rules = KC__VALIDATE_RULES(new_event_);

static void check_series(const kc__location *root)
{
    kc__location series = kc__location_member(root, "series"),
                 count = kc__location_member(&series, "count");
    kc__location last = kc__location_member(&series, "lastObservedTime");
    if (!series.value)
        return;
    if (kc__location_number(&count) < 2)
        kc__location_error_json(&count, KC_FIELD_INVALID, "\"\"", "should be at least 2");
    if (!last.value)
        kc__location_error(&last, KC_FIELD_REQUIRED, NULL);
}

static void check_unset(const kc__location *root)
{
    static const char *const old[] = {"firstTimestamp", "lastTimestamp", "count", "source"};
    for (size_t i = 0; i < KC_COUNT(old); i++) {
        kc__location member = kc__location_member(root, old[i]);
        if (kc__location_is_set(&member))
            kc__location_error_json(&member, KC_FIELD_INVALID, "\"\"", "needs to be unset");
    }
}

static void validate_new(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 time = kc__location_member(&root, "eventTime");
    kc__location type = kc__location_member(&root, "type");
    check_series(&root);
    if (!time.value)
        kc__location_error(&time, KC_FIELD_REQUIRED, NULL);
    if (!kc__location_text_is(&type, "Normal") && !kc__location_text_is(&type, "Warning"))
        kc__location_error_json(&type, KC_FIELD_INVALID, "\"\"", "has invalid value: %.*s",
                                KC_ARG(kc__location_text(&type)));
    check_unset(&root);
}

/* An update may only report a repetition of the Event. */
static void validate_new_update(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors)
{
    static const char *const fixed[] = {"involvedObject",
                                        "reason",
                                        "message",
                                        "source",
                                        "firstTimestamp",
                                        "lastTimestamp",
                                        "count",
                                        "type",
                                        "eventTime",
                                        "action",
                                        "reportingComponent",
                                        "reportingInstance"};
    kc__location root = kc__location_root(object, errors),
                 series = kc__location_member(&root, "series");
    if (!kc_value_equal(series.value, kc_value_get(old, "series"), NULL))
        check_series(&root);
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__location member = kc__location_member(&root, fixed[i]);
        kc__validate_same(&member, kc_value_get(old, fixed[i]));
    }
}

static const kc_field_def new_selectable[] = {
    {.field = "reason"},
    {.field = "regarding.kind", .path = "involvedObject.kind"},
    {.field = "regarding.namespace", .path = "involvedObject.namespace"},
    {.field = "regarding.name", .path = "involvedObject.name"},
    {.field = "regarding.uid", .path = "involvedObject.uid"},
    {.field = "regarding.apiVersion", .path = "involvedObject.apiVersion"},
    {.field = "regarding.resourceVersion", .path = "involvedObject.resourceVersion"},
    {.field = "regarding.fieldPath", .path = "involvedObject.fieldPath"},
    {.field = "reportingController", .path = "reportingComponent"},
    {.field = "type"},
};

const kc__strategy kc__strategy_new_event = {
    .upserts = true,
    .owns_nothing = true,
    .selectable = new_selectable,
    .n_selectable = KC_COUNT(new_selectable),
    .rules = &new_event_rules,
    .validate = validate_new,
    .validate_update = validate_new_update,
};

/* ---- Lease ---- */

static void check_duration(const kc__location *duration)
{
    if (duration->value)
        kc__validate_above_0(duration);
}

static const kc__validate_rule lease_spec_[] = {
    {"leaseDurationSeconds", .code = check_duration},
    {"leaseTransitions", .number = KC__VALIDATE_AT_LEAST_0},
};
static const kc__validate_rule_table lease_spec = KC__VALIDATE_RULES(lease_spec_);
static const kc__validate_rule lease_[] = {{"spec", .of = &lease_spec}};
static const kc__validate_rule_table lease_rules = KC__VALIDATE_RULES(lease_);

const kc__strategy kc__strategy_lease = {
    .upserts = true, .conditional = true, .rules = &lease_rules};
