/* SPDX-License-Identifier: Apache-2.0 */
/* app_internal.h: what the files of the framework share. */
#ifndef KC_APP_INTERNAL_H
#define KC_APP_INTERNAL_H

#include "kc/app.h"
#include "kc/arena.h"
#include "kc/view.h"

/* ---- bind.c: one reconciler on one manager ---- */

/* Negative when its definition makes no sense. Nothing is done. */
int kc__reconciler_check(const kc_app_entry *entry, kc_error *err);
/* Adds it, with what the configuration says. */
int kc__reconciler_bind(const kc_app_entry *entry, kc_manager *manager, const kc_app_config *config,
                        kc_error *err);

/* ---- settings.c: what the config file says to single reconcilers ---- */

/* `section` is its part of `text`; may be NULL. */
int kc__settings_read(const kc_value *section, kc_str text, kc_arena *arena,
                      const kc_app_config_setting **ret, kc_error *err);
/* Are they of reconcilers that there are, and do these have them? */
int kc__settings_check(const kc_app_config *config, const kc_app *app, kc_error *err);
/* Values, in the order of the rows. */
const char *const *kc__settings_of(const kc_app_config *config, const char *reconciler,
                                   const kc_setting *rows, kc_arena *arena);

/* ---- app.c ---- */

/* Of all there are, in their order; the caller frees the list. */
const char **kc__app_names(const kc_app *app);

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
