/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h: sidecars: parsed from a ConfigMap, matched with pods, and merged into a pod as a patch.
 * Pure functions, used by the webhook and the controller.
 *
 *     kc_auto(sidecars) *what = sidecars_read(config_map, err);
 *     kc_auto(kc_edit) *patch = sidecars_patch(pod, what, err);          {}: no change
 *
 * `pod` is a pod or a pod template: only metadata and spec are used.
 *
 * An annotation (SIDECARS_STATUS) records what was injected: names, and a hash of the ConfigMap's
 * content. It tells injected items from the user's, and old ones from new ones:
 *
 *     the user has a container or volume of this name           kept
 *     injected, same hash                                       kept, even if changed since
 *     injected, another hash                                    replaced, or removed
 *     missing                                                   added
 *
 * If one is changed or added, all injected items come last, in the order of the ConfigMap.
 */
#ifndef SIDECAR_INJECT_H
#define SIDECAR_INJECT_H

#include "kc/edit.h"
#include "kc/selector.h"

#define SIDECARS_STATUS    "sidecar.kubecontroller.io/status"
#define SIDECARS_ANNOTATED "initializer.kubernetes.io/envoy" /* "true": inject. */
#define SIDECARS_INJECT                                                     \
    "sidecar.kubecontroller.io/inject" /* "false": do not inject; overrides \
                                        * the rest. */

/* Maximum number of containers, and of volumes, in one ConfigMap. */
#define SIDECARS_MAX 32

typedef struct sidecars sidecars;

/* Parses data.config of a ConfigMap. NULL with the problem, KC_INVALID. The caller frees it. */
sidecars *sidecars_read(const kc_object *config_map, kc_error *err);
/* NULL is allowed; returns NULL. */
sidecars *sidecars_free(sidecars *what);
KC_AUTO_DEFINE(sidecars, sidecars_free)

/* Whether a pod with this metadata gets sidecars. `rule` may be NULL: only the annotation
 * counts. */
bool sidecars_wanted(const kc_value *metadata, const kc_selector *rule);
/* Whether it has injected items, of any hash. */
bool sidecars_noted(const kc_value *metadata);

/* A strategic merge patch; {} if nothing changes. With `what` NULL: removes injected items. NULL on
 * error. The caller frees it. */
kc_edit *sidecars_patch(const kc_value *pod, const sidecars *what, kc_error *err);

#endif
