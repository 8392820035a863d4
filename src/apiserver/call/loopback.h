/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loopback.h: requests that the server sends to itself, as kube-apiserver does with its loopback
 * client: they pass all phases, with admission, and are recorded in the audit log.
 *
 *     kc__rest_loopback_post(call, KC_STR("/api/v1/namespaces"), json, namespace_created, call);
 *     return KC__REST_PENDING;
 *
 * The user is system:apiserver of the group system:masters.
 */
#ifndef KC_APISERVER_LOOPBACK_H
#define KC_APISERVER_LOOPBACK_H

#include "apiserver/call/call.h"

/* `error` is that of the response's Status; NULL: the request succeeded. Called once, on the loop
 * of the call, after kc__rest_loopback_post has returned. */
typedef void kc__rest_loopback_done_fn(const kc_error *error, void *user);

/* Posts a JSON body on behalf of a call, which waits for the response. Both texts are copied. On
 * the loop's thread. Defined by a higher sub-layer (request/loopback.c). */
void kc__rest_loopback_post(kc__rest_call *call, kc_str path, kc_str json,
                            kc__rest_loopback_done_fn *done, void *user);

#endif
