/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c: copies a batch of keys: DUMP at the source, RESTORE … REPLACE at the destination with the
 * remaining TTL.
 *
 * Copying is idempotent: SCAN may return a key twice, and after a crash a batch starts at the last
 * stored position. A key that expires or is deleted between SCAN and DUMP is counted as gone. A key
 * that changes meanwhile is copied in its old or new state; verify finds the former. The TTL
 * restarts at the destination, so a key lives there a little longer, never shorter.
 *
 * Memory: one value at a time and the buffered commands for the destination: some MB, or one value.
 * The number of replies that wait at the source is `window`, which adapts to their size.
 */
#include "migration.h"

#include <stdio.h>

enum { FLUSH = 1 << 20 }; /* Bytes buffered for the destination. */

typedef struct copier {
    const migration *m;
    walk *walk;
    KC_VEC(kc_str) sent; /* Keys whose RESTORE has no reply yet. */
} copier;

/* Reads the destination's replies to all sent commands. */
static int redismigration_copy_settle(copier *c, kc_error *err)
{
    const side *dest = &c->m->dest;
    kc_vec_each (&c->sent, key) {
        resp_value reply;
        if (redis_read(dest->conn, &reply, err) < 0)
            return side_wrap(dest, err);
        if (redis_expect(&reply, RESP_TEXT, err) < 0) {
            key_wrap(*key, err);
            return side_wrap(dest, err);
        }
    }
    kc_vec_clear(&c->sent);
    return 0;
}

/* `left` as PTTL returns it: -1 is no expiry, which is 0 for RESTORE. */
static void restore(copier *c, kc_str key, int64_t left, kc_str value)
{
    char ttl[24];
    snprintf(ttl, sizeof(ttl), "%lld", left < 0 ? 0LL : (long long)KC_MAX(left, 1));
    REDIS_SEND(c->m->dest.conn, KC_STR("RESTORE"), key, kc_cstr(ttl), value, KC_STR("REPLACE"));
    kc_vec_push(&c->sent, key);
}

/* The source's two replies about a key. */
static int take_key(copier *c, kc_str key, kc_error *err)
{
    redis *source = c->m->source.conn;
    resp_value left, value;
    if (redis_read(source, &left, err) < 0 || redis_expect(&left, RESP_NUMBER, err) < 0)
        return kc_error_result(err);
    const int64_t milliseconds = left.number;
    if (redis_read(source, &value, err) < 0)
        return kc_error_result(err);
    if (value.type == RESP_NIL) {
        c->walk->gone++;
        return 0;
    }
    if (redis_expect(&value, RESP_BYTES, err) < 0)
        return kc_error_result(err);
    restore(c, key, milliseconds, value.str);
    return 0;
}

static int copy_window(copier *c, const kc_str *keys, size_t n, kc_error *err)
{
    const side *source = &c->m->source;
    const uint64_t before = redis_bytes(source->conn);
    for (size_t i = 0; i < n; i++) {
        REDIS_SEND(source->conn, KC_STR("PTTL"), keys[i]);
        REDIS_SEND(source->conn, KC_STR("DUMP"), keys[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (take_key(c, keys[i], err) < 0) {
            key_wrap(keys[i], err);
            return side_wrap(source, err);
        }
        if (redis_unsent(c->m->dest.conn) > FLUSH && redismigration_copy_settle(c, err) < 0)
            return kc_error_result(err);
    }
    walk_adapt(c->walk, redis_bytes(source->conn) - before);
    return redismigration_copy_settle(c, err);
}

static int copy_page(copier *c, const page *p, kc_error *err)
{
    for (size_t i = 0, n; i < p->n; i += n) {
        n = KC_MIN(c->walk->window, p->n - i);
        if (copy_window(c, p->keys + i, n, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* Counts and position are those of complete pages only: a failed page is copied again. */
static int copy_batch(copier *c, kc_error *err)
{
    kc_scoped(page) p = {0};
    while (walk_goes_on(c->walk, c->m)) {
        const walk before = *c->walk;
        if (walk_next(c->walk, c->m, &p, err) < 0 || copy_page(c, &p, err) < 0) {
            *c->walk = before;
            return kc_error_result(err);
        }
    }
    return 0;
}

int migration_copy(kc_phase_call *call, migration *m, walk *w, kc_error *err)
{
    (void)call;
    copier c = {.m = m, .walk = w};
    const int result = copy_batch(&c, err);
    kc_vec_done(&c.sent);
    return result < 0 ? result : w->ended;
}
