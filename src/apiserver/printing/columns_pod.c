/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_pod.c: columns of Pods. What a pod is doing is told in many places: its phase, why its
 * containers wait or ended, how far its initialization is. One walk gathers it (`summary`), and
 * cells show parts of that.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/map.h"
#include "kc/vec.h"

#include <stdio.h>

typedef struct summary {
    int64_t ready, total, restarts;
    kc_str last_restart; /* A time; empty: none known. */
    char reason[256];
} summary;

static void set_reason(summary *s, const char *prefix, kc_str reason)
{
    snprintf(s->reason, sizeof(s->reason), "%s%.*s", prefix, KC_ARG(reason));
}

/* "Signal:9", "ExitCode:1", or the reason that was given. */
static void set_end(summary *s, const char *prefix, const kc_value *terminated)
{
    kc_str reason = kc_as_str(kc_get(terminated, "reason"));
    int64_t signal = kc_as_i64_or(kc_get(terminated, "signal"), 0);
    if (reason.n)
        set_reason(s, prefix, reason);
    else if (signal)
        snprintf(s->reason, sizeof(s->reason), "%sSignal:%lld", prefix, (long long)signal);
    else
        snprintf(s->reason, sizeof(s->reason), "%sExitCode:%lld", prefix,
                 (long long)kc_as_i64_or(kc_get(terminated, "exitCode"), 0));
}

/* Times of one form are ordered as text. */
static void count_restarts(const kc_value *status, int64_t *restarts, kc_str *last)
{
    const kc_value *ended = kc_get(kc_get(status, "lastState"), "terminated");
    kc_str at = kc_as_str(kc_get(ended, "finishedAt"));
    *restarts += kc_as_i64_or(kc_get(status, "restartCount"), 0);
    if (at.n && kc_str_cmp(at, *last) > 0)
        *last = at;
}

static bool runs_on(const kc_value *container)
{
    return kc_str_is(kc_as_str(kc_get(container, "restartPolicy")), "Always");
}

/* ---- initialization ---- */

typedef struct initialization {
    kc_map containers;
    size_t n;
    int64_t restarts; /* Of those that run on. */
    kc_str last_restart;
    bool under_way;
} initialization;

