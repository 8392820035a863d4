/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_conversion.c: jobs of conversion by webhook, and the pins of kept conversions.
 *
 * The caller owns a job until it starts. From then on the converter (conversion/converter.h) owns
 * it, on its own thread, until it posts the job's task to the caller's loop. An abandoned job is
 * freed there instead of being delivered.
 */
#include "apiserver/kinds/remote_conversion.h"

#include "apiserver/kinds/resource_ops.h"

kc__remote_conversion *kc__remote_conversion_new(const kc__resource *resource, kc__loop *loop)
{
    kc__remote_conversion *job = kc_new(kc__remote_conversion);
    job->resource = resource;
    job->loop = loop;
    return job;
}

void kc__remote_conversion_add(kc__remote_conversion *job, const kc_object *object,
                               const kc_object *like)
{
    kc_vec_push(&job->items,
                (kc__remote_conversion_item){.object = kc_object_ref(object),
                                             .like = like ? kc_object_ref(like) : NULL});
}

/* The last step of a job, on the caller's loop. */
static void deliver_conversion(kc__loop_task *task)
{
    kc__remote_conversion *job = kc_container_of(task, kc__remote_conversion, task);
    if (atomic_load(&job->abandoned))
        kc__remote_conversion_free(job);
    else
        job->done(job);
}

void kc__remote_conversion_start(kc__remote_conversion *job)
{
    job->task.run = deliver_conversion;
    job->resource->ops->convert_remotely(job);
}

const kc_error *kc__remote_conversion_error(const kc__remote_conversion *job)
{
    for (size_t i = 0; i < job->items.n; i++)
        if (job->items.items[i].error.reason)
            return &job->items.items[i].error;
    return NULL;
}

void kc__remote_conversion_take_pins(kc__remote_conversion *job, kc__remote_pins *pins)
{
    for (size_t i = 0; i < job->items.n; i++) {
        kc__remote_converted *pin = kc_take(job->items.items[i].pin);
        if (pin)
            kc_vec_push(pins, pin);
    }
}

void kc__remote_conversion_abandon(kc__remote_conversion *job)
{
    atomic_store(&job->abandoned, true);
}

kc__remote_conversion *kc__remote_conversion_free(kc__remote_conversion *job)
{
    if (!job)
        return NULL;
    for (size_t i = 0; i < job->items.n; i++) {
        kc__remote_conversion_item *item = &job->items.items[i];
        kc_object_unref(item->object);
        kc_object_unref(item->like);
        kc_object_unref(item->result);
        kc__remote_converted_unpin(item->pin);
        kc_error_done(&item->error);
    }
    kc_vec_done(&job->items);
    free(job);
    return NULL;
}

/* ---- kept conversions ---- */

bool kc__remote_may_be_needed(const kc__resource *resource)
{
    return resource->ops->is_converted_remotely &&
           resource->ops->is_converted_remotely(resource, NULL, false);
}

bool kc__remote_is_needed(const kc__resource *resource, const kc_object *object)
{
    return resource->ops->is_converted_remotely &&
           resource->ops->is_converted_remotely(resource, object, false);
}

bool kc__remote_is_needed_to_store(const kc__resource *resource, const kc_object *object)
{
    return resource->ops->is_converted_remotely &&
           resource->ops->is_converted_remotely(resource, object, true);
}

kc__remote_converted *kc__remote_converted_pin(const kc__resource *resource,
                                               const kc_object *stored)
{
    return resource->ops->pin_converted(resource, stored);
}

kc__remote_converted *kc__remote_converted_unpin(kc__remote_converted *pin)
{
    if (pin)
        pin->unpin(pin);
    return NULL;
}

void kc__remote_pins_done(kc__remote_pins *pins)
{
    for (size_t i = 0; i < pins->n; i++)
        kc__remote_converted_unpin(pins->items[i]);
    kc_vec_done(pins);
}
