/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale_values.h: the scale subresource. It represents the replicas of an object as an
 * autoscaling/v1 Scale, so that an autoscaler can scale any kind.
 */
#ifndef KC_APISERVER_KINDS_SCALE_H
#define KC_APISERVER_KINDS_SCALE_H

#include "apiserver/kinds/resource.h"
#include "kc/field_error.h"
#include "kc/object.h"

/* The contents of a Scale. */
typedef struct kc__scale_values {
    int64_t wanted, there;
    kc_str selector; /* As text; empty: no selector. */
} kc__scale_values;

/* Returns the Scale of an object in the resource's version. A missing replica count is 0, or
 * KC_INTERNAL if `needs`. KC_BAD_REQUEST when a value has the wrong type. NULL on error; the
 * caller drops the reference. */
kc_object *kc__scale_of(const kc__resource *resource, const kc_object *object, bool needs,
                        kc_error *err);

/* Returns the object with the replica count and the resourceVersion of a Scale; without a
 * resourceVersion if the Scale has none. */
kc_object *kc__scale_apply_to(const kc__resource *resource, const kc_object *object,
                              const kc_object *scale, kc_error *err);

/* Validates a Scale before it is applied; adds field errors. */
void kc__validate_scale(const kc_value *scale, kc_field_errors *errors);

#endif
