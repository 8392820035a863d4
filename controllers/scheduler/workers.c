/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c: what the scheduler writes: bindings, conditions of pods, deletions of victims. Several
 * threads, each one job at a time: bindings first, else in the order they were given as far as
 * several can keep one. So pods that got a node do not wait for a thousand others to say why not.
 *
 * A binding whose answer was lost may have been carried out: the pod is looked up at the server
 * before it counts as failed. The server refuses to bind a pod twice, whatever we believe.
 */
#include "scheduler/engine.h"

#include "common/disruption.h"
#include "kc/json.h"
#include "kc/kinds.h"
#include "kc/view.h"

static void job_free(kc__job *job)
{
    kc_vec_each (&job->victims, victim)
        kc_object_unref(victim->pod);
    kc_vec_done(&job->victims);
    kc_object_unref(job->pod);
    free(job->node);
    free(job->patch);
    free(job);
}

static void tell(kc__workers *w, const kc__job *job, kc__note_type type, const char *text)
{
    kc__inbox_put(w->inbox, (kc__note){.type = type,
                                       .object = kc_object_ref(job->pod),
                                       .text = text ? kc_strdup(text) : NULL});
}

/* ---- binding ---- */

static kc_object *binding_of(const kc__job *job)
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

static bool was_bound(kc__workers *w, const kc__job *job)
{
    kc_auto(kc_object) *pod = kc_client_get(w->client, &kc_kind_pod, kc_object_key(job->pod),
                                            &(kc_get_opts){.live = true}, NULL);
    if (!pod || !kc_str_eq(kc_object_uid(pod), kc_object_uid(job->pod)))
        return false;
    kc_auto(kc_view) *view = kc_view_of(pod);
    return kc_str_is(kc_as_str(kc_dig(kc_view_root(view), "spec.nodeName")), job->node);
}

static void bind(kc__workers *w, const kc__job *job)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *binding = binding_of(job);
    const kc_write_opts opts = {.kind = &kc_kind_pod, .subresource = "binding"};
    kc_auto(kc_object) *answer = kc_client_create(w->client, binding, &opts, &err);
    if (!answer && (kc_is_not_found(&err) || !was_bound(w, job))) {
        kc_log_warn(w->log, "cannot bind a pod", kc_kv("pod", kc_object_name(job->pod)),
                    kc_kv("node", job->node), kc_kv("err", &err));
        kc_autofree char *why =
            kc_asprintf("running Bind plugin \"DefaultBinder\": %s", kc_error_text(&err));
        tell(w, job, KC__NOTE_NOT_BOUND, why);
        return;
    }
    kc__measure_bound(w->measures, job->attempts, kc_clock_now(w->clock) - job->queued_at);
    kc_event(w->recorder, job->pod, KC_NORMAL, "Scheduled", "Successfully assigned %.*s/%.*s to %s",
             KC_ARG(kc_object_namespace(job->pod)), KC_ARG(kc_object_name(job->pod)), job->node);
    tell(w, job, KC__NOTE_BOUND, NULL);
}

/* ---- saying ---- */

static int patch_status(kc__workers *w, const kc_object *pod, const char *patch, kc_error *err)
{
    kc_auto(kc_object) *answer =
        kc_client_patch(w->client, &kc_kind_pod, kc_object_key(pod), KC_PATCH_STRATEGIC,
                        kc_cstr(patch), &(kc_write_opts){.subresource = "status"}, err);
    return answer ? 0 : -1;
}

static void say(kc__workers *w, const kc__job *job)
{
    kc_scoped(kc_error) err = {0};
    const bool fine = patch_status(w, job->pod, job->patch, &err) == 0 || kc_is_not_found(&err) ||
                      kc_is_conflict(&err);
    tell(w, job, fine ? KC__NOTE_SAID : KC__NOTE_NOT_SAID, NULL);
}

/* ---- preempting ---- */

static int evict(kc__workers *w, const kc__job *job, const kc__victim *victim, kc_error *err)
{
    static const kc__disruption how = {.reason = "PreemptionByScheduler",
                                       .message = KC__SCHEDULER_NAME
                                       ": preempting to accommodate a higher priority pod"};
    if (victim->leaving)
        return 0;
    if (kc__disrupt_pod(w->client, victim->pod, &how, err) < 0)
        return -1;
    kc_event(w->recorder, victim->pod, KC_NORMAL, "Preempted", "Preempted by pod %.*s on node %s",
             KC_ARG(kc_object_uid(job->pod)), job->node);
    return 0;
}

/* Where one cannot be deleted (it has changed meanwhile), the pod is decided on anew. */
static void preempt(kc__workers *w, const kc__job *job)
{
    kc_scoped(kc_error) err = {0};
    kc_vec_each (&job->victims, victim)
        if (evict(w, job, victim, &err) < 0) {
            kc_log_warn(w->log, "cannot preempt a pod", kc_kv("pod", kc_object_name(victim->pod)),
                        kc_kv("err", &err));
            break;
        }
    tell(w, job, KC__NOTE_PREEMPTED, NULL);
}

/* ---- threads ---- */

/* NULL when there will be none any more. */
static kc__job *next(kc__workers *w)
{
    kc_locked (&w->mutex) {
        while (!w->closed && kc_list_empty(&w->urgent) && kc_list_empty(&w->jobs))
            kc_cond_wait_until(&w->more, &w->mutex, w->clock, KC_FOREVER);
        if (w->closed)
            return NULL;
        kc_list *from = kc_list_empty(&w->urgent) ? &w->jobs : &w->urgent;
        return kc_container_of(kc_list_pop(from), kc__job, link);
    }
    return NULL;
}

static void work(void *user)
{
    static void (*const verbs[])(kc__workers *, const kc__job *) = {
        [KC__BIND] = bind, [KC__SAY] = say, [KC__PREEMPT] = preempt};
    kc__workers *w = user;
    for (kc__job *job; (job = next(w));) {
        verbs[job->type](w, job);
        job_free(job);
    }
}

int kc__workers_start(kc__workers *w, int n, kc_error *err)
{
    kc_mutex_init(&w->mutex);
    kc_cond_init(&w->more);
    kc_list_init(&w->urgent);
    kc_list_init(&w->jobs);
    for (int i = 0; i < n; i++) {
        kc_thread *thread = kc_thread_start("kc-binder", work, w, err);
        if (!thread)
            return -1;
        kc_vec_push(&w->threads, thread);
    }
    return 0;
}

void kc__workers_stop(kc__workers *w)
{
    kc_locked (&w->mutex) {
        w->closed = true;
        kc_cond_broadcast(&w->more);
    }
    kc_vec_each (&w->threads, thread)
        kc_thread_join(*thread);
    kc_vec_done(&w->threads);
    kc_list_splice(&w->jobs, &w->urgent);
    kc_list_each (&w->jobs, kc__job, link, job) {
        kc_list_remove(&job->link);
        job_free(job);
    }
    kc_cond_done(&w->more);
    kc_mutex_done(&w->mutex);
}

void kc__workers_add(kc__workers *w, kc__job *job)
{
    kc_locked (&w->mutex) {
        kc_list_push(job->type == KC__BIND ? &w->urgent : &w->jobs, &job->link);
        kc_cond_signal(&w->more);
    }
}
