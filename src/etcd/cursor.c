/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.c: which events of a watch are delivered.
 *
 *     revisions    … 6 6 6 │ 7 7 7 7 7 │ 8 …
 *                          └ next = 7    delivered = 3, the stream breaks
 *     resumes at 7:          7 7 7 7 7   the first three are skipped
 *
 * Events below `next` are dropped, too: a server may repeat them, and must not make the watch do
 * so.
 */
#include "etcd/cursor.h"

void kc__etcd_cursor_restart(kc__etcd_cursor *cursor)
{
    cursor->skip = cursor->delivered;
}

static bool in_order(kc__etcd_events events)
{
    for (size_t i = 0; i < events.n; i++) {
        const kc__etcd_key_value *kv = events.items[i].kv;
        if (!kv || (i && kv->mod_revision < events.items[i - 1].kv->mod_revision))
            return false;
    }
    return true;
}

/* The number of events at the front that are delivered already. */
static size_t count_repeated(kc__etcd_cursor *cursor, kc__etcd_events events)
{
    size_t i = 0;
    while (i < events.n && events.items[i].kv->mod_revision < cursor->next)
        i++;
    for (; cursor->skip && i < events.n && events.items[i].kv->mod_revision == cursor->next; i++)
        cursor->skip--;
    return i;
}

/* Counts the delivered events of the last revision, which may continue. */
static void count_delivered(kc__etcd_cursor *cursor, kc__etcd_events fresh)
{
    const int64_t last = fresh.items[fresh.n - 1].kv->mod_revision;
    if (last != cursor->next)
        *cursor = (kc__etcd_cursor){.next = last};
    for (size_t i = fresh.n; i && fresh.items[i - 1].kv->mod_revision == last; i--)
        cursor->delivered++;
}

bool kc__etcd_cursor_take(kc__etcd_cursor *cursor, kc__etcd_events events, bool more,
                          kc__etcd_events *ret_fresh)
{
    if (!in_order(events))
        return false;
    const size_t repeated = count_repeated(cursor, events);
    const kc__etcd_events fresh = {events.items ? events.items + repeated : NULL,
                                   events.n - repeated};
    if (fresh.n)
        count_delivered(cursor, fresh);
    if (events.n && !more)
        kc__etcd_cursor_advance(cursor, events.items[events.n - 1].kv->mod_revision);
    *ret_fresh = fresh;
    return true;
}

void kc__etcd_cursor_advance(kc__etcd_cursor *cursor, int64_t revision)
{
    if (revision >= cursor->next && revision < INT64_MAX)
        *cursor = (kc__etcd_cursor){.next = revision + 1};
}
