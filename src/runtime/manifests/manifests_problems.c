/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests_problems.c: reports what is wrong with the manifests, once per change.
 *
 * Syncs are repeated, and each finds the same problems until the manifests change. So the problems
 * of the last sync are remembered by the hash of their message: only new ones are logged and
 * recorded. A problem that a sync does not have is forgotten, so that its return is reported again.
 *
 *     problem ──▶ report callback        every time: the output of a single sync
 *             ──▶ metrics                every time
 *             ──▶ log, Events            the first time, at most MAX_REPORTED per sync
 */
#include "runtime/manifests/manifests_internal.h"

#include <stdio.h>

/* A directory of ten thousand broken files must not fill the log. */
enum { MAX_REPORTED = 100 };

static const char *const reasons[KC__MANIFESTS_STAGES] = {
    [KC__MANIFESTS_STAGE_READ] = "ReadFailed",
    [KC__MANIFESTS_STAGE_PARSE] = "InvalidManifest",
    [KC__MANIFESTS_STAGE_APPLY] = "ApplyFailed",
    [KC__MANIFESTS_STAGE_PRUNE] = "PruneFailed",
};

/* Of a message; the key of `known`. */
typedef struct problem_entry {
    size_t sync; /* The last sync that had it. */
    char hash[17];
} problem_entry;

void kc__manifests_problems_done(kc__manifests_problems *p)
{
    kc_map_each (&p->known, entry)
        free(entry->value);
    kc_map_done(&p->known);
}

void kc__manifests_problems_begin(kc__manifests *m)
{
    m->problems.sync++;
    m->problems.n = m->problems.fresh = 0;
}

/* True if the last sync did not have the problem. */
static bool is_fresh(kc__manifests_problems *p, const char *message)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)kc_str_hash(kc_cstr(message), 0x6b63));
    problem_entry *known = kc_map_get(&p->known, kc_cstr(hash));
    if (known) {
        known->sync = p->sync;
        return false;
    }
    known = kc_new(problem_entry);
    known->sync = p->sync;
    memcpy(known->hash, hash, sizeof hash);
    kc_map_put(&p->known, kc_cstr(known->hash), known);
    return true;
}

/* The object must exist: an Event without a uid is not shown by `kubectl describe`. */
static void record_on_object(const kc__manifests *m, const kc__manifests_problem *problem)
{
    if (!problem->kind || !m->opts.recorder)
        return;
    kc_auto(kc_object) *object =
        kc_client_get(m->client, problem->kind, problem->key, &(kc_get_opts){.live = true}, NULL);
    if (object)
        kc_recorder_event(m->opts.recorder, object, KC_EVENT_TYPE_WARNING, reasons[problem->stage],
                          "%s", problem->message);
}

static void report_problem(const kc__manifests *m, const kc__manifests_problem *problem)
{
    const kc_object *parent = kc__apply_set_parent(m->set);
    kc_log_error(m->opts.log, "manifest failed", kc_kv("reason", reasons[problem->stage]),
                 kc_kv("err", problem->message));
    if (m->opts.dry_run)
        return;
    if (parent)
        kc_recorder_event(m->opts.recorder, parent, KC_EVENT_TYPE_WARNING, reasons[problem->stage],
                          "%s", problem->message);
    record_on_object(m, problem);
}

void kc__manifests_problem_add(kc__manifests *m, const kc__manifests_problem *problem)
{
    kc__manifests_problems *p = &m->problems;
    const bool fresh = is_fresh(p, problem->message);
    p->n++;
    kc_counter_inc(m->metrics.errors[problem->stage]);
    if (m->opts.report)
        m->opts.report(&(kc__manifests_result){.action = KC__MANIFESTS_FAILED,
                                               .kind = problem->kind,
                                               .key = problem->key,
                                               .message = problem->message,
                                               .repeated = !fresh},
                       m->opts.user);
    if (fresh && p->fresh++ < MAX_REPORTED)
        report_problem(m, problem);
}

void kc__manifests_problems_end(kc__manifests *m)
{
    kc__manifests_problems *p = &m->problems;
    kc_map_each (&p->known, entry) {
        problem_entry *known = entry->value;
        if (known->sync != p->sync)
            free(kc_map_remove(&p->known, entry->key));
    }
    if (p->fresh > MAX_REPORTED)
        kc_log_error(m->opts.log, "further manifests failed",
                     kc_kv("count", p->fresh - MAX_REPORTED));
    kc_gauge_set(m->metrics.problems, (double)p->n);
}
