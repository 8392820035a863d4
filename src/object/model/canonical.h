/* SPDX-License-Identifier: Apache-2.0 */
/* canonical.h: objects of text that this program has written, and views of their parts. */
#ifndef KC_OBJECT_MODEL_CANONICAL_H
#define KC_OBJECT_MODEL_CANONICAL_H

#include "kc/object.h"
#include "kc/view.h"

/*
 * Creates an object of text that is canonical (json.h) because it was assembled from parts of
 * objects and from constants. The scanner finds the parts and checks the limits, but does not look
 * for duplicate members: in a map of many members, that would take a full parse. NULL when a limit
 * is exceeded; the caller drops the reference.
 */
kc_object *kc__object_of_canonical(kc_str json, kc_error *err);

/*
 * A copy of an object with other metadata: `metadata` is canonical text of an object without
 * managedFields, which are the JSON array `managed`, or empty for none. The object must have
 * metadata (kc_object_metadata_json). Scans the new metadata only. NULL when a limit is exceeded;
 * the caller drops the reference.
 */
kc_object *kc__object_with_metadata(const kc_object *object, kc_str metadata, kc_str managed,
                                    kc_error *err);

/*
 * A view of the same object in which the member `name`, which it has, is the value of canonical
 * JSON. Takes over `view`, which may be NULL: NULL then. Copies the cells, but neither strings nor
 * text, so it costs a fraction of parsing the object again.
 */
kc_view *kc__object_view_with_member(kc_view *view, const char *name, kc_str json);

/* Whether a value is or contains, at any depth, null; an empty list or object. */
bool kc__value_has_null(const kc_value *value);
bool kc__value_has_empty(const kc_value *value);

#endif
