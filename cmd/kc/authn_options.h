/* SPDX-License-Identifier: Apache-2.0 */
/* authn_options.h: flags of `kc apiserver` for authenticators that need configuration. */
#ifndef KC_CMD_AUTHN_OPTIONS_H
#define KC_CMD_AUTHN_OPTIONS_H

#include "flags.h"

#include "kc/buf.h"

/* Front proxies. */
typedef struct kc__cli_proxy_options {
    const char *ca_file; /* NULL: none. */
    kc__cli_flag_list allowed_names, username_headers, uid_headers, group_headers, extra_prefixes;
} kc__cli_proxy_options;

/* A server that reviews bearer tokens. */
typedef struct kc__cli_token_webhook_options {
    const char *config_file; /* NULL: none. */
    const char *version;
    int64_t cache_ttl;
} kc__cli_token_webhook_options;

/* One issuer of tokens, by flags. */
typedef struct kc__cli_oidc_options {
    const char *issuer_url, *client_id, *ca_file; /* NULL: not set. */
    const char *username_claim, *username_prefix, *groups_claim, *groups_prefix;
    kc__cli_flag_list required_claims; /* NAME=VALUE */
    kc__cli_flag_list algorithms;
} kc__cli_oidc_options;

/* After the check, strings that were not set or are empty are NULL. */
typedef struct kc__cli_authn_options {
    kc__cli_proxy_options proxy;
    bool bootstrap_tokens;
    kc__cli_token_webhook_options webhook;
    const char *config_file; /* AuthenticationConfiguration; NULL: none. */
    kc__cli_oidc_options oidc;
} kc__cli_authn_options;

/* The rows of these flags, for `parts` of a verb. */
extern const kc__cli_flag_set kc__cli_authn_part;

/* Refuses contradicting flags (KC_INVALID) and derives dependent values. */
int kc__cli_authn_options_check(kc__cli_authn_options *options, kc_error *err);

/* Appends the AuthenticationConfiguration that the flags --oidc-* stand for, as JSON. `ca` is the
 * PEM of --oidc-ca-file. */
void kc__cli_oidc_config_write(const kc__cli_oidc_options *options, kc_str ca, kc_buf *out);
/* The bits of kc__jwt_config.algorithms that --oidc-signing-algs stands for. */
unsigned kc__cli_oidc_algorithms(const kc__cli_oidc_options *options);

#endif
