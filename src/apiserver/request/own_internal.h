/* SPDX-License-Identifier: Apache-2.0 */
/* own_internal.h: what the files of field ownership share. */
#ifndef KC_APISERVER_OWN_INTERNAL_H
#define KC_APISERVER_OWN_INTERNAL_H

#include "apiserver/request/own.h"

/* The ownership of one write. Everything is in its arena or freed with it. */
typedef struct kc__rest_owning {
    kc__rest_call *call;
    kc_arena arena;
    const kc__resource *resource; /* Of the body: the object's, or Scale. */
    const kc__resource_topology *topology;
    kc_str version;     /* apiVersion of the resource. */
    kc_object *live;    /* The stored object in that version, or its Scale. NULL: there is none. */
    kc_view *live_view; /* Without managedFields. */
    kc__fields_managed managed;
    kc__fields_updater updater;
    KC_VEC(kc_view *) views; /* What sets of fields refer to: the draft, converted objects. */
    char now[KC_TIME_TEXT];
} kc__rest_owning;

/* Reads the stored object and its owners. Negative on failure: with live_view set, only the owners
 * could not be read. Pair with kc__rest_owning_done, also after a failure. */
int kc__rest_owning_begin(kc__rest_owning *o, kc__rest_call *call, kc_error *err);
void kc__rest_owning_done(kc__rest_owning *o);

/* The request for the engine; the caller sets `object`. */
kc__fields_request kc__rest_owning_request(kc__rest_owning *o, kc_str manager);

/* Conversion for the engine (own_version.c). `user` is the kc__rest_owning. */
kc__fields_convert kc__rest_owning_convert;

/* The Scale of call->current with the owners of its replicas (own_scale.c); NULL on error. The
 * caller drops the reference. */
kc_object *kc__rest_own_scale(kc__rest_call *call, kc_error *err);

#endif
