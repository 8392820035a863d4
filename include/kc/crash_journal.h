/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_journal.h: records crashed reconciles across restarts, so that an object whose reconcile
 * crashes the process does not crash every later process, too.
 *
 *     kc_auto(kc_crash_journal) *journal = kc_crash_journal_open(dir, log, err);
 *     kc_manager_new(&(kc_manager_opts){.crash_journal = journal}, err);
 *
 * Two files in a directory of its own:
 *
 *   DIR/journal              mapped: the key that each worker is reconciling, and the signal that
 *                            ended the process
 *   DIR/quarantine.json      keys that crashed: see kc/controller.h. May be removed while no
 *                            process runs.
 *
 * A manager without a journal keeps its quarantine in memory only.
 */
#ifndef KC_CRASH_JOURNAL_H
#define KC_CRASH_JOURNAL_H

#include "kc/error.h"
#include "kc/log.h"
#include "kc/mem.h"

typedef struct kc_crash_journal kc_crash_journal;

/* Creates the directory (mode 0700) if it does not exist. NULL on error; KC_CONFLICT when another
 * process has the journal open. Must outlive the managers that use it. Blocks. */
kc_crash_journal *kc_crash_journal_open(const char *dir, kc_log *log, kc_error *err);
/* Records that this process stopped regularly. NULL is allowed; returns NULL. */
kc_crash_journal *kc_crash_journal_close(kc_crash_journal *journal);
KC_AUTO_DEFINE(kc_crash_journal, kc_crash_journal_close)

/* True if the previous processes crashed repeatedly soon after their start: three in a row by a
 * signal within two minutes, or five in a row that ended irregularly within 30 seconds. The program
 * should then start with as little as possible. A regular stop resets it. False for NULL. */
bool kc_crash_journal_is_crash_loop(const kc_crash_journal *journal);

#endif
