/* SPDX-License-Identifier: Apache-2.0 */
/* pem_files.h: reads and writes certificates and keys. */
#ifndef KC_APISERVER_PEM_FILES_H
#define KC_APISERVER_PEM_FILES_H

#include "http/tls/certificate.h"

/* As kc__cert_parse and kc__cert_key_parse; KC_NOT_FOUND if the file does not exist. The message
 * names the file. Block. */
int kc__serving_cert_read(const char *path, X509 **ret, kc_error *err);
int kc__serving_key_read(const char *path, EVP_PKEY **ret, kc_error *err);

/* Replaces both files; the key has mode 0600. The caller syncs the directory. Blocks. */
int kc__serving_pair_write(const kc__cert_keypair *pair, const char *cert_path,
                           const char *key_path, kc_error *err);

#endif
