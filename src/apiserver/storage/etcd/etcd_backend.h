/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_backend.h: the shared backend `etcd`: objects in an etcd cluster, which several servers use
 * at once.
 *
 *     kc__storage_open(&kc__storage_etcd_backend,
 *                      &(kc__storage_opts){.etcd = &(kc__storage_etcd_opts){.endpoints = urls,
 *                                                                           .n_endpoints = 3}},
 *                      &storage, err);
 *
 * A revision of the storage is a revision of etcd. The keys are those of kube-apiserver: the root
 * "/registry/" of the storage's keys (stored_key.h) is replaced by `prefix`.
 */
#ifndef KC_APISERVER_STORAGE_ETCD_H
#define KC_APISERVER_STORAGE_ETCD_H

#include "apiserver/storage/storage.h"

extern const kc__storage_backend kc__storage_etcd_backend;

typedef struct kc__storage_etcd_opts {
    const char *const *endpoints; /* URLs: http://HOST:PORT or https://HOST:PORT. */
    size_t n_endpoints;
    const char *prefix;                         /* Defaults to "/registry". */
    const char *ca_file, *cert_file, *key_file; /* PEM. Default to none. */
    int64_t wait;    /* How long to wait for etcd when opening. Defaults to 30 s. */
    int64_t timeout; /* Of a request. Defaults to 10 s. */
    /* How often old history is dropped, by one of the servers. Defaults to never. */
    int64_t compaction_interval;
    /* Called while `advance` raises the revision, which takes time: the revision that etcd has, and
     * the one it shall have. Defaults to NULL. */
    void (*advanced)(uint64_t revision, uint64_t goal, void *user);
    void *user;
} kc__storage_etcd_opts;

/* Writes a snapshot of the whole database of one member, other prefixes included, to a file
 * descriptor, in the format of `etcdutl snapshot restore`. Sets its size. Blocks. */
int kc__storage_etcd_snapshot(kc__storage *storage, int fd, uint64_t *ret_size, kc_error *err);

#endif
