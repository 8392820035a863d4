/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h: an API object: immutable, counted, one block of memory.
 *
 * A kc_object is a small header and the object's canonical JSON text. Making one validates the text
 * and finds its metadata; nothing else is parsed until somebody asks for a view (view.h). To change
 * an object, make an edit of it (edit.h) and freeze that.
 *
 *     kc_auto(kc_object) *pod = kc_object_parse(body, NULL, err);
 *     if (!pod)
 *         return -1;
 *     printf("%.*s\n", KC_ARG(kc_object_name(pod)));
 *
 * Accessors are O(1) (creation timestamp and managed fields: a walk over the metadata), allocate
 * nothing, and give slices that live as long as the object. Any number of threads may use one
 * object; references are counted atomically.
 */
#ifndef KC_OBJECT_H
#define KC_OBJECT_H

#include "kc/error.h"
#include "kc/json.h"

typedef struct kc_object kc_object;

/*
 * From text, which must be a JSON object; opts may be NULL. Of members with the same name the last
 * counts. NULL on error: KC_BAD_REQUEST with a line and a column, or KC_TOO_LARGE. A missing or
 * mistyped metadata is no error here; its fields are then empty.
 */
kc_object *kc_object_parse(kc_str json, const kc_json_opts *opts, kc_error *err);

kc_object *kc_object_ref(const kc_object *object);
kc_object *kc_object_unref(const kc_object *object);
KC_AUTO_DEFINE(kc_object, kc_object_unref)

/* The canonical text; terminated, the terminator not counted. */
kc_str kc_object_json(const kc_object *object);
/* Bytes of memory it takes, header included. */
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
 * JSON text of these members of metadata, canonical; empty when absent. kc_view_parse reads them;
 * meta.h knows their contents.
 */
kc_str kc_object_metadata_json(const kc_object *object);
kc_str kc_object_labels_json(const kc_object *object);
kc_str kc_object_annotations_json(const kc_object *object);
kc_str kc_object_owners_json(const kc_object *object);
kc_str kc_object_finalizers_json(const kc_object *object);
kc_str kc_object_managed_fields_json(const kc_object *object);

/*
 * The same object with another metadata.resourceVersion (added if absent, with a metadata if that
 * is absent too) or another apiVersion: a copy with a splice, no parsing.
 */
kc_object *kc_object_with_revision(const kc_object *object, uint64_t revision);
kc_object *kc_object_with_api_version(const kc_object *object, kc_str api_version);
/* The same without metadata.managedFields, in no more memory than it needs: for keeping. Another
 * reference to it when there is nothing to save. */
kc_object *kc_object_without_managed_fields(const kc_object *object);

#endif
