/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_cluster.c: the configuration of a program that runs in a pod. The server's address comes from
 * environment variables; token, CA certificate and namespace come from a mounted directory. The
 * configuration refers to the token file instead of its content, because the token is rotated every
 * hour.
 */
#include "kubeconfig/kubeconfig_internal.h"

#include "kc/file.h"

#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static const char *file_in(kc__kubeconfig_config *c, const char *dir, const char *name)
{
    return kc_arena_printf(&c->arena, "%s/%s", dir, name);
}

bool kc__kubeconfig_in_cluster(const char *dir)
{
    kc_autofree char *token = kc_asprintf("%s/token", dir);
    return setting("KUBERNETES_SERVICE_HOST") && setting("KUBERNETES_SERVICE_PORT") &&
           access(token, F_OK) == 0;
}

static int kubeconfig_in_cluster_read_namespace(kc__kubeconfig_config *c, const char *dir,
                                                kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const char *path = file_in(c, dir, "namespace");
    if (access(path, F_OK) < 0)
        return 0;
    if (kc_file_read(path, 4096, &text, err) < 0)
        return kc_error_result(err);
    const kc_str ns = kc_str_trim(kc_buf_str(&text));
    if (ns.n)
        c->config.ns = kc_arena_strndup(&c->arena, ns.p, ns.n);
    return 0;
}

static int kubeconfig_in_cluster_read_all(kc__kubeconfig_config *c, const char *dir,
                                          const kc_config_opts *opts, kc_error *err)
{
    const char *host = setting("KUBERNETES_SERVICE_HOST");
    const char *port = setting("KUBERNETES_SERVICE_PORT");
    kc_scoped(kc_buf) token = {0};
    if (!host || !port)
        return kc_error_set(err, KC_NOT_FOUND,
                            "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                            "not set");
    const bool v6 = strchr(host, ':') && *host != '[';
    c->config.server =
        kc_arena_printf(&c->arena, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    c->config.token_file = file_in(c, dir, "token");
    if (kc_file_read(c->config.token_file, KC_FILE_MAX, &token, err) < 0)
        return kc_error_wrap(err, "not in a pod with a service account");
    c->config.ca_file = file_in(c, dir, "ca.crt");
    if (access(c->config.ca_file, F_OK) < 0)
        c->config.ca_file = NULL; /* Fall back to the system's CA certificates. */
    if (kubeconfig_in_cluster_read_namespace(c, dir, err) < 0)
        return kc_error_result(err);
    return kc__kubeconfig_config_finish(c, opts, dir, err);
}

kc_config *kc__kubeconfig_config_in_cluster(const char *dir, const kc_config_opts *opts,
                                            kc_error *err)
{
    kc__kubeconfig_config *c = kc__kubeconfig_config_new();
    if (kubeconfig_in_cluster_read_all(c, dir, opts, err) < 0)
        return kc_config_free(&c->config);
    return &c->config;
}
