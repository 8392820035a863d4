/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.c: the two databases of a migration, and the iteration over the keys of the source.
 *
 * SCAN returns every key that exists from its start to its end, some of them twice, and a cursor to
 * continue with, which holds no server state: it may be stored in the object and used by another
 * process. But it depends on the server's hash function, whose seed changes with every start of the
 * server. So the server's run id is stored beside it.
 *
 * A call runs for about a second, in real time like everything that concerns the servers; then the
 * progress is stored, and other objects get their turn.
 */
#include "migration.h"

#include "kc/json.h"

#include <inttypes.h>
#include <stdio.h>

#define CALL KC_SECOND

enum {
    SMALL_WINDOW = 256 << 10, /* Bytes. */
    LARGE_WINDOW = 4 << 20,
};

static void side_done(side *s)
{
    endpoint_done(&s->at);
    redis_close(s->conn);
    free(s->info);
    free(s->id);
}

void migration_done(migration *m)
{
    side_done(&m->source);
    side_done(&m->dest);
}

/* ---- finding and opening ---- */

static int redismigration_migration_resolve(side *s, const char *role, kc_client *client,
                                            const kc_object *object, const kc_value *root,
                                            kc_error *err)
{
    s->role = role;
    const kc_str text = kc_value_as_str(kc_value_get(kc_value_get(root, "spec"), role));
    const int result = endpoint_resolve(client, kc_object_namespace(object), text, &s->at, err);
    return result < 0 ? kc_error_wrap(err, "spec.%s", role) : 0;
}

int migration_resolve(migration *m, kc_client *client, const kc_object *object,
                      const kc_value *root, kc_error *err)
{
    if (redismigration_migration_resolve(&m->source, "source", client, object, root, err) < 0)
        return kc_error_result(err);
    return redismigration_migration_resolve(&m->dest, "dest", client, object, root, err);
}

int side_wrap(const side *s, kc_error *err)
{
    if (!strcmp(s->at.name, s->at.place))
        return kc_error_wrap(err, "%s %s", s->role, s->at.place);
    return kc_error_wrap(err, "%s %s (%s)", s->role, s->at.name, s->at.place);
}

static int query_info(side *s, kc_error *err)
{
    resp_value reply;
    if (REDIS_CALL(s->conn, &reply, err, KC_STR("INFO")) < 0 ||
        redis_expect(&reply, RESP_BYTES, err) < 0)
        return kc_error_result(err);
    s->info = kc_str_dup(reply.str);
    s->id = kc_asprintf("%.*s/%d", KC_ARG(side_info(s, "run_id")), s->at.db);
    return 0;
}

int side_open(migration *m, side *s, kc_error *err)
{
    /* A value at the destination may be longer than its source: each server has its own
     * encoding. */
    const size_t largest = s == &m->source ? m->limits.max_key : 2 * m->limits.max_key;
    s->conn = redis_open(&(redis_opts){.host = s->at.host,
                                       .port = s->at.port,
                                       .user = s->at.user,
                                       .password = s->at.password,
                                       .db = s->at.db,
                                       .timeout = m->limits.timeout,
                                       .max_reply = largest,
                                       .cancel = m->cancel},
                         err);
    return s->conn && query_info(s, err) == 0 ? 0 : side_wrap(s, err);
}

/* ---- INFO ---- */

kc_str side_info(const side *s, const char *name)
{
    kc_str rest = kc_cstr(s->info);
    while (rest.p) {
        kc_str value = kc_str_trim(kc_str_cut(&rest, '\n'));
        const kc_str key = kc_str_cut(&value, ':');
        if (kc_str_is(key, name) && value.p)
            return value;
    }
    return (kc_str){0};
}

int64_t side_number(const side *s, const char *name)
{
    int64_t number = 0;
    kc_str_to_i64(side_info(s, name), &number);
    return number;
}

int side_count(const side *s, int64_t *ret, kc_error *err)
{
    resp_value reply;
    if (REDIS_CALL(s->conn, &reply, err, KC_STR("DBSIZE")) < 0 ||
        redis_expect(&reply, RESP_NUMBER, err) < 0)
        return side_wrap(s, err);
    *ret = reply.number;
    return 0;
}

/* ---- iteration ---- */

void walk_done(walk *w)
{
    kc_buf_done(&w->named);
}

void page_done(page *p)
{
    kc_arena_done(&p->arena);
}

