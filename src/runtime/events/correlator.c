/* SPDX-License-Identifier: Apache-2.0 */
/* correlator.c: counts, aggregates and rate-limits Events; see correlator.h. */
#include "runtime/events/correlator.h"

enum {
    REMEMBERED = 4096,
    SIMILAR = 10, /* After this many different messages, Events are aggregated. */
    BURST = 25,
};

#define SIMILAR_FOR  (600 * KC_SECOND) /* Messages are forgotten if none came for this long. */
#define TOKEN_EVERY  (300 * KC_SECOND)
#define SERIES_END   (6 * KC_MINUTE)
#define SERIES_LIMIT 4096

static const kc_str COMBINED = KC_STR_INIT("(combined from similar events): ");

/* The messages seen under one key, as hashes: only their number matters. */
typedef struct similar {
    uint64_t messages[SIMILAR];
    size_t n;
    kc_time last;
} similar;

typedef struct sent {
    char *name;
    int64_t count;
    kc_time first;
} sent;

typedef struct rate_limit {
    bool begun;
    double tokens;
    kc_time last;
} rate_limit;

static void sent_done(void *value)
{
    free(((sent *)value)->name);
}

void kc__correlator_init(kc__correlator *c)
{
    kc__lru_init(&c->similar, REMEMBERED, sizeof(similar), NULL);
    kc__lru_init(&c->sent, REMEMBERED, sizeof(sent), sent_done);
    kc__lru_init(&c->rate_limit, REMEMBERED, sizeof(rate_limit), NULL);
}

void kc__correlator_done(kc__correlator *c)
{
    kc__lru_done(&c->similar);
    kc__lru_done(&c->sent);
    kc__lru_done(&c->rate_limit);
}

/* ---- keys: length-prefixed strings, so that different lists have different keys ---- */

static void add_part(kc_buf *key, kc_str part)
{
    kc_buf_printf(key, "%zu:", part.n);
    kc_buf_append(key, part);
}

static void correlator_add_source(kc_buf *key, const kc__recorder_note *note)
{
    add_part(key, note->component);
    add_part(key, note->host);
}

static void add_ref(kc_buf *key, const kc__recorder_object_ref *ref)
{
    add_part(key, ref->kind);
    add_part(key, ref->ns);
    add_part(key, ref->name);
    add_part(key, ref->uid);
    add_part(key, ref->api_version);
}

static void key_of_similar(kc_buf *key, const kc__recorder_note *note)
{
    correlator_add_source(key, note);
    add_ref(key, &note->about);
    add_part(key, note->type);
    add_part(key, note->reason);
}

static void key_of_all(kc_buf *key, const kc__recorder_note *note)
{
    key_of_similar(key, note);
    add_part(key, note->about.field_path);
    add_part(key, note->message);
}

static void key_of_rate_limit(kc_buf *key, const kc__recorder_note *note)
{
    correlator_add_source(key, note);
    add_ref(key, &note->about);
    add_part(key, note->type);
}

/* ---- the three steps ---- */

static bool has_message(const similar *s, uint64_t message)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->messages[i] == message)
            return true;
    return false;
}

/* Whether this is at least the tenth different message under the key. */
static bool is_one_of_many(kc__correlator *c, kc_str key, const kc__recorder_note *note)
{
    similar *s = kc__lru_get(&c->similar, key);
    uint64_t message = kc_str_hash(note->message, 0);
    if (s->last && note->at - s->last > SIMILAR_FOR)
        s->n = 0;
    s->last = note->at;
    if (!has_message(s, message))
        s->messages[s->n++] = message;
    if (s->n < SIMILAR)
        return false;
    s->n--; /* Stays one below, so that the next new message again counts as the tenth. */
    return true;
}

