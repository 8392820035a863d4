/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_trust.h: trusts loopback clients without credentials, by the user that owns their socket.
 *
 *     kc_auto(kc__local_trust) *trust = kc__local_trust_new(&(kc__local_trust_opts){0}, err);
 *     …
 *     if (kc__local_trust_accepts(trust, &x->request))
 *         … the client runs as root or as the user of this process
 */
#ifndef KC_HTTP_LOCAL_TRUST_H
#define KC_HTTP_LOCAL_TRUST_H

#include "http/server/exchange.h"
#include "kc/log.h"

/* User ids from `first` to `last`, both included. */
typedef struct kc__local_trust_uid_range {
    uint32_t first, last;
} kc__local_trust_uid_range;

/* Everything is copied except the log. */
typedef struct kc__local_trust_opts {
    /* Trusted in addition to root and the user of this process. Defaults to none. */
    const uint32_t *users;
    size_t n_users;
    /* Never trusted, not even root or the user of this process: the users of untrusted programs.
     * Defaults to none. */
    const kc__local_trust_uid_range *never;
    size_t n_never;
    kc_log
        *log; /* Logs the user of a rejected connection at verbosity 2. Defaults to no logging. */
} kc__local_trust_opts;

typedef struct kc__local_trust kc__local_trust;

/* NULL on error: KC_INVALID if `users` contains one of `never`, KC_INTERNAL if the system cannot
 * look up the owner of a socket. The caller frees it. */
kc__local_trust *kc__local_trust_new(const kc__local_trust_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__local_trust *kc__local_trust_free(kc__local_trust *trust);
KC_AUTO_DEFINE(kc__local_trust, kc__local_trust_free)

/* Returns whether a program on this machine (local_request.h) that runs as a trusted user sent
 * the request. False if `trust` is NULL. On the loop's thread, while the connection is open;
 * does not block. The user is looked up once per connection. */
bool kc__local_trust_accepts(const kc__local_trust *trust, const kc__http_request *request);

#endif
