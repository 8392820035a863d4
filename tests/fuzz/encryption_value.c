/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes of a storage are refused as a value, or opened; what was opened can be sealed and
 * opened again. A changed byte of a sealed value is detected by ciphers that authenticate.
 */
#include "fuzzing.h"

#include "apiserver/storage/encryption/encryption_cipher.h"

static const unsigned char key_bytes[32] = "0123456789abcdef0123456789abcdef";
static const kc__encryption_secret key = {key_bytes, sizeof(key_bytes)};
static const unsigned char nonce[KC__ENCRYPTION_MAX_NONCE] = "a nonce of 24 bytes     ";
#define AT KC_STR("/registry/secrets/a/b")

static void seal_and_open(const kc__encryption_cipher *cipher, kc_str plain)
{
    kc_scoped(kc_buf) sealed = {0};
    kc_scoped(kc_buf) opened = {0};
    assert(cipher->seal(key, nonce, AT, plain, &sealed));
    assert(!cipher->open(key, kc_buf_str(&sealed), AT, &opened));
    assert(kc_str_eq(kc_buf_str(&opened), plain));
    kc_buf_clear(&opened);
    sealed.p[sealed.n / 2] ^= 4;
    if (strcmp(cipher->name, "aescbc") != 0)
        assert(cipher->open(key, kc_buf_str(&sealed), AT, &opened) && !opened.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"aesgcm", "aescbc", "secretbox"};
    if (!size)
        return 0;
    const kc__encryption_cipher *cipher =
        kc__encryption_cipher_named(kc_cstr(names[data[0] % KC_COUNT(names)]));
    const kc_str bytes = kc_str_of((const char *)data + 1, size - 1);
    kc_scoped(kc_buf) out = {0};
    const char *error = cipher->open(key, bytes, AT, &out);
    assert(!error || !out.n);
    seal_and_open(cipher, error ? bytes : kc_buf_str(&out));
    return 0;
}
