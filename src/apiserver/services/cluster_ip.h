/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_ip.h: the IPAddress objects of cluster IPs. A cluster IP is taken while its IPAddress
 * exists: the name of the object is the address, its parent the Service. These are kube-apiserver's
 * objects. Pure; any thread.
 */
#ifndef KC_APISERVER_CLUSTER_IP_H
#define KC_APISERVER_CLUSTER_IP_H

#include "kc/object.h"
#include "kc/rand.h"
#include "kc/time.h"
#include "kc/view.h"

/* Cluster IPs of one Service: one of each family. */
enum { KC__CLUSTER_IP_MAX = 2 };

/* The cluster IPs of a Service; borrowed from its spec. */
typedef struct kc__cluster_ip_list {
    kc_str items[KC__CLUSTER_IP_MAX];
    size_t n;
} kc__cluster_ip_list;

/* Those that a Service's spec (NULL: none) has and that are allocated: none of an ExternalName or
 * headless Service. */
kc__cluster_ip_list kc__cluster_ip_list_of(const kc_value *spec);
bool kc__cluster_ip_list_has(const kc__cluster_ip_list *list, kc_str ip);

/* Which Service an IPAddress belongs to, and when it was created. */
typedef struct kc__cluster_ip_owner {
    kc_str ns, name; /* Of the Service. */
    kc_time now;
} kc__cluster_ip_owner;

/* The IPAddress of a cluster IP, as the allocator of kube-apiserver makes it. The caller drops the
 * reference. */
kc_object *kc__cluster_ip_object(kc_str ip, const kc__cluster_ip_owner *owner, kc_rand *rand);

/* Whether the labels are those of the allocator. */
bool kc__cluster_ip_has_labels(const kc_object *address);
/* Whether the allocator of a server made the object, and not a client. */
bool kc__cluster_ip_is_managed(const kc_object *address);
/* The key "namespace/name" of the parent Service, appended to `out`. False: the parent is no
 * Service. */
bool kc__cluster_ip_parent(const kc_object *address, kc_buf *out);

#endif
