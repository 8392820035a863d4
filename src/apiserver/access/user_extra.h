/* SPDX-License-Identifier: Apache-2.0 */
/* user_extra.h: extra fields of a user that arrive as header fields: Impersonate-Extra-KEY, or
 * X-Remote-Extra-KEY of a front proxy. */
#ifndef KC_APISERVER_USER_EXTRA_H
#define KC_APISERVER_USER_EXTRA_H

#include "apiserver/access/authn.h"

/* Returns whether a name has this prefix, in any case. */
bool kc__user_extra_has_prefix(kc_str name, kc_str prefix);
/* The key of a header field without its prefix: in lower case, with percent-encoding decoded where
 * it is valid. Allocated in the arena; empty if that is full. */
kc_str kc__user_extra_key(kc_str name, kc_arena *arena);
/* The field of this key among *n; a new one, without values, if there is none. `list` has room. */
kc__user_extra *kc__user_extra_of_key(kc__user_extra *list, size_t *n, kc_str key);

/* Sorts the fields by their keys, as Kubernetes writes them. */
void kc__user_extra_sort(kc__user_extra *list, size_t n);

#endif
