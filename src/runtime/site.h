/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h: the small HTTP servers of a manager: health, metrics, pages for debugging.
 *
 * Pages are added before or while it is served, and never removed. They are written on the server's
 * thread and must be quick.
 */
#ifndef KC_RUNTIME_SITE_H
#define KC_RUNTIME_SITE_H

#include "kc/log.h"
#include "kc/manager.h"

typedef struct kc__site kc__site;

kc__site *kc__site_new(void);
/* Stops serving and frees it. NULL is allowed; returns NULL. */
kc__site *kc__site_free(kc__site *site);

/* KC_ALREADY_EXISTS when the path is taken. */
int kc__site_add(kc__site *site, const char *path, const char *type,
                 void (*write)(kc_buf *out, void *user), void *user, kc_error *err);
/* Runs the checks of a page: 0, or negative with the first that fails. */
int kc__site_check(kc__site *site, const char *path, kc_error *err);
/* A check of a page of checks ("/readyz"), which is made with its first one. */
int kc__site_add_check(kc__site *site, const char *path, const char *name, kc_check_fn *check,
                       void *user, kc_error *err);

/* Cuts "host:port", ":port" (all addresses), "localhost:0". KC_BAD_REQUEST for anything else. */
int kc__split_address(const char *address, char ret_host[64], int *ret_port, kc_error *err);
/* On such an address. */
int kc__site_serve(kc__site *site, const char *address, kc_log *log, kc_error *err);
void kc__site_stop(kc__site *site);
/* 0 while it is not served. */
int kc__site_port(const kc__site *site);

#endif
