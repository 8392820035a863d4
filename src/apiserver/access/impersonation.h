/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impersonation.h: the user that a request asks to be served as (kubectl --as).
 *
 *     kc__impersonation as;
 *     if (kc__impersonation_read(&request->headers, arena, &as, err) < 0)
 *         …                                     groups, extra or uid without a user
 *     if (as.requested)
 *         …                                     check that the sender may impersonate each part
 *     kc__impersonation_user(&as, arena, &user);
 *     kc__impersonation_strip(&request->headers);
 *
 * The caller authorizes each part: the verb "impersonate" on serviceaccounts, users, groups, uids
 * and userextras/KEY.
 */
#ifndef KC_APISERVER_IMPERSONATION_H
#define KC_APISERVER_IMPERSONATION_H

#include "apiserver/access/authn.h"

/* One value of one key, in the order of the header fields. */
typedef struct kc__impersonation_extra {
    kc_str key, value;
} kc__impersonation_extra;

typedef struct kc__impersonation {
    bool requested;
    kc_str user;
    kc_str account_ns, account; /* Of a service account; otherwise empty. */
    kc_str uid;
    const kc_str *groups;
    size_t n_groups;
    const kc__impersonation_extra *extra;
    size_t n_extra;
} kc__impersonation;

/* Reads the header fields Impersonate-*. KC_UNKNOWN with the message of Kubernetes if a group, uid
 * or extra is requested without a user. Any thread. */
int kc__impersonation_read(const kc__http_headers *headers, kc_arena *arena, kc__impersonation *ret,
                           kc_error *err);
/* The impersonated user, with the groups that every service account, authenticated or anonymous
 * user has. */
void kc__impersonation_user(const kc__impersonation *as, kc_arena *arena, kc__user *ret);
/* Removes the header fields, so that nothing behind the server can read them. */
void kc__impersonation_strip(kc__http_headers *headers);

#endif
