/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: what creating, updating, patching and deleting share: from a proposal to a stored
 * object.
 */
#ifndef KC_APISERVER_WRITE_H
#define KC_APISERVER_WRITE_H

#include "apiserver/rest/call.h"
#include "apiserver/rest/metadata.h"

enum {
    KC__MAX_TRIES = 8, /* Names drawn for an object until one is free. */
    /* A write that lost against another is made anew from what is stored then. Who named no version
     * must never hear of the others; each loss is somebody's success, so this is only reached by
     * who has lost for longer than clients wait. */
    KC__MAX_RACES = 1000,
};

/* "default/web", or "web" where there is no namespace. */
kc_str kc__key_of(kc__call *call, kc_str name);

/* Refuses an object whose namespace is not that of the path; sets it where it has none. */
kc__verdict kc__check_namespace(kc__call *call, kc__metadata *metadata);

/* Lets `change` edit the object, and gives the result its type again. 0 or negative (call->error).
 * *object is replaced. */
int kc__reshape(kc__call *call, kc_object **object, void (*change)(kc_edit *edit, kc__call *call));

/* What the client left open becomes what the kind says, and the object gets the form in which it is
 * stored: for every one that was just typed, a body or what a patch made. *object is replaced. */
kc__verdict kc__fill_in(kc__call *call, kc_object **object);

/* The same of an object of a built-in resource, in its version. NULL on error. */
kc_object *kc__completed(const kc__resource *resource, const kc_object *object, kc_error *err);
/* What messages call an object that may not have got its name yet. */
kc_str kc__proposed_name(kc__call *call);

/* For admission: what was made of call->proposed takes its place, with its type. */
kc__verdict kc__replace_proposed(kc__call *call, kc_edit *edit);

/*
 * call->proposed in the place of call->current: keeps what a client may not change, and lets the
 * kind prepare it. The object goes (call->removes) when it is being deleted and its last finalizer
 * has gone.
 */
kc__verdict kc__prepare_update(kc__call *call);

/* The part of the object that is changed: "status", "finalize"; NULL: the object itself, also where
 * it is changed through its scale. */
const char *kc__part_of(const kc__call *call);

/* Whether call->given is about the object of the path: 400 for another name or namespace. */
kc__verdict kc__check_identity(kc__call *call);

/* The resource version of an object as a number; 0 where there is none. In Go's words where it is
 * no number. */
int kc__object_version(const kc_object *object, uint64_t *ret, kc_error *err);

/* Drops owners that stand there twice, with a warning. */
void kc__dedup_owners(kc__call *call, kc__metadata *metadata);

/* Counts the generation of call->proposed anew, after somebody changed it. */
kc__verdict kc__recount_generation(kc__call *call);

/* What is stored under the call's key, in the form of its version: call->current, if it is not
 * known. False: there is none, or it cannot be read (call->error). */
bool kc__load_current(kc__call *call);

/* A new object from call->given (create.c); and with what is the server's to give. */
kc__verdict kc__propose_new(kc__call *call);
kc__verdict kc__prepare_new(kc__call *call);

/* Puts metadata into call->proposed. */
kc__verdict kc__propose_metadata(kc__call *call, const kc__metadata *metadata);

#endif
