/* SPDX-License-Identifier: Apache-2.0 */
/* failures.h: the keys of a controller that failed last, and their errors, for /debug/queue. */
#ifndef KC_RUNTIME_FAILURES_H
#define KC_RUNTIME_FAILURES_H

#include "kc/error.h"
#include "kc/meta.h"
#include "kc/thread.h"

typedef struct kc__failures kc__failures;

kc__failures *kc__failures_new(void);
/* NULL is allowed; returns NULL. */
kc__failures *kc__failures_free(kc__failures *failures);

/* The key has failed. `terminal`: it will not be retried. */
void kc__failures_note(kc__failures *failures, kc_key key, const kc_error *err, bool terminal,
                       int64_t now);
/* The key has not failed this time. Nearly free while no key fails. */
void kc__failures_clear(kc__failures *failures, kc_key key);
/* Appends a JSON array of the failed keys, in no particular order. */
void kc__failures_write(kc__failures *failures, int64_t now, kc_buf *out);

#endif
