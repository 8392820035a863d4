/* SPDX-License-Identifier: Apache-2.0 */
/* admission_config.h: the file of --admission-control-config-file. */
#ifndef KC_APISERVER_ADMISSION_CONFIG_H
#define KC_APISERVER_ADMISSION_CONFIG_H

#include "apiserver/admission/plugin_selection.h"
#include "apiserver/admission/plugins/event_rate_limit.h"
#include "apiserver/admission/plugins/image_policy.h"
#include "apiserver/admission/plugins/pod_node_selector.h"
#include "apiserver/admission/plugins/pod_toleration_restriction.h"
#include "apiserver/admission/pod_security/pod_security_config.h"
#include "apiserver/admission/quota/quota_config.h"

/* Tolerations that DefaultTolerationSeconds adds. */
typedef struct kc__admission_default_toleration_seconds {
    bool given; /* Defaults to 300 seconds for both. */
    int64_t not_ready, unreachable;
} kc__admission_default_toleration_seconds;

/* Configurations of plugins. NULL: the plugin's defaults. */
typedef struct kc__admission_config {
    kc__pod_security_config *pod_security;
    kc__quota_config *quota;
    kc__event_rate_limits *event_rate;
    kc__admission_image_policy *image_policy;
    kc__admission_node_selectors *node_selectors;
    kc__admission_toleration_limits *toleration_limits;
    kc__admission_default_toleration_seconds default_tolerations; /* By flags, not by the file. */
    /* The credentials of the server for admission webhooks. */
    kc__webhook_kubeconfig_users *mutating_users, *validating_users;
    KC_VEC(char *) kubeconfigs; /* Paths of the kubeconfigs that the file names. */
} kc__admission_config;

/* Reads an AdmissionConfiguration. A plugin's configuration is a part of the file or a file of its
 * own; a relative path is relative to the file. A file of the old form is itself the configuration
 * of ImagePolicyWebhook and PodNodeSelector. `ret` is zeroed. Blocks. */
int kc__admission_config_read(const char *path, kc__admission_config *ret, kc_error *err);
/* KC_INVALID if one of the plugins needs a configuration that is not there. */
int kc__admission_config_check(const kc__admission_config *config, kc__admission_selection plugins,
                               kc_error *err);
void kc__admission_config_done(kc__admission_config *config);

#endif
