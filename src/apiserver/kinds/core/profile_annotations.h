/* SPDX-License-Identifier: Apache-2.0 */
/* profile_annotations.h: validation of the annotations that name seccomp and AppArmor profiles. */
#ifndef KC_APISERVER_PROFILE_ANNOTATIONS_H
#define KC_APISERVER_PROFILE_ANNOTATIONS_H

#include "apiserver/kinds/location.h"
#include "kc/view.h"

/* The annotations themselves, of a pod or a template with this spec. */
void kc__validate_profile_annotations(const kc__location *annotations, const kc_value *spec);
/* They must not contradict the fields of the spec. For new pods and all templates. */
void kc__validate_profile_fields(const kc__location *annotations, const kc__location *spec);
/* Annotations of a pod that an update must not change; the mirror annotation is another. */
void kc__validate_profile_changes(const kc__location *annotations, const kc_value *old);

#endif
