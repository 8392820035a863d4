/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_job.c: Jobs and CronJobs. The pods of a job are found by its uid, unless its client
 * brings a selector of its own: the server writes that into selector and template once the job has
 * a uid.
 */
#include "apiserver/kinds/cron.h"
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/job_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "apiserver/kinds/workload_rules.h"
#include "kc/diff.h"
#include "kc/selector.h"

#define UID_LABEL  "batch.kubernetes.io/controller-uid"
#define NAME_LABEL "batch.kubernetes.io/job-name"

/* ---- defaults ---- */

static void complete_spec(kc_edit *edit, kc_node *spec)
{
    bool failures = !kc__node_absent(spec, "podFailurePolicy");
    if (kc__node_absent(spec, "parallelism"))
        kc__default_set(edit, spec, "completions", "1");
    kc__default_set(edit, spec, "parallelism", "1");
    kc__default_set(edit, spec, "backoffLimit",
                    kc__node_absent(spec, "backoffLimitPerIndex") ? "6" : "2147483647");
    kc__default_set(edit, spec, "podReplacementPolicy",
                    failures ? "\"Failed\"" : "\"TerminatingOrFailed\"");
}

/* Always there once it has its type, but for its text. */
static void expect_true(kc_edit *edit, kc_node *condition)
{
    if (kc_str_empty(kc__node_text(condition, "status")))
        kc_node_set(edit, condition, KC_STR("status"), kc_node_str(edit, KC_STR("True")));
}
static const kc__defaults condition_defaults = {.code = expect_true};
static const kc__default failure_rule[] = {{.field = "onPodConditions", .of = &condition_defaults}};
static const kc__defaults failure_rule_defaults = KC__DEFAULTS(failure_rule);
static const kc__default failure_policy[] = {{.field = "rules", .of = &failure_rule_defaults}};
static const kc__defaults failure_policy_defaults = KC__DEFAULTS(failure_policy);

static const kc__default job_spec[] = {
    {.field = "completionMode", .json = "\"NonIndexed\""},
    {.field = "suspend", .json = "false"},
    {.field = "manualSelector", .json = "false"},
    {.field = "podFailurePolicy", .of = &failure_policy_defaults},
    {.field = "template", .of = &kc__pod_template_defaults},
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

static const kc__default job[] = {{.field = "spec", .of = &job_spec_defaults}};
static const kc__defaults job_defaults = {.list = job, .n = KC_COUNT(job), .code = copy_labels};

/* The spec of a CronJob's job gets only what stands at its fields: a Job is made of it later. */
static const kc__default cron_job_spec_[] = {
    {.field = "podFailurePolicy", .of = &failure_policy_defaults},
    {.field = "template", .of = &kc__pod_template_defaults},
};
static const kc__defaults cron_job_spec = KC__DEFAULTS(cron_job_spec_);
static const kc__default job_template[] = {{.field = "spec", .of = &cron_job_spec}};
static const kc__defaults job_template_defaults = KC__DEFAULTS(job_template);
static const kc__default cron_spec[] = {
    {.field = "concurrencyPolicy", .json = "\"Allow\""},
    {.field = "suspend", .json = "false"},
    {.field = "jobTemplate", .of = &job_template_defaults},
    {.field = "successfulJobsHistoryLimit", .json = "3"},
    {.field = "failedJobsHistoryLimit", .json = "1"},
};
static const kc__defaults cron_spec_defaults = KC__DEFAULTS(cron_spec);
static const kc__default cron[] = {{.field = "spec", .of = &cron_spec_defaults}};
static const kc__defaults cron_defaults = KC__DEFAULTS(cron);

/* ---- the selector ---- */

static void set_if_absent(kc_edit *edit, kc_node *object, const char *name, kc_str text)
{
    if (kc__node_absent(object, name))
        kc_node_set(edit, object, kc_cstr(name), kc_node_str(edit, text));
}

static bool same_labels(const kc_node *a, const kc_node *b)
{
    bool same = kc_node_len(a) == kc_node_len(b);
    kc_node_members (a, name, value)
        same = same && kc_str_eq(kc_node_as_str(value), kc_node_as_str(kc_node_get(b, name)));
    return same;
}

/* A job without labels of its own has those of its template, these included. */
static void prepare(kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit), *metadata = kc_node_get(root, KC_STR("metadata"));
    kc_node *spec = kc_node_get(root, KC_STR("spec"));
    kc_node *template = kc_node_need_object(edit, spec, KC_STR("template"));
    kc_str uid = kc__node_text(metadata, "uid"), name = kc__node_text(metadata, "name");
    if (kc_node_as_bool(kc_node_get(spec, KC_STR("manualSelector")), false))
        return;
    kc_node *labels = kc_node_need_object(
        edit, kc_node_need_object(edit, template, KC_STR("metadata")), KC_STR("labels"));
    bool same = same_labels(kc_node_get(metadata, KC_STR("labels")), labels);
    set_if_absent(edit, labels, "job-name", name);
    set_if_absent(edit, labels, NAME_LABEL, name);
    set_if_absent(edit, labels, "controller-uid", uid);
    set_if_absent(edit, labels, UID_LABEL, uid);
    if (same)
        kc_node_set(edit, metadata, KC_STR("labels"), kc_node_clone(edit, labels));
    kc_node *selector = kc_node_need_object(edit, spec, KC_STR("selector"));
    set_if_absent(edit, kc_node_need_object(edit, selector, KC_STR("matchLabels")), UID_LABEL, uid);
}

