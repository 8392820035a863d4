/* SPDX-License-Identifier: Apache-2.0 */
/* up.h: declarations that the files of `kc up` share. */
#ifndef KC_CMD_UP_H
#define KC_CMD_UP_H

#include "plane.h"
#include "up_options.h"

#include "kc/app.h"
#include "kc/embedded_server.h"
#include "reconcilers/network/service/service.h"
#include "runtime/manifests/manifests.h"

/* A complete control plane. */
typedef struct kc__cli_up {
    const kc__cli_up_options *options;
    kc_cancel *stop; /* Fires when a signal asks to stop. */
    int64_t began;   /* Monotonic. */
    kc_log *log;
    kc_metrics *metrics; /* Of all parts; the server's /metrics serves them. */
    kc__cli_plane plane;
    kc_embedded_server *door; /* In-process transport to the server. */
    kc_client *client;        /* Of the manager: reads for the cache. */
    kc_client *admin;         /* The administrator: loads the operator's files. */
    kc_app_config *config_file;
    kc_app_config config; /* The file's, with the settings of `kc up`. */
    kc_app_config_setting *settings;
    kc__network_service *networks; /* NULL: external, or not needed. */
    char *networks_url;
    char *networks_token_file;       /* The service's bearer token. */
    kc_crash_journal *crash_journal; /* NULL: could not be opened. */
    bool safe;                       /* Safe mode: the API server only. */
    kc_app *app;
    kc_manager *manager;      /* The app's; runs reconcilers and controllers. */
    kc__manifests *manifests; /* NULL: none. */
    char *pods_dir;
    kc_buf root_ca;
    kc__cli_signer signer;
    kc_cancel_hook hook; /* Stops the manager when `stop` fires. */
} kc__cli_up;

/* Waits until the nodes of this process have reported. */
int kc__cli_up_await_nodes(const kc__cli_up *up, kc_error *err);
/* Waits until all checks of /readyz pass. */
int kc__cli_up_await_checks(const kc__cli_up *up, kc_error *err);

/* Merges the settings of `kc up` with the config file's; call it before the app is created. Then,
 * once the data directory exists, kc__cli_up_start_networks starts the network service if needed.
 */
void kc__cli_up_own_settings(kc__cli_up *up);
int kc__cli_up_start_networks(kc__cli_up *up, kc_error *err);
void kc__cli_up_stop_networks(kc__cli_up *up);

/* The parent of the apply set of --manifests: a ConfigMap in kube-system. */
#define KC__CLI_UP_APPLY_SET "kc-manifests"

/* Refuses a directory of --manifests that does not exist, before anything is started. */
int kc__cli_up_check_manifests(kc__cli_up *up, kc_error *err);
/* Adds the directory of --manifests to the manager: one thread. */
int kc__cli_up_add_manifests(kc__cli_up *up, kc_error *err);

/* Gives the User "admin" a random password if it has none, and shows or keeps it. */
void kc__cli_up_admin_password(const kc__cli_up *up);

/* Messages on standard output. */
void kc__cli_up_print_ready(const kc__cli_up *up);
void kc__cli_up_print_stopping(void);
void kc__cli_up_print_security(void);
void kc__cli_up_print_stopped(const kc__cli_up_options *options);

#endif
