/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_slots.h: the layout of the crash journal's file, which the next process reads:
 *
 *     header │ slot 0 │ slot 1 │ …            one slot for each worker of a controller
 *
 * The file is mapped: what a thread or a signal handler has stored there survives the process,
 * without a system call. It does not survive a power failure, and need not.
 */
#ifndef KC_RUNTIME_CRASH_SLOTS_H
#define KC_RUNTIME_CRASH_SLOTS_H

#include <stdint.h>
#include <time.h>

#define KC__CRASH_JOURNAL_MAGIC "KCCRASH1"
enum { KC__CRASH_JOURNAL_SLOTS = 512, KC__CRASH_SLOT_CONTROLLER = 128, KC__CRASH_SLOT_KEY = 372 };

typedef enum kc__crash_slot_state {
    KC__CRASH_SLOT_FREE,
    KC__CRASH_SLOT_IDLE,    /* Taken by a worker, between calls. */
    KC__CRASH_SLOT_BUSY,    /* In a call for `key`. */
    KC__CRASH_SLOT_CRASHED, /* In a call for `key` that has ended the process. */
} kc__crash_slot_state;

typedef struct kc__crash_journal_slot {
    uint64_t code; /* Version of the code that runs: see quarantine.h. */
    volatile uint32_t state;
    char controller[KC__CRASH_SLOT_CONTROLLER];
    char key[KC__CRASH_SLOT_KEY]; /* "namespace/name". Empty if it is too long. */
} kc__crash_journal_slot;

typedef struct kc__crash_journal_header {
    char magic[8];
    volatile uint32_t running; /* 0: the last process stopped cleanly. */
    volatile uint32_t signal;  /* The signal that ended the last process; 0: it ended otherwise. */
    int64_t started;           /* Wall time in seconds. */
    volatile int64_t died;     /* Likewise; valid if `signal` is set. */
    uint32_t crashed_starts; /* Consecutive processes that a signal ended soon after their start. */
    uint32_t unclean_starts; /* Consecutive processes that ended soon after their start without
                                stopping cleanly. */
    uint64_t reserved[10];
} kc__crash_journal_header;

typedef struct kc__crash_journal_file {
    kc__crash_journal_header header;
    kc__crash_journal_slot slots[KC__CRASH_JOURNAL_SLOTS];
} kc__crash_journal_file;

/* Called by the signal handler. */
static inline void kc__crash_journal_died(kc__crash_journal_header *header, int number)
{
    header->died = time(NULL);
    header->signal = (uint32_t)number;
}

#endif
