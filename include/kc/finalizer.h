/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalizer.h: finishing something outside before an object goes.
 *
 *     switch (kc_finalizer_step(ctx->client, &robot, "llleon.io/power", switch_off, user, err)) {
 *     case KC_FINALIZER_FAILED: return kc_retry(err);
 *     case KC_FINALIZER_GONE:   return kc_done();
 *     case KC_FINALIZER_HELD:   break;                  it lives: go on
 *     }
 *
 * The finalizer is added while the object lives; once somebody has asked for its deletion, `clean`
 * is run, and only when it succeeded the finalizer is taken away. Both are JSON patches that test
 * what they change, so nobody else's finalizer is ever lost.
 */
#ifndef KC_FINALIZER_H
#define KC_FINALIZER_H

#include "kc/client.h"

typedef enum kc_finalizer_state {
    KC_FINALIZER_FAILED = -1, /* err says why. */
    KC_FINALIZER_HELD,        /* The object lives, and has it. */
    KC_FINALIZER_GONE,        /* It is being deleted, and ours is done. */
} kc_finalizer_state;

/* Adds it if it is not there: 1 if it did, 0 if it was there. *object becomes the newer state. */
int kc_finalizer_add(kc_client *client, kc_object **object, const char *name, kc_error *err);
/* Takes it away: 1 if it did, 0 if it was not there, or the object was gone. */
int kc_finalizer_remove(kc_client *client, kc_object **object, const char *name, kc_error *err);

typedef int kc_finalize_fn(kc_client *client, const kc_object *object, void *user, kc_error *err);

/* The whole of it. *object is replaced by the newer state. */
kc_finalizer_state kc_finalizer_step(kc_client *client, kc_object **object, const char *name,
                                     kc_finalize_fn *clean, void *user, kc_error *err);

#endif
