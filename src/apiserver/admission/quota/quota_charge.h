/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_charge.h: the quotas that a write charges. The object and its quotas are one group of the
 * store: all are stored, or none. So no object is stored that its quota does not count, and no
 * quota counts an object that is not stored, whatever crashes.
 *
 *     admitted: kc__quota_charges_add       a quota and what the write adds to its usage
 *     stored:   kc__quota_charges_join      the writes of the group
 */
#ifndef KC_APISERVER_QUOTA_CHARGE_H
#define KC_APISERVER_QUOTA_CHARGE_H

#include "apiserver/call/call.h"
#include "apiserver/services/service_claim.h"
#include "kc/quota.h"

/* Quotas that one write can charge: the rest of a group, which also contains the object, and the
 * numbers of a Service. */
enum { KC__QUOTA_MAX_CHARGES = KC__STORAGE_MAX_GROUP - 1 - KC__SERVICE_CLAIM_MAX };

typedef struct kc__quota_charges kc__quota_charges;

/* `checked`: the usage must not exceed the limits. */
kc__quota_charges *kc__quota_charges_new(kc__rest_api *api, bool checked);
kc__quota_charges *kc__quota_charges_free(kc__quota_charges *charges);
KC_AUTO_DEFINE(kc__quota_charges, kc__quota_charges_free)

/* Adds a quota, as it is stored, and takes over what the write adds to its usage. False: it does
 * not fit. */
bool kc__quota_charges_add(kc__quota_charges *charges, const kc_object *quota,
                           kc_quota_amounts *delta);

/* Appends the writes of the quotas to `writes`; returns their number. `done` runs on the loop when
 * the last of them is done; the charges must live until then. */
size_t kc__quota_charges_join(kc__quota_charges *charges, kc__loop *loop, kc__store_write **writes,
                              void (*done)(void *user), void *user);

#endif
