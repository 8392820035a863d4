/* SPDX-License-Identifier: Apache-2.0 */
/* resource_quota.h: the admission plugin ResourceQuota. */
#ifndef KC_APISERVER_RESOURCE_QUOTA_H
#define KC_APISERVER_RESOURCE_QUOTA_H

#include "apiserver/call/call.h"

/* Rejects a write that exceeds a quota of its namespace; otherwise sets call->charges to the quotas
 * that the write charges. `stored` calls it again if they changed before the commit. */
kc__rest_verdict kc__admission_resource_quota(kc__rest_call *call);
void kc__admission_resource_quota_release(kc__rest_call *call);

#endif
