/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_layout.h: the key prefix under which the storage keeps the objects of a resource, and the API
 * groups that belong to the server itself.
 *
 *     kc__resource_key_builtin_prefix("", "nodes")              "/registry/minions/"
 *     kc__resource_key_custom_prefix(&out, group, plural)       "/registry/example.com/robots/"
 *
 * Everything is derived from the column `key_prefix` of the built-in resources (builtin.c), which
 * follows Kubernetes v1.34. Any thread.
 */
#ifndef KC_APISERVER_KEY_LAYOUT_H
#define KC_APISERVER_KEY_LAYOUT_H

#include "apiserver/kinds/resource.h"
#include "kc/buf.h"

/* Returns the prefix of a built-in resource, which must exist and be stored. Linear in the
 * number of built-in resources. */
kc_str kc__resource_key_builtin_prefix(const char *group, const char *plural);

/* Whether a group belongs to the API server: a group that this server serves, or one that
 * kube-apiserver v1.34 serves. CRDs cannot add resources or versions to such a group. */
bool kc__resource_key_group_is_builtin(kc_str group);

/* Whether a built-in resource keeps its objects at, above or below a prefix. */
bool kc__resource_key_prefix_is_builtin(kc_str prefix);

/* The group and plural of the resource whose objects a prefix holds: the reverse of the functions
 * above and below. Borrows from the prefix or from constants. Events belong to the core group. */
void kc__resource_key_resource(kc_str prefix, kc_str *ret_group, kc_str *ret_plural);

/* Whether a prefix holds records of servers, which are no objects of the API: the allocated node
 * ports, and the addresses of the servers that run. They are derived from objects and servers. */
bool kc__resource_key_is_record(kc_str prefix);

/* Appends the prefix of a custom resource. Does not check it: kc__resource_key_prefix_is_builtin
 * does. */
void kc__resource_key_custom_prefix(kc_buf *out, kc_str group, kc_str plural);

#endif
