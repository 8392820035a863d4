/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_pod.c: columns of Pods. The state of a pod is spread over many fields: its phase, why its
 * containers wait or ended, the progress of its initialization. One walk collects it (`summary`),
 * and the cells show parts of it.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/map.h"
#include "kc/vec.h"

#include <stdio.h>

typedef struct summary {
    int64_t ready, total, restarts;
    kc_str last_restart; /* A timestamp; empty: none known. */
    char reason[256];
} summary;

static void set_reason(summary *s, const char *prefix, kc_str reason)
{
    snprintf(s->reason, sizeof(s->reason), "%s%.*s", prefix, KC_ARG(reason));
}

/* "Signal:9", "ExitCode:1", or the given reason. */
static void set_end(summary *s, const char *prefix, const kc_value *terminated)
{
    kc_str reason = kc_value_as_str(kc_value_get(terminated, "reason"));
    int64_t signal = kc_value_as_i64_or(kc_value_get(terminated, "signal"), 0);
    if (reason.n)
        set_reason(s, prefix, reason);
    else if (signal)
        snprintf(s->reason, sizeof(s->reason), "%sSignal:%lld", prefix, (long long)signal);
    else
        snprintf(s->reason, sizeof(s->reason), "%sExitCode:%lld", prefix,
                 (long long)kc_value_as_i64_or(kc_value_get(terminated, "exitCode"), 0));
}

/* Timestamps of the same format are compared as text. */
static void count_restarts(const kc_value *status, int64_t *restarts, kc_str *last)
{
    const kc_value *ended = kc_value_get(kc_value_get(status, "lastState"), "terminated");
    kc_str at = kc_value_as_str(kc_value_get(ended, "finishedAt"));
    *restarts += kc_value_as_i64_or(kc_value_get(status, "restartCount"), 0);
    if (at.n && kc_str_cmp(at, *last) > 0)
        *last = at;
}

static bool runs_on(const kc_value *container)
{
    return kc_str_is(kc_value_as_str(kc_value_get(container, "restartPolicy")), "Always");
}

/* ---- initialization ---- */

typedef struct initialization {
    kc_map containers;
    size_t n;
    int64_t restarts; /* Restarts of sidecar containers. */
    kc_str last_restart;
    bool under_way;
} initialization;

/* Whether this container is done (a sidecar: started), so that the next one is examined. */
static bool summarize_init(summary *s, initialization *init, const kc_value *status, size_t index)
{
    const kc_value *state = kc_value_get(status, "state"),
                   *ended = kc_value_get(state, "terminated");
    const kc_value *waiting = kc_value_get(state, "waiting");
    kc_str why = kc_value_as_str(kc_value_get(waiting, "reason"));
    bool on = runs_on(kc_map_get(&init->containers, kc_value_as_str(kc_value_get(status, "name"))));
    count_restarts(status, &s->restarts, &s->last_restart);
    if (on)
        count_restarts(status, &init->restarts, &init->last_restart);
    if (ended && kc_value_as_i64_or(kc_value_get(ended, "exitCode"), 0) == 0)
        return true;
    if (on && kc_value_as_bool(kc_value_get(status, "started"), false)) {
        s->ready += kc_value_as_bool(kc_value_get(status, "ready"), false);
        return true;
    }
    if (ended)
        set_end(s, "Init:", ended);
    else if (why.n && !kc_str_is(why, "PodInitializing"))
        set_reason(s, "Init:", why);
    else
        snprintf(s->reason, sizeof(s->reason), "Init:%zu/%zu", index, init->n);
    init->under_way = true;
    return false;
}

static void summarize_inits(summary *s, initialization *init, const kc_value *spec,
                            const kc_value *status)
{
    size_t i = 0;
    kc_value_each_item (kc_value_get(spec, "initContainers"), container) {
        kc_map_put(&init->containers, kc_value_as_str(kc_value_get(container, "name")),
                   (void *)container);
        s->total += runs_on(container);
        init->n++;
    }
    kc_value_each_item (kc_value_get(status, "initContainerStatuses"), one)
        if (!summarize_init(s, init, one, i++))
            break;
}

