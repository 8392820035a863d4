/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: the content of a queue for /debug/queue: one JSON object.
 *
 *     {"name":"robot","ready":1,"processing":1,"delayed":1,"retrying":1,"shuttingDown":false,
 *      "items":[{"key":"plant/r1","state":"processing","priority":0,"for":"1.5s","failures":0,
 *                "causes":[{"reason":"Updated","kind":"Robot","key":"plant/r1","revision":12,
 *                           "ago":"2s"}],"moreCauses":0}, …]}
 *
 * Items are copied with the mutex held and written afterwards. They are in the order in which they
 * will be taken: ready ones by priority and lane, delayed ones by time. To find the first few nodes
 * of a heap without sorting all of it, only nodes whose parent was taken are examined.
 */
#include "runtime/queue/queue_internal.h"

#include "kc/arena.h"
#include "kc/json.h"

enum { MOST_ITEMS = 1000 }; /* Per state. */

typedef struct queue_write_shown {
    const char *state;
    kc_queue_item item; /* Without entry; its strings are in the arena. */
    int64_t span;       /* Time waited, processed, or left to wait. */
} queue_write_shown;

typedef struct snapshot {
    kc_arena arena;
    KC_VEC(queue_write_shown) items;
    size_t limit;
    int64_t now;
} snapshot;

static kc_key copy_key(kc_arena *arena, kc_key key)
{
    return (kc_key){kc_arena_str(arena, key.ns), kc_arena_str(arena, key.name)};
}

static void show(snapshot *s, const kc__queue_entry *entry, const char *state,
                 const kc__queue_causes_of_entry *causes, int64_t span)
{
    queue_write_shown *one = kc_vec_add(&s->items);
    *one = (queue_write_shown){.state = state, .span = span};
    one->item.key = copy_key(&s->arena, entry->node.key);
    one->item.priority = entry->priority;
    one->item.n_causes =
        kc__queue_causes(causes, entry->node.key, one->item.causes, &one->item.more_causes);
    for (size_t i = 0; i < one->item.n_causes; i++)
        one->item.causes[i].key = copy_key(&s->arena, one->item.causes[i].key);
}

static void show_ready(snapshot *s, const kc__queue_entry *entry)
{
    show(s, entry, "ready", &entry->waits, s->now - entry->ready_since);
}

static void show_lane(snapshot *s, const kc__queue_lane *lane, size_t *n)
{
    for (size_t i = 0; i < lane->returned.n && *n < s->limit; i++, ++*n)
        show_ready(s, kc_container_of(lane->returned.nodes[i], kc__queue_entry, place_in_heap));
    kc_dlist_each (&lane->list, kc__queue_entry, link, entry) {
        if (++*n > s->limit)
            return;
        show_ready(s, entry);
    }
}

static void show_processing(snapshot *s, const kc_queue *queue)
{
    size_t n = 0;
    kc_dlist_each (&queue->processing, kc__queue_entry, working, entry) {
        if (++n > s->limit)
            return;
        show(s, entry, "processing", &entry->works, s->now - entry->started);
        if (entry->place == KC__QUEUE_ENTRY_REQUEUED)
            show_ready(s, entry);
    }
}

static void show_all_ready(snapshot *s, const kc_queue *queue)
{
    size_t n = 0;
    for (size_t i = queue->ready.all.n; i-- > 0 && n < s->limit;) {
        kc__queue_band *band = queue->ready.all.items[i];
        kc_dlist_each (&band->turns, kc__queue_lane, turn, lane)
            show_lane(s, lane, &n);
    }
}

/* ---- the first nodes of the heap ---- */

/* Positions in the heap of delays whose parent was taken, themselves a heap. */
typedef struct queue_write_candidate {
    kc_heap_node node;
    size_t at;
} queue_write_candidate;

static bool candidate_first(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    const kc_heap *heap = user;
    return heap->less(heap->nodes[kc_container_of(a, queue_write_candidate, node)->at],
                      heap->nodes[kc_container_of(b, queue_write_candidate, node)->at], heap->user);
}

static void add_candidate(kc_heap *among, kc_arena *arena, const kc_heap *heap, size_t at)
{
    if (at >= heap->n)
        return;
    queue_write_candidate *one = kc_arena_new(arena, queue_write_candidate);
    one->at = at;
    kc_heap_push(among, &one->node);
}

