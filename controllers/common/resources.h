/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h: amounts of what nodes have and pods ask for, in the units they are compared in:
 * thousandths of a CPU, bytes, and whole numbers of anything else. Sums are clipped, never wrapped.
 */
#ifndef KC_CONTROLLERS_RESOURCES_H
#define KC_CONTROLLERS_RESOURCES_H

#include "api/core_v1/zz_generated.h"
#include "common/containers.h"

/* Something else than CPU, memory and ephemeral storage: a device, huge pages. */
typedef struct kc__scalar {
    char *lack; /* "Insufficient NAME", which is said when there is not enough. Its own. */
    int64_t value;
} kc__scalar;

const char *kc__scalar_name(const kc__scalar *scalar);

typedef struct kc__resources {
    int64_t cpu, memory, storage;
    KC_VEC(kc__scalar) scalars; /* Few: looked up one by one. */
} kc__resources;

void kc__resources_done(kc__resources *r);

/* What a list says. Amounts that cannot be read count as nothing: the server refuses them. */
void kc__resources_read(const kc_resource_list *list, kc__resources *ret);
/* One of a list; false when it is not there. CPU in thousandths. */
bool kc__resource_find(const kc_resource_list *list, const char *name, int64_t *ret);

int64_t kc__resources_scalar(const kc__resources *r, const char *name);
/* `times` is 1 or -1. A scalar that comes to nothing is forgotten. */
void kc__resources_add(kc__resources *to, const kc__resources *from, int times);
/* Each the larger one. */
void kc__resources_max(kc__resources *to, const kc__resources *from);
void kc__resources_set_scalar(kc__resources *r, const char *name, int64_t value);

/* What a pod needs: its containers together with those that run beside them from the start, or what
 * the largest init container needs, whichever is more; and its overhead. With `defaults`,
 * containers that do not say take 100m and 200Mi each, as nodes are compared by. */
void kc__resources_of_pod(const kc_pod_spec *spec, bool defaults, kc__resources *ret);

#endif
