/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_key.h: the format of a key in the storage, which is that of Kubernetes in etcd.
 *
 *     /registry/pods/default/web                       built-in resource: no group
 *     /registry/services/specs/default/web             two segments, as in Kubernetes
 *     /registry/example.com/robots/default/r2          custom resource: group and plural
 *     └──────── prefix ───────────┘└── key ──┘
 *
 * The prefix of each built-in resource is a column of the table of resources (kinds/builtin.c);
 * kinds/key_layout.h finds it. This file contains only what the text of a key tells by itself:
 * where its prefix ends.
 */
#ifndef KC_APISERVER_STORED_KEY_H
#define KC_APISERVER_STORED_KEY_H

#include "kc/str.h"

#define KC__STORAGE_KEY_ROOT "/registry/"
/* Keys of the program itself (stored_marker.h): no objects. In etcd they are below the prefix. */
#define KC__STORAGE_KEY_OWN "/kc/"

/* The prefix of a stored key, including its last slash; empty if the key has none. O(length). */
kc_str kc__storage_key_prefix(kc_str key);

#endif
