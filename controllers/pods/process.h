/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: the runtime whose containers are processes of this machine.
 *
 * See docs/internals/pods-processes.md for what isolates what, and what does not. Logs are read
 * with process_logs.h.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_H
#define KC_CONTROLLERS_PODS_PROCESS_H

#include "kc/log.h"
#include "kc/pods.h"
#include "pods/runtime.h"

/*
 * Opens the folder (which no other may have open), ends what is left of an earlier process, and
 * finds out what the machine allows; one line in the log says it. NULL with KC_INVALID for options
 * that cannot work. The clock, the log and the texts in opts must outlive it. ops->free ends all
 * containers.
 */
kc__runtime *kc__process_runtime_new(const kc_pods_opts *opts, const kc_clock *clock, kc_log *log,
                                     kc_error *err);

/* What isolation there is, in one line, for the node. Lives as the runtime. */
const char *kc__process_isolation_text(const kc__runtime *runtime);

#endif
