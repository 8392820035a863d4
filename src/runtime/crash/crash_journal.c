/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_journal.c: records the calls in progress, so that the next process knows which of them were
 * running when this one ended.
 *
 *     open     lock ─▶ map ─▶ take over the calls of the last process ─▶ clear, mark as running
 *     call     worker: slot = busy, key ─▶ reconcile ─▶ slot = idle         no system call
 *     crash    handler: slot = crashed, header.signal                       (guard.c)
 *     close    header.running = 0
 *
 * The file may contain anything (a damaged disk, another program): numbers are checked, strings are
 * cut at the end of their arrays, and nothing else is trusted.
 *
 * Invariant: a file that another process has open is not changed, so a second process in the same
 * directory, which the store will reject, does not disturb the first.
 */
#include "runtime/crash/crash_journal.h"

#include "kc/buf.h"
#include "kc/file.h"
#include "runtime/crash/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CRASHED_STARTS = 3,
    CRASHED_SOON = 120, /* Seconds after the start. */
    UNCLEAN_STARTS = 5,
    UNCLEAN_SOON = 30,
};

/* ---- state of the last process ---- */

static void take_over_slot(kc_crash_journal *journal, kc__crash_journal_slot *slot)
{
    slot->controller[KC__CRASH_SLOT_CONTROLLER - 1] = '\0';
    slot->key[KC__CRASH_SLOT_KEY - 1] = '\0';
    const uint32_t state = slot->state;
    if ((state == KC__CRASH_SLOT_BUSY || state == KC__CRASH_SLOT_CRASHED) && slot->key[0])
        kc_vec_push(&journal->interrupted,
                    ((kc__crash_interrupted_call){.controller = kc_strdup(slot->controller),
                                                  .key = kc_strdup(slot->key),
                                                  .code = slot->code,
                                                  .crashed = state == KC__CRASH_SLOT_CRASHED}));
}

/* Counts consecutive processes that ended soon after their start. The end of a process is known
 * only if a signal ended it; otherwise the start of this one is taken, which is close enough. */
static void count_start(kc__crash_journal_header *header, int64_t now)
{
    const int64_t lived = (header->signal ? header->died : now) - header->started;
    const bool crashed = header->signal && lived < CRASHED_SOON;
    header->crashed_starts = crashed ? header->crashed_starts + 1 : 0;
    header->unclean_starts = lived < UNCLEAN_SOON ? header->unclean_starts + 1 : 0;
}

static void crash_journal_take_over(kc_crash_journal *journal, int64_t now)
{
    kc__crash_journal_file *file = journal->file;
    kc__crash_journal_header *header = &file->header;
    const bool known = memcmp(header->magic, KC__CRASH_JOURNAL_MAGIC, sizeof(header->magic)) == 0;
    kc__crash_journal_header next = {.running = 1, .started = now};
    memcpy(next.magic, KC__CRASH_JOURNAL_MAGIC, sizeof(next.magic));
    if (known && header->running) {
        count_start(header, now);
        journal->last_signal = header->signal;
        next.crashed_starts = header->crashed_starts;
        next.unclean_starts = header->unclean_starts;
        for (size_t i = 0; i < KC__CRASH_JOURNAL_SLOTS; i++)
            take_over_slot(journal, &file->slots[i]);
    }
    memset(file->slots, 0, sizeof(file->slots));
    *header = next;
}

/* ---- open and close ---- */

static int crash_journal_failed(const char *what, const char *path, kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "cannot %s %s: %s", what, path, strerror(errno));
}

static int map_file(kc_crash_journal *journal, const char *path, kc_error *err)
{
    struct stat found;
    journal->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->fd < 0 || fstat(journal->fd, &found) < 0)
        return crash_journal_failed("open", path, err);
    if (!S_ISREG(found.st_mode))
        return kc_error_set(err, KC_INVALID, "%s is not a regular file", path);
    if (flock(journal->fd, LOCK_EX | LOCK_NB) < 0)
        return kc_error_set(err, KC_CONFLICT, "%s is in use by another process", path);
    if (ftruncate(journal->fd, sizeof(kc__crash_journal_file)) < 0)
        return crash_journal_failed("write", path, err);
    /* Allocates the blocks now: a store to a page without disk space would fault. */
    if ((errno = posix_fallocate(journal->fd, 0, sizeof(kc__crash_journal_file))) != 0)
        return crash_journal_failed("write", path, err);
    void *bytes = mmap(NULL, sizeof(kc__crash_journal_file), PROT_READ | PROT_WRITE, MAP_SHARED,
                       journal->fd, 0);
    if (bytes == MAP_FAILED)
        return crash_journal_failed("map", path, err);
    journal->file = bytes;
    return 0;
}

