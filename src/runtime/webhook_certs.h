/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_certs.h: the certificates of a webhook server, as PEM: made, renewed, shared, and put
 * where API servers look for them.
 */
#ifndef KC_RUNTIME_WEBHOOK_CERTS_H
#define KC_RUNTIME_WEBHOOK_CERTS_H

#include "kc/client.h"

/* A zeroed one is ready: nothing is there yet. The names are those of the Secret's data. */
typedef struct kc__hook_certs {
    kc_buf authorities;   /* ca.crt: whom to trust, the newest first. */
    kc_buf authority_key; /* ca.key: of the first of them. */
    kc_buf cert, key;     /* tls.crt, tls.key: what is served. */
} kc__hook_certs;

void kc__hook_certs_done(kc__hook_certs *certs);

typedef struct kc__hook_certs_spec {
    const char *const *names; /* End with NULL. */
    int64_t valid;            /* Of what is served. */
} kc__hook_certs_spec;

/* Makes what is missing, does not fit or is due at `wall`. *ret_why says what that was; NULL: all
 * is well, nothing has changed. */
int kc__hook_certs_renew(kc__hook_certs *certs, const kc__hook_certs_spec *spec, int64_t wall,
                         const char **ret_why, kc_error *err);

/* The end of what is served, in seconds since 1970; 0: there is nothing. */
int64_t kc__hook_certs_end(const kc__hook_certs *certs);

/* The same with a Secret that others may renew too: reads it into `certs` (which may hold
 * anything), renews, and writes it if that changed it. On failure `certs` is as it was. Blocks. */
int kc__hook_certs_share(kc_client *client, kc_key secret, const kc__hook_certs_spec *spec,
                         int64_t wall, kc__hook_certs *certs, const char **ret_why, kc_error *err);

/*
 * Appends the authorities of `ours` and, behind them, those of `there` that another process of ours
 * made and that have not ended: what it serves, and what was served a moment ago, stays trusted.
 */
void kc__hook_bundle_merge(kc_str ours, kc_str there, int64_t wall, kc_buf *out);

typedef struct kc__hook_bundle {
    kc_str authorities;
    bool alone; /* Nothing of what is there is kept. */
    const char *const *configurations;
    const char *const *definitions;
    int64_t wall;
    kc_log *log;
} kc__hook_bundle;

/* Patches the caBundle of all of them. 1 when one is not there, and all others are patched. On
 * failure of one the others are patched still, and the error is of the last. Blocks. */
int kc__hook_bundle_publish(kc_client *client, const kc__hook_bundle *bundle, kc_error *err);

#endif
