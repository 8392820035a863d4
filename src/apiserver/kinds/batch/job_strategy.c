/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_strategy.c: the strategies of Jobs and CronJobs. The pods of a Job are selected by its uid,
 * unless the client sets a selector (manualSelector): the server writes the uid to the selector and
 * to the template once the Job has a uid.
 */
#include "apiserver/kinds/apps/workload_rules.h"
#include "apiserver/kinds/batch/cron.h"
#include "apiserver/kinds/batch/job_rules.h"
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "kc/diff.h"
#include "kc/selector.h"
#include "object/model/node_fields.h"

#define UID_LABEL  "batch.kubernetes.io/controller-uid"
#define NAME_LABEL "batch.kubernetes.io/job-name"

/* ---- defaults ---- */

static void complete_spec(kc_edit *edit, kc_node *spec)
{
    bool failures = !kc__defaults_node_absent(spec, "podFailurePolicy");
    if (kc__defaults_node_absent(spec, "parallelism"))
        kc__defaults_set(edit, spec, "completions", "1");
    kc__defaults_set(edit, spec, "parallelism", "1");
    kc__defaults_set(edit, spec, "backoffLimit",
                     kc__defaults_node_absent(spec, "backoffLimitPerIndex") ? "6" : "2147483647");
    kc__defaults_set(edit, spec, "podReplacementPolicy",
                     failures ? "\"Failed\"" : "\"TerminatingOrFailed\"");
}

/* Decoding as the type always creates the status; only its text needs a default. */
static void expect_true(kc_edit *edit, kc_node *condition)
{
    if (kc_str_empty(kc__defaults_node_text(condition, "status")))
        kc_node_set(edit, condition, KC_STR("status"), kc_node_str(edit, KC_STR("True")));
}
static const kc__defaults condition_defaults = {.code = expect_true};
static const kc__defaults_entry failure_rule[] = {
    {.field = "onPodConditions", .of = &condition_defaults}};
static const kc__defaults failure_rule_defaults = KC__DEFAULTS(failure_rule);
static const kc__defaults_entry failure_policy[] = {
    {.field = "rules", .of = &failure_rule_defaults}};
static const kc__defaults failure_policy_defaults = KC__DEFAULTS(failure_policy);

static const kc__defaults_entry job_spec[] = {
    {.field = "completionMode", .json = "\"NonIndexed\""},
    {.field = "suspend", .json = "false"},
    {.field = "manualSelector", .json = "false"},
    {.field = "podFailurePolicy", .of = &failure_policy_defaults},
    {.field = "template", .of = &kc__defaults_pod_template},
};
static const kc__defaults job_spec_defaults = {
    .list = job_spec, .n = KC_COUNT(job_spec), .code = complete_spec};

static void copy_labels(kc_edit *edit, kc_node *job)
{
    kc_node *template = kc_node_get(kc_node_get(job, KC_STR("spec")), KC_STR("template"));
    kc_node *labels = kc_node_get(kc_node_get(template, KC_STR("metadata")), KC_STR("labels"));
    kc_node *metadata = kc_node_get(job, KC_STR("metadata"));
    if (kc_node_len(labels) && !kc_node_len(kc_node_get(metadata, KC_STR("labels"))))
        kc_node_set(edit, metadata, KC_STR("labels"), kc_node_clone(edit, labels));
}

static const kc__defaults_entry job[] = {{.field = "spec", .of = &job_spec_defaults}};
static const kc__defaults job_defaults = {.list = job, .n = KC_COUNT(job), .code = copy_labels};

/* The job template of a CronJob gets only the defaults of these fields: a Job is created from it
 * later. */
