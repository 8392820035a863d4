/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h: sidecars as such: what a ConfigMap says they are, which pods are to have them, and the
 * patch that gives them to a pod. Pure: the hook and the controller are two ways to apply it.
 *
 *     kc_auto(sidecars) *what = sidecars_read(config_map, err);
 *     kc_auto(kc_edit) *patch = sidecars_patch(pod, what, err);          {}: there is nothing to do
 *
 * `pod` is a pod or a template of pods: of both, metadata and spec are looked at.
 *
 * What was put in is noted in an annotation (SIDECARS_STATUS): names, and a hash of the ConfigMap's
 * content. So what is ours is known from what is the user's, and old from new:
 *
 *     a container or volume that the user has by this name      left alone
 *     ours, of the same hash                                    left alone, whatever was changed
 *                                                               in it since
 *     ours, of another hash                                     replaced; removed if it is gone
 *     missing                                                   added
 *
 * Where one is changed or added, all of ours stand last, in the order of the ConfigMap.
 */
#ifndef SIDECAR_INJECT_H
#define SIDECAR_INJECT_H

#include "kc/edit.h"
#include "kc/selector.h"

#define SIDECARS_STATUS    "sidecar.kubecontroller.io/status"
#define SIDECARS_ANNOTATED "initializer.kubernetes.io/envoy"  /* "true": wanted. */
#define SIDECARS_INJECT    "sidecar.kubecontroller.io/inject" /* "false": not, whatever else. */

/* Containers, and volumes, that one ConfigMap may have. */
#define SIDECARS_MAX 32

typedef struct sidecars sidecars;

/* Of a ConfigMap's data.config. NULL with what is wrong, KC_INVALID. The caller's. */
sidecars *sidecars_read(const kc_object *config_map, kc_error *err);
/* NULL is allowed; returns NULL. */
sidecars *sidecars_free(sidecars *what);
KC_AUTO_DEFINE(sidecars, sidecars_free)

/* Whether a pod with this metadata is to have them. `rule` may be NULL: only the annotation counts.
 */
bool sidecars_wanted(const kc_value *metadata, const kc_selector *rule);
/* Whether it has some of ours, of whatever hash. */
bool sidecars_noted(const kc_value *metadata);

/* A strategic merge patch; {} when nothing is to be done. With `what` NULL: what is ours is
 * removed. NULL on error. The caller's. */
kc_edit *sidecars_patch(const kc_value *pod, const sidecars *what, kc_error *err);

#endif
