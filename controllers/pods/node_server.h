/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_server.h: what our nodes answer when the API server asks: what containers have written.
 *
 *     GET /containerLogs/NAMESPACE/POD/CONTAINER?follow=true&tailLines=10…      as a kubelet
 *
 * Over TLS. Nobody is answered but the API server, by its certificate; the Nodes say by which key
 * we are known. docs/internals/access.md has both sides of it.
 */
#ifndef KC_CONTROLLERS_NODE_SERVER_H
#define KC_CONTROLLERS_NODE_SERVER_H

#include "kc/http_server.h"
#include "kc/manager.h"
#include "kc/pods.h"

typedef struct kc__node_server kc__node_server;

/* Listens, and adds to the manager what keeps up with whom to trust. `opts` is complete, and lives
 * as long. NULL on error. */
kc__node_server *kc__node_server_new(kc_manager *manager, const kc_pods_opts *opts, kc_error *err);
/* After the manager has stopped. NULL is allowed; returns NULL. */
kc__node_server *kc__node_server_free(kc__node_server *server);

int kc__node_server_port(const kc__node_server *server);
/* Where it is, for the annotation kubecontroller.io/serving-address. */
const char *kc__node_server_address(const kc__node_server *server);
/* For the annotation kubecontroller.io/serving-key. */
const char *kc__node_server_key(const kc__node_server *server);

#endif
