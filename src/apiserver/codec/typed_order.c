/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_order.c: sorts members, written in input order, into the order in which Go writes them:
 * struct members in the order of declaration, map members by name.
 *
 * Members are recorded as ranges of the output (kc__typed_chunk). Sorting copies them to a scratch
 * buffer and back. This costs two copies of the enclosing object and is done only when the members
 * are out of order or a field is missing that Go always writes. The objects inside an open object
 * are complete, so one scratch buffer is enough for all.
 */
#include "apiserver/codec/typed_internal.h"

#include "object/json/json_cursor.h"

static void separate(kc_buf *out)
{
    if (out->n)
        kc_buf_putc(out, ',');
}

static void copy_chunk(kc__typed *t, const kc__typed_chunk *chunk)
{
    separate(&t->scratch);
    kc_buf_append(&t->scratch, kc_str_of(t->out.p + chunk->from, chunk->to - chunk->from));
}

/* Replaces the output from `from` on by the scratch buffer. */
static void put_back(kc__typed *t, size_t from)
{
    t->out.n = from;
    kc_buf_append(&t->out, kc_buf_str(&t->scratch));
    t->out.failed |= t->scratch.failed;
}

/* Insertion sort: there are few fields, and at most one or two are usually out of order. */
static void sort_fields(kc__typed_chunk *chunks, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        kc__typed_chunk moving = chunks[i];
        size_t to = i;
        for (; to && chunks[to - 1].n > moving.n; to--)
            chunks[to] = chunks[to - 1];
        chunks[to] = moving;
    }
}

/* Sorted members, and the fields they are compared with. */
typedef struct order_merge {
    kc__typed *t;
    const kc__typed_chunk *next, *end;
} order_merge;

static bool is_there_or_omitted(const kc__type_field *field, uint32_t place, void *user)
{
    order_merge *m = user;
    if (m->next == m->end || m->next->n != place)
        return kc__typed_omits(field);
    m->next++;
    return true;
}

bool kc__typed_lacks_fields(const kc__typed *t, const kc__type_message *message, size_t first)
{
    order_merge m = {.next = t->chunks.items, .end = t->chunks.items};
    if (t->chunks.n) {
        m.next += first;
        m.end += t->chunks.n;
    }
    return !kc__typed_each_field(message, is_there_or_omitted, &m);
}

static bool write_typed_field(const kc__type_field *field, uint32_t place, void *user)
{
    order_merge *m = user;
    kc_buf *out = &m->t->scratch;
    if (m->next < m->end && m->next->n == place) {
        copy_chunk(m->t, m->next++);
    } else if (!kc__typed_omits(field)) {
        separate(out);
        kc_buf_putc(out, '"');
        kc_buf_append(out, field->name);
        kc_buf_puts(out, "\":");
        kc__typed_zero(out, field);
    }
    return true;
}

void kc__typed_order_fields(kc__typed *t, const kc__type_message *message, size_t first)
{
    kc__typed_flush(t, t->at);
    if (t->out.failed)
        return;
    order_merge m = {.t = t};
    size_t from = t->out.n;
    if (t->chunks.n > first) {
        kc__typed_chunk *chunks = t->chunks.items + first;
        from = chunks[0].from;
        sort_fields(chunks, t->chunks.n - first);
        m.next = chunks;
        m.end = t->chunks.items + t->chunks.n;
    }
    kc_buf_clear(&t->scratch);
    kc__typed_each_field(message, write_typed_field, &m);
    put_back(t, from);
}

static kc_str key_of(const kc__typed_chunk *chunk)
{
    return kc_str_of(chunk->key, chunk->n);
}

static int compare_keys(const void *a, const void *b)
{
    return kc_str_cmp(key_of(a), key_of(b));
}

/* Compares the unescaped keys. */
static int compare_escaped_keys(const void *a, const void *b)
{
    kc_scoped(kc_buf) plain_a = {0};
    kc_scoped(kc_buf) plain_b = {0};
    kc__json_unescape_to(&plain_a, key_of(a));
    kc__json_unescape_to(&plain_b, key_of(b));
    return kc_str_cmp(kc_buf_str(&plain_a), kc_buf_str(&plain_b));
}

typedef int order_comparison(const void *a, const void *b);

static bool is_sorted(const kc__typed_chunk *chunks, size_t n, order_comparison *compare)
{
    for (size_t i = 1; i < n; i++)
        if (compare(&chunks[i - 1], &chunks[i]) > 0)
            return false;
    return true;
}

void kc__typed_order_keys(kc__typed *t, size_t first, bool escaped)
{
    kc__typed_chunk *chunks = t->chunks.items + first;
    size_t n = t->chunks.n - first, from = chunks[0].from;
    order_comparison *compare = escaped ? compare_escaped_keys : compare_keys;
    if (is_sorted(chunks, n, compare))
        return;
    kc__typed_flush(t, t->at);
    if (t->out.failed)
        return;
    qsort(chunks, n, sizeof(*chunks), compare);
    kc_buf_clear(&t->scratch);
    for (size_t i = 0; i < n; i++)
        copy_chunk(t, &chunks[i]);
    put_back(t, from);
}
