/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_files.c: the tables of secret_files.h for the server and for `kc up`.
 *
 * To add a flag whose file holds a secret: a row here. A unit test fails for a flag that looks like
 * one and has no row.
 */
#include "secret_files.h"

#include "up_options.h"

#define SERVER(flag, name, kind) {flag, offsetof(kc__cli_apiserver_options, name), kind}
#define UP(flag, name, kind)     {flag, offsetof(kc__cli_up_options, name), kind}

static const kc__cli_secret_file server_files[] = {
    SERVER("--tls-private-key-file", tls_key_file, KC__CLI_SECRET),
    SERVER("--token-auth-file", token_file, KC__CLI_SECRET),
    SERVER("--service-account-signing-key-file", accounts.signing_key_file, KC__CLI_SECRET),
    SERVER("--encryption-provider-config", encryption_file, KC__CLI_SECRET),
    SERVER("--etcd-keyfile", etcd.key_file, KC__CLI_SECRET),
    SERVER("--authentication-token-webhook-config-file", authn.webhook.config_file,
           KC__CLI_SECRET_KUBECONFIG),
    SERVER("--authorization-webhook-config-file", authz.webhook_file, KC__CLI_SECRET_KUBECONFIG),
    SERVER("--audit-webhook-config-file", audit.webhook_file, KC__CLI_SECRET_KUBECONFIG),
    SERVER("--authorization-config", authz.config_file, KC__CLI_SECRET_CONFIG),
    SERVER("--admission-control-config-file", admission_config_file, KC__CLI_SECRET_CONFIG),
};

static const kc__cli_secret_file up_files[] = {
    UP("--cluster-signing-key-file", signing.key_file, KC__CLI_SECRET),
    UP("--network-service-token-file", network_service_token_file, KC__CLI_SECRET),
    UP("--config", config, KC__CLI_SECRET_CONFIG),
};

const kc__cli_secret_files kc__cli_apiserver_secrets = {server_files, KC_COUNT(server_files)};
const kc__cli_secret_files kc__cli_up_secrets = {up_files, KC_COUNT(up_files)};

const char *kc__cli_secret_path(const kc__cli_secret_file *file, const void *options)
{
    return *(const char *const *)((const char *)options + file->offset);
}
