/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_file.c: the encryption configuration beside the store, which `kc up` creates.
 *
 *     ROOT/encryption.yaml   one key (secretbox), for Secrets; mode 0600
 *     ROOT/store             the objects
 *
 * The key protects copies of the store that leave the machine without it: backups of ROOT/store,
 * support archives, a discarded disk with only that directory. It does not protect against a reader
 * of the whole directory or of the running machine.
 *
 * A missing file is created only if the storage holds no encrypted Secret. Otherwise the file was
 * lost or not restored, and a new key would hide that until a Secret is read.
 */
#include "encryption_file.h"

#include "apiserver/kinds/key_layout.h"
#include "kc/base64.h"
#include "kc/file.h"

#include <sodium.h>
#include <unistd.h>

enum { KEY_BYTES = 32 };

static char *own_file(const char *root)
{
    return kc_asprintf("%s/encryption.yaml", root);
}

char *kc__cli_encryption_path(const char *flag, const char *root)
{
    if (flag)
        return kc_strdup(flag);
    kc_autofree char *path = own_file(root);
    return access(path, F_OK) == 0 ? kc_take(path) : NULL;
}

static int find_encrypted(const kc__storage_entry *entry, void *user)
{
    bool *found = user;
    *found = *found || kc_str_starts(entry->value, KC_STR("k8s:enc:"));
    return 0;
}

static int refuse_new_key(const char *path, kc__storage *storage, kc_error *err)
{
    bool found = false;
    kc__storage_state state;
    const kc__storage_list_opts secrets = {.prefix =
                                               kc__resource_key_builtin_prefix("", "secrets")};
    if (kc__storage_list(storage, &secrets, find_encrypted, &found, &state, err) < 0)
        return kc_error_result(err);
    if (found)
        return kc_error_set(err, KC_NOT_FOUND,
                            "%s is missing, and the store has Secrets that were encrypted with a "
                            "key: restore the file, or name its copy with "
                            "--encryption-provider-config",
                            path);
    return 0;
}

static void write_config(kc_buf *out)
{
    unsigned char key[KEY_BYTES];
    kc_buf_reserve(out, 1024); /* A buffer that grows would leave copies of the key behind. */
    kc_buf_puts(out, "# Created by kc. Secrets in the store of this server are encrypted with this "
                     "key: keep a copy of\n"
                     "# the file apart from copies of the store. Both together reveal the "
                     "Secrets.\n"
                     "apiVersion: apiserver.config.k8s.io/v1\n"
                     "kind: EncryptionConfiguration\n"
                     "resources:\n"
                     "- resources: [secrets]\n"
                     "  providers:\n"
                     "  - secretbox:\n"
                     "      keys:\n"
                     "      - name: key1\n"
                     "        secret: ");
    randombytes_buf(key, sizeof(key));
    kc_base64_write(out, kc_str_of((const char *)key, sizeof(key)), KC_BASE64);
    sodium_memzero(key, sizeof(key));
    kc_buf_puts(out, "\n"
                     "  - identity: {}\n");
}

int kc__cli_encryption_write(const char *dir, kc_error *err)
{
    kc_autofree char *path = own_file(dir);
    kc_scoped(kc_buf) text = {0};
    if (sodium_init() < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot initialize libsodium");
    write_config(&text);
    const int failed = kc_file_write(path, 0600, kc_buf_str(&text), err);
    kc_buf_wipe(&text);
    return failed;
}

char *kc__cli_encryption_create(const char *root, kc__storage *storage, kc_log *log, kc_error *err)
{
    kc_autofree char *path = own_file(root);
    if (refuse_new_key(path, storage, err) < 0 || kc__cli_encryption_write(root, err) < 0)
        return NULL;
    kc_log_info(log, "created the key that encrypts Secrets at rest", kc_kv("file", path));
    return kc_take(path);
}
