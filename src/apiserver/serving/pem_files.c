/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem_files.c: reads and writes certificates and keys. The text of a key is wiped from memory.
 */
#include "apiserver/serving/pem_files.h"

#include "kc/file.h"

int kc__serving_cert_read(const char *path, X509 **ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const int failed = kc_file_read(path, KC_FILE_MAX, &text, err);
    if (failed)
        return failed;
    if (kc__cert_parse(kc_buf_str(&text), ret, NULL) < 0)
        return kc_error_set(err, KC_INVALID, "no certificate found in %s", path);
    return 0;
}

int kc__serving_key_read(const char *path, EVP_PKEY **ret, kc_error *err)
{
    kc_buf text = {0};
    int failed = kc_file_read(path, KC_FILE_MAX, &text, err);
    if (failed)
        return failed;
    failed = kc__cert_key_parse(kc_buf_str(&text), ret, NULL);
    kc_buf_wipe(&text);
    return failed ? kc_error_set(err, KC_INVALID, "no unencrypted private key found in %s", path)
                  : 0;
}

/* A pair is two files and cannot be replaced atomically. So the certificate is removed first, which
 * is synced at once, and written last: a crash in between leaves a key without certificate, which
 * counts as missing, never a pair that does not match. */
int kc__serving_pair_write(const kc__cert_keypair *pair, const char *cert_path,
                           const char *key_path, kc_error *err)
{
    kc_scoped(kc_buf) cert = {0};
    kc_buf key = {0};
    int result = kc__cert_write(pair->cert, &cert, err);
    if (!result)
        result = kc__cert_key_write(pair->key, &key, err);
    if (!result)
        result = kc_file_remove(cert_path, err);
    if (!result)
        result = kc_file_replace(key_path, 0600, kc_buf_str(&key), err);
    if (!result)
        result = kc_file_replace(cert_path, 0644, kc_buf_str(&cert), err);
    kc_buf_wipe(&key);
    return result;
}
