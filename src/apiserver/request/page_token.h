/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_token.h: the continue token of a paged list, opaque to clients.
 *
 * base64url of {"v":"meta.k8s.io/v1","rv":REVISION,"start":"KEY\u0000"}, as Kubernetes writes it.
 * The revision is that of the first page; -1 means the newest state, after the revision of the
 * first page was compacted.
 */
#ifndef KC_APISERVER_PAGE_TOKEN_H
#define KC_APISERVER_PAGE_TOKEN_H

#include "kc/arena.h"
#include "kc/error.h"

#define KC__REST_PAGE_TOKEN_NOW INT64_C(-1)

typedef struct kc__rest_page_token {
    int64_t revision;
    kc_str start; /* The first key of the page, relative to the list's prefix. */
} kc__rest_page_token;

/* KC_BAD_REQUEST with Kubernetes' message. Strings are allocated in the arena. */
int kc__rest_page_token_parse(kc_str text, kc_arena *arena, kc__rest_page_token *ret,
                              kc_error *err);

/* The token of the page that follows the item with key `last`. */
kc_str kc__rest_page_token_after(kc_str last, int64_t revision, kc_arena *arena);
/* The token of the page that begins at `start`. */
kc_str kc__rest_page_token_from(kc_str start, int64_t revision, kc_arena *arena);

#endif
