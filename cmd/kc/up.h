/* SPDX-License-Identifier: Apache-2.0 */
/* up.h: what the files of `kc up` share. */
#ifndef KC_CMD_UP_H
#define KC_CMD_UP_H

#include "plane.h"
#include "up_options.h"

#include "kc/app.h"
#include "kc/embed.h"

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
    kc_app_config *config;
    kc_app *app;
    kc_manager *manager; /* The app's: reconcilers and controllers. */
    char *pods_folder;
    kc_buf root_ca;
    kc_cancel_hook hook; /* From `stop` to the manager. */
} kc__up;

/* Waits until the nodes of this process have reported. */
int kc__up_await_nodes(const kc__up *up, kc_error *err);

/* Definitions and initial objects. */
int kc__up_load_initial(const kc__up *up, kc_error *err);

/* Addresses, and what to try. */
void kc__up_say_ready(const kc__up *up);
void kc__up_say_stopping(void);
void kc__up_say_stopped(const kc__up_options *options);

#endif
