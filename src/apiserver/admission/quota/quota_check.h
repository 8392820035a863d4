/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_check.h: whether a write fits into the quotas of its namespace, and what it adds to their
 * usage. Pure.
 */
#ifndef KC_APISERVER_QUOTA_CHECK_H
#define KC_APISERVER_QUOTA_CHECK_H

#include "kc/quota.h"
#include "kc/vec.h"

/* A write. */
typedef struct kc__quota_request {
    kc_quota_resource resource;
    kc_str subresource;      /* Empty: the object itself. */
    const kc_value *object;  /* To be stored. */
    const kc_value *old;     /* NULL: the write creates the object. */
    const kc_value *limited; /* limitedResources of the configuration; may be NULL. */
    kc_time now;
} kc__quota_request;

/* Whether the write may change the usage of a quota at all. */
bool kc__quota_handles(const kc__quota_request *request);

typedef enum kc__quota_verdict {
    KC__QUOTA_FITS,
    KC__QUOTA_FORBIDDEN, /* The reason of a rejection, without the object's name. */
    KC__QUOTA_ERROR,     /* An error that Kubernetes reports as it is, with status 500. */
} kc__quota_verdict;

/* What a write adds to status.used of quotas[index]; at least one amount. */
typedef struct kc__quota_delta {
    size_t index;
    kc_quota_amounts amounts;
} kc__quota_delta;
typedef KC_VEC(kc__quota_delta) kc__quota_deltas;
void kc__quota_deltas_done(kc__quota_deltas *deltas);

/* Checks the write against all quotas of its namespace. Fits: `ret_deltas` has the quotas to be
 * charged. Otherwise `why` has the reason. Both are empty before. */
kc__quota_verdict kc__quota_check(const kc__quota_request *request, const kc_value *const *quotas,
                                  size_t n_quotas, kc__quota_deltas *ret_deltas, kc_buf *why);

/* Adds a delta to the usage of a quota. False: it exceeds status.hard, and `checked`. `ret_used`
 * is empty before and has status.used with the delta afterwards. */
bool kc__quota_add(const kc_value *quota, const kc_quota_amounts *delta, bool checked,
                   kc_quota_amounts *ret_used);

#endif
