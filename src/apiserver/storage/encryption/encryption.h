/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption.h: encryption at rest (--encryption-provider-config): turns the text of an object into
 * its stored form and back, as kube-apiserver does.
 *
 *     k8s:enc:aesgcm:v1:key1:<nonce, ciphertext, tag>         the first provider writes,
 *     {"apiVersion":"v1","kind":"Secret",…}                   any provider reads (identity)
 *
 * The storage key ("/registry/secrets/default/web") is authenticated with the value by ciphers that
 * support it. A value is stale if it was not written with the first key of the first provider: the
 * next update rewrites it, even if the object does not change.
 *
 * With `reload` a thread reads the file again when it has changed. Readers and writers take a
 * reference to the current configuration, so a reload never changes it under them.
 */
#ifndef KC_APISERVER_ENCRYPTION_H
#define KC_APISERVER_ENCRYPTION_H

#include "apiserver/storage/encryption/encryption_config.h"
#include "kc/clock.h"
#include "kc/log.h"
#include "kc/metrics.h"

typedef struct kc__encryption kc__encryption;

typedef struct kc__encryption_opts {
    const char *path;      /* The file. NULL: `config` is used. */
    bool reload;           /* Read the file again when it changes. */
    int64_t interval;      /* Between two looks at the file. Defaults to one minute. */
    const kc_clock *clock; /* Defaults to the system clock. */
    kc_log *log;
    kc_metrics *metrics; /* Must outlive it. */
} kc__encryption_opts;

/* Reads the configuration and starts the reload thread. NULL on error. Blocks. */
kc__encryption *kc__encryption_new(const kc__encryption_opts *opts, kc_error *err);
/* Stops the reload thread. NULL is allowed; returns NULL. */
kc__encryption *kc__encryption_free(kc__encryption *encryption);
KC_AUTO_DEFINE(kc__encryption, kc__encryption_free)

/* Registers the function that runs when a new configuration is in use, on the reload thread. It
 * must not call this module, except kc__encryption_same_writer. With NULL: it does not run
 * afterwards. */
typedef void kc__encryption_changed_fn(const kc__encryption_config *before,
                                       const kc__encryption_config *now, void *user);
void kc__encryption_on_change(kc__encryption *encryption, kc__encryption_changed_fn *changed,
                              void *user);

/* The current configuration, with a reference. Any thread. */
kc__encryption_config *kc__encryption_current(kc__encryption *encryption);
/* Whether the file is read again when it changes. Any thread. */
bool kc__encryption_reloads(const kc__encryption *encryption);
/* Whether the last attempt to read the file succeeded. Any thread. */
bool kc__encryption_is_healthy(kc__encryption *encryption);

/* ---- values; any thread ---- */

/* Appends the stored form of `plain`. `encryption` counts the operation. */
int kc__encryption_seal(kc__encryption *encryption, const kc__encryption_config *config,
                        kc__encryption_resource resource, kc_str key, kc_str plain, kc_buf *out,
                        kc_error *err);

/* The plain value: a part of `stored` if it is not encrypted, else appended to `out`. *ret_stale:
 * the value was not written as kc__encryption_seal would write it now. KC_INTERNAL with
 * kube-apiserver's message if no provider can read it. */
int kc__encryption_unseal(kc__encryption *encryption, const kc__encryption_config *config,
                          kc__encryption_resource resource, kc_str key, kc_str stored, kc_buf *out,
                          kc_str *ret_plain, bool *ret_stale, kc_error *err);

/* Whether both configurations write the values of a resource with the same key. */
bool kc__encryption_same_writer(const kc__encryption_config *a, const kc__encryption_config *b,
                                kc__encryption_resource resource);

#endif
