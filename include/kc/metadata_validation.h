/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_validation.h: whether an object's metadata may be stored, in Kubernetes' words.
 *
 *     kc_scoped(kc_field_errors) errors = {0};
 *     kc_validate_metadata(&errors, kc_get(root, "metadata"),
 *                          &(kc_metadata_rules){.namespaced = true});
 *     return kc_field_errors_to_error(&errors, group, kind, name, err);
 *
 * Each takes a value of a view and adds what is wrong to a list. NULL and null mean that the member
 * is absent. A member of another type than it should have gets an error that says so and is not
 * looked into (Kubernetes refuses it earlier, when decoding). Work is linear in the size of the
 * metadata, and so is the text of the errors.
 */
#ifndef KC_METADATA_VALIDATION_H
#define KC_METADATA_VALIDATION_H

#include "kc/names.h"

typedef struct kc_metadata_rules {
    kc_name_rule name; /* What a name must be. Defaults to a DNS subdomain. */
    bool namespaced;
    const char *field; /* Where the metadata stands. Defaults to "metadata". */
} kc_metadata_rules;

/* Of an object to be created, whose name has been generated if it was to be. */
void kc_validate_metadata(kc_field_errors *errors, const kc_value *metadata,
                          const kc_metadata_rules *rules);
/* Of an object that replaces another: what may not change has not, and the rest is valid. */
void kc_validate_metadata_update(kc_field_errors *errors, const kc_value *metadata,
                                 const kc_value *old, const kc_metadata_rules *rules);

/* Parts of it, for templates and other places that have them too. */
void kc_validate_labels(kc_field_errors *errors, const char *field, const kc_value *labels);
/* Keys, and no more than KC_ANNOTATIONS_MAX bytes of keys and values together. */
void kc_validate_annotations(kc_field_errors *errors, const char *field,
                             const kc_value *annotations);
void kc_validate_owners(kc_field_errors *errors, const char *field, const kc_value *owners);
void kc_validate_finalizers(kc_field_errors *errors, const char *field, const kc_value *finalizers);
void kc_validate_managed_fields(kc_field_errors *errors, const char *field,
                                const kc_value *managed_fields);

#define KC_ANNOTATIONS_MAX (256 * 1024)

#endif
