/* SPDX-License-Identifier: Apache-2.0 */
/*
 * periodic.h: one thread that runs small jobs at intervals.
 *
 *     kc__periodic *periodic = kc__periodic_new(NULL);
 *     kc__periodic_add(periodic, 6 * KC_HOUR, renew_certificates, plane);
 *     kc__periodic_add(periodic, KC_SECOND, compare_files, watch);
 *     kc__periodic_start(periodic, "housekeeping", err);
 *
 * For work that may block for a while and may be late, such as reading changed files. A job that
 * must be on time needs a thread of its own.
 */
#ifndef KC_BASE_PERIODIC_H
#define KC_BASE_PERIODIC_H

#include "kc/clock.h"
#include "kc/error.h"
#include "kc/mem.h"

typedef struct kc__periodic kc__periodic;

/* The clock defaults to the real one. */
kc__periodic *kc__periodic_new(const kc_clock *clock);
/* Runs `run` at each interval after the start; one job at a time. Before the start. */
void kc__periodic_add(kc__periodic *periodic, int64_t interval, void (*run)(void *user),
                      void *user);
/* Without jobs there is no thread. Fails if the system cannot create one. */
int kc__periodic_start(kc__periodic *periodic, const char *name, kc_error *err);
/* Ends the thread; waits for a running job. NULL is allowed; returns NULL. */
kc__periodic *kc__periodic_free(kc__periodic *periodic);
KC_AUTO_DEFINE(kc__periodic, kc__periodic_free)

#endif
