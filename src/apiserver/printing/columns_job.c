/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_job.c: columns of Jobs and CronJobs.
 */
#include "apiserver/printing/columns_internal.h"

static void cell_status(kc_buf *out, kc__row *row)
{
    static const struct {
        const char *condition, *text;
    } first[] = {{"Complete", "Complete"}, {"Failed", "Failed"}},
      then[] = {{"Suspended", "Suspended"},
                {"FailureTarget", "FailureTarget"},
                {"SuccessCriteriaMet", "SuccessCriteriaMet"}};
    const kc_value *conditions = kc__row_at(row, "status.conditions");
    const char *text = NULL;
    for (size_t i = 0; i < KC_COUNT(first) && !text; i++)
        text = kc__condition_is_true(conditions, first[i].condition) ? first[i].text : NULL;
    if (!text && !kc_str_empty(kc_object_deletion_timestamp(row->object)))
        text = "Terminating";
    for (size_t i = 0; i < KC_COUNT(then) && !text; i++)
        text = kc__condition_is_true(conditions, then[i].condition) ? then[i].text : NULL;
    kc__cell_put_text(out, kc_cstr(text ? text : "Running"));
}

static void cell_completions(kc_buf *out, kc__row *row)
{
    long long done = kc_as_i64_or(kc__row_at(row, "status.succeeded"), 0);
    long long parallel = kc_as_i64_or(kc__row_at(row, "spec.parallelism"), 0);
    int64_t wanted;
    if (kc_as_i64(kc__row_at(row, "spec.completions"), &wanted))
        kc_buf_printf(out, "\"%lld/%lld\"", done, (long long)wanted);
    else if (parallel > 1)
        kc_buf_printf(out, "\"%lld/1 of %lld\"", done, parallel);
    else
        kc_buf_printf(out, "\"%lld/1\"", done);
}

/* From the start to the end, or until now. */
static void cell_duration(kc_buf *out, kc__row *row)
{
    kc_str start = kc_as_str(kc__row_at(row, "status.startTime"));
    kc_str end = kc_as_str(kc__row_at(row, "status.completionTime"));
    kc_time until = row->now;
    char text[KC_DURATION_TEXT];
    if (end.n && kc_time_parse(end, &until, NULL) < 0)
        until = row->now;
    kc__cell_put_text(out, start.n ? kc_time_age(start, until, text) : KC_STR(""));
}

static void cell_containers(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "spec.template.spec.containers"), "name", ",");
}

static void cell_images(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "spec.template.spec.containers"), "image", ",");
}

static void cell_selector(kc_buf *out, kc__row *row)
{
    kc__put_selector(out, kc__row_at(row, "spec.selector"));
}

static const kc__column job[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Status", cell_status, "How far it is."),
    KC__TEXT_COLUMN("Completions", cell_completions, "How many of its pods have succeeded."),
    KC__TEXT_COLUMN("Duration", cell_duration, "How long it has taken."),
    KC__AGE_COLUMN,
    KC__WIDE_COLUMN("Containers", cell_containers, "The names of the containers."),
    KC__WIDE_COLUMN("Images", cell_images, "The images of the containers."),
    KC__WIDE_COLUMN("Selector", cell_selector, "Which pods are its own."),
};
const kc__columns kc__job_columns = KC__COLUMNS(job);

/* ---- CronJob ---- */

static void cell_suspended(kc_buf *out, kc__row *row)
{
    const kc_value *suspend = kc__row_at(row, "spec.suspend");
    if (suspend)
        kc__cell_put_text(out, kc_as_bool(suspend, false) ? KC_STR("True") : KC_STR("False"));
    else
        kc__cell_put_text(out, KC_STR("<unset>"));
}

static void cell_last(kc_buf *out, kc__row *row)
{
    kc_str last = kc_as_str(kc__row_at(row, "status.lastScheduleTime"));
    if (last.n)
        kc__cell_put_since(out, row, last);
    else
        kc__cell_put_text(out, KC_STR("<none>"));
}

static void cell_cron_containers(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "spec.jobTemplate.spec.template.spec.containers"), "name",
                   ",");
}

static void cell_cron_images(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "spec.jobTemplate.spec.template.spec.containers"), "image",
                   ",");
}

static void cell_cron_selector(kc_buf *out, kc__row *row)
{
    kc__put_selector(out, kc__row_at(row, "spec.jobTemplate.spec.selector"));
}

static const kc__column cron_job[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Schedule", "spec.schedule", "", "When jobs are made, as cron writes it."),
    KC__PATH_COLUMN("Timezone", "spec.timeZone", "<none>", "Whose time the schedule is in."),
    {.name = "Suspend",
     .type = "boolean",
     .description = "Whether no more jobs are made.",
     .cell = cell_suspended},
    KC__COUNT_COLUMN("Active", "integer", "status.active", "How many of its jobs run."),
    KC__TEXT_COLUMN("Last Schedule", cell_last, "When a job was made last."),
    KC__AGE_COLUMN,
    KC__WIDE_COLUMN("Containers", cell_cron_containers, "The names of the containers."),
    KC__WIDE_COLUMN("Images", cell_cron_images, "The images of the containers."),
    KC__WIDE_COLUMN("Selector", cell_cron_selector, "Which pods are its own."),
};
const kc__columns kc__cron_job_columns = KC__COLUMNS(cron_job);
