/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_rules.h: validation of pods and pod templates.
 */
#ifndef KC_APISERVER_POD_RULES_H
#define KC_APISERVER_POD_RULES_H

#include "apiserver/kinds/validate_rules.h"

/* Validates a PodSpec. */
void kc__validate_pod_spec(const kc__location *spec);
/* Validates a PodTemplateSpec: labels, annotations and the spec. */
void kc__validate_pod_template(const kc__location *template);

/* pod_status_rules.c: validate the status of a Pod, and the annotations that Kubernetes
 * interprets. */
void kc__validate_pod_status(const kc__location *status);
void kc__validate_pod_annotations(const kc__location *pod);

/* volume_rules.c: validates a list of volumes; `ret_volumes` gets the valid ones by name. */
void kc__validate_volumes(const kc__location *volumes, kc_map *ret_volumes);
/* volume_remote_rules.c: returns the rules of a remote volume source ("nfs"); NULL if it has
 * none. */
const kc__validate_rule_table *kc__validate_remote_volume_rules(const char *source);
/* Validates the driver name of a CSI volume. */
void kc__validate_driver_name(const kc__location *driver);
void kc__validate_driver(const kc__location *source);
/* claim_rules.c: validates the spec of a PersistentVolumeClaim. */
void kc__validate_claim_spec(const kc__location *spec);
/* The path must not contain ".."; if `relative`, it must not start with "/". */
void kc__validate_path(const kc__location *path, bool relative);
/* reference_rules.c: validates a reference to a field of the pod; `paths` ends with NULL. */
void kc__validate_field_ref(const kc__location *ref, const char *const *paths);
void kc__validate_resource_field_ref(const kc__location *ref, bool in_volume);

/* The context that container validation needs from the pod. */
typedef struct kc__validate_pod_context {
    kc_map volumes;  /* The valid volumes, by name. */
    kc_map claims;   /* spec.resourceClaims, by name. */
    bool host_users; /* The pod uses the user namespace of the host. */
    int64_t grace;   /* Termination grace period in seconds. */
    bool never;      /* The restart policy is Never. */
} kc__validate_pod_context;

/* Returns the context without volumes and claims, which their validation adds. */
kc__validate_pod_context kc__validate_pod_context_of(const kc__location *spec);

/* container_rules.c: validates what containers of all types have in common. */
void kc__validate_container(const kc__location *container, const kc__validate_pod_context *pod);
/* mount_rules.c: volumeMounts and volumeDevices. */
void kc__validate_mounts(const kc__location *container, const kc_map *volumes);
/* probe_rules.c: validates probes and lifecycle handlers. */
void kc__validate_probes(const kc__location *container, int64_t grace);
/* resource_rules.c: validate {"limits": …, "requests": …} of a container, and of a pod. */
void kc__validate_resources(const kc__location *resources, const kc_map *claims);
void kc__validate_pod_resources(const kc__location *spec, const kc_map *claims);
/* Validates spec.resourceClaims; `ret_claims` gets them by name. */
void kc__validate_resource_claims(const kc__location *claims, kc_map *ret_claims);

void kc__validate_tolerations(const kc__location *tolerations);

/* affinity_rules.c: validate node and pod affinity and topology spread constraints. */
void kc__validate_affinity(const kc__location *affinity);
void kc__validate_spread(const kc__location *constraints);
/* Validates a NodeSelector, of pods and of volumes. */
void kc__validate_node_selector(const kc__location *selector);

/* security_rules.c: validate the security context of the pod and of each container. */
void kc__validate_pod_security(const kc__location *spec);
void kc__validate_container_security(const kc__location *context, bool host_users);
/* system_rules.c: Windows host processes, hostUsers, spec.os. */
void kc__validate_host_processes(const kc__location *spec);
void kc__validate_host_users(const kc__location *spec);
void kc__validate_system(const kc__location *spec);

/* dns_rules.c */
void kc__validate_dns_config(const kc__location *spec);
void kc__validate_host_aliases(const kc__location *aliases);

#endif