/* ---- containers ---- */

static bool summarize_container(summary *s, const kc_value *status)
{
    const kc_value *state = kc_value_get(status, "state"),
                   *ended = kc_value_get(state, "terminated");
    kc_str why = kc_value_as_str(kc_value_get(kc_value_get(state, "waiting"), "reason"));
    count_restarts(status, &s->restarts, &s->last_restart);
    if (why.n)
        set_reason(s, "", why);
    else if (ended)
        set_end(s, "", ended);
    else if (kc_value_as_bool(kc_value_get(status, "ready"), false) &&
             kc_value_get(state, "running")) {
        s->ready++;
        return true;
    }
    return false;
}

/* From last to first, so that the first container's problem wins. */
static void summarize_containers(summary *s, const kc_value *status)
{
    const kc_value *list = kc_value_get(status, "containerStatuses");
    KC_VEC(const kc_value *) all = {0};
    bool running = false;
    kc_value_each_item (list, item)
        kc_vec_push(&all, item);
    for (size_t i = all.n; i-- > 0;)
        running |= summarize_container(s, all.items[i]);
    kc_vec_done(&all);
    if (running && !strcmp(s->reason, "Completed"))
        set_reason(s, "",
                   kc__print_condition_is_true(kc_value_get(status, "conditions"), "Ready")
                       ? KC_STR("Running")
                       : KC_STR("NotReady"));
}

/* ---- summary and cells ---- */

static void start_reason(summary *s, const kc_value *status)
{
    kc_str reason = kc_value_as_str(kc_value_get(status, "reason"));
    set_reason(s, "", reason.n ? reason : kc_value_as_str(kc_value_get(status, "phase")));
    kc_value_each_item (kc_value_get(status, "conditions"), item)
        if (kc_str_is(kc_value_as_str(kc_value_get(item, "type")), "PodScheduled") &&
            kc_str_is(kc_value_as_str(kc_value_get(item, "reason")), "SchedulingGated"))
            set_reason(s, "", KC_STR("SchedulingGated"));
}

static void end_reason(summary *s, kc__print_row *row, const kc_value *status)
{
    kc_str phase = kc_value_as_str(kc_value_get(status, "phase"));
    bool over = kc_str_is(phase, "Failed") || kc_str_is(phase, "Succeeded");
    if (kc_str_empty(kc_object_deletion_timestamp(row->object)))
        return;
    if (kc_str_is(kc_value_as_str(kc_value_get(status, "reason")), "NodeLost"))
        set_reason(s, "", KC_STR("Unknown"));
    else if (!over)
        set_reason(s, "", KC_STR("Terminating"));
}

static summary summarize(kc__print_row *row)
{
    const kc_value *spec = kc__print_row_at(row, "spec"), *status = kc__print_row_at(row, "status");
    summary s = {.total = (int64_t)kc_value_len(kc_value_get(spec, "containers"))};
    initialization init = {0};
    start_reason(&s, status);
    summarize_inits(&s, &init, spec, status);
    if (!init.under_way ||
        kc__print_condition_is_true(kc_value_get(status, "conditions"), "Initialized")) {
        s.restarts = init.restarts;
        s.last_restart = init.last_restart;
        summarize_containers(&s, status);
    }
    end_reason(&s, row, status);
    kc_map_done(&init.containers);
    return s;
}

static void cell_ready(kc_buf *out, kc__print_row *row)
{
    summary s = summarize(row);
    kc_buf_printf(out, "\"%lld/%lld\"", (long long)s.ready, (long long)s.total);
}

static void pod_cell_status(kc_buf *out, kc__print_row *row)
{
    summary s = summarize(row);
    kc__print_cell_put_text(out, kc_cstr(s.reason));
}

static void cell_restarts(kc_buf *out, kc__print_row *row)
{
    char age[KC_DURATION_TEXT];
    summary s = summarize(row);
    if (s.restarts && s.last_restart.n) {
        kc_str since = kc_time_age(s.last_restart, row->now, age);
        kc_buf_printf(out, "\"%lld (%.*s ago)\"", (long long)s.restarts, KC_ARG(since));
    } else {
        kc_buf_printf(out, "\"%lld\"", (long long)s.restarts);
    }
}