int walk_begin(walk *w, const kc_phase_call *call, const migration *m, kc_error *err)
{
    const kc_value *state = call->state;
    uint64_t cursor = 0;
    w->window = FIRST_WINDOW;
    w->deadline = kc_clock_deadline(kc_clock_real(), CALL);
    if (side_count(&m->source, &w->total, err) < 0)
        return kc_error_result(err);
    if (kc_value_as_bool(kc_value_get(state, "ended"), false) ||
        !kc_str_is(kc_value_as_str(kc_value_get(state, "source")), m->source.id) ||
        !kc_str_is(kc_value_as_str(kc_value_get(state, "dest")), m->dest.id) ||
        !kc_str_to_u64(kc_value_as_str(kc_value_get(state, "cursor")), &cursor))
        return 0;
    w->cursor = cursor;
    w->keys = w->keys_before = kc_value_as_i64_or(kc_value_get(state, "keys"), 0);
    w->gone = kc_value_as_i64_or(kc_value_get(state, "gone"), 0);
    w->different = kc_value_as_i64_or(kc_value_get(state, "different"), 0);
    kc_buf_append(&w->named, kc_value_as_str(kc_value_get(state, "named")));
    return 0;
}

/* [cursor, [key…]]; copies the keys, because replies are valid until the next one only. */
static int take_page(walk *w, const resp_value *reply, page *ret, kc_error *err)
{
    uint64_t cursor = 0;
    if (redis_expect(reply, RESP_ARRAY, err) < 0)
        return kc_error_result(err);
    const resp_value *keys = reply->n == 2 ? &reply->items[1] : NULL;
    if (!keys || keys->type != RESP_ARRAY || !kc_str_to_u64(reply->items[0].str, &cursor))
        return kc_error_set(err, KC_INVALID, "unexpected reply to SCAN");
    kc_arena_clear(&ret->arena);
    ret->keys = kc_arena_calloc(&ret->arena, keys->n, sizeof(*ret->keys));
    for (size_t i = 0; i < keys->n; i++)
        ret->keys[i] = kc_arena_str(&ret->arena, keys->items[i].str);
    ret->n = keys->n;
    w->keys += (int64_t)keys->n;
    w->cursor = cursor;
    w->ended = cursor == 0;
    return 0;
}

int walk_next(walk *w, const migration *m, page *ret, kc_error *err)
{
    char cursor[24], count[24];
    resp_value reply;
    snprintf(cursor, sizeof(cursor), "%" PRIu64, w->cursor);
    snprintf(count, sizeof(count), "%zu", w->window);
    if (REDIS_CALL(m->source.conn, &reply, err, KC_STR("SCAN"), kc_cstr(cursor), KC_STR("COUNT"),
                   kc_cstr(count)) < 0 ||
        take_page(w, &reply, ret, err) < 0)
        return side_wrap(&m->source, err);
    return 0;
}

void walk_adapt(walk *w, uint64_t bytes)
{
    if (bytes < SMALL_WINDOW)
        w->window = KC_MIN(w->window * 2, (size_t)MAX_WINDOW);
    else if (bytes > LARGE_WINDOW)
        w->window = KC_MAX(w->window / 4, (size_t)1);
}

bool walk_goes_on(const walk *w, const migration *m)
{
    return !w->ended && w->keys - w->keys_before < m->limits.batch &&
           kc_clock_now(kc_clock_real()) < w->deadline;
}

int walk_keep(const walk *w, kc_phase_call *call, const migration *m, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    /* Some keys come twice, others have gone; at the end the number is corrected to all. */
    const int64_t done = w->ended ? w->keys : KC_MIN(w->keys, w->total);
    const int64_t total = w->ended ? w->keys : w->total;
    kc_buf_printf(&json, "{\"progress\":\"%lld/%lld\",\"cursor\":\"%" PRIu64 "\",\"ended\":%s",
                  (long long)done, (long long)total, w->cursor, w->ended ? "true" : "false");
    kc_buf_printf(&json, ",\"keys\":%lld,\"gone\":%lld,\"different\":%lld", (long long)w->keys,
                  (long long)w->gone, (long long)w->different);
    if (w->different) {
        kc_buf_puts(&json, ",\"named\":");
        kc_json_quote(&json, kc_buf_str(&w->named));
    }
    kc_buf_puts(&json, ",\"source\":");
    kc_json_quote(&json, kc_cstr(m->source.id));
    kc_buf_puts(&json, ",\"dest\":");
    kc_json_quote(&json, kc_cstr(m->dest.id));
    kc_buf_puts(&json, "}");
    kc_phase_progress(call, done, total);
    return kc_phase_set_state(call, kc_buf_str(&json), err);
}

/* ---- keys in messages ---- */

void key_print(kc_buf *out, kc_str key)
{
    enum { SHOWN = 64 };
    kc_buf_putc(out, '"');
    for (size_t i = 0; i < KC_MIN(key.n, (size_t)SHOWN); i++) {
        const unsigned char c = (unsigned char)key.p[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            kc_buf_printf(out, "\\x%02x", c);
        else
            kc_buf_putc(out, (char)c);
    }
    kc_buf_puts(out, key.n > SHOWN ? "…\"" : "\"");
}

int key_wrap(kc_str key, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    key_print(&text, key);
    return kc_error_wrap(err, "key %s", kc_buf_cstr(&text));
}