/* Labels that somebody else wrote are not overwritten, and do not fit. */
static void check_generated(const kc__place *root)
{
    static const char *const labels[][2] = {
        {"controller-uid", "uid"}, {"job-name", "name"}, {UID_LABEL, "uid"}, {NAME_LABEL, "name"}};
    kc__place spec = kc__member(root, "spec"), template = kc__member(&spec, "template");
    kc__place metadata = kc__member(&template, "metadata"), own = kc__member(&metadata, "labels");
    const kc_value *job_metadata = kc_get(root->value, "metadata");
    if (kc__true_in(&spec, "manualSelector"))
        return;
    for (size_t i = 0; i < KC_COUNT(labels); i++) {
        kc_str expected = kc_as_str(kc_get(job_metadata, labels[i][1]));
        kc__place label = kc__entry(&own, kc_cstr(labels[i][0]), kc_get(own.value, labels[i][0]));
        if (!label.value) {
            kc__place named = kc__entry(&metadata, kc_cstr(labels[i][0]), NULL);
            kc__wrong(&named, KC_FIELD_REQUIRED, "must be '%.*s'", KC_ARG(expected));
        } else if (!kc_str_eq(kc__text(&label), expected)) {
            kc__wrong(&label, KC_FIELD_INVALID, "must be '%.*s'", KC_ARG(expected));
        }
    }
}

/* The selector selects nothing but what was written. */
static void check_generated_selector(const kc__place *root)
{
    kc__place spec = kc__member(root, "spec"), selector = kc__member(&spec, "selector");
    const kc_value *metadata = kc_get(root->value, "metadata");
    kc_str uid = kc_as_str(kc_get(metadata, "uid")), name = kc_as_str(kc_get(metadata, "name"));
    const kc_label labels[] = {{KC_STR_INIT(UID_LABEL), uid},
                               {KC_STR_INIT(NAME_LABEL), name},
                               {KC_STR_INIT("controller-uid"), uid},
                               {KC_STR_INIT("job-name"), name}};
    kc_auto(kc_selector) *parsed = kc_selector_of(selector.value, NULL);
    if (kc__true_in(&spec, "manualSelector") || !selector.value || !parsed)
        return;
    if (!kc_selector_match_labels(parsed, labels, KC_COUNT(labels)))
        kc__wrong(&selector, KC_FIELD_INVALID, "`selector` not auto-generated");
}