/* Whether this one is done, so that one looks at the next. */
static bool look_at_init(summary *s, initialization *init, const kc_value *status, size_t index)
{
    const kc_value *state = kc_get(status, "state"), *ended = kc_get(state, "terminated");
    const kc_value *waiting = kc_get(state, "waiting");
    kc_str why = kc_as_str(kc_get(waiting, "reason"));
    bool on = runs_on(kc_map_get(&init->containers, kc_as_str(kc_get(status, "name"))));
    count_restarts(status, &s->restarts, &s->last_restart);
    if (on)
        count_restarts(status, &init->restarts, &init->last_restart);
    if (ended && kc_as_i64_or(kc_get(ended, "exitCode"), 0) == 0)
        return true;
    if (on && kc_as_bool(kc_get(status, "started"), false)) {
        s->ready += kc_as_bool(kc_get(status, "ready"), false);
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

static void look_at_inits(summary *s, initialization *init, const kc_value *spec,
                          const kc_value *status)
{
    size_t i = 0;
    kc_items (kc_get(spec, "initContainers"), container) {
        kc_map_put(&init->containers, kc_as_str(kc_get(container, "name")), (void *)container);
        s->total += runs_on(container);
        init->n++;
    }
    kc_items (kc_get(status, "initContainerStatuses"), one)
        if (!look_at_init(s, init, one, i++))
            break;
}

/* ---- containers ---- */

static bool look_at_container(summary *s, const kc_value *status)
{
    const kc_value *state = kc_get(status, "state"), *ended = kc_get(state, "terminated");
    kc_str why = kc_as_str(kc_get(kc_get(state, "waiting"), "reason"));
    count_restarts(status, &s->restarts, &s->last_restart);
    if (why.n)
        set_reason(s, "", why);
    else if (ended)
        set_end(s, "", ended);
    else if (kc_as_bool(kc_get(status, "ready"), false) && kc_get(state, "running")) {
        s->ready++;
        return true;
    }
    return false;
}

/* From the last to the first, so that the first one's trouble is told. */
static void look_at_containers(summary *s, const kc_value *status)
{
    const kc_value *list = kc_get(status, "containerStatuses");
    KC_VEC(const kc_value *) all = {0};
    bool running = false;
    kc_items (list, item)
        kc_vec_push(&all, item);
    for (size_t i = all.n; i-- > 0;)
        running |= look_at_container(s, all.items[i]);
    kc_vec_done(&all);
    if (running && !strcmp(s->reason, "Completed"))
        set_reason(s, "",
                   kc__condition_is_true(kc_get(status, "conditions"), "Ready")
                       ? KC_STR("Running")
                       : KC_STR("NotReady"));
}

/* ---- the whole ---- */

static void start_reason(summary *s, const kc_value *status)
{
    kc_str reason = kc_as_str(kc_get(status, "reason"));
    set_reason(s, "", reason.n ? reason : kc_as_str(kc_get(status, "phase")));
    kc_items (kc_get(status, "conditions"), item)
        if (kc_str_is(kc_as_str(kc_get(item, "type")), "PodScheduled") &&
            kc_str_is(kc_as_str(kc_get(item, "reason")), "SchedulingGated"))
            set_reason(s, "", KC_STR("SchedulingGated"));
}

static void end_reason(summary *s, kc__row *row, const kc_value *status)
{
    kc_str phase = kc_as_str(kc_get(status, "phase"));
    bool over = kc_str_is(phase, "Failed") || kc_str_is(phase, "Succeeded");
    if (kc_str_empty(kc_object_deletion_timestamp(row->object)))
        return;
    if (kc_str_is(kc_as_str(kc_get(status, "reason")), "NodeLost"))
        set_reason(s, "", KC_STR("Unknown"));
    else if (!over)
        set_reason(s, "", KC_STR("Terminating"));
}

static summary summarize(kc__row *row)
{
    const kc_value *spec = kc__row_at(row, "spec"), *status = kc__row_at(row, "status");
    summary s = {.total = (int64_t)kc_len(kc_get(spec, "containers"))};
    initialization init = {0};
    start_reason(&s, status);
    look_at_inits(&s, &init, spec, status);
    if (!init.under_way || kc__condition_is_true(kc_get(status, "conditions"), "Initialized")) {
        s.restarts = init.restarts;
        s.last_restart = init.last_restart;
        look_at_containers(&s, status);
    }
    end_reason(&s, row, status);
    kc_map_done(&init.containers);
    return s;
}

static void cell_ready(kc_buf *out, kc__row *row)
{
    summary s = summarize(row);
    kc_buf_printf(out, "\"%lld/%lld\"", (long long)s.ready, (long long)s.total);
}

static void cell_status(kc_buf *out, kc__row *row)
{
    summary s = summarize(row);
    kc__cell_put_text(out, kc_cstr(s.reason));
}

static void cell_restarts(kc_buf *out, kc__row *row)
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

static void cell_ip(kc_buf *out, kc__row *row)
{
    kc_str ip = kc_as_str(kc_get(kc_at(kc__row_at(row, "status.podIPs"), 0), "ip"));
    kc__cell_put_text(out, ip.n ? ip : KC_STR("<none>"));
}

static void cell_gates(kc_buf *out, kc__row *row)
{
    const kc_value *gates = kc__row_at(row, "spec.readinessGates");
    const kc_value *conditions = kc__row_at(row, "status.conditions");
    kc_scoped(kc_map) open = {0};
    int64_t n = 0;
    kc_items (conditions, item)
        if (kc_str_is(kc_as_str(kc_get(item, "status")), "True"))
            kc_map_put(&open, kc_as_str(kc_get(item, "type")), (void *)item);
    kc_items (gates, gate)
        n += kc_map_get(&open, kc_as_str(kc_get(gate, "conditionType"))) != NULL;
    if (kc_len(gates))
        kc_buf_printf(out, "\"%lld/%zu\"", (long long)n, kc_len(gates));
    else
        kc__cell_put_text(out, KC_STR("<none>"));
}

/* Clients that show one object may stop when it is done. */
static void conditions(kc_buf *out, kc__row *row)
{
    static const char form[] = "[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"%s\","
                               "\"message\":\"%s\"}]";
    kc_str phase = kc_as_str(kc__row_at(row, "status.phase"));
    if (kc_str_is(phase, "Succeeded"))
        kc_buf_printf(out, form, "Succeeded", "The pod has completed successfully.");
    else if (kc_str_is(phase, "Failed"))
        kc_buf_printf(out, form, "Failed", "The pod failed.");
}

static const kc__column pod[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Ready", cell_ready, "How many of the containers are ready."),
    KC__TEXT_COLUMN("Status", cell_status, "What the containers are doing, all in all."),
    KC__TEXT_COLUMN("Restarts", cell_restarts,
                    "How often containers started again, and when last."),
    KC__AGE_COLUMN,
    KC__WIDE_COLUMN("IP", cell_ip, "The address of the pod."),
    KC__WIDE_PATH_COLUMN("Node", "spec.nodeName", "<none>", "Where it runs."),
    KC__WIDE_PATH_COLUMN("Nominated Node", "status.nominatedNodeName", "<none>",
                         "Where it will run once others made room."),
    KC__WIDE_COLUMN("Readiness Gates", cell_gates, "How many of its further conditions are true."),
};
const kc__columns kc__pod_columns = {.list = pod, .n = KC_COUNT(pod), .conditions = conditions};

/* ---- PodTemplate ---- */

static void cell_containers(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "template.spec.containers"), "name", ",");
}

static void cell_images(kc_buf *out, kc__row *row)
{
    kc__put_joined(out, kc__row_at(row, "template.spec.containers"), "image", ",");
}

static void cell_labels(kc_buf *out, kc__row *row)
{
    kc__put_labels(out, kc__row_at(row, "template.metadata.labels"));
}

static const kc__column pod_template[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Containers", cell_containers, "The names of the containers."),
    KC__TEXT_COLUMN("Images", cell_images, "The images of the containers."),
    KC__TEXT_COLUMN("Pod Labels", cell_labels, "The labels of the pods."),
};
const kc__columns kc__pod_template_columns = KC__COLUMNS(pod_template);
