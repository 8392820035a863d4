/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h: the small HTTP servers of a manager: health, metrics, pages for debugging.
 *
 * Pages are added before or while it is served, and never removed. They are written on the server's
 * thread and must be quick.
 */
#ifndef KC_RUNTIME_PAGES_H
#define KC_RUNTIME_PAGES_H

#include "kc/log.h"
#include "kc/manager.h"

typedef struct kc__pages kc__pages;

kc__pages *kc__pages_new(void);
/* Stops serving and frees it. NULL is allowed; returns NULL. */
kc__pages *kc__pages_free(kc__pages *pages);

/* KC_ALREADY_EXISTS when the path is taken. */
int kc__pages_add(kc__pages *pages, const char *path, const char *type,
                  void (*write)(kc_buf *out, void *user), void *user, kc_error *err);
/* A check of a page of checks ("/readyz"), which is made with its first one. */
int kc__pages_add_check(kc__pages *pages, const char *path, const char *name, kc_check_fn *check,
                        void *user, kc_error *err);

/* On "host:port", ":port" (all addresses). */
int kc__pages_serve(kc__pages *pages, const char *address, kc_log *log, kc_error *err);
void kc__pages_stop(kc__pages *pages);
/* 0 while it is not served. */
int kc__pages_port(const kc__pages *pages);

#endif
