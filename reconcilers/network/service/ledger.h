/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h: the set of networks and its rules. No two overlap.
 *
 *     kc_auto(kc__network_ledger) *ledger = kc__network_ledger_open("networks.json", err);
 *     const kc__network_net_request request = {.ns = …, .name = …, .cidr = KC_STR("10.0.0.0/8")};
 *     kc__network_ledger_put(ledger, &request, NULL, &net, err);
 *
 * A change that returns without an error is on disk. Not thread-safe.
 */
#ifndef KC_NETWORK_LEDGER_H
#define KC_NETWORK_LEDGER_H

#include "network/service/cidr.h"

#include "kc/buf.h"
#include "kc/map.h"

enum {
    KC__NETWORK_NETS = 4096,     /* Maximum number of networks. */
    KC__NETWORK_OWNER_TEXT = 253 /* Maximum length of an owner: a DNS name. */
};

typedef struct kc__network_net {
    char *key;                    /* "namespace/name" */
    char *cidr, *gateway, *owner; /* As given; "" if absent. */
    kc__network_range range;
    uint64_t generation; /* Of its last change; unique. */
} kc__network_net;

typedef struct kc__network_ledger kc__network_ledger;

/* NULL for `file`: in memory only. NULL on error, which names the file and the problem. */
kc__network_ledger *kc__network_ledger_open(const char *file, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__network_ledger *kc__network_ledger_close(kc__network_ledger *ledger);
KC_AUTO_DEFINE(kc__network_ledger, kc__network_ledger_close)

/* Results are valid until the next change. */
const kc__network_net *kc__network_ledger_get(const kc__network_ledger *ledger, kc_str ns,
                                              kc_str name);
/* In address order; NULL after the last. */
const kc__network_net *kc__network_ledger_at(const kc__network_ledger *ledger, size_t i);
/* Generation of the last change of any network. */
uint64_t kc__network_ledger_generation(const kc__network_ledger *ledger);

typedef struct kc__network_net_request {
    kc_str ns, name, cidr, gateway, owner;
} kc__network_net_request;

/* Preconditions of a change. Zero: none. */
typedef struct kc__network_net_terms {
    bool absent;         /* It must not exist. */
    uint64_t generation; /* It must exist with this generation. */
    kc_str owner;        /* It must have this owner. */
} kc__network_net_terms;

typedef enum kc__network_net_change {
    KC__NETWORK_NET_SAME,
    KC__NETWORK_NET_MADE,
    KC__NETWORK_NET_CHANGED
} kc__network_net_change;

/*
 * Creates or replaces a network; `terms` may be NULL. A kc__network_net_change, or negative:
 * KC_INVALID for an invalid network; KC_CONFLICT if it has another owner, overlaps (a cause
 * "Overlap" has the other key) or, with code 412, a precondition fails; with code 507 if there are
 * too many. On error nothing has changed.
 */
int kc__network_ledger_put(kc__network_ledger *ledger, const kc__network_net_request *net_request,
                           const kc__network_net_terms *terms, const kc__network_net **ret,
                           kc_error *err);
/* KC_NOT_FOUND if it does not exist; KC_CONFLICT as above. */
int kc__network_ledger_remove(kc__network_ledger *ledger, kc_str ns, kc_str name,
                              const kc__network_net_terms *terms, kc_error *err);

/* Appends a network as JSON: {"namespace":…,"name":…,"cidr":…,"gateway":…,"owner":…,
 * "generation":…}. */
void kc__network_net_write(kc_buf *out, const kc__network_net *net);

#endif