static void journal_free(kc_crash_journal *journal)
{
    if (journal->file)
        munmap(journal->file, sizeof(*journal->file));
    if (journal->fd >= 0)
        close(journal->fd);
    kc_vec_each (&journal->interrupted, call) {
        free(call->controller);
        free(call->key);
    }
    kc_vec_done(&journal->interrupted);
    kc_log_free(journal->log);
    free(journal->quarantine_path);
    free(journal);
}

kc_crash_journal *kc_crash_journal_open(const char *dir, kc_log *log, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s/journal", dir);
    if (kc_dir_create(dir, 0700, err) < 0)
        return NULL;
    kc_crash_journal *journal = kc_new(kc_crash_journal);
    journal->fd = -1;
    journal->log = kc_log_child(log, NULL);
    journal->quarantine_path = kc_asprintf("%s/quarantine.json", dir);
    if (map_file(journal, path, err) < 0) {
        journal_free(journal);
        return NULL;
    }
    crash_journal_take_over(journal, time(NULL));
    kc__guard_set_journal(&journal->file->header);
    return journal;
}

kc_crash_journal *kc_crash_journal_close(kc_crash_journal *journal)
{
    if (!journal)
        return NULL;
    kc__guard_set_journal(NULL);
    journal->file->header.running = 0;
    journal_free(journal);
    return NULL;
}

bool kc_crash_journal_is_crash_loop(const kc_crash_journal *journal)
{
    return journal && (journal->file->header.crashed_starts >= CRASHED_STARTS ||
                       journal->file->header.unclean_starts >= UNCLEAN_STARTS);
}

/* ---- slots ---- */

/* Changes FREE to IDLE. Workers may start concurrently; exactly one claims the slot. */
static bool crash_journal_claim(kc__crash_journal_slot *slot)
{
    uint32_t expected = KC__CRASH_SLOT_FREE;
    return __atomic_compare_exchange_n(&slot->state, &expected, KC__CRASH_SLOT_IDLE, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

kc__crash_journal_slot *kc__crash_journal_take_slot(kc_crash_journal *journal,
                                                    const char *controller, uint64_t code)
{
    for (size_t i = 0; journal && i < KC__CRASH_JOURNAL_SLOTS; i++) {
        kc__crash_journal_slot *slot = &journal->file->slots[i];
        if (!crash_journal_claim(slot))
            continue;
        snprintf(slot->controller, sizeof(slot->controller), "%s", controller);
        slot->code = code;
        slot->key[0] = '\0';
        return slot;
    }
    return NULL;
}

void kc__crash_journal_release_slot(kc__crash_journal_slot *slot)
{
    if (slot)
        __atomic_store_n(&slot->state, KC__CRASH_SLOT_FREE, __ATOMIC_RELEASE);
}

void kc__crash_journal_slot_begin(kc__crash_journal_slot *slot, kc_key key)
{
    if (!slot)
        return;
    const size_t n = key.ns.n ? key.ns.n + 1 + key.name.n : key.name.n;
    char *to = slot->key;
    if (n >= sizeof(slot->key)) {
        *to = '\0';
    } else {
        if (key.ns.n) {
            memcpy(to, key.ns.p, key.ns.n);
            to[key.ns.n] = '/';
            to += key.ns.n + 1;
        }
        memcpy(to, key.name.p, key.name.n);
        to[key.name.n] = '\0';
    }
    slot->state = KC__CRASH_SLOT_BUSY;
}

void kc__crash_journal_slot_end(kc__crash_journal_slot *slot)
{
    if (slot)
        slot->state = KC__CRASH_SLOT_IDLE;
}
