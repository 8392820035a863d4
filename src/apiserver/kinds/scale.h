/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h: a number of an object as a Scale of autoscaling/v1, for whoever scales what it does not
 * know: the same for workloads, which are built in, and for custom objects, whose definition says
 * where their numbers stand.
 */
#ifndef KC_APISERVER_KINDS_SCALE_H
#define KC_APISERVER_KINDS_SCALE_H

#include "apiserver/kinds/resource.h"
#include "kc/field_error.h"
#include "kc/object.h"

/* What a Scale says. */
typedef struct kc__scale {
    int64_t wanted, there;
    kc_str selector; /* As text; empty: none. */
} kc__scale;

/* The Scale of an object, in the form of the resource's version. One without a number counts as 0,
 * or is KC_INTERNAL where `needs` says so. KC_BAD_REQUEST when a value has the wrong type. NULL on
 * error; the caller drops the reference. */
kc_object *kc__scale_of(const kc__resource *resource, const kc_object *object, bool needs,
                        kc_error *err);

/* The object with the number of a Scale, and its resourceVersion: none where it names none. */
kc_object *kc__with_scale(const kc__resource *resource, const kc_object *object,
                          const kc_object *scale, kc_error *err);

/* Adds what is wrong with a Scale that is to be applied. */
void kc__check_scale(const kc_value *scale, kc_field_errors *errors);

#endif
