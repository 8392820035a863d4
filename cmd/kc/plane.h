/* SPDX-License-Identifier: Apache-2.0 */
/* plane.h: an API server with its storage, certificates and listeners, opened according to its
 * flags. */
#ifndef KC_CMD_PLANE_H
#define KC_CMD_PLANE_H

#include "apiserver_options.h"
#include "etcd_overrides.h"
#include "hidden_paths.h"

#include "apiserver/access/jwt_config.h"
#include "apiserver/access/sa_tokens.h"
#include "apiserver/admission/admission_config.h"
#include "apiserver/apiserver.h"
#include "apiserver/authz/authz_config.h"
#include "apiserver/config/config_reloads.h"
#include "apiserver/serving/certificates.h"
#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/webhook/webhook_kubeconfig.h"
#include "base/file_watch.h"
#include "kc/cancel.h"

/* The issuer of service-account tokens, unless --service-account-issuer names another. */
#define KC__CLI_DEFAULT_ISSUER "https://kubernetes.default.svc"

/* Zero is closed. */
typedef struct kc__cli_plane {
    kc_cancel
        *stop; /* Fired when only a restart helps; set before opening. NULL: none. Borrowed. */
    _Atomic bool inconsistent; /* It was fired for this reason. */
    const kc__cli_apiserver_options *options;
    kc_log *log;         /* Borrowed. */
    kc_metrics *metrics; /* Borrowed. */
    kc_rand rand;
    kc__periodic *housekeeping;
    kc__storage *storage;                          /* Until the server owns it. */
    kc__cli_etcd_overrides overrides;              /* The same for their storages. */
    struct kc__maintenance_backup_server *backups; /* NULL: none. */
    kc__audit *audit;                              /* NULL: none. */
    kc__encryption *encryption;                    /* NULL: objects are stored as they are. */
    kc__authn *authn;
    kc__sa_tokens *accounts;
    kc__webhook_kubeconfig token_webhook;
    /* Authorizers. From the start of housekeeping on, its thread owns all but the webhooks. */
    struct kc__authz_webhooks *authz_webhooks;
    kc__authz_chain *authz_chain;
    kc__authz_config *authz_config; /* NULL: without --authorization-config. */
    unsigned authz_required;        /* Bits of the modes that a reload must keep. */
    kc__config_reloads authz_reloads, authn_reloads;
    kc__jwt_config *jwt_config; /* Of the start; NULL: no issuers of tokens. */
    struct kc__jwt_authn *jwt;  /* Of `authn`. */
    struct kc__authn_remote *jwt_remote;
    kc__admission_config admission;
    /* Files with credentials that the configurations of authorizers and admission plugins named at
     * the start; those that a reload names are not added. */
    kc__cli_hidden_paths named_files;
    kc__serving_certificates certs;
    kc__tls *tls;
    kc_buf client_ca, proxy_ca; /* PEM. Of the thread of the watch, once that runs. */
    kc_buf tls_ca;              /* Both of them. */
    kc_buf proxy_texts[5];      /* Lists of kc__cli_proxy_options as JSON. */
    kc__file_watch *watch;      /* Reloads files that change. */
    char *advertised; /* The address of this server in the Service kubernetes; NULL: none. */
    char *secure_url, *insecure_url; /* NULL: the port is disabled. */
    char *kubeconfig;                /* NULL: none. */
    kc__http_listener listeners[2];
    size_t n_listeners;
    kc__apiserver *server;
} kc__cli_plane;

/* The error of a process that ended because its store was inconsistent; 0 if it was not. */
int kc__cli_plane_check(const kc__cli_plane *plane, kc_error *err);
/* Opens everything and starts serving before it returns. Keeps the options, the log and the
 * metrics, which must outlive it. Must be closed even on error. Blocks. */
int kc__cli_plane_open(kc__cli_plane *plane, const kc__cli_apiserver_options *options, kc_log *log,
                       kc_metrics *metrics, kc_error *err);
/* PEM file of the CA certificate by which clients verify the server. */
const char *kc__cli_plane_authority(const kc__cli_plane *plane);
/* Writes admin.kubeconfig with the current certificates. Blocks. */
int kc__cli_plane_write_kubeconfig(kc__cli_plane *plane, kc_error *err);
/* Drains, waits for the last requests, closes the storage, and zeroes the struct. */
void kc__cli_plane_close(kc__cli_plane *plane);

#endif
