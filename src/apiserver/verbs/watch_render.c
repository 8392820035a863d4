/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_render.c: jobs that render one event for all watches that wait for it.
 *
 * A job is reference-counted: by the list of jobs in progress, and by each wait. It holds what it
 * needs (the event, the catalog that the renderer's resource is part of), so a watch may end
 * meanwhile. When the worker is done, the loop that submitted the job adds the frame to the shared
 * frames, removes the job from the list, and posts a task to the loop of each wait. If a wait is
 * freed before its task has run, the task frees it.
 *
 * Threads: `renders->mutex` guards the list and the waits of each job. Results are written before
 * the waits are notified, and are constant from then on.
 */
#include "apiserver/verbs/watch_render.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/offload.h"
#include "kc/thread.h"

enum { LONG_OBJECT = 64 * 1024 }; /* Takes about half a millisecond to render. */

struct kc__rest_watch_renders {
    kc_mutex mutex; /* Taken last. */
    kc_dlist jobs;
};

typedef struct render_job {
    kc_ref refs;
    kc__offload_job job;
    kc__rest_api *api;
    kc__rest_watch_renders *renders;
    char *user_name;
    kc__rest_catalog *catalog;
    kc__rest_renderer renderer;
    kc__rest_watch_change change; /* Holds a reference to its event or object. */
    bool items;

    kc__http_shared_bytes *frame; /* The result, … */
    kc_object *shown;             /* … or an object. */

    kc_dlist_link link; /* In the list of jobs. Guarded by the mutex, as the next field. */
    kc_dlist waits;
} render_job;

struct kc__rest_watch_wait {
    render_job *job;
    kc__loop *loop;
    void (*ready)(void *user);
    void *user;
    kc_dlist_link link; /* In the job's list, until the task is posted. */
    kc__loop_task task;
    bool over;      /* The task has run. */
    bool abandoned; /* The wait was freed before the task ran. */
};

kc__rest_watch_renders *kc__rest_watch_renders_new(void)
{
    kc__rest_watch_renders *renders = kc_new(kc__rest_watch_renders);
    kc_mutex_init(&renders->mutex);
    kc_dlist_init(&renders->jobs);
    return renders;
}

kc__rest_watch_renders *kc__rest_watch_renders_free(kc__rest_watch_renders *renders)
{
    if (!renders)
        return NULL;
    assert(kc_dlist_empty(&renders->jobs));
    kc_mutex_done(&renders->mutex);
    free(renders);
    return NULL;
}

static void render_job_unref(render_job *job)
{
    if (!kc_ref_drop(&job->refs))
        return;
    kc__http_shared_bytes_unref(job->frame);
    kc_object_unref(job->shown);
    kc__store_event_unref(job->change.event);
    kc_object_unref(job->change.object);
    kc__rest_catalog_unref(job->catalog);
    free(job->user_name);
    free(job);
}

/* ---- on a worker ---- */

static void render_run(kc__offload_job *offloaded)
{
    render_job *job = kc_container_of(offloaded, render_job, job);
    kc_auto(kc_object) *object = kc__rest_watch_change_object(&job->renderer, &job->change);
    if (!object)
        return;
    if (job->items) {
        job->shown = kc__rest_render_object(&job->renderer, object, NULL);
        return;
    }
    kc_scoped(kc_buf) text = {0};
    kc__rest_frame_write(&job->renderer, &text, job->change.type, object);
    job->frame = text.n ? kc__http_shared_bytes_new(kc_buf_str(&text)) : NULL;
}

/* ---- back on the loops ---- */

static void wait_drop(kc__rest_watch_wait *wait)
{
    render_job_unref(wait->job);
    free(wait);
}

static void wait_is_over(kc__loop_task *task)
{
    kc__rest_watch_wait *wait = kc_container_of(task, kc__rest_watch_wait, task);
    wait->over = true;
    if (wait->abandoned)
        wait_drop(wait);
    else
        wait->ready(wait->user);
}

static void render_done(kc__offload_job *offloaded)
{
    render_job *job = kc_container_of(offloaded, render_job, job);
    if (offloaded->expired)
        render_run(offloaded); /* Run it here: no event may be lost, and the watches wait for it. */
    if (job->frame && kc__rest_frames_has(&job->renderer, &job->change))
        kc__rest_frames_add(job->api->frames, &job->renderer, &job->change, job->frame);
    kc_locked (&job->renders->mutex) {
        kc_dlist_remove(&job->link);
        for (kc_dlist_link *link; (link = kc_dlist_pop(&job->waits));) {
            kc__rest_watch_wait *wait = kc_container_of(link, kc__rest_watch_wait, link);
            kc__loop_post(wait->loop, &wait->task);
        }
    }
    render_job_unref(job);
}

/* ---- start ---- */

bool kc__rest_watch_render_is_long(const kc__rest_renderer *renderer,
                                   const kc__rest_watch_change *change)
{
    const kc_object *object = change->event ? change->event->object : change->object;
    return kc_object_json(object).n > LONG_OBJECT && (renderer->resource->ops->transforms_on_read ||
                                                      kc__convert_is_needed(renderer->resource));
}

static bool is_same_job(const render_job *job, const kc__rest_watch_render_opts *opts,
                        const kc__rest_renderer *renderer, const kc__rest_watch_change *change)
{
    return job->change.event == change->event && job->change.object == change->object &&
           job->change.type == change->type && job->items == opts->items &&
           job->renderer.resource == renderer->resource &&
           job->renderer.form.as == renderer->form.as &&
           job->renderer.form.version == renderer->form.version &&
           renderer->form.as != KC__REST_AS_TABLE;
}

static render_job *render_job_new(const kc__rest_watch_render_opts *opts,
                                  const kc__rest_renderer *renderer,
                                  const kc__rest_watch_change *change)
{
    render_job *job = kc_new(render_job);
    kc_ref_init(&job->refs);
    job->api = opts->api;
    job->renders = opts->api->renders;
    job->user_name = kc_str_dup(opts->user_name);
    job->catalog = kc__rest_catalog_ref(opts->catalog);
    job->renderer = *renderer;
    job->change.type = change->type;
    job->change.event = change->event ? kc__store_event_ref(change->event) : NULL;
    job->change.object = change->object ? kc_object_ref(change->object) : NULL;
    job->items = opts->items;
    kc_dlist_init(&job->waits);
    job->job = (kc__offload_job){
        .loop = opts->loop,
        .user = kc_cstr(job->user_name),
        .deadline = kc_clock_deadline(opts->api->clock, opts->api->request_timeout),
        .run = render_run,
        .done = render_done};
    return job;
}

/* With the mutex held. */
static kc__rest_watch_wait *wait_new(const kc__rest_watch_render_opts *opts, render_job *job)
{
    kc__rest_watch_wait *wait = kc_new(kc__rest_watch_wait);
    kc_ref_add(&job->refs);
    *wait = (kc__rest_watch_wait){.job = job,
                                  .loop = opts->loop,
                                  .ready = opts->ready,
                                  .user = opts->user,
                                  .task.run = wait_is_over};
    kc_dlist_push(&job->waits, &wait->link);
    return wait;
}

static kc__rest_watch_wait *join_job(const kc__rest_watch_render_opts *opts,
                                     const kc__rest_renderer *renderer,
                                     const kc__rest_watch_change *change)
{
    kc_dlist_each (&opts->api->renders->jobs, render_job, link, job)
        if (is_same_job(job, opts, renderer, change))
            return wait_new(opts, job);
    return NULL;
}

/* A job that ended after the caller looked for the frame has left it in the cache: render_done adds
 * the frame before it takes the mutex to remove the job. */
static kc__rest_watch_wait *use_finished_job(const kc__rest_watch_render_opts *opts,
                                             const kc__rest_renderer *renderer,
                                             const kc__rest_watch_change *change)
{
    kc__http_shared_bytes *frame = !opts->items && kc__rest_frames_has(renderer, change)
                                       ? kc__rest_frames_find(opts->api->frames, renderer, change)
                                       : NULL;
    if (!frame)
        return NULL;
    render_job *job = render_job_new(opts, renderer, change);
    job->frame = frame;
    kc__rest_watch_wait *wait = wait_new(opts, job);
    kc_dlist_remove(&wait->link);
    kc__loop_post(wait->loop, &wait->task);
    render_job_unref(job);
    return wait;
}

static kc__rest_watch_wait *submit_job(const kc__rest_watch_render_opts *opts,
                                       const kc__rest_renderer *renderer,
                                       const kc__rest_watch_change *change)
{
    render_job *job = render_job_new(opts, renderer, change);
    if (!kc__offload_submit(opts->api->offload, &job->job)) {
        render_job_unref(job);
        return NULL;
    }
    kc_dlist_push(&opts->api->renders->jobs, &job->link); /* With the first reference. */
    return wait_new(opts, job);
}

kc__rest_watch_wait *kc__rest_watch_render_start(const kc__rest_watch_render_opts *opts,
                                                 const kc__rest_renderer *renderer,
                                                 const kc__rest_watch_change *change)
{
    kc__rest_watch_wait *wait = NULL;
    if (!opts->api->offload)
        return NULL;
    kc_locked (&opts->api->renders->mutex) {
        wait = join_job(opts, renderer, change);
        if (!wait)
            wait = use_finished_job(opts, renderer, change);
        if (!wait)
            wait = submit_job(opts, renderer, change);
    }
    return wait;
}

/* ---- waiting ---- */

bool kc__rest_watch_wait_is_over(const kc__rest_watch_wait *wait)
{
    return wait->over;
}

kc__http_shared_bytes *kc__rest_watch_wait_frame(const kc__rest_watch_wait *wait)
{
    return wait->job->frame;
}

const kc_object *kc__rest_watch_wait_object(const kc__rest_watch_wait *wait)
{
    return wait->job->shown;
}

kc__rest_watch_wait *kc__rest_watch_wait_free(kc__rest_watch_wait *wait)
{
    if (!wait)
        return NULL;
    bool listed = false;
    kc_locked (&wait->job->renders->mutex) {
        listed = kc_dlist_is_linked(&wait->link);
        kc_dlist_remove(&wait->link);
    }
    if (listed || wait->over)
        wait_drop(wait);
    else
        wait->abandoned = true;
    return NULL;
}
