/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c: checks the modes and owners of the server's files before they are used.
 *
 *     writable by other users   refused: tokens, keys and the data directory grant access
 *     readable by other users   a warning: they hold secrets
 */
#include "trust.h"

#include "kc/file.h"

static int refuse_writable(const char *flag, const char *path, const char *what, kc_error *err)
{
    return kc_error_set(err, KC_FORBIDDEN,
                        "%s: other users can write to %s %s; change its mode, for example with "
                        "chmod go-w",
                        flag, what, path);
}

/* A missing file is reported where it is read. */
int kc__cli_check_secret(const char *flag, const char *path, kc_log *log, kc_error *err)
{
    kc_file_access access;
    if (!path || kc_file_access_of(path, &access, NULL) < 0)
        return 0;
    if (access.others_write)
        return refuse_writable(flag, path, "the file", err);
    if (access.others_read || access.others_own)
        kc_log_warn(log, "other users can read a secret; change its mode or owner",
                    kc_kv("flag", flag), kc_kv("file", path));
    return 0;
}

static int check_dir(const char *flag, const char *path, kc_log *log, kc_error *err)
{
    kc_file_access access;
    if (!path || kc_file_access_of(path, &access, NULL) < 0)
        return 0;
    if (access.others_write)
        return refuse_writable(flag, path, "the directory", err);
    if (access.others_own)
        kc_log_warn(log, "another user owns the directory and can change its contents",
                    kc_kv("flag", flag), kc_kv("directory", path));
    return 0;
}

/* Files that are no secret, but decide which clients are accepted. */
static int check_trust_files(const kc__cli_apiserver_options *o, kc_error *err)
{
    const struct {
        const char *flag, *path;
    } files[] = {{"--client-ca-file", o->client_ca_file},
                 {"--requestheader-client-ca-file", o->authn.proxy.ca_file},
                 {"--authentication-config", o->authn.config_file},
                 {"--authorization-config", o->authz.config_file},
                 {"--oidc-ca-file", o->authn.oidc.ca_file}};
    kc_file_access access;
    for (size_t i = 0; i < KC_COUNT(files); i++)
        if (files[i].path && kc_file_access_of(files[i].path, &access, NULL) == 0 &&
            access.others_write)
            return refuse_writable(files[i].flag, files[i].path, "the file", err);
    return 0;
}

/* Public keys are no secret, but decide whose tokens are accepted. */
static int check_account_keys(const kc__cli_apiserver_options *o, kc_error *err)
{
    const kc__cli_flag_list *files = &o->accounts.key_files;
    kc_file_access access;
    for (size_t i = 0; i < files->n; i++)
        if (kc_file_access_of(files->items[i].p, &access, NULL) == 0 && access.others_write)
            return refuse_writable("--service-account-key-file", files->items[i].p, "the file",
                                   err);
    return 0;
}

int kc__cli_check_file_modes(const kc__cli_apiserver_options *o, kc_log *log, kc_error *err)
{
    kc_autofree char *store = kc_asprintf("%s/store", o->root);
    if (check_dir("--file-rootpath", o->root, log, err) < 0 ||
        check_dir("--file-rootpath", store, log, err) < 0 ||
        check_dir("--cert-dir", o->cert_dir, log, err) < 0 ||
        kc__cli_check_secret("--token-auth-file", o->token_file, log, err) < 0 ||
        kc__cli_check_secret("--authentication-token-webhook-config-file",
                             o->authn.webhook.config_file, log, err) < 0 ||
        kc__cli_check_secret("--authorization-webhook-config-file", o->authz.webhook_file, log,
                             err) < 0 ||
        kc__cli_check_secret("--tls-private-key-file", o->tls_key_file, log, err) < 0 ||
        kc__cli_check_secret("--service-account-signing-key-file", o->accounts.signing_key_file,
                             log, err) < 0 ||
        kc__cli_check_secret("--encryption-provider-config", o->encryption_file, log, err) < 0 ||
        check_trust_files(o, err) < 0 || check_account_keys(o, err) < 0)
        return kc_error_result(err);
    return 0;
}