static const kc__defaults_entry cron_job_spec_[] = {
    {.field = "podFailurePolicy", .of = &failure_policy_defaults},
    {.field = "template", .of = &kc__defaults_pod_template},
};
static const kc__defaults cron_job_spec = KC__DEFAULTS(cron_job_spec_);
static const kc__defaults_entry job_template[] = {{.field = "spec", .of = &cron_job_spec}};
static const kc__defaults job_template_defaults = KC__DEFAULTS(job_template);
static const kc__defaults_entry cron_spec[] = {
    {.field = "concurrencyPolicy", .json = "\"Allow\""},
    {.field = "suspend", .json = "false"},
    {.field = "jobTemplate", .of = &job_template_defaults},
    {.field = "successfulJobsHistoryLimit", .json = "3"},
    {.field = "failedJobsHistoryLimit", .json = "1"},
};
static const kc__defaults cron_spec_defaults = KC__DEFAULTS(cron_spec);
static const kc__defaults_entry cron[] = {{.field = "spec", .of = &cron_spec_defaults}};
static const kc__defaults cron_defaults = KC__DEFAULTS(cron);

/* ---- the selector ---- */

static void set_if_absent(kc_edit *edit, kc_node *object, const char *name, kc_str text)
{
    if (kc__defaults_node_absent(object, name))
        kc_node_set(edit, object, kc_cstr(name), kc_node_str(edit, text));
}

static bool same_labels(kc_edit *edit, const kc_node *a, kc_node *b)
{
    kc_scoped(kc__node_fields) in_b = kc__node_fields_of(edit, b);
    bool same = kc_node_len(a) == kc_node_len(b);
    kc_node_each_member (a, name, value)
        same = same &&
               kc_str_eq(kc_node_as_str(value), kc_node_as_str(kc__node_fields_get(&in_b, name)));
    return same;
}

/* A Job without labels of its own gets those of its template, including the generated ones. */
static void prepare_job(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit), *metadata = kc_node_get(root, KC_STR("metadata"));
    kc_node *spec = kc_node_get(root, KC_STR("spec"));
    kc_node *template = kc_node_ensure_object(edit, spec, KC_STR("template"));
    kc_str uid = kc__defaults_node_text(metadata, "uid"),
           name = kc__defaults_node_text(metadata, "name");
    if (kc_node_as_bool(kc_node_get(spec, KC_STR("manualSelector")), false))
        return;
    kc_node *labels = kc_node_ensure_object(
        edit, kc_node_ensure_object(edit, template, KC_STR("metadata")), KC_STR("labels"));
    bool same = same_labels(edit, kc_node_get(metadata, KC_STR("labels")), labels);
    set_if_absent(edit, labels, "job-name", name);
    set_if_absent(edit, labels, NAME_LABEL, name);
    set_if_absent(edit, labels, "controller-uid", uid);
    set_if_absent(edit, labels, UID_LABEL, uid);
    if (same)
        kc_node_set(edit, metadata, KC_STR("labels"), kc_node_clone(edit, labels));
    kc_node *selector = kc_node_ensure_object(edit, spec, KC_STR("selector"));
    set_if_absent(edit, kc_node_ensure_object(edit, selector, KC_STR("matchLabels")), UID_LABEL,
                  uid);
}

/* Generated labels do not overwrite labels of the client; labels with other values are rejected. */
static void check_generated(const kc__location *root)
{
    static const char *const labels[][2] = {
        {"controller-uid", "uid"}, {"job-name", "name"}, {UID_LABEL, "uid"}, {NAME_LABEL, "name"}};
    kc__location spec = kc__location_member(root, "spec"),
                 template = kc__location_member(&spec, "template");
    kc__location metadata = kc__location_member(&template, "metadata"),
                 own = kc__location_member(&metadata, "labels");
    const kc_value *job_metadata = kc_value_get(root->value, "metadata");
    if (kc__location_member_is_true(&spec, "manualSelector"))
        return;
    for (size_t i = 0; i < KC_COUNT(labels); i++) {
        kc_str expected = kc_value_as_str(kc_value_get(job_metadata, labels[i][1]));
        kc__location label =
            kc__location_entry(&own, kc_cstr(labels[i][0]), kc_value_get(own.value, labels[i][0]));
        if (!label.value) {
            kc__location named = kc__location_entry(&metadata, kc_cstr(labels[i][0]), NULL);
            kc__location_error(&named, KC_FIELD_REQUIRED, "must be '%.*s'", KC_ARG(expected));
        } else if (!kc_str_eq(kc__location_text(&label), expected)) {
            kc__location_error(&label, KC_FIELD_INVALID, "must be '%.*s'", KC_ARG(expected));
        }
    }
}

