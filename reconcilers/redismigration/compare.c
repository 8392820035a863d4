/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: compares a key's value at both servers by content and not by encoding: large sets,
 * hashes and sorted sets have an order of the server's own, strings may be compressed or not.
 *
 * Values are compared piece by piece, so that a value of any length needs little memory. For
 * streams the entries are compared and not their consumer groups (DUMP's bytes, compared before,
 * include those). To add a type: a row of `types`; values of other types are equal only if their
 * bytes are.
 */
#include "migration.h"

#include <stdio.h>

enum { PIECE = 1 << 20, ELEMENTS = 256 };

typedef struct redismigration_compare_pair {
    const migration *m;
    kc_str key;
} redismigration_compare_pair;

/* Sends the same command to both; 1 if the replies are equal. Words: name, key, up to three
 * more. */
typedef struct redismigration_compare_question {
    const char *name;
    const char *args[4];
} redismigration_compare_question;

static int redismigration_compare_request(const side *s, const redismigration_compare_pair *p,
                                          const redismigration_compare_question *q, resp_value *ret,
                                          kc_error *err)
{
    kc_str words[6] = {kc_cstr(q->name), p->key};
    size_t n = 2;
    for (; n - 2 < KC_COUNT(q->args) && q->args[n - 2]; n++)
        words[n] = kc_cstr(q->args[n - 2]);
    return redis_call(s->conn, ret, err, words, n) < 0 ? side_wrap(s, err) : 0;
}

static int query_both(const redismigration_compare_pair *p,
                      const redismigration_compare_question *q, resp_value *ret, kc_error *err)
{
    resp_value a, b;
    if (redismigration_compare_request(&p->m->source, p, q, &a, err) < 0 ||
        redismigration_compare_request(&p->m->dest, p, q, &b, err) < 0)
        return kc_error_result(err);
    *ret = a;
    return resp_equal(&a, &b);
}

/* ---- ordered: strings and lists ---- */

typedef struct sequence {
    const char *count, *range;
    int64_t piece;
} sequence;

static int same_sequence(const redismigration_compare_pair *p, const sequence *s, kc_error *err)
{
    resp_value reply = {0};
    int same = query_both(p, &(redismigration_compare_question){.name = s->count}, &reply, err);
    const int64_t n = reply.number;
    for (int64_t at = 0; same > 0 && at < n; at += s->piece) {
        char from[24], to[24];
        snprintf(from, sizeof(from), "%lld", (long long)at);
        snprintf(to, sizeof(to), "%lld", (long long)(at + s->piece - 1));
        same = query_both(p, &(redismigration_compare_question){s->range, {from, to}}, &reply, err);
    }
    return same;
}

static int same_string(const redismigration_compare_pair *p, kc_error *err)
{
    return same_sequence(p, &(sequence){"STRLEN", "GETRANGE", PIECE}, err);
}

static int same_list(const redismigration_compare_pair *p, kc_error *err)
{
    return same_sequence(p, &(sequence){"LLEN", "LRANGE", ELEMENTS}, err);
}

static int same_stream(const redismigration_compare_pair *p, kc_error *err)
{
    char from[64] = "-";
    resp_value reply = {0};
    int same = query_both(p, &(redismigration_compare_question){.name = "XLEN"}, &reply, err);
    while (same > 0) {
        same =
            query_both(p, &(redismigration_compare_question){"XRANGE", {from, "+", "COUNT", "256"}},
                       &reply, err);
        if (same <= 0 || !reply.n)
            break;
        const resp_value *last = &reply.items[reply.n - 1];
        if (last->type != RESP_ARRAY || !last->n)
            return kc_error_set(err, KC_INVALID, "unexpected reply to XRANGE");
        snprintf(from, sizeof(from), "(%.*s", KC_ARG(kc_str_sub(last->items[0].str, 0, 48)));
    }
    return same;
}

/* ---- unordered: the destination has all elements of the source, and as many ---- */

typedef struct bag {
    const char *count, *scan, *find;
    size_t stride; /* From the scan's reply: an element, or an element and its value. */
} bag;

/* Compares the destination's value of an element with the source's: 1 for a set member. */
static bool is_found(const bag *b, const resp_value *element, const resp_value *found)
{
    if (b->stride == 1)
        return found->type == RESP_NUMBER && found->number == 1;
    return found->type == RESP_BYTES && kc_str_eq(found->str, element[1].str);
}

