/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h: stops a program of kc by signals. */
#ifndef KC_CMD_SIGNALS_H
#define KC_CMD_SIGNALS_H

#include "kc/cancel.h"

typedef struct kc__cli_stop_signal kc__cli_stop_signal;

/* From now on the first SIGTERM or SIGINT fires the token, and the second exits with 128 plus the
 * signal number; with `in_terminal` SIGHUP does the same. SIGPIPE is ignored, and SIGHUP if it is
 * not handled. Call it before any thread is started. NULL on error. */
kc__cli_stop_signal *kc__cli_stop_signal_new(kc_cancel *stop, bool in_terminal, kc_error *err);
/* NULL is allowed; returns NULL. Signals stay blocked: the process is about to end. */
kc__cli_stop_signal *kc__cli_stop_signal_free(kc__cli_stop_signal *stopper);
KC_AUTO_DEFINE(kc__cli_stop_signal, kc__cli_stop_signal_free)

#endif
