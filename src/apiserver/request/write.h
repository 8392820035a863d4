/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: functions that the writing verbs share, grouped by file. The phases of a write, one file
 * each, in order:
 *
 *     decode.c    decoded     request body → call->body
 *     (the verb)  proposed    call->body and the stored object → call->draft
 *     default.c   defaulted   defaults into the draft
 *     own.c       owned       metadata.managedFields of the draft (own.h)
 *     admit.c     mutated     mutating admission edits the draft
 *     prepare.c   prepared    the server's fields into the draft; the draft is frozen and
 *                             type-checked → call->proposed
 *     validate.c  validated   validation of call->proposed
 *     admit.c     admitted    validating admission of call->proposed
 *     commit.c    encoded     call->proposed → call->encoded, in the stored form
 *                 stored      compare-and-swap; back to `proposed` after a conflict
 *     respond.c   answered    the response
 *
 * A deletion, a binding and an eviction have no draft: their `proposed` sets call->proposed.
 */
#ifndef KC_APISERVER_WRITE_H
#define KC_APISERVER_WRITE_H

#include "apiserver/request/phases.h"

enum {
    KC__REST_MAX_NAME_TRIES = 8, /* Generated names that are tried for one object. */
    /* A write that lost a conflict is repeated on the state that won. A client that sent no
     * resourceVersion must not see the conflict. Each lost conflict is another client's success, so
     * only a write that keeps losing for longer than clients wait reaches this limit. */
    KC__REST_MAX_CONFLICTS = 1000,
};

/* How much an object above the size limit may still grow: it was stored under another limit and
 * must stay deletable, and deletion adds to its metadata. */
#define KC__REST_OVERSIZE_GROWTH ((size_t)4096)

/* ---- escalate.c ---- */

/* Rejects a role or binding that grants more than its writer has. KC__REST_ON_WORKER: call it again
 * on a worker. */
kc__rest_verdict kc__rest_check_escalation(kc__rest_call *call);

/* ---- validate.c ---- */

/* Whether an update of the object itself writes its status, too: --unrestricted-update. */
bool kc__rest_writes_status(const kc__rest_call *call);

/* ---- person_rights.c ---- */

/* Rejects a User that gets teams, groups or credentials that its writer may not assign. */
kc__rest_verdict kc__rest_check_person(kc__rest_call *call);

/* ---- prepare.c ---- */

/* Edits *object with `change` and type-checks it: for writes without a draft. *object is replaced.
 * 0 or negative (call->error). */
int kc__rest_edit_object(kc__rest_call *call, kc_object **object,
                         void (*change)(kc_edit *edit, kc__rest_call *call));

/* Prepares the draft of a new object: uid, creation time, generation, generated name. Sets
 * call->key. */
kc__rest_verdict kc__rest_prepare_create(kc__rest_call *call);
/* Whether the user may create the object that an update or apply creates; 403. After validation, as
 * in Kubernetes. */
kc__rest_verdict kc__rest_authorize_create(kc__rest_call *call);
/* Prepares the draft that replaces call->current: restores fields that the request may not change,
 * and calls the strategy of the kind. Sets call->removes if the object is being deleted and its
 * last finalizer is gone. */
kc__rest_verdict kc__rest_prepare_update(kc__rest_call *call);

/* ---- owners.c ---- */

/* Drops duplicate owner references, with a warning. */
void kc__rest_dedup_owners(kc__rest_call *call, kc__rest_metadata *metadata);

/* ---- validate.c ---- */

/* The subresource that the request writes: "status", "finalize". NULL: none, or scale, which
 * changes the object itself. */
const char *kc__rest_part_of(const kc__rest_call *call);

/* ---- commit.c ---- */

/* Waits until the conversion webhook of the resource, if any, has converted the stored object, so
 * that kc__rest_load_current can read it. KC__REST_NEXT, _PENDING, _ON_LOOP, or _FAIL. */
kc__rest_verdict kc__rest_await_current(kc__rest_call *call);
/* Reads the stored object of the call's key into call->current, unless already read, in the form in
 * which it is edited. False: it does not exist, or cannot be read (call->error). */
bool kc__rest_load_current(kc__rest_call *call);

/* ---- create.c, update.c ---- */

/* Opens a draft of call->body for a new object. */
kc__rest_verdict kc__rest_propose_create(kc__rest_call *call);
/* Checks that call->body has the name and namespace of the path: otherwise 400. */
kc__rest_verdict kc__rest_check_identity(kc__rest_call *call);

#endif
