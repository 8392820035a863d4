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

/* volume_rules.c: a list of volumes; `ret_volumes` gets the right ones by name. */
void kc__check_volumes(const kc__place *volumes, kc_map *ret_volumes);
/* No "..", and where `relative` no "/" at the start. */
void kc__check_path(const kc__place *path, bool relative);
/* A reference to a field of the pod; `paths` ends with NULL. */
void kc__check_field_ref(const kc__place *ref, const char *const *paths);
void kc__check_resource_field_ref(const kc__place *ref, bool in_volume);

/* container_rules.c: what all containers share, and what only those that run on do. */
void kc__check_container(const kc__place *container, const kc_map *volumes);
void kc__check_probes(const kc__place *container);
/* probe_rules.c */
void kc__check_probe(const kc__place *probe);
void kc__check_lifecycle(const kc__place *lifecycle);
/* resource_rules.c: {"limits": …, "requests": …} */
void kc__check_resources(const kc__place *resources);

void kc__check_tolerations(const kc__place *tolerations);

#endif
