/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h: the client of the network service. Every call blocks, has a deadline and can be
 * cancelled with `cancel`.
 *
 * Errors of the service have its reason, code and message; errors of the connection are those of
 * kc/transport.h. kc__network_got_response tells them apart.
 */
#ifndef KC_NETWORK_CLIENT_H
#define KC_NETWORK_CLIENT_H

#include "kc/meta.h"
#include "kc/transport.h"
#include "kc/view.h"

typedef struct kc__network_client kc__network_client;

typedef struct kc__network_client_opts {
    kc_transport *transport; /* Takes ownership. */
    const char *owner;       /* The owner of the networks. */
    const kc_clock *clock;   /* Owned by the transport. */
} kc__network_client_opts;

kc__network_client *kc__network_client_new(const kc__network_client_opts *opts);
/* NULL is allowed; returns NULL. */
kc__network_client *kc__network_client_free(kc__network_client *client);

/* A network of the service. Texts are valid until kc__network_record_done. */
typedef struct kc__network_record {
    kc_view *view;
    const char *cidr, *gateway;
    bool ours;           /* This client's owner created it. */
    uint64_t generation; /* Changes with every write. */
} kc__network_record;
void kc__network_record_done(kc__network_record *record);

/* 1, or 0 if it does not exist. */
int kc__network_get(kc__network_client *client, kc_key key, kc_cancel *cancel,
                    kc__network_record *ret, kc_error *err);
/* Creates it (`now` is NULL) or updates it from `now`. KC_CONFLICT with code 412 if it has changed
 * meanwhile; with 409 if it overlaps: a cause "Overlap" has the key of the other network. */
int kc__network_put(kc__network_client *client, kc_key key, const char *cidr, const char *gateway,
                    const kc__network_record *now, kc_cancel *cancel, kc_error *err);
/* 1, or 0 if it does not exist or has another owner. */
int kc__network_remove(kc__network_client *client, kc_key key, kc_cancel *cancel, kc_error *err);
/* Lists all networks of this owner; a negative result of `each` stops. */
int kc__network_each(kc__network_client *client, kc_cancel *cancel,
                     int (*each)(kc_key key, void *user, kc_error *err), void *user, kc_error *err);

/* Whether the service refused the request permanently; else it was unreachable, failed, or did not
 * accept the token, which may change. */
static inline bool kc__network_got_response(const kc_error *err)
{
    return err->code >= 400 && err->code < 500 && err->code != 429 && err->code != 401;
}

#endif
