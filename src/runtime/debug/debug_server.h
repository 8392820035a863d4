/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_server.h: the manager's HTTP server for health checks, metrics and debug pages.
 *
 * Pages may be added before or while the server runs and are never removed. Their functions run on
 * the server's thread and must be fast. Health check pages are open to all clients; the others only
 * to clients that debug_access.h allows.
 */
#ifndef KC_RUNTIME_DEBUG_DEBUG_SERVER_H
#define KC_RUNTIME_DEBUG_DEBUG_SERVER_H

#include "kc/log.h"
#include "kc/manager.h"

typedef struct kc__debug_server kc__debug_server;

kc__debug_server *kc__debug_server_new(void);
/* Stops serving and frees the server. NULL is allowed; returns NULL. */
kc__debug_server *kc__debug_server_free(kc__debug_server *site);

/* KC_ALREADY_EXISTS if the path is taken. */
int kc__debug_server_add_page(kc__debug_server *site, const char *path, const char *type,
                              void (*write)(kc_buf *out, void *user), void *user, kc_error *err);
/* Runs the checks of a page: 0, or negative with the error of the first that fails. */
int kc__debug_server_check(kc__debug_server *site, const char *path, kc_error *err);
/* Adds a check to a health check page ("/readyz"); the first check creates the page. */
int kc__debug_server_add_check(kc__debug_server *site, const char *path, const char *name,
                               kc_health_check_fn *check, void *user, kc_error *err);

/* Splits "host:port", ":port" (all addresses), "localhost:0". KC_BAD_REQUEST for anything else. */
int kc__debug_split_address(const char *address, char ret_host[64], int *ret_port, kc_error *err);
typedef struct kc__debug_server_opts {
    const char *address; /* In the form that kc__debug_split_address accepts. */
    /* Sends reviews of bearer tokens (debug_access.h). Defaults to none: every token is
     * rejected. */
    kc_client *client;
    bool no_local_trust; /* Loopback clients need a token too. */
    const kc_clock *clock;
    kc_log *log;
} kc__debug_server_opts;

int kc__debug_server_start(kc__debug_server *site, const kc__debug_server_opts *opts,
                           kc_error *err);
void kc__debug_server_stop(kc__debug_server *site);
/* 0 while it does not serve. */
int kc__debug_server_port(const kc__debug_server *site);

#endif
