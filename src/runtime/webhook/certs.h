/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certs.h: the certificates of a webhook server, as PEM: creation, renewal, sharing through a
 * Secret, and publication in the caBundles that API servers read.
 */
#ifndef KC_RUNTIME_WEBHOOK_CERTS_H
#define KC_RUNTIME_WEBHOOK_CERTS_H

#include "kc/client.h"

/* A zeroed struct is ready to use and holds no certificates. The names are keys of the Secret's
 * data. */
typedef struct kc__webhook_certs {
    kc_buf authorities;   /* ca.crt: trusted authorities, newest first. */
    kc_buf authority_key; /* ca.key: key of the first authority. */
    kc_buf cert, key;     /* tls.crt, tls.key: the serving certificate. */
} kc__webhook_certs;

void kc__webhook_certs_done(kc__webhook_certs *certs);

typedef struct kc__webhook_certs_spec {
    const char *const *names; /* NULL-terminated. */
    int64_t valid;            /* Lifetime of the serving certificate. */
} kc__webhook_certs_spec;

/* Creates what is missing, does not match or is due for renewal at `wall`. *ret_why is the reason;
 * NULL: nothing had to change. */
int kc__webhook_certs_renew(kc__webhook_certs *certs, const kc__webhook_certs_spec *spec,
                            int64_t wall, const char **ret_why, kc_error *err);

/* Expiry of the serving certificate, in seconds since 1970; 0: there is none. */
int64_t kc__webhook_certs_expiry(const kc__webhook_certs *certs);

/* Like kc__webhook_certs_renew, with a Secret that other processes may renew too: reads the Secret
 * into `certs` (whose old content is ignored), renews, and writes the Secret if that changed it.
 * On failure `certs` is unchanged. Blocks. */
int kc__webhook_certs_share(kc_client *client, kc_key secret, const kc__webhook_certs_spec *spec,
                            int64_t wall, kc__webhook_certs *certs, const char **ret_why,
                            kc_error *err);

/* Appends the authorities of `ours` and, after them, those of `there` that another process of ours
 * created and that have not expired: certificates that it serves now, or served until a moment
 * ago, stay trusted. */
void kc__webhook_ca_bundle_merge(kc_str ours, kc_str there, int64_t wall, kc_buf *out);

typedef struct kc__webhook_ca_bundle {
    kc_str authorities;
    bool alone; /* Existing certificates are not kept. */
    const char *const *configurations;
    const char *const *definitions;
    int64_t wall;
    kc_log *log;
} kc__webhook_ca_bundle;

/* Patches the caBundle of all objects. 1: one does not exist, and all others are patched. If one
 * fails the others are still patched, and the error is that of the last failure. Blocks. */
int kc__webhook_ca_bundle_publish(kc_client *client, const kc__webhook_ca_bundle *bundle,
                                  kc_error *err);

#endif
