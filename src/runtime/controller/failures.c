/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.c: a fixed number of slots for failed keys, found by hash; when all are taken, the key
 * that failed longest ago is evicted. An operator who inspects hundreds of failing keys needs the
 * first dozens of them, and their errors are mostly the same.
 *
 * Every successful reconcile checks whether its key is here. While no key fails, that is one read
 * of a counter, which may lag: it can only miss the success of a key whose failure is just being
 * recorded, and a key is with one worker at a time.
 */
#include "runtime/controller/failures.h"

#include "kc/buf.h"
#include "kc/clock.h"
#include "kc/json.h"

#include <stdatomic.h>

enum { PLACES = 64, MOST_TEXT = 512 };

typedef struct failures_failure {
    uint64_t hash;
    char *key; /* "namespace/name"; NULL: free. */
    char *text;
    kc_reason reason;
    bool terminal;
    int64_t at;
} failures_failure;

struct kc__failures {
    _Atomic size_t n;
    kc_mutex mutex; /* Guards the slots. No lock is taken under it. */
    failures_failure places[PLACES];
};

kc__failures *kc__failures_new(void)
{
    kc__failures *f = kc_new(kc__failures);
    kc_mutex_init(&f->mutex);
    return f;
}

/* Call it with the mutex held, or as the last user. */
static void empty(kc__failures *f, failures_failure *place)
{
    if (!place->key)
        return;
    free(place->key);
    free(place->text);
    *place = (failures_failure){0};
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

static uint64_t failures_hash_of(kc_key key)
{
    return kc_str_hash(key.name, kc_str_hash(key.ns, 0));
}

static bool is_at(const failures_failure *place, uint64_t hash, kc_key key)
{
    kc_key here;
    return place->key && place->hash == hash &&
           kc_key_parse(kc_cstr(place->key), &here, NULL) == 0 && kc_key_eq(here, key);
}

static failures_failure *failures_find(kc__failures *f, kc_key key)
{
    uint64_t hash = failures_hash_of(key);
    for (size_t i = 0; i < PLACES; i++)
        if (is_at(&f->places[i], hash, key))
            return &f->places[i];
    return NULL;
}

/* A free slot, or the one whose key failed longest ago. */
static failures_failure *failures_reserve(kc__failures *f)
{
    failures_failure *oldest = &f->places[0];
    for (size_t i = 0; i < PLACES && oldest->key; i++)
        if (!f->places[i].key || f->places[i].at < oldest->at)
            oldest = &f->places[i];
    empty(f, oldest);
    return oldest;
}

static failures_failure *take_place(kc__failures *f, kc_key key)
{
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key);
    failures_failure *place = failures_reserve(f);
    place->hash = failures_hash_of(key);
    place->key = kc_buf_take(&text);
    atomic_fetch_add(&f->n, 1);
    return place;
}

void kc__failures_note(kc__failures *f, kc_key key, const kc_error *err, bool terminal, int64_t now)
{
    kc_locked (&f->mutex) {
        failures_failure *place = failures_find(f, key);
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
        failures_failure *place = failures_find(f, key);
        if (place)
            empty(f, place);
    }
}

static void failures_put(const failures_failure *place, int64_t now, kc_buf *out)
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
                failures_put(&f->places[i], now, out);
                comma = ",";
            }
    kc_buf_puts(out, *comma == '[' ? "[]" : "]");
}
