/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_token.h: where a list in pages goes on: the value of `continue`, opaque to clients.
 *
 * base64url of {"v":"meta.k8s.io/v1","rv":REVISION,"start":"KEY\u0000"}, as Kubernetes writes it.
 * The revision is that of the first page; -1 stands for "as it is now", after the first one was
 * forgotten.
 */
#ifndef KC_APISERVER_PAGE_TOKEN_H
#define KC_APISERVER_PAGE_TOKEN_H

#include "kc/arena.h"
#include "kc/error.h"

#define KC__PAGE_TOKEN_NOW INT64_C(-1)

typedef struct kc__page_token {
    int64_t revision;
    kc_str start; /* The page begins at this key, which is relative to the list's prefix. */
} kc__page_token;

/* KC_BAD_REQUEST in Kubernetes' words. The text is the arena's. */
int kc__page_token_parse(kc_str text, kc_arena *arena, kc__page_token *ret, kc_error *err);

/* The token of the page after `last`, the key of an item. */
kc_str kc__page_token_after(kc_str last, int64_t revision, kc_arena *arena);
/* The token of the page that begins at `start`. */
kc_str kc__page_token_from(kc_str start, int64_t revision, kc_arena *arena);

#endif