static void show_delayed(snapshot *s, const kc_queue *queue)
{
    kc_heap among = {.less = candidate_first, .user = (void *)&queue->delayed};
    add_candidate(&among, &s->arena, &queue->delayed, 0);
    kc_heap_node *first;
    for (size_t n = 0; n < s->limit && (first = kc_heap_pop(&among)); n++) {
        size_t at = kc_container_of(first, queue_write_candidate, node)->at;
        kc__queue_entry *entry =
            kc_container_of(queue->delayed.nodes[at], kc__queue_entry, place_in_heap);
        show(s, entry, entry->retrying ? "retrying" : "delayed", &entry->waits,
             entry->ready_at - s->now);
        add_candidate(&among, &s->arena, &queue->delayed, 2 * at + 1);
        add_candidate(&among, &s->arena, &queue->delayed, 2 * at + 2);
    }
    kc_heap_done(&among);
}

/* ---- writing ---- */

static void put_key(kc_buf *out, const char *name, kc_key key)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key);
    kc_buf_printf(out, "\"%s\":", name);
    kc_json_quote(out, kc_buf_str(&text));
}

static void put_span(kc_buf *out, const char *name, int64_t ns)
{
    kc_buf_printf(out, ",\"%s\":\"", name);
    kc_duration_write(out, KC_MAX(ns, 0));
    kc_buf_putc(out, '"');
}

static void put_cause(kc_buf *out, const kc_queue_cause *cause, int64_t now)
{
    kc_buf_printf(out, "{\"reason\":\"%s\",", kc__queue_reason_text(cause->reason));
    if (cause->kind) {
        kc_buf_puts(out, "\"kind\":");
        kc_json_quote(out, kc_cstr(cause->kind->kind));
        kc_buf_putc(out, ',');
    }
    put_key(out, "key", cause->key);
    if (cause->revision)
        kc_buf_printf(out, ",\"revision\":%llu", (unsigned long long)cause->revision);
    put_span(out, "ago", now - cause->at);
    kc_buf_putc(out, '}');
}

static void put_item(kc_buf *out, kc_queue *queue, const queue_write_shown *one, int64_t now)
{
    const kc_queue_item *item = &one->item;
    kc_buf_putc(out, '{');
    put_key(out, "key", item->key);
    kc_buf_printf(out, ",\"state\":\"%s\",\"priority\":%d", one->state, item->priority);
    put_span(out, "for", one->span);
    kc_buf_printf(out, ",\"failures\":%d,\"causes\":[", kc_queue_num_requeues(queue, item->key));
    for (size_t i = 0; i < item->n_causes; i++) {
        kc_buf_puts(out, i ? "," : "");
        put_cause(out, &item->causes[i], now);
    }
    kc_buf_printf(out, "],\"moreCauses\":%zu}", item->more_causes);
}

void kc_queue_write(const kc_queue *const_queue, size_t limit, kc_buf *out)
{
    kc_queue *queue = (kc_queue *)const_queue; /* The mutex is not part of the logical state. */
    snapshot s = {.limit = KC_MIN(limit, (size_t)MOST_ITEMS)};
    kc_queue_counts counts = kc_queue_count(queue);
    kc_locked (&queue->mutex) {
        s.now = kc_clock_now(queue->clock);
        show_processing(&s, queue);
        show_all_ready(&s, queue);
        show_delayed(&s, queue);
    }
    kc_buf_puts(out, "{\"name\":");
    kc_json_quote(out, kc_cstr(queue->name));
    kc_buf_printf(out, ",\"ready\":%zu,\"processing\":%zu,\"delayed\":%zu,\"retrying\":%zu",
                  counts.ready, counts.processing, counts.delayed, counts.retrying);
    kc_buf_printf(out, ",\"shuttingDown\":%s,\"items\":[",
                  kc_queue_shutting_down(queue) ? "true" : "false");
    kc_vec_each (&s.items, one) {
        kc_buf_puts(out, one == s.items.items ? "" : ",");
        put_item(out, queue, one, s.now);
    }
    kc_buf_puts(out, "]}");
    kc_vec_done(&s.items);
    kc_arena_done(&s.arena);
}
