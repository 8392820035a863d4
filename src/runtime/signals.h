/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h: SIGINT and SIGTERM as a token that fires. */
#ifndef KC_RUNTIME_SIGNALS_H
#define KC_RUNTIME_SIGNALS_H

#include "kc/cancel.h"

typedef struct kc__signals kc__signals;

/* The first SIGINT or SIGTERM fires the token, the second ends the process with 1. One at a time in
 * a process: KC_CONFLICT for a second. */
kc__signals *kc__signals_catch(kc_cancel *stop, kc_error *err);
/* Puts things back as they were. NULL is allowed; returns NULL. */
kc__signals *kc__signals_release(kc__signals *signals);

#endif
