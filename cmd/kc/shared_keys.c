/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_keys.c: servers of one etcd accept the same clients and tokens and read the same Secrets,
 * so no server makes a key of its own: all get theirs from `kc certs create` (certs_sets.c).
 *
 *     DIR/ca.crt, ca.key                            certificates of servers, clients and the
 *                                                   administrator
 *     DIR/node-client-ca.crt, node-client-ca.key    certificates that nodes accept
 *     DIR/sa.key                                    tokens of service accounts; or
 *                                                   --service-account-signing-key-file
 *     DIR/encryption.yaml                           Secrets at rest, for `kc up`; or
 *                                                   --encryption-provider-config
 *
 * DIR is --cert-dir. What a server makes beside them (its serving certificate and the like) is
 * signed by these.
 */
#include "shared_keys.h"

#include "encryption_file.h"

#include <unistd.h>

static bool is_shared(const kc__cli_apiserver_options *o)
{
    return !o->backend->exclusive;
}

char *kc__cli_cert_dir(const kc__cli_apiserver_options *o)
{
    return o->cert_dir ? kc_strdup(o->cert_dir) : kc_asprintf("%s/certs", o->root);
}

char *kc__cli_shared_encryption_path(const kc__cli_apiserver_options *o)
{
    char *path = kc__cli_encryption_path(o->encryption_file, o->root);
    if (path || !is_shared(o))
        return path;
    kc_autofree char *dir = kc__cli_cert_dir(o);
    return kc__cli_encryption_path(NULL, dir);
}

static void add_if_missing(const char *dir, const char *name, kc_buf *missing)
{
    kc_autofree char *path = kc_asprintf("%s/%s", dir, name);
    if (access(path, F_OK) != 0)
        kc_buf_printf(missing, "%s%s", missing->n ? ", " : "", name);
}

int kc__cli_shared_keys_check(const kc__cli_apiserver_options *o, kc_error *err)
{
    static const char *const authorities[] = {"ca.crt", "ca.key", "node-client-ca.crt",
                                              "node-client-ca.key"};
    kc_scoped(kc_buf) missing = {0};
    if (!is_shared(o))
        return 0;
    kc_autofree char *dir = kc__cli_cert_dir(o);
    kc_autofree char *encryption = kc__cli_shared_encryption_path(o);
    for (size_t i = 0; i < KC_COUNT(authorities); i++)
        add_if_missing(dir, authorities[i], &missing);
    if (!o->accounts.signing_key_file)
        add_if_missing(dir, "sa.key", &missing);
    if (o->encryption_create && !encryption)
        add_if_missing(dir, "encryption.yaml", &missing);
    if (!missing.n)
        return 0;
    return kc_error_set(
        err, KC_INVALID,
        "--backend=etcd: the servers of one etcd share their keys, and none makes its own; "
        "missing in %s: %s. Make the set of each machine with 'kc certs create --out=DIR "
        "NAME=ADDRESS...' and start the server with --cert-dir=DIR/NAME (or name a file with "
        "--service-account-signing-key-file, --encryption-provider-config)",
        dir, kc_buf_cstr(&missing));
}
