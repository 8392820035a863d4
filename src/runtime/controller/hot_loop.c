/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_loop.c: detects hot loops and their causes.
 *
 * A suspect is a key that was reconciled more than half as often as the limit within a minute. From
 * then on the causes of each of its items are counted by reason and kind. Once the key is over the
 * limit they are logged, most frequent first, and again every minute while the loop continues:
 *
 *     key is reconciled in a loop  reconciles=412 causes="Updated Deployment 396, Retry 16"
 *
 * This mostly suffices to find the bug: the controller writes to what it watches, each time. There
 * is room for SUSPECTS keys; the one not seen for the longest time is evicted.
 */
#include "runtime/controller/hot_loop.h"

#include "kc/json.h"
#include "runtime/queue/queue_internal.h"

#include <stdio.h>

enum { SUSPECTS = 32, CAUSES = 8, KEY_TEXT = 320 };

typedef struct hotloop_tally {
    kc_queue_reason reason;
    const kc_kind *kind;
    uint64_t n;
} hotloop_tally;

typedef struct hotloop_suspect {
    char key[KEY_TEXT]; /* "namespace/name", truncated. Empty: free. */
    int64_t since, seen, logged_at;
    uint32_t rate;
    hotloop_tally causes[CAUSES];
    size_t n_causes;
} hotloop_suspect;

struct kc__hotloop_table {
    uint32_t limit;
    kc_counter *logged_at;
    kc_mutex mutex; /* Guards suspects. No lock is taken under it. */
    hotloop_suspect suspects[SUSPECTS];
};

kc__hotloop_table *kc__hotloop_table_new(int limit, kc_counter *logged_at)
{
    kc__hotloop_table *loops = kc_new(kc__hotloop_table);
    loops->limit = (uint32_t)limit;
    loops->logged_at = logged_at;
    kc_mutex_init(&loops->mutex);
    return loops;
}

kc__hotloop_table *kc__hotloop_table_free(kc__hotloop_table *loops)
{
    if (!loops)
        return NULL;
    kc_mutex_done(&loops->mutex);
    free(loops);
    return NULL;
}

static void hotloop_write_key(char *to, kc_key key)
{
    if (key.ns.n)
        snprintf(to, KEY_TEXT, "%.*s/%.*s", KC_ARG(key.ns), KC_ARG(key.name));
    else
        snprintf(to, KEY_TEXT, "%.*s", KC_ARG(key.name));
}

/* The suspect with this key, or the one to evict for it. */
static hotloop_suspect *suspect_of(kc__hotloop_table *loops, kc_key key, int64_t now)
{
    char text[KEY_TEXT];
    hotloop_write_key(text, key);
    hotloop_suspect *oldest = &loops->suspects[0];
    for (size_t i = 0; i < SUSPECTS; i++) {
        hotloop_suspect *s = &loops->suspects[i];
        if (strcmp(s->key, text) == 0)
            return s;
        if (s->seen < oldest->seen)
            oldest = s;
    }
    *oldest = (hotloop_suspect){.since = now, .logged_at = now - KC_MINUTE};
    memcpy(oldest->key, text, sizeof(text));
    return oldest;
}

static void count_cause(hotloop_suspect *s, const kc_queue_cause *cause)
{
    size_t i = 0;
    while (i < s->n_causes &&
           (s->causes[i].reason != cause->reason || s->causes[i].kind != cause->kind))
        i++;
    if (i == CAUSES)
        return;
    if (i == s->n_causes)
        s->causes[s->n_causes++] = (hotloop_tally){.reason = cause->reason, .kind = cause->kind};
    s->causes[i].n++;
    for (; i > 0 && s->causes[i].n > s->causes[i - 1].n; i--) {
        hotloop_tally more = s->causes[i];
        s->causes[i] = s->causes[i - 1];
        s->causes[i - 1] = more;
    }
}

static void take_note(hotloop_suspect *s, const kc_queue_item *item, int64_t now)
{
    if (now - s->since > KC_MINUTE) {
        s->since = now;
        s->n_causes = 0;
    }
    s->seen = now;
    s->rate = kc__queue_item_rate(item);
    for (size_t i = 0; i < item->n_causes; i++)
        count_cause(s, &item->causes[i]);
}

static void hotloop_write_causes(const hotloop_suspect *s, kc_buf *out)
{
    for (size_t i = 0; i < s->n_causes; i++) {
        const hotloop_tally *t = &s->causes[i];
        kc_buf_printf(out, "%s%s%s%s %llu", i ? ", " : "", kc__queue_reason_text(t->reason),
                      t->kind ? " " : "", t->kind ? t->kind->kind : "", (unsigned long long)t->n);
    }
}

void kc__hotloop_table_note(kc__hotloop_table *loops, const kc_queue_item *item, int64_t now,
                            kc_log *log)
{
    uint32_t rate = kc__queue_item_rate(item);
    if (rate <= loops->limit / 2)
        return;
    kc_scoped(kc_buf) causes = {0};
    bool due = false;
    kc_locked (&loops->mutex) {
        hotloop_suspect *s = suspect_of(loops, item->key, now);
        take_note(s, item, now);
        due = rate > loops->limit && now - s->logged_at >= KC_MINUTE;
        if (!due)
            break;
        s->logged_at = now;
        hotloop_write_causes(s, &causes);
    }
    if (!due)
        return;
    kc_counter_inc(loops->logged_at);
    kc_log_warn(log, "key is reconciled in a loop", kc_kv("reconciles", rate),
                kc_kv("causes", kc_buf_str(&causes)));
}

void kc__hotloop_table_write(kc__hotloop_table *loops, int64_t now, kc_buf *out)
{
    bool first = true;
    kc_buf_putc(out, '[');
    kc_locked (&loops->mutex)
        for (size_t i = 0; i < SUSPECTS; i++) {
            const hotloop_suspect *s = &loops->suspects[i];
            if (!s->key[0] || s->rate <= loops->limit || now - s->seen > KC_MINUTE)
                continue;
            kc_scoped(kc_buf) causes = {0};
            hotloop_write_causes(s, &causes);
            kc_buf_puts(out, first ? "{\"key\":" : ",{\"key\":");
            kc_json_quote(out, kc_cstr(s->key));
            kc_buf_printf(out, ",\"reconciles\":%u,\"causes\":", s->rate);
            kc_json_quote(out, kc_buf_str(&causes));
            kc_buf_putc(out, '}');
            first = false;
        }
    kc_buf_putc(out, ']');
}
