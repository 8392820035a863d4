/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_object.h: objects of custom resources: from what a client sends to what is stored, and
 * back.
 *
 *     body ─ kc__custom_check_kind ─ kc__custom_decode ─ kc__custom_prepare ─ kc__custom_validate
 *          ─ kc__custom_to_storage ─▶ store ─ kc__custom_read ─▶ answer
 *
 * A kc__custom is a version of a definition (crd_resource.h): the one of the request. Every step is
 * a function of its arguments; each that returns an object gives the caller a reference, and the
 * same object when nothing changes. Any thread.
 */
#ifndef KC_APISERVER_CUSTOM_OBJECT_H
#define KC_APISERVER_CUSTOM_OBJECT_H

#include "apiserver/crd/crd_resource.h"
#include "apiserver/kinds/scale.h"
#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/json.h"

/* ---- what comes in ---- */

/* Refuses (KC_BAD_REQUEST) an object that does not say what it is, or is of another version.
 * Another kind is for validation to refuse, as in Kubernetes. */
int kc__custom_check_kind(const kc__custom *custom, const kc_object *given, kc_error *err);

/*
 * Prunes what the schema does not know, drops nulls that mean nothing, gives all metadata its type,
 * fills in defaults. `unknown` may be NULL, and gets the paths of what was dropped: those in
 * metadata first, the others sorted. NULL on error: metadata of the wrong type (KC_BAD_REQUEST, in
 * Go's words), or too large.
 */
kc_object *kc__custom_decode(const kc__custom *custom, const kc_object *given, kc_paths *unknown,
                             kc_error *err);

/* The defaults alone, as after admission has changed an object. */
kc_object *kc__custom_default(const kc__custom *custom, const kc_object *object, kc_error *err);

/* ---- preparing ---- */

/* One to be created: its status goes where that is a subresource. */
kc_object *kc__custom_prepare(const kc__custom *custom, const kc_object *object, kc_error *err);
/*
 * One that replaces `old`, both of the custom's version. subresource NULL: where the status is a
 * subresource, the old one stays. "status": only the status changes, metadata included in what
 * stays, but for managedFields.
 */
kc_object *kc__custom_prepare_update(const kc__custom *custom, const kc_object *object,
                                     const kc_object *old, const char *subresource, kc_error *err);
/* Whether anything but the metadata is another, after preparing: the generation then grows, unless
 * it is the status that was updated. */
bool kc__custom_differs(const kc_object *a, const kc_object *b);

/* ---- validating ---- */

typedef struct kc__custom_rules {
    const kc_value *old;     /* What it replaces. Defaults to nothing: it is new. */
    const char *subresource; /* "status". Defaults to the object itself. */
    bool metadata_checked;   /* The caller did. */
} kc__custom_rules;

/* Adds what is wrong with it, in Kubernetes' words and order. `rules` may be NULL. */
void kc__custom_validate(const kc__custom *custom, const kc_value *object,
                         const kc__custom_rules *rules, kc_field_errors *errors);
/* Adds a sentence for each finalizer that is new and not named as it should be. `old` may be NULL.
 */
void kc__custom_warnings(const kc_value *object, const kc_value *old, kc_paths *warnings);

/* ---- the store ---- */

/* As it is stored: in the storage version, without what that does not know. */
kc_object *kc__custom_to_storage(const kc__custom *custom, const kc_object *object, kc_error *err);
/* As this version shows what is stored: with the defaults of the version it was stored in, without
 * what this one does not know. */
kc_object *kc__custom_read(const kc__custom *custom, const kc_object *stored, kc_error *err);

/* ---- the scale ---- */

/* The numbers of an object of a version that has a scale; the text stays the object's. KC_INTERNAL
 * when there are no replicas in its spec and it `needs` them, KC_BAD_REQUEST when a value has the
 * wrong type. 0 or negative. kinds/scale.h makes a Scale of them. */
int kc__custom_scale_read(const kc__custom *custom, const kc_value *object, bool needs,
                          kc__scale *ret, kc_error *err);
/* Sets the number of replicas in its spec. 0 or negative. */
int kc__custom_scale_write(const kc__custom *custom, kc_edit *edit, int64_t replicas,
                           kc_error *err);

#endif
