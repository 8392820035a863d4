/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.h: simulated containers.
 *
 * A container runs `start_delay` after its start until it is stopped (and `stop_delay` longer);
 * init containers exit at once. Annotations of a pod change that, all with the prefix
 * simulate.kubecontroller.io/ :
 *
 *     run-for: 30s          exits after this time
 *     exit-code: "1"        exits with this code; without run-for: at once
 *     start-delay: 2s       instead of the node's
 *     stop-delay: 5s
 *     ignore-stop: "true"   ignores SIGTERM
 *     ready-after: 10s      readiness probes fail until it has run for this time
 *     fail-probe: liveness,readiness,startup    probes that fail
 *     fail-start: message   the start fails
 *
 * Each applies to the pod's containers except init containers; with a dot and a name appended, to
 * that container alone: "run-for.migrate". Probes without an annotation succeed; hooks succeed at
 * once.
 */
#ifndef KC_CONTROLLERS_SIMULATE_H
#define KC_CONTROLLERS_SIMULATE_H

#include "kc/pods.h"
#include "pods/runtime.h"

#define KC__PODS_SIMULATE "simulate.kubecontroller.io/"

/* Freed by its ops->free. */
kc__pods_runtime *kc__pods_simulated_runtime_new(const kc_pods_opts *opts, const kc_clock *clock,
                                                 kc_error *err);
/* Sets the receiver of changes; when it returns, the previous one is not called any more. For a
 * runtime that outlives a runner. */
void kc__pods_simulated_listen(kc__pods_runtime *runtime, void (*changed)(kc_str uid, void *user),
                               void *user);
/* Number of containers started so far, for tests. */
size_t kc__pods_simulated_starts(const kc__pods_runtime *runtime);

#endif
