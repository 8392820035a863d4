/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.h: containers that are nothing but time.
 *
 * A container runs `start_delay` after its start, until it is stopped (and `stop_delay` longer);
 * init containers end at once. A pod's annotations say otherwise, all of them with the prefix
 * simulate.kubecontroller.io/ :
 *
 *     run-for: 30s          ends by itself after so long
 *     exit-code: "1"        with this code; without run-for: at once
 *     start-delay: 2s       instead of the node's
 *     stop-delay: 5s
 *     ignore-stop: "true"   only force ends it
 *     ready-after: 10s      readiness probes fail until it has run for so long
 *     fail-probe: liveness,readiness,startup    those that fail
 *     fail-start: message   it cannot be started
 *
 * Each holds for the pod's containers, not its init containers; followed by a dot and a name, for
 * that one alone: "run-for.migrate". Probes without an annotation succeed; hooks do, at once.
 */
#ifndef KC_CONTROLLERS_SIMULATE_H
#define KC_CONTROLLERS_SIMULATE_H

#include "kc/pods.h"
#include "pods/runtime.h"

#define KC__SIMULATE "simulate.kubecontroller.io/"

/* Freed by its ops->free. */
kc__runtime *kc__simulated_runtime_new(const kc_pods_opts *opts, const kc_clock *clock,
                                       kc_error *err);
/* Whom to tell of changes from now on; after it the one before is not called any more. For a
 * runtime that outlives a runner. */
void kc__simulated_listen(kc__runtime *runtime, void (*changed)(kc_str uid, void *user),
                          void *user);
/* How many containers were started so far: for tests. */
size_t kc__simulated_starts(const kc__runtime *runtime);

#endif
