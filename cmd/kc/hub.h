/* SPDX-License-Identifier: Apache-2.0 */
/* hub.h: functions that programs with reconcilers share. */
#ifndef KC_CMD_HUB_H
#define KC_CMD_HUB_H

#include "kc/app.h"

/* Loads shared objects with reconcilers; `plugins` is a colon-separated list; NULL: none. */
int kc__cli_load_plugins(kc_app *app, const char *plugins, kc_error *err);

#endif