/* The selector must match the generated labels. */
static void check_generated_selector(const kc__location *root)
{
    kc__location spec = kc__location_member(root, "spec"),
                 selector = kc__location_member(&spec, "selector");
    const kc_value *metadata = kc_value_get(root->value, "metadata");
    kc_str uid = kc_value_as_str(kc_value_get(metadata, "uid")),
           name = kc_value_as_str(kc_value_get(metadata, "name"));
    const kc_label labels[] = {{KC_STR_INIT(UID_LABEL), uid},
                               {KC_STR_INIT(NAME_LABEL), name},
                               {KC_STR_INIT("controller-uid"), uid},
                               {KC_STR_INIT("job-name"), name}};
    kc_auto(kc_selector) *parsed = kc_selector_of(selector.value, NULL);
    if (kc__location_member_is_true(&spec, "manualSelector") || !selector.value || !parsed)
        return;
    if (!kc_selector_match_labels(parsed, labels, KC_COUNT(labels)))
        kc__location_error(&selector, KC_FIELD_INVALID, "`selector` not auto-generated");
}

/* ---- validation of the spec ---- */

static const char *const concurrency[] = {"Allow", "Forbid", "Replace", NULL};

static void check_job_selector(const kc__location *spec)
{
    kc__location selector = kc__location_member(spec, "selector");
    kc_field_errors *errors = spec->errors;
    size_t before = errors->list.n;
    if (selector.value)
        kc__validate_selector(&selector);
    else
        kc__location_error(&selector, KC_FIELD_REQUIRED, NULL);
    if (errors->list.n == before || !selector.value)
        kc__validate_selector_matches(spec, "");
}

/* Pods of an Indexed Job are named after the Job and their index; that name must be a valid host
 * name. */
static void check_host_names(const kc__location *root)
{
    kc__location metadata = kc__location_member(root, "metadata"),
                 name = kc__location_member(&metadata, "name");
    kc__location spec = kc__location_member(root, "spec"),
                 completions = kc__location_member(&spec, "completions");
    if (!kc_str_is(kc__location_member_text(&spec, "completionMode"), "Indexed") ||
        kc__location_number(&completions) < 1)
        return;
    const char *last =
        kc_arena_printf(&root->errors->arena, "%.*s-%lld", KC_ARG(kc__location_text(&name)),
                        (long long)kc__location_number(&completions) - 1);
    if (!kc_name_valid(KC_NAME_DNS_LABEL, kc_cstr(last)))
        kc__location_error(&name, KC_FIELD_INVALID,
                           "will not able to create pod with invalid DNS label: %s", last);
}

static void validate_job(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    check_generated(&root);
    check_generated_selector(&root);
    kc__validate_job_spec(&spec);
    check_job_selector(&spec);
    check_host_names(&root);
}

/* ---- updates ---- */

/* The scheduling directives of a suspended Job that never started are mutable. */
static bool may_move(const kc_value *old)
{
    return kc_value_as_bool(kc_value_get(kc_value_get(old, "spec"), "suspend"), false) &&
           !kc_value_get(kc_value_get(old, "status"), "startTime");
}

