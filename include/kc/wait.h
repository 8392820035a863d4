/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h: waits until an object satisfies a condition, by watching it, not by polling.
 *
 *     kc_auto(kc_object) *ready = NULL;
 *     kc_wait_for(client, &robot_kind, key, kc_until_condition, "Ready", KC_MINUTE, &ready, err);
 */
#ifndef KC_WAIT_H
#define KC_WAIT_H

#include "kc/client.h"

/* `object` is NULL while it does not exist. */
typedef bool kc_until_fn(const kc_object *object, const void *user);
bool kc_until_condition(const kc_object *object,
                        const void *type); /* True when the condition's status is True. */
bool kc_until_gone(const kc_object *object, const void *unused);
bool kc_until_exists(const kc_object *object, const void *unused);

/* Returns 0 when the condition holds; KC_TIMEOUT after the timeout (0: none). `ret` may be NULL; it
 * is set to NULL when the object was deleted. Restarts broken watches. Blocks. */
int kc_wait_for(kc_client *client, const kc_kind *kind, kc_key key, kc_until_fn *until,
                const void *user, int64_t timeout, kc_object **ret, kc_error *err);

#endif
