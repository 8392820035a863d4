/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h: which networks there are, and what may be said of them. No two overlap.
 *
 *     kc_auto(kc__ledger) *ledger = kc__ledger_open("networks.json", err);
 *     kc__ledger_put(ledger, &(kc__net_wish){.ns = …, .name = …, .cidr = KC_STR("10.0.0.0/8")},
 *                    NULL, &net, err);
 *
 * What a change returns without an error is on the disk. Not for several threads at a time.
 */
#ifndef KC_NETWORK_LEDGER_H
#define KC_NETWORK_LEDGER_H

#include "network/service/cidr.h"

#include "kc/buf.h"
#include "kc/map.h"

enum {
    KC__NETS = 4096,     /* There may be so many. */
    KC__OWNER_TEXT = 253 /* Of an owner: a DNS name. */
};

typedef struct kc__net {
    char *key;                    /* "namespace/name" */
    char *cidr, *gateway, *owner; /* As they were said; "" where nothing was. */
    kc__range range;
    uint64_t generation; /* Of the last change to it; no two changes have the same. */
} kc__net;

typedef struct kc__ledger kc__ledger;

/* NULL for `file`: in memory only. NULL on error, which names the file and what is wrong in it. */
kc__ledger *kc__ledger_open(const char *file, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__ledger *kc__ledger_close(kc__ledger *ledger);
KC_AUTO_DEFINE(kc__ledger, kc__ledger_close)

/* What is returned lives until the next change. */
const kc__net *kc__ledger_get(const kc__ledger *ledger, kc_str ns, kc_str name);
/* In the order of addresses; NULL behind the last. */
const kc__net *kc__ledger_at(const kc__ledger *ledger, size_t i);
/* Of the last change to any. */
uint64_t kc__ledger_generation(const kc__ledger *ledger);

typedef struct kc__net_wish {
    kc_str ns, name, cidr, gateway, owner;
} kc__net_wish;

/* Under which a change is made. Zero: under all. */
typedef struct kc__net_terms {
    bool absent;         /* It is not there. */
    uint64_t generation; /* It is there, at this one. */
    kc_str owner;        /* It is this one's. */
} kc__net_terms;

typedef enum kc__net_change { KC__NET_SAME, KC__NET_MADE, KC__NET_CHANGED } kc__net_change;

/*
 * Makes or changes one, as a whole; `terms` may be NULL. A kc__net_change, or negative: KC_INVALID
 * for what is no network; KC_CONFLICT when it is another owner's, overlaps with another one (a
 * cause "Overlap" has that one's key) or, with code 412, the terms are not met; with code 507 when
 * there are too many. Then nothing has changed.
 */
int kc__ledger_put(kc__ledger *ledger, const kc__net_wish *wish, const kc__net_terms *terms,
                   const kc__net **ret, kc_error *err);
/* KC_NOT_FOUND when it is not there; KC_CONFLICT as above. */
int kc__ledger_remove(kc__ledger *ledger, kc_str ns, kc_str name, const kc__net_terms *terms,
                      kc_error *err);

/* Appends a network as JSON: {"namespace":…,"name":…,"cidr":…,"gateway":…,"owner":…,
 * "generation":…}. */
void kc__net_write(kc_buf *out, const kc__net *net);

#endif
