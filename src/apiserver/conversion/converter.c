/* SPDX-License-Identifier: Apache-2.0 */
/*
 * converter.c: jobs: what they need is kept, is being converted, or joins a batch
 * (converter_batch.c).
 *
 *     job ── items ──┬── kept: pinned at once
 *                    ├── `like` is kept: the same conversion with another resourceVersion
 *                    ├── running: the job becomes a waiter of the object
 *                    └── neither: a new object in a batch
 *
 * A job ends when all of its items have a result or an error. It fails as a whole: after its first
 * error the rest of it is not sent any more.
 *
 * Threads: kept conversions are read from any thread (converted_cache.h); everything else is on the
 * converter's loop.
 */
#include "apiserver/conversion/converter_internal.h"

/* ---- keys ---- */

/* Identifies the CRD with its spec, the version, and the revision of the object. */
static kc_str write_key(kc_buf *out, const kc__custom *to, const kc_object *stored)
{
    kc_buf_clear(out);
    kc_buf_append(out, kc__crd_identity(to->crd));
    kc_buf_puts(out, to->api_version);
    kc_buf_putc(out, ' ');
    kc_buf_append(out, kc_object_uid(stored));
    kc_buf_putc(out, ' ');
    kc_buf_append(out, kc_object_resource_version(stored));
    return kc_buf_str(out);
}

static kc_object *get_kept(kc__crd_converter *interface, const kc__custom *to,
                           const kc_object *stored)
{
    kc__converter *c = kc_container_of(interface, kc__converter, interface);
    kc_scoped(kc_buf) key = {0};
    return kc__converted_cache_get(c->cache, write_key(&key, to, stored));
}

static kc__remote_converted *pin_kept(kc__crd_converter *interface, const kc__custom *to,
                                      const kc_object *stored)
{
    kc__converter *c = kc_container_of(interface, kc__converter, interface);
    kc_scoped(kc_buf) key = {0};
    return kc__converted_cache_pin(c->cache, write_key(&key, to, stored));
}

/* ---- the end of an object ---- */

static void item_is_done(kc__remote_conversion *job)
{
    if (!--job->left)
        kc__loop_post(job->loop, &job->task);
}

static void copy_conversion_error(kc_error *to, const kc_error *from)
{
    kc_error_set(to, from->reason, "%s", kc_error_text(from));
}

static void give_result(kc__converter *c, const kc__conversion_waiter *waiter,
                        const kc__conversion_object *object, const kc_object *result,
                        const kc_error *error)
{
    kc__remote_conversion_item *item = &waiter->job->items.items[waiter->index];
    if (!result) {
        copy_conversion_error(&item->error, error);
        waiter->job->failed = &item->error;
    } else if (object->key) {
        item->pin =
            kc__converted_cache_add(c->cache, kc_str_of(object->key, object->key_n), result);
    }
    if (result)
        item->result = kc_object_ref(result);
    item_is_done(waiter->job);
}

void kc__conversion_object_end(kc__converter *c, kc__conversion_object *object,
                               const kc_object *result, const kc_error *error)
{
    if (object->key)
        kc_map_remove(&c->running, kc_str_of(object->key, object->key_n));
    for (size_t i = 0; i < object->waiters.n; i++)
        give_result(c, &object->waiters.items[i], object, result, error);
    kc_vec_done(&object->waiters);
    kc_object_unref(object->given);
    kc_object_unref(object->sent);
    free(object->key);
    free(object);
}

/* ---- the start of a job ---- */

/* The conversion of `like`, if it is kept, with the revision of the object. */
static kc__remote_converted *pin_derived(kc__converter *c, const kc__custom *to,
                                         const kc__remote_conversion_item *item, kc_str key)
{
    kc_scoped(kc_buf) other = {0};
    if (!item->like)
        return NULL;
    kc_auto(kc_object) *kept = kc__converted_cache_get(c->cache, write_key(&other, to, item->like));
    kc_auto(kc_object) *derived =
        kept ? kc_object_with_revision(kept, kc_object_revision(item->object)) : NULL;
    return derived ? kc__converted_cache_add(c->cache, key, derived) : NULL;
}

/* Uses what is kept or running. False: the object must be sent. */
static bool settle_item(kc__converter *c, kc__remote_conversion *job, size_t index, kc_str key)
{
    kc__remote_conversion_item *item = &job->items.items[index];
    const kc__custom *to = job->target;
    item->pin = kc__converted_cache_pin(c->cache, key);
    if (!item->pin)
        item->pin = pin_derived(c, to, item, key);
    if (item->pin) {
        item->result = kc_object_ref(item->pin->object);
        job->left--;
        return true;
    }
    kc__conversion_object *running = kc_map_get(&c->running, key);
    if (running)
        kc_vec_push(&running->waiters, (kc__conversion_waiter){job, index});
    return running != NULL;
}

