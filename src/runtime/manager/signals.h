/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h: SIGINT and SIGTERM as a cancellation token. */
#ifndef KC_RUNTIME_SIGNALS_H
#define KC_RUNTIME_SIGNALS_H

#include "kc/cancel.h"

typedef struct kc__manager_signals kc__manager_signals;

/* The first SIGINT or SIGTERM fires the token, the second ends the process with exit code 1. One
 * instance per process: KC_CONFLICT for a second. */
kc__manager_signals *kc__manager_signals_catch(kc_cancel *stop, kc_error *err);
/* Restores the previous handlers. NULL is allowed; returns NULL. */
kc__manager_signals *kc__manager_signals_release(kc__manager_signals *signals);

#endif
