/* SPDX-License-Identifier: Apache-2.0 */
/*
 * converter_internal.h: declarations that the files of the converter share. Everything but the
 * cache belongs to the converter's loop.
 */
#ifndef KC_APISERVER_CONVERTER_INTERNAL_H
#define KC_APISERVER_CONVERTER_INTERNAL_H

#include "apiserver/conversion/conversion_review.h"
#include "apiserver/conversion/converted_cache.h"
#include "apiserver/conversion/converter.h"
#include "kc/map.h"
#include "kc/uid.h"

typedef struct kc__conversion_lane kc__conversion_lane;

/* An item of a job that waits for an object. */
typedef struct kc__conversion_waiter {
    kc__remote_conversion *job;
    size_t index;
} kc__conversion_waiter;

/* An object that is being converted. */
typedef struct kc__conversion_object {
    kc_object *given;
    kc_object *sent; /* As the webhook sees it: with the defaults of its version. */
    char *key;       /* Of the cache, with its length; NULL: not kept. */
    size_t key_n;
    bool as_returned; /* Not pruned by the schema of its new version. */
    KC_VEC(kc__conversion_waiter) waiters;
} kc__conversion_object;

/* One call of a webhook. */
typedef struct kc__conversion_batch {
    kc__converter *converter;
    kc__conversion_lane *lane;
    const kc__crd *crd; /* Counted: keeps the target alive. */
    const kc__custom *target;
    KC_VEC(kc__conversion_object *) objects;
    size_t bytes;
    kc_dlist_link link; /* In the lane's queue. */
    bool one_by_one;    /* A larger batch failed: the rest of its objects follows one by one. */
    /* Of the call. */
    char uid[KC_UID_TEXT];
    char *url;
    int64_t started;
    kc_object *first; /* The first object, which names the version in metrics. */
} kc__conversion_batch;

/* The calls of one CRD. */
struct kc__conversion_lane {
    kc_str name;
    size_t calls; /* In progress. */
    kc_dlist queue;
    char text[]; /* Of the name. */
};

struct kc__converter {
    kc__crd_converter interface; /* First member. */
    kc__converter_opts opts;
    kc__loop *loop;
    kc__http_client *http_client;
    kc__converted_cache *cache;
    kc_metric *requests, *durations, *crd_durations;

    /* ---- on the loop ---- */
    kc_map running; /* kc__conversion_object by key. */
    kc_map lanes;   /* By name of the CRD. */
    size_t calls;
    bool stopped;
};

/* ---- converter.c ---- */

/* The conversion of an object has ended: gives its waiters the result, or the error. Frees it. */
void kc__conversion_object_end(kc__converter *converter, kc__conversion_object *object,
                               const kc_object *result, const kc_error *error);

/* ---- converter_batch.c ---- */

kc__conversion_batch *kc__conversion_batch_new(kc__converter *converter, const kc__custom *target);
bool kc__conversion_batch_is_full(const kc__conversion_batch *batch);
/* Adds an object; the batch owns it. */
void kc__conversion_batch_add(kc__conversion_batch *batch, kc__conversion_object *object);
/* Queues a batch and calls webhooks as the limits allow. Takes over the batch. */
void kc__conversion_batch_submit(kc__conversion_batch *batch);

/* ---- converter_metrics.c ---- */

int kc__converter_register_metrics(kc__converter *converter, kc_error *err);
void kc__converter_count_call(const kc__conversion_batch *batch, kc__conversion_failure failure);

#endif
