/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes of a storage are refused as the value of a Secret, or read; what was read can be
 * written and read again, and is not stale then. A value that was written and changed in one place
 * is not read as another one.
 *
 * The configuration has all ciphers, with two keys each, and identity.
 */
#include "fuzzing.h"

#include "apiserver/storage/encryption/encryption.h"
#include "kc/file.h"

#include <stdlib.h>
#include <unistd.h>

#define KEY_A "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define KEY_B "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
#define PROVIDER(name)                                                   \
    "  - " name ":\n      keys:\n      - {name: a, secret: " KEY_A "}\n" \
    "      - {name: b, secret: " KEY_B "}\n"

static const char config_text[] =
    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
    "- resources: [secrets]\n  providers:\n" PROVIDER("aesgcm") PROVIDER("secretbox")
        PROVIDER("aescbc") "  - identity: {}\n";

static const kc__encryption_resource secrets = {.name = {"secrets", 7}};
#define AT KC_STR("/registry/secrets/a/b")

static kc__encryption *open_encryption(void)
{
    char path[] = "/tmp/kc-fuzz-encryption-XXXXXX";
    kc_scoped(kc_error) err = {0};
    const int fd = mkstemp(path);
    assert(fd >= 0 && write(fd, config_text, strlen(config_text)) == (ssize_t)strlen(config_text));
    close(fd);
    kc__encryption *encryption =
        kc__encryption_new(&(kc__encryption_opts){.path = path, .metrics = kc_metrics_new()}, &err);
    unlink(path);
    assert(encryption);
    return encryption;
}

static int read_value(kc__encryption *e, const kc__encryption_config *config, kc_str stored,
                      kc_buf *out, kc_str *ret, bool *ret_stale)
{
    kc_scoped(kc_error) err = {0};
    const int failed =
        kc__encryption_unseal(e, config, secrets, AT, stored, out, ret, ret_stale, &err);
    assert(!failed == !err.reason);
    return failed;
}

static void write_and_read(kc__encryption *e, const kc__encryption_config *config, kc_str plain)
{
    kc_scoped(kc_buf) stored = {0};
    kc_scoped(kc_buf) out = {0};
    kc_str again = {0};
    bool stale = true;
    assert(kc__encryption_seal(e, config, secrets, AT, plain, &stored, NULL) == 0);
    assert(read_value(e, config, kc_buf_str(&stored), &out, &again, &stale) == 0);
    assert(kc_str_eq(again, plain) && !stale);
    /* One bit of the prefix, the name of the key, the nonce, the text or the tag. */
    stored.p[plain.n % stored.n] ^= 1;
    kc_buf_clear(&out);
    if (read_value(e, config, kc_buf_str(&stored), &out, &again, &stale) == 0)
        assert(!kc_str_starts(kc_buf_str(&stored), KC_STR("k8s:enc:aesgcm:")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static kc__encryption *encryption;
    if (!encryption)
        encryption = open_encryption();
    kc_auto(kc__encryption_config) *config = kc__encryption_current(encryption);
    const kc_str bytes = kc_str_of((const char *)data, size);
    kc_scoped(kc_buf) out = {0};
    kc_str plain = {0};
    bool stale = false;
    const int failed = read_value(encryption, config, bytes, &out, &plain, &stale);
    write_and_read(encryption, config, failed ? bytes : plain);
    return 0;
}
