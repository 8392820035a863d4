/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_rules.h: what is checked in pods and in templates of pods.
 */
#ifndef KC_APISERVER_POD_RULES_H
#define KC_APISERVER_POD_RULES_H

#include "apiserver/kinds/rules.h"

/* A PodSpec. */
void kc__check_pod_spec(const kc__place *spec);
/* A PodTemplateSpec: labels, annotations and the spec. */
void kc__check_pod_template(const kc__place *template);

/* pod_status_rules.c: the status of a Pod, and annotations that mean something to Kubernetes. */
void kc__check_pod_status(const kc__place *status);
void kc__check_pod_annotations(const kc__place *pod);

/* volume_rules.c: a list of volumes; `ret_volumes` gets the right ones by name. */
void kc__check_volumes(const kc__place *volumes, kc_map *ret_volumes);
/* volume_remote_rules.c: of a source that is elsewhere ("nfs"); NULL when there are none. */
const kc__rules *kc__remote_volume_rules(const char *source);
/* The driver of a CSI volume, and its name. */
void kc__check_driver_name(const kc__place *driver);
void kc__check_driver(const kc__place *source);
/* claim_rules.c: the spec of a PersistentVolumeClaim. */
void kc__check_claim_spec(const kc__place *spec);
/* No "..", and where `relative` no "/" at the start. */
void kc__check_path(const kc__place *path, bool relative);
/* reference_rules.c: a reference to a field of the pod; `paths` ends with NULL. */
void kc__check_field_ref(const kc__place *ref, const char *const *paths);
void kc__check_resource_field_ref(const kc__place *ref, bool in_volume);

/* What containers need to know of their pod. */
typedef struct kc__pod_around {
    kc_map volumes;  /* The right ones, by name. */
    kc_map claims;   /* spec.resourceClaims, by name. */
    bool host_users; /* Its users are those of the host. */
    int64_t grace;   /* Seconds it has to end. */
    bool never;      /* Its containers are not started again. */
} kc__pod_around;

/* All but the volumes and claims, which checking them finds. */
kc__pod_around kc__pod_around_of(const kc__place *spec);

/* container_rules.c: what all containers share, and what only those that run on do. */
void kc__check_container(const kc__place *container, const kc__pod_around *pod);
/* mount_rules.c: volumeMounts and volumeDevices. */
void kc__check_mounts(const kc__place *container, const kc_map *volumes);
/* probe_rules.c: probes and what runs at the start and the end. */
void kc__check_probes(const kc__place *container, int64_t grace);
/* resource_rules.c: {"limits": …, "requests": …} of a container, and of a pod. */
void kc__check_resources(const kc__place *resources, const kc_map *claims);
void kc__check_pod_resources(const kc__place *spec, const kc_map *claims);
/* spec.resourceClaims; `ret_claims` gets them by name. */
void kc__check_resource_claims(const kc__place *claims, kc_map *ret_claims);

void kc__check_tolerations(const kc__place *tolerations);

/* affinity_rules.c: where a pod wants to run, and beside which. */
void kc__check_affinity(const kc__place *affinity);
void kc__check_spread(const kc__place *constraints);
/* A NodeSelector; of volumes too. */
void kc__check_node_selector(const kc__place *selector);

/* security_rules.c: what the pod, and each of its containers, may do on its host. */
void kc__check_pod_security(const kc__place *spec);
void kc__check_container_security(const kc__place *context, bool host_users);
/* system_rules.c: processes of a Windows host, users of the host, spec.os. */
void kc__check_host_processes(const kc__place *spec);
void kc__check_host_users(const kc__place *spec);
void kc__check_system(const kc__place *spec);

/* dns_rules.c */
void kc__check_dns_config(const kc__place *spec);
void kc__check_host_aliases(const kc__place *aliases);

#endif
