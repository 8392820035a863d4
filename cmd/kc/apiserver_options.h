/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_options.h: the parsed and checked flags of `kc apiserver`. */
#ifndef KC_CMD_APISERVER_OPTIONS_H
#define KC_CMD_APISERVER_OPTIONS_H

#include "audit_options.h"
#include "authn_options.h"
#include "authz_options.h"
#include "etcd_options.h"
#include "localhost_users.h"
#include "service_options.h"

#include "apiserver/apiserver.h"
#include "kc/log.h"

/* Tokens of service accounts. */
typedef struct kc__cli_account_options {
    kc__cli_flag_list issuers, audiences, key_files;
    const char *signing_key_file; /* NULL: the server creates a key. */
    const char *jwks_uri;         /* NULL: the address of the server. */
    int64_t max_expiration;       /* 0: no limit. */
    bool extend_expiration;
} kc__cli_account_options;

/* After the check, strings that were not set or are empty are NULL. */
typedef struct kc__cli_apiserver_options {
    const kc__storage_backend *backend;
    kc__cli_etcd_options etcd;
    kc__cli_service_options services;
    const char *root;
    const char *bind_address, *insecure_addr;
    int secure_port, insecure_port; /* 0: off. */
    const char *cert_dir, *tls_cert_file, *tls_key_file, *client_ca_file;
    kc__cli_flag_list tls_names;
    const char *token_file;
    kc__cli_account_options accounts;
    kc__cli_authn_options authn;
    kc__cli_authz_options authz;
    const char *admission_config_file;
    size_t not_ready_seconds, unreachable_seconds; /* Of DefaultTolerationSeconds. */
    const char *encryption_file; /* NULL: encryption.yaml in `root`, if it exists. */
    bool encryption_reload;
    bool encryption_create; /* Create that file. */
    bool allow_localhost;
    kc__cli_localhost_users localhost_users;
    kc_uid_range pod_uids; /* Uids of pods, which are never trusted; zero: the default range. */
    /* Reason why allow_localhost has no effect; NULL: it has an effect. */
    const char *localhost_off;
    bool anonymous;
    kc__cli_audit_options audit;
    int64_t shutdown_delay;    /* Between failing readiness and draining. */
    kc__apiserver_opts server; /* Limits and timeouts; plane.c sets the other members. */
    int verbosity;
    kc_log_format log_format;
} kc__cli_apiserver_options;

/* Refuses contradicting flags (KC_INVALID) and derives dependent values. */
int kc__cli_apiserver_options_check(kc__cli_apiserver_options *options, kc_error *err);

/* True for 127.0.0.0/8 and ::1. */
bool kc__cli_is_loopback_address(const char *address);

#endif
