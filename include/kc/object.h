/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h: an API object: immutable, reference-counted, one block of memory.
 *
 * A kc_object is a small header and the object's canonical JSON text. Creating one validates the
 * text and locates its metadata; the rest is parsed only for a view (view.h). To change an object,
 * create an edit of it (edit.h) and freeze the edit.
 *
 *     kc_auto(kc_object) *pod = kc_object_parse(body, NULL, err);
 *     if (!pod)
 *         return kc_error_result(err);
 *     printf("%.*s\n", KC_ARG(kc_object_name(pod)));
 *
 * Accessors are O(1) (creation timestamp and managed fields: a scan of the metadata), allocate
 * nothing, and return slices that live as long as the object. Any number of threads may use one
 * object; the reference count is atomic.
 */
#ifndef KC_OBJECT_H
#define KC_OBJECT_H

#include "kc/error.h"
#include "kc/json.h"

typedef struct kc_object kc_object;

/*
 * Parses text, which must be a JSON object; opts may be NULL. The last of several members with the
 * same name counts. NULL on error: KC_BAD_REQUEST with a line and a column, or KC_TOO_LARGE.
 * Missing or mistyped metadata is not an error: its fields are then empty.
 */
kc_object *kc_object_parse(kc_str json, const kc_json_opts *opts, kc_error *err);

kc_object *kc_object_ref(const kc_object *object);
kc_object *kc_object_unref(const kc_object *object);
KC_AUTO_DEFINE(kc_object, kc_object_unref)

/* The canonical text; terminated, without the terminator in its length. */
kc_str kc_object_json(const kc_object *object);
/* Bytes of memory, header included. */
size_t kc_object_size(const kc_object *object);

/* Strings; empty when absent or not a string. */
kc_str kc_object_api_version(const kc_object *object);
kc_str kc_object_kind(const kc_object *object);
kc_str kc_object_name(const kc_object *object);
kc_str kc_object_namespace(const kc_object *object);
kc_str kc_object_uid(const kc_object *object);
kc_str kc_object_resource_version(const kc_object *object);
kc_str kc_object_creation_timestamp(const kc_object *object);
kc_str kc_object_deletion_timestamp(const kc_object *object);
/* metadata.resourceVersion as a number; 0 when it is not one. */
uint64_t kc_object_revision(const kc_object *object);
/* metadata.generation; 0 when absent. */
int64_t kc_object_generation(const kc_object *object);

/*
 * Canonical JSON text of these members of metadata; empty when absent. Parse them with
 * kc_view_parse, or read them with meta.h.
 */
kc_str kc_object_metadata_json(const kc_object *object);
kc_str kc_object_labels_json(const kc_object *object);
kc_str kc_object_annotations_json(const kc_object *object);
kc_str kc_object_owners_json(const kc_object *object);
kc_str kc_object_finalizers_json(const kc_object *object);
kc_str kc_object_managed_fields_json(const kc_object *object);

/*
 * A copy with another metadata.resourceVersion (added if absent, with metadata if that is absent,
 * too) or another apiVersion. Splices the text without parsing it.
 */
kc_object *kc_object_with_revision(const kc_object *object, uint64_t revision);
kc_object *kc_object_with_api_version(const kc_object *object, kc_str api_version);
/* A copy with another metadata.managedFields: canonical JSON text of an array; empty removes it. */
kc_object *kc_object_with_managed_fields(const kc_object *object, kc_str json);
/* A copy without metadata.managedFields, in the smallest possible memory, for caches. Returns
 * another reference to the same object when nothing can be saved. */
kc_object *kc_object_without_managed_fields(const kc_object *object);

#endif
