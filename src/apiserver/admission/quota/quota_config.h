/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_config.h: the configuration of the plugin ResourceQuota: resources that may be used only in
 * namespaces with a quota for them.
 */
#ifndef KC_APISERVER_QUOTA_CONFIG_H
#define KC_APISERVER_QUOTA_CONFIG_H

#include "kc/error.h"
#include "kc/view.h"

/* Immutable. */
typedef struct kc__quota_config {
    kc_view *source;
    const kc_value *limited; /* limitedResources, an array; may be NULL. */
} kc__quota_config;

/* Reads a ResourceQuotaConfiguration (apiserver.config.k8s.io/v1, YAML or JSON). NULL on error:
 * KC_INVALID. The caller frees it. */
kc__quota_config *kc__quota_config_parse(kc_str text, kc_error *err);
/* NULL is allowed. Returns NULL. */
kc__quota_config *kc__quota_config_free(kc__quota_config *config);
KC_AUTO_DEFINE(kc__quota_config, kc__quota_config_free)

#endif
