/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_validation.h: validates an object's metadata, with Kubernetes' messages.
 *
 *     kc_scoped(kc_field_errors) errors = {0};
 *     kc_validate_metadata(&errors, kc_value_get(root, "metadata"),
 *                          &(kc_metadata_rules){.namespaced = true});
 *     return kc_field_errors_to_error(&errors, group, kind, name, err);
 *
 * Each function takes a value of a view and adds errors to a list. NULL and null mean that the
 * member is absent. A member of the wrong type gets an error and is not inspected further
 * (Kubernetes rejects it earlier, when decoding). Time and the size of the errors are linear in the
 * size of the metadata.
 */
#ifndef KC_METADATA_VALIDATION_H
#define KC_METADATA_VALIDATION_H

#include "kc/names.h"

typedef struct kc_metadata_rules {
    kc_name_rule name; /* Rule for the name. Defaults to a DNS subdomain. */
    bool namespaced;
    const char *field; /* Path of the metadata. Defaults to "metadata". */
} kc_metadata_rules;

/* For an object to be created, after its name was generated. */
void kc_validate_metadata(kc_field_errors *errors, const kc_value *metadata,
                          const kc_metadata_rules *rules);
/* For an update: immutable fields are unchanged, and the rest is valid. */
void kc_validate_metadata_update(kc_field_errors *errors, const kc_value *metadata,
                                 const kc_value *old, const kc_metadata_rules *rules);

/* Parts of metadata, for templates and other objects that contain them. */
void kc_validate_labels(kc_field_errors *errors, const char *field, const kc_value *labels);
/* Checks the keys, and that keys and values together have at most KC_ANNOTATIONS_MAX bytes. */
void kc_validate_annotations(kc_field_errors *errors, const char *field,
                             const kc_value *annotations);
void kc_validate_owners(kc_field_errors *errors, const char *field, const kc_value *owners);
void kc_validate_finalizers(kc_field_errors *errors, const char *field, const kc_value *finalizers);
void kc_validate_managed_fields(kc_field_errors *errors, const char *field,
                                const kc_value *managed_fields);

#define KC_ANNOTATIONS_MAX (256 * 1024)

#endif
