/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_kubeconfig.h: where a webhook of the operator is, and the credentials for it, from a
 * kubeconfig (--authentication-token-webhook-config-file, --authorization-webhook-config-file,
 * --authorization-config, ImagePolicyWebhook):
 *
 *     kc_scoped(kc__webhook_kubeconfig) webhook = {0};
 *     if (kc__webhook_kubeconfig_read(path, &webhook, err) < 0)
 *         return …;
 *     kc__http_post(&(kc__http_post_opts){.target = &webhook.target, …});
 *
 * The current context names a cluster, the webhook, and a user, the credentials of this server.
 */
#ifndef KC_APISERVER_WEBHOOK_KUBECONFIG_H
#define KC_APISERVER_WEBHOOK_KUBECONFIG_H

#include "http/client/http_post.h"
#include "kc/kubeconfig.h"

/* Zero is empty. */
typedef struct kc__webhook_kubeconfig {
    kc__http_target target; /* Borrows from the members below. No credentials if its URL is http. */
    kc_config *config;
    struct kc__credential *credential;
} kc__webhook_kubeconfig;

/* Reads the current context of the file, and the files that it names; relative paths are relative
 * to it. Negative for a file that is no kubeconfig, names no server, or needs what webhooks do not
 * support. *ret is unchanged on failure. Blocks. */
int kc__webhook_kubeconfig_read(const char *path, kc__webhook_kubeconfig *ret, kc_error *err);
/* Wipes keys and tokens and frees everything. */
void kc__webhook_kubeconfig_done(kc__webhook_kubeconfig *webhook);

/* The credentials of a kubeconfig for many servers: the name of a user is the server's HOST:PORT,
 * a HOST (port 443), *.DOMAIN, or * for all others. Immutable; any thread. */
typedef struct kc__webhook_kubeconfig_users kc__webhook_kubeconfig_users;

/* Reads the users of a kubeconfig. NULL on error, as above. The caller frees it. Blocks. */
kc__webhook_kubeconfig_users *kc__webhook_kubeconfig_users_read(const char *path, kc_error *err);
/* Wipes keys and tokens. NULL is allowed. Returns NULL. */
kc__webhook_kubeconfig_users *kc__webhook_kubeconfig_users_free(
    kc__webhook_kubeconfig_users *users);
KC_AUTO_DEFINE(kc__webhook_kubeconfig_users, kc__webhook_kubeconfig_users_free)
/* The credentials for a server: those of the best name, else those of the current context. NULL:
 * none. `users` may be NULL. The result lives as long as `users`. */
const kc__http_client_identity *kc__webhook_kubeconfig_users_for(
    const kc__webhook_kubeconfig_users *users, kc_str host_port);

#endif
