/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_config.h: the configurations of plugins, as the plugins read them. The folder of a plugin
 * defines the type of its configuration; admission_config.h reads all of them from a file.
 */
#ifndef KC_APISERVER_PLUGIN_CONFIG_H
#define KC_APISERVER_PLUGIN_CONFIG_H

#include "kc/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Tolerations that DefaultTolerationSeconds adds. */
typedef struct kc__admission_default_toleration_seconds {
    bool given; /* Defaults to 300 seconds for both. */
    int64_t not_ready, unreachable;
} kc__admission_default_toleration_seconds;

/* Configurations of plugins. NULL: the plugin's defaults. */
typedef struct kc__admission_config {
    struct kc__pod_security_config *pod_security;
    struct kc__quota_config *quota;
    struct kc__event_rate_limits *event_rate;
    struct kc__admission_image_policy *image_policy;
    struct kc__admission_node_selectors *node_selectors;
    struct kc__admission_toleration_limits *toleration_limits;
    kc__admission_default_toleration_seconds default_tolerations; /* By flags, not by the file. */
    /* The credentials of the server for admission webhooks. */
    struct kc__webhook_kubeconfig_users *mutating_users, *validating_users;
    KC_VEC(char *) kubeconfigs; /* Paths of the kubeconfigs that the file names. */
} kc__admission_config;

#endif