/* ---- specs ---- */

static const char *const concurrency[] = {"Allow", "Forbid", "Replace", NULL};

static void check_selector(const kc__place *spec)
{
    kc__place selector = kc__member(spec, "selector");
    kc_field_errors *errors = spec->errors;
    size_t before = errors->list.n;
    if (selector.value)
        kc__check_selector(&selector);
    else
        kc__wrong(&selector, KC_FIELD_REQUIRED, NULL);
    if (errors->list.n == before || !selector.value)
        kc__check_selector_matches(spec, "");
}

/* Pods of an Indexed job are named after it and their index, which must be a name of a host. */
static void check_host_names(const kc__place *root)
{
    kc__place metadata = kc__member(root, "metadata"), name = kc__member(&metadata, "name");
    kc__place spec = kc__member(root, "spec"), completions = kc__member(&spec, "completions");
    if (!kc_str_is(kc__text_in(&spec, "completionMode"), "Indexed") || kc__number(&completions) < 1)
        return;
    const char *last = kc_arena_printf(&root->errors->arena, "%.*s-%lld", KC_ARG(kc__text(&name)),
                                       (long long)kc__number(&completions) - 1);
    if (!kc_name_valid(KC_NAME_DNS_LABEL, kc_cstr(last)))
        kc__wrong(&name, KC_FIELD_INVALID, "will not able to create pod with invalid DNS label: %s",
                  last);
}

static void validate(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    check_generated(&root);
    check_generated_selector(&root);
    kc__check_job_spec(&spec);
    check_selector(&spec);
    check_host_names(&root);
}

/* ---- updates ---- */

/* A suspended job that never ran may still be told where to run. */
static bool may_move(const kc_value *old)
{
    return kc_as_bool(kc_get(kc_get(old, "spec"), "suspend"), false) &&
           !kc_get(kc_get(old, "status"), "startTime");
}

/* Takes out what says where it runs. */
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

static void check_template_update(const kc__place *spec, const kc_value *before, bool may_move)
{
    kc__place template = kc__member(spec, "template");
    if (same_template(template.value, kc_get(before, "template"), may_move))
        return;
    kc__wrong_as(
        &template, KC_FIELD_INVALID,
        kc__inner_json("io.k8s.api.core.v1.PodTemplateSpec", template.value, &spec->errors->arena),
        "field is immutable");
}

/* Those of an Indexed job change together with how many run at once. */
static void check_completions(const kc__place *spec, const kc_value *before)
{
    kc__place completions = kc__member(spec, "completions");
    kc__place parallel = kc__member(spec, "parallelism");
    bool same = kc_value_equal(completions.value, kc_get(before, "completions"), NULL);
    if (!kc_str_is(kc__text_in(spec, "completionMode"), "Indexed"))
        kc__check_same(&completions, kc_get(before, "completions"));
    else if (!same && completions.value && kc__number(&completions) != kc__number(&parallel))
        kc__wrong(&completions, KC_FIELD_INVALID,
                  "can only be modified in tandem with spec.parallelism");
}

static void check_fixed(const kc__place *spec, const kc_value *before)
{
    static const struct {
        const char *name, *type; /* The type of those that are shown as Kubernetes has them. */
    } fixed[] = {{"completionMode", NULL},
                 {"podFailurePolicy", "io.k8s.api.batch.v1.PodFailurePolicy"},
                 {"backoffLimitPerIndex", NULL},
                 {"managedBy", NULL},
                 {"successPolicy", "io.k8s.api.batch.v1.SuccessPolicy"}};
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__place member = kc__member(spec, fixed[i].name);
        const kc_value *old = kc_get(before, fixed[i].name);
        if (!fixed[i].type || !member.value)
            kc__check_same(&member, old);
        else if (!kc_value_equal(member.value, old, NULL))
            kc__wrong_as(&member, KC_FIELD_INVALID,
                         kc__inner_json(fixed[i].type, member.value, &spec->errors->arena),
                         "field is immutable");
    }
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place selector = kc__member(&spec, "selector");
    const kc_value *before = kc_get(old, "spec");
    validate(object, errors);
    kc__check_job_spec(&spec);
    check_selector(&spec);
    check_completions(&spec, before);
    kc__check_same(&selector, kc_get(before, "selector"));
    check_template_update(&spec, before, may_move(old));
    check_fixed(&spec, before);
}

