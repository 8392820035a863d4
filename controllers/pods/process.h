/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: the runtime whose containers are processes of this host.
 *
 * docs/internals/pods-processes.md describes what is isolated and what is not. process_logs.h reads
 * the logs.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_H
#define KC_CONTROLLERS_PODS_PROCESS_H

#include "kc/log.h"
#include "kc/pods.h"
#include "pods/runtime.h"

/*
 * Opens the directory (locked against other processes), kills containers left over from an earlier
 * process, detects the available isolation and logs it in one line. NULL with KC_INVALID for
 * invalid options. The clock, the log and the texts in opts must outlive it. ops->free stops all
 * containers.
 */
kc__pods_runtime *kc__process_runtime_new(const kc_pods_opts *opts, const kc_clock *clock,
                                          kc_log *log, kc_error *err);

#endif
