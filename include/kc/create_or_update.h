/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_or_update.h: making an object be as it should, with as few writes as that takes.
 *
 *     static int web(kc_edit *edit, void *user, kc_error *err);      sets what we want, no more
 *
 *     kc_auto(kc_object) *now = NULL;
 *     if (kc_create_or_update(ctx->client, &kc_kind_deployment, key, web, &robot, &now, err) < 0)
 *         return kc_retry(err);
 *
 * Nothing is written when nothing would change. Status is not: it has a function of its own.
 */
#ifndef KC_CREATE_OR_UPDATE_H
#define KC_CREATE_OR_UPDATE_H

#include "kc/client.h"
#include "kc/edit.h"

typedef enum kc_written {
    KC_UNCHANGED = 0,
    KC_CREATED,
    KC_UPDATED,
} kc_written;

/* Sets in `edit` what it wants; the key must stay. Called once: a conflict is
 * the caller's to try again, which a reconciler does by kc_retry. */
typedef int kc_mutate_fn(kc_edit *edit, void *user, kc_error *err);

/* A kc_written, or negative. `ret` (may be NULL) gets the object. */
int kc_create_or_update(kc_client *client, const kc_kind *kind, kc_key key, kc_mutate_fn *mutate,
                        void *user, kc_object **ret, kc_error *err);
/* The same by a merge patch of what changed: others' changes to other fields never conflict. */
int kc_create_or_patch(kc_client *client, const kc_kind *kind, kc_key key, kc_mutate_fn *mutate,
                       void *user, kc_object **ret, kc_error *err);
/* Of an object that is there: its status, if that changes. */
int kc_mutate_status(kc_client *client, const kc_object *object, kc_mutate_fn *mutate, void *user,
                     kc_object **ret, kc_error *err);

/* Runs `attempt` again while it fails with KC_CONFLICT: 5 times, from 10 ms. It must read anew. */
int kc_retry_on_conflict(kc_client *client, int (*attempt)(void *user, kc_error *err), void *user,
                         kc_error *err);

#endif
