/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h: where a server is and who we are there: from a kubeconfig, from the inside of a
 * cluster, or said in the program.
 *
 *     kc_auto(kc_config) *config = kc_config_load(NULL, err);       as kubectl would find it
 *     kc_auto(kc_config) *config = kc_config_load(&(kc_config_opts){.context = "edge-7"}, err);
 *
 * The order in which kc_config_load looks: opts->path; $KUBECONFIG (several files are merged, the
 * first to set a value wins); ~/.kube/config; the service account of a pod. A configuration is
 * constant once it is loaded, and may be used from any thread; that the files it names are read
 * again when they change is the transport's work.
 */
#ifndef KC_KUBECONFIG_H
#define KC_KUBECONFIG_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc_config_opts {
    const char *path;                /* A kubeconfig. Defaults to what stands above. */
    const char *context;             /* Defaults to the file's current-context. */
    const char *cluster, *user, *ns; /* Instead of the context's. */
    const char *server;              /* Instead of the cluster's: https://host:port. */
    const char *token;               /* Instead of the user's credentials. */
    bool in_cluster;                 /* Look at nothing but the pod's service account. */
} kc_config_opts;

/* Whether a program that gives credentials may ask its user. */
typedef enum kc_exec_interactive {
    KC_EXEC_IF_AVAILABLE, /* It gets our standard input where that is a terminal. */
    KC_EXEC_NEVER,
    KC_EXEC_ALWAYS, /* Refused where there is no terminal. */
} kc_exec_interactive;

/* How to run a program that gives credentials (client.authentication.k8s.io). */
typedef struct kc_exec_config {
    const char *command, *api_version, *install_hint;
    const char *const *args; /* Both end with NULL; each may be NULL. */
    const char *const *env;  /* "NAME=value" */
    bool provide_cluster_info;
    const char *cluster_config; /* JSON: what the cluster has for the program. */
    kc_exec_interactive interactive;
} kc_exec_config;

/* All text is its own; NULL where nothing was said. Data stands for the file beside it. */
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
    const char *token, *token_file; /* The file wins; it is read again every minute. */
    const char *username, *password;
    const kc_exec_config *exec;
    const char *impersonate_user, *impersonate_uid;
    const char *const *impersonate_groups; /* Both end with NULL; each may be NULL. */
    const char *const *impersonate_extra;  /* Name, value, name, value, … */
    const char *ns;                        /* Of the context; "default" if none is said. */
} kc_config;

/* opts may be NULL. NULL on error, which names the file, and line where there is one. Reads files.
 */
kc_config *kc_config_load(const kc_config_opts *opts, kc_error *err);
/* From the text of a kubeconfig; relative paths are taken from `folder` (NULL: as they are). */
kc_config *kc_config_parse(kc_str yaml, const char *folder, const kc_config_opts *opts,
                           kc_error *err);
/* For a server without credentials: tests, a local plane. */
kc_config *kc_config_for_url(const char *server);
/* Appends the PEM of the server's authority, from data or file; nothing when none is said. Negative
 * when the file cannot be read. */
int kc_config_authority(const kc_config *config, kc_buf *out, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_config *kc_config_free(kc_config *config);
KC_AUTO_DEFINE(kc_config, kc_config_free)

#endif
