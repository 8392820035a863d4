/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h: which events of a watch are delivered: the state that makes delivery exactly-once.
 *
 * A watch resumes at a revision, but a revision may have many events (a transaction), and a stream
 * may break between two fragments of them. The cursor counts the delivered events of the revision
 * that is not complete. After a restart it resumes at that revision and skips as many: every member
 * sends the events of a revision in the same order, that of the operations of the transaction.
 */
#ifndef KC_ETCD_CURSOR_H
#define KC_ETCD_CURSOR_H

#include "etcd/messages.h"

/* Set `next` to the first revision to deliver; 0: from now on. */
typedef struct kc__etcd_cursor {
    int64_t next;     /* The revision to resume from: all before it are delivered. */
    size_t delivered; /* Events of revision `next` that are delivered. */
    size_t skip;      /* Of these, events that this stream has yet to repeat. */
} kc__etcd_cursor;

/* A new stream resumes at `next`. */
void kc__etcd_cursor_restart(kc__etcd_cursor *cursor);

/*
 * Takes the events of a response and returns those that are new, which count as delivered. With
 * `more`, the next response continues this one: its last revision is not complete. False if an
 * event has no kv, or revisions decrease.
 */
bool kc__etcd_cursor_take(kc__etcd_cursor *cursor, kc__etcd_events events, bool more,
                          kc__etcd_events *ret_fresh);

/* Everything up to this revision is delivered. */
void kc__etcd_cursor_advance(kc__etcd_cursor *cursor, int64_t revision);

#endif
