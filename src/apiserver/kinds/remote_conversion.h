/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_conversion.h: conversion of objects by another server: the conversion webhook of a
 * CustomResourceDefinition.
 *
 * All other conversions are functions (resource_ops.h: from_stored, to_stored). A webhook takes
 * up to 30 seconds, so the conversion is a job with a callback. Code that shows stored objects
 * first makes sure that their conversions are kept, and then calls from_stored as for every other
 * resource:
 *
 *     kc__remote_converted *pin = kc__remote_converted_pin(resource, stored);
 *     if (!pin)
 *         kc__remote_conversion_start(job);    done: job->items[i].pin
 *     object = resource->ops->from_stored(resource, stored, err);
 *     kc__remote_converted_unpin(pin);
 *
 * A kept conversion may be evicted unless it is pinned. Each revision of an object is converted
 * once for each version, however many requests need it.
 */
#ifndef KC_APISERVER_REMOTE_CONVERSION_H
#define KC_APISERVER_REMOTE_CONVERSION_H

#include "apiserver/kinds/resource.h"
#include "http/loop/loop.h"
#include "kc/error.h"
#include "kc/object.h"
#include "kc/vec.h"

/* A kept conversion. Embedded in the entry of the cache that keeps it. */
typedef struct kc__remote_converted {
    void (*unpin)(struct kc__remote_converted *converted);
    kc_object *object; /* In the version of the resource. */
} kc__remote_converted;

typedef KC_VEC(kc__remote_converted *) kc__remote_pins;

/* One object of a job; the job holds the references. */
typedef struct kc__remote_conversion_item {
    kc_object *object;
    /* An object with the same contents and another resourceVersion: the last state of a deleted
     * object. If its conversion is kept, that one is used. NULL: none. */
    kc_object *like;
    kc_object *result;         /* NULL: failed. */
    kc__remote_converted *pin; /* For stored objects. */
    kc_error error;
} kc__remote_conversion_item;

typedef struct kc__remote_conversion {
    /* Set by the caller. */
    const kc__resource *resource; /* The version to convert to. Its catalog must live until the
                                     job has started. */
    bool to_storage;              /* Convert to the storage version instead. */
    kc_str api_version; /* Convert to this version of the kind instead, served or not. Valid until
                           the job has started. Defaults to that of the resource. */
    bool as_returned;   /* Do not prune the results by the schema of their version. */
    bool keep;          /* The objects are stored: keep their conversions. */
    KC_VEC(kc__remote_conversion_item) items;
    kc__loop *loop;
    void (*done)(struct kc__remote_conversion *job); /* On the loop, once; not if abandoned. */
    void *user;

    /* Private. */
    kc__loop_task task;
    struct kc__crd_converter *converter;
    const void *target; /* The kc__custom of the version. */
    size_t left;
    const kc_error *failed; /* The error of an item that has failed; NULL: none. */
    _Atomic bool abandoned;
} kc__remote_conversion;

kc__remote_conversion *kc__remote_conversion_new(const kc__resource *resource, kc__loop *loop);
/* Adds an object to a job that has not started. `like` may be NULL. */
void kc__remote_conversion_add(kc__remote_conversion *job, const kc_object *object,
                               const kc_object *like);
/* Starts a job; `done` is called later. Any thread. */
void kc__remote_conversion_start(kc__remote_conversion *job);
/* The first error in the order of the items; NULL: all objects were converted. */
const kc_error *kc__remote_conversion_error(const kc__remote_conversion *job);
/* Moves the pins of all items to `pins`. */
void kc__remote_conversion_take_pins(kc__remote_conversion *job, kc__remote_pins *pins);
/* Ends the interest in a job that has started and is not done. On its loop. */
void kc__remote_conversion_abandon(kc__remote_conversion *job);
/* Frees a job that has not started or is done. NULL is allowed; returns NULL. */
kc__remote_conversion *kc__remote_conversion_free(kc__remote_conversion *job);

/* Whether the resource has a conversion webhook. O(1). */
bool kc__remote_may_be_needed(const kc__resource *resource);
/* Whether a webhook must convert the object before it can be shown in the resource's version, or
 * stored. */
bool kc__remote_is_needed(const kc__resource *resource, const kc_object *object);
bool kc__remote_is_needed_to_store(const kc__resource *resource, const kc_object *object);
/* Pins the kept conversion of a stored object. NULL: none is kept. Any thread. */
kc__remote_converted *kc__remote_converted_pin(const kc__resource *resource,
                                               const kc_object *stored);
/* NULL is allowed; returns NULL. Any thread. */
kc__remote_converted *kc__remote_converted_unpin(kc__remote_converted *pin);
void kc__remote_pins_done(kc__remote_pins *pins);

#endif
