/* SPDX-License-Identifier: Apache-2.0 */
/* etcd_storage.h: storages in the etcd of a test, each with a prefix of its own. Machines that run
 * other tests beside it may be slow: requests have a long timeout, unless the options say
 * otherwise. */
#ifndef KC_ETCD_STORAGE_H
#define KC_ETCD_STORAGE_H

#include "etcd_process.h"

#include "apiserver/storage/etcd/etcd_backend.h"

static inline KC_UNUSED kc__storage *etcd_store_with(const etcd_cluster *cluster,
                                                     const kc__storage_etcd_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    const char *url = cluster->members[0].url;
    kc__storage_etcd_opts etcd = *opts;
    etcd.endpoints = &url;
    etcd.n_endpoints = 1;
    if (kc__storage_open(&kc__storage_etcd_backend, &(kc__storage_opts){.etcd = &etcd}, &storage,
                         &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static inline KC_UNUSED kc__storage *etcd_store(const etcd_cluster *cluster, const char *prefix)
{
    return etcd_store_with(cluster,
                           &(kc__storage_etcd_opts){.prefix = prefix, .timeout = 60 * KC_SECOND});
}

#endif
