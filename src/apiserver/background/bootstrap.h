/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h: the objects that every control plane has from its first start. */
#ifndef KC_APISERVER_BOOTSTRAP_H
#define KC_APISERVER_BOOTSTRAP_H

#include "apiserver/call/call.h"

/* Maximum number of members of kc__bootstrap_trust. */
#define KC__BOOTSTRAP_TRUST_MEMBERS 8

/* Which clients the server accepts: members of the ConfigMap KC__BOOTSTRAP_CLIENT_CA_KEY, such as
 * client-ca-file. Zero: nothing is published. */
typedef struct kc__bootstrap_trust {
    struct {
        const char *name;
        kc_str value;
    } members[KC__BOOTSTRAP_TRUST_MEMBERS];
    size_t n;
} kc__bootstrap_trust;

/* What the ServiceCIDR and the Service of the API server are created with. */
typedef struct kc__bootstrap_network {
    const char *range; /* Of cluster IPs. Defaults to KC__SERVICE_NETWORK_DEFAULT. */
    int port;          /* Of HTTPS. Defaults to 6443. */
} kc__bootstrap_network;

/* Creates the missing objects. Call it before requests are served; blocks until they are stored. */
int kc__bootstrap_objects(kc__rest_api *api, const kc__bootstrap_trust *trust,
                          const kc__bootstrap_network *network, kc_error *err);

#define KC__BOOTSTRAP_CLIENT_CA_KEY "kube-system/extension-apiserver-authentication"

/* Where the client CA ConfigMap is stored: its cache, and the expected revision of a write. */
typedef struct kc__bootstrap_client_ca_target {
    kc__watch_cache *cache;
    uint64_t expected;
} kc__bootstrap_client_ca_target;

/* The ConfigMap with the right contents; NULL if the stored one has them. The caller drops the
 * reference. On the first context's loop, or before requests are served. */
kc_object *kc__bootstrap_client_ca_object(kc__rest_api *api, const kc__bootstrap_trust *trust,
                                          kc__bootstrap_client_ca_target *ret);

#endif
