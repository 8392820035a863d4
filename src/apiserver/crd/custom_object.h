/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_object.h: objects of custom resources: from the request body to the stored form, and back.
 *
 *     body ─ kc__custom_check_kind ─ kc__custom_decode ─ kc__custom_prepare ─ kc__custom_validate
 *          ─ kc__custom_to_storage ─▶ store ─ kc__custom_read ─▶ response
 *
 * A kc__custom is the version of a CRD (crd_resource.h) that the request names. Every step is a
 * pure function. A function that returns an object passes a reference to the caller, and returns
 * the same object if nothing changes. Any thread.
 */
#ifndef KC_APISERVER_CUSTOM_OBJECT_H
#define KC_APISERVER_CUSTOM_OBJECT_H

#include "apiserver/crd/crd_resource.h"
#include "apiserver/kinds/scale_values.h"
#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/json.h"

/* ---- decoding ---- */

/* Refuses (KC_BAD_REQUEST) an object without kind or apiVersion, or of another version. Another
 * kind is refused by validation, as in Kubernetes. */
int kc__custom_check_kind(const kc__custom *custom, const kc_object *input, kc_error *err);

/*
 * Prunes fields that the schema does not know, drops meaningless nulls, coerces all metadata, sets
 * defaults. The result of an apply (`applied`) keeps nulls and the metadata of embedded resources.
 * `unknown` may be NULL and gets the paths of dropped fields: those in metadata first, the others
 * sorted. `ret_view` may be NULL; it gets a view of the result, if that has no managedFields. NULL
 * on error: metadata of the wrong type (KC_BAD_REQUEST, with Go's message), or an object that is
 * too large.
 */
kc_object *kc__custom_decode(const kc__custom *custom, const kc_object *input, bool applied,
                             kc_paths *unknown, kc_view **ret_view, kc_error *err);

/* Sets the defaults only, as after admission has changed an object. */
kc_object *kc__custom_default(const kc__custom *custom, const kc_object *object, kc_error *err);

/* ---- preparing ---- */

/* Prepares an object for create: removes its status if status is a subresource. */
kc_object *kc__custom_prepare(const kc__custom *custom, const kc_object *object, kc_error *err);
/*
 * Prepares an object that replaces `old`, both of the custom's version. subresource NULL: if status
 * is a subresource, the old status is kept. "status": only the status changes; everything else is
 * kept, including metadata, except managedFields.
 */
kc_object *kc__custom_prepare_update(const kc__custom *custom, const kc_object *object,
                                     const kc_object *old, const char *subresource, kc_error *err);
/* Whether anything but the metadata differs, after preparing: the generation then increases, unless
 * the status was updated. */
bool kc__custom_differs(const kc_object *a, const kc_object *b);

/* ---- validating ---- */

typedef struct kc__custom_rules {
    const kc_value *old;     /* The object it replaces. Defaults to none: a create. */
    const char *subresource; /* "status". Defaults to the object itself. */
    bool metadata_checked;   /* The caller has validated the metadata. */
    kc_paths *warnings;      /* Receives broken rules of unchanged values. May be NULL. */
    uint64_t stop_at;        /* Limit of the cost of CEL rules. Defaults to Kubernetes' budget. */
} kc__custom_rules;

/* Adds the validation errors, with Kubernetes' messages and order. `rules` may be NULL. False when
 * CEL rules exceed `stop_at`: the errors are incomplete. */
bool kc__custom_validate(const kc__custom *custom, const kc_value *object,
                         const kc__custom_rules *rules, kc_field_errors *errors);
/* Adds a warning for each new finalizer whose name is not qualified. `old` may be NULL. */
void kc__custom_warnings(const kc_value *object, const kc_value *old, kc_paths *warnings);

/* ---- the store ---- */

/*
 * With strategy None, kc__custom_to_storage and kc__custom_read convert. With a webhook they are
 * for objects that have the right version already, and kc__custom_read returns the kept conversion
 * of others (crd_conversion.h). The converter calls the two parts of kc__custom_read before and
 * after the webhook.
 */

/* The stored form: in the storage version, pruned by its schema. */
kc_object *kc__custom_to_storage(const kc__custom *custom, const kc_object *object, kc_error *err);
/* Converts a stored object to this version: with the defaults of the version in which it was
 * stored, pruned by this version's schema. NULL on error: defaults exceed their budget
 * (KC_STORE_READ_ERROR). */
kc_object *kc__custom_read(const kc__custom *custom, const kc_object *stored, kc_error *err);

/* The first part of kc__custom_read: a stored object with the defaults of its version. */
kc_object *kc__custom_read_stored(const kc__custom *custom, const kc_object *stored, kc_error *err);
/* The last part: an object that a webhook has converted, coerced by the schema of this version. */
kc_object *kc__custom_coerce_converted(const kc__custom *custom, const kc_object *converted,
                                       kc_error *err);

/* ---- stored metadata (custom_stored_metadata.c) ---- */

/* Writes the members of merged metadata that ObjectMeta drops or changes as a JSON object, or
 * nothing. */
void kc__custom_find_merged_metadata(const kc_value *metadata, kc_buf *out);
/* An object to be stored, with these members, except those that were changed since. */
kc_object *kc__custom_with_merged_metadata(const kc_object *object, kc_str members, kc_error *err);
/* A stored object without such members. Never NULL. */
kc_object *kc__custom_coerce_metadata(const kc_object *stored);

/* ---- the scale ---- */

/* Reads the values of an object's scale; strings stay the object's. KC_INTERNAL if spec.replicas is
 * missing and `needs` is set, KC_BAD_REQUEST if a value has the wrong type. 0 or negative.
 * kinds/scale_values.h makes a Scale of them. */
int kc__custom_scale_read(const kc__custom *custom, const kc_value *object, bool needs,
                          kc__scale_values *ret, kc_error *err);
/* Sets the number of replicas in the spec. 0 or negative. */
int kc__custom_scale_write(const kc__custom *custom, kc_edit *edit, int64_t replicas,
                           kc_error *err);

#endif
