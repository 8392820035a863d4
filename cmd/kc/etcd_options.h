/* SPDX-License-Identifier: Apache-2.0 */
/* etcd_options.h: the flags of the backend etcd. */
#ifndef KC_CMD_ETCD_OPTIONS_H
#define KC_CMD_ETCD_OPTIONS_H

#include "flags.h"

#include "apiserver/storage/storage.h"

typedef struct kc__cli_etcd_options {
    kc__cli_flag_list servers, overrides;
    const char *prefix, *ca_file, *cert_file, *key_file;
    int64_t compaction_interval; /* 0: never. */
} kc__cli_etcd_options;

/* A part of the flags of `kc apiserver` and `kc up`. */
extern const kc__cli_flag_set kc__cli_etcd_flags;

/* Whether a text is the URL of a server. */
bool kc__cli_etcd_is_url(kc_str text);

/* Refuses contradicting flags (KC_INVALID). */
int kc__cli_etcd_options_check(const kc__cli_etcd_options *options,
                               const kc__storage_backend *backend, kc_error *err);

/* Opens the storage, with these flags if it is in etcd. */
int kc__cli_etcd_open(const kc__cli_etcd_options *options, const kc__storage_backend *backend,
                      const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err);

#endif
