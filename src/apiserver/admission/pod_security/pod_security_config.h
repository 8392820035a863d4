/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_config.h: the configuration of the plugin PodSecurity: the policy of namespaces
 * without labels, and what is exempt.
 */
#ifndef KC_APISERVER_POD_SECURITY_CONFIG_H
#define KC_APISERVER_POD_SECURITY_CONFIG_H

#include "apiserver/admission/pod_security/pod_security_policy.h"
#include "apiserver/call/call.h"
#include "kc/map.h"

/* Zero: privileged:latest, nothing is exempt. Immutable. */
typedef struct kc__pod_security_config {
    kc__pod_security_policy defaults;
    kc_map namespaces, usernames, runtime_classes; /* What is exempt, by name. */
    kc_view *source;                               /* Owns the names. */
} kc__pod_security_config;

/*
 * Reads a PodSecurityConfiguration (pod-security.admission.config.k8s.io/v1, YAML or JSON). NULL on
 * error: KC_INVALID names all fields that are wrong. The caller frees it.
 */
kc__pod_security_config *kc__pod_security_config_parse(kc_str text, kc_error *err);
/* NULL is allowed. Returns NULL. */
kc__pod_security_config *kc__pod_security_config_free(kc__pod_security_config *config);
KC_AUTO_DEFINE(kc__pod_security_config, kc__pod_security_config_free)

/* The configuration of the server. Never NULL. */
const kc__pod_security_config *kc__pod_security_config_of(const kc__rest_call *call);
/* Whether a name is exempt. An empty name never is. */
#define kc__pod_security_is_exempt(names, name) \
    (!kc_str_empty(name) && kc_map_get(&(names), name) != NULL)

#endif