/* Counts the note. Returns whether it was sent before; then the note continues that Event. */
static bool was_sent(kc__correlator *c, kc_str key, kc__recorder_note *note)
{
    sent *before = kc__lru_get(&c->sent, key);
    bool repeated = before->count > 0;
    if (repeated) {
        note->name = kc_arena_str(&note->arena, kc_cstr(before->name));
        note->first = before->first;
        note->count = before->count + 1;
    } else {
        before->name = kc_strndup(note->name.p, note->name.n);
        before->first = note->first;
    }
    before->count = note->count;
    return repeated;
}

static bool correlator_is_too_much(kc__correlator *c, const kc__recorder_note *note)
{
    kc_scoped(kc_buf) key = {0};
    key_of_rate_limit(&key, note);
    rate_limit *t = kc__lru_get(&c->rate_limit, kc_buf_str(&key));
    double earned = (double)(note->at - t->last) / (double)TOKEN_EVERY;
    t->tokens = t->begun ? KC_MIN(t->tokens + earned, (double)BURST) : (double)BURST;
    t->begun = true;
    t->last = note->at;
    if (t->tokens < 1)
        return true;
    t->tokens -= 1;
    return false;
}

kc__correlator_decision kc__correlator_decide(kc__correlator *c, kc__recorder_note *note)
{
    kc_scoped(kc_buf) group = {0}, all = {0};
    key_of_similar(&group, note);
    bool combined = is_one_of_many(c, kc_buf_str(&group), note);
    if (combined)
        note->message =
            kc_cstr(kc_arena_printf(&note->arena, "%s%.*s", COMBINED.p, KC_ARG(note->message)));
    else
        key_of_all(&all, note);
    bool repeated = was_sent(c, kc_buf_str(combined ? &group : &all), note);
    if (correlator_is_too_much(c, note))
        return KC__CORRELATOR_SKIP;
    return repeated ? KC__CORRELATOR_PATCH : KC__CORRELATOR_CREATE;
}

/* ---- series ---- */

typedef struct series_entry {
    char *key;
    kc__recorder_note *note; /* The first note; its count and time are updated. */
} series_entry;

static void entry_free(series_entry *e)
{
    kc__recorder_note_free(e->note);
    free(e->key);
    free(e);
}

void kc__correlator_series_done(kc__correlator_series *s)
{
    kc_map_each (&s->notes, it)
        entry_free(it->value);
    kc_map_done(&s->notes);
}

static void key_of_series(kc_buf *key, const kc__recorder_note *note)
{
    key_of_similar(key, note);
    add_part(key, note->action);
    add_part(key, note->about.field_path);
    add_ref(key, &note->related);
}

static void begin_series(kc__correlator_series *s, kc_str key, kc__recorder_note *note)
{
    series_entry *e = kc_new(series_entry);
    e->key = kc_strndup(key.p, key.n);
    e->note = note;
    if (s->notes.n >= SERIES_LIMIT) {
        kc_map_entry *oldest = kc__map_entry_from(&s->notes, 0);
        entry_free(kc_map_remove(&s->notes, oldest->key));
    }
    kc_map_put(&s->notes, kc_str_of(e->key, key.n), e);
}

kc__recorder_note *kc__correlator_series_observe(kc__correlator_series *s, kc__recorder_note *note,
                                                 bool *ret_is_series)
{
    kc_scoped(kc_buf) key = {0};
    key_of_series(&key, note);
    series_entry *e = kc_map_get(&s->notes, kc_buf_str(&key));
    *ret_is_series = e;
    if (!e) {
        begin_series(s, kc_buf_str(&key), note);
        return note;
    }
    e->note->count++;
    e->note->at = note->at;
    kc__recorder_note_free(note);
    return e->note->count == 2 ? e->note : NULL;
}

void kc__correlator_series_sweep(kc__correlator_series *s, kc_time now, bool refresh,
                                 void (*send)(const kc__recorder_note *note, void *user),
                                 void *user)
{
    kc_map_each (&s->notes, it) {
        series_entry *e = it->value;
        bool ended = e->note->at < now - SERIES_END;
        if (e->note->count > 1 && (refresh || ended))
            send(e->note, user);
        if (ended) {
            kc_map_remove(&s->notes, it->key);
            entry_free(e);
        }
    }
}
