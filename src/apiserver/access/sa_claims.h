/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_claims.h: the claims of the tokens that this server signs. Those of service accounts are as
 * Kubernetes v1.34 writes them:
 *
 *     {"aud":["https://kubernetes.default.svc"],"exp":1763384400,"iat":1763380800,
 *      "iss":"https://kubernetes.default.svc","jti":"2f0e…",
 *      "kubernetes.io":{"namespace":"default","node":{"name":"n1","uid":"…"},
 *                       "pod":{"name":"web","uid":"…"},"serviceaccount":{"name":"web","uid":"…"}},
 *      "nbf":1763380800,"sub":"system:serviceaccount:default:web"}
 *
 * Legacy tokens, which are kept in Secrets and do not expire, have other claims:
 *
 *     {"iss":"kubernetes/serviceaccount","kubernetes.io/serviceaccount/namespace":"default",
 *      "kubernetes.io/serviceaccount/secret.name":"web-token",
 *      "kubernetes.io/serviceaccount/service-account.name":"web",
 *      "kubernetes.io/serviceaccount/service-account.uid":"…",
 *      "sub":"system:serviceaccount:default:web"}
 *
 * A person's token has the same issuer and another private claim. The session is absent in a token
 * that an administrator has issued:
 *
 *     {"aud":[…],"exp":…,"iat":…,"iss":"…","jti":"…",
 *      "kubecontroller.io":{"generation":3,"session":"…","user":{"name":"ann","uid":"…"}},
 *      "nbf":…,"sub":"ann"}
 */
#ifndef KC_APISERVER_SA_CLAIMS_H
#define KC_APISERVER_SA_CLAIMS_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/error.h"
#include "kc/ref.h"

#define KC__SA_LEGACY_ISSUER "kubernetes/serviceaccount"

/* Audiences of one token. */
#define KC__SA_MAX_AUDIENCES 256

/* Name and uid of an object; an empty name: not present. */
typedef struct kc__sa_ref {
    bool present;
    kc_str name, uid;
} kc__sa_ref;

/* A point in time, in seconds since 1970. */
typedef struct kc__sa_time {
    bool present;
    int64_t seconds;
} kc__sa_time;

/* Immutable after parsing, and reference-counted if it comes from kc__sa_claims_parse. */
typedef struct kc__sa_claims {
    kc_ref refs;
    kc_arena arena; /* Holds the text of parsed claims. */
    bool legacy;
    kc_str issuer, subject, id; /* "iss", "sub", "jti". */
    const kc_str *audiences;
    size_t n_audiences;
    kc__sa_time expiry, not_before, issued_at, warn_after;
    kc_str ns;
    kc__sa_ref account, pod, secret, node; /* A legacy token's secret has no uid. */
    /* Of a person's token (apiserver/people); the others are then absent. */
    kc__sa_ref person;
    int64_t generation; /* That of the person when the token was signed. */
    kc_str session;     /* Empty: none. */
} kc__sa_claims;

/* Appends the claims as JSON, members in the order of Kubernetes. */
void kc__sa_claims_write(const kc__sa_claims *claims, kc_buf *out);

/*
 * Parses a verified payload. NULL on error: KC_INVALID if it is not an object with distinct
 * members, or if a claim has another type than Kubernetes gives it. Messages contain no claim. Any
 * thread.
 */
kc__sa_claims *kc__sa_claims_parse(kc_str payload, kc_error *err);
kc__sa_claims *kc__sa_claims_ref(const kc__sa_claims *claims);
/* NULL is allowed; returns NULL. */
kc__sa_claims *kc__sa_claims_unref(const kc__sa_claims *claims);
KC_AUTO_DEFINE(kc__sa_claims, kc__sa_claims_unref)

/* Whether an unverified payload names this issuer: the first check of a token, before the
 * signature. Copies the issuer to `out`; false if the payload has none. */
bool kc__sa_claims_peek_issuer(kc_str payload, kc_buf *out);

#endif
