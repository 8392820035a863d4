/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_chain.h: authorizers in the order of their evaluation. Immutable and reference-counted: a
 * decision uses one chain from its beginning to its end, while a reload installs another.
 */
#ifndef KC_APISERVER_AUTHZ_CHAIN_H
#define KC_APISERVER_AUTHZ_CHAIN_H

#include "apiserver/authz/webhook_authorizer.h"
#include "kc/ref.h"

typedef struct kc__authz_link {
    kc__authz_mode mode;
    const char *name;             /* In metrics: "node", "my-webhook". */
    kc__authz_webhook *webhook;   /* Of the mode Webhook. */
    kc_counter *allowed, *denied; /* Its decisions; set when the chain is installed. */
} kc__authz_link;

struct kc__authz_chain {
    kc_ref refs;
    unsigned modes; /* Bits of kc__authz_mode. */
    size_t n;
    kc__authz_link links[];
};

/* Copies the links and takes references to their webhooks. */
kc__authz_chain *kc__authz_chain_new(const kc__authz_link *links, size_t n);
/* The authorizers of --authorization-mode; without modes, AlwaysAllow. `webhook` is that of the
 * mode Webhook; NULL: none. */
kc__authz_chain *kc__authz_chain_of_modes(const kc__authz_modes *modes, kc__authz_webhook *webhook);
kc__authz_chain *kc__authz_chain_ref(kc__authz_chain *chain);
/* NULL is allowed; returns NULL. */
kc__authz_chain *kc__authz_chain_unref(kc__authz_chain *chain);
KC_AUTO_DEFINE(kc__authz_chain, kc__authz_chain_unref)

/* The name of an authorizer that is no webhook: that of its mode in lower case. */
const char *kc__authz_mode_own_name(kc__authz_mode mode);

static inline bool kc__authz_chain_has(const kc__authz_chain *chain, kc__authz_mode mode)
{
    return chain->modes >> mode & 1;
}

#endif
