/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h: the address of a server and the credentials for it, from a kubeconfig, from a pod's
 * service account, or set by the program.
 *
 *     kc_auto(kc_config) *config = kc_config_load(NULL, err);       as kubectl would find it
 *     kc_auto(kc_config) *edge = kc_config_load(&(kc_config_opts){.context = "edge-7"}, err);
 *
 * kc_config_load searches in this order: opts->path; $KUBECONFIG (several files are merged, the
 * first to set a value wins); ~/.kube/config; the service account of a pod. A configuration is
 * constant once loaded, and any thread may use it. The transport re-reads the files it names when
 * they change.
 */
#ifndef KC_KUBECONFIG_H
#define KC_KUBECONFIG_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc_config_opts {
    const char *path;                /* A kubeconfig. Defaults to the search order above. */
    const char *context;             /* Defaults to the file's current-context. */
    const char *cluster, *user, *ns; /* Override the context's. */
    const char *server;              /* Overrides the cluster's: https://host:port. */
    const char *token;               /* Overrides the user's credentials. */
    bool in_cluster;                 /* Use only the pod's service account. */
} kc_config_opts;

/* Whether a credential plugin may prompt the user. */
typedef enum kc_exec_interactive {
    KC_EXEC_IF_AVAILABLE, /* It inherits standard input if that is a terminal. */
    KC_EXEC_NEVER,
    KC_EXEC_ALWAYS, /* Fails if there is no terminal. */
} kc_exec_interactive;

/* How to run a credential plugin (client.authentication.k8s.io). */
typedef struct kc_exec_config {
    const char *command, *api_version, *install_hint;
    const char *const *args; /* Both end with NULL; each may be NULL. */
    const char *const *env;  /* "NAME=value" */
    bool provide_cluster_info;
    const char *cluster_config; /* JSON: the cluster's configuration of the plugin. */
    kc_exec_interactive interactive;
} kc_exec_config;

/* The configuration owns its strings; NULL where not set. Inline data has precedence over the file.
 */
typedef struct kc_config {
    const char *server;
    const char *tls_server_name;
    bool insecure; /* insecure-skip-tls-verify */
    bool no_gzip;  /* disable-compression */
    const char *proxy;
    kc_str ca_data;
    const char *ca_file;
    kc_str cert_data, key_data;
    const char *cert_file, *key_file;
    const char *token, *token_file; /* The file has precedence; it is re-read every minute. */
    const char *username, *password;
    const kc_exec_config *exec;
    const char *impersonate_user, *impersonate_uid;
    const char *const *impersonate_groups; /* Both end with NULL; each may be NULL. */
    const char *const *impersonate_extra;  /* Name, value, name, value, … */
    const char *ns;                        /* Of the context; "default" if not set. */
} kc_config;

/* Reads files. opts may be NULL. NULL on error, which names the file, and the line if there is one.
 */
kc_config *kc_config_load(const kc_config_opts *opts, kc_error *err);
/* Parses a kubeconfig; relative paths are resolved against `dir` (NULL: left unchanged). */
kc_config *kc_config_parse(kc_str yaml, const char *dir, const kc_config_opts *opts, kc_error *err);
/* A server without credentials: for tests and local control planes. */
kc_config *kc_config_for_url(const char *server);
/* Appends the PEM of the server's CA, from data or file; nothing if not set. Negative when the file
 * cannot be read. */
int kc_config_authority(const kc_config *config, kc_buf *out, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_config *kc_config_free(kc_config *config);
KC_AUTO_DEFINE(kc_config, kc_config_free)

#endif
