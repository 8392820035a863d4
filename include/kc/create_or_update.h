/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_or_update.h: brings an object into its desired state with as few writes as possible.
 *
 *     int web(kc_edit *edit, void *user, kc_error *err);      sets only the desired fields
 *
 *     kc_auto(kc_object) *now = NULL;
 *     if (kc_create_or_update(ctx->client, &kc_kind_deployment, key, web, &robot, &now, err) < 0)
 *         return kc_retry(err);
 *
 * Nothing is written if nothing changes. The status is never written, except by kc_mutate_status.
 */
#ifndef KC_CREATE_OR_UPDATE_H
#define KC_CREATE_OR_UPDATE_H

#include "kc/client.h"
#include "kc/edit.h"

typedef enum kc_operation_result {
    KC_OPERATION_UNCHANGED = 0,
    KC_OPERATION_CREATED,
    KC_OPERATION_UPDATED,
} kc_operation_result;

/* Sets the desired fields in `edit`; must not change the key. Called once: the caller handles a
 * conflict, in a reconciler with kc_retry. */
typedef int kc_mutate_fn(kc_edit *edit, void *user, kc_error *err);

/* Returns a kc_operation_result, or a negative number. `ret` (may be NULL) receives the object. */
int kc_create_or_update(kc_client *client, const kc_kind *kind, kc_key key, kc_mutate_fn *mutate,
                        void *user, kc_object **ret, kc_error *err);
/* The same with a merge patch of the changed fields, which does not conflict with changes of other
 * fields. */
int kc_create_or_patch(kc_client *client, const kc_kind *kind, kc_key key, kc_mutate_fn *mutate,
                       void *user, kc_object **ret, kc_error *err);
/* Updates the status of an existing object if `mutate` changes it. */
int kc_mutate_status(kc_client *client, const kc_object *object, kc_mutate_fn *mutate, void *user,
                     kc_object **ret, kc_error *err);

/* Repeats `attempt` while it fails with KC_CONFLICT: 5 times, with a backoff from 10 ms. The
 * function must read the object again each time. */
int kc_retry_on_conflict(kc_client *client, int (*attempt)(void *user, kc_error *err), void *user,
                         kc_error *err);

#endif
