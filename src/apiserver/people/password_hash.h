/* SPDX-License-Identifier: Apache-2.0 */
/*
 * password_hash.h: salted scrypt hashes of passwords, as text:
 *
 *     $scrypt$ln=15,r=8,p=3$SALT$HASH           base64url; N is 2^ln
 *
 * The text contains its parameters, so that a later release can raise them and still verify older
 * hashes. Verification costs tens of milliseconds and 32 MiB: not on an event loop (hash_queue.h).
 */
#ifndef KC_APISERVER_PASSWORD_HASH_H
#define KC_APISERVER_PASSWORD_HASH_H

#include "kc/buf.h"
#include "kc/error.h"

/* Bytes of a password. */
#define KC__PEOPLE_PASSWORD_MIN 8
#define KC__PEOPLE_PASSWORD_MAX 1024

/* Cost of a new hash. Zero: the default, ln=15, r=8, p=3. */
typedef struct kc__people_cost {
    unsigned log_n, r, p;
} kc__people_cost;

/* Appends the hash of a password with a new random salt. KC_INTERNAL if OpenSSL fails. */
int kc__people_hash_make(kc_str password, const kc__people_cost *cost, kc_buf *out, kc_error *err);

/*
 * Whether the password has this hash. An empty or malformed `hash` is false, after the work of a
 * hash with `cost`: the time does not tell whether a user exists. Compares in constant time.
 */
bool kc__people_hash_verify(kc_str password, kc_str hash, const kc__people_cost *cost);

#endif
