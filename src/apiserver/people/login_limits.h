/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login_limits.h: how often passwords may be tried: per account and per source address.
 *
 *     if (!kc__people_limits_take(limits, account, address, &retry_after))
 *         …                                                           429
 *     … wrong password …                                      the try stays spent
 *     kc__people_limits_return(limits, account, address);      right password: it is given back
 *
 * Each account and each source has a bucket of tries that refills slowly. Unknown accounts count
 * like known ones. The tables have a fixed size: names and addresses are hashed with a random key,
 * so that a client can neither grow them nor choose whose bucket it shares.
 */
#ifndef KC_APISERVER_LOGIN_LIMITS_H
#define KC_APISERVER_LOGIN_LIMITS_H

#include "kc/clock.h"
#include "kc/str.h"

typedef struct kc__people_limits kc__people_limits;

/* Tries at once, and the time after which one more is allowed. */
#define KC__PEOPLE_ACCOUNT_TRIES  10
#define KC__PEOPLE_ACCOUNT_REFILL (30 * KC_SECOND)
#define KC__PEOPLE_SOURCE_TRIES   30
#define KC__PEOPLE_SOURCE_REFILL  (5 * KC_SECOND)

/* Never NULL. `clock` must outlive it. */
kc__people_limits *kc__people_limits_new(const kc_clock *clock);
/* NULL is allowed; returns NULL. */
kc__people_limits *kc__people_limits_free(kc__people_limits *limits);

/* Takes a try of the account and of the source; an empty account or address is not limited. False:
 * there is none; *ret_seconds is when to come back. Any thread. */
bool kc__people_limits_take(kc__people_limits *limits, kc_str account, kc_str address,
                            int *ret_seconds);
/* Gives the try back. Any thread. */
void kc__people_limits_return(kc__people_limits *limits, kc_str account, kc_str address);

#endif
