/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_evict.c: selects the connections of a loop to close when descriptors are short.
 *
 *     unauthenticated   in order of acceptance: stalled handshakes, connections that send nothing
 *                       or half a head, or do not read a refusal
 *     authenticated     those idle for longest, without an open request
 *
 * A connection with an accepted request is never evicted.
 *
 * The list of unauthenticated connections is ordered, so a walk costs O(1) per evicted connection;
 * one that cannot be evicted moves to the end. Keeping the other list ordered by activity would
 * cost time in every request, so it is sorted on demand, O(n log n), and then a part of all
 * connections is evicted at once.
 */
#include "http/server/transport_internal.h"

#include "kc/vec.h"

/* ---- unauthenticated ---- */

static bool transport_may_be_evicted(const kc__transport *t, int64_t *ret_since)
{
    *ret_since = t->listed;
    return t->state != TRANSPORT_OPEN || t->conn.protocol->evictable(&t->conn, ret_since);
}

static void move_to_end(kc_dlist *list, kc__transport *t, int64_t now)
{
    kc_dlist_remove(&t->link);
    kc_dlist_push(list, &t->link);
    t->listed = now;
}

static size_t evict_unauthenticated(kc__transport_context *context, int64_t now, int64_t before,
                                    size_t want)
{
    kc_dlist *list = &context->unauthenticated;
    const kc_dlist_link *last = list->head.prev;
    size_t evicted = 0;
    for (bool more = !kc_dlist_empty(list); more && evicted < want;) {
        kc__transport *t = kc_container_of(kc_dlist_first(list), kc__transport, link);
        int64_t since;
        more = &t->link != last;
        if (t->listed > before)
            break;
        if (transport_may_be_evicted(t, &since)) {
            kc__transport_evict(t);
            evicted++;
        } else {
            move_to_end(list, t, now);
        }
    }
    return evicted;
}

/* ---- authenticated ---- */

typedef struct evict_candidate {
    kc__transport *transport;
    int64_t since;
} evict_candidate;

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const evict_candidate *)a)->since, y = ((const evict_candidate *)b)->since;
    return (x > y) - (x < y);
}

static size_t evict_authenticated(kc__transport_context *context, int64_t before, size_t want)
{
    KC_VEC(evict_candidate) idle = {0};
    int64_t since;
    kc_dlist_each (&context->transports, kc__transport, link, t)
        if (transport_may_be_evicted(t, &since) && since <= before)
            kc_vec_push(&idle, ((evict_candidate){t, since}));
    size_t n = KC_MIN(idle.n, want);
    if (n)
        qsort(idle.items, idle.n, sizeof(evict_candidate), by_time);
    for (size_t i = 0; i < n; i++)
        kc__transport_evict(idle.items[i].transport);
    kc_vec_done(&idle);
    return n;
}

size_t kc__transport_context_evict(kc__transport_context *context, bool authenticated,
                                   int64_t idle_for, size_t want)
{
    const int64_t now = kc_clock_now(kc__loop_clock(context->loop)), before = now - idle_for;
    return authenticated ? evict_authenticated(context, before, want)
                         : evict_unauthenticated(context, now, before, want);
}
