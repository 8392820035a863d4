/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quarantine.h: keys whose reconcile crashed, and whether they may be reconciled again.
 *
 * A key is held when its reconcile crashed KC__QUARANTINE_CRASHES times at the same version of its
 * object, or ended the process. It is released when
 *
 *     its object changes             (its version, see kc__quarantine_version); if it is deleted,
 *                                    without a call: a deletion must not end the process,
 *     the code changes               (the file of the program or plugin, see kc__quarantine_code),
 *     a time passes, where neither applies: a controller without a kind; a key that was only being
 *     reconciled when processes ended for unknown reasons.
 */
#ifndef KC_RUNTIME_QUARANTINE_H
#define KC_RUNTIME_QUARANTINE_H

#include "kc/buf.h"
#include "kc/clock.h"
#include "kc/meta.h"
#include "runtime/crash/crash_journal.h"

typedef struct kc__quarantine kc__quarantine;

enum {
    KC__QUARANTINE_CRASHES = 2,
    KC__QUARANTINE_DEATHS = 3, /* Consecutive processes that ended during a call for the key. */
    KC__QUARANTINE_MAX = 1024, /* Maximum number of records; the oldest is dropped first. */
};
#define KC__QUARANTINE_PERIOD (10 * KC_MINUTE) /* For keys that no version releases. */

/* Loads the file in the journal's directory, and takes over the calls that the last process left.
 * `journal` may be NULL: in memory only. All arguments must outlive it. */
kc__quarantine *kc__quarantine_new(kc_crash_journal *journal, const kc_clock *clock, kc_log *log);
/* NULL is allowed; returns NULL. */
kc__quarantine *kc__quarantine_free(kc__quarantine *quarantine);

/* A key of a controller. */
typedef struct kc__quarantine_key {
    const char *controller;
    uint64_t code;
    kc_key key;
} kc__quarantine_key;

/* Whether the key has a record. Nearly free while there are no records. */
bool kc__quarantine_knows(kc__quarantine *quarantine, const kc__quarantine_key *key);

typedef enum kc__quarantine_verdict {
    KC__QUARANTINE_RUN,
    KC__QUARANTINE_HELD,
    KC__QUARANTINE_HELD_FOR, /* Held, and released after *ret_after. */
} kc__quarantine_verdict;

/* Call it before reconciling a key that has a record. `version`: of its object now; 0: unknown. */
kc__quarantine_verdict kc__quarantine_admit(kc__quarantine *quarantine,
                                            const kc__quarantine_key *key, uint64_t version,
                                            int64_t *ret_after);
/* The call crashed: records it durably. `version`: the one passed to kc__quarantine_admit; 0:
 * unknown. */
kc__quarantine_verdict kc__quarantine_crashed(kc__quarantine *quarantine,
                                              const kc__quarantine_key *key, uint64_t version,
                                              const char *what, int64_t *ret_after);
/* The call did not crash. */
void kc__quarantine_clear(kc__quarantine *quarantine, const kc__quarantine_key *key);

/* Number of held keys of a controller. */
size_t kc__quarantine_count(kc__quarantine *quarantine, const char *controller);
/* Appends a JSON array of the held keys. */
void kc__quarantine_write(kc__quarantine *quarantine, const char *controller, kc_buf *out);

/* Version of the fields that users and other controllers may change to have the key retried:
 * everything but status, managedFields and resourceVersion. A status that the reconcile itself
 * writes before it crashes must not release the key. NULL, a missing object, has version
 * KC__QUARANTINE_ABSENT. Never 0. */
uint64_t kc__quarantine_version(const kc_object *object);
#define KC__QUARANTINE_ABSENT UINT64_C(1)
/* Version of the file that `address` was loaded from; 0 if unknown. */
uint64_t kc__quarantine_code(const void *address);

#endif
