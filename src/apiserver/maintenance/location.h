/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.h: where a store is, as the commands that maintain stores name it.
 *
 *     file:DIR             the file backend in DIR/store; DIR is the data directory of a server
 *     DIR                  the same
 *     etcd:URL[,URL…]      the backend etcd; the URLs of its members
 *
 * DIR may also be the directory of the store itself (it has data.mdb).
 */
#ifndef KC_APISERVER_MAINTENANCE_LOCATION_H
#define KC_APISERVER_MAINTENANCE_LOCATION_H

#include "apiserver/storage/etcd/etcd_backend.h"

enum { KC__MAINTENANCE_MAX_URLS = 16 };

typedef struct kc__maintenance_location {
    const kc__storage_backend *backend;
    char *root;    /* The data directory: certificates, encryption.yaml. NULL in etcd. */
    char *storage; /* For messages, and kc__storage_opts.location of the file backend. */
    char *urls[KC__MAINTENANCE_MAX_URLS];
    size_t n_urls;
} kc__maintenance_location;

void kc__maintenance_location_done(kc__maintenance_location *location);

/* Parses a location. KC_INVALID for an unknown backend, an empty directory or an invalid URL; the
 * message names the accepted forms. */
int kc__maintenance_location_parse(const char *text, kc__maintenance_location *ret, kc_error *err);
/* Whether the store is in etcd. */
bool kc__maintenance_location_is_etcd(const kc__maintenance_location *location);

typedef struct kc__maintenance_open_opts {
    /* KC_NOT_FOUND if there is no store. Defaults to creating it, with its data directory. */
    bool existing;
    /* Of a location in etcd: all but the endpoints. Defaults to the defaults of the backend. */
    const kc__storage_etcd_opts *etcd;
    kc_log *log; /* Logs migrations of the layout. Defaults to none. */
} kc__maintenance_open_opts;

/* Opens the store, exclusively if the backend is exclusive. KC_CONFLICT while a server uses it.
 * Blocks; waits some seconds for etcd. */
int kc__maintenance_open(const kc__maintenance_location *location,
                         const kc__maintenance_open_opts *opts, kc__storage **ret_storage,
                         kc_error *err);

#endif
