/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_conversion.c: the conversion webhook of a CRD, and the operations of resources that it
 * serves.
 *
 * A CRD without a webhook costs one comparison of pointers for each object. A CRD whose converter
 * is not set (a CRD compiled outside of a server) has no kept conversions, and its jobs fail.
 */
#include "apiserver/crd/crd_conversion.h"

#include "apiserver/crd/crd_resource_internal.h"

/* ---- the configuration ---- */

static const char *supported_review(const kc_value *versions)
{
    kc_value_each_item (versions, version) {
        if (kc_str_is(kc_value_as_str(version), "v1"))
            return "v1";
        if (kc_str_is(kc_value_as_str(version), "v1beta1"))
            return "v1beta1";
    }
    return NULL;
}

/* The strings of the target are slices of a view that does not live on. */
static void keep_target(kc_arena *arena, kc__hook_target *target)
{
    if (target->url)
        target->url = kc_arena_printf(arena, "%s", target->url);
    target->service = kc_arena_str(arena, target->service);
    target->service_ns = kc_arena_str(arena, target->service_ns);
    target->path = kc_arena_str(arena, target->path);
}

const kc__crd_webhook *kc__crd_webhook_read(kc_arena *arena, kc_str name,
                                            const kc_value *conversion)
{
    if (!kc_str_is(kc_value_as_str(kc_value_get(conversion, "strategy")), "Webhook"))
        return NULL;
    const kc_value *hook = kc_value_get(conversion, "webhook");
    kc__crd_webhook *webhook = kc_arena_new(arena, kc__crd_webhook);
    webhook->name = kc_arena_str(arena, name);
    kc__hook_target_read(arena, kc_value_get(hook, "clientConfig"), &webhook->target);
    keep_target(arena, &webhook->target);
    webhook->review = supported_review(kc_value_get(hook, "conversionReviewVersions"));
    return webhook;
}

const kc__crd_webhook *kc__crd_webhook_of(const kc__crd *crd)
{
    return crd->webhook;
}

void kc__crd_set_converter(kc__crd *crd, kc__crd_converter *converter)
{
    crd->converter = converter;
}

void kc__crd_set_converting(const kc__crd *crd)
{
    atomic_store(&((kc__crd *)crd)->converts, true);
}

bool kc__crd_is_converting(const kc__resource *resource)
{
    return atomic_load(&resource->custom->crd->converts);
}

kc_str kc__crd_identity(const kc__crd *crd)
{
    return crd->identity;
}

kc__crd *kc__crd_ref(const kc__crd *crd)
{
    kc__resource_set_ref(&crd->set);
    return (kc__crd *)crd;
}

/* ---- operations ---- */

bool kc__crd_is_converted_remotely(const kc__resource *resource, const kc_object *object,
                                   bool to_storage)
{
    const kc__custom *custom = resource->custom;
    const kc__custom *to = to_storage ? kc__crd_storage(custom->crd) : custom;
    if (!custom->crd->webhook || !object)
        return custom->crd->webhook != NULL;
    return !kc_str_is(kc_object_api_version(object), to->api_version);
}

kc__remote_converted *kc__crd_pin_converted(const kc__resource *resource, const kc_object *stored)
{
    kc__crd_converter *converter = resource->custom->crd->converter;
    return converter ? converter->pin(converter, resource->custom, stored) : NULL;
}

static int report_no_conversion(const kc__custom *custom, kc_error *err)
{
    return kc_error_set(err, KC_UNKNOWN, "conversion to %s by webhook is not available",
                        custom->api_version);
}

/* The version that a job converts to. Callers name existing versions only. */
static const kc__custom *target_of(const kc__remote_conversion *job)
{
    const kc__custom *custom = job->resource->custom;
    const kc__custom *named =
        job->api_version.n ? kc__crd_version(custom->crd, job->api_version) : NULL;
    return job->to_storage ? kc__crd_storage(custom->crd) : named ? named : custom;
}

void kc__crd_convert_remotely(kc__remote_conversion *job)
{
    const kc__custom *custom = job->resource->custom;
    job->target = target_of(job);
    job->converter = custom->crd->converter;
    if (job->converter) {
        job->converter->convert(job->converter, job);
        return;
    }
    for (size_t i = 0; i < job->items.n; i++)
        report_no_conversion(custom, &job->items.items[i].error);
    kc__loop_post(job->loop, &job->task);
}

kc_object *kc__crd_kept_conversion(const kc__custom *custom, const kc_object *stored, kc_error *err)
{
    kc__crd_converter *converter = custom->crd->converter;
    kc_object *kept = converter ? converter->get(converter, custom, stored) : NULL;
    if (!kept)
        report_no_conversion(custom, err);
    return kept;
}
