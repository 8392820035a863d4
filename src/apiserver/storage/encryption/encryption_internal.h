/* SPDX-License-Identifier: Apache-2.0 */
/* encryption_internal.h: what the files of encryption at rest share. */
#ifndef KC_APISERVER_ENCRYPTION_INTERNAL_H
#define KC_APISERVER_ENCRYPTION_INTERNAL_H

#include "apiserver/storage/encryption/encryption.h"
#include "kc/thread.h"

/* All NULL without a registry. */
typedef struct kc__encryption_metrics {
    kc_metric *operations, *duration;
    kc_metric *reloads, *reloaded_at, *info;
} kc__encryption_metrics;

struct kc__encryption {
    kc__encryption_opts opts;
    char *path;
    kc__encryption_metrics metrics;

    kc_mutex lock; /* Guards all fields below. */
    kc__encryption_config *current;
    bool healthy;
    kc__encryption_changed_fn *changed;
    void *user;
    bool stopping;
    kc_cond stop;
    kc_thread *reloader;
};

/* ---- encryption_metrics.c ---- */

int kc__encryption_metrics_init(kc__encryption_metrics *ret, kc_metrics *registry, kc_error *err);
/* Counts one transformation: `type` is "from_storage" or "to_storage". */
void kc__encryption_count(const kc__encryption *encryption, kc__encryption_resource resource,
                          const char *type, kc_str prefix, int64_t started, bool failed);
void kc__encryption_count_reload(const kc__encryption *encryption, bool failed, const char *hash,
                                 const char *old_hash);

/* ---- encryption_reload.c ---- */

/* The thread's function. */
void kc__encryption_reload_run(void *encryption);

#endif
