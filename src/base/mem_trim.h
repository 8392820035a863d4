/* SPDX-License-Identifier: Apache-2.0 */
/* mem_trim.h: a periodic job that returns free heap memory to the system. */
#ifndef KC_BASE_MEM_TRIM_H
#define KC_BASE_MEM_TRIM_H

#include "base/periodic.h"
#include "kc/metrics.h"

typedef struct kc__mem_trimmer kc__mem_trimmer;

/* Adds the job to `periodic`: it trims every `interval` nanoseconds if enough memory is free.
 * `metrics` may be NULL. Free it after `periodic`. */
kc__mem_trimmer *kc__mem_trimmer_new(kc__periodic *periodic, int64_t interval, kc_metrics *metrics);
/* NULL is allowed; returns NULL. */
kc__mem_trimmer *kc__mem_trimmer_free(kc__mem_trimmer *trimmer);

#endif