static int redismigration_compare_find_all(const redismigration_compare_pair *p, const bag *b,
                                           const resp_value *elements, kc_error *err)
{
    const side *dest = &p->m->dest;
    int same = 1;
    for (size_t i = 0; i + b->stride <= elements->n; i += b->stride)
        REDIS_SEND(dest->conn, kc_cstr(b->find), p->key, elements->items[i].str);
    for (size_t i = 0; i + b->stride <= elements->n; i += b->stride) {
        resp_value found;
        if (redis_read(dest->conn, &found, err) < 0)
            return side_wrap(dest, err);
        same = same && is_found(b, &elements->items[i], &found);
    }
    return same;
}

static int same_bag(const redismigration_compare_pair *p, const bag *b, kc_error *err)
{
    resp_value reply = {0};
    char cursor[24] = "0";
    int same = query_both(p, &(redismigration_compare_question){.name = b->count}, &reply, err);
    while (same > 0) {
        const redismigration_compare_question next = {b->scan, {cursor, "COUNT", "256"}};
        if (redismigration_compare_request(&p->m->source, p, &next, &reply, err) < 0)
            return kc_error_result(err);
        if (reply.type != RESP_ARRAY || reply.n != 2 || reply.items[0].str.n >= sizeof(cursor))
            return kc_error_set(err, KC_INVALID, "unexpected reply to %s", b->scan);
        snprintf(cursor, sizeof(cursor), "%.*s", KC_ARG(reply.items[0].str));
        same = redismigration_compare_find_all(p, b, &reply.items[1], err);
        if (!strcmp(cursor, "0"))
            break;
    }
    return same;
}

static int same_set(const redismigration_compare_pair *p, kc_error *err)
{
    return same_bag(p, &(bag){"SCARD", "SSCAN", "SISMEMBER", 1}, err);
}

static int same_hash(const redismigration_compare_pair *p, kc_error *err)
{
    return same_bag(p, &(bag){"HLEN", "HSCAN", "HGET", 2}, err);
}

static int same_sorted_set(const redismigration_compare_pair *p, kc_error *err)
{
    return same_bag(p, &(bag){"ZCARD", "ZSCAN", "ZSCORE", 2}, err);
}

/* ---- all types ---- */

static const struct type {
    const char *name;
    int (*same)(const redismigration_compare_pair *redismigration_compare_pair, kc_error *err);
} types[] = {
    {"string", same_string}, {"list", same_list},       {"set", same_set},
    {"hash", same_hash},     {"zset", same_sorted_set}, {"stream", same_stream},
};

static int same_value(const redismigration_compare_pair *p, const char *type, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (!strcmp(types[i].name, type))
            return types[i].same(p, err);
    return 0;
}

static int same_expiry(const redismigration_compare_pair *p, kc_error *err)
{
    resp_value a, b;
    const redismigration_compare_question left = {.name = "PTTL"};
    if (redismigration_compare_request(&p->m->source, p, &left, &a, err) < 0 ||
        redismigration_compare_request(&p->m->dest, p, &left, &b, err) < 0)
        return kc_error_result(err);
    return (a.number >= 0) == (b.number >= 0);
}

/* "none": the key does not exist. */
static int types_of(const redismigration_compare_pair *p, char ret[2][32], kc_error *err)
{
    const side *sides[] = {&p->m->source, &p->m->dest};
    for (size_t i = 0; i < KC_COUNT(sides); i++) {
        resp_value reply;
        if (redismigration_compare_request(
                sides[i], p, &(redismigration_compare_question){.name = "TYPE"}, &reply, err) < 0)
            return kc_error_result(err);
        snprintf(ret[i], 32, "%.*s", KC_ARG(reply.str));
    }
    return 0;
}

int compare_key(const migration *m, kc_str key, const char **ret_why, kc_error *err)
{
    const redismigration_compare_pair p = {m, key};
    char type[2][32];
    if (types_of(&p, type, err) < 0)
        return kc_error_result(err);
    if (!strcmp(type[0], "none"))
        return KEY_GONE;
    *ret_why = strcmp(type[1], "none") ? "has another type" : "is missing";
    if (strcmp(type[0], type[1]) != 0)
        return KEY_DIFFERENT;
    const int expiry = same_expiry(&p, err);
    *ret_why = "expires at one of the servers only";
    if (expiry <= 0)
        return expiry < 0 ? expiry : KEY_DIFFERENT;
    const int same = same_value(&p, type[0], err);
    *ret_why = "has another value";
    return same < 0 ? same : same ? KEY_SAME : KEY_DIFFERENT;
}
