/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: whether a key has the same value at both servers, by what it holds and not by how it
 * is packed: large sets, hashes and sorted sets lie in an order of the server's own, strings may be
 * compressed or not.
 *
 * A piece at a time, so that a value of any length is compared in little memory. Of streams the
 * entries are compared, not their consumer groups (which DUMP's bytes, compared before, have in
 * them). One more type is a row of `types`; one that is not there is different where its bytes are.
 */
#include "migration.h"

#include <stdio.h>

enum { PIECE = 1 << 20, ELEMENTS = 256 };

typedef struct pair {
    const migration *m;
    kc_str key;
} pair;

/* Asks both the same; 1 when the answers are equal. Words: a name, the key, up to three more. */
typedef struct question {
    const char *name;
    const char *args[4];
} question;

static int ask(const side *s, const pair *p, const question *q, resp_value *ret, kc_error *err)
{
    kc_str words[6] = {kc_cstr(q->name), p->key};
    size_t n = 2;
    for (; n - 2 < KC_COUNT(q->args) && q->args[n - 2]; n++)
        words[n] = kc_cstr(q->args[n - 2]);
    return redis_ask(s->conn, ret, err, words, n) < 0 ? side_wrap(s, err) : 0;
}

static int ask_both(const pair *p, const question *q, resp_value *ret, kc_error *err)
{
    resp_value a, b;
    if (ask(&p->m->source, p, q, &a, err) < 0 || ask(&p->m->dest, p, q, &b, err) < 0)
        return -1;
    *ret = a;
    return resp_equal(&a, &b);
}

/* ---- in order: strings and lists ---- */

typedef struct sequence {
    const char *count, *range;
    int64_t piece;
} sequence;

static int same_sequence(const pair *p, const sequence *s, kc_error *err)
{
    resp_value answer = {0};
    int same = ask_both(p, &(question){.name = s->count}, &answer, err);
    const int64_t n = answer.number;
    for (int64_t at = 0; same > 0 && at < n; at += s->piece) {
        char from[24], to[24];
        snprintf(from, sizeof(from), "%lld", (long long)at);
        snprintf(to, sizeof(to), "%lld", (long long)(at + s->piece - 1));
        same = ask_both(p, &(question){s->range, {from, to}}, &answer, err);
    }
    return same;
}

static int same_string(const pair *p, kc_error *err)
{
    return same_sequence(p, &(sequence){"STRLEN", "GETRANGE", PIECE}, err);
}

static int same_list(const pair *p, kc_error *err)
{
    return same_sequence(p, &(sequence){"LLEN", "LRANGE", ELEMENTS}, err);
}

static int same_stream(const pair *p, kc_error *err)
{
    char from[64] = "-";
    resp_value answer = {0};
    int same = ask_both(p, &(question){.name = "XLEN"}, &answer, err);
    while (same > 0) {
        same = ask_both(p, &(question){"XRANGE", {from, "+", "COUNT", "256"}}, &answer, err);
        if (same <= 0 || !answer.n)
            break;
        const resp_value *last = &answer.items[answer.n - 1];
        if (last->type != RESP_ARRAY || !last->n)
            return kc_error_set(err, KC_INVALID, "it answers something else than XRANGE does");
        snprintf(from, sizeof(from), "(%.*s", KC_ARG(kc_str_sub(last->items[0].str, 0, 48)));
    }
    return same;
}

/* ---- in any order: all elements of the source are at the dest, and there are as many ---- */

typedef struct bag {
    const char *count, *scan, *find;
    size_t stride; /* Of the scan's answer: an element, or an element and what belongs to it. */
} bag;

/* What the dest says of an element, against what the source has: 1 for a set's. */
static bool is_found(const bag *b, const resp_value *element, const resp_value *found)
{
    if (b->stride == 1)
        return found->type == RESP_NUMBER && found->number == 1;
    return found->type == RESP_BYTES && kc_str_eq(found->str, element[1].str);
}

static int find_all(const pair *p, const bag *b, const resp_value *elements, kc_error *err)
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

static int same_bag(const pair *p, const bag *b, kc_error *err)
{
    resp_value answer = {0};
    char cursor[24] = "0";
    int same = ask_both(p, &(question){.name = b->count}, &answer, err);
    while (same > 0) {
        const question next = {b->scan, {cursor, "COUNT", "256"}};
        if (ask(&p->m->source, p, &next, &answer, err) < 0)
            return -1;
        if (answer.type != RESP_ARRAY || answer.n != 2 || answer.items[0].str.n >= sizeof(cursor))
            return kc_error_set(err, KC_INVALID, "it answers something else than %s does", b->scan);
        snprintf(cursor, sizeof(cursor), "%.*s", KC_ARG(answer.items[0].str));
        same = find_all(p, b, &answer.items[1], err);
        if (!strcmp(cursor, "0"))
            break;
    }
    return same;
}

static int same_set(const pair *p, kc_error *err)
{
    return same_bag(p, &(bag){"SCARD", "SSCAN", "SISMEMBER", 1}, err);
}

static int same_hash(const pair *p, kc_error *err)
{
    return same_bag(p, &(bag){"HLEN", "HSCAN", "HGET", 2}, err);
}

static int same_sorted_set(const pair *p, kc_error *err)
{
    return same_bag(p, &(bag){"ZCARD", "ZSCAN", "ZSCORE", 2}, err);
}

/* ---- all of them ---- */

static const struct type {
    const char *name;
    int (*same)(const pair *pair, kc_error *err);
} types[] = {
    {"string", same_string}, {"list", same_list},       {"set", same_set},
    {"hash", same_hash},     {"zset", same_sorted_set}, {"stream", same_stream},
};

static int same_value(const pair *p, const char *type, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (!strcmp(types[i].name, type))
            return types[i].same(p, err);
    return 0;
}

static int same_expiry(const pair *p, kc_error *err)
{
    resp_value a, b;
    const question left = {.name = "PTTL"};
    if (ask(&p->m->source, p, &left, &a, err) < 0 || ask(&p->m->dest, p, &left, &b, err) < 0)
        return -1;
    return (a.number >= 0) == (b.number >= 0);
}

/* "none" is a key that is not there. */
static int types_of(const pair *p, char ret[2][32], kc_error *err)
{
    const side *sides[] = {&p->m->source, &p->m->dest};
    for (size_t i = 0; i < KC_COUNT(sides); i++) {
        resp_value answer;
        if (ask(sides[i], p, &(question){.name = "TYPE"}, &answer, err) < 0)
            return -1;
        snprintf(ret[i], 32, "%.*s", KC_ARG(answer.str));
    }
    return 0;
}

int compare_key(const migration *m, kc_str key, const char **ret_why, kc_error *err)
{
    const pair p = {m, key};
    char type[2][32];
    if (types_of(&p, type, err) < 0)
        return -1;
    if (!strcmp(type[0], "none"))
        return KEY_GONE;
    *ret_why = strcmp(type[1], "none") ? "is of another type" : "is missing";
    if (strcmp(type[0], type[1]) != 0)
        return KEY_DIFFERENT;
    const int expiry = same_expiry(&p, err);
    *ret_why = "expires at one of them only";
    if (expiry <= 0)
        return expiry < 0 ? -1 : KEY_DIFFERENT;
    const int same = same_value(&p, type[0], err);
    *ret_why = "has another value";
    return same < 0 ? -1 : same ? KEY_SAME : KEY_DIFFERENT;
}
