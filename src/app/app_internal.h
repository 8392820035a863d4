/* SPDX-License-Identifier: Apache-2.0 */
/* app_internal.h: shared by the files of the framework. */
#ifndef KC_APP_INTERNAL_H
#define KC_APP_INTERNAL_H

#include "kc/app.h"
#include "kc/arena.h"
#include "kc/view.h"

/* ---- bind.c: one reconciler on one manager ---- */

/* Negative if its definition is invalid. Changes nothing. */
int kc__app_reconciler_check(const kc_app_entry *entry, kc_error *err);
/* Adds it with its configuration. */
int kc__app_reconciler_bind(const kc_app_entry *entry, kc_manager *manager,
                            const kc_app_config *config, kc_error *err);

/* ---- settings.c: settings of single reconcilers in the config file ---- */

/* `section` is its part of `text`; may be NULL. */
int kc__app_settings_read(const kc_value *section, kc_str text, kc_arena *arena,
                          const kc_app_config_setting **ret, kc_error *err);
/* Whether all settings belong to known reconcilers that have them. */
int kc__app_settings_check(const kc_app_config *config, const kc_app *app, kc_error *err);
/* Values in the order of the rows. */
const char *const *kc__app_settings_of(const kc_app_config *config, const char *reconciler,
                                       const kc_setting *rows, kc_arena *arena);

/* ---- app.c ---- */

/* Adds the reconcilers of a shared object. */
int kc__app_add_plugin_section(kc_app *app, const kc__app_registration *const *begin,
                               const kc__app_registration *const *end, kc_error *err);
/* All entries in order; the caller frees the list. */
const char **kc__app_names(const kc_app *app);

/* ---- phase_controller.c ---- */

/* A machine that runs in a manager, which owns it. */
typedef struct kc__app_phase_controller kc__app_phase_controller;
kc__app_phase_controller *kc__app_phase_controller_new(const char *name,
                                                       const kc_phase_machine *machine,
                                                       kc_manager *manager, kc_error *err);
/* One reconcile. */
kc_result kc__app_phase_reconcile(kc__app_phase_controller *controller, kc_context *ctx, kc_key key,
                                  kc_error *err);
/* The changes that queue a reconcile: its own writes do not. */
kc_predicate *kc__app_phase_predicate(void);

#endif
