/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c: checks the modes and owners of the server's files before they are used.
 *
 *     writable by other users   refused: tokens, keys and the data directory grant access. A sticky
 *                               directory too: others could create the store, a key or a
 *                               certificate authority before the server does
 *     owned by another user     refused for the store, the directory of certificates and the keys
 *                               in them; a warning for other files
 *     readable by other users   a warning: they hold secrets
 */
#include "trust.h"

#include "shared_keys.h"

#include "kc/file.h"

static int refuse_writable(const char *flag, const char *path, const char *what, kc_error *err)
{
    return kc_error_set(err, KC_FORBIDDEN,
                        "%s: other users can write to %s %s; change its mode, for example with "
                        "chmod go-w",
                        flag, what, path);
}

/* A missing file is reported where it is read. */
static int check_unwritable(const char *flag, const char *path, kc_error *err)
{
    kc_file_access access;
    if (!path || kc_file_access_of(path, &access, NULL) < 0 || !access.others_write)
        return 0;
    return refuse_writable(flag, path, "the file", err);
}

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

static int refuse_owner(const char *flag, const char *path, kc_error *err)
{
    return kc_error_set(err, KC_FORBIDDEN,
                        "%s: %s belongs to a user other than root and the user of kc; change its "
                        "owner",
                        flag, path);
}

/* The data directory may belong to another user, such as the one that runs kc with sudo. */
static int check_root(const char *path, kc_log *log, kc_error *err)
{
    static const char flag[] = "--file-rootpath";
    kc_file_access access;
    if (kc_file_access_of(path, &access, NULL) < 0)
        return 0;
    if (access.others_add)
        return refuse_writable(flag, path, "the directory", err);
    if (access.others_own)
        kc_log_warn(log, "another user owns the directory and can change its contents",
                    kc_kv("flag", flag), kc_kv("directory", path));
    return 0;
}

/* A directory, or file, that the server usually creates itself. */
static int check_own(const char *flag, const char *path, kc_error *err)
{
    kc_file_access access;
    if (kc_file_access_of(path, &access, NULL) < 0)
        return 0;
    if (access.others_add)
        return refuse_writable(flag, path, "the directory", err);
    if (access.others_write)
        return refuse_writable(flag, path, "the file", err);
    return access.others_own ? refuse_owner(flag, path, err) : 0;
}

/* What the server finds in its directories it trusts as if it had created it. */
static int check_own_files(const kc__cli_apiserver_options *o, kc_error *err)
{
    static const char *const keys[] = {"ca.key", "node-client-ca.key", "sa.key"};
    const char *flag = o->cert_dir ? "--cert-dir" : "--file-rootpath";
    kc_autofree char *store = kc_asprintf("%s/store", o->root), *certs = kc__cli_cert_dir(o);
    kc_autofree char *encryption = kc_asprintf("%s/encryption.yaml", o->root);
    if (check_own("--file-rootpath", store, err) < 0 || check_own(flag, certs, err) < 0 ||
        check_own("--file-rootpath", encryption, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(keys); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", certs, keys[i]);
        if (check_own(flag, path, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

int kc__cli_check_secret_files(const kc__cli_secret_files *files, const void *options, kc_log *log,
                               kc_error *err)
{
    for (size_t i = 0; i < files->n; i++) {
        const kc__cli_secret_file *file = &files->items[i];
        const char *path = kc__cli_secret_path(file, options);
        const int failed = file->kind == KC__CLI_SECRET_CONFIG
                               ? check_unwritable(file->flag, path, err)
                               : kc__cli_check_secret(file->flag, path, log, err);
        if (failed < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* Files that are no secret, but decide which clients and servers are accepted. */
static int check_trust_files(const kc__cli_apiserver_options *o, kc_error *err)
{
    const struct {
        const char *flag, *path;
    } files[] = {{"--client-ca-file", o->client_ca_file},
                 {"--requestheader-client-ca-file", o->authn.proxy.ca_file},
                 {"--authentication-config", o->authn.config_file},
                 {"--etcd-cafile", o->etcd.ca_file},
                 {"--oidc-ca-file", o->authn.oidc.ca_file}};
    for (size_t i = 0; i < KC_COUNT(files); i++)
        if (check_unwritable(files[i].flag, files[i].path, err) < 0)
            return kc_error_result(err);
    return 0;
}

/* Public keys are no secret, but decide whose tokens are accepted. */
static int check_account_keys(const kc__cli_apiserver_options *o, kc_error *err)
{
    const kc__cli_flag_list *files = &o->accounts.key_files;
    for (size_t i = 0; i < files->n; i++)
        if (check_unwritable("--service-account-key-file", files->items[i].p, err) < 0)
            return kc_error_result(err);
    return 0;
}

int kc__cli_check_file_modes(const kc__cli_apiserver_options *o, kc_log *log, kc_error *err)
{
    if (check_root(o->root, log, err) < 0 || check_own_files(o, err) < 0 ||
        kc__cli_check_secret_files(&kc__cli_apiserver_secrets, o, log, err) < 0 ||
        check_trust_files(o, err) < 0 || check_account_keys(o, err) < 0)
        return kc_error_result(err);
    return 0;
}
