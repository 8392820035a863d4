/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_server.h: the node's HTTPS server, through which the API server reads container logs.
 *
 *     GET /containerLogs/NAMESPACE/POD/CONTAINER?follow=true&tailLines=10…      as a kubelet
 *
 * It accepts only clients with a certificate of the API server; annotations of the Node carry the
 * public key of the node server. docs/internals/access.md describes both sides.
 */
#ifndef KC_CONTROLLERS_NODE_SERVER_H
#define KC_CONTROLLERS_NODE_SERVER_H

#include "kc/http_server.h"
#include "kc/manager.h"
#include "kc/pods.h"

typedef struct kc__pods_node_server kc__pods_node_server;

/* Listens, and adds to the manager the runnable that reloads the CA. `opts` has all defaults set
 * and must outlive the server. NULL on error. */
kc__pods_node_server *kc__pods_node_server_new(kc_manager *manager, const kc_pods_opts *opts,
                                               kc_error *err);
/* Call after the manager has stopped. NULL is allowed; returns NULL. */
kc__pods_node_server *kc__pods_node_server_free(kc__pods_node_server *server);

int kc__pods_node_server_port(const kc__pods_node_server *server);
/* The address for the annotation kubecontroller.io/serving-address. */
const char *kc__pods_node_server_address(const kc__pods_node_server *server);
/* For the annotation kubecontroller.io/serving-key. */
const char *kc__pods_node_server_key(const kc__pods_node_server *server);

#endif
