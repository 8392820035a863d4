/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h: how a program of kc is told to stop. */
#ifndef KC_CMD_SIGNALS_H
#define KC_CMD_SIGNALS_H

#include "kc/cancel.h"

typedef struct kc__stopper kc__stopper;

/* From now on the first SIGTERM or SIGINT fires the token, and the second ends the process with 128
 * and its number; with `in_terminal` SIGHUP does the same. SIGPIPE is ignored, and SIGHUP if it is
 * not taken. To be called before any thread is started. NULL on error. */
kc__stopper *kc__stopper_new(kc_cancel *stop, bool in_terminal, kc_error *err);
/* NULL is allowed; returns NULL. Signals stay blocked: the process is about to end. */
kc__stopper *kc__stopper_free(kc__stopper *stopper);
KC_AUTO_DEFINE(kc__stopper, kc__stopper_free)

#endif
