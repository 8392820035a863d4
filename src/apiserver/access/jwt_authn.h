/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_authn.h: an authenticator of tokens that other servers issue (OpenID Connect).
 *
 *     kc__jwt_authn *jwt = kc__jwt_authn_new(&(kc__jwt_authn_opts){.config = config, …});
 *     kc__authn_add_remote(authn, kc__authn_remote_new(&(kc__authn_remote_opts){
 *         .ops = &kc__jwt_authn_ops, .self = jwt, …}, err));
 *     …
 *     kc__jwt_authn_replace(jwt, changed, err);            any thread; blocks
 */
#ifndef KC_APISERVER_JWT_AUTHN_H
#define KC_APISERVER_JWT_AUTHN_H

#include "apiserver/access/authn_remote.h"
#include "apiserver/access/jwt_config.h"

/* How often the keys of an issuer are fetched at most, also before the first success, and threads
 * that verify and fetch. */
#define KC__JWT_FETCH_INTERVAL       (10 * KC_SECOND)
#define KC__JWT_FIRST_FETCH_INTERVAL KC_SECOND
#define KC__JWT_THREADS              2

typedef struct kc__jwt_authn kc__jwt_authn;

typedef struct kc__jwt_authn_opts {
    kc__jwt_config *config;       /* Takes a reference of its own. */
    kc__user_audiences audiences; /* Of this server; copied. */
    const kc_clock *clock;        /* Defaults to the real clock. */
    kc_log *log;                  /* Defaults to no log. */
    kc_metrics *metrics;          /* Defaults to none. */
} kc__jwt_authn_opts;

extern const kc__authn_remote_ops kc__jwt_authn_ops;

/* The `self` of kc__jwt_authn_ops. Starts to fetch the keys. */
kc__jwt_authn *kc__jwt_authn_new(const kc__jwt_authn_opts *opts);

/* Replaces the configuration, once the keys of all issuers are fetched: on failure nothing has
 * changed. The caller then clears the cache (kc__authn_remote_clear_cache). Blocks. */
int kc__jwt_authn_replace(kc__jwt_authn *jwt, kc__jwt_config *config, kc_error *err);

#endif
