/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h: amounts of resources that nodes have and pods request, in comparable units:
 * millicores, bytes, and integers for all other resources. Sums saturate; they never wrap.
 */
#ifndef KC_CONTROLLERS_RESOURCES_H
#define KC_CONTROLLERS_RESOURCES_H

#include "api/core_v1/zz_generated.h"
#include "common/containers.h"

/* A resource other than CPU, memory and ephemeral storage: a device, huge pages. */
typedef struct kc__common_extended_resource {
    char *lack; /* "Insufficient NAME", the reason when there is not enough. Owned. */
    int64_t value;
} kc__common_extended_resource;

const char *kc__common_extended_resource_name(const kc__common_extended_resource *scalar);

typedef struct kc__common_resources {
    int64_t cpu, memory, storage;
    KC_VEC(kc__common_extended_resource) scalars; /* Few entries: searched linearly. */
} kc__common_resources;

void kc__common_resources_done(kc__common_resources *r);

/* Reads a resource list. Amounts that cannot be parsed count as 0: the server refuses them. */
void kc__common_resources_read(const kc_resource_list *list, kc__common_resources *ret);
/* Reads one resource of a list, CPU in millicores; false if the list does not have it. */
bool kc__common_resource_find(const kc_resource_list *list, const char *name, int64_t *ret);

int64_t kc__common_resources_scalar(const kc__common_resources *r, const char *name);
/* `times` is 1 or -1. A scalar that becomes 0 is removed. */
void kc__common_resources_add(kc__common_resources *to, const kc__common_resources *from,
                              int times);
/* Sets each amount to the larger of the two. */
void kc__common_resources_max(kc__common_resources *to, const kc__common_resources *from);
void kc__common_resources_set_scalar(kc__common_resources *r, const char *name, int64_t value);

/* The effective request of a pod: the sum of its containers and sidecars, or the largest need of an
 * init container, whichever is more, plus its overhead. With `defaults`, containers without
 * requests count as 100m and 200Mi, as in the scheduler's scoring. */
void kc__common_resources_of_pod(const kc_pod_spec *spec, bool defaults, kc__common_resources *ret);

#endif
