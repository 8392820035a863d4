/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c: compares a batch of keys: every key of the source must be at the destination with the
 * same value, and expire there if it does at the source.
 *
 * The first comparison is that of DUMP's bytes, without version and checksum at the end: equal
 * bytes are equal values. Different bytes may still be equal values, because a server stores large
 * values in its own order. So those keys, and missing ones, are compared in detail, one by one
 * (compare.c).
 *
 * A key that is gone from the source by then (expired, deleted) is counted and is no difference. A
 * key that changed at the source after the copy is a difference: stop writes before the
 * switch-over. Extra keys at the destination are only counted.
 */
#include "migration.h"

enum {
    FOOTER = 10,  /* Two bytes of version, eight of checksum. */
    ENOUGH = 100, /* Number of differences after which the comparison stops. */
};

/* A server's reply about a key. */
typedef struct dumped {
    bool expires;
    resp_value value;
} dumped;

static int take_dump(const side *s, kc_str key, dumped *ret, kc_error *err)
{
    resp_value left;
    int result = redis_read(s->conn, &left, err);
    result = result < 0 ? result : redis_expect(&left, RESP_NUMBER, err);
    ret->expires = result == 0 && left.number >= 0;
    result = result < 0 ? result : redis_read(s->conn, &ret->value, err);
    if (result == 0 && ret->value.type != RESP_NIL)
        result = redis_expect(&ret->value, RESP_BYTES, err);
    if (result == 0)
        return 0;
    key_wrap(key, err);
    return side_wrap(s, err);
}

static kc_str without_footer(kc_str value)
{
    return kc_str_sub(value, 0, value.n > FOOTER ? value.n - FOOTER : 0);
}

static bool look_equal(const dumped *a, const dumped *b)
{
    return a->value.type == RESP_BYTES && b->value.type == RESP_BYTES && a->expires == b->expires &&
           kc_str_eq(without_footer(a->value.str), without_footer(b->value.str));
}

static void note_difference(walk *w, kc_str key, const char *why)
{
    if (w->different++ >= NAMED_KEYS)
        return;
    kc_buf_puts(&w->named, w->named.n ? ", " : "");
    key_print(&w->named, key);
    kc_buf_printf(&w->named, " %s", why);
}

static int compare_again(const migration *m, walk *w, kc_str key, kc_error *err)
{
    const char *why = NULL;
    const int result = compare_key(m, key, &why, err);
    if (result < 0)
        return key_wrap(key, err);
    w->gone += result == KEY_GONE;
    if (result == KEY_DIFFERENT)
        note_difference(w, key, why);
    return 0;
}

static int verify_window(const migration *m, walk *w, const kc_str *keys, size_t n, kc_error *err)
{
    const side *sides[] = {&m->source, &m->dest};
    const uint64_t before = redis_bytes(m->source.conn);
    bool to_recheck[MAX_WINDOW] = {0};
    for (size_t s = 0; s < KC_COUNT(sides); s++) {
        for (size_t i = 0; i < n; i++) {
            REDIS_SEND(sides[s]->conn, KC_STR("PTTL"), keys[i]);
            REDIS_SEND(sides[s]->conn, KC_STR("DUMP"), keys[i]);
        }
        if (redis_flush(sides[s]->conn, err) < 0)
            return side_wrap(sides[s], err);
    }
    for (size_t i = 0; i < n; i++) {
        dumped a, b;
        if (take_dump(sides[0], keys[i], &a, err) < 0 || take_dump(sides[1], keys[i], &b, err) < 0)
            return kc_error_result(err);
        to_recheck[i] = !look_equal(&a, &b);
    }
    walk_adapt(w, redis_bytes(m->source.conn) - before);
    for (size_t i = 0; i < n && w->different < ENOUGH; i++)
        if (to_recheck[i] && compare_again(m, w, keys[i], err) < 0)
            return kc_error_result(err);
    return 0;
}

static int verify_page(const migration *m, walk *w, const page *p, kc_error *err)
{
    for (size_t i = 0, n; i < p->n && w->different < ENOUGH; i += n) {
        n = KC_MIN(w->window, p->n - i);
        if (verify_window(m, w, p->keys + i, n, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

static int verify_batch(const migration *m, walk *w, kc_error *err)
{
    kc_scoped(page) p = {0};
    while (walk_goes_on(w, m)) {
        const walk before = *w;
        const size_t named = w->named.n;
        if (walk_next(w, m, &p, err) < 0 || verify_page(m, w, &p, err) < 0) {
            const kc_buf text = w->named;
            *w = before;
            w->named = text;
            w->named.n = named;
            return kc_error_result(err);
        }
        w->ended = w->ended || w->different >= ENOUGH;
    }
    return 0;
}

static int report_differences(const walk *w, kc_error *err)
{
    return kc_error_set(err, KC_INVALID,
                        "%s%lld of %lld keys differ at the destination: %.*s%s. reset compares "
                        "again, revert copies again",
                        w->different >= ENOUGH ? "at least " : "", (long long)w->different,
                        (long long)w->keys, KC_ARG(kc_buf_str(&w->named)),
                        w->different > NAMED_KEYS ? ", …" : "");
}

int migration_verify(kc_phase_call *call, migration *m, walk *w, kc_error *err)
{
    int64_t there = 0;
    if (verify_batch(m, w, err) < 0)
        return kc_error_result(err);
    if (!w->ended)
        return 0;
    if (w->different)
        return report_differences(w, err);
    if (side_count(&m->dest, &there, err) < 0)
        return kc_error_result(err);
    if (there > w->total)
        kc_phase_warn(call, "the destination has %lld keys that the source does not have",
                      (long long)(there - w->total));
    return 1;
}
