/* SPDX-License-Identifier: Apache-2.0 */
/* lease_record.h: the leader election record of a Lease: decoded from one, written into one. */
#ifndef KC_RUNTIME_LEASE_RECORD_H
#define KC_RUNTIME_LEASE_RECORD_H

#include "kc/meta.h"
#include "kc/time.h"

typedef struct kc__lease_record {
    char *holder;    /* NULL or empty: not held. */
    int64_t seconds; /* leaseDurationSeconds */
    int64_t transitions;
    kc_time acquired, renewed;
} kc__lease_record;

void kc__lease_record_done(kc__lease_record *record);
/* Missing or malformed members are zero. */
kc__lease_record kc__lease_record_of(const kc_object *lease);
/* The lease with this record; `lease` may be NULL: creates one with this key. All other fields are
 * preserved. NULL on error. */
kc_object *kc__lease_record_apply(const kc_object *lease, kc_key key,
                                  const kc__lease_record *record, kc_error *err);

#endif
