/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem_files.c: certificates and keys from files. What was read of a key does not stay in memory.
 */
#include "apiserver/serving/pem_files.h"

#include "kc/file.h"

int kc__cert_read(const char *path, X509 **ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const int failed = kc_file_read(path, KC_FILE_MAX, &text, err);
    if (failed)
        return failed;
    if (kc__cert_parse(kc_buf_str(&text), ret, NULL) < 0)
        return kc_error_set(err, KC_INVALID, "there is no certificate in %s", path);
    return 0;
}

int kc__key_read(const char *path, EVP_PKEY **ret, kc_error *err)
{
    kc_buf text = {0};
    int failed = kc_file_read(path, KC_FILE_MAX, &text, err);
    if (failed)
        return failed;
    failed = kc__key_parse(kc_buf_str(&text), ret, NULL);
    kc__wipe(&text);
    return failed ? kc_error_set(err, KC_INVALID, "there is no private key without password in %s",
                                 path)
                  : 0;
}
