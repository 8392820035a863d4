/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_objects.h: the stored objects that tokens of service accounts depend on: accounts, and
 * the pods, Secrets and nodes that tokens are bound to.
 */
#ifndef KC_APISERVER_ACCOUNT_OBJECTS_H
#define KC_APISERVER_ACCOUNT_OBJECTS_H

#include "apiserver/access/sa_tokens.h"
#include "apiserver/call/call.h"

typedef struct kc__account_objects kc__account_objects;

/* Attaches the store to the tokens. Never NULL. */
kc__account_objects *kc__account_objects_attach(kc__rest_api *api, kc__sa_tokens *tokens);
/* Detaches it; after the last request. NULL is allowed; returns NULL. */
kc__account_objects *kc__account_objects_free(kc__account_objects *objects);

/* The object, with a reference, or NULL. `ns` is empty for nodes. Any thread. */
kc_object *kc__account_objects_get(kc__account_objects *objects, kc__sa_kind kind, kc_str ns,
                                   kc_str name);

#endif
