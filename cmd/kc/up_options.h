/* SPDX-License-Identifier: Apache-2.0 */
/* up_options.h: the parsed and checked flags of `kc up`. */
#ifndef KC_CMD_UP_OPTIONS_H
#define KC_CMD_UP_OPTIONS_H

#include "apiserver_options.h"
#include "certificate_signer.h"
#include "controllers_options.h"

/* Parts that --without excludes. */
typedef enum kc__cli_up_part {
    KC__CLI_UP_HUB,
    KC__CLI_UP_CONTROLLERS,
    KC__CLI_UP_PODS,
    KC__CLI_UP_INITIAL,
    KC__CLI_UP_NETWORKS,
    KC__CLI_UP_PARTS,
} kc__cli_up_part;

/* The flags about a directory of manifests. */
typedef struct kc__cli_manifests_options {
    const char *dir; /* NULL: none. */
    bool prune;
    int64_t resync;
} kc__cli_manifests_options;

/* Strings that were not set are NULL. */
typedef struct kc__cli_up_options {
    kc__cli_apiserver_options server; /* Flags of `kc apiserver`. */
    kc_controllers_opts controllers;
    kc__cli_signing_options signing;
    bool without[KC__CLI_UP_PARTS];
    bool pods_need_root; /* Set by the check: pods are simulated because kc is not root. */
    const char *config, *plugins, *reconcilers;
    const char *network_service, *network_service_address, *network_service_token_file;
    const char *metrics_address, *health_address;
    kc__cli_manifests_options manifests;
} kc__cli_up_options;

/* Refuses contradicting flags (KC_INVALID) and derives dependent values. */
int kc__cli_up_options_check(kc__cli_up_options *options, kc_error *err);

#endif
