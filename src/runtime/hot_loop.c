/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_loop.c: suspects, and why they come.
 *
 * A suspect is a key that came more than half as often as the limit within a minute. From then on
 * the causes of each of its items are counted by why and kind; once it is over the limit that is
 * logged, most frequent first, and again every minute as long as it goes on:
 *
 *     key is reconciled in a loop  reconciles=412 causes="Updated Deployment 396, Retry 16"
 *
 * which mostly is enough: the controller writes to what it watches, each time. There is room for
 * SUSPECTS keys; the one that was not seen for longest makes way.
 */
#include "runtime/hot_loop.h"

#include "kc/json.h"
#include "runtime/queue_internal.h"

#include <stdio.h>

enum { SUSPECTS = 32, CAUSES = 8, KEY_TEXT = 320 };

typedef struct tally {
    kc_why why;
    const kc_kind *kind;
    uint64_t n;
} tally;

typedef struct suspect {
    char key[KEY_TEXT]; /* "namespace/name", cut. Empty: free. */
    int64_t since, seen, said;
    uint32_t rate;
    tally causes[CAUSES];
    size_t n_causes;
} suspect;

struct kc__loops {
    uint32_t limit;
    kc_counter *said;
    kc_mutex mutex; /* Guards suspects. Nothing is taken under it. */
    suspect suspects[SUSPECTS];
};

kc__loops *kc__loops_new(int limit, kc_counter *said)
{
    kc__loops *loops = kc_new(kc__loops);
    loops->limit = (uint32_t)limit;
    loops->said = said;
    kc_mutex_init(&loops->mutex);
    return loops;
}

kc__loops *kc__loops_free(kc__loops *loops)
{
    if (!loops)
        return NULL;
    kc_mutex_done(&loops->mutex);
    free(loops);
    return NULL;
}

static void write_key(char *to, kc_key key)
{
    if (key.ns.n)
        snprintf(to, KEY_TEXT, "%.*s/%.*s", KC_ARG(key.ns), KC_ARG(key.name));
    else
        snprintf(to, KEY_TEXT, "%.*s", KC_ARG(key.name));
}

/* The one with this key, or the one that makes way for it. */
static suspect *suspect_of(kc__loops *loops, kc_key key, int64_t now)
{
    char text[KEY_TEXT];
    write_key(text, key);
    suspect *oldest = &loops->suspects[0];
    for (size_t i = 0; i < SUSPECTS; i++) {
        suspect *s = &loops->suspects[i];
        if (strcmp(s->key, text) == 0)
            return s;
        if (s->seen < oldest->seen)
            oldest = s;
    }
    *oldest = (suspect){.since = now, .said = now - KC_MINUTE};
    memcpy(oldest->key, text, sizeof(text));
    return oldest;
}

static void count_cause(suspect *s, const kc_queue_cause *cause)
{
    size_t i = 0;
    while (i < s->n_causes && (s->causes[i].why != cause->why || s->causes[i].kind != cause->kind))
        i++;
    if (i == CAUSES)
        return;
    if (i == s->n_causes)
        s->causes[s->n_causes++] = (tally){.why = cause->why, .kind = cause->kind};
    s->causes[i].n++;
    for (; i > 0 && s->causes[i].n > s->causes[i - 1].n; i--) {
        tally more = s->causes[i];
        s->causes[i] = s->causes[i - 1];
        s->causes[i - 1] = more;
    }
}

static void take_note(suspect *s, const kc_queue_item *item, int64_t now)
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

static void write_causes(const suspect *s, kc_buf *out)
{
    for (size_t i = 0; i < s->n_causes; i++) {
        const tally *t = &s->causes[i];
        kc_buf_printf(out, "%s%s%s%s %llu", i ? ", " : "", kc__why_text(t->why), t->kind ? " " : "",
                      t->kind ? t->kind->kind : "", (unsigned long long)t->n);
    }
}

void kc__loops_note(kc__loops *loops, const kc_queue_item *item, int64_t now, kc_log *log)
{
    uint32_t rate = kc__queue_item_rate(item);
    if (rate <= loops->limit / 2)
        return;
    kc_scoped(kc_buf) causes = {0};
    bool say = false;
    kc_locked (&loops->mutex) {
        suspect *s = suspect_of(loops, item->key, now);
        take_note(s, item, now);
        say = rate > loops->limit && now - s->said >= KC_MINUTE;
        if (!say)
            break;
        s->said = now;
        write_causes(s, &causes);
    }
    if (!say)
        return;
    kc_counter_inc(loops->said);
    kc_log_warn(log, "key is reconciled in a loop", kc_kv("reconciles", rate),
                kc_kv("causes", kc_buf_str(&causes)));
}

void kc__loops_write(kc__loops *loops, int64_t now, kc_buf *out)
{
    bool first = true;
    kc_buf_putc(out, '[');
    kc_locked (&loops->mutex)
        for (size_t i = 0; i < SUSPECTS; i++) {
            const suspect *s = &loops->suspects[i];
            if (!s->key[0] || s->rate <= loops->limit || now - s->seen > KC_MINUTE)
                continue;
            kc_scoped(kc_buf) causes = {0};
            write_causes(s, &causes);
            kc_buf_puts(out, first ? "{\"key\":" : ",{\"key\":");
            kc_json_quote(out, kc_cstr(s->key));
            kc_buf_printf(out, ",\"reconciles\":%u,\"causes\":", s->rate);
            kc_json_quote(out, kc_buf_str(&causes));
            kc_buf_putc(out, '}');
            first = false;
        }
    kc_buf_putc(out, ']');
}