static void cell_ip(kc_buf *out, kc__print_row *row)
{
    kc_str ip =
        kc_value_as_str(kc_value_get(kc_value_at(kc__print_row_at(row, "status.podIPs"), 0), "ip"));
    kc__print_cell_put_text(out, ip.n ? ip : KC_STR("<none>"));
}

static void cell_gates(kc_buf *out, kc__print_row *row)
{
    const kc_value *gates = kc__print_row_at(row, "spec.readinessGates");
    const kc_value *conditions = kc__print_row_at(row, "status.conditions");
    kc_scoped(kc_map) open = {0};
    int64_t n = 0;
    kc_value_each_item (conditions, item)
        if (kc_str_is(kc_value_as_str(kc_value_get(item, "status")), "True"))
            kc_map_put(&open, kc_value_as_str(kc_value_get(item, "type")), (void *)item);
    kc_value_each_item (gates, gate)
        n += kc_map_get(&open, kc_value_as_str(kc_value_get(gate, "conditionType"))) != NULL;
    if (kc_value_len(gates))
        kc_buf_printf(out, "\"%lld/%zu\"", (long long)n, kc_value_len(gates));
    else
        kc__print_cell_put_text(out, KC_STR("<none>"));
}

/* Clients that show one object may stop when it is completed. */
static void conditions(kc_buf *out, kc__print_row *row)
{
    static const char form[] = "[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"%s\","
                               "\"message\":\"%s\"}]";
    kc_str phase = kc_value_as_str(kc__print_row_at(row, "status.phase"));
    if (kc_str_is(phase, "Succeeded"))
        kc_buf_printf(out, form, "Succeeded", "The pod has completed successfully.");
    else if (kc_str_is(phase, "Failed"))
        kc_buf_printf(out, form, "Failed", "The pod failed.");
}

static const kc__print_column pod[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Ready", cell_ready,
                          "The aggregate readiness state of this pod for accepting traffic."),
    KC__PRINT_TEXT_COLUMN("Status", pod_cell_status,
                          "The aggregate status of the containers in this pod."),
    KC__PRINT_TEXT_COLUMN(
        "Restarts", cell_restarts,
        "The number of times the containers in this pod have been restarted and when the last "
        "container in this pod has restarted."),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_WIDE_COLUMN("IP", cell_ip, "IP address of the pod."),
    KC__PRINT_WIDE_PATH_COLUMN("Node", "spec.nodeName", "<none>",
                               "Node to which the pod is assigned."),
    KC__PRINT_WIDE_PATH_COLUMN("Nominated Node", "status.nominatedNodeName", "<none>",
                               "Node on which other pods are preempted for this pod."),
    KC__PRINT_WIDE_COLUMN("Readiness Gates", cell_gates,
                          "Number of readiness gates whose conditions are true."),
};
const kc__print_columns kc__print_pod_columns = {
    .list = pod, .n = KC_COUNT(pod), .conditions = conditions};

/* ---- PodTemplate ---- */

static void pod_cell_containers(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(out, kc__print_row_at(row, "template.spec.containers"), "name", ",");
}

static void pod_cell_images(kc_buf *out, kc__print_row *row)
{
    kc__print_append_joined(out, kc__print_row_at(row, "template.spec.containers"), "image", ",");
}

static void cell_labels(kc_buf *out, kc__print_row *row)
{
    kc__print_append_labels(out, kc__print_row_at(row, "template.metadata.labels"));
}

static const kc__print_column pod_template[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Containers", pod_cell_containers,
                          "Names of each container in the template."),
    KC__PRINT_TEXT_COLUMN("Images", pod_cell_images,
                          "Images referenced by each container in the template."),
    KC__PRINT_TEXT_COLUMN("Pod Labels", cell_labels, "The labels for the pod template."),
};
const kc__print_columns kc__print_pod_template_columns = KC__PRINT_COLUMNS(pod_template);
