/* SPDX-License-Identifier: Apache-2.0 */
/* up.h: what the files of `kc up` share. */
#ifndef KC_CMD_UP_H
#define KC_CMD_UP_H

#include "plane.h"
#include "up_options.h"

#include "kc/app.h"
#include "kc/embed.h"
#include "reconcilers/network/service/service.h"

/* A plane with everything in it. */
typedef struct kc__up {
    const kc__up_options *options;
    kc_cancel *stop; /* Fires when it is to end. */
    int64_t began;   /* Monotonic. */
    kc_log *log;
    kc_metrics *metrics; /* Of everything; the server's page has them. */
    kc__plane plane;
    kc_embed *door; /* Without a socket into the plane. */
    kc_client *client;
    kc_app_config *config_file;
    kc_app_config config; /* What it says, and what we say beside it. */
    kc_app_config_setting *settings;
    kc__network_service *networks; /* NULL: it is another's, or nobody needs it. */
    char *networks_url;
    kc_app *app;
    kc_manager *manager; /* The app's: reconcilers and controllers. */
    char *pods_folder;
    kc_buf root_ca;
    kc_cancel_hook hook; /* From `stop` to the manager. */
} kc__up;

/* Waits until the nodes of this process have reported. */
int kc__up_await_nodes(const kc__up *up, kc_error *err);
/* Until all that /readyz asks is well. */
int kc__up_await_checks(const kc__up *up, kc_error *err);

/* Which settings of reconcilers are ours to say, beside the config file's; before the app is made.
 * Then, once the root folder is there: starts the network service, unless there is another. */
void kc__up_own_settings(kc__up *up);
int kc__up_start_networks(kc__up *up, kc_error *err);
void kc__up_stop_networks(kc__up *up);

/* Addresses, and what to try. */
void kc__up_say_ready(const kc__up *up);
void kc__up_say_stopping(void);
void kc__up_say_stopped(const kc__up_options *options);

#endif
