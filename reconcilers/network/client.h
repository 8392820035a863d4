/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h: what the reconciler says to the network service. Every call has a deadline, gives up
 * with `cancel`, and blocks until then.
 *
 * Errors. Of the service: its own reason, code and message. Of the way to it, as in
 * kc/transport.h: kc__network_was_answered tells them apart.
 */
#ifndef KC_NETWORK_CLIENT_H
#define KC_NETWORK_CLIENT_H

#include "kc/meta.h"
#include "kc/transport.h"
#include "kc/view.h"

typedef struct kc__network_client kc__network_client;

typedef struct kc__network_client_opts {
    kc_transport *transport; /* Taken over. */
    const char *owner;       /* In whose name networks are made. */
    const kc_clock *clock;   /* The transport's. */
} kc__network_client_opts;

kc__network_client *kc__network_client_new(const kc__network_client_opts *opts);
/* NULL is allowed; returns NULL. */
kc__network_client *kc__network_client_free(kc__network_client *client);

/* A network of the service. Text lives until kc__network_record_done. */
typedef struct kc__network_record {
    kc_view *view;
    const char *cidr, *gateway;
    bool ours;           /* Made by this owner. */
    uint64_t generation; /* Changes with every change to it. */
} kc__network_record;
void kc__network_record_done(kc__network_record *record);

/* 1, or 0 when it is not there. */
int kc__network_get(kc__network_client *client, kc_key key, kc_cancel *cancel,
                    kc__network_record *ret, kc_error *err);
/* Makes it (`now` is NULL), or changes what it is now. KC_CONFLICT with code 412 when it has become
 * another one meanwhile; with 409 when the service has no room for it: a cause "Overlap" has the
 * key of what is in its way. */
int kc__network_put(kc__network_client *client, kc_key key, const char *cidr, const char *gateway,
                    const kc__network_record *now, kc_cancel *cancel, kc_error *err);
/* 1, or 0 when it is not there or not ours. */
int kc__network_remove(kc__network_client *client, kc_key key, kc_cancel *cancel, kc_error *err);
/* All that are ours; a negative number from `each` ends it. */
int kc__network_each(kc__network_client *client, kc_cancel *cancel,
                     int (*each)(kc_key key, void *user, kc_error *err), void *user, kc_error *err);

/* Whether the service has refused it, and will again; else it was not reached, or is in trouble. */
static inline bool kc__network_was_answered(const kc_error *err)
{
    return err->code >= 400 && err->code < 500 && err->code != 429;
}

#endif
