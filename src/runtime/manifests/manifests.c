/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests.c: the life of an instance, and the loop that repeats the sync.
 *
 *     sync ──▶ wait for: a change of the directory (debounced) · the resync · a retry · stop
 *       ▲                                                                             │
 *       └─────────────────────────────────────────────────────────────────────────────┘
 *
 * The loop sleeps in one poll(2). The resync finds what no event reports: objects that another
 * client changed, files behind links that lead out of the directory, file systems without inotify.
 * Failures of the server are retried with a backoff that starts at FIRST_RETRY and ends at the
 * interval of the resync; broken files are not, because only a change can correct them.
 *
 * Threads: the loop runs on the caller's thread and starts none.
 */
#include "runtime/manifests/manifests_internal.h"

#include <errno.h>
#include <sys/stat.h>

#define RESYNC      (10 * KC_MINUTE)
#define DEBOUNCE    (100 * KC_MILLISECOND)
#define FIRST_RETRY (5 * KC_SECOND)

/* ---- metrics ---- */

static kc_counter *manifests_counter(kc_metrics *metrics, const char *name, const char *help)
{
    const kc_metric_opts opts = {.name = name, .help = help};
    return metrics ? kc_metric_counter(kc_metrics_counter(metrics, &opts, NULL)) : NULL;
}

static kc_gauge *manifests_gauge(kc_metrics *metrics, const char *name, const char *help)
{
    const kc_metric_opts opts = {.name = name, .help = help};
    return metrics ? kc_metric_gauge(kc_metrics_gauge(metrics, &opts, NULL)) : NULL;
}

static void open_labelled(kc__manifests_metrics *m, kc_metrics *metrics)
{
    static const char *const stages[] = {"read", "parse", "apply", "prune"};
    kc_metric *syncs = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "kc_manifests_syncs_total",
                          .help = "Syncs of the directory of manifests.",
                          .labels = {{"result", KC_LABEL_VALUES("error", "success")}}},
        NULL);
    kc_metric *errors = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "kc_manifests_errors_total",
            .help = "Files and objects that a sync could not read, parse, apply or prune.",
            .labels = {{"stage", KC_LABEL_VALUES("read", "parse", "apply", "prune")}}},
        NULL);
    m->syncs[0] = kc_metric_counter(syncs, KC_STR("error"));
    m->syncs[1] = kc_metric_counter(syncs, KC_STR("success"));
    for (size_t i = 0; i < KC__MANIFESTS_STAGES; i++)
        m->errors[i] = kc_metric_counter(errors, kc_cstr(stages[i]));
}

static void open_metrics(kc__manifests_metrics *m, kc_metrics *metrics)
{
    if (!metrics)
        return;
    open_labelled(m, metrics);
    m->applied = manifests_counter(metrics, "kc_manifests_applied_total",
                                   "Objects sent to the server as server-side apply.");
    m->pruned = manifests_counter(metrics, "kc_manifests_pruned_total",
                                  "Objects deleted because they left the directory.");
    m->files = manifests_gauge(metrics, "kc_manifests_files", "Manifests in the directory.");
    m->objects = manifests_gauge(metrics, "kc_manifests_objects",
                                 "Objects that the manifests of the directory define.");
    m->problems = manifests_gauge(metrics, "kc_manifests_problems",
                                  "Files and objects that failed in the last sync.");
    m->last_success = manifests_gauge(metrics, "kc_manifests_last_success_timestamp_seconds",
                                      "Time of the last sync without an error.");
}

/* ---- life ---- */

static int check_directory(const char *dir, kc_error *err)
{
    struct stat at;
    if (stat(dir, &at) < 0)
        return kc_error_set(err, errno == ENOENT ? KC_NOT_FOUND : KC_BAD_REQUEST,
                            "cannot read the directory of manifests %s: %s", dir, strerror(errno));
    if (!S_ISDIR(at.st_mode))
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not a directory", dir);
    return 0;
}

static char *without_slashes(const char *dir)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    return kc_strndup(dir, n);
}

kc__manifests *kc__manifests_new(const kc__manifests_opts *opts, kc_error *err)
{
    if (check_directory(opts->dir, err) < 0)
        return NULL;
    kc__manifests *m = kc_new(kc__manifests);
    m->opts = *opts;
    m->dir = without_slashes(opts->dir);
    m->opts.dir = m->dir;
    if (!m->opts.ns)
        m->opts.ns = "default";
    if (!m->opts.field_manager)
        m->opts.field_manager = "kc-manifests";
    if (m->opts.resync <= 0)
        m->opts.resync = RESYNC;
    if (m->opts.debounce <= 0)
        m->opts.debounce = DEBOUNCE;
    m->set = kc__apply_set_new(&(kc__apply_set_opts){.kind = opts->set_kind,
                                                     .ns = opts->set_ns,
                                                     .name = opts->set_name,
                                                     .tooling = opts->tooling});
    open_metrics(&m->metrics, opts->metrics);
    return m;
}

kc__manifests *kc__manifests_free(kc__manifests *m)
{
    if (!m)
        return NULL;
    kc_map_each (&m->objects, entry)
        kc__manifests_object_free(entry->value);
    kc_map_done(&m->objects);
    kc__manifests_problems_done(&m->problems);
    kc__manifests_watch_free(m->watch);
    kc__apply_set_free(m->set);
    free(m->dir);
    free(m);
    return NULL;
}

/* ---- the loop ---- */

/* When the next sync is due without a change. */
static int64_t next_sync(const kc__manifests *m, int64_t *retry)
{
    const kc_clock *clock = kc_clock_real();
    int64_t pause = m->opts.resync;
    if (m->retry) {
        pause = KC_MIN(pause, *retry);
        *retry = KC_MIN(2 * *retry, m->opts.resync);
    } else {
        *retry = FIRST_RETRY;
    }
    if (m->busy)
        pause = KC_MIN(pause, KC__MANIFESTS_WRITE_TIMEOUT);
    return kc_clock_deadline(clock, pause);
}

int kc__manifests_run(kc__manifests *m, kc_cancel *stop, kc_error *err)
{
    int64_t retry = FIRST_RETRY;
    if (!m->watch)
        m->watch = kc__manifests_watch_new(m->dir, m->opts.log, err);
    if (!m->watch)
        return kc_error_result(err);
    for (;;) {
        kc__manifests_summary summary;
        if (kc__manifests_sync(m, stop, &summary, NULL) < 0)
            return 0;
        const int64_t deadline = next_sync(m, &retry);
        switch (kc__manifests_watch_wait(m->watch, stop, m->opts.debounce, deadline)) {
        case KC__MANIFESTS_STOPPED: return 0;
        case KC__MANIFESTS_CHANGED: retry = FIRST_RETRY; break;
        case KC__MANIFESTS_TIMEOUT: break;
        }
    }
}
