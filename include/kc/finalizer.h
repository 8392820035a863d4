/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalizer.h: cleans up external state before an object is deleted.
 *
 *     switch (kc_finalizer_step(ctx->client, &robot, "llleon.io/power", switch_off, user, err)) {
 *     case KC_FINALIZER_FAILED: return kc_retry(err);
 *     case KC_FINALIZER_GONE: return kc_done();
 *     case KC_FINALIZER_HELD: break;                    not being deleted: continue
 *     }
 *
 * The step adds the finalizer while the object is not being deleted. After a deletion request it
 * calls `clean`, and removes the finalizer only if that succeeds. Both writes are JSON patches that
 * test the list they change, so no finalizer of another controller is lost.
 */
#ifndef KC_FINALIZER_H
#define KC_FINALIZER_H

#include "kc/client.h"

typedef enum kc_finalizer_state {
    KC_FINALIZER_FAILED = -1, /* See err. */
    KC_FINALIZER_HELD,        /* Not being deleted; the finalizer is set. */
    KC_FINALIZER_GONE,        /* Being deleted; our finalizer is removed. */
} kc_finalizer_state;

/* Adds the finalizer if it is missing. Returns 1 if it did, 0 if it was present. *object is
 * replaced by the newer state. */
int kc_finalizer_add(kc_client *client, kc_object **object, const char *name, kc_error *err);
/* Removes the finalizer. Returns 1 if it did, 0 if it was missing or the object does not exist. */
int kc_finalizer_remove(kc_client *client, kc_object **object, const char *name, kc_error *err);

typedef int kc_finalize_fn(kc_client *client, const kc_object *object, void *user, kc_error *err);

/* One whole step. *object is replaced by the newer state. */
kc_finalizer_state kc_finalizer_step(kc_client *client, kc_object **object, const char *name,
                                     kc_finalize_fn *clean, void *user, kc_error *err);

#endif
