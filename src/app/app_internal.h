/* SPDX-License-Identifier: Apache-2.0 */
/* app_internal.h: what the files of the framework share. */
#ifndef KC_APP_INTERNAL_H
#define KC_APP_INTERNAL_H

#include "kc/app.h"

/* ---- bind.c: one reconciler on one manager ---- */

/* Negative when its definition makes no sense. Nothing is done. */
int kc__reconciler_check(const kc_app_entry *entry, kc_error *err);
/* Adds it; `workers` is for those that say none. */
int kc__reconciler_bind(const kc_app_entry *entry, kc_manager *manager, int workers, kc_error *err);

/* ---- phase_controller.c ---- */

/* A machine as it runs in a manager; belongs to that. */
typedef struct kc__phase_controller kc__phase_controller;
kc__phase_controller *kc__phase_controller_new(const char *name, const kc_phase_machine *machine,
                                               kc_manager *manager, kc_error *err);
/* One reconcile. */
kc_result kc__phase_reconcile(kc__phase_controller *controller, kc_context *ctx, kc_key key,
                              kc_error *err);
/* The changes that are worth one: what it writes itself is not. */
kc_predicate *kc__phase_predicate(void);

#endif
