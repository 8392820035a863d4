/* SPDX-License-Identifier: Apache-2.0 */
/* hub.h: what programs of reconcilers share. */
#ifndef KC_CMD_HUB_H
#define KC_CMD_HUB_H

#include "kc/app.h"

/* Shared objects with reconcilers, ':' between them; NULL: none. */
int kc__load_plugins(kc_app *app, const char *plugins, kc_error *err);

#endif
