/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c: what the scheduler writes: bindings, conditions of pods, deletions of victims, on a
 * pool of threads: bindings first, else in the order they were given. So pods that got a node do
 * not wait for the conditions of a thousand pods that got none.
 *
 * A binding whose response was lost may have been carried out: the pod is read from the server
 * before the binding counts as failed. The server refuses to bind a pod twice.
 */
#include "scheduler/engine.h"

#include "common/disruption.h"
#include "kc/json.h"
#include "kc/kinds.h"
#include "kc/view.h"

static void job_free(kc__sched_job *job)
{
    kc_vec_each (&job->victims, victim)
        kc_object_unref(victim->pod);
    kc_vec_done(&job->victims);
    kc_object_unref(job->pod);
    free(job->node);
    free(job->patch);
    free(job);
}

static void sched_workers_notify(kc__sched_workers *w, const kc__sched_job *job,
                                 kc__sched_event_type type, const char *text)
{
    kc__sched_inbox_put(w->inbox, (kc__sched_event){.type = type,
                                                    .object = kc_object_ref(job->pod),
                                                    .text = text ? kc_strdup(text) : NULL});
}

/* ---- binding ---- */

static kc_object *binding_of(const kc__sched_job *job)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":");
    kc_json_quote(&json, kc_object_name(job->pod));
    kc_buf_puts(&json, ",\"namespace\":");
    kc_json_quote(&json, kc_object_namespace(job->pod));
    kc_buf_puts(&json, ",\"uid\":");
    kc_json_quote(&json, kc_object_uid(job->pod));
    kc_buf_puts(&json, "},\"target\":{\"kind\":\"Node\",\"name\":");
    kc_json_quote(&json, kc_cstr(job->node));
    kc_buf_puts(&json, "}}");
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

static bool was_bound(kc__sched_workers *w, const kc__sched_job *job)
{
    kc_auto(kc_object) *pod = kc_client_get(w->client, &kc_kind_pod, kc_object_key(job->pod),
                                            &(kc_get_opts){.live = true}, NULL);
    if (!pod || !kc_str_eq(kc_object_uid(pod), kc_object_uid(job->pod)))
        return false;
    kc_auto(kc_view) *view = kc_view_of(pod);
    return kc_str_is(kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.nodeName")),
                     job->node);
}

static void bind(kc__sched_workers *w, const kc__sched_job *job)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *binding = binding_of(job);
    const kc_write_opts opts = {.kind = &kc_kind_pod, .subresource = "binding"};
    kc_auto(kc_object) *response = kc_client_create(w->client, binding, &opts, &err);
    if (!response && (kc_is_not_found(&err) || !was_bound(w, job))) {
        kc_log_warn(w->log, "failed to bind pod", kc_kv("pod", kc_object_name(job->pod)),
                    kc_kv("node", job->node), kc_kv("err", &err));
        kc_autofree char *why =
            kc_asprintf("running Bind plugin \"DefaultBinder\": %s", kc_error_text(&err));
        sched_workers_notify(w, job, KC__SCHED_EVENT_BIND_FAILED, why);
        return;
    }
    kc__sched_metrics_bound(w->measures, job->attempts, kc_clock_now(w->clock) - job->queued_at);
    kc_recorder_event(w->recorder, job->pod, KC_EVENT_TYPE_NORMAL, "Scheduled",
                      "Successfully assigned %.*s/%.*s to %s",
                      KC_ARG(kc_object_namespace(job->pod)), KC_ARG(kc_object_name(job->pod)),
                      job->node);
    sched_workers_notify(w, job, KC__SCHED_EVENT_BOUND, NULL);
}

/* ---- conditions ---- */

static int patch_status(kc__sched_workers *w, const kc_object *pod, const char *patch,
                        kc_error *err)
{
    kc_auto(kc_object) *response =
        kc_client_patch(w->client, &kc_kind_pod, kc_object_key(pod), KC_PATCH_STRATEGIC,
                        kc_cstr(patch), &(kc_write_opts){.subresource = "status"}, err);
    return response ? 0 : kc_error_result(err);
}

static void sched_workers_report(kc__sched_workers *w, const kc__sched_job *job)
{
    kc_scoped(kc_error) err = {0};
    const bool fine = patch_status(w, job->pod, job->patch, &err) == 0 || kc_is_not_found(&err) ||
                      kc_is_conflict(&err);
    sched_workers_notify(
        w, job, fine ? KC__SCHED_EVENT_STATUS_WRITTEN : KC__SCHED_EVENT_STATUS_FAILED, NULL);
}

/* ---- preemption ---- */

static int sched_workers_evict(kc__sched_workers *w, const kc__sched_job *job,
                               const kc__sched_victim *victim, kc_error *err)
{
    static const kc__common_disruption how = {.reason = "PreemptionByScheduler",
                                              .message = KC__SCHED_SCHEDULER_NAME
                                              ": preempting to accommodate a higher priority pod"};
    if (victim->leaving)
        return 0;
    if (kc__common_evict_pod(w->client, victim->pod, &how, err) < 0)
        return kc_error_result(err);
    kc_recorder_event(w->recorder, victim->pod, KC_EVENT_TYPE_NORMAL, "Preempted",
                      "Preempted by pod %.*s on node %s", KC_ARG(kc_object_uid(job->pod)),
                      job->node);
    return 0;
}

/* If a victim cannot be deleted (it has changed since), the pod is decided again. */
static void preempt(kc__sched_workers *w, const kc__sched_job *job)
{
    kc_scoped(kc_error) err = {0};
    kc_vec_each (&job->victims, victim)
        if (sched_workers_evict(w, job, victim, &err) < 0) {
            kc_log_warn(w->log, "failed to preempt pod", kc_kv("pod", kc_object_name(victim->pod)),
                        kc_kv("err", &err));
            break;
        }
    sched_workers_notify(w, job, KC__SCHED_EVENT_PREEMPTED, NULL);
}

/* ---- threads ---- */

static void run_job(kc_job *job_of_pool, void *local)
{
    static void (*const verbs[])(kc__sched_workers *, const kc__sched_job *) = {
        [KC__SCHED_BIND] = bind,
        [KC__SCHED_UPDATE_STATUS] = sched_workers_report,
        [KC__SCHED_PREEMPT] = preempt};
    kc__sched_job *job = kc_container_of(job_of_pool, kc__sched_job, job);
    (void)local;
    verbs[job->type](job->workers, job);
    job_free(job);
}

static void drop_job(kc_job *job_of_pool)
{
    job_free(kc_container_of(job_of_pool, kc__sched_job, job));
}

void kc__sched_workers_start(kc__sched_workers *w, int n)
{
    w->threads = kc_thread_pool_new(&(kc_thread_pool_opts){
        .name = "kc-binder", .threads = (size_t)KC_MAX(n, 1), .clock = w->clock});
}

void kc__sched_workers_stop(kc__sched_workers *w)
{
    w->threads = kc_thread_pool_stop(w->threads, drop_job);
}

void kc__sched_workers_add(kc__sched_workers *w, kc__sched_job *job)
{
    job->workers = w;
    job->job = (kc_job){.run = run_job, .urgent = job->type == KC__SCHED_BIND};
    if (!kc_thread_pool_add(w->threads, &job->job))
        run_job(&job->job, NULL); /* The system has no thread left. */
}
