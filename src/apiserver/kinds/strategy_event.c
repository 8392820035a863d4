/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_event.c: Events, and Leases, which are as small and as often written.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- Event ---- */

#define MAX_WORD 128 /* Of who reports it, what was done, and why. */
#define MAX_NOTE 1024

/* An event lies in the namespace of what it is about; one about no namespace's object in default.
 */
static void check_namespace(const kc__place *root, bool timed)
{
    kc__place about = kc__member(root, "involvedObject"), ns = kc__member(&about, "namespace");
    kc_str own = kc_as_str(kc_get(kc_get(root->value, "metadata"), "namespace"));
    bool fits = kc__there(&ns)
                    ? timed || kc_str_eq(kc__text(&ns), own)
                    : kc_str_is(own, "default") || (timed && kc_str_is(own, "kube-system"));
    if (!fits && about.value)
        kc__wrong(&ns, KC_FIELD_INVALID, "does not match event.namespace");
}

/* These errors show no text. */
static void check_length(const kc__place *text, size_t most)
{
    if (kc__text(text).n > most)
        kc__wrong_as(text, KC_FIELD_INVALID, "\"\"", "can have at most %zu characters", most);
}

static void check_word(const kc__place *word)
{
    if (!kc__there(word))
        kc__wrong(word, KC_FIELD_REQUIRED, NULL);
    check_length(word, MAX_WORD);
}

static const kc__rule words_[] = {
    {"reportingInstance", .code = check_word},
    {"action", .code = check_word},
    {"reason", .code = check_word},
};
static const kc__rules words = KC__RULES(words_);

/* Those that say when they happened are of the newer sort, and say more. `controller` is what the
 * reporter is called in the API that is asked. */
static void check_event(const kc__place *root, const char *controller)
{
    kc__place time = kc__member(root, "eventTime"), reporter = kc__member(root, controller);
    kc__place note = kc__member(root, "message");
    check_namespace(root, time.value != NULL);
    if (!time.value)
        return;
    reporter.value = kc__member(root, "reportingComponent").value;
    if (!kc__there(&reporter))
        kc__wrong(&reporter, KC_FIELD_REQUIRED, NULL);
    kc__check_name(&reporter, KC_NAME_QUALIFIED);
    kc__rules_check(&words, root);
    check_length(&note, MAX_NOTE);
}

static void check_old(const kc__place *root)
{
    check_event(root, "reportingComponent");
}

static const kc__rule event_[] = {{.code = check_old}};
static const kc__rules event_rules = KC__RULES(event_);

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

/* ---- the same in events.k8s.io, which is stricter ---- */

static void check_new(const kc__place *root)
{
    check_event(root, "reportingController");
}

static const kc__rule new_event_[] = {{.code = check_new}};
static const kc__rules new_event_rules = KC__RULES(new_event_);

static void check_series(const kc__place *root)
{
    kc__place series = kc__member(root, "series"), count = kc__member(&series, "count");
    kc__place last = kc__member(&series, "lastObservedTime");
    if (!series.value)
        return;
    if (kc__number(&count) < 2)
        kc__wrong_as(&count, KC_FIELD_INVALID, "\"\"", "should be at least 2");
    if (!last.value)
        kc__wrong(&last, KC_FIELD_REQUIRED, NULL);
}

static void check_unset(const kc__place *root)
{
    static const char *const old[] = {"firstTimestamp", "lastTimestamp", "count", "source"};
    for (size_t i = 0; i < KC_COUNT(old); i++) {
        kc__place member = kc__member(root, old[i]);
        if (kc__there(&member))
            kc__wrong_as(&member, KC_FIELD_INVALID, "\"\"", "needs to be unset");
    }
}

static void validate_new(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), time = kc__member(&root, "eventTime");
    kc__place type = kc__member(&root, "type");
    check_series(&root);
    if (!time.value)
        kc__wrong(&time, KC_FIELD_REQUIRED, NULL);
    if (!kc__text_is(&type, "Normal") && !kc__text_is(&type, "Warning"))
        kc__wrong_as(&type, KC_FIELD_INVALID, "\"\"", "has invalid value: %.*s",
                     KC_ARG(kc__text(&type)));
    check_unset(&root);
}

/* Only that it happened again can be told. */
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
    kc__place root = kc__place_root(object, errors), series = kc__member(&root, "series");
    if (!kc_value_equal(series.value, kc_get(old, "series"), NULL))
        check_series(&root);
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__place member = kc__member(&root, fixed[i]);
        kc__check_same(&member, kc_get(old, fixed[i]));
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

static void check_duration(const kc__place *duration)
{
    if (duration->value)
        kc__check_above_0(duration);
}

static const kc__rule lease_spec_[] = {
    {"leaseDurationSeconds", .code = check_duration},
    {"leaseTransitions", .number = KC__AT_LEAST_0},
};
static const kc__rules lease_spec = KC__RULES(lease_spec_);
static const kc__rule lease_[] = {{"spec", .of = &lease_spec}};
static const kc__rules lease_rules = KC__RULES(lease_);

const kc__strategy kc__strategy_lease = {
    .upserts = true, .conditional = true, .rules = &lease_rules};
