/* SPDX-License-Identifier: Apache-2.0 */
/* localhost_users.h: users whose loopback clients need no credentials, and the users of pods, whose
 * clients always do. */
#ifndef KC_CMD_LOCALHOST_USERS_H
#define KC_CMD_LOCALHOST_USERS_H

#include "flags.h"

#include "http/trust/local_trust.h"
#include "kc/pods.h"

enum { KC__CLI_LOCALHOST_USERS_MAX = 64 };

/* Value of --authn-localhost-users, without duplicates. */
typedef struct kc__cli_localhost_users {
    uint32_t uids[KC__CLI_LOCALHOST_USERS_MAX];
    size_t n;
} kc__cli_localhost_users;

/* Parses "alice,1000" into a kc__cli_localhost_users: user names of this machine, and uids. */
kc__cli_flag_parser kc__cli_flag_localhost_users;

/* Users that pods run as. */
typedef struct kc__cli_pod_users {
    kc__local_trust_uid_range ranges[2];
    size_t n;
} kc__cli_pod_users;

/* Why a loopback client with a trusted uid may be a pod of these options; NULL if it cannot. */
const char *kc__cli_pods_share_users(const kc_pods_opts *pods);

/* The pod users of a node with this range (zero: the default), and uid 65534. */
kc__cli_pod_users kc__cli_pod_users_of(kc_uid_range wanted);

#endif