/* Removes the scheduling directives from a template. */
static void drop_directives(kc_node *template)
{
    static const char *const names[] = {"nodeSelector", "tolerations", "schedulingGates"};
    kc_node *spec = kc_node_get(template, KC_STR("spec"));
    kc_node *affinity = kc_node_get(spec, KC_STR("affinity"));
    kc_node *metadata = kc_node_get(template, KC_STR("metadata"));
    for (size_t i = 0; i < KC_COUNT(names); i++)
        kc_node_remove(spec, kc_cstr(names[i]));
    kc_node_remove(affinity, KC_STR("nodeAffinity"));
    if (affinity && !kc_node_len(affinity))
        kc_node_remove(spec, KC_STR("affinity"));
    kc_node_remove(metadata, KC_STR("labels"));
    kc_node_remove(metadata, KC_STR("annotations"));
}

static bool same_template(const kc_value *now, const kc_value *before, bool may_move)
{
    kc_auto(kc_edit) *x = kc_edit_of_value(now), *y = kc_edit_of_value(before);
    if (!may_move)
        return kc_value_equal(now, before, NULL);
    drop_directives(kc_edit_root(x));
    drop_directives(kc_edit_root(y));
    kc_auto(kc_view) *a = kc_edit_view(x, NULL), *b = kc_edit_view(y, NULL);
    return kc_value_equal(kc_view_root(a), kc_view_root(b), NULL);
}

static void check_template_update(const kc__location *spec, const kc_value *before, bool may_move)
{
    kc__location template = kc__location_member(spec, "template");
    if (same_template(template.value, kc_value_get(before, "template"), may_move))
        return;
    kc__location_error_json(&template, KC_FIELD_INVALID,
                            kc__internal_form_json("io.k8s.api.core.v1.PodTemplateSpec",
                                                   template.value, &spec->errors->arena),
                            "field is immutable");
}

/* completions of an Indexed Job may change only together with parallelism. */
static void check_completions(const kc__location *spec, const kc_value *before)
{
    kc__location completions = kc__location_member(spec, "completions");
    kc__location parallel = kc__location_member(spec, "parallelism");
    bool same = kc_value_equal(completions.value, kc_value_get(before, "completions"), NULL);
    if (!kc_str_is(kc__location_member_text(spec, "completionMode"), "Indexed"))
        kc__validate_same(&completions, kc_value_get(before, "completions"));
    else if (!same && completions.value &&
             kc__location_number(&completions) != kc__location_number(&parallel))
        kc__location_error(&completions, KC_FIELD_INVALID,
                           "can only be modified in tandem with spec.parallelism");
}

static void check_fixed(const kc__location *spec, const kc_value *before)
{
    static const struct {
        const char *name, *type; /* Type of fields that errors show in Kubernetes' internal form. */
    } fixed[] = {{"completionMode", NULL},
                 {"podFailurePolicy", "io.k8s.api.batch.v1.PodFailurePolicy"},
                 {"backoffLimitPerIndex", NULL},
                 {"managedBy", NULL},
                 {"successPolicy", "io.k8s.api.batch.v1.SuccessPolicy"}};
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__location member = kc__location_member(spec, fixed[i].name);
        const kc_value *old = kc_value_get(before, fixed[i].name);
        if (!fixed[i].type || !member.value)
            kc__validate_same(&member, old);
        else if (!kc_value_equal(member.value, old, NULL))
            kc__location_error_json(
                &member, KC_FIELD_INVALID,
                kc__internal_form_json(fixed[i].type, member.value, &spec->errors->arena),
                "field is immutable");
    }
}

static void validate_job_update(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location selector = kc__location_member(&spec, "selector");
    const kc_value *before = kc_value_get(old, "spec");
    validate_job(object, errors);
    kc__validate_job_spec(&spec);
    check_job_selector(&spec);
    check_completions(&spec, before);
    kc__validate_same(&selector, kc_value_get(before, "selector"));
    check_template_update(&spec, before, may_move(old));
    check_fixed(&spec, before);
}

