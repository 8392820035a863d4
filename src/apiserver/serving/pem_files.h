/* SPDX-License-Identifier: Apache-2.0 */
/* pem_files.h: certificates and keys from files. */
#ifndef KC_APISERVER_PEM_FILES_H
#define KC_APISERVER_PEM_FILES_H

#include "http/certificate.h"

/* As kc__cert_parse and kc__key_parse; KC_NOT_FOUND when there is no such file. The message names
 * it. Block. */
int kc__cert_read(const char *path, X509 **ret, kc_error *err);
int kc__key_read(const char *path, EVP_PKEY **ret, kc_error *err);

#endif
