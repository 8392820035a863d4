/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_testing.h: encryption configurations as files, for tests of encryption at rest.
 *
 *     kc_auto(scratch) *dir = scratch_new();
 *     write_encryption(dir, "secrets", "secretbox", "key1", 'a', "identity", NULL, 0);
 */
#ifndef KC_ENCRYPTION_TESTING_H
#define KC_ENCRYPTION_TESTING_H

#include "files_testing.h"

#include "apiserver/storage/encryption/encryption.h"
#include "kc/base64.h"

/* A provider of a configuration: a cipher with one key of 32 equal bytes, or identity. */
typedef struct provider_of {
    const char *cipher; /* NULL: identity. */
    const char *key;
    char byte;
} provider_of;

/* The YAML of a configuration with one entry. */
static inline KC_UNUSED char *encryption_yaml(const char *resources, const provider_of *providers,
                                              size_t n)
{
    kc_buf out = {0};
    kc_buf_printf(&out,
                  "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
                  "resources:\n- resources: [%s]\n  providers:\n",
                  resources);
    for (size_t i = 0; i < n; i++) {
        char bytes[32];
        kc_scoped(kc_buf) secret = {0};
        memset(bytes, providers[i].byte, sizeof(bytes));
        kc_base64_write(&secret, kc_str_of(bytes, sizeof(bytes)), KC_BASE64);
        if (providers[i].cipher)
            kc_buf_printf(&out, "  - %s:\n      keys:\n      - name: %s\n        secret: %s\n",
                          providers[i].cipher, providers[i].key, kc_buf_cstr(&secret));
        else
            kc_buf_puts(&out, "  - identity: {}\n");
    }
    return kc_buf_take(&out);
}

/* Writes FILE encryption.yaml in a directory: write_encryption(dir, "secrets", {…}, {…}). */
#define write_encryption(dir, resources, ...)                                                   \
    do {                                                                                        \
        const provider_of providers_[] = {__VA_ARGS__};                                         \
        kc_autofree char *yaml_ = encryption_yaml(resources, providers_, KC_COUNT(providers_)); \
        scratch_write(dir, "encryption.yaml", yaml_);                                           \
    } while (0)

/* Opens that file; the test fails if it is invalid. */
static inline KC_UNUSED kc__encryption *open_encryption(const scratch *dir, bool reload,
                                                        int64_t interval)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *path = scratch_path(dir, "encryption.yaml");
    kc__encryption *e = kc__encryption_new(
        &(kc__encryption_opts){.path = path, .reload = reload, .interval = interval}, &err);
    if (!e)
        fail_msg("%s", kc_error_text(&err));
    return e;
}

#endif
