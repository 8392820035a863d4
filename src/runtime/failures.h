/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.h: which keys of a controller failed last, and why: for people who ask /debug/queue.
 */
#ifndef KC_RUNTIME_FAILURES_H
#define KC_RUNTIME_FAILURES_H

#include "kc/error.h"
#include "kc/meta.h"
#include "kc/thread.h"

typedef struct kc__failures kc__failures;

kc__failures *kc__failures_new(void);
/* NULL is allowed; returns NULL. */
kc__failures *kc__failures_free(kc__failures *failures);

/* The key has failed. `terminal`: it will not be tried again. */
void kc__failures_note(kc__failures *failures, kc_key key, const kc_error *err, bool terminal,
                       int64_t now);
/* It has not failed this time. Costs next to nothing while no key fails. */
void kc__failures_clear(kc__failures *failures, kc_key key);
/* Appends a JSON array of those that failed, in no order. */
void kc__failures_write(kc__failures *failures, int64_t now, kc_buf *out);

#endif
