/* SPDX-License-Identifier: Apache-2.0 */
/* crash_journal.h: the crash journal, as used by workers, their guards and the quarantine. */
#ifndef KC_RUNTIME_CRASH_JOURNAL_H
#define KC_RUNTIME_CRASH_JOURNAL_H

#include "kc/crash_journal.h"
#include "kc/meta.h"
#include "kc/vec.h"
#include "runtime/crash/crash_slots.h"

/* A call that was in progress when the last process ended without stopping. */
typedef struct kc__crash_interrupted_call {
    char *controller, *key;
    uint64_t code;
    bool crashed; /* This call ended the process, by `signal`. */
} kc__crash_interrupted_call;

struct kc_crash_journal {
    kc_log *log;
    char *quarantine_path;
    int fd; /* Locked. */
    kc__crash_journal_file *file;
    uint32_t last_signal; /* The signal that ended the last process; 0: it ended otherwise. */
    KC_VEC(kc__crash_interrupted_call) interrupted;
};

/* A slot for a worker; NULL if `journal` is NULL or all slots are taken: calls are then not
 * recorded. */
kc__crash_journal_slot *kc__crash_journal_take_slot(kc_crash_journal *journal,
                                                    const char *controller, uint64_t code);
/* NULL is allowed. */
void kc__crash_journal_release_slot(kc__crash_journal_slot *slot);

/* Enclose a call, on the worker's thread. NULL is allowed. */
void kc__crash_journal_slot_begin(kc__crash_journal_slot *slot, kc_key key);
void kc__crash_journal_slot_end(kc__crash_journal_slot *slot);

#endif
