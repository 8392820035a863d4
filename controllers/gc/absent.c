/* SPDX-License-Identifier: Apache-2.0 */
/* absent.c: see absent.h. A map for finding, a list for forgetting what was not asked for longest.
 */
#include "gc/absent.h"

typedef struct entry {
    kc_link link;
    kc_str text; /* Behind it. */
} entry;

void kc__gc_absents_init(kc__gc_absents *absents)
{
    *absents = (kc__gc_absents){0};
    kc_mutex_init(&absents->mutex);
    kc_list_init(&absents->recent);
}

void kc__gc_absents_done(kc__gc_absents *absents)
{
    kc_list_each (&absents->recent, entry, link, e)
        free(e);
    kc_map_done(&absents->by_text);
    kc_mutex_done(&absents->mutex);
}

/* No part of a name holds a line's end. */
static void write_text(kc_buf *out, const kc__gc_identity *who)
{
    kc_buf_append(out, who->uid);
    kc_buf_putc(out, '\n');
    kc_buf_append(out, who->type);
    kc_buf_putc(out, '\n');
    kc_buf_append(out, who->ns);
    kc_buf_putc(out, '\n');
    kc_buf_append(out, who->name);
}

/* Found, it is the one asked for last. With the mutex held. */
static bool touch(kc__gc_absents *absents, kc_str text)
{
    entry *e = kc_map_get(&absents->by_text, text);
    if (!e)
        return false;
    kc_list_remove(&e->link);
    kc_list_push(&absents->recent, &e->link);
    return true;
}

static void forget_oldest(kc__gc_absents *absents)
{
    entry *e = kc_container_of(kc_list_pop(&absents->recent), entry, link);
    kc_map_remove(&absents->by_text, e->text);
    free(e);
}

static void add(kc__gc_absents *absents, kc_str text)
{
    entry *e = kc_alloc(sizeof(*e) + text.n);
    memcpy(e + 1, text.p, text.n);
    *e = (entry){.text = kc_str_of((const char *)(e + 1), text.n)};
    kc_map_put(&absents->by_text, e->text, e);
    kc_list_push(&absents->recent, &e->link);
}

void kc__gc_absents_add(kc__gc_absents *absents, const kc__gc_identity *who)
{
    kc_scoped(kc_buf) text = {0};
    write_text(&text, who);
    kc_locked (&absents->mutex) {
        if (touch(absents, kc_buf_str(&text)))
            break;
        if (absents->by_text.n >= KC__GC_ABSENT_MAX)
            forget_oldest(absents);
        add(absents, kc_buf_str(&text));
    }
}

bool kc__gc_absents_has(kc__gc_absents *absents, const kc__gc_identity *who)
{
    bool has = false;
    kc_scoped(kc_buf) text = {0};
    write_text(&text, who);
    kc_locked (&absents->mutex)
        has = touch(absents, kc_buf_str(&text));
    return has;
}
