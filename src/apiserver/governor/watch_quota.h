/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_quota.h: limits the number of open watches per user, and the memory of the selectors of all
 * watches.
 */
#ifndef KC_APISERVER_WATCH_QUOTA_H
#define KC_APISERVER_WATCH_QUOTA_H

#include "kc/error.h"
#include "kc/metrics.h"
#include "kc/str.h"

typedef struct kc__watch_quota kc__watch_quota;

typedef struct kc__watch_quota_opts {
    size_t per_user;       /* Defaults to KC__WATCH_QUOTA_PER_USER. */
    size_t selector_bytes; /* Of all watches. Defaults to KC__WATCH_QUOTA_SELECTOR_BYTES. */
    kc_metrics *metrics;
} kc__watch_quota_opts;

#define KC__WATCH_QUOTA_PER_USER       ((size_t)20000)
#define KC__WATCH_QUOTA_SELECTOR_BYTES ((size_t)64 << 20)
/* Selectors up to this size, which are those of normal clients, do not count against
 * selector_bytes. */
#define KC__WATCH_QUOTA_SMALL_SELECTOR ((size_t)4096)

kc__watch_quota *kc__watch_quota_new(const kc__watch_quota_opts *opts, kc_error *err);
/* All watches must be closed. NULL is allowed; returns NULL. */
kc__watch_quota *kc__watch_quota_free(kc__watch_quota *quota);

/* The share of one watch, to be released. */
typedef struct kc__watch_quota_share {
    struct kc__watch_quota_user *user; /* NULL: nothing acquired. */
    size_t selector_bytes;
} kc__watch_quota_share;

/* KC_TOO_MANY_REQUESTS with a Retry-After if the quota is used up. Any thread. */
int kc__watch_quota_acquire(kc__watch_quota *quota, kc_str user, size_t selector_bytes,
                            kc__watch_quota_share *ret, kc_error *err);
/* A zeroed share is allowed. Any thread. */
void kc__watch_quota_release(kc__watch_quota *quota, kc__watch_quota_share *share);

#endif
