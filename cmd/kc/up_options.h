/* SPDX-License-Identifier: Apache-2.0 */
/* up_options.h: what was asked of `kc up`, read and checked. */
#ifndef KC_CMD_UP_OPTIONS_H
#define KC_CMD_UP_OPTIONS_H

#include "apiserver_options.h"
#include "controllers_options.h"

/* What can be left out. */
typedef enum kc__up_part {
    KC__UP_HUB,
    KC__UP_CONTROLLERS,
    KC__UP_PODS,
    KC__UP_INITIAL,
    KC__UP_NETWORKS,
    KC__UP_PARTS,
} kc__up_part;

/* Texts that were not given are NULL. */
typedef struct kc__up_options {
    kc__apiserver_options server; /* First: its flags are ours. */
    kc_controllers_opts controllers;
    bool without[KC__UP_PARTS];
    const char *config, *plugins, *reconcilers;
    const char *network_service, *network_service_address;
    const char *metrics_address, *health_address;
} kc__up_options;

/* Finds contradictions, and settles what depends on other flags. KC_INVALID with a sentence. */
int kc__up_options_check(kc__up_options *options, kc_error *err);

#endif