/* What was counted is not taken back. */
static void validate_status(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    static const char *const counts[] = {"active", "succeeded",   "failed",
                                         "ready",  "terminating", NULL};
    static const char *const growing[] = {"failed", "succeeded"};
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    kc__place active = kc__member(&status, "active"), ready = kc__member(&status, "ready");
    kc__check_counts(&status, counts);
    if (ready.value && kc__number(&ready) > kc__number(&active))
        kc__wrong(&ready, KC_FIELD_INVALID, "cannot set more ready pods than active");
    for (size_t i = 0; i < KC_COUNT(growing); i++) {
        kc__place count = kc__member(&status, growing[i]);
        if (kc__number(&count) < kc_as_i64_or(kc_get(kc_get(old, "status"), growing[i]), 0))
            kc__wrong(&count, KC_FIELD_INVALID, "cannot decrease the %s counter", growing[i]);
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
    .prepare = prepare,
    .validate = validate,
    .validate_update = validate_update,
    .validate_status = validate_status,
    .warn = kc__template_warnings,
};

/* ---- CronJob ---- */

static void check_schedule(const kc__place *schedule)
{
    char why[KC__CRON_ERROR];
    if (!kc__there(schedule))
        kc__wrong(schedule, KC_FIELD_REQUIRED, NULL);
    else if (kc_str_contains(kc__text(schedule), KC_STR("TZ")))
        kc__wrong(schedule, KC_FIELD_INVALID,
                  "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    else if (!kc__cron_check(kc__text(schedule), why))
        kc__wrong(schedule, KC_FIELD_INVALID, "%s", why);
}

static void check_job_template(const kc__place *template)
{
    static const char *const automatic[] = {"nil", "false", NULL};
    kc__place spec = kc__member(template, "spec"), selector = kc__member(&spec, "selector");
    kc__place manual = kc__member(&spec, "manualSelector");
    kc__check_job_spec(&spec);
    if (selector.value)
        kc__wrong(&selector, KC_FIELD_INVALID, "`selector` will be auto-generated");
    if (kc__there(&manual))
        kc__not_supported(&manual, automatic);
}

static const kc__rule cron_[] = {
    {"schedule", .code = check_schedule},
    {"startingDeadlineSeconds", .number = KC__AT_LEAST_0},
    {"concurrencyPolicy", .required = "", .one_of = concurrency},
    {"timeZone", .code = kc__check_time_zone},
    {"jobTemplate", .code = check_job_template},
    {"successfulJobsHistoryLimit", .number = KC__AT_LEAST_0},
    {"failedJobsHistoryLimit", .number = KC__AT_LEAST_0},
};
static const kc__rules cron_rules = KC__RULES(cron_);
static const kc__rule cron_job_[] = {{"spec", .of = &cron_rules}};
static const kc__rules cron_job_rules = KC__RULES(cron_job_);

/* The names of its jobs are longer by eleven. */
static void validate_cron_name(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), metadata = kc__member(&root, "metadata");
    kc__place name = kc__member(&metadata, "name");
    if (kc__text(&name).n > 52)
        kc__wrong(&name, KC_FIELD_INVALID, "must be no more than 52 characters");
}

const kc__strategy kc__strategy_cron_job = {
    .generation = true,
    .defaults = &cron_defaults,
    .rules = &cron_job_rules,
    .validate = validate_cron_name,
};