/* The counters failed and succeeded must not decrease. */
static void validate_job_status(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors)
{
    static const char *const counts[] = {"active", "succeeded",   "failed",
                                         "ready",  "terminating", NULL};
    static const char *const growing[] = {"failed", "succeeded"};
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__location active = kc__location_member(&status, "active"),
                 ready = kc__location_member(&status, "ready");
    kc__validate_counts(&status, counts);
    if (ready.value && kc__location_number(&ready) > kc__location_number(&active))
        kc__location_error(&ready, KC_FIELD_INVALID, "cannot set more ready pods than active");
    for (size_t i = 0; i < KC_COUNT(growing); i++) {
        kc__location count = kc__location_member(&status, growing[i]);
        if (kc__location_number(&count) <
            kc_value_as_i64_or(kc_value_get(kc_value_get(old, "status"), growing[i]), 0))
            kc__location_error(&count, KC_FIELD_INVALID, "cannot decrease the %s counter",
                               growing[i]);
    }
}

static const kc_field_def selectable[] = {
    {.field = "status.successful", .path = "status.succeeded", .otherwise = "0"}};

const kc__strategy kc__strategy_job = {
    .generation = true,
    .orphans = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &job_defaults,
    .prepare = prepare_job,
    .validate = validate_job,
    .validate_update = validate_job_update,
    .validate_status = validate_job_status,
    .warn = kc__warnings_job,
    .warns_if_changed = "metadata.generation",
    .warns_of_name = "Pod names and hostnames",
};

/* ---- CronJob ---- */

static void check_schedule(const kc__location *schedule)
{
    char why[KC__CRON_ERROR];
    if (!kc__location_is_set(schedule))
        kc__location_error(schedule, KC_FIELD_REQUIRED, NULL);
    else if (kc_str_contains(kc__location_text(schedule), KC_STR("TZ")))
        kc__location_error(schedule, KC_FIELD_INVALID,
                           "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    else if (!kc__cron_check(kc__location_text(schedule), why))
        kc__location_error(schedule, KC_FIELD_INVALID, "%s", why);
}

static void check_job_template(const kc__location *template)
{
    static const char *const automatic[] = {"nil", "false", NULL};
    kc__location spec = kc__location_member(template, "spec"),
                 selector = kc__location_member(&spec, "selector");
    kc__location manual = kc__location_member(&spec, "manualSelector");
    kc__validate_job_spec(&spec);
    if (selector.value)
        kc__location_error(&selector, KC_FIELD_INVALID, "`selector` will be auto-generated");
    if (kc__location_is_set(&manual))
        kc__location_not_supported(&manual, automatic);
}

static const kc__validate_rule cron_[] = {
    {"schedule", .code = check_schedule},
    {"startingDeadlineSeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"concurrencyPolicy", .required = "", .one_of = concurrency},
    {"timeZone", .code = kc__validate_time_zone},
    {"jobTemplate", .code = check_job_template},
    {"successfulJobsHistoryLimit", .number = KC__VALIDATE_AT_LEAST_0},
    {"failedJobsHistoryLimit", .number = KC__VALIDATE_AT_LEAST_0},
};
static const kc__validate_rule_table cron_rules = KC__VALIDATE_RULES(cron_);
static const kc__validate_rule cron_job_[] = {{"spec", .of = &cron_rules}};
static const kc__validate_rule_table cron_job_rules = KC__VALIDATE_RULES(cron_job_);

/* The names of its Jobs are eleven characters longer. */
static void validate_cron_name(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 metadata = kc__location_member(&root, "metadata");
    kc__location name = kc__location_member(&metadata, "name");
    if (kc__location_text(&name).n > 52)
        kc__location_error(&name, KC_FIELD_INVALID, "must be no more than 52 characters");
}

const kc__strategy kc__strategy_cron_job = {
    .generation = true,
    .defaults = &cron_defaults,
    .rules = &cron_job_rules,
    .validate = validate_cron_name,
    .warn = kc__warnings_cron_job,
    .warns_if_changed = "metadata.generation",
    .warns_of_name = "Pod names and hostnames",
};
