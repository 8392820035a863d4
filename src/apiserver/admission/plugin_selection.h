/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_selection.h: which admission plugins a server runs: those that are on by default, with the
 * changes of --enable-admission-plugins and --disable-admission-plugins. Any thread.
 */
#ifndef KC_APISERVER_PLUGIN_SELECTION_H
#define KC_APISERVER_PLUGIN_SELECTION_H

#include "kc/error.h"

#include <stdint.h>

/* A set of plugins: one bit for each row of kc__admission_plugins. */
typedef uint64_t kc__admission_selection;

/* The name of the i-th plugin that flags can select; NULL after the last. In execution order. */
const char *kc__admission_selectable_plugin(size_t i);

/* Adds the plugins of a comma-separated list to *selection. KC_INVALID for an unknown name; the
 * message names the accepted ones and the nearest of them. */
int kc__admission_selection_parse(const char *names, kc__admission_selection *selection,
                                  kc_error *err);

/* The plugins that run: the defaults and `enabled`, without `disabled`. */
kc__admission_selection kc__admission_selection_of(kc__admission_selection enabled,
                                                   kc__admission_selection disabled);

#endif
