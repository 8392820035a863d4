/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_watch.h: reloads configuration files when they change.
 *
 *     kc__file_watch *watch = kc__file_watch_new(&(kc__file_watch_opts){.log = log});
 *     kc__file_watch_add(watch, &(kc__file_watch_entry){
 *         .name = "token-auth-file", .paths = {path}, .reload = reload_tokens, .user = plane});
 *     … read the files …
 *     kc__periodic_add(periodic, KC__FILE_WATCH_INTERVAL, kc__file_watch_poll, watch);
 *
 * An entry is one or several files that are read together, such as a certificate and its key. Add
 * the entry before the files are read: a change in between is then found.
 */
#ifndef KC_BASE_FILE_WATCH_H
#define KC_BASE_FILE_WATCH_H

#include "kc/clock.h"
#include "kc/log.h"
#include "kc/metrics.h"

/* Maximum number of files of one entry, and of entries. */
#define KC__FILE_WATCH_PATHS   4
#define KC__FILE_WATCH_ENTRIES 16

/* How often the files are compared, and how soon a failed reload is repeated without a change. */
#define KC__FILE_WATCH_INTERVAL (2 * KC_SECOND)
#define KC__FILE_WATCH_RETRY    KC_MINUTE

typedef struct kc__file_watch kc__file_watch;

typedef struct kc__file_watch_opts {
    const kc_clock *clock; /* Defaults to the real clock. */
    kc_log *log;           /* Defaults to no log. */
    kc_metrics *metrics;   /* Defaults to none. */
} kc__file_watch_opts;

/* Everything is copied except `user`. */
typedef struct kc__file_watch_entry {
    const char *name;                        /* Identifies the entry in the log and the metric. */
    const char *paths[KC__FILE_WATCH_PATHS]; /* Ends at the first NULL. */
    /* Reads the files again and puts them in effect; on failure nothing has changed. Called by
     * kc__file_watch_poll; may block. */
    int (*reload)(void *user, kc_error *err);
    void *user;
} kc__file_watch_entry;

kc__file_watch *kc__file_watch_new(const kc__file_watch_opts *opts);
/* Notes the current state of the files, whether they exist or not. Before the start; an entry
 * without paths, or beyond KC__FILE_WATCH_ENTRIES, is ignored. Blocks for the time of a stat. */
void kc__file_watch_add(kc__file_watch *watch, const kc__file_watch_entry *entry);
/* Compares all entries once, and reloads those that changed: a job of kc__periodic. */
void kc__file_watch_poll(void *watch);
/* Not while a poll runs. NULL is allowed; returns NULL. */
kc__file_watch *kc__file_watch_free(kc__file_watch *watch);
KC_AUTO_DEFINE(kc__file_watch, kc__file_watch_free)

#endif
