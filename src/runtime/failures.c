/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.c: a few places for keys that failed, found by a hash; when all are taken, the one that
 * failed longest ago makes way. An operator who looks at hundreds of failing keys needs the first
 * dozens of them, and their errors are mostly one.
 *
 * Every reconcile that succeeds asks whether its key is here. As long as none fails, that is one
 * look at a counter, which may be behind by a moment: what it misses is the success of a key whose
 * failure is being noted, and one key is with one worker at a time.
 */
#include "runtime/failures.h"

#include "kc/buf.h"
#include "kc/clock.h"
#include "kc/json.h"

#include <stdatomic.h>

enum { PLACES = 64, MOST_TEXT = 512 };

typedef struct failure {
    uint64_t hash;
    char *key; /* "namespace/name"; NULL: free. */
    char *text;
    kc_reason reason;
    bool terminal;
    int64_t at;
} failure;

struct kc__failures {
    _Atomic size_t n;
    kc_mutex mutex; /* Guards places. Nothing is taken under it. */
    failure places[PLACES];
};

kc__failures *kc__failures_new(void)
{
    kc__failures *f = kc_new(kc__failures);
    kc_mutex_init(&f->mutex);
    return f;
}

/* Under the mutex, or the last to have it. */
static void empty(kc__failures *f, failure *place)
{
    if (!place->key)
        return;
    free(place->key);
    free(place->text);
    *place = (failure){0};
    atomic_fetch_sub(&f->n, 1);
}

kc__failures *kc__failures_free(kc__failures *f)
{
    if (!f)
        return NULL;
    for (size_t i = 0; i < PLACES; i++)
        empty(f, &f->places[i]);
    kc_mutex_done(&f->mutex);
    free(f);
    return NULL;
}

static uint64_t hash_of(kc_key key)
{
    return kc_str_hash(key.name, kc_str_hash(key.ns, 0));
}

static bool is_at(const failure *place, uint64_t hash, kc_key key)
{
    kc_key here;
    return place->key && place->hash == hash &&
           kc_key_parse(kc_cstr(place->key), &here, NULL) == 0 && kc_key_eq(here, key);
}

static failure *find(kc__failures *f, kc_key key)
{
    uint64_t hash = hash_of(key);
    for (size_t i = 0; i < PLACES; i++)
        if (is_at(&f->places[i], hash, key))
            return &f->places[i];
    return NULL;
}

/* A free place, or the one whose key failed longest ago. */
static failure *make_room(kc__failures *f)
{
    failure *oldest = &f->places[0];
    for (size_t i = 0; i < PLACES && oldest->key; i++)
        if (!f->places[i].key || f->places[i].at < oldest->at)
            oldest = &f->places[i];
    empty(f, oldest);
    return oldest;
}

static failure *take_place(kc__failures *f, kc_key key)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key);
    failure *place = make_room(f);
    place->hash = hash_of(key);
    place->key = kc_buf_take(&text);
    atomic_fetch_add(&f->n, 1);
    return place;
}

void kc__failures_note(kc__failures *f, kc_key key, const kc_error *err, bool terminal, int64_t now)
{
    kc_locked (&f->mutex) {
        failure *place = find(f, key);
        if (!place)
            place = take_place(f, key);
        free(place->text);
        place->text = kc_str_dup(kc_str_sub(kc_cstr(kc_error_text(err)), 0, MOST_TEXT));
        place->reason = err->reason;
        place->terminal = terminal;
        place->at = now;
    }
}

void kc__failures_clear(kc__failures *f, kc_key key)
{
    if (!atomic_load_explicit(&f->n, memory_order_relaxed))
        return;
    kc_locked (&f->mutex) {
        failure *place = find(f, key);
        if (place)
            empty(f, place);
    }
}

static void put(const failure *place, int64_t now, kc_buf *out)
{
    kc_buf_puts(out, "{\"key\":");
    kc_json_quote(out, kc_cstr(place->key));
    kc_buf_puts(out, ",\"error\":");
    kc_json_quote(out, kc_cstr(place->text));
    kc_buf_printf(out, ",\"reason\":\"%s\",\"terminal\":%s,\"ago\":\"",
                  kc_reason_text(place->reason), place->terminal ? "true" : "false");
    kc_duration_write(out, KC_MAX(now - place->at, 0));
    kc_buf_puts(out, "\"}");
}

void kc__failures_write(kc__failures *f, int64_t now, kc_buf *out)
{
    const char *comma = "[";
    kc_locked (&f->mutex)
        for (size_t i = 0; i < PLACES; i++)
            if (f->places[i].key) {
                kc_buf_puts(out, comma);
                put(&f->places[i], now, out);
                comma = ",";
            }
    kc_buf_puts(out, *comma == '[' ? "[]" : "]");
}
