/* SPDX-License-Identifier: Apache-2.0 */
/* etcd_overrides.h: --etcd-servers-overrides: resources that are stored in another etcd. */
#ifndef KC_CMD_ETCD_OVERRIDES_H
#define KC_CMD_ETCD_OVERRIDES_H

#include "etcd_options.h"

#include "apiserver/store/store.h"

/* Zero is empty. */
typedef struct kc__cli_etcd_overrides {
    kc__store_override items[KC__CLI_FLAG_LIST_MAX]; /* One for each list of servers. */
    kc_str servers[KC__CLI_FLAG_LIST_MAX];           /* That list. */
    kc_str prefixes[KC__CLI_FLAG_LIST_MAX][KC__CLI_FLAG_LIST_MAX];
    size_t n;
    bool taken; /* Stores close the storages. */
} kc__cli_etcd_overrides;

/* Refuses a wrong value (KC_INVALID). */
int kc__cli_etcd_overrides_check(const kc__cli_etcd_options *options, kc_error *err);

/* Opens their storages, which the caller closes, or passes to a store. The result borrows from the
 * options, and must not move. Must be closed even on error. Blocks. */
int kc__cli_etcd_overrides_open(const kc__cli_etcd_options *options, const kc__storage_opts *opts,
                                kc__cli_etcd_overrides *ret, kc_error *err);
/* Closes the storages that no store has taken over. */
void kc__cli_etcd_overrides_close(kc__cli_etcd_overrides *overrides);

#endif
