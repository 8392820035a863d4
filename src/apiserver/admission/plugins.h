/* SPDX-License-Identifier: Apache-2.0 */
/* plugins.h: the server's own part of admission, before webhooks are asked, and again after they
 * have changed something. */
#ifndef KC_APISERVER_PLUGINS_H
#define KC_APISERVER_PLUGINS_H

#include "apiserver/rest/call.h"

kc__phase_fn kc__admit_plugins;

#endif
