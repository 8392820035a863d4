/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_job.c: columns of Jobs and CronJobs.
 */
#include "apiserver/printing/columns_internal.h"

static void job_cell_status(kc_buf *out, kc__print_row *row)
{
    static const struct {
        const char *condition, *text;
    } first[] = {{"Complete", "Complete"}, {"Failed", "Failed"}},
      then[] = {{"Suspended", "Suspended"},
                {"FailureTarget", "FailureTarget"},
                {"SuccessCriteriaMet", "SuccessCriteriaMet"}};
    const kc_value *conditions = kc__print_row_at(row, "status.conditions");
    const char *text = NULL;
    for (size_t i = 0; i < KC_COUNT(first) && !text; i++)
        text = kc__print_condition_is_true(conditions, first[i].condition) ? first[i].text : NULL;
    if (!text && !kc_str_empty(kc_object_deletion_timestamp(row->object)))
        text = "Terminating";
    for (size_t i = 0; i < KC_COUNT(then) && !text; i++)
        text = kc__print_condition_is_true(conditions, then[i].condition) ? then[i].text : NULL;
    kc__print_cell_put_text(out, kc_cstr(text ? text : "Running"));
}

static void cell_completions(kc_buf *out, kc__print_row *row)
{
    long long done = kc_value_as_i64_or(kc__print_row_at(row, "status.succeeded"), 0);
    long long parallel = kc_value_as_i64_or(kc__print_row_at(row, "spec.parallelism"), 0);
    int64_t wanted;
    if (kc_value_as_i64(kc__print_row_at(row, "spec.completions"), &wanted))
        kc_buf_printf(out, "\"%lld/%lld\"", done, (long long)wanted);
    else if (parallel > 1)
        kc_buf_printf(out, "\"%lld/1 of %lld\"", done, parallel);
    else
        kc_buf_printf(out, "\"%lld/1\"", done);
}

/* From start to completion, or until now. */
static void cell_duration(kc_buf *out, kc__print_row *row)
{
    kc_str start = kc_value_as_str(kc__print_row_at(row, "status.startTime"));
    kc_str end = kc_value_as_str(kc__print_row_at(row, "status.completionTime"));
    kc_time until = row->now;
    char text[KC_DURATION_TEXT];
    if (end.n && kc_time_parse(end, &until, NULL) < 0)
        until = row->now;
    kc__print_cell_put_text(out, start.n ? kc_time_age(start, until, text) : KC_STR(""));
}

static void job_cell_containers(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(out, kc__print_row_at(row, "spec.template.spec.containers"), "name",
                            ",");
}

static void job_cell_images(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(out, kc__print_row_at(row, "spec.template.spec.containers"), "image",
                            ",");
}

static void job_cell_selector(kc_buf *out, kc__print_row *row)
{
    kc__print_append_selector(out, kc__print_row_at(row, "spec.selector"));
}

static const kc__print_column job[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Status", job_cell_status, "Status of the job."),
    KC__PRINT_TEXT_COLUMN("Completions", cell_completions, "Number of succeeded pods of the job."),
    KC__PRINT_TEXT_COLUMN("Duration", cell_duration, "Time required to complete the job."),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_WIDE_COLUMN("Containers", job_cell_containers,
                          "Names of each container in the template."),
    KC__PRINT_WIDE_COLUMN("Images", job_cell_images,
                          "Images referenced by each container in the template."),
    KC__PRINT_WIDE_COLUMN("Selector", job_cell_selector, "Label selector of the pods."),
};
const kc__print_columns kc__print_job_columns = KC__PRINT_COLUMNS(job);

/* ---- CronJob ---- */

static void cell_suspended(kc_buf *out, kc__print_row *row)
{
    const kc_value *suspend = kc__print_row_at(row, "spec.suspend");
    if (suspend)
        kc__print_cell_put_text(out, kc_value_as_bool(suspend, false) ? KC_STR("True")
                                                                      : KC_STR("False"));
    else
        kc__print_cell_put_text(out, KC_STR("<unset>"));
}

static void cell_last(kc_buf *out, kc__print_row *row)
{
    kc_str last = kc_value_as_str(kc__print_row_at(row, "status.lastScheduleTime"));
    if (last.n)
        kc__print_cell_put_since(out, row, last);
    else
        kc__print_cell_put_text(out, KC_STR("<none>"));
}

static void cell_cron_containers(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(
        out, kc__print_row_at(row, "spec.jobTemplate.spec.template.spec.containers"), "name", ",");
}

static void cell_cron_images(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(
        out, kc__print_row_at(row, "spec.jobTemplate.spec.template.spec.containers"), "image", ",");
}

static void cell_cron_selector(kc_buf *out, kc__print_row *row)
{
    kc__print_append_selector(out, kc__print_row_at(row, "spec.jobTemplate.spec.selector"));
}

static const kc__print_column cron_job[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Schedule", "spec.schedule", "", "Schedule in cron format."),
    KC__PRINT_PATH_COLUMN("Timezone", "spec.timeZone", "<none>", "Time zone of the schedule."),
    {.name = "Suspend",
     .type = "boolean",
     .description = "Whether the schedule is suspended.",
     .cell = cell_suspended},
    KC__PRINT_COUNT_COLUMN("Active", "integer", "status.active", "Number of running jobs."),
    KC__PRINT_TEXT_COLUMN("Last Schedule", cell_last, "Time at which the last job was created."),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_WIDE_COLUMN("Containers", cell_cron_containers,
                          "Names of each container in the template."),
    KC__PRINT_WIDE_COLUMN("Images", cell_cron_images,
                          "Images referenced by each container in the template."),
    KC__PRINT_WIDE_COLUMN("Selector", cell_cron_selector, "Label selector of the pods."),
};
const kc__print_columns kc__print_cron_job_columns = KC__PRINT_COLUMNS(cron_job);