static kc__conversion_object *object_of_item(kc__converter *c, kc__remote_conversion *job,
                                             size_t index, kc_str key)
{
    kc__conversion_object *object = kc_new(kc__conversion_object);
    object->given = kc_object_ref(job->items.items[index].object);
    object->as_returned = job->as_returned;
    kc_vec_push(&object->waiters, (kc__conversion_waiter){job, index});
    if (!key.n)
        return object;
    object->key = kc_str_dup(key);
    object->key_n = key.n;
    kc_map_put(&c->running, kc_str_of(object->key, object->key_n), object);
    return object;
}

static void start_items(kc__converter *c, kc__remote_conversion *job)
{
    kc_scoped(kc_buf) text = {0};
    kc__conversion_batch *batch = NULL;
    for (size_t i = 0; i < job->items.n; i++) {
        kc_str key = {0};
        if (job->keep)
            key = write_key(&text, job->target, job->items.items[i].object);
        if (job->keep && settle_item(c, job, i, key))
            continue;
        if (!batch)
            batch = kc__conversion_batch_new(c, job->target);
        kc__conversion_batch_add(batch, object_of_item(c, job, i, key));
        if (kc__conversion_batch_is_full(batch))
            kc__conversion_batch_submit(kc_take(batch));
    }
    if (batch)
        kc__conversion_batch_submit(batch);
}

/* A reference to a CRD until the job has started: its batches hold references of their own. */
typedef struct job_start {
    kc__loop_task task;
    kc__converter *converter;
    kc__remote_conversion *job;
    const kc__crd *crd;
} job_start;

static void start_job(kc__loop_task *task)
{
    job_start *s = kc_container_of(task, job_start, task);
    /* The count of one more item: the job must not end before all items have started. */
    s->job->left = s->job->items.n + 1;
    start_items(s->converter, s->job);
    item_is_done(s->job);
    kc__crd_unref(s->crd);
    free(s);
}

static void convert_job(kc__crd_converter *interface, kc__remote_conversion *job)
{
    const kc__custom *target = job->target;
    job_start *s = kc_new(job_start);
    *s = (job_start){.task.run = start_job,
                     .converter = kc_container_of(interface, kc__converter, interface),
                     .job = job,
                     .crd = kc__crd_ref(target->crd)};
    kc__loop_post(s->converter->loop, &s->task);
}

/* ---- construction and destruction ---- */

kc__converter *kc__converter_start(const kc__converter_opts *opts, kc_error *err)
{
    kc__converter *c = kc_new(kc__converter);
    c->interface = (kc__crd_converter){.get = get_kept, .pin = pin_kept, .convert = convert_job};
    c->opts = *opts;
    if (!c->opts.send)
        c->opts.send = kc__http_client_send;
    c->http_client = kc__http_client_new();
    c->cache =
        kc__converted_cache_new(opts->kept_bytes ? opts->kept_bytes : KC__CONVERTER_KEPT_BYTES,
                                opts->memory, opts->metrics, err);
    if (c->cache && kc__converter_register_metrics(c, err) == 0)
        c->loop = kc__loop_start("conversion", opts->clock, err);
    return c->loop ? c : kc__converter_free(c);
}

kc__crd_converter *kc__converter_interface(kc__converter *converter)
{
    return &converter->interface;
}

void kc__converter_end_by(kc__converter *converter, int64_t deadline)
{
    kc__http_client_end_by(converter->http_client, deadline);
}

/* From now on batches fail instead of being sent. */
static void stop_converter(void *user)
{
    ((kc__converter *)user)->stopped = true;
}

void kc__converter_stop(kc__converter *converter)
{
    if (!converter)
        return;
    kc__loop_call(converter->loop, stop_converter, converter);
    kc__http_client_stop(converter->http_client);
    converter->loop = kc__loop_stop(converter->loop);
}

kc__converter *kc__converter_free(kc__converter *c)
{
    if (!c)
        return NULL;
    kc__loop_stop(c->loop);
    kc__http_client_free(c->http_client);
    kc_map_each (&c->lanes, at)
        free(at->value);
    kc_map_done(&c->lanes);
    kc_map_done(&c->running);
    kc__converted_cache_free(c->cache);
    free(c);
    return NULL;
}

void kc__converter_shed(kc__converter *converter)
{
    kc__converted_cache_clear(converter->cache);
}
