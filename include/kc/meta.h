/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meta.h: labels, annotations, owners and finalizers of an object, read without parsing the object
 * and changed in an edit.
 *
 *     if (kc_object_label_is(pod, KC_STR("app"), KC_STR("web")))
 *         …
 *     kc_scoped(kc_arena) arena = {0};
 *     kc_meta_iter at = kc_object_labels(pod, &arena);
 *     kc_str key, value;
 *     while (kc_meta_next_pair(&at, &key, &value))
 *         printf("%.*s=%.*s\n", KC_ARG(key), KC_ARG(value));
 *
 * Readers scan the object's bytes: a lookup among ten labels takes some tens of nanoseconds and
 * allocates nothing. Strings with escapes (mostly in annotations) are unescaped into the caller's
 * arena; all other strings are slices of the object. Readers skip members of the wrong type. Any
 * number of threads may read an object, each with its own arena.
 */
#ifndef KC_META_H
#define KC_META_H

#include "kc/arena.h"
#include "kc/edit.h"
#include "kc/kind.h"
#include "kc/object.h"

/* Identifies an object: a namespace (empty for none) and a name. */
typedef struct kc_key {
    kc_str ns, name;
} kc_key;

#define KC_KEY(namespace_, name_) ((kc_key){kc_cstr(namespace_), kc_cstr(name_)})

/* Lives as long as the object. */
kc_key kc_object_key(const kc_object *object);
/* Appends "namespace/name", or "name" when there is no namespace. */
void kc_key_write(kc_buf *out, kc_key key);
/* Parses the same format into slices of `text`. KC_BAD_REQUEST when there are two slashes. */
int kc_key_parse(kc_str text, kc_key *ret, kc_error *err);
bool kc_key_eq(kc_key a, kc_key b);
/* Compares by namespace, then name: the order of lists. */
int kc_key_cmp(kc_key a, kc_key b);

/* True when metadata.deletionTimestamp is set; finalizers may keep the object for a while. */
bool kc_object_being_deleted(const kc_object *object);
bool kc_object_has_managed_fields(const kc_object *object);

/* One label or annotation. p == NULL when it is absent or not a string. */
kc_str kc_object_label(const kc_object *object, kc_str key, kc_arena *arena);
kc_str kc_object_annotation(const kc_object *object, kc_str key, kc_arena *arena);
/* True when the label exists with exactly this value. */
bool kc_object_label_is(const kc_object *object, kc_str key, kc_str value);
bool kc_object_annotation_is(const kc_object *object, kc_str key, kc_str value);
/* True when the label exists, with any value. */
bool kc_object_has_label(const kc_object *object, kc_str key);
bool kc_object_has_annotation(const kc_object *object, kc_str key);
bool kc_object_has_finalizer(const kc_object *object, kc_str name);

/* A position in labels, annotations, finalizers or owner references; use it with the matching
 * kc_meta_next_ function. Valid as long as the object and the arena. */
typedef struct kc_meta_iter {
    const char *at, *end;
    kc_arena *arena;
} kc_meta_iter;

kc_meta_iter kc_object_labels(const kc_object *object, kc_arena *arena);
kc_meta_iter kc_object_annotations(const kc_object *object, kc_arena *arena);
kc_meta_iter kc_object_finalizers(const kc_object *object, kc_arena *arena);
kc_meta_iter kc_object_owners(const kc_object *object, kc_arena *arena);

typedef struct kc_owner {
    kc_str api_version, kind, name, uid;
    bool controller;           /* It is the controller of the object. */
    bool block_owner_deletion; /* In foreground deletion the owner waits for the object. */
} kc_owner;

/* Each returns the next one, or false at the end. */
bool kc_meta_next_pair(kc_meta_iter *iter, kc_str *ret_key, kc_str *ret_value);
bool kc_meta_next_text(kc_meta_iter *iter, kc_str *ret_text);
bool kc_meta_next_owner(kc_meta_iter *iter, kc_owner *ret_owner);

/* The owner that is its controller; false when there is none. */
bool kc_object_controller(const kc_object *object, kc_arena *arena, kc_owner *ret_owner);
/* True if the owner is of this kind, in any version. */
bool kc_owner_is(const kc_owner *owner, const kc_kind *kind);
/* True when an object with this uid owns (controls) it. */
bool kc_object_owned_by(const kc_object *object, kc_str uid);
bool kc_object_controlled_by(const kc_object *object, kc_str uid);
/* A reference to `owner`, for its dependents; lives as long as `owner`. A controller reference also
 * sets blockOwnerDeletion, as everywhere in Kubernetes. */
kc_owner kc_owner_of(const kc_object *owner, bool controller);

/*
 * Modifiers of the metadata of an edit's root, which must be an object. They create metadata and
 * its members where missing, and remove members that become empty. The bool says whether something
 * changed.
 */
void kc_edit_set_name(kc_edit *edit, kc_str name);
void kc_edit_set_namespace(kc_edit *edit, kc_str ns); /* Empty removes it. */
bool kc_edit_set_label(kc_edit *edit, kc_str key, kc_str value);
bool kc_edit_remove_label(kc_edit *edit, kc_str key);
bool kc_edit_set_annotation(kc_edit *edit, kc_str key, kc_str value);
bool kc_edit_remove_annotation(kc_edit *edit, kc_str key);
bool kc_edit_add_finalizer(kc_edit *edit, kc_str name);
bool kc_edit_remove_finalizer(kc_edit *edit, kc_str name);

/* Adds an owner, or updates the reference to the same object (group, kind and name). */
void kc_edit_set_owner(kc_edit *edit, const kc_owner *owner);
/* The same as a controller. KC_CONFLICT when another object is already the controller. */
int kc_edit_set_controller(kc_edit *edit, const kc_owner *owner, kc_error *err);
bool kc_edit_remove_owner(kc_edit *edit, kc_str uid);

#endif
