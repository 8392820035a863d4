/* SPDX-License-Identifier: Apache-2.0 */
/* absent.c: see absent.h. A map for lookups and an LRU list for eviction. */
#include "gc/absent.h"

typedef struct gc_absent_entry {
    kc_dlist_link link;
    kc_str text; /* Allocated behind the struct. */
} gc_absent_entry;

void kc__gc_absents_init(kc__gc_absents *absents)
{
    *absents = (kc__gc_absents){0};
    kc_mutex_init(&absents->mutex);
    kc_dlist_init(&absents->recent);
}

void kc__gc_absents_done(kc__gc_absents *absents)
{
    kc_dlist_each (&absents->recent, gc_absent_entry, link, e)
        free(e);
    kc_map_done(&absents->by_text);
    kc_mutex_done(&absents->mutex);
}

/* Names cannot contain a newline. */
static void gc_absent_write_text(kc_buf *out, const kc__gc_identity *who)
{
    kc_buf_append(out, who->uid);
    kc_buf_putc(out, '\n');
    kc_buf_append(out, who->type);
    kc_buf_putc(out, '\n');
    kc_buf_append(out, who->ns);
    kc_buf_putc(out, '\n');
    kc_buf_append(out, who->name);
}

/* A hit moves the entry to the end of the LRU list. Needs the mutex. */
static bool touch(kc__gc_absents *absents, kc_str text)
{
    gc_absent_entry *e = kc_map_get(&absents->by_text, text);
    if (!e)
        return false;
    kc_dlist_remove(&e->link);
    kc_dlist_push(&absents->recent, &e->link);
    return true;
}

static void forget_oldest(kc__gc_absents *absents)
{
    gc_absent_entry *e = kc_container_of(kc_dlist_pop(&absents->recent), gc_absent_entry, link);
    kc_map_remove(&absents->by_text, e->text);
    free(e);
}

static void gc_absent_add(kc__gc_absents *absents, kc_str text)
{
    gc_absent_entry *e = kc_alloc(sizeof(*e) + text.n);
    memcpy(e + 1, text.p, text.n);
    *e = (gc_absent_entry){.text = kc_str_of((const char *)(e + 1), text.n)};
    kc_map_put(&absents->by_text, e->text, e);
    kc_dlist_push(&absents->recent, &e->link);
}

void kc__gc_absents_add(kc__gc_absents *absents, const kc__gc_identity *who)
{
    kc_scoped(kc_buf) text = {0};
    gc_absent_write_text(&text, who);
    kc_locked (&absents->mutex) {
        if (touch(absents, kc_buf_str(&text)))
            break;
        if (absents->by_text.n >= KC__GC_ABSENT_MAX)
            forget_oldest(absents);
        gc_absent_add(absents, kc_buf_str(&text));
    }
}

bool kc__gc_absents_has(kc__gc_absents *absents, const kc__gc_identity *who)
{
    bool has = false;
    kc_scoped(kc_buf) text = {0};
    gc_absent_write_text(&text, who);
    kc_locked (&absents->mutex)
        has = touch(absents, kc_buf_str(&text));
    return has;
}
