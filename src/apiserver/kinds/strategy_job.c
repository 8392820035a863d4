/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_job.c: Jobs and CronJobs. The pods of a job are found by its uid, unless its client
 * brings a selector of its own: the server writes that into selector and template once the job has
 * a uid.
 */
#include "apiserver/kinds/cron.h"
#include "apiserver/kinds/strategy.h"
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

static const kc__default condition[] = {{.field = "status", .json = "\"True\""}};
static const kc__defaults condition_defaults = KC__DEFAULTS(condition);
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

static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
static const char *const replacements[] = {"Failed", "TerminatingOrFailed", NULL};
static const char *const concurrency[] = {"Allow", "Forbid", "Replace", NULL};
static const char *const ends[] = {"OnFailure", "Never", NULL};

static void check_index(const kc__place *spec)
{
    kc__place completions = kc__member(spec, "completions");
    kc__place per_index = kc__member(spec, "backoffLimitPerIndex");
    kc__place failed = kc__member(spec, "maxFailedIndexes");
    bool indexed = kc_str_is(kc__text_in(spec, "completionMode"), "Indexed");
    if (failed.value && !per_index.value)
        kc__wrong(&per_index, KC_FIELD_REQUIRED, "when maxFailedIndexes is specified");
    if (indexed && !completions.value)
        kc__wrong(&completions, KC_FIELD_REQUIRED, "when completion mode is Indexed");
    if (!indexed && per_index.value)
        kc__wrong(&per_index, KC_FIELD_INVALID, "requires indexed completion mode");
    if (!indexed && failed.value)
        kc__wrong(&failed, KC_FIELD_INVALID, "requires indexed completion mode");
}

/* A job comes to an end, so its pods do. */
static void check_template(const kc__place *template)
{
    kc__place spec = kc__member(template, "spec"), policy = kc__member(&spec, "restartPolicy");
    kc__check_pod_template(template);
    if (kc__text_is(&policy, "Always") || !kc__there(&policy))
        kc__wrong(&policy, KC_FIELD_REQUIRED, "valid values: \"OnFailure\", \"Never\"");
    else if (!kc__text_is(&policy, "OnFailure") && !kc__text_is(&policy, "Never"))
        kc__not_supported(&policy, ends);
}

static const kc__rule job_[] = {
    {"parallelism", .number = KC__AT_LEAST_0},
    {"completions", .number = KC__AT_LEAST_0},
    {"activeDeadlineSeconds", .number = KC__AT_LEAST_0},
    {"backoffLimit", .number = KC__AT_LEAST_0},
    {"ttlSecondsAfterFinished", .number = KC__AT_LEAST_0},
    {"backoffLimitPerIndex", .number = KC__AT_LEAST_0},
    {"maxFailedIndexes", .number = KC__AT_LEAST_0},
    {"completionMode", .one_of = modes},
    {.code = check_index},
    {"podReplacementPolicy", .one_of = replacements},
    {"template", .code = check_template},
};
static const kc__rules job_rules = KC__RULES(job_);

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

static void validate(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    check_generated(&root);
    check_generated_selector(&root);
    kc__rules_check(&job_rules, &spec);
    check_selector(&spec);
}

/* A suspended job that never ran may still be told where to run; here only its template stays. */
static bool may_move(const kc_value *old)
{
    return kc_as_bool(kc_get(kc_get(old, "spec"), "suspend"), false) &&
           !kc_get(kc_get(old, "status"), "startTime");
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    static const char *const fixed[] = {"selector",      "podFailurePolicy",     "completionMode",
                                        "successPolicy", "backoffLimitPerIndex", "managedBy"};
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place template = kc__member(&spec, "template"),
              completions = kc__member(&spec, "completions");
    const kc_value *before = kc_get(old, "spec");
    bool indexed = kc_str_is(kc__text_in(&spec, "completionMode"), "Indexed");
    kc__rules_check(&job_rules, &spec);
    check_selector(&spec);
    bool elastic =
        indexed && kc_value_equal(kc_get(spec.value, "parallelism"), completions.value, NULL);
    if (!elastic)
        kc__check_same(&completions, kc_get(before, "completions"));
    for (size_t i = 0; i < KC_COUNT(fixed); i++) {
        kc__place member = kc__member(&spec, fixed[i]);
        kc__check_same(&member, kc_get(before, fixed[i]));
        if (i == 0 && !may_move(old) &&
            !kc_value_equal(template.value, kc_get(before, "template"), NULL))
            kc__wrong(&template, KC_FIELD_INVALID, "field is immutable");
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
};

/* ---- CronJob ---- */

static void check_schedule(const kc__place *schedule)
{
    char why[KC__CRON_ERROR];
    if (!kc__there(schedule))
        kc__wrong(schedule, KC_FIELD_REQUIRED, NULL);
    else if (!kc__cron_check(kc__text(schedule), why))
        kc__wrong(schedule, KC_FIELD_INVALID, "%s", why);
}

static void check_job_template(const kc__place *template)
{
    kc__place spec = kc__member(template, "spec"), selector = kc__member(&spec, "selector");
    kc__rules_check(&job_rules, &spec);
    if (selector.value)
        kc__wrong(&selector, KC_FIELD_INVALID, "`selector` will be auto-generated");
}

static const kc__rule cron_[] = {
    {"schedule", .code = check_schedule},
    {"startingDeadlineSeconds", .number = KC__AT_LEAST_0},
    {"concurrencyPolicy", .required = "", .one_of = concurrency},
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
