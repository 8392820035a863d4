/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes.h: what webhooks and policies see of a request: its attributes, and its objects in the
 * version of the request.
 */
#ifndef KC_APISERVER_ADMISSION_ATTRIBUTES_H
#define KC_APISERVER_ADMISSION_ATTRIBUTES_H

#include "apiserver/admission/chain/matching.h"
#include "apiserver/call/call.h"

/* Whether the object is never shown to webhooks and policies, so that a broken one can be
 * repaired: configurations of webhooks, policies and their bindings. */
bool kc__admission_is_exempt(const kc__rest_call *call);
/* Whether the request deletes objects: there is no new object. */
bool kc__admission_deletes(const kc__rest_call *call);

/*
 * The attributes of a request about these objects, which may be NULL. Borrows them. The caller
 * drops `space`, a reference. Texts are in the call's arena.
 */
kc__admission_attributes kc__admission_attributes_of(kc__rest_call *call, const kc_object *object,
                                                     const kc_object *old);
/* Sets the name again, from a new object. */
void kc__admission_attributes_rename(kc__rest_call *call, kc__admission_attributes *about);

/* An object in the version of the request, or its Scale. NULL: call->error. The caller drops the
 * reference, as of the next two. */
kc_object *kc__admission_shown(kc__rest_call *call, const kc_object *object);
/* The draft, as mutating admission sees it. */
kc_object *kc__admission_shown_draft(kc__rest_call *call);
/* The prepared object, as validating admission sees it. */
kc_object *kc__admission_shown_proposed(kc__rest_call *call);
/* The body of a subresource that replaces the object: a Binding, an Eviction. */
kc_object *kc__admission_shown_body(kc__rest_call *call);

/* Whether the object is of a subresource's kind: a Scale, a Binding, an Eviction. Such a kind has
 * one version and no defaults. */
bool kc__admission_has_own_kind(const kc__admission_attributes *about);
/* Whether a conversion webhook must convert the object to the version `as` of the resource
 * (object_versions.h). NULL is allowed. */
bool kc__admission_is_remote(const kc__admission_attributes *about, const kc_object *object,
                             const kc__resource *as);
/* Converts an object to the version `as` of the resource. An object of a resource with a conversion
 * webhook is returned as it is: the webhook has converted it before. *ret is NULL for NULL. */
int kc__admission_convert(const kc__admission_attributes *about, const kc_object *object,
                          const kc__resource *as, kc_object **ret, kc_error *err);

/* ---- the object that mutating admission changes ---- */

/* Decodes an object that a patch made, in the version `as`. `type` is the resource of the object,
 * or the kind of a subresource. NULL on error; `strict`: also for unknown fields. */
kc_object *kc__admission_decode_patched(const kc__admission_attributes *about,
                                        const kc__resource *type, const kc__resource *as,
                                        kc_object *patched, bool strict, kc_error *err);
/* Sets defaults, and converts the object to the form and version of the draft. */
int kc__admission_default_patched(const kc__admission_attributes *about, const kc__resource *as,
                                  const kc_object *decoded, kc__draft *ret, kc_error *err);
/* The object of a draft in the version of the request. */
kc_object *kc__admission_show_target(const kc__admission_attributes *about, const kc_object *target,
                                     kc_error *err);
/* The message about a patch that does not apply, without the index of the operation, as Kubernetes
 * reports it. */
const char *kc__admission_patch_error(const kc_error *err);

#endif
