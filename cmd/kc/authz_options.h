/* SPDX-License-Identifier: Apache-2.0 */
/* authz_options.h: flags of `kc apiserver` for authorizers that need configuration. */
#ifndef KC_CMD_AUTHZ_OPTIONS_H
#define KC_CMD_AUTHZ_OPTIONS_H

#include "flags.h"

#include "apiserver/authz/authz.h"

/* After the check, strings that were not set or are empty are NULL. */
typedef struct kc__cli_authz_options {
    const char *config_file;  /* AuthorizationConfiguration; NULL: none. */
    const char *webhook_file; /* NULL: none. */
    const char *version;
    int64_t authorized_ttl, unauthorized_ttl;
    bool given; /* One of the flags that --authorization-config excludes is on the command line. */
} kc__cli_authz_options;

/* The rows of these flags, for `parts` of a verb. */
extern const kc__cli_flag_set kc__cli_authz_part;

/* Refuses flags that contradict each other or the modes (KC_INVALID). */
int kc__cli_authz_options_check(kc__cli_authz_options *options, const kc__authz_modes *modes,
                                kc_error *err);

#endif
