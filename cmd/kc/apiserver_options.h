/* SPDX-License-Identifier: Apache-2.0 */
/* apiserver_options.h: what was asked of `kc apiserver`, read and checked. */
#ifndef KC_CMD_APISERVER_OPTIONS_H
#define KC_CMD_APISERVER_OPTIONS_H

#include "flags.h"

#include "apiserver/storage/storage.h"
#include "kc/log.h"

/* Texts that were not given, or empty, are NULL once they are checked. */
typedef struct kc__apiserver_options {
    const kc_storage_backend *backend;
    const char *root;
    const char *bind_address, *insecure_addr;
    int secure_port, insecure_port; /* 0: off. */
    const char *cert_dir, *tls_cert_file, *tls_key_file, *client_ca_file;
    const char *token_file;
    bool allow_localhost;
    bool anonymous;
    int64_t request_timeout;
    int verbosity;
    kc_log_format log_format;
} kc__apiserver_options;

/* Finds contradictions, and settles what depends on other flags. KC_INVALID with a sentence. */
int kc__apiserver_options_check(kc__apiserver_options *options, kc_error *err);

/* Is it an address of this machine alone? */
bool kc__is_loopback_address(const char *address);

#endif
