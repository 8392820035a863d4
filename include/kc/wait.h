/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h: waiting until an object is as one wants it: by watching, not by asking again and again.
 *
 *     kc_auto(kc_object) *ready = NULL;
 *     kc_wait_for(client, &robot_kind, key, kc_until_condition, "Ready", KC_MINUTE, &ready, err);
 */
#ifndef KC_WAIT_H
#define KC_WAIT_H

#include "kc/client.h"

/* `object` is NULL while it is not there. */
typedef bool kc_until_fn(const kc_object *object, const void *user);
bool kc_until_condition(const kc_object *object, const void *type); /* A condition is True. */
bool kc_until_gone(const kc_object *object, const void *unused);
bool kc_until_exists(const kc_object *object, const void *unused);

/* 0 when it is so; KC_TIMEOUT when that took too long (0: for ever). `ret` may be NULL; it becomes
 * NULL when the object is gone. Survives broken watches. Blocks. */
int kc_wait_for(kc_client *client, const kc_kind *kind, kc_key key, kc_until_fn *until,
                const void *user, int64_t timeout, kc_object **ret, kc_error *err);

#endif
