/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_cert.c: authenticates requests by their client certificate: the common name of its subject
 * is the user, the organizations are the groups, and the attribute 1.3.6.1.4.1.57683.2 is the uid.
 *
 * The handshake accepts any certificate; this authenticator verifies it by the CAs that are valid
 * now. A client whose certificate is not valid may still authenticate by a token, as in
 * kube-apiserver. A certificate of a caller in the same process, or of a server whose handshake
 * verifies, has nothing left to verify.
 */
#include "apiserver/access/authn_internal.h"

/* Copies the group names, which otherwise end with the connection, with room for one more. */
static kc_str *copy_groups(kc_arena *arena, const kc_str *from, size_t n)
{
    kc_str *groups = kc_arena_calloc(arena, n + 1, sizeof(*groups));
    for (size_t i = 0; groups && i < n; i++) {
        groups[i] = kc_arena_str(arena, from[i]);
        if (from[i].n && !groups[i].p)
            return NULL;
    }
    return groups;
}

static const kc__user_extra *credential_id(const kc__conn_client_cert *cert, kc_arena *arena)
{
    struct {
        kc__user_extra extra;
        kc_str value;
    } *id = kc_arena_calloc(arena, 1, sizeof(*id));
    const char *text = kc_arena_printf(arena, "X509SHA256=%s", cert->sha256);
    if (!id || !text)
        return NULL;
    id->value = kc_cstr(text);
    id->extra = (kc__user_extra){KC_STR(KC__USER_EXTRA_CREDENTIAL_ID), &id->value, 1};
    return &id->extra;
}

/* At most one uid, and not an empty one. */
static int check_uids(const kc__conn_client_cert *cert, kc_error *err)
{
    if (cert->n_uids > 1)
        return kc_error_set(err, KC_UNAUTHORIZED, "expected 1 UID, but found multiple");
    if (cert->n_uids && !cert->uids[0].n)
        return kc_error_set(err, KC_UNAUTHORIZED, "UID cannot be an empty string");
    return 0;
}

static int user_of_certificate(const kc__conn_client_cert *cert, kc_arena *arena, kc__user *ret,
                               kc_error *err)
{
    kc_str *groups = copy_groups(arena, cert->organizations, cert->n_organizations);
    kc__user user = {.name = kc_arena_str(arena, cert->common_name),
                     .uid = cert->n_uids ? kc_arena_str(arena, cert->uids[0]) : (kc_str){0},
                     .groups = groups,
                     .n_groups = cert->n_organizations,
                     .extra = *cert->sha256 ? credential_id(cert, arena) : NULL};
    user.n_extra = user.extra != NULL;
    if (!groups || !user.name.p || (cert->n_uids && !user.uid.p) || (*cert->sha256 && !user.extra))
        return kc__authn_out_of_memory(err);
    kc__user_authenticated(&user, groups);
    *ret = user;
    return 1;
}

int kc__authn_by_certificate(const kc__authn_request *q, kc__user *ret, kc_error *err)
{
    const kc__conn_client_cert *cert = q->request->peer ? q->request->peer->cert : NULL;
    if (!cert)
        return 0;
    if (cert->presented && kc__cert_pool_verify(q->authn->client_cas, cert->presented,
                                                kc_clock_wall(q->authn->clock), err) < 0)
        return kc_error_result(err);
    if (kc_str_empty(cert->common_name))
        return 0;
    if (check_uids(cert, err) < 0)
        return kc_error_result(err);
    return user_of_certificate(cert, q->arena, ret, err);
}
