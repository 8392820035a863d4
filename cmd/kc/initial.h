/* SPDX-License-Identifier: Apache-2.0 */
/* initial.h: what a plane has at first: the definitions of its kinds, and the initial objects. */
#ifndef KC_CMD_INITIAL_H
#define KC_CMD_INITIAL_H

#include "kc/apply.h"

/* A file of manifests/ or initialization/, by its path from the top of the sources. */
typedef kc_apply_source kc__manifest;

/* Written by the build, sorted by name: manifests/NAME/GROUP_PLURAL.yaml and
 * initialization/FOLDER/NAME.yaml. */
extern const kc__manifest kc__manifests[];
extern const size_t kc__n_manifests;

/* Where it is remembered what was loaded. */
#define KC__INITIAL_NAMESPACE "kube-system"
#define KC__INITIAL_NAME      "kubecontroller-initialization"

/*
 * Brings definitions to what the manifests say, and waits until their kinds are served; then
 * creates what else they hold, each object once in the life of the plane: what somebody changed or
 * deleted since stays so. The client may do everything. Blocks; log may be NULL.
 */
int kc__initial_load(kc_client *client, const kc__manifest *manifests, size_t n, kc_log *log,
                     kc_error *err);

#endif
