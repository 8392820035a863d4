/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_pending.c: the changes that the journal holds and LMDB does not hold yet.
 *
 *     image      │ batch: 2 put a, 3 put b │ pad │ batch: 4 put a │ pad │ …   as in the journal
 *     changes    [0] 2 put a   [1] 3 put b   [2] 4 put a (replaced [0])
 *     latest     a ─▶ [2]   b ─▶ [1]
 *
 * A batch is built at the end of the image, from where its bytes are written to the journal
 * unchanged. Until kc__storage_pending_keep_batch its newest changes can be undone: for a group in
 * which one operation fails, or a batch that could not be written. `replaced` records what `latest`
 * pointed to before.
 *
 * Keys and records point into the image, so it is moved only while it is empty.
 */
#include "apiserver/storage/file/file_internal.h"

#include <assert.h>
#include <sys/mman.h>

/* A full journal, and the batch that triggers the fold. */
#define IMAGE_ROOM (KC__STORAGE_JOURNAL_MOST + KC__STORAGE_JOURNAL_BATCH)

void kc__storage_pending_done(kc__storage_pending *pending)
{
    kc_vec_done(&pending->changes);
    kc_map_done(&pending->latest);
    if (pending->image)
        munmap(pending->image, pending->room);
    *pending = (kc__storage_pending){0};
}

size_t kc__storage_pending_bound(const kc__storage_op *ops, size_t n_ops)
{
    size_t bytes = KC__STORAGE_JOURNAL_HEADER;
    for (size_t i = 0; i < n_ops; i++) {
        const kc__storage_record record = {.key = ops[i].key, .value = ops[i].value};
        if (!kc__storage_op_problem(&ops[i]))
            bytes += KC__STORAGE_JOURNAL_PREFIX + kc__storage_record_size(&record);
    }
    return kc__storage_journal_align(bytes);
}

/* Ensures room behind the end. The image is a mapping of its own, so that its memory can be
 * returned to the system. */
static bool make_room(kc__storage_pending *pending, size_t bytes)
{
    if (pending->end + bytes <= pending->room)
        return true;
    assert(pending->end == 0 && pending->changes.n == 0);
    kc__storage_pending_done(pending);
    const size_t room = KC_MAX(bytes, IMAGE_ROOM);
    void *image = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED)
        return false;
    pending->image = image;
    pending->room = room;
    return true;
}

bool kc__storage_pending_begin(kc__storage_pending *pending, size_t bytes)
{
    if (!make_room(pending, bytes))
        return false;
    pending->batch = pending->changes.n;
    pending->at = pending->end + KC__STORAGE_JOURNAL_HEADER;
    return true;
}

/* Adds a record of the image to `changes` and `latest`. */
static void push_change(kc__storage_pending *pending, kc__storage_verb verb, kc_str key,
                        kc_str record)
{
    const uintptr_t number = pending->changes.n + 1;
    const void *before = kc_map_put(&pending->latest, key, (void *)number);
    kc_vec_push(&pending->changes,
                ((kc__storage_pending_change){
                    .verb = verb, .key = key, .record = record, .replaced = (uintptr_t)before}));
}

void kc__storage_pending_add(kc__storage_pending *pending, uint64_t revision,
                             const kc__storage_record *record)
{
    const size_t size = kc__storage_record_size(record);
    char *out = pending->image + pending->at;
    assert(pending->at + KC__STORAGE_JOURNAL_PREFIX + size <= pending->room);
    kc__storage_put_u64(out, size);
    out += KC__STORAGE_JOURNAL_PREFIX;
    kc__storage_record_write(record, revision, out);
    pending->at += KC__STORAGE_JOURNAL_PREFIX + size;
    /* The key is between the record's head and its value. */
    const kc_str key = kc_str_of(out + size - record->value.n - record->key.n, record->key.n);
    push_change(pending, record->verb, key, kc_str_of(out, size));
}

void kc__storage_pending_undo(kc__storage_pending *pending, size_t n)
{
    assert(n <= pending->changes.n - pending->batch);
    while (n-- > 0) {
        const kc__storage_pending_change change = kc_vec_pop(&pending->changes);
        pending->at -= KC__STORAGE_JOURNAL_PREFIX + change.record.n;
        kc_map_remove(&pending->latest, change.key);
        if (change.replaced) {
            const kc_str key = pending->changes.items[change.replaced - 1].key;
            kc_map_put(&pending->latest, key, (void *)(uintptr_t)change.replaced);
        }
    }
}

void kc__storage_pending_drop_batch(kc__storage_pending *pending)
{
    kc__storage_pending_undo(pending, pending->changes.n - pending->batch);
}

void kc__storage_pending_keep_batch(kc__storage_pending *pending)
{
    pending->end = kc__storage_journal_align(pending->at);
    pending->batch = pending->changes.n;
}

bool kc__storage_pending_load(kc__storage_pending *pending, kc_str image)
{
    kc__storage_pending_done(pending);
    if (!make_room(pending, image.n))
        return false;
    memcpy(pending->image, image.p, image.n);
    pending->end = image.n;
    return true;
}

void kc__storage_pending_found(kc__storage_pending *pending, kc_str bytes,
                               const kc__storage_record *record)
{
    push_change(pending, record->verb, record->key, bytes);
    pending->batch = pending->changes.n;
}

static void forget_all(kc__storage_pending *pending)
{
    kc_vec_clear(&pending->changes);
    kc_map_clear(&pending->latest);
    pending->end = pending->batch = pending->at = 0;
    if (pending->room > IMAGE_ROOM) /* Mapped for a batch too large for the journal. */
        kc__storage_pending_done(pending);
    else if (pending->image)
        (void)madvise(pending->image, pending->room, MADV_DONTNEED);
}

void kc__storage_pending_forget(kc__storage_pending *pending, size_t n)
{
    if (n == pending->changes.n) {
        forget_all(pending);
        return;
    }
    const size_t left = pending->changes.n - n;
    memmove(pending->changes.items, pending->changes.items + n,
            left * sizeof(*pending->changes.items));
    kc_map_clear(&pending->latest);
    pending->changes.n = 0;
    for (size_t i = 0; i < left; i++) {
        const kc__storage_pending_change change = pending->changes.items[i];
        push_change(pending, change.verb, change.key, change.record);
    }
    pending->batch = pending->changes.n;
}

const kc__storage_pending_change *kc__storage_pending_find(const kc__storage_file *file, kc_str key,
                                                           uint64_t *ret_revision)
{
    const uintptr_t number = (uintptr_t)kc_map_get(&file->pending.latest, key);
    if (!number)
        return NULL;
    *ret_revision = file->folded.revision + number;
    return &file->pending.changes.items[number - 1];
}
